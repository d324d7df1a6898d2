"""The VC dimensions of known classes, with programs that prove them.

A proof that the dimension is d has two halves: some d points are shattered (a program that
realises any labels on them), and no d + 1 points are (a program that finds labels which are not
realised).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space

from mercer.objects.parameters import require_choice

from . import vocabulary
from .bound import Bound, Condition, bound, state
from .fat import fat_dimension
from .shattering import signs_of

__all__ = [
    "radon_unrealisable_labelling",
    "realise_labelling",
    "rectangle_unrealisable_labelling",
    "sine_shatter",
    "vc_dim_margin",
    "vc_dimension",
    "vc_dimension_of_combinations",
    "vc_dimension_of_union",
]

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
    vocabulary.check({"n_features": n_features}, ())
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
