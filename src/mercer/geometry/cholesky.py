"""Pivoted incomplete Cholesky factorisation of a kernel matrix, with a proof of its error.

For the kernel matrix K of n objects, L has few columns and LL' is close to K. The method, in
:mod:`mercer.numerics.pivoted_cholesky`, is Gram-Schmidt in feature space: the next pivot is an
object far from the span of the ones chosen so far.

Returned: the factor, the pivots and the residual diagonal. K - LL' is positive semidefinite, so
its trace (the sum of the residuals) bounds its nuclear, Frobenius and spectral norm, and the
largest residual bounds every entry of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram import Gram, Prepared
from mercer.gram.kernel_diagonal import check_nonnegative
from mercer.gram.norm_checks import check_zero_norms
from mercer.kernels.base import Kernel
from mercer.kernels.first_argument import kernel_first
from mercer.numerics.pivoted_cholesky import PIVOTING, NegativeResidualError, chooser
from mercer.numerics.pivoted_cholesky import pivoted_cholesky as factorise
from mercer.objects.arrays import Array
from mercer.objects.parameters import integer, real, require_choice
from mercer.objects.validation import count, stored_alike, take

from .squared_lengths import require_lengths

# A residual below this share of the largest k(x, x) is rounding: pivots there add nothing. The
# kernel rows are good to a few units of 2^-53, a division by the root of a pivot makes 1e-9 of it.
ZERO_RESIDUAL = 1e-14


@dataclass(frozen=True)
class PivotedCholesky:
    """K is LL' up to a positive semidefinite residual; made by :func:`pivoted_cholesky`.

    Attributes
    ----------
    kernel : Kernel
        The kernel, bound.
    pivots : ndarray of int of shape (rank,)
        Positions of the chosen objects, in the order in which they were chosen.
    landmarks : objects
        The chosen objects; for a precomputed kernel the positions again.
    factor : ndarray of shape (n, rank)
        The factor L: the coordinates of all objects in an orthonormal basis of the span of the
        chosen ones.
    residual : ndarray of shape (n,)
        Squared distance of every object to that span: the diagonal of K - LL'.
    trace : float
        The trace of K.
    status : {"tolerance", "rank", "exhausted"}
        Why the factorisation stopped: the tolerance was met, the rank was used up, or what is
        left is rounding.

    Examples
    --------
    >>> from mercer.geometry import pivoted_cholesky
    >>> from mercer.kernels import Linear
    >>> made = pivoted_cholesky(Linear(), [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> made.pivots.tolist(), made.factor.shape, made.status
    ([1, 0], (3, 2), 'exhausted')
    """

    kernel: Kernel
    pivots: NDArray[np.intp]
    landmarks: Any
    factor: Array
    residual: Array
    trace: float
    status: str

    @property
    def rank(self) -> int:
        """Number of pivots."""
        return len(self.pivots)

    @property
    def trace_residual(self) -> float:
        """Trace of K - LL', which bounds its nuclear, Frobenius and spectral norm."""
        return float(self.residual.sum())

    @property
    def largest_residual(self) -> float:
        """Largest diagonal entry of K - LL', which bounds the absolute value of every entry."""
        return float(self.residual.max())

    @property
    def relative_error(self) -> float:
        """The trace of the residual over the trace of K."""
        return self.trace_residual / self.trace if self.trace > 0.0 else 0.0

    @property
    def triangle(self) -> Array:
        """The lower triangular R with K[pivots, pivots] = RR'."""
        return self.factor[self.pivots]

    @property
    def basis(self) -> Array:
        """Coefficients of the orthonormal basis: e_j = sum_i basis[i, j] phi(landmark_i)."""
        return scipy.linalg.solve_triangular(self.triangle, np.eye(self.rank), lower=True).T

    def transform(self, X: Any) -> Array:
        """Return the coordinates (n_X, rank) of objects, whose dot products approximate the kernel.

        `X`: new objects; for a precomputed kernel, their values against all old ones.
        """
        return span_coordinates(self.kernel, self.landmarks, self.triangle, X)

    def __str__(self) -> str:
        return (
            f"incomplete Cholesky of {len(self.residual)} objects, rank {self.rank}, stopped by "
            f"{self.status}\n"
            f"trace of the residual   {self.trace_residual:.6g} "
            f"({100 * self.relative_error:.3g} % of the trace)\n"
            f"largest residual entry  {self.largest_residual:.6g}"
        )


@kernel_first
def pivoted_cholesky(
    kernel: Kernel,
    X: Any,
    *,
    tol: float = 1e-6,
    max_rank: int | None = None,
    pivoting: str = "largest",
    random_state: Any = None,
) -> PivotedCholesky:
    """Return an incomplete Cholesky factor of a kernel matrix that is never built.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel on any objects, bound to `X` if it has to be.
    X : objects
        The objects; for a precomputed kernel its matrix.
    tol : float >= 0, default=1e-6
        Stop when the trace of the residual is at most this share of the trace of K. With
        ``pivoting="given"`` it is applied to every object by itself: one whose squared distance
        to the span of the earlier ones is at most ``tol`` times its squared length is left out.
    max_rank : int >= 1, optional
        Stop at this many pivots. Memory is n times the rank reached.
    pivoting : {"largest", "random", "given"}, default="largest"
        How the next pivot is chosen: the largest residual, one drawn in proportion to the
        residuals, or the next object in order (Gram-Schmidt).
    random_state : int, Generator or None, default=None
        Seed of the random pivots.

    Returns
    -------
    PivotedCholesky
        The factor, the pivots and the proof of the error.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.geometry import pivoted_cholesky
    >>> from mercer.kernels import RBF
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> low = pivoted_cholesky(RBF(gamma=1.0), X, tol=1e-8)
    >>> low.rank, low.status, bool(low.relative_error <= 1e-8)
    (7, 'tolerance', True)
    >>> K = RBF(gamma=1.0)(X)
    >>> bool(abs(K - low.factor @ low.factor.T).max() <= low.largest_residual + 1e-12)
    True
    """
    real(tol, "tol", minimum=0)
    if max_rank is not None:
        integer(max_rank, "max_rank", minimum=1)
    require_choice(pivoting, "pivoting", PIVOTING)
    require_lengths(kernel, "factor LL' of its matrix")
    kernel, X = kernel.bound_to(X)
    gram = Gram(kernel, X, "float64")
    diagonal = gram.diag()
    check_nonnegative(diagonal, kernel)
    check_zero_norms(kernel, diagonal, gram.tile)
    limit = gram.n if max_rank is None else min(max_rank, gram.n)
    try:
        columns, pivots, status = factorise(
            lambda i: gram.tile([i])[0].astype(np.float64, copy=False),
            diagonal,
            chooser(pivoting, diagonal, tol, random_state),
            limit,
            ZERO_RESIDUAL,
        )
    except NegativeResidualError as error:
        raise ValueError(
            f"{kernel!r} is not positive semidefinite on these objects: after object "
            f"{error.pivot} the squared distance of object {error.row} to the span of the pivots "
            f"is {error.residual:.6g}. A factor LL' exists for positive semidefinite kernels only."
        ) from None
    factor = np.ascontiguousarray(columns.T)
    residual = diagonal - np.einsum("ij,ij->i", factor, factor)
    residual[pivots] = 0.0
    return PivotedCholesky(
        kernel,
        pivots,
        pivots.astype(np.int64) if kernel.pairwise else take(X, pivots),
        factor,
        np.maximum(residual, 0.0),
        float(diagonal.sum()),
        status,
    )


def span_coordinates(kernel: Kernel, landmarks: Any, triangle: Array, X: Any) -> Array:
    """Return the coordinates of objects in the orthonormal basis of a span.

    `landmarks`: objects that span the space; for a precomputed kernel their positions. `triangle`
    (rank, rank): the lower triangular R with RR' the kernel matrix of the landmarks. `X`: the
    objects; for a precomputed kernel their values against all old ones. The result has shape (n_X,
    rank).
    """
    if kernel.pairwise:
        values = Prepared(kernel, landmarks).tile(np.asarray(X, dtype=np.float64))
    else:
        against = landmarks if hasattr(landmarks, "shape") else None
        X, Z = stored_alike(kernel.validate(X, against), landmarks)
        values = Prepared(kernel, Z).tile(X) if len(triangle) else np.empty((count(X), 0))
    return scipy.linalg.solve_triangular(triangle, values.T, lower=True).T
