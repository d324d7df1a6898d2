"""epsilon-SVR: regression that forgives deviations up to epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.losses import EpsilonInsensitive, SquaredEpsilonInsensitive
from mercer.machines import conclusion
from mercer.machines.formulation import LossFormulation
from mercer.machines.hard_formulation import HardTube
from mercer.machines.parameters import (
    check_choice,
    check_non_negative,
    check_positive,
    cost_constant,
)
from mercer.machines.proving import Fitting
from mercer.machines.regressor import KernelRegressor
from mercer.solvers import Certificate

_LOSSES = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


class SVR(KernelRegressor):
    """Support vector regression.

    Minimise over f = sum_j beta_j k(x_j, .) + b

        1/2 |f|^2 + C sum_i s_i max(0, |y_i - f(x_i)| - epsilon_i),

    or the same with squared deviations; s_i are the sample weights.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a kernel of
        `mercer.kernels`, or a function of two collections of objects.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        Width of a named kernel. "scale" is 1 / (n_features * variance of X), weighted.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    tol : float, default=1e-3
        Largest violation of the optimality conditions that is accepted.
    C : float, default=1.0
        Price of a unit of deviation beyond the tube. ``inf`` demands that every training point
        lies in it, and raises :class:`NotSeparableError` where that is impossible.
    epsilon : float, default=0.1
        Half width of the tube; see also ``sample_epsilon`` of :meth:`fit`.
    shrinking : bool, default=True
        Whether the solver sets variables aside that will stay at their bounds.
    cache_size : float, default=200
        Megabytes for kernel values.
    verbose : bool or int, default=False
        1 shows a progress bar, 2 prints a line per report of the solver.
    max_iter : int, default=-1
        Limit on pair updates, -1 for none.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Whether the deviation beyond the tube counts linearly or squared.
    fit_intercept : bool, default=True
        Whether f has an intercept b.
    lam : float, default=None
        The constant as lam = 1 / (2 C W), W the sum of the weights; replaces ``C``.
    gap_tol : float, default=None
        Stop when the relative duality gap is this small, instead of by ``tol``.
    time_limit : float, default=None
        Seconds after which the best model so far is returned.
    warm_start : bool, default=False
        Whether a new fit on as many samples starts from the previous solution.
    n_jobs : int, default=None
        Threads; None for all cores that the process may use.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of kernel values.

    Attributes
    ----------
    support_, support_vectors_, n_support_ : array
        Training rows with a coefficient other than 0, and their number.
    dual_coef_ : array of shape (1, n_support)
        Signed coefficients, positive where the target lies above the tube.
    intercept_ : array of shape (1,)
        The intercept.
    coef_ : array of shape (1, n_features)
        The weight vector, for the linear kernel.
    kernel_ : Kernel
        The kernel with all parameters resolved.
    certificate_ : Certificate
        The proof of the fit.
    margin_, slack_, point_status_, alpha_, free_support_, bounded_support_ : float or array
        Geometry of the training points; see :class:`mercer.machines.fitted.FittedAttributes`.
    intercept_range_ : array of shape (2,)
        The interval of optimal intercepts.
    n_iter_ : int
        Pair updates.
    fit_status_ : int
        0 if the tolerance was reached, 1 otherwise.
    C_ : float
        The constant C in use, from ``C`` or ``lam``.

    Examples
    --------
    >>> from mercer import SVR
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit([[0], [1], [2]], [0.0, 1.0, 2.0])
    >>> model.predict([[4]]).round(6)
    array([2.5])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        lam: float | None = None,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        dtype: str = "auto",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.lam = lam
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.dtype = dtype

    def fit(self, X: Any, y: Any, sample_weight: Any = None, sample_epsilon: Any = None) -> SVR:
        """Train the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Training objects; for ``kernel="precomputed"`` their square kernel matrix.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples: weight k is the same as k copies, a weight of 0 or less the
            same as leaving the sample out.
        sample_epsilon : array-like of shape (n_samples,) or (n_samples, 2), default=None
            Half width of the tube of each sample instead of ``epsilon``; two columns (lower,
            upper) make it asymmetric: f(x) - lower <= y <= f(x) + upper costs nothing.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        conclusion.conclude(self, self._fit(X, y, sample_weight, sample_epsilon))
        return self

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, sample_epsilon: Any = None
    ) -> Certificate:
        """Return the proof of the model in float64, from its training data.

        Parameters
        ----------
        X, y, sample_weight, sample_epsilon : array-like
            What ``fit`` was called with.

        Returns
        -------
        Certificate
            Primal and dual value and violation, computed from the model alone.
        """
        return Certificate.combine(self._certify(X, y, sample_weight, sample_epsilon))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("C", self.C, infinite=True)
        check_non_negative("epsilon", self.epsilon)
        check_choice("loss", self.loss, tuple(_LOSSES))

    def _formulation(
        self, total_weight: float, kept: NDArray[np.intp] | None, extra: Any, *, fitting: bool
    ) -> LossFormulation:
        if fitting:
            self.C_ = cost_constant(self.C, self.lam, total_weight)
        epsilon: Any = float(self.epsilon)
        if extra is not None:
            epsilon = np.asarray(extra, dtype=np.float64)
            epsilon = epsilon if kept is None else epsilon[kept]
        kind = HardTube if np.inf == self.C_ else LossFormulation
        return kind(_LOSSES[self.loss](epsilon), self.C_, bool(self.fit_intercept))

    def _fit(self, X: Any, y: Any, sample_weight: Any, extra: Any = None) -> Fitting:
        if extra is not None:
            extra = _check_tubes(extra, y)
        return super()._fit(X, y, sample_weight, extra)

    def _keep_outcomes(
        self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None
    ) -> None:
        super()._keep_outcomes(fitting, rows, y)
        epsilon = fitting.formulation.loss.epsilon  # type: ignore[attr-defined]
        self._support_epsilon = None if epsilon.ndim == 0 else epsilon[rows]

    def _refit_parameters(self) -> dict[str, Any]:
        return {"C": self.C_, "lam": None}

    def _refit_data(self) -> tuple[Any, ...]:
        return self._support_target, self._support_weight, self._support_epsilon


def _check_tubes(sample_epsilon: Any, y: Any) -> NDArray[np.float64]:
    try:
        tubes = np.asarray(sample_epsilon, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_epsilon must be an array of numbers.") from None
    n = len(y) if hasattr(y, "__len__") else -1
    if tubes.shape not in ((n,), (n, 2)):
        raise ValueError(
            f"sample_epsilon must have shape ({n},) or ({n}, 2), one tube for each sample; got "
            f"shape {tubes.shape}."
        )
    if not (np.isfinite(tubes).all() and (tubes >= 0.0).all()):
        raise ValueError("sample_epsilon must be finite and at least 0.")
    return tubes
