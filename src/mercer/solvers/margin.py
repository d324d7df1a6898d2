"""Tolerances relative to the margin, for problems whose solution is divided by it.

In the problems of nu machines, and of the hard margin as the nearest points of two convex hulls,
the margin of the solution is a multiplier,

    rho = d'm / sum_g |d_g|,        d the totals of the groups, m their multipliers.

The model is the solution divided by rho, and so is its KKT violation: the tolerance has to be small
relative to rho, which is not known before the problem is solved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.objects.arrays import Array

SMALLEST_MARGIN = 1e-7
"""Margin, relative to the largest norm in feature space, below which there is none."""

# A violation this small, beside the largest value of an expansion or the squared norms, is
# rounding.
_NU_RESOLUTION, _HARD_RESOLUTION = 1e-13, 1e-14
_NO_MARGIN = 1e-11  # a margin this small beside the largest value of an expansion is none


def margin_of(totals: Array, multiplier: Array) -> float:
    """Return rho; 0 for equal multipliers of opposite totals, which a fused product misses."""
    return float((totals * multiplier).sum()) / float(np.abs(totals).sum())


@dataclass(frozen=True)
class Margin:
    """How small a tolerance has to be beside the margin.

    ``hard``: no error is allowed, the margin may not exist, and the tolerance of the user is meant
    in units of it.
    """

    hard: bool = False

    @property
    def attempts(self) -> int:
        """How often the tolerance may be lowered."""
        return 8 if self.hard else 3

    def known(self, rho: float, beta: Array, largest: float) -> float:
        """Return the margin, 0 where it is rounding; `largest` is the largest squared norm."""
        if not self.hard and rho <= _NO_MARGIN * float(np.abs(beta).sum()) * abs(largest):
            return 0.0
        return rho

    def first(self, tol: float, largest: float) -> float:
        """Return the tolerance to begin with."""
        return 0.01 * tol * max(largest, 1e-300) if self.hard else tol

    def following(
        self, rho: float, beta: Array, largest: float, used: float, wanted: float
    ) -> float | None:
        """Return a smaller tolerance to go on with, None where the one used was small enough."""
        if self.hard:
            least = _HARD_RESOLUTION * max(largest, 1e-300)
            if used <= wanted * rho or used <= least:
                return None
            smaller = 0.5 * wanted * rho if rho > 0.0 else 0.01 * used
            return max(min(smaller, 0.5 * used), least)
        rho, size = self.known(rho, beta, largest), float(np.abs(beta).sum()) * abs(largest)
        # Without a positive margin, this ends at the resolution of double precision.
        if used <= 0.1 * abs(rho) or 0.01 * used < _NU_RESOLUTION * size:
            return None
        return 0.01 * used

    def floor(self, groups: int, largest: float) -> float:
        """Return the objective below which there is no margin: that of touching hulls."""
        return 0.5 * (groups * SMALLEST_MARGIN) ** 2 * largest if self.hard else -np.inf
