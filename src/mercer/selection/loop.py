"""The loop over the fits of a search: shared where possible, journalled, limited, interruptible.

It is given all fits at once, candidates on splits, and returns their results in order, in the form
of scikit-learn's ``_fit_and_score``. Fits that can share go to `sharing.SharedFits`; the others are
made one by one by scikit-learn's own function, side by side in processes where the estimator is not
one of mercer's, which use all cores by themselves.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pickle import PicklingError
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer._version import __version__
from mercer.machines.errors import DegenerateFitWarning
from mercer.machines.kernel_estimator import KernelEstimator
from mercer.run import Run, stopwatch
from mercer.sklearn_internals import (
    asks_only_for,
    check_method_params,
    enforce_prediction_order,
    fit_and_predict,
    fit_and_score,
    fit_callbacks,
    safe_indexing,
    score,
    scorers_of,
)

from .fit_bar import FitBar
from .fold_model import METHODS
from .journal import Journal, split_key
from .pruning import hopeless
from .sharing import NO_MARGIN, Answer, Request, SharedFits, final_step, status_of

Result = dict[str, Any]
Split = tuple[Any, Any]

_PATIENCE = 1.0
"""Seconds of fits before processes are started for the others."""

SHARED = "shared"
"""The note of fits on a shared kernel matrix."""

_STATUSES = (
    "optimal",
    "stationary",
    "precision_limit",
    NO_MARGIN,
    "iteration_limit",
    "time_limit",
    "interrupted",
    "infeasible",
    "unknown",
    "failed",
    "pruned",
    "missing",
)


def worst_status(statuses: Iterable[str]) -> str:
    """Return the worst status of the fits of a candidate."""
    return max(statuses, key=_STATUSES.index)


@dataclass(eq=False)
class Task:
    """What the fits of a loop have in common.

    `search`: the search whose callbacks see every fit. Other fields as in scikit-learn's
    ``_fit_and_score``.
    """

    estimator: Any
    X: Any
    y: Any
    scorer: Any
    fit_params: dict[str, Any]
    score_params: dict[str, Any]
    error_score: Any = math.nan
    return_train_score: bool = False
    return_estimator: bool = False
    search: Any = None


class Fit(NamedTuple):
    """One fit: the parameters of a candidate on one split, and what reports it to callbacks."""

    parameters: dict[str, Any] | None
    train: Any
    test: Any
    context: Any = None


def positions(rows: Any) -> Any:
    """Return the positions of rows, where a splitter of the user gives masks."""
    return np.flatnonzero(rows) if np.asarray(rows).dtype == np.bool_ else rows


class SharedLoop:
    """A loop over fits; see the head of this module.

    Parameters
    ----------
    n_jobs : int, optional
        Threads or processes; None: all cores.
    engine : SharedFits, optional
        Shares work between fits, also those of several calls.
    cache_size : float
        Megabytes for kernel matrices, where no engine is given.
    time_limit : float, optional
        Seconds, after which no further fit is begun.
    resume : path, optional
        The journal.
    prune : bool
        Whether hopeless candidates are given up; see `pruning`.
    bar : FitBar, optional
        The progress bar.
    keeps : bool
        Whether an interrupt returns what is known, with `run.by_keyboard` set, instead of raising.
    metric : str, optional
        The metric that decides about pruning where there are several.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        engine: SharedFits | None = None,
        cache_size: float = 500.0,
        time_limit: float | None = None,
        resume: Any = None,
        prune: bool = False,
        bar: FitBar | None = None,
        keeps: bool = False,
        metric: str | None = None,
    ) -> None:
        self.n_jobs, self.resume, self.prune, self.bar = n_jobs, resume, prune, bar
        self.keeps, self.metric = keeps, metric
        self.engine = engine or SharedFits(cache_size, n_jobs)
        self.run = Run(time_limit)
        self._journal: Journal | None = None

    # -- scores -------------------------------------------------------------------------------

    def scores(self, task: Task, fits: list[Fit], verbose: int = 0) -> list[Result]:
        """Return the results of fits, in their order; a limit leaves scores of NaN."""
        results: list[Result | None] = [None] * len(fits)
        self._open_journal(task)
        keys = {id(fit.train): split_key(*fit[1:3]) for fit in fits} if self._journal else {}
        if self._journal is not None:
            for k, fit in enumerate(fits):
                known = self._journal.get(fit.parameters, keys[id(fit.train)])
                results[k] = None if known is None else {"fit_error": None, **known}
        with nullcontext(self.bar) if self.bar else FitBar(len(fits), verbose) as bar:
            bar.skip(sum(r is not None for r in results))  # what a journal knew took no time

            def note(k: int, result: Result) -> None:
                results[k] = result
                if self._journal is not None:
                    key = keys[id(fits[k].train)]
                    self._journal.put(fits[k].parameters, key, _plain(result))
                    self._journal.write(now=False)
                bar.advance()

            try:
                with self.run.until_stopped():
                    for stage in self._stages(task, fits, results, bar):
                        self._evaluate(task, fits, [k for k in stage if results[k] is None], note)
            finally:
                if self._journal is not None:
                    self._journal.write()
        if not self.keeps:
            self.run.raise_interrupt()
        known = next(filter(None, results), None)
        return [
            _without_scores(task, fit, known, "missing") if r is None else r
            for fit, r in zip(fits, results, strict=True)
        ]

    def _evaluate(
        self, task: Task, fits: list[Fit], chosen: list[int], note: Callable[[int, Result], None]
    ) -> None:
        """Make some of the fits."""
        candidates: dict[int, tuple[Any, str | None]] = {}
        alone: dict[int, str] = {}
        requests = []
        weight = task.fit_params.get(_weight_name(task.estimator))
        for k in chosen:
            parameters, train, test, _ = fits[k]
            if id(parameters) not in candidates:
                candidates[id(parameters)] = _candidate(task, parameters)
            estimator, reason = candidates[id(parameters)]
            if reason is None:
                data = task.X, task.y, train, test, weight, task.return_train_score
                requests.append(Request(k, estimator, *data))
            else:
                alone[k] = reason
        for request, answer in self.engine.run(requests, self.run):
            note(request.position, _shared_result(task, fits[request.position], answer))
        alone |= {request.position: reason for request, reason in self.engine.refused}
        order = sorted(alone)
        calls = [(task, fits[k], alone[k]) for k in order]
        made = self._in_order(_fitted_alone, calls, task.estimator)
        for k, result in zip(order, made, strict=True):
            note(k, result)

    def _in_order(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], estimator: Any
    ) -> Iterator[Any]:
        """Yield the results of calls.

        Estimators of other libraries go to processes, but for the first second: it takes about as
        long to start them.
        """
        processes, seconds, k = 1, stopwatch(), 0
        if not _is_own(estimator):
            processes = joblib.effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs)
        while k < len(calls):
            self.run.check()
            alone = processes == 1 or seconds() < _PATIENCE
            part = calls[k : k + (1 if alone else 4 * processes)]
            if len(part) == 1:
                yield function(*part[0])
            else:
                run = joblib.Parallel(n_jobs=processes)
                yield from run(joblib.delayed(function)(*arguments) for arguments in part)
            k += len(part)

    def _stages(
        self, task: Task, fits: list[Fit], results: list[Result | None], bar: FitBar
    ) -> Iterable[list[int]]:
        """Yield fits that are made together: all, or split by split where hopeless ones end."""
        if not self.prune:
            yield list(range(len(fits)))
            return
        splits: dict[int, list[int]] = {}
        candidates: dict[int, int] = {}
        for k, fit in enumerate(fits):
            splits.setdefault(id(fit.train), []).append(k)
            candidates.setdefault(id(fit.parameters), len(candidates))
        ratio = float(np.mean([len(f.test) / len(f.train) for f in fits]))
        scores = np.full((len(candidates), len(splits)), np.nan)
        pruned = np.zeros(len(candidates), dtype=bool)
        for s, members in enumerate(splits.values()):
            for k in members:
                if results[k] is None and pruned[candidates[id(fits[k].parameters)]]:
                    known = next(filter(None, results), None)
                    results[k] = _without_scores(task, fits[k], known, "pruned")
                    bar.skip(pruned=True)
            yield members
            for k in members:
                found = results[k]
                if found is not None:
                    scores[candidates[id(fits[k].parameters)], s] = self._deciding(found)
            pruned |= hopeless(scores[:, : s + 1], ratio)

    def _deciding(self, result: Result) -> float:
        score = result["test_scores"]
        if not isinstance(score, dict):
            return float(score)
        name = self.metric if self.metric in score else next(iter(score))
        return float(score[name])

    def _open_journal(self, task: Task) -> None:
        if self.resume is None or self._journal is not None:
            return
        scorers = scorers_of(task.scorer) or {"score": task.scorer}
        head = {
            "mercer": __version__,
            "estimator": _hash([type(task.estimator), task.estimator.get_params()]),
            "data": _hash([task.X, task.y, sorted(task.fit_params.items())]),
            "scoring": _hash([f"{name}={value!r}" for name, value in scorers.items()]),
            "return_train_score": bool(task.return_train_score),
        }
        self._journal = Journal(self.resume, head)

    # -- predictions --------------------------------------------------------------------------

    def predictions(self, task: Task, splits: list[Split], method: str) -> list[Any]:
        """Return what a method answers on the test rows of each split."""
        results: dict[int, Any] = {}
        before, _ = final_step(task.estimator)
        estimator, X, y, params = task.estimator, task.X, task.y, task.fit_params
        requests = []
        # Behind a transformer every fold has rows of its own, for one machine: a stored matrix of
        # them takes longer than the fit alone.
        if not before and method in METHODS and params.keys() <= {"sample_weight"}:
            weight = params.get("sample_weight")
            requests = [
                Request(k, estimator, X, y, positions(train), positions(test), weight)
                for k, (train, test) in enumerate(splits)
            ]
        with self.run.until_stopped():
            for request, answer in self.engine.run(requests, self.run):
                found = getattr(answer.model, method)(answer.X_test)
                if method == "decision_function" and y is not None:
                    n_classes = len(np.unique(y))
                    given = answer.model.classes_, found, n_classes, method
                    found = enforce_prediction_order(*given)
                results[request.position] = found
            alone = [k for k in range(len(splits)) if k not in results]
            calls = [(clone(estimator), X, y, *splits[k], params, method) for k in alone]
            made = self._in_order(fit_and_predict, calls, estimator)
            results |= zip(alone, made, strict=True)
        self.run.raise_interrupt()
        return [results[k] for k in range(len(splits))]


def _candidate(task: Task, parameters: dict[str, Any] | None) -> tuple[Any, str | None]:
    """Return an estimator with the parameters of a candidate, and why its fits cannot share."""
    estimator = task.estimator
    if parameters and (_is_own(estimator) or isinstance(estimator, Pipeline)):
        try:
            estimator = clone(estimator).set_params(**clone(parameters, safe=False))
        except Exception:  # which a plain fit raises again, where it can be reported
            return estimator, "the parameters cannot be set"
    names = task.fit_params.keys() - {_weight_name(estimator)}
    reason = None
    if task.return_estimator:
        reason = "return_estimator asks for fitted estimators"
    elif fit_callbacks(task.search):
        reason = "callbacks watch each fit"
    elif names:
        reason = f"fit takes {', '.join(sorted(names))}"
    elif _is_own(estimator) and not asks_only_for(task.scorer, METHODS):
        reason = "the metric is a function of the fitted estimator"
    return estimator, reason


def _weight_name(estimator: Any) -> str:
    """Return the parameter of ``fit`` that holds the weights of the machine."""
    last = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    return f"{last}sample_weight"


def _is_own(estimator: Any) -> bool:
    """Return whether an estimator is one of mercer's, which use all cores by themselves."""
    return isinstance(final_step(estimator)[1], KernelEstimator)


def _shared_result(task: Task, fit: Fit, answer: Answer) -> Result:
    """Return the scores of a model that the engine found."""

    def scores(X: Any, rows: NDArray[np.int64]) -> Any:
        y, params = task.y, {}
        if y is not None:
            y = y[rows] if isinstance(y, np.ndarray) else safe_indexing(y, rows)
        if task.score_params:
            params = check_method_params(task.X, params=task.score_params, indices=rows)
        return score(answer.model, X, y, task.scorer, params, task.error_score)

    seconds = stopwatch()
    result: Result = {"fit_error": None, "test_scores": scores(answer.X_test, fit.test)}
    score_time = seconds()
    if task.return_train_score:
        result["train_scores"] = scores(answer.X_train, fit.train)
    times = answer.seconds, score_time
    return result | _about(fit, *times, answer.status, answer.gap, SHARED)


def _about(
    fit: Fit, fit_time: float, score_time: float, status: str, gap: float, note: str
) -> Result:
    return {
        "n_test_samples": len(fit.test),
        "fit_time": fit_time,
        "score_time": score_time,
        "mercer_status": status,
        "mercer_gap": gap,
        "mercer_note": note,
    }


def _fitted_alone(task: Task, fit: Fit, reason: str) -> Result:
    """Return the result of scikit-learn's function, with status and gap of the certificate."""
    watching = {} if fit.context is None else {"caller": task.search, "callback_ctx": fit.context}
    with warnings.catch_warnings():  # of candidates; the search warns of the model it refits
        warnings.simplefilter("ignore", DegenerateFitWarning)
        result: Result = fit_and_score(
            clone(task.estimator),
            task.X,
            task.y,
            scorer=task.scorer,
            train=fit.train,
            test=fit.test,
            verbose=0,
            parameters=fit.parameters,
            fit_params=task.fit_params,
            score_params=task.score_params,
            return_train_score=task.return_train_score,
            return_n_test_samples=True,
            return_times=True,
            return_estimator=True,
            error_score=task.error_score,
            **watching,
        )
    made = result["estimator"]
    proof = _certificate(made)
    status = "unknown" if proof is None else status_of(final_step(made)[1])
    if not task.return_estimator:
        del result["estimator"]
    failed = result["fit_error"] is not None
    result["mercer_status"] = "failed" if failed else status
    result["mercer_gap"] = float(getattr(proof, "relative_gap", math.nan))
    result["mercer_note"] = f"fitted by itself: {reason}"
    return result


def _certificate(estimator: Any) -> Any:
    """Return the proof of a fit; None where an estimator has none."""
    try:
        return getattr(final_step(estimator)[1], "certificate_", None)
    except (AttributeError, ValueError):
        return None


def _without_scores(task: Task, fit: Fit, known: Result | None, status: str) -> Result:
    """Return the result of a fit that was not made, of the form of one that is known."""
    like = scorers_of(task.scorer) if known is None else known["test_scores"]
    nothing = dict.fromkeys(like, math.nan) if isinstance(like, dict) else math.nan
    result: Result = {"fit_error": None, "test_scores": nothing}
    if task.return_train_score:
        result["train_scores"] = nothing
    return result | _about(fit, math.nan, math.nan, status, math.nan, "")


def _plain(result: Result) -> Result:
    """Return a result as it is written to a journal."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: float(v) for name, v in value.items()}
        return float(value) if isinstance(value, np.floating | float) else value

    return {k: plain(v) for k, v in result.items() if k not in ("fit_error", "estimator")}


def _hash(value: Any) -> str:
    try:
        return str(joblib.hash(value))
    except (PicklingError, AttributeError, TypeError):  # functions of a notebook, for instance
        return repr(value)
