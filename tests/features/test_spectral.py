"""Frequencies drawn from the spectra of kernels: their cosines average to the kernel."""

import numpy as np
import pytest

from mercer.features import RandomFourierFeatures, draw_frequencies
from mercer.kernels import (
    RBF,
    Bilinear,
    BSpline,
    DampedOscillator,
    Dirichlet,
    DistanceKernel,
    Exponential,
    FourierSeries,
    FromSpectrum,
    InverseMultiquadric,
    Laplacian,
    Linear,
    Matern,
    OverFeatureSpace,
    PeriodicGaussian,
    Periodized,
    Polynomial,
    PowerSeries,
    RadialBSpline,
    RationalQuadratic,
    exp,
    polynomial,
)

rng = np.random.default_rng(31)
X, Z = rng.normal(size=(8, 2)), rng.normal(size=(8, 2))
# Pairs near and far, and equal ones.
PAIRS = np.concatenate([X - Z, 0.2 * (X - Z), 4.0 * (X - Z), np.zeros((1, 2))])
N = 40_000


def slow(w):
    return (1.0 + w**2) ** -1.75


KERNELS = [
    DampedOscillator(gamma=2.0, omega=0.7),
    InverseMultiquadric(c=1.5),
    RationalQuadratic(alpha=0.7, length_scale=1.3),
    DistanceKernel("l1", 1.5),
    DistanceKernel("l2", 0.8),
    DistanceKernel("sqeuclidean", 2.0),
    DistanceKernel(1.5, 1.2),
    DistanceKernel(1.05, 2.0),
    BSpline(1, 2.0),
    BSpline(3, 0.9),
    BSpline(25, 1.0),
    RadialBSpline(1, 1.5, dimension=2),
    RadialBSpline(3, 0.6, dimension=2),
    FromSpectrum(slow, dimension=2, reach=60.0),
    FromSpectrum(slow, mode="coefficients", dimension=2, reach=30.0, cutoff=4.0),
    FromSpectrum(lambda w: w**2 * np.exp(-(w**2)), dimension=2, reach=60.0),
    PowerSeries([0.5, 0.0, 2.0], kernel=RBF(0.3)),
    PowerSeries("cosh", kernel=Matern(1.5)),
    PowerSeries("sinh", kernel=3.0 * RBF(0.3)),
    PowerSeries("geometric", kernel=0.9 * RBF(0.3)),
    PowerSeries("log", kernel=0.95 * Laplacian(0.3)),
    PowerSeries("exp", kernel=RBF(0.3)),
    OverFeatureSpace(Linear(), 0.4),
    OverFeatureSpace(2.0 * Linear() + Bilinear([[2.0, 1.0], [1.0, 3.0]]) + 1.0, 0.1),
    OverFeatureSpace(Linear().on_columns([1, 1]), 0.3),
    OverFeatureSpace(RBF(0.5), 1.5),
    PeriodicGaussian(sigma=0.6),
    PeriodicGaussian(sigma=1.0, period=5.0, form="unit"),
    PeriodicGaussian(sigma=2.0, period=3.0, form="wrapped"),
    Dirichlet(3),
    FourierSeries([1.0, 0.0, 0.5, 2.0], period=3.0),
    Periodized(Matern(1.5, 0.7), 3.0, dimension=1).on_columns([1]),
    Periodized(Exponential(2.0), 3.0, dimension=1).on_columns([0]) * RBF(0.2),
    Dirichlet(1) * RBF(0.1) + 2.0 * BSpline(3),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: repr(k)[:60])
def test_cosines_of_the_frequencies_average_to_the_kernel(kernel):
    w, mass = draw_frequencies(kernel, N, 2, np.random.default_rng(1))
    assert w.shape == (N, 2)
    terms = mass * np.cos(PAIRS @ w.T)
    exact = kernel(PAIRS, np.zeros((1, 2)))[:, 0]
    deviation = terms.std(axis=1) / np.sqrt(N)
    assert (np.abs(terms.mean(axis=1) - exact) <= 4.5 * deviation + 2e-5 * mass).all()
    # The deviation itself is what the noise of that many cosines must be, and not larger.
    assert deviation.max() <= mass / np.sqrt(N)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_radial_splines_in_other_dimensions(d):
    kernel = RadialBSpline(3, 0.5 * d, dimension=d)
    A = np.random.default_rng(2).normal(size=(8, d))
    w, mass = draw_frequencies(kernel, N, d, np.random.default_rng(3))
    terms = mass * np.cos(A @ w.T)
    exact = kernel(A, np.zeros((1, d)))[:, 0]
    assert (np.abs(terms.mean(axis=1) - exact) <= 4.5 * terms.std(axis=1) / np.sqrt(N)).all()


def test_features_of_the_named_kernels_are_within_the_stated_error():
    for kernel in (InverseMultiquadric(), BSpline(3), PeriodicGaussian(), DistanceKernel("l1")):
        features = RandomFourierFeatures(kernel, n_components=4000, random_state=0).fit(X)
        F, G = features.transform(X), features.transform(Z)
        errors = np.abs(F @ G.T - kernel.bind(X)(X, Z))
        assert np.mean(errors > features.pointwise_bound(0.05)) <= 0.05


def test_waves_of_a_periodic_kernel_have_its_period():
    w, _ = draw_frequencies(FourierSeries([0.0, 1.0, 1.0], 4.0), 500, 2, np.random.default_rng(0))
    waves = w * 4.0 / (2 * np.pi)
    np.testing.assert_allclose(waves, np.round(waves), atol=1e-12)
    assert set(np.unique(np.round(waves))) == {-2, -1, 1, 2}


def test_kernels_without_a_spectrum_to_draw_from_are_refused():
    for kernel in (
        DistanceKernel("chi2"),
        DistanceKernel("linf"),
        DistanceKernel(3.0),
        OverFeatureSpace(Polynomial(2, 1.0), 1.0),
        PowerSeries("exp"),
        exp(Linear()),
        polynomial(Linear(), [1.0, 1.0]),
        PowerSeries("exp", kernel=400.0 * RBF(1.0)),
    ):
        with pytest.raises(ValueError, match="no spectrum to draw from"):
            RandomFourierFeatures(kernel).fit(np.abs(X))
    with pytest.raises(ValueError, match="product of kernels on single columns"):
        RandomFourierFeatures(Periodized(RBF(1.0))).fit(X)
    with pytest.raises(ValueError, match="beyond 65536 waves"):
        RandomFourierFeatures(Periodized(Exponential(1e4))).fit(X[:, :1])
