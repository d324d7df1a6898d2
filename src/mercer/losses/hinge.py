"""Losses of the margin y f(x): hinge, squared hinge, their sum, and the zero-one loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .base import Array, DualTerms, PiecewiseQuadratic, curvature, floats, free, over


class _MarginLoss(PiecewiseQuadratic):
    """A convex function of the slack xi = max(0, 1 - y f) that is zero at xi = 0."""

    def margin(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the functional margin y f."""
        y, f = floats(y, f)
        return y * f

    def excess(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return 1 - y f."""
        return 1.0 - self.margin(y, f)

    def _slack(self, y: ArrayLike, f: ArrayLike) -> Array:
        return np.maximum(self.excess(y, f), 0.0)


class Hinge(_MarginLoss):
    """l(y, f) = max(0, 1 - y f): a box for the multiplier, 0 <= y beta <= c.

    Examples
    --------
    >>> from mercer.losses import Hinge
    >>> Hinge().value([1, 1, -1], [2.0, 0.25, 0.0]).tolist()
    [0.0, 0.75, 1.0]
    """

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the slack."""
        return self._slack(y, f)

    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return -y inside the margin, 0 elsewhere."""
        y, f = floats(y, f)
        return np.where(y * f < 1.0, -y, 0.0)

    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return -y beta on the box, infinity outside."""
        y, beta, c = floats(y, beta, c)
        alpha = y * beta
        return np.where((alpha >= 0.0) & (alpha <= c), -alpha, np.inf)

    def pieces(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return a constant slope -y on [0, c] or [-c, 0]."""
        y, c = floats(y, c)
        outer = y * c
        return DualTerms(np.minimum(outer, 0.0), np.maximum(outer, 0.0), -y)


class SquaredHinge(_MarginLoss):
    """l(y, f) = max(0, 1 - y f)^2: no box, but a curvature 1 / (2 c) of the multiplier.

    A kernel matrix with 1 / (2 c_i) added to its diagonal and a hard margin give the same
    machine.

    Examples
    --------
    >>> from mercer.losses import SquaredHinge
    >>> SquaredHinge().value([1, 1], [-1.0, 2.0])
    array([4., 0.])
    """

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return the squared slack."""
        return self._slack(y, f) ** 2

    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return -2 y slack, the derivative."""
        return -2.0 * np.asarray(y, dtype=np.float64) * self._slack(y, f)

    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return -y beta + beta^2 / (4 c) where y beta >= 0, infinity elsewhere."""
        y, beta, c = floats(y, beta, c)
        alpha = y * beta
        return np.where(alpha >= 0.0, -alpha + over(alpha**2, 4.0 * c), np.inf)

    def pieces(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return the slope -y with curvature 1 / (2 c) on a half line."""
        y, c = floats(y, c)
        lower, upper = np.where(y > 0.0, 0.0, -free(c)), np.where(y > 0.0, free(c), 0.0)
        return DualTerms(lower, upper, -y, curv_left=curvature(0.5, c))


class CombinedHinge(_MarginLoss):
    """l(y, f) = xi + q xi^2 with xi = max(0, 1 - y f): a box that gives way.

    Up to c the multiplier costs what the hinge charges; beyond it the curvature 1 / (2 q c) sets
    in. q -> 0 is the hinge; a growing q with q c fixed is the squared hinge.

    Parameters
    ----------
    quadratic : float
        The factor q > 0 of the squared slack relative to the linear one.

    Examples
    --------
    >>> from mercer.losses import CombinedHinge
    >>> CombinedHinge(0.5).value([1, 1], [-1.0, 2.0])
    array([4., 0.])
    """

    def __init__(self, quadratic: float) -> None:
        if not 0.0 < quadratic < np.inf:
            raise ValueError(f"quadratic must be a positive finite number; got {quadratic!r}.")
        self.quadratic = float(quadratic)

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return xi + q xi^2."""
        slack = self._slack(y, f)
        return slack + self.quadratic * slack**2

    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return -y (1 + 2 q xi) inside the margin, 0 elsewhere."""
        y, f = floats(y, f)
        slack = np.maximum(1.0 - y * f, 0.0)
        return np.where(slack > 0.0, -y * (1.0 + 2.0 * self.quadratic * slack), 0.0)

    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return -y beta + max(0, y beta - c)^2 / (4 q c) where y beta >= 0, infinity elsewhere."""
        y, beta, c = floats(y, beta, c)
        alpha = y * beta
        beyond = np.maximum(alpha - c, 0.0)
        return np.where(alpha >= 0.0, -alpha + over(beyond**2, 4.0 * self.quadratic * c), np.inf)

    def pieces(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return the slope -y with a kink at y c, curved beyond it."""
        y, c = floats(y, c)
        positive = y > 0.0
        curved = curvature(0.5, self.quadratic * c)
        return DualTerms(
            np.where(positive, 0.0, -free(c)),
            np.where(positive, free(c), 0.0),
            -y,
            -y,
            np.where(positive, 0.0, curved),
            np.where(positive, curved, 0.0),
            y * c,
        )


class ZeroOne:
    """l(y, f) = 1 where the sign of f is not y: what is counted, not what is minimised.

    Not convex, hence without a subgradient, a conjugate or a dual problem. The hinge lies above
    it, so the sum of the slacks bounds the number of training errors.

    Examples
    --------
    >>> from mercer.losses import ZeroOne
    >>> ZeroOne().value([1, -1, -1], [0.3, -2.0, 0.0]).tolist()
    [0.0, 0.0, 1.0]
    """

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return 1.0 for an error and 0.0 otherwise; f = 0 predicts the class +1."""
        y, f = floats(y, f)
        return (np.where(f >= 0.0, 1.0, -1.0) != np.sign(y)).astype(np.float64)
