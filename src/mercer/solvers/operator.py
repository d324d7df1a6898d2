"""What a solver may ask of the data: the protocol of operators, and designs of linear machines.

An operator is the linear map A of a problem (`mercer.solvers.problem`): from coefficients or
weights w to the values A w at the objects. `mercer.gram.Gram` is one, the kernel matrix, and
:class:`Design` another, a matrix of rows x_i with one weight for each column. A solver names what
it uses beyond the protocol in `Solver.requires`: ``native`` (a Gram: kernel values by the native
core) or ``csr`` (a Design: the rows in compressed form). An operator with one weight for each
column has that of its absolute entries, ``absolute``, by which a proof bounds rounding.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from mercer.objects.arrays import Array


class Operator(Protocol):
    """The linear map of a problem; all methods return arrays in float64 unless stated otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.solvers import Design
    >>> X, w = np.array([[3.0, 4.0], [0.0, 1.0]]), np.array([1.0, 1.0])
    >>> [operator.dot(w).tolist() for operator in (Design(X), Gram(Linear(), X))]
    [[7.0, 1.0], [29.0, 5.0]]
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of objects, and of coefficients or weights."""

    @property
    def dtype(self) -> str:
        """Precision of the entries: "float32" or "float64"."""

    @property
    def definiteness(self) -> Any:
        """Definiteness of the inner products of the objects: of the kernel, or of X X'."""

    def dot(self, w: Array, rows: Any = None) -> Array:
        """Return A w, at some rows or at all."""

    def t_dot(self, u: Array, rows: Any = None) -> Array:
        """Return A' u, with u given at some rows or at all."""

    def rows(self, index: Any) -> Array:
        """Return some rows of A, in its precision."""

    def diag(self) -> Array:
        """Return the inner product of each object with itself: k(x, x), or |x|^2."""

    def take(self, index: Any) -> Any:
        """Return the operator of some objects, which shares what is stored."""

    def in_precision(self, dtype: str) -> Any:
        """Return the operator in a precision, itself where it has it."""

    def signed(self, sign: Array) -> Any:
        """Return the operator of objects that are multiplied by 1 or -1 in feature space."""


class _PositiveSemidefinite(str):
    """The claim of X X', as `mercer.kernels.Definiteness` has it, which solvers do not load."""

    order, is_psd = 0, True


class Design:
    """The design matrix of a linear machine: rows of numbers, one weight for each column.

    The problem minimises 1/2 |w|^2, or a penalty on w, plus losses of the values X w; no matrix of
    the size of the number of rows squared is made.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The rows, finite.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import Design, Problem, Settings, solve
    >>> problem = Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2))
    >>> design = Design([[-1.0, 0.0], [1.0, 0.0]])
    >>> found = solve(problem, design, Settings(tol=1e-9), solver="coordinate_descent")
    >>> found.status, found.coef
    ('optimal', array([1., 0.]))
    """

    definiteness: Any = _PositiveSemidefinite("positive semidefinite")

    def __init__(self, X: Any) -> None:
        matrix: Any = X.tocsr() if sp.issparse(X) else np.asarray(X)
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
        if sp.issparse(matrix) and not matrix.has_canonical_format:
            matrix = matrix.copy()  # entries of one column are added up, as a product does
            matrix.sum_duplicates()
        if matrix.ndim != 2 or not np.isfinite(getattr(matrix, "data", matrix)).all():
            raise ValueError(
                f"the rows of a Design are finite numbers, an array of shape (n, d); got shape "
                f"{matrix.shape}."
            )
        self.matrix: Any = matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    @property
    def dtype(self) -> str:
        """Precision of the entries."""
        return str(self.matrix.dtype)

    def dot(self, w: Array, rows: Any = None) -> Array:
        """Return X w."""
        values = np.asarray(self.matrix @ w, dtype=float)
        return values if rows is None else values[rows]

    def t_dot(self, u: Array, rows: Any = None) -> Array:
        """Return X' u, with u given at some rows, which may repeat, or at all."""
        spread: Any = u if rows is None else np.bincount(rows, u, self.shape[0])
        return np.asarray(self.matrix.T @ spread, dtype=float)

    def rows(self, index: Any) -> Array:
        """Return some rows as a dense array."""
        found = self.matrix[index]
        return np.atleast_2d(found.toarray() if sp.issparse(found) else found)

    def diag(self) -> Array:
        """Return the squared lengths of the rows."""
        X = self.matrix
        squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
        return np.asarray(squares, dtype=float).reshape(-1)

    def take(self, index: Any) -> Design:
        """Return the design of some rows."""
        return Design(self.matrix[index])

    def in_precision(self, dtype: str) -> Design:
        """Return the design in "float32" or "float64"."""
        return self if dtype == self.dtype else Design(self.matrix.astype(dtype))

    def signed(self, sign: Array) -> Design:
        """Return the design of the rows times 1 or -1."""
        return Design(sp.diags_array(sign) @ self.matrix)

    @cached_property
    def absolute(self) -> Design:
        """The design of the absolute values of the entries."""
        return Design(abs(self.matrix))

    @cached_property
    def csr(self) -> Any:
        """The rows in compressed form and double precision, for solvers that visit them."""
        return sp.csr_matrix(self.matrix, dtype=np.float64)
