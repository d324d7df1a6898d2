"""A cross-validated score as a function of parameters, for optimisers of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from .loop import Fit, SharedLoop, Task, positions
from .sharing import SharedFits


class SharedScore:
    """The cross-validated score of an estimator as a function of its parameters.

    Folds, packed rows, pair statistics and the problems of each fold stay from call to call, so
    that an optimiser (Optuna, scipy.optimize) that asks for one candidate at a time shares as much
    as a search over a grid, but for the starts along C.

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline that ends in one.
    X, y : array-like
        Data.
    cv : int, splitter or iterable, default=None
        As in :class:`GridSearchCV`; the splits are drawn once.
    scoring : str or callable, default=None
        The metric, by default that of the estimator.
    groups, sample_weight : array-like, optional
        For the splitter and for ``fit``.
    cache_size : float, default=500
        Megabytes for kernel matrices.
    n_jobs : int, default=None
        Threads; None: all cores.

    Attributes
    ----------
    history_ : list of (dict, float)
        Parameters and scores of all calls.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.selection import SharedScore
    >>> shared = SharedScore(SVC(), *load_iris(return_X_y=True), cv=5)
    >>> round(shared.score(C=10.0, gamma=0.1), 2), round(shared.score(C=0.01, gamma=0.1), 2)
    (0.98, 0.91)
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any = None,
        cv: Any = None,
        *,
        scoring: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        cache_size: float = 500.0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = clone(estimator)
        X, y = indexable(X, y)
        splitter = check_cv(cv, y, classifier=is_classifier(estimator))
        self._splits = [(positions(a), positions(b)) for a, b in splitter.split(X, y, groups)]
        scorer = check_scoring(estimator, scoring=scoring)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self._task = Task(self.estimator, X, y, scorer, given, {}, error_score="raise")
        self._engine = SharedFits(cache_size, n_jobs)
        self.history_: list[tuple[dict[str, Any], float]] = []

    def scores(self, **parameters: Any) -> NDArray[np.float64]:
        """Return the score on every split.

        Parameters
        ----------
        **parameters : dict
            Parameters of the estimator, with ``__`` for nested ones.
        """
        fits = [Fit(parameters, *split) for split in self._splits]
        found = SharedLoop(self._engine.n_jobs, self._engine).scores(self._task, fits)
        scores = np.array([result["test_scores"] for result in found], dtype=np.float64)
        self.history_.append((parameters, float(scores.mean())))
        return scores

    def score(self, **parameters: Any) -> float:
        """Return the mean score over the splits.

        Parameters
        ----------
        **parameters : dict
            Parameters of the estimator, with ``__`` for nested ones.
        """
        return float(self.scores(**parameters).mean())
