"""Tasks handed to the solvers, and the values of a model on its training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import Gram, Prepared
from mercer.kernels import Kernel, Linear, Precomputed
from mercer.objects.tables import with_column
from mercer.objects.validation import count, take
from mercer.solvers import Settings, solve, solve_many
from mercer.solvers.feature_interior_point import solve_in_features

from .formulation import Formulation, Outcome, Task
from .hard_formulation import HardTube
from .linear_part import WithLinearPart
from .settling import settle

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

FINE_TOL, FINE_GAP = 1e-5, 1e-6
"""Tolerances on violation and relative gap below which float32 kernel values are too coarse."""

_LAST_TOLERANCE = 1e-10
"""A violation that double precision still resolves."""

_FIRST_ROUNDS, _LAST_ROUNDS = 2, 10
"""Rounds of pair steps in a hard tube, each twice as long as the one before."""

_SMALL = 1000
"""Up to so many rows the whole kernel matrix costs less than packing some of the rows again."""


def settings_for(machine: Any, callback: Any = None, objective_floor: float = -np.inf) -> Settings:
    """Return the solver settings that a machine's parameters stand for.

    A tolerance on the gap replaces the one on the violation, which is kept only as an end to
    what rounding allows.
    """
    by_gap = machine.gap_tol is not None
    return Settings(
        tol=min(float(machine.tol), _LAST_TOLERANCE) if by_gap else float(machine.tol),
        gap_tol=float(machine.gap_tol) if by_gap else None,
        max_iter=int(machine.max_iter),
        time_limit=None if machine.time_limit is None else float(machine.time_limit),
        shrinking=bool(machine.shrinking),
        cache_size=float(machine.cache_size),
        n_jobs=machine.n_jobs,
        callback=callback,
        objective_floor=objective_floor,
    )


def solve_tasks(
    formulation: Formulation,
    tasks: Sequence[Task],
    gram: Gram,
    X: Any,
    settings: Settings,
    starts: Sequence[Array | None] | None = None,
) -> tuple[list[Any], list[Outcome]]:
    """Return the solution and the model of every task, all of them on one Gram matrix.

    Parameters
    ----------
    formulation : Formulation
        What the tasks were posed by.
    tasks : sequence of Task
        The tasks.
    gram : Gram
        The kernel matrix of all training rows.
    X : objects
        The training rows.
    settings : Settings
        Tolerances and limits.
    starts : sequence of arrays, optional
        Feasible points; by default those of the tasks. An interior point method takes none.
    """
    begin = perf_counter()
    if starts is None:
        starts = [task.start for task in tasks]
    if isinstance(formulation, WithLinearPart):
        solutions = _one_by_one(partial(formulation.solve, gram=gram), settings, task=tasks)
        return solutions, [
            formulation.outcome(*pair) for pair in zip(tasks, solutions, strict=True)
        ]
    if gram.dtype == "float32":
        # What float32 values cannot resolve is left to the proof, which goes on in float64.
        gap_tol = settings.gap_tol and max(settings.gap_tol, FINE_GAP)
        settings = replace(settings, tol=max(settings.tol, FINE_TOL), gap_tol=gap_tol)
    wanted = settings.tol
    settings = replace(settings, tol=formulation.first_tolerance(wanted, gram))
    if formulation.signed_gram:
        grams = [signed_gram(gram, X, task) for task in tasks]
        problems = [task.problem for task in tasks]
        solutions = _one_by_one(solve, settings, problem=problems, gram=grams, start=starts)
    else:
        grams = [gram] * len(tasks)
        if isinstance(formulation, HardTube):
            solutions = [_in_hard_tube(formulation, tasks[0], gram, settings, starts[0])]
        elif len(tasks) == 1:
            solutions = [solve(tasks[0].problem, gram, settings, start=starts[0])]
        else:
            solutions = solve_many([t.problem for t in tasks], gram, settings, starts=starts)
    try:
        settle(tasks, solutions, gram, settings.tol)
        interrupted = any(solution.status == "interrupted" for solution in solutions)
        for i, task in enumerate(tasks):
            if interrupted or not formulation.attempts:
                break
            left = settings.after(0, perf_counter() - begin)
            solutions[i] = _tightened(formulation, task, grams[i], left, wanted, solutions[i])
            interrupted = solutions[i].status == "interrupted"
    except KeyboardInterrupt:  # between two runs of the solver, which hears it by itself
        solutions[-1].status = "interrupted"
    pairs = list(zip(tasks, solutions, strict=True))
    try:
        return solutions, [formulation.outcome(*pair) for pair in pairs]
    except KeyboardInterrupt:
        solutions[-1].status = "interrupted"
        return solutions, [formulation.outcome(*pair) for pair in pairs]


def _one_by_one(solve_one: Callable[..., Any], settings: Settings, **arguments: Any) -> list[Any]:
    """Return the solutions of several problems; after an interrupt the rest take no step."""
    solutions: list[Any] = []
    for values in zip(*arguments.values(), strict=True):
        if solutions:
            settings = settings.after(0, solutions[-1].seconds)
        if solutions and solutions[-1].status == "interrupted":
            settings = replace(settings, max_iter=0)
        one = dict(zip(arguments, values, strict=True))
        try:
            solutions.append(solve_one(settings=settings, **one))
        except KeyboardInterrupt:
            if not solutions:
                raise
            solutions[-1].status = "interrupted"
            settings = replace(settings, max_iter=0)
            solutions.append(solve_one(settings=settings, **one))
    return solutions


def _tightened(
    formulation: Formulation,
    task: Task,
    gram: Gram,
    settings: Settings,
    wanted: float,
    solution: Any,
) -> Any:
    """Go on with a smaller tolerance while it is not small beside the scale of the problem."""
    for _ in range(formulation.attempts):
        if solution.status != "optimal":
            break
        tol = formulation.next_tolerance(formulation.outcome(task, solution), settings.tol, wanted)
        if tol is None:
            break
        settings = replace(settings, tol=tol)
        begin = perf_counter()
        more = solve(task.problem, gram, settings, start=solution.beta)
        settings = settings.after(0, perf_counter() - begin)
        settle([task], [more], gram, settings.tol)
        more.after(solution)
        if more.status == "iteration_limit" and settings.max_iter < 0:
            # Rounding ends what no limit does; the tolerance that was asked for is met.
            more.status = solution.status
            if more.kkt_violation >= solution.kkt_violation:
                solution.n_iter, solution.seconds = more.n_iter, more.seconds
                break
        solution = more
    return solution


def _in_hard_tube(
    formulation: HardTube, task: Task, gram: Gram, settings: Settings, start: Array | None
) -> Any:
    """Solve a problem that may be unbounded.

    A few rounds of pair steps do for most; one that resists them is handed to an interior point
    method, and more rounds see to the last digits, or to what is too large for it.
    """
    begin = perf_counter()
    solution = _in_rounds(formulation, task, gram, settings, start, _FIRST_ROUNDS)
    if solution.status != "iteration_limit" or 0 <= settings.max_iter <= solution.n_iter:
        return solution
    left = settings.after(solution.n_iter, perf_counter() - begin)
    limit = formulation.largest_norm(task.y, gram)
    totals = np.zeros(int(formulation.fit_intercept))
    found = solve_in_features(task.problem, gram, left, totals, largest_norm=limit)
    if found is None:
        more = _in_rounds(formulation, task, gram, left, solution.beta, _LAST_ROUNDS)
        return more.after(solution)
    solution.n_iter += found.n_iter
    left = settings.after(solution.n_iter, perf_counter() - begin)
    if found.status in ("infeasible", "time_limit", "interrupted"):
        more = _in_rounds(formulation, task, gram, replace(left, max_iter=0), found.beta, 1)
        more.status = found.status
    else:
        more = _in_rounds(formulation, task, gram, left, found.beta, _LAST_ROUNDS)
    return more.after(solution)


def _in_rounds(
    formulation: HardTube,
    task: Task,
    gram: Gram,
    settings: Settings,
    start: Array | None,
    rounds: int,
) -> Any:
    """Take pair steps, looking after every round whether the problem is unbounded."""
    limit = formulation.largest_norm(task.y, gram)
    chunk, solution = 1000 + 10 * len(task.y), None
    for _ in range(rounds):
        found = solve(task.problem, gram, settings.at_most(chunk), start=start)
        scale, bound = formulation.scaled(task, found.beta, found.values)
        if bound > limit:
            found.status = "infeasible"
        settings = settings.after(found.n_iter, found.seconds)
        solution = found if solution is None else found.after(solution)
        if found.status != "iteration_limit" or settings.max_iter == 0:
            break
        start = scale * found.beta
        chunk *= 2
    return solution


def signed_gram(gram: Gram, X: Any, task: Task) -> Gram:
    """Return the Gram matrix of sign_v sign_u k(x_v, x_u) over the variables of a task.

    The sign is one more column of the data, on which a linear kernel is multiplied in; the
    variables of nu-SVR are all rows with the sign + followed by all rows with the sign -.
    """
    kernel: Kernel = gram.kernel
    rows = np.arange(count(X)) if task.rows is None else task.rows
    if len(task.problem.lower) == 2 * len(task.y):
        rows = np.concatenate([rows, rows])
        sign = np.repeat([1.0, -1.0], len(task.y))
    else:
        sign = task.y
    if kernel.pairwise and type(kernel) is Precomputed:
        return Gram(kernel, X[np.ix_(rows, rows)] * sign[:, None] * sign, "float64")
    if kernel.takes.structured:
        extended = with_column(take(X, rows), sign)
        last = extended.shape[1] - 1
        signed = kernel.on_columns(list(range(last))) * Linear().on_columns([last])
        return Gram(signed._bound_to_valid(extended, None, None), extended, "float64")
    if not kernel.requires_vectors:
        raise ValueError(
            f"fit_intercept=False of a nu machine needs a kernel on vectors, strings or other "
            f"objects of a known kind; {kernel!r} is defined on any. Use the default "
            "fit_intercept=True."
        )
    d = X.shape[1]
    column = sign[:, None]
    if sp.issparse(X):
        extended = sp.csr_matrix(sp.hstack([X[rows], sp.csr_matrix(column)]))
    else:
        extended = np.hstack([X[rows], column.astype(X.dtype)])
    signed = kernel.on_columns(list(range(d))) * Linear().on_columns([d])
    return Gram(signed._bound_to_valid(extended, None, None), extended, "float64")


class TrainingKernel:
    """Products of kernel values between training rows with coefficients.

    Parameters
    ----------
    gram : Gram
        The kernel matrix of the training rows.
    dtype : str, optional
        Precision of the kernel values, by default that of `gram`.
    n_jobs : int, optional
        Threads.
    """

    def __init__(self, gram: Gram, dtype: str | None = None, n_jobs: int | None = None) -> None:
        self.gram, self.n_jobs = gram, n_jobs
        self.dtype = gram.dtype if dtype is None else dtype

    def product(self, columns: Rows, V: Array, rows: Rows | None = None) -> Array:
        """Return K(X[rows], X[columns]) @ V, where rows are all rows by default."""
        n = self.gram.n
        if len(columns) == 0:
            return np.zeros((n if rows is None else len(rows), V.shape[1]))
        if self.dtype != self.gram.dtype:
            return self.prepared(columns).matmul(self._rows(rows), V, self.n_jobs)
        if rows is None and (n <= _SMALL or 2 * len(columns) > n):
            # A few zero coefficients cost less than picking out the rows.
            full = np.zeros((n, V.shape[1]))
            full[columns] = V
            return self.gram.matmul(full, self.n_jobs)
        return self.gram.matmul(V, self.n_jobs, rows, columns)

    def full_product(self, V: Array) -> Array:
        """Return K @ V, where V has a row for every training row."""
        if self.dtype == self.gram.dtype:
            return self.gram.matmul(V, self.n_jobs)
        support = np.flatnonzero(V.any(axis=1))
        return self.product(support, V[support])

    def grouped(self, columns: Prepared, groups: list[tuple[int, Array]], rows: Rows) -> Array:
        """Return products with consecutive groups of columns, side by side."""
        return columns.grouped_matmul(self._rows(rows), groups, self.n_jobs)

    def prepared(self, columns: Rows) -> Prepared:
        """Return training rows in the form in which others are compared with them."""
        kernel = self.gram.kernel
        objects = columns if kernel.pairwise else self.gram.views.take(columns)
        return Prepared(kernel, objects, self.dtype)

    def _rows(self, rows: Rows | None) -> Any:
        return self.gram.views if rows is None else self.gram.views.take(rows)
