"""nu-SVC: classification with nu, a bound on the fraction of margin errors, in place of C."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.numerics.sums import exact_sum
from mercer.objects.arrays import Array
from mercer.objects.parameters import declared, fraction, parameter
from mercer.solvers import Problem
from mercer.solvers.margin import Margin
from mercer.solvers.problem import margin_problem

from ..errors import InfeasibleNuError
from .base import refuse_lam
from .classifier import KernelClassifier
from .proving import Fitting


@declared
class NuSVC(KernelClassifier):
    """Support vector classifier that chooses its margin by a fraction nu.

    Two classes, y = -1 or +1: minimise over f = sum_j beta_j k(x_j, .) + b and rho

        1/2 |f|^2 - nu W rho + sum_i s_i max(0, rho - y_i f(x_i)),

    with s_i the product of sample weight and class weight and W their sum. At the optimum, at
    most the fraction nu of the weight lies inside the margin and at least nu belongs to support
    vectors. The decision function is f / rho: its margin lies at -1 and +1, and it is that of
    :class:`SVC` with C = 1 / rho.

    nu can be at most 2 min(W+, W-) / W with the weights of the two classes; a larger value raises
    a ValueError that states this limit.

    Attributes
    ----------
    rho_ : float or array
        The margin of the unscaled machine, for each binary problem.
    nu_ : float
        The fraction, ``nu``.
    equivalent_C_ : float or array
        1 / rho, the C with which :class:`SVC` gives the same decision function.

    Examples
    --------
    >>> from mercer import NuSVC
    >>> X, y = [[-2, -1], [-1, -1], [1, 1], [2, 1]], [0, 0, 1, 1]
    >>> NuSVC(nu=0.5, kernel="linear").fit(X, y).predict([[-0.5, -1.0]]).tolist()
    [0]
    """

    _: KW_ONLY
    nu: float = parameter(fraction, default=0.5)
    """The fraction, in (0, 1]."""
    tol: float = parameter(default=1e-3)
    """Largest violation of the optimality conditions that is accepted; it is lowered where rho, by
    which the model is divided, is not large beside it."""
    lam: float | None = parameter(refuse_lam, default=None, kind="None")
    """Has no meaning here: nu sets the trade-off. Accepted as None only."""

    _divided_by_margin = True

    _lowers_nu = False
    """Whether a nu that is infeasible is lowered to the largest feasible one, pair by pair."""

    def _problem(
        self, y: Array, weight: Array, rows: Any = None, name: Any = None, extra: Any = None
    ) -> Problem:
        """Return the dual: minimise 1/2 beta' K beta with 0 <= y_i beta_i <= s_i.

        The beta_i of either class sum to +- nu W / 2. The multipliers m+ and m- of the two sums
        give rho = (m+ - m-) / 2 and b = -(m+ + m-) / 2. Without an intercept there is one sum,
        nu W, over the y_i beta_i; its multiplier is rho.
        """
        nu, intercept = float(self.nu), bool(self.fit_intercept)
        total, plus = exact_sum(weight), exact_sum(weight[y > 0.0])
        largest = 2.0 * min(plus, total - plus) / total
        if intercept and nu > largest * (1.0 + 1e-12):
            if not self._lowers_nu:
                raise InfeasibleNuError(nu, largest, name if name is not None else (-1, 1))
            nu = largest
        return margin_problem(y, weight, nu * total, intercept, Margin(), rows, name)

    def _keep_more(self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None) -> None:
        self.rho_: float | Array = self._per_problem(np.array(fitting.widths()))
        self._support_share = fitting.support_share(rows)

    def _one_class_message(self, weighted: bool) -> str:
        return f"{super()._one_class_message(weighted)} The specified nu is infeasible."

    @property
    def nu_(self) -> float:
        """The fraction nu."""
        self._fitted("rho_")
        return float(self.nu)

    @property
    def equivalent_C_(self) -> float | NDArray[np.float64]:  # noqa: N802 - C is the name of the constant
        """1 / rho: the C with which :class:`SVC` gives the same decision function."""
        with np.errstate(divide="ignore"):
            return self._per_problem(1.0 / np.atleast_1d(self._fitted("rho_")))

    def _refit_parameters(self) -> dict[str, Any]:
        if len(self.classes_) > 2:
            raise ValueError(
                "the support vectors of each pair of classes have another share of the weight, so "
                "no single nu gives the same machines on them; refit binary machines."
            )
        # The sums of the coefficients, nu W / 2, must not change.
        weights = dict(zip(self.classes_.tolist(), self.class_weight_.tolist(), strict=True))
        return {"nu": min(1.0, float(self.nu) * self._support_share), "class_weight": weights}
