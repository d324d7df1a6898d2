"""The one-sided loss of nu machines and hard margins: linear on one side of the target."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .base import Array, DualTerms, PiecewiseQuadratic, floats


class OneSided(PiecewiseQuadratic):
    """l(y, f) = max(0, side (y - f)): a price for f below its target (side 1) or above it (-1).

    The hinge loss is that of the target y and the side y. With a target that a basis function
    moves, it is the loss of nu machines: max(0, rho - y f) for f - y rho, and either half of
    max(0, abs(y - f) - epsilon) for f + epsilon and f - epsilon.

    Parameters
    ----------
    side : float or array, default=1.0
        1 or -1, of all samples or of each.

    Examples
    --------
    >>> from mercer.losses import OneSided
    >>> OneSided().value([1.0, 1.0], [0.25, 3.0]).tolist()
    [0.75, 0.0]
    """

    def __init__(self, side: ArrayLike = 1.0) -> None:
        self.side = np.asarray(side, dtype=np.float64)

    def excess(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return side (y - f)."""
        y, f = floats(y, f)
        return self.side * (y - f)

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the excess, 0 where it is negative."""
        return np.maximum(self.excess(y, f), 0.0)

    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return -side on the wrong side of the target, 0 elsewhere."""
        return np.where(self.excess(y, f) > 0.0, -self.side, 0.0)

    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return -y beta where 0 <= side beta <= c, infinity elsewhere."""
        y, beta, c = floats(y, beta, c)
        size = self.side * beta
        return np.where((size >= 0.0) & (size <= c), -y * beta, np.inf)

    def pieces(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return a constant slope -y on [0, c] or [-c, 0]."""
        y, c = floats(y, c)
        outer = self.side * c
        return DualTerms(np.minimum(outer, 0.0), np.maximum(outer, 0.0), -y)
