"""Proofs of models from the value and the conjugate of their losses, for any task.

The proof is made in units of the problem (`mercer.solvers.certification`); only what describes the
model, its norm, the excess of its rows and the interval of its intercept, is divided by the margin
where the model is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array
from mercer.solvers import DualProblem, Solution
from mercer.solvers import certification as proof
from mercer.solvers.feasibility import repaired, within_bounds
from mercer.solvers.rounding import UNIT, ValueErrors

from .tasks import Task, joined

_ONE = np.zeros(1, dtype=np.intp)
"""Where the only machine begins."""

_CONSPICUOUS = 1e-6
"""What the move to a feasible point may add to the dual value, relative to the primal terms, before
it is computed instead of bounded."""


_ROWS_AT_ONCE = 65536
"""Rows of several tasks that are proved together: the few arrays over all of them share a
second-level cache."""

_CLEAR = 0.01
"""A row whose margin exceeds 1 by this much has no loss, if rounding contributes less."""

_UNITS = 32.0 * UNIT
"""Roundings of a decision value and its margin, relative to its terms."""


class Proof(NamedTuple):
    """Primal and dual value of a model, and what was computed beside them.

    ``violation`` of the optimality conditions; ``excess`` of the rows over the region without loss,
    and the ``marks`` of their coefficients (`training_record`); the interval of optimal intercepts.
    """

    values: proof.Values
    violation: float
    excess: Array
    marks: NDArray[np.int8]
    intercept_range: tuple[float, float]


def prove_models(
    tasks: Sequence[Task],
    solutions: Sequence[Solution],
    values: Sequence[Array],
    errors: ValueErrors,
) -> list[Proof]:
    """Return the proofs of models, given f0 = K beta on the rows of each, with its errors."""
    if tasks[0].problem.totals is not None:
        models = zip(tasks, solutions, values, strict=True)
        return [_with_totals(task, solution, f0, errors) for task, solution, f0 in models]
    found: list[Proof] = []
    for part in _parts([len(task.y) for task in tasks]):
        some = errors
        if len(tasks[part]) < len(tasks) and errors.product is not None:
            some = replace(errors, product=_product_of_part(errors.product, tasks, part))
        found += _without_totals(tasks[part], solutions[part], values[part], some)
    if tasks[0].linear is None:
        return found
    proved = zip(tasks, solutions, values, found, strict=True)
    return [p._replace(values=t.linear.checked(t, s, f0, p.values)) for t, s, f0, p in proved]


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


def _marks(coef: Array, at_bound: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return `ZERO`, `FREE` or `BOUNDED` for each coefficient."""
    return (coef != 0.0).view(np.int8) + at_bound.view(np.int8)


def _with_totals(task: Task, solution: Solution, f0: Array, errors: ValueErrors) -> Proof:
    """Return the proof of one model whose margin or tube is a variable of the problem."""
    problem, beta, n = task.problem, solution.beta, len(f0)
    level = np.tile(f0, len(beta) // n)
    level = level if problem.sign is None else problem.sign * level
    rows = problem.rows
    size = errors.size if rows is None else errors.size[rows]
    point = proof.feasible_totals(problem, beta)
    error, conditional = errors.of(beta, rows, _ONE), errors.conditional
    shift = errors.of_predictions(beta, level, rows, _ONE)
    doubt = proof.Doubt(point, error, size, conditional=conditional, shift=shift)
    values = proof.total_values(problem, beta, level, solution.multiplier, doubt)
    scale = task.scale(solution)
    floor = proof.rounding_floor(beta, float(np.square(errors.size.max(initial=0.0))))
    terms, norm2 = max(values.terms, floor), values.norm2 / scale / scale
    checked = proof.total_conditions(problem, beta, level)
    assert problem.basis is not None
    excess = problem.loss.excess(  # type: ignore[attr-defined]
        problem.y, level - solution.multiplier[problem.basis]
    )
    interval = (0.0, 0.0)
    if problem.sign is None:
        low, high = (checked.ranges.mean(axis=0) / scale).tolist()
        b = task.intercept(solution) / scale
        interval = (-high, -low) if low < high else (b, b)
    return Proof(
        values._replace(terms=terms, norm2=norm2),
        checked.violation,
        excess.reshape(-1, n).max(axis=0) / scale,
        _marks(task.coef(solution), np.logical_or.reduce(checked.at_bound.reshape(-1, n))),
        interval,
    )


def _without_totals(
    tasks: Sequence[Task],
    solutions: Sequence[Solution],
    values: Sequence[Array],
    errors: ValueErrors,
    everything: bool = False,
) -> list[Proof]:
    """Return the proofs of several models of one loss, from all rows (`everything`) or a part."""
    loss: Any = tasks[0].problem.loss
    intercept, linear = tasks[0].problem.basis is not None, tasks[0].linear is not None
    sizes = [len(task.y) for task in tasks]
    begins = np.array([0, *accumulate(sizes[:-1])])
    models = list(zip(tasks, solutions, strict=True))
    y, c = joined([t.y for t in tasks]), joined([t.problem.c for t in tasks])
    beta, f0 = joined([s.beta for s in solutions]), joined(values)
    rows = None if tasks[0].rows is None else joined([t.rows for t in tasks])
    intercepts = [task.intercept(solution) for task, solution in models]
    level = f0 + joined([t.linear.values(s) for t, s in models]) if linear else f0
    f = level + np.repeat(intercepts, sizes)
    excess, starts = loss.excess(y, f), begins
    some = None if everything or linear else _rows_that_count(loss, beta, excess, starts, errors)
    if some is not None:
        terms = max(_largest(f0), *map(abs, intercepts))
        y, c, beta, f0, f, level = (a[some] for a in (y, c, beta, f0, f, level))
        rows, starts = some if rows is None else rows[some], np.searchsorted(some, starts)
    dual = tasks[0].problem.dual
    if len(tasks) > 1 or some is not None:
        dual = DualProblem(*loss.pieces(y, c))
    checked = proof.conditions(dual, beta, level, starts, intercept)
    size = errors.size if rows is None else errors.size[rows]
    error = errors.of(beta, rows, starts)
    if some is not None:
        # Other rows have slopes beyond _CLEAR / 2 from the multiplier, and values near enough.
        off = np.abs(checked.ranges + np.array(intercepts)[:, None]).max() if intercept else 0.0
        reach = _largest_ratio(error, size) * errors.size.max() + _UNITS * terms
        if not max(2.0 * off, reach) < _CLEAR:
            return _without_totals(tasks, solutions, values, errors, everything=True)
    feasible: list[Any] = [None]
    if linear:
        feasible = [t.linear.feasible(t, s.beta) for t, s in models]
    point, distance = within_bounds(beta, dual.lower, dual.upper), None
    if all(one is not None for one in feasible):
        point = joined([one.point for one in feasible])
        distance = joined([one.distance for one in feasible])
    elif point is None:
        point = beta  # farther from the bounds than rounding: there is no dual value
    elif intercept:
        point = repaired(point, dual.lower, dual.upper, starts, checked.costs)
    shift: Array | float = errors.of_predictions(beta, f0, rows, starts)
    if linear:
        shift = joined([t.linear.errors(s) for t, s in models])
    doubt = proof.Doubt(point, error, size, None, distance, errors.conditional, shift)
    arguments = loss, y, c, beta, f0, f, starts
    proofs = proof.values_of(*arguments, doubt)
    everywhere = slice(None) if some is None else some
    if errors.product is not None and point is not beta:
        moved = point - beta
        far = np.add.reduceat(np.abs(moved) * size, starts)
        if any(_CONSPICUOUS * v.terms < d * d for v, d in zip(proofs, far, strict=True)):
            whole = np.zeros(len(excess))
            whole[everywhere] = moved
            product = joined(errors.product(np.split(whole, begins[1:])))[everywhere]
            of_moved = product, errors.of(moved, rows, starts)
            proofs = proof.values_of(*arguments, replace(doubt, moved=of_moved))
    marks = np.zeros(len(excess), dtype=np.int8)
    marks[everywhere] = _marks(beta, checked.at_bound)
    result = []
    ranges, violations = checked.ranges.tolist(), checked.violations.tolist()
    for t, (start, length) in enumerate(zip(begins.tolist(), sizes, strict=True)):
        part, b = slice(start, start + length), intercepts[t]
        low, high = ranges[t]
        # Rounding may have emptied the interval.
        interval = (min(-high, b), max(-low, b)) if intercept and low < high else (b, b)
        result.append(Proof(proofs[t], violations[t], excess[part], marks[part], interval))
    return result


def _rows_that_count(
    loss: Any, beta: Array, excess: Array, starts: NDArray[np.intp], errors: ValueErrors
) -> NDArray[np.intp] | None:
    """Return the rows that primal and dual values are made of, None where that may be all.

    A row without a coefficient whose margin is clear of 1 costs nothing, in either problem, and
    limits no multiplier if those of other rows are near.
    """
    if errors.conditional or errors.reach is not None or not hasattr(loss, "margin"):
        return None
    some = np.flatnonzero((beta != 0.0) | ~(excess < -_CLEAR))
    if 2 * len(some) >= len(beta):
        return None
    ends = np.searchsorted(some, [*starts[1:], len(beta)])
    return some if (ends > np.searchsorted(some, starts)).all() else None


def _largest(a: Array) -> float:
    return max(float(a.max(initial=0.0)), -float(a.min(initial=0.0)))


def _largest_ratio(error: Array, size: Array) -> float:
    return float(np.divide(error, size, out=np.zeros_like(error), where=size > 0.0).max())
