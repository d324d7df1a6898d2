"""Novelty and density: enclosing balls, Parzen windows, conformal p-values."""

from .conformal_novelty import ConformalNovelty
from .parzen import ParzenDensity
from .svdd import SVDD

__all__ = ["SVDD", "ConformalNovelty", "ParzenDensity"]
