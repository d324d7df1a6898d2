"""Orthogonal complement of an unpenalised basis, as a projection of vectors and matrices.

The border of the system [[C, B], [B', 0]] [a; m] = [y; 0] requires B'a = 0. With B = Q R
and the projection P = I - QQ',

    C' = P C P + mu QQ',     C' a = P y,     R m = Q'(y - C a),

where mu > 0 is any number: C' is positive definite wherever C is on the complement of B, also for
a kernel that is only conditionally positive definite.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mercer.numerics.blas import product
from mercer.objects.arrays import Array

_NOISE = 1e-15  # a projection below this share of the vector is rounding
_DEPENDENT = 1e-12  # share of a column outside the columns before it, at which they are dependent


class Complement:
    """The projection onto the orthogonal complement of a basis; of none, the identity."""

    def __init__(self, basis: Array | None, n: int) -> None:
        self.basis = np.zeros((n, 0)) if basis is None else np.asarray(basis, dtype=np.float64)
        if self.basis.ndim != 2 or len(self.basis) != n:
            raise ValueError(f"basis must have {n} rows; got shape {self.basis.shape}.")
        p = self.basis.shape[1]
        self.Q, self.R = self.basis, np.zeros((0, 0))
        if not p:
            return
        if not np.isfinite(self.basis).all():
            raise ValueError("basis contains NaN or infinity.")
        if p > n:
            raise ValueError(
                f"the unpenalised basis has {p} functions for {n} samples: its coefficients are "
                "not determined. Use fewer functions or more samples."
            )
        self.Q, self.R = scipy.linalg.qr(self.basis, mode="economic", check_finite=False)
        left = np.abs(np.diagonal(self.R))  # of each column, outside those before it
        if (left <= _DEPENDENT * np.linalg.norm(self.R, axis=0)).any():
            raise ValueError(
                "the functions of the unpenalised basis are linearly dependent on the samples, so "
                "their coefficients are not determined; leave one out."
            )

    @property
    def size(self) -> int:
        """Number of functions."""
        return int(self.basis.shape[1])

    def project(self, V: Array) -> Array:
        """Return P V for a vector or columns."""
        if not self.size:
            return V
        columns = V.reshape(len(V), -1)
        return V - product(self.Q, product(self.Q.T, columns)).reshape(V.shape)

    def target(self, Y: Array) -> Array:
        """Return P Y for columns, and 0 for those of which rounding alone is left.

        The system that conjugate gradients solve is singular inside the basis, where rounding lies.
        """
        if not self.size:
            return Y
        found = self.project(self.project(Y))
        noise = np.abs(found).max(axis=0) <= _NOISE * np.abs(Y).max(axis=0)
        found[:, noise] = 0.0
        return found

    def compress(self, C: Array, mu: float) -> None:
        """Replace a symmetric matrix by P C P + mu QQ', in place."""
        if not self.size:
            return
        Q = self.Q.astype(C.dtype)
        CQ = product(C, Q)
        # P C P = C - Q (CQ)' - (CQ) Q' + Q (Q'CQ) Q'
        inner = product(Q.T, CQ) + mu * np.eye(self.size, dtype=C.dtype)
        half = CQ - 0.5 * product(Q, inner)
        C -= product(half, Q.T)
        C -= product(Q, half.T)

    def coefficients(self, remainder: Array) -> Array:
        """Return m with B m = QQ' remainder: the least-squares fit of the basis."""
        right = product(self.Q.T, remainder)
        return scipy.linalg.solve_triangular(self.R, right, check_finite=False)
