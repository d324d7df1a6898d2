"""Kernels of compact support, whose Gram matrix is sparse."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram import evaluate
from mercer.objects.rows import dense_column

from .vector import VectorKernel

_ROWS = 256  # rows of the matrix that are evaluated at a time


class CompactKernel(VectorKernel):
    """Base of the vector kernels of compact support; a subclass supplies `support_radius`."""

    @property
    @abstractmethod
    def support_radius(self) -> float:
        """The difference in any column from which on the kernel is 0."""

    def sparse_gram(self, X: Any, Z: Any = None) -> sp.csr_array:
        """Return the matrix of values between two sets of vectors, without its zeros.

        The vectors are sorted by the column in which they are spread farthest, and every block of
        rows is compared with those columns of the matrix that lie within the support. It is meant
        for sparse linear algebra, such as `scipy.sparse.linalg`; a machine takes the kernel itself
        and computes the tiles that it needs. A multiple of the kernel has the multiple of this
        matrix.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_X, n_features)
            As many rows as the matrix has.
        Z : array or CSR matrix of shape (n_Z, n_features), optional
            As many rows as the matrix has columns; by default those of `X`.

        Returns
        -------
        CSR array of shape (n_X, n_Z), float64
            The same values as ``kernel(X, Z)``, to the last bit.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.kernels import BSpline
        >>> x = np.arange(100.0)[:, None]
        >>> BSpline(order=1, scale=2.0).sparse_gram(x).nnz
        298
        """
        kernel, X, Z = self._bound_to_both(X, Z)
        radius = float(kernel.support_radius)  # type: ignore[attr-defined]
        column = _widest_column(Z)
        x, z = dense_column(X, column), dense_column(Z, column)
        rows, columns = np.argsort(x, kind="stable"), np.argsort(z, kind="stable")
        x, z = x[rows], z[columns]
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for i in range(0, len(rows), _ROWS):
            block = slice(i, min(i + _ROWS, len(rows)))
            first = int(np.searchsorted(z, x[block][0] - radius, side="left"))
            last = int(np.searchsorted(z, x[block][-1] + radius, side="right"))
            if first == last:
                continue
            near = columns[first:last]
            tile = evaluate(kernel, X[rows[block]], Z[near])
            r, c = np.nonzero(tile)
            found.append((rows[block][r], near[c], tile[r, c]))
        shape = (len(rows), len(columns))
        if not found:
            return sp.csr_array(shape, dtype=np.float64)
        r, c, values = (np.concatenate(part) for part in zip(*found, strict=True))
        gram = sp.csr_array(sp.coo_array((values, (r, c)), shape=shape))
        gram.sort_indices()
        return gram


def _widest_column(X: Any) -> int:
    """Return the column in which the vectors are spread farthest."""
    if sp.issparse(X):
        squares, means = X.multiply(X).mean(axis=0), X.mean(axis=0)
        return int(np.argmax(np.asarray(squares) - np.square(np.asarray(means))))
    return int(np.argmax(X.std(axis=0)))
