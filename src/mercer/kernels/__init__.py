"""Kernels: similarities k(x, z) with an algebra, a domain and a claim of definiteness.

>>> from mercer.kernels import RBF, Linear, normalize
>>> k = 0.5 * RBF(gamma=1.0) + normalize(Linear()) ** 2
>>> k
0.5 * RBF(gamma=1.0) + normalize(Linear()) ** 2
>>> str(k.definiteness)
'positive definite'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .algebra import (
    Exp,
    Normalized,
    PolynomialOf,
    Power,
    Product,
    Scaled,
    Sum,
    exp,
    normalize,
    polynomial,
)
from .base import Kernel
from .columns import OnColumns
from .constant import Constant
from .definiteness import Definiteness
from .function import FromFeatureMap, FromFunction
from .precomputed import Precomputed
from .resolve import resolve
from .vectors import RBF, Laplacian, Linear, Polynomial, Sigmoid, VectorKernel

if TYPE_CHECKING:
    from mercer.feature_space import cosine, distance, distance_to_mean, norm

__all__ = [
    "RBF",
    "Constant",
    "Definiteness",
    "Exp",
    "FromFeatureMap",
    "FromFunction",
    "Kernel",
    "Laplacian",
    "Linear",
    "Normalized",
    "OnColumns",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "VectorKernel",
    "cosine",
    "distance",
    "distance_to_mean",
    "exp",
    "norm",
    "normalize",
    "polynomial",
    "resolve",
]

# Geometry stands on kernels and not the other way round; its first names are at home here too.
_GEOMETRY = ("cosine", "distance", "distance_to_mean", "norm")


def __getattr__(name: str) -> Any:
    if name not in _GEOMETRY:
        raise AttributeError(f"module 'mercer.kernels' has no attribute {name!r}")
    from mercer import feature_space

    return getattr(feature_space, name)
