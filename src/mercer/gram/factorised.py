"""A shifted kernel matrix by its Cholesky factor, in float32 with refinement or in float64.

Where the float32 values of the kernel are accurate enough the factor is computed from them, in half
the time and memory. Iterative refinement on float64 tiles restores double precision: with the
residual r = y - (K + N) a, computed from the coefficients, a <- a + (LL')^-1 r, two to four times
(N. Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, chapter 12). A factorisation
that breaks down, or a refinement that converges too slowly, is repeated in float64.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from scipy.linalg.blas import dtrsv, strsv
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri, spotrf, spotrs

from mercer.numerics.blas import mirrored, product
from mercer.numerics.conjugate_gradients import quadratic_bounds
from mercer.objects.arrays import Array

if TYPE_CHECKING:
    from .matrix import Gram
    from .shifted import Shift


_SMALL = 512  # rows below which a float64 factor costs less than a refinement
_FEW = 3  # right-hand sides that are solved one by one: potrs reads the factor slowly for a few
_STEPS = 8  # refinements after which a float64 factor is cheaper
_SLOW = 0.25  # factor by which the gap has to fall in a step; else a float64 factor is cheaper


class NotDefiniteError(ValueError):
    """The shifted kernel matrix has no Cholesky factor: it is not positive definite."""


class Factorised:
    """Solutions, log-determinant and inverse of a shifted kernel matrix by a Cholesky factor.

    `precision`: "float32, refined" or "float64". `n_iter`: steps of the refinement of the last
    solution. `residual`: y - (K + N) a of that solution in float64, where it has been computed.
    `mu`: the mean size of the diagonal of K + N.
    """

    solver = "cholesky"

    def __init__(self, gram: Gram, shift: Shift, *, tol: float, refined: bool) -> None:
        self.gram, self.shift, self._tol = gram, shift, tol
        self.n_iter, self.precision = 0, "float64"
        self.residual: Array | None = None
        self._factor: Any = None
        self.mu = 1.0
        wanted = refined and gram.n > _SMALL and bool(shift.noise.min() > 0.0)
        single = gram.in_precision("auto") if wanted else gram
        if single.dtype == "float32":
            try:
                self._factor = self._factorise(single)
                self.precision = "float32, refined"
            except NotDefiniteError:
                self._factor = None
        if self._factor is None:
            self._factor = self._factorise(gram.in_precision("float64"))

    def _factorise(self, gram: Gram) -> Any:
        C = gram.tile()
        if gram.kernel.pairwise:
            C = np.array(C)  # the user's matrix is not overwritten
        diagonal = np.einsum("ii->i", C)
        diagonal += self.shift.noise.astype(C.dtype, copy=False)
        self.mu = float(np.abs(diagonal).sum()) / len(C) or 1.0
        self.shift.complement.compress(C, self.mu)
        potrf = spotrf if C.dtype == np.float32 else dpotrf
        # The transposed view is in the order of LAPACK, and the matrix is symmetric: no copy.
        factor, info = potrf(C.T, lower=1, overwrite_a=1, clean=0)
        if info:
            raise NotDefiniteError(
                f"the leading {info} rows of the shifted kernel matrix are not positive definite "
                f"in {C.dtype}. Increase the noise (alpha), or remove rows that are nearly equal."
            )
        return factor

    def _apply_inverse(self, V: Array) -> Array:
        """Return C'^-1 V by the factor, in its precision."""
        F = self._factor
        scale: Any = 1.0
        trsv, potrs = dtrsv, dpotrs
        if F.dtype != np.float64:
            scale = np.abs(V).max(axis=0, initial=np.finfo(float).tiny)  # the range of float32
            V = (V / scale).astype(F.dtype)
            trsv, potrs = strsv, spotrs
        if V.shape[1] > _FEW:
            return scale * potrs(F, V, lower=1)[0]
        columns = [trsv(F, trsv(F, v, lower=1), lower=1, trans=1) for v in V.T]
        return scale * np.array(columns, dtype=np.float64).reshape(V.shape[::-1]).T

    def multiply(self, V: Array) -> Array:
        """Return (K + N) V in float64, on tiles."""
        return self.gram.matmul(V) + self.shift.noise.reshape(-1, *[1] * (V.ndim - 1)) * V

    def solve(self, Y: Array) -> tuple[Array, Array]:
        """Return the coefficients a and those of the basis, for one or several columns."""
        Y = np.asarray(Y, dtype=np.float64)
        columns = Y if Y.ndim == 2 else Y[:, None]
        over, self.residual = self.shift.complement, None
        A = None if self.precision == "float64" else self._refined(columns)
        if A is None:
            self._refactorise()
            A = over.project(self._apply_inverse(over.project(columns)))
        M = np.zeros((0, A.shape[1]))
        if over.size:
            rest = columns - self.multiply(A) if self.residual is None else self.residual
            M = over.coefficients(rest)
        return (A, M) if Y.ndim == 2 else (A[:, 0], M[:, 0])

    def _refined(self, Y: Array) -> Array | None:
        """Return the solution by iterative refinement; None where it converges too slowly."""
        over = self.shift.complement
        right = over.project(Y)
        A, R, gap = np.zeros_like(right), right, np.inf
        for self.n_iter in range(1, _STEPS + 1):
            A = over.project(A + self._apply_inverse(R))
            rest = Y - self.multiply(A)
            R = over.project(rest)
            lower, upper = quadratic_bounds(A, R, right, self.shift.noise)
            before, gap = gap, float((upper - lower - self._tol * np.abs(lower)).max(initial=0.0))
            if gap <= 0.0:
                self.residual = rest
                return A
            if not gap <= _SLOW * before:
                break
        return None

    def _refactorise(self) -> None:
        """Replace the float32 factor by one in float64."""
        if self.precision != "float64":
            self._factor = None
            self.__dict__.pop("inverse", None)
            self.precision = "float64"
            self._factor = self._factorise(self.gram.in_precision("float64"))

    def logdet(self) -> float:
        """Return log det(K + N), with a basis log det of its restriction to B'a = 0.

        With Z an orthonormal basis of the vectors with B'a = 0 the latter is
        log det Z'(K + N)Z = log det(K + N) + log det(B'(K + N)^-1 B) - log det(B'B).
        """
        self._refactorise()
        whole = 2.0 * float(np.log(np.diagonal(self._factor)).sum())
        return whole - self.shift.complement.size * float(np.log(self.mu))

    @cached_property
    def inverse(self) -> Array:
        """The inverse of K + N; with a basis Z (Z'(K + N) Z)^-1 Z', which maps y to a."""
        self._refactorise()
        G, info = dpotri(self._factor, lower=1)
        if info:
            raise NotDefiniteError("the shifted kernel matrix is singular.")
        G = mirrored(G)
        Q = self.shift.complement.Q
        if self.shift.complement.size:
            G -= product(Q / self.mu, Q.T)
        return G

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of `inverse` without computing the rest of it."""
        self._refactorise()
        inverted, _ = dtrtri(self._factor, lower=1)
        lower = np.tril(inverted)
        Q = self.shift.complement.Q
        return np.einsum("ij,ij->j", lower, lower) - np.einsum("ij,ij->i", Q, Q) / self.mu

    def halved(self, V: Array) -> Array:
        """Return L^-1 P V with C' = LL', so that v'Gv is the squared length of a column."""
        self._refactorise()
        return scipy.linalg.solve_triangular(
            self._factor, self.shift.complement.project(V), lower=True, check_finite=False
        )

    @property
    def factor(self) -> Array:
        """The lower Cholesky factor in float64, with zeros above the diagonal."""
        self._refactorise()
        return np.tril(self._factor)
