"""Negative curvature: a search for v'Kv < 0 in the kernel matrix of a user-defined kernel.

A duality gap bounds the distance from the optimum only where the problem is convex, that is, where
v'Kv >= 0 for all v that the constraints allow. For kernels of the library that is a theorem; a
matrix or a function of the user is tested:

- A Cholesky factorisation of K + t I decides the question for the whole matrix up to the threshold
  t = n u trace(K), below which an eigenvalue may be rounding. Where it breaks down at a pivot,
  v = (-A^-1 a, 1), with A the block before it and a the column above it, has v'(K + t I)v <= 0.
- Where that would take too long, the same is done for a part of the rows, support vectors first,
  and a few Lanczos steps from a random direction look at the whole matrix (C. Lanczos, 1950; the
  smallest Ritz value is the smallest quotient v'Kv / v'v over the Krylov space).

Where an intercept makes the coefficients sum to 0, only such v count: K is replaced by PKP, with P
the projection onto them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from mercer.numerics.smallest_eigenvalue import lanczos_extreme
from mercer.objects.arrays import Array, Rows

_FLOPS = 8e9  # multiply-adds of a factorisation in a second, on one core
_SECONDS = 4e-3  # minimum time budget
_MOST = 1 << 15  # rows of a part that is factorised: 8 GB
# Rows up to which the smallest eigenvalue is computed after negative curvature was found.
_EXACT = 1000
_FEWEST, _STEPS = 3, 12  # Lanczos steps, at least (fewer are inconclusive) and at most
_UNITS = {"float32": 2.0**-24, "float64": 2.0**-53}
_ROWS = 8  # rows from which the precision of the values is told


@dataclass(frozen=True, eq=False)
class NegativeCurvature:
    """A direction v of negative curvature of a kernel matrix K.

    `eigenvalue`: v'Kv, the smallest eigenvalue or an upper bound on it. `rows`: the objects that v
    has entries for. `vector`: v, of length 1; its entries sum to 0 where an intercept demands it.
    """

    eigenvalue: float
    rows: Rows
    vector: Array


@dataclass(frozen=True, eq=False)
class Curvature:
    """Result of a search: a direction of negative curvature, and whether there is no other."""

    negative: NegativeCurvature | None
    complete: bool


def look_for_negative_curvature(
    gram: Any, support: Rows, *, sum_zero: bool, seconds: float, value_seconds: float
) -> Curvature:
    """Search a kernel matrix for negative curvature, for so many seconds, beginning with `support`.

    `sum_zero`: whether only directions whose entries sum to 0 count. `value_seconds`: time that a
    kernel value takes.
    """
    budget, n = max(seconds, _SECONDS), gram.n
    unit = _unit_of(gram)
    threshold = n * unit * float(np.abs(gram.diag()).sum())
    if not np.isfinite(threshold):
        return Curvature(None, False)
    if _time_of(n, value_seconds) <= budget:
        found = _by_cholesky(gram, np.arange(n), sum_zero, threshold, unit)
        return Curvature(found, True)
    part = _affordable(budget / 2.0, value_seconds)
    rows = support if len(support) <= part else support[:: -(-len(support) // part)]
    if len(rows) > 1:
        found = _by_cholesky(gram, rows, sum_zero, threshold, unit)
        if found is not None:
            return Curvature(found, False)
    steps = int(min(_STEPS, budget / 2.0 / max(n * n * value_seconds, 1e-9)))
    if steps < _FEWEST:
        return Curvature(None, False)
    return Curvature(_by_lanczos(gram, sum_zero, threshold, unit, steps), False)


def _unit_of(gram: Any) -> float:
    """Return the unit roundoff of the values: that of float32 where they all are such numbers."""
    values = np.asarray(gram.tile(np.arange(min(_ROWS, gram.n))), dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        single = np.array_equal(values, values.astype(np.float32))
    return _UNITS["float32" if single else "float64"]


def _time_of(n: Any, value_seconds: float) -> Any:
    """Return the time of a factorisation of n rows, and of computing them."""
    return n**3 / (3.0 * _FLOPS) + n * n * (value_seconds + 2e-9)


def _affordable(seconds: float, value_seconds: float) -> int:
    """Return how many rows can be factorised in a time, up to `_MOST`."""
    times = _time_of(np.arange(3.0, _MOST + 1.0), value_seconds)
    return 2 + int(np.searchsorted(times, seconds, side="right"))


def _by_cholesky(
    gram: Any, rows: Rows, sum_zero: bool, threshold: float, unit: float
) -> NegativeCurvature | None:
    K = np.asarray(gram.take(rows).tile(), dtype=np.float64)
    K = 0.5 * (K + K.T)
    # The projection rounds as the entries do, whose sizes a conditionally definite diagonal hides.
    threshold = max(threshold, len(K) * unit * 4.0 * float(np.abs(K).max(initial=0.0)))
    if sum_zero:
        K -= K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
        threshold = max(threshold, len(K) * unit * float(np.abs(K.diagonal()).sum()))
    shifted = K + threshold * np.eye(len(K))
    _, info = scipy.linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=0)
    if info <= 0:
        return None
    if len(K) <= _EXACT:
        _, vectors = scipy.linalg.eigh(K, subset_by_index=[0, 0])
        return _witness(K, rows, vectors[:, 0], sum_zero, threshold)
    j = int(info) - 1
    v = np.zeros(len(K))
    v[:j] = -scipy.linalg.solve(shifted[:j, :j], shifted[:j, j], assume_a="pos")
    v[j] = 1.0
    return _witness(K, rows, v, sum_zero, threshold)


def _by_lanczos(
    gram: Any, sum_zero: bool, threshold: float, unit: float, steps: int
) -> NegativeCurvature | None:
    n = gram.n
    constant = np.full((n, 1), n**-0.5) if sum_zero else None
    found = lanczos_extreme(gram.matmul, n, constant, steps)
    threshold = max(threshold, n * unit * max(abs(found.smallest), abs(found.largest)))
    v = found.attained()
    if sum_zero:
        v = v - v.mean()
    v = v / np.linalg.norm(v)
    value = float(v @ gram.matmul(v))
    return NegativeCurvature(value, np.arange(n), v) if value < -threshold else None


def _witness(
    K: Array, rows: Rows, v: Array, sum_zero: bool, threshold: float
) -> NegativeCurvature | None:
    """Return a direction with its quotient, None where that is rounding."""
    if sum_zero:
        v = v - v.mean()
    v = v / np.linalg.norm(v)
    value = float(v @ (K @ v))
    return NegativeCurvature(value, rows, v) if value < -threshold else None
