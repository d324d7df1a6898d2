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
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.model_selection import _search
from sklearn.model_selection import _search_successive_halving as _halving
from sklearn.utils._param_validation import Interval

from mercer.objects.callers import warn_caller

from .borrowed import rebound
from .fit_bar import FitBar
from .loop import SharedLoop, worst_status

_OWN_CONSTRAINTS: dict[str, Any] = {
    "cache_size": [Interval(Real, 0, None, closed="left")],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    "resume": "no_validation",
    "prune": ["boolean"],
}

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _validated(method: _Method) -> _Method:
    """Return a method that checks the parameters first, as those of scikit-learn do."""
    checked: _Method = _fit_context(prefer_skip_nested_validation=False)(method)
    return checked


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


class _SharedSearch(_search.BaseSearchCV):
    """The part of a search that differs from scikit-learn's: the loop over fits."""

    cache_size: float
    time_limit: float | None
    resume: Any
    prune: bool
    best_estimator_: Any = _NotFitted()
    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    cv_results_: dict[str, Any]
    n_splits_: int
    refit_time_: float
    multimetric_: bool
    classes_: NDArray[Any]
    n_features_in_: int
    _bar: FitBar | None = None  # that several searches share

    if TYPE_CHECKING:  # the types of scikit-learn's methods, which it does not state

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters."""

        def set_params(self, **params: Any) -> Self:
            """Set parameters."""

        def predict(self, X: Any) -> NDArray[Any]:
            """Return the predictions of the best estimator."""

        def predict_proba(self, X: Any) -> NDArray[np.float64]:
            """Return the probabilities of the best estimator."""

        def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
            """Return the logarithms of the probabilities."""

        def decision_function(self, X: Any) -> NDArray[np.float64]:
            """Return the decision values of the best estimator."""

        def score_samples(self, X: Any) -> NDArray[np.float64]:
            """Return the scores of single rows."""

        def transform(self, X: Any) -> NDArray[Any]:
            """Return the features of the best estimator."""

        def inverse_transform(self, X: Any) -> NDArray[Any]:
            """Return the pre-images of the best estimator."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set the callbacks."""

        def score(self, X: Any, y: Any = None, **params: Any) -> float:
            """Return the score of the best estimator."""

    def _run_search(self, evaluate_candidates: Any, **options: Any) -> None:
        raise NotImplementedError

    @_validated
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
        self._loop = SharedLoop(
            n_jobs=self.n_jobs,
            cache_size=self.cache_size,
            time_limit=self.time_limit,
            resume=self.resume,
            prune=self.prune,
            verbose=self.verbose,
            keeps=True,
            metric=self.refit if isinstance(self.refit, str) else None,
            bar=self._bar,
        )
        run = rebound(_search.BaseSearchCV.fit, **self._loop.names())
        try:
            with self._loop:
                return run(self, X, y, **params)
        finally:
            del self._loop

    def _format_results(
        self, candidate_params: Any, n_splits: int, out: list[Any], more_results: Any = None
    ) -> dict[str, Any]:
        """Return ``cv_results_``, with a proof for every candidate."""
        shape = len(candidate_params), n_splits
        status = np.array([r["mercer_status"] for r in out], dtype=object).reshape(shape)
        left_out = np.isin(status.astype(str), ("missing", "pruned"))
        with warnings.catch_warnings():
            if left_out.any():  # their scores are NaN on purpose
                warnings.filterwarnings("ignore", "One or more of the (test|train) scores")
            results: dict[str, Any] = super()._format_results(
                candidate_params, n_splits, out, more_results
            )
        gap = np.array([r["mercer_gap"] for r in out]).reshape(shape)
        notes = np.array([r["mercer_note"] for r in out], dtype=object).reshape(shape)
        results["status"] = np.array([worst_status(row) for row in status], dtype=object)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # rows without any gap
            results["worst_gap"] = np.nanmax(gap, axis=1)
        results["note"] = np.array(
            ["; ".join(sorted({n for n in row if n})) for row in notes], dtype=object
        )
        missing = [i for i, row in enumerate(status) if "missing" in row]
        self.missing_candidates_ = [candidate_params[i] for i in missing]
        self.cv_results_ = results  # also where the last fit is interrupted
        if missing:
            self._report_missing(results, len(missing), len(status))
        return results

    def _report_missing(self, results: dict[str, Any], n_missing: int, n_all: int) -> None:
        """Say which candidates were not evaluated, and end a search that was interrupted."""
        scores = [v for k, v in results.items() if k.startswith("mean_test_")]
        nothing = not any(np.isfinite(v).any() for v in scores)
        what = (
            f"{n_missing} of {n_all} candidates were not evaluated on all splits (see "
            "missing_candidates_); their scores are NaN"
        )
        if self._loop.interrupted:
            self.multimetric_ = len(scores) > 1
            if not nothing and not callable(self.refit):
                name = self.refit if isinstance(self.refit, str) else "score"
                if f"rank_test_{name}" in results:
                    self.best_index_ = int(results[f"rank_test_{name}"].argmin())
                    self.best_params_ = results["params"][self.best_index_]
                    self.best_score_ = results[f"mean_test_{name}"][self.best_index_]
            raise KeyboardInterrupt(
                f"the search was interrupted: {what}. cv_results_ holds what is known."
            )
        if nothing:
            raise TimeoutError(
                f"time_limit={self.time_limit} s was over before one candidate was evaluated on "
                "all splits. Raise it, or search on fewer rows or candidates."
            )
        warn_caller(f"time_limit={self.time_limit} s is over: {what}.", UserWarning)


class GridSearchCV(_search.GridSearchCV, _SharedSearch):
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
        **_search.GridSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        cache_size: float = 500.0,
        time_limit: float | None = None,
        resume: Any = None,
        prune: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.resume = resume
        self.prune = prune


class RandomizedSearchCV(_search.RandomizedSearchCV, _SharedSearch):
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
        **_search.RandomizedSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        cache_size: float = 500.0,
        time_limit: float | None = None,
        resume: Any = None,
        prune: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_iter=n_iter,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.resume = resume
        self.prune = prune


class HalvingGridSearchCV(_halving.HalvingGridSearchCV, _SharedSearch):
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
        **_halving.HalvingGridSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }
    prune = False

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        factor: float = 3,
        resource: str = "n_samples",
        max_resources: Any = "auto",
        min_resources: Any = "exhaust",
        aggressive_elimination: bool = False,
        cv: Any = 5,
        scoring: Any = None,
        refit: Any = True,
        error_score: Any = np.nan,
        return_train_score: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        cache_size: float = 500.0,
        time_limit: float | None = None,
        resume: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            factor=factor,
            resource=resource,
            max_resources=max_resources,
            min_resources=min_resources,
            aggressive_elimination=aggressive_elimination,
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.resume = resume


class HalvingRandomSearchCV(_halving.HalvingRandomSearchCV, _SharedSearch):
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
        **_halving.HalvingRandomSearchCV._parameter_constraints,
        **_OWN_CONSTRAINTS,
    }
    prune = False

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_candidates: Any = "exhaust",
        factor: float = 3,
        resource: str = "n_samples",
        max_resources: Any = "auto",
        min_resources: Any = "smallest",
        aggressive_elimination: bool = False,
        cv: Any = 5,
        scoring: Any = None,
        refit: Any = True,
        error_score: Any = np.nan,
        return_train_score: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        cache_size: float = 500.0,
        time_limit: float | None = None,
        resume: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_candidates=n_candidates,
            factor=factor,
            resource=resource,
            max_resources=max_resources,
            min_resources=min_resources,
            aggressive_elimination=aggressive_elimination,
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.resume = resume
