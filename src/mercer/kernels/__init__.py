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
from .precomputed import Precomputed
from .resolve import resolve
from .structured import (
    Boolean,
    Convolution,
    Delayed,
    DelayEmbedding,
    Diffusion,
    Fisher,
    HiddenMarkov,
    Jaccard,
    Marginalized,
    Multiset,
    SetIntersection,
    SetPower,
    TfIdf,
    mutual_information,
)
from .vectors import RBF, Laplacian, Linear, Polynomial, Sigmoid, VectorKernel

__all__ = [
    "RBF",
    "Boolean",
    "Constant",
    "Convolution",
    "Definiteness",
    "DelayEmbedding",
    "Delayed",
    "Diffusion",
    "Exp",
    "Fisher",
    "FromFeatureMap",
    "FromFunction",
    "HiddenMarkov",
    "Jaccard",
    "Kernel",
    "Laplacian",
    "Linear",
    "Marginalized",
    "Multiset",
    "Normalized",
    "OnColumns",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "Precomputed",
    "Product",
    "Scaled",
    "SetIntersection",
    "SetPower",
    "Sigmoid",
    "Sum",
    "TfIdf",
    "VectorKernel",
    "cosine",
    "distance",
    "distance_to_mean",
    "exp",
    "mutual_information",
    "norm",
    "normalize",
    "polynomial",
    "resolve",
]
