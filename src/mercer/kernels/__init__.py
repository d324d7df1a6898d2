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
from .base import Kernel
from .columns import OnColumns
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
from .finite import FiniteMatrix
from .function import FromFeatureMap, FromFunction
from .geometry import cosine, distance, distance_to_mean, norm
from .hankel import bessel_k_bounds, radial_transform
from .mapping import log_polar
from .precomputed import Precomputed
from .resolve import resolve
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

__all__ = [
    "ANOVA",
    "RBF",
    "AdditiveChiSquare",
    "BSpline",
    "Bilinear",
    "ChiSquare",
    "Constant",
    "Covariance",
    "DampedOscillator",
    "Definiteness",
    "Dirichlet",
    "DistanceKernel",
    "Exp",
    "Exponential",
    "ExponentialDot",
    "FiniteMatrix",
    "FourierSeries",
    "FromFeatureMap",
    "FromFunction",
    "FromSpectrum",
    "Gaussian",
    "HistogramIntersection",
    "InverseMultiquadric",
    "Kernel",
    "Laplacian",
    "Linear",
    "LogDistance",
    "Matern",
    "Monotonicity",
    "Multiquadric",
    "NegativeDistance",
    "Normalized",
    "OnColumns",
    "OverFeatureSpace",
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
    "Sigmoid",
    "Spline",
    "Sum",
    "SumOfPowers",
    "ThinPlate",
    "VectorKernel",
    "bessel_k_bounds",
    "completely_monotonic",
    "cosine",
    "distance",
    "distance_to_mean",
    "exp",
    "log_polar",
    "norm",
    "normalize",
    "polynomial",
    "polynomial_basis",
    "project_gram",
    "radial_transform",
    "resolve",
    "seminorm2",
    "taylor_inner_product",
]
