"""epsilon-SVR: regression with the epsilon-insensitive loss."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.losses import EpsilonInsensitive, PiecewiseQuadratic, SquaredEpsilonInsensitive
from mercer.objects.parameters import declared, one_of, parameter, positive_or_infinite, real_from
from mercer.solvers import Certificate

from .fitting import fit
from .proving import Fitting
from .regressor import KernelRegressor

_LOSSES = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


@declared
class SVR(KernelRegressor):
    """Support vector regression.

    Minimise over f = sum_j beta_j k(x_j, .) + b

        1/2 |f|^2 + C sum_i s_i max(0, |y_i - f(x_i)| - epsilon_i),

    or the same with squared deviations; s_i are the sample weights. With a kernel that is
    conditionally positive definite of order 2, such as the thin plate spline, f gains an
    unpenalised linear term <a, x>, and is found by an interior point method on the
    whole kernel matrix: for up to a few thousand samples.

    Attributes
    ----------
    poly_coef_ : array of shape (n_problems, n_poly_columns) or (n_problems, 0)
        Coefficients of the linear function in f, which kernels of order 2 such as the thin plate
        spline have beside them and others do not; the shortest ones where the samples leave a
        choice.
    poly_columns_ : array of int of shape (n_poly_columns,)
        The columns of X that the linear function is one of: those that the kernel of order 2 looks
        at.
    C_ : float
        The constant C in use, from ``C`` or ``lam``.

    Examples
    --------
    >>> from mercer import SVR
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit([[0], [1], [2]], [0.0, 1.0, 2.0])
    >>> model.predict([[4]]).round(6)
    array([2.5])

    With a thin plate spline, linear functions are fitted exactly:

    >>> from mercer.kernels import ThinPlate
    >>> X, y = [[0, 0], [1, 0], [0, 1], [2, 3]], [1.0, 3.0, 0.0, 2.0]
    >>> model = SVR(kernel=ThinPlate()).fit(X, y)
    >>> model.poly_coef_.round(6), model.intercept_.round(6), len(model.support_)
    (array([[ 2., -1.]]), array([1.]), 0)
    """

    _: KW_ONLY
    C: float = parameter(positive_or_infinite, default=1.0)
    """Price of a unit of deviation beyond the tube. ``inf`` demands that every training point lies
    in it, and raises :class:`NotSeparableError` where that is impossible."""
    epsilon: float = parameter(real_from(0.0), default=0.1)
    """Half width of the tube; see also ``sample_epsilon`` of :meth:`fit`."""
    loss: str = parameter(one_of(*_LOSSES), default="epsilon_insensitive")
    """Whether the deviation beyond the tube counts linearly or squared."""

    _has_linear_part = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None, sample_epsilon: Any = None) -> Self:
        """Train the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Training objects; for ``kernel="precomputed"`` their square kernel matrix; or their
            `Gram`, whose kernel is then used.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples: weight k is the same as k copies, a weight of 0 or less the same
            as leaving the sample out.
        sample_epsilon : array-like of shape (n_samples,) or (n_samples, 2), default=None
            Half width of the tube of each sample instead of ``epsilon``; two columns (lower,
            upper) make it asymmetric: f(x) - lower <= y <= f(x) + upper costs nothing.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        tubes = None if sample_epsilon is None else _check_tubes(sample_epsilon, y)
        fit(self, X, y, sample_weight, tubes)
        return self

    def certify(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        sample_epsilon: Any = None,
        *,
        rigorous: bool = False,
    ) -> Certificate:
        """Return the proof of the model in float64, from its training data.

        Parameters
        ----------
        X, y, sample_weight, sample_epsilon : array-like
            What ``fit`` was called with.
        rigorous : bool, default=False
            False: ``rounding`` is an estimate. True: it is a guaranteed bound, so that dual <=
            optimum <= primal is a theorem about floating-point numbers. The evaluation of the
            kernel is followed instruction by instruction, on all pairs of training rows. Matrices
            and functions of your own, and images under maps, are taken for exact. Where a step has
            no proven bound (values read from a table, kernels written in Python),
            ``rounding_basis`` of the certificate names it, and the certificate is not called
            guaranteed.

        Returns
        -------
        Certificate
            Primal and dual value and violation, computed from the model alone.
        """
        return Certificate.combine(self._certify(X, y, sample_weight, sample_epsilon, rigorous))

    def _loss(self, extra: NDArray[Any] | None = None) -> PiecewiseQuadratic:
        return _LOSSES[self.loss](float(self.epsilon) if extra is None else extra)

    def _keep_more(self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None) -> None:
        super()._keep_more(fitting, rows, y)
        epsilon = fitting.tasks[0].problem.loss.epsilon  # type: ignore[attr-defined]
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
