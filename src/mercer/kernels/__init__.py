"""Kernels: similarities k(x, z) with an algebra, a domain and a claim of definiteness.

>>> from mercer.kernels import RBF, Linear, normalize
>>> k = 0.5 * RBF(gamma=1.0) + normalize(Linear()) ** 2
>>> k
0.5 * RBF(gamma=1.0) + normalize(Linear()) ** 2
>>> str(k.definiteness)
'positive definite'
"""

from __future__ import annotations

from mercer.numerics.bessel import bessel_k_bounds
from mercer.objects.vocabulary import Vocabulary

from .algebra import (
    Exp,
    Normalized,
    OverFeatureSpace,
    PolynomialOf,
    Power,
    PowerSeries,
    Product,
    Projected,
    Scaled,
    Sum,
    exp,
    normalize,
    polynomial,
)
from .algebra.convolution import Convolution
from .algebra.on_columns import OnColumns
from .base import Kernel
from .conditional import (
    Monotonicity,
    completely_monotonic,
    polynomial_basis,
    project_gram,
    seminorm2,
)
from .constant import Constant
from .covariance import Covariance
from .definiteness import Definiteness
from .documents import TfIdf, mutual_information
from .finite import FiniteMatrix
from .function import FromFeatureMap, FromFunction
from .graphs import Diffusion
from .mapping import log_polar
from .models import Fisher, Grammar, HiddenMarkov, Marginalized, PairHMM
from .precomputed import Precomputed
from .resolve import resolve
from .sequences import (
    BlendedSpectrum,
    Mismatch,
    SequenceKernel,
    Spectrum,
    Subsequence,
    Substring,
    WeightedDegree,
)
from .series import Delayed, DelayEmbedding, GlobalAlignment
from .sets import Jaccard, Multiset, SetIntersection, SetPower
from .vectors import (
    ANOVA,
    RBF,
    AdditiveChiSquare,
    Bilinear,
    BSpline,
    ChiSquare,
    DampedOscillator,
    Dirichlet,
    DistanceKernel,
    Exponential,
    ExponentialDot,
    FourierSeries,
    FromSpectrum,
    Gaussian,
    HistogramIntersection,
    InverseMultiquadric,
    Laplacian,
    Linear,
    LogDistance,
    Matern,
    Multiquadric,
    NegativeDistance,
    PeriodicGaussian,
    Periodized,
    Polynomial,
    RadialBSpline,
    RadialKernel,
    RationalQuadratic,
    Sigmoid,
    Spline,
    SumOfPowers,
    ThinPlate,
    VectorKernel,
    taylor_inner_product,
)
from .vectors.boolean import Boolean

__all__ = [
    "ANOVA",
    "RBF",
    "AdditiveChiSquare",
    "BSpline",
    "Bilinear",
    "BlendedSpectrum",
    "Boolean",
    "ChiSquare",
    "Constant",
    "Convolution",
    "Covariance",
    "DampedOscillator",
    "Definiteness",
    "DelayEmbedding",
    "Delayed",
    "Diffusion",
    "Dirichlet",
    "DistanceKernel",
    "Exp",
    "Exponential",
    "ExponentialDot",
    "FiniteMatrix",
    "Fisher",
    "FourierSeries",
    "FromFeatureMap",
    "FromFunction",
    "FromSpectrum",
    "Gaussian",
    "GlobalAlignment",
    "Grammar",
    "HiddenMarkov",
    "HistogramIntersection",
    "InverseMultiquadric",
    "Jaccard",
    "Kernel",
    "Laplacian",
    "Linear",
    "LogDistance",
    "Marginalized",
    "Matern",
    "Mismatch",
    "Monotonicity",
    "Multiquadric",
    "Multiset",
    "NegativeDistance",
    "Normalized",
    "OnColumns",
    "OverFeatureSpace",
    "PairHMM",
    "PeriodicGaussian",
    "Periodized",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "PowerSeries",
    "Precomputed",
    "Product",
    "Projected",
    "RadialBSpline",
    "RadialKernel",
    "RationalQuadratic",
    "Scaled",
    "SequenceKernel",
    "SetIntersection",
    "SetPower",
    "Sigmoid",
    "Spectrum",
    "Spline",
    "Subsequence",
    "Substring",
    "Sum",
    "SumOfPowers",
    "TfIdf",
    "ThinPlate",
    "VectorKernel",
    "Vocabulary",
    "WeightedDegree",
    "bessel_k_bounds",
    "completely_monotonic",
    "exp",
    "log_polar",
    "mutual_information",
    "normalize",
    "polynomial",
    "polynomial_basis",
    "project_gram",
    "resolve",
    "seminorm2",
    "taylor_inner_product",
]
