"""Regularisation operators in words: their formulas against the values of the kernels.

Where a filter P is stated, coefficients c that the null space leaves have c'Kc equal to a multiple
of the integral of P times the power of sum_i c_i exp(-i w x_i); where a norm is stated, it
reproduces the kernel.
"""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import null_space
from scipy.special import j0, kv

from mercer.inspection import fourier_coefficients, fourier_transform, regularisation
from mercer.inspection.fourier_spectra import terms
from mercer.kernels import (
    RBF,
    Constant,
    DistanceKernel,
    Exponential,
    FourierSeries,
    Laplacian,
    Linear,
    LogDistance,
    Matern,
    Multiquadric,
    NegativeDistance,
    PeriodicGaussian,
    Polynomial,
    Sigmoid,
    Spline,
    ThinPlate,
)
from mercer.kernels import regularisation as operators

# -- kernels with a period --------------------------------------------------------------------


@pytest.mark.spec("SM-3.21")
@pytest.mark.parametrize("period", [24.0, 2 * np.pi, 0.7])
@pytest.mark.parametrize("form", ["series", "unit", "wrapped"])
def test_the_filter_of_the_periodic_gaussian_lies_at_multiples_of_its_frequency(form, period):
    sigma = 0.15 * period
    kernel = PeriodicGaussian(sigma, period, form)
    stated = regularisation(kernel).filter
    assert r"\omega_j = 2 \pi j / T" in stated
    assert r"e^{-\sigma^2 \omega_j^2 / 2}" in stated
    j = np.arange(6)
    filter_ = np.exp(-0.5 * (sigma * 2 * np.pi * j / period) ** 2)
    if form == "series":
        assert r"\sum_{j \ne 0}" in stated
        filter_[0] = 0
    if form == "unit":
        assert r"2 A \, \delta(\omega)" in stated
        n = np.arange(1, 200)
        waves = np.exp(-0.5 * (sigma * 2 * np.pi * n / period) ** 2)
        filter_[0] = 2 * (np.where(n % 2 == 1, 1, -1) * waves).sum()
    a = fourier_coefficients(kernel, 6, method="numeric")
    weights = np.where(j == 0, a, a / 2)  # of one exponential each
    assert weights / weights[1] == pytest.approx(filter_ / filter_[1], abs=1e-10)


@pytest.mark.spec("SM-3.21")
@pytest.mark.parametrize("period", [24.0, 0.7])
@pytest.mark.parametrize("form", ["series", "unit", "wrapped"])
def test_the_norm_of_the_periodic_gaussian_reproduces_it(form, period):
    sigma = 0.15 * period
    kernel = PeriodicGaussian(sigma, period, form)
    stated = regularisation(kernel).norm
    assert r"\int_0^T" in stated
    # The integrals of products of derivatives, by the discrete transform of a period.
    m = 128
    x = period * np.arange(m) / m
    f, g = (np.fft.fft(kernel(x[:, None], [[at]])[:, 0]) / m for at in (0.1, 0.4))
    frequency = 2 * np.pi * np.fft.fftfreq(m, period / m)
    f[np.abs(f) < 1e-12], g[np.abs(g) < 1e-12] = 0, 0
    powers = np.exp(np.minimum((sigma * frequency) ** 2 / 2, 300))  # summed over all derivatives
    energy = (period * powers * (np.conj(f) * g).real)[f != 0]
    value = kernel([[0.1]], [[0.4]])[0, 0]
    if form == "wrapped":
        assert r"\frac{1}{\sigma \sqrt{2 \pi}} \int" in stated
        assert energy.sum() / (sigma * np.sqrt(2 * np.pi)) == pytest.approx(value, abs=1e-9)
    elif form == "series":
        assert r"\frac{2}{T} \int" in stated
        assert f[0] == 0  # no constant
        assert 2 / period * energy.sum() == pytest.approx(value, abs=1e-9)
    else:
        assert r"\frac{b^2}{A} + \frac{2}{T} \int" in stated
        n = np.arange(1, 200)
        waves = np.exp(-0.5 * (sigma * 2 * np.pi * n / period) ** 2)
        lift, gap = (np.where(n % 2 == 1, 1, -1) * waves).sum(), 2 * waves[::2].sum()
        norm = (f[0] * g[0]).real / lift + 2 / period * energy[1:].sum()
        assert gap * norm == pytest.approx(value, abs=1e-9)


def test_the_norm_of_a_series_counts_waves_of_its_period():
    kernel, T = FourierSeries([0.5, 2.0, 0.0, 0.25], 3.0), 3.0
    stated = regularisation(kernel)
    assert stated is operators.PERIODIC
    assert r"\omega_n = 2 \pi n / T" in stated.norm
    assert r"\omega_n = 2 \pi n / T" in stated.filter
    m = 64
    x = T * np.arange(m) / m
    f, g = (kernel(x[:, None], [[at]])[:, 0] for at in (0.1, 0.9))
    n = np.array([0, 1, 3])
    a = np.array([0.5, 2.0, 0.25])
    angles = 2 * np.pi * n * x[:, None] / T
    waves = np.stack([np.cos(angles), np.sin(angles)]) * np.where(n == 0, 1, 2) / m
    inner = (np.einsum("swn,w->sn", waves, f) * np.einsum("swn,w->sn", waves, g) / a).sum()
    assert inner == pytest.approx(kernel([[0.1]], [[0.9]])[0, 0])


# -- conditionally positive definite kernels ---------------------------------------------------

CONDITIONAL = {
    "THIN_PLATE": (ThinPlate(), lambda w, d: w ** -(d + 2.0), r"\|\omega\|^{-(d + 2)}"),
    "NEGATIVE_DISTANCE": (
        NegativeDistance(1.3),
        lambda w, d: w ** -(d + 1.3),
        r"\|\omega\|^{-(d + p)}",
    ),
    "MULTIQUADRIC": (
        Multiquadric(0.7),
        lambda w, d: w ** (-(d + 1) / 2) * kv((d + 1) / 2, 0.7 * w),
        r"\|\omega\|^{-\nu} K_\nu(c \|\omega\|), \quad \nu = (d + 1)/2",
    ),
    "LOG_DISTANCE": (
        LogDistance(2.0, 0.49),
        lambda w, d: w ** (-d / 2) * kv(d / 2, 0.7 * w),
        r"\|\omega\|^{-d/2} K_{d/2}(\sqrt{c} \, \|\omega\|)",
    ),
}


def spectral_energy(filter_, c, X):
    """Return the integral of a radial filter times the power of sum_i c_i exp(-i w x_i)."""
    d = X.shape[1]
    nodes, weights = np.polynomial.legendre.leggauss(24)
    # Near 0 a sum of Bessel functions cancels to rounding, and waves to its square.
    edges = np.geomspace(1e-6 if d == 1 else 1e-5, 3e3, 1200)
    half = 0.5 * np.diff(edges)[:, None]
    w = (edges[:-1, None] + half * (1 + nodes)).ravel()
    weight = (half * weights).ravel()
    if d == 1:
        power = 2 * np.abs(np.exp(-1j * w[:, None] * X[:, 0]) @ c) ** 2
        return weight @ (filter_(w, 1) * power)
    lengths = np.linalg.norm(X[:, None] - X, axis=-1)
    power = 2 * np.pi * np.einsum("i,j,wij->w", c, c, j0(w[:, None, None] * lengths))
    return weight @ (w * filter_(w, 2) * np.maximum(power, 0))


@pytest.mark.spec("SM-3.07")
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("name", CONDITIONAL)
def test_the_filters_of_conditional_kernels_are_their_generalised_transforms(name, d):
    kernel, filter_, formula = CONDITIONAL[name]
    assert regularisation(kernel) is getattr(operators, name)
    assert regularisation(3 * kernel + 1) is getattr(operators, name)  # constants are free already
    assert regularisation(kernel).filter == formula
    rng = np.random.default_rng(d)
    ratios = []
    for scale in (0.5, 1.0, 2.0):
        X = scale * rng.normal(size=(5, d))
        c = null_space(kernel.null_space(X).T)[:, 0]
        ratios.append(c @ kernel(X) @ c / spectral_energy(filter_, c, X))
    assert ratios == pytest.approx([ratios[0]] * 3, rel=2e-3)
    if name == "THIN_PLATE" and d == 2:
        # F[k] = q |w|^-4, and |w|^4 stands for the squares of all second derivatives.
        q = 2 * np.pi * ratios[0]
        assert 1 / (2 * np.pi * q) == pytest.approx(1 / (8 * np.pi), rel=2e-3)
        assert regularisation(kernel).norm.startswith(r"\frac{1}{8 \pi} \int f_{xx}^2")


def test_the_norm_of_the_distance_on_the_line_is_that_of_the_slope():
    kernel = NegativeDistance()
    assert r"\tfrac{1}{2} \int f'^2 \, dx" in regularisation(kernel).norm
    X, c = np.array([[-1.0], [0.4], [2.0]]), np.array([1.0, -3.0, 2.0])
    x = np.linspace(-3, 4, 70001)[:, None]
    slope = np.diff(kernel(x, X) @ c) / np.diff(x[:, 0])
    energy = 0.5 * (slope**2 * np.diff(x[:, 0])).sum()
    assert energy == pytest.approx(c @ kernel(X) @ c, rel=1e-3)


def test_the_squared_distance_penalises_slopes():
    stated = regularisation(NegativeDistance(2.0))
    assert stated is operators.SQUARED_DISTANCE
    assert stated.norm.startswith(r"\tfrac{1}{2} \|w\|^2")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3))
    c = null_space(np.ones((1, 6)))[:, 0]
    f = NegativeDistance(2.0)
    w = (f(np.eye(3), X) - f(np.zeros((1, 3)), X)) @ c  # the slope of sum_i c_i k(., x_i)
    assert 0.5 * w @ w == pytest.approx(c @ f(X) @ c)


def test_other_conditional_kernels_have_the_general_operator():
    assert regularisation(LogDistance(1.0)) is operators.CONDITIONAL
    assert regularisation(NegativeDistance() + RBF(1.0)) is operators.CONDITIONAL
    assert regularisation(Multiquadric(0.0)) is operators.NEGATIVE_DISTANCE


def test_the_norm_of_the_spline_reproduces_it():
    stated = regularisation(Spline())
    assert stated.norm.startswith(r"f(0)^2 + f'(0)^2 + \int_0^\infty f''^2 \, dx")
    kernel, h = Spline(), 1e-4

    def section(at):
        def f(x):
            return kernel(np.atleast_1d(x)[:, None], [[at]])[:, 0]

        def second(x):
            return float((f(x + h) - 2 * f(x) + f(x - h))[0]) / h**2

        return float(f(0.0)[0]), float((f(h) - f(0.0))[0]) / h, second

    f, df, ddf = section(0.7)
    g, dg, ddg = section(1.9)
    bend = quad(lambda x: ddf(x) * ddg(x), h, 0.7, epsabs=1e-6)[0]  # f'' = 0 beyond
    assert f * g + df * dg + bend == pytest.approx(kernel([[0.7]], [[1.9]])[0, 0], rel=1e-3)


# -- compositions ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (2 * RBF(1.0), "GAUSSIAN"),
        (Constant(2.0) * RBF(1.0), "GAUSSIAN"),
        (RBF(1.0) * Constant(2.0), "GAUSSIAN"),
        (3 * (2 * Spline()), "SPLINE"),
        (2 * PeriodicGaussian(1.0, 24.0), "PERIODIC_GAUSSIAN"),
        (RBF(1.0) + 0 * Laplacian(1.0), "GAUSSIAN"),
    ],
    ids=repr,
)
def test_a_multiple_keeps_the_words(kernel, name):
    assert regularisation(kernel) is getattr(operators, name)


def test_a_kernel_plus_a_constant():
    found = regularisation(2 * (RBF(1.0) + 1.5))
    assert found.words.startswith(operators.GAUSSIAN.words)
    assert found.words.endswith("costs b^2 / 3.")
    assert found.norm.endswith(operators.GAUSSIAN.norm)
    assert found.filter.endswith(operators.GAUSSIAN.filter)
    assert r"3 \, (2\pi)^{d/2} \delta(\omega)" in found.filter
    assert regularisation(Polynomial(2, 1.0) + 1).filter == ""
    assert regularisation(Constant(4.0)).norm.startswith("b^2 / 4")
    with pytest.raises(ValueError, match="0 everywhere"):
        regularisation(0 * RBF(1.0))
    # The norm of k(x, .) is k(x, x): the least of a b^2 / c and the norm of what is left of it.
    kernel, c = Linear() + 1.5, 1.5
    x = np.array([[2.0]])
    w, b = 2.0, c  # k(x, t) = 2 t + 1.5, and no constant is a multiple of t
    assert w**2 + b**2 / c == pytest.approx(kernel(x)[0, 0])


@pytest.mark.parametrize(
    ("distance", "twin"),
    [("l1", Laplacian), (1, Laplacian), ("l2", Exponential), (2.0, Exponential)],
)
def test_distance_kernels_with_a_name_of_their_own(distance, twin):
    kernel, w = DistanceKernel(distance, 1.6), np.array([0.0, 0.5, 2.0])
    assert kernel.same_as == twin(1 / 1.6)
    found = regularisation(kernel)
    assert found.filter == regularisation(twin(1.0)).filter
    assert found.words.endswith("(gamma=0.625).")
    for d in (1, 2):
        exact = fourier_transform(kernel, w, d, method="closed")
        numeric = fourier_transform(kernel, w, d, method="numeric")
        assert numeric == pytest.approx(exact, abs=1e-9 * exact[0])
    x = np.random.default_rng(0).normal(size=(4, 2))
    np.testing.assert_allclose(kernel(x), kernel.same_as(x), rtol=1e-14)


def test_the_squared_euclidean_distance_gives_the_gaussian():
    kernel = DistanceKernel("sqeuclidean", 1.6)
    assert kernel.same_as == RBF(1 / 1.6)
    assert regularisation(kernel).filter == operators.GAUSSIAN.filter
    assert fourier_transform(kernel, [0.3]) == pytest.approx(fourier_transform(RBF(0.625), [0.3]))
    assert DistanceKernel("linf").same_as is None
    assert DistanceKernel("chi2").same_as is None


def test_kernels_of_the_difference_without_a_closed_form():
    assert regularisation(RBF(1.0) * Matern(1.5, 2.0)) is operators.GENERIC
    assert regularisation(DistanceKernel(1.5)) is operators.GENERIC
    assert regularisation(PeriodicGaussian() * RBF(1.0)) is operators.GENERIC
    for kernel in (DistanceKernel(3.0), DistanceKernel("chi2"), Sigmoid(1.0), Linear() * RBF(1.0)):
        with pytest.raises(ValueError, match="does not state its regularisation operator"):
            regularisation(kernel)
    with pytest.raises(ValueError, match="does not state"):
        regularisation(PeriodicGaussian() + RBF(1.0))


def test_terms_of_a_kernel():
    k = RBF(1.0)
    assert terms(k) == (0.0, [(1.0, k)])
    assert terms(2 * (k + 1) * Constant(3.0) + Laplacian(1.0)) == (
        6.0,
        [(6.0, k), (1.0, Laplacian(1.0))],
    )
    assert terms(0 * k) == (0.0, [])
    assert terms(Constant(2.0) * Constant(3.0)) == (6.0, [])
