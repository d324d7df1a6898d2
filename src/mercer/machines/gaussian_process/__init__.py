"""Gaussian processes: ridge regression with a probability model behind it."""

from .classification import GaussianProcessClassifier
from .regression import GaussianProcessRegressor
from .sparse import SparseGaussianProcessRegressor

__all__ = [
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "SparseGaussianProcessRegressor",
]
