"""B-splines and radial splines from their definitions, independent of the library."""

from math import comb, factorial

import numpy as np


def b_spline(x, n):
    """Return B_n(x), the convolution of n + 1 indicators of [-1/2, 1/2], as truncated powers."""
    x = np.abs(np.asarray(x, dtype=float))
    if n == 0:
        return np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))
    top = (n + 1) / 2
    terms = sum(
        (-1) ** r * comb(n + 1, r) * np.maximum(x + top - r, 0.0) ** n for r in range(n + 2)
    )
    return np.where(x < top, terms / factorial(n), 0.0)


def spline_kernel(n):
    return lambda A, B: b_spline(np.asarray(A)[:, :1] - np.asarray(B)[:, 0], n)


def ball_overlap(r, d):
    """Return the convolution of the indicator of the unit ball in R^d with itself at distance r."""
    inside = np.minimum(np.asarray(r, dtype=float), 2.0)
    if d == 1:
        return 2 - inside
    if d == 2:
        return 2 * np.arccos(inside / 2) - inside / 2 * np.sqrt(4 - inside**2)
    return np.pi / 12 * (2 - inside) ** 2 * (inside + 4)
