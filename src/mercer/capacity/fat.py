"""Dimensions of real-valued classes: pseudo, level and fat versions, exact on small sets.

A set of points is shattered at margin gamma with levels c_i if for every labelling some function
has y_i (f(x_i) - c_i) >= gamma at all points. The levels are 0 ("s"), one common number ("l") or
one per point ("p", the pseudo-dimension for gamma = 0, plain fat-shattering otherwise).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bound import FIXED_SCALE, IN_BALL, NO_OFFSET, Bound, bound, state
from .shattering import Shattering, is_shattered

__all__ = [
    "effective_vc_dimension",
    "fat_dimension",
    "is_fat_shattered",
    "linear_fat_dimension",
]

Codes = NDArray[np.int8]


@bound(
    "fat-shattering dimension",
    "Cristianini and Shawe-Taylor, Theorem 4.16; Smola, (8.38)",
    [NO_OFFSET, IN_BALL],
    trivial=None,
)
def linear_fat_dimension(radius: float, margin: float, w_norm: float = 1.0) -> Bound:
    """Return the bound (R ||w|| / gamma)^2 on the fat-shattering dimension of linear functions.

    For functions <w, x> without an offset on a ball of radius R; attained by orthogonal points of
    length R. It holds for the level version and, after Gurvits, for the plain one.

    Parameters
    ----------
    radius : float
        Radius R of a ball around the origin that contains the data in feature space.
    margin : float
        Geometric margin gamma.
    w_norm : float, default=1
        Bound on the norm of the weight vector.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import linear_fat_dimension
    >>> float(linear_fat_dimension(radius=3.0, margin=1.0))
    9.0
    """
    return state({"dimension": (radius * w_norm / margin) ** 2})


@bound(
    "effective VC dimension",
    "Cristianini and Shawe-Taylor, Remark 4.15",
    [NO_OFFSET, IN_BALL, FIXED_SCALE],
    trivial=None,
)
def effective_vc_dimension(radius: float, margin: float) -> Bound:
    """Return 64 R^2 / gamma^2, the fat-shattering dimension of linear functions at gamma / 8.

    Parameters
    ----------
    radius : float
        Radius R of a ball around the origin that contains the data in feature space.
    margin : float
        Geometric margin gamma.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from mercer.capacity import effective_vc_dimension
    >>> float(effective_vc_dimension(radius=1.0, margin=0.5))
    256.0
    """
    return state({"dimension": linear_fat_dimension(radius, margin / 8).value})


def is_fat_shattered(X: Any, margin: float, w_norm: float = 1.0, kernel: Any = None) -> Shattering:
    """Decide whether linear functions with ||w|| <= w_norm shatter the points at a margin.

    For linear functions the levels can be 0, so the question is whether every labelling has a
    hard margin of at least margin / w_norm through the origin.

    Parameters
    ----------
    X : array-like
        Points; objects of `kernel`; or a kernel matrix with ``kernel="precomputed"``.
    margin : float
        gamma, positive.
    w_norm : float, default=1
        Largest norm of the weight vector.
    kernel : Kernel, "precomputed" or None
        Work in the feature space of a kernel.

    Returns
    -------
    Shattering
        True or false, with a labelling that is not realised as evidence.

    Examples
    --------
    >>> from mercer.capacity import is_fat_shattered
    >>> [bool(is_fat_shattered([[1, 0], [0, 1]], margin)) for margin in (0.70, 0.71)]
    [True, False]
    """
    if not margin > 0 or not w_norm > 0:
        raise ValueError("margin and w_norm must be positive.")
    return is_shattered(X, "homogeneous halfspaces", margin=margin / w_norm, kernel=kernel)


def fat_dimension(values: ArrayLike, margin: float = 0.0, kind: str = "p") -> int:
    """Return the dimension of a finite class of functions, given their values on all points.

    Exact, by extending shattered sets point by point; meant for small classes.

    Parameters
    ----------
    values : array-like of shape (n_functions, n_points)
        Values of the functions.
    margin : float, default=0
        gamma. 0 gives the VC dimension of f >= c ("s", "l") and the pseudo-dimension ("p").
    kind : {"s", "l", "p"}, default="p"
        Levels: 0, one for all points, or one per point.

    Returns
    -------
    int
        The dimension of a finite class of functions, given their values on all points.

    Examples
    --------
    >>> from mercer.capacity import fat_dimension
    >>> values = [[0.1, 0.6], [0.2, 0.9], [0.4, 0.6], [0.3, 0.9]]
    >>> [fat_dimension(values, kind=kind) for kind in "slp"]
    [0, 1, 2]
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or not table.size or not np.all(np.isfinite(table)):
        raise ValueError("values must be a finite array with one function per row.")
    if kind not in ("s", "l", "p"):
        raise ValueError(f"kind must be 's', 'l' or 'p'; got {kind!r}.")
    if not margin >= 0:
        raise ValueError(f"margin must be 0 or more; got {margin!r}.")
    return max(_largest(family) for family in _families(table, margin, kind))


def _families(table: NDArray[np.float64], margin: float, kind: str) -> Iterator[list[list[Codes]]]:
    """Yield, for each choice of a common level, the possible codes (1, -1, 0) at every point."""
    if kind == "s":
        yield [[_codes(column, 0.0, margin)] for column in table.T]
    elif kind == "l":
        for lowest in np.unique(table):
            level = _level_above(lowest, margin, table)
            yield [[_codes(column, level, margin)] for column in table.T]
    else:
        yield [
            [_codes(column, _level_above(v, margin, column), margin) for v in np.unique(column)]
            for column in table.T
        ]


def _level_above(value: float, margin: float, others: NDArray[np.float64]) -> float:
    """Return the least level that leaves functions of this value below it."""
    if margin:
        return value + margin
    higher = others[others > value]
    return float(higher.min()) if higher.size else math.inf


def _codes(column: NDArray[np.float64], level: float, margin: float) -> Codes:
    if not margin:
        return np.where(column >= level, 1, -1).astype(np.int8)
    slack = 1e-12 * max(1.0, abs(level))
    high, low = column >= level + margin - slack, column <= level - margin + slack
    return (high.astype(np.int8) - low.astype(np.int8)).astype(np.int8)


def _largest(points: list[list[Codes]]) -> int:
    """Return the size of the largest shattered set, a level being chosen at every point."""
    start = np.zeros(len(points[0][0]), dtype=np.int64)
    shattered = [(-1, start, start == 0)]  # last point, pattern of each function, decided or not
    size = 0
    while True:
        grown = []
        for last, patterns, decided in shattered:
            for j in range(last + 1, len(points)):
                for codes in points[j]:
                    longer = 2 * patterns + (codes > 0)
                    still = decided & (codes != 0)
                    if np.count_nonzero(np.bincount(longer[still])) == 2 ** (size + 1):
                        grown.append((j, longer, still))
        if not grown:
            return size
        shattered, size = grown, size + 1
