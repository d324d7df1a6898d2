"""Cross-fitting: decision values of training rows from machines trained without them.

The rows are divided into five stratified folds; for each fold the machine is trained on the
other four, on the kernel matrix of the fit and from its solution (`solve_on`), and evaluated on the
fold. Five fits on four fifths of the rows: with the fit itself never more than six.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.objects.arrays import Array, Rows
from mercer.objects.validation import take
from mercer.run import Run
from mercer.solvers import Settings
from mercer.solvers.class_pairs import PairSolutions

from .calibration import Scores
from .fitting import solve_on
from .linear_part import dense_columns, linear_columns
from .proving import Fitting
from .solving import TrainingKernel

N_FOLDS = 5


def cross_fitted(
    machine: Any, fitting: Fitting, settings: Settings, run: Run, random: Any
) -> tuple[Scores, bool]:
    """Return the scores of all binary problems, and whether a limit ended a machine of the folds.

    Where rows that repeat were trained together, the single rows are left out, not the groups: of a
    row that occurs ten times in the training set eight or so stay, as new rows would meet it there.
    A group has a score for every fold in which it has members, with their weight. A class of one
    row cannot be left out. A time limit is for all folds together.
    """
    scheme: Any = fitting.scheme
    codes, data = scheme.codes, fitting.data
    m, repeated = len(codes), fitting.repetition
    group = np.arange(m) if repeated is None else repeated.group
    given = data.weight if repeated is None else fitting.row_weight
    weight = np.ones(len(group)) if given is None else given
    folds = np.full(len(group), -1, dtype=np.intp)
    for c in range(len(scheme.classes)):
        rows = np.flatnonzero(codes[group] == c)
        if len(rows) > 1:
            folds[random.permutation(rows)] = np.arange(len(rows)) % N_FOLDS
    kernel = TrainingKernel(fitting.gram, n_jobs=settings.n_jobs)
    untrained = _of_fold(machine)
    start = None if isinstance(fitting.solutions, PairSolutions) else machine
    limited, found = False, list[tuple[NDArray[Any], ...]]()
    for fold in range(1 + int(folds.max())):
        away = folds == fold
        inside, outside = (
            np.bincount(group[part], weight[part], m).astype(np.float64) for part in (~away, away)
        )
        left = run.branch(share=1.0 / (N_FOLDS - fold))
        rest, rows = np.flatnonzero(inside > 0.0), np.flatnonzero(outside > 0.0)
        part, gram = data.merged(rest, inside[rest]), fitting.gram.take(rest)
        trained = solve_on(untrained, part, gram, start, settings, left)
        if "interrupted" in trained.statuses:
            raise KeyboardInterrupt(
                "the calibration was interrupted; the machine itself is fitted, without "
                "probabilities."
            )
        limited |= "time_limit" in trained.statuses
        limited |= run.max_iter is not None and "iteration_limit" in trained.statuses
        problem, positive = scheme.sides(codes[rows])
        values = _values(trained, rest, fitting, kernel, rows, problem)
        weights = np.broadcast_to(outside[rows], problem.shape)
        found.append((problem.ravel(), values.ravel(), positive.ravel(), weights.ravel()))
    if not found:
        found.append(tuple(np.zeros(0, dtype=t) for t in (np.intp, float, bool, float)))
    problem, value, positive, weights = (np.concatenate(p) for p in zip(*found, strict=True))
    order = np.argsort(problem, kind="stable")
    ends = np.cumsum(np.bincount(problem, minlength=len(machine.intercept_)))
    starts = np.concatenate([[0], ends[:-1]]).astype(np.intp)
    return Scores(value[order], positive[order], weights[order], starts), limited


def _of_fold(machine: Any) -> Any:
    """Return an unfitted machine with the prices of a fitted one, which lowers an infeasible nu."""
    untrained = clone(machine)
    untrained.probability, untrained.verbose, untrained.warm_start = False, False, False
    prices = zip(machine.classes_.tolist(), machine.class_weight_.tolist(), strict=True)
    untrained.class_weight, untrained._lowers_nu = dict(prices), True
    if hasattr(machine, "C_"):
        untrained.C, untrained.lam = machine.C_, None
    return untrained


def _values(
    trained: Fitting,
    rest: Rows,
    fitting: Fitting,
    kernel: TrainingKernel,
    rows: Rows,
    problem: Rows,
) -> Array:
    """Return the values of some rows, in the problems they belong to, by models on the rest."""
    coef, intercept, linear = trained.models()
    matrix = np.zeros((len(coef), fitting.data.n))
    matrix[:, rest] = coef
    values = fitting.scheme.values_at(matrix, kernel, rows) + intercept[problem]
    if linear is None:
        return values
    of_kernel = fitting.gram.kernel
    X = dense_columns(take(fitting.data.X, rows), of_kernel, linear_columns(of_kernel))
    return values + (X @ linear.T)[np.arange(len(rows)), problem]
