"""Bessel functions: J over a power, for radial waves, and K, in which spectra are written."""

from __future__ import annotations

from functools import cache
from math import exp, lgamma, log, pi, sqrt

import numpy as np
from numpy.polynomial import Polynomial
from scipy import special

LARGE = 30.0  # orders from which on the expansion in inverse powers of the order is used
TERMS = 6  # of that expansion


def bessel_ratio(order: float, x: np.ndarray) -> np.ndarray:
    r"""Return J_v(x) / x^v, a smooth function with the value 1 / (2^v Gamma(v + 1)) at 0.

    With v = d/2 - 1 it is the mean of the waves of one length in all directions of R^d; with
    v = d/2 it is the transform of the indicator of the unit ball.
    """
    if order == -0.5:
        return sqrt(2.0 / pi) * np.cos(x)
    if order == 0:
        return special.j0(x)
    # Near 0 a series, since the power underflows.
    step = -0.25 * x * x
    near = -step < 0.01 * (order + 1.0)
    term = series = np.ones_like(x)
    for k in range(1, 7):
        term = term * step / (k * (order + k))
        series = series + term
    safe = np.where(near, 1.0, x)
    if order == 0.5:
        ratio = sqrt(2.0 / pi) * np.sin(safe) / safe
    else:
        ratio = (special.j1(safe) if order == 1 else special.jv(order, safe)) / safe**order
    return np.where(near, series * exp(-order * log(2.0) - lgamma(order + 1.0)), ratio)


def log_bessel_k(order: float, x: np.ndarray) -> np.ndarray:
    """Return the logarithm of the Bessel function K, which itself overflows for large orders.

    From order 30 on by Debye's expansion, which is uniform in x (Abramowitz and Stegun, 9.7.8), to
    about 1e-11; infinity where K of a small order overflows, near 0.
    """
    v = abs(order)
    if v < LARGE:
        with np.errstate(over="ignore"):
            # Far out the function is not computed, and all but the exponential is negligible.
            return np.log(special.kve(v, np.minimum(x, 1e8))) - x
    z = x / v
    root = np.sqrt(1.0 + z * z)
    eta = root + np.log(z / (1.0 + root))
    series = sum((-v) ** -k * u(1.0 / root) for k, u in enumerate(_debye()))
    return np.log(series * np.sqrt(pi / (2.0 * v * root))) - v * eta


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


@cache
def _debye() -> list[Polynomial]:
    """Return the polynomials u_0, u_1, ... of the expansion, by their recurrence (9.3.10)."""
    t = Polynomial([0.0, 1.0])
    u = [Polynomial([1.0])]
    for _ in range(TERMS):
        last = u[-1]
        u.append(0.5 * t**2 * (1 - t**2) * last.deriv() + ((1 - 5 * t**2) * last).integ() / 8)
    return u
