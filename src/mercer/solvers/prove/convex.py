"""Proofs of convex problems: from solutions to what is proved of them, by one path.

1. Evidence: the values f0 = K beta on the rows, with bounds on their errors
   (`mercer.solvers.rounding`).
2. A dual point next to the coefficients that satisfies all constraints exactly
   (`mercer.solvers.feasibility`, `mercer.solvers.equations`).
3. Primal and dual value, widened by what rounding can contribute (`.primal_dual`), and the
   violation of the optimality conditions.
4. The status, and the certificate (`.statements.bounded`).

`prove_models` takes steps 2 and 3 for the tasks of a fit, `certificate` all four for any problem.
The proof is made in units of the problem; only what describes the model, its norm, the excess of
its rows and the interval of its intercept, is divided by the margin where the model is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.losses import L2, Regulariser
from mercer.objects.arrays import Array

from ..certificate import GAP_LIMIT, Certificate
from ..feasibility import repaired, within_bounds
from ..problem import DualProblem, Problem, Solution, without_signs
from ..rounding import UNIT, ValueErrors, estimated, of_sum, product_errors, value_sizes
from ..task import Task, joined
from .primal_dual import (
    Doubt,
    Values,
    conditions,
    dual_below_primal,
    dual_point,
    group_conditions,
    rounding_floor,
    total_values,
    values_of,
    widened_values,
)
from .statements import bounded

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

    values: Values
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
        return [_one_model(task, solution, f0, errors) for task, solution, f0 in models]
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


def _one_model(task: Task, solution: Solution, f0: Array, errors: ValueErrors) -> Proof:
    """Return the proof of one model of any problem: of any loss, with groups and totals."""
    problem, beta, n = task.problem, solution.beta, len(f0)
    level = np.tile(f0, len(beta) // n)
    level = level if problem.sign is None else problem.sign * level
    rows, basis = problem.rows, problem.basis
    f = level if basis is None else level - solution.multiplier[basis]
    checked = group_conditions(problem, beta, level)
    doubt = Doubt(
        dual_point(problem, beta, checked.costs),
        errors.of(beta, rows, _ONE),
        errors.size if rows is None else errors.size[rows],
        conditional=errors.conditional,
        shift=errors.of_predictions(beta, level, rows, _ONE),
    )
    if problem.totals is not None and problem.totals.any():
        values = total_values(problem, beta, level, solution.multiplier, doubt)
        floor = rounding_floor(beta, float(np.square(errors.size.max(initial=0.0))))
        values = values._replace(terms=max(values.terms, floor))
    else:
        (values,) = values_of(problem.loss, problem.y, problem.c, beta, level, f, _ONE, doubt)
    scale = task.scale(solution)
    b = task.intercept(solution) / scale
    interval = (b, b)
    if basis is not None and problem.sign is None:
        low, high = (checked.ranges.mean(axis=0) / scale).tolist()
        interval = (-high, -low) if low < high else interval
    excess = np.zeros(len(beta))
    if hasattr(problem.loss, "excess"):
        excess = problem.loss.excess(problem.y, f)
    return Proof(
        values._replace(norm2=values.norm2 / scale / scale),
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
    checked = conditions(dual, beta, level, starts, intercept)
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
    doubt = Doubt(point, error, size, None, distance, errors.conditional, shift)
    arguments = loss, y, c, beta, f0, f, starts
    proofs = values_of(*arguments, doubt)
    everywhere = slice(None) if some is None else some
    if errors.product is not None and point is not beta:
        moved = point - beta
        far = np.add.reduceat(np.abs(moved) * size, starts)
        if any(_CONSPICUOUS * v.terms < d * d for v, d in zip(proofs, far, strict=True)):
            whole = np.zeros(len(excess))
            whole[everywhere] = moved
            product = joined(errors.product(np.split(whole, begins[1:])))[everywhere]
            of_moved = product, errors.of(moved, rows, starts)
            proofs = values_of(*arguments, replace(doubt, moved=of_moved))
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


def certificate(problem: Problem, gram: Any, solution: Solution) -> Certificate:
    """Return the proof of a solution of any loss: from its value and its conjugate alone.

    The primal value is taken at f = K beta - B m, with m the multipliers of the solution, the dual
    value at coefficients whose sums over groups are exactly 0, or bound the totals of the problem.

    Parameters
    ----------
    problem : Problem
        The problem; its basis, if any, are groups.
    gram : Gram or Design
        The kernel matrix of its objects, or the design of a linear machine, in float64. Where
        positive semidefiniteness of a kernel matrix is no theorem (values from Python, matrices,
        kernels of unknown definiteness) the certificate states this assumption.
    solution : Solution
        Coefficients and multipliers of any solver. A status "optimal" with a relative gap above
        5e-4 is not adopted.

    Returns
    -------
    Certificate
        Primal and dual value, gap and status.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import Problem, Settings, certificate, solve
    >>> problem = Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2), basis=np.zeros(2, dtype=int))
    >>> gram = Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> made = certificate(problem, gram, solve(problem, gram, Settings(tol=1e-9)))
    >>> made.status, round(made.primal, 6), round(made.dual, 6)
    ('optimal', 0.5, 0.5)
    """
    if gram.dtype != "float64":
        raise ValueError(
            "the proof needs values in double precision: gram.in_precision('float64')."
        )
    if not problem.grouped:
        raise ValueError(
            "the proof needs sums that can be made exact: no basis, or one of groups, integers "
            f"such as np.zeros({len(problem.y)}, dtype=int); got {np.asarray(problem.basis).dtype}."
        )
    problem, gram = without_signs(problem, gram)
    if problem.omega is not None or hasattr(gram, "absolute"):
        # The norm of the function of a linear machine is a penalty on its weights.
        return _penalised(problem, problem.omega or L2(1.0), gram, solution)
    definiteness = gram.kernel.definiteness
    order = definiteness.order
    totals = problem.totals if problem.totals is not None and np.any(problem.totals) else None
    balanced = problem.basis is not None and (totals is None or float(totals.sum()) == 0.0)
    if definiteness != "unknown" and (order is None or order > int(balanced)):
        raise ValueError(f"{gram.kernel!r} is {definiteness}: the problem has no duality gap.")
    task, n = Task(problem, problem.y, problem.c, problem.rows), gram.n
    coef = solution.beta if task.rows is None else np.bincount(task.rows, solution.beta, n)
    f0 = gram.matmul(coef) if task.rows is None else gram.matmul(coef)[task.rows]
    errors = estimated(value_sizes(gram), conditional=bool(order))
    proof = _one_model(task, solution, f0, errors)
    known = order is not None and not gram.in_python
    assumes, convexity = (None, "theorem") if known else ("psd", "not ruled out")
    return certified(
        solution, proof.values, proof.violation, gram.dtype, GAP_LIMIT, assumes, convexity
    )


def certified(
    work: Any,
    values: Values,
    violation: float,
    precision: str,
    gap_limit: float = np.inf,
    assumes: str | None = None,
    convexity: str = "theorem",
    eigenvalue: float | None = None,
) -> Certificate:
    """Return the certificate of a model with these values.

    `work`: carries ``status``, ``n_iter``, ``n_kernel_values`` and ``seconds``. `precision`: of the
    kernel values behind the proof. Other parameters are those of `bounded`.
    """
    primal, dual = values.primal, values.dual
    if work.status == "time_limit" and np.isnan(primal - dual):
        # The limit left no time for a proof: nothing is known of the optimum.
        primal, dual, violation = np.inf, -np.inf, np.inf
    return bounded(
        work.status,
        primal,
        dual,
        size=values.terms,
        violation=violation,
        rounding=values.rounding,
        convexity=convexity,
        assumes=assumes,
        eigenvalue=eigenvalue,
        gap_limit=gap_limit,
        n_iter=int(work.n_iter),
        n_kernel_values=int(work.n_kernel_values),
        seconds=float(work.seconds),
        precision=precision,
        widened=values.widened,
    )


def _penalised(
    problem: Problem, omega: Regulariser, operator: Any, solution: Solution
) -> Certificate:
    """Return the proof of a problem with a penalty on coefficients.

    With A the operator, whose definiteness does not matter, and t <= 1 so small that Omega* is
    finite, the dual value is -Omega*(t A'beta) - sum_j phi_j(t beta_j).
    """
    w, rows = solution.coef, problem.rows
    if w is None:
        raise ValueError("a problem with a penalty on coefficients needs solution.coef.")
    if problem.totals is not None and np.any(problem.totals):
        raise ValueError("a problem with a penalty on coefficients takes no totals.")
    w, beta = np.asarray(w, dtype=np.float64), dual_point(problem, solution.beta)
    loss, y, c = problem.loss, problem.y, problem.c
    dot_error, t_dot_error = product_errors(operator)

    def transposed(b: Array) -> tuple[Array, Array]:
        """Return A'b and bounds on its errors."""
        return operator.t_dot(b, rows), t_dot_error(b, rows)

    values = operator.dot(w, rows)
    z = values - problem.columns @ solution.multiplier
    off = dot_error(w, rows) + 8.0 * UNIT * (np.abs(z) + np.abs(values) + np.abs(y))
    worst = np.maximum(loss.cost(y, z - off, c), loss.cost(y, z + off, c))  # convex in between
    penalty = omega.value(w)
    primal = penalty + float(loss.cost(y, z, c).sum())
    high = (penalty + omega.rounding(w) + float(worst.sum())) * (1.0 + 8.0 * UNIT)
    high += float(of_sum(worst, _ONE)[0])
    v, off = transposed(beta)
    violation = max(
        group_conditions(problem, solution.beta, values).violation, omega.violation(w, v)
    )
    t = omega.reach(v, off)
    if t < 1.0:
        beta = dual_point(problem, t * (1.0 - 1e-12) * beta)
        v, off = transposed(beta)
    conjugate = loss.conjugate(y, beta, c)
    total = float(conjugate.sum())
    terms = np.abs(conjugate) + 2.0 * np.abs(beta) * (1.0 + np.abs(y))
    dual = -omega.conjugate(v) - total
    low = -omega.conjugate(v, off) * (1.0 + UNIT * (len(v) + 8.0)) - total
    low -= float(of_sum(terms, _ONE)[0])
    computed = np.array([primal, high, dual, low, primal, 2.0 * penalty, np.isnan(total)])
    (found,) = widened_values(*computed[:, None])
    dual_below_primal(found, loss, omega)
    return certified(solution, found, violation, operator.dtype, GAP_LIMIT)
