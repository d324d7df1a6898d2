"""The posterior of a Gaussian process: mean, variances and covariances at new objects.

With the weights w(x) of the observations, f(x) = w(x)'y, and u = Q R^-T b(x) for the basis B = QR,

    w = u + G (k - C u),      var f(x) = k(x, x) - 2 k'u + u'Cu - r'Gr,    r = k - C u,

which includes the uncertainty of the coefficients of the basis. Without a basis u = 0.

A new sample (x, y) turns the system into a larger one of the same form. With E = B R^-1 and the
projection P = I - E Q' (Q has zero rows for samples that were appended), every row of B'a = 0 is
solved for the first samples, and the matrix P C P' + mu QQ' only gains rows: r and var f(x), above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.numerics.blas import product
from mercer.objects.arrays import PlainState
from mercer.objects.validation import count, take

from .covariance import Covariance
from .evidence import Evaluation

Array = NDArray[np.float64]

_BLOCK = 1024  # objects at a time


@dataclass
class Posterior(PlainState):
    """The data of predictions, as plain arrays.

    `factor`: lower Cholesky factor of the covariance matrix, compressed to the complement of the
    basis. `coef`, `basis_coef`: coefficients (n, m) and (p, m). `Q`, `R`: of the basis of the first
    samples, B = QR, with zero rows for samples that were appended. `E`: B R^-1 of all samples.
    `CQ`: the covariance matrix times Q.
    """

    factor: Array
    coef: Array
    basis_coef: Array
    Q: Array
    R: Array
    E: Array
    CQ: Array

    @classmethod
    def of(cls, at: Evaluation) -> Posterior:
        """Return the posterior of a factorised covariance."""
        over = at.system.shift.complement
        CQ = at.system.multiply(over.Q) if over.size else np.zeros_like(over.Q)
        return cls(at.system.factor, at.coef, at.basis_coef, over.Q, over.R, over.Q, CQ)

    def mean(self, rows: Array, functions: Array | None) -> Array:
        """Return the means (m, outputs) from kernel values (m, n) and basis values (m, p)."""
        values = product(rows, self.coef)
        return values if functions is None else values + functions @ self.basis_coef

    def halves(self, rows: Array, functions: Array | None) -> tuple[Array, Array | None]:
        """Return L^-1 P r as columns, and u as columns."""
        right = rows.T
        lifted = None
        if functions is not None:
            inner = scipy.linalg.solve_triangular(self.R, functions.T, trans="T")
            lifted = self.Q @ inner
            right = right - self.CQ @ inner
            right = right - self.E @ (self.Q.T @ right)
        half = scipy.linalg.solve_triangular(self.factor, right, lower=True, check_finite=False)
        return half, lifted

    def variance(self, prior: Array, rows: Array, functions: Array | None) -> Array:
        """Return the variances, never negative, from k(x, x)."""
        half, lifted = self.halves(rows, functions)
        values = prior - np.einsum("ij,ij->j", half, half)
        if lifted is not None:
            inner = self.Q.T @ lifted
            values -= 2.0 * np.einsum("ij,ji->i", rows, lifted)
            values += np.einsum("ij,ij->j", inner, self.Q.T @ self.CQ @ inner)
        return np.maximum(values, 0.0)

    def covariance(self, prior: Array, rows: Array, functions: Array | None) -> Array:
        """Return the covariance matrix from that of the prior."""
        half, lifted = self.halves(rows, functions)
        values = prior - product(half.T, half)
        if lifted is not None:
            inner = self.Q.T @ lifted
            mixed = rows @ lifted
            values += inner.T @ (self.Q.T @ self.CQ) @ inner - mixed - mixed.T
        return values


@dataclass
class InducingPosterior(PlainState):
    """The posterior of a process with inducing points, as plain arrays; see `inducing_bound`.

    `L`, `M`: lower Cholesky factors of the covariance of the inducing points, and of I + AA'.
    `coef`: coefficients of the mean.
    """

    L: Array
    M: Array
    coef: Array

    def mean(self, rows: Array, functions: Array | None) -> Array:
        """Return the means (n, outputs) from kernel values (n, m)."""
        return product(rows, self.coef)

    def halves(self, rows: Array) -> tuple[Array, Array]:
        """Return L^-1 k as columns, and M^-1 L^-1 k."""
        first = scipy.linalg.solve_triangular(self.L, rows.T, lower=True, check_finite=False)
        return first, scipy.linalg.solve_triangular(self.M, first, lower=True, check_finite=False)

    def variance(self, prior: Array, rows: Array, functions: Array | None) -> Array:
        """Return the variances, never negative, from k(x, x)."""
        known, left = self.halves(rows)
        values = prior - np.einsum("ij,ij->j", known, known) + np.einsum("ij,ij->j", left, left)
        return np.maximum(values, 0.0)

    def covariance(self, prior: Array, rows: Array, functions: Array | None) -> Array:
        """Return the covariance matrix from that of the prior."""
        known, left = self.halves(rows)
        return prior - product(known.T, known) + product(left.T, left)


def predict_in_blocks(
    posterior: Any,
    covariance: Covariance,
    X: Any,
    against: Callable[[Any], Array],
    functions: Array | None,
    *,
    variances: bool,
    noise: bool,
) -> tuple[Array, Array | None]:
    """Return means and variances at `X`, without a matrix of all objects.

    `against`: returns kernel values between objects and those that the posterior is made of.
    """
    total = count(X)
    means, spread = [], []
    for first in range(0, total, _BLOCK):
        chosen = slice(first, min(first + _BLOCK, total))
        block = X if total <= _BLOCK else take(X, chosen)
        rows = against(block)
        values = None if functions is None else functions[chosen]
        means.append(posterior.mean(rows, values))
        if variances:
            spread.append(posterior.variance(covariance.diagonal(block, noise), rows, values))
    return np.concatenate(means), np.concatenate(spread) if variances else None
