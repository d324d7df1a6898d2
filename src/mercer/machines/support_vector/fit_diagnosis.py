"""Errors and warnings at the end of a fit: infeasible, interrupted, not converged and why."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer.gram.mapped_objects import Views
from mercer.kernels.kept_documents import without_texts
from mercer.objects.callers import warn_caller
from mercer.objects.tables import columns_of, is_table
from mercer.objects.validation import is_missing, take
from mercer.solvers import Certificate
from mercer.solvers.certificate import GAP_LIMIT
from mercer.solvers.prove.primal_dual import dot
from mercer.solvers.task import joined

from ..errors import ConvexCombination, NotSeparableError
from .rounding import REACHED, SEEN, rounding_of_values

if TYPE_CHECKING:
    from .base import KernelMachine
    from .proving import Fitting

_LARGE = 1e6  # kernel values that call for other units
_UNEVEN = 1e3  # ratio of weights that is worth a remark
_SAMPLE = 2000  # rows in the sample of a diagnosis


def refuse_infeasible(machine: KernelMachine, fitting: Fitting) -> None:
    """Raise if a task has no solution, with the two convex combinations that prove it."""
    for task, solution in zip(fitting.tasks, fitting.solutions, strict=True):
        if solution.status != "infeasible":
            continue
        beta = solution.beta
        rows = np.arange(len(beta)) if task.rows is None else task.rows
        first, second = np.flatnonzero(beta > 0.0), np.flatnonzero(beta < 0.0)
        total = max(float(beta[first].sum()), -float(beta[second].sum()), 1e-300)
        # An unbounded dual may have grown until products of it overflow.
        norm2 = max(dot(beta / total, solution.values / total), 0.0)
        distance = math.sqrt(norm2)
        combinations = [
            ConvexCombination(
                rows[side] if fitting.data.kept is None else fitting.data.kept[rows[side]],
                np.abs(beta[side]) / max(float(np.abs(beta[side]).sum()), 1e-300),
            )
            for side in (first, second)
        ]
        message = _infeasible(machine, task, combinations, distance)
        raise NotSeparableError(message, combinations[0], combinations[1], distance)
    models = zip(fitting.tasks, fitting.solutions, strict=True)
    total = float(joined([solution.beta for solution in fitting.solutions]).sum())
    found = (t.intercept(s) + t.scale(s) for t, s in models)
    if not math.isfinite(sum(found, total)):
        raise ValueError(
            "The dual coefficients, intercepts or margins are not finite: the kernel values "
            f"overflow. To avoid it, {_smaller_values(fitting)}."
        )


def _infeasible(
    machine: KernelMachine, task: Any, combinations: list[ConvexCombination], distance: float
) -> str:
    sizes = " and ".join(str(len(c.rows)) for c in combinations)
    evidence = (
        f"convex combinations of {sizes} training rows, which would have to lie on opposite sides, "
        f"coincide in feature space up to a distance of {distance:.3g} (see the attributes first, "
        "second and distance of this error)"
    )
    if task.name is None:
        tube = hasattr(machine, "epsilon")
        what = f"no function {'stays within epsilon of' if tube else 'attains'} all targets (C=inf)"
        advice = f"Use a finite C{', a larger epsilon' * tube} or another kernel."
    else:
        a, b = task.name
        what = f"the classes {a!r} and {b!r} are not separable by this kernel (C=inf)"
        advice = "Use a finite C or another kernel, and look for duplicates with opposite labels."
    return f"{type(machine).__name__}: {what}: {evidence}. {advice}"


def refuse_other_data(machine: KernelMachine, X: Any) -> None:
    """Raise if `X` does not hold the model's support vectors where it was trained on them."""
    if machine.kernel_.pairwise or len(machine.support_) == 0:
        return
    found = without_texts(machine.kernel_, Views(take(X, machine.support_))).X
    expected = machine.support_vectors_
    if sp.issparse(found):
        same = found.shape == expected.shape and (found != expected).nnz == 0
    elif is_table(found) or is_table(expected):
        same = found.shape == expected.shape and all(
            all(map(_equal, a, b))
            for a, b in zip(columns_of(found), columns_of(expected), strict=True)
        )
    elif hasattr(found, "shape"):
        same = np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
    else:
        same = all(map(_equal, found, expected))
    if not same:
        raise ValueError(
            "X must hold the training data, in the same order; the support vectors are not at "
            "their places in it."
        )


def checked_again(
    machine: KernelMachine, found: list[Certificate], rounding: list[tuple[float, float]]
) -> list[Certificate]:
    """Return certificates of a model on data given again, whose status is true of these data.

    Other labels or weights than those of the fit may leave no dual point, or one far from the
    optimum. A model that was proved on rounded values may miss its tolerance by their errors, which
    make `rounding` of the violation and of the relative gap of each task: once for what the fit
    took for rounding (see `proving`), and once for what it did not see. Errors larger than the
    tolerance excuse nothing.
    """
    for before, now in zip(machine.certificates_, found, strict=True):
        if math.isfinite(before.dual) and not math.isfinite(now.dual):
            raise ValueError("these are not the samples, labels and weights of the fit.")
    checked = []
    for now, (of_violation, of_gap) in zip(found, rounding, strict=True):
        if machine.gap_tol is None:
            reached, tol, error = now.kkt_violation, float(machine.tol), of_violation
        else:
            reached, tol, error = now.relative_gap, float(machine.gap_tol), of_gap
        missed = reached > REACHED * tol + 2.0 * min(error, tol)
        status = "iteration_limit" if now.status == "optimal" and missed else now.status
        if status == "optimal" and machine.gap_tol is None:
            status = _status_of_gap(now)
        checked.append(replace(now, status=status))
    return checked


def _status_of_gap(found: Certificate) -> str:
    """Return "optimal" where the gap is as small as that of a fit has to be."""
    if not found.relative_gap > REACHED * GAP_LIMIT:
        return "optimal"
    without = found.relative_gap * (1.0 - found.rounding / found.gap)
    return "precision_limit" if without <= REACHED * GAP_LIMIT else "iteration_limit"


def _equal(a: Any, b: Any) -> bool:
    """Return whether two objects are equal, arrays entry by entry, or both missing."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if is_missing(a) or is_missing(b):
        return is_missing(a) and is_missing(b)
    return bool(a == b)


def out_of_memory(machine: KernelMachine, X: Any) -> MemoryError:
    """Return a MemoryError that names the size of the data and the remedies."""
    shape = getattr(getattr(X, "X", X), "shape", None)  # of the objects of a Gram
    size = f"data of shape {shape}" if shape else f"{len(X)} objects"
    return MemoryError(
        f"{type(machine).__name__}.fit ran out of memory on {size} with "
        f"cache_size={machine.cache_size:g} MB. Lower cache_size, pass float32 or sparse data, or "
        "train on fewer samples."
    )


def conclude(machine: KernelMachine, fitting: Fitting) -> None:
    """Warn about a fit that stopped early; hand on an interrupt after the model is kept."""
    statuses = fitting.statuses
    if "interrupted" in statuses and fitting.interrupted:
        raise KeyboardInterrupt(
            f"{type(machine).__name__}.fit was interrupted; the estimator holds the best model so "
            "far (certificate_.status is 'interrupted')."
        )
    found = machine.negative_curvature_
    if found is not None:
        warn_caller(
            f"The kernel matrix is not positive semidefinite: it has an eigenvalue of at most "
            f"{found.eigenvalue:.3g}, in the direction negative_curvature_. The problem is not "
            "convex, the model is a stationary point of it, and no gap bounds its distance from "
            "the optimum. Use a positive semidefinite kernel, or add a constant larger than "
            f"{-found.eigenvalue:.3g} to the diagonal of the matrix.",
            ConvergenceWarning,
        )
    limited = machine.max_iter >= 0
    for status, limit in (
        ("iteration_limit", f"max_iter={machine.max_iter}" if limited else "no more progress"),
        ("precision_limit", "no more progress"),
        ("time_limit", f"time_limit={machine.time_limit}"),
    ):
        if status in statuses:
            stuck = status == "precision_limit" or (status == "iteration_limit" and not limited)
            cause = _why_stuck(machine, fitting) if stuck else likely_cause(machine, fitting)
            warn_caller(
                f"Solver terminated early ({limit}): {_reached(machine)}. {cause}",
                ConvergenceWarning,
            )


def _reached(machine: KernelMachine) -> str:
    """Return the precision that a fit reached and the one that was required."""
    proof = machine.certificate_
    violation = f"the KKT violation is {proof.kkt_violation:.3g}"
    if machine.gap_tol is None:
        violation += f" (tol={machine.tol:g})"
    if not math.isfinite(proof.relative_gap):
        return violation
    gap = f"the relative gap {proof.relative_gap:.3g}"
    return f"{violation} and {gap}" + (
        "" if machine.gap_tol is None else f" (gap_tol={machine.gap_tol:g})"
    )


def _why_stuck(machine: KernelMachine, fitting: Fitting) -> str:
    """Return the likely reason why a fit without limits missed its tolerance, and a remedy."""
    coef, largest = fitting.models()[0], fitting.largest
    gram, models = fitting.gram, (fitting.tasks, fitting.betas())
    rounding = max(rounding_of_values(gram, *models, gram.dtype, machine.n_jobs))
    cause, advice, C = "", [], getattr(machine, "C", None)
    if rounding > SEEN * fitting.settings.tol:
        cause = (
            f"Likely cause: rounding. Coefficients as large as {np.abs(coef).max():.3g} and kernel "
            f"values as large as {largest:.3g} leave errors of up to {rounding:.1g} in the "
            "decision values. "
        )
    proof = machine.certificate_
    if not cause and proof.rounding > 0.5 * proof.gap:
        cause = (
            f"Likely cause: rounding, which can contribute {proof.rounding:.1g} to the gap of "
            f"{proof.gap:.3g}. "
        )
    if largest > _LARGE:
        advice.append(_smaller_values(fitting))
    if C is not None:
        advice.append("lower C" if math.isfinite(C) else "use a finite C")
    if float(fitting.weight.max()) > _UNEVEN * float(fitting.weight.min()):
        advice.append("use weights that differ less")
    tol = "tol" if machine.gap_tol is None else "gap_tol"
    nearer = f"To get nearer, {', or '.join(advice)}; a" if advice else "A"
    return (
        f"{cause}The model is the best one found, and its certificate holds. {nearer} larger {tol} "
        "accepts the model."
    )


def _smaller_values(fitting: Fitting) -> str:
    """Return how kernel values become smaller."""
    if fitting.gram.kernel.takes.requires_vectors:
        return "scale the columns of X, for instance with StandardScaler"
    return "normalise the kernel, mercer.kernels.normalize(kernel)"


def likely_cause(machine: KernelMachine, fitting: Fitting) -> str:
    """Return one or two sentences on why a fit takes long, from what is seen in the data."""
    causes: list[str] = []
    if machine.max_iter == 0:
        return "max_iter=0 allows no iteration; use -1 for no limit."
    X = fitting.data.X
    rows = np.linspace(0, fitting.gram.n - 1, min(_SAMPLE, fitting.gram.n)).astype(np.intp)
    if isinstance(X, np.ndarray) and X.ndim == 2 and not fitting.gram.kernel.pairwise:
        spread = X[rows].std(axis=0)
        widest, narrowest = spread.max(), spread[spread > 0].min(initial=np.inf)
        if np.isfinite(narrowest) and widest > 100.0 * narrowest:
            causes.append(
                f"the columns have different scales (standard deviations from {narrowest:.3g} to "
                f"{widest:.3g}): scale them, for instance with StandardScaler"
            )
        conflict = _conflicting_duplicates(X[rows], fitting.tasks, rows)
        if conflict:
            causes.append(f"{conflict} rows are duplicates of rows with the opposite label")
    price = machine._price * float(fitting.weight.max()) * float(np.median(fitting.gram.diag()))
    if 1e4 < price < np.inf:
        causes.append(
            f"C is large for this kernel (C times the typical k(x, x) is {price:.3g}): try a "
            "smaller C"
        )
    if not causes:
        return "Likely cause: the limit is too small for this problem; raise it or accept the gap."
    return "Likely cause: " + "; ".join(causes) + "."


def _conflicting_duplicates(X: NDArray[Any], tasks: list[Any], rows: NDArray[np.intp]) -> int:
    """Return how many of the sampled rows repeat a row that has another target."""
    if len(tasks) != 1:
        return 0
    target = tasks[0].y[rows]
    _, group = np.unique(X, axis=0, return_inverse=True)
    group = group.reshape(-1)
    size = np.bincount(group)
    low, high = np.full(len(size), np.inf), np.full(len(size), -np.inf)
    np.minimum.at(low, group, target)
    np.maximum.at(high, group, target)
    return int(size[(low < high)].sum())
