"""What a loss owes to a machine: its value, its slope, its conjugate and its dual variable.

A machine minimises, over f = sum_j beta_j k(x_j, .) + b,

    1/2 |f|^2 + sum_i c_i l(y_i, f(x_i)),        c_i = C s_i.

By Fenchel's duality the multiplier beta_i of the value f(x_i) costs

    phi_i(beta) = sup_f { -beta f - c_i l(y_i, f) },

the conjugate of the weighted loss at -beta, and the dual problem is

    minimise  1/2 beta' K beta + sum_i phi_i(beta_i)   [sum_i beta_i = 0 with an intercept b].

For every loss in this package phi_i is a piecewise quadratic with one kink inside an interval:
:class:`DualTerms` holds these numbers for all i, in the form the solvers read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class DualTerms(NamedTuple):
    """The dual cost phi_i of every sample, as arrays over samples.

    phi_i is finite on [lower, upper]; its derivative is ``slope_left + curv_left (b - kink)``
    below the kink and ``slope_right + curv_right (b - kink)`` above it. None stands for "as on
    the left" (slopes and curvatures) or for zero (``curv_left``, ``kink``), which spares the
    solver a branch.
    """

    lower: Array
    upper: Array
    slope_left: Array
    slope_right: Array | None = None
    curv_left: Array | None = None
    curv_right: Array | None = None
    kink: Array | None = None


class Loss(ABC):
    """A convex cost l(y, f) of predicting f where y is true.

    Labels are -1 or +1 for classification, real numbers for regression. All methods work
    elementwise on arrays.
    """

    @abstractmethod
    def excess(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return by how much the prediction misses the region without cost (negative inside)."""

    @abstractmethod
    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return l(y, f)."""

    @abstractmethod
    def subgradient(self, y: ArrayLike, f: ArrayLike) -> Array:
        """Return one element of the subdifferential of l(y, .) at f; 0 wherever 0 belongs to it."""

    @abstractmethod
    def conjugate(self, y: ArrayLike, beta: ArrayLike, c: ArrayLike = 1.0) -> Array:
        """Return phi(beta) = sup_f { -beta f - c l(y, f) }; infinite outside the dual box.

        Parameters
        ----------
        y, beta, c : array-like
            Target, signed dual variable and weight of each sample.
        """

    @abstractmethod
    def dual(self, y: ArrayLike, c: ArrayLike) -> DualTerms:
        """Return the numbers that describe phi for targets `y` and weights `c`.

        An infinite weight stands for a constraint: the loss must vanish there.
        """

    def cost(self, y: ArrayLike, f: ArrayLike, c: ArrayLike) -> Array:
        """Return c l(y, f), where an infinite weight times no loss is nothing."""
        value = self.value(y, f)
        return np.where(value > 0.0, c, 0.0) * value


def floats(*arrays: ArrayLike) -> tuple[Array, ...]:
    """Return the arguments as float64 arrays of a common shape."""
    shape = getattr(arrays[0], "shape", None)
    for a in arrays:
        if type(a) is not np.ndarray or a.shape != shape or a.dtype != np.float64:
            return tuple(np.broadcast_arrays(*(np.asarray(b, dtype=np.float64) for b in arrays)))
    return arrays  # type: ignore[return-value]
