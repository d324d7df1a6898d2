"""Kernels from a generative model: the interface between kernel and model."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer.gram.mapped_objects import Views
from mercer.objects.tables import holds_objects, is_frame
from mercer.objects.validation import Objects, as_objects

from ..brief import Brief
from ..feature_kernel import FeatureKernel


class GenerativeKernel(FeatureKernel):
    """Base of the kernels whose features come from a model of the objects.

    The model is a parameter. One that is fitted (or has no method `fit`) is used as it is and
    stays what it is when the kernel is cloned; one that is not is fitted by `bind`, to the
    training objects and their weights.
    """

    _objects: ClassVar[Objects] = Objects("objects that its model describes")
    _asked_of_model: ClassVar[str] = ""

    model: Any

    def _check(self) -> None:
        super()._check()
        if isinstance(self.model, type) or not hasattr(self.model, self._asked_of_model):
            raise TypeError(
                f"the model of {type(self).__name__} must be an object with a method "
                f"{self._asked_of_model}, such as HiddenMarkov(); got {self.model!r}."
            )

    @property
    def is_bound(self) -> bool:
        """Whether the model is fitted and the kernel on vectors is bound."""
        return is_fitted(self.model) and super().is_bound

    def _ready(self, views: Views, weight: np.ndarray | None) -> Self:
        if is_fitted(self.model):
            return self.replace()
        model = clone(self.model)
        return self.replace(
            model=model.fit(views.X) if weight is None else model.fit(views.X, sample_weight=weight)
        )

    def validate(self, X: Any, against: Any = None) -> Any:
        """Return `X` as a collection of objects; the model knows which."""
        if holds_objects(X) and is_frame(X):
            name = type(self).__name__
            raise TypeError(
                f"{name} is defined on {self.domain}; got a table ({type(X).__name__}). Choose the "
                f"column that holds them: {name}(...).on_columns('name')."
            )
        # Lists stay as they are: equally long sequences of integers are no matrix.
        return X if isinstance(X, list) and X else as_objects(X, type(self).__name__)

    def __repr__(self) -> str:
        one_line = Brief(" ".join(repr(self.model).split()))
        return super(FeatureKernel, self.replace(model=one_line)).__repr__()

    def __sklearn_clone__(self) -> Self:
        # scikit-learn would return the model unfitted.
        made = type(self)(**{name: _copied(getattr(self, name)) for name in self.parameter_names})
        return made if self._bounds is None else made.with_bounds(self._bounds)


def is_fitted(model: Any) -> bool:
    """Return whether a model is ready: fitted, or one that needs no fitting."""
    if not hasattr(model, "fit"):
        return True
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _copied(value: Any) -> Any:
    if hasattr(value, "get_params") and not is_fitted(value):
        return clone(value)
    return copy.deepcopy(value)
