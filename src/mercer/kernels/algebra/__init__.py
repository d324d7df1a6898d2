"""Kernels made of kernels: every operation that keeps positive semidefiniteness.

Each is a kernel with its operands as parameters, evaluated natively where they are, and each
prints as the expression that makes it.
"""

from .exponential_of import Exp, exp
from .normalized import Normalized, normalize
from .over_feature_space import OverFeatureSpace
from .polynomial_of import PolynomialOf, polynomial
from .power import Power
from .power_series import PowerSeries
from .product import Product
from .projected import Projected
from .scaled import Scaled
from .sum import Sum

__all__ = [
    "Exp",
    "Normalized",
    "OverFeatureSpace",
    "PolynomialOf",
    "Power",
    "PowerSeries",
    "Product",
    "Projected",
    "Scaled",
    "Sum",
    "exp",
    "normalize",
    "polynomial",
]
