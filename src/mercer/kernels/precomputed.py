"""A kernel matrix that the user supplies."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.gram.symmetry_check import ASYMMETRY
from mercer.objects.validation import MATRIX, as_matrix

from .base import Kernel


class Precomputed(Kernel):
    """Values that were computed elsewhere: the input is the kernel matrix itself.

    .. math:: k(i, j) = K_{ij}

    Training takes the square matrix of the training objects; prediction takes one row per new
    object and one column per training object. Nothing is known about its definiteness.

    Notes
    -----
    Use it for similarities that come from elsewhere: another program, an expensive simulation, a
    matrix under study. The whole matrix must be in memory, n^2 numbers, and predictions need the
    rows of the new objects. Check it with :func:`mercer.inspection.check` first. Avoid it for a
    similarity that you can write as a function: FromFunction computes the tiles that are needed.

    Examples
    --------
    >>> from mercer.kernels import Precomputed
    >>> (2 * Precomputed())([[1.0, 0.5], [0.5, 1.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    _objects = MATRIX

    def validate(self, X: Any, against: Any = None) -> np.ndarray:
        """Return `X` as a finite matrix of values, square and symmetric without `against`."""
        K = as_matrix(X)
        if against is not None:
            if K.shape[1] != against.shape[1]:
                raise ValueError(
                    f"a precomputed matrix needs one column per reference object; got "
                    f"{K.shape[1]} columns for {against.shape[1]} objects."
                )
            return K
        if K.shape[0] != K.shape[1]:
            raise ValueError(
                "Precomputed matrix must be a square matrix: it holds the values between the "
                f"training objects themselves; got a {K.shape[0]}x{K.shape[1]} matrix."
            )
        _refuse_asymmetry(K)
        return K

    def compile(self, builder: Builder) -> None:
        builder.matrix()


def _refuse_asymmetry(K: np.ndarray, block: int = 256) -> None:
    """Reject a matrix that differs from its transpose by more than rounding."""
    allowed = ASYMMETRY * max(abs(float(K.min())), abs(float(K.max())))
    for i in range(0, len(K), block):
        rows, columns = K[i : i + block, i:], K[i:, i : i + block].T
        difference = np.abs(rows - columns)
        if difference.max() > allowed:
            a, b = (int(j) + i for j in np.unravel_index(difference.argmax(), difference.shape))
            raise ValueError(
                f"a kernel matrix must be symmetric; K[{a}, {b}] = {K[a, b]:.6g} but "
                f"K[{b}, {a}] = {K[b, a]:.6g}. Pass (K + K.T) / 2 if the difference is noise."
            )
