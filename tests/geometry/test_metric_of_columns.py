"""The metric of kernels on single columns, bilinear forms, splines and periodic kernels."""

import numpy as np
import pytest

from mercer.geometry import NotSmoothError, metric_tensor
from mercer.kernels import (
    ANOVA,
    RBF,
    AdditiveChiSquare,
    Bilinear,
    Boolean,
    BSpline,
    ChiSquare,
    Dirichlet,
    DistanceKernel,
    Exponential,
    FourierSeries,
    FromFeatureMap,
    FromFunction,
    FromSpectrum,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    OverFeatureSpace,
    PeriodicGaussian,
    Periodized,
    Polynomial,
    RadialBSpline,
    Spline,
    normalize,
)
from tests.geometry.test_metric import by_differences

X = np.random.default_rng(7).uniform(0.2, 1.5, size=(4, 3))
FORM = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
EYE = np.eye(3)


@pytest.mark.parametrize(
    "kernel",
    [
        Bilinear(FORM),
        OverFeatureSpace(Bilinear(FORM), 0.3) * Polynomial(2, 0.5, 1.0),
        (Bilinear(FORM[:2, :2]) ** 2).on_columns([2, 0]),
        BSpline(3, 0.8),
        BSpline(7),
        Spline(),
        normalize(Spline()),
        PeriodicGaussian(0.3),
        PeriodicGaussian(2.0, 5.0, "unit"),
        PeriodicGaussian(0.5, 7.0, "wrapped"),
        Dirichlet(2),
        FourierSeries([1.0, 0.0, 0.5], period=3.0),
        ANOVA(2),
        ANOVA(1, Linear()) + ANOVA(3, Spline()),
        ANOVA(2, FourierSeries([1.0, 2.0])).on_columns([2, 1]) * RBF(0.3),
        FromSpectrum(lambda w: np.exp(-(w**2)), dimension=3, reach=20.0),
        FromSpectrum(lambda w: (1 + w**2) ** -4.0, dimension=3, reach=20.0),
        FromSpectrum(np.ones_like, dimension=3, reach=20.0, cutoff=2.0),
        RadialBSpline(3, 1.2, dimension=3),
        RadialBSpline(5, 1.2, dimension=3),
        RadialBSpline(3, 1.0, dimension=2).on_columns([0, 2]),
        RadialBSpline(5, 1.0, dimension=1).on_columns([1]) + Linear(),
        Periodized(RBF(1.0), 2.0, dimension=1).on_columns([1]),
        Periodized(Matern(2.5, 0.7), 2.0, dimension=1).on_columns([0]) * RBF(0.2),
        Periodized(RBF(4.0) * Matern(1.5), 3.0, dimension=3),
        Periodized(RBF(3.0).on_columns([0, 1]) * RBF(2.0), 3.0, dimension=3),
        ChiSquare(0.7),
        AdditiveChiSquare(),
        DistanceKernel("chi2", 2.0),
    ],
    ids=lambda k: repr(k)[:60],
)
def test_the_metric_agrees_with_differences(kernel):
    for x, g in zip(X, metric_tensor(kernel, X), strict=True):
        # Small steps where third derivatives jump, larger ones where values come from tables.
        expected = by_differences(kernel, x, h=2e-3 if "Spectrum" in repr(kernel) else 2e-4)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(g, expected, rtol=3e-4, atol=1e-4 * scale)


def test_metrics_in_closed_form():
    def constant(g):
        return np.broadcast_to(g, (4, 3, 3))

    np.testing.assert_allclose(metric_tensor(Bilinear(FORM), X), constant(FORM), atol=1e-14)
    # The cubic B-spline is 2/3 - t^2 + ...
    cubic = metric_tensor(BSpline(3, 0.5), X)
    np.testing.assert_allclose(cubic, constant(2 * (2 / 3) ** 2 / 0.25 * EYE), rtol=1e-12)
    waves = metric_tensor(FourierSeries([1.0, 3.0], np.pi), X[:, :1])
    np.testing.assert_allclose(waves, 3.0 * 4.0)
    np.testing.assert_allclose(metric_tensor(Spline(), X[:, :1])[:, 0, 0], 1 + X[:, 0])
    # Of the spectrum exp(-w^2 / 2) the kernel is exp(-r^2 / 2).
    gaussian = FromSpectrum(lambda w: np.exp(-(w**2) / 2), dimension=3, reach=20.0)
    np.testing.assert_allclose(metric_tensor(gaussian, X), constant(EYE), rtol=1e-10, atol=1e-12)
    # Sum over all products of two columns: the other columns' squares.
    squares = (X**2).sum(axis=1, keepdims=True) - X**2
    diagonal = np.einsum("ijj->ij", metric_tensor(ANOVA(2, Linear()), X))
    np.testing.assert_allclose(diagonal, squares, rtol=1e-12)
    # A radial B-spline in one dimension is a B-spline of twice the width.
    radial = metric_tensor(RadialBSpline(3, 0.7, dimension=1), X[:, :1])
    np.testing.assert_allclose(radial, 8 * metric_tensor(BSpline(3, 1.4), X[:, :1]), rtol=1e-10)


@pytest.mark.parametrize("unit", [1.0, 1e-8, 1e8])
def test_a_wrapped_gaussian_is_a_periodised_one(unit):
    wrapped = PeriodicGaussian(0.5 * unit, 3.0 * unit, "wrapped")
    summed = Periodized(RBF.from_sigma(0.5 * unit), 3.0 * unit, dimension=1)
    A = unit * X[:, :1]
    np.testing.assert_allclose(metric_tensor(summed, A), metric_tensor(wrapped, A), rtol=1e-10)


@pytest.mark.parametrize(
    "kernel",
    [
        BSpline(1),
        RadialBSpline(1, dimension=3),
        ANOVA(2, Laplacian(1.0)),
        HistogramIntersection(),
        ANOVA(1, HistogramIntersection()),
        DistanceKernel(1.5),
        DistanceKernel("linf"),
        Periodized(Exponential(3.0), 2.0, dimension=1).on_columns([0]),
        Periodized(Exponential(5.0), 2.0, dimension=3),
        FromSpectrum(lambda w: (1 + w**2) ** -2.0, dimension=3, reach=20.0),
    ],
    ids=lambda k: repr(k)[:60],
)
def test_kernels_with_kinks_have_no_metric(kernel):
    with pytest.raises(NotSmoothError, match="no metric"):
        metric_tensor(kernel, X)


def test_refusals_say_what_is_not_known_in_words():
    for kernel, words in [
        (FromFunction(lambda A, B: A @ B.T), "which is a Python function, are not known"),
        (FromFeatureMap(np.square), r"the map of FromFeatureMap\("),
        (ANOVA(2, Polynomial(2, 1.0)), r"ANOVA\(.*which is a Python function"),
        (FromFeatureMap(lambda A: A, kernel=RBF(1.0)), r"the map of FromFeatureMap\("),
    ]:
        with pytest.raises(NotImplementedError, match=words):
            metric_tensor(kernel, X)
    with pytest.raises(NotSmoothError, match="points without zeros"):
        metric_tensor(ChiSquare(1.0), np.zeros((1, 2)))
    with pytest.raises(NotImplementedError, match="which counts, are not known"):
        metric_tensor(Boolean(), np.ones((1, 2)))
