"""The modified Bessel function K of any order, by its logarithm."""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np
from numpy.polynomial import Polynomial
from scipy import special

LARGE = 30.0  # orders from which on the expansion in inverse powers of the order is used
TERMS = 6


def log_bessel_k(order: float, x: np.ndarray) -> np.ndarray:
    """Return the logarithm of the Bessel function K, which itself overflows for large orders.

    From order 30 on by Debye's expansion, which is uniform in x (Abramowitz and Stegun, 9.7.8).

    Parameters
    ----------
    order : float
        The order.
    x : ndarray
        Numbers > 0.

    Returns
    -------
    ndarray
        log K_order(x), to about 1e-11; infinity where K of a small order overflows, near 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection.bessel import log_bessel_k
    >>> log_bessel_k(500.0, np.array([1.0])).round(6)
    array([2950.995792])
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


@cache
def _debye() -> list[Polynomial]:
    """Return the polynomials u_0, u_1, ... of the expansion, by their recurrence (9.3.10)."""
    t = Polynomial([0.0, 1.0])
    u = [Polynomial([1.0])]
    for _ in range(TERMS):
        last = u[-1]
        u.append(0.5 * t**2 * (1 - t**2) * last.deriv() + ((1 - 5 * t**2) * last).integ() / 8)
    return u
