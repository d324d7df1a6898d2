"""Norms, covering and packing numbers of finite sets, and of functions on a sample.

Norms are not normalised by the number of coordinates. A ball is closed unless ``closed=False``:
the texts differ, and it matters (one closed ball of radius 1 around 0 covers all vectors of signs).
Centres of a cover need not belong to the set.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CoveringNumber",
    "box_covering_number",
    "covering_number",
    "greedy_maximal_system",
    "interval_covering_number",
    "lp_norm",
    "measure_norm",
    "packing_number",
    "sample_norm",
]

Array = NDArray[np.float64]
EXACT_POINTS = 16  # up to so many points subsets are enumerated


@dataclass(frozen=True)
class CoveringNumber:
    """A covering number between two limits, equal where it is known exactly.

    Attributes
    ----------
    lower : int
        No cover is smaller: so many points have distances that no ball spans.
    upper : int
        A cover of this size exists.

    Examples
    --------
    >>> from mercer.capacity import covering_number
    >>> number = covering_number([[0.0], [0.3], [0.5], [1.0]], eps=0.25)
    >>> number.lower, number.upper
    (2, 2)
    """

    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        """Whether the two limits agree."""
        return self.lower == self.upper


def covering_number(
    points: ArrayLike, eps: float, p: float = math.inf, closed: bool = True
) -> CoveringNumber:
    """Return the least number of eps-balls that cover a finite set, or limits for it.

    Parameters
    ----------
    points : array-like of shape (n, d)
        The set; for a class of functions, their values on a sample, one function per row.
    eps : float
        Radius of the balls.
    p : float, default=inf
        The l_p norm. For p infinite and at most 16 distinct points the number is exact: a set of
        points lies in one ball if and only if any two of them do. Otherwise the limits come from
        a separated set and from a greedy cover.
    closed : bool, default=True
        Whether points at distance eps are covered.

    Returns
    -------
    CoveringNumber
        The least number of eps-balls that cover a finite set, or limits for it.

    Examples
    --------
    >>> from mercer.capacity import covering_number
    >>> covering_number([[0.0], [0.3], [0.5], [1.0]], eps=0.25)
    CoveringNumber(lower=2, upper=2)
    """
    distinct = np.unique(_matrix(points), axis=0)
    reach = _distances(distinct, p)
    near = _within(reach, positive(eps), closed)
    if math.isinf(p) or distinct.shape[1] == 1:
        together = _within(reach, 2 * eps, closed)
        if len(distinct) <= EXACT_POINTS:
            number = _least_clique_cover(together)
            return CoveringNumber(number, number)
        return CoveringNumber(len(_separated(together)), _greedy_cliques(together))
    apart = _separated(_within(reach, 2 * eps, closed))
    return CoveringNumber(len(apart), _greedy_cover(near))


def packing_number(points: ArrayLike, eps: float, p: float = math.inf) -> int:
    """Return the largest number of points at mutual distances larger than eps.

    Exact for at most 16 distinct points, otherwise the size of a maximal (not largest) such set.
    With M(eps) this number, N(eps) <= M(eps) and M(2 eps) <= N(eps). The version of the text,
    with balls contained in the set, fails for a single point.

    Parameters
    ----------
    points : array-like of shape (n, d)
        The points.
    eps : float
        Least distance of two chosen points.
    p : float, default=inf
        Which l_p norm measures distances.

    Returns
    -------
    int
        The largest number of points at mutual distances larger than eps.

    Examples
    --------
    >>> from mercer.capacity import packing_number
    >>> packing_number([[0.0], [0.3], [0.5], [1.0]], eps=0.45)
    3
    """
    distinct = np.unique(_matrix(points), axis=0)
    close = _within(_distances(distinct, p), positive(eps), True)
    if len(distinct) > EXACT_POINTS:
        return len(_separated(close))
    masks = [int(sum(1 << j for j in np.flatnonzero(row))) for row in close]

    def largest(free: int) -> int:
        if not free:
            return 0
        i = (free & -free).bit_length() - 1
        taken = 1 + largest(free & ~masks[i])
        return taken if masks[i] & free == 1 << i else max(taken, largest(free & ~(1 << i)))

    return largest((1 << len(distinct)) - 1)


def greedy_maximal_system(points: ArrayLike, eps: float, p: float = math.inf) -> NDArray[np.int64]:
    """Return indices of a maximal set of points at mutual distances larger than eps.

    Being maximal, it is also the set of centres of a cover by eps-balls.

    Parameters
    ----------
    points : array-like of shape (n, d)
        The points.
    eps : float
        Least distance of two chosen points.
    p : float, default=inf
        Which l_p norm measures distances.

    Returns
    -------
    ndarray of int
        Positions of the chosen points.

    Examples
    --------
    >>> from mercer.capacity import greedy_maximal_system
    >>> greedy_maximal_system([[0.0], [0.3], [0.5], [1.0]], eps=0.45).tolist()
    [0, 2, 3]
    """
    close = _within(_distances(_matrix(points), p), positive(eps), True)
    return np.array(_separated(close), dtype=np.int64)


def interval_covering_number(length: float, eps: float, closed: bool = True) -> int:
    """Return the covering number of an interval: ceil(L / (2 eps)), or floor + 1 for open balls.

    The values at one point of norm R of linear functions with ||w|| <= 1 fill an interval of
    length 2R.

    Parameters
    ----------
    length : float
        Length L of the interval.
    eps : float
        Radius of the balls.
    closed : bool, default=True
        Whether the balls are closed.

    Returns
    -------
    int
        The covering number of an interval.

    Examples
    --------
    >>> from mercer.capacity import interval_covering_number
    >>> interval_covering_number(2.0, 0.5), interval_covering_number(2.0, 0.5, closed=False)
    (2, 3)
    """
    ratio = length / (2 * positive(eps))
    rounded = round(ratio)
    if abs(ratio - rounded) <= 1e-12 * max(1.0, ratio):
        ratio = rounded
    return max(1, math.ceil(ratio)) if closed else math.floor(ratio) + 1


def box_covering_number(half_sides: ArrayLike, eps: float) -> int:
    """Return the covering number of a box in the maximum norm: the product of ceil(s_i / eps).

    Parameters
    ----------
    half_sides : array-like of shape (d,)
        Half the length of each side of the box.
    eps : float
        Radius of the balls.

    Returns
    -------
    int
        The covering number of a box in the maximum norm.

    Examples
    --------
    >>> from mercer.capacity import box_covering_number
    >>> box_covering_number([1.0, 0.5, 0.01], eps=0.25)
    8
    """
    sides = np.atleast_1d(np.asarray(half_sides, dtype=float))
    return math.prod(interval_covering_number(2 * s, eps) for s in sides)


def _matrix(points: ArrayLike) -> Array:
    matrix = np.asarray(points, dtype=float)
    if matrix.ndim != 2 or not matrix.size or not np.all(np.isfinite(matrix)):
        raise ValueError("points must be a finite array with one point (or function) per row.")
    return matrix


def _distances(points: Array, p: float) -> Array:
    return np.array([row_norms(points - row, p) for row in points])


def _within(distances: Array, limit: float, closed: bool) -> NDArray[np.bool_]:
    slack = 1e-12 * limit
    return distances <= limit + slack if closed else distances < limit - slack


def _separated(close: NDArray[np.bool_]) -> list[int]:
    """Return a maximal set of indices no two of which are close, greedily."""
    chosen: list[int] = []
    free = np.ones(len(close), dtype=bool)
    for i in range(len(close)):
        if free[i]:
            chosen.append(i)
            free &= ~close[i]
    return chosen


def _greedy_cover(near: NDArray[np.bool_]) -> int:
    left = np.ones(len(near), dtype=bool)
    size = 0
    while left.any():
        best = int(np.argmax((near & left).sum(axis=1)))
        left &= ~near[best]
        left[best] = False
        size += 1
    return size


def _greedy_cliques(together: NDArray[np.bool_]) -> int:
    """Return the number of parts of a partition into sets that lie in one ball each."""
    left = list(range(len(together)))
    size = 0
    while left:
        clique = [left[0]]
        for j in left[1:]:
            if together[j, clique].all():
                clique.append(j)
        left = [i for i in left if i not in set(clique)]
        size += 1
    return size


def _least_clique_cover(together: NDArray[np.bool_]) -> int:
    """Return the least number of cliques that cover the graph, by subsets of what is left."""
    n = len(together)
    masks = [int(sum(1 << j for j in np.flatnonzero(row))) for row in together]
    best: dict[int, int] = {0: 0}

    def cover(left: int) -> int:
        if left in best:
            return best[left]
        i = (left & -left).bit_length() - 1
        near = left & masks[i] & ~(1 << i)
        best[left] = min(1 + cover(left & ~clique) for clique in maximal(1 << i, near, 0))
        return best[left]

    def maximal(clique: int, candidates: int, excluded: int) -> list[int]:
        """Return the maximal cliques (Bron and Kerbosch, with a pivot)."""
        if not candidates:
            return [] if excluded else [clique]
        pivot = max(
            _members(candidates | excluded), key=lambda u: (masks[u] & candidates).bit_count()
        )
        found = []
        for j in _members(candidates & ~(masks[pivot] & ~(1 << pivot))):
            others = masks[j] & ~(1 << j)
            found += maximal(clique | 1 << j, candidates & others, excluded & others)
            candidates &= ~(1 << j)
            excluded |= 1 << j
        return found

    return cover((1 << n) - 1)


def _members(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def lp_norm(x: ArrayLike, p: float) -> float:
    """Return (sum |x_j|^p)^(1/p), or the largest |x_j| for p infinite; a quasi-norm for p < 1.

    Parameters
    ----------
    x : array-like
        The vector.
    p : float
        The exponent; ``math.inf`` for the maximum norm.

    Returns
    -------
    float
        (sum |x_j|^p)^(1/p), or the largest |x_j| for p infinite.

    Examples
    --------
    >>> from mercer.capacity import lp_norm
    >>> lp_norm([1, 1], 0.5)
    4.0
    """
    return float(row_norms(np.atleast_1d(np.asarray(x, dtype=float))[None], p)[0])


def sample_norm(f: Callable[[Any], Any], X: Any, p: float) -> float:
    """Return the l_p norm of (f(x_1), ..., f(x_m)), a pseudo-norm of functions.

    Parameters
    ----------
    f : callable
        The function, of one point.
    X : sequence
        The sample.
    p : float
        The exponent; ``math.inf`` for the maximum norm.

    Returns
    -------
    float
        The l_p norm of (f(x_1), ..., f(x_m)), a pseudo-norm of functions.

    Examples
    --------
    >>> from mercer.capacity import sample_norm
    >>> sample_norm(abs, [-1.0, 3.0], math.inf)
    3.0
    """
    return lp_norm([float(f(x)) for x in X], p)


def measure_norm(f: Callable[[Any], Any], points: Any, weights: ArrayLike, p: float) -> float:
    """Return the norm of f in L_p of a discrete measure, such as a quadrature rule.

    With weights 1/m it is the sample norm divided by m^(1/p).

    Parameters
    ----------
    f : callable
        The function, of one point.
    points : sequence
        Points of the measure.
    weights : array-like
        Their weights.
    p : float
        The exponent; ``math.inf`` for the maximum norm.

    Returns
    -------
    float
        The norm of f in L_p of a discrete measure, such as a quadrature rule.

    Examples
    --------
    >>> from mercer.capacity import measure_norm
    >>> measure_norm(abs, [-1.0, 3.0], [0.5, 0.5], 1)
    2.0
    """
    mass = np.asarray(weights, dtype=float)
    if np.any(mass < 0):
        raise ValueError("weights of a measure must not be negative.")
    values = np.array([abs(float(f(x))) for x in points])
    if math.isinf(p):
        return float(values[mass > 0].max())
    return float(mass @ values**p) ** (1 / positive(p))


def positive(value: float) -> float:
    """Return the value; raise ValueError unless it is positive."""
    if not value > 0:
        raise ValueError(f"eps and p must be positive; got {value!r}.")
    return value


def row_norms(X: NDArray[np.float64], p: float) -> NDArray[np.float64]:
    """Return the l_p norm of every row."""
    if math.isinf(p):
        return np.abs(X).max(axis=-1)
    return np.sum(np.abs(X) ** positive(p), axis=-1) ** (1 / p)
