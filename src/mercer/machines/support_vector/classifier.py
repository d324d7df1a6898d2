"""Base class of the classifiers: labels, binary problems, predictions, probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state

from mercer.kernels import Linear
from mercer.objects.arrays import Array
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import declared, one_of, parameter, seed, truth
from mercer.objects.validation import count, take
from mercer.run import Run

from ..conditional_methods import offered_if
from ..conventions import ClassifierMixin
from ..input_validation import check_labels, check_objects
from ..weights import class_weights
from .base import KernelMachine
from .calibration import (
    CALIBRATIONS,
    Sigmoids,
    TwoSlopes,
    couple,
    fit_calibration,
    normalised,
    project,
)
from .class_pairs import refuse_too_many_classes
from .cross_fitting import cross_fitted
from .multiclass import (
    DecisionRule,
    OneVsOne,
    OneVsRest,
    Scheme,
    Single,
    distinct_labels,
    pair_coefficients,
)
from .prediction import PairPredictor
from .proving import Fitting
from .solving import settings_for
from .training_record import PointStatus

# Part of the time limit for the machine itself where probabilities are asked for; the machines of
# the folds start from its solution.
_PART_OF_FIT = 0.4
# Rows that are predicted together, one against one: at least so many, or such that the values of
# their problems stay in the cache of a processor.
_ROWS, _BLOCK = 12, 2**20
_VOTED = 2**19  # votes that are counted together
# Up to so many classes, one product with all pairs is faster than one product per class. Linear
# kernels have one weight vector per pair, found from a matrix of all vectors and all pairs.
_FEW_PAIRS, _FEW_LINEAR_PAIRS = 4, 19


@declared
class KernelClassifier(ClassifierMixin, KernelMachine):
    """Base class of the classifiers.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels.
    dual_coef_ : array of shape (n_classes - 1, n_support)
        Signed coefficients; the layout for several classes is that of scikit-learn.
    intercept_ : array of shape (n_problems,)
        Intercepts.
    """

    _: KW_ONLY
    probability: bool = parameter(truth, default=False)
    """Whether to calibrate probabilities, which trains five more machines on four fifths of the
    rows each; see ``calibration``."""
    class_weight: Any = parameter(default=None, kind='dict or "balanced"')
    """Weights of the classes; "balanced" gives all classes the same weighted sum."""
    decision_function_shape: str = parameter(one_of("ovr", "ovo"), default="ovr")
    """Whether ``decision_function`` has one column per class or per pair of classes."""
    break_ties: bool = parameter(truth, default=False)
    """Whether ties between classes of equally many votes go to the highest score."""
    random_state: Any = parameter(seed, default=None, kind="int, RandomState or None")
    """Draws the folds of the calibration."""
    multiclass: str = parameter(one_of("ovo", "ovr"), default="ovo")
    """One machine per pair of classes, or one per class against the rest."""
    calibration: str = parameter(one_of(*CALIBRATIONS), default="free")
    """The map from decision values to probabilities. Class weights are prices: ``predict`` answers
    the weighted question, ``predict_proba`` the unweighted one, and they are tied by predict =
    argmax_c w_c p_c(x). "free" is Platt's sigmoid of two parameters, which is calibrated best on
    most data and may break the tie near the boundary. "consistent" keeps it exactly, with a slope
    of its own on either side of the boundary; it costs log loss, up to 20 % on imbalanced data.
    "isotonic" assumes no shape, needs more data and breaks the tie as "free" does."""

    _places = PointStatus.OUTSIDE_MARGIN, PointStatus.INSIDE_MARGIN

    def _finish(self, fitting: Fitting, begin: float) -> None:
        self.n_iter_: NDArray[np.int32]
        self.__dict__.pop("_calibration", None)
        if self.probability and not fitting.interrupted:
            self._calibrate(fitting, perf_counter() - begin)

    def _time_for_fit(self) -> float:
        """Return the time limit of the machine itself: with probabilities, five more follow."""
        return (_PART_OF_FIT if self.probability else 1.0) * super()._time_for_fit()

    def _calibrate(self, fitting: Fitting, seconds: float) -> None:
        """Fit the maps from decision values to probabilities, in the time that is left."""
        settings = replace(settings_for(self), largest_gap=0.0)
        limit = None if self.time_limit is None else max(float(self.time_limit) - seconds, 0.0)
        run = Run(limit, self.max_iter)
        random = check_random_state(self.random_state)
        scores, limited = cross_fitted(self, fitting, settings, run, random)
        positive, negative = fitting.scheme.prices(self.class_weight_, fitting.weight)
        self._calibration = fit_calibration(self.calibration, scores, positive, negative)
        if limited and not fitting.statuses.intersection(("time_limit", "iteration_limit")):
            warn_caller(
                "The machines behind the probabilities were stopped early by "
                f"max_iter={self.max_iter} or time_limit={self.time_limit}; the machine itself was "
                "not. The probabilities are less sharp than they could be; raise the limit.",
                ConvergenceWarning,
            )

    # -- what the base class asks for -------------------------------------------------------

    def _check(self) -> None:
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
        classes, codes = distinct_labels(y)
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
            return Single(np.where(codes, 1.0, -1.0), codes, classes), s
        if self.multiclass == "ovr":
            return OneVsRest(codes, classes), s
        refuse_too_many_classes(len(classes), len(codes))
        return OneVsOne(codes, classes), s

    def _one_class_message(self, weighted: bool) -> str:
        if weighted:
            return (
                "Invalid input - all samples with positive weights belong to the same class (1 "
                f"class): {type(self).__name__} needs a positive sample_weight in at least two."
            )
        return f"{type(self).__name__} needs samples of at least two classes; got 1 class."

    def _status_of(self, excess: NDArray[Any]) -> NDArray[np.str_]:
        wrong = excess > max(1.0, self._edge_tolerance())
        return np.where(wrong, PointStatus.MISCLASSIFIED, super()._status_of(excess))

    def _problem_coef(self) -> Array:
        coef = self._dense_coef()
        if not self._one_against_one():
            return coef
        return pair_coefficients(coef, self._class_blocks()).T

    def _refit_data(self) -> tuple[Any, ...]:
        return np.repeat(self.classes_, self.n_support_), self._support_weight

    # -- predictions ------------------------------------------------------------------------

    def _per_row(self, X: Any, reduced: Callable[[Array], NDArray[Any]]) -> NDArray[Any]:
        """Return `reduced` of the values of all problems, computed in blocks of rows."""
        X = check_objects(self, X, self.kernel_)
        if not self._one_against_one():
            return reduced(self._values_of(X))
        rows = _rows_at_once(len(self.classes_))
        return _in_blocks(X, rows, lambda part: reduced(self._values_of(part)))

    def _values_of(self, X: Any) -> Array:
        """Return the decision values of all binary problems on validated objects."""
        predictor = self._pair_predictor()
        if predictor is not None:
            return predictor(X)
        values = self.expansion_.evaluate(X, self.n_jobs)
        return values[:, None] if values.ndim == 1 else values

    def _pair_predictor(self) -> PairPredictor | None:
        """Return what predicts many pairs of classes, None where the expansion does."""
        return self._derived("pairs", self._make_pair_predictor)

    def _make_pair_predictor(self) -> PairPredictor | None:
        few = _FEW_LINEAR_PAIRS if type(self.kernel_) is Linear else _FEW_PAIRS
        if not self._one_against_one() or len(self.classes_) <= few or self._linear is not None:
            return None
        return PairPredictor(self, self._class_blocks())

    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Objects, of the kind that the machine was trained on.

        Returns
        -------
        array of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes, values that are positive where ``classes_[1]`` is predicted. For
            more, one column per class (``decision_function_shape="ovr"``) or per pair of classes
            in the order (0, 1), (0, 2), ..., positive for the first of the two.
        """
        self._require_fit()
        return self._per_row(X, self._rule().decision_function)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels.

        Two classes: ``classes_[1]`` where the decision value is not negative. More classes, one
        against one: the class that wins most pairs, the first of them in a tie, or with
        ``break_ties=True`` the one of highest score among them. One against the rest: the class
        of highest value.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Objects, of the kind that the machine was trained on.

        Returns
        -------
        array of shape (n_samples,)
        """
        self._require_fit()
        predictor = None if self.break_ties else self._pair_predictor()
        if predictor is None:
            rule = self._rule()
            if self.break_ties:
                rule.check_ties()  # before the objects are looked at
            return self.classes_[self._per_row(X, rule.winners)]
        X, k = check_objects(self, X, self.kernel_), len(self.classes_)
        rows = max(_ROWS, _VOTED // k) if predictor.many else _rows_at_once(k)
        return self.classes_[_in_blocks(X, rows, predictor.votes).argmax(axis=1)]

    def _rule(self) -> DecisionRule:
        """Return how decision values become labels and scores."""
        pairs, shape = self._record.codes is not None, self.decision_function_shape
        return DecisionRule(self.classes_, pairs, self.break_ties, shape)

    def _can_estimate(self) -> bool:
        if not self.probability:
            raise AttributeError(
                f"predict_proba is not available when probability={self.probability!r}; construct "
                f"{type(self).__name__} with probability=True and fit it again"
            )
        return True

    @offered_if(_can_estimate)
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes.

        How frequent the classes are given x, in the population that the training rows were drawn
        from: class weights do not enter. The prediction is the class of the largest product of
        class weight and probability, always with ``calibration="consistent"``, and up to scores
        near the boundary with the others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Objects, of the kind that the machine was trained on.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        self._require_fit()
        if "_calibration" not in self.__dict__:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False; set "
                "probability=True and fit again."
            )
        return self._per_row(X, self._probabilities)

    def _probabilities(self, values: Array) -> Array:
        """Return the probabilities of the classes, given the values of all problems."""
        p = self._calibration(values)
        k = len(self.classes_)
        if k == 2:
            p = np.column_stack([1.0 - p[:, 0], p[:, 0]])
        else:
            p = couple(p, k) if self._one_against_one() else normalised(p)
        if isinstance(self._calibration, TwoSlopes):
            p = project(p, self._rule().winners(values), self.class_weight_)
        return p

    @offered_if(_can_estimate)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def probA_(self) -> Array:  # noqa: N802 - LIBSVM's name
        """Minus the slopes of the sigmoids 1 / (1 + exp(probA f + probB)), one per problem."""
        return -self._sigmoids().slope

    @property
    def probB_(self) -> Array:  # noqa: N802 - LIBSVM's name
        """Minus the offsets of the sigmoids 1 / (1 + exp(probA f + probB)), one per problem."""
        return -self._sigmoids().offset

    def _sigmoids(self) -> Sigmoids:
        found = self.__dict__.get("_calibration", Sigmoids(np.empty(0), np.empty(0)))
        if not isinstance(found, Sigmoids):
            raise AttributeError('probA_ and probB_ exist only with calibration="free".')
        return found

    # -- machinery --------------------------------------------------------------------------

    def _one_against_one(self) -> bool:
        """Return whether there is one problem for each pair of more than two classes."""
        return self._record.codes is not None

    def _class_blocks(self) -> list[slice]:
        """Return the columns of ``dual_coef_`` that belong to each class."""
        ends = np.cumsum(self.n_support_)
        return [slice(int(e - n), int(e)) for e, n in zip(ends, self.n_support_, strict=True)]


def _rows_at_once(n_classes: int) -> int:
    """Return the rows whose values for all pairs of classes stay in the cache of a processor."""
    return max(_ROWS, _BLOCK // (n_classes * (n_classes - 1)))


def _in_blocks(X: Any, rows: int, of: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    """Apply a function to objects in blocks of so many, and join the results."""
    n = count(X)
    if n <= rows:
        return of(X)
    parts = [take(X, np.arange(a, min(a + rows, n))) for a in range(0, n, rows)]
    return np.concatenate([of(part) for part in parts])
