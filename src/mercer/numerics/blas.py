"""Matrix products by SciPy's BLAS.

NumPy and SciPy bring a BLAS each, with threads of their own that wait actively for a while after a
call. A factorisation by LAPACK (SciPy's) right after a product by NumPy's shares the cores with
these threads and may take twice the time. Loops that factorise therefore multiply here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm, dgemv, sgemm

from mercer.objects.arrays import Array

_MIRRORED = 128  # rows of a block that stays in the cache


def product(A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Return A @ B in the order of C, in float32 where both are and else in float64."""
    # (A B)' = B' A', and the transposed view of an array in the order of C is in that of Fortran,
    # which BLAS takes without a copy.
    single = A.dtype == B.dtype == np.float32
    gemm, dtype = (sgemm, np.float32) if single else (dgemm, np.float64)
    left, transpose_left = _transposed(np.asarray(B, dtype=dtype))
    right, transpose_right = _transposed(np.asarray(A, dtype=dtype))
    return gemm(1.0, left, right, trans_a=transpose_left, trans_b=transpose_right).T


def row_sums(M: Array) -> Array:
    """Return the sums of the rows of a matrix."""
    left, transpose = _transposed(M)
    return dgemv(1.0, left, np.ones(M.shape[1]), trans=1 - transpose)


def column_sums(M: Array) -> Array:
    """Return the sums of the columns of a matrix."""
    left, transpose = _transposed(M)
    return dgemv(1.0, left, np.ones(M.shape[0]), trans=transpose)


def mirrored(G: Array) -> Array:
    """Copy the lower triangle of a square matrix to the upper one, in place, and return it."""
    n = len(G)
    for first in range(0, n, _MIRRORED):
        last = min(first + _MIRRORED, n)
        block = G[first:last, first:last]
        np.copyto(block, block.T.copy(), where=_above(last - first))
        G[first:last, last:] = G[last:, first:last].T
    return G


@lru_cache(maxsize=4)
def _above(n: int) -> NDArray[np.bool_]:
    """Return the mask of what is above the diagonal of a block."""
    return np.tri(n, k=-1, dtype=bool).T


def _transposed(M: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return M' in the order of Fortran, or M and that it is to be transposed."""
    return (M.T, 0) if M.flags.c_contiguous else (M, 1)
