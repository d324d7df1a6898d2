"""The problem of kernel ridge regression, as plain data.

    minimise over f = sum_j a_j k(x_j, .) + b     1/2 |f|^2 + C sum_i s_i (y_i - f(x_i))^2,

with C = 1 / (2 alpha) and sample weights s_i. Divided by C it is the form of the textbooks,
alpha |f|^2 + sum_i s_i (y_i - f(x_i))^2. Its solution satisfies

    (K + N) a + b 1 = y,   N_i = alpha / s_i   [1'a = 0 with an intercept],

so N_i is the variance of Gaussian noise for which f is the mean of a Gaussian process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RidgeProblem:
    """One or several targets with a common penalty.

    `gram`: the kernel matrix, in float64. `Y`: targets. `weight`: sample weights, all positive.
    `alpha`: the penalty, >= 0; 0 selects the solution of smallest norm. `basis`: values of the
    functions that are not penalised: a column of ones for an intercept.
    """

    gram: Any
    Y: Array
    weight: Array
    alpha: float
    basis: Array | None

    @property
    def noise(self) -> Array:
        """The diagonal N."""
        return self.alpha / self.weight


@dataclass(frozen=True)
class RidgeSolution:
    """Coefficients and how they were found.

    `coef`: the coefficients a. `basis_coef`: those of the unpenalised functions. `solver`: the
    method used. `n_iter`: its iterations; 0 for a direct method. `status`: "optimal", unless a
    limit was met: see :class:`mercer.solvers.Certificate`. `definite`: whether the shifted matrix
    turned out to be positive definite. `values`: K a in float64, where the solver has computed it
    from the coefficients.
    """

    coef: Array
    basis_coef: Array
    solver: str
    n_iter: int = 0
    status: str = "optimal"
    definite: bool = True
    values: Array | None = None
