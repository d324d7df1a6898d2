"""Gaussian process regression with inducing points, for many samples."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.gram.shifted import NotDefiniteError
from mercer.kernels import Kernel
from mercer.kernels.resolve import KernelLike
from mercer.objects.parameters import (
    ParameterError,
    declared,
    integer_from,
    numbers,
    optional,
    parameter,
    positive,
    seed,
    truth,
    verbosity,
)
from mercer.run import Run
from mercer.solvers.prove import bounded

from ..progress import running
from ..ridge.proof import convexity_of
from .covariance import SklearnCovariance
from .evidence_interval import evidence_interval
from .inducing_search import InducingSearch, Samples
from .posterior import InducingPosterior
from .predicting import ProcessRegressor, RegressionParameters
from .search import warn_of_bounds

Array = NDArray[np.float64]


@declared
class SparseGaussianProcessRegressor(RegressionParameters, ProcessRegressor):
    r"""Gaussian process regression with inducing points: O(n m^2) operations for m of them.

    The prior is f ~ GP(0, k), the observations are y_i = f(x_i) + noise. The posterior is the best
    one that depends on the samples through the values of f at m inducing points, which are chosen
    among the samples by pivoted Cholesky. Hyper-parameters maximise Titsias' lower bound of the
    log evidence. The certificate is an interval that contains the log evidence itself.

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
    inducing_points_ : objects
        The inducing points.
    inducing_indices_ : array of shape (m,) or None
        Their positions among the samples; None where they were moved.
    alpha_ : array of shape (m,) or (m, n_targets)
        Coefficients of the posterior mean, a function of k(x, z) for the inducing points z.
    expansion_ : Expansion
        The posterior mean, in the units of the targets.
    jitter_ : float
        Jitter added to the diagonal of the covariance of the inducing points. It makes the
        bound smaller, never larger than the log evidence.
    lower_bound_ : float
        Titsias' bound, of the normalised targets.
    certificate_ : Certificate
        ``dual <= log evidence <= primal`` at ``kernel_``, of the normalised targets;
        ``kkt_violation`` is the largest entry of the projected gradient of the bound, with status
        "stationary", because the bound is not concave.

    Notes
    -----
    Memory: n m numbers where they fit, blocks of rows otherwise; the n x n matrix is evaluated in
    tiles for the certificate, by conjugate gradients that stop when their part of the interval is
    small. The training data are not kept.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SparseGaussianProcessRegressor
    >>> X = np.linspace(0.0, 10.0, 200)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=200)
    >>> model = SparseGaussianProcessRegressor(n_inducing=20).fit(X, y)
    >>> model.certificate_.gap < 0.1
    True
    >>> round(model.noise_ ** 0.5, 1)
    0.1
    """

    kernel: KernelLike | None = parameter(
        default=None, kind="Kernel, scikit-learn kernel, str or None"
    )
    """The covariance; see :class:`GaussianProcessRegressor`. None is ``1.0 * RBF()``."""
    n_inducing: int = parameter(integer_from(1), default=100)
    """The largest number of inducing points; fewer are taken where they explain the kernel matrix
    to 12 digits."""
    _: KW_ONLY
    noise: Any = parameter(default="auto", kind='float, "auto" or None')
    """Starting value of a noise variance that is optimised with the kernel. "auto" is a tenth of
    the variance of the targets, and None for kernels that have white noise as a part and for
    scikit-learn's."""
    optimize_inducing: bool = parameter(truth, default=False)
    """Whether to move the inducing points, rows of numbers, to where the bound is largest, after
    the search for hyper-parameters and together with them. Needs a kernel that states its
    derivatives by the rows: RBF, Matern, RationalQuadratic, Exponential, Laplacian, Linear, and
    their sums, products and multiples."""
    random_state: Any = parameter(seed, default=None, kind="int, RandomState or None")
    """Draws starting points, and the parts of many samples that the first search and the choice of
    inducing points look at."""
    bounds: Any = parameter(default=None, kind='None, "fixed" or dict')
    """Bounds for parameters of a mercer kernel; see :class:`GaussianProcessRegressor`."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds for search and certificate; the best point so far is kept."""
    verbose: bool | int = parameter(verbosity, default=False)
    """2 prints a line per evaluation of the bound."""

    # -- the door ---------------------------------------------------------------------------

    @property
    def _asks_for_mercer(self) -> bool:
        return True

    def _check(self) -> None:
        self._check_noise()
        if numbers(self.alpha, "alpha").min() <= 0.0 and self.noise is None:
            raise ParameterError("inducing points need noise: give alpha > 0 or noise.")

    def _check_definiteness(self, kernel: Kernel) -> None:
        if str(kernel.definiteness) == "indefinite":
            raise ParameterError(
                f"{kernel!r} is indefinite: it is no covariance. Use a definite kernel."
            )
        if kernel.definiteness.order not in (0, None):
            raise ParameterError(
                f"{kernel!r} is {kernel.definiteness}: it is a covariance only together with an "
                "unpenalised mean, which sparse processes do not have. Use "
                "GaussianProcessRegressor with a basis."
            )

    def _prior_noise(self) -> float | None:
        return 0.1 if self._noise_is_auto and not self._foreign else super()._prior_noise()

    @property
    def _centres(self) -> Any:
        return self.inducing_points_

    # -- fitting ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Fit hyper-parameters, inducing points and posterior.

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
            if not self._foreign and kernel.pairwise:
                raise ParameterError(
                    "inducing points need objects, not a precomputed matrix: pass the objects and "
                    "a kernel."
                )
            y = self._normalised(y, kernel)
            covariance = self._covariance_of(kernel, self._first_noise(kernel, y))
            if isinstance(covariance, SklearnCovariance):
                covariance.require_counterpart()
            samples = Samples(X, y if y.ndim == 2 else y[:, None], self._checked_alpha(len(y)))
            search = InducingSearch(self, covariance, samples, run)
            try:
                search.run()
            except NotDefiniteError as error:
                raise np.linalg.LinAlgError(f"{error} Try gradually increasing alpha.") from error
            self._conclude(search, y.ndim == 1, run)
        if search.found is not None:
            warn_of_bounds(search.covariance.labels, self.theta_, self.bounds_)
        run.raise_interrupt()
        return self

    def _conclude(self, search: InducingSearch, flat: bool, run: Run) -> None:
        """Keep the posterior with its certificate."""
        covariance, samples, at = search.covariance, search.samples, search.at
        self.kernel_, self._covariance = covariance.kernel, covariance
        self.theta_, self.bounds_ = covariance.theta, covariance.bounds
        self.parameter_names_ = [
            name if i is None else f"{name}[{i}]" for name, i in covariance.labels
        ]
        self.noise_ = float(covariance.noise or 0.0)
        self.jitter_ = float(at.system.jitter)
        self.inducing_points_ = at.system.Z
        self.inducing_indices_ = search.positions
        self._posterior = InducingPosterior(at.system.L, at.system.M, at.coef)
        self.alpha_: Array = at.coef[:, 0] if flat else at.coef
        self.lower_bound_ = float(at.value)
        gram = covariance.gram(samples.X)
        proof = evidence_interval(gram, at, samples.Y, run)
        convexity = convexity_of(gram.kernel, False)
        status, violation, n_iter = search.outcome()
        self.certificate_ = bounded(
            "interrupted" if run.by_keyboard else status,
            proof.upper,
            proof.lower,
            size=proof.size,
            violation=violation,
            rounding=proof.rounding,
            convexity=convexity,
            assumes="psd" if convexity == "not ruled out" else None,
            n_iter=n_iter,
            n_kernel_values=proof.n_iter * len(samples.Y) ** 2,
            seconds=run.seconds,
            n_problems=samples.Y.shape[1],
        )
