"""Matrix products by SciPy's BLAS.

NumPy and SciPy bring a BLAS each, with threads of their own that wait actively for a while after a
call. A factorisation by LAPACK (SciPy's) right after a product by NumPy's shares the cores with
these threads and may take twice the time. Loops that factorise therefore multiply here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

Array = NDArray[np.float64]


def product(A: Array, B: Array) -> Array:
    """Return A @ B for two matrices in float64.

    Parameters
    ----------
    A : array of shape (n, k)
        Left factor.
    B : array of shape (k, m)
        Right factor.

    Returns
    -------
    array of shape (n, m)
        The product, in the order of C.
    """
    # (A B)' = B' A', and the transposed view of an array in the order of C is in that of Fortran,
    # which BLAS takes without a copy.
    left, transpose_left = _transposed(np.asarray(B, dtype=np.float64))
    right, transpose_right = _transposed(np.asarray(A, dtype=np.float64))
    return dgemm(1.0, left, right, trans_a=transpose_left, trans_b=transpose_right).T


def _transposed(M: Array) -> tuple[Array, int]:
    """Return M' in the order of Fortran, or M and that it is to be transposed."""
    return (M.T, 0) if M.flags.c_contiguous else (M, 1)
