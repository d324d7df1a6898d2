"""A task: a problem on some rows, and how its solution is read as a model.

A solution is read in one way, whatever the machine: with m the multipliers of its equalities and d
the totals of the problem,

    f = sum_i beta_i k(x_i, .) + b,    b = -mean(m),    t = d'm / sum_g |d_g|.

t is the margin rho of a nu machine, or minus the half width epsilon of its tube. b is 0 where the
problem has no intercept: without a basis, or where variables are signed. Coefficients of several
variables that stand for one row are summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.objects.arrays import Array, Rows

from .margin import margin_of
from .problem import Problem, Solution
from .rounding import largest_square

_NEXT_TO_BOUND = 1e-6
"""Distance to a bound, relative to it, within which a coefficient follows the bound."""


@dataclass
class Task:
    """One binary or real-valued problem on some rows of the training set (None: on all of them).

    ``y`` and ``weight`` are the targets and the weights s_i of the rows, ``linear`` the unpenalised
    linear functions on them, if any (`linear_part`).
    """

    problem: Problem
    y: Array
    weight: Array
    rows: Rows | None = None
    name: Any = None
    linear: Any = None

    def values(self, solution: Solution) -> Array:
        """Return f0 = K beta on the rows of the task, as the solver left it."""
        values, sign = solution.values[: len(self.y)], self.problem.sign
        return values if sign is None else sign[: len(values)] * values

    def coef(self, solution: Solution) -> Array:
        """Return the coefficients of the rows, in units of the problem."""
        beta, sign = solution.beta, self.problem.sign
        beta = beta if sign is None else sign * beta
        return beta if len(beta) == len(self.y) else beta.reshape(-1, len(self.y)).sum(axis=0)

    def variables(self, coef: Array) -> Array:
        """Return the variables of the problem: the inverse of `coef`."""
        problem = self.problem
        if len(problem.y) == len(coef):
            return coef if problem.sign is None else problem.sign * coef
        positive, negative = np.maximum(coef, 0.0), np.maximum(-coef, 0.0)
        return np.concatenate([positive, -negative if problem.sign is None else negative])

    def start(self, coef: Array) -> Array:
        """Return a feasible point near the variables of given coefficients."""
        return self.problem.dual.feasible(self.variables(coef))

    def start_at_bounds(self, coef: Array, change: Array, excess: Array | None) -> Array:
        """Return a feasible point near given coefficients, those at a bound at the new bound.

        `change`: by what factor the price of each row changed. `excess`: how far each row is inside
        the margin, or beyond the tube. Moves that leave a sum too large or too small are taken
        back, first those of rows next to the margin, which are the likeliest to become free. All
        coefficients of a nu machine follow the price, as their sum does.
        """
        point, dual = self.variables(coef), self.problem.dual
        copies = len(point) // len(coef)
        if dual.totals is not None:
            return dual.feasible(point * np.tile(change, copies))
        nearly = (1.0 - _NEXT_TO_BOUND) / np.tile(change, copies)
        moved = np.where(point <= dual.lower * nearly, dual.lower, point)
        moved = np.where(point >= dual.upper * nearly, dual.upper, moved)
        order = np.arange(len(point))
        if excess is not None and len(excess) == len(coef):
            order = np.argsort(np.tile(excess, copies), kind="stable")
        for g in range(dual.n_groups):
            assert dual.group is not None
            members = order[dual.group[order] == g]
            surplus = float(moved[members].sum())
            room = np.maximum(np.sign(surplus) * (moved - point)[members], 0.0)
            before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
            moved[members] -= np.sign(surplus) * np.clip(abs(surplus) - before, 0.0, room)
        return dual.feasible(moved)

    def intercept(self, solution: Solution) -> float:
        """Return b, in units of the problem."""
        if solution.linear is not None:
            return solution.linear[0]
        if self.problem.basis is None or self.problem.sign is not None:
            return 0.0
        multiplier = solution.multiplier
        return -float(multiplier.item() if multiplier.size == 1 else multiplier.mean())

    def width(self, solution: Solution) -> float:
        """Return t: the margin, or minus the half width of the tube; NaN without totals."""
        totals = self.problem.totals
        return float("nan") if totals is None else margin_of(totals, solution.multiplier)

    def scale(self, solution: Solution) -> float:
        """Return the margin where the model is divided by it, 1 otherwise."""
        width = self.width(solution) if self.problem.margin is not None else 0.0
        return width if width > 0.0 else 1.0

    def multipliers(self, intercept: float, width: float) -> Array:
        """Return the multipliers of a model: the inverse of `intercept` and `width`."""
        problem = self.problem
        if problem.basis is None:
            return np.zeros(0)
        if problem.totals is None or len(problem.totals) == 1:
            return np.array([-intercept if problem.sign is None else width])
        return np.array([width - intercept, -width - intercept])

    def solution(self, coef: Array, intercept: float, width: float) -> Solution:
        """Return the solution that is read as this model; its values are not known."""
        multiplier = self.multipliers(intercept, width)
        interval = np.stack([multiplier, multiplier], axis=1)
        return Solution(self.variables(coef), np.zeros(0), multiplier, interval, "optimal")

    def settle(self, solution: Solution, gram: Any) -> None:
        """Bring a solution into the form of a model: no negative width, no row on both sides."""
        problem = self.problem
        if self.linear is not None:
            solution.linear = self.linear.read(solution, gram.kernel)
        if problem.totals is None:
            return
        width, coef = self.width(solution), self.coef(solution)
        if problem.margin is not None:
            known = problem.margin.known(width, coef, largest_square(gram))
        else:
            known = width if problem.rewarded else min(width, 0.0)
        if known != width:
            solution.multiplier = self.multipliers(self.intercept(solution), known)
        if len(coef) < len(solution.beta):
            beta = self.variables(coef)
            if not np.array_equal(beta, solution.beta):
                # The solver's values have the rounding of what cancels.
                solution.beta, solution.fresh = beta, False


def joined(parts: Sequence[Any]) -> Any:
    """Return the arrays one after the other."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
