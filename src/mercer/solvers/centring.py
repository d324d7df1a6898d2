"""Centring for linear kernels: with an intercept, a translation of the data changes no model.

The coefficients of a machine with an intercept sum to 0, so that a translation of all rows by -p
changes the values sum_j beta_j <x_j - p, x_i - p> by a constant only. Far from the origin centring
preserves accuracy: the rounding error of a dot product is proportional to R^2 for rows at a
distance R from the origin, and to their squared spread after centring.

The problem is solved and certified on x - p. What the user sees (support vectors, weight vectors,
intercepts, expansions) belongs to the rows as given: the intercept there is b - <w, p>. Rounding
errors of w are multiplied by |p|, so w is computed by compensated summation, here and for
predictions, and coefficients whose sum is at the level of rounding are taken to sum to 0.

Differences of numbers within a factor 2 of each other are exact (P. Sterbenz, *Floating-Point
Computation*, 1974, theorem 4.3.1), so that rows far from the origin lose nothing. Rows of float32
with outliers, whose differences are not exact, are moved in float64. Of sparse rows only
columns without zeros are moved: all others reach from their values to 0 anyway.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.kernels import Kernel, Linear
from mercer.numerics.sums import compensated_product
from mercer.objects.arrays import Array

from .rounding import DRIFT

_FAR = 8.0  # distance of a column from 0, in median deviations, from which on it is moved
_SAMPLE = 256  # rows that the medians are taken of
_SPLIT = 4096  # rows that are held in several parts at once


@dataclass(frozen=True)
class Centring:
    """A translation of the rows of a linear machine: the point p, and the rows x - p."""

    point: NDArray[Any]
    rows: Any

    def shifts(self, coef: Array) -> Array:
        """Return <w, p> for w = sum_j beta_j x_j of every line: by how much intercepts change."""
        support = np.flatnonzero(coef.any(axis=0))
        coef = coef[:, support]
        product, lost = compensated_product(coef, self.along(support))
        sums, sizes = _sums(coef), np.abs(coef).sum(axis=1)
        return np.asarray((product + lost).sum(axis=1) + self.shifts_of_sums(sums, sizes, support))

    def shifts_of_sums(self, sums: Array, sizes: Array, support: NDArray[np.intp]) -> Array:
        """Return the part of <w, p> that the sums of the coefficients, of these sizes, have."""
        far = np.flatnonzero(self.point)
        parts = self._of_sums(sums, sizes, self.rows[support][:, far], far)
        return np.asarray(parts @ self.point[far].astype(np.float64))

    def along(self, rows: NDArray[Any]) -> Array:
        """Return <x - p, p> for some rows, and the corrections in a second column."""
        far = np.flatnonzero(self.point)
        point = self.point[far].astype(np.float64)[None]
        found = np.zeros((len(rows), 2))
        for start in range(0, len(rows), _SPLIT):
            part = slice(start, start + _SPLIT)
            chosen = self.rows[rows[part]][:, far].T
            chosen = sp.csr_matrix(chosen) if sp.issparse(chosen) else chosen
            found[part] = np.concatenate(compensated_product(point, chosen)).T
        return found

    def weights(self, rows: Any, coef: Array, columns: Any = slice(None)) -> Array:
        """Return w = sum_j beta_j (x_j - p) + p sum_j beta_j in some `columns`, line by line."""
        product, lost = compensated_product(coef, rows)
        sums, sizes = _sums(coef), np.abs(coef).sum(axis=1)
        return np.asarray(product + lost + self._of_sums(sums, sizes, rows, columns))

    def _of_sums(self, sums: Array, sizes: Array, rows: Any, columns: Any) -> Array:
        """Return what sum_j beta_j (x_j - p) lacks to w: p sum_j beta_j.

        Where the sum is rounding of its terms, w is sum_j beta_j (x_j - q) with q in the middle
        between the smallest and the largest entries, which is the same for any order of the rows.
        """
        point = self.point[columns].astype(np.float64)
        if not rows.shape[0]:  # no support vectors
            return np.zeros((len(sums), len(point)))
        ends = rows.min(axis=0), rows.max(axis=0)
        low, high = (end.toarray().ravel() if sp.issparse(end) else end for end in ends)
        middle = np.where(point == 0.0, 0.0, 0.5 * low + 0.5 * high)
        rounding = max(rows.shape[0], DRIFT) * np.finfo(np.float64).eps * sizes
        balanced = np.abs(sums) <= rounding
        return np.where(balanced[:, None], -np.outer(sums, middle), np.outer(sums, point))

    def reach(self, X: Any) -> Array:
        """Return for rows x how far it is from the origin to x and to p: |x| + |p|."""
        largest = np.float64(abs(X).max()) or 1.0  # so that squares do not overflow
        rows, point = X / largest, self.point / largest
        square = rows.multiply(rows).sum(axis=1) if sp.issparse(X) else np.square(rows).sum(axis=1)
        return largest * (np.sqrt(np.asarray(square).ravel()) + math.sqrt(point @ point))

    def move(self, X: Any) -> Any:
        """Return other rows x as x - p."""
        if not sp.issparse(X):
            return X - self.point
        far = np.flatnonzero(self.point)
        n = X.shape[0]
        place = (np.tile(far, n), len(far) * np.arange(n + 1))
        back = sp.csr_matrix((np.tile(-self.point[far], n), *place), shape=X.shape)
        return sp.csr_matrix(X) + back


def centring(kernel: Kernel, X: Any, free_intercept: bool) -> Centring | None:
    """Return the translation for a machine, None where it has no free intercept or no need."""
    if not free_intercept or type(kernel) is not Linear:
        return None
    if sp.issparse(X):
        return _of_sparse(sp.csr_matrix(X))
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f" or not len(X):
        return None
    point = _far_from_zero(X[:: max(1, len(X) // _SAMPLE)])
    return None if point is None else Centring(*_moved(X, point, point))


def translated(point: NDArray[Any] | None, X: Any) -> Any:
    """Return rows relative to the point of a centring, X itself where there was none."""
    return X if point is None else Centring(point, None).move(X)


def _sums(coef: Array) -> Array:
    """Return the sums of the lines of coefficients, each rounded once."""
    return np.array([math.fsum(line) for line in coef])


def _of_sparse(X: sp.csr_matrix) -> Centring | None:
    if X.nnz < X.shape[0] or not X.shape[0] or X.data.dtype.kind != "f":
        return None
    # Sorted entries, not counts of all columns, of which there may be far more.
    columns, counts = np.unique(X.indices, return_counts=True)
    full = columns[counts == X.shape[0]]
    if not len(full):
        return None
    part = X[:: max(1, X.shape[0] // _SAMPLE)][:, full].toarray()
    far = _far_from_zero(part)
    if far is None:
        return None
    point = np.zeros(X.shape[1], dtype=X.dtype)
    point[full] = far
    point, data = _moved(X.data, point, point[X.indices])
    return Centring(point, sp.csr_matrix((data, X.indices, X.indptr), X.shape))


def _moved(X: NDArray[Any], point: NDArray[Any], of_entries: NDArray[Any]) -> tuple[Any, Any]:
    """Return the point and X minus its entries, in float64 where float32 would round them."""
    moved = X - of_entries
    if X.dtype != np.float64:
        wide = np.subtract(X, of_entries, dtype=np.float64)
        if not np.array_equal(moved, wide):
            return point.astype(np.float64), wide
    return point, moved


def _far_from_zero(sample: NDArray[Any]) -> NDArray[Any] | None:
    """Return the medians of columns that lie far from 0, 0 for the others; None if all are near."""
    middle = np.sort(sample, axis=0)[len(sample) // 2]
    deviation = np.sort(np.abs(sample - middle), axis=0)[len(sample) // 2]
    far = np.abs(middle) > _FAR * deviation
    return np.where(far, middle, 0).astype(sample.dtype) if far.any() else None
