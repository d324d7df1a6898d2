"""A Gaussian process of many samples by conjugate gradients on tiles, without its n x n matrix.

With C = K + N and s random vectors z of covariance P, the preconditioner,

    log det C   by stochastic Lanczos quadrature (:mod:`mercer.numerics.lanczos_quadrature`),
    C^-1        for the gradient, as P^-1 plus the mean of (C^-1 - P^-1) z (P^-1 z)',
    k'C^-1 k    for the variances, to a gap that conjugate gradients bound,

all from products with the matrix. A mean basis B adds log det B'C^-1 B - log det B'B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.gram.shifted import Iterative, NotDefiniteError
from mercer.numerics.blas import product
from mercer.numerics.lanczos_quadrature import Estimate
from mercer.objects.arrays import PlainState
from mercer.objects.validation import take

from .covariance import Covariance
from .evidence_interval import quadratic_form

Array = NDArray[np.float64]

VARIANCE_ERROR = 1e-6
"""By how much, in units of k(x, x), a variance may be too large."""

_PROBES = 10
_BYTES = 32 << 20  # of a block of weights
_COLUMNS = 128  # systems that are solved at once for variances


@dataclass(frozen=True)
class IterativeEvaluation:
    """The evidence of a process at some hyper-parameters, with the error of its estimate.

    `gram`, `system`: the kernel matrix, and the shifted one. `coef`, `basis_coef`: coefficients (n,
    m) and (p, m). `functions`: C^-1 B. `inner`: B'C^-1 B. `probes`: C^-1 z and P^-1 z as columns.
    `logdet`: of log det C, with a basis of its restriction. `targets`: y without what the basis
    explains, so that C a = targets.
    """

    gram: Gram
    system: Iterative
    coef: Array
    basis_coef: Array
    functions: Array
    inner: Array
    probes: tuple[Array, Array]
    logdet: Estimate
    targets: Array

    @cached_property
    def values(self) -> Array:
        """K a, for the evidence and for the certificate."""
        return np.asarray(self.gram.matmul(self.coef))


def evaluate_by_iteration(
    covariance: Covariance,
    X: Any,
    Y: Array,
    alpha: Array,
    basis: Array | None,
    *,
    seed: int,
    tol: float,
) -> IterativeEvaluation:
    """Return coefficients and the estimate of the log-determinant."""
    gram = covariance.gram(X)
    noise = alpha + covariance.white(X) + (covariance.noise or 0.0)
    system = gram.shifted(noise, None, "cg", tol=tol)
    assert isinstance(system, Iterative)
    P = system.preconditioner
    if not P.definite:
        raise NotDefiniteError(f"the covariance matrix of {covariance.kernel!r} is not definite.")
    m = Y.shape[1]
    B = np.zeros((len(Y), 0)) if basis is None else basis
    Z = P.draw(np.random.default_rng(seed), _PROBES)
    S, CZ, logdet = system.solve_with_probes(np.hstack([Y, B]), Z, tol)
    A, F = S[:, :m], S[:, m:]
    coefficients, M = np.zeros((0, m)), np.zeros((0, 0))
    if basis is not None:
        state = system.last
        assert state is not None
        k = m + B.shape[1]
        # F'(B + R) with the residuals R of F is wrong by R'C^-1 R only, a positive matrix.
        M = product(F.T, B + state.residual[:, m:k])
        M = 0.5 * (M + M.T)
        coefficients = scipy.linalg.solve(M, product(F.T, Y), assume_a="pos")
        A = A - product(F, coefficients)
        Q = np.linalg.qr(B)[0]
        A = A - Q @ (Q.T @ A)  # B'a = 0 to the last digit
        extra = np.linalg.slogdet(M)[1] - np.linalg.slogdet(product(B.T, B))[1]
        slack = float(np.trace(np.linalg.inv(M)))
        slack *= 2.0 * float((state.upper - state.lower)[m:k].sum())
        logdet = Estimate(
            logdet.value + extra,
            logdet.error,
            logdet.lower + extra,
            logdet.upper + extra + slack,
        )
    targets = Y - product(B, coefficients)
    return IterativeEvaluation(
        gram, system, A, coefficients, F, M, (CZ, P.solve(Z)), logdet, targets
    )


def estimated_evidence(at: IterativeEvaluation, Y: Array) -> Estimate:
    """Return the log evidence of all outputs together, with its standard error and bounds.

    Of the fit y'a, too: with B'a = 0 and any coefficients of the basis, bounds of
    (y - Bm)'C^-1 (y - Bm) from a and its residual contain it.
    """
    n, m = Y.shape
    form, _ = quadratic_form(at.gram, at.system.shift.noise, at.targets, at.coef, at.values)
    constant = m * (n - at.functions.shape[1]) * float(np.log(2.0 * np.pi))
    low, high = (
        -0.5 * (fit + m * logdet + constant)
        for fit, logdet in ((form.upper, at.logdet.upper), (form.lower, at.logdet.lower))
    )
    fit = float(np.einsum("ij,ij->", Y, at.coef))
    value = -0.5 * (fit + m * at.logdet.value + constant)
    return Estimate(min(max(value, low), high), 0.5 * m * at.logdet.error, low, high)


def estimated_gradient(at: IterativeEvaluation, covariance: Covariance, X: Any) -> Array:
    """Return an unbiased estimate of the gradient of the log evidence by theta."""
    m, (CZ, PZ) = at.coef.shape[1], at.probes
    # P^-1 is known; the random vectors estimate what C^-1 differs from it by.
    low_rank = at.system.preconditioner.inverse_factors()
    left = [at.coef, -m / CZ.shape[1] * (CZ - PZ), m * low_rank[0]]
    right = [at.coef, PZ, low_rank[1]]
    if at.functions.shape[1]:
        left.append(m * scipy.linalg.solve(at.inner, at.functions.T, assume_a="pos").T)
        right.append(at.functions)
    U, V = 0.5 * np.hstack(left), np.hstack(right)
    n = len(U)
    step = max(1, min(n, _BYTES // (8 * n)))
    alone = -0.5 * m / at.system.shift.noise
    total = covariance.contract_diagonal(X, alone, alone + np.einsum("ij,ij->i", U, V))
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        total = total + covariance.contract_pairs(take(X, rows), X, product(U[rows], V.T))
    return total


@dataclass
class IterativePosterior(PlainState):
    """What predictions need; the system of the training samples is made again when asked for.

    `coef`, `basis_coef`: coefficients (n, m) and (p, m). `functions`, `inner`: C^-1 B and B'C^-1 B.
    `noise`: the diagonal N.
    """

    coef: Array
    basis_coef: Array
    functions: Array
    inner: Array
    noise: Array
    _lazy: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, at: IterativeEvaluation) -> IterativePosterior:
        """Return the posterior of an evaluation."""
        # In one order, so that a file brings back the same bits.
        parts = (at.coef, at.basis_coef, at.functions, at.inner, at.system.shift.noise)
        coef, basis_coef, functions, inner, noise = (np.ascontiguousarray(a) for a in parts)
        found = cls(coef, basis_coef, functions, inner, noise)
        found._lazy["system"] = at.system
        return found

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_lazy": {}}

    def attach(self, gram: Callable[[], Gram]) -> IterativePosterior:
        """Make the system where a file or a pickle has lost it."""
        if "system" not in self._lazy:
            self._lazy["system"] = gram().shifted(self.noise, None, "cg")
        return self

    def mean(self, rows: Array, functions: Array | None) -> Array:
        """Return the means (b, outputs) from kernel values (b, n) and basis values (b, p)."""
        values = product(rows, self.coef)
        return values if functions is None else values + functions @ self.basis_coef

    def variance(self, prior: Array, rows: Array, functions: Array | None) -> Array:
        """Return upper bounds of the variances, at most VARIANCE_ERROR k(x, x) too large."""
        return np.maximum(prior - self._reduction(rows, None) + self._of_basis(rows, functions), 0)

    def covariance(self, prior: Array, rows: Array, functions: Array | None) -> Array:
        """Return the covariance matrix from that of the prior."""
        values = prior - self._reduction(rows, rows)
        if functions is not None:
            left = functions - product(rows, self.functions)
            values += left @ scipy.linalg.solve(self.inner, left.T, assume_a="pos")
        return values

    def _of_basis(self, rows: Array, functions: Array | None) -> Any:
        if functions is None:
            return 0.0
        left = functions - product(rows, self.functions)
        return np.einsum("ij,ji->i", left, scipy.linalg.solve(self.inner, left.T, assume_a="pos"))

    def _reduction(self, rows: Array, other: Array | None) -> Array:
        """Return lower bounds of k'C^-1 k, or the matrix of k'C^-1 l for other rows l."""
        system, found = self._lazy["system"], []
        for first in range(0, len(rows), _COLUMNS):
            block = np.ascontiguousarray(rows[first : first + _COLUMNS].T)
            solution = system.solve(block, tol=VARIANCE_ERROR)[0]
            if other is None:
                found.append(2.0 * system.last.lower)
            else:
                found.append(product(other, solution))
        if other is None:
            return np.concatenate(found)
        whole = np.hstack(found)
        return 0.5 * (whole + whole.T)
