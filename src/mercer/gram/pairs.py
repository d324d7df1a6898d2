"""Blocks of kernel values between two sets of objects, both prepared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .layout import Layout
from .mapped_objects import Views


@dataclass(frozen=True)
class Pairs:
    """Two sets of objects in native form; the values of some of one with some of the other.

    Attributes
    ----------
    layout : Layout
        How both are stored.
    a, b : native objects
        The two sets.
    X, Z : Views
        The objects they were made from.
    """

    layout: Layout
    a: Any
    b: Any
    X: Views
    Z: Views

    def tile(self, rows: Any, cols: Any) -> np.ndarray:
        """Return the block of values at these rows and columns (indices or slices)."""
        return self.evaluator(rows, cols).tile(None, 0)

    def evaluator(self, rows: Any = None, cols: Any = None) -> Any:
        """Return the native evaluator of some rows and columns, by default of all."""
        a, b = some(self.a, rows), some(self.b, cols)
        return self.layout.evaluator(a, b, self.X, self.Z)


def some(objects: Any, index: Any) -> Any:
    """Return native objects at these positions, themselves where these are all."""
    n = int(objects.n)
    if isinstance(index, slice):
        first, last, step = index.indices(n)
        if (first, last, step) == (0, n, 1):
            return objects
        index = np.arange(first, last, step)
    return objects if index is None else objects.take(as_index(index))


def as_index(rows: Any) -> np.ndarray | None:
    """Return positions as the native core takes them; None stands for all."""
    if rows is None:
        return None
    return np.ascontiguousarray(rows, dtype=np.int64)
