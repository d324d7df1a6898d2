"""Kernel expansions f(x) = sum_i v_i k(x_i, x) + b, the form of every fitted machine.

Kernels that are conditionally positive definite of order 2 have a linear function <a, x> beside
it, of all columns or of those that they look at.
An expansion may have several outputs, which share the vectors x_i: a column of coefficients and
an intercept for each. It is evaluated in tiles, so that no matrix of the size of the data exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from mercer.gram import Prepared, Products
from mercer.gram.overflow import refuse_infinite
from mercer.kernels import Kernel, Linear
from mercer.kernels.columns_used import columns_seen, linear_columns
from mercer.objects.arrays import Array
from mercer.objects.tables import is_frame, select
from mercer.objects.validation import VECTORS, column_names, count, take
from mercer.persistence import DamagedFileError
from mercer.persistence.model_files import read, write
from mercer.persistence.values import Writer
from mercer.solvers.centring import centring


class Expansion:
    """A function f(x) = sum_i v_i k(x_i, x) + b, or with a linear function <a, x> added to it.

    Parameters
    ----------
    kernel : Kernel
        A kernel bound to data.
    vectors : objects
        The x_i. For a precomputed kernel, the columns (int) of its matrix that they stand for.
    coef : array-like of shape (n_terms,) or (n_terms, n_outputs)
        The coefficients v_i.
    intercept : float or array-like of shape (n_outputs,), default=0.0
        The constants b.
    dtype : {"float32", "float64"}, default="float64"
        Precision of the kernel values.
    poly_coef : array-like of shape (n_columns,) or (n_columns, n_outputs), optional
        The coefficients a, for objects that are rows with columns of numbers.
    poly_columns : sequence of int, optional
        The columns that they belong to. By default those that the kernel looks at where it is of
        order 2, and all columns for other kernels.
    feature_names : sequence of str, optional
        The names of the columns, by default those of `vectors` if they are a data frame. Frames
        with other columns, or in another order, are refused.

    Examples
    --------
    >>> from mercer.expansion import Expansion
    >>> from mercer.kernels import Linear
    >>> f = Expansion(Linear(), [[1.0, 0.0], [0.0, 1.0]], [2.0, -1.0], intercept=0.5)
    >>> f([[3.0, 4.0]])
    array([2.5])
    """

    poly_coef: Array | None = None
    poly_columns: list[int] | None = None
    feature_names: list[str] | None = None

    def __init__(
        self,
        kernel: Kernel,
        vectors: Any,
        coef: ArrayLike,
        intercept: ArrayLike = 0.0,
        dtype: str = "float64",
        poly_coef: ArrayLike | None = None,
        poly_columns: Sequence[int] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        kernel.require_bound("as an expansion")
        names = column_names(vectors) if feature_names is None else list(feature_names)
        if not kernel.pairwise and not (
            sp.issparse(vectors) or (isinstance(vectors, np.ndarray) and vectors.dtype.kind == "f")
        ):
            vectors = kernel.validate(vectors) if len(vectors) else vectors
        coef = np.asarray(coef, dtype=np.float64)
        intercept = np.asarray(intercept, dtype=np.float64)
        n_terms = count(vectors)
        if coef.ndim not in (1, 2) or len(coef) != n_terms:
            raise ValueError(
                f"coef must have one row for each of the {n_terms} vectors; got shape {coef.shape}."
            )
        if intercept.ndim and intercept.shape != coef.shape[1:]:
            raise ValueError(
                f"intercept must be a number or have shape {coef.shape[1:]}; got {intercept.shape}."
            )
        if poly_coef is not None:
            poly_coef = np.asarray(poly_coef, dtype=np.float64)
            if poly_columns is None and kernel.definiteness.order == 2:
                poly_columns = linear_columns(kernel)
            columns = None if poly_columns is None else [int(c) for c in poly_columns]
            _check_linear(poly_coef, coef, columns, vectors)
            self.poly_coef, self.poly_columns = poly_coef, columns
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64'; got {dtype!r}.")
        self.kernel, self.vectors, self.coef, self.dtype = kernel, vectors, coef, dtype
        self.intercept = intercept if intercept.ndim else float(intercept)
        if names is not None:
            self.feature_names = names

    @property
    def n_terms(self) -> int:
        """Number of vectors."""
        return len(self.coef)

    @property
    def n_outputs(self) -> int:
        """Number of functions that share the vectors."""
        return 1 if self.coef.ndim == 1 else self.coef.shape[1]

    def __call__(self, X: Any) -> Array:
        """Return the values f(x) of all objects in `X`, of shape (n_X,) or (n_X, n_outputs).

        A precomputed kernel takes its matrix, with one column for each training object.
        """
        return self.evaluate(self._checked(X))

    def evaluate(self, X: Any, n_jobs: int | None = None) -> Array:
        """Return the values for objects that are already in the form the kernel works on."""
        columns = self.coef if self.coef.ndim == 2 else self.coef[:, None]
        if self.n_terms == 0:
            values = np.zeros((count(X), columns.shape[1]))
        else:
            values = self._products(X, n_jobs)
        values = values + self.intercept
        if self.poly_coef is not None:
            numbers = select(X, self.poly_columns, VECTORS)
            if not sp.issparse(numbers):
                numbers = np.asarray(numbers, dtype=np.float64)
            values += (numbers @ self.poly_coef).reshape(values.shape)
        refuse_infinite(values, self.kernel)
        return values if self.coef.ndim == 2 else values[:, 0]

    def norm2(self) -> Array | float:
        """Return the squared norm sum_ij v_i v_j k(x_i, x_j) of each output.

        Constants and linear functions do not count.
        """
        columns = self.coef if self.coef.ndim == 2 else self.coef[:, None]
        if self.kernel.pairwise:
            raise ValueError(
                "the norm of an expansion of a precomputed kernel needs the kernel matrix of its "
                "vectors, which the expansion does not keep."
            )
        values = np.zeros_like(columns)
        if self.n_terms:
            values = Prepared(self.kernel, self.vectors, self.dtype).matmul(self.vectors, columns)
        squares = np.maximum((columns * values).sum(axis=0), 0.0)
        return squares if self.coef.ndim == 2 else float(squares[0])

    def __getitem__(self, output: Any) -> Expansion:
        """Return the expansion of one output (an int) or of several (a slice or a list)."""
        if self.coef.ndim == 1:
            raise IndexError("an expansion with a single output has no outputs to choose from.")
        intercept = self.intercept if np.ndim(self.intercept) == 0 else self.intercept[output]  # type: ignore[index]
        linear = None if self.poly_coef is None else self.poly_coef[:, output]
        return self._with(coef=self.coef[:, output], intercept=intercept, poly_coef=linear)

    def take(self, index: ArrayLike) -> Expansion:
        """Return the expansion over some of the vectors, given by positions or a mask."""
        index = np.asarray(index)
        index = np.flatnonzero(index) if index.dtype == bool else index
        return self._with(vectors=take(self.vectors, index), coef=self.coef[index])

    def reduce(self, tol: float = 0.0) -> Expansion:
        """Return the expansion without vectors whose coefficients are all at most `tol`.

        With 0 the function stays exactly the same.
        """
        size = np.abs(self.coef)
        return self.take((size if size.ndim == 1 else size.max(axis=1, initial=0.0)) > tol)

    def save(self, path: str | Path) -> None:
        """Write the expansion to a file that runs no code when read, whole or not at all.

        Kernels that hold Python functions cannot be written; pickle them. Columns that the kernel
        does not look at are left empty.
        """
        write(Writer.value, self._with(vectors=self._vectors_seen()), path)

    @classmethod
    def load(cls, path: str | Path) -> Expansion:
        """Read an expansion that `save` wrote; a damaged file raises DamagedFileError."""
        found = read(Path(path).read_bytes(), path)
        if not isinstance(found, Expansion):
            name = type(found).__name__
            raise DamagedFileError(f"{path} holds {name}, no expansion; read it with mercer.load.")
        return found

    def _vectors_seen(self) -> Any:
        """Return the vectors; columns that the kernel does not look at are empty."""
        vectors = self.vectors
        columns = None if self.kernel.pairwise else columns_seen(self.kernel)
        if is_frame(vectors):
            vectors = vectors.to_numpy().astype(object)
        if columns is None or len(getattr(vectors, "shape", ())) != 2:
            return vectors
        used = np.zeros(vectors.shape[1], dtype=bool)
        used[columns] = True
        if self.poly_coef is not None:
            used[slice(None) if self.poly_columns is None else self.poly_columns] = True
        if used.all():
            return vectors
        if sp.issparse(vectors):
            kept = sp.csr_matrix(vectors.multiply(used.astype(vectors.dtype)))
            kept.eliminate_zeros()
            return kept
        vectors = vectors.copy()
        vectors[:, ~used] = None if vectors.dtype == object else np.zeros((), dtype=vectors.dtype)
        return vectors

    def _with(self, **changes: Any) -> Expansion:
        """Return an expansion with some of the arguments replaced."""
        own = {name: getattr(self, name) for name in signature(Expansion).parameters}
        return Expansion(**own | changes)

    def __repr__(self) -> str:
        outputs = f", {self.n_outputs} outputs" if self.coef.ndim == 2 else ""
        return f"<Expansion of {self.kernel!r}: {self.n_terms} terms{outputs}>"

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_products", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the attributes that a pickle or a file holds; reject those that do not fit."""
        self.__dict__.update(state)
        self._with()

    @cached_property
    def _products(self) -> Any:
        """The products of the vectors in packed form with the coefficients.

        A linear expansion of more terms than outputs is collapsed to its weight vectors first, in
        double precision; so is one of vectors far from the origin, whose terms cancel.
        """
        columns, rows = self.coef if self.coef.ndim == 2 else self.coef[:, None], self.vectors
        if type(self.kernel) is Linear:
            n, entries = columns.shape[1], rows.nnz if sp.issparse(rows) else rows.size
            if n * rows.shape[1] < entries or centring(self.kernel, rows, True) is not None:
                w = weight_vectors(rows, columns)
                return Products(Prepared(self.kernel, w, "float64"), [(0, np.eye(n))])
        return Products(Prepared(self.kernel, self.vectors, self.dtype), [(0, columns)])

    def _checked(self, X: Any) -> Any:
        if self.kernel.pairwise:
            X = np.asarray(X, dtype=np.float64)
            needed = int(np.max(self.vectors, initial=-1)) + 1
            if X.ndim != 2 or X.shape[1] < needed:
                raise ValueError(
                    "a precomputed matrix needs one column for each training object, at least "
                    f"{needed}; got shape {X.shape}."
                )
            return X
        self._check_names(X)
        against = self.vectors if hasattr(self.vectors, "shape") else None
        X = self.kernel.validate(X, against)
        if sp.issparse(self.vectors) and isinstance(X, np.ndarray):
            return sp.csr_matrix(X)
        if sp.issparse(X) and not sp.issparse(self.vectors):
            raise ValueError(
                "X is sparse, but the expansion's vectors are dense; pass X.toarray()."
            )
        return X

    def _check_names(self, X: Any) -> None:
        """Reject a frame whose columns are not those of the vectors, in their order."""
        names, expected = column_names(X), self.feature_names
        if names is None or expected is None or names == expected:
            return
        missing = [name for name in expected if name not in names]
        advice = "Pass X[names] with the names in this order."
        if missing:
            advice = f"Missing: {', '.join(map(repr, missing[:5]))}."
        raise ValueError(
            "the columns of X must be those of the expansion's vectors, in the same order: "
            f"{', '.join(map(repr, expected[:10]))}{', ...' if len(expected) > 10 else ''}. "
            f"{advice}"
        )


def _check_linear(a: Array, coef: Array, columns: list[int] | None, vectors: Any) -> None:
    """Reject coefficients of a linear function that do not fit outputs and columns."""
    shape: tuple[int, ...] = getattr(vectors, "shape", ())
    n_columns = (shape[1] if len(shape) == 2 else None) if columns is None else len(columns)
    fits = a.ndim == coef.ndim and a.shape[1:] == coef.shape[1:]
    if fits and n_columns in (None, len(a)):
        return
    outputs = f" and each of the {coef.shape[1]} outputs" if coef.ndim == 2 else ""
    there = "" if n_columns is None else f" for {n_columns} feature{'s' * (n_columns != 1)}"
    raise ValueError(
        f"poly_coef must have one number for each feature{outputs}; got shape {a.shape}{there}."
    )


def weight_vectors(vectors: Any, coef: Array) -> Any:
    """Return the vectors w = sum_i v_i x_i of a linear expansion, one row for each output.

    Vectors around a point p far from the origin are summed as sum_i v_i (x_i - p) + p sum_i v_i,
    with compensation; the second sum is 0 where it is rounding of the v_i.
    """
    moved = centring(Linear(), vectors, True)
    rows = vectors if moved is None else moved.rows
    if not sp.issparse(rows):
        if moved is not None:
            return moved.weights(rows, coef.T)
        return coef.T @ rows.astype(np.float64, copy=False)
    # Over the columns that occur: SciPy's product takes memory for all of them.
    occurring, place = np.unique(rows.indices, return_inverse=True)
    shape = (rows.shape[0], len(occurring))
    few = sp.csr_matrix((rows.data.astype(np.float64), place, rows.indptr), shape)
    product = (
        sp.csr_matrix(coef.T) @ few if moved is None else moved.weights(few, coef.T, occurring)
    )
    w = sp.csr_matrix(product)
    w.sort_indices()
    return sp.csr_matrix((w.data, occurring[w.indices], w.indptr), (coef.shape[1], rows.shape[1]))
