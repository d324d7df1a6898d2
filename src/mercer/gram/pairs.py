"""Blocks of kernel values between two sets of objects, both prepared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .layout import Layout
from .mapped_objects import Views


@dataclass(frozen=True)
class Pairs:
    """Two sets of objects in native form; the values of some of one with some of the other."""

    layout: Layout  # how both are stored
    a: Any  # the two sets
    b: Any
    X: Views  # the objects they were made from
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
    positions = as_index(index, int(objects.n))
    return objects if positions is None else objects.take(positions)


def as_index(index: Any, n: int) -> np.ndarray | None:
    """Return positions among n objects as the native core takes them; None stands for all."""
    if index is None:
        return None
    if isinstance(index, slice):
        first, last, step = index.indices(n)
        return None if (first, last, step) == (0, n, 1) else np.arange(first, last, step)
    index = np.asarray(index)
    if index.dtype == bool:
        if index.shape != (n,):
            raise ValueError(f"a mask must have {n} entries; got shape {index.shape}.")
        return np.flatnonzero(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise ValueError("index must be a list of positions or a mask.")
    return np.ascontiguousarray(index, dtype=np.int64)
