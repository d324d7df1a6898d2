"""The squared loss of ridge regression, the negative log-likelihood of Gaussian noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .base import Array, DualTerms, PiecewiseQuadratic, curvature, floats, free, over


class Squared(PiecewiseQuadratic):
    """l(y, f) = (y - f)^2: no box, curvature 1 / (2 c), no kink.

    With c = C s it is the noise model of variance 1 / (2 C s): c (y - f)^2 is minus the log of
    its density, up to a constant.

    Examples
    --------
    >>> from mercer.losses import Squared
    >>> Squared().value([1.0, 1.0], [0.5, 3.0]).tolist()
    [0.25, 4.0]
    """

    def excess(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the absolute deviation."""
        y, f = floats(y, f)
        return np.abs(y - f)

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the squared deviation."""
        y, f = floats(y, f)
        return (y - f) ** 2

    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return 2 (f - y)."""
        y, f = floats(y, f)
        return 2.0 * (f - y)

    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return -y beta + beta^2 / (4 c)."""
        y, beta, c = floats(y, beta, c)
        return -y * beta + over(beta**2, 4.0 * c)

    def pieces(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return the slope -y at 0, curved, without bounds."""
        y, c = floats(y, c)
        return DualTerms(-free(c), free(c), -y, curv_left=curvature(0.5, c))
