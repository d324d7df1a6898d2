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
    BlendedSpectrum,
    Boolean,
    Convolution,
    Delayed,
    DelayEmbedding,
    Diffusion,
    Fisher,
    GlobalAlignment,
    HiddenMarkov,
    Jaccard,
    Marginalized,
    Mismatch,
    Multiset,
    PairHMM,
    SequenceKernel,
    SetIntersection,
    SetPower,
    Spectrum,
    Subsequence,
    Substring,
    TfIdf,
    WeightedDegree,
    mutual_information,
)
from .vectors import RBF, Laplacian, Linear, Polynomial, Sigmoid, VectorKernel

__all__ = [
    "RBF",
    "BlendedSpectrum",
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
    "GlobalAlignment",
    "HiddenMarkov",
    "Jaccard",
    "Kernel",
    "Laplacian",
    "Linear",
    "Marginalized",
    "Mismatch",
    "Multiset",
    "Normalized",
    "OnColumns",
    "PairHMM",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "Precomputed",
    "Product",
    "Scaled",
    "SequenceKernel",
    "SetIntersection",
    "SetPower",
    "Sigmoid",
    "Spectrum",
    "Subsequence",
    "Substring",
    "Sum",
    "TfIdf",
    "VectorKernel",
    "WeightedDegree",
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
