"""Dimensions of classes: VC dimensions with proofs, and pseudo, level and fat versions.

A proof that the VC dimension is d has two halves: some d points are shattered (a program that
realises any labels on them), and no d + 1 points are (a program that finds labels which are not
realised).

For real-valued classes a set of points is shattered at margin gamma with levels c_i if for every
labelling some function has y_i (f(x_i) - c_i) >= gamma at all points. The levels are 0 ("s"), one
common number ("l") or one per point ("p", the pseudo-dimension for gamma = 0, plain fat-shattering
otherwise).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space

from mercer.objects.parameters import require_choice

from . import keywords
from .bound import FIXED_SCALE, IN_BALL, NO_OFFSET, Bound, Condition, bound, state
from .shattering import Shattering, is_shattered, signs_of

__all__ = [
    "effective_vc_dimension",
    "fat_dimension",
    "is_fat_shattered",
    "linear_fat_dimension",
    "radon_unrealisable_labelling",
    "realise_labelling",
    "rectangle_unrealisable_labelling",
    "sine_shatter",
    "vc_dim_margin",
    "vc_dimension",
    "vc_dimension_of_combinations",
    "vc_dimension_of_union",
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


KNOWN = {
    "thresholds": lambda d: 1,
    "intervals": lambda d: 2,
    "halfspaces": lambda d: d + 1,
    "homogeneous halfspaces": lambda d: d,
    "linear span": lambda d: d,  # signs of d linearly independent functions
    "balls": lambda d: d + 1,
    "rectangles": lambda d: 2 * d,
    "sines": lambda d: math.inf,
    "nearest neighbour": lambda d: math.inf,
    "gaussian expansions": lambda d: math.inf,
    "convex sets": lambda d: math.inf if d > 1 else 2,
}


def vc_dimension(cls: str | ArrayLike, n_features: int = 1, kind: str = "s") -> float:
    """Return the VC dimension of a known class, or of finitely many functions by brute force.

    Parameters
    ----------
    cls : str or array-like of shape (n_functions, n_points)
        "thresholds" (x >= t), "intervals", "halfspaces", "homogeneous halfspaces", "linear span"
        (of `n_features` linearly independent functions), "balls", "rectangles" (parallel to the
        axes), "sines" (one parameter, infinite dimension), "nearest neighbour",
        "gaussian expansions", "convex sets". Or the values of functions on all points.
    n_features : int, default=1
        Dimension of the space, or number of functions of the span.
    kind : {"s", "l", "p"}, default="s"
        For values: which sets f >= c make the dimension, with the level 0 ("s"), one common level
        ("l") or one level per point ("p", the pseudo-dimension).

    Returns
    -------
    float
        The dimension.

    Examples
    --------
    >>> from mercer.capacity import vc_dimension
    >>> vc_dimension("halfspaces", 2), vc_dimension("rectangles", 2), vc_dimension("sines")
    (3, 4, inf)
    >>> vc_dimension([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    2
    """
    if not isinstance(cls, str):
        return fat_dimension(cls, kind=kind)
    require_choice(cls, "cls", KNOWN)
    keywords.check({"n_features": n_features}, ())
    return KNOWN[cls](n_features)


def vc_dimension_of_union(first: float, second: float) -> float:
    """Return the bound first + second + 1 on the VC dimension of a union of two classes.

    Parameters
    ----------
    first : float
        VC dimension of the first class.
    second : float
        VC dimension of the second class.

    Returns
    -------
    float
        The bound first + second + 1 on the VC dimension of a union of two classes.

    Examples
    --------
    >>> from mercer.capacity import vc_dimension_of_union
    >>> vc_dimension_of_union(3, 4)
    8
    """
    return first + second + 1


def vc_dimension_of_combinations(vc_dim: float, n_members: int) -> float:
    """Return the bound 2 d k log2(3 k) for unions or intersections of k members of a class.

    Blumer et al. (1989), Lemma 3.2.3.

    Parameters
    ----------
    vc_dim : float
        VC dimension d of the class.
    n_members : int
        Number k of members that are combined.

    Returns
    -------
    float
        The bound 2 d k log2(3 k) for unions or intersections of k members of a class.

    Examples
    --------
    >>> from mercer.capacity import vc_dimension_of_combinations
    >>> round(vc_dimension_of_combinations(3, 4), 2)
    86.04
    """
    if n_members < 1:
        raise ValueError(f"n_members must be at least 1; got {n_members}.")
    return vc_dim if n_members == 1 else 2 * vc_dim * n_members * math.log2(3 * n_members)


@bound(
    "VC dimension",
    "Learning From Data, Theorem 8.5",
    assumes=[
        Condition("the margin was fixed before the samples were seen"),
        Condition("all points lie in a ball of this radius"),
    ],
    trivial=None,
)
def vc_dim_margin(
    radius: float, margin: float, n_features: int | None = None, form: str = "sharp"
) -> Bound:
    """Return the bound on the number of points that hyperplanes with a margin can shatter.

    Parameters
    ----------
    radius, margin
        The points lie in a ball of this radius, and every hyperplane keeps the margin.
    n_features : int, optional
        Dimension of the space; the bound is then at most n_features + 1.
    form : {"sharp", "ceiling"}, default="sharp"
        "ceiling": ceil(R^2 / rho^2) + 1, as printed. "sharp": the largest N that the same
        argument allows: R^2 / rho^2 >= N - 1 for even N, (N - 1)^2 (N + 1) / N^2 for odd N.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Notes
    -----
    The margin of a fitted hyperplane is known only after the data were seen, so its value must not
    be put into a VC bound as it is: see `stratified`.

    Examples
    --------
    >>> from mercer.capacity import vc_dim_margin
    >>> float(vc_dim_margin(radius=1.0, margin=0.75))
    3.0
    """
    ratio = radius**2 / margin**2
    require_choice(form, "form", ("sharp", "ceiling"))
    if form == "ceiling":
        largest = math.ceil(ratio * (1 - 1e-12)) + 1
    else:
        largest = max(1, math.floor(ratio))  # N points need a ratio of at most N - 1
        while ratio * (1 + 1e-12) >= _least_ratio(largest + 1):
            largest += 1
    limited = largest if n_features is None else min(largest, n_features + 1)
    return state(
        {"dimension": float(limited)},
    )


def _least_ratio(n: int) -> float:
    """Return the least R^2 / rho^2 at which n points may be shattered."""
    return n - 1 if n % 2 == 0 else (n - 1) ** 2 * (n + 1) / n**2


def realise_labelling(X: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], float]:
    """Return w, b with <w, x_i> + b = y_i: halfspaces shatter n + 1 points in general position.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    y : array-like of shape (n,)
        Labels, 1 or -1.

    Returns
    -------
    tuple[ndarray, float]
        W, b with <w, x_i> + b = y_i.

    Examples
    --------
    >>> from mercer.capacity import realise_labelling
    >>> w, b = realise_labelling([[0, 0], [1, 0], [0, 1]], [1, -1, 1])
    >>> w.round(9).tolist(), round(b, 9)
    ([-2.0, 0.0], 1.0)
    """
    points, labels = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    A = np.column_stack([points, np.ones(len(points))])
    solution = np.linalg.lstsq(A, labels, rcond=None)[0]
    if np.linalg.matrix_rank(A) < len(points):
        raise ValueError(
            "the points are not in general position: at most n_features + 1 affinely independent "
            "points can be given every labelling."
        )
    return solution[:-1], float(solution[-1])


def radon_unrealisable_labelling(X: ArrayLike) -> NDArray[np.int64]:
    """Return labels that no halfspace realises: the two parts of a Radon partition.

    Numbers c with sum c_i = 0 and sum c_i x_i = 0 exist for affinely dependent points; the convex
    hulls of {c_i > 0} and {c_i <= 0} meet.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.

    Returns
    -------
    ndarray of int
        Labels that no halfspace realises.

    Examples
    --------
    >>> from mercer.capacity import radon_unrealisable_labelling
    >>> y = radon_unrealisable_labelling([[0, 0], [1, 0], [0, 1], [1, 1]])
    >>> (y * y[0]).tolist()
    [1, -1, -1, 1]
    """
    points = np.asarray(X, dtype=float)
    kernel = null_space(np.vstack([points.T, np.ones(len(points))]))
    if not kernel.shape[1]:
        raise ValueError("the points are affinely independent: halfspaces realise every labelling.")
    c = kernel[:, 0]
    return np.where(c > 1e-10 * np.abs(c).max(), 1, -1)


def rectangle_unrealisable_labelling(X: ArrayLike) -> NDArray[np.int64]:
    """Return labels that no rectangle realises: the extreme points inside, another one outside.

    Needs more than 2 n_features points: then one of them lies in the rectangle of the extremes.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.

    Returns
    -------
    ndarray of int
        Labels that no rectangle realises.

    Examples
    --------
    >>> from mercer.capacity import rectangle_unrealisable_labelling
    >>> rectangle_unrealisable_labelling([[0, 1], [0, -1], [1, 0], [-1, 0], [0, 0]]).tolist()
    [1, 1, 1, 1, -1]
    """
    points = np.asarray(X, dtype=float)
    extremes = {*points.argmin(axis=0).tolist(), *points.argmax(axis=0).tolist()}
    if len(extremes) == len(points):
        raise ValueError("every point is extreme in some direction: rectangles may realise all.")
    return np.array([1 if i in extremes else -1 for i in range(len(points))])


def sine_shatter(y: ArrayLike) -> float:
    """Return a with sgn(sin(a x_i)) = y_i at x_i = 10^-i, i = 1, 2, ...: one parameter, any labels.

    a = pi (1 + sum over i of (1 - y_i) 10^i / 2). In double precision up to 8 labels or more.

    Parameters
    ----------
    y : array-like of shape (m,)
        Labels, 1 or -1.

    Returns
    -------
    float
        A with sgn(sin(a x_i)) = y_i at x_i = 10^-i, i = 1, 2, .

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import sine_shatter
    >>> y = np.array([1, -1, -1])
    >>> np.sign(np.sin(sine_shatter(y) * 10.0 ** -np.arange(1, 4))).tolist()
    [1.0, -1.0, -1.0]
    """
    labels = signs_of(y)
    powers = 10 ** np.arange(1, len(labels) + 1, dtype=float)
    return math.pi * (1 + float(np.sum((1 - labels) * powers)) / 2)
