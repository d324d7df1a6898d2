"""A low-rank root of a kernel matrix: Cholesky factorisation with pivoting."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import scipy.linalg.lapack
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.numerics.pivoted_cholesky import NegativeResidualError, chooser
from mercer.numerics.pivoted_cholesky import pivoted_cholesky as factorise

_DIAGONAL_LEFT = (
    1e-15  # what is left of the diagonal, relative to its largest entry, when the factor ends
)


_MARGIN = 10.0  # above what rounding may contribute to the smallest eigenvalue


class _TimeIsOverError(Exception):
    """The time limit ended the factorisation."""


def pivoted_cholesky(
    gram: Gram, max_rank: int, until: float = np.inf
) -> NDArray[np.float64] | None:
    """Return L with K = L L' up to rounding, None where it needs more columns than allowed.

    `until`: the time of `perf_counter` after which the factorisation ends with None.

    Of a conditionally positive definite kernel of order 1 it is the root of

        k(x_i, x_j) - k(x_i, x_0) - k(x_0, x_j) + k(x_0, x_0),

    which is positive semidefinite. Where coefficients sum to 0, it gives the same squared norm, and
    the same values up to a constant.
    """
    if _has_larger_rank(gram, max_rank):
        return None
    diagonal = gram.diag().astype(np.float64)
    largest = chooser("largest", diagonal, 0.0)

    def next_pivot(residual: NDArray[np.float64]) -> int | None:
        if perf_counter() > until:
            raise _TimeIsOverError
        return largest(residual)

    offset = np.zeros(gram.n)
    if gram.kernel.definiteness.order == 1:
        offset = gram.tile([0])[0].astype(np.float64) - 0.5 * diagonal[0]
        diagonal = np.maximum(diagonal - 2.0 * offset, 0.0)  # which rounding may make negative
    try:
        columns, _, status = factorise(
            lambda i: gram.tile([i])[0].astype(np.float64) - offset - offset[i],
            diagonal,
            next_pivot,
            min(max_rank, gram.n),
            _DIAGONAL_LEFT,
        )
    except (_TimeIsOverError, NegativeResidualError):
        return None  # also of a kernel that only claims to be positive semidefinite
    return None if status == "rank" else np.ascontiguousarray(columns.T)


def _has_larger_rank(gram: Gram, rank: int) -> bool:
    """Return whether a factor of so many columns is known to leave more than rounding.

    It has rank r, so of any r + 1 rows it leaves a matrix whose largest eigenvalue, and with it the
    trace, is at least the smallest eigenvalue of the part of K (Weyl): one entry of the diagonal
    keeps that divided by r + 1. A Cholesky factor of the part, less a diagonal, bounds the
    eigenvalue from below in r^3 / 3 operations, where the factor of all rows takes n r^2.
    """
    if rank >= gram.n or gram.kernel.definiteness.order:
        return False
    rows = np.sort(np.random.default_rng(0).choice(gram.n, rank + 1, replace=False))
    K = np.array(gram.take(rows).tile(), dtype=np.float64)
    diagonal = np.einsum("ii->i", K)
    diagonal -= _MARGIN * (rank + 1) * _DIAGONAL_LEFT * float(gram.diag().max())
    return bool(scipy.linalg.lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)[1] == 0)
