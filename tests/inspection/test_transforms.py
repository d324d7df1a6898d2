"""Numerical integrals of oscillating functions, and radial Fourier transforms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from mercer.inspection import radial_fourier
from mercer.inspection.oscillating import accelerate, integrate_panels
from mercer.inspection.transforms import half_length


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

    total = integrate_panels(noisy, np.array([0.0, 1.0]), 1e-15)
    assert total[0] == pytest.approx(1.0, abs=1e-5)
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


def test_dimensions_are_linked_by_the_bessel_functions():
    # d = 1 and d = 3 use sines and cosines, the others Bessel functions: compare them with a
    # plain integral of the definition.
    def profile(r):
        return np.exp(-(r**2)) * (1 + r)

    from scipy.special import jv

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
    rng = np.random.default_rng(0)
    with pytest.warns(RuntimeWarning, match="did not settle"):
        radial_fourier(lambda r: np.exp(-r) + 0.01 * rng.standard_normal(r.shape), 1.0, length=1.0)


def test_half_length():
    assert half_length(lambda r: np.exp(-r)) == pytest.approx(np.sqrt(0.5))
    assert half_length(lambda r: np.exp(-1e6 * r)) == pytest.approx(2.0**-20)
