"""Kernels that match the power spectrum of a target."""

import pickle

import numpy as np
import pytest

from mercer import SVR
from mercer.selection import data_kind, estimate_power_spectrum, kernel_from_power_spectrum

rng = np.random.default_rng(32)
N = 64
x = np.arange(N) * (2 * np.pi / N)  # one period, so that waves of whole frequency fit
ORDERS = np.arange(1, 6)
WEIGHTS = np.array([4.0, 2.0, 1.0, 0.5, 0.25])


def averaged(draw, repeats=400):
    """Return the mean periodogram of random functions, at the first five frequencies."""
    return np.mean([estimate_power_spectrum(x, draw()).power[:5] for _ in range(repeats)], axis=0)


@pytest.mark.spec("SM-3.25")
def test_functions_of_a_gaussian_process_have_the_spectrum_of_their_covariance():
    kernel = kernel_from_power_spectrum(ORDERS, WEIGHTS, mode="covariance")
    factor = kernel.feature_map(x[:, None])
    power = averaged(lambda: factor @ rng.normal(size=factor.shape[1]))
    np.testing.assert_allclose(power / power.sum(), WEIGHTS / WEIGHTS.sum(), rtol=0.25)
    # So the covariance rule gives the kernel back from the spectrum.
    again = kernel_from_power_spectrum(ORDERS, power)
    np.testing.assert_allclose(again(x[:9, None]), kernel(x[:9, None]), atol=0.1)


@pytest.mark.spec("SM-3.25")
def test_expansions_with_independent_coefficients_have_the_squared_spectrum():
    kernel = kernel_from_power_spectrum(ORDERS, WEIGHTS)
    K = kernel(x[:, None])
    power = averaged(lambda: K @ rng.normal(size=N))
    np.testing.assert_allclose(power / power.sum(), WEIGHTS**2 / (WEIGHTS**2).sum(), rtol=0.3)
    # So the other rule, the root of the spectrum, gives the kernel back.
    again = kernel_from_power_spectrum(ORDERS, power, mode="coefficients")
    np.testing.assert_allclose(again(x[:9, None]), kernel(x[:9, None]), atol=0.1)
    other = kernel_from_power_spectrum(ORDERS, power, mode="covariance")
    assert np.abs(other(x[:9, None]) - kernel(x[:9, None])).max() > 0.15


def test_the_kernel_is_the_sum_of_cosines():
    kernel = kernel_from_power_spectrum(ORDERS, WEIGHTS)
    a, b = rng.normal(size=(5, 1)), rng.normal(size=(4, 1))
    share = WEIGHTS / WEIGHTS.sum()
    expected = (share * np.cos(ORDERS * (a[:, None] - b[None]))).sum(axis=-1)
    np.testing.assert_allclose(kernel(a, b), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diag(a), 1.0, rtol=1e-12)
    assert kernel.definiteness.is_psd
    assert kernel == kernel_from_power_spectrum(ORDERS, WEIGHTS)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    plane = kernel_from_power_spectrum([[1.0, 2.0], [0.0, 3.0]], [1.0, 3.0])
    A = rng.normal(size=(4, 2))
    difference = A[:, None] - A
    np.testing.assert_allclose(
        plane(A),
        0.25 * np.cos(difference @ [1, 2]) + 0.75 * np.cos(difference @ [0, 3]),
        atol=1e-12,
    )


def test_the_powers_add_up_to_the_variance():
    for n in (64, 63):
        t = np.linspace(0, 3, n, endpoint=False)
        values = rng.normal(size=n)
        spectrum = estimate_power_spectrum(t, values)
        assert spectrum.power.sum() == pytest.approx(values.var(), rel=1e-12)
        assert spectrum.variance == pytest.approx(values.var(), rel=1e-12)
        assert "even grid" in spectrum.how


def test_uneven_samples_and_waves_between_the_frequencies():
    t = np.sort(rng.uniform(0, 20, 300))
    wave = 3 * np.cos(4.321 * t + 1) + 7
    spectrum = estimate_power_spectrum(t, wave, oversampling=8)
    assert spectrum.peak == pytest.approx(4.321, abs=0.03)
    assert spectrum.power.max() == pytest.approx(4.5, rel=0.05)
    assert spectrum.concentration > 0.9
    assert "Lomb-Scargle" in spectrum.how
    shuffled = rng.permutation(300)
    again = estimate_power_spectrum(t[shuffled][:, None], wave[shuffled], oversampling=8)
    np.testing.assert_allclose(again.power, spectrum.power, rtol=1e-8)
    assert len(estimate_power_spectrum(t, wave, 5).power) == 5
    # A machine with this kernel continues the wave where a Gaussian cannot.
    kernel = estimate_power_spectrum(t, wave, oversampling=8).kernel()
    model = SVR(kernel=kernel, C=100.0, epsilon=0.01).fit(t[:, None], wave)
    ahead = np.linspace(20, 23, 50)
    truth = 3 * np.cos(4.321 * ahead + 1) + 7
    assert model.score(ahead[:, None], truth) > 0.9
    gaussian = SVR(gamma=4.0, C=100.0, epsilon=0.01).fit(t[:, None], wave)
    assert gaussian.score(t[:, None], wave) > 0.99
    assert gaussian.score(ahead[:, None], truth) < 0.5


def test_periods_are_noticed():
    t = np.sort(rng.uniform(0, 30, 300))[:, None]
    kind = data_kind(t, np.sin(2 * t[:, 0]) + 0.1 * rng.normal(size=300))
    assert kind.name == "periodic"
    assert kind.period == pytest.approx(np.pi, rel=2e-3)
    many = np.arange(5000)[:, None] * 0.01
    assert data_kind(many, np.cos(7 * many[:, 0])).period == pytest.approx(2 * np.pi / 7, rel=1e-3)
    assert data_kind(t, t[:, 0]).name == "dense"  # a trend is no period
    assert data_kind(t, rng.normal(size=300)).name == "dense"
    assert data_kind(t, np.ones(300)).name == "dense"


def test_what_is_refused():
    for arguments, message in [
        (([1.0], [1.0], "both"), "mode must be one of"),
        (([1.0, 2.0], [1.0, -1.0]), "not positive semidefinite"),
        (([1.0, 2.0], [1.0]), "for each frequency"),
        (([], []), "for each frequency"),
        (([1.0], [0.0]), "all power is 0"),
        (([np.inf], [1.0]), "NaN or infinity"),
    ]:
        with pytest.raises(ValueError, match=message):
            kernel_from_power_spectrum(*arguments)
    for arguments, message in [
        ((x, x[:5]), "equally many"),
        ((x[:3], x[:3]), "at least four"),
        ((np.ones(8), np.ones(8)), "all x are equal"),
        ((x, np.full(N, np.nan)), "NaN"),
        ((x, x, 0), "n_frequencies"),
        ((x, x, None, 0), "oversampling"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimate_power_spectrum(*arguments)
    with pytest.raises(ValueError, match="1 coordinates"):
        kernel_from_power_spectrum([1.0], [1.0])(np.ones((3, 2)))
