"""Kernels: similarities k(x, z) with an algebra, a domain and a claim of definiteness.

>>> from mercer.kernels import RBF, Linear, normalize
>>> k = 0.5 * RBF(gamma=1.0) + normalize(Linear()) ** 2
>>> k
0.5 * RBF(gamma=1.0) + normalize(Linear()) ** 2
>>> str(k.definiteness)
'positive definite'
"""

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
from .geometry import cosine, distance, distance_to_mean, norm
from .laplacian import Laplacian
from .linear import Linear
from .poly import Polynomial
from .precomputed import Precomputed
from .rbf import RBF
from .resolve import resolve
from .sigmoid import Sigmoid
from .vector import VectorKernel

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
