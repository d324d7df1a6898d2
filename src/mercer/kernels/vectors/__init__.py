"""Kernels on vectors: functions of pair statistics of two rows, evaluated natively."""

from .anova import ANOVA
from .bilinear import Bilinear
from .bspline import BSpline
from .damped_oscillator import DampedOscillator
from .dirichlet import Dirichlet
from .distance_kernel import DistanceKernel
from .exp_sine_squared import ExpSineSquared
from .exponential import Exponential
from .exponential_dot import ExponentialDot
from .fourier_series import FourierSeries
from .from_spectrum import FromSpectrum
from .histogram import AdditiveChiSquare, ChiSquare, HistogramIntersection
from .laplacian import Laplacian
from .linear import Linear
from .matern import Matern
from .monomial_features import taylor_inner_product
from .multiquadric import InverseMultiquadric, Multiquadric
from .negative_distance import LogDistance, NegativeDistance
from .periodic_gaussian import PeriodicGaussian
from .periodized import Periodized
from .poly import Polynomial
from .radial_bspline import RadialBSpline
from .rational_quadratic import RationalQuadratic
from .rbf import RBF
from .sigmoid import Sigmoid
from .spline import Spline
from .sum_of_powers import SumOfPowers
from .thin_plate import ThinPlate
from .vector import RadialKernel, VectorKernel

Gaussian = RBF

__all__ = [
    "ANOVA",
    "RBF",
    "AdditiveChiSquare",
    "BSpline",
    "Bilinear",
    "ChiSquare",
    "DampedOscillator",
    "Dirichlet",
    "DistanceKernel",
    "ExpSineSquared",
    "Exponential",
    "ExponentialDot",
    "FourierSeries",
    "FromSpectrum",
    "Gaussian",
    "HistogramIntersection",
    "InverseMultiquadric",
    "Laplacian",
    "Linear",
    "LogDistance",
    "Matern",
    "Multiquadric",
    "NegativeDistance",
    "PeriodicGaussian",
    "Periodized",
    "Polynomial",
    "RadialBSpline",
    "RadialKernel",
    "RationalQuadratic",
    "Sigmoid",
    "Spline",
    "SumOfPowers",
    "ThinPlate",
    "VectorKernel",
    "taylor_inner_product",
]
