"""Can this set be shattered? Exact answers for small sets, with the failing labelling.

Thin hyperplanes shatter exactly the independent sets, and a linear dependence gives the labelling
that fails. For other classes labellings are enumerated point by point: a labelling of k + 1 points
is only tried if its first k labels can be realised, so the number of programmes follows the growth
function and not 2^m. Expansions of a strictly definite kernel shatter any distinct points, so
their VC dimension is infinite; only the margin limits them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from mercer.objects.parameters import require_choice

from .separation import (
    Array,
    ball,
    features_of,
    halfspace,
    largest_margin,
    rectangle,
)

__all__ = [
    "Shattering",
    "balanced_dichotomy",
    "count_dichotomies",
    "dichotomies",
    "hyperplanes_shatter",
    "is_shattered",
    "shatter_with_margin",
    "worst_margin",
]

CLASSES = ("halfspaces", "homogeneous halfspaces", "balls", "rectangles")
SYMMETRIC = CLASSES[:2]  # with a set they contain its complement
MOST_POINTS = 24  # points whose labellings are enumerated


@dataclass(frozen=True)
class Shattering:
    """The answer of `is_shattered`; true if the set is shattered.

    Attributes
    ----------
    shattered : bool
        Whether all labellings are realised.
    failing : ndarray or None
        A labelling that no member of the class realises: the proof that it is not.
    n_points : int
        Number of points.
    cls : str
        The class of sets.

    Examples
    --------
    >>> from mercer.capacity import is_shattered
    >>> answer = is_shattered([[0, 0], [1, 0], [0, 1], [1, 1]])
    >>> answer.shattered, answer.failing.tolist()
    (False, [-1, 1, 1, -1])
    """

    shattered: bool
    failing: NDArray[np.int64] | None
    n_points: int
    cls: str

    def __bool__(self) -> bool:
        return self.shattered

    def __str__(self) -> str:
        if self.failing is None:
            return f"{self.n_points} points are shattered by {self.cls}"
        signs = "".join("+" if label > 0 else "-" for label in self.failing)
        return f"{self.n_points} points are not shattered by {self.cls}: {signs} is not realised"


def dichotomies(
    X: Any, cls: str = "halfspaces", margin: float = 0.0, kernel: Any = None
) -> NDArray[np.int64]:
    """Return the labellings of the points that a class of sets realises, one per row.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The points; with a kernel, any objects of that kernel; with ``kernel="precomputed"``,
        their kernel matrix; with ``cls="predictions"``, the values of finitely many functions, one
        function per row and one point per column.
    cls : {"halfspaces", "homogeneous halfspaces", "balls", "rectangles", "predictions"}
        The class; positive labels lie inside balls and rectangles. Homogeneous halfspaces have
        no offset. Rectangles are parallel to the axes and take no kernel. "predictions" is the
        finite class whose values X holds; f >= 0 is positive.
    margin : float, default=0
        Halfspaces only: the least distance rho of every point from the hyperplane, i.e. the
        hyperplane is rho-fat. Labellings of one class alone need no hyperplane between the points.
    kernel : Kernel, "precomputed" or None
        Work in the feature space of a kernel.

    Returns
    -------
    ndarray of shape (n_labellings, n_points)
        The labellings that are realised, one per row.

    Examples
    --------
    >>> from mercer.capacity import dichotomies
    >>> len(dichotomies([[0, 0], [1, 0], [0, 1], [1, 1]]))
    14
    """
    if cls == "predictions":
        return np.unique(np.where(_points(X) >= 0, 1, -1), axis=0)
    points, realised = _class(X, cls, margin, kernel)
    found = [_NO_LABELS]
    for k in range(1, len(points) + 1):
        found = [y for y in _longer(found, cls) if realised(points[:k], y)]
    rows = np.array(found, dtype=np.int64).reshape(len(found), len(points))
    return np.vstack([rows, -rows]) if cls in SYMMETRIC else rows


def count_dichotomies(
    X: Any, cls: str = "halfspaces", margin: float = 0.0, kernel: Any = None
) -> int:
    """Return the number of labellings that a class realises on the points.

    The parameters are those of `dichotomies`.

    Parameters
    ----------
    X : array-like
        Points; objects of `kernel`; or a kernel matrix, see `dichotomies`.
    cls : str, default="halfspaces"
        The class of sets, see `dichotomies`.
    margin : float, default=0
        Least distance of every point from the hyperplane.
    kernel : Kernel, "precomputed" or None
        Work in the feature space of a kernel.

    Returns
    -------
    int
        The number of labellings that a class realises on the points.

    Examples
    --------
    >>> from mercer.capacity import count_dichotomies
    >>> count_dichotomies([[1.0, -2.0], [3.0, -1.0], [1.0, 1.0]], cls="predictions")
    2
    """
    return len(dichotomies(X, cls, margin, kernel))


def is_shattered(
    X: Any, cls: str = "halfspaces", margin: float = 0.0, kernel: Any = None
) -> Shattering:
    """Decide whether a class realises every labelling of the points.

    The parameters are those of `dichotomies`.

    Parameters
    ----------
    X : array-like
        Points; objects of `kernel`; or a kernel matrix, see `dichotomies`.
    cls : str, default="halfspaces"
        The class of sets, see `dichotomies`.
    margin : float, default=0
        Least distance of every point from the hyperplane.
    kernel : Kernel, "precomputed" or None
        Work in the feature space of a kernel.

    Returns
    -------
    Shattering
        True or false, with a labelling that is not realised as evidence.

    Examples
    --------
    >>> from mercer.capacity import is_shattered
    >>> print(is_shattered([[0, 0], [1, 0], [0, 1]]))
    3 points are shattered by halfspaces
    >>> print(is_shattered([[0, 0], [1, 0], [0, 1], [1, 1]]))
    4 points are not shattered by halfspaces: -++- is not realised
    """
    if cls == "predictions":
        rows = {tuple(row) for row in dichotomies(X, cls).tolist()}
        every = itertools.product((-1, 1), repeat=len(next(iter(rows))))
        absent = next((labels for labels in every if labels not in rows), None)
        failing = None if absent is None else np.array(absent)
        return Shattering(failing is None, failing, len(next(iter(rows))), cls)
    points, realised = _class(X, cls, margin, kernel)
    if cls in SYMMETRIC and not margin:
        failing = _dependent_labelling(points, cls)
        return Shattering(failing is None, failing, len(points), cls)
    grown = [_NO_LABELS]
    for k in range(1, len(points) + 1):
        grown = _longer(grown, cls)
        for trial in grown:
            if not realised(points[:k], trial):
                failing = np.append(trial, np.ones(len(points) - k, dtype=np.int64))
                return Shattering(False, failing, len(points), cls)
    return Shattering(True, None, len(points), cls)


def hyperplanes_shatter(X: ArrayLike) -> bool:
    """Return whether oriented hyperplanes shatter the points: a rank, instead of programmes.

    They do if and only if, with one point as the origin, the others are linearly independent.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.

    Returns
    -------
    bool
        Whether they do.

    Examples
    --------
    >>> from mercer.capacity import hyperplanes_shatter
    >>> hyperplanes_shatter([[0, 0], [1, 0], [0, 1]]), hyperplanes_shatter([[0, 0], [1, 1], [2, 2]])
    (True, False)
    """
    points = _points(X)
    return bool(np.linalg.matrix_rank(points[1:] - points[0]) == len(points) - 1)


def balanced_dichotomy(X: ArrayLike, rng: Any = None) -> NDArray[np.int64]:
    """Return a balanced labelling whose weighted sum of points is short.

    For N = 2k points, k of each label: ||sum y_n x_n|| <= N R / sqrt(N - 1). For N = 2k + 1, k
    positive and k + 1 negative: the difference of the class means is at most
    2 N R / ((N - 1) sqrt(N + 1)). R is the radius around the mean of the points. Twice the margin
    of any hyperplane that realises it is at most the difference of the means, so such a labelling
    limits how many points fat hyperplanes can shatter.

    Parameters
    ----------
    X : array-like of shape (N, n_features)
        At least two points.
    rng : int, Generator or None
        Random balanced labellings are drawn until one meets the bound, which holds on average.

    Returns
    -------
    ndarray of int
        A balanced labelling whose weighted sum of points is short.

    Examples
    --------
    >>> from mercer.capacity import balanced_dichotomy
    >>> int(balanced_dichotomy([[0.0], [1.0], [2.0], [3.0]], rng=0).sum())
    0
    """
    points = _points(X)
    n = len(points)
    if n < 2:
        raise ValueError("a balanced dichotomy needs at least two points.")
    generator = np.random.default_rng(rng)
    k = n // 2
    spread = float(np.sum((points - points.mean(axis=0)) ** 2))
    limit = n / ((n - 1) * k * (n - k)) * spread  # the mean of |difference of means|^2
    labels = np.repeat([1, -1], [k, n - k])
    while True:
        y = generator.permutation(labels)
        gap = points[y > 0].mean(axis=0) - points[y < 0].mean(axis=0)
        if gap @ gap <= limit * (1 + 1e-12):
            return y


_NO_LABELS = np.empty(0, dtype=np.int64)


def _longer(found: list[NDArray[np.int64]], cls: str) -> list[NDArray[np.int64]]:
    """Return labellings with one label more; of a symmetric class those that begin with -1."""
    signs = (-1,) if cls in SYMMETRIC and found and not len(found[0]) else (-1, 1)
    return [np.append(labels, sign) for labels in found for sign in signs]


def _class(
    X: Any, cls: str, margin: float, kernel: Any
) -> tuple[Array, Callable[[Array, NDArray[np.int64]], bool]]:
    """Return points of a Euclidean space and the test of one labelling of some of them."""
    require_choice(cls, "cls", (*CLASSES, "predictions"))
    if not (margin >= 0 and math.isfinite(margin)):
        raise ValueError(f"margin must be 0 or more and finite; got {margin!r}.")
    if margin and cls not in CLASSES[:2]:
        raise ValueError(f"a margin is defined for halfspaces, not for {cls}.")
    if kernel is None:
        points = _points(X)
    elif cls == "rectangles":
        raise ValueError("rectangles are sets in the space of the columns: they take no kernel.")
    else:
        points = features_of(X if isinstance(kernel, str) else kernel(X))
    if len(points) > MOST_POINTS:
        raise ValueError(f"{len(points)} points have too many labellings; at most {MOST_POINTS}.")
    if cls == "rectangles":
        return points, lambda P, y: rectangle(P, y) is not None
    if cls == "balls":
        return points, lambda P, y: ball(P, y) is not None
    bias = cls == "halfspaces"
    if not margin:
        return points, lambda P, y: halfspace(P, y, bias) is not None

    def fat(P: Array, y: NDArray[np.int64]) -> bool:
        found = largest_margin(P, y, bias)
        return found is not None and found.margin >= margin * (1 - 1e-9)

    return points, fat


def _dependent_labelling(points: Array, cls: str) -> NDArray[np.int64] | None:
    """Return labels that no hyperplane realises, or None if the points are independent.

    Numbers c with sum c_i x_i = 0 (and sum c_i = 0, if there is an offset) contradict
    y_i f(x_i) > 0 for the labels y_i = sgn c_i.
    """
    A = np.column_stack([points, np.ones(len(points))]) if cls == "halfspaces" else points
    if np.linalg.matrix_rank(A) == len(points):
        return None
    c = np.linalg.svd(A.T)[2][-1]
    labels = np.where(c > 1e-9 * np.abs(c).max(), 1, -1)
    return labels * -labels[0]


def _points(X: Any) -> Array:
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or not points.size or not np.all(np.isfinite(points)):
        raise ValueError("X must be a finite array with one point per row.")
    return points


def shatter_with_margin(
    K: ArrayLike, y: ArrayLike, constraint: str = "rkhs"
) -> tuple[NDArray[np.float64], float]:
    """Return coefficients that realise any labels on distinct points, and their margin.

    Solves K a = y and scales a to the constraint, so f = sum a_i k(x_i, .) has the values
    margin * y_i. With a strictly definite kernel (the Gaussian one) every set is shattered: the
    VC dimension is infinite, and only the margin limits the class.

    Parameters
    ----------
    K : array-like of shape (m, m)
        Kernel matrix of the points, strictly positive definite.
    y : array-like of shape (m,)
        Labels, 1 or -1.
    constraint : {"rkhs", "l1", "l2"}, default="rkhs"
        a'Ka = 1, sum |a_i| = 1 or sum a_i^2 = 1.

    Returns
    -------
    tuple[ndarray, float]
        Coefficients that realise any labels on distinct points, and their margin.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import shatter_with_margin
    >>> a, margin = shatter_with_margin(np.eye(4), [1, -1, 1, 1])
    >>> margin
    0.5
    """
    gram, labels = np.asarray(K, dtype=float), signs_of(y)
    a = cho_solve(_factor(gram), labels)
    sizes = {
        "rkhs": lambda: math.sqrt(float(a @ gram @ a)),
        "l1": lambda: float(np.abs(a).sum()),
        "l2": lambda: float(np.linalg.norm(a)),
    }
    require_choice(constraint, "constraint", sizes)
    size = sizes[constraint]()
    return a / size, 1 / size


def worst_margin(K: ArrayLike) -> float:
    """Return the margin with which the unit ball of the RKHS shatters the points.

    (max over labels of y'K^-1 y)^(-1/2), over all labellings: at most 20 points. It satisfies
    1 / margin^2 >= m for kernels with k(x, x) <= 1.

    Parameters
    ----------
    K : array-like of shape (m, m)
        Kernel matrix of the points.

    Returns
    -------
    float
        The margin with which the unit ball of the RKHS shatters the points.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import worst_margin
    >>> worst_margin(np.eye(9))
    0.3333333333333333
    """
    gram = np.asarray(K, dtype=float)
    m = len(gram)
    if m > 20:
        raise ValueError(f"{m} points have too many labellings; at most 20.")
    inverse = cho_solve(_factor(gram), np.eye(m))
    worst = 0.0
    for block in _label_blocks(m):
        worst = max(worst, float(np.einsum("ij,jk,ik->i", block, inverse, block).max()))
    return worst**-0.5


def _label_blocks(m: int, size: int = 4096) -> list[NDArray[np.float64]]:
    """Return all labellings with y_1 = 1, in blocks."""
    codes = np.arange(2 ** (m - 1))
    bits = ((codes[:, None] >> np.arange(m - 1)) & 1) * 2.0 - 1
    labels = np.column_stack([np.ones(len(codes)), bits])
    return [labels[i : i + size] for i in range(0, len(labels), size)]


def _factor(gram: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    try:
        return cho_factor(gram)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "the kernel matrix is not strictly positive definite in double precision: equal "
            "points, or a kernel too wide for points so close."
        ) from error


def signs_of(y: ArrayLike) -> NDArray[np.float64]:
    """Return labels as numbers; raise ValueError unless they are 1 and -1."""
    labels = np.asarray(y, dtype=float)
    if labels.ndim != 1 or not labels.size or not np.all(np.abs(labels) == 1):
        raise ValueError("y must be a list of labels 1 and -1.")
    return labels
