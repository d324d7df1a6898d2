"""Kernels made of kernels: every operation that keeps positive semidefiniteness.

Each is a kernel with its operands as parameters, evaluated natively where they are, and each
prints as the expression that makes it.
"""

from .exponential import Exp, exp
from .normalized import Normalized, normalize
from .polynomial_of import PolynomialOf, polynomial
from .power import Power
from .product import Product
from .scaled import Scaled
from .sum import Sum

__all__ = [
    "Exp",
    "Normalized",
    "PolynomialOf",
    "Power",
    "Product",
    "Scaled",
    "Sum",
    "exp",
    "normalize",
    "polynomial",
]
