"""One call from data to a tuned machine with an honest estimate of its score.

The kind of the data decides about scaling and kernels (see `suggest`), distances in the data about
their widths. A coarse search over kernels and C, on a sample of large data, is followed by a fine
one around its best point.
The score of a search is the largest of many and therefore optimistic; the estimate that is reported
comes from nested cross-validation: the whole procedure, scaling and both searches, is repeated on
the training part of each outer split and scored on the part that it has not seen.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mercer.features.seeds import generator
from mercer.inspection.targets import FEW_CLASSES
from mercer.kernels import Kernel, Linear
from mercer.machines import SVC, SVR
from mercer.objects.tables import holds_objects, is_frame
from mercer.objects.validation import count
from mercer.run import Run

from .data_kind import data_kind
from .fit_bar import FitBar
from .missing_values import imputer_of
from .table_candidates import usual_candidates
from .trials import (
    FINE_COSTS,
    FINE_WIDTHS,
    Trial,
    best_trial,
    checked_target,
    costs,
    near_widths,
    sample,
    splitter,
    trials,
)
from .validation import learning_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

_TUBES = (0.03, 0.1, 0.3)
_COARSE = 1000  # rows of the coarse search, at most
_OUTER = 3  # splits of nested cross-validation and of the learning curve
_SHARES = {True: 0.4, False: 0.9}
"""Part of the time for the search itself, with and without nested cross-validation."""


@dataclass
class Tuning:
    """What :func:`tune` found; print it to read it.

    Attributes
    ----------
    estimator : Pipeline
        Imputer (where values are missing), scaler and machine with the chosen parameters, fitted
        to all data.
    task : {"classification", "regression"}
        The task.
    trials : list of Trial
        All candidates, in the order in which they were tried.
    chosen : Trial
        The one that was chosen.
    score, error : float or None
        Mean over the outer splits of nested cross-validation, and its standard error: an estimate
        for new data. None without `nested`, or where time did not suffice.
    seconds : float
        Time spent.
    notes : list of str
        Remarks, such as splits for which time did not suffice.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import tune
    >>> X, y = load_iris(return_X_y=True)
    >>> found = tune(X[::3], y[::3], nested=False, time_limit=20)
    >>> found.task, bool(found.chosen.score > 0.9)
    ('classification', True)
    """

    estimator: Any
    task: str
    trials: list[Trial]
    chosen: Trial
    score: float | None
    error: float | None
    seconds: float
    notes: list[str] = field(default_factory=list)
    _data: tuple[Any, Any] | None = field(default=None, repr=False)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of the fitted pipeline.

        Parameters
        ----------
        X : objects
            New objects.
        """
        return self.estimator.predict(X)

    def __str__(self) -> str:
        metric = "accuracy" if self.task == "classification" else "R^2"
        lines = [f"{self.task}, {len(self.trials)} candidates, {self.seconds:.1f} s", *self.notes]
        distinct: dict[Any, Trial] = {}  # the fine search repeats a candidate of the coarse one
        for trial in sorted(self.trials, key=lambda t: (-t.score, t is not self.chosen)):
            distinct.setdefault((repr(trial.kernel), trial.C, trial.epsilon), trial)
        best = list(distinct.values())[:5]
        for trial in best if self.chosen in best else [self.chosen, *best]:
            mark = "->" if trial is self.chosen else "  "
            tube = "" if trial.epsilon is None else f", epsilon={trial.epsilon:.3g}"
            scored = np.isfinite(trial.score)
            numbers = f"{trial.score:.3f} +- {trial.error:.3f}" if scored else "not scored"
            lines.append(f"{mark} {numbers}  C={trial.C:.3g}{tube}  {_label(trial.kernel)}")
        if self.score is None and not np.isfinite(self.chosen.score):
            lines.append("no estimate of the score")
        elif self.score is None:
            lines.append(f"no nested estimate; the {metric} of the choice above is optimistic")
        else:
            lines.append(f"{metric} on new data: {self.score:.3f} +- {self.error:.3f} (nested)")
        return "\n".join(lines)

    def plot(self) -> Figure:
        """Draw the scores of the candidates with the path taken, and the learning curve.

        Returns
        -------
        matplotlib Figure
        """
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
        shown = [t for t in self.trials if type(t.kernel) is type(self.chosen.kernel)]
        widths = all(_has_gamma(t.kernel) for t in shown)
        shown = shown if widths else self.trials
        names = list(dict.fromkeys(_label(t.kernel) for t in shown))

        def place(trial: Trial) -> tuple[float, float]:
            kernel: Any = trial.kernel
            return trial.C, float(kernel.gamma) if widths else names.index(_label(kernel))

        x, height = zip(*map(place, shown), strict=True)
        marks = left.scatter(x, height, c=[t.score for t in shown], s=60, marker="s")
        figure.colorbar(marks, ax=left, label="cross-validated score")
        coarse = max((t for t in shown if t.stage != "fine"), key=lambda t: t.score)
        path = place(coarse), place(self.chosen)
        left.plot(*zip(*path, strict=True), "o-", color="black", mfc="none", ms=12)
        left.set(xscale="log", xlabel="C")
        if widths:
            left.set(yscale="log", ylabel="gamma", title=type(self.chosen.kernel).__name__)
        else:
            left.set(title="all kernels", yticks=range(len(names)))
            short = [name if len(name) < 40 else f"{name[:22]} ... {name[-12:]}" for name in names]
            left.set_yticklabels(short, fontsize="x-small")
        if self._data is not None:
            X, y = self._data
            cv = splitter(self.task == "classification", _OUTER, 0, y)
            options = {"cv": cv, "shuffle": True, "random_state": 0}
            sizes, train, test = learning_curve(clone(self.estimator), X, y, **options)[:3]
            for scores, label in ((train, "training rows"), (test, "new rows")):
                mean, spread = scores.mean(axis=1), scores.std(axis=1)
                right.errorbar(sizes, mean, spread, label=label, capsize=3)
            right.set(xlabel="training rows", ylabel="score", title="learning curve")
            # Below the axes, where it hides no error bar.
            right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2, frameon=False)
        figure.tight_layout()
        return figure


def tune(
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    kernels: Any = None,
    cv: int = 5,
    one_standard_error: bool = False,
    nested: bool = True,
    time_limit: float = 60.0,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Tuning:
    """Return a tuned machine for data, with an estimate of its score on new data.

    Parameters
    ----------
    X : objects
        Rows of numbers, dense or sparse, strings, sets, texts, series or a data frame; see
        :func:`suggest`. Values that are missing among numbers are replaced by the median of their
        column, with a column that indicates them; of categories they are one more category; other
        columns of a frame get their most frequent value.
    y : array-like of shape (n_samples,)
        Labels or real targets.
    task : {"auto", "classification", "regression"}, default="auto"
        What `y` is. "auto" takes strings and truth values for labels, and whole numbers that are
        codes of classes: 0, ..., k - 1 or 1, ..., k, or up to 20 different integers, or up to three
        different floats.
    kernels : sequence of Kernel, optional
        Kernels to search over, instead of the usual ones for the data.
    cv : int, default=5
        Number of folds of the searches.
    one_standard_error : bool, default=False
        Whether to choose, among candidates whose score is within one standard error of the best
        and whose kernel is of the same class, the one with the smallest C: the most regularised.
    nested : bool, default=True
        Whether to estimate the score by nested cross-validation: the whole procedure is repeated
        on three outer splits, in 0.6 of the time.
    time_limit : float, default=60.0
        Seconds after which no further candidate is tried; the last fit comes on top. Where they do
        not suffice for a search, usual constants are scored, or fitted without a score, and a note
        says so. Of more than 1,000 rows a sample of 1,000 serves the coarse search.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the folds.
    n_jobs : int, optional
        Threads; None: all cores.
    verbose : int, default=0
        1 draws a progress bar. Its total is an estimate until the last search begins, because the
        fine searches depend on the coarse ones; fits for which time did not suffice are left out.

    Returns
    -------
    Tuning
        The fitted pipeline, the table of candidates and the estimate; print it to read it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mercer
    >>> X, y = load_iris(return_X_y=True)
    >>> found = mercer.tune(X, y)
    >>> found.task, bool(found.score > 0.9), bool(found.estimator.score(X, y) > 0.9)
    ('classification', True, True)
    """
    y, classification = checked_target(y, task)
    if count(X) != len(y):
        raise ValueError(f"y must have one value for each of the {count(X)} objects; got {len(y)}.")
    if not time_limit > 0:
        raise ValueError(f"time_limit must be a positive number of seconds; got {time_limit!r}.")
    run = Run(time_limit)
    imputer, notes = imputer_of(X)
    seed = int(generator(random_state).integers(2**31 - 1))
    outer = splitter(classification, _OUTER, seed + 1, y)
    splits = list(outer.split(np.zeros(len(y)), y)) if nested else []
    with FitBar(0, verbose) as bar:
        procedure = _Procedure(
            classification, kernels, cv, one_standard_error, seed, n_jobs, bar, imputer
        )
        part = run.branch(share=_SHARES[bool(nested)])
        estimator, tried, chosen = procedure.run(X, y, part, len(splits))
        found = Tuning(
            estimator,
            "classification" if classification else "regression",
            tried,
            chosen,
            None,
            None,
            0.0,
            notes,
            _data=(X, y),
        )
        levels = np.unique(y)
        doubtful = y.dtype.kind in "iuf" and len(levels) > FEW_CLASSES
        if task == "auto" and doubtful and (levels == np.round(levels)).all():
            other = "regression" if classification else "classification"
            found.notes.append(
                f"y holds {len(levels)} different whole numbers, taken for "
                f"{'labels' if classification else 'numbers'}; task={other!r} takes them otherwise"
            )
        if chosen.stage == "default":
            found.notes.append(
                f"time_limit={time_limit:g} s sufficed for no search: this is a usual kernel "
                "with a usual C; raise time_limit"
            )
        if len(y) > _COARSE:
            found.notes.append(f"coarse search on {_COARSE} of {len(y)} rows, fine search on all")
        _estimate(found, procedure, X, y, splits, run)
        bar.plan(0)
    found.seconds = run.seconds
    return found


def _estimate(
    found: Tuning, procedure: _Procedure, X: Any, y: Any, splits: list[Any], run: Run
) -> None:
    """Repeat the whole procedure on outer splits."""
    scores = []
    for k, (train, test) in enumerate(splits):
        remaining = len(splits) - k
        if run.over:
            found.notes.append(f"time ran out after {k} of {len(splits)} outer splits")
            break
        part = run.branch(share=1.0 / remaining)
        try:
            inner = procedure.run(_rows(X, train), y[train], part, remaining - 1)[0]
        except TimeoutError:
            found.notes.append(f"time ran out in outer split {k + 1} of {len(splits)}")
            break
        scores.append(float(inner.score(_rows(X, test), y[test])))
    if len(scores) > 1:
        found.score = float(np.mean(scores))
        found.error = float(np.std(scores, ddof=1) / np.sqrt(len(scores)))


@dataclass(frozen=True)
class _Procedure:
    """What is done to data, from scaling to the choice."""

    classification: bool
    kernels: Any
    cv: int
    one_standard_error: bool
    seed: int
    n_jobs: int | None
    bar: FitBar
    imputer: Any = None

    def run(self, X: Any, y: Any, run: Run, later: int) -> tuple[Any, list[Trial], Trial]:
        """Return the fitted pipeline, all trials and the chosen one; `later` runs will follow."""
        few, target = X, y
        if len(y) > _COARSE:
            rng = np.random.default_rng(self.seed)
            rows = sample(y, self.classification, _COARSE, self.cv, rng)
            few, target = _rows(X, rows), y[rows]
        steps = []
        scaled = few
        if self.imputer is not None:
            steps.append(("impute", self.imputer))
            scaled = clone(self.imputer).fit_transform(few)
        scaler = _scaler(scaled)
        if scaler is not None:
            steps.append(("scale", scaler))
            scaled = clone(scaler).fit_transform(scaled)
        grids = [
            self._grid([kernel], costs(kernel, scaled, target, self.classification), target)
            for kernel in self._candidates(scaled, target)
        ]
        steps.append(("machine", SVC() if self.classification else SVR()))
        pipeline = Pipeline(steps)
        coarse = self._size(grids, target)
        usual = len(FINE_COSTS) * len(FINE_WIDTHS) * self._folds(y).get_n_splits()
        self.bar.plan((coarse + usual + 1) * (1 + later), estimated=True)
        try:
            found = self._search(pipeline, grids, few, target, run.branch(share=0.6), "coarse")
        except TimeoutError:
            found = [self._default(pipeline, grids, few, target, run)]
        best = found[0] if found[0].stage == "default" else best_trial(found)
        if best.stage != "default" and not run.over:
            fine = self._grid(near_widths(best.kernel), [best.C * f for f in FINE_COSTS], y)
            if best.epsilon is not None:
                fine["machine__epsilon"] = [best.epsilon]
            size = self._size([fine], y)
            self.bar.plan(size + 1 + (coarse + size + 1) * later, estimated=later > 0)
            with contextlib.suppress(TimeoutError):
                found += self._search(pipeline, [fine], X, y, run, "fine")
        comparable = [t for t in found if len(target) == len(y) or t.stage == found[-1].stage]
        chosen = best if best.stage == "default" else self._choice(comparable)
        parameters = {"machine__kernel": chosen.kernel, "machine__C": chosen.C}
        if chosen.epsilon is not None:
            parameters["machine__epsilon"] = chosen.epsilon
        fitted = clone(pipeline).set_params(**parameters).fit(X, y)
        self.bar.advance()
        return fitted, found, chosen

    def _default(self, pipeline: Any, grids: list[Any], X: Any, y: Any, run: Run) -> Trial:
        """Return the first kernel that is not linear with a usual C, scored if there is time."""
        curved = (g for g in grids if not isinstance(g["machine__kernel"][0], Linear))
        grid = next(curved, grids[0])
        middle = {name: [values[len(values) // 2]] for name, values in grid.items()}
        if not run.over:
            with contextlib.suppress(TimeoutError):
                return self._search(pipeline, [middle], X, y, run, "default")[0]
        (kernel,), (C,) = middle["machine__kernel"], middle["machine__C"]
        (epsilon,) = middle.get("machine__epsilon", [None])
        return Trial(kernel, C, epsilon, np.nan, np.nan, "default")

    def _folds(self, y: Any) -> Any:
        return splitter(self.classification, self.cv, self.seed, y)

    def _size(self, grids: list[Any], y: Any) -> int:
        """Return the number of fits of a search."""
        return len(ParameterGrid(grids)) * int(self._folds(y).get_n_splits())

    def _candidates(self, X: Any, y: Any) -> list[Kernel]:
        if self.kernels is not None:
            return list(self.kernels)
        kind = data_kind(X, None if self.classification else y)
        found = usual_candidates(kind, y, self.classification, self.seed)
        return [candidate.kernel for candidate in found]

    def _grid(self, kernels: list[Kernel], costs: list[float], y: Any) -> dict[str, list[Any]]:
        grid: dict[str, list[Any]] = {"machine__kernel": kernels, "machine__C": costs}
        if not self.classification:
            grid["machine__epsilon"] = [t * float(np.std(y)) for t in _TUBES]
        return grid

    def _search(
        self, pipeline: Any, grids: list[Any], X: Any, y: Any, run: Run, stage: str
    ) -> list[Trial]:
        if run.over:
            raise TimeoutError("the time of this search is over")
        return trials(
            pipeline,
            grids,
            X,
            y,
            self._folds(y),
            stage=stage,
            time_limit=run.seconds_left,
            n_jobs=self.n_jobs,
            bar=self.bar,
        )

    def _choice(self, trials: list[Trial]) -> Trial:
        best = best_trial(trials)
        if not self.one_standard_error:
            return best
        near = [
            t
            for t in trials
            if t.score >= best.score - best.error and type(t.kernel) is type(best.kernel)
        ]
        return min(near, key=lambda t: (t.C, -t.score))


def _scaler(X: Any) -> Any:
    """Return what brings columns to one scale; None for objects that are no rows of numbers."""
    if sp.issparse(X):
        return MaxAbsScaler()
    if is_frame(X) and not holds_objects(X):  # kernels may name its columns
        return StandardScaler().set_output(transform="pandas" if hasattr(X, "iloc") else "polars")
    rows = isinstance(X, list) and bool(X) and isinstance(X[0], list | tuple | np.ndarray)
    if isinstance(X, np.ndarray) or rows:
        try:
            numbers = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            return None
        return StandardScaler() if numbers.ndim == 2 else None
    return None


def _rows(X: Any, rows: Any) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[k] for k in rows]
    return X[rows]


def _label(kernel: Kernel) -> str:
    """Return a kernel as text, its numbers to three digits."""
    return re.sub(r"\d+\.\d{3,}(e[-+]\d+)?", lambda m: f"{float(m[0]):.3g}", repr(kernel))


def _has_gamma(kernel: Kernel) -> bool:
    return isinstance(kernel.get_params(deep=False).get("gamma"), int | float)
