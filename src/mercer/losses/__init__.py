"""Losses and regularisers with their conjugates, and the dual variables that solvers take."""

from .base import DualTerms, Loss, PiecewiseQuadratic
from .epsilon_insensitive import EpsilonInsensitive, SquaredEpsilonInsensitive
from .hinge import CombinedHinge, Hinge, SquaredHinge, ZeroOne
from .huber import Huber
from .logistic import Logistic
from .one_sided import OneSided
from .regularisers import L1, L2, Quadratic, Regulariser
from .squared import Squared

__all__ = [
    "L1",
    "L2",
    "CombinedHinge",
    "DualTerms",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "OneSided",
    "PiecewiseQuadratic",
    "Quadratic",
    "Regulariser",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "ZeroOne",
]
