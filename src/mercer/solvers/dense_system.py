"""The linear system of an interior point method on a whole matrix with several equations.

A :class:`~mercer.solvers.interior_point.System` for a matrix K and the equations Q' beta = 0. With
the multipliers m and the unknowns x = (v, m), where v = K beta - Q m in the end, the step b of beta
solves

    (1/W + K) b - Q dm = g / W - (K beta - Q m - v),     Q' b = -Q' beta,

by a Cholesky factorisation of 1 + W^1/2 K W^1/2, whose eigenvalues are at least 1, and a second
one of the size of the equations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from mercer.objects.arrays import Array

from .interior_point import cholesky


class DenseSystem:
    """The values K beta - Q m and the multipliers m as unknowns, for Q with orthonormal columns."""

    def __init__(self, K: Array, Q: Array) -> None:
        self.K, self.Q, self.n = K, Q, len(K)

    @property
    def unknowns(self) -> int:
        """Number of the unknowns."""
        return self.n + self.Q.shape[1]

    def value(self, x: Array) -> Array:
        """Return v."""
        return x[: self.n]

    def norm2(self, beta: Array) -> float:
        """Return beta' K beta."""
        return float(beta @ (self.K @ beta))

    def missing(self, x: Array, beta: Array) -> Array:
        """Return K beta - Q m - v and -Q' beta."""
        values = self.K @ beta - self.Q @ x[self.n :]
        return np.concatenate([values - x[: self.n], -(self.Q.T @ beta)])

    def unbalanced(self, beta: Array) -> float:
        """Return the largest entry of Q' beta."""
        return float(np.abs(self.Q.T @ beta).max(initial=0.0))

    def solver(self, W: Array) -> Callable[[Array, Array], tuple[Array, Array]] | None:
        """Return the solution of the system above for any g and what is missing."""
        K, n, root = self.K, self.n, np.sqrt(W)
        over = np.divide(1.0, root, out=np.zeros(n), where=root > 0.0)
        B = root[:, None] * self.Q
        scale = 1.0 / np.sqrt(1.0 + W * np.diag(K))
        S = K * (root * scale)[:, None]
        S *= root * scale
        S[np.diag_indices(n)] += scale * scale
        factor = cholesky(S)
        if factor is None:
            return None

        def inverse(b: Array) -> Array:
            scaled = (b.T * scale).T
            found = scipy.linalg.cho_solve(factor, scaled, check_finite=False)
            return (found.T * scale).T

        G = inverse(B)
        small = B.T @ G
        size = 1.0 / np.sqrt(np.diag(small))
        outer = cholesky(small * size[:, None] * size) if len(size) else (small, True)
        if outer is None:
            return None

        def both(b: Array, m: Array) -> tuple[Array, Array]:
            p = inverse(b)
            dm = size * scipy.linalg.cho_solve(outer, size * (m - B.T @ p), check_finite=False)
            return p + G @ dm, dm

        def solve(g: Array, missing: Array) -> tuple[Array, Array]:
            b, m = over * g - root * missing[:n], missing[n:]
            p, dm = both(b, m)
            for _ in range(2):  # refinement, as in features
                rest = b - p - root * (K @ (root * p)) + B @ dm
                dp, dn = both(rest, m - B.T @ p)
                p, dm = p + dp, dm + dn
            # (g - b) / W without cancellation for large W; where W is 0, from the step b.
            step = root * p
            there = K @ step - self.Q @ dm + missing[:n]
            return np.concatenate([np.where(W > 0.0, over * (over * g - p), there), dm]), step

        return solve
