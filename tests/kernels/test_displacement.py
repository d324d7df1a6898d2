"""Derivatives of kernels of x - z along a displacement, and by the period of periodic ones."""

import numpy as np
import pytest

from mercer.gram import Table
from mercer.gram.displacement import slope_along
from mercer.kernels import (
    RBF,
    BSpline,
    DistanceKernel,
    Exp,
    Exponential,
    FourierSeries,
    FromSpectrum,
    InverseMultiquadric,
    Kernel,
    Laplacian,
    Linear,
    LogDistance,
    Matern,
    Multiquadric,
    NegativeDistance,
    OverFeatureSpace,
    PeriodicGaussian,
    Periodized,
    PolynomialOf,
    RadialBSpline,
    RationalQuadratic,
    ThinPlate,
    normalize,
)

DIFFERENTIABLE = [
    RBF(0.7),
    Laplacian(0.7),
    Exponential(0.7),
    Matern(1.5, 0.8),
    Matern(1.2, 0.8),  # a table
    RationalQuadratic(0.7, 1.1),
    RationalQuadratic(1.0, 1.1),
    InverseMultiquadric(0.8),
    Multiquadric(0.8),
    NegativeDistance(1.3),
    LogDistance(1.4, 0.6),
    ThinPlate(),
    BSpline(3, 1.5),
    RadialBSpline(3, 1.5, 2),
    FromSpectrum(lambda w: np.exp(-w), dimension=2, reach=30.0),
    DistanceKernel(1.5, 2.0),
    DistanceKernel("linf", 2.0),
    PeriodicGaussian(0.3, 2.0, "wrapped"),  # wrapped
    PeriodicGaussian(0.9, 2.0),  # a series
    FourierSeries([0.2, 0.5, 0.1], 3.0),
    2 * RBF(0.7) + Laplacian(0.3) * RBF(0.2),
    3.0 + RBF(0.7),
    RBF(0.7).on_columns([1]) * Laplacian(0.2).on_columns([0]),
    Matern(2.5) ** 3,
    normalize(2 * RBF(0.7) + RBF(0.1)),
    OverFeatureSpace(Exponential(0.7), 0.5),
    Exp(RBF(0.7)),
    PolynomialOf(RBF(0.7), [0.5, 0.0, 2.0]),
]


@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=repr)
def test_the_slope_is_the_limit_of_differences(kernel):
    rng = np.random.default_rng(3)
    rows, along, origin = rng.normal(size=(40, 2)), rng.normal(size=(40, 2)), np.zeros((1, 2))
    h = 1e-3

    def moved(by):
        return kernel(rows + by * along, origin)[:, 0]

    # Five points, whose error is of the fourth power of the step where no kink lies between.
    near = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
    far = (8 * (moved(2 * h) - moved(-2 * h)) - (moved(4 * h) - moved(-4 * h))) / (24 * h)
    smooth = np.abs(near - far) < 1e-8
    assert smooth.sum() >= 20
    slopes = slope_along(kernel, rows, along)
    np.testing.assert_allclose(slopes[smooth], near[smooth], rtol=1e-7, atol=1e-8)


def test_at_a_kink_the_slope_is_the_mean_of_both_sides():
    zero, along = np.zeros((1, 2)), np.array([[1.0, 0.5]])
    for kernel in (Laplacian(1.0), Exponential(1.0), NegativeDistance(), Matern(0.5)):
        assert slope_along(kernel, zero, along)[0] == 0


def test_kernels_of_more_than_the_difference_are_refused():
    class InPython(Kernel):
        """A kernel without a program."""

        def tile(self, A, B):
            return np.exp(-np.abs(A - B.T))

    for kernel in (Linear(), InPython()):
        with pytest.raises(NotImplementedError, match="by the difference x - z is not known"):
            slope_along(kernel, np.ones((1, 1)), np.ones((1, 1)))


@pytest.mark.parametrize(
    "kernel",
    [
        *(PeriodicGaussian(0.4, 1.7, form) for form in ("series", "unit", "wrapped")),
        PeriodicGaussian(0.1, 1.7, "wrapped"),
        FourierSeries([0.2, 0.5, 0.0, 0.1], 1.7),
        Periodized(RBF(2.0), 1.7, dimension=2),
        Periodized(2 * Matern(1.5, 0.3) + RBF(5.0), 1.7, dimension=2),
        Periodized(Exponential(6.0), 1.7, dimension=2),
    ],
    ids=repr,
)
def test_the_gradient_by_the_period_is_the_limit_of_differences(kernel):
    rng = np.random.default_rng(1)
    X, Z = 4 * rng.normal(size=(6, 2)), 4 * rng.normal(size=(5, 2))  # many periods apart
    h = 1e-4

    def moved(by):
        return type(kernel)(**(kernel.get_params(deep=False) | {"period": 1.7 + by}))(X, Z)

    slope = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
    gradient = kernel.gradient(X, Z)["period"]
    assert np.abs(slope).max() > 0.1
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-7 * np.abs(slope).max())
    own = kernel.gradient(X)["period"]
    np.testing.assert_allclose(own, own.T, atol=1e-13 * np.abs(own).max())


def test_the_two_ways_to_wrap_a_gaussian_have_one_gradient():
    sigma, period = 0.3, 1.7
    X = np.random.default_rng(0).normal(size=(7, 1)) * 3
    wrapped = PeriodicGaussian(sigma, period, "wrapped").gradient(X)
    summed = Periodized(RBF.from_sigma(sigma), period, dimension=1).gradient(X)
    np.testing.assert_allclose(summed["period"], wrapped["period"], atol=1e-12)
    np.testing.assert_allclose(summed["kernel__gamma"] * -(sigma**-3), wrapped["sigma"], atol=1e-12)


@pytest.mark.parametrize("grid", ["even", "root", "octaves"])
def test_the_derivative_of_a_table(grid):
    table = Table.fit(lambda x: np.exp(-x), 40.0, grid=grid, beyond=0.0)
    x = np.linspace(0.01, 39.9, 500)
    np.testing.assert_allclose(table.derivative(x), -np.exp(-x), atol=1e-10)
    assert table.derivative([[0.0], [100.0]]).tolist() == [[0.0], [0.0]]
