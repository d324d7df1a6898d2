"""A low-rank root of a kernel matrix: Cholesky factorisation with pivoting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.numerics.pivoted_cholesky import NegativeResidualError, chooser
from mercer.numerics.pivoted_cholesky import pivoted_cholesky as factorise

_DIAGONAL_LEFT = (
    1e-15  # what is left of the diagonal, relative to its largest entry, when the factor ends
)


def pivoted_cholesky(gram: Gram, max_rank: int) -> NDArray[np.float64] | None:
    """Return L with K = L L' up to rounding, None where it needs more columns than allowed.

    Of a conditionally positive definite kernel of order 1 it is the root of

        k(x_i, x_j) - k(x_i, x_0) - k(x_0, x_j) + k(x_0, x_0),

    which is positive semidefinite. Where coefficients sum to 0, it gives the same squared norm, and
    the same values up to a constant.
    """
    diagonal = gram.diag().astype(np.float64)
    offset = np.zeros(gram.n)
    if gram.kernel.definiteness.order == 1:
        offset = gram.tile([0])[0].astype(np.float64) - 0.5 * diagonal[0]
        diagonal = np.maximum(diagonal - 2.0 * offset, 0.0)  # which rounding may make negative
    try:
        columns, _, status = factorise(
            lambda i: gram.tile([i])[0].astype(np.float64) - offset - offset[i],
            diagonal,
            chooser("largest", diagonal, 0.0),
            min(max_rank, gram.n),
            _DIAGONAL_LEFT,
        )
    except NegativeResidualError:  # of a kernel that only claims to be positive semidefinite
        return None
    return None if status == "rank" else np.ascontiguousarray(columns.T)
