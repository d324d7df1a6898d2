"""Decision values of training rows by machines that were trained without them.

The rows are dealt into five folds, every class evenly; for each fold the machine is trained on the
other four, on the kernel matrix of the fit and from its solution, and evaluated on the fold. Five
fits on four fifths of the rows: with the fit itself never more than six.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.solvers import Job, Settings, solve_jobs
from mercer.solvers.class_pairs import PairSolutions

from ..errors import InfeasibleNuError
from .calibration import Scores
from .class_pairs import MANY, PairFitting, pose_pairs
from .formulation import Formulation, Task
from .proving import Fitting
from .solving import TrainingKernel, solve_tasks

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

N_FOLDS = 5

LIMITED = ("time_limit", "iteration_limit")


def cross_fitted(
    fitting: Fitting, weight: Array, settings: Settings, random: Any
) -> tuple[Scores, set[str]]:
    """Return the scores of all binary problems, and how the machines of the folds ended.

    `fitting`: the fit. `weight`: sample weights of the rows that take part, without class weights.
    `settings`: tolerances and limits; a time limit is for all folds together. `random`: deals the
    rows.
    """
    if fitting.repetition is not None:
        return _of_repeated(fitting, settings, random)
    if isinstance(fitting, PairFitting):
        if len(fitting.pairs.ends) >= MANY:
            return _of_pairs(fitting, weight, settings, random)
        fitting.make_parts()
    held_out = [_folds(task, random) for task in fitting.tasks]
    values = [np.full(len(task.y), np.nan) for task in fitting.tasks]
    kernel = TrainingKernel(fitting.gram, n_jobs=settings.n_jobs)
    begin, statuses = perf_counter(), set[str]()
    n_folds = 1 + max(int(folds.max(initial=-1)) for folds in held_out)
    for fold in range(n_folds):
        left = _share(settings, perf_counter() - begin, n_folds - fold)
        statuses |= _fit_fold(fitting, held_out, fold, kernel, left, values)
    y = np.concatenate([task.y for task in fitting.tasks])
    rows = [np.arange(len(weight)) if t.rows is None else t.rows for t in fitting.tasks]
    sizes = [len(task.y) for task in fitting.tasks]
    starts = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.intp)
    scores = Scores(np.concatenate(values), y > 0.0, weight[np.concatenate(rows)], starts)
    return scores, statuses


def _share(settings: Settings, spent: float, parts: int) -> Settings:
    """Return the settings for one of the parts that are left."""
    if settings.time_limit is None:
        return settings
    left = settings.after(0, spent)
    assert left.time_limit is not None
    return left.after(0, left.time_limit * (1.0 - 1.0 / parts))


def _refuse_interrupted(interrupted: bool) -> None:
    if interrupted:
        raise KeyboardInterrupt(
            "the calibration was interrupted; the machine itself is fitted, without probabilities."
        )


def _fit_fold(
    fitting: Fitting,
    held_out: list[Rows],
    fold: int,
    kernel: TrainingKernel,
    settings: Settings,
    values: list[Array],
) -> set[str]:
    """Train all problems without one fold, and write their values on it."""
    formulation, tasks = fitting.formulation, fitting.tasks
    parts: list[tuple[int, Rows, Task]] = []
    starts = []
    for t, (task, folds) in enumerate(zip(tasks, held_out, strict=True)):
        inside = np.flatnonzero(folds != fold)
        if len(inside) == len(folds):
            continue
        part = _subtask(formulation, task, inside)
        if part is None:
            continue
        parts.append((t, np.flatnonzero(folds == fold), part))
        outcome = fitting.outcomes[t]
        shrunk = outcome._replace(beta=outcome.beta[inside])
        starts.append(part.start(formulation.variables(part, shrunk)))
    if not parts:
        return set()
    solutions, outcomes = solve_tasks(
        formulation, [part for _, _, part in parts], fitting.gram, settings, starts
    )
    statuses = {solution.status for solution in solutions}
    _refuse_interrupted("interrupted" in statuses)
    for (t, outside, part), outcome in zip(parts, outcomes, strict=True):
        everything = tasks[t].rows
        rows = outside if everything is None else everything[outside]
        support = np.flatnonzero(outcome.beta)
        columns = support if part.rows is None else part.rows[support]
        f0 = kernel.product(columns, outcome.beta[support][:, None], rows)[:, 0]
        values[t][outside] = (f0 + formulation.offset(outcome, rows)) / outcome.scale
    return statuses


def _folds(task: Task, random: Any) -> Rows:
    """Return the fold of each row, every class being spread evenly over the folds.

    With fewer rows in a class than folds there are fewer folds; a class of one row cannot be
    left out, and no row is.
    """
    positive = task.y > 0.0
    smallest = int(min(positive.sum(), (~positive).sum()))
    n_folds = min(N_FOLDS, smallest)
    if n_folds < 2:
        return np.full(len(task.y), -1, dtype=np.intp)
    folds = np.empty(len(task.y), dtype=np.intp)
    offset = 0
    for side in (positive, ~positive):
        members = np.flatnonzero(side)
        folds[random.permutation(members)] = (np.arange(len(members)) + offset) % n_folds
        offset += len(members)
    return folds


def _subtask(formulation: Formulation, task: Task, inside: Rows) -> Task | None:
    """Return the task on a part of its rows; a nu that the part cannot have is lowered to fit."""
    rows = inside if task.rows is None else task.rows[inside]
    y, weight = task.y[inside], task.weight[inside]

    def pose() -> Task:
        return formulation.task(y, weight, rows, task.name)

    try:
        return pose()
    except InfeasibleNuError as error:
        return _with_nu(formulation, error.largest_nu, pose) if error.largest_nu > 0.0 else None


def _with_nu(formulation: Any, nu: float, pose: Callable[[], Task]) -> Task:
    wanted, formulation.nu = formulation.nu, nu
    try:
        return pose()
    finally:
        formulation.nu = wanted


def _of_repeated(fitting: Fitting, settings: Settings, random: Any) -> tuple[Scores, set[str]]:
    """Return what `cross_fitted` does where rows that repeat were trained together.

    The single rows are left out, not the groups: of a row that occurs ten times in the training set
    eight or so stay, as new rows would meet it there. A group has a score for every fold in which
    it has members, with their weight.
    """
    codes: Rows = fitting.scheme.codes  # type: ignore[attr-defined]
    group, m = fitting.repetition.group, len(codes)
    folds = np.full(len(group), -1, dtype=np.intp)
    for c in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes[group] == c)
        if len(rows) > 1:
            folds[random.permutation(rows)] = np.arange(len(rows)) % N_FOLDS
    u = np.ones(len(group)) if fitting.row_weight is None else fitting.row_weight
    total = np.bincount(group, u, m)
    kernel = TrainingKernel(fitting.gram, n_jobs=settings.n_jobs)
    begin, statuses = perf_counter(), set[str]()
    found: list[list[tuple[NDArray[Any], ...]]] = [[] for _ in fitting.tasks]
    for fold in range(N_FOLDS):
        left = _share(settings, perf_counter() - begin, N_FOLDS - fold)
        outside = folds == fold
        inside = np.bincount(group[~outside], u[~outside], m)
        held_out = np.bincount(group[outside], u[outside], m)
        parts, starts = [], []
        for t, task in enumerate(fitting.tasks):
            rows = np.arange(m) if task.rows is None else task.rows
            part = inside[rows] / total[rows]
            here = np.flatnonzero(part > 0.0)
            scaled = replace(task, weight=task.weight * part)
            posed = _subtask(fitting.formulation, scaled, here)
            if posed is None or not (held_out[rows] > 0.0).any():
                continue
            outcome = fitting.outcomes[t]
            outcome = outcome._replace(beta=outcome.beta[here] * part[here])
            parts.append((t, rows, posed))
            starts.append(posed.start(fitting.formulation.variables(posed, outcome)))
        if not parts:
            continue
        solutions, outcomes = solve_tasks(
            fitting.formulation, [p for *_, p in parts], fitting.gram, left, starts
        )
        statuses |= {solution.status for solution in solutions}
        _refuse_interrupted("interrupted" in statuses)
        for (t, rows, posed), outcome in zip(parts, outcomes, strict=True):
            away = np.flatnonzero(held_out[rows] > 0.0)
            support = np.flatnonzero(outcome.beta)
            columns = support if posed.rows is None else posed.rows[support]
            f0 = kernel.product(columns, outcome.beta[support][:, None], rows[away])[:, 0]
            values = (f0 + fitting.formulation.offset(outcome, rows[away])) / outcome.scale
            found[t].append((values, fitting.tasks[t].y[away] > 0.0, held_out[rows[away]]))
    sizes = [sum(len(values) for values, _, _ in parts) for parts in found]
    value, positive, weight = (
        np.concatenate([part[k] for parts in found for part in parts] or [np.empty(0)])
        for k in range(3)
    )
    starts_of = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.intp)
    return Scores(value, positive.astype(bool), weight, starts_of), statuses


def _of_pairs(
    fitting: PairFitting, weight: Array, settings: Settings, random: Any
) -> tuple[Scores, set[str]]:
    """Return what `cross_fitted` does for many pairs of classes, each fold by one native call."""
    codes: Rows = fitting.scheme.codes  # type: ignore[attr-defined]
    pairs = fitting.pairs
    k, n = len(pairs.ends), len(codes)
    members = np.split(pairs.order, pairs.ends[:-1])
    folds = np.full(n, -1, dtype=np.intp)  # a class of one row cannot be left out
    for rows in members:
        if len(rows) > 1:
            folds[random.permutation(rows)] = np.arange(len(rows)) % N_FOLDS
    table = np.full((k - 1, n), np.nan)
    begin, statuses = perf_counter(), set[str]()
    for fold in range(N_FOLDS):
        left = _share(settings, perf_counter() - begin, N_FOLDS - fold)
        outside = [rows[folds[rows] == fold] for rows in members]
        if not any(len(rows) for rows in outside):
            continue
        problem = pose_pairs(
            fitting.formulation,  # type: ignore[arg-type]
            fitting.scheme,
            fitting.weight,
            np.flatnonzero(folds != fold),
        )
        assert problem is not None
        solved: Any = solve_jobs([Job(problem, fitting.gram)], left)[0]
        statuses |= solved.found_statuses()
        _refuse_interrupted("interrupted" in statuses)
        _write_held_out(solved, fitting, outside, table)
    return _as_scores(table, codes, weight), statuses


def _as_scores(table: Array, codes: Rows, weight: Array) -> Scores:
    """Return values in the layout of ``dual_coef_`` problem by problem."""
    k, n = len(table) + 1, len(codes)
    line = np.arange(k - 1)[:, None]
    other = line + (line >= codes)
    first, second = np.minimum(codes, other), np.maximum(codes, other)
    problem = (first * (2 * k - first - 1) // 2 + second - first - 1).ravel()
    order = np.argsort(problem, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(problem))[:-1]])
    positive = (codes < other).ravel()[order]
    return Scores(table.ravel()[order], positive, weight[order % n], starts)


def _write_held_out(
    solved: PairSolutions, fitting: PairFitting, outside: list[Rows], table: Array
) -> None:
    """Write the values of rows left out, in the layout of ``dual_coef_``."""
    kernel = TrainingKernel(fitting.gram, n_jobs=fitting.settings.n_jobs)
    k = len(outside)
    begins = np.concatenate([[0], solved.ends])
    columns = kernel.prepared(solved.order)
    intercept = np.zeros((k, k))
    first, second = np.triu_indices(k, 1)
    intercept[first, second] = intercept[second, first] = solved.intercept
    for c, rows in enumerate(outside):
        if len(rows) == 0:
            continue
        others = np.delete(np.arange(k), c)
        own = solved.coef[:, begins[c] : begins[c + 1]].T
        groups = [(int(begins[c]), own)]
        # In the pair of c and j, class j is the second one where j > c.
        groups += [
            (int(begins[j]), solved.coef[c if j > c else c - 1, begins[j] : begins[j + 1]][:, None])
            for j in others.tolist()
        ]
        values = kernel.grouped(columns, groups, rows)
        table[:, rows] = (values[:, : k - 1] + values[:, k - 1 :] + intercept[c, others]).T
