"""C-SVC: the soft-margin and the hard-margin classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.losses import CombinedHinge, Hinge, PiecewiseQuadratic, SquaredHinge
from mercer.objects.parameters import (
    ParameterError,
    declared,
    one_of,
    optional,
    parameter,
    positive,
    positive_or_infinite,
)

from .classifier import KernelClassifier
from .proving import Fitting


@declared
class SVC(KernelClassifier):
    """Support vector classifier.

    Two classes, y = -1 or +1: minimise over f = sum_j beta_j k(x_j, .) + b

        1/2 |f|^2 + C sum_i s_i max(0, 1 - y_i f(x_i)),

    with s_i the product of sample weight and class weight. More classes are put together from
    binary machines that share one kernel matrix. With a kernel that is conditionally positive
    definite of order 2, such as the thin plate spline, f gains an unpenalised linear term
    <a, x>; it takes a finite ``C`` and up to a few thousand samples.

    Attributes
    ----------
    poly_coef_ : array of shape (n_problems, n_poly_columns) or (n_problems, 0)
        Coefficients of the linear function in f, which kernels of order 2 such as the thin plate
        spline have beside them and others do not; the shortest ones where the samples leave a
        choice.
    poly_columns_ : array of int of shape (n_poly_columns,)
        The columns of X that the linear function is one of: those that the kernel of order 2 looks
        at.
    nu_ : float or array
        The nu for which :class:`NuSVC` gives the same machine (``penalty_norm=1``).
    C_ : float
        The constant C in use, from ``C`` or ``lam``.

    Examples
    --------
    >>> from mercer import SVC
    >>> X, y = [[-2, -1], [-1, -1], [1, 1], [2, 1]], [0, 0, 1, 1]
    >>> model = SVC(kernel="linear").fit(X, y)
    >>> model.predict([[-0.5, -1.0]]).tolist()
    [0]
    >>> model.certificate_.status
    'optimal'
    """

    _: KW_ONLY
    C: float = parameter(positive_or_infinite, default=1.0)
    """Price of a unit of slack. ``inf`` demands that every training point lies outside the margin
    (hard margin), and raises :class:`NotSeparableError` where that is impossible."""
    penalty_norm: int = parameter(one_of(1, 2), default=1)
    """Power of the slack: 1 is a box for the coefficients, 2 a weighted diagonal (C sum_i s_i
    max(0, 1 - y_i f(x_i))^2)."""
    C2: float | None = parameter(optional(positive), default=None)
    """Price of a squared unit of slack in addition to that of ``C``: sum_i s_i (C xi_i + C2
    xi_i^2)."""

    _has_linear_part = True

    def _check(self) -> None:
        super()._check()
        if self.C2 is not None and (self.penalty_norm == 2 or not np.isfinite(self.C)):
            raise ParameterError(
                "C2 adds a squared slack to the linear one; it needs penalty_norm=1 and a finite C."
            )

    def _loss(self, extra: NDArray[Any] | None = None) -> PiecewiseQuadratic:
        if self.C2 is not None:
            return CombinedHinge(float(self.C2) / self.C_)
        if self.penalty_norm == 2:
            return SquaredHinge()
        return Hinge()

    def _keep_more(self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None) -> None:
        self._task_weights = fitting.scheme.task_weights(fitting.weight)

    @property
    def nu_(self) -> float | NDArray[np.float64]:
        """The nu with which :class:`NuSVC` gives the same machine: sum_i alpha_i / (C W)."""
        weights = self._fitted("_task_weights")
        if self.penalty_norm != 1 or self.C2 is not None or not np.isfinite(self.C_):
            raise AttributeError("nu_ is defined for a linear price of the slack and a finite C.")
        return self._per_problem(np.abs(self._problem_coef()).sum(axis=1) / (weights * self.C_))

    def _refit_parameters(self) -> dict[str, Any]:
        weights = dict(zip(self.classes_.tolist(), self.class_weight_.tolist(), strict=True))
        return {"C": self.C_, "lam": None, "class_weight": weights}
