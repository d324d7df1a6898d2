"""How objects are stored for the native loops, and in which precision.

A `Layout` is chosen once, from the objects that stay (training rows, support vectors), and then
holds for whatever is compared with them, so that a kernel value depends on its two rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _native
from mercer.kernels import objects as kernel_objects
from mercer.kernels.objects import VECTORS
from mercer.kernels.tables import is_table, select
from mercer.kernels.vocabulary import Vocabulary

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
# Up to this many objects the whole problem is solved in double precision.
SMALL = 1000
# Unbounded kernels (polynomials) keep their relative error; beyond this scale it is too large.
SINGLE_SCALE = 1e3
# Rows of a dense array with fewer non-zero entries than this share are stored compressed.
SPARSE_DENSITY = 0.25
SPARSE_COLUMNS = 64
# Logarithms of numbers beyond this overflow, or lose digits as they go to zero.
LARGEST_LOG = 700.0
# Integers up to this are exact, and so are their sums.
EXACT = {"float32": 2.0**24, "float64": 2.0**53}

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
    features : Features
        How the objects of mapped leaves become rows.
    """

    program: Program
    dtype: str
    sparse: bool
    centres: list[np.ndarray | None]
    features: Features

    def prepare(
        self, X: Any, ids: np.ndarray | None = None, mapped: dict[int, Any] | None = None
    ) -> Any:
        """Return the native form of the objects.

        Parameters
        ----------
        X : objects
            Validated objects.
        ids : ndarray of int64, optional
            Positions that stand for the objects in matrix and Python leaves.
        mapped : dict, optional
            The features of `X` by leaf, where they are known already.
        """
        if ids is None:
            ids = np.arange(kernel_objects.count(X), dtype=np.int64)
        store = _STORES[self.dtype](len(ids))
        if mapped is None:
            mapped = self.features.of(X)
        for k, (leaf, centre) in enumerate(zip(self.program.leaves, self.centres, strict=True)):
            if leaf.kind in ("matrix", "python"):
                store.index(ids)
                continue
            if leaf.kind == "sequence":
                mapped[k].add_to(store, _norms(leaf, mapped[k]))
                continue
            rows = mapped[k] if leaf.mapped else select(X, leaf.columns, VECTORS)
            if sp.issparse(rows):
                exact = leaf.mapped and _exact_sums(rows, self.dtype)
                _add_sparse(store, sp.csr_array(rows), exact)
            elif self.sparse and not leaf.mapped:
                store.compress(_floats(rows))
            else:
                _add_dense(store, rows, centre)
        for kernel, columns in self.program.scales:
            store.aux(_inverse_norms(kernel, select(X, columns, kernel.takes)))
        return store

    def evaluator(self, a: Any, b: Any, X: Any, Z: Any) -> Any:
        """Return the native evaluator of prepared objects `a` (from `X`) and `b` (from `Z`)."""
        sources = [_source(leaf, X, Z) for leaf in self.program.leaves]
        return _EVALUATORS[self.dtype](self.program.code, sources, len(self.program.scales), a, b)


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
        or any(leaf.kind in ("matrix", "python", "sequence") for leaf in program.leaves)
    ):
        dtype = "float64"
    features = Features(program)
    mapped = features.of_those_that_stay(X)
    sparse = sp.issparse(X)
    single = Layout(program, "float32", sparse, [None] * len(program.leaves), features)
    if dtype != "float64":
        if not sparse:
            single.centres = [
                _centre(leaf, mapped.get(k, X)) for k, leaf in enumerate(program.leaves)
            ]
            if _mostly_zero(X, program):
                compressed = Layout(program, "float32", True, single.centres, features)
                store = compressed.prepare(X)
                if _accurate(program, store, True, X.shape[1], mapped):
                    return compressed, store
        store = single.prepare(X, mapped=mapped)
        columns = X.shape[1] if sparse else 0
        if dtype == "float32" or _accurate(program, store, sparse, columns, mapped):
            return single, store
    double = Layout(program, "float64", sparse, [None] * len(program.leaves), features)
    return double, double.prepare(X, mapped=mapped)


@dataclass
class Features:
    """What mapped leaves and sequences make of objects, with the columns of those that stay.

    Attributes
    ----------
    program : Program
        The kernel's program.
    vocabularies : dict
        For every such leaf the columns of its features, or the numbers of its tokens.
    dense : set
        The mapped leaves whose compressed features are stored as dense rows.
    """

    program: Program
    vocabularies: dict[int, Vocabulary] = field(default_factory=dict)
    dense: set[int] = field(default_factory=set)

    def of_those_that_stay(self, X: Any) -> dict[int, Any]:
        """Return the features of the objects from which the columns are taken."""
        for k, leaf in enumerate(self.program.leaves):
            if leaf.mapped or leaf.kind == "sequence":
                self.vocabularies[k] = Vocabulary()
        mapped = self.of(X)
        for k, rows in mapped.items():
            self.vocabularies[k].fix()
            if not self.program.leaves[k].mapped:
                continue
            n, d = rows.shape
            if sp.issparse(rows) and rows.nnz > SPARSE_DENSITY * n * d:
                self.dense.add(k)
                mapped[k] = rows.toarray()
        return mapped

    def of(self, X: Any) -> dict[int, Any]:
        """Return the features of objects, by leaf."""
        mapped = {}
        for k, vocabulary in self.vocabularies.items():
            leaf = self.program.leaves[k]
            kernel: Any = leaf.kernel
            objects = select(X, leaf.columns, kernel.takes)
            if leaf.mapped:
                rows = kernel.map_objects(objects, vocabulary)
                mapped[k] = rows.toarray() if k in self.dense else rows
            else:
                mapped[k] = kernel.encode(objects, vocabulary)
        return mapped


def _accurate(
    program: Program, store: Any, sparse: bool, columns: int, mapped: dict[int, Any]
) -> bool:
    """Return whether single precision keeps kernel values within 2e-6.

    For exp(-g d^2) with rows wrong by at most e, the error is at most
    max_t 2 sqrt(g) t exp(-t^2) * 2 e < 1.72 sqrt(g) e; for exp(-g d) with the l1 norm it is g
    times the l1 error. Compressed rows take d^2 from norms and dot products, whose rounding is
    relative to the norms, not to the distance. Sums of integers, such as counts, are exact while
    they are small enough, whatever the scale of the kernel.
    """
    eps = 2.0**-24
    for k, leaf in enumerate(program.leaves):
        if leaf.kind in ("matrix", "python", "sequence"):
            return False
        radius, rounding = store.radius(k), store.rounding(k)
        if leaf.mapped:
            sparse, columns = sp.issparse(mapped[k]), mapped[k].shape[1]
            rescaled = [i for i in program.code if i[0] not in ("leaf", "aux")]
            if leaf.kind == "dot" and not rescaled and _exact_sums(mapped[k], "float32"):
                continue
        width = program.widths.get(k)
        if leaf.kind == "sqdist" and width is not None:
            roundings = SPARSE_ROUNDINGS[columns > NARROW]
            if sparse and roundings * eps * width * radius**2 > SPARSE_ERROR:
                return False
            if not sparse and 1.72 * sqrt(width) * rounding > SINGLE_ERROR:
                return False
        elif leaf.kind == "l1" and width is not None:
            if 4 * width * max(rounding, eps * radius) > SINGLE_ERROR:
                return False
        elif radius**2 > SINGLE_SCALE:
            return False
    return True


def _exact_sums(rows: Any, dtype: str) -> bool:
    """Return whether rows hold integers, such as counts, whose dot products are exact."""
    values = rows.data if sp.issparse(rows) else rows
    if not np.array_equal(values, np.rint(values)):
        return False
    width = np.diff(rows.indptr).max(initial=0) if sp.issparse(rows) else rows.shape[1]
    if float(np.abs(values).max(initial=0.0)) ** 2 * float(width) < EXACT[dtype]:
        return True
    squares = rows.multiply(rows).sum(axis=1) if sp.issparse(rows) else (rows * rows).sum(axis=1)
    return bool(squares.max() < EXACT[dtype])


def _centre(leaf: Leaf, X: Any) -> np.ndarray | None:
    """Return a point near the rows when they lie far from the origin, else None."""
    if leaf.kind not in ("sqdist", "l1") or (leaf.mapped and sp.issparse(X)):
        return None
    sample = kernel_objects.take(X, slice(None, None, max(1, kernel_objects.count(X) // 256)))
    rows = sample if leaf.mapped else select(sample, leaf.columns, VECTORS)
    rows = rows.astype(np.float64)
    mean = rows.mean(axis=0)
    if np.all(np.abs(mean) <= 2 * rows.std(axis=0)):
        return None
    return np.ascontiguousarray(mean)


def _mostly_zero(X: Any, program: Program) -> bool:
    """Return whether a dense array is stored better as compressed rows."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] < SPARSE_COLUMNS or is_table(X):
        return False
    if any(leaf.kernel or leaf.kind == "matrix" or leaf.columns for leaf in program.leaves):
        return False
    sample = X[:: max(1, len(X) // 256)]
    return bool(np.count_nonzero(sample) < SPARSE_DENSITY * sample.size)


def _add_dense(store: Any, X: np.ndarray, centre: np.ndarray | None) -> None:
    store.dense(_floats(X), centre)


def _floats(X: np.ndarray) -> np.ndarray:
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _add_sparse(store: Any, X: sp.csr_array, exact: bool) -> None:
    data = _floats(X.data)
    index = np.int64 if X.indptr.dtype == np.int64 or X.indices.dtype == np.int64 else np.int32
    store.sparse(
        np.ascontiguousarray(data),
        np.ascontiguousarray(X.indices, dtype=index),
        np.ascontiguousarray(X.indptr, dtype=index),
        X.shape[1],
        exact,
    )


def _norms(leaf: Leaf, sequences: Any) -> np.ndarray | None:
    """Return half the logarithms of k(x, x) of sequences whose values are to be normalised.

    Without normalisation, refuse values that no number can hold; those of pairs are between them,
    |k(x, z)|^2 being at most k(x, x) k(z, z).
    """
    kernel: Any = leaf.kernel
    if not kernel.logarithmic:
        return None
    logs = sequences.diagonal(kernel.native_form())
    if leaf.normalized:
        return 0.5 * logs
    finite = logs[np.isfinite(logs)]
    if finite.size and np.abs(finite).max() > LARGEST_LOG:
        i = int(np.argmax(np.where(np.isfinite(logs), np.abs(logs), 0.0)))
        raise OverflowError(
            f"k(x, x) = exp({logs[i]:.0f}) of object {i} under {kernel!r} is no number that the "
            "computer holds; use normalize(kernel), which needs no such number."
        )
    return None


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
    if leaf.kind == "sequence":
        return ("sequence", leaf.kernel.native_form())  # type: ignore[union-attr]
    if leaf.kind != "python":
        return (leaf.kind,)
    kernel: Any = leaf.kernel
    A, B = (select(objects, leaf.columns, kernel.takes) for objects in (X, Z))

    def tile(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        values = kernel.tile(kernel_objects.take(A, a), kernel_objects.take(B, b))
        return np.asarray(values, dtype=np.float64)

    def diagonal(b: np.ndarray) -> np.ndarray:
        values = kernel.tile_diagonal(kernel_objects.take(B, b))
        return np.ascontiguousarray(values, dtype=np.float64)

    return ("python", tile, diagonal)
