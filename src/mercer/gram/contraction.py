"""Sums of derivatives of a kernel matrix by the parameters of its kernel, in tiles.

The gradient of a function of K by the parameters theta of the kernel is

    sum_ij W_ij dK_ij / dtheta,     W = the gradient of the function by K.

The kernel states dK / dtheta between two sets of objects; it is asked for blocks of rows, so that
no array of n x n x p numbers exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mercer.objects import validation as kernel_objects

if TYPE_CHECKING:
    from .matrix import Gram

Array = NDArray[np.float64]

_BYTES = 32 << 20  # of one derivative on one block of rows


def contract(gram: Gram, W: Array) -> dict[str, Array]:
    """Return sum_ij W_ij dK_ij / dtheta for every parameter; see :meth:`Gram.contract`."""
    W = np.asarray(W, dtype=np.float64)
    if W.shape != (gram.n, gram.n):
        raise ValueError(f"W must have shape {(gram.n, gram.n)}; got {W.shape}.")
    X = gram.X
    totals: dict[str, Array] = {}
    step = max(1, min(gram.n, _BYTES // (8 * max(gram.n, 1))))
    for first in range(0, gram.n, step):
        rows = slice(first, min(first + step, gram.n))
        block = X if step >= gram.n else kernel_objects.take(X, rows)
        for name, matrix in gram.kernel._gradient(block, X).items():
            part = np.einsum("...ij,ij->...", matrix, W[rows])
            totals[name] = totals[name] + part if name in totals else np.asarray(part)
    return totals
