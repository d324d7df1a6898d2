"""Convex costs with their conjugates and the dual variables that machines hand to a solver."""

from mercer.losses.base import DualTerms, Loss
from mercer.losses.epsilon_insensitive import EpsilonInsensitive, SquaredEpsilonInsensitive
from mercer.losses.hinge import CombinedHinge, Hinge, SquaredHinge, ZeroOne

__all__ = [
    "CombinedHinge",
    "DualTerms",
    "EpsilonInsensitive",
    "Hinge",
    "Loss",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "ZeroOne",
]
