"""Base class of the ridge machines: a fit on one page, the expansion and the certificate."""

from __future__ import annotations

import copy
import functools
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import additive_chi2_kernel

from mercer.expansion import Expansion
from mercer.gram import Gram
from mercer.gram.shifted import Factorised
from mercer.kernels import ChiSquare, FromFunction, Kernel, Linear, Normalized, resolve
from mercer.kernels.resolve import KernelLike
from mercer.numerics.blas import threads_for
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import (
    declared,
    integer_from,
    one_of,
    optional,
    parameter,
    positive,
    truth,
    verbosity,
)
from mercer.run import Run
from mercer.solvers import Certificate

from ..kernel_estimator import NamedKernelEstimator, TrainingData
from ..named_weights import NamedWeights
from ..progress import running
from ..reporting import Reported
from .problem import RidgeProblem, RidgeSolution
from .proof import certificates
from .solving import SOLVERS, interpolated_by, solve_and_certify

Array = NDArray[np.float64]


@declared
class KernelRidgeParameters:
    """The parameters of scikit-learn's `KernelRidge`, and an intercept."""

    _: KW_ONLY
    kernel: KernelLike = parameter(default="linear", kind="str, Kernel or callable")
    """"linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "chi2", "additive_chi2" (minus the
    chi-square distance, as in scikit-learn), "precomputed", a kernel of `mercer.kernels`, or a
    function of two collections of objects."""
    gamma: float | str | None = parameter(default=None, kind='{"scale", "auto"} or float')
    """Width of a named kernel; None is "auto", 1 / n_features, and 1 for "chi2"."""
    coef0: float = 1
    kernel_params: dict[str, Any] | None = parameter(default=None, kind="dict")
    """Keyword arguments of a kernel function."""
    fit_intercept: bool = parameter(truth, default=False)
    """Whether f has an intercept that is not penalised."""


@declared
class SolverParameters:
    """The parameters of a machine that leaves the choice of the solver."""

    _: KW_ONLY
    solver: str = parameter(one_of(*SOLVERS), default="auto")
    """"cholesky": a factor of the kernel matrix, in float32 refined to double precision where that
    is faster. "cg": conjugate gradients on tiles, without the matrix. "eigh", "lu": the other
    direct methods. "widrow_hoff": one coefficient at a time (Gauss-Seidel), without an intercept.
    "auto" takes "cholesky" up to 12,000 samples if the memory suffices, then "cg", and "lu" where
    the kernel matrix is not definite. alpha=0 takes "eigh"."""
    tol: float = parameter(positive, default=1e-9)
    """Duality gap, relative to the dual value, at which iterative solvers stop."""
    max_iter: int | None = parameter(optional(integer_from(0)), default=None)
    """Limit on the iterations; None is 2,000 steps of cg, 1,000 sweeps of widrow_hoff."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds after which an iterative solver returns what it has."""
    verbose: bool | int = parameter(verbosity, default=False)
    """1 shows a progress bar of an iterative solver, 2 prints a line per step."""


class RidgeMachine(NamedWeights, Reported, NamedKernelEstimator):
    """Base class: targets and penalties in, an expansion with a certificate out."""

    fit_intercept: bool
    solver: str
    tol: float
    max_iter: int | None
    time_limit: float | None
    verbose: bool | int
    kernel_params: Any = None

    expansion_: Expansion
    certificate_: Certificate
    certificates_: list[Certificate]

    def _resolved_kernel(self) -> Kernel:
        kernel: Any = self.kernel
        if isinstance(kernel, Kernel):
            if self.gamma is not None and self.gamma != type(self).gamma:
                return resolve(kernel, self.gamma)  # refuses it
            return kernel
        if callable(kernel) and self.kernel_params:
            kernel = functools.partial(kernel, **self.kernel_params)
        if isinstance(kernel, str) and kernel == "cosine":
            return Normalized(Linear())
        if isinstance(kernel, str) and kernel == "chi2":
            return ChiSquare() if self.gamma is None else ChiSquare(self.gamma)
        if isinstance(kernel, str) and kernel == "additive_chi2":
            return FromFunction(additive_chi2_kernel)
        gamma = "auto" if self.gamma is None else self.gamma
        return resolve(kernel, gamma, self.degree, self.coef0)

    def _pose(self, data: TrainingData, *, fitting: bool) -> tuple[Array, Array, Array, bool]:
        """Return targets (n, m), weights, an alpha for each target, and whether y is flat."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Training objects; for ``kernel="precomputed"`` their square kernel matrix.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets, or class labels of shape (n_samples,) for a classifier.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Weights of the samples: weight k is the same as k copies, a weight of 0 or less the
            same as leaving the sample out.

        Returns
        -------
        self : estimator
            The fitted estimator. After Ctrl-C in an iterative solver it holds the best solution so
            far, with the status "interrupted"; a direct solver leaves the model of an earlier fit.
            KeyboardInterrupt is raised in both cases.
        """
        self._check_parameters()
        with self._transaction():
            data, kernel = self._enter(X, y, sample_weight)
            Y, weight, alphas, flat = self._pose(data, fitting=True)
            gram = self._gram(data, kernel)
            basis = unpenalised(kernel, self.fit_intercept, gram.n)
            with threads_for(gram.n), running(self, Y.shape[1], self.max_iter) as run:
                coef, intercept = self._solved(gram, Y, weight, alphas, basis, run)
            self.kernel_ = kernel
            self._keep(data, coef, intercept, flat)
        run.raise_interrupt()
        warn_of_limits(self.certificate_, type(self).__name__)
        return self

    def _solved(
        self,
        gram: Gram,
        Y: Array,
        weight: Array,
        alphas: Array,
        basis: Array | None,
        run: Run,
    ) -> tuple[Array, Array]:
        """Return coefficients and intercepts of all targets, and set the proof."""
        m = Y.shape[1]
        coef, intercept = np.empty((gram.n, m)), np.zeros(m)
        proofs: dict[int, Certificate] = {}
        used: set[str] = set()
        for alpha in np.unique(alphas):
            run.raise_interrupt()  # some of the targets would have no model
            at = np.flatnonzero(alphas == alpha)
            problem = RidgeProblem(gram, Y[:, at], weight, float(alpha), basis)
            solution, found = solve_and_certify(problem, self.solver, self.tol, run.branch())
            coef[:, at] = solution.coef
            if basis is not None:
                intercept[at] = solution.basis_coef[0]
            used.add(solution.solver)
            proofs |= dict(zip(at.tolist(), found, strict=True))
        self.certificates_ = [proofs[t] for t in range(m)]
        self.certificate_ = Certificate.combine(self.certificates_)
        self.solver_ = ", ".join(sorted(used))
        self.n_iter_ = max(1, *(proof.n_iter for proof in self.certificates_))
        return coef, intercept

    def _keep(self, data: TrainingData, coef: Array, intercept: Array, flat: bool) -> None:
        """Set the expansion, and the coefficients of all samples, with 0 for those left out."""
        whole = np.zeros((data.n_total, coef.shape[1]))
        whole[_rows(data.kept)] = coef
        self.dual_coef_ = whole[:, 0] if flat else whole
        self.intercept_ = float(intercept[0]) if flat else intercept
        self._kept = data.kept
        places = np.arange(data.n_total)[_rows(data.kept)]
        self._expand(places if self.kernel_.pairwise else data.X)

    def _expand(self, vectors: Any) -> None:
        """Set the expansion: the terms of the samples that took part."""
        self.expansion_ = Expansion(
            self.kernel_,
            vectors,
            self.dual_coef_[_rows(self._kept)],
            self.intercept_,
            feature_names=getattr(self, "feature_names_in_", None),
        )

    def _terms(self) -> tuple[Kernel, Any, Array]:
        expansion = self.expansion_
        return expansion.kernel, expansion.vectors, expansion.coef.reshape(len(expansion.coef), -1)

    def _values(self, X: Any) -> Array:
        """Return the values of the expansion."""
        X = self._objects(X)
        return self.expansion_.evaluate(X)

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Prove the model anew from the training data.

        Parameters
        ----------
        X : objects
            The training objects, in the order of the fit.
        y : array-like
            Their targets or labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        Certificate
            Primal and dual value and violation, computed from the coefficients alone.
        """
        data, Y, weight, alphas, coef = self._posed_again(X, y, sample_weight)
        gram = self._gram(data, self.kernel_)
        basis = unpenalised(self.kernel_, self.fit_intercept, gram.n)
        intercept = np.reshape(self.intercept_, (1, -1))
        found: dict[int, Certificate] = {}
        for alpha in np.unique(alphas):
            at = np.flatnonzero(alphas == alpha)
            problem = RidgeProblem(gram, Y[:, at], weight, float(alpha), basis)
            status = self.certificate_.status
            solution = RidgeSolution(
                coef[:, at],
                np.zeros((0, len(at))) if basis is None else intercept[:, at],
                self.solver_,
                self.n_iter_,
                "optimal" if status == "precision_limit" else status,
                self.certificate_.convexity != "refuted",
            )
            proofs = certificates(problem, solution, 0.0, interpolated_by(problem))
            found |= dict(zip(at.tolist(), proofs, strict=True))
        return Certificate.combine([found[t] for t in range(Y.shape[1])])

    def leave_one_out_values(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Return for each training sample the value of the machine trained without it.

        In closed form: f_-i(x_i) = y_i - a_i / G_ii, where G maps the targets to the coefficients
        a; the kernel and its parameters, alpha and the class weights are held fixed.

        Parameters
        ----------
        X, y, sample_weight : array-like
            What ``fit`` was called with.

        Returns
        -------
        array of shape (n_samples,), (n_samples, n_targets) or (n_samples, n_classes)
            Values of f_-i; those of f for samples of weight 0, which it is trained without.

        Examples
        --------
        >>> from mercer import KernelRidge
        >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]
        >>> KernelRidge(alpha=1.0).fit(X, y).leave_one_out_values(X, y).round(6)
        array([0. , 1.6, 2. ])
        >>> KernelRidge(alpha=1.0).fit(X[:2], y[:2]).predict(X[2:])
        array([2.])
        """
        data, Y, weight, alphas, coef = self._posed_again(X, y, sample_weight)
        gram = self._gram(data, self.kernel_)
        if not (alphas > 0.0).all():
            raise ValueError("alpha=0 interpolates: its leave-one-out values have no closed form.")
        basis = unpenalised(self.kernel_, self.fit_intercept, gram.n)
        values = np.empty_like(Y)
        for alpha in np.unique(alphas):
            at = np.flatnonzero(alphas == alpha)
            system = gram.shifted(alpha / weight, basis, "cholesky", refined=False)
            assert isinstance(system, Factorised)
            values[:, at] = Y[:, at] - coef[:, at] / system.inverse_diagonal()[:, None]
        if data.kept is not None:
            whole = self._values(X)
            whole.reshape(data.n_total, -1)[data.kept] = values
            return whole
        return values[:, 0] if self.dual_coef_.ndim == 1 else values

    def _posed_again(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[TrainingData, Array, Array, Array, Array]:
        """Return data, targets, weights, penalties and coefficients of the samples kept."""
        self._require_fit()
        door = copy.copy(self)  # entering sets attributes
        data, _ = door._enter(X, y, sample_weight)
        if data.n_total != len(self.dual_coef_):
            raise ValueError(
                f"the model was fitted on {len(self.dual_coef_)} samples; got {data.n_total}."
            )
        Y, weight, alphas, _ = self._pose(data, fitting=False)
        coef = self.dual_coef_.reshape(data.n_total, -1)[_rows(data.kept)]
        return data, Y, weight, alphas, coef


def _rows(kept: Any) -> Any:
    """Return the index of the samples that took part; None stands for all."""
    return slice(None) if kept is None else kept


def unpenalised(kernel: Kernel, fit_intercept: bool, n: int) -> Array | None:
    """Return the column of the intercept, or refuse a kernel that needs more than there is."""
    order = kernel.definiteness.order
    if order == 2:
        raise ValueError(
            f"{kernel!r} is conditionally positive definite of order 2: it needs an unpenalised "
            "linear function, which ridge machines lack. Use GaussianProcessRegressor with "
            'basis="linear", or SVR.'
        )
    if order == 1 and not fit_intercept:
        raise ValueError(
            f"{kernel!r} is only conditionally positive definite: it needs an unpenalised "
            "intercept. Use fit_intercept=True."
        )
    return np.ones((n, 1)) if fit_intercept else None


def warn_of_limits(certificate: Certificate, name: str) -> None:
    """Warn of a fit that stopped before its tolerance, or whose problem is not convex."""
    if certificate.convexity == "refuted":
        warn_caller(
            f"{name}: the kernel is indefinite, so the problem is not convex; the coefficients are "
            "a stationary point, which no duality gap bounds. Use a positive semidefinite kernel.",
            ConvergenceWarning,
        )
    reasons = {
        "iteration_limit": "Increase max_iter, alpha or tol, or use solver='cholesky'.",
        "time_limit": "Increase time_limit, or use a larger alpha.",
        "interrupted": "A callback asked for it.",
        "precision_limit": "The kernel matrix is too ill-conditioned for float64; increase alpha.",
    }
    if certificate.status in reasons:
        warn_caller(
            f"{name} stopped with status {certificate.status!r} and relative duality gap "
            f"{certificate.relative_gap:.2g} after {certificate.n_iter} iterations. "
            f"{reasons[certificate.status]}",
            ConvergenceWarning,
        )
