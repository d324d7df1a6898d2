"""Base class of the regressors: real targets, one problem, and f itself as the prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array
from mercer.objects.parameters import explaining

from ..conventions import RegressorMixin
from ..input_validation import check_targets
from .base import KernelMachine
from .multiclass import Scheme, Single
from .proving import Fitting
from .training_record import PointStatus

_WITHOUT_SPREAD = dict.fromkeys(
    ("return_std", "return_cov"),
    "a support vector machine predicts values without standard deviations. "
    "GaussianProcessRegressor and SparseGaussianProcessRegressor return them, and KernelRidge "
    "has predict_interval.",
)


class KernelRegressor(RegressorMixin, KernelMachine):
    """Base class of the regressors.

    A subclass declares its parameters and says which problem is solved (`_loss`, or `_problem`);
    `_refit_parameters` where ``lam`` or nu depend on the number of rows.

    Attributes
    ----------
    dual_coef_ : array of shape (1, n_support)
        Signed coefficients, positive where the target lies above the tube.
    intercept_ : array of shape (1,)
        The intercept.
    """

    _places = PointStatus.INSIDE_TUBE, PointStatus.OUTSIDE_TUBE

    n_iter_: int
    _support_target: Array

    @explaining(_WITHOUT_SPREAD)
    def predict(self, X: Any) -> Array:
        """Return the values of the regression function.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or objects
            Objects, of the kind that the machine was trained on.

        Returns
        -------
        array of shape (n_samples,)
        """
        X = self._objects(X)
        return self.expansion_.evaluate(X, self.n_jobs)

    def _check_target(self, y: Any, n_samples: int) -> Array:
        return check_targets(self, y, n_samples)

    def _pose(
        self, y: NDArray[Any] | None, weight: Array | None, n: int, *, fitting: bool
    ) -> tuple[Scheme, Array]:
        assert y is not None
        return Single(y), np.ones(n) if weight is None else weight

    def _keep_more(self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None) -> None:
        assert y is not None
        self._support_target = y[rows]

    def _refit_data(self) -> tuple[Any, ...]:
        return self._support_target, self._support_weight
