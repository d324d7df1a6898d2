"""Sums of derivatives of a kernel matrix by the parameters of its kernel, in tiles.

The gradient of a function of K by the parameters theta of the kernel is

    sum_ij W_ij dK_ij / dtheta,     W = the gradient of the function by K.

The kernel states dK / dtheta between two sets of objects; it is asked for blocks of rows, so that
no array of n x n x p numbers exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.objects import validation as kernel_objects
from mercer.objects.arrays import Array

if TYPE_CHECKING:
    from .interface import Kernel
    from .matrix import Gram


_BYTES = 32 << 20  # of one derivative on one block of rows


def contract(gram: Gram, W: Array) -> dict[str, Array]:
    """Return sum_ij W_ij dK_ij / dtheta for every parameter; see :meth:`Gram.contract`."""
    W = np.asarray(W, dtype=np.float64)
    if W.shape != (gram.n, gram.n):
        raise ValueError(f"W must have shape {(gram.n, gram.n)}; got {W.shape}.")
    return contracted(gram.kernel, gram.X, W)


def contracted(
    kernel: Kernel, X: Any, W: Array, wanted: frozenset[str] | None = None
) -> dict[str, Array]:
    """Return these sums for a bound kernel and validated objects, by some parameters or all."""
    n = len(W)
    step = max(1, min(n, _BYTES // (8 * max(n, 1))))
    if step >= n:
        return {name: np.asarray(v) for name, v in kernel.contract(X, X, W, wanted).items()}
    totals: dict[str, Array] = {}
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        block, diagonal = kernel_objects.take(X, rows), np.diagonal(W)[rows]
        _add(totals, kernel.contract(block, X, W[rows], wanted))
        if not kernel.depends_on_identity:
            continue
        # Rows that are compared with a copy of themselves lack what a sample shares with itself.
        again = kernel_objects.take(X, rows)
        for other, sign in ((block, 1.0), (again, -1.0)):
            parts = kernel.contract(block, other, np.diag(sign * diagonal), wanted)
            _add(totals, parts)
    return totals


def _add(totals: dict[str, Array], parts: dict[str, Any]) -> None:
    for name, part in parts.items():
        totals[name] = totals[name] + part if name in totals else np.asarray(part)
