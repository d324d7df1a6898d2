"""Models with given decision values on some objects, without a fit.

A search evaluates a machine on the validation rows of a fold, for which the solver has computed the
decision values already. The models of this module answer `predict`, `decision_function` and `score`
on these rows from the values; labels follow from values by the machine's own rules. Any other
question, such as the support vectors or the prediction of other rows, is answered by the machine
itself, which is fitted when the first such question is asked. Machines that were fitted on stored
kernel values (`stored_values`) answer in the same way from the kernel values of these rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.machines.support_vector.classifier import KernelClassifier
from mercer.objects.validation import count

Array = NDArray[np.float64]

_METHODS = ("predict", "decision_function", "score_samples", "predict_interval", "score")


class _KnownValues:
    """Base of the two kinds of models."""

    _known: list[tuple[Any, Array]]
    _fitted_machine: Callable[[], Any]

    def _values_on(self, X: Any) -> Array | None:
        """Return the known values on these objects, which have not been fitted since."""
        for objects, values in self.__dict__.get("_known", ()):
            if objects is X or (objects is None and count(X) == count(values)):
                return values
        if self._is_incomplete():
            self._complete()
        return None

    def _complete(self) -> None:
        """Become what a fit makes of the machine."""
        fitted = self.__dict__.pop("_fitted_machine")()
        known = self.__dict__.pop("_known")
        self.__dict__.update(fitted.__dict__)
        self._known = known

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not name.endswith("_") or not self._is_incomplete():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._complete()
        return getattr(self, name)

    def _is_incomplete(self) -> bool:
        return "_fitted_machine" in self.__dict__

    def _fitted(self, name: str) -> Any:
        if self._is_incomplete() and name not in self.__dict__:
            self._complete()
        return super()._fitted(name)  # type: ignore[misc]

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _require_fit(self) -> None:
        pass

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Return the model, which is as good as fitted."""
        return self

    def _one_against_one(self) -> bool:
        if self._is_incomplete():
            return len(self.classes_) > 2 and self.multiclass == "ovo"
        return super()._one_against_one()  # type: ignore[misc]


class _KnownClassifier(_KnownValues):
    def _pair_predictor(self) -> Any:
        return None if self._is_incomplete() else super()._pair_predictor()  # type: ignore[misc]

    def _per_row(self, X: Any, reduced: Callable[[Array], NDArray[Any]]) -> NDArray[Any]:
        values = self._values_on(X)
        return super()._per_row(X, reduced) if values is None else reduced(values)  # type: ignore[misc]

    def _problem_values(self, X: Any) -> Array:
        values = self._values_on(X)
        return super()._problem_values(X) if values is None else values  # type: ignore[misc]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy."""
        known = any(objects is X for objects, _ in self._known)
        if sample_weight is None and known and isinstance(y, np.ndarray) and y.ndim == 1:
            return float(np.average(y == self.predict(X)))
        return float(super().score(X, y, sample_weight))  # type: ignore[misc]


class _KnownRegressor(_KnownValues):
    def predict(self, X: Any) -> Array:
        """Return the values of the regression function."""
        values = self._values_on(X)
        return super().predict(X) if values is None else values[:, 0]  # type: ignore[misc]


class _KnownRows(_KnownValues):
    _stand_in: Any  # fitted on stored kernel values, which are known of some objects


def _asked(name: str) -> Callable[..., Any]:
    """Return a method that asks the machine fitted on stored values where these are known."""

    def method(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        rows = self._values_on(X)
        if rows is None:
            return getattr(super(_KnownRows, self), name)(X, *args, **kwargs)
        return getattr(self._stand_in, name)(rows, *args, **kwargs)

    method.__name__ = name  # by which scorers of scikit-learn recognise it
    return method


@cache
def _class_of(machine: type, rows: bool) -> type:
    known: Any = _KnownClassifier if issubclass(machine, KernelClassifier) else _KnownRegressor
    names: dict[str, Any] = {"__module__": machine.__module__, "__doc__": machine.__doc__}
    if rows:
        known = _KnownRows
        names |= {name: _asked(name) for name in _METHODS if hasattr(machine, name)}
    return type(machine.__name__, (known, machine), names)


def model(
    machine: Any,
    classes: NDArray[Any] | None,
    known: list[tuple[Any, Array]],
    fitted: Callable[[], Any],
    stand_in: Any = None,
) -> Any:
    """Return a model of a machine that knows its values on some objects.

    Parameters
    ----------
    machine : KernelClassifier or KernelRegressor, any machine with a stand-in
        The machine with its parameters.
    classes : array or None
        The labels, sorted, of a classifier.
    known : list of (objects, values)
        Decision values, one column for each binary problem, of objects that are recognised by
        identity; None stands for any objects of that number.
    fitted : callable
        Returns the machine, fitted; called when something else is asked for.
    stand_in : estimator, optional
        The machine fitted on stored kernel values; `known` are then rows of kernel values.
    """
    kind: Any = type(machine)
    found: Any = object.__new__(_class_of(kind, stand_in is not None))
    found.__dict__.update(vars(machine))
    found._known, found._fitted_machine = known, fitted
    if stand_in is not None:
        found._stand_in = stand_in
    if classes is not None:
        found.classes_ = classes
    return found
