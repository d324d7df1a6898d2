"""Kernels on vectors: functions of pair statistics of two rows, evaluated natively."""

from .bilinear import Bilinear
from .damped_oscillator import DampedOscillator
from .distance_kernel import DistanceKernel
from .exponential import Exponential
from .exponential_dot import ExponentialDot
from .fourier_series import FourierSeries
from .from_spectrum import FromSpectrum
from .laplacian import Laplacian
from .linear import Linear
from .matern import Matern
from .monomials import taylor_inner_product
from .multiquadric import InverseMultiquadric, Multiquadric
from .negative_distance import LogDistance, NegativeDistance
from .periodized import Periodized
from .poly import Polynomial
from .radial import RadialKernel
from .radial_bspline import RadialBSpline
from .rational_quadratic import RationalQuadratic
from .rbf import RBF
from .sigmoid import Sigmoid
from .sum_of_powers import SumOfPowers
from .thin_plate import ThinPlate
from .vector import VectorKernel

Gaussian = RBF

__all__ = [
    "RBF",
    "Bilinear",
    "DampedOscillator",
    "DistanceKernel",
    "Exponential",
    "ExponentialDot",
    "FourierSeries",
    "FromSpectrum",
    "Gaussian",
    "InverseMultiquadric",
    "Laplacian",
    "Linear",
    "LogDistance",
    "Matern",
    "Multiquadric",
    "NegativeDistance",
    "Periodized",
    "Polynomial",
    "RadialBSpline",
    "RadialKernel",
    "RationalQuadratic",
    "Sigmoid",
    "SumOfPowers",
    "ThinPlate",
    "VectorKernel",
    "taylor_inner_product",
]
