"""Kernel ridge regression and its relatives: squared loss, one linear system."""

from .classification import LSSVC, KernelRidgeClassifier
from .cross_validation import KernelRidgeCV
from .regression import LSSVR, KernelRidge

__all__ = ["LSSVC", "LSSVR", "KernelRidge", "KernelRidgeCV", "KernelRidgeClassifier"]
