"""Titsias' lower bound of the log evidence by inducing points, with its gradients.

With m inducing points Z, K_u = k(Z, Z), K_uf = k(Z, X), the covariance K of the n samples and the
diagonal N of the noise,

    Q = K_fu K_u^-1 K_uf <= K,
    bound = log N(y | 0, Q + N) - 1/2 tr N^-1 (K - Q)   <=   log N(y | 0, K + N)

(M. Titsias, "Variational learning of inducing variables in sparse Gaussian processes", AISTATS
2009). Everything follows from A = L^-1 K_uf N^-1/2 with K_u = LL', and the factor M of I + AA', in
O(n m^2) operations on blocks of rows: no n x n matrix exists. K_u is factorised with a relative
jitter; since it makes Q smaller, the bound stays a bound.

The gradient by Q is G = 1/2 (bb' - S + N^-1) with S = (Q + N)^-1 and b = Sy. With P = K_u^-1 K_uf

    d bound = sum W_fu dK_fu + sum W_u dK_u - 1/2 tr N^-1 dK + sum_i w_i dN_i,
    W_fu = 2 G P',   W_u = -P G P',   w_i = 1/2 (b_i^2 - S_ii + (K - Q)_ii / N_i^2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, dtrsm

from mercer.gram.available_memory import available_bytes
from mercer.gram.shifted import NotDefiniteError
from mercer.numerics.blas import product
from mercer.objects.validation import count, take

from .covariance import Covariance

Array = NDArray[np.float64]

_BLOCK = 2048  # rows at a time
_KEPT = 1 << 30  # bytes of A that are kept rather than computed again, where there is memory
_JITTERS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)  # of the mean of the diagonal of K_u
_LOG_2PI = float(np.log(2.0 * np.pi))


class Reduced:
    """The covariance Q + N of rank m plus a diagonal, as blocks of rows.

    `covariance`: the kernel. `X`, `Z`: samples and inducing points. `noise`: the diagonal N, all
    positive.

    `L`, `M`: lower Cholesky factors of K_u and of I + AA'. `explained`, `residual`: the diagonals
    of N^-1 Q and of K - Q. `jitter`: jitter added to the diagonal of K_u.
    """

    def __init__(self, covariance: Covariance, X: Any, Z: Any, noise: Array) -> None:
        self.covariance, self.X, self.Z, self.noise = covariance, X, Z, noise
        self.n, self.m = len(noise), count(Z)
        self.L, self.jitter, self.share = _factor(covariance.matrix(Z, False))
        fits = 8 * self.n * self.m <= min(_KEPT, available_bytes() // 4)
        self._kept: dict[int, Array] | None = {} if fits else None
        B = np.zeros((self.m, self.m), order="F")
        self.explained = np.empty(self.n)
        for rows, A in self.blocks():
            B = dsyrk(1.0, A, beta=1.0, c=B, lower=1, overwrite_c=1)
            self.explained[rows] = np.einsum("ij,ij->j", A, A)
        self.products = B + np.tril(B, -1).T  # AA'
        B = self.products.copy(order="F")
        B[np.diag_indices(self.m)] += 1.0
        self.M = scipy.linalg.cholesky(B, lower=True, overwrite_a=True, check_finite=False)
        self.residual = np.maximum(covariance.diagonal(X, False) - self.explained * noise, 0.0)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Go through the rows: their positions, and the columns of A."""
        for first in range(0, self.n, _BLOCK):
            rows = slice(first, min(first + _BLOCK, self.n))
            A = None if self._kept is None else self._kept.get(first)
            if A is None:
                values = self.covariance.cross(take(self.X, rows), self.Z)
                values = values / np.sqrt(self.noise[rows])[:, None]
                # The transposed view of the block is in the order of BLAS.
                A = dtrsm(1.0, self.L, values.T, lower=1, overwrite_b=1)
                if self._kept is not None:
                    self._kept[first] = A
            yield rows, A

    def projected(self, V: Array) -> Array:
        """Return A N^-1/2 V for columns (n, k)."""
        total = np.zeros((self.m, V.shape[1]))
        scaled = V / np.sqrt(self.noise)[:, None]
        for rows, A in self.blocks():
            total += product(A, scaled[rows])
        return total

    def lifted(self, S: Array) -> Array:
        """Return N^-1/2 A' S for columns (m, k)."""
        out = np.empty((self.n, S.shape[1]))
        for rows, A in self.blocks():
            out[rows] = product(A.T, S)
        return out / np.sqrt(self.noise)[:, None]

    def solve(self, V: Array) -> Array:
        """Return (Q + N)^-1 V for columns (n, k), by the formula of Woodbury."""
        inner = scipy.linalg.cho_solve((self.M, True), self.projected(V), check_finite=False)
        return V / self.noise[:, None] - self.lifted(inner)

    def logdet(self) -> float:
        """Return log det(Q + N)."""
        return float(np.log(self.noise).sum() + 2.0 * np.log(np.diagonal(self.M)).sum())

    def trace(self) -> float:
        """Return tr N^-1 (K - Q)."""
        return float((self.residual / self.noise).sum())


def _factor(K: Array) -> tuple[Array, float, float]:
    """Return the Cholesky factor, the jitter, and its share of the mean diagonal."""
    scale = float(np.diagonal(K).mean())
    for share in _JITTERS:
        C = K.copy(order="F")
        C[np.diag_indices_from(C)] += share * scale
        try:
            factor = scipy.linalg.cholesky(C, lower=True, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            continue
        return factor, share * scale, share
    raise NotDefiniteError("the covariance matrix of the inducing points is not positive definite.")


@dataclass(frozen=True)
class BoundValue:
    """The bound at some hyper-parameters.

    `system`: Q + N. `half`: M^-1 A N^-1/2 Y. `fit`: tr Y'(Q + N)^-1 Y. `value`: the bound, of all t
    targets together.
    """

    system: Reduced
    half: Array
    fit: float
    value: float

    @property
    def inner(self) -> Array:
        """(I + AA')^-1 A N^-1/2 Y."""
        return scipy.linalg.solve_triangular(self.system.M, self.half, lower=True, trans="T")

    @property
    def coef(self) -> Array:
        """Coefficients u of the posterior mean k(x, Z) u."""
        return scipy.linalg.solve_triangular(self.system.L, self.inner, lower=True, trans="T")


def lower_bound(system: Reduced, Y: Array) -> BoundValue:
    """Return Titsias' bound for targets (n, t)."""
    half = scipy.linalg.solve_triangular(system.M, system.projected(Y), lower=True)
    fit = float((Y * Y / system.noise[:, None]).sum() - (half * half).sum())
    each = system.n * _LOG_2PI + system.logdet() + system.trace()
    return BoundValue(system, half, fit, -0.5 * (Y.shape[1] * each + fit))


def bound_gradient(at: BoundValue, Y: Array, positions: bool = False) -> tuple[Array, Array | None]:
    """Return the gradient of the bound by theta, and by the inducing points where asked."""
    system, t = at.system, Y.shape[1]
    covariance, noise, Z = system.covariance, system.noise, system.Z
    inner, u = at.inner, at.coef
    inverse = scipy.linalg.cho_solve((system.M, True), np.eye(system.m), check_finite=False)
    R = -inverse
    R[np.diag_indices(system.m)] += 1.0
    b = Y / noise[:, None] - system.lifted(inner)
    theta = np.zeros(len(covariance.theta))
    moved = np.zeros(Z.shape) if positions else None
    taken = np.empty(system.n)  # the diagonal of A'RA = A'A - A'(I + AA')^-1 A
    for rows, A in system.blocks():
        H = product(A.T, R)
        taken[rows] = np.einsum("ij,ji->i", H, A)
        W = dtrsm(1.0, system.L, H.T, lower=1, trans_a=1, overwrite_b=1).T
        W *= (t / np.sqrt(noise[rows]))[:, None]
        W += b[rows] @ u.T
        block = take(system.X, rows)
        theta += covariance.contract_pairs(block, Z, W)
        if moved is not None:
            moved += covariance.contract_rows(Z, block, W.T)
    W = _of_inducing(system, R, u, t)
    other = take(Z, np.arange(system.m))
    theta += covariance.contract_pairs(Z, other, W)
    shift = np.full(system.m, system.share * float(np.trace(W)) / system.m)  # of the jitter
    theta += covariance.contract_diagonal(Z, shift, np.zeros(system.m))
    if moved is not None:
        moved += 2.0 * covariance.contract_rows(Z, other, W)
    own = 0.5 * (b * b).sum(axis=1)
    own += 0.5 * t * (system.explained - taken - 1.0 + system.residual / noise) / noise
    theta += covariance.contract_diagonal(system.X, -0.5 * t / noise, own)
    return theta, moved


def _of_inducing(system: Reduced, R: Array, u: Array, t: int) -> Array:
    """Return W_u."""
    middle = product(R, system.products)
    half = scipy.linalg.solve_triangular(system.L, middle, lower=True, trans="T")
    both = scipy.linalg.solve_triangular(system.L, half.T, lower=True, trans="T")
    return -0.5 * (u @ u.T + 0.5 * t * (both + both.T))
