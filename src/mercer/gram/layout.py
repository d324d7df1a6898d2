"""How objects are stored for the native loops, and in which precision.

A `Layout` is chosen once, from the objects that stay (training rows, support vectors), and then
holds for whatever is compared with them, so that a kernel value depends on its two rows alone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _native
from mercer.kernels import objects as kernel_objects
from mercer.kernels.diagonal import check_nonnegative

from .program import Leaf, Program, compile_kernel

# A kernel value in single precision may differ from the exact one by 2e-6. Rounding the rows may
# use up this much of it; the sums and the exponential need the rest.
SINGLE_ERROR = 1.2e-6
# Compressed rows: the whole error, estimated as so many roundings of the squared norms. Ratios up
# to 8.5 were seen for long single-precision sums and 2.8 where runs are added in double precision;
# the factors leave a margin. The first is for narrow rows, summed in one run (cpp/objects.cpp).
SPARSE_ERROR = 1.9e-6
SPARSE_ROUNDINGS = (10.0, 5.0)
NARROW = 256
# Single precision that a user insists on is commented on beyond this multiple of the error.
COARSE = 100.0
# Up to this many objects the whole problem is solved in double precision.
SMALL = 1000
# Unbounded kernels (polynomials) keep their relative error; beyond this scale it is too large.
SINGLE_SCALE = 1e3
# Rows of a dense array with fewer non-zero entries than this share are stored compressed.
SPARSE_DENSITY = 0.25
SPARSE_COLUMNS = 64

_STORES = {"float32": _native.Objects32, "float64": _native.Objects64}
_EVALUATORS = {"float32": _native.Evaluator32, "float64": _native.Evaluator64}
_STATISTICS = {"float32": _native.Statistics32, "float64": _native.Statistics64}


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

    def prepare(
        self, X: Any, ids: np.ndarray | None = None, known: tuple[Layout, Any] | None = None
    ) -> Any:
        """Return the native form of the objects.

        Parameters
        ----------
        X : objects
            Validated objects.
        ids : ndarray of int64, optional
            Positions that stand for the objects in matrix and Python leaves.
        known : (Layout, native objects), optional
            Another layout of the same objects; what it has in common with this one is shared.
        """
        if ids is None:
            ids = np.arange(kernel_objects.count(X), dtype=np.int64)
        store: Any = _STORES[self.dtype](len(ids))
        for leaf, centre in zip(self.program.leaves, self.centres, strict=True):
            if known is not None and self._shares(leaf, known[0]):
                store.share(known[1], known[0].program.leaves.index(leaf))
            elif leaf.kind in ("matrix", "python"):
                store.index(ids)
            elif self.sparse and sp.issparse(X):
                _add_sparse(store, sp.csr_array(select(X, leaf.columns)))
            elif self.sparse:
                store.compress(_floats(select(X, leaf.columns)))
            else:
                _add_dense(store, select(X, leaf.columns), centre)
        for kernel, columns in self.program.scales:
            store.aux(_inverse_norms(kernel, select(X, columns)))
        return store

    def _shares(self, leaf: Leaf, other: Layout) -> bool:
        """Return whether another layout stores a leaf in the same way."""
        return (
            leaf in other.program.leaves
            and (self.dtype, self.sparse) == (other.dtype, other.sparse)
            and leaf.kind not in ("matrix", "python")
        )

    def statistics(
        self, n: int, megabytes: float, known: tuple[Layout, dict[Leaf, Any]] | None = None
    ) -> dict[Leaf, Any]:
        """Return a store of values for each pair statistic of the program.

        Parameters
        ----------
        n : int
            Number of objects.
        megabytes : float
            Budget for all of them together.
        known : (Layout, stores), optional
            Those of another kernel on the same objects, which are shared.
        """
        leaves = [x for x in self.program.leaves if x.kind not in ("matrix", "python")]
        kept = {}
        for leaf in leaves:
            if known is not None and self._shares(leaf, known[0]):
                kept[leaf] = known[1][leaf]
            else:
                kept[leaf] = _STATISTICS[self.dtype](n, megabytes * 2**20 / len(leaves))
        return kept

    def evaluator(
        self, a: Any, b: Any, X: Any, Z: Any, statistics: dict[Leaf, Any] | None = None
    ) -> Any:
        """Return the native evaluator of prepared objects `a` (from `X`) and `b` (from `Z`)."""
        sources = [_source(leaf, X, Z) for leaf in self.program.leaves]
        if statistics is not None:
            for k, leaf in enumerate(self.program.leaves):
                if leaf in statistics:
                    sources[k] = (*sources[k], statistics[leaf])
        return _EVALUATORS[self.dtype](self.program.code, sources, len(self.program.scales), a, b)


def choose_layout(
    kernel: Any, X: Any, dtype: str, known: tuple[Layout, Any] | None = None
) -> tuple[Layout, Any]:
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
    known : (Layout, native objects), optional
        What was chosen for another kernel on the same objects.
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
                store = compressed.prepare(X, known=known)
                if _coarseness(program, store, True, X.shape[1]) <= 1.0:
                    return compressed, store
        store = single.prepare(X, known=known)
        coarseness = _coarseness(program, store, sparse, X.shape[1] if sparse else 0)
        if dtype == "float32" and sparse:
            _warn_of_errors(program, coarseness)
        if dtype == "float32" or coarseness <= 1.0:
            return single, store
    double = Layout(program, "float64", sparse, [None] * len(program.leaves))
    return double, double.prepare(X, known=known)


def select(X: Any, columns: tuple[int, ...] | None) -> Any:
    """Return the chosen columns of `X`."""
    return X if columns is None else X[:, list(columns)]


def _coarseness(program: Program, store: Any, sparse: bool, columns: int) -> float:
    """Return the error of kernel values in single precision, as a multiple of the allowed one.

    For exp(-g d^2) with rows wrong by at most e, the error is at most
    max_t 2 sqrt(g) t exp(-t^2) * 2 e < 1.72 sqrt(g) e; for exp(-g d) with the l1 norm it is g
    times the l1 error. Compressed rows take d^2 from norms and dot products, whose rounding is
    relative to the norms, not to the distance.
    """
    eps, worst = 2.0**-24, 0.0
    for k, leaf in enumerate(program.leaves):
        if leaf.kind in ("matrix", "python"):
            return inf
        radius, rounding = store.radius(k), store.rounding(k)
        width = program.widths.get(k)
        if leaf.kind == "sqdist" and width is not None and sparse:
            roundings = SPARSE_ROUNDINGS[columns > NARROW]
            part = roundings * eps * width * radius**2 / SPARSE_ERROR
        elif leaf.kind == "sqdist" and width is not None:
            part = 1.72 * sqrt(width) * rounding / SINGLE_ERROR
        elif leaf.kind == "l1" and width is not None:
            part = 4 * width * max(rounding, eps * radius) / SINGLE_ERROR
        else:
            part = radius**2 / SINGLE_SCALE
        worst = max(worst, part)
    return worst


def _warn_of_errors(program: Program, coarseness: float) -> None:
    """Warn of single precision that was asked for where sparse rows need more."""
    if coarseness > COARSE and program.bounded:
        warnings.warn(
            f"kernel values in float32 may be wrong by {min(1.0, coarseness * SPARSE_ERROR):.1g} "
            "on these sparse rows, which cannot be centred and lie far from the origin for the "
            'width of the kernel. Use dtype="auto" or "float64".',
            stacklevel=5,
        )


def _centre(leaf: Leaf, X: Any) -> np.ndarray | None:
    """Return a point near the rows when they lie far from the origin, else None.

    Medians and the median deviations from them, of a sample: one far row does not move them.
    """
    if leaf.kind not in ("sqdist", "l1"):
        return None
    wanted = 256 if X.shape[1] <= 128 else 64
    rows = select(X[:: max(1, len(X) // wanted)], leaf.columns).astype(np.float64)
    middle = np.sort(rows, axis=0)[len(rows) // 2]
    deviation = np.sort(np.abs(rows - middle), axis=0)[len(rows) // 2]
    if np.all(np.abs(middle) <= 3 * deviation):
        return None
    return np.ascontiguousarray(middle)


def _mostly_zero(X: Any, program: Program) -> bool:
    """Return whether a dense array is stored better as compressed rows."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] < SPARSE_COLUMNS:
        return False
    if any(leaf.kind in ("matrix", "python") or leaf.columns for leaf in program.leaves):
        return False
    sample = X[:: max(1, len(X) // 256)]
    return bool(np.count_nonzero(sample) < SPARSE_DENSITY * sample.size)


def _add_dense(store: Any, X: np.ndarray, centre: np.ndarray | None) -> None:
    store.dense(_floats(X), centre)


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


def _inverse_norms(kernel: Any, X: Any) -> np.ndarray:
    diagonal = kernel.diag(X)
    check_nonnegative(diagonal, kernel)
    scale = np.zeros_like(diagonal)
    np.divide(1.0, np.sqrt(diagonal), out=scale, where=diagonal > 0)
    return scale


def _source(leaf: Leaf, X: Any, Z: Any) -> tuple[Any, ...]:
    """Return what the native leaf takes its values from."""
    if leaf.kind == "matrix":
        return ("matrix", X)
    if leaf.kind != "python":
        return (leaf.kind,)
    kernel: Any = leaf.kernel
    A, B = select(X, leaf.columns), select(Z, leaf.columns)

    def tile(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        values = kernel.tile(kernel_objects.take(A, a), kernel_objects.take(B, b))
        return np.asarray(values, dtype=np.float64)

    def diagonal(b: np.ndarray) -> np.ndarray:
        values = kernel.tile_diagonal(kernel_objects.take(B, b))
        return np.ascontiguousarray(values, dtype=np.float64)

    return ("python", tile, diagonal)
