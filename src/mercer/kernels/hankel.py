"""Fourier transforms of radial functions in d dimensions.

For a function f of the length of a vector in R^d the unitary Fourier transform is radial too:

    F[f](w) = (2 pi)^(-d/2) integral f(|x|) exp(-i w.x) dx
            = integral_0^oo r^(d-1) f(r) J_nu(w r) / (w r)^nu dr,    nu = d/2 - 1,

a Hankel transform of order nu, and its own inverse. In one dimension it is the cosine transform
with the factor sqrt(2 / pi). The integral is computed on panels that double in length up to a few
oscillations; the rest is a series over half oscillations, whose alternating terms are summed by
Euler's repeated averages, so that a slow decay of f does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, gamma, pi, sqrt
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import jv

Function = Callable[[np.ndarray], Any]

_HEAD = 8 * pi  # where the summation over half oscillations begins
_DOUBLINGS = 40
_HALVES = 48  # half oscillations that are summed
_HEAD_NODES, _TAIL_NODES = leggauss(20), leggauss(12)


def radial_transform(function: Function, dimension: int, at: Any) -> np.ndarray:
    """Return the Fourier transform of a radial function, which is its own inverse.

    Parameters
    ----------
    function : callable
        f of the length r > 0, vectorised: finite, smooth on the scale of its argument, and at
        last monotonic. It must be integrable with the weight r^(d-1), or its oscillating
        integrals must converge.
    dimension : int >= 1
        The dimension d.
    at : array of float > 0
        The frequencies w.

    Returns
    -------
    ndarray
        F[f](w), in the shape of `at`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import radial_transform
    >>> radial_transform(lambda r: np.exp(-r * r / 2), 3, [0.9]).round(6)
    array([0.666977])
    """
    w = np.asarray(at, dtype=np.float64)
    if not (np.isfinite(w).all() and (w > 0).all()):
        raise ValueError("a radial Fourier transform is computed at frequencies > 0.")
    flat = w.reshape(-1, 1)
    nodes, weights = _panels()
    total = _integrand(function, dimension, nodes / flat, nodes) @ weights
    tail_nodes, tail_weights = _halves()
    terms = _integrand(function, dimension, tail_nodes / flat, tail_nodes) * tail_weights
    sums = total[:, None] + terms.reshape(len(flat), _HALVES, -1).sum(axis=2).cumsum(axis=1)
    while sums.shape[1] > _HALVES // 3:
        sums = 0.5 * (sums[:, 1:] + sums[:, :-1])
    return (sums[:, -1] / flat[:, 0] ** dimension).reshape(w.shape)


def radial_integral(function: Function, dimension: int) -> float:
    """Return the Fourier transform at 0, the integral of a radial function over (2 pi)^(d/2).

    Parameters
    ----------
    function : callable
        f of the length r > 0, vectorised.
    dimension : int >= 1
        The dimension d.

    Returns
    -------
    float
        F[f](0), infinite where the integral does not converge.
    """
    x, weight = _HEAD_NODES
    edges = 10.0 ** np.arange(-8, 13)
    low, high = np.concatenate([[0.0], edges[:-1]]), edges
    # Four panels to every decade; the first begins at 0.
    cuts = [np.geomspace(max(a, 0.1 * b), b, 5) for a, b in zip(low, high, strict=True)]
    cuts[0][0] = 0.0
    decades = []
    for cut in cuts:
        half = 0.5 * np.diff(cut)[:, None]
        r = cut[:-1, None] + half * (x + 1.0)
        values = np.asarray(function(r.reshape(-1)), dtype=np.float64).reshape(r.shape)
        decades.append(float((half * weight * r ** (dimension - 1) * values).sum()))
    last, before = decades[-1], decades[-2]
    ratio = last / before if before > 0 else 0.0
    if ratio > 0.9:
        return float("inf")
    nu = 0.5 * dimension - 1.0
    rest = last * ratio / (1.0 - ratio)  # a power falls by the same ratio from decade to decade
    return (sum(decades) + rest) / (2.0**nu * gamma(nu + 1.0))


def bessel_k_bounds(nu: float, x: float, n_terms: int) -> tuple[float, float]:
    """Return bounds of the Bessel function K_nu(x) from its asymptotic expansion.

    K_nu(x) = sqrt(pi / (2 x)) exp(-x) [sum of t_j for j < p + theta t_p], with
    t_j = (2 x)^(-j) Gamma(nu + j + 1/2) / (j! Gamma(nu - j + 1/2)), p the number of terms and
    theta in [0, 1] if p > nu - 1/2 (Gradshteyn and Ryzhik, 8.451.6; Smola, 1998, equation 3.54,
    prints j! for p! in the remainder). So the spectra of the damped oscillator fall off
    exponentially.

    Parameters
    ----------
    nu : float >= 0
        The order.
    x : float > 0
        The argument.
    n_terms : int > nu - 1/2
        The number p of terms before the remainder.

    Returns
    -------
    tuple of two floats
        The bounds, the lower one first.

    Examples
    --------
    >>> from mercer.kernels import bessel_k_bounds
    >>> low, high = bessel_k_bounds(1.0, 2.0, n_terms=1)
    >>> round(low, 6), round(high, 6)
    (0.119938, 0.142426)
    """
    if not n_terms > nu - 0.5:
        raise ValueError(f"n_terms must exceed nu - 1/2 = {nu - 0.5:g}; got {n_terms}.")
    term, total = 1.0, 0.0
    for j in range(n_terms):
        total += term
        # The ratio of gamma functions is a product of (nu^2 - (i - 1/2)^2) over i <= j.
        term *= (nu**2 - (j + 0.5) ** 2) / (2.0 * x * (j + 1))
    scale = sqrt(pi / (2.0 * x)) * exp(-x)
    low, high = sorted((total, total + term))
    return scale * low, scale * high


def _integrand(function: Function, dimension: int, r: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return f(r) x^(d-1) J_nu(x) / x^nu, for x = w r."""
    nu = 0.5 * dimension - 1.0
    values = np.asarray(function(r.reshape(-1)), dtype=np.float64).reshape(r.shape)
    return values * (x ** (dimension - 1 - nu) * jv(nu, x))


def _panels() -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on panels that double in length, from 0 to `_HEAD`."""
    x, weight = _HEAD_NODES
    edges = np.concatenate([[0.0], _HEAD * 2.0 ** np.arange(-_DOUBLINGS, 1)])
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (x + 1.0)).reshape(-1), (half * weight).reshape(-1)


def _halves() -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on half oscillations from `_HEAD` on."""
    x, weight = _TAIL_NODES
    starts = _HEAD + pi * np.arange(_HALVES)[:, None]
    nodes = (starts + 0.5 * pi * (x + 1.0)).reshape(-1)
    return nodes, np.tile(0.5 * pi * weight, _HALVES)
