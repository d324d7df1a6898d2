"""Huber's loss: squared for small deviations, linear for large ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from .base import Array, DualTerms, PiecewiseQuadratic, curvature, floats, over


class Huber(PiecewiseQuadratic):
    """l(y, f) = r^2 / (2 delta) for r = y - f within delta, |r| - delta / 2 beyond.

    The multiplier lies in [-c, c], with curvature delta / c. Large deviations count as in the
    absolute loss, so that outliers have a bounded effect; its derivative is continuous, unlike that
    of the absolute loss (P. Huber, "Robust estimation of a location parameter", Annals of
    Mathematical Statistics 35, 1964).

    Parameters
    ----------
    delta : float, default=1.0
        Deviation up to which the loss is quadratic, positive.

    Examples
    --------
    >>> from mercer.losses import Huber
    >>> Huber(0.5).value([1.0, 1.0], [0.75, 3.0]).tolist()
    [0.0625, 1.75]
    """

    def __init__(self, delta: float = 1.0) -> None:
        if not 0.0 < float(delta) < np.inf:
            raise ValueError(f"delta must be positive and finite; got {delta!r}.")
        self.delta = float(delta)

    def excess(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the absolute deviation."""
        y, f = floats(y, f)
        return np.abs(y - f)

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the quadratic or the linear part."""
        r = self.excess(y, f)
        near = np.minimum(r, self.delta)
        return near * (r - 0.5 * near) / self.delta

    def density(self, y: ArrayLike, f: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return the noise model, a normal density with exponential tails: exp(-c l), normed."""
        (c,) = floats(c)
        half = 0.5 * c * self.delta
        near = np.sqrt(2.0 * np.pi * self.delta / c) * erf(np.sqrt(half))
        return np.exp(-c * self.value(y, f)) / (near + 2.0 * np.exp(-half) / c)

    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return (f - y) / delta, clipped to [-1, 1]."""
        y, f = floats(y, f)
        return np.clip((f - y) / self.delta, -1.0, 1.0)

    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return -y beta + delta beta^2 / (2 c) on the box, infinity outside."""
        y, beta, c = floats(y, beta, c)
        inside = np.abs(beta) <= c
        return np.where(inside, -y * beta + over(0.5 * self.delta * beta**2, c), np.inf)

    def pieces(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return the slope -y at 0, curved, within the box."""
        y, c = floats(y, c)
        return DualTerms(-c, c, -y, curv_left=curvature(self.delta, c))
