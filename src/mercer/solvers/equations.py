"""Exact dual feasibility for several equality constraints: a point near a given one exists.

The dual of a machine with unpenalised linear functions requires A'beta = 0, with the columns
1, x_1, ..., x_d of A, or x_j - p_j where these differences are exact, which improves the
conditioning far from the origin. One sum can be made exact on a grid of floating-point numbers
(`mercer.solvers.feasibility`); several cannot, since the solution of a linear system of whole
numbers is a fraction. What can be done is to correct a few coefficients, and to prove that within a
known distance of the corrected point there is one that satisfies all equations:

1. Where there are not enough coefficients between their bounds, beta is shrunk by a factor 1 - eta,
   which violates no equation and leaves room at every bound.
2. As many rows as there are independent equations are chosen, those with the most room, by a QR
   decomposition with pivots. Let B be the matrix of their equations and C an approximate inverse.
3. The residual r = A'beta is computed exactly, in whole numbers, and the coefficients of the chosen
   rows are corrected by -C r, twice.
4. With |1 - C B| <= q < 1, the exact correction that is left is within q / (1 - q) max |C r| of
   -C r (S. Rump, *Verification methods: rigorous results using floating-point arithmetic*, Acta
   Numerica 19, 2010, section 10). That is the distance.

Equations that depend on the chosen ones (of constant, repeated or one-hot columns) hold with them
where the dependence is exact, which is checked in fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.objects.arrays import Array

from .feasibility import within_bounds
from .rounding import UNIT

# Shares eta of the coefficients that are given up for room at the bounds, one after the other.
_SHRINK = (0.0, 2.0**-44, 2.0**-36)
# Room of coefficients that rest at 0, relative to the largest one: the last ones to be chosen.
_AT_ZERO = 2.0**-44
# Pivots this small beside the largest one belong to equations that depend on others.
_DEPENDENT = 1e-13
_CORRECTIONS = 3


class FeasiblePoint(NamedTuple):
    """Coefficients, and a bound on the distance of each from a point that meets all constraints."""

    point: Array
    distance: Array


def near_equations(beta: Array, lower: Array, upper: Array, X: Array) -> FeasiblePoint | None:
    """Return a point near `beta` next to which its sum and X'beta vanish, within the bounds.

    Bounds satisfy lower <= 0 <= upper and may be infinite. None where no such point is found.
    """
    start = within_bounds(beta, lower, upper)
    if start is None:
        return None
    A = np.hstack([np.ones((len(X), 1)), _centred(X)])
    if not any(_residual(A, start)):
        return FeasiblePoint(start, np.zeros(len(start)))
    scale = np.abs(A).max(axis=0)
    columns = np.where(scale > 0.0, A / np.where(scale > 0.0, scale, 1.0), 0.0)
    kept = np.sort(_pivots(columns))
    if not _dependent(A, _pivots(columns[:, kept].T), kept):
        return None
    for share in _SHRINK:
        point = start * (1.0 - share)
        room = _room(point, lower, upper)
        rows = _pivots(columns[:, kept].T * room)
        if len(rows) == len(kept):
            distance = _corrected_within(point, lower, upper, A[:, kept], rows, room)
            if distance is not None:
                return FeasiblePoint(point, distance)
    return None


def _corrected_within(
    point: Array, lower: Array, upper: Array, A: Array, rows: NDArray[np.intp], room: Array
) -> Array | None:
    """Correct a point; return the distance of a solution within the bounds, if there is one."""
    # Where a coefficient may leave 0 in one direction only, it is moved there first.
    resting = rows[point[rows] == 0.0]
    side = np.where(upper[resting] > 0.0, 1.0, -1.0)
    one_sided = np.minimum(upper[resting], -lower[resting]) <= 0.0
    point[resting] += np.where(one_sided, side * room[resting], 0.0)
    distance = _corrected(point, A, rows)
    if distance is None or not ((point - distance >= lower) & (point + distance <= upper)).all():
        return None
    return distance


def _centred(X: Array) -> Array:
    """Return columns minus one of their entries where all differences are exact, as they are."""
    if not len(X):
        return X
    middle = np.sort(X, axis=0)[len(X) // 2]
    moved = X - middle
    back = moved - X
    lost = (X - (moved - back)) - (middle + back)  # what rounding took from the differences
    return np.where((lost == 0.0).all(axis=0), moved, X)


def _room(point: Array, lower: Array, upper: Array) -> Array:
    """Return how far coefficients can move; little for those at 0, where losses have kinks."""
    largest = float(np.abs(point).max(initial=0.0))
    room = np.minimum(np.minimum(point - lower, upper - point), largest)
    widest = np.minimum(np.maximum(upper, -lower), _AT_ZERO * largest)
    return np.where(point == 0.0, widest, np.minimum(room, np.abs(point)))


def _pivots(M: Array) -> NDArray[np.intp]:
    """Return columns of a matrix that are independent and span the others, the largest first."""
    _, R, order = scipy.linalg.qr(M, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(R))
    rank = np.count_nonzero(sizes > _DEPENDENT * max(sizes.max(initial=0.0), 1e-300))
    return order[:rank].astype(np.intp)


def _dependent(A: Array, rows: NDArray[np.intp], kept: NDArray[np.intp]) -> bool:
    """Return whether the equations that were not kept are exact combinations of the kept ones."""
    others = np.setdiff1d(np.arange(A.shape[1]), kept)
    for j in others:
        if not A[:, j].any():
            continue
        system = [[Fraction(float(v)) for v in (*A[i, kept], A[i, j])] for i in rows]
        weights = _solved(system)
        if weights is None:
            return False
        used = [(k, w) for k, w in zip(kept.tolist(), weights, strict=True) if w]
        for line in np.unique(A[:, [*kept, j]], axis=0).tolist():
            place = {int(k): Fraction(v) for k, v in zip(kept, line, strict=False)}
            if sum((w * place[k] for k, w in used), Fraction(0)) != Fraction(line[-1]):
                return False
    return True


def _solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the solution of a square system, whose rows end in the right-hand sides."""
    n = len(rows)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


def _corrected(point: Array, A: Array, rows: NDArray[np.intp]) -> Array | None:
    """Correct the coefficients of some rows; return the distance of an exact solution."""
    B = A[rows].T
    try:
        inverse = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return None
    size = len(rows)
    products = np.abs(inverse) @ np.abs(B)
    rest = np.abs(np.eye(size) - inverse @ B) + 2.0 * (size + 2) * UNIT * (products + np.eye(size))
    q = float(rest.sum(axis=1).max(initial=0.0))
    if not q < 0.5:
        return None
    for _ in range(_CORRECTIONS):
        point[rows] -= inverse @ _residual(A, point)
    residual = _residual(A, point)
    steps = np.abs(inverse) @ np.abs(residual) * (1.0 + (size + 4) * UNIT)
    distance = np.zeros(len(point))
    distance[rows] = steps + 2.0 * q * float(steps.max(initial=0.0))
    return distance * (1.0 + 8.0 * UNIT)


def _residual(A: Array, beta: Array) -> Array:
    """Return A'beta, each entry rounded once, away from 0 where it is below the normal range."""
    support = np.flatnonzero(beta)
    b, b_unit = _whole(beta[support])
    found = np.zeros(A.shape[1])
    for j in range(A.shape[1]):
        a, a_unit = _whole(A[support, j])
        total = sum(map(int.__mul__, a, b))
        if total:
            value = float(Fraction(total) * Fraction(2) ** (a_unit + b_unit))
            found[j] = value or np.copysign(np.finfo(float).tiny, total)
    return found


def _whole(values: Array) -> tuple[list[int], int]:
    """Return numbers as multiples of one power of two, and its exponent."""
    mantissa, exponent = np.frexp(values)
    if not len(values):
        return [], 0
    unit = int(exponent[values != 0.0].min(initial=1024)) - 53
    whole = np.ldexp(mantissa, 53).astype(np.int64).tolist()
    shifts = np.maximum(exponent - 53 - unit, 0).tolist()
    return [m << s for m, s in zip(whole, shifts, strict=True)], unit
