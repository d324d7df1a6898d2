"""Checks that objects have a length in feature space: k(x, x) >= 0, and k(x, z) = 0 if it is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.objects.validation import stored_alike, take

from .interface import Kernel
from .kernel_diagonal import check_nonnegative
from .matrix import Gram, Prepared

_SAMPLE = 64  # objects of norm 0 that are compared with others
_ZERO_VALUE = 1e-12  # a value below this share of the largest k(x, x) counts as 0


def check_norms(kernel: Kernel, X: Any, against: Any = None) -> None:
    """Reject objects x with k(x, x) < 0, and with k(x, x) = 0 and a k(x, z) that is not 0."""
    try:
        diagonal = kernel.diag(X)
    except OverflowError:  # left to the evaluation, which may need no such number
        return
    check_nonnegative(diagonal, kernel)
    if diagonal.all():
        return
    if against is None:
        gram = Gram(kernel, X, "float64")
        check_zero_norms(kernel, diagonal, gram.tile)
    else:
        X, Z = stored_alike(X, against)
        prepared = Prepared(kernel, Z)
        check_zero_norms(kernel, diagonal, lambda zeros: prepared.tile(take(X, zeros)))


def check_zero_norms(
    kernel: Kernel, diagonal: np.ndarray, rows: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Reject objects x with k(x, x) = 0 and one of the values k(x, z) of `rows` that is not 0."""
    zeros = np.flatnonzero(diagonal == 0.0)
    if kernel.definiteness.is_psd or not len(zeros):
        return
    zeros = zeros[:: -(-len(zeros) // _SAMPLE)]
    values = rows(zeros)
    i, j = np.unravel_index(int(np.abs(values).argmax()), values.shape)
    if abs(values[i, j]) > _ZERO_VALUE * float(diagonal.max()):
        conditional = " Use Projected(kernel) instead." if kernel.definiteness.order else ""
        raise ValueError(
            f"k(x, x) = 0 for object {zeros[i]} under {kernel!r}, and k(x, z) = "
            f"{values[i, j]:.6g} with object {j}: it is not positive semidefinite, and x has no "
            f"norm in feature space.{conditional}"
        )
