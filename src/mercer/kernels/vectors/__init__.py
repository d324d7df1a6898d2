"""Kernels on vectors: functions of pair statistics of two rows, evaluated natively."""

from .laplacian import Laplacian
from .linear import Linear
from .poly import Polynomial
from .rbf import RBF
from .sigmoid import Sigmoid
from .vector import VectorKernel

__all__ = ["RBF", "Laplacian", "Linear", "Polynomial", "Sigmoid", "VectorKernel"]
