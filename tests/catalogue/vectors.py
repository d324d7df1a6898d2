"""Kernels on vectors, by example."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from mercer.kernels import (
    RBF,
    Bilinear,
    DampedOscillator,
    DistanceKernel,
    Exponential,
    ExponentialDot,
    FourierSeries,
    FromSpectrum,
    InverseMultiquadric,
    Laplacian,
    Linear,
    LogDistance,
    Matern,
    Multiquadric,
    NegativeDistance,
    Periodized,
    Polynomial,
    PowerSeries,
    RadialBSpline,
    RationalQuadratic,
    Sigmoid,
    SumOfPowers,
    ThinPlate,
)
from tests.catalogue.example import Example

DIMENSION = 3


def vectors(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return standard normal vectors, rounded to multiples of 1/64."""
    return np.round(64 * rng.normal(size=(n, DIMENSION))) / 64


def histograms(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return vectors without negative entries, some of them 0."""
    return np.maximum(np.round(64 * rng.normal(0.4, 0.5, size=(n, DIMENSION))) / 64, 0.0)


def short_vectors(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return vectors inside the unit ball."""
    rows = rng.normal(size=(n, DIMENSION))
    return 0.95 * rows / (1.0 + np.linalg.norm(rows, axis=1, keepdims=True))


def numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return one column."""
    return vectors(rng, n)[:, :1]


SAMPLERS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "vectors": vectors,
    "histograms": histograms,
    "short vectors": short_vectors,
    "numbers": numbers,
}


def bessel_coefficient(n: int) -> float:
    """Return 1 / n!^2, the coefficients of an entire function."""
    return 1.0 if n == 0 else bessel_coefficient(n - 1) / n**2


def cauchy_density(w: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + w^2)^3, an integrable spectrum in three dimensions."""
    return (1.0 + w * w) ** -3


def band(w: np.ndarray) -> np.ndarray:
    """Return the spectrum that is 1 below the frequency 3."""
    return np.where(w < 3.0, 1.0, 0.0)


def canberra(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return sum_i abs(a_i - b_i) / (1 + abs(a_i) + abs(b_i)), a distance."""
    a, b = A[:, None], B[None]
    return (np.abs(a - b) / (1.0 + np.abs(a) + np.abs(b))).sum(axis=-1)


EXAMPLES = [
    # functions of the dot product
    Example(Linear()),
    Example(Polynomial(degree=3, gamma=0.3, coef0=1.0)),
    Example(Polynomial(degree=2, gamma=0.5)),
    Example(Polynomial(degree=2, gamma=1.0, coef0=-0.5)),
    Example(Polynomial(degree=1, gamma=0.5, coef0=-1.0)),
    Example(Bilinear([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0]])),
    Example(SumOfPowers(degree=3, gamma=0.3)),
    Example(ExponentialDot(gamma=0.2)),
    Example(PowerSeries([1.0, 0.5, 0.0, 0.25])),
    Example(PowerSeries("exp", kernel=RBF(0.5))),
    Example(PowerSeries("cosh")),
    Example(PowerSeries("sinh", kernel=ExponentialDot(0.1))),
    Example(PowerSeries("geometric"), "short vectors"),
    Example(PowerSeries("log"), "short vectors"),
    Example(PowerSeries(bessel_coefficient, radius=inf)),
    Example(Sigmoid(gamma=0.2, coef0=-0.5)),
    # functions of the distance
    Example(RBF(gamma=0.7)),
    Example(Laplacian(gamma=0.4)),
    Example(Exponential(gamma=0.6)),
    Example(Matern(nu=0.5, length_scale=1.5)),
    Example(Matern(nu=1.5, length_scale=0.8)),
    Example(Matern(nu=2.5)),
    Example(Matern(nu=3.5, length_scale=2.0)),
    Example(Matern(nu=0.3)),
    Example(Matern(nu=1.2, length_scale=2.0)),
    Example(Matern(nu=12.0)),
    Example(Matern(nu=inf, length_scale=1.2)),
    Example(RationalQuadratic(alpha=0.7, length_scale=1.3)),
    Example(RationalQuadratic(alpha=1.0)),
    Example(RationalQuadratic(alpha=200.0, length_scale=1.3)),
    # one width for each column
    Example(RBF(gamma=[0.7, 0.1, 1.5])),
    Example(Laplacian(gamma=[0.4, 0.2, 0.9])),
    Example(Exponential(gamma=[0.6, 1.1, 0.3])),
    Example(Matern(nu=1.5, length_scale=[0.8, 2.0, 1.3])),
    Example(Matern(nu=1.2, length_scale=[2.0, 0.7, 1.0])),
    Example(RationalQuadratic(alpha=0.7, length_scale=[1.3, 0.6, 2.1])),
    Example(DampedOscillator(gamma=1.2, omega=0.7)),
    Example(InverseMultiquadric(c=0.8)),
    Example(RadialBSpline(order=1, scale=1.5, dimension=DIMENSION)),
    Example(RadialBSpline(order=3, scale=0.9, dimension=DIMENSION)),
    Example(RadialBSpline(order=3, scale=0.9, dimension=1), "numbers"),
    Example(FromSpectrum(cauchy_density, dimension=DIMENSION, reach=40.0)),
    Example(FromSpectrum(band, dimension=1, reach=20.0, cutoff=3.0), "numbers"),
    Example(FourierSeries([0.5, 1.0, 0.25], period=3.0)),
    Example(Periodized(RBF(2.0), period=3.0, dimension=DIMENSION)),
    Example(Periodized(Exponential(2.0), period=2.5, dimension=1), "numbers"),
    # conditionally positive definite
    Example(Multiquadric(c=0.8)),
    Example(NegativeDistance(power=1.0)),
    Example(NegativeDistance(power=1.3)),
    Example(NegativeDistance(power=2.0)),
    Example(LogDistance(power=1.5, c=0.5)),
    Example(ThinPlate()),
    # exponentials of distances
    Example(DistanceKernel("l1", scale=2.0)),
    Example(DistanceKernel("l2", scale=2.0)),
    Example(DistanceKernel("linf", scale=2.0)),
    Example(DistanceKernel("sqeuclidean", scale=2.0)),
    Example(DistanceKernel(1.5, scale=2.0)),
    Example(DistanceKernel(3.0, scale=2.0)),
    Example(DistanceKernel(canberra, scale=2.0)),
    Example(DistanceKernel("chi2", scale=0.5), "histograms"),
]
