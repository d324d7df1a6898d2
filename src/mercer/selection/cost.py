"""Cost functions c(x, y, f(x)) of the risks on held-out rows.

A cost is a name, a loss of `mercer.losses` or a function. Names and functions compare a target with
the prediction, ``cost(y, predicted)``, one number for each row. A loss is evaluated at the value of
the machine: y = -1 or +1 against the decision function of a classifier of two classes, the target
against the prediction of a regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import column_or_1d

from mercer.losses import Loss
from mercer.sklearn_internals import BaseScorer

Array = NDArray[np.float64]


def _zero_one(y: Any, predicted: Any) -> Array:
    return (np.asarray(y) != np.asarray(predicted)).astype(np.float64)


def _squared(y: Any, predicted: Any) -> Array:
    return (np.asarray(y, dtype=np.float64) - predicted) ** 2


def _absolute(y: Any, predicted: Any) -> Array:
    return np.abs(np.asarray(y, dtype=np.float64) - predicted)


_NAMED: dict[str, Callable[[Any, Any], Array]] = {
    "zero_one": _zero_one,
    "squared": _squared,
    "absolute": _absolute,
}


def require_estimator(estimator: Any) -> None:
    """Reject arguments in another order, with a sentence."""
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise TypeError(
            "an estimator comes first, such as SVC(), then the data; got "
            f"{estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__}."
        )


@dataclass(frozen=True)
class Cost:
    """A cost function.

    `function(y, response)`: one cost for each row. `of_values`: whether the response is the
    decision function of a classifier.
    """

    function: Callable[[Any, Any], Any]
    of_values: bool

    @property
    def counts_errors(self) -> bool:
        """Whether costs are 0 or 1."""
        return self.function is _zero_one

    @classmethod
    def of(cls, cost: Any, estimator: Any) -> Cost:
        """Return the cost function for a name, a loss or a function; None selects the default."""
        require_estimator(estimator)
        if cost is None:
            cost = "zero_one" if is_classifier(estimator) else "squared"
        if isinstance(cost, str):
            if cost not in _NAMED:
                names = ", ".join(map(repr, _NAMED))
                raise ValueError(
                    f"cost must be one of {names}, a loss of mercer.losses or a function of y and "
                    f"predictions; got {cost!r}."
                )
            return cls(_NAMED[cost], False)
        if isinstance(cost, Loss):
            return cls(cost.value, is_classifier(estimator))
        if not callable(cost):
            raise TypeError(f"cost must be a name, a loss or a function; got {cost!r}.")
        return cls(cost, False)

    def each(self, model: Any, X: Any, y: Any) -> Array:
        """Return the cost of every row for a fitted model."""
        if not self.of_values:
            return self.of_predictions(y, model.predict(X))
        return self.at_values(model.decision_function(X), y, model.classes_)

    def of_predictions(self, y: Any, predicted: Any) -> Array:
        """Return the cost of predictions; targets may stand in a column."""
        y = column_or_1d(y) if np.ndim(predicted) == 1 and np.ndim(y) == 2 else y
        return self._checked(self.function(y, predicted), len(y))

    def at_values(self, values: Any, y: Any, classes: Any) -> Array:
        """Return the cost of values of a decision function."""
        if len(classes) != 2:
            raise ValueError(
                f"a loss of values y f(x) is defined for two classes; got {len(classes)}. Use "
                "cost='zero_one', or a function of labels and predictions."
            )
        signs = np.where(column_or_1d(y) == classes[1], 1.0, -1.0)
        return self._checked(self.function(signs, values), len(y))

    @staticmethod
    def _checked(costs: Any, n: int) -> Array:
        costs = np.asarray(costs, dtype=np.float64)
        if costs.shape != (n,):
            raise ValueError(
                f"cost must return one number for each of the {n} rows; got shape {costs.shape}. "
                "Return an array of costs, not their mean."
            )
        return costs

    def scorer(self) -> NegativeRisk:
        """Return minus the mean cost in the form of scikit-learn's metrics."""
        return NegativeRisk(self)


class NegativeRisk(BaseScorer):
    """Minus the mean cost of a model on some rows: a metric of scikit-learn, larger is better."""

    def __init__(self, cost: Cost) -> None:
        response = "decision_function" if cost.of_values else "predict"
        super().__init__(cost.function, -1, {}, response)
        self.cost = cost

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        if self.cost.of_values:
            values = method_caller(estimator, "decision_function", X)
            return -float(self.cost.at_values(values, y_true, estimator.classes_).mean())
        predicted = method_caller(estimator, "predict", X)
        return -float(self.cost.of_predictions(y_true, predicted).mean())
