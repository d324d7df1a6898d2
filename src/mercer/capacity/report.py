"""Everything that can be said about the generalisation of one fitted machine.

Four kinds of statements, which the report keeps apart:

- guarantees: bounds on the error on new rows, each with probability 1 - delta;
- leave-one-out bounds: they dominate the leave-one-out error of this sample, whose expectation is
  the expected error of machines trained on one row fewer;
- estimates: numbers close to an error, without a side on which they lie;
- bounds up to a constant that the theorem does not give.

Bounds that do not apply to a machine are listed with the reason.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Linear

from . import keywords
from .bound import Bound, Condition, bound, state
from .bound_tables import (
    BOUNDS,
    DIMENSION,
    ESTIMATE,
    EXACT,
    GUARANTEE,
    LEAVE_ONE_OUT,
    RELATIVE,
    Comparison,
    Statement,
    Statements,
    compare,
    ordered,
)
from .dimensions import vc_dim_margin, vc_dimension
from .entropy import expansion_entropy
from .finite_classes import test_set_bound
from .loo_exact import LeaveOneOut, left_out
from .luckiness import best_bound
from .margin_bounds import (
    best_percentile,
    covering_margin_bound,
    hard_margin_bound,
    margin_rate,
    stratified,
)
from .measured import Measured, NotApplicableError, one_column
from .residuals import regression_bound, regression_slacks, sse_bound
from .sample_compression import compression_bound
from .soft_margin import best_target_margin, soft_margin_bound
from .uniform import overall_bound
from .vc import vc_bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GeneralizationReport", "generalization_report"]

COLOURS = {GUARANTEE: "C0", LEAVE_ONE_OUT: "C1", ESTIMATE: "C2", RELATIVE: "C3", EXACT: "k"}
HOLDOUT = "hold-out"
MOST_COLUMNS = 4  # dimensions of input space up to which the spectrum of a kernel is enumerated


@bound("VC dimension", "Learning From Data, section 8.1.2", trivial=None)
def hyperplane_dimension(n_parameters: int) -> Bound:
    """Return the VC dimension of hyperplanes, which is the number of their parameters."""
    return state({"parameters": float(n_parameters)})


@dataclass(frozen=True)
class GeneralizationReport(Statements):
    """What is known about the generalisation of a machine; made by `generalization_report`.

    Attributes
    ----------
    kind : {"binary", "multiclass", "regression", "one-class"}
        The task of the machine.
    n_samples : int
        Number of training rows.
    delta : float
        Probability with which each guarantee may fail, by itself.
    training_error : float or None
        Share of training errors; None for regression.
    statements : tuple of Statement
        Sorted by kind, each kind from the smallest value to the largest.
    not_applicable : dict of str to str
        Statements that do not apply to this machine, with the reason.
    leave_one_out : LeaveOneOut or None
        The exact errors, row by row.
    tuned : bool or None
        Whether the machine was tuned on the same rows; None: not known.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.data import rings
    >>> X, y = rings(60, random_state=0)
    >>> report = SVC().fit(X, y).generalization_report(X, y)
    >>> report.kind, report.n_samples
    ('binary', 60)
    """

    kind: str
    n_samples: int
    delta: float
    training_error: float | None
    statements: tuple[Statement, ...]
    not_applicable: dict[str, str]
    leave_one_out: LeaveOneOut | None
    tuned: bool | None

    @property
    def comparison(self) -> Comparison:
        """The guarantees and leave-one-out bounds side by side, with their learning curves."""
        return compare(*(s.bound for s in self.statements if s.kind in BOUNDS))

    @property
    def best(self) -> Bound | None:
        """The smallest certified guarantee, delta shared among all that were computed.

        Of a machine that was tuned on the rows that is the hold-out alone.
        """
        computed = [s for s in self.statements if s.kind == GUARANTEE]
        bounds = [s.bound for s in computed if not self.tuned or s.name == HOLDOUT]
        return best_bound(*bounds) if any(b.certified for b in bounds) else None

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table, without its headings."""
        return [statement.row for statement in self.statements]

    def to_dict(self) -> dict[str, Any]:
        """Return the report in plain parts, ready for JSON."""
        return {
            "kind": self.kind,
            "n_samples": self.n_samples,
            "delta": self.delta,
            "training_error": self.training_error,
            "tuned": self.tuned,
            "statements": [
                {"name": s.name, "kind": s.kind, "says": s.says, "bound": s.bound.to_dict()}
                for s in self.statements
            ],
            "not_applicable": dict(self.not_applicable),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the values on a logarithmic axis; hollow where a condition is violated.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure. ``report.comparison.plot()`` draws the bounds
            over the number of samples.
        """
        drawn = [s for s in self.statements if s.kind in COLOURS and math.isfinite(s.bound.value)]
        if ax is None:
            import matplotlib.pyplot as plt

            size = (6.4, 1.2 + 0.3 * len(drawn))
            ax = plt.subplots(figsize=size, layout="constrained")[1]
        least = 0.5 / self.n_samples  # where smaller values are drawn, 0 above all
        for i, s in enumerate(reversed(drawn)):
            colour = COLOURS[s.kind]
            face = "none" if s.bound.violated or s.bound.relative else colour
            value, marker = (s.bound.value, "o") if s.bound.value >= least else (least, "<")
            ax.plot(value, i, marker, markeredgecolor=colour, markerfacecolor=face)
            if marker == "<":
                ax.annotate(
                    f"{s.bound.value:.3g}", (value, i), (6, -3), textcoords="offset points", size=8
                )
        ax.set_yticks(range(len(drawn)), [s.name for s in reversed(drawn)])
        for kind, colour in COLOURS.items():
            if any(s.kind == kind for s in drawn):
                ax.plot([], [], "o", color=colour, label=kind)
        ax.axvline(1.0, color="0.5", linewidth=0.8, linestyle=":")
        ax.set_xscale("log")
        ax.set_xlabel("value (dotted: says nothing; hollow: no guarantee)")
        ax.legend(fontsize="small")
        return ax

    def __str__(self) -> str:
        head = f"{self.kind} machine on {self.n_samples} rows"
        if self.training_error is not None:
            head += f", training error {self.training_error:.4g}"
        lines = [head + f"; each guarantee holds with probability {1 - self.delta:g} by itself"]
        if self.tuned:
            lines.append(TUNED)
        return "\n".join([*lines, *self._lines()])


TUNED = (
    "The model was tuned on the same rows: only the hold-out bound holds, and leave-one-out "
    "errors are too small on average."
)


def generalization_report(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    delta: float = 0.05,
    holdout: tuple[Any, Any] | None = None,
    theta: float | None = None,
    tuned: bool | None = None,
    time_limit: float | None = 10.0,
    **fit_params: Any,
) -> GeneralizationReport:
    """Return every bound and estimate that applies to a fitted machine.

    Parameters
    ----------
    model : estimator
        A fitted machine.
    X, y, sample_weight
        Training data of the model.
    delta : float, default=0.05
        Probability with which each guarantee may fail.
    holdout : tuple (X, y), optional
        Rows that played no part in choosing or training the machine.
    theta : float, optional
        For regression: a residual larger than this counts as an error.
    tuned : bool, optional
        Whether kernel and parameters were chosen with the help of these rows. True: all guarantees
        but that of the hold-out are marked as violated, and the table says so. None: the guarantees
        assume that they were not.
    time_limit : float or None, default=10.0
        Seconds for the exact leave-one-out error.
    **fit_params
        Further arguments of ``model.fit``.

    Returns
    -------
    GeneralizationReport
        Prints as a table; `plot`, `best`, `vacuous`, `to_dict`.

    Notes
    -----
    Two classes: everything. Several classes: exact leave-one-out, support vectors, essential
    support vectors, compression, hold-out. Regression: exact leave-one-out, span and, with `theta`,
    the bounds on the probability of a large residual. One class: exact leave-one-out rate of
    outliers, and hold-out. Ridge machines: the exact leave-one-out error in closed form, the bounds
    on margins (two classes) or residuals, and hold-out; what counts support vectors is listed as
    not applicable, because all rows are.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.capacity import generalization_report
    >>> X, y = [[0, 0], [2, 2], [2, 0], [3, 0]], [-1, -1, 1, 1]
    >>> report = generalization_report(SVC(kernel="linear", C=float("inf")).fit(X, y), X, y)
    >>> float(report["leave-one-out"]), float(report["support vectors"])
    (0.5, 0.75)
    """
    keywords.check({"delta": delta, "theta": theta})
    exact, m = left_out(model, X, y, sample_weight, time_limit, fit_params)
    page = _Page(m, delta, _chosen(m, tuned), exact)
    if m.least_squares:
        page.refuse("compression", "all rows are support vectors")
    elif m.kind in ("binary", "multiclass"):
        page.add("compression", GUARANTEE, _compression)
    else:
        page.refuse("compression", "it counts wrong labels, and needs a classifier")
    for name, kind, make in MARGINS:
        page.add(name, kind, make)
    if m.kind == "binary" and type(m.kernel) is Linear:
        dimension = hyperplane_dimension(_parameters(m))
        page.statements.append(Statement("dimension of hyperplanes", DIMENSION, dimension))
    _residuals(page, theta)
    _holdout(page, holdout, theta)
    error = None if m.kind == "regression" else m.n_errors / m.n_samples
    return GeneralizationReport(
        m.kind, m.n_samples, delta, error, ordered(page.statements), page.refused, exact, tuned
    )


class _Page:
    """The statements made so far."""

    def __init__(self, m: Measured, delta: float, chosen: Condition, exact: LeaveOneOut) -> None:
        self.m, self.delta, self.chosen = m, delta, chosen
        self.statements: list[Statement] = list(exact.statements)
        self.refused: dict[str, str] = dict(exact.not_applicable)

    def add(self, name: str, kind: str, make: Callable[[Measured, float], Bound]) -> None:
        """Add a statement; where its formula raises ValueError, the reason."""
        try:
            made = make(self.m, self.delta)
        except (TypeError, ValueError) as reason:
            self.refuse(name, str(reason).rstrip("."))
            return
        if kind in (GUARANTEE, RELATIVE) and name != HOLDOUT:
            made = made.knowing(self.chosen)
        self.statements.append(Statement(name, kind, made))

    def refuse(self, name: str, reason: str) -> None:
        self.refused[name] = reason


def _chosen(m: Measured, tuned: bool | None) -> Condition:
    """Return the condition that kernel and parameters do not come from these rows."""
    what = "kernel and parameters were chosen without these rows"
    if tuned:
        return Condition(what, "violated", "tuned=True")
    if m.taken_from_rows:
        return Condition(what, "unknown", f"but {m.taken_from_rows}")
    if tuned is None:
        return Condition(what)
    return Condition(what, "satisfied", "tuned=False")


def _compression(m: Measured, delta: float) -> Bound:
    made = compression_bound(m.n_sv, m.n_samples, delta)
    rebuilt, changed = m.determined, m.taken_from_rows
    same = rebuilt.state == "satisfied" and changed is None
    made = made.decide("same function", same, changed or rebuilt.evidence)
    return made.decide("training error", m.n_errors == 0, f"{m.n_errors} of {m.n_samples}")


def _width(m: Measured) -> float:
    """Return the smallest distance of a row from the hyperplane."""
    return float((m.y * m.values).min()) / m.w_norm


def _lengths(m: Measured) -> tuple[float, float]:
    """Return radius and norm of the weights with the offset as a coordinate of the length R.

    f = <w, x> + b is linear in (x, R) with the weights (w, b / R).
    """
    if not m.with_intercept:
        return m.radius, m.w_norm
    return math.sqrt(2) * m.radius, math.hypot(m.w_norm, m.offset / m.radius)


def _margins_of(m: Measured) -> tuple[float, NDArray[np.float64]]:
    """Return radius and margins with the offset as a coordinate of its own."""
    m.require_two_classes()
    m.require_feature_space()
    radius, w_norm = _lengths(m)
    return radius, m.y * m.values / w_norm


def _separating(m: Measured) -> tuple[float, float]:
    """Return radius and smallest margin of a machine without training errors."""
    radius, margins = _margins_of(m)
    if not margins.min() > 0:
        raise NotApplicableError(
            f"the machine makes {m.n_errors} training errors, or has no margin"
        )
    return radius, float(margins.min())


def _linear(made: Bound, m: Measured) -> Bound:
    """Return a bound for functions without an offset, which this one is in the larger space."""
    evidence = "the offset is a coordinate of its own" if m.with_intercept else "no intercept"
    return made.decide("without an offset", True, evidence).knowing(m.psd)


def _vc(m: Measured, delta: float) -> Bound:
    # Also without errors: to choose between two theorems by the data would cost confidence.
    return vc_bound(m.n_samples, _parameters(m), delta, n_errors=m.n_errors)


def _parameters(m: Measured) -> int:
    """Return the number of parameters of a hyperplane, with the offset."""
    m.require_two_classes()
    if type(m.kernel) is not Linear:
        raise NotApplicableError(f"the dimension of the class of {m.kernel!r} is not known")
    kind = "halfspaces" if m.with_intercept else "homogeneous halfspaces"
    return int(vc_dimension(kind, int(m.X.shape[1])))


def _perceptron(m: Measured, _: float) -> Bound:
    _separating(m)
    return margin_rate(m.n_samples, m.radius, _width(m))


def _dimension(m: Measured, _: float) -> Bound:
    _separating(m)
    columns = int(m.X.shape[1]) if type(m.kernel) is Linear else None
    return vc_dim_margin(m.radius, _width(m), n_features=columns, form="ceiling")


def _hard(m: Measured, delta: float) -> Bound:
    radius, margin = _separating(m)
    made = stratified(hard_margin_bound(m.n_samples, radius, margin, delta))
    return _linear(made.decide("at least this margin", True, f"{margin:.4g}"), m)


def _soft(m: Measured, delta: float) -> Bound:
    radius, margins = _margins_of(m)
    made = best_target_margin(margins, radius, delta, explicit=True)
    share = made.inputs["delta"] / delta

    def again(**inputs: Any) -> Bound:
        """Evaluate at other inputs, the chosen margin keeping its share of delta."""
        return soft_margin_bound(**{**inputs, "delta": inputs["delta"] * share})

    kept = dataclasses.replace(made, inputs={**made.inputs, "delta": delta}, _function=again)
    return _linear(kept, m)


def _percentile(m: Measured, delta: float) -> Bound:
    radius, margins = _margins_of(m)
    return _linear(best_percentile(margins, radius, delta), m)


def _entropy(m: Measured, delta: float) -> Bound:
    m.require_two_classes()
    if m.kernel.pairwise or not hasattr(m.X, "shape") or m.X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"it needs vectors of at most {MOST_COLUMNS} columns and their kernel")
    steps = expansion_entropy(m.model.expansion_, m.X)
    cover = _tabulated(steps.function_class.log_covering_above)
    agreement = m.y * m.values
    if agreement.min() > 0:
        made = covering_margin_bound(m.n_samples, cover, delta, margin=float(agreement.min()))
        made = made.decide("at least this margin", True, f"{agreement.min():.4g}")
    else:  # the ramp loss lies above the error and below the hinge loss
        risk = float(np.clip(1 - agreement, 0, 1).mean())
        made = overall_bound(m.n_samples, cover, delta, emp_risk=risk)
    made = made.knowing(*steps.log_covering(1.0).conditions)
    return made.decide("size, offset and radius", False, "they are those of this model")


# Statements about two classes; each maker says to which machines it does not apply.
MARGINS = (
    ("VC dimension", GUARANTEE, _vc),
    ("hard margin", GUARANTEE, _hard),
    ("soft margin", GUARANTEE, _soft),
    ("margin percentile", RELATIVE, _percentile),
    ("perceptron", RELATIVE, _perceptron),
    ("dimension with this margin", DIMENSION, _dimension),
    ("entropy numbers", GUARANTEE, _entropy),
)


def _tabulated(log_covering: Callable[[float, int], float]) -> Callable[[float, int], float]:
    """Return covering numbers on a grid, from above: at a finer scale and on more points.

    Searches over the scale and the number of samples ask for many values close together.
    """

    @cache
    def on_grid(step: int, n_points: int) -> float:
        return log_covering(2.0 ** (step / 4), n_points)

    def cover(eps: float, n_points: int) -> float:
        return on_grid(math.floor(4 * math.log2(eps)), 1 << (n_points - 1).bit_length())

    return cover


def _residuals(page: _Page, theta: float | None) -> None:
    names = "slacks of regression", "sum of squares"
    if page.m.kind != "regression":
        return
    if theta is None:
        for name in names:
            page.refuse(name, "say with theta= which residual counts as an error")
        return

    def slacks(m: Measured, delta: float) -> Bound:
        tube = float(getattr(m.model, "epsilon_", getattr(m.model, "epsilon", 0.0)))
        if not tube < theta:
            raise ValueError(f"theta = {theta:g} must exceed the tube, {tube:g}")
        norm = float(np.linalg.norm(regression_slacks(m.values, m.y, theta, theta - tube)))
        radius, w_norm = _lengths(m)
        made = regression_bound(
            m.n_samples, radius, theta - tube, delta, 2, w_norm=w_norm, slack=norm
        )
        return _linear(made, m)

    def squares(m: Measured, delta: float) -> Bound:
        sse = float(np.sum((m.y - m.values) ** 2))
        return _linear(sse_bound(m.n_samples, *_lengths(m), sse, theta, delta), m)

    for name, make in zip(names, (slacks, squares), strict=True):
        page.add(name, RELATIVE, make)


def _holdout(page: _Page, holdout: tuple[Any, Any] | None, theta: float | None) -> None:
    if holdout is None:
        page.refuse(HOLDOUT, "pass rows that were not used as holdout=(X, y)")
        return
    if not isinstance(holdout, tuple | list) or len(holdout) != 2:
        raise ValueError("holdout must be a pair (X, y) of objects and their labels or targets.")
    m, (new, given) = page.m, holdout
    predicted = np.asarray(m.model.predict(new))
    targets = predicted if m.kind == "one-class" else one_column(given)
    if targets.shape != predicted.shape:
        raise ValueError(
            f"the hold-out has {len(predicted)} objects, but y of shape {targets.shape}."
        )
    if m.kind == "regression":
        if theta is None:
            page.refuse(HOLDOUT, "say with theta= which residual counts as an error")
            return
        residuals = np.abs(targets.astype(float) - predicted)
        if np.isnan(residuals).any():
            raise ValueError("the targets of the hold-out contain NaN; leave those rows out.")
        wrong = residuals > theta
    elif m.kind == "one-class":
        wrong = predicted < 0
    else:
        _require_known(targets, m.model.classes_)
        wrong = predicted != targets
    errors, n = int(np.sum(wrong)), len(predicted)
    page.add(HOLDOUT, GUARANTEE, lambda _, delta: test_set_bound(errors, n, delta))


def _require_known(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise ValueError if labels are not among those of the training rows."""
    unknown = np.unique(labels[~np.isin(labels, classes)])
    if len(unknown):
        raise ValueError(
            f"the hold-out has labels that the model was not trained on: {_listed(unknown)}; its "
            f"classes are {_listed(classes)}. Write the labels in the same form, and leave out "
            "rows of other classes: their rate of errors is 1, and is to be reported by itself."
        )


def _listed(labels: NDArray[Any]) -> str:
    shown = ", ".join(repr(label) for label in labels[:5].tolist())
    return shown + (", ..." if len(labels) > 5 else "")
