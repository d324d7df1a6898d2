"""A low-rank root of a kernel matrix: Cholesky factorisation with pivoting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.numerics.pivoted_cholesky import NegativeResidualError, chooser
from mercer.numerics.pivoted_cholesky import pivoted_cholesky as factorise

_RANK = 1e-15  # what is left of the diagonal, relative to its largest entry, when the factor ends


def pivoted_cholesky(gram: Gram, max_rank: int) -> NDArray[np.float64] | None:
    """Return L with K = L L' up to rounding, None where it needs more columns than allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.solvers.factor import pivoted_cholesky
    >>> pivoted_cholesky(Gram(Linear(), np.array([[1.0], [2.0], [3.0]])), 3)
    array([[1.],
           [2.],
           [3.]])
    """
    diagonal = gram.diag().astype(np.float64)
    try:
        columns, _, status = factorise(
            lambda i: gram.tile([i])[0].astype(np.float64),
            diagonal,
            chooser("largest", diagonal, 0.0),
            min(max_rank, gram.n),
            _RANK,
        )
    except NegativeResidualError:  # of a kernel that only claims to be positive semidefinite
        return None
    return None if status == "rank" else np.ascontiguousarray(columns.T)
