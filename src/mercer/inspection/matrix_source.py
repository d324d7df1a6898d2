"""The kernel matrix under inspection, in blocks of rows: of a kernel on objects, or given.

Everything that asks about a kernel matrix asks through `KernelValues`, so that a kernel on many
objects costs a few hundred rows of memory, and a matrix given by the user is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram import Gram, evaluate
from mercer.kernels import Definiteness, Kernel, resolve
from mercer.objects.validation import count, take

_BLOCK = 1 << 21  # entries of a block of rows: 16 MB of float64


class KernelValues:
    """The matrix of a kernel on some objects, or a matrix that the user supplies.

    `kernel`: a kernel or its name, such as "rbf"; a function ``f(A, B)`` of two collections
    that returns the matrix of their values; or the matrix itself, which need not be symmetric. `X`:
    the objects of a kernel or function; None for a matrix.

    `n`: number of objects. `kernel`: the kernel, bound to the objects; None for a matrix.
    `objects`: the validated objects. `claim`: the definiteness that the kernel states. `eps`:
    distance from 1 to the next number of the type in which the values were computed. `diagonal()`,
    `matmul(V)`: the values k(x, x), and products without the whole matrix.
    """

    def __init__(self, kernel: Any, X: Any = None) -> None:
        self.kernel: Kernel | None = None
        self.objects: Any = None
        self.claim: Definiteness | None = None
        self.eps = float(np.finfo(np.float64).eps)
        if isinstance(kernel, str | Kernel) or callable(kernel):
            self._from_kernel(resolve(kernel), X)
        elif hasattr(kernel, "fit"):
            raise TypeError(
                f"a kernel, its name or its matrix comes first; got {type(kernel).__name__}. The "
                "kernel of a fitted machine is model.kernel_; of a pipeline, model[-1].kernel_ "
                "with the objects model[:-1].transform(X)."
            )
        else:
            self._from_matrix(kernel, X)

    def _from_kernel(self, kernel: Kernel, X: Any) -> None:
        if X is None:
            raise TypeError(
                f"a kernel is asked about objects; pass them as X: check({kernel!r}, X)."
            )
        if kernel.pairwise:
            self.eps = _resolution(X)
        kernel, X = kernel.bound_to(X)
        self.kernel, self.objects, self.claim = kernel, X, kernel.definiteness
        gram = Gram(kernel, X, "float64")
        self.n = gram.n
        self._rows: Callable[[np.ndarray], np.ndarray] = gram.tile
        self.matmul: Callable[[np.ndarray], np.ndarray] = gram.matmul
        self.diagonal: Callable[[], np.ndarray] = gram.diag

    def _from_matrix(self, matrix: Any, X: Any) -> None:
        if X is not None:
            raise TypeError("X is given together with a matrix; pass a kernel and X, or a matrix.")
        K = as_square(matrix)
        self.eps = _resolution(matrix)
        self.n = len(K)
        self._rows = lambda rows: K[rows]
        self._columns = lambda columns: K[:, columns]
        self.matmul = lambda V: K @ V
        self.diagonal = lambda: np.diagonal(K).copy()

    def rows(self, index: Any) -> np.ndarray:
        """Return some rows of the matrix, checked to be finite."""
        index = np.asarray(index, dtype=np.int64)
        block = np.asarray(self._rows(index), dtype=np.float64)
        if not np.isfinite(block).all():
            i, j = np.argwhere(~np.isfinite(block))[0]
            raise ValueError(
                f"the value at ({int(index[i])}, {int(j)}) is {block[i, j]}; a kernel value must "
                "be a finite number. Remove the object, or scale the data so that it is one."
            )
        return block

    def columns(self, index: np.ndarray) -> np.ndarray:
        """Return some columns of the matrix, which are the rows only if it is symmetric."""
        if self.kernel is None:
            return self._columns(index)
        if self.kernel.pairwise:  # validated to be symmetric
            return self.rows(index).T
        return evaluate(self.kernel, self.objects, take(self.objects, index))

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the first and the last row (exclusive) of blocks of rows."""
        step = max(1, _BLOCK // self.n)
        for start in range(0, self.n, step):
            yield start, min(start + step, self.n)

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the matrix in blocks of rows, each with the index of its first row."""
        for start, stop in self.ranges():
            yield start, self.rows(np.arange(start, stop))

    @cached_property
    def largest(self) -> float:
        """The largest absolute value."""
        largest = float(np.abs(self.diagonal()).max())
        return max([largest, *(float(np.abs(block).max()) for _, block in self.blocks())])

    def full(self) -> np.ndarray:
        """Return the whole matrix."""
        return self.rows(np.arange(self.n))

    def vectors(self) -> np.ndarray | None:
        """Return the objects as dense rows; None for other objects and for d >= n columns."""
        X = self.objects
        if self.kernel is None or self.kernel.pairwise:
            return None
        if getattr(X, "ndim", 1) == 2 and X.shape[1] >= self.n:
            return None
        if sp.issparse(X):
            return X.toarray()
        if isinstance(X, np.ndarray) and X.ndim in (1, 2) and X.dtype.kind in "fiub":
            return X.reshape(count(X), -1).astype(np.float64)
        return None


def as_square(matrix: Any) -> np.ndarray:
    """Return a matrix as a finite square array of float64, or say what is wrong with it."""
    if sp.issparse(matrix):
        matrix = matrix.toarray()
    try:
        K = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"a kernel, a function of two collections or a square matrix of numbers is needed; "
            f"got {type(matrix).__name__}."
        ) from None
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(
            f"a kernel matrix holds the values between the objects themselves, so it must be "
            f"square; got an array of shape {K.shape}."
        )
    if K.size == 0:
        raise ValueError("the kernel matrix is empty; at least one object is needed.")
    if not np.isfinite(K).all():
        i, j = (int(a) for a in np.argwhere(~np.isfinite(K))[0])
        raise ValueError(
            f"K[{i}, {j}] is {K[i, j]}; a kernel value must be a finite number. Remove the object "
            "or recompute its values."
        )
    return K


def _resolution(matrix: Any) -> float:
    """Return the machine epsilon of the type of a matrix; exact types count as float64."""
    dtype = np.dtype(getattr(matrix, "dtype", np.float64))
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)
