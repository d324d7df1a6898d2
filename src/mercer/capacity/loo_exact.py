"""Leave-one-out error of a fitted machine: exact by refits of support vectors, and its bounds.

Problem: for every training row i, the error e_i on row i of the machine trained without it;
E_cv = (1/m) sum_i e_i (Learning From Data, e-Chapter 8, section 8.1.3). A row whose multiplier is 0
does not shape the solution: the solution without it is the same, and e_i is the training error of
the row. Only support vectors are refitted, each from the solution on all rows. Least-squares
machines have the errors in closed form, without a refit.

The refits go through the object that is given: a copy of it is fitted behind the door (`fit_on`),
on the same Gram matrix without the row and from the same solution. The kernel that was bound to the
data, the constant C and the class weights are held fixed.

Beside the exact error stand the bounds and estimates that need no refit (`loo_formulas`), each with
its conditions.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.objects.validation import count, take
from mercer.run import Run

from .bound import Bound, Condition, bound, state
from .bound_tables import (
    ESTIMATE,
    EXACT,
    LEAVE_ONE_OUT,
    UNFINISHED,
    Statement,
    Statements,
    ordered,
)
from .loo_formulas import STABLE, TITLES, estimates_of
from .measured import Measured, intercept_is_determined, measure, one_column

__all__ = ["LeaveOneOut", "leave_one_out"]

UNCHANGED = 1e-6
"""Change of the training values, beside the largest of them, up to which a function is the same."""


@bound("leave-one-out error", "Learning From Data, Problem 8.10")
def essential_bound(n_essential: int, n_samples: int) -> Bound:
    """Return the share of essential support vectors: without others nothing changes."""
    return state({"essential support vectors": n_essential / n_samples})


@bound("leave-one-out error", "Learning From Data, section 8.1.3")
def exact_leave_one_out(n_errors: int, n_samples: int) -> Bound:
    """Return the share of rows that the machine trained without them gets wrong."""
    return state({"errors": n_errors / n_samples})


@bound("leave-one-out squared error", "Learning From Data, section 8.1.3", trivial=None)
def exact_squared_error(squares: float, n_samples: int) -> Bound:
    """Return the mean squared residual of the machines trained without each row."""
    return state({"squares": squares / n_samples})


@dataclass(frozen=True)
class LeaveOneOut(Statements):
    """Leave-one-out errors of one machine, with their bounds; made by `leave_one_out`.

    ``found["span"]`` is one of the bounds by its name, ``print(found)`` the table of all.

    Attributes
    ----------
    rows : ndarray of int
        The training rows of positive weight, all that can be left out.
    losses : ndarray of float
        For each of `rows` the error of the machine trained without it: 0 or 1 (a wrong label, an
        outlier), for regression the squared residual. NaN where the time did not suffice.
    residuals : ndarray of float or None
        For regression: target minus prediction of the machine trained without the row.
    refitted : ndarray of int
        Rows that were left out by a refit.
    pending : ndarray of int
        Rows that should have been and were not, because the time limit was reached.
    essential : ndarray of int
        Refitted rows without which the function is a different one (essential support vectors).
    seconds : float
        Time that it took.
    quantity : str
        What `error` is, "leave-one-out error" or "leave-one-out squared error".
    statements : tuple of Statement
        The exact error, its bounds and its estimates.
    not_applicable : dict of str to str
        Bounds and estimates that do not apply to this machine, with the reason.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.capacity import leave_one_out
    >>> X, y = [[0, 0], [2, 2], [2, 0], [3, 0]], [-1, -1, 1, 1]
    >>> found = leave_one_out(SVC(kernel="linear", C=float("inf")).fit(X, y), X, y)
    >>> found.error, found.essential.tolist()
    (0.5, [0, 1, 2])
    >>> for statement in found.statements:
    ...     print(f"{statement.name}: {statement.bound.value:g} ({statement.says})")
    leave-one-out: 0.5 (exact)
    essential support vectors: 0.75 (certified)
    support vectors: 0.75 (certified)
    xi-alpha: 0.75 (certified)
    radius and margin: 5 (vacuous)
    Jaakkola-Haussler: 0.5 (condition violated)
    span: 0.75 (estimate)
    """

    rows: NDArray[np.intp]
    losses: NDArray[np.float64]
    residuals: NDArray[np.float64] | None
    refitted: NDArray[np.intp]
    pending: NDArray[np.intp]
    essential: NDArray[np.intp]
    seconds: float
    quantity: str
    statements: tuple[Statement, ...]
    not_applicable: dict[str, str]

    @property
    def complete(self) -> bool:
        """Whether every row that had to be refitted was."""
        return len(self.pending) == 0

    @property
    def error(self) -> float:
        """The mean of the losses; NaN unless `complete`, see `interval`."""
        return float(self.losses.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The least and the largest error that the pending rows leave possible."""
        low = float(np.nansum(self.losses) / len(self.rows))
        if self.complete:
            return low, low
        most = math.inf if self.residuals is not None else len(self.pending) / len(self.rows)
        return low, low + most

    @property
    def n_essential(self) -> int:
        """An upper bound on the number of essential support vectors: pending rows count."""
        return len(self.essential) + len(self.pending)

    def __str__(self) -> str:
        low, high = self.interval
        value = f"{low:.4g}" if self.complete else f"between {low:.4g} and {high:.4g}"
        parts = [
            f"{len(self.rows)} rows",
            f"{len(self.refitted)} refitted",
            f"{len(self.essential)} essential",
        ]
        if not self.complete:
            parts.append(f"{len(self.pending)} not reached in time")
        return "\n".join([f"{self.quantity} {value} ({', '.join(parts)})", *self._lines()])


def leave_one_out(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    time_limit: float | None = None,
    **fit_params: Any,
) -> LeaveOneOut:
    """Return the exact leave-one-out error of a fitted machine, and all its bounds and estimates.

    Parameters
    ----------
    model : estimator
        A fitted machine of mercer, for two or more classes, for regression or for one class, ridge
        machines among them. It is not changed.
    X, y, sample_weight
        Training data of the model. A row is left out with its whole weight.
    time_limit : float, optional
        Seconds after which no further row is refitted; the rest is reported as `pending`. The
        bounds need no refit and are computed in any case.
    **fit_params
        Further arguments of its ``fit``, such as `sample_epsilon`.

    Returns
    -------
    LeaveOneOut
        The errors, which rows were refitted, which support vectors are essential, and the table of
        guarantees.

    Notes
    -----
    Bounds, each with its conditions: support vectors, essential support vectors, xi-alpha,
    Jaakkola-Haussler, radius and margin. Estimates: span, GACV. What applies to which machine is
    said by `loo_estimates`.

    Rows that are not support vectors are refitted too where their removal can change the function:
    in machines with a fraction `nu` of the total weight, which every row is part of, and where the
    intercept is not determined by a free support vector. `nu` is held fixed. The only member of a
    class counts as an error, because a machine trained without it cannot predict its label.

    The functions are those of separate fits without each row, to the tolerance of the machine. A
    row whose decision value is 0, or whose best classes have equal values, to that precision may
    be counted either way: rounding chooses its label in a separate fit as well. Such ties are found
    among repeated or gridded points, and in one-against-rest machines whose functions are constant.
    A nu classifier whose margin is 0, with all rows or without one of them, has labels that are
    rounding: no statement about it is certified.

    Examples
    --------
    >>> from mercer import SVR
    >>> from mercer.capacity import leave_one_out
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.1, 1.9, 3.0]
    >>> found = leave_one_out(SVR(kernel="linear", epsilon=0.2).fit(X, y), X, y)
    >>> found.quantity, len(found.refitted), round(found.error, 4)
    ('leave-one-out squared error', 2, 0.1518)
    """
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"time_limit must be at least 0 seconds; got {time_limit!r}.")
    return left_out(model, X, y, sample_weight, time_limit, fit_params)[0]


def left_out(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    time_limit: float | None,
    fit_params: Mapping[str, Any],
) -> tuple[LeaveOneOut, Measured]:
    """Return the errors with their bounds, and what was measured on the machine for them."""
    run = Run(time_limit)
    y = None if y is None else one_column(y)
    _require_optimal(model, X, y, sample_weight, fit_params)
    m = measure(model, X, y, sample_weight)
    if m.least_squares:
        errors = _in_closed_form(model, X, y, sample_weight, m)
    else:
        errors = _by_refits(m, y, sample_weight, fit_params, run)
    statements, refused = _stated(m, errors)
    made = LeaveOneOut(
        m.rows,
        errors.losses[m.rows],
        None if errors.residuals is None else errors.residuals[m.rows],
        np.array(errors.refitted, dtype=np.intp),
        np.array(errors.pending, dtype=np.intp),
        np.array(errors.essential, dtype=np.intp),
        run.seconds,
        "leave-one-out error" if errors.residuals is None else "leave-one-out squared error",
        statements,
        refused,
    )
    return made, m


@dataclass
class _Errors:
    """Losses and residuals of all rows, and which rows were refitted, not reached, essential."""

    losses: NDArray[np.float64]
    residuals: NDArray[np.float64] | None
    refitted: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    essential: list[int] = field(default_factory=list)
    unstable: list[int] = field(default_factory=list)  # without them no free support vector is left
    undecided: list[int] = field(default_factory=list)  # without them there is no margin

    def decided(self, model: Any) -> Condition:
        """Return the condition that labels are those of functions, not of rounding."""
        none = _lacks_margin(model)
        evidence = "rho_ of the model is 0" if none else f"rho_ = 0 in {len(self.undecided)} refits"
        what = "every machine has a margin, so that labels are not rounding"
        return Condition.that(what, not (none or self.undecided), evidence)


def _by_refits(
    m: Measured, y: Any, sample_weight: Any, fit_params: Mapping[str, Any], run: Run
) -> _Errors:
    """Return the errors of machines fitted without each row that may change the function."""
    model, X = m.model, m.model._objects(m.X)
    found = _Errors(*_losses(model, X, y, np.arange(count(X))))
    values, held = _values(model, X), _held(model)
    scale = UNCHANGED * max(1.0, float(np.abs(values).max()))
    if len(m.rows) < 2:
        raise ValueError(
            "leave_one_out needs two rows of positive weight or more; without the only one there "
            "is nothing to fit."
        )
    lone = set(m.rows[m.lone].tolist())
    tubes = fit_params.get("sample_epsilon")
    tubes = None if tubes is None else np.asarray(tubes, dtype=np.float64)
    data, _ = held._enter(Gram(model.kernel_, X), y, sample_weight, tubes)
    for i in sorted({*_to_refit(model, m.rows), *lone}):
        if run.over:
            found.pending.append(i)
            found.losses[i] = np.nan
            continue
        found.refitted.append(i)
        if i in lone:
            found.losses[i] = 1.0
            found.essential.append(i)
            continue
        rest = np.flatnonzero(m.rows != i)
        machine = copy.copy(held)._fit_on(data.take(rest), data.gram.take(rest), start=model)
        loss, residual = _losses(machine, X, y, np.array([i]))
        found.losses[i] = loss[0]
        if found.residuals is not None and residual is not None:
            found.residuals[i] = residual[0]
        if np.abs(_values(machine, X) - values).max() > scale:
            found.essential.append(i)
        if not intercept_is_determined(machine):
            found.unstable.append(i)
        if _lacks_margin(machine):
            found.undecided.append(i)
    if found.residuals is not None:
        found.residuals[found.pending] = np.nan
    return found


def _has_rho(model: Any) -> bool:
    """Return whether a model is a nu classifier, whose functions are divided by a margin."""
    return hasattr(model, "rho_") and hasattr(model, "classes_")


def _lacks_margin(model: Any) -> bool:
    """Return whether a function of a nu classifier is 0, so that its labels are rounding."""
    return _has_rho(model) and bool(np.any(model.rho_ == 0.0))


def _stated(m: Measured, errors: _Errors) -> tuple[tuple[Statement, ...], dict[str, str]]:
    """Return the exact error, its bounds and its estimates; and why others do not apply."""
    n, total = m.n_samples, float(np.nansum(errors.losses[m.rows]))
    name = UNFINISHED if errors.pending else "leave-one-out"
    if m.kind == "regression":
        exact = exact_squared_error(total, n)
    else:
        exact = exact_leave_one_out(int(total) + len(errors.pending), n)
    decided = [errors.decided(m.model)] if _has_rho(m.model) else []
    made, refused = [Statement(name, EXACT, exact.knowing(*decided))], {}
    reason = {
        "regression": "it counts wrong labels, and needs a classifier",
        "one-class": "a change of f may make any row an outlier",
    }.get(m.kind, "all rows are" if m.least_squares else None)
    if reason:
        refused["essential support vectors"] = reason
    else:
        essential = _essential(m, errors).knowing(*decided)
        made.append(Statement("essential support vectors", LEAVE_ONE_OUT, essential))
    found, others = estimates_of(m)
    if "xi_alpha" in found and m.with_intercept and not errors.pending:
        evidence = f"all but {len(errors.unstable)} of {len(errors.refitted)}"
        stable = Condition.that(STABLE.what, not errors.unstable, evidence)
        found["xi_alpha"] = found["xi_alpha"].knowing(stable)
    for key, value in found.items():
        guess = key in ("span", "gacv") or (key == "jaakkola_haussler" and m.with_intercept)
        made.append(Statement(TITLES[key], ESTIMATE if guess else LEAVE_ONE_OUT, value))
    return ordered(made), refused | {TITLES[key]: why for key, why in others.items()}


def _essential(m: Measured, errors: _Errors) -> Bound:
    """Return the bound by rows that count: essential ones, and errors, which need no change."""
    always = m.rows[errors.losses[m.rows] == 1]
    counted = len({*errors.essential, *errors.pending, *always.tolist()})
    made = essential_bound(counted, m.n_samples)
    return made.knowing(m.determined) if errors.pending else made


def _in_closed_form(model: Any, X: Any, y: Any, sample_weight: Any, m: Measured) -> _Errors:
    """Return the errors of a least-squares machine, all of whose rows are essential."""
    values = model.leave_one_out_values(X, y, sample_weight)
    if hasattr(model, "classes_"):
        codes = values > 0.0 if values.ndim == 1 else values.argmax(axis=1)
        losses = (model.classes_[codes.astype(np.intp)] != np.asarray(y)).astype(np.float64)
        losses[m.rows[m.lone]] = 1.0
        residuals = None
    else:
        if values.ndim > 1:
            raise ValueError(
                f"leave-one-out errors are counted for one target; the model has {values.shape[1]}."
                " Fit one model for each, or call model.leave_one_out_values."
            )
        residuals = np.asarray(y, dtype=np.float64) - values
        losses = residuals**2
    return _Errors(losses, residuals, essential=m.rows.tolist())


def _require_optimal(model: Any, X: Any, y: Any, sample_weight: Any, fit_params: Any) -> None:
    """Raise ValueError unless the model is a solution on these rows."""
    if not hasattr(model, "certify"):
        raise TypeError(
            "leave_one_out refits machines of mercer, such as SVC or SVR; got "
            f"{type(model).__name__}. For other estimators use scikit-learn's LeaveOneOut."
        )
    certificate = model.certify(X, y, sample_weight, **fit_params)
    if not certificate.converged:
        raise ValueError(
            f"the model is not optimal on these rows (status {certificate.status!r}, KKT violation "
            f"{certificate.kkt_violation:.3g}): pass the rows, targets and weights of its fit, and "
            "fit it to its tolerance."
        )


def _held(model: Any) -> Any:
    """Return a copy that takes kernel, C and class weights over.

    The copy is shallow: a fit replaces the fitted attributes and changes none of them.
    """
    held = copy.copy(model)
    names = held.get_params(deep=False)
    fixed: dict[str, Any] = {"probability": False, "verbose": False}
    # The kernel is that of the Gram matrix, beside which these have no effect.
    fixed |= {"kernel": "rbf", "gamma": "scale", "degree": 3, "coef0": 0.0}
    if hasattr(model, "C_"):
        fixed |= {"C": model.C_, "lam": None}
    if hasattr(model, "class_weight_"):
        weights = zip(model.classes_.tolist(), model.class_weight_.tolist(), strict=True)
        fixed["class_weight"] = dict(weights)
    return held.set_params(**{name: value for name, value in fixed.items() if name in names})


def _to_refit(model: Any, rows: NDArray[np.intp]) -> list[int]:
    """Return the rows whose removal may change the function."""
    every = "nu" in model.get_params(deep=False) or not intercept_is_determined(model)
    return [int(i) for i in (rows if every else np.sort(model.support_))]


def _values(model: Any, X: Any) -> NDArray[np.float64]:
    evaluate = getattr(model, "decision_function", None) or model.predict
    return np.asarray(evaluate(X), dtype=np.float64)


def _losses(
    model: Any, X: Any, y: Any, rows: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the losses of a machine on some rows, and the residuals of a regression."""
    predicted = model.predict(take(X, rows))
    if hasattr(model, "classes_"):
        return (predicted != np.asarray(y)[rows]).astype(np.float64), None
    if hasattr(model, "decision_function"):  # one class: outliers
        return (predicted < 0).astype(np.float64), None
    residuals = np.asarray(y, dtype=np.float64)[rows] - predicted
    return residuals**2, residuals
