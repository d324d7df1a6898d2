r"""Sums between integrals, and the search for the exponent of a family of scalings."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.integrate
import scipy.optimize


def tail_bounds(f: Callable[[float], float], start: int) -> tuple[float, float]:
    r"""Return bounds on a sum by integrals of a nonincreasing function.

    .. math:: \int_a^\infty f \le \sum_{n \ge a} f(n) \le \int_{a-1}^\infty f

    Parameters
    ----------
    f : callable
        A nonincreasing, integrable function of a number.
    start : int
        Where the sum begins.

    Returns
    -------
    lower, upper : float
        The integrals.

    References
    ----------
    Smola 1998, lemma 8.17.

    Examples
    --------
    >>> from mercer.capacity.entropy import tail_bounds
    >>> [round(b, 6) for b in tail_bounds(lambda x: x ** -2.0, 2)]  # the sum is 0.644934
    [0.5, 1.0]
    """
    upper = scipy.integrate.quad(f, start - 1, start, limit=200)[0]
    lower = scipy.integrate.quad(f, start, math.inf, limit=200)[0]
    return lower, lower + upper


def best_exponent(function: Callable[[float], float], alpha: float) -> float:
    """Return the minimiser on (0, alpha), from a grid and a search around its best point."""
    grid = alpha * (1.0 - np.append(np.geomspace(1e-12, 0.5, 80), np.linspace(0.5, 0.999, 40)[1:]))
    grid.sort()
    values = [function(float(t)) for t in grid]
    i = int(np.argmin(values))
    low, high = grid[max(0, i - 1)], grid[min(len(grid) - 1, i + 1)]
    found = scipy.optimize.minimize_scalar(
        function, bounds=(low, high), method="bounded", options={"xatol": 1e-12 * alpha}
    )
    return float(found.x) if found.fun <= values[i] else float(grid[i])
