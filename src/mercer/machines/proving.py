"""The proof of a fit: in which precision it is made, and what happens when it fails.

The values of a model on its training rows are a product of the kernel matrix with the returned
coefficients, made after the last step; solvers end with that product, so it is not made twice. A
model trained on float32 kernel values is checked on float64 values where that is cheap beside the
fit, or where rounding could be as large as the tolerance. One that then violates its
tolerance is refined on float64 values, from where it stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.kernels import Definiteness, FromFunction, Kernel
from mercer.machines.formulation import Formulation, Measure, Outcome, Task, feasible
from mercer.machines.multiclass import Scheme
from mercer.machines.scale import largest_square
from mercer.machines.solving import TrainingKernel, solve_tasks
from mercer.solvers import Certificate, Settings

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-14
"""A coefficient this small beside the largest one is rounding, and set to 0."""

_CHEAP = 10
"""A float64 value costs about twice what a float32 one does: a tenth of the values of the fit,
checked in float64, is a fifth of its time."""

_SINGLE_ERROR = 1e-6
"""Largest error of a float32 kernel value (see `mercer.gram.layout`)."""


@dataclass
class Fitting:
    """Everything a fit works on; nothing of it outlives the call of ``fit``."""

    X: Any
    gram: Gram
    scheme: Scheme
    formulation: Formulation
    settings: Settings
    weight: Array
    kept: NDArray[np.intp] | None
    n_total: int
    tasks: list[Task]
    solutions: list[Any]
    outcomes: list[Outcome]

    @property
    def interrupted(self) -> bool:
        """Whether the user interrupted the solver, other than by a callback."""
        asked = getattr(self.settings.callback, "stopped", False)
        return not asked and any(s.status == "interrupted" for s in self.solutions)

    def matrix(self) -> Array:
        """Return the coefficients of all tasks in the layout of ``dual_coef_``, over all rows."""
        matrix = self.scheme.stack([outcome.beta for outcome in self.outcomes])
        size = np.abs(matrix)
        rounding = (size > 0.0) & (size <= _NEGLIGIBLE * size.max())
        return np.where(rounding, 0.0, matrix) if rounding.any() else matrix

    @property
    def largest(self) -> float:
        """The largest squared norm in feature space."""
        return largest_square(self.gram)


def prove(fitting: Fitting, n_jobs: int | None) -> tuple[Array, list[Measure], str]:
    """Return the coefficients, the proofs of all tasks and the precision they were made in.

    The fitting is changed where the model had to be refined.
    """
    matrix = fitting.matrix()
    precision = checking_precision(fitting, matrix)
    measures = _measures(fitting, matrix, precision, n_jobs)
    if precision == fitting.gram.dtype or not _refinable(fitting, measures):
        return matrix, measures, precision
    gram = Gram(fitting.gram.kernel, fitting.X, precision)
    starts: list[Array | None] = [
        feasible(task, fitting.formulation.variables(task, outcome))
        for task, outcome in zip(fitting.tasks, fitting.outcomes, strict=True)
    ]
    before = fitting.solutions
    fitting.gram = gram
    fitting.solutions, fitting.outcomes = solve_tasks(
        fitting.formulation, fitting.tasks, gram, fitting.X, fitting.settings, starts
    )
    for old, new in zip(before, fitting.solutions, strict=True):
        new.n_iter += old.n_iter
        new.n_kernel_values += old.n_kernel_values
        new.seconds += old.seconds
    matrix = fitting.matrix()
    return matrix, _measures(fitting, matrix, precision, n_jobs), precision


def checking_precision(fitting: Fitting, matrix: Array) -> str:
    """Return the precision in which the model is to be checked."""
    if fitting.gram.dtype == "float64":
        return "float64"
    n_support = int(np.count_nonzero(matrix.any(axis=0)))
    spent = sum(int(solution.n_kernel_values) for solution in fitting.solutions)
    if _CHEAP * n_support * fitting.gram.n <= spent:
        return "float64"
    # Rounding errors of independent values add up like the root of the sum of squares.
    rounding = _SINGLE_ERROR * math.sqrt(float(np.square(matrix).sum(axis=1).max()))
    return "float64" if rounding > fitting.settings.tol else "float32"


def _measures(fitting: Fitting, matrix: Array, precision: str, n_jobs: int | None) -> list[Measure]:
    values = _fresh_values(fitting) if precision == fitting.gram.dtype else None
    if values is None:
        kernel = TrainingKernel(fitting.gram, fitting.X, precision, n_jobs)
        values = fitting.scheme.training_values(matrix, kernel)
    return fitting.formulation.measures(fitting.tasks, fitting.outcomes, values, fitting.largest)


def _fresh_values(fitting: Fitting) -> list[Array] | None:
    """Return the values of the models where the solver's last act was to compute them."""
    values = []
    parts = (fitting.tasks, fitting.solutions, fitting.outcomes)
    for task, solution, outcome in zip(*parts, strict=True):
        found = fitting.formulation.values(task, solution, outcome) if solution.fresh else None
        if found is None:
            return None
        values.append(found)
    return values


def _refinable(fitting: Fitting, measures: list[Measure]) -> bool:
    """Return whether a model that was meant to be within its tolerance is not."""
    settings = fitting.settings
    if any(solution.status != "optimal" for solution in fitting.solutions):
        return False
    if settings.gap_tol is not None:
        return any(m.values.relative_gap > settings.gap_tol for m in measures)
    return any(m.violation > settings.tol for m in measures)


def certificates(
    kernel: Kernel, measures: Sequence[Measure], counts: Sequence[Any], precision: str
) -> list[Certificate]:
    """Return the certificates of all tasks.

    Parameters
    ----------
    kernel : Kernel
        The bound kernel; an indefinite one has stationary points and no gap.
    measures : sequence of Measure
        What was computed from the models.
    counts : sequence of Solution or Certificate
        Carry ``status``, ``n_iter``, ``n_kernel_values`` and ``seconds``.
    precision : str
        Precision of the kernel values behind `measures`.
    """
    indefinite = kernel.definiteness is Definiteness.INDEFINITE
    assumed = assumption(kernel)
    result = []
    for measure, count in zip(measures, counts, strict=True):
        primal, dual, _, _ = measure.values
        status, relative, assumes = count.status, measure.values.relative_gap, assumed
        if indefinite or status == "stationary" or getattr(count, "negative_curvature", False):
            primal = dual = relative = math.nan
            status, assumes = "stationary" if status == "optimal" else status, None
        result.append(
            Certificate(
                status,
                primal,
                dual,
                primal - dual,
                relative,
                measure.violation,
                int(count.n_iter),
                int(count.n_kernel_values),
                float(count.seconds),
                precision,
                assumes,
            )
        )
    return result


def assumption(kernel: Kernel) -> str | None:
    """Return "psd" where definiteness is the user's word, None where it is a theorem.

    "cpd" is the user's word for conditional definiteness, which an intercept makes sufficient.
    """
    if kernel.definiteness is Definiteness.UNKNOWN or _has_user_code(kernel):
        return "cpd" if kernel.definiteness.order == 1 else "psd"
    return None


def _has_user_code(kernel: Kernel) -> bool:
    return isinstance(kernel, FromFunction) or any(_has_user_code(k) for k in kernel._parts())
