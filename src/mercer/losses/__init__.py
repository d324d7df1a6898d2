"""Convex costs with their conjugates and the dual variables that machines hand to a solver."""

from .base import DualTerms, Loss, PiecewiseQuadratic
from .epsilon_insensitive import EpsilonInsensitive, SquaredEpsilonInsensitive
from .hinge import CombinedHinge, Hinge, SquaredHinge, ZeroOne
from .logistic import Logistic
from .one_sided import OneSided
from .squared import Squared

__all__ = [
    "CombinedHinge",
    "DualTerms",
    "EpsilonInsensitive",
    "Hinge",
    "Logistic",
    "Loss",
    "OneSided",
    "PiecewiseQuadratic",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "ZeroOne",
]
