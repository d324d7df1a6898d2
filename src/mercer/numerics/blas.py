"""Matrix products by SciPy's BLAS, and its threads.

NumPy and SciPy bring a BLAS each, with threads of their own that wait actively for a while after a
call. A factorisation by LAPACK (SciPy's) right after a product by NumPy's shares the cores with
these threads and may take twice the time. Loops that factorise therefore multiply here.

LAPACK wakes its threads for matrices of 20 rows, which costs more than the work, and on a busy
machine a time slice of the scheduler: small matrices are factorised by one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm, dgemv, sgemm
from threadpoolctl import ThreadpoolController

from mercer.objects.arrays import Array

_MIRRORED = 128  # rows of a block that stays in the cache
_ONE_THREAD = 300  # rows up to which one thread factorises faster than two

_lock = Lock()
_limited: list[tuple[Any, int]] = []  # libraries on one thread, and how many they had
_users = 0  # of the limit, in all threads of the program


def product(A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Return A @ B in the order of C, in float32 where both are and else in float64."""
    # (A B)' = B' A', and the transposed view of an array in the order of C is in that of Fortran,
    # which BLAS takes without a copy.
    single = A.dtype == B.dtype == np.float32
    gemm, dtype = (sgemm, np.float32) if single else (dgemm, np.float64)
    left, transpose_left = _transposed(np.asarray(B, dtype=dtype))
    right, transpose_right = _transposed(np.asarray(A, dtype=dtype))
    return gemm(1.0, left, right, trans_a=transpose_left, trans_b=transpose_right).T


@contextmanager
def threads_for(n: int) -> Iterator[None]:
    """Limit BLAS to one thread inside, where matrices have few rows."""
    global _users
    if n > _ONE_THREAD:
        yield
        return
    with _lock:
        if not _users:
            _limited[:] = [(lib, k) for lib in _libraries() if (k := lib.get_num_threads()) > 1]
            for library, _ in _limited:
                library.set_num_threads(1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            for library, threads in _limited if not _users else ():
                library.set_num_threads(threads)


@cache
def _libraries() -> list[Any]:
    """Return the BLAS libraries of the program."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


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
