"""Norms of vectors and of functions on a sample, not normalised by the number of coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["lp_norm", "measure_norm", "sample_norm"]


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
