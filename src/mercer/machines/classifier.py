"""What the classifiers share: labels, schemes of binary problems, predictions, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from mercer.kernels import Linear
from mercer.solvers import Certificate

from . import calibration, conclusion
from .base import KernelMachine
from .data import check_labels, check_objects
from .documentation import documented
from .multiclass import (
    OneVsOne,
    OneVsRest,
    Scheme,
    Single,
    one_score_per_class,
    pair_coefficients,
    votes,
)
from .parameters import check_choice, check_common, check_flag
from .prediction import PairPredictor
from .proving import Fitting
from .record import PointStatus
from .solving import TrainingKernel, settings_for
from .weights import class_weights

Array = NDArray[np.float64]

_FEW_PAIRS = 4
"""Up to so many classes, one product with all pairs is faster than one product per class."""


@documented
class KernelClassifier(ClassifierMixin, KernelMachine):
    """Base class of the classifiers."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train the machine.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n_samples,)
            Class labels.
        {sample_weight}

        Returns
        -------
        {fitted}
        """
        fitting = self._fit(X, y, sample_weight)
        self.__dict__.pop("_slopes", None)
        if self.probability and not fitting.interrupted:
            self._calibrate(fitting)
        conclusion.conclude(self, fitting)
        return self

    def _calibrate(self, fitting: Fitting) -> None:
        self._slopes = calibration.calibration_slopes(
            fitting.formulation,
            fitting.tasks,
            fitting.outcomes,
            fitting.gram,
            fitting.X,
            settings_for(self),
            TrainingKernel(fitting.gram, n_jobs=self.n_jobs),
            self.random_state,
        )

    # -- what the base class asks for -------------------------------------------------------

    def _check_parameters(self) -> None:
        check_common(self)
        check_flag("probability", self.probability)
        check_flag("break_ties", self.break_ties)
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        check_choice("multiclass", self.multiclass, ("ovo", "ovr"))
        if self.multiclass == "ovr" and self.decision_function_shape == "ovo":
            raise ValueError(
                'decision_function_shape="ovo" needs one machine per pair of classes; with '
                'multiclass="ovr" there is one per class.'
            )

    def _check_target(self, y: Any, n_samples: int) -> NDArray[Any]:
        return check_labels(self, y, n_samples)

    def _pose(
        self, y: NDArray[Any] | None, weight: Array | None, n: int, *, fitting: bool
    ) -> tuple[Scheme, Array]:
        assert y is not None
        classes, codes = np.unique(y, return_inverse=True)
        if fitting:
            if len(classes) < 2:
                raise ValueError(self._one_class_message(weight is not None))
            self.classes_ = classes
            self.class_weight_ = class_weights(self.class_weight, classes, codes, weight)
        elif not np.array_equal(classes, self.classes_):
            raise ValueError(f"the labels are not those of the fit, {self.classes_.tolist()}.")
        s = self.class_weight_[codes]
        if weight is not None:
            s *= weight
        if len(classes) == 2:
            return Single(np.where(codes == 1, 1.0, -1.0), codes, classes), s
        scheme = OneVsOne if self.multiclass == "ovo" else OneVsRest
        return scheme(codes, classes), s

    def _one_class_message(self, weighted: bool) -> str:
        if weighted:
            return (
                "Invalid input - all samples with positive weights belong to the same class (1 "
                f"class); {type(self).__name__} needs at least two."
            )
        return f"{type(self).__name__} needs samples of at least two classes; got 1 class."

    def _status_of(self, excess: NDArray[Any], marks: NDArray[np.int8]) -> NDArray[np.str_]:
        tol = self._edge_tolerance()
        edge = np.abs(excess) <= tol
        return np.select(
            [edge, excess < 0.0, excess <= 1.0],
            [PointStatus.ON_EDGE, PointStatus.OUTSIDE_MARGIN, PointStatus.INSIDE_MARGIN],
            PointStatus.MISCLASSIFIED,
        )

    def _problem_coef(self) -> Array:
        coef = self._dense_coef()
        if not self._one_against_one():
            return coef
        return pair_coefficients(coef, self._class_blocks()).T

    def _refit_data(self) -> tuple[Any, ...]:
        return np.repeat(self.classes_, self.n_support_), self._support_weight

    # -- predictions ------------------------------------------------------------------------

    def _problem_values(self, X: Any) -> Array:
        """Return the decision values of all binary problems, one column for each."""
        self._require_fit()
        X = check_objects(self, X, self.kernel_)
        many = self._one_against_one() and len(self.classes_) > _FEW_PAIRS
        if many and self._linear is None and type(self.kernel_) is not Linear:
            predictor = self._derived("pairs", lambda: PairPredictor(self, self._class_blocks()))
            return predictor(X)
        values = self.expansion_.evaluate(X, self.n_jobs)
        return values[:, None] if values.ndim == 1 else values

    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        {X}

        Returns
        -------
        array of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes, values that are positive where ``classes_[1]`` is predicted. For
            more, one column per class (``decision_function_shape="ovr"``) or per pair of classes
            in the order (0, 1), (0, 2), ..., positive for the first of the two.
        """
        values = self._problem_values(X)
        if len(self.classes_) == 2:
            return values[:, 0]
        if self._one_against_one() and self.decision_function_shape == "ovr":
            return one_score_per_class(values, len(self.classes_))
        return values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels.

        Two classes: ``classes_[1]`` where the decision value is not negative. More classes, one
        against one: the class that wins most pairs, the first of them in a tie, or with
        ``break_ties=True`` the one of highest score among them. One against the rest: the class
        of highest value.

        Parameters
        ----------
        {X}

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        self._require_fit()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        return self.classes_[self._winners(self._problem_values(X))]

    def _winners(self, values: Array) -> NDArray[np.intp]:
        """Return the positions of the predicted classes, given the values of all problems."""
        k = len(self.classes_)
        if k == 2:
            return (values[:, 0] >= 0.0).astype(np.intp)
        if not self._one_against_one():
            return values.argmax(axis=1)
        if self.break_ties and self.decision_function_shape == "ovr":
            return one_score_per_class(values, k).argmax(axis=1)
        return votes(values, k).argmax(axis=1)

    def _can_estimate(self) -> bool:
        if not self.probability:
            raise AttributeError(
                f"predict_proba is not available when probability={self.probability!r}"
            )
        return True

    @available_if(_can_estimate)
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes; see `mercer.machines.calibration`.

        No class is more probable than the predicted one: for two classes the probability of
        ``classes_[1]`` exceeds 1/2 exactly where the decision value is positive, and is 1/2
        where it is 0.

        Parameters
        ----------
        {X}

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        self._require_fit()
        if "_slopes" not in self.__dict__:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False; fit again."
            )
        values = self._problem_values(X)
        k = len(self.classes_)
        if k == 2:
            return calibration.binary_probabilities(values[:, 0], float(self._slopes[0]))
        predicted = self._winners(values)
        if self._one_against_one():
            return calibration.pairwise_probabilities(values, self._slopes, predicted, k)
        return calibration.rest_probabilities(values, self._slopes, predicted)

    @available_if(_can_estimate)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        {X}

        Returns
        -------
        array of shape (n_samples, n_classes)
            Logarithms in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def probA_(self) -> Array:  # noqa: N802 - LIBSVM's name
        """Minus the slopes of the sigmoids 1 / (1 + exp(probA f + probB)), one per problem."""
        return -self.__dict__.get("_slopes", np.empty(0))

    @property
    def probB_(self) -> Array:  # noqa: N802 - LIBSVM's name
        """Offsets of the sigmoids: 0, since they pass through (0, 1/2)."""
        return np.zeros_like(self.probA_)

    # -- proof ------------------------------------------------------------------------------

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Return the proof of the model in float64, from its training data.

        Parameters
        ----------
        X, y, sample_weight : array-like
            What ``fit`` was called with.

        Returns
        -------
        {Certificate}
        """
        return Certificate.combine(self._certify(X, y, sample_weight))

    # -- machinery --------------------------------------------------------------------------

    def _one_against_one(self) -> bool:
        """Return whether there is one problem for each pair of more than two classes."""
        return self._record.codes is not None

    def _class_blocks(self) -> list[slice]:
        """Return the columns of ``dual_coef_`` that belong to each class."""
        ends = np.cumsum(self.n_support_)
        return [slice(int(e - n), int(e)) for e, n in zip(ends, self.n_support_, strict=True)]
