"""A low-rank root of a kernel matrix: Cholesky factorisation with pivoting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram

_RANK = 1e-15
"""What is left of the diagonal, relative to its largest entry, when the factor ends."""


def pivoted_cholesky(gram: Gram, max_rank: int) -> NDArray[np.float64] | None:
    """Return L with K = L L' up to rounding, None where it needs more columns than allowed.

    The pivot is the object that the ones before explain least; its row of the matrix is the only
    one that is evaluated (S. Fine, K. Scheinberg, "Efficient SVM training using low-rank kernel
    representations", JMLR 2, 2001).

    Parameters
    ----------
    gram : Gram
        A positive semidefinite kernel matrix.
    max_rank : int
        Largest number of columns.

    Returns
    -------
    array of shape (n, rank) or None
        The factor.

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
    rest = gram.diag().astype(np.float64)
    n, largest = len(rest), float(rest.max(initial=0.0))
    L = np.empty((n, min(16, n)))
    rank = 0
    while rank < n:
        pivot = int(np.argmax(rest))
        if not rest[pivot] > _RANK * largest:
            break
        if rank >= max_rank:
            return None
        if rank == L.shape[1]:
            L = np.concatenate([L, np.empty((n, min(rank, n - rank)))], axis=1)
        column = gram.tile([pivot])[0].astype(np.float64) - L[:, :rank] @ L[pivot, :rank]
        column /= np.sqrt(rest[pivot])
        L[:, rank] = column
        rest -= column * column
        rest[pivot] = -np.inf
        rank += 1
    return np.ascontiguousarray(L[:, :rank])
