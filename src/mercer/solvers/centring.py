"""Linear machines on centred rows: the intercept takes up a translation of the data.

The coefficients of a machine with an intercept sum to 0, so that a translation of all rows by -p
changes the values sum_j beta_j <x_j - p, x_i - p> by a constant only. Far from the origin this is
the difference between a proof and rounding: dot products of rows at a distance R from the origin
have errors of R^2 roundings, those of centred rows of the square of their spread.

The machine is solved and proved on x - p. What the user sees (support vectors, weight vectors,
intercepts, expansions) belongs to the rows as given: the intercept there is b - <w, p>.

Differences of numbers within a factor 2 of each other are exact (P. Sterbenz, *Floating-Point
Computation*, 1974, theorem 4.3.1), so that rows far from the origin lose nothing. Of sparse rows
only columns without zeros are moved: all others reach from their values to 0 anyway.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.kernels import Kernel, Linear

Array = NDArray[np.float64]

_FAR = 8.0
"""Distance of a column from 0, in median deviations, from which on it is moved."""

_SAMPLE = 256
"""Rows that the medians are taken of."""


@dataclass(frozen=True)
class Centring:
    """A translation of the rows of a linear machine.

    `point`: the point p, in the precision of the rows. `rows`: the rows x - p.
    """

    point: NDArray[Any]
    rows: Any

    def shift(self, beta: Array, rows: Any = None) -> float:
        """Return <w, p> for w = sum_j beta_j x_j: by how much the intercept changes.

        The sum of the coefficients is 0 up to rounding only, and far from the origin that counts.

        `beta`: coefficients. `rows`: the rows they belong to; default: all.
        """
        chosen = self.rows if rows is None else self.rows[rows]
        weight = np.asarray(chosen.T @ beta, dtype=np.float64).ravel()
        return float(weight @ self.point.astype(np.float64)) + math.fsum(beta) * self.square

    def move(self, X: Any) -> Any:
        """Return other rows x as x - p.

        `X`: the rows.
        """
        if not sp.issparse(X):
            return X - self.point
        far = np.flatnonzero(self.point)
        n = X.shape[0]
        place = (np.tile(far, n), len(far) * np.arange(n + 1))
        back = sp.csr_matrix((np.tile(-self.point[far], n), *place), shape=X.shape)
        return sp.csr_matrix(X) + back

    @property
    def square(self) -> float:
        """The squared length of p."""
        return float(np.square(self.point.astype(np.float64)).sum())


def centring(kernel: Kernel, X: Any, free_intercept: bool) -> Centring | None:
    """Return the translation for a machine, None where there is none or no need for one.

    `kernel`: the bound kernel. `X`: the training rows. `free_intercept`: whether the machine has an
    intercept that costs nothing.
    """
    if not free_intercept or type(kernel) is not Linear:
        return None
    if sp.issparse(X):
        return _of_sparse(sp.csr_matrix(X))
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f" or not len(X):
        return None
    point = _far_from_zero(X[:: max(1, len(X) // _SAMPLE)])
    return None if point is None else Centring(point, X - point)


def translated(point: NDArray[Any] | None, X: Any) -> Any:
    """Return rows relative to the point of a centring, X itself where there was none.

    `point`: the point. `X`: the rows.
    """
    return X if point is None else Centring(point, None).move(X)


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
    moved = X.copy()
    moved.data = moved.data - point[moved.indices]
    return Centring(point, moved)


def _far_from_zero(sample: NDArray[Any]) -> NDArray[Any] | None:
    """Return the medians of columns that lie far from 0, 0 for the others; None if all are near."""
    middle = np.sort(sample, axis=0)[len(sample) // 2]
    deviation = np.sort(np.abs(sample - middle), axis=0)[len(sample) // 2]
    far = np.abs(middle) > _FAR * deviation
    return np.where(far, middle, 0).astype(sample.dtype) if far.any() else None
