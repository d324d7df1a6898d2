"""Sums whose terms cancel: coefficients that add up to 0, far from the origin.

The sum of m terms and what rounding took from it, term by term (A. Neumaier, *Rundungsfehleranalyse
einiger Verfahren zur Summation endlicher Summen*, ZAMM 54, 1974): together they are wrong by about
m u^2 sum_i |x_i| instead of m u sum_i |x_i|, with u the rounding of a number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def compensated_sums(terms: Array) -> tuple[Array, Array]:
    """Return the sums of the columns of an array and their corrections.

    `terms` (m, n): the terms of n sums. The corrected sums are ``sums + corrections``; of two that
    cancel, add the sums first.
    """
    total, lost = np.zeros(terms.shape[1]), np.zeros(terms.shape[1])
    for x in terms:
        following = total + x
        small = np.abs(total) < np.abs(x)
        larger, smaller = np.where(small, x, total), np.where(small, total, x)
        lost += (larger - following) + smaller
        total = following
    return total, lost
