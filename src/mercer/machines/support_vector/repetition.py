"""Repeated training rows, merged exactly.

Rows with the same x and the same target y (and tube) are equivalent to one row of their total
weight. The machine is therefore trained on the distinct rows, and its coefficients
are shared out in proportion to the weights afterwards:

    beta_i = beta_g s_i / S_g,    S_g = sum of s_i over the group g.

This solves the problem as it was posed: |beta_i| <= C s_i where that bound exists, the same
function, the same primal and dual value. Predictions go through the distinct rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer import _native
from mercer.objects.arrays import Array, Rows

FEWEST_ROWS = 512
"""Fewer rows than this are solved as they are: looking for repetitions would take longer."""

_WORTH = 0.8  # distinct rows, as a part of all, below which they are taken together
_SAMPLE = 4096  # rows that are looked at first


@dataclass
class Repetition:
    """Which rows repeat: the first row of each group, ascending, and the group of each row."""

    first: Rows
    group: Rows

    def total(self, weight: Array | None) -> Array:
        """Return the weight of each group; None means ones."""
        return np.bincount(self.group, weights=weight, minlength=len(self.first)).astype(float)


def find_repetition(X: Any, *targets: NDArray[Any] | None) -> Repetition | None:
    """Return which rows repeat with their targets; None where few do or they have no order."""
    if not (sp.issparse(X) or isinstance(X, np.ndarray)):
        return None
    n = X.shape[0]
    if n < FEWEST_ROWS or X.ndim != 2 or X.dtype.kind != "f":
        return None
    given = [np.asarray(target).reshape(n, -1) for target in targets if target is not None]
    if any(target.dtype.kind not in "biuf" for target in given):
        given = [
            np.unique(target, return_inverse=True)[1].reshape(n, -1)
            if target.dtype.kind not in "biuf"
            else target
            for target in given
        ]
    if n > 2 * _SAMPLE:
        # Few distinct rows show themselves in a sample; a few repetitions among many do not pay.
        some = slice(None, None, n // _SAMPLE)
        if _mostly_distinct(X[some], [target[some] for target in given]):
            return None
    if isinstance(X, np.ndarray) and _mostly_distinct(X, given):
        return None
    keys = _keys(X, given)
    if _distinct(keys) > _WORTH * n:
        return None
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    first, group = first[order], rank[group.reshape(-1)]
    return Repetition(first, group) if _same(X, given, first[group]) else None


def _mostly_distinct(X: Any, targets: list[NDArray[Any]]) -> bool:
    """Return whether too few rows repeat, at a glance: a weighted sum tells dense rows apart."""
    worth = int(_WORTH * X.shape[0])
    if isinstance(X, np.ndarray):
        return _native.distinct_rows(X, worth) > worth
    return _distinct(_keys(X, targets)) > worth


def _distinct(keys: NDArray[Any]) -> int:
    keys = np.sort(keys)
    return 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))


_MIX = np.uint64(0x9E3779B97F4A7C15)


def _keys(X: Any, targets: list[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return a 64-bit key of every row: equal rows have equal keys, others almost never."""
    n = X.shape[0]
    key = np.zeros(n, dtype=np.uint64)
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            # Summed over the entries of a row, in any order.
            entry = _mixed(_bits(X.data) * _MIX + X.indices.astype(np.uint64))
            total = np.concatenate([[np.uint64(0)], np.cumsum(entry, dtype=np.uint64)])
            key = total[X.indptr[1:]] - total[X.indptr[:-1]]
        else:
            for column in X.T:
                key = _mixed(key * _MIX + _bits(column))
        for target in targets:
            for column in target.T:
                key = _mixed(key * _MIX + _bits(column.astype(np.float64)))
    return key


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers; 0 and -0 are the same number."""
    return np.ascontiguousarray(values.astype(np.float64) + 0.0).view(np.uint64)


def _mixed(key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    key = key ^ (key >> np.uint64(29))
    key = key * np.uint64(0xBF58476D1CE4E5B9)
    return key ^ (key >> np.uint64(32))


def _same(X: Any, targets: list[NDArray[Any]], twin: Rows) -> bool:
    """Return whether every row equals its twin: keys of different rows may agree by chance."""
    if sp.issparse(X):
        equal = (X[twin] != X).nnz == 0
    else:
        equal = all(np.array_equal(column, column[twin]) for column in X.T)
    return equal and all(np.array_equal(target, target[twin]) for target in targets)


def shared_out(coef: Array, total: Array, weight: Array, bound: float) -> Array:
    """Return the coefficients of single rows, given those of their groups of total weight S_g.

    `bound`: largest coefficient of a unit of weight, infinite where there is none; a group at its
    bound is shared out to rows at theirs, also after rounding.
    """
    share = coef * (weight / total)
    if not np.isfinite(bound):
        return share
    largest = bound * weight
    full = np.abs(coef) >= bound * total
    return np.where(full, np.sign(coef) * largest, np.clip(share, -largest, largest))


def first_of_each(group: Rows) -> Rows:
    """Return the position of the first member of every group, in the order of the groups."""
    return np.unique(group, return_index=True)[1]


def sums_of_each(group: Rows, values: Array) -> Array:
    """Return the sums over the members of every group, each of which has one, line by line."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.add.reduceat(values[order], starts, axis=0)
