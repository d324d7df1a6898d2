"""The loop over the fits of a search: shared where possible, journalled, limited, interruptible.

It takes the place of joblib's `Parallel` in scikit-learn's functions (see `borrowed`): it gets all
calls of ``_fit_and_score`` at once and returns their results in order. Fits that can share go to
`sharing.SharedFits`; the others are made one by one by scikit-learn's own function, side by side in
processes where the estimator is not one of mercer's, which use all cores by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pickle import PicklingError
from time import perf_counter
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _PassthroughScorer
from sklearn.model_selection._validation import _fit_and_predict, _fit_and_score, _score
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from mercer._version import __version__
from mercer.machines.estimator import KernelEstimator

from .borrowed import plain_delayed
from .fit_bar import FitBar
from .journal import Journal, split_key
from .pruning import hopeless
from .sharing import Answer, Request, SharedFits, final_step

Result = dict[str, Any]
Call = tuple[Any, Any, Any]
"""A function, its arguments and its named arguments."""

_PATIENCE = 1.0
"""Seconds of fits before processes are started for the others."""

SHARED = "shared"
"""The note of fits on a shared kernel matrix."""

_STATUSES = (
    "optimal",
    "stationary",
    "precision_limit",
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
    """Return the status that says the least about a candidate."""
    return max(statuses, key=_STATUSES.index)


class SharedLoop:
    """A loop over fits; see the head of this module.

    Parameters
    ----------
    n_jobs : int, optional
        Threads or processes; None: all cores.
    cache_size : float
        Megabytes for kernel matrices.
    time_limit : float, optional
        Seconds, after which no further fit is begun.
    resume : path, optional
        The journal.
    prune : bool
        Whether hopeless candidates are given up; see `pruning`.
    verbose : int
        Whether to draw a progress bar.
    keeps : bool
        Whether an interrupt returns what is known, with `interrupted` set, instead of raising.
    metric : str, optional
        The metric that decides about pruning where there are several.
    bar : FitBar, optional
        A progress bar that other searches share, in place of one of its own.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        cache_size: float = 500.0,
        time_limit: float | None = None,
        resume: Any = None,
        prune: bool = False,
        verbose: int = 0,
        keeps: bool = False,
        metric: str | None = None,
        bar: FitBar | None = None,
    ) -> None:
        self.n_jobs, self.cache_size, self.time_limit = n_jobs, cache_size, time_limit
        self.resume, self.prune, self.verbose, self.keeps = resume, prune, verbose, keeps
        self.metric, self.bar = metric, bar
        self.interrupted = self.out_of_time = False
        self._begin = perf_counter()
        self.engine: SharedFits | None = None  # that outlives a call
        self._journal: Journal | None = None
        self._collecting = False

    def names(self) -> dict[str, Any]:
        """Return what names of scikit-learn's functions are to stand for."""
        return {"Parallel": self.parallel, "delayed": plain_delayed, "clone": self.clone}

    def parallel(self, **options: Any) -> SharedLoop:
        """Stand where the constructor of `Parallel` does."""
        return self

    def clone(self, estimator: Any, *, safe: bool = True) -> Any:
        """Stand where `clone` does: what is only noted in a call need not be cloned for it."""
        return estimator if self._collecting else clone(estimator, safe=safe)

    def __enter__(self) -> SharedLoop:
        return self

    def __exit__(self, *error: object) -> None:
        if self._journal is not None:
            self._journal.write()

    def __call__(self, calls: Iterable[Call]) -> list[Any]:
        """Make the calls and return their results in order."""
        self._collecting = True
        try:
            calls = list(calls)
        finally:
            self._collecting = False
        functions = {function for function, _, _ in calls}
        if functions == {_fit_and_score}:
            return self._scored([_Fit(args, kwargs) for _, args, kwargs in calls])
        if functions == {_fit_and_predict}:
            return self._predicted(calls)
        apart = [(f, (clone(args[0]), *args[1:]), kwargs) for f, args, kwargs in calls]
        return list(self._made(apart, own=False))

    # -- scores -------------------------------------------------------------------------------

    def _scored(self, fits: list[_Fit]) -> list[Result]:
        _configure(fits)
        results: list[Result | None] = [None] * len(fits)
        self._open_journal(fits)
        for k, fit in enumerate(fits):
            results[k] = self._journalled(fit)
        with nullcontext(self.bar) if self.bar else FitBar(len(fits), self.verbose) as bar:
            bar.skip(sum(r is not None for r in results))  # what a journal knew took no time
            try:
                for stage in self._stages(fits, results, bar):
                    self._run(fits, [k for k in stage if results[k] is None], results, bar)
            except KeyboardInterrupt:
                if not self.keeps:
                    raise
                self.interrupted = True
        if self._journal is not None:
            self._journal.write()
        known = next((r for r in results if r is not None), None)
        return [
            _without_scores(fit, known, "missing") if r is None else r
            for fit, r in zip(fits, results, strict=True)
        ]

    def _run(
        self, fits: list[_Fit], chosen: list[int], results: list[Result | None], bar: FitBar
    ) -> None:
        """Fill in the results of some fits."""

        def note(k: int, result: Result) -> None:
            results[k] = result
            if self._journal is not None:
                self._journal.put(fits[k].parameters, fits[k].split_key, _plain(result))
                self._journal.write(now=False)
            bar.advance()

        alone: dict[int, str] = {}
        requests = []
        for k in chosen:
            reason = fits[k].refusal()
            if reason is None:
                requests.append(fits[k].request(k))
            else:
                alone[k] = reason
        engine = self.engine or SharedFits(self.cache_size, self.n_jobs)
        for request, answer in engine.run(requests, self._left()):
            note(request.position, _result(fits[request.position], answer))
        alone |= {request.position: reason for request, reason in engine.refused}
        self._run_alone(fits, sorted(alone.items()), note)

    def _run_alone(
        self, fits: list[_Fit], alone: list[tuple[int, str]], note: Callable[[int, Result], None]
    ) -> None:
        """Make fits one by one, or those of other libraries in processes."""
        calls: list[Call] = [(_fitted_alone, (fits[k], reason), {}) for k, reason in alone]
        own = any(fits[k].is_own for k, _ in alone)
        for (k, _), result in zip(alone, self._made(calls, own), strict=False):
            note(k, result)

    def _made(self, calls: Sequence[Call], own: bool) -> Iterator[Any]:
        """Yield the results of calls in order, until time is over.

        Estimators of other libraries go to processes, but for the first second: it takes about as
        long to start them.
        """
        processes, begin, k = 1 if own else self._processes(), perf_counter(), 0
        while k < len(calls) and not self._late():
            alone = processes == 1 or perf_counter() - begin < _PATIENCE
            part = calls[k : k + (1 if alone else 4 * processes)]
            if len(part) == 1:
                yield part[0][0](*part[0][1], **part[0][2])
            else:
                run = joblib.Parallel(n_jobs=processes)
                yield from run(joblib.delayed(f)(*args, **kwargs) for f, args, kwargs in part)
            k += len(part)

    def _processes(self) -> int:
        return int(joblib.effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs))

    def _stages(
        self, fits: list[_Fit], results: list[Result | None], bar: FitBar
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
                    results[k] = _without_scores(fits[k], _first(results), "pruned")
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

    # -- predictions and other calls ----------------------------------------------------------

    def _predicted(self, calls: Sequence[Call]) -> list[Any]:
        results: list[Any] = [None] * len(calls)
        requests, alone = [], dict.fromkeys(range(len(calls)))
        for k, (_, args, _) in enumerate(calls):
            estimator, X, y, train, test, fit_params, _ = args
            before, _ = final_step(estimator)
            # Behind a transformer every fold has rows of its own, for one machine: a stored matrix
            # of them takes longer than the fit alone.
            if not before and set(fit_params or {}) <= {"sample_weight"}:
                weight = (fit_params or {}).get("sample_weight")
                requests.append(Request(k, estimator, X, y, train, test, weight))
        engine = SharedFits(self.cache_size, self.n_jobs)
        for request, answer in engine.run(requests):
            k = request.position
            _, args, _ = calls[k]
            answer.model._known = [(None, answer.model._known[0][1])]
            results[k] = _fit_and_predict(answer.model, *args[1:])
            del alone[k]
        rest: list[Call] = [
            (_fit_and_predict, (clone(calls[k][1][0]), *calls[k][1][1:]), {}) for k in alone
        ]
        own = any(_is_own(call[1][0]) for call in calls)
        for k, found in zip(alone, self._made(rest, own), strict=True):
            results[k] = found
        return results

    # -- limits and the journal ---------------------------------------------------------------

    def _left(self) -> float | None:
        """Return the seconds that are left."""
        if self.time_limit is None:
            return None
        return max(self.time_limit - (perf_counter() - self._begin), 0.0)

    def _late(self) -> bool:
        return self._left() == 0.0

    def _open_journal(self, fits: list[_Fit]) -> None:
        if self.resume is None or self._journal is not None or not fits:
            return
        first = fits[0]
        head = {
            "mercer": __version__,
            "estimator": _hash([type(first.base), first.base.get_params()]),
            "data": _hash([first.X, first.y, sorted((first.given("fit_params") or {}).items())]),
            "scoring": _hash(_names(first.given("scorer"))),
            "return_train_score": bool(first.given("return_train_score")),
        }
        self._journal = Journal(self.resume, head)

    def _journalled(self, fit: _Fit) -> Result | None:
        if self._journal is None:
            return None
        found = self._journal.get(fit.parameters, fit.split_key)
        return None if found is None else {"fit_error": None, **found}


class _Fit:
    """One call of scikit-learn's ``_fit_and_score``."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.base, self.X, self.y = args
        self.kwargs = kwargs
        self.train, self.test = kwargs["train"], kwargs["test"]
        self.parameters = kwargs["parameters"]
        self.estimator: Any = None  # with the parameters; None where they cannot be set
        self._split_key: str | None = None

    def given(self, name: str) -> Any:
        return self.kwargs.get(name)

    @property
    def split_key(self) -> str:
        if self._split_key is None:
            self._split_key = split_key(self.train, self.test)
        return self._split_key

    @property
    def is_own(self) -> bool:
        return _is_own(self.base)

    def refusal(self) -> str | None:
        """Return why a fit cannot share, as far as this call says; None where it may."""
        if self.estimator is None:
            return "the parameters cannot be set"
        before, _ = final_step(self.estimator)
        if self.given("return_estimator"):
            return "return_estimator asks for fitted estimators"
        if self.kwargs.get("callback_ctx") is not None and _is_watched(self.kwargs["caller"]):
            return "callbacks watch each fit"
        names = set(self.given("fit_params") or {})
        if not names <= {_weight_name(self.estimator)}:
            return f"fit takes {', '.join(sorted(names))}"
        if before and not _asks_for_predictions(self.given("scorer")):
            return "the metric is a function of the whole pipeline"
        return None

    def request(self, position: int) -> Request:
        weight = (self.given("fit_params") or {}).get(_weight_name(self.estimator))
        scores_train = bool(self.given("return_train_score"))
        X, y = self.X, self.y
        return Request(position, self.estimator, X, y, self.train, self.test, weight, scores_train)


def _weight_name(estimator: Any) -> str:
    """Return the parameter of ``fit`` that holds the weights of the machine."""
    last = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    return f"{last}sample_weight"


def _configure(fits: list[_Fit]) -> None:
    """Give every fit its estimator; fits of one candidate get the same."""
    made: dict[int, Any] = {}
    for fit in fits:
        if fit.parameters is None or not (fit.is_own or isinstance(fit.base, Pipeline)):
            fit.estimator = fit.base
            continue
        if id(fit.parameters) not in made:
            try:
                parameters = {k: clone(v, safe=False) for k, v in fit.parameters.items()}
                made[id(fit.parameters)] = clone(fit.base).set_params(**parameters)
            except Exception:  # which a plain fit raises again, where it can be reported
                made[id(fit.parameters)] = None
        fit.estimator = made[id(fit.parameters)]


def _is_own(estimator: Any) -> bool:
    """Return whether an estimator is one of mercer's, which use all cores by themselves."""
    return isinstance(final_step(estimator)[1], KernelEstimator)


def _is_watched(caller: Any) -> bool:
    return bool(getattr(caller, "_skl_callbacks", None))


def _asks_for_predictions(scorer: Any) -> bool:
    """Return whether a metric looks at nothing of an estimator but its predictions."""
    if isinstance(scorer, _MultimetricScorer):
        return all(map(_asks_for_predictions, scorer._scorers.values()))
    return isinstance(scorer, _BaseScorer | _PassthroughScorer)


def _result(fit: _Fit, answer: Answer) -> Result:
    """Return the scores of a model, in the form of ``_fit_and_score``."""
    begin = perf_counter()
    scorer, error_score = fit.given("scorer"), fit.kwargs.get("error_score", np.nan)
    given = fit.given("score_params") or {}

    def score(X: Any, rows: Any) -> Any:
        y = fit.y
        if y is not None:
            y = y[rows] if isinstance(y, np.ndarray) else _safe_indexing(y, rows)
        params = _check_method_params(fit.X, params=given, indices=rows) if given else {}
        return _score(answer.model, X, y, scorer, params, error_score)

    result: Result = {"fit_error": None, "test_scores": score(answer.X_test, fit.test)}
    score_time = perf_counter() - begin
    if fit.given("return_train_score"):
        result["train_scores"] = score(answer.X_train, fit.train)
    result |= {
        "n_test_samples": len(fit.test),
        "fit_time": answer.seconds,
        "score_time": score_time,
        "mercer_status": answer.status,
        "mercer_gap": answer.gap,
        "mercer_note": SHARED,
    }
    return result


def _fitted_alone(fit: _Fit, reason: str) -> Result:
    """Return the result of scikit-learn's function, with status and gap of the certificate."""
    kwargs = {**fit.kwargs, "return_estimator": True, "return_times": True}
    kwargs["return_n_test_samples"] = True
    for name in ("split_progress", "candidate_progress"):
        kwargs.pop(name, None)
    kwargs["verbose"] = 0
    result = _fit_and_score(clone(fit.base), fit.X, fit.y, **kwargs)
    proof = _certificate(result["estimator"])
    if not fit.given("return_estimator"):
        del result["estimator"]
    failed = result["fit_error"] is not None
    result["mercer_status"] = "failed" if failed else getattr(proof, "status", "unknown")
    result["mercer_gap"] = float(getattr(proof, "relative_gap", math.nan))
    result["mercer_note"] = f"fitted by itself: {reason}"
    return result


def _certificate(estimator: Any) -> Any:
    """Return the proof of a fit; None where an estimator has none."""
    try:
        machine = final_step(estimator)[1]
        return getattr(machine, "certificate_", None)
    except (AttributeError, ValueError):
        return None


def _without_scores(fit: _Fit, known: Result | None, status: str) -> Result:
    """Return the result of a fit that was not made."""

    def nothing(like: Any) -> Any:
        return dict.fromkeys(like, math.nan) if isinstance(like, dict) else math.nan

    scorer = fit.given("scorer")
    names = scorer._scorers if isinstance(scorer, _MultimetricScorer) else math.nan
    like = names if known is None else known["test_scores"]
    result: Result = {"fit_error": None, "test_scores": nothing(like)}
    if fit.given("return_train_score"):
        result["train_scores"] = nothing(like)
    result |= {
        "n_test_samples": len(fit.test),
        "fit_time": math.nan,
        "score_time": math.nan,
        "mercer_status": status,
        "mercer_gap": math.nan,
        "mercer_note": "",
    }
    return result


def _first(results: list[Result | None]) -> Result | None:
    return next((r for r in results if r is not None), None)


def _plain(result: Result) -> Result:
    """Return a result as it is written to a journal."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: float(v) for name, v in value.items()}
        return float(value) if isinstance(value, np.floating | float) else value

    return {k: plain(v) for k, v in result.items() if k not in ("fit_error", "estimator")}


def _names(scorer: Any) -> list[str]:
    scorers = getattr(scorer, "_scorers", {"score": scorer})
    return [f"{name}={value!r}" for name, value in scorers.items()]


def _hash(value: Any) -> str:
    try:
        return str(joblib.hash(value))
    except (PicklingError, AttributeError, TypeError):  # functions of a notebook, for instance
        return repr(value)
