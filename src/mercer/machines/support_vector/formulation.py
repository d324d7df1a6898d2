"""From targets and weights to a problem, and from a solution back to a model.

A formulation distinguishes one machine from another: which problem in signed dual
variables it poses, how the multipliers of its solution become an intercept, a margin or a tube,
and which primal and dual values prove it. Estimators, multi-class schemes, calibration and
certificates all go through the methods of this file's base class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.losses import DualTerms, EpsilonInsensitive, Hinge, PiecewiseQuadratic, SquaredHinge
from mercer.solvers import DualProblem, Problem, Solution
from mercer.solvers import certification as proof
from mercer.solvers.feasibility import Costs, repaired, within_bounds
from mercer.solvers.rounding import ValueErrors

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass
class Task:
    """One binary or real-valued problem on some rows of the training set.

    Attributes
    ----------
    problem : Problem
        The problem that the solver receives.
    y : array
        Labels -1 and +1, or real targets, of the rows.
    weight : array
        s_i of the rows.
    rows : array of int or None
        Positions in the training set; None means all of them.
    name : object
        The class or pair of classes, for messages.
    linear : LinearPart or None
        The unpenalised linear functions, if any.
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

    def start(self, variables: Array) -> Array:
        """Return a feasible point near the given variables."""
        return self.problem.dual.feasible(variables)


_CONSPICUOUS = 1e-6
"""What the move to a feasible point may add to the dual value, relative to the primal terms, before
it is computed instead of bounded."""


_ROWS_AT_ONCE = 16384
"""Rows of several tasks that are proved together: arrays of 128 kB, some of which share a
second-level cache."""


class Batch(NamedTuple):
    """The rows of several tasks, one after the other.

    Attributes
    ----------
    y, weight : array
        Targets and weights s_i.
    rows : array of int or None
        Positions in the training set; None where the only task uses all rows.
    ends : list of int
        Where each task ends.
    names : list
        The class or pair of classes of each task.
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


class Outcome(NamedTuple):
    """The model of one task: (sum_i beta_i k(x_i, .) + intercept) / scale.

    ``rho`` is the margin that a nu machine or a hard margin found. Everything is in the units of
    the problem, in which it is proved; the model is divided by ``scale``, which is rho where the
    margin is scaled to 1. ``epsilon`` is the tube, ``linear`` are the coefficients of a linear
    function that is added to f, where a machine has one.
    """

    beta: Array
    intercept: float
    rho: float = float("nan")
    epsilon: float = float("nan")
    linear: Any = None
    scale: float = 1.0

    @property
    def coef(self) -> Array:
        """The coefficients of the model."""
        return self.beta if self.scale == 1.0 else self.beta / self.scale


class Measure(NamedTuple):
    """Quantities computed from an outcome and its values on the training rows."""

    values: proof.Values
    violation: float
    excess: Array
    at_bound: NDArray[np.bool_]
    intercept_range: tuple[float, float]


class Formulation(ABC):
    """Poses problems, reads their solutions and proves the models."""

    boxed = False
    """Whether coefficients are bounded by `price` times the weight of their row."""

    price = 1.0
    """What a unit of weight costs: coefficients grow with it, and with the weight of their row."""

    double = False
    """Whether kernel values must be float64 for any tolerance."""

    @abstractmethod
    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem for targets `y` with weights on the given rows."""

    @abstractmethod
    def outcome(self, task: Task, solution: Solution, gram: Any) -> Outcome:
        """Return the model of a solution."""

    @abstractmethod
    def measure(self, task: Task, outcome: Outcome, f0: Array, errors: ValueErrors) -> Measure:
        """Return the proof for a model, given f0 = K beta on the rows of the task."""

    def tasks(self, batch: Batch) -> list[Task]:
        """Return the problems of several tasks."""
        return [
            self.task(
                batch.y[part],
                batch.weight[part],
                None if batch.rows is None else batch.rows[part],
                name,
            )
            for part, name in zip(batch.slices, batch.names, strict=True)
        ]

    def measures(
        self,
        tasks: Sequence[Task],
        outcomes: Sequence[Outcome],
        values: Sequence[Array],
        errors: ValueErrors,
    ) -> list[Measure]:
        """Return the proofs for several models, whose values have the given errors."""
        found = []
        largest = float(np.square(errors.size.max(initial=0.0)))
        for task, outcome, f0 in zip(tasks, outcomes, values, strict=True):
            measure = self.measure(task, outcome, f0, errors)
            floor = proof.rounding_floor(outcome.beta, largest)
            terms = max(measure.values.terms, floor)
            found.append(measure._replace(values=measure.values._replace(terms=terms)))
        return found

    def proved(self, outcome: Outcome) -> Outcome:
        """Return the model in the units in which it is proved, those of the problem."""
        return outcome

    def variables(self, task: Task, outcome: Outcome) -> Array:
        """Return the variables of the problem for a model: the inverse of `outcome`."""
        sign = task.problem.sign
        return outcome.beta if sign is None else sign * outcome.beta

    def multipliers(self, outcome: Outcome) -> list[float] | None:
        """Return the multipliers of the groups for a model; None where not used."""
        return None

    def offset(self, outcome: Outcome, rows: Any) -> Any:
        """Return what a model adds to its expansion on some of the training rows."""
        return outcome.intercept


class LossFormulation(Formulation):
    """Minimise 1/2 |f|^2 + C sum_i s_i l(y_i, f(x_i)): C-SVC and SVR.

    `loss`: the loss; per-sample parameters must match the rows of the tasks. `C`: the constant C,
    infinity for hard constraints. `fit_intercept`: whether f has an intercept, which the norm does
    not see.
    """

    def __init__(self, loss: PiecewiseQuadratic, C: float, fit_intercept: bool = True) -> None:
        self.loss, self.C, self.fit_intercept = loss, C, fit_intercept
        self.hard = np.inf == C
        self.double = self.hard
        self.price = C
        self.boxed = isinstance(loss, Hinge | EpsilonInsensitive)

    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem, with a constant where there is an intercept."""
        basis = np.zeros(len(y), dtype=np.int64) if self.fit_intercept else None
        return Task(
            Problem(self.loss, y, self.C * weight, rows, basis, name=name), y, weight, rows, name
        )

    def tasks(self, batch: Batch) -> list[Task]:
        """Return the problems of several tasks, whose dual terms are computed together."""
        if len(batch.ends) == 1:
            return super().tasks(batch)
        y, rows, c = batch.y, batch.rows, self.C * batch.weight
        terms = self.loss.pieces(y, c)
        zeros = np.zeros(max(part.stop - part.start for part in batch.slices), dtype=np.int64)
        tasks = []
        for part, name in zip(batch.slices, batch.names, strict=True):
            some = None if rows is None else rows[part]
            basis = zeros[: part.stop - part.start] if self.fit_intercept else None
            problem = Problem(self.loss, y[part], c[part], some, basis, name=name)
            own: Any = [None if term is None else term[part] for term in terms]
            problem.dual = DualProblem(*DualTerms(*own), basis, some)
            tasks.append(Task(problem, y[part], batch.weight[part], some, name))
        return tasks

    def outcome(self, task: Task, solution: Solution, gram: Any) -> Outcome:
        """Return the coefficients; the intercept is minus the multiplier of the equality."""
        intercept = -float(solution.multiplier[0]) if self.fit_intercept else 0.0
        return Outcome(solution.beta, intercept)

    def multipliers(self, outcome: Outcome) -> list[float] | None:
        """Return minus the intercept."""
        return [-outcome.intercept] if self.fit_intercept else []

    def measure(self, task: Task, outcome: Outcome, f0: Array, errors: ValueErrors) -> Measure:
        """Return primal, dual and violation; see `mercer.solvers.certification`."""
        return self.measures([task], [outcome], [f0], errors)[0]

    def measures(
        self,
        tasks: Sequence[Task],
        outcomes: Sequence[Outcome],
        values: Sequence[Array],
        errors: ValueErrors,
    ) -> list[Measure]:
        """Return the proofs for several models, computed over the rows of many of them at once."""
        found: list[Measure] = []
        for part in _parts([len(task.y) for task in tasks]):
            some = errors
            if len(outcomes[part]) < len(outcomes) and errors.product is not None:
                some = replace(errors, product=_product_of_part(errors.product, tasks, part))
            found += self._measures(tasks[part], outcomes[part], values[part], some)
        return found

    def _measures(
        self,
        tasks: Sequence[Task],
        outcomes: Sequence[Outcome],
        values: Sequence[Array],
        errors: ValueErrors,
    ) -> list[Measure]:
        sizes = [len(task.y) for task in tasks]
        starts = np.array([0, *accumulate(sizes[:-1])])
        y, weight = joined([t.y for t in tasks]), joined([t.weight for t in tasks])
        beta, f0 = joined([o.beta for o in outcomes]), joined(values)
        b = np.repeat([outcome.intercept for outcome in outcomes], sizes)
        linear = self._linear_values(tasks, outcomes)
        level = f0 if linear is None else f0 + linear
        f, c = level + b, self.C * weight
        problem = tasks[0].problem.dual if len(tasks) == 1 else None
        if problem is None:
            problem = DualProblem(*self.loss.pieces(y, c))
        checked = proof.conditions(problem, beta, level, starts, self.fit_intercept)
        rows = None if tasks[0].rows is None else joined([t.rows for t in tasks])
        point, distance = self._dual_point(tasks, problem, beta, starts, checked.costs)
        size = errors.size if rows is None else errors.size[rows]
        error = errors.of(beta, rows, starts)
        shift = self._linear_errors(tasks, outcomes)
        doubt = proof.Doubt(point, error, size, None, distance, errors.conditional, shift)
        proofs = self._values(y, c, beta, f0, f, starts, doubt)
        if errors.product is not None and point is not beta:
            moved = point - beta
            far = np.add.reduceat(np.abs(moved) * size, starts)
            if any(_CONSPICUOUS * v.terms < d * d for v, d in zip(proofs, far, strict=True)):
                ends = [*starts[1:].tolist(), len(beta)]
                parts = [moved[a:b] for a, b in zip(starts.tolist(), ends, strict=True)]
                of_moved = joined(errors.product(parts)), errors.of(moved, rows, starts)
                doubt = doubt._replace(moved=of_moved)
                proofs = self._values(y, c, beta, f0, f, starts, doubt)
        excess = self.loss.excess(y, f)
        measures = []
        for t, (start, size) in enumerate(zip(starts.tolist(), sizes, strict=True)):
            part, intercept = slice(start, start + size), outcomes[t].intercept
            interval = (0.0, 0.0)
            if self.fit_intercept:
                low, high = checked.ranges[t].tolist()
                interval = _around(intercept, -high, -low)
            measures.append(
                Measure(
                    proofs[t],
                    float(checked.violations[t]),
                    excess[part],
                    checked.at_bound[part],
                    interval,
                )
            )
        return measures

    def _values(
        self,
        y: Array,
        c: Array,
        beta: Array,
        f0: Array,
        f: Array,
        starts: NDArray[np.intp],
        doubt: proof.Doubt,
    ) -> list[proof.Values]:
        if not self.hard:
            return proof.loss_values(self.loss, y, c, beta, f0, f, starts, doubt)
        if isinstance(self.loss, Hinge | SquaredHinge):
            return proof.hard_margin_values(y, beta, f0, f, starts, doubt)
        return [proof.hard_tube_values(self.loss, y, beta, f0, f, doubt)]

    def _dual_point(
        self,
        tasks: Sequence[Task],
        problem: DualProblem,
        beta: Array,
        starts: NDArray[np.intp],
        costs: Costs,
    ) -> tuple[Array, Array | None]:
        """Return coefficients that satisfy the bounds and the equality of an intercept exactly.

        The second array bounds their distance from the feasible ones, where it is not 0.

        Coefficients that are no rounding of any within the bounds are left where they are: they
        have no dual value.
        """
        point = within_bounds(beta, problem.lower, problem.upper)
        if not self.fit_intercept or point is None:
            return beta if point is None else point, None
        return repaired(point, problem.lower, problem.upper, starts, costs), None

    def _linear_values(self, tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> Array | None:
        """Return the values of the linear functions of all tasks, None where there are none."""
        return None

    def _linear_errors(self, tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> Array | float:
        """Return bounds on the errors of these values."""
        return 0.0


def _parts(sizes: list[int]) -> list[slice]:
    """Return consecutive tasks whose rows together stay in the cache while they are proved."""
    begins, rows = [0], 0
    for t, size in enumerate(sizes):
        if rows and rows + size > _ROWS_AT_ONCE:
            begins.append(t)
            rows = 0
        rows += size
    return [slice(a, b) for a, b in zip(begins, [*begins[1:], len(sizes)], strict=True)]


def _product_of_part(
    product: Callable[[list[Array]], list[Array]], tasks: Sequence[Task], part: slice
) -> Callable[[list[Array]], list[Array]]:
    """Return the product with coefficients of some tasks, those of the others being 0."""

    def values(betas: list[Array]) -> list[Array]:
        everything = [np.zeros(len(task.y)) for task in tasks]
        everything[part] = betas
        return product(everything)[part]

    return values


def joined(parts: Sequence[Any]) -> Any:
    """Return the arrays one after the other."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _around(b: float, low: float, high: float) -> tuple[float, float]:
    """Return the interval of optimal intercepts, the point b where rounding has emptied it."""
    return (min(low, b), max(high, b)) if low < high else (b, b)
