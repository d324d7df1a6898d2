"""Kernels made of kernels, by example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import (
    RBF,
    Laplacian,
    Linear,
    Multiquadric,
    NegativeDistance,
    OverFeatureSpace,
    Polynomial,
    Projected,
    ThinPlate,
    exp,
    normalize,
    polynomial,
)
from tests.catalogue.example import Example

SAMPLERS: dict[str, Callable[[np.random.Generator, int], Any]] = {}

_CORNERS = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

EXAMPLES = [
    Example(2.0 * RBF(0.5) + Polynomial(2, 0.5, 1.0) ** 2),
    Example(RBF(0.5) * Linear() + 3.0),
    Example(RBF(0.5) + (Linear() + Laplacian(0.3))),
    Example(Multiquadric(0.5) + RBF(0.5)),
    Example(normalize(Polynomial(3, 1.0, 1.0))),
    Example(exp(normalize(Linear()))),
    Example(exp(0.5 * NegativeDistance(1.5))),
    Example(polynomial(RBF(0.5), [1.0, 0.5, 2.0])),
    Example(RBF(0.5).on_columns([0, 2]) + Laplacian(0.2).on_columns([1])),
    Example((Linear().on_columns([1]) + RBF(1.0)).on_columns([2, 0])),
    Example(OverFeatureSpace(Polynomial(2, 0.5, 1.0), gamma=0.1)),
    Example(OverFeatureSpace(NegativeDistance(1.0), gamma=0.3)),
    Example(Projected(Multiquadric(0.5), points=[[0.0, 0.0, 0.0]])),
    Example(Projected(Multiquadric(0.5), points=_CORNERS)),
    Example(Projected(ThinPlate(), points=_CORNERS)),
    Example(Projected(ThinPlate(), points=_CORNERS) + 10.0 * Linear() + 1.0),
]
