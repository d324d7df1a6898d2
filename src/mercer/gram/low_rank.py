"""LL' + N with a pivoted Cholesky factor L of K: the preconditioner of a shifted kernel matrix.

Since LL' <= K, its log-determinant is a lower bound of that of K + N, and with
t = tr N^-1 (K - LL') the sum of it and n log(1 + t / n) is an upper bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from mercer.numerics.blas import product
from mercer.numerics.pivoted_cholesky import NegativeResidualError, chooser, pivoted_cholesky
from mercer.objects.arrays import Array

from .bounded import UNIT

if TYPE_CHECKING:
    from .matrix import Gram


_FEW = 8.0  # roundings of a kernel value, of a logarithm
_NOISE = 1e-13  # residual diagonals below this share of the largest are rounding


class LowRank:
    """A matrix LL' + N of low rank plus a diagonal, with its inverse by the formula of Woodbury.

    `rank`: the largest rank of L. It is 0 where K turns out not to be positive semidefinite.
    """

    def __init__(self, gram: Gram, noise: Array, rank: int) -> None:
        self.noise, self.definite = noise, True
        self.L = np.zeros((gram.n, 0))
        diagonal = gram.diag()
        if rank:
            try:
                transposed, _, _ = pivoted_cholesky(
                    lambda i: gram.tile([i])[0],
                    diagonal,
                    chooser("largest", diagonal, tol=1e-12),
                    min(rank, gram.n),
                    _NOISE,
                )
                self.L = transposed.T
            except NegativeResidualError:  # conditionally definite, or not definite at all
                self.definite = False
        self._scaled = self.L / noise[:, None]
        inner = np.eye(self.rank) + product(self.L.T, self._scaled)
        self._inner = scipy.linalg.cholesky(inner, lower=True, check_finite=False)
        explained = np.einsum("ij,ij->i", self.L, self.L)
        left = np.maximum(diagonal - explained, 0.0)
        self.left = float((left / noise).sum())  # tr N^-1 (K - LL')
        self._explained = float((explained / noise).sum())

    @property
    def rank(self) -> int:
        """The rank of L."""
        return self.L.shape[1]

    def solve(self, V: Array) -> Array:
        """Return (LL' + N)^-1 V for columns (n, k)."""
        alone = V / self.noise[:, None]
        if not self.rank:
            return alone
        small = product(self._scaled.T, V)
        small = scipy.linalg.cho_solve((self._inner, True), small, check_finite=False)
        return alone - product(self._scaled, small)

    def inverse_factors(self) -> tuple[Array, Array]:
        """Return U and V with (LL' + N)^-1 = N^-1 - UV'."""
        small = scipy.linalg.cho_solve((self._inner, True), self._scaled.T, check_finite=False)
        return small.T, self._scaled

    def logdet(self) -> float:
        """Return log det(LL' + N)."""
        return float(np.log(self.noise).sum() + 2.0 * np.log(np.diagonal(self._inner)).sum())

    def draw(self, rng: np.random.Generator, k: int) -> Array:
        """Return k random vectors z with E zz' = LL' + N =: P and z'P^-1 z = n, as columns.

        Vectors of one length have less scatter than normal ones, whose directions they have.
        """
        Z = np.sqrt(self.noise)[:, None] * rng.standard_normal((len(self.noise), k))
        Z += product(self.L, rng.standard_normal((self.rank, k)))
        lengths = np.einsum("ij,ij->j", Z, self.solve(Z))
        return Z * np.sqrt(len(self.noise) / lengths)

    def bounds(self) -> tuple[float, float]:
        """Return bounds of log det(K + N), for a positive semidefinite K, widened by rounding.

        An error e of LL', relative to the diagonal, changes the value by e tr N^-1 LL' at most.
        """
        n, low = len(self.noise), self.logdet()
        terms = float(np.abs(np.log(self.noise)).sum()) + abs(low) + n
        slip = UNIT * ((self.rank + _FEW) * self._explained + _FEW * terms)
        return low - slip, low + n * float(np.log1p(self.left / n)) + slip
