"""Selection by a validation set: train every candidate, keep the one of least validation risk.

    beta = argmin over beta' of R_valid[f(alpha(beta'), beta')],
    alpha(beta) = argmin over alpha' of the training objective at beta

(A. Smola, *Learning with Kernels*, 1998, (7.3) and (7.4)): the structural parameters beta are those
of the grid, alpha are the coefficients that a fit determines.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import indexable

from mercer.objects.callers import warn_caller
from mercer.objects.tables import stacked
from mercer.run import stopwatch
from mercer.sklearn_internals import Interval, StrOptions, check_method_params, safe_split

from .cost import Cost
from .holdout import check_share, parts_of, risk_interval, strata
from .search import GridSearchCV

_LARGE = 0.1
"""Deviation that the choice among the candidates alone may add before a search warns of it."""


class ValidationSetWarning(UserWarning):
    """The grid is large for the validation set, so the risk of the chosen candidate is uncertain.

    Examples
    --------
    >>> from mercer.selection import ValidationSetWarning
    >>> issubclass(ValidationSetWarning, UserWarning)
    True
    """


class HoldoutSearchCV(GridSearchCV):
    """Search over all combinations of parameter values with one validation set.

    Candidates are trained on one part of the data, the one with the least mean cost on the
    validation part is chosen, and an optional third part estimates its risk. The fits share
    kernel matrices and solutions as in :class:`GridSearchCV`.

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline that ends in one.
    param_grid : dict or list of dict
        Values to try for each parameter.
    cost : str, Loss or callable, default=None
        "zero_one", "squared", "absolute"; a loss of `mercer.losses`, evaluated at y f(x) of a
        classifier of two classes; or a function of targets and predictions that returns a cost for
        each row. None is "zero_one" for classifiers and "squared" for others.
    valid_fraction : float, default=0.25
        Share of the rows for validation, where ``fit`` is not given validation data.
    test_fraction : float, default=0
        Share of the rows that neither train nor choose, for ``risk_test_``.
    cost_range : float, default=None
        Length of an interval that holds all costs; None: unknown. Not used for "zero_one", whose
        costs are 0 and 1.
    delta : float, default=0.05
        Probability with which the interval may miss the risk.
    refit : {"all", "train"} or False, default="all"
        Rows to which the chosen candidate is fitted in the end: those of training and validation,
        or those of training only, to which the interval applies.
    n_jobs, verbose, error_score, cache_size, time_limit, resume
        As in :class:`GridSearchCV`.
    random_state : int, RandomState or None, default=None
        Seed of the split, which keeps the proportions of the classes of a classifier.

    Attributes
    ----------
    best_params_, best_index_, best_estimator_, cv_results_, missing_candidates_
        As in :class:`GridSearchCV`; scores are minus the mean costs. Of equal candidates the first
        is taken.
    risk_valid_, risk_train_ : float
        Mean cost of the chosen candidate on validation and training rows, fitted on the latter.
    risk_test_ : float or None
        Mean cost on the test rows of the candidate as ``refit`` left it: an estimate that is not
        optimistic.
    risk_interval_ : (float, float)
        Interval that holds the risk of the chosen candidate, fitted on training rows, with
        probability 1 - delta, because such intervals hold those of all candidates (union bound).
        For "zero_one" it is that of Clopper and Pearson, within [0, 1]; for others it is
        Hoeffding's around ``risk_valid_``, infinite where the range of the costs is unknown.
    risk_bound_ : float
        The same with all of delta spent on the upper end.
    train_rows_, valid_rows_, test_rows_ : arrays of int
        Positions of the three parts.

    Notes
    -----
    A :class:`ValidationSetWarning` is issued if the grid is large for the validation set: it has at
    least as many candidates as that has rows, or sqrt(ln(candidates) / (2 rows)) exceeds 0.1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.selection import HoldoutSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"C": [1, 10, 100], "kernel": ["linear", "rbf"]}
    >>> search = HoldoutSearchCV(SVC(), grid, test_fraction=0.2, random_state=0).fit(X, y)
    >>> len(search.train_rows_), len(search.valid_rows_), len(search.test_rows_)
    (313, 143, 113)
    >>> low, high = search.risk_interval_
    >>> 0 <= low < search.risk_valid_ < high < search.risk_valid_ + 0.1
    True
    """

    train_rows_: NDArray[np.intp]
    valid_rows_: NDArray[np.intp]
    test_rows_: NDArray[np.intp]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: rule
            for name, rule in GridSearchCV._parameter_constraints.items()
            if name not in ("scoring", "cv", "return_train_score", "pre_dispatch", "prune")
        },
        "refit": [StrOptions({"all", "train"}), "boolean"],
        "cost": "no_validation",
        "valid_fraction": "no_validation",
        "test_fraction": "no_validation",
        "cost_range": [Interval(Real, 0, None, closed="neither"), None],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }
    # What the base class asks for beside the parameters.
    scoring = None
    cv = None
    prune = False
    pre_dispatch = "2*n_jobs"
    return_train_score = True

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        cost: Any = None,
        valid_fraction: float = 0.25,
        test_fraction: float = 0.0,
        cost_range: float | None = None,
        delta: float = 0.05,
        refit: Any = "all",
        n_jobs: int | None = None,
        verbose: int = 0,
        error_score: Any = np.nan,
        cache_size: float = 500.0,
        time_limit: float | None = None,
        resume: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cost = cost
        self.valid_fraction = valid_fraction
        self.test_fraction = test_fraction
        self.cost_range = cost_range
        self.delta = delta
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.error_score = error_score
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.resume = resume
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, X_valid: Any = None, y_valid: Any = None, **params: Any
    ) -> Self:
        """Train all candidates, choose by the validation part, and fit the chosen one.

        Parameters
        ----------
        X : objects
            Objects.
        y : array-like of shape (n_samples,)
            Labels or targets.
        X_valid, y_valid : objects and array-like, optional
            Validation data (a tuning set) instead of a part of X; rows count on from those of X.
        **params : dict
            Parameters of the estimator's ``fit``; with one entry for each row they are split.

        Returns
        -------
        self : object
            The fitted search.
        """
        self._validate_params()
        self.__dict__.pop("best_estimator_", None)
        if y is None:
            raise ValueError(f"{type(self).__name__} needs targets y.")
        X, y, train, valid, test = self._parts(X, y, X_valid, y_valid)
        cost = Cost.of(self.cost, self.estimator)
        search = GridSearchCV(
            self.estimator,
            self.param_grid,
            scoring=cost.scorer(),
            refit=False,
            cv=[(train, valid)],
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            error_score=self.error_score,
            return_train_score=True,
            cache_size=self.cache_size,
            time_limit=self.time_limit,
            resume=self.resume,
        )
        try:
            search.fit(X, y, **params)
        except ValueError:
            if hasattr(search, "n_splits_") and not hasattr(search, "cv_results_"):
                # No candidate could be fitted: the error of one says more than their number, and
                # is what searches with several splits raise, where the data of some are valid.
                candidate: Any = next(iter(ParameterGrid(self.param_grid)), {})
                self._fitted(X, y, train, candidate, params)
            raise
        finally:
            for name, value in vars(search).items():
                if name.endswith("_") and not name.endswith("__"):
                    setattr(self, name, value)
        self.train_rows_, self.valid_rows_, self.test_rows_ = train, valid, test
        self.risk_valid_ = -float(self.best_score_)
        self.risk_train_ = -float(self.cv_results_["mean_train_score"][self.best_index_])
        self._bound_risk(cost, len(self.cv_results_["params"]), len(valid))
        self.risk_test_: float | None = None
        if self.refit:
            self._fit_chosen(X, y, cost, params)
        return self

    def _parts(self, X: Any, y: Any, X_valid: Any, y_valid: Any) -> tuple[Any, ...]:
        """Return data and the positions for training, validation and test."""
        X, y = indexable(X, y)
        tested = check_share("test_fraction", self.test_fraction, zero=True)
        n, labels = len(y), strata(self.estimator, y)
        if (X_valid is None) != (y_valid is None):
            raise ValueError("give X_valid and y_valid together.")
        if X_valid is not None:
            X_valid, y_valid = indexable(X_valid, y_valid)
            train, test = parts_of(n, (1 - tested, tested), labels, self.random_state)
            valid = n + np.arange(len(y_valid))
            return stacked(X, X_valid), stacked(y, y_valid), train, valid, test
        share = check_share("valid_fraction", self.valid_fraction)
        if share + tested >= 1:
            raise ValueError(
                f"valid_fraction={share:g} and test_fraction={tested:g} leave nothing to train on."
            )
        fractions = 1 - share - tested, share, tested
        return X, y, *parts_of(n, fractions, labels, self.random_state)

    def _bound_risk(self, cost: Cost, n_candidates: int, n_valid: int) -> None:
        """Set the interval around the validation risk, and warn where choosing spoils it."""
        width = None if cost.counts_errors else self.cost_range or math.inf
        given = self.risk_valid_, n_valid, self.delta / n_candidates, width
        self.risk_interval_ = risk_interval(*given)
        self.risk_bound_ = risk_interval(*given, sided=1)[1]
        by_choice = math.sqrt(math.log(n_candidates) / (2 * n_valid))
        if n_candidates > 1 and (n_candidates >= n_valid or by_choice > _LARGE):
            low, high = self.risk_interval_
            known = f"between {low:.3g} and {high:.3g}" if math.isfinite(high) else "unknown"
            warn_caller(
                f"{n_candidates} candidates were compared on {n_valid} validation rows: the risk "
                f"{self.risk_valid_:.3g} of the chosen one is optimistic. With probability "
                f"{1 - self.delta:g} its true risk is {known} (a bound for all candidates at "
                "once). Try fewer candidates, use more validation rows, or keep a "
                "test part (test_fraction) for an estimate.",
                ValidationSetWarning,
            )

    def _fitted(self, X: Any, y: Any, rows: Any, candidate: Any, params: dict[str, Any]) -> Any:
        """Return a candidate fitted to some rows."""
        chosen = {name: clone(v, safe=False) for name, v in candidate.items()}
        model = clone(self.estimator).set_params(**chosen)
        return model.fit(*safe_split(model, X, y, rows), **check_method_params(X, params, rows))

    def _fit_chosen(self, X: Any, y: Any, cost: Cost, params: dict[str, Any]) -> None:
        rows = self.train_rows_
        if self.refit != "train":
            rows = np.concatenate([self.train_rows_, self.valid_rows_])
        seconds = stopwatch()
        model = self._fitted(X, y, rows, self.best_params_, params)
        self.refit_time_ = seconds()
        self.best_estimator_ = model
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        if len(self.test_rows_):
            Xt, yt = safe_split(model, X, y, self.test_rows_, rows)
            self.risk_test_ = float(cost.each(model, Xt, yt).mean())
