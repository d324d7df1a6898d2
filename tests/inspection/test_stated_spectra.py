"""What kernels state of their spectra, against numerical transforms of their values.

The first tests run over the catalogue: a new kernel that states a transform, a series or a way to
draw frequencies is compared with its values.
"""

import numpy as np
import pytest
from scipy.special import jv, kv

from mercer.inspection import (
    FourierOperator,
    bochner_density,
    compare_spectra,
    fourier_coefficients,
    fourier_transform,
    regularisation,
)
from mercer.inspection.fourier_spectra import closed_form
from mercer.inspection.periodic_spectra import stated_coefficients
from mercer.kernels import (
    RBF,
    BSpline,
    DampedOscillator,
    Dirichlet,
    DistanceKernel,
    Exponential,
    ExpSineSquared,
    FourierSeries,
    FromSpectrum,
    InverseMultiquadric,
    Laplacian,
    Matern,
    PeriodicGaussian,
    Periodized,
    RadialBSpline,
    RationalQuadratic,
)
from mercer.kernels import regularisation as operators
from tests.catalogue import catalogue

EXAMPLES = [example.kernel for example in catalogue()]
PER_COLUMN = [k for k in EXAMPLES if getattr(k, "_widths", None) is not None]
WITH_TRANSFORM = [k for k in EXAMPLES if closed_form(k) is not None and k not in PER_COLUMN]
WITH_SERIES = [k for k in EXAMPLES if stated_coefficients(k) is not None]
WITH_DENSITY = ("l1", "l2", "sqeuclidean", 1.5)  # distances that give one
WITH_DRAWS = [k for k in EXAMPLES if hasattr(k, "sample_spectrum")]


def dimensions(kernel):
    own = getattr(kernel, "dimension", None)
    return (1, 2, 3) if own is None else (own,)


def test_the_kernels_that_state_a_spectrum():
    transforms = {
        *(RBF, Laplacian, Exponential, Matern, RationalQuadratic, DampedOscillator),
        *(InverseMultiquadric, BSpline, RadialBSpline, FromSpectrum),
    }
    assert {type(k) for k in WITH_TRANSFORM} >= transforms
    series = {Dirichlet, ExpSineSquared, PeriodicGaussian, FourierSeries, Periodized}
    assert {type(k) for k in WITH_SERIES} >= series
    draws = {RBF, Laplacian, Exponential, Matern, RationalQuadratic}
    assert {type(k) for k in WITH_DRAWS} >= draws


@pytest.mark.spec("SM-0.04", "SM-3.15")
@pytest.mark.parametrize(
    "kernel",
    # Values of a spectrum with a cutoff fall off too slowly, and end at the reach; they are
    # compared with the inverse transform below.
    [k for k in WITH_TRANSFORM if getattr(k, "cutoff", None) is None],
    ids=repr,
)
def test_stated_transforms_are_those_of_the_values(kernel):
    for d in dimensions(kernel):
        direction = np.arange(1, d + 1) / np.linalg.norm(np.arange(1, d + 1))  # along no axis
        w = np.outer([0.0, 0.4, 1.0, 3.0], direction)
        stated = fourier_transform(kernel, w, method="closed")
        numeric = fourier_transform(kernel, w, method="numeric")
        assert np.isinf(stated).tolist() == np.isinf(numeric).tolist()
        finite = np.isfinite(stated)
        allowed = 1e-9 * stated[finite].max()
        assert numeric[finite] == pytest.approx(stated[finite], abs=allowed), d


@pytest.mark.parametrize("kernel", PER_COLUMN, ids=repr)
def test_a_transform_is_radial_and_needs_one_width(kernel):
    with pytest.raises(ValueError, match="one width that all columns share"):
        fourier_transform(kernel, np.array([0.4]), 3, method="closed")


@pytest.mark.spec("CS-3.17", "SM-3.20")
@pytest.mark.parametrize("kernel", WITH_SERIES, ids=repr)
def test_stated_series_are_those_of_the_values(kernel):
    if getattr(kernel, "dimension", None) not in (None, 1):
        with pytest.raises(ValueError, match="waves in all of them"):
            fourier_coefficients(kernel)
        return
    stated = fourier_coefficients(kernel, 12, method="closed")
    numeric = fourier_coefficients(kernel, 12, method="numeric")
    assert numeric == pytest.approx(stated, abs=1e-8 * stated.max())
    assert stated.min() >= 0
    # The period is the one of the values.
    u = np.linspace(0, 9, 7)[:, None]
    a = fourier_coefficients(kernel, 4000, method="closed")
    waves = np.cos(2 * np.pi / kernel.period * u * np.arange(4000)) @ a
    smooth = 2e-4 if isinstance(getattr(kernel, "kernel", None), Exponential) else 1e-11
    assert waves == pytest.approx(kernel(u, [[0.0]])[:, 0], abs=smooth * a.sum())


@pytest.mark.parametrize("kernel", WITH_DRAWS, ids=repr)
def test_drawn_frequencies_follow_the_spectrum(kernel):
    d = getattr(kernel, "dimension", None) or 3
    if isinstance(kernel, Periodized) and d > 1:
        with pytest.raises(ValueError, match="no spectrum to draw from in 3 columns"):
            kernel.sample_spectrum(5, d, np.random.default_rng(0))
        return
    if isinstance(kernel, DistanceKernel) and kernel.distance not in WITH_DENSITY:
        with pytest.raises(ValueError, match="the distances that give one"):
            kernel.sample_spectrum(5, d, np.random.default_rng(0))
        return
    n, x = 20_000, np.array([[0.3, 0.0, 0.0], [0.5, -1.0, 0.7]])[:, :d]
    w = kernel.sample_spectrum(n, d, np.random.default_rng(0))
    assert w.shape == (n, d)
    values = kernel(x, np.zeros((1, d)))[:, 0] / kernel.diag(x)
    assert np.cos(w @ x.T).mean(axis=0) == pytest.approx(values, abs=4 / np.sqrt(n))


# -- transforms -----------------------------------------------------------------------------


@pytest.mark.spec("SM-3.15")
def test_a_spectrum_with_a_cutoff_gives_the_values_back():
    def band(w):
        return np.where(w < 3, 1.0, -1.0)  # beyond the cutoff it is not looked at

    r = np.linspace(0.1, 15, 40)
    kernel = FromSpectrum(band, dimension=1, reach=20.0, cutoff=3.0 - 1e-12)
    assert fourier_transform(kernel, [0.0, 2.9, 3.0, 9.0]).tolist() == [1, 1, 0, 0]
    x, weight = np.polynomial.legendre.leggauss(60)
    w = 1.5 * (x + 1)
    waves = np.cos(np.outer(r, w)) @ (1.5 * weight * kernel.spectral_density(w))
    values = kernel(r[:, None], [[0.0]])[:, 0]
    assert values == pytest.approx(np.sqrt(2 / np.pi) * waves, abs=1e-9)
    root = FromSpectrum(lambda w: np.exp(-w), "coefficients", dimension=2, reach=9.0)
    assert fourier_transform(root, [[0.6, 0.8]]) == pytest.approx(np.exp(-0.5))


def test_kernels_made_for_a_dimension_have_a_spectrum_in_it():
    for kernel in (
        RadialBSpline(3, 0.9, 2),
        2 * RadialBSpline(3, 0.9, 2) + RBF(1.0),
        FromSpectrum(lambda w: np.exp(-w), dimension=2, reach=30.0),
    ):
        exact = fourier_transform(kernel, 1.0, 2, method="closed")
        assert fourier_transform(kernel, [[0.6, 0.8]]) == pytest.approx(exact)
        with pytest.raises(ValueError, match=r"kernel on 2 columns.* in 3 dimensions; pass dim"):
            fourier_transform(kernel, 1.0, 3)
        assert isinstance(regularisation(kernel), operators.Regularisation)  # in any dimension
    assert RadialBSpline(3, 0.9, 2).spectral_density([1.0]) == pytest.approx(
        fourier_transform(RadialBSpline(3, 0.9, 2), 1.0, 2)
    )
    with pytest.raises(ValueError, match="bind it first"):
        fourier_transform(RadialBSpline(3), 1.0)


@pytest.mark.spec("SM-3.34", "SM-3.35", "SM-3.36", "SM-3.37", "SM-3.39")
def test_printed_numbers_of_the_kernels():
    w = 0.9
    exponential = [fourier_transform(Exponential(1.3), w, d)[0] for d in (1, 2, 3, 4)]
    assert exponential == pytest.approx([0.4149000, 0.3288769, 0.3319200, 0.3946523], abs=5e-8)
    oscillator = [fourier_transform(DampedOscillator(1.3), w, d)[0] for d in (1, 2, 3)]
    assert oscillator == pytest.approx([0.2992210, 0.3318583, 0.4322081], abs=5e-8)
    balls = [fourier_transform(RadialBSpline(1, 1.0, d), v, d)[0] for d, v in ((2, 5.0), (3, 0.9))]
    assert balls == pytest.approx([0.02696946, 0.9456218], rel=1e-6)
    for d in (1, 2, 3, 4):
        gaussian = fourier_transform(RBF.from_sigma(0.7), w, d)[0] / 0.7**d
        assert gaussian == pytest.approx(0.8200008, abs=5e-8)
        assert fourier_transform(Matern(np.inf, 0.7), w, d)[0] / 0.7**d == pytest.approx(gaussian)
        power = RationalQuadratic((d + 1) / 2, 1 / np.sqrt(d + 1))  # (1 + r^2)^(-(d + 1) / 2)
        decay = fourier_transform(power, [0.5, 4.0], d)
        assert decay[1] / decay[0] == pytest.approx(np.exp(-3.5))


@pytest.mark.spec("SM-3.27")
def test_the_cubic_spline_as_a_filter():
    w = np.linspace(0, 20, 2001)
    spline, gauss = compare_spectra([BSpline(3), RBF.from_sigma(1 / np.sqrt(3))], w).values()
    assert spline == pytest.approx(np.sinc(w / (2 * np.pi)) ** 4)
    assert 0.005 < np.abs(spline - gauss).max() < 0.03


def test_the_density_of_an_inverse_multiquadric_integrates_to_one():
    x, weight = np.polynomial.legendre.leggauss(200)
    w = 0.5 * (x + 1) ** 2 * 10  # dense at 0, where the density has a logarithm
    total = 2 * (10 * (x + 1) * weight) @ bochner_density(InverseMultiquadric(2.0), w)
    assert total == pytest.approx(1, abs=1e-6)


# -- series ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["series", "unit", "wrapped"])
@pytest.mark.parametrize("period", [2 * np.pi, 3.0])
@pytest.mark.spec("SM-3.21", "SM-3.22", "SM-3.23")
def test_coefficients_of_the_periodic_gaussian(form, period):
    kernel = PeriodicGaussian(0.2 * period, period, form)
    s, n = 2 * np.pi * 0.2, np.arange(7)
    waves = np.exp(-0.5 * (n * s) ** 2)
    odd = np.exp(-0.5 * (np.arange(1, 60, 2) * s) ** 2).sum()
    even = np.exp(-0.5 * (np.arange(2, 60, 2) * s) ** 2).sum()
    expected = {
        "series": np.where(n == 0, 0, waves),
        "unit": np.where(n == 0, odd - even, waves) / (2 * odd),  # the inverse of twice the sum
        "wrapped": s / np.sqrt(2 * np.pi) * np.where(n == 0, 1, 2 * waves),
    }[form]
    assert fourier_coefficients(kernel, 7) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="periodic: its spectrum is a series"):
        fourier_transform(kernel, 1.0)


@pytest.mark.spec("SM-3.19")
def test_coefficients_of_the_dirichlet_kernel_count_the_constant_once():
    assert fourier_coefficients(Dirichlet(2), 5).tolist() == [1, 2, 2, 0, 0]
    with pytest.raises(ValueError, match="periodic: its spectrum is a series"):
        fourier_transform(Dirichlet(2), 1.0)


@pytest.mark.spec("SM-3.23")
@pytest.mark.parametrize("period", [0.7, 2 * np.pi])
def test_wrapping_samples_the_spectrum(period):
    smooth = Periodized(Matern(1.5, 0.3), period, dimension=1)
    n = np.arange(5)
    w = 2 * np.pi * n / period
    exact = (
        np.where(n == 0, 1, 2)
        * np.sqrt(2 * np.pi)
        / period
        * fourier_transform(Matern(1.5, 0.3), w)
    )
    assert fourier_coefficients(smooth, 5) == pytest.approx(exact)
    # A kernel that states no transform is transformed by integration.
    plain = RBF(1.0) ** 2
    assert closed_form(plain) is None
    a = fourier_coefficients(Periodized(plain, period, dimension=1), 5)
    b = fourier_coefficients(Periodized(RBF(2.0), period, dimension=1), 5)
    assert a == pytest.approx(b, abs=1e-10)
    with pytest.raises(ValueError, match="n_terms"):
        smooth.fourier_coefficients(0)


def test_series_of_sums_and_multiples():
    wave, other = PeriodicGaussian(0.4, 3.0), FourierSeries([0.5, 0.0, 0.25], 3.0)
    both = 2 * wave + 0.5 * other + 3
    a = fourier_coefficients(both, 6, method="closed")
    parts = 2 * fourier_coefficients(wave, 6) + 0.5 * fourier_coefficients(other, 6)
    assert a == pytest.approx(parts + 3 * (np.arange(6) == 0))
    assert fourier_coefficients(both, 6, method="numeric") == pytest.approx(a, abs=1e-12)
    assert fourier_coefficients(3 + wave, 2)[0] == 3
    assert regularisation(both) is operators.PERIODIC
    mixed = wave + FourierSeries([0.5, 1.0], 2.0)
    assert stated_coefficients(mixed) is None
    assert stated_coefficients(wave + RBF(1.0)) is None
    numeric = fourier_coefficients(mixed, 7, period=6.0)
    assert numeric[3] == pytest.approx(1 + 0, abs=1e-12)  # the wave of period 2
    assert numeric[2] == pytest.approx(fourier_coefficients(wave, 2)[1], abs=1e-12)


# -- operators ------------------------------------------------------------------------------

FILTERS = {
    "EXPONENTIAL": (Exponential(1.3), lambda w, d: (1.3**2 + w**2) ** (-(d + 1) / 2)),
    "MATERN": (Matern(1.2, 0.8), lambda w, d: (2.4 / 0.8**2 + w**2) ** (-(1.2 + d / 2))),
    "GAUSSIAN": (Matern(np.inf, 0.8), lambda w, d: np.exp(-(0.8**2) * w**2 / 2)),
    "RATIONAL_QUADRATIC": (
        RationalQuadratic(0.7, 1.1),
        lambda w, d: w ** (0.7 - d / 2) * kv(0.7 - d / 2, 1.1 * np.sqrt(1.4) * w),
    ),
    "DAMPED_OSCILLATOR": (
        DampedOscillator(1.2, 0.7),
        lambda w, d: w ** (1 - d / 2) * kv(d / 2 - 1, 1.2 / 0.7 * w),
    ),
    "INVERSE_MULTIQUADRIC": (
        InverseMultiquadric(0.8),
        lambda w, d: w ** ((1 - d) / 2) * kv((d - 1) / 2, 0.8 * w),
    ),
    "RADIAL_B_SPLINE": (
        lambda d: RadialBSpline(3, 0.9, d),
        lambda w, d: (jv(d / 2, 0.9 * w) / w ** (d / 2)) ** 4,
    ),
}


@pytest.mark.spec("SM-3.07")
@pytest.mark.parametrize("name", FILTERS)
def test_the_filters_in_words_are_the_transforms(name):
    kernel, filter_ = FILTERS[name]
    w = np.array([0.3, 1.0, 2.5])
    for d in (1, 2, 3):
        own = kernel(d) if callable(kernel) and not hasattr(kernel, "diag") else kernel
        assert regularisation(own) is getattr(operators, name)
        ratio = fourier_transform(own, w, d) / filter_(w, d)
        assert ratio == pytest.approx(np.full(3, ratio[0]), rel=1e-9), d


@pytest.mark.spec("SM-3.07", "SM-3.16")
def test_the_filter_of_splines_is_a_product():
    assert regularisation(BSpline(3)) is operators.B_SPLINE
    w = np.array([[0.5, 2.0], [1.0, 0.1]])
    product = np.prod((np.sin(0.35 * w) / (0.35 * w)) ** 4, axis=1)
    ratio = fourier_transform(BSpline(3, 0.7), w) / product
    assert ratio[0] == pytest.approx(ratio[1])


@pytest.mark.spec("SM-3.14", "SM-3.35")
@pytest.mark.parametrize("kernel", [Exponential(1.3), Matern(1.5, 0.8)], ids=repr)
def test_the_operator_of_a_transform_reproduces_the_kernel(kernel):
    operator = FourierOperator(lambda w: fourier_transform(kernel, w))
    at = operator.filter

    def section(x):  # the transform of k(x, .)
        return lambda w: at(w) * np.exp(-1j * w * x)

    inner = operator.inner(section(0.3), section(-0.5), cutoff=4e4)
    assert inner == pytest.approx(kernel([[0.3]], [[-0.5]])[0, 0], abs=1e-4)


@pytest.mark.spec("SM-3.19", "SM-3.21")
@pytest.mark.parametrize(
    ("kernel", "name", "penalty"),
    [
        # (1 / 2 pi) times the integral of f^2
        (Dirichlet(4), "DIRICHLET", lambda n: 1 / (2 * np.pi)),
        # (1 / pi) times that of the derivatives, sigma^2m / (m! 2^m) each
        (PeriodicGaussian(0.6), "PERIODIC_GAUSSIAN", lambda n: np.exp(0.18 * n**2) / np.pi),
    ],
    ids=["dirichlet", "gaussian"],
)
def test_the_norms_of_periodic_kernels_reproduce_them(kernel, name, penalty):
    assert regularisation(kernel) is getattr(operators, name)
    # On a grid the integral of a product of waves up to 30 is exact.
    u = 2 * np.pi * np.arange(128) / 128
    f, g = (np.fft.rfft(kernel(u[:, None], [[x]])[:, 0])[:31] / 128 for x in (0.3, 1.7))
    n = np.arange(31)
    f[np.abs(f) < 1e-13], g[np.abs(g) < 1e-13] = 0, 0
    both_signs = np.where(n == 0, 1, 2)
    inner = (2 * np.pi * penalty(n) * both_signs * (np.conj(f) * g).real).sum()
    assert inner == pytest.approx(kernel([[0.3]], [[1.7]])[0, 0], abs=1e-9)
