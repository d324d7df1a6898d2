"""Classification by least squares: ridge regression on targets -1 and +1."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.resolve import KernelLike
from mercer.objects.parameters import declared, parameter, positive, truth

from ..conventions import ClassifierMixin
from ..input_validation import check_labels
from ..kernel_estimator import TrainingData
from ..weights import class_weights
from .base import KernelRidgeParameters, RidgeMachine, SolverParameters
from .penalties import penalties

Array = NDArray[np.float64]


class RidgeClassifierBase(ClassifierMixin, RidgeMachine):
    """Base class: two classes are one target, several classes one against the rest each."""

    class_weight: Any
    classes_: NDArray[Any]

    def _check_target(self, y: Any, n_samples: int) -> NDArray[Any]:
        return check_labels(self, y, n_samples)

    def _penalty(self) -> float:
        raise NotImplementedError

    def _pose(self, data: TrainingData, *, fitting: bool) -> tuple[Array, Array, Array, bool]:
        assert data.y is not None
        classes, codes = np.unique(data.y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes; the data contain 1 "
                f"class, {classes[0]!r}."
            )
        if fitting:
            self.classes_ = classes
        elif not np.array_equal(classes, self.classes_):
            raise ValueError(f"the labels are not those of the fit, {self.classes_.tolist()}.")
        weight = class_weights(self.class_weight, classes, codes, data.weight)[codes]
        if data.weight is not None:
            weight = weight * data.weight
        if len(classes) == 2:
            Y = np.where(codes == 1, 1.0, -1.0)[:, None]
        else:
            Y = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
        return Y, weight, np.full(Y.shape[1], self._penalty()), len(classes) == 2

    def decision_function(self, X: Any) -> Array:
        """Return the values of f: of the second class, or of each of several classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Objects, of the kind that the machine was fitted on.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            Values.
        """
        return self._values(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest value; of two, the second where f(x) > 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Objects, of the kind that the machine was fitted on.

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        values = self.decision_function(X)
        codes = (values > 0.0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]


@declared
class KernelRidgeClassifier(KernelRidgeParameters, SolverParameters, RidgeClassifierBase):
    """Classification by kernel ridge regression on targets -1 and +1, one class against the rest.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels.
    dual_coef_, intercept_, expansion_, kernel_, certificate_, certificates_ : object
        As for :class:`KernelRidge`, with a target for each of several classes.
    solver_, n_iter_ : str, int
        As for :class:`KernelRidge`.

    Examples
    --------
    >>> from mercer import KernelRidgeClassifier
    >>> model = KernelRidgeClassifier(0.1, kernel="rbf", gamma=1.0).fit([[0], [1], [2]], [1, -1, 1])
    >>> model.dual_coef_.round(6)
    array([ 1.529875, -1.932381,  1.529875])
    """

    alpha: float = parameter(default=1.0)
    """The penalty, at least 0. 0 gives the classifier of the pseudo-inverse."""
    _: KW_ONLY
    class_weight: Any = parameter(default=None, kind='dict or "balanced"')
    """Weights of the classes; "balanced" gives all classes the same weighted sum."""

    def _penalty(self) -> float:
        return float(penalties(self.alpha, 1)[0])


@declared
class LSSVC(SolverParameters, RidgeClassifierBase):
    """Least-squares support vector classification: ridge regression on the labels, priced by C.

    Minimise over f = sum_j a_j k(x_j, .) + b

        1/2 |f|^2 + C sum_i s_i (1 - y_i f(x_i))^2,     y_i = -1 or +1.

    The constant gamma of Suykens' formulation is 2 C. J. Suykens, J. Vandewalle, "Least squares
    support vector machine classifiers", Neural Processing Letters 9, 1999.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels.
    dual_coef_, intercept_, expansion_, kernel_, certificate_, certificates_ : object
        As for :class:`KernelRidge`, with a target for each of several classes. A coefficient is
        that of Suykens times the label.
    solver_, n_iter_ : str, int
        As for :class:`KernelRidge`.

    Examples
    --------
    >>> from mercer import LSSVC
    >>> model = LSSVC(kernel="linear").fit([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> model.predict([[-3.0], [3.0]])
    array([0, 1])
    """

    _: KW_ONLY
    C: float = parameter(positive, default=1.0)
    """Price of a unit of squared error."""
    kernel: KernelLike = parameter(default="rbf")
    """As for :class:`KernelRidge`."""
    class_weight: Any = parameter(default=None, kind='dict or "balanced"')
    """Weights of the classes; "balanced" gives all classes the same weighted sum."""
    fit_intercept: bool = parameter(truth, default=True)
    """Whether f has an intercept b."""

    def _penalty(self) -> float:
        return 0.5 / float(self.C)
