"""The logistic loss, the negative log-likelihood of a label under the logistic model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlog1py, xlogy

from .base import Array, Loss, floats, over


class Logistic(Loss):
    """l(y, f) = log(1 + exp(-y f)) for labels y = -1 or +1: minus the log of the probability of y.

    The dual box is 0 <= y beta <= c, and the dual cost is minus the entropy of y beta / c, times c.

    Examples
    --------
    >>> from mercer.losses import Logistic
    >>> Logistic().value([1.0, -1.0], [0.0, 2.0]).round(4).tolist()
    [0.6931, 2.1269]
    """

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return log(1 + exp(-y f)), without overflow."""
        y, f = floats(y, f)
        return np.logaddexp(0.0, -y * f)

    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the derivative by f, minus y times the probability of the other label."""
        y, f = floats(y, f)
        return -y * expit(-y * f)

    def curvature(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the second derivative by f, p (1 - p)."""
        _, f = floats(y, f)
        return expit(f) * expit(-f)

    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return c (p log p + (1 - p) log(1 - p)) with p = y beta / c."""
        y, beta, c = floats(y, beta, c)
        p = over(y * beta, c)
        inside = (p >= 0.0) & (p <= 1.0)
        q = np.where(inside, p, 0.5)
        return np.where(inside, c * (xlogy(q, q) + xlog1py(1.0 - q, -q)), np.inf)
