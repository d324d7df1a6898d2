"""Kernels of histograms and of single coordinates, by example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import (
    ANOVA,
    RBF,
    AdditiveChiSquare,
    BSpline,
    ChiSquare,
    Dirichlet,
    ExpSineSquared,
    FourierSeries,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    PeriodicGaussian,
    Spline,
    normalize,
)
from tests.catalogue.example import Example

SAMPLERS: dict[str, Callable[[np.random.Generator, int], Any]] = {}

EXAMPLES = [
    Example(HistogramIntersection(), "histograms"),
    Example(ChiSquare(0.7), "histograms"),
    Example(AdditiveChiSquare(), "histograms"),
    Example(normalize(HistogramIntersection()) + ChiSquare(2.0), "histograms"),
    Example(Spline(), "histograms"),
    Example(BSpline(1, 1.3)),  # no knot at a distance that samples have
    Example(BSpline(3, 0.8)),
    Example(BSpline(5)),
    Example(BSpline(11, 0.5)),
    Example(Dirichlet(0)),
    Example(Dirichlet(3)),
    Example(PeriodicGaussian(1.0)),
    Example(PeriodicGaussian(0.2)),
    Example(PeriodicGaussian(0.05, 3.0, "unit")),
    Example(PeriodicGaussian(0.6, 2.0, "unit")),
    Example(PeriodicGaussian(0.3, 2.0, "wrapped")),
    Example(PeriodicGaussian(1.2, 2.0, "wrapped")),
    Example(ExpSineSquared(0.8, 3.0)),
    Example(ANOVA()),
    Example(ANOVA(1, RBF(0.5))),
    Example(ANOVA(3, Linear())),
    Example(ANOVA(2, Laplacian(0.5))),
    Example(ANOVA(2, BSpline(3, 1.5))),
    Example(ANOVA(2, PeriodicGaussian(0.7))),
    Example(ANOVA(2, FourierSeries([1.0, 0.5, 0.25]))),
    Example(ANOVA(2, Matern(1.5) + 0.5)),
    Example(ANOVA(2, HistogramIntersection()), "histograms"),
    Example(ANOVA(2, Spline()), "histograms"),
]
