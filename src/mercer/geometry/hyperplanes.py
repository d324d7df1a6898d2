"""Hyperplanes, margins and distances, for a hyperplane <w, x> + b = 0 in the input space.

The functional margin of a labelled point is y (<w, x> + b) and changes when (w, b) is rescaled;
the geometric margin divides it by |w| and does not. A hyperplane is in canonical form for a data
set when the smallest functional margin is 1; its geometric margin is then 1 / |w|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mercer.objects.arrays import Array

__all__ = [
    "CanonicalHyperplane",
    "canonicalize",
    "distance_to_hyperplane",
    "functional_margin",
    "geometric_margin",
    "margin",
    "separates",
    "side_margins",
    "signed_distance",
]


class CanonicalHyperplane(NamedTuple):
    """A hyperplane scaled so that the closest point has functional margin 1.

    ``rho`` is the smallest functional margin before scaling.

    Attributes
    ----------
    w : ndarray of shape (d,)
        Normal vector.
    b : float
        Offset.
    rho : float
        Smallest functional margin before scaling.

    Examples
    --------
    >>> from mercer.geometry.hyperplanes import canonicalize
    >>> plane = canonicalize([2.0], 0.0, [[-1], [3]], [-1, 1])
    >>> plane.w.tolist(), plane.b, plane.rho
    ([1.0], 0.0, 2.0)
    """

    w: Array
    b: float
    rho: float


def functional_margin(w: ArrayLike, b: float, X: ArrayLike, y: ArrayLike) -> Array:
    """Return y_n (<w, x_n> + b) for every point.

    Parameters
    ----------
    w, b : array-like of shape (d,) and float
        Normal vector of the hyperplane, and its offset.
    X, y : array-like of shape (n, d) and (n,)
        Points, and their labels -1 or +1.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from mercer.geometry.hyperplanes import functional_margin
    >>> functional_margin([1, 1], -1, [[1, 1]], [1]).tolist()
    [1.0]
    """
    w, X = _plane(w, X)
    return _labels(y, len(X)) * (X @ w + b)


def geometric_margin(w: ArrayLike, b: float, X: ArrayLike, y: ArrayLike) -> Array:
    """Return y_n (<w, x_n> + b) / |w|: the signed distance, positive on the right side.

    Parameters
    ----------
    w, b, X, y : array-like
        As for :func:`functional_margin`.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from mercer.geometry.hyperplanes import geometric_margin
    >>> X, y = [[0, 0], [2, 2], [2, 0]], [-1, -1, 1]
    >>> geometric_margin([3.0, -4.0], -1.0, X, y).tolist()
    [0.2, 0.6, 1.0]
    """
    return functional_margin(w, b, X, y) / _norm(w)


def separates(w: ArrayLike, b: float, X: ArrayLike, y: ArrayLike) -> bool:
    """Return whether every point lies strictly on its own side of the hyperplane.

    Parameters
    ----------
    w, b, X, y : array-like
        As for :func:`functional_margin`.

    Returns
    -------
    bool

    Examples
    --------
    >>> from mercer.geometry.hyperplanes import separates
    >>> X, y = [[0, 0], [2, 2], [2, 0]], [-1, -1, 1]
    >>> separates([3.0, -4.0], -1.0, X, y), separates([1.0, 1.0], 0.0, X, y)
    (True, False)
    """
    return bool((functional_margin(w, b, X, y) > 0.0).all())


def canonicalize(w: ArrayLike, b: float, X: ArrayLike, y: ArrayLike) -> CanonicalHyperplane:
    """Return the same hyperplane scaled so that the smallest functional margin is 1.

    Parameters
    ----------
    w, b, X, y : array-like
        As for :func:`functional_margin`; the hyperplane must separate the points.

    Returns
    -------
    CanonicalHyperplane

    Examples
    --------
    >>> from mercer.geometry.hyperplanes import canonicalize
    >>> plane = canonicalize([1.25, -3.25], -0.5, [[0, 0], [2, 2], [2, 0]], [-1, -1, 1])
    >>> plane.w.tolist(), plane.b, plane.rho
    ([2.5, -6.5], -1.0, 0.5)
    """
    rho = float(functional_margin(w, b, X, y).min())
    if rho <= 0.0:
        raise ValueError(
            "only a separating hyperplane has a canonical form; the smallest functional margin "
            f"is {rho:g}."
        )
    return CanonicalHyperplane(np.asarray(w, dtype=np.float64) / rho, float(b) / rho, rho)


def signed_distance(X: ArrayLike, w: ArrayLike, b: float) -> Array:
    """Return (<w, x_n> + b) / |w|, positive on the side that w points to.

    Parameters
    ----------
    X, w, b : array-like
        Points and hyperplane, as for :func:`functional_margin`.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from mercer.geometry.hyperplanes import signed_distance
    >>> signed_distance([[2.0, 0.0], [0.0, 0.0]], w=[3.0, 4.0], b=-1.0).tolist()
    [1.0, -0.2]
    """
    w, X = _plane(w, X)
    return (X @ w + b) / _norm(w)


def distance_to_hyperplane(X: ArrayLike, w: ArrayLike, b: float) -> Array:
    """Return |<w, x_n> + b| / |w|, the distance of every point to the hyperplane.

    Parameters
    ----------
    X, w, b : array-like
        Points and hyperplane, as for :func:`functional_margin`.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from mercer.geometry.hyperplanes import distance_to_hyperplane
    >>> distance_to_hyperplane([[2.0, 0.0], [0.0, 0.0]], w=[3.0, 4.0], b=-1.0).tolist()
    [1.0, 0.2]
    """
    return np.abs(signed_distance(X, w, b))


def margin(w: ArrayLike, b: float, X: ArrayLike, y: ArrayLike) -> float:
    """Return the smallest geometric margin: the noise that a separator tolerates.

    Every point may move by less than this in any direction without changing sides. The value is
    negative when a point is misclassified.

    Parameters
    ----------
    w, b, X, y : array-like
        As for :func:`functional_margin`.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer.geometry.hyperplanes import margin
    >>> X, y = [[0, 0], [2, 2], [2, 0]], [-1, -1, 1]
    >>> margin([3.0, -4.0], -1.0, X, y)
    0.2
    """
    return float(geometric_margin(w, b, X, y).min())


def side_margins(w: ArrayLike, b: float, X: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Return the smallest geometric margin of the class +1 and of the class -1.

    At the hyperplane of largest margin the two are equal.

    Parameters
    ----------
    w, b, X, y : array-like
        As for :func:`functional_margin`; both classes must occur.

    Returns
    -------
    tuple of float
        Smallest margin of the class +1, and of the class -1.

    Examples
    --------
    >>> from mercer.geometry.hyperplanes import side_margins
    >>> X, y = [[0, 0], [2, 2], [2, 0]], [-1, -1, 1]
    >>> side_margins([3.0, -4.0], -1.0, X, y)
    (1.0, 0.2)
    """
    margins = geometric_margin(w, b, X, y)
    positive = np.asarray(y) > 0
    if positive.all() or not positive.any():
        raise ValueError("both classes must occur to have a margin on either side.")
    return float(margins[positive].min()), float(margins[~positive].min())


def _plane(w: ArrayLike, X: ArrayLike) -> tuple[Array, Array]:
    w = np.asarray(w, dtype=np.float64)
    X = np.atleast_2d(np.asarray(X, dtype=np.float64))
    if w.ndim != 1 or X.ndim != 2 or X.shape[1] != len(w):
        raise ValueError(f"w must have shape (d,) and X shape (n, d); got {w.shape} and {X.shape}.")
    return w, X


def _norm(w: ArrayLike) -> float:
    norm = float(np.linalg.norm(np.asarray(w, dtype=np.float64)))
    if norm == 0.0:
        raise ValueError("w = 0 is not the normal of a hyperplane.")
    return norm


def _labels(y: ArrayLike, n: int) -> Array:
    y = np.asarray(y, dtype=np.float64)
    if y.shape != (n,):
        raise ValueError(f"y must have one label for each of the {n} points; got shape {y.shape}.")
    if not (np.abs(y) == 1.0).all():
        raise ValueError("labels must be -1 or +1.")
    return y
