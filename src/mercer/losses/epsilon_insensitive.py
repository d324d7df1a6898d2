"""Epsilon-insensitive losses: 0 for deviations up to epsilon, linear or squared beyond."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .base import Array, DualTerms, PiecewiseQuadratic, curvature, floats, free, over


class _TubeLoss(PiecewiseQuadratic):
    """A function of r = y - f that vanishes on [-lower, upper], widths for all or each sample."""

    def __init__(self, epsilon: ArrayLike = 0.1) -> None:
        tube = np.asarray(epsilon, dtype=np.float64)
        if tube.ndim > 2 or (tube.ndim == 2 and tube.shape[1] != 2):
            raise ValueError(
                "epsilon must be a number, an array of shape (n,) or an array of shape (n, 2) "
                f"with the columns (lower, upper); got shape {tube.shape}."
            )
        if not (np.isfinite(tube).all() and (tube >= 0.0).all()):
            raise ValueError("epsilon must be finite and at least 0.")
        self.epsilon = tube
        self.lower, self.upper = (tube[:, 0], tube[:, 1]) if tube.ndim == 2 else (tube, tube)

    def excess(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return max(r - upper, -r - lower), which is |r| - epsilon for a symmetric tube."""
        y, f = floats(y, f)
        residual = y - f
        return np.maximum(residual - self.upper, -residual - self.lower)

    def _side(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the slope of the excess in f: -1 above the tube, +1 below it, 0 inside."""
        y, f = floats(y, f)
        residual = y - f
        return np.where(residual < -self.lower, 1.0, np.where(residual > self.upper, -1.0, 0.0))

    def _width(self, beta: Array) -> Array:
        """Return the width of the tube on the side of the residual that beta belongs to."""
        return np.where(beta > 0.0, self.upper, self.lower)


class EpsilonInsensitive(_TubeLoss):
    """l(y, f) = max(0, |y - f| - epsilon): the multiplier lies in [-c, c] with a kink at 0.

    Parameters
    ----------
    epsilon : float or array-like of shape (n,) or (n, 2)
        Half width of the tube: one number, one per sample, or a pair (lower, upper) per sample.

    Examples
    --------
    >>> from mercer.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(0.5).value([1.0, 1.0], [0.25, 0.75]).tolist()
    [0.25, 0.0]
    """

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the part of the deviation beyond the tube."""
        return np.maximum(self.excess(y, f), 0.0)

    def density(self, y: ArrayLike, f: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return the noise model exp(-c l) / (lower + upper + 2 / c), whose -log is c l."""
        width = self.lower + self.upper + 2.0 / floats(c)[0]
        return np.exp(-floats(c)[0] * self.value(y, f)) / width

    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the sign of f - y outside the tube, 0 inside."""
        return self._side(y, f)

    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return -y beta + epsilon |beta| on the box, infinity outside."""
        y, beta, c = floats(y, beta, c)
        inside = np.abs(beta) <= c
        return np.where(inside, -y * beta + self._width(beta) * np.abs(beta), np.inf)

    def pieces(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return slopes -y - lower and -y + upper around a kink at 0, on [-c, c]."""
        y, c = floats(y, c)
        return DualTerms(-c, c, -y - self.lower, -y + self.upper)


class SquaredEpsilonInsensitive(_TubeLoss):
    """l(y, f) = max(0, |y - f| - epsilon)^2: no box, curvature 1 / (2 c), a kink at 0.

    Parameters
    ----------
    epsilon : float or array-like of shape (n,) or (n, 2)
        Half width of the tube: one number, one per sample, or a pair (lower, upper) per sample.

    Examples
    --------
    >>> from mercer.losses import SquaredEpsilonInsensitive
    >>> SquaredEpsilonInsensitive(0.5).value([1.0, 1.0], [1.2, 3.0])
    array([0.  , 2.25])
    """

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the squared part of the deviation beyond the tube."""
        return np.maximum(self.excess(y, f), 0.0) ** 2

    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return twice the deviation beyond the tube, with the sign of f - y."""
        return 2.0 * self._side(y, f) * np.maximum(self.excess(y, f), 0.0)

    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return -y beta + epsilon |beta| + beta^2 / (4 c)."""
        y, beta, c = floats(y, beta, c)
        return -y * beta + self._width(beta) * np.abs(beta) + over(beta**2, 4.0 * c)

    def pieces(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return slopes -y - lower and -y + upper around a kink at 0, curved, without bounds."""
        y, c = floats(y, c)
        slopes = -y - self.lower, -y + self.upper
        return DualTerms(-free(c), free(c), *slopes, curv_left=curvature(0.5, c))
