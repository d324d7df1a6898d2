"""Tasks: the problem of each binary or real-valued machine of a fit, and how its solution is read.

A machine poses a `mercer.solvers.Problem` (``_problem``). A solution is read in one way, whatever
the machine: with m the multipliers of its equalities and d the totals of the problem,

    f = sum_i beta_i k(x_i, .) + b,    b = -mean(m),    t = d'm / sum_g |d_g|.

t is the margin rho of a nu machine, or minus the half width epsilon of its tube. b is 0 where the
problem has no intercept: without a basis, or where variables are signed. Coefficients of several
variables that stand for one row are summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array
from mercer.solvers import Problem, Solution
from mercer.solvers.class_pairs import PairsOfClasses, pair_position
from mercer.solvers.margin import margin_of
from mercer.solvers.rounding import largest_square

from ..errors import InfeasibleNuError

Rows = NDArray[np.int64]

_NEXT_TO_BOUND = 1e-6
"""Distance to a bound, relative to it, within which a coefficient follows the bound."""


class Batch(NamedTuple):
    """The rows of several tasks, one after the other.

    ``y`` and ``weight`` are their targets and weights s_i, ``rows`` their positions in the training
    set (None where the only task uses all rows), ``ends`` where each task ends, ``names`` the class
    or pair of classes of each, for messages.
    """

    y: Array
    weight: Array
    rows: Rows | None
    ends: list[int]
    names: list[Any]

    @property
    def slices(self) -> list[slice]:
        """The part of the arrays that belongs to each task."""
        return [slice(a, b) for a, b in zip([0, *self.ends[:-1]], self.ends, strict=True)]


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


@dataclass
class PairTasks:
    """The tasks of all pairs of classes; single ones are made when they are read.

    `problems`: theirs. `weight`: the weights s_i of all rows. `classes`: the labels, for messages.
    """

    problems: PairsOfClasses
    weight: Array
    classes: Any

    def __len__(self) -> int:
        k = len(self.classes)
        return k * (k - 1) // 2

    def __getitem__(self, position: int) -> Task:
        problem = self.problems[position]
        name = tuple(self.classes[c].item() for c in pair_position(position, len(self.classes)))
        return Task(problem, problem.y, self.weight[problem.rows], problem.rows, name)


def pose_tasks(machine: Any, batch: Batch, extra: Any = None) -> list[Task]:
    """Return the tasks of a machine; where its nu is infeasible, the error names the tightest."""
    if machine._plain and len(batch.names) > 1:
        whole = machine._problem(batch.y, batch.weight, batch.rows, None, extra)
        parts = zip(whole.parts(batch.slices, batch.names), batch.slices, strict=True)
        return [Task(p, p.y, batch.weight[part], p.rows, p.name) for p, part in parts]
    tasks, refused = [], list[InfeasibleNuError]()
    for part, name in zip(batch.slices, batch.names, strict=True):
        rows = None if batch.rows is None else batch.rows[part]
        y, weight = batch.y[part], batch.weight[part]
        try:
            problem = machine._problem(y, weight, rows, name, extra)
            tasks.append(Task(problem, y, weight, rows, name))
        except InfeasibleNuError as error:
            refused.append(error)
    if refused:
        raise min(refused, key=lambda error: error.largest_nu)
    return tasks


def joined(parts: Sequence[Any]) -> Any:
    """Return the arrays one after the other."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
