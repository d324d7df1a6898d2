"""The proof of a fit: in which precision it is made, and what happens when it fails.

The values of a model on its training rows are a product of the kernel matrix with the returned
coefficients, made after the last step; solvers end with that product, so it is not made twice. A
model trained on float32 kernel values is checked on float64 values where that is cheap beside the
fit, or where rounding could be as large as the tolerance. One that then violates its
tolerance is refined on float64 values, from where it stands.

A fit that the user interrupts is not kept waiting: its proof is made of the values that the solver
had at hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram, refuse_asymmetry
from mercer.kernels import Definiteness, FromFunction, Kernel
from mercer.solvers import Certificate, Settings
from mercer.solvers.certificate import SOLVER_VALUES

from .formulation import Formulation, Measure, Outcome, Task, feasible
from .multiclass import Scheme
from .rounding import ERROR, REACHED, rounding_of_values
from .scale import largest_square
from .solving import TrainingKernel, solve_tasks

Array = NDArray[np.float64]

_NEGLIGIBLE, _UNSEEN = 1e-14, 1e-3
"""A coefficient this small beside the largest one, and whose part of a decision value is this
small beside the tolerance, is rounding, and set to 0."""

_CHEAP = 10
"""A float64 value costs about twice what a float32 one does: a tenth of the values of the fit,
checked in float64, is a fifth of its time."""

_UNLIMITED = ("optimal", "stationary", "iteration_limit")
"""How a fit without a limit ends: within its tolerance, or where no step makes progress."""


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
    signalled: bool = False
    rounding: float | None = None  # see `_rounding`, of these outcomes

    @property
    def interrupted(self) -> bool:
        """Whether the user interrupted the fit, other than by a callback."""
        asked = getattr(self.settings.callback, "stopped", False)
        return self.signalled or (
            not asked and any(s.status == "interrupted" for s in self.solutions)
        )

    def interrupt(self) -> None:
        """Take note of an interrupt that the solver did not see."""
        self.signalled = True
        for solution in self.solutions:
            solution.status = "interrupted"

    def matrix(self) -> Array:
        """Return the coefficients of all tasks in the layout of ``dual_coef_``, over all rows."""
        matrix = self.scheme.stack([outcome.beta for outcome in self.outcomes])
        size = np.abs(matrix)
        rounding = (size > 0.0) & (size <= _NEGLIGIBLE * size.max())
        if rounding.any():  # and no decision value sees it
            rounding &= size * self.largest <= _UNSEEN * self.settings.tol
        return np.where(rounding, 0.0, matrix) if rounding.any() else matrix

    @property
    def largest(self) -> float:
        """The largest squared norm in feature space."""
        return largest_square(self.gram)


def prove(fitting: Fitting, n_jobs: int | None) -> tuple[Array, list[Measure], str]:
    """Return the coefficients, the proofs of all tasks and the precision they were made in.

    The fitting is changed where the model had to be refined.
    """
    precision = checking_precision(fitting)
    proof = _checked(fitting, precision, n_jobs)
    if precision != fitting.gram.dtype and _refinable(fitting, proof[1]):
        _refine(fitting, precision)
        proof = _checked(fitting, precision, n_jobs)
    # Errors of float32 values add up to no more than the tolerance; see `checking_precision`.
    matrix, measures, _ = proof
    missed = [_excess(fitting.settings, measure) for measure in measures]
    rounding = 0.0
    if precision == "float32" and max(missed) > 0.0 and not fitting.interrupted:
        rounding = _rounding(fitting)
    for solution, excess in zip(fitting.solutions, missed, strict=True):
        if excess <= rounding:
            continue
        unlimited = fitting.settings.max_iter < 0 and not fitting.interrupted
        if unlimited and solution.status in _UNLIMITED:
            refuse_asymmetry(fitting.gram, np.flatnonzero(matrix.any(axis=0)), fitting.kept)
        if solution.status == "optimal":
            solution.status = "iteration_limit"  # the solver was wrong about its own values
    return proof


def _refine(fitting: Fitting, precision: str) -> None:
    """Go on from the model on kernel values of another precision."""
    gram = fitting.gram.in_precision(precision)
    starts: list[Array | None] = [
        feasible(task, fitting.formulation.variables(task, outcome))
        for task, outcome in zip(fitting.tasks, fitting.outcomes, strict=True)
    ]
    before = fitting.solutions
    refined, outcomes = solve_tasks(
        fitting.formulation, fitting.tasks, gram, fitting.X, fitting.settings, starts
    )
    for old, new in zip(before, refined, strict=True):
        new.after(old)
    fitting.gram, fitting.solutions, fitting.outcomes = gram, refined, outcomes
    fitting.rounding = None


def _checked(
    fitting: Fitting, precision: str, n_jobs: int | None
) -> tuple[Array, list[Measure], str]:
    if fitting.interrupted:
        return _as_solved(fitting)
    matrix = fitting.matrix()
    return matrix, _measures(fitting, matrix, precision, n_jobs), precision


def _as_solved(fitting: Fitting) -> tuple[Array, list[Measure], str]:
    """Return what `prove` returns from the values that the solver left, NaN where it has none."""
    formulation, tasks, outcomes = fitting.formulation, fitting.tasks, fitting.outcomes
    values = [
        formulation.solver_values(task, outcome, solution.values)
        for task, outcome, solution in zip(tasks, outcomes, fitting.solutions, strict=True)
    ]
    measures = formulation.measures(tasks, outcomes, values, fitting.largest)
    lowest = min(solution.precision for solution in fitting.solutions)
    return fitting.matrix(), measures, f"{lowest}, {SOLVER_VALUES}"


def checking_precision(fitting: Fitting) -> str:
    """Return the precision in which the model is to be checked."""
    if fitting.gram.dtype == "float64" or fitting.interrupted:
        return fitting.gram.dtype
    if fitting.gram.linear:  # a weight vector, which costs next to nothing
        return "float64"
    n_support = int(np.count_nonzero(fitting.matrix().any(axis=0)))
    spent = sum(int(solution.n_kernel_values) for solution in fitting.solutions)
    if _CHEAP * n_support * fitting.gram.n <= spent:
        return "float64"
    return "float64" if _rounding(fitting) > fitting.settings.tol else "float32"


def predicting_precision(fitting: Fitting) -> str:
    """Return the precision in which the model is to be evaluated.

    Single precision is for models of which it says what was proved.
    """
    single = fitting.gram.dtype == "float32" and not fitting.gram.linear
    if single and (fitting.interrupted or _rounding(fitting) <= fitting.settings.tol):
        return "float32"
    return "float64"


def _rounding(fitting: Fitting) -> float:
    """Return what the errors of float32 kernel values make of a violation, estimated once."""
    if fitting.rounding is None:
        fitting.rounding = _estimate(fitting)
    return fitting.rounding


def _estimate(fitting: Fitting) -> float:
    """Return what `_rounding` keeps.

    Where the largest k(x, x), which bounds all values of a positive semidefinite kernel, shows that
    it is less than the tolerance, that will do.
    """
    units = [fitting.formulation.unit(outcome) for outcome in fitting.outcomes]
    if fitting.gram.kernel.definiteness.is_psd:
        norms = [math.sqrt(float(np.square(outcome.beta).sum())) for outcome in fitting.outcomes]
        largest = ERROR["float32"] * fitting.largest
        bound = max(largest * norm * unit for norm, unit in zip(norms, units, strict=True))
        if bound <= fitting.settings.tol:
            return bound
    errors = rounding_of_values(
        fitting.gram, fitting.tasks, fitting.outcomes, "float32", fitting.settings.n_jobs
    )
    return max(error * unit for error, unit in zip(errors, units, strict=True))


def _measures(fitting: Fitting, matrix: Array, precision: str, n_jobs: int | None) -> list[Measure]:
    values = _fresh_values(fitting) if precision == fitting.gram.dtype else None
    if values is None:
        kernel = TrainingKernel(fitting.gram, precision, n_jobs)
        values = fitting.scheme.training_values(matrix, kernel)
    return fitting.formulation.measures(fitting.tasks, fitting.outcomes, values, fitting.largest)


def _fresh_values(fitting: Fitting) -> list[Array] | None:
    """Return the values of the models where the solver's last act was to compute them.

    It reads rows of the matrix as columns, which for a Python function is to be proved.
    """
    if fitting.gram.in_python or not all(solution.fresh for solution in fitting.solutions):
        return None
    parts = (fitting.tasks, fitting.outcomes, fitting.solutions)
    return [
        fitting.formulation.solver_values(task, outcome, solution.values)
        for task, outcome, solution in zip(*parts, strict=True)
    ]


def _refinable(fitting: Fitting, measures: list[Measure]) -> bool:
    """Return whether a model that was meant to be within its tolerance is not."""
    if any(solution.status != "optimal" for solution in fitting.solutions):
        return False
    return any(_excess(fitting.settings, measure) > 0.0 for measure in measures)


def _excess(settings: Settings, measure: Measure) -> float:
    """Return by how much a model misses the tolerance that was asked for."""
    if settings.gap_tol is not None:
        return measure.values.relative_gap - REACHED * settings.gap_tol
    return measure.violation - REACHED * settings.tol


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

    "cpd" is the user's word for conditional definiteness, which an intercept makes sufficient, or
    a linear function beside it.
    """
    if kernel.definiteness is Definiteness.UNKNOWN or _has_user_code(kernel):
        return "cpd" if kernel.definiteness.order else "psd"
    return None


def _has_user_code(kernel: Kernel) -> bool:
    return isinstance(kernel, FromFunction) or any(_has_user_code(k) for k in kernel._parts())
