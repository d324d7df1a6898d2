"""Snapping to bounds: variables that rounding left next to a bound or kink are put onto it.

A variable within rounding of its bound, or of a kink of its cost, is at it, but a solver takes it
for free; and a free variable fixes the multiplier of its group, which is an interval where no
variable is free. Without snapping, rounding would select an end of that interval instead of its
midpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array

from .problem import DualProblem, Solution
from .rounding import UNIT

# Distance to a bound, relative to the largest size that the variable can have or has. Of many
# variables the sum is rounded by more, and one of them has to make up for it. The native solver,
# which says whether there is such a variable, has the same number (cpp/problem.cpp).
_NEXT_TO_BOUND = 1e-13
_UNSEEN = 1e-3  # what the move of a variable may do to a value, relative to the tolerance


def snap_to_bounds(
    problems: Sequence[DualProblem], solutions: Sequence[Solution], gram: Any, tol: float
) -> None:
    """Move variables onto bounds and kinks next to them, in place, and update multipliers."""
    near = [pair for pair in zip(problems, solutions, strict=True) if pair[1].near_bound]
    unseen = _UNSEEN * tol / max(float(gram.diag().max()), 1e-300) if near else 0.0
    for problem, solution in near:
        if solution.status in ("optimal", "stationary"):
            # The effect on values is negligible, or no more than rounding of the largest variable.
            rounding = UNIT * float(np.abs(solution.beta).max(initial=0.0))
            _snap(problem, solution, max(unseen, rounding))


def _kinks(problem: DualProblem) -> Array:
    """Return the kinks of the costs of variables, NaN for smooth ones."""
    if problem.slope_right is None:
        return np.full(len(problem.lower), np.nan)
    kink = 0.0 if problem.kink is None else problem.kink
    return np.where(problem.slope_left < problem.slope_right, kink, np.nan)


def _near(
    beta: Array, unseen: float, lower: Array, upper: Array, kink: Array
) -> tuple[NDArray[np.bool_], Array]:
    """Return which variables are next to a bound or kink, nearer than `unseen`, and the place."""
    size = np.maximum(upper, -lower)
    close = max(_NEXT_TO_BOUND, len(beta) * np.finfo(np.float64).eps)
    # An unbounded variable is judged by its own size: it is next to nothing but 0.
    room = np.minimum(close * np.where(size < np.inf, size, np.abs(beta)), unseen)
    place = np.where(upper - beta < beta - lower, upper, lower)
    place = np.where(np.abs(beta - kink) <= room, kink, place)
    strictly = (beta > lower) & (beta < upper) & (beta != kink)
    return strictly & (np.abs(beta - place) <= room), place


def _snap(problem: DualProblem, solution: Solution, unseen: float) -> None:
    lower, upper, beta = problem.lower, problem.upper, solution.beta
    near, place = _near(beta, unseen, lower, upper, _kinks(problem))
    solution.near_bound = False
    if not near.any():
        return
    solution.beta = beta = np.where(near, place, beta)
    solution.fresh = False
    if problem.group is None:
        return
    falling, rising = problem.slopes(beta)
    kink = 0.0 if problem.kink is None else problem.kink
    smooth = (beta != kink) | (rising == falling)
    free = (beta > lower) & (beta < upper) & smooth
    v = solution.values + rising
    for g in range(len(solution.multiplier)):
        members = problem.group == g
        if (members & free).any():
            solution.multiplier[g] = v[members & free].mean()
            continue
        down = solution.values[members] + np.where(
            beta[members] > lower[members], falling[members], -np.inf
        )
        up = np.where(beta[members] < upper[members], v[members], np.inf)
        low, high = float(down.max()), float(up.min())
        solution.multiplier_range[g] = low, high
        if np.isfinite(low) and np.isfinite(high):
            solution.multiplier[g] = 0.5 * (low + high)
        else:
            solution.multiplier[g] = low if np.isfinite(low) else high
