"""Tasks handed to the ladder of solvers, and the values of a model on its training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.gram import Gram, Prepared
from mercer.objects.arrays import Array, Rows
from mercer.run import Run
from mercer.solvers import Job, Settings, solve_jobs
from mercer.solvers.certificate import GAP_LIMIT
from mercer.solvers.ladder import FINE_GAP, FINE_TOL
from mercer.solvers.task import Task

from .tasks import PairTasks

_LAST_TOLERANCE = 1e-10
"""A violation that double precision still resolves."""

_CLOSED = 0.5
"""Part of the largest gap at which solvers stop: the rest is for rounding, which the proof adds."""

_SMALL = 1000
"""Up to this number of rows the whole kernel matrix costs less than packing some rows again."""


def settings_for(machine: Any) -> Settings:
    """Return the solver settings that a machine's parameters describe.

    A tolerance on the gap replaces the one on the violation, which is kept only as an end to
    what rounding allows.
    """
    by_gap = machine.gap_tol is not None
    return Settings(
        tol=min(float(machine.tol), _LAST_TOLERANCE) if by_gap else float(machine.tol),
        gap_tol=float(machine.gap_tol) if by_gap else None,
        largest_gap=0.0 if by_gap else _CLOSED * GAP_LIMIT,
        shrinking=bool(machine.shrinking),
        cache_size=float(machine.cache_size),
        n_jobs=machine.n_jobs,
        solver=machine.solver,
    )


def solve_tasks(
    tasks: Sequence[Task] | PairTasks,
    gram: Gram,
    settings: Settings,
    run: Run,
    starts: Sequence[Array | None] | None = None,
) -> Any:
    """Return the solution of every task, all of them on one Gram matrix.

    Those of pairs of classes are arrays, `mercer.solvers.class_pairs.PairSolutions`. What float32
    values cannot resolve is left to the proof, which goes on in float64.
    """
    if isinstance(tasks, PairTasks):
        return solve_jobs([Job(tasks.problems, gram)], settings, run=run)[0]
    if gram.dtype == "float32":
        gap_tol = settings.gap_tol and max(settings.gap_tol, FINE_GAP)
        settings = replace(settings, tol=max(settings.tol, FINE_TOL), gap_tol=gap_tol)
    if starts is None:
        jobs = [Job(task.problem, gram) for task in tasks]
    else:
        jobs = [Job(task.problem, gram, start) for task, start in zip(tasks, starts, strict=True)]
    solutions = solve_jobs(jobs, settings, run=run)

    def settle() -> None:
        for task, solution in zip(tasks, solutions, strict=True):
            task.settle(solution, gram)

    if run.keep(settle):
        solutions[-1].status = "interrupted"
    return solutions


class TrainingKernel:
    """Products of kernel values between training rows with coefficients."""

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

    def grouped_at(self, columns: Rows, groups: list[tuple[int, Array]], rows: Rows) -> Array:
        """Return products of some rows with groups of consecutive columns, side by side."""
        if self.dtype == self.gram.dtype:
            return self.gram.grouped_matmul(groups, self.n_jobs, rows, columns)
        return self.grouped(self.prepared(columns), groups, rows)

    def prepared(self, columns: Rows) -> Prepared:
        """Return training rows in the form in which others are compared with them."""
        kernel = self.gram.kernel
        objects = columns if kernel.pairwise else self.gram.views.take(columns)
        return Prepared(kernel, objects, self.dtype, self.gram.program)

    def _rows(self, rows: Rows | None) -> Any:
        return self.gram.views if rows is None else self.gram.views.take(rows)
