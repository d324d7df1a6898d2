"""The dual costs phi_i of a problem; variables at a bound, at their kink, or free.

See `mercer.solvers.problem`: phi_i is convex and piecewise quadratic, with one kink.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array

from .problem import DualProblem

# Distance to a bound or kink, relative to the room of a variable and to the largest one, that
# counts as none.
_TRACE = 1e-9


class Costs:
    """The costs of a problem, with what it leaves out filled in."""

    def __init__(self, problem: DualProblem) -> None:
        self.problem, zero = problem, np.zeros(len(problem.lower))
        left = self.slope_left = problem.slope_left
        self.slope_right = left if problem.slope_right is None else problem.slope_right
        curved = self.curv_left = zero if problem.curv_left is None else problem.curv_left
        self.curv_right = curved if problem.curv_right is None else problem.curv_right
        self.kink = zero if problem.kink is None else problem.kink

    def snapped(self, beta: Array) -> Array:
        """Return coefficients on the bounds and kinks that an interior point is next to."""
        p = self.problem
        room = _TRACE * np.minimum(p.upper - p.lower, float(np.abs(beta).max()))
        for end in (self.kink, p.lower, p.upper):
            beta = np.where(np.abs(beta - end) <= room, end, beta)
        return np.clip(beta, p.lower, p.upper)

    def free(self, beta: Array) -> NDArray[np.bool_]:
        """Return which coefficients are neither at a bound nor at their kink."""
        p = self.problem
        return (beta > p.lower) & (beta < p.upper) & (beta != self.kink)

    def intervals(self, beta: Array, value: Array) -> tuple[Array, Array]:
        """Return the interval of the multiplier of each row, given the values K beta.

        At most what a coefficient that can rise gains, at least what one that can fall does.
        """
        p = self.problem
        left, right = p.slopes(beta)
        low = np.where(beta > p.lower, value + left, -np.inf)
        high = np.where(beta < p.upper, value + right, np.inf)
        return low, high
