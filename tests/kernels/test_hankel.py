"""Numerical integrals of oscillating functions, and radial Fourier transforms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import gamma, jv

from mercer.numerics.bessel import bessel_ratio
from mercer.numerics.hankel import half_length, radial_fourier
from mercer.numerics.oscillating import accelerate, integrate_each, integrate_panels


def test_panels_agree_with_a_general_integrator():
    edges = np.array([0.0, 0.3, 2.0, 9.0])
    for f in (np.sin, lambda x: np.abs(x - 1.234), lambda x: np.sqrt(np.abs(x - 0.7))):
        ours = integrate_panels(f, edges, 1e-13)
        for k in range(3):
            a, b = edges[k], edges[k + 1]
            cuts = [c for c in (0.7, 1.234) if a < c < b]
            exact, _ = integrate.quad(f, a, b, points=cuts or None, limit=400)
            assert ours[k] == pytest.approx(exact, abs=1e-10)


def test_noise_does_not_keep_the_integrator_busy():
    rng = np.random.default_rng(0)
    calls = []

    def noisy(x):
        calls.append(len(x))
        return 1.0 + 1e-6 * rng.standard_normal(len(x))

    total, doubt = integrate_each(
        lambda x, _: noisy(x.ravel()).reshape(x.shape), np.zeros(1), np.ones(1), 1e-15, 1e-15
    )
    assert total[0] == pytest.approx(1.0, abs=1e-5)
    assert 1e-8 < doubt[0] < 1e-5
    assert sum(calls) < 2_000_000


@pytest.mark.parametrize(
    ("terms", "limit"),
    [
        (lambda n: (-1.0) ** n / (n + 1), np.log(2)),
        (lambda n: (-1.0) ** n, 0.5),  # in the sense of Abel
        (lambda n: 0.5**n, 2.0),
        (lambda n: (-1.0) ** n * np.sqrt(n + 1), 0.3801048),
    ],
)
def test_acceleration_of_series(terms, limit):
    value, error = accelerate(np.cumsum(terms(np.arange(24.0))))
    assert value == pytest.approx(limit, abs=5e-8)
    assert abs(value - limit) <= max(10 * error, 1e-7)


def test_a_settled_sequence_is_returned():
    assert accelerate(np.array([1.0, 1.5, 1.5, 1.5]))[0] == 1.5
    assert accelerate(np.array([1.0, np.inf, np.inf]))[0] == np.inf


def test_sequences_are_accelerated_each_on_its_own():
    n = np.arange(24.0)
    rows = np.cumsum([(-1) ** n / (n + 1), 0.5**n, n == 0, 0.9**n], axis=1)
    limits, errors = accelerate(rows)
    assert limits == pytest.approx([np.log(2), 2.0, 1.0, 10.0], abs=1e-9)
    for row, limit, error in zip(rows, limits, errors, strict=True):
        assert accelerate(row) == (limit, error)


def test_panels_of_different_functions():
    powers = np.array([0.0, 1.0, 2.5])
    left, right = np.array([0.0, 1.0, 0.5]), np.array([1.0, 3.0, 2.0])
    found, doubts = integrate_each(lambda x, i: x ** powers[i], left, right, 1e-13, 1e-15)
    assert not doubts.any()
    exact = (right ** (powers + 1) - left ** (powers + 1)) / (powers + 1)
    assert found == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("order", [-0.5, 0.0, 0.5, 1.0, 1.5, 7.0, 40.0])
def test_the_ratio_of_a_bessel_function_and_a_power(order):
    x = np.array([0.05, 0.2, 0.39, 0.41, 1.27, 1.29, 5.0, 80.0])
    assert bessel_ratio(order, x) == pytest.approx(jv(order, x) / x**order, rel=1e-12)
    limit = 1 / (2**order * gamma(order + 1))
    assert bessel_ratio(order, np.array([0.0, 1e-200, 1e-9])) == pytest.approx([limit] * 3)


def test_dimensions_are_linked_by_the_bessel_functions():
    # d = 1 and d = 3 use sines and cosines, the others Bessel functions: compare them with a
    # plain integral of the definition.
    def profile(r):
        return np.exp(-(r**2)) * (1 + r)

    for d in (1, 2, 3, 4, 5):
        nu = d / 2 - 1
        for w in (0.4, 2.5):
            exact, _ = integrate.quad(
                lambda r, nu=nu, w=w: profile(r) * r ** (nu + 1) * jv(nu, w * r), 0, 12, limit=300
            )
            assert radial_fourier(profile, w, d)[0] == pytest.approx(w**-nu * exact, abs=1e-9)


@given(st.floats(0.05, 20.0), st.floats(0.0, 30.0), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_scaling_of_the_argument(scale, omega, d):
    def profile(r):
        return 1 / (1 + np.minimum(r, 1e40) ** 2) ** 3

    direct = radial_fourier(lambda r: profile(r / scale), omega / scale, d)[0]
    expected = scale**d * radial_fourier(profile, omega, d)[0]
    assert direct == pytest.approx(expected, abs=1e-9 * scale**d)


def test_many_frequencies_are_as_one():
    w = np.geomspace(1e-3, 50, 150)
    for d in (1, 2, 4):
        together = radial_fourier(lambda r: (1 + r) * np.exp(-r), w, d)
        single = [radial_fourier(lambda r: (1 + r) * np.exp(-r), v, d)[0] for v in w[::30]]
        assert together[::30] == pytest.approx(single, abs=1e-13)
    assert radial_fourier(lambda r: np.exp(-r), []).shape == (0,)


def test_a_function_is_not_asked_at_distance_zero():
    def ratio(r):
        assert (r > 0).all()
        return np.sin(r) / r * np.exp(-r)

    assert np.isfinite(radial_fourier(ratio, [0.0, 1.0], 3)).all()


def test_frequency_zero():
    assert radial_fourier(lambda r: np.exp(-r), 0.0, 1)[0] == pytest.approx(np.sqrt(2 / np.pi))
    assert radial_fourier(lambda r: 1 / (1 + r**2), 0.0, 1)[0] == pytest.approx(
        np.sqrt(np.pi / 2), abs=1e-9
    )
    assert radial_fourier(lambda r: 1 / (1 + r**2), 0.0, 2)[0] == np.inf  # logarithmic
    assert radial_fourier(lambda r: 1 / (1 + r), 0.0, 3)[0] == np.inf


def test_what_does_not_fall_off_is_refused():
    with pytest.raises(ValueError, match="periodic kernel has Fourier coefficients"):
        radial_fourier(lambda r: np.ones_like(r), 1.0)
    with pytest.raises(ValueError, match=">= 0"):
        radial_fourier(lambda r: np.exp(-r), -1.0)
    with pytest.raises(ValueError, match="dimension"):
        radial_fourier(lambda r: np.exp(-r), 1.0, 0)


def test_an_integral_that_does_not_settle_is_reported():
    for seed in range(5):  # whatever the noise
        rng = np.random.default_rng(seed)

        def noisy(r, rng=rng):
            return np.exp(-r) + 0.01 * rng.standard_normal(r.shape)

        with pytest.warns(RuntimeWarning, match="at frequency 1 did not settle"):
            radial_fourier(noisy, 1.0, length=1.0)


def test_high_frequencies_of_smooth_functions_cost_no_more():
    w = np.array([1e3, 1e6, 1e12])
    found = radial_fourier(lambda r: np.exp(-r), w, 3)
    exact = np.sqrt(8 / np.pi) / (1 + w**2) ** 2
    assert found == pytest.approx(exact, abs=1e-13)
    # A kink is found, up to 250 waves to the length.
    tent = radial_fourier(lambda r: np.maximum(1 - r, 0), [399.5], 1)
    assert tent == pytest.approx(np.sqrt(2 / np.pi) * (1 - np.cos(399.5)) / 399.5**2, rel=1e-6)


def test_half_length():
    assert half_length(lambda r: np.exp(-r)) == pytest.approx(np.sqrt(0.5))
    assert half_length(lambda r: np.exp(-1e6 * r)) == pytest.approx(2.0**-20)
