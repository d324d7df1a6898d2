"""Gaussian process regression, exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mercer.gram import Gram
from mercer.gram.shifted import NotDefiniteError, choose_solver, require_memory
from mercer.kernels.resolve import KernelLike
from mercer.kernels.white import contains_white
from mercer.numerics.blas import threads_for
from mercer.numerics.lanczos_quadrature import Estimate
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import (
    ParameterError,
    declared,
    is_number,
    one_of,
    parameter,
    truth,
)
from mercer.objects.tables import stacked
from mercer.objects.validation import count, take
from mercer.run import Run
from mercer.solvers import Certificate
from mercer.solvers.prove import local

from ..input_validation import check_several_targets
from ..progress import running
from ..ridge.problem import RidgeProblem, RidgeSolution
from ..ridge.proof import certificates
from .appending import appended
from .by_iteration import (
    VARIANCE_ERROR,
    IterativeEvaluation,
    IterativePosterior,
    estimated_evidence,
    estimated_gradient,
    evaluate_by_iteration,
)
from .covariance import Covariance
from .evidence import (
    Evaluation,
    evaluate,
    evidence_gradient,
    log_evidence,
    log_loo,
    loo_gradient,
)
from .mean_basis import mean_basis
from .posterior import Posterior
from .predicting import INTERPOLATION, ProcessRegressor, RegressionParameters, usual_noise
from .search import NOWHERE, Found, Point, Stop, evaluated, unhurried, warn_of_bounds

Array = NDArray[np.float64]


_FIRST = 4000  # samples of the first search where iterations are used
_ROUGH, _FINE = 1e-6, 1e-13  # relative gaps of the iterations, in the search and at its end
_PRECISION = 1e-6  # relative change of the evidence at which a search on estimates stops
_LEAST = 1e-6  # share of noise in the diagonal below which iterations do not converge
_KEPT = "the hyper-parameters of the first samples, which partial_fit keeps"
_LOOKED_AT = 256  # samples whose correlations are looked at after a search
_UNCORRELATED = 1e-3
_COPIES = 4  # of the covariance matrix: factor, inverse, derivatives, the best factor so far


@declared
class GaussianProcessRegressor(RegressionParameters, ProcessRegressor):
    r"""Gaussian process regression.

    The prior is f ~ GP(b(x)'m, k), the observations are y_i = f(x_i) + noise of variance alpha_i
    (plus ``noise``). The posterior mean is the function of kernel ridge regression with these
    penalties. Hyper-parameters maximise the evidence, the probability of the targets with f
    integrated out.

    Attributes
    ----------
    kernel_ : kernel
        The kernel with its hyper-parameters.
    noise_ : float
        The noise variance found, 0 without ``noise``.
    theta_, bounds_ : array of shape (p,) and (p, 2)
        Logarithms of the hyper-parameters and their bounds.
    parameter_names_ : list of str
        Names of the entries of ``theta_``.
    fixed_parameters_ : list of str
        Continuous parameters of the kernel that were not optimised because the kernel states no
        derivative or they are not positive.
    X_train_, y_train_ : objects, array
        Training data; targets as normalised.
    alpha_ : array of shape (n_samples,) or (n_samples, n_targets)
        Coefficients of the posterior mean.
    basis_coef_ : array of shape (p,) or (p, n_targets)
        Coefficients m of the basis, in the units of the normalised targets.
    expansion_ : Expansion
        The posterior mean, in the units of the targets.
    L_ : array of shape (n_samples, n_samples)
        Lower Cholesky factor of the covariance matrix; with a basis, of its restriction. Not with
        the solver "cg".
    solver_ : str
        "cholesky" or "cg".
    jitter_ : float
        Jitter that was added to the diagonal in addition to alpha, because float64 required it.
    log_marginal_likelihood_value_ : float
        The log evidence, of the normalised targets; with the solver "cg" an estimate.
    log_marginal_likelihood_error_ : float
        Standard error of that estimate, from its random vectors; 0 with "cholesky".
    log_marginal_likelihood_interval_ : (float, float)
        With "cg" bounds of the log evidence, which hold for any random vectors and allow for
        rounding. With "cholesky" both ends are the value, which is exact but for rounding: the
        interval does not bound that.
    variance_error_ : float
        By how much a predicted variance may be too large, in units of the prior variance: 1e-6 with
        "cg", which predicts upper bounds; 0 with "cholesky", where only rounding counts.
    certificate_ : Certificate
        Duality gap of the quadratic problem of the posterior mean at ``kernel_``;
        ``kkt_violation`` is the largest entry of the projected gradient of the objective, with
        status "stationary", because the evidence is not concave. See :meth:`partial_fit` for what
        it says after further samples.

    Examples
    --------
    A kernel, and everything else is found: its parameters, the noise, mean and scale of the
    targets.

    >>> from mercer import GaussianProcessRegressor
    >>> from mercer.data import noisy_sinc
    >>> from mercer.kernels import RBF
    >>> X, y = noisy_sinc(100, random_state=0)
    >>> model = GaussianProcessRegressor(1.0 * RBF()).fit(X, y)
    >>> model.parameter_names_, model.score(X, y) > 0.9
    (['kernel__gamma', 'scale', 'noise'], True)
    >>> mean, std = model.predict([[0.0]], return_std=True)

    A process that is known, where nothing is to be found:

    >>> model = GaussianProcessRegressor(RBF(0.5), alpha=0.25, optimizer=None).fit([[0.0]], [1.0])
    >>> mean, std = model.predict([[0.0]], return_std=True)
    >>> mean.round(6), (std**2).round(6)
    (array([0.8]), array([0.2]))
    """

    kernel: KernelLike | None = parameter(
        default=None, kind="Kernel, scikit-learn kernel, str or None"
    )
    """The covariance. All continuous positive parameters of a mercer kernel that has derivatives
    are optimised, scales included. A kernel of scikit-learn keeps its own ``theta`` and bounds.
    None is scikit-learn's default, a constant times its RBF, unless ``noise`` or ``bounds`` are
    given, which only kernels of mercer have: then it is ``1.0 * RBF()``."""
    _: KW_ONLY
    copy_X_train: bool = parameter(truth, default=True)  # noqa: N815 - scikit-learn's name
    """Whether a copy of the training data is kept."""
    n_targets: int | None = parameter(default=None)
    """Number of outputs of the prior, for predictions before a fit."""
    noise: Any = parameter(default="auto", kind='float, "auto" or None')
    """Starting value of a noise variance that is optimised with the kernel. "auto" is a tenth of
    the variance of the targets, and None where the noise is known or fixed: ``alpha`` is given, the
    kernel has ``White`` as a part or is scikit-learn's (add a WhiteKernel), or nothing is
    optimised (``optimizer=None``, ``bounds="fixed"``). None interpolates the targets, up to
    ``alpha``."""
    bounds: Any = parameter(default=None, kind='None, "fixed" or dict')
    """Bounds for parameters of a mercer kernel by name, such as ``{"kernel__gamma": (1e-3, 1e3),
    "scale": "fixed", "noise": (1e-6, 1.0)}``. By default 1e-5 to 1e5, and the same for the length
    scale of gamma (5e-11 to 5e9)."""
    basis: Any = parameter(default=None, kind='None, "constant", "linear" or callable')
    """Functions b(x) of the prior mean with coefficients of unknown size: an intercept, an
    intercept and all columns, or a function of X that returns a column for each. Their uncertainty
    is part of the predictive variance, and the evidence is the restricted one."""
    objective: str = parameter(one_of("evidence", "loo"), default="evidence")
    """Objective of the hyper-parameters: the log evidence, or the sum of the leave-one-out log
    predictive densities."""
    solver: str = parameter(one_of("auto", "cholesky", "cg"), default="auto")
    """"cholesky" factorises the covariance matrix. "cg" never builds it: conjugate gradients on
    tiles, with an estimate of the log-determinant; it needs noise. "auto" takes "cg" beyond 12,000
    samples or where the matrix does not fit in memory, if there is noise."""

    # -- the door ---------------------------------------------------------------------------

    def _check(self) -> None:
        if self.solver == "cg" and self.objective == "loo":
            raise ParameterError(
                'objective="loo" needs the diagonal of the inverse, which solver="cg" does not '
                'compute; use solver="cholesky".'
            )
        self._check_noise()

    @property
    def _asks_for_mercer(self) -> bool:
        return is_number(self.noise) or self.bounds is not None

    def _finds_noise(self, kernel: Any) -> bool:
        known = np.ndim(self.alpha) > 0 or self.alpha != INTERPOLATION
        fixed = self.optimizer is None or isinstance(self.bounds, str)
        return super()._finds_noise(kernel) and not known and not fixed

    # -- fitting ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Fit hyper-parameters and posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or objects
            Training objects.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._check_parameters()
        with self._transaction(), running(self) as run:
            X, y, kernel = self._training_data(X, y)
            y = self._normalised(y, kernel)
            self._noise = self._checked_alpha(len(y))
            self.X_train_ = np.copy(X) if self.copy_X_train and isinstance(X, np.ndarray) else X
            self.y_train_: Array = y
            self._basis_values = mean_basis(self.basis, X)
            covariance = self._covariance_of(kernel, self._first_noise(kernel, y))
            self.solver_ = self._chosen_solver(covariance)
            with threads_for(len(y)):
                found = self._best(covariance, run)
                if found is not None:
                    if found.at is None:
                        run.raise_interrupt()
                    covariance = covariance.with_theta(found.theta)
                self._conclude(covariance, found, run)
        if found is not None:
            warn_of_bounds(covariance.labels, found.theta, covariance.bounds)
            self._warn_of_no_correlation()
        run.raise_interrupt()
        return self

    def _warn_of_no_correlation(self) -> None:
        """Warn where the search has ended at a kernel that relates no sample to another."""
        if self._foreign or getattr(self.kernel_, "pairwise", False) or self.basis is not None:
            return
        some = np.linspace(0, len(self._noise) - 1, min(len(self._noise), _LOOKED_AT)).astype(int)
        with threads_for(len(some)):
            K = np.abs(self._covariance.matrix(take(self.X_train_, some), False))
        scale = np.sqrt(np.diagonal(K))
        largest = K / np.outer(scale, scale).clip(np.finfo(float).tiny)
        np.fill_diagonal(largest, 0.0)
        if len(K) == 1 or largest.max() > _UNCORRELATED:
            return
        means, spreads = self._targets.mean(axis=0), self._targets.std(axis=0)
        worst = np.argmax(np.abs(means) / spreads.clip(np.finfo(float).tiny))
        if abs(means[worst]) > spreads[worst]:
            cause = (
                f"The targets have mean {means[worst]:.3g} and standard deviation "
                f"{spreads[worst]:.3g}, the prior has mean 0: pass normalize_y=True."
            )
        elif self._covariance.noise is None and not contains_white(self.kernel_):
            cause = (
                "There is no noise that is optimised, so the process must pass through every "
                'target: pass noise="auto" or a starting value.'
            )
        else:
            cause = (
                "Either the targets do not depend on X, or the search started at a width that is "
                "far too small: start it at another one, such as RBF()."
            )
        warn_caller(
            f"the search ended at {self.kernel_!r}, which relates no sample to another: away from "
            f"the training samples the prior mean is predicted. {cause}",
            ConvergenceWarning,
        )

    @property
    def _centres(self) -> Any:
        return self.X_train_

    @property
    def _targets(self) -> Array:
        return self.y_train_ if self.y_train_.ndim == 2 else self.y_train_[:, None]

    def _chosen_solver(self, covariance: Covariance) -> str:
        """Return the solver; refuse a matrix that does not fit in memory."""
        n = len(self._noise)
        solver = choose_solver(n) if self.solver == "auto" else self.solver
        if solver == "cg" and self.solver == "auto":
            noise = self._noise + covariance.white(self.X_train_) + (covariance.noise or 0.0)
            scale = float(np.abs(covariance.diagonal(self.X_train_, False)).mean())
            definite = self._foreign or covariance.kernel.definiteness.is_psd
            able = definite and self.objective == "evidence" and noise.min() > _LEAST * scale
            solver = "cg" if able else "cholesky"
        if solver == "cholesky":
            require_memory(n, _COPIES)
        return solver

    def _starts(self, covariance: Covariance, rng: Any) -> list[Array]:
        starts = super()._starts(covariance, rng)
        if self.kernel is None and ("noise", None) in covariance.labels:
            # The width is not the caller's: at a noise that is far too small it tends to 0.
            second = starts[0].copy()
            second[-1] = np.clip(np.log(usual_noise(self.y_train_)), *covariance.bounds[-1])
            starts.append(second)
        return starts

    def _best(self, covariance: Covariance, run: Run) -> Found | None:
        """Return the hyper-parameters of the largest objective."""
        if self.solver_ == "cholesky":
            return self._search(covariance, self._point, run)
        rng = check_random_state(self.random_state)
        self._seed = int(rng.randint(1 << 31))
        n = len(self._noise)
        few = rng.permutation(n)[:_FIRST] if n > 2 * _FIRST else None
        if few is None:
            return self._search(covariance, self._point, run, rng, precision=_PRECISION)
        # A part of the samples, factorised, leads close to the optimum at little cost.
        found = self._search(covariance, partial(self._point, rows=np.sort(few)), run, rng)
        if found is None or found.status != "stationary":
            return found
        start = covariance.with_theta(found.theta)
        return self._search(start, self._point, run, rng, restarts=False, precision=_PRECISION)

    def _estimate(self, covariance: Covariance, tol: float) -> IterativeEvaluation:
        return evaluate_by_iteration(
            covariance,
            self.X_train_,
            self._targets,
            self._noise,
            self._basis_values,
            seed=self._seed,
            tol=tol,
        )

    def _evaluate(self, covariance: Covariance) -> Evaluation:
        return evaluate(covariance, self.X_train_, self._targets, self._noise, self._basis_values)

    def _point(self, covariance: Covariance, stop: Stop = unhurried, rows: Any = None) -> Point:
        """Return the objective of all samples, or of some by a factor."""
        try:
            value, slope, at = self._objective(covariance, stop, rows)
        except (NotDefiniteError, FloatingPointError):
            return NOWHERE
        density: Any = 0.0
        prior_slope: Any = 0.0
        if self.log_prior is not None:
            density, prior_slope = self.log_prior(covariance.theta)

        def gradient() -> Array | None:
            try:
                return slope() + np.asarray(prior_slope)
            except (NotDefiniteError, FloatingPointError):
                return None

        return value + float(density), gradient, None if rows is not None else at

    def _objective(
        self, covariance: Covariance, stop: Stop, rows: Any
    ) -> tuple[float, Callable[[], Array], Any]:
        """Return the objective without the prior; errors are those of the factorisation."""
        if rows is None and self.solver_ == "cg":
            estimate = self._estimate(covariance, _ROUGH)
            value = estimated_evidence(estimate, self._targets).value
            return value, partial(estimated_gradient, estimate, covariance, self.X_train_), estimate
        X, Y, noise, basis = self.X_train_, self._targets, self._noise, self._basis_values
        if rows is not None:
            X, Y, noise = take(X, rows), Y[rows], noise[rows]
            basis = None if basis is None else basis[rows]
        at = evaluate(covariance, X, Y, noise, basis, stop)
        loo = self.objective == "loo"

        def slope() -> Array:
            weights = (loo_gradient(at),) if loo else evidence_gradient(at, Y)
            stop()
            return covariance.contract(X, *weights)

        return log_loo(at) if loo else log_evidence(at, Y), slope, at

    def _value(self, covariance: Covariance, *, gradient: bool) -> tuple[float, Array]:
        """Return the objective and its gradient; minus infinity where there is no factor."""
        return evaluated(self._point(covariance), len(covariance.labels), gradient)

    def _conclude(self, covariance: Covariance, found: Found | None, run: Run) -> None:
        """Keep the posterior at the hyper-parameters found, with its certificate."""
        try:
            at: Evaluation | IterativeEvaluation
            exact = self.solver_ != "cg" or (found is not None and found.status != "stationary")
            if found is not None and found.at is not None and exact:
                at = found.at
            elif self.solver_ == "cg":
                at = self._estimate(covariance, _FINE)
            else:
                at = self._evaluate(covariance)
        except NotDefiniteError as error:
            raise np.linalg.LinAlgError(
                f"The kernel, {covariance.kernel}, is not returning a positive definite matrix. "
                "Try gradually increasing the 'alpha' parameter of your GaussianProcessRegressor "
                "estimator."
            ) from error
        self.kernel_ = covariance.kernel
        self._covariance = covariance
        self.theta_, self.bounds_ = covariance.theta, covariance.bounds
        self.parameter_names_ = [
            name if i is None else f"{name}[{i}]" for name, i in covariance.labels
        ]
        self.noise_ = float(covariance.noise or 0.0)
        if isinstance(at, Evaluation):
            self.jitter_, self.variance_error_ = at.jitter, 0.0
            self._keep(Posterior.of(at))
            self._keep_evidence(log_evidence(at, self._targets))
        else:
            self.jitter_, self.variance_error_ = 0.0, VARIANCE_ERROR
            self._keep(IterativePosterior.of(at))
            self._keep_evidence(estimated_evidence(at, self._targets))
        values = at.values if isinstance(at, IterativeEvaluation) else None
        self._certify(at.gram, at.system.shift.noise, found, run.seconds, values)

    def _keep_evidence(self, evidence: float | Estimate) -> None:
        if not isinstance(evidence, Estimate):
            evidence = Estimate(float(evidence), 0.0, float(evidence), float(evidence))
        self.log_marginal_likelihood_value_ = evidence.value
        self.log_marginal_likelihood_error_ = evidence.error
        self.log_marginal_likelihood_interval_ = (evidence.lower, evidence.upper)

    def _ready_posterior(self) -> Any:
        if self.solver_ == "cg":
            self._posterior.attach(lambda: self._covariance.gram(self.X_train_))
        return self._posterior

    @property
    def L_(self) -> Array:  # noqa: N802 - scikit-learn's name
        """The lower Cholesky factor of the covariance matrix; there is none with "cg"."""
        factor: Array = self._posterior.factor.view()
        factor.setflags(write=False)
        return factor

    def _keep(self, posterior: Posterior | IterativePosterior) -> None:
        flat = self.y_train_.ndim == 1
        self._posterior = posterior
        self.alpha_ = posterior.coef[:, 0] if flat else posterior.coef
        self.basis_coef_ = posterior.basis_coef[:, 0] if flat else posterior.basis_coef

    def _certify(
        self,
        gram: Gram,
        noise: Array,
        found: Found | None,
        seconds: float,
        values: Array | None = None,
    ) -> None:
        """Set the certificate: the gap of the quadratic problem, the gradient of the objective.

        `noise`: all of the diagonal that is not in `gram`. `values`: K a, where it is known.
        """
        violation, status, n_iter, assumes = 0.0, "optimal", 0, None
        if found is None and self.optimizer is not None and len(self.theta_):
            violation, assumes = math.nan, _KEPT
        if found is not None:
            violation = found.violation(
                self.bounds_, lambda: self._value(self._covariance, gradient=True)[1]
            )
            status, n_iter = found.status, found.n_iter
        if not noise.min() > 0.0:  # no finite price of an error: an interpolation
            self.certificate_ = local(
                status, math.nan, violation, n_iter=n_iter, seconds=seconds, assumes=assumes
            )
            return
        coef, basis_coef = self._posterior.coef, self._posterior.basis_coef
        problem = RidgeProblem(gram, self._targets, 1.0 / noise, 1.0, self._basis_values)
        solution = RidgeSolution(coef, basis_coef, self.solver_, n_iter, status, values=values)
        proof = Certificate.combine(certificates(problem, solution, seconds, None))
        if found is not None or assumes is not None:
            proof = replace(
                proof, status=status, kkt_violation=violation, assumes=assumes or proof.assumes
            )
        self.certificate_ = proof

    def partial_fit(self, X: Any, y: Any, alpha: Any = None) -> Self:
        """Append samples in O(n^2) operations each; hyper-parameters and scaling stay.

        The first call is a fit: the hyper-parameters are optimised on its samples alone, so let
        these be representative, or pass a kernel found elsewhere with ``optimizer=None``. After
        later calls the certificate proves the posterior mean of all samples at these
        hyper-parameters: ``assumes`` says that they were kept, and ``kkt_violation``, the slope of
        the evidence, is NaN, since nothing computed it. Call ``fit`` to optimise them again. The
        covariance matrix is factorised anew only where the new samples need jitter.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or objects
            Further training objects.
        y : array-like of shape (n_new,) or (n_new, n_targets)
            Their targets.
        alpha : float or array of shape (n_new,), optional
            Their noise; by default ``alpha``, which must then be a number.

        Returns
        -------
        self : estimator
            The estimator.
        """
        if "X_train_" not in self.__dict__:
            return self.fit(X, y)
        with self._transaction():
            X = self._objects(X)
            y = check_several_targets(self, y, count(X))
            if y.shape[1:] != self.y_train_.shape[1:]:
                raise ValueError(
                    f"the model was fitted on targets of shape (n_samples, "
                    f"{', '.join(map(str, self.y_train_.shape[1:]))}); got shape {y.shape}."
                )
            y = (y - self._y_train_mean) / self._y_train_std
            alpha = self.alpha if alpha is None else alpha
            if np.ndim(alpha) == 1 and len(alpha) != count(X):
                raise ValueError("alpha must be given for the new samples: one number for each.")
            added = np.broadcast_to(np.asarray(alpha, dtype=np.float64), (count(X),))
            if self.solver_ == "cg":
                self._appended_by_iteration(X, y, added)
            else:
                appended(self, X, y, added)
        return self

    def _appended_by_iteration(self, X: Any, y: Array, alpha: Array) -> None:
        """Append checked samples and solve the larger system."""
        self.X_train_ = stacked(self.X_train_, X)
        self.y_train_ = np.concatenate([self.y_train_, y])
        self._noise = np.concatenate([self._noise, alpha])
        self._basis_values = mean_basis(self.basis, self.X_train_)
        self._conclude(self._covariance, None, Run())

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
        """Return the log evidence at hyper-parameters, of the normalised targets.

        Parameters
        ----------
        theta : array-like of shape (p,), default=None
            Logarithms of the hyper-parameters; None: those of ``kernel_``.
        eval_gradient : bool, default=False
            Whether to return the gradient as well.
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
        covariance = self._covariance.with_theta(np.asarray(theta, dtype=np.float64))
        if not clone_kernel:
            self._covariance, self.kernel_ = covariance, covariance.kernel
        try:
            if self.solver_ == "cg":
                estimate, slope, _ = self._objective(covariance, unhurried, None)
                return (estimate, slope()) if eval_gradient else estimate
            at = self._evaluate(covariance)
        except NotDefiniteError:
            return (-np.inf, np.zeros(len(covariance.labels))) if eval_gradient else -np.inf
        value = log_evidence(at, self._targets)
        if not eval_gradient:
            return value
        return value, covariance.contract(self.X_train_, *evidence_gradient(at, self._targets))
