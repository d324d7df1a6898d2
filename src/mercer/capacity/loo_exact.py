"""Exact leave-one-out error of a fitted machine, by refits of its support vectors.

Problem: for every training row i, the error e_i on row i of the machine trained without it;
E_cv = (1/m) sum_i e_i (Learning From Data, e-Chapter 8, section 8.1.3). A row whose multiplier is 0
does not shape the solution: the solution without it is the same, and e_i is the training error of
the row. Only support vectors are refitted, each from the solution on all rows. Least-squares
machines have the errors in closed form, without a refit.

The refits go through the object that is given: a copy of it is fitted again, on the same Gram
matrix and from the same solution, with weight 0 for the row. The kernel that was bound to the data,
the constant C and the class weights are held fixed.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.objects.validation import count, take

__all__ = ["LeaveOneOut", "leave_one_out"]

UNCHANGED = 1e-6
"""Change of the training values, beside the largest of them, up to which a function is the same."""


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out errors of one machine; made by `leave_one_out`.

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

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.capacity import leave_one_out
    >>> X, y = [[0, 0], [2, 2], [2, 0], [3, 0]], [-1, -1, 1, 1]
    >>> print(leave_one_out(SVC(kernel="linear", C=float("inf")).fit(X, y), X, y))
    leave-one-out error 0.5 (4 rows, 3 refitted, 3 essential)
    """

    rows: NDArray[np.intp]
    losses: NDArray[np.float64]
    residuals: NDArray[np.float64] | None
    refitted: NDArray[np.intp]
    pending: NDArray[np.intp]
    essential: NDArray[np.intp]
    seconds: float
    quantity: str = "leave-one-out error"

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
        return f"{self.quantity} {value} ({', '.join(parts)})"


def leave_one_out(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    time_limit: float | None = None,
    **fit_params: Any,
) -> LeaveOneOut:
    """Return the exact leave-one-out errors of a fitted machine.

    Parameters
    ----------
    model : estimator
        A fitted machine of mercer, for two or more classes, for regression or for one class, ridge
        machines among them. It is not changed.
    X, y, sample_weight
        Training data of the model. A row is left out with its whole weight.
    time_limit : float, optional
        Seconds after which no further row is refitted; the rest is reported as `pending`.
    **fit_params
        Further arguments of its ``fit``, such as `sample_epsilon`.

    Returns
    -------
    LeaveOneOut
        The errors, which rows were refitted, and which support vectors are essential.

    Notes
    -----
    Rows that are not support vectors are refitted too where their removal can change the function:
    in machines with a fraction `nu` of the total weight, which every row is part of, and where the
    intercept is not determined by a free support vector. `nu` is held fixed. The only member of a
    class counts as an error, because a machine trained without it cannot predict its label.

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
    begin = perf_counter()
    y = None if y is None else one_column(y)
    _require_optimal(model, X, y, sample_weight, fit_params)
    n = count(X)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float).copy()
    rows = np.flatnonzero(weight > 0)
    if hasattr(model, "leave_one_out_values"):
        return _in_closed_form(model, X, y, sample_weight, rows, begin)
    losses, residuals = _losses(model, X, y, np.arange(n))
    X = model._objects(X)
    values, template, gram = _values(model, X), _held(model), Gram(model.kernel_, X)
    scale = UNCHANGED * max(1.0, float(np.abs(values).max()))
    refitted, pending, essential = [], [], []
    lone = _only_members(model, y, rows)
    for i in _to_refit(model, rows):
        if time_limit is not None and perf_counter() - begin > time_limit:
            pending.append(i)
            losses[i] = np.nan
            continue
        refitted.append(i)
        if i in lone:
            losses[i] = 1.0
            essential.append(i)
            continue
        machine = copy.copy(template)
        without = weight.copy()
        without[i] = 0.0
        machine.fit(gram, y, sample_weight=without, **fit_params)
        loss, residual = _losses(machine, X, y, np.array([i]))
        losses[i] = loss[0]
        if residuals is not None and residual is not None:
            residuals[i] = residual[0]
        if np.abs(_values(machine, X) - values).max() > scale:
            essential.append(i)
    if residuals is not None:
        residuals[pending] = np.nan
    counted = refitted, pending, essential
    return _collected(rows, losses, residuals, counted, perf_counter() - begin)


def _collected(
    rows: NDArray[np.intp],
    losses: NDArray[np.float64],
    residuals: NDArray[np.float64] | None,
    counted: tuple[list[int], list[int], list[int]],
    seconds: float,
) -> LeaveOneOut:
    """Return the result from losses and residuals of all rows."""
    return LeaveOneOut(
        rows,
        losses[rows],
        None if residuals is None else residuals[rows],
        np.array(counted[0], dtype=np.intp),
        np.array(counted[1], dtype=np.intp),
        np.array(counted[2], dtype=np.intp),
        seconds,
        "leave-one-out error" if residuals is None else "leave-one-out squared error",
    )


def _in_closed_form(
    model: Any, X: Any, y: Any, sample_weight: Any, rows: NDArray[np.intp], begin: float
) -> LeaveOneOut:
    """Return the errors of a least-squares machine, all of whose rows are essential."""
    values = model.leave_one_out_values(X, y, sample_weight)
    if hasattr(model, "classes_"):
        codes = values > 0.0 if values.ndim == 1 else values.argmax(axis=1)
        losses = (model.classes_[codes.astype(np.intp)] != np.asarray(y)).astype(np.float64)
        losses[list(_only_members(model, y, rows))] = 1.0
        residuals = None
    else:
        if values.ndim > 1:
            raise ValueError(
                f"leave-one-out errors are counted for one target; the model has {values.shape[1]}."
                " Fit one model for each, or call model.leave_one_out_values."
            )
        residuals = np.asarray(y, dtype=np.float64) - values
        losses = residuals**2
    return _collected(rows, losses, residuals, ([], [], rows.tolist()), perf_counter() - begin)


def one_column(y: Any) -> NDArray[Any]:
    """Return labels or targets that may have the shape of a column."""
    y = np.asarray(y)
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def intercept_is_determined(model: Any) -> bool:
    """Return whether each problem of a machine has a free support vector, or needs none.

    A free support vector lies on the edge of the margin or tube and pins the intercept; without
    one, rows that are no support vectors may delimit the interval of optimal intercepts.
    """
    if not getattr(model, "fit_intercept", True):
        return True
    if np.size(getattr(model, "poly_coef_", ())):
        return False
    free = model.free_support_
    problems: Iterable[Any] = free if isinstance(free, list) else [free]
    return all(len(found) for found in problems)


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
    """Return a copy that starts from the solution and takes its kernel, C and class weights over.

    The copy is shallow: a fit replaces the fitted attributes and changes none of them.
    """
    held = copy.copy(model)
    names = held.get_params(deep=False)
    fixed: dict[str, Any] = {"warm_start": True, "probability": False, "verbose": False}
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


def _only_members(model: Any, y: Any, rows: NDArray[np.intp]) -> set[int]:
    if not hasattr(model, "classes_"):
        return set()
    labels = np.asarray(y)[rows]
    _, code, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return set(rows[counts[code] == 1].tolist())


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
