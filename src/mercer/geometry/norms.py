"""Norms and inner products of the spaces that feature spaces are made of.

Sequences: the p-norm (sum_i |x_i|^p)^(1/p), the largest |x_i| for p = inf, and the weighted inner
product sum_i w_i x_i z_i of l2(w). Functions on an interval: <f, g> = integral of f g, and the
norm (integral of |f|^p)^(1/p), whose root is missing in some printed forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.objects.arrays import Array
from mercer.objects.parameters import integer, real, show

Function = Callable[[Array], Any]


def p_norm(X: ArrayLike, p: float = 2.0) -> Array:
    """Return the p-norm of every row.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    p : float >= 1 or inf, default=2.0
        The exponent; below 1 the triangle inequality fails.

    Returns
    -------
    array of shape (n,)
        The norms, without overflow of the powers.

    Examples
    --------
    >>> from mercer.geometry import p_norm
    >>> p_norm([[3.0, -4.0]], 1), p_norm([[3.0, -4.0]]), p_norm([[3.0, -4.0]], float("inf"))
    (array([7.]), array([5.]), array([4.]))
    """
    _check_exponent(p)
    size = np.abs(_rows(X))
    largest = size.max(axis=1)
    if p == math.inf:
        return largest
    scale = np.where(largest > 0.0, largest, 1.0)
    return scale * ((size / scale[:, None]) ** p).sum(axis=1) ** (1.0 / p)


def p_distance(X: ArrayLike, Z: ArrayLike, p: float = 2.0) -> Array:
    """Return the p-norms of all differences x - z.

    Parameters
    ----------
    X, Z : array-like of shape (n, d) and (m, d)
        Rows x and z.
    p : float >= 1 or inf, default=2.0
        The exponent.

    Returns
    -------
    array of shape (n, m)

    Examples
    --------
    >>> from mercer.geometry import p_distance
    >>> p_distance([[0.0, 0.0]], [[3.0, 4.0], [1.0, 1.0]], p=1)
    array([[7., 2.]])
    """
    X, Z = _rows(X), _rows(Z)
    if X.shape[1] != Z.shape[1]:
        raise ValueError(f"rows of {X.shape[1]} and of {Z.shape[1]} numbers have no difference.")
    return np.stack([p_norm(Z - x, p) for x in X])


def weighted_inner(X: ArrayLike, Z: ArrayLike, weights: ArrayLike) -> Array:
    """Return the inner products sum_i w_i x_i z_i of l2(w).

    They are those of the linear kernel on inputs multiplied by sqrt(w).

    Parameters
    ----------
    X, Z : array-like of shape (n, d) and (m, d)
        Rows x and z.
    weights : array-like of shape (d,)
        Positive weights w.

    Returns
    -------
    array of shape (n, m)

    Examples
    --------
    >>> from mercer.geometry import weighted_inner
    >>> weighted_inner([[1.0, 2.0]], [[3.0, 4.0]], [2.0, 0.5])
    array([[10.]])
    """
    X, Z, w = _rows(X), _rows(Z), np.asarray(weights, dtype=np.float64)
    if w.shape != (X.shape[1],) or X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"weights must have one number per column; got shape {w.shape} for rows of "
            f"{X.shape[1]} and of {Z.shape[1]} numbers."
        )
    if not (np.isfinite(w).all() and w.min() > 0.0):
        raise ValueError("weights must be positive and finite for an inner product.")
    return (X * w) @ Z.T


def function_inner(f: Function, g: Function, a: float, b: float, n_nodes: int = 200) -> float:
    """Return the inner product of two functions on an interval, the integral of f g.

    Parameters
    ----------
    f, g : callable
        Vectorised functions of a number.
    a, b : float
        Ends of the interval, a < b.
    n_nodes : int >= 1, default=200
        Points of the Gauss-Legendre quadrature, exact for polynomials of degree 2 n_nodes - 1.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.geometry import function_inner
    >>> round(function_inner(np.sin, np.sin, 0, 2 * np.pi) / np.pi, 12)
    1.0
    """
    x, weights = _quadrature(a, b, n_nodes)
    return float(weights @ (_at(f, x) * _at(g, x)))


def function_norm(f: Function, a: float, b: float, p: float = 2.0, n_nodes: int = 200) -> float:
    """Return the L_p norm of a function on an interval.

    Parameters
    ----------
    f : callable
        A vectorised function of a number.
    a, b : float
        Ends of the interval, a < b.
    p : float >= 1 or inf, default=2.0
        The exponent; for inf the largest of the values at the points of the quadrature.
    n_nodes : int >= 1, default=200
        Points of the Gauss-Legendre quadrature.

    Returns
    -------
    float
        (integral of |f|^p)^(1/p).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.geometry import function_norm
    >>> bool(np.isclose(function_norm(np.sin, 0, 2 * np.pi), np.sqrt(np.pi)))
    True
    """
    _check_exponent(p)
    x, weights = _quadrature(a, b, n_nodes)
    size = np.abs(_at(f, x))
    return float(size.max() if p == math.inf else (weights @ size**p) ** (1.0 / p))


def _rows(X: ArrayLike) -> Array:
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"rows of numbers are needed, in an array of shape (n, d); got {X.shape}.")
    return X


def _check_exponent(p: float) -> None:
    if p != math.inf and real(p, "p") < 1.0:
        raise ValueError(f"p must be at least 1, else there is no norm; got {show(p)}.")


def _quadrature(a: float, b: float, n_nodes: int) -> tuple[Array, Array]:
    if not real(a, "a") < real(b, "b"):
        raise ValueError(f"the interval must have a < b; got a={show(a)} and b={show(b)}.")
    nodes, weights = np.polynomial.legendre.leggauss(integer(n_nodes, "n_nodes", minimum=1))
    return a + 0.5 * (b - a) * (nodes + 1.0), 0.5 * (b - a) * weights


def _at(f: Function, x: Array) -> Array:
    values = np.asarray(f(x), dtype=np.float64)
    return np.broadcast_to(values, x.shape)
