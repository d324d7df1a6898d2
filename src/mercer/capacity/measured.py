"""Measurements of a fitted machine on its training rows, for bounds and estimates."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.geometry import smallest_enclosing_ball
from mercer.kernels import Definiteness
from mercer.objects.validation import count, take

from .bound import Condition

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

BLOCK = 2**22  # kernel values that are held at a time


class NotApplicableError(ValueError):
    """Says why a statement does not apply to a machine."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A fitted machine with one output and its training rows; made by `measure`.

    Attributes
    ----------
    model : estimator
        The machine.
    kind : {"binary", "multiclass", "regression", "one-class"}
        What it learns.
    X : objects
        All training objects, as the kernel evaluates them; its matrix for a precomputed kernel.
    rows : ndarray of int
        The rows of positive weight.
    y : ndarray
        Their targets, labels as 1 and -1 for two classes.
    n_errors : int
        Training errors (for regression 0, for one class the outliers).
    uniform : bool
        Whether slack has one price for all rows.
    """

    model: Any
    kind: str
    X: Any
    rows: Rows
    y: NDArray[Any]
    n_errors: int
    uniform: bool = True

    @property
    def n_samples(self) -> int:
        """Number of rows of positive weight."""
        return len(self.rows)

    @property
    def n_sv(self) -> int:
        """Number of support vectors, of any of the problems."""
        return len(self.model.support_)

    @property
    def least_squares(self) -> bool:
        """Whether the machine minimises squared errors: all rows are support vectors."""
        return hasattr(self.model, "leave_one_out_values")

    @property
    def kernel(self) -> Any:
        """The kernel with its parameters."""
        return self.model.kernel_

    @property
    def nu_machine(self) -> bool:
        """Whether a fraction nu of the total weight takes the place of a price of slack."""
        return "nu" in self.model.get_params(deep=False)

    @property
    def loss(self) -> str:
        """The loss: "hard", "linear", "squared", "least squares" or "other"."""
        given = self.model.get_params(deep=False)
        if self.least_squares:
            return "least squares"
        if getattr(self.model, "C_", 1.0) == math.inf:
            return "hard"
        if given.get("C2") is not None:
            return "other"
        squared = given.get("penalty_norm") == 2 or str(given.get("loss")).startswith("squared")
        return "squared" if squared else "linear"

    @property
    def with_intercept(self) -> bool:
        """Whether the function has an offset."""
        return bool(getattr(self.model, "fit_intercept", True))

    @property
    def determined(self) -> Condition:
        """The condition that leaving out a row that is no support vector changes nothing."""
        return Condition.that(
            "rows that are no support vectors do not determine the function",
            intercept_is_determined(self.model) and not self.nu_machine,
            "nu is a fraction of all rows"
            if self.nu_machine
            else "free support vectors fix the intercept"
            if intercept_is_determined(self.model)
            else "no free support vector fixes the intercept",
        )

    @property
    def taken_from_rows(self) -> str | None:
        """Which parameter of the machine the training rows decide, in words; None for none."""
        given = self.model.get_params(deep=False)
        named = isinstance(given.get("kernel"), str)
        if named and given["kernel"] not in ("linear", "precomputed") and given["gamma"] == "scale":
            return 'gamma="scale" takes their variance'
        if given.get("lam") is not None:
            return "lam sets C by their number"
        if given.get("class_weight") == "balanced":
            return 'class_weight="balanced" counts their classes'
        return None

    @property
    def fixed_price(self) -> Condition:
        """The condition that leaving out a row leaves the price of the others as it is."""
        evidence = "nu is a fraction of all rows" if self.nu_machine else "C is held fixed"
        what = "the price of slack does not change when a row is left out"
        return Condition.that(what, not self.nu_machine, evidence)

    @property
    def psd(self) -> Condition:
        """The condition that the kernel has a feature space."""
        claim = self.kernel.definiteness
        if claim.is_psd:
            return Condition.that("the kernel is positive semidefinite", True, str(claim))
        state = "unknown" if claim is Definiteness.UNKNOWN else "violated"
        return Condition("the kernel is positive semidefinite", state, str(claim))

    @cached_property
    def values(self) -> Array:
        """The decision values (predictions of a regression) on `rows`."""
        evaluate = getattr(self.model, "decision_function", None) or self.model.predict
        return np.asarray(evaluate(take(self.X, self.rows)), dtype=np.float64)

    @cached_property
    def alpha(self) -> Array:
        """The multipliers of `rows`, not negative."""
        return np.asarray(self.model.alpha_, dtype=np.float64)[self.rows]

    @cached_property
    def slack(self) -> Array:
        """By how much `rows` miss the margin or the tube."""
        return np.asarray(self.model.slack_, dtype=np.float64)[self.rows]

    @cached_property
    def beta(self) -> Array:
        """The signed coefficients of `rows` in the expansion."""
        if self.least_squares:
            return np.asarray(self.model.dual_coef_, dtype=np.float64)[self.rows]
        beta = np.zeros(count(self.X))
        coef = self.model.dual_coef_
        beta[self.model.support_] = np.ravel(coef.toarray() if hasattr(coef, "toarray") else coef)
        return beta[self.rows]

    @cached_property
    def lone(self) -> NDArray[np.bool_]:
        """Which of `rows` are the only members of their class: left out, they count as errors."""
        if self.kind not in ("binary", "multiclass"):
            return np.zeros(self.n_samples, dtype=bool)
        _, code, counts = np.unique(self.y, return_inverse=True, return_counts=True)
        return np.asarray(counts[code] == 1)

    @cached_property
    def support(self) -> Rows:
        """Positions of the support vectors within `rows`."""
        return np.flatnonzero(self.alpha > 0)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """For each of `support` whether its multiplier lies strictly between its bounds."""
        return np.isin(self.rows[self.support], self.model.free_support_)

    @cached_property
    def diagonal(self) -> Array:
        """The values k(x, x) on `rows`."""
        return np.asarray(self.kernel.diag(self.X), dtype=np.float64)[self.rows]

    @property
    def w_norm(self) -> float:
        """The norm of the weight vector in feature space."""
        if self.least_squares:  # |w|^2 = beta'K beta, and K beta = f - b
            return math.sqrt(max(0.0, float(self.beta @ (self.values - self.offset))))
        return 1.0 / float(self.model.margin_)

    @property
    def offset(self) -> float:
        """The intercept b of f = <w, x> + b."""
        return float(np.ravel(self.model.intercept_)[0]) if self.with_intercept else 0.0

    @cached_property
    def radius(self) -> float:
        """The length of the longest row in feature space."""
        return math.sqrt(float(self.diagonal.max()))

    @cached_property
    def ball_radius(self) -> float:
        """The radius of the smallest ball that holds all rows in feature space."""
        X = self.X[np.ix_(self.rows, self.rows)] if self.kernel.pairwise else self._objects
        return float(smallest_enclosing_ball(self.kernel, X).radius)

    @property
    def _objects(self) -> Any:
        return self.X if self.n_samples == count(self.X) else take(self.X, self.rows)

    def require_two_classes(self) -> None:
        """Raise NotApplicableError unless the machine separates two classes."""
        if self.kind != "binary":
            raise NotApplicableError("it is a statement about two classes")

    def require_feature_space(self) -> None:
        """Raise NotApplicableError if the kernel is known to be indefinite."""
        if self.psd.state == "violated":
            raise NotApplicableError(f"it needs a feature space; the kernel is {self.psd.evidence}")

    def gram(self, left: Rows, right: Rows) -> Array:
        """Return kernel values between rows, given by their positions in `rows`."""
        a, b = self.rows[left], self.rows[right]
        if self.kernel.pairwise:
            return np.asarray(self.X, dtype=np.float64)[np.ix_(a, b)]
        return np.asarray(self.kernel(take(self.X, a), take(self.X, b)), dtype=np.float64)

    def smallest_value(self) -> float:
        """Return the smallest kernel value between a support vector and a row."""
        everyone = np.arange(self.n_samples)
        step = max(1, BLOCK // self.n_samples)
        blocks = (self.support[a : a + step] for a in range(0, len(self.support), step))
        return min((float(self.gram(block, everyone).min()) for block in blocks), default=0.0)


def measure(model: Any, X: Any, y: ArrayLike | None, sample_weight: Any = None) -> Measured:
    """Return the measurements of a fitted machine, taken when they are asked for.

    Parameters
    ----------
    model : estimator
        A fitted machine.
    X, y, sample_weight
        Training data of the model.
    """
    if not hasattr(model, "kernel_"):
        raise TypeError(
            f"a fitted machine comes first, then its training data; got {type(model).__name__}."
        )
    kernel = model.kernel_
    predictions = np.asarray(model.predict(X))
    X = X if kernel.pairwise else kernel.validate(X)
    model = _on_validated(model, X)
    n = count(X)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    rows = np.flatnonzero(weight > 0)
    y = None if y is None else one_column(y)
    of_class = np.asarray(getattr(model, "class_weight_", [1.0]))
    uniform = bool(np.ptp(weight[rows]) == 0 and np.ptp(of_class) == 0)
    predicted = predictions[rows]
    if hasattr(model, "classes_"):
        labels = np.asarray(y)[rows]
        errors = int(np.sum(predicted != labels))
        if len(model.classes_) > 2:
            return Measured(model, "multiclass", X, rows, labels, errors, uniform)
        signs = np.where(labels == model.classes_[1], 1.0, -1.0)
        return Measured(model, "binary", X, rows, signs, errors, uniform)
    if hasattr(model, "decision_function"):
        outliers = int(np.sum(predicted < 0))
        return Measured(model, "one-class", X, rows, np.ones(len(rows)), outliers, uniform)
    targets = np.asarray(y, dtype=np.float64)[rows]
    return Measured(model, "regression", X, rows, targets, 0, uniform)


def _on_validated(model: Any, X: Any) -> Any:
    """Return the machine for validated objects, which have no column names unless in a table."""
    if not hasattr(model, "feature_names_in_") or hasattr(X, "columns"):
        return model
    model = copy.copy(model)
    del model.feature_names_in_
    return model


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
