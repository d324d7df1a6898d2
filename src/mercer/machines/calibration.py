"""Probabilities from decision values, by one rule that cannot contradict the prediction.

Two classes. P(second class | x) = 1 / (1 + exp(-a f(x))) with a > 0: monotone, and through
(0, 1/2), so the probability exceeds 1/2 exactly where f > 0 and the class is predicted; at f = 0,
where both are 1/2, the second class is predicted by convention. The slope a minimises the cross
entropy of decision values that were computed by machines trained without the sample (stratified
folds on the same kernel matrix), against targets drawn in from 0 and 1 as by Platt (1999):
(N+ + 1) / (N+ + 2) and 1 / (N- + 2).

Several classes. The same map for each binary problem. One against one: the pairwise
probabilities r_ij are coupled by the second method of Wu, Lin and Weng (2004), which minimises
sum_ij (r_ji p_i - r_ij p_j)^2 over distributions p. One against the rest: the values are divided
by their sum. In both cases the result is then projected onto the distributions in which no class
is more probable than the predicted one.

Weights enter the machines of the folds and the cross entropy; that a weight is a repetition
holds for the machine itself, not for its calibration, which depends on the folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .errors import InfeasibleNuError
from .formulation import Formulation, Outcome, Task, feasible
from .multiclass import pairs
from .solving import TrainingKernel, solve_tasks

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

N_FOLDS = 5


def calibration_slopes(
    formulation: Formulation,
    tasks: list[Task],
    outcomes: list[Outcome],
    gram: Any,
    X: Any,
    settings: Any,
    kernel: TrainingKernel,
    random_state: Any,
) -> Array:
    """Return the slope of the sigmoid of every task.

    Parameters
    ----------
    formulation, tasks, outcomes : Formulation, list of Task, list of Outcome
        The machine that was fitted, task by task.
    gram : Gram
        The kernel matrix of the training rows, on which the folds are views.
    X : objects
        The training rows.
    settings : Settings
        Tolerances and limits of the solver.
    kernel : TrainingKernel
        Multiplies blocks of the kernel matrix.
    random_state : int, RandomState or None
        Draws the folds.
    """
    from sklearn.utils import check_random_state

    random = check_random_state(random_state)
    held_out = [_folds(task, random) for task in tasks]
    parts: list[tuple[int, Rows, Task]] = []
    for t, (task, folds) in enumerate(zip(tasks, held_out, strict=True)):
        for k in range(int(folds.max(initial=-1)) + 1):
            inside = np.flatnonzero(folds != k)
            part = _subtask(formulation, task, inside)
            if part is not None:
                parts.append((t, np.flatnonzero(folds == k), part))
    starts = []
    for t, outside, part in parts:
        inside = np.setdiff1d(np.arange(len(tasks[t].y)), outside, assume_unique=True)
        shrunk = outcomes[t]._replace(beta=outcomes[t].beta[inside])
        starts.append(feasible(part, formulation.variables(part, shrunk)))
    values = [np.full(len(task.y), np.nan) for task in tasks]
    if parts:
        solutions, fold_outcomes = solve_tasks(
            formulation, [part for _, _, part in parts], gram, X, settings, starts
        )
        if any(solution.status == "interrupted" for solution in solutions):
            raise KeyboardInterrupt(
                "the calibration was interrupted; the machine itself is fitted, without "
                "probabilities."
            )
        for (t, outside, part), outcome in zip(parts, fold_outcomes, strict=True):
            everything = tasks[t].rows
            rows = outside if everything is None else everything[outside]
            support = np.flatnonzero(outcome.beta)
            columns = part.rows[support]  # type: ignore[index]
            f0 = kernel.product(columns, outcome.beta[support][:, None], rows)[:, 0]
            values[t][outside] = f0 + formulation.offset(outcome, rows)
    return np.array([_slope(v, task) for v, task in zip(values, tasks, strict=True)])


def _folds(task: Task, random: Any) -> NDArray[np.intp]:
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
    try:
        return formulation.task(y, weight, rows, task.name)
    except InfeasibleNuError as error:
        if not error.largest_nu > 0.0:
            return None
        nu = formulation.nu  # type: ignore[attr-defined]
        formulation.nu = error.largest_nu  # type: ignore[attr-defined]
        try:
            return formulation.task(y, weight, rows, task.name)
        finally:
            formulation.nu = nu  # type: ignore[attr-defined]


def _slope(values: Array, task: Task) -> Array:
    """Return the slope a > 0 that minimises the cross entropy, by Newton's method."""
    known = np.isfinite(values)
    f, y, s = values[known], task.y[known], task.weight[known]
    scale = float(np.abs(f).mean()) if len(f) else 0.0
    if scale == 0.0:
        return np.float64(1.0)  # type: ignore[return-value]
    f = f / scale
    positive = y > 0.0
    plus, minus = float(s[positive].sum()), float(s[~positive].sum())
    target = np.where(positive, (plus + 1.0) / (plus + 2.0), 1.0 / (minus + 2.0))
    a = 1.0
    for _ in range(100):
        p = _sigmoid(a * f)
        gradient = float(s @ ((p - target) * f))
        curvature = float(s @ (p * (1.0 - p) * f * f)) + 1e-12
        # The cross entropy is convex in a; half steps keep Newton from leaving the flat tails.
        step = np.clip(gradient / curvature, -0.5 * a - 0.5, 0.5 * a)
        a -= step
        if abs(step) <= 1e-10 * a or a < _SMALLEST:
            break
    return np.float64(max(a, _SMALLEST) / scale)  # type: ignore[return-value]


_SMALLEST = 1e-4
"""Least slope per typical decision value: worthless scores still break the tie at 1/2."""


def binary_probabilities(decision: Array, slope: float) -> Array:
    """Return the probabilities of both classes.

    Parameters
    ----------
    decision : array of shape (n_samples,)
        Decision values, positive for the second class.
    slope : float
        Slope of the sigmoid.
    """
    p = _sigmoid(slope * decision)
    above = np.nextafter(0.5, 1.0)
    # Rounding must not decide: strictly more than 1/2 for every positive value, however small.
    p = np.where(decision > 0.0, np.maximum(p, above), np.minimum(p, 0.5))
    return np.column_stack([1.0 - p, p])


def pairwise_probabilities(decision: Array, slopes: Array, predicted: Rows, k: int) -> Array:
    """Return the probabilities of `k` classes from one-against-one decision values.

    Parameters
    ----------
    decision : array of shape (n_samples, k (k - 1) / 2)
        Values of the pairs, positive for the first class of each.
    slopes : array
        Slope of the sigmoid of each pair.
    predicted : array of int
        The predicted classes.
    k : int
        Number of classes.
    """
    n = len(decision)
    r = np.zeros((n, k, k))
    p = np.clip(_sigmoid(decision * slopes), 1e-7, 1.0 - 1e-7)
    for column, (i, j) in enumerate(pairs(k)):
        r[:, i, j] = p[:, column]
        r[:, j, i] = 1.0 - p[:, column]
    # Q_ii = sum_j r_ji^2, Q_ij = -r_ij r_ji; minimise p'Qp over sum p = 1.
    Q = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(k)
    Q[:, diagonal, diagonal] = (r**2).sum(axis=1) + 1e-12
    coupled = np.linalg.solve(Q, np.ones((n, k, 1)))[:, :, 0]
    coupled = np.maximum(coupled / coupled.sum(axis=1, keepdims=True), 1e-12)
    return project(coupled / coupled.sum(axis=1, keepdims=True), predicted)


def rest_probabilities(decision: Array, slopes: Array, predicted: Rows) -> Array:
    """Return the probabilities from one-against-the-rest decision values, one column a class."""
    p = np.maximum(_sigmoid(decision * slopes), 1e-12)
    return project(p / p.sum(axis=1, keepdims=True), predicted)


def project(probabilities: Array, predicted: Rows) -> Array:
    """Return the nearest distributions in which the predicted class is the most probable.

    Where another class is ahead, the predicted one and those ahead of it share their mean, one
    after the other until none is left ahead; the rest stays. A part in 10^12 keeps the predicted
    class strictly in front.

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_classes)
        Distributions.
    predicted : array of int
        The class of each row that shall lead.
    """
    result = probabilities.copy()
    for row in np.flatnonzero(result.argmax(axis=1) != predicted):
        p, c = result[row], predicted[row]
        others = np.delete(np.arange(len(p)), c)
        others = others[np.argsort(-p[others], kind="stable")]
        total, pooled = p[c], 0
        while pooled < len(others) and p[others[pooled]] > total / (pooled + 1):
            total += p[others[pooled]]
            pooled += 1
        level = total / (pooled + 1)
        p[others[:pooled]] = level * (1.0 - 1e-12)
        p[c] = level * (1.0 + pooled * 1e-12)
    return result


def _sigmoid(t: Array) -> Array:
    return expit(t)
