"""Losses: convex costs with their conjugates.

A machine minimises, over f = sum_j beta_j k(x_j, .) + b,

    1/2 |f|^2 + sum_i c_i l(y_i, f(x_i)),        c_i = C s_i.

By Fenchel's duality the multiplier beta_i of the value f(x_i) costs

    phi_i(beta) = sup_f { -beta f - c_i l(y_i, f) },

the conjugate of the weighted loss at -beta, and the dual problem is

    minimise  1/2 beta' K beta + sum_i phi_i(beta_i)   [sum_i beta_i = 0 with an intercept b].

A loss must have its value and its conjugate, from which the certificate of a model is computed. The
other methods are optional; a solver states which of them it needs:

==================================  ===========================================================
``slope(y, f)``                     an element of the subdifferential of l(y, .) at f
``curvature(y, f)``                 the second derivative
``prox(y, f, t)``                   the minimiser of l(y, z) + (z - f)^2 / (2 t)
``density(y, f, c)``                the noise model: c l is minus the log of it, up to a constant
``excess(y, f)``                    the distance of f from the region of zero loss
``margin(y, f)``                    the functional margin y f, if the loss vanishes from 1 on
``dual_slopes(y, beta, c)``         the left and right derivatives of phi: KKT violations
``pieces(y, c)``                    phi as a piecewise quadratic with one kink (`DualTerms`)
==================================  ===========================================================

Losses with ``pieces`` derive from :class:`PiecewiseQuadratic`, which gives them ``dual_slopes``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mercer.objects.arrays import Array


class DualTerms(NamedTuple):
    """The dual cost phi_i of every sample, as arrays over samples.

    phi_i is finite on [lower, upper]; its derivative is ``slope_left + curv_left (b - kink)``
    below the kink and ``slope_right + curv_right (b - kink)`` above it. None stands for "as on
    the left" (slopes and curvatures) or for zero (``curv_left``, ``kink``), which spares the
    solver a branch.

    Attributes
    ----------
    lower : ndarray
        Lower bounds of the dual variables.
    upper : ndarray
        Upper bounds.
    slope_left : ndarray
        Slope of the dual cost left of its kink.
    slope_right : ndarray or None
        Slope right of the kink; None: the same.
    curv_left : ndarray or None
        Curvature left of the kink; None: 0.
    curv_right : ndarray or None
        Curvature right of the kink; None: that on the left.
    kink : ndarray or None
        Where the kink is; None: at 0.

    Examples
    --------
    >>> from mercer.losses import Hinge
    >>> terms = Hinge().pieces([1, -1], [2.0, 2.0])
    >>> terms.lower, terms.upper, terms.slope_left
    (array([ 0., -2.]), array([2., 0.]), array([-1.,  1.]))
    """

    lower: Array
    upper: Array
    slope_left: Array
    slope_right: Array | None = None
    curv_left: Array | None = None
    curv_right: Array | None = None
    kink: Array | None = None

    def slopes(self, beta: Array) -> tuple[Array, Array]:
        """Return the left and the right derivative of every phi_i at beta_i."""
        left, right = self.slope_left, self.slope_right
        if right is None and self.curv_left is None:
            return left, left
        if right is None:
            right = left
        offset = beta if self.kink is None else beta - self.kink
        if self.curv_left is not None:
            curv_right = self.curv_left if self.curv_right is None else self.curv_right
            left, right = left + self.curv_left * offset, right + curv_right * offset
        return np.where(offset > 0.0, right, left), np.where(offset >= 0.0, right, left)


class Loss(ABC):
    """A convex cost l(y, f) of predicting f where y is true.

    Labels are -1 or +1 for classification, real numbers for regression. All methods work
    elementwise on arrays.

    Examples
    --------
    >>> from mercer.losses import Hinge, Loss
    >>> isinstance(Hinge(), Loss), Hinge().conjugate(1, 0.5, 2.0)
    (True, array(-0.5))
    """

    @abstractmethod
    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return l(y, f)."""

    @abstractmethod
    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return phi(beta) = sup_f { -beta f - c l(y, f) }; infinite outside the dual box.

        `beta` are signed dual variables, `c` weights, one for each sample. A weight of 0 leaves the
        box {0}, where phi is 0 (`over`).
        """

    def cost(self, y: ArrayLike, f: ArrayLike, c: ArrayLike) -> Array:
        """Return c l(y, f), where an infinite weight times no loss is nothing."""
        value = self.value(y, f)
        return np.where(value > 0.0, c, 0.0) * value


class PiecewiseQuadratic(Loss):
    """A loss whose conjugate is a piecewise quadratic with one kink inside an interval.

    Examples
    --------
    >>> from mercer.losses import Hinge, PiecewiseQuadratic, Squared
    >>> isinstance(Hinge(), PiecewiseQuadratic), isinstance(Squared(), PiecewiseQuadratic)
    (True, True)
    """

    @abstractmethod
    def excess(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return by how much the prediction misses the region without cost (negative inside)."""

    @abstractmethod
    def slope(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return one element of the subdifferential of l(y, .) at f; 0 wherever 0 belongs to it."""

    @abstractmethod
    def pieces(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return the numbers that describe phi for targets `y` and weights `c`.

        An infinite weight means a constraint: the loss must vanish there.
        """

    def dual_slopes(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike) -> tuple[Array, Array]:
        """Return the left and the right derivative of phi; infinite at the ends of the box."""
        terms, beta = self.pieces(y, c), np.asarray(beta, dtype=np.float64)
        left, right = terms.slopes(beta)
        return (
            np.where(beta > terms.lower, left, -np.inf),
            np.where(beta < terms.upper, right, np.inf),
        )


def over(a: Array, c: Array) -> Array:
    """Return a / c, where a weight of 0 allows a = 0 alone: 0 / 0 is 0, anything else infinite."""
    return np.divide(a, c, out=np.where(a == 0.0, 0.0, np.inf), where=c > 0.0)


def free(c: Array) -> Array:
    """Return the bound of a loss without a box: infinite, 0 for a weight of 0."""
    return np.where(c > 0.0, np.inf, 0.0)


def curvature(a: float, c: Array) -> Array:
    """Return a / c, the curvature of a dual cost; 0 for a weight of 0, whose variable is fixed."""
    return np.divide(a, c, out=np.zeros(c.shape), where=c > 0.0)


def floats(*arrays: ArrayLike) -> tuple[Array, ...]:
    """Return the arguments as float64 arrays of a common shape."""
    shape = getattr(arrays[0], "shape", None)
    for a in arrays:
        if type(a) is not np.ndarray or a.shape != shape or a.dtype != np.float64:
            return tuple(np.broadcast_arrays(*(np.asarray(b, dtype=np.float64) for b in arrays)))
    return arrays  # type: ignore[return-value]
