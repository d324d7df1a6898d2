"""Kernels on sets and multisets of hashable elements."""

from .multisets import Multiset
from .set_kernels import Jaccard, SetIntersection, SetPower

__all__ = ["Jaccard", "Multiset", "SetIntersection", "SetPower"]
