"""Jackknife+ prediction intervals of ridge regression, in closed form.

With the leave-one-out residuals e_i = y_i - f_-i(x_i) = a_i / G_ii, where G maps y to a, and the
weights w(x) with f(x) = w(x)'y, the function without sample i is

    f_-i(x) = f(x) - w_i(x) e_i,

because replacing y_i by f_-i(x_i) leaves it as it is. The interval of level 1 - a reaches from the
floor(a (n + 1))-th smallest f_-i(x) - |e_i| to the ceil((1 - a)(n + 1))-th smallest
f_-i(x) + |e_i|: R. Barber, E. Candes, A. Ramdas, R. Tibshirani, "Predictive inference with the
jackknife+", Annals of Statistics 49, 2021. It covers a new target with probability >= 1 - 2 a.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram import Gram, Prepared
from mercer.gram.shifted import Factorised
from mercer.objects.validation import count, take

Array = NDArray[np.float64]

_BLOCK = 256  # objects at a time


class LeaveOneOut:
    """The functions f_-i of a ridge regression with one target.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the training objects.
    noise : array of shape (n,)
        The diagonal N.
    basis : array of shape (n, p) or None
        Unpenalised functions.
    Y : array of shape (n, m)
        Targets.
    """

    def __init__(self, gram: Gram, noise: Array, basis: Array | None, Y: Array) -> None:
        system = gram.shifted(noise, basis, "cholesky", refined=False)
        assert isinstance(system, Factorised)
        self.system = system
        self.coef, self.basis_coef = system.solve(Y)
        self.residual = self.coef / system.inverse_diagonal()[:, None]

    def weights(self, rows: Array, functions: Array | None) -> Array:
        """Return w(x) as columns, from kernel values (m, n) and values of the basis (m, p)."""
        system, over = self.system, self.system.shift.complement
        right = rows.T
        if over.size:
            assert functions is not None
            # G (k - C B+' b) + B+' b, with B+' = Q R^-T.
            lifted = over.Q @ scipy.linalg.solve_triangular(over.R, functions.T, trans="T")
            return system.solve(right - system.multiply(lifted))[0] + lifted
        return system.solve(right)[0]


def jackknife_plus(
    model: LeaveOneOut, prepared: Prepared, X: Any, level: float, intercept: bool
) -> tuple[Array, Array]:
    """Return lower and upper ends, of shape (m, n_targets).

    `model`: the functions f_-i. `prepared`: the training objects. `X`: validated objects. `level`:
    1 - a. `intercept`: whether the basis is a column of ones.
    """
    n, m = model.coef.shape
    a = 1.0 - level
    low_rank = math.floor(a * (n + 1) + 1e-12)
    high_rank = math.ceil((1.0 - a) * (n + 1) - 1e-12)
    total = count(X)
    low, high = np.full((total, m), -np.inf), np.full((total, m), np.inf)
    for first in range(0, total, _BLOCK):
        chosen = slice(first, min(first + _BLOCK, total))
        rows = prepared.tile(take(X, chosen))
        ones = np.ones((len(rows), 1)) if intercept else None
        weights = model.weights(rows, ones)
        values = rows @ model.coef
        if intercept:
            values += model.basis_coef
        for t in range(m):
            e = model.residual[:, t, None]
            without = values[:, t] - weights * e
            if low_rank >= 1:
                ends = without - np.abs(e)
                low[chosen, t] = np.partition(ends, low_rank - 1, axis=0)[low_rank - 1]
            if high_rank <= n:
                ends = without + np.abs(e)
                high[chosen, t] = np.partition(ends, high_rank - 1, axis=0)[high_rank - 1]
    return low, high
