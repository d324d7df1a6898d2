"""Gaussian processes: ridge regression with a probability model behind it."""

from .regression import GaussianProcessRegressor

__all__ = ["GaussianProcessRegressor"]
