"""Gaussian process classification by Laplace's approximation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from itertools import combinations
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer.kernels import Kernel
from mercer.kernels.resolve import KernelLike
from mercer.numerics.blas import threads_for
from mercer.objects.parameters import (
    ParameterError,
    declared,
    integer_from,
    one_of,
    parameter,
    threads,
    truth,
)
from mercer.objects.validation import take
from mercer.run import Run, stopwatch
from mercer.solvers import Certificate

from ..conventions import ClassifierMixin
from ..input_validation import check_labels, check_objects
from ..progress import running
from ..support_vector.multiclass import one_score_per_class
from .latent import BinaryProcess, LatentProcess, SoftmaxProcess
from .process import ProcessEstimator
from .search import evaluated, warn_of_bounds

Array = NDArray[np.float64]

MULTI_CLASS = ("one_vs_rest", "one_vs_one", "softmax")


@declared
class GaussianProcessClassifier(ClassifierMixin, ProcessEstimator):
    """Gaussian process classification by Laplace's approximation.

    A latent function f ~ GP(0, k) gives the probability 1 / (1 + exp(-f(x))) of the second class;
    several classes are several such problems, or one with a latent function for each class and
    their softmax. The posterior of f is approximated by a normal distribution about its mode, and
    hyper-parameters maximise the evidence of the approximation (C. Rasmussen, C. Williams,
    "Gaussian Processes for Machine Learning", 2006, chapters 3 and 5).

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels.
    n_classes_ : int
        Their number.
    kernel_ : kernel
        The kernel with its hyper-parameters. For several binary problems those of all: a
        CompoundKernel for kernels of scikit-learn, else a list.
    problems_ : list
        The binary problems, or the one of softmax.
    log_marginal_likelihood_value_ : float
        The log evidence; its mean over several binary problems.
    fixed_parameters_ : list of str
        Continuous parameters of the kernel that were not optimised because the kernel states no
        derivative or they are not positive.
    certificate_ : Certificate
        Duality gap of the penalised logistic problem, whose minimiser is the mode, at ``kernel_``;
        ``kkt_violation`` is the largest entry of the projected gradient of the evidence, with
        status "stationary", because the evidence is not concave.
    certificates_ : list of Certificate
        Those of the problems one by one.

    Examples
    --------
    >>> from mercer import GaussianProcessClassifier
    >>> from mercer.kernels import RBF
    >>> model = GaussianProcessClassifier(4.0 * RBF(0.5), optimizer=None)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]).predict([[2.5]])
    array(['yes'], dtype='<U3')
    >>> model.predict_proba([[2.5]]).round(3)
    array([[0.268, 0.732]])
    """

    kernel: KernelLike | None = parameter(
        default=None, kind="Kernel, scikit-learn kernel, str or None"
    )
    """The covariance of f, as for :class:`GaussianProcessRegressor`. A scale matters: it says how
    large f may be, so use ``1.0 * RBF(...)``."""
    _: KW_ONLY
    max_iter_predict: int = parameter(integer_from(1), default=100)
    """Limit on the Newton steps to the mode."""
    warm_start: bool = parameter(truth, default=False)
    """Whether a fit starts from the mode of the last one, where it has as many samples."""
    copy_X_train: bool = parameter(truth, default=True)  # noqa: N815 - scikit-learn's name
    """Whether a copy of the training data is kept."""
    multi_class: str = parameter(one_of(*MULTI_CLASS), default="one_vs_rest")
    """How several classes are treated. "one_vs_rest" and "one_vs_one" have hyper-parameters of
    their own for each binary problem, "softmax" has one joint problem, whose probabilities belong
    to a model of all classes. "one_vs_one" has no probabilities."""
    n_jobs: int | None = parameter(threads, default=None)
    """Has no effect: the linear algebra of each problem uses all cores."""

    # -- the door ---------------------------------------------------------------------------

    def _check_target(self, y: Any, n_samples: int) -> NDArray[Any]:
        return check_labels(self, y, n_samples)

    def _training_data(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], Any]:
        """Return checked objects, labels and the kernel bound to the objects."""
        if self._foreign:
            if type(self.kernel).__name__ == "CompoundKernel":
                raise ValueError("kernel cannot be a CompoundKernel")
            X, y = self._sklearn_rows(X, y, reset=True, multi_output=False)
            return X, check_labels(self, y, len(y)), self._own_sklearn_kernel(fixed=True)
        data, kernel = self._enter(X, y)
        assert data.y is not None
        if kernel.pairwise:
            raise ParameterError(
                "a Gaussian process needs k(x, x) of new objects, which a precomputed matrix does "
                "not hold; pass the kernel."
            )
        if kernel.definiteness.order:
            raise ValueError(
                f"{kernel!r} is {kernel.definiteness}: it is no covariance. Use Projected(kernel)."
            )
        return data.X, data.y, kernel

    def _objects(self, X: Any) -> Any:
        self._require_fit()
        if self._foreign:
            return self._sklearn_rows(X, reset=False)
        return check_objects(self, X, self.problems_[0].covariance.kernel)

    def __sklearn_is_fitted__(self) -> bool:
        return "problems_" in self.__dict__

    def _require_fit(self) -> None:
        if "problems_" not in self.__dict__:
            check_is_fitted(self)

    # -- fitting ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Fit hyper-parameters and the approximate posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
            Training objects.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._check_parameters()
        with self._transaction(), running(self) as run:
            X, y, kernel = self._training_data(X, y)
            X = np.copy(X) if self.copy_X_train and isinstance(X, np.ndarray) else X
            before = self.__dict__.get("problems_") if self.warm_start else None
            self.classes_, codes = np.unique(y, return_inverse=True)
            self.n_classes_ = len(self.classes_)
            if self.n_classes_ < 2:
                raise ValueError(
                    "GaussianProcessClassifier requires 2 or more distinct classes; got 1 class "
                    f"(only class {self.classes_[0]} is present)"
                )
            problems = self._posed(X, codes)
            _reuse(problems, before)
            with threads_for(len(codes)):
                self._solve(problems, kernel, run)
            self.problems_ = problems
            self.certificates_ = [problem.certificate for problem in problems]
            self.certificate_ = Certificate.combine(self.certificates_)
            evidences = [problem.evidence for problem in problems]
            self.log_marginal_likelihood_value_ = np.mean(evidences)
        run.raise_interrupt()
        return self

    def _posed(self, X: Any, codes: NDArray[Any]) -> list[LatentProcess]:
        """Return the problems that the classes make."""
        k, steps = self.n_classes_, int(self.max_iter_predict)
        if self.multi_class == "softmax":
            return [SoftmaxProcess(X, np.eye(k)[codes], steps)]
        if k == 2:
            return [BinaryProcess(X, np.where(codes == 1, 1.0, -1.0), steps)]
        if self.multi_class == "one_vs_rest":
            return [BinaryProcess(X, np.where(codes == c, 1.0, -1.0), steps) for c in range(k)]
        problems: list[LatentProcess] = []
        for a, b in combinations(range(k), 2):
            rows = np.flatnonzero((codes == a) | (codes == b))
            labels = np.where(codes[rows] == a, 1.0, -1.0)
            problems.append(BinaryProcess(take(X, rows), labels, steps))
        return problems

    def _solve(self, problems: list[LatentProcess], kernel: Any, run: Run) -> None:
        """Fit all problems; after Ctrl-C those that are left take one evaluation each."""
        rng = check_random_state(self.random_state)
        for k, problem in enumerate(problems):
            elapsed = stopwatch()
            covariance = self._covariance_of(kernel)
            found = self._search(covariance, problem.point, run, rng)
            if found is not None and found.at is None and not k:
                run.raise_interrupt()
            if found is not None:
                covariance = covariance.with_theta(found.theta)
            problem.keep(covariance, found, elapsed())
            if found is not None:
                warn_of_bounds(covariance.labels, found.theta, covariance.bounds)

    @property
    def kernel_(self) -> Kernel | list[Kernel] | Any:
        """The kernel, or the kernels of several binary problems."""
        if "problems_" not in self.__dict__:
            raise AttributeError("kernel_ is known after a fit.")
        kernels = [problem.covariance.kernel for problem in self.problems_]
        if len(kernels) == 1:
            return kernels[0]
        if not self._foreign:
            return kernels
        from sklearn.gaussian_process.kernels import CompoundKernel

        return CompoundKernel(kernels)

    # -- predictions ------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class.

        With two classes, the second where the mean of f is not negative, which is where its
        probability is at least 1/2; with "one_vs_one" the class of most votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
            Objects.

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        X = self._objects(X)
        first = self.problems_[0]
        if isinstance(first, SoftmaxProcess):
            return self.classes_[first.probabilities(X).argmax(axis=1)]
        assert isinstance(first, BinaryProcess)
        if self.n_classes_ == 2:
            return self.classes_[(first.means(X) >= 0.0).astype(np.intp)]
        if self.multi_class == "one_vs_rest":
            return self.classes_[self._rest(X).argmax(axis=1)]
        decision = np.column_stack([p.probabilities(X)[:, 1] - 0.5 for p in self.problems_])
        return self.classes_[one_score_per_class(decision, self.n_classes_).argmax(axis=1)]

    def _rest(self, X: Any) -> Array:
        """Return the probabilities of each class against the rest."""
        return np.column_stack([problem.probabilities(X)[:, 1] for problem in self.problems_])

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, averaged over the posterior of f.

        Those of "one_vs_rest" are divided by their sum. The mean over f is computed to 1e-13 for
        two classes, and to about 1e-3 by 1024 quasi-random points for "softmax".

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
            Objects.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        self._require_fit()
        if self.n_classes_ > 2 and self.multi_class == "one_vs_one":
            raise ValueError(
                "one_vs_one multi-class mode does not support predicting probability estimates. "
                "Use one_vs_rest mode instead, or softmax."
            )
        X = self._objects(X)
        if len(self.problems_) == 1:
            return self.problems_[0].probabilities(X)
        rest = self._rest(X)
        return rest / rest.sum(axis=1, keepdims=True)

    def latent_mean_and_variance(self, X: Any) -> tuple[Array, Array]:
        """Return mean and variance of the latent function, for two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
            Objects.

        Returns
        -------
        mean, variance : arrays of shape (n_samples,)
            Moments of f.
        """
        self._require_fit()
        first = self.problems_[0]
        if self.n_classes_ > 2 or not isinstance(first, BinaryProcess):
            raise ValueError(
                "Returning the mean and variance of the latent function f is only supported for "
                f"binary classification, received {self.n_classes_} classes."
            )
        return first.moments(self._objects(X))

    @overload
    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: Literal[False] = False, clone_kernel: bool = True
    ) -> float: ...

    @overload
    def log_marginal_likelihood(
        self, theta: Any, eval_gradient: bool, clone_kernel: bool = True
    ) -> Any: ...

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the log evidence at hyper-parameters; its mean over several binary problems.

        A function of ``theta`` alone, to the last bit, whatever was evaluated before.

        Parameters
        ----------
        theta : array-like of shape (p,) or (p * n_problems,), default=None
            Logarithms of the hyper-parameters, common to all problems or of one after the other;
            None: those of ``kernel_``.
        eval_gradient : bool, default=False
            Whether to return the gradient as well; for one problem only.
        clone_kernel : bool, default=True
            False sets ``kernel_`` to these hyper-parameters, as in scikit-learn.

        Returns
        -------
        value or (value, gradient)
            The log evidence and its gradient by theta.
        """
        self._require_fit()
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        theta = np.asarray(theta, dtype=np.float64)
        problems = self.problems_
        if eval_gradient and len(problems) > 1:
            raise NotImplementedError(
                "Gradient of log-marginal-likelihood not implemented for several binary problems; "
                "multi_class='softmax' has one."
            )
        size = len(problems[0].covariance.theta)
        if theta.shape not in ((size,), (size * len(problems),)):
            raise ValueError(
                f"Shape of theta must be either {size} or {size * len(problems)}. Obtained theta "
                f"with shape {theta.shape[0]}."
            )
        parts = [theta] * len(problems) if len(theta) == size else np.split(theta, len(problems))
        values = []
        for problem, part in zip(problems, parts, strict=True):
            covariance = problem.covariance.with_theta(part)
            if not clone_kernel:
                problem.covariance = covariance
            values.append(evaluated(problem.afresh(covariance), size, eval_gradient))
        return values[0] if eval_gradient else np.mean([value for value, _ in values])


def _reuse(problems: list[LatentProcess], before: list[LatentProcess] | None) -> None:
    """Start from the modes of an earlier fit that posed problems of the same size."""
    if before is None or len(before) != len(problems):
        return
    for problem, old in zip(problems, before, strict=True):
        if old.start is not None and old.targets.shape == problem.targets.shape:
            problem.start = old.start
