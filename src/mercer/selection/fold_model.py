"""A fitted machine of which only the values on the rows of one split are known.

A search scores a machine on the validation rows of a fold, and on the training rows where training
scores are wanted. The solver has the decision values of these rows already, so that neither the
expansion nor further kernel values are needed. Metrics that look at predictions, decision values or
``score`` alone take a :class:`FoldModel`; other metrics get a machine that was fitted by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

METHODS = frozenset({"predict", "decision_function", "score_samples", "score"})
"""What a model of a fold answers."""


class RealValues:
    """What a regressor answers, given the values of its function in a column."""

    def predict(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the predictions."""
        return values[:, 0]


class FoldModel(BaseEstimator):
    """A model that answers for the rows of one split.

    Parameters
    ----------
    machine : estimator
        The machine it stands for, with its parameters; it need not be fitted.
    source : object
        Has the methods of a fitted machine, for values in place of rows.
    known : list of (objects, values)
        Objects, which are recognised by identity, and the values that `source` takes for them.
    """

    def __init__(self, machine: Any, source: Any, known: list[tuple[Any, Any]]) -> None:
        self.machine, self.source, self.known = machine, source, known

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of a classifier, sorted."""
        labels: NDArray[Any] = self.source.classes_
        return labels

    def _values(self, X: Any) -> Any:
        for objects, values in self.known:
            if objects is X:
                return values
        raise ValueError("a model of a fold knows the rows of its own split alone.")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions."""
        return self.source.predict(self._values(X))

    @available_if(lambda self: hasattr(self.source, "decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the decision values."""
        return self.source.decision_function(self._values(X))

    @available_if(lambda self: hasattr(self.source, "score_samples"))
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of single rows."""
        return self.source.score_samples(self._values(X))

    @available_if(lambda self: hasattr(self.machine, "score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or the coefficient of determination."""
        predicted = self.predict(X)
        if not is_classifier(self):
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        if sample_weight is None and isinstance(y, np.ndarray) and y.ndim == 1:
            return float(np.average(y == predicted))  # without the checks, which take longer
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.machine)

    def __sklearn_is_fitted__(self) -> bool:
        return True
