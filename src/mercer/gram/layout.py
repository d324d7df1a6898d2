"""How objects are stored for the native loops, and in which precision.

A `Layout` is chosen once, from the objects that stay (training rows, support vectors), and then
holds for whatever is compared with them, so that a kernel value depends on its two rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _native
from mercer.kernels import objects as kernel_objects

from .precision import single_suffices
from .program import Columns, Leaf, Mapping, Program, Scalars, compile_kernel

# Up to this many objects the whole problem is solved in double precision.
SMALL = 1000
# Objects on which the size of kernel values is tried out.
SAMPLE = 64
# Rows of a dense array with fewer non-zero entries than this share are stored compressed.
SPARSE_DENSITY = 0.25
SPARSE_COLUMNS = 64

_STORES = {"float32": _native.Objects32, "float64": _native.Objects64}
_EVALUATORS = {"float32": _native.Evaluator32, "float64": _native.Evaluator64}


@dataclass
class Layout:
    """Storage of the objects of one program.

    Attributes
    ----------
    program : Program
        The kernel's program.
    dtype : {"float32", "float64"}
        Precision of the kernel values.
    sparse : bool
        Whether rows are stored compressed.
    centres : list of ndarray or None
        Per leaf a point that is subtracted from dense rows before rounding.
    """

    program: Program
    dtype: str
    sparse: bool
    centres: list[np.ndarray | None]

    def prepare(self, X: Any, ids: np.ndarray | None = None) -> Any:
        """Return the native form of the objects.

        Parameters
        ----------
        X : objects
            Validated objects.
        ids : ndarray of int64, optional
            Positions that stand for the objects in matrix and Python leaves.
        """
        if ids is None:
            ids = np.arange(kernel_objects.count(X), dtype=np.int64)
        store = _STORES[self.dtype](len(ids))
        seen: list[tuple[Any, ...]] = []  # what the leaves look at
        for leaf, centre in zip(self.program.leaves, self.centres, strict=True):
            if leaf.kind in ("matrix", "python"):
                seen.append((leaf.kind,))
                store.index(ids)
                continue
            point = None if centre is None else centre.tobytes()
            seen.append((leaf.columns, leaf.mapping, point))
            if (first := seen.index(seen[-1])) < len(seen) - 1:
                store.share(first)
                continue
            rows = select(X, leaf.columns, leaf.mapping)
            if sp.issparse(rows):
                _add_sparse(store, sp.csr_array(rows))
            elif self.sparse:
                store.compress(_floats(rows))
            else:
                store.dense(_floats(rows), centre)
        for scalars in self.program.scalars:
            store.aux(_numbers(scalars, X))
        return store

    def evaluator(self, a: Any, b: Any, X: Any, Z: Any) -> Any:
        """Return the native evaluator of prepared objects `a` (from `X`) and `b` (from `Z`)."""
        sources = [_source(leaf, X, Z) for leaf in self.program.leaves]
        code = [i if i[0] != "table" else i[1].lowered(self.dtype) for i in self.program.code]
        return _EVALUATORS[self.dtype](code, sources, len(self.program.scalars), a, b)


def choose_layout(kernel: Any, X: Any, dtype: str) -> tuple[Layout, Any]:
    """Return the layout for objects `X` and their native form.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel.
    X : objects
        Validated objects that stay.
    dtype : {"auto", "float32", "float64"}
        "auto" takes float32 where a kernel value then is accurate to 2e-6, and float64
        for small problems and everywhere else.
    """
    program = compile_kernel(kernel)
    if dtype == "auto" and (
        kernel_objects.count(X) <= SMALL
        or any(leaf.kind in ("matrix", "python") for leaf in program.leaves)
    ):
        dtype = "float64"
    sparse = sp.issparse(X)
    single = Layout(program, "float32", sparse, [None] * len(program.leaves))
    if dtype != "float64":
        if not sparse:
            single.centres = [_centre(leaf, X) for leaf in program.leaves]
            if _mostly_zero(X, program):
                compressed = Layout(program, "float32", True, single.centres)
                store = compressed.prepare(X)
                if _accurate(compressed, store, X):
                    return compressed, store
        store = single.prepare(X)
        if dtype == "float32" or _accurate(single, store, X):
            return single, store
    double = Layout(program, "float64", sparse, [None] * len(program.leaves))
    return double, double.prepare(X)


def select(X: Any, columns: Columns, mapping: Mapping = None) -> Any:
    """Return what a leaf looks at: the chosen columns of `X`, or their images under a map."""
    rows = X if columns is None else X[:, list(columns)]
    return rows if mapping is None else mapping(rows)


def _accurate(layout: Layout, store: Any, X: Any) -> bool:
    """Return whether single precision keeps kernel values within 2e-6."""
    leaves = range(len(layout.program.leaves))

    def extremes(k: int) -> tuple[float, float]:
        numbers = _numbers(layout.program.scalars[k], X)
        return float(numbers.min()), float(numbers.max())

    return single_suffices(
        layout.program,
        store,
        [store.is_sparse(k) for k in leaves],
        [store.columns(k) for k in leaves],
        extremes,
        lambda: _largest_value(layout, X),
    )


def _largest_value(layout: Layout, X: Any) -> float:
    """Return the largest absolute value of the kernel among a sample of the objects."""
    step = max(1, kernel_objects.count(X) // SAMPLE)
    few = kernel_objects.take(X, slice(None, None, step))
    double = Layout(layout.program, "float64", layout.sparse, [None] * len(layout.centres))
    objects = double.prepare(few)
    return float(np.abs(double.evaluator(objects, objects, few, few).tile()).max())


def _centre(leaf: Leaf, X: Any) -> np.ndarray | None:
    """Return a point near the rows when they lie far from the origin, else None."""
    moves = leaf.coordinates is not None and leaf.coordinates.of_difference
    if leaf.kind not in ("sqdist", "l1") and not moves:
        return None
    step = max(1, kernel_objects.count(X) // 256)
    rows = select(kernel_objects.take(X, slice(None, None, step)), leaf.columns, leaf.mapping)
    if sp.issparse(rows):
        return None
    rows = rows.astype(np.float64)
    mean = rows.mean(axis=0)
    if np.all(np.abs(mean) <= 2 * rows.std(axis=0)):
        return None
    return np.ascontiguousarray(mean)


def _mostly_zero(X: Any, program: Program) -> bool:
    """Return whether a dense array is stored better as compressed rows."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] < SPARSE_COLUMNS:
        return False
    unfit = ("matrix", "python", "coordinates")
    if any(leaf.kind in unfit or leaf.columns or leaf.mapping for leaf in program.leaves):
        return False
    sample = X[:: max(1, len(X) // 256)]
    return bool(np.count_nonzero(sample) < SPARSE_DENSITY * sample.size)


def _floats(X: np.ndarray) -> np.ndarray:
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _add_sparse(store: Any, X: sp.csr_array) -> None:
    data = _floats(X.data)
    index = np.int64 if X.indptr.dtype == np.int64 or X.indices.dtype == np.int64 else np.int32
    store.sparse(
        np.ascontiguousarray(data),
        np.ascontiguousarray(X.indices, dtype=index),
        np.ascontiguousarray(X.indptr, dtype=index),
        X.shape[1],
    )


def _numbers(scalars: Scalars, X: Any) -> np.ndarray:
    """Return u(x) for every object."""
    X = select(X, scalars.columns, scalars.mapping)
    return (
        scalars.kernel.diag(X) if scalars.kind == "diagonal" else _inverse_norms(scalars.kernel, X)
    )


def _inverse_norms(kernel: Any, X: Any) -> np.ndarray:
    diagonal = kernel.diag(X)
    if np.any(diagonal < 0):
        raise ValueError(
            f"normalize({kernel!r}): k(x, x) is negative for object {int(np.argmin(diagonal))} "
            f"({float(diagonal.min()):.6g}); only a kernel with a non-negative diagonal has norms."
        )
    scale = np.zeros_like(diagonal)
    np.divide(1.0, np.sqrt(diagonal), out=scale, where=diagonal > 0)
    return scale


def _source(leaf: Leaf, X: Any, Z: Any) -> tuple[Any, ...]:
    """Return what the native leaf takes its values from."""
    if leaf.kind == "matrix":
        return ("matrix", X)
    if leaf.coordinates is not None:
        return ("coordinates", leaf.coordinates.source(leaf.combination, leaf.order))
    if leaf.kind != "python":
        return (leaf.kind,)
    kernel: Any = leaf.kernel
    A = select(X, leaf.columns, leaf.mapping)
    B = A if Z is X else select(Z, leaf.columns, leaf.mapping)

    def tile(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        values = kernel.tile(kernel_objects.take(A, a), kernel_objects.take(B, b))
        return np.asarray(values, dtype=np.float64)

    def diagonal(b: np.ndarray) -> np.ndarray:
        values = kernel.tile_diagonal(kernel_objects.take(B, b))
        return np.ascontiguousarray(values, dtype=np.float64)

    return ("python", tile, diagonal)
