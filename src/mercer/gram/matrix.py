"""The kernel matrix as an object: tiles, products and subsets, never the whole unless asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels import objects as kernel_objects

from .layout import Layout, choose_layout


def native_jobs(n_jobs: int | None) -> int:
    """Return scikit-learn's `n_jobs` as the native core counts it: 0 is the default number."""
    if n_jobs is None:
        return 0
    if int(n_jobs) == 0:
        raise ValueError("n_jobs=0 has no meaning; use None for the default or -1 for all cores.")
    return int(n_jobs)


class Gram:
    """The kernel matrix of a bound kernel on a set of objects, evaluated in tiles.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    X : objects
        Validated objects.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the kernel values; see `mercer.gram.layout.choose_layout`.

    Attributes
    ----------
    n : int
        Number of objects.
    dtype : str
        The precision chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> gram = Gram(Linear(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> gram.matmul(np.ones(2))
    array([7., 3.])
    """

    def __init__(self, kernel: Any, X: Any, dtype: str = "auto") -> None:
        self.kernel = kernel
        self.X = X
        self._layout, self._objects = choose_layout(kernel, X, dtype)
        self._evaluator = self._layout.evaluator(self._objects, self._objects, X, X)

    @property
    def n(self) -> int:
        """Number of objects."""
        return int(self._objects.n)

    @property
    def dtype(self) -> str:
        """Precision of the kernel values."""
        return self._layout.dtype

    @property
    def native(self) -> tuple[Any, Any]:
        """The native evaluator and the native objects, for solvers."""
        return self._evaluator, self._objects

    def diag(self) -> np.ndarray:
        """Return k(x, x) for all objects, in float64."""
        return self._evaluator.diag()

    def tile(self, rows: Any = None, cols: Any = None, n_jobs: int | None = None) -> np.ndarray:
        """Return the block of the matrix at these rows and columns (default: all)."""
        block = self._evaluator.tile(_index(rows), native_jobs(n_jobs))
        return block if cols is None else block[:, np.asarray(cols)]

    def matmul(self, V: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return K @ V in float64 without storing K."""
        return _product(self._evaluator, V, self.n, n_jobs)


class Prepared:
    """Objects that stay (support vectors), ready to be compared with many others.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    Z : objects
        Validated objects; for a precomputed kernel the integer positions of their columns.
    dtype : {"auto", "float32", "float64"}, default="float64"
        Precision of the kernel values.
    """

    def __init__(self, kernel: Any, Z: Any, dtype: str = "float64") -> None:
        self.kernel = kernel
        if kernel.pairwise:
            self._ids: np.ndarray | None = np.ascontiguousarray(Z, dtype=np.int64)
            self._layout: Layout = choose_layout(kernel, np.zeros((1, 1)), "float64")[0]
            self._objects = self._layout.prepare(None, self._ids)
        else:
            self._ids = None
            self._layout, self._objects = choose_layout(kernel, Z, dtype)
        self.Z = Z

    @property
    def dtype(self) -> str:
        """Precision of the kernel values."""
        return self._layout.dtype

    def _against(self, X: Any) -> Any:
        rows = self._layout.prepare(X)
        if self._ids is not None and self._ids.size and self._ids.max() >= X.shape[1]:
            raise ValueError(
                f"the kernel matrix has {X.shape[1]} columns, but the model uses column "
                f"{int(self._ids.max())}: pass the values against all training objects."
            )
        return self._layout.evaluator(rows, self._objects, X, self.Z)

    def tile(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the matrix of values between `X` and the prepared objects."""
        return self._against(X).tile(None, native_jobs(n_jobs))

    def matmul(self, X: Any, V: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return K(X, Z) @ V in float64 without storing K."""
        return _product(self._against(X), V, int(self._objects.n), n_jobs)

    def grouped_matmul(
        self, X: Any, groups: list[tuple[int, np.ndarray]], n_jobs: int | None = None
    ) -> np.ndarray:
        """Return the products of consecutive groups of columns, side by side.

        Parameters
        ----------
        X : objects
            Validated objects.
        groups : list of (first, V)
            ``K(X, Z[first : first + len(V)]) @ V`` is one block of columns of the result.
        n_jobs : int, optional
            Threads.
        """
        segments = [(int(first), np.ascontiguousarray(V, dtype=np.float64)) for first, V in groups]
        return self._against(X).product(segments, native_jobs(n_jobs))


def evaluate(
    kernel: Any, X: Any, Z: Any = None, dtype: str = "float64", n_jobs: int | None = None
) -> np.ndarray:
    """Return the full matrix of kernel values between validated objects.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    X, Z : objects
        Rows and columns; `Z` defaults to `X`.
    dtype : {"float64", "float32", "auto"}
        Precision.
    n_jobs : int, optional
        Threads.
    """
    if Z is None:
        return Gram(kernel, X, dtype).tile(n_jobs=n_jobs)
    if kernel.pairwise:
        columns = np.arange(kernel_objects.count(Z), dtype=np.int64)
        return Prepared(kernel, columns).tile(X, n_jobs)
    return Prepared(kernel, Z, dtype).tile(X, n_jobs)


def _index(rows: Any) -> np.ndarray | None:
    if rows is None:
        return None
    return np.ascontiguousarray(rows, dtype=np.int64)


def _product(evaluator: Any, V: np.ndarray, n: int, n_jobs: int | None) -> np.ndarray:
    V = np.asarray(V, dtype=np.float64)
    if V.ndim not in (1, 2) or len(V) != n:
        raise ValueError(f"V must have {n} rows, one per object of the kernel; got {V.shape}.")
    columns = V[:, None] if V.ndim == 1 else V
    out = evaluator.product([(0, np.ascontiguousarray(columns))], native_jobs(n_jobs))
    return out[:, 0] if V.ndim == 1 else out
