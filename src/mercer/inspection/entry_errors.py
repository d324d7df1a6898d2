"""Error bounds on the entries of an inspected matrix, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.gram.running_error import ASSUMED, ErrorBounds
from mercer.kernels import Kernel

from .matrix_source import KernelValues


class EntryErrors:
    """Bounds of the errors of the entries of a kernel matrix.

    Those of a kernel of the library follow from its program; those of a matrix, and of a kernel
    that is written in Python, are unknown and assumed.

    `values`: the matrix. `value_error`: error of an entry relative to the largest one, where the
    user states it. `source`: how the errors are known. `ordinary`: the error that is stated or, if
    none is, that of values which are right to a few units in the last place of the largest one.
    """

    def __init__(self, values: KernelValues, value_error: float | None = None) -> None:
        self.values = values
        self._bounds: ErrorBounds | None = None
        self._constant = 0.0
        rounding = ASSUMED * values.eps * values.largest
        if value_error is not None:
            self.source = "given"
            self._constant = value_error * values.largest
            self.ordinary = max(self._constant, rounding)
            return
        self.source = "assumed"
        if values.kernel is not None and not values.kernel.pairwise:
            self._bounds = ErrorBounds(values.kernel, values.objects)
            self._constant = _stated_error(values.kernel) * values.largest
            self.source = "bounded" if self._bounds.known else "assumed"
        self.ordinary = max(self._constant, rounding)
        if self.source == "assumed":
            self._constant = self.ordinary

    def rows(self, index: Any) -> np.ndarray:
        """Return the bounds of some rows."""
        index = np.asarray(index, dtype=np.int64)
        if self._bounds is None:
            return np.full((len(index), self.values.n), self._constant)
        return np.maximum(self._bounds.rows(index), self._constant)

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the bounds in blocks of rows, each with the index of its first row."""
        for start, stop in self.values.ranges():
            yield start, self.rows(np.arange(start, stop))

    def full(self) -> np.ndarray:
        """Return the bounds of the whole matrix."""
        return self.rows(np.arange(self.values.n))


def _stated_error(kernel: Kernel) -> float:
    """Return the largest error that a kernel or one of its parts states of its values."""
    own = float(getattr(kernel, "value_error", 0.0))
    return max([own, *map(_stated_error, kernel.inner_kernels())])
