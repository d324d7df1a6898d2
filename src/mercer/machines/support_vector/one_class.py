"""The one-class machine, which estimates the support of a distribution."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.numerics.sums import exact_sum
from mercer.objects.arrays import Array
from mercer.objects.parameters import ParameterError, declared, fraction, parameter
from mercer.solvers import Problem
from mercer.solvers.problem import one_sided

from ..conventions import OutlierMixin
from .base import KernelMachine, refuse_lam
from .fitting import fit
from .multiclass import Scheme, Single
from .proving import Fitting
from .training_record import PointStatus

NO_VALUE = 1e-13
"""A decision value this small relative to the values that the coefficients allow is 0."""


@declared
class OneClassSVM(OutlierMixin, KernelMachine):
    """Support vector novelty detection.

    Minimise over f = sum_j beta_j k(x_j, .) and rho

        1/2 |f|^2 - nu W rho + sum_i s_i max(0, rho - f(x_i)),

    with s_i the sample weights and W their sum. At the optimum, at most the fraction nu of the
    weight lies where f < rho (outliers) and at least nu belongs to support vectors.

    Attributes
    ----------
    dual_coef_ : array of shape (1, n_support)
        Coefficients, all positive.
    intercept_ : array of shape (1,)
        Minus the threshold, -rho.
    offset_ : array of shape (1,)
        The threshold rho, with the shape that scikit-learn gives it:
        ``decision_function = score_samples - offset_``.
    rho_ : float
        The same threshold.
    nu_ : float
        The fraction, ``nu``.
    equivalent_C_ : float
        1 / rho, the price of a unit of slack after f has been divided by rho.

    Examples
    --------
    >>> from mercer import OneClassSVM
    >>> model = OneClassSVM(gamma="auto").fit([[0], [0.44], [0.45], [0.46], [1]])
    >>> model.predict([[0], [0.44], [0.45], [0.46], [1]]).tolist()
    [-1, 1, 1, 1, -1]
    """

    _: KW_ONLY
    nu: float = parameter(fraction, default=0.5)
    """The fraction, in (0, 1]."""
    fit_intercept: bool = parameter(default=True)
    """Accepted as True only: without the threshold rho, f = 0 would be the solution."""
    lam: float | None = parameter(refuse_lam, default=None, kind="None")
    """Has no meaning here: nu sets the trade-off. Accepted as None only."""

    _places = PointStatus.INLIER, PointStatus.OUTLIER

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Training objects; for ``kernel="precomputed"`` their square kernel matrix; or their
            `Gram`, whose kernel is then used.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples: weight k is the same as k copies, a weight of 0 or less the same
            as leaving the sample out.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self.n_iter_: int
        fit(self, X, None, sample_weight)
        return self

    def score_samples(self, X: Any) -> Array:
        """Return f(x), which is large where the training data are dense, of shape (n_samples,)."""
        return self.decision_function(X) + self.offset_

    def decision_function(self, X: Any) -> Array:
        """Return f(x) - rho, which is negative for outliers.

        Support vectors on the boundary have f(x) = rho. A difference that is only rounding is
        returned as 0, so that their label does not depend on the order of a summation.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Objects, of the kind that the machine was trained on.

        Returns
        -------
        array of shape (n_samples,)
        """
        X = self._objects(X)
        values = self.expansion_.evaluate(X, self.n_jobs)
        values[np.abs(values) <= NO_VALUE * self._size()] = 0.0
        return values

    def _size(self) -> float:
        """Return the bound of |f(x)| on the training data, relative to which f(x) rounds."""
        return float(np.abs(self._dense_coef()).sum()) * abs(self._largest)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return +1 for inliers and -1 for outliers, whose decision value is negative."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1).astype(np.intp)

    @property
    def nu_(self) -> float:
        """The fraction nu."""
        self._fitted("rho_")
        return float(self.nu)

    @property
    def equivalent_C_(self) -> float:  # noqa: N802 - C is the name of the constant
        """1 / rho: the price of slack when the threshold is scaled to 1."""
        rho = self._fitted("rho_")
        return 1.0 / rho if rho > 0.0 else float("inf")

    @property
    def margin_(self) -> float:
        """The distance rho / |f| of the hyperplane f = rho from the origin of feature space."""
        norm = float(np.sqrt(self._fitted("_squared_norms")[0]))
        return self.rho_ / norm if norm > 0.0 else float("inf")

    @property
    def _sums_to_zero(self) -> bool:
        """No: the coefficients are not negative and sum to nu W."""
        return False

    def _check(self) -> None:
        if not self.fit_intercept:
            raise ParameterError(
                "OneClassSVM needs its threshold rho: without it f = 0 is the solution. Leave "
                "fit_intercept=True."
            )

    def _check_target(self, y: Any, n_samples: int) -> None:
        return None

    def _pose(
        self, y: NDArray[Any] | None, weight: Array | None, n: int, *, fitting: bool
    ) -> tuple[Scheme, Array]:
        ones = np.ones(n)
        return Single(ones), ones if weight is None else weight

    def _problem(
        self, y: Array, weight: Array, rows: Any = None, name: Any = None, extra: Any = None
    ) -> Problem:
        """Return the dual: minimise 1/2 beta' K beta, 0 <= beta_i <= s_i, sum_i beta_i = nu W.

        The multiplier of the sum is rho.
        """
        total, ones = float(self.nu) * exact_sum(weight), np.ones(len(weight))
        return one_sided(0.0 * ones, ones, weight, total, rows, name)

    def _keep_more(self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None) -> None:
        (self.rho_,) = fitting.widths()
        self.offset_ = np.array([self.rho_])  # an array, as in scikit-learn
        self._support_share = fitting.support_share(rows)

    def _refit_parameters(self) -> dict[str, Any]:
        # The sum of the coefficients, nu W, must not change.
        return {"nu": min(1.0, float(self.nu) * self._support_share)}

    def _refit_data(self) -> tuple[Any, ...]:
        return None, self._support_weight
