"""nu-SVR: regression with nu, a bound on the fraction of points outside the tube."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.numerics.sums import exact_sum
from mercer.objects.arrays import Array
from mercer.objects.parameters import declared, fraction, parameter, positive
from mercer.solvers import Problem
from mercer.solvers.problem import one_sided

from .proving import Fitting
from .regressor import KernelRegressor


@declared
class NuSVR(KernelRegressor):
    """Support vector regression that chooses its tube by a fraction nu.

    Minimise over f = sum_j beta_j k(x_j, .) + b and epsilon >= 0

        1/2 |f|^2 + C (nu W epsilon + sum_i s_i max(0, |y_i - f(x_i)| - epsilon)),

    with s_i the sample weights and W their sum. Where the tube found has a positive width, at
    most the fraction nu of the weight lies outside it and at least nu belongs to support vectors.

    Attributes
    ----------
    epsilon_ : float
        Half width of the tube that was found.
    nu_ : float
        The fraction, ``nu``.
    equivalent_C_ : float
        The C with which :class:`SVR` with ``epsilon=epsilon_`` gives the same function: C itself.
    C_ : float
        The constant C in use, from ``C`` or ``lam``.

    Examples
    --------
    >>> from mercer import NuSVR
    >>> model = NuSVR(kernel="linear", C=10.0, nu=0.5).fit([[0], [1], [2]], [0.0, 1.0, 2.0])
    >>> model.predict([[4]]).round(6)
    array([4.])
    """

    _: KW_ONLY
    nu: float = parameter(fraction, default=0.5)
    """The fraction, in (0, 1]."""
    C: float = parameter(positive, default=1.0)
    """Price of a unit of deviation beyond the tube."""

    def _problem(
        self, y: Array, weight: Array, rows: Any = None, name: Any = None, extra: Any = None
    ) -> Problem:
        """Return the dual in doubled variables, alpha_i in [0, C s_i] and -alpha*_i in [-C s_i, 0].

        Each has the linear cost -y_i; either half sums to +- C nu W / 2. The multipliers m0 and m1
        of the sums give b = -(m0 + m1) / 2 and epsilon = (m1 - m0) / 2. Without an intercept there
        is one sum, C nu W, over both halves as positive variables; its multiplier is -epsilon.
        """
        n, total = len(y), self.C_ * float(self.nu) * exact_sum(weight)
        twice = np.tile(np.arange(n) if rows is None else rows, 2)
        side, c, y = np.repeat([1.0, -1.0], n), np.tile(self.C_ * weight, 2), np.tile(y, 2)
        if self.fit_intercept:
            return one_sided(y, side, c, total, twice, name, groups=True)
        return one_sided(side * y, np.ones(2 * n), c, total, twice, name, sign=side)

    def _keep_more(self, fitting: Fitting, rows: NDArray[np.intp], y: NDArray[Any] | None) -> None:
        super()._keep_more(fitting, rows, y)
        self.epsilon_ = abs(fitting.widths()[0])
        self._support_share = fitting.support_share(rows)

    @property
    def nu_(self) -> float:
        """The fraction nu."""
        self._fitted("epsilon_")
        return float(self.nu)

    @property
    def equivalent_C_(self) -> float:  # noqa: N802 - C is the name of the constant
        """The C of the :class:`SVR` with ``epsilon=epsilon_`` that is the same function."""
        return float(self._fitted("C_"))

    def _refit_parameters(self) -> dict[str, Any]:
        # The sum of the coefficients, C nu W, must not change.
        return {"C": self.C_, "lam": None, "nu": min(1.0, float(self.nu) * self._support_share)}
