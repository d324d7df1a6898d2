"""Fourier transforms of radial functions, and kernels made from spectra, series and periods."""

from time import perf_counter

import numpy as np
import pytest
from numpy.polynomial import Chebyshev
from scipy.special import gamma, jv, kv

from mercer.kernels import (
    RBF,
    BSpline,
    DampedOscillator,
    Exponential,
    FourierSeries,
    FromFeatureMap,
    FromSpectrum,
    Laplacian,
    Linear,
    Matern,
    NegativeDistance,
    Periodized,
    RadialBSpline,
    bessel_k_bounds,
    log_polar,
)
from mercer.numerics.hankel import radial_fourier

rng = np.random.default_rng(0)
LINE = rng.normal(size=(12, 1))
DIMENSIONS = (1, 2, 3, 4)


def profile(kernel, d):
    """Return a kernel as a function of the distance."""

    def value(r):
        places = np.zeros((len(r), d))
        places[:, 0] = r
        return kernel(np.zeros((1, d)), places)[0]

    return value


@pytest.mark.spec("SM-3.33")
@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_radial_transform_is_its_own_inverse(d):
    def f(r):
        return (1 + r * r) * np.exp(-r * r / 2)

    # The transform is a polynomial times a Gaussian, too, and nothing beyond 12.
    series = Chebyshev.interpolate(lambda w: radial_fourier(f, w, d), 60, domain=[0, 12])

    def transformed(w):
        return np.where(w < 12, series(np.minimum(w, 12)), 0.0)

    r = np.array([0.0, 0.3, 1.0, 2.5])
    np.testing.assert_allclose(radial_fourier(transformed, r, d), f(r), rtol=1e-9)


@pytest.mark.spec("SM-3.33")
def test_on_the_line_it_is_the_cosine_transform():
    w = np.array([0.2, 1.0, 3.0])
    x, step = np.linspace(0, 60, 200_001, retstep=True)
    f = np.exp(-x) * (1 + x)
    cosines = np.array([np.trapezoid(f * np.cos(v * x), dx=step) for v in w])
    found = radial_fourier(lambda r: np.exp(-r) * (1 + r), w)
    np.testing.assert_allclose(found, np.sqrt(2 / np.pi) * cosines, rtol=1e-7)


@pytest.mark.spec("SM-3.34")
@pytest.mark.parametrize("d", DIMENSIONS)
def test_transform_of_the_gaussian(d):
    sigma, kernel = 0.7, RBF.from_sigma(0.7)
    found = radial_fourier(profile(kernel, d), 0.9, d)[0] / sigma**d
    assert found == pytest.approx(0.8200008, abs=1e-7)
    assert found == pytest.approx(np.exp(-((0.9 * sigma) ** 2) / 2), rel=1e-12)


@pytest.mark.spec("SM-3.18")
def test_the_gaussian_penalises_all_derivatives():
    sigma = 0.8
    for w in (0.3, 1.0, 2.0):
        terms, total = 1.0, 0.0
        for n in range(60):  # sum of sigma^(2n) w^(2n) / (n! 2^n)
            total += terms
            terms *= sigma**2 * w**2 / (2 * (n + 1))
        spectrum = radial_fourier(profile(RBF.from_sigma(sigma), 1), w, 1)[0] / sigma
        assert spectrum * total == pytest.approx(1.0, rel=1e-10)
    assert RBF.from_sigma(sigma).gamma == pytest.approx(1 / (2 * sigma**2))


@pytest.mark.spec("SM-3.35")
def test_transform_of_the_exponential_with_the_corrected_gamma_function():
    a, w = 1.3, 0.9
    printed = {1: 0.4149000, 2: 0.3288769, 3: 0.3319200, 4: 0.3946523}
    for d, value in printed.items():
        found = radial_fourier(profile(Exponential(a), d), w, d)[0]
        formula = 2 ** (d / 2) * a / np.sqrt(np.pi) * gamma((d + 1) / 2)
        assert found == pytest.approx(formula * (a * a + w * w) ** (-(d + 1) / 2), rel=1e-11)
        assert found == pytest.approx(value, abs=1e-7)


@pytest.mark.spec("SM-3.36")
@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_reciprocal_pair_of_the_exponential(d):
    w = np.array([0.5, 1.0, 2.0, 4.0])
    found = radial_fourier(lambda r: (1 + r * r) ** (-(d + 1) / 2), w, d)
    np.testing.assert_allclose(found / found[0], np.exp(-(w - w[0])), rtol=1e-10)


@pytest.mark.spec("SM-3.37")
def test_transform_of_the_damped_oscillator():
    a, w = 1.3, 0.9
    for d, value in {1: 0.2992210, 2: 0.3318583, 3: 0.4322081}.items():
        found = radial_fourier(profile(DampedOscillator(gamma=a), d), w, d)[0]
        nu = d / 2 - 1
        assert found == pytest.approx((a / w) ** nu * kv(nu, a * w), rel=1e-11)
        assert found == pytest.approx(value, abs=1e-7)


@pytest.mark.spec("SM-3.38")
def test_bounds_of_the_bessel_function_with_the_corrected_remainder():
    np.testing.assert_allclose(bessel_k_bounds(1.0, 2.0, 1), (0.1199378, 0.1424261), atol=1e-7)
    np.testing.assert_allclose(bessel_k_bounds(1.0, 2.0, 2), (0.1389123, 0.1424261), atol=1e-7)
    for nu in (0.0, 0.5, 1.0, 2.3):
        for x in (0.7, 2.0, 10.0):
            for p in (2, 3, 5):
                low, high = bessel_k_bounds(nu, x, p)
                assert low <= kv(nu, x) * (1 + 1e-12)
                assert kv(nu, x) <= high * (1 + 1e-12)
    assert bessel_k_bounds(0.5, 2.0, 1) == pytest.approx((kv(0.5, 2.0), kv(0.5, 2.0)), rel=1e-14)
    with pytest.raises(ValueError, match="n_terms must exceed"):
        bessel_k_bounds(3.0, 1.0, 2)


@pytest.mark.spec("SM-3.39")
def test_transform_of_radial_splines_is_an_even_power():
    def ball(d, w):
        return w ** (-d / 2) * jv(d / 2, w)

    def transform(order, d, w):
        kernel = RadialBSpline(order, 1.0, d)
        knots = np.arange(0, order + 2, 2.0)
        x, weight = np.polynomial.legendre.leggauss(40)
        r = np.concatenate([a + (x + 1) for a in knots[:-1]])
        waves = r ** (d - 1) * jv(d / 2 - 1, w * r) / (w * r) ** (d / 2 - 1)
        return float((profile(kernel, d)(r) * waves) @ np.tile(weight, len(knots) - 1))

    for d, w, value in [(2, 5.0, 0.02696946), (3, 0.9, 0.9456218)]:
        expected = (2 * np.pi) ** (d / 2) * ball(d, w) ** 2
        assert expected == pytest.approx(value, rel=1e-6)
        assert transform(1, d, w) == pytest.approx(expected, rel=1e-4)
    for d in (1, 2, 3, 5):
        for w in (0.5, 2.0, 4.0):
            expected = (2 * np.pi) ** (3 * d / 2) * ball(d, w) ** 4
            assert transform(3, d, w) == pytest.approx(expected, rel=1e-5, abs=1e-8)
    w = np.linspace(0.1, 20, 2000)
    assert ball(2, w).min() == pytest.approx(-0.0661, abs=1e-4)
    assert (ball(2, w) ** 3).min() == pytest.approx(-2.9e-4, abs=1e-5)  # order 2: not admissible


@pytest.mark.spec("SM-3.27")
def test_cubic_spline_and_gaussian_are_similar_filters():
    w = np.linspace(0.05, 25.0, 300)
    spline = radial_transform_of_spline(w)
    gaussian = np.exp(-w * w / 6)  # the same second moment, (n + 1) / 12
    np.testing.assert_allclose(spline, (np.sin(w / 2) / (w / 2)) ** 4, atol=1e-9)
    assert np.abs(spline - gaussian).max() < 0.03


def radial_transform_of_spline(w):
    x, weight = np.polynomial.legendre.leggauss(30)
    r, weight = np.concatenate([(x + 1) / 2, (x + 3) / 2]), np.tile(weight / 2, 2)
    values = profile(BSpline(3), 1)(r)
    return 2 * np.cos(np.outer(w, r)) @ (weight * values)


# -- kernels from a spectrum -------------------------------------------------------------------


def sobolev(w):
    return 1 / (1 + w * w)


@pytest.mark.spec("SM-3.15")
def test_the_kernel_of_a_spectrum():
    kernel = FromSpectrum(sobolev).bind(LINE)
    expected = np.sqrt(np.pi / 2) * np.exp(-np.abs(LINE - LINE.T))
    np.testing.assert_allclose(kernel(LINE), expected, rtol=1e-9)
    for d in (2, 3):
        A = rng.normal(size=(10, d))
        K = FromSpectrum(lambda w, d=d: (3 + w * w) ** (-1.5 - d / 2)).bind(A)(A)
        np.testing.assert_allclose(K / K[0, 0], Matern(1.5)(A), rtol=1e-8)


@pytest.mark.spec("SM-3.14")
def test_the_norm_of_an_expansion_from_its_spectrum():
    kernel = FromSpectrum(sobolev, dimension=1, reach=60.0)
    alpha = rng.normal(size=len(LINE))
    # f~ = P sum_i alpha_i exp(-i w x_i), and ||P f||^2 is the integral of |f~|^2 / P
    t = (np.arange(400_000) + 0.5) / 400_000 * np.pi / 2  # w = tan t, so that P dw = dt
    waves = sum(a * np.exp(-1j * np.tan(t) * x) for a, x in zip(alpha, LINE[:, 0], strict=True))
    norm2 = 2 * np.mean(np.abs(waves) ** 2) * np.pi / 2 / np.sqrt(2 * np.pi)
    assert norm2 == pytest.approx(alpha @ kernel(LINE) @ alpha, rel=1e-4)


@pytest.mark.spec("SM-3.15")
def test_a_frequency_without_power_is_excluded():
    kernel = FromSpectrum(lambda w: np.where(w < 2, 1.0, 0.0), cutoff=2.0).bind(LINE)
    r = np.abs(LINE - LINE.T) + 1e-300
    np.testing.assert_allclose(kernel(LINE), np.sqrt(2 / np.pi) * np.sin(2 * r) / r, rtol=1e-9)
    x = np.linspace(-3, 3, 60)[:, None]
    values = np.linalg.eigvalsh(FromSpectrum(kernel.density, cutoff=2.0).bind(x)(x))
    assert (values > 1e-6 * values[-1]).sum() < 12  # band-limited: few functions


@pytest.mark.spec("SM-3.25")
def test_two_rules_to_match_a_power_spectrum():
    def power(w):
        return np.exp(-w * w)

    grid = np.linspace(0, 40, 256, endpoint=False)[:, None]
    frequency = 2 * np.pi * np.fft.rfftfreq(256, 40 / 256)
    wanted = power(frequency[:20])
    generator = np.random.default_rng(1)

    # A Gaussian process has the spectrum of its covariance.
    covariance = FromSpectrum(power, "covariance", dimension=1, reach=80.0)
    values, vectors = np.linalg.eigh(covariance(grid))
    paths = vectors @ (np.sqrt(np.maximum(values, 0))[:, None] * generator.normal(size=(256, 800)))
    window = np.hanning(256)[:, None]
    periodogram = (np.abs(np.fft.rfft(paths * window, axis=0)) ** 2).mean(axis=1)[:20]
    assert np.abs(periodogram / periodogram[0] - wanted).max() < 0.15

    # An expansion with uncorrelated coefficients has the square of the spectrum of its kernel.
    coefficients = FromSpectrum(power, "coefficients", dimension=1, reach=80.0)
    K = coefficients(grid)
    expansions = K @ generator.normal(size=(256, 800))
    periodogram = (np.abs(np.fft.rfft(expansions * window, axis=0)) ** 2).mean(axis=1)[:20]
    assert np.abs(periodogram / periodogram[0] - wanted).max() < 0.15
    np.testing.assert_allclose(K / K[0, 0], RBF(0.5)(grid), atol=1e-9)


@pytest.mark.spec("SM-3.71")
def test_the_first_order_sobolev_norm_has_a_bounded_kernel_on_the_line_only():
    # The integral of k_x k_y + k_x' k_y' is 2 exp(-|x - y|): the Green's function is half of it.
    x, y = 0.3, 1.1
    s, step = np.linspace(-40, 40, 800_001, retstep=True)
    kx, ky = np.exp(-np.abs(s - x)), np.exp(-np.abs(s - y))
    slopes = np.sign(s - x) * np.sign(s - y)
    inner = np.sum(kx * ky * (1 + slopes)) * step
    assert inner == pytest.approx(2 * np.exp(-abs(x - y)), rel=1e-4)
    k = FromSpectrum(sobolev, dimension=1, reach=40.0)
    ratio = k([[x]], [[y]])[0, 0] / Laplacian(1.0)([[x]], [[y]])[0, 0]
    assert ratio == pytest.approx(np.sqrt(np.pi / 2), rel=1e-9)
    for d in (2, 3):
        with pytest.raises(ValueError, match=f"in {d} dimensions, so there is no bounded kernel"):
            FromSpectrum(sobolev).bind(rng.normal(size=(5, d)))
    assert radial_fourier(sobolev, 0.0)[0] == pytest.approx(np.sqrt(np.pi / 2), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: FromSpectrum(np.cos).bind(LINE), ValueError, r"P\(2\) = -0.416147"),
        (lambda: FromSpectrum(lambda w: w[:1]).bind(LINE), ValueError, "another shape"),
        (lambda: FromSpectrum(3), TypeError, "callable"),
        (lambda: FromSpectrum(sobolev, "power"), ValueError, "mode must be one of"),
        (lambda: FromSpectrum(sobolev, reach=0.0), ValueError, "reach"),
        (lambda: FromSpectrum(sobolev, dimension=0), ValueError, "dimension"),
        (lambda: FromSpectrum(sobolev, dimension=2, reach=1.0)(LINE), ValueError, "X has 1 feat"),
        (lambda: FromSpectrum(sobolev)(LINE, LINE), ValueError, "bind it first"),
    ],
)
def test_bad_spectra_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


# -- periodic kernels --------------------------------------------------------------------------


@pytest.mark.spec("SM-3.20")
@pytest.mark.parametrize("base", [RBF(2.0), Matern(1.5, 0.7), Laplacian(2.0)], ids=repr)
def test_periodised_kernels_live_on_a_circle(base):
    kernel = Periodized(base, period=2.0).bind(LINE)
    np.testing.assert_allclose(kernel(LINE + 6.0, LINE), kernel(LINE), rtol=1e-9)
    torus = Periodized(base, period=2.0).bind(np.hstack([LINE, LINE**2]))
    A = np.hstack([LINE, LINE**2])
    np.testing.assert_allclose(torus(A + [2.0, -4.0], A), torus(A), rtol=1e-9)
    assert np.linalg.eigvalsh(torus(A))[0] > -1e-12


@pytest.mark.spec("SM-3.23")
def test_the_wrapped_gaussian_is_a_series_of_cosines():
    s, x = 0.6, 0.7
    kernel = Periodized(RBF.from_sigma(s), dimension=1)
    n = np.arange(1, 40)
    series = s / np.sqrt(2 * np.pi) * (1 + 2 * np.sum(np.exp(-n * n * s * s / 2) * np.cos(n * x)))
    value = kernel([[x]], [[0.0]])[0, 0]
    assert value == pytest.approx(0.5063356, abs=1e-7)
    assert value == pytest.approx(series, rel=1e-12)
    as_series = FourierSeries([1 / 2, *np.exp(-n * n * s * s / 2)])
    scaled = (2 * s / np.sqrt(2 * np.pi)) * as_series
    np.testing.assert_allclose(kernel(LINE), scaled(LINE), rtol=1e-11)


def test_kernels_that_cannot_be_wrapped_are_refused():
    for kernel in (DampedOscillator(), NegativeDistance()):
        with pytest.raises(ValueError, match="does not settle"):
            Periodized(kernel).bind(LINE)
    with pytest.raises(ValueError, match="kernel of the difference"):
        Periodized(Linear())
    with pytest.raises(ValueError, match="terms for every pair"):
        Periodized(RBF(0.001), period=1.0).bind(rng.normal(size=(4, 5)))
    with pytest.raises(ValueError, match="period"):
        Periodized(RBF(1.0), period=0.0)
    with pytest.raises(ValueError, match="torus of Periodized"):
        Periodized(RBF(1.0), dimension=2)(LINE)


@pytest.mark.spec("CS-3.17")
def test_fourier_series_are_filters():
    q, u = 0.5, 0.7
    kernel = FourierSeries([q**n for n in range(60)])
    closed = (1 - q * np.cos(u)) / (1 - 2 * q * np.cos(u) + q * q)
    assert closed == pytest.approx(1.272944, abs=1e-6)
    assert kernel([[u]], [[0.0]])[0, 0] == pytest.approx(closed, rel=1e-12)
    grid = 2 * np.pi * np.arange(64)[:, None] / 64
    values = np.linalg.eigvalsh(FourierSeries([1.0, 0.5, 0.25, 0.125])(grid))[::-1]
    np.testing.assert_allclose(values[:7], [64, 16, 16, 8, 8, 4, 4], rtol=1e-10)
    assert np.abs(values[7:]).max() < 1e-10
    features = kernel.feature_map(LINE)
    assert features.shape[1] == 2 * 60 - 1
    negative = 1 - 0.1 * np.cos(grid - grid.T)
    assert np.linalg.eigvalsh(negative)[0] == pytest.approx(-3.2)
    with pytest.raises(ValueError, match=r"got -0.1 for frequency 1"):
        FourierSeries([1.0, -0.1])
    for bad in ([0.0], [], 3.0):
        with pytest.raises(ValueError, match="coefficient"):
            FourierSeries(bad)


@pytest.mark.spec("CS-3.17")
def test_the_coefficients_of_a_function():
    kernel = FourierSeries.from_function(lambda u: 2 + np.cos(u) + 0.5 * np.cos(3 * u), 5)
    np.testing.assert_allclose(kernel.coefficients, [2, 1, 0, 0.5, 0], atol=1e-13)
    with pytest.raises(ValueError, match="for frequency 2"):
        FourierSeries.from_function(lambda u: 1 - np.cos(2 * u), 4)


@pytest.mark.spec("SM-3.40")
def test_kernels_in_polar_coordinates_are_invariant_under_rotation_and_scaling():
    chart = RBF(1.0).on_columns([0]) * Periodized(RBF(1.0), dimension=1).on_columns([1])
    kernel = FromFeatureMap(log_polar, kernel=chart)
    A, angle = rng.normal(size=(12, 2)), 2.0
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    np.testing.assert_allclose(kernel(3.0 * A @ R), kernel(A), rtol=1e-10)
    assert np.abs(kernel(A + 1.0) - kernel(A)).max() > 0.1
    for bad, message in [(np.zeros((2, 2)), "origin"), (np.ones((2, 3)), "plane")]:
        with pytest.raises(ValueError, match=message):
            kernel(bad)


@pytest.mark.parametrize(
    ("density", "words"),
    [
        (lambda w: (w < 2.0) * 1.0, "jumps at the frequency 2, from 1 to 0.*cutoff=2;"),
        (lambda w: np.where(w < 3.0, 1.0, 0.5 * np.exp(3.0 - w)), "jumps at the frequency 3, from"),
        (lambda w: np.maximum(0.0, 1.0 - w), "ends at the frequency 1, and not smoothly.*cutoff=1"),
    ],
)
def test_a_density_with_a_jump_or_a_sharp_end_is_refused_at_once(density, words):
    X = np.linspace(-3.0, 3.0, 8).reshape(4, 2)
    begin = perf_counter()
    with pytest.raises(ValueError, match=words):
        FromSpectrum(density).bind(X)
    assert perf_counter() - begin < 2.0
