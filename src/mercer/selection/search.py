"""Searches over parameters: scikit-learn's classes on one engine that shares work between fits.

The classes have scikit-learn's names, parameters, methods and results, so that one import line
changes. `n_jobs=None` uses all cores. Additions:

- ``cache_size``: megabytes for kernel matrices; rows beyond it are computed again;
- ``time_limit``: seconds after which no further fit is begun; the best candidate so far is fitted,
  and ``TimeoutError`` is raised where there is none;
- ``resume``: a file with the results so far, from which an interrupted search continues;
- ``prune``: candidates that are significantly worse than the best one after three splits or more
  are given up (see `mercer.selection.pruning` for the rule);
- columns of ``cv_results_``: ``status`` and ``worst_gap``, the worst certificate of a candidate's
  fits (the gap refers to the kernel matrix as stored), and ``note``, which says how they were made.

Ctrl-C leaves ``cv_results_``, ``best_params_`` and ``missing_candidates_`` of what was evaluated;
nothing is refitted, so that there is no ``best_estimator_``, and asking for it says what to do.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from dataclasses import KW_ONLY
from inspect import signature
from itertools import product
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from mercer import sklearn_internals as internals
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import declared
from mercer.run import stopwatch

from .fit_bar import FitBar
from .loop import Fit, Result, SharedLoop, Task, positions, worst_status

_OWN_CONSTRAINTS: dict[str, Any] = {
    "cache_size": [internals.Interval(Real, 0, None, closed="left")],
    "time_limit": [internals.Interval(Real, 0, None, closed="neither"), None],
    "resume": "no_validation",
    "prune": ["boolean"],
}


class _NotFitted:
    """Says why a search has no best estimator, until it is set on the search."""

    def __get__(self, search: Any, owner: type) -> Any:
        if search is None:
            return self
        if not search.refit:
            why = f"refit={search.refit!r}"
        elif "cv_results_" not in vars(search):
            why = "the search is not fitted"
        else:
            why = (
                "the search ended before it was fitted: cv_results_ holds what was evaluated and, "
                "if a candidate has all its scores, best_params_ the best one. Fit that one by "
                "clone(estimator).set_params(**best_params_).fit(X, y), or call fit again, which "
                "with resume=path continues where the search ended"
            )
        raise AttributeError(f"{owner.__name__} has no best_estimator_, because {why}.")


class _SharedSearch(internals.BaseSearchCV):
    """A search whose fits share work; scikit-learn's classes say which candidates there are."""

    cache_size: float
    time_limit: float | None
    resume: Any
    prune: bool = False
    best_estimator_: Any = _NotFitted()
    _bar: FitBar | None = None  # that several searches share

    @internals.fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Evaluate all candidates, and fit the best one to all data.

        Parameters
        ----------
        X : objects
            Training objects.
        y : array-like, optional
            Targets.
        **params : dict
            Parameters of the estimator's ``fit``, of the splitter and of the metric.

        Returns
        -------
        self : object
            The fitted search.
        """
        self.__dict__.pop("best_estimator_", None)
        scorer, metric = self._get_scorers()
        X, y = indexable(X, y)
        params = internals.check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        weight = params.get("sample_weight")
        data = {"X": X, "y": y, "metadata": None if weight is None else {"sample_weight": weight}}
        context = internals.callback_context(self, 1 + (self.refit is not False))
        context.call_on_fit_task_begin(estimator=self, **data)
        cv = self._checked_cv_orig = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        internals.check_search_input(self, X, y, routed.splitter.split)
        self.n_splits_ = cv.get_n_splits(X, y, **routed.splitter.split)
        task = Task(
            clone(self.estimator),
            X,
            y,
            scorer,
            routed.estimator.fit,
            routed.scorer.score,
            self.error_score,
            self.return_train_score,
            search=self,
        )
        first = self._evaluate_all(task, routed.splitter.split, context)
        self.multimetric_ = isinstance(first, dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(first)
            metric = self.refit
        if self.refit or not self.multimetric_:
            self._choose(metric, self._select_best_index(self.refit, metric, self.cv_results_))
        if self.refit:
            self._fit_best(task, context, data)
        self.scorer_ = internals.scorers_of(scorer) or scorer
        context.call_on_fit_task_end(estimator=self, **data)
        return self

    def _evaluate_all(self, task: Task, split_params: dict[str, Any], context: Any) -> Any:
        """Set ``cv_results_`` of all candidates; return the first score."""
        loop = SharedLoop(
            n_jobs=self.n_jobs,
            cache_size=self.cache_size,
            time_limit=self.time_limit,
            resume=self.resume,
            prune=self.prune,
            bar=self._bar,
            keeps=True,
            metric=self.refit if isinstance(self.refit, str) else None,
        )
        candidates: list[dict[str, Any]] = []
        results: list[Result] = []
        columns: dict[str, list[Any]] = defaultdict(list)

        def evaluate(
            candidate_params: Any,
            cv: Any = None,
            more_results: Any = None,
            callback_ctx: Any = None,
        ) -> dict[str, Any]:
            cv, chosen = cv or self._checked_cv_orig, list(candidate_params)
            splits = [
                (positions(train), positions(test))
                for train, test in cv.split(task.X, task.y, **split_params)
            ]
            if len(splits) != self.n_splits_:
                raise ValueError(
                    "cv.split and cv.get_n_splits return inconsistent results. Expected "
                    f"{self.n_splits_} splits, got {len(splits)}"
                )
            fits = [Fit(parameters, *split) for parameters, split in product(chosen, splits)]
            if not fits:
                raise ValueError(
                    "No fits were performed. Was the CV iterator empty? Were there no candidates?"
                )
            if self.verbose > 0:
                print(  # noqa: T201 - asked for by verbose
                    f"Fitting {len(splits)} folds for each of {len(chosen)} candidates, "
                    f"totalling {len(fits)} fits"
                )
            if callback_ctx is not None:
                name = "candidate-split-evaluation"
                fits = [
                    fit._replace(context=callback_ctx.subcontext(task_name=name, task_id=k))
                    for k, fit in enumerate(fits)
                ]
            found = loop.scores(task, fits, self.verbose)
            internals.warn_or_raise_about_fit_failures(found, self.error_score)
            if callable(self.scoring):  # the names of its metrics are known only now
                internals.insert_error_scores(found, self.error_score)
            candidates.extend(chosen)
            results.extend(found)
            for name, values in (more_results or {}).items():
                columns[name].extend(values)
            self.cv_results_ = self._format_results(candidates, len(splits), results, columns)
            self._report_missing(interrupted=loop.run.by_keyboard)
            return self.cv_results_

        if "callback_ctx" in signature(self._run_search).parameters:
            self._run_search(evaluate, callback_ctx=context)
        else:
            self._run_search(evaluate)
        return results[0]["test_scores"]

    def _choose(self, metric: Any, index: int) -> None:
        self.best_index_ = index
        if not callable(self.refit):
            self.best_score_ = self.cv_results_[f"mean_test_{metric}"][self.best_index_]
        self.best_params_ = self.cv_results_["params"][self.best_index_]

    def _fit_best(self, task: Task, context: Any, data: dict[str, Any]) -> None:
        """Fit the best candidate to all data."""
        parameters = clone(self.best_params_, safe=False)
        best = self.best_estimator_ = clone(task.estimator).set_params(**parameters)
        part = context.subcontext(task_name="refit-with-best-params")
        with part.propagate_callback_context(best):
            part.call_on_fit_task_begin(estimator=self, **data)
            seconds = stopwatch()
            best.fit(*([task.X] if task.y is None else [task.X, task.y]), **task.fit_params)
            self.refit_time_ = seconds()
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        part.call_on_fit_task_end(estimator=self, **data)

    def _format_results(
        self, candidate_params: Any, n_splits: int, out: list[Any], more_results: Any = None
    ) -> dict[str, Any]:
        """Return ``cv_results_``, with a proof for every candidate."""
        shape = len(candidate_params), n_splits
        status, gap, notes = (
            np.array([r[f"mercer_{name}"] for r in out], dtype=kind).reshape(shape)
            for name, kind in (("status", object), ("gap", np.float64), ("note", object))
        )
        with warnings.catch_warnings():
            if np.isin(status.astype(str), ("missing", "pruned")).any():  # NaN on purpose
                warnings.filterwarnings("ignore", "One or more of the (test|train) scores")
            results = super()._format_results(candidate_params, n_splits, out, more_results)
        results["status"] = np.array([worst_status(row) for row in status], dtype=object)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # rows without any gap
            results["worst_gap"] = np.nanmax(gap, axis=1)
        results["note"] = np.array(
            ["; ".join(sorted({n for n in row if n})) for row in notes], dtype=object
        )
        missing = (status == "missing").any(axis=1)
        self.missing_candidates_ = [candidate_params[i] for i in missing.nonzero()[0]]
        return results

    def _report_missing(self, *, interrupted: bool) -> None:
        """Say which candidates were not evaluated, and end a search that was interrupted."""
        if not self.missing_candidates_:
            return
        results = self.cv_results_
        scores = {k: v for k, v in results.items() if k.startswith("mean_test_")}
        nothing = not any(np.isfinite(v).any() for v in scores.values())
        what = (
            f"{len(self.missing_candidates_)} of {len(results['params'])} candidates were not "
            "evaluated on all splits (see missing_candidates_); their scores are NaN"
        )
        if interrupted:
            self.multimetric_ = len(scores) > 1
            name = self.refit if isinstance(self.refit, str) else "score"
            if not nothing and not callable(self.refit) and f"mean_test_{name}" in scores:
                self._choose(name, int(results[f"rank_test_{name}"].argmin()))
            raise KeyboardInterrupt(
                f"the search was interrupted: {what}. cv_results_ holds what is known."
            )
        if nothing:
            raise TimeoutError(
                f"time_limit={self.time_limit} s was over before one candidate was evaluated on "
                "all splits. Raise it, or search on fewer rows or candidates."
            )
        warn_caller(f"time_limit={self.time_limit} s is over: {what}.", UserWarning)


@declared
class GridSearchCV(internals.GridSearchCV, _SharedSearch):
    """Search over all combinations of parameter values by cross-validation.

    scikit-learn's class on an engine that shares kernel matrices, folds and solutions between the
    fits of mercer's machines; see `mercer.selection.search` for what is shared and added.

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline that ends in one.
    param_grid : dict or list of dict
        Values to try for each parameter.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in :class:`sklearn.model_selection.GridSearchCV`; ``n_jobs=None`` is all cores, and
        ``verbose=1`` draws a progress bar with the time left.
    cache_size : float, default=500
        Megabytes for kernel matrices.
    time_limit : float, default=None
        Seconds after which no further fit is begun.
    resume : path, default=None
        File that stores the results, from which an interrupted search continues.
    prune : bool, default=False
        Whether candidates are given up that a paired t test at level 0.01 shows to be worse than
        the best one, after three splits or more.

    Attributes
    ----------
    cv_results_ : dict
        scikit-learn's columns, and ``status``, ``worst_gap`` and ``note``.
    missing_candidates_ : list of dict
        Candidates that a limit or an interrupt left out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import GridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}).fit(X, y)
    >>> search.best_params_, round(float(search.best_score_), 2)
    ({'C': 1, 'gamma': 0.1}, 0.98)
    >>> set(search.cv_results_["status"])
    {'optimal'}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **internals.GridSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }

    estimator: Any
    param_grid: Any
    _: KW_ONLY
    scoring: Any = None
    n_jobs: int | None = None
    refit: Any = True
    cv: Any = None
    verbose: int = 0
    pre_dispatch: Any = "2*n_jobs"
    error_score: Any = np.nan
    return_train_score: bool = False
    cache_size: float = 500.0
    time_limit: float | None = None
    resume: Any = None
    prune: bool = False


@declared
class RandomizedSearchCV(internals.RandomizedSearchCV, _SharedSearch):
    """Search over random combinations of parameter values by cross-validation.

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline that ends in one.
    param_distributions : dict or list of dict
        Values or distributions of each parameter.
    n_iter, scoring, n_jobs, refit, cv, verbose, pre_dispatch, random_state, error_score,
    return_train_score
        As in :class:`sklearn.model_selection.RandomizedSearchCV`; ``n_jobs=None`` is all cores.
    cache_size, time_limit, resume, prune
        As in :class:`GridSearchCV`.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import RandomizedSearchCV
    >>> ranges = {"C": loguniform(0.1, 100), "gamma": loguniform(0.01, 1)}
    >>> search = RandomizedSearchCV(SVC(), ranges, n_iter=5, random_state=0)
    >>> bool(search.fit(*load_iris(return_X_y=True)).best_score_ > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **internals.RandomizedSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }

    estimator: Any
    param_distributions: Any
    _: KW_ONLY
    n_iter: int = 10
    scoring: Any = None
    n_jobs: int | None = None
    refit: Any = True
    cv: Any = None
    verbose: int = 0
    pre_dispatch: Any = "2*n_jobs"
    random_state: Any = None
    error_score: Any = np.nan
    return_train_score: bool = False
    cache_size: float = 500.0
    time_limit: float | None = None
    resume: Any = None
    prune: bool = False


@declared
class HalvingGridSearchCV(internals.HalvingGridSearchCV, _SharedSearch):
    """Search over a grid by successive halving: all candidates on few rows, the best on more.

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline that ends in one.
    param_grid : dict or list of dict
        Values to try for each parameter.
    factor, resource, max_resources, min_resources, aggressive_elimination, cv, scoring, refit,
    error_score, return_train_score, random_state, n_jobs, verbose
        As in :class:`sklearn.model_selection.HalvingGridSearchCV`; ``n_jobs=None`` is all cores.
    cache_size, time_limit, resume
        As in :class:`GridSearchCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import HalvingGridSearchCV
    >>> grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1]}
    >>> search = HalvingGridSearchCV(SVC(), grid, random_state=0)
    >>> search.fit(*load_iris(return_X_y=True)).n_candidates_
    [9, 3]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **internals.HalvingGridSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }

    estimator: Any
    param_grid: Any
    _: KW_ONLY
    factor: float = 3
    resource: str = "n_samples"
    max_resources: Any = "auto"
    min_resources: Any = "exhaust"
    aggressive_elimination: bool = False
    cv: Any = 5
    scoring: Any = None
    refit: Any = True
    error_score: Any = np.nan
    return_train_score: bool = True
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    cache_size: float = 500.0
    time_limit: float | None = None
    resume: Any = None


@declared
class HalvingRandomSearchCV(internals.HalvingRandomSearchCV, _SharedSearch):
    """Search over random candidates by successive halving.

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline that ends in one.
    param_distributions : dict or list of dict
        Values or distributions of each parameter.
    n_candidates, factor, resource, max_resources, min_resources, aggressive_elimination, cv,
    scoring, refit, error_score, return_train_score, random_state, n_jobs, verbose
        As in :class:`sklearn.model_selection.HalvingRandomSearchCV`; ``n_jobs=None`` is all cores.
    cache_size, time_limit, resume
        As in :class:`GridSearchCV`.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import HalvingRandomSearchCV
    >>> ranges = {"C": loguniform(0.1, 100), "gamma": loguniform(0.01, 1)}
    >>> search = HalvingRandomSearchCV(SVC(), ranges, n_candidates=9, random_state=0)
    >>> search.fit(*load_iris(return_X_y=True)).n_candidates_
    [9, 3]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **internals.HalvingRandomSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }

    estimator: Any
    param_distributions: Any
    _: KW_ONLY
    n_candidates: Any = "exhaust"
    factor: float = 3
    resource: str = "n_samples"
    max_resources: Any = "auto"
    min_resources: Any = "smallest"
    aggressive_elimination: bool = False
    cv: Any = 5
    scoring: Any = None
    refit: Any = True
    error_score: Any = np.nan
    return_train_score: bool = True
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    cache_size: float = 500.0
    time_limit: float | None = None
    resume: Any = None
