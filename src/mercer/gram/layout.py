"""How objects are stored for the native loops, and in which precision.

A `Layout` is chosen once, from the objects that stay (training rows, support vectors), and then
holds for whatever is compared with them, so that a kernel value depends on its two rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _native
from mercer.kernels import objects as kernel_objects
from mercer.kernels.objects import VECTORS
from mercer.kernels.tables import is_table, select

from .images import SPARSE_DENSITY, Images, view
from .precision import single_suffices
from .program import Leaf, Program, Scalars, compile_kernel

# Up to this many objects the whole problem is solved in double precision.
SMALL = 1000
# Objects on which the size of kernel values is tried out.
SAMPLE = 64
# Dense arrays of fewer columns are not stored compressed.
SPARSE_COLUMNS = 64
# Logarithms of numbers beyond this overflow, or lose digits as they go to zero.
LARGEST_LOG = 700.0
# Integers below this are exact in single precision, and so are their sums.
EXACT = 2.0**24

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
    images : Images
        How objects become the rows of leaves that look at their images.
    """

    program: Program
    dtype: str
    sparse: bool
    centres: list[np.ndarray | None]
    images: Images

    def prepare(
        self, X: Any, ids: np.ndarray | None = None, found: dict[int, Any] | None = None
    ) -> Any:
        """Return the native form of the objects.

        Parameters
        ----------
        X : objects
            Validated objects.
        ids : ndarray of int64, optional
            Positions that stand for the objects in matrix and Python leaves.
        found : dict, optional
            The images of `X` by leaf, where they are known already.
        """
        if ids is None:
            ids = np.arange(kernel_objects.count(X), dtype=np.int64)
        store = _STORES[self.dtype](len(ids))
        if found is None:
            found = self.images.of(X)
        seen: list[tuple[Any, ...]] = []  # what the leaves look at
        for k, (leaf, centre) in enumerate(zip(self.program.leaves, self.centres, strict=True)):
            if leaf.kind in ("matrix", "python"):
                seen.append((leaf.kind,))
                store.index(ids)
                continue
            if leaf.kind == "sequence":
                seen.append((leaf.kind,))
                found[k].add_to(store, _norms(leaf, found[k]))
                continue
            point = None if centre is None else centre.tobytes()
            seen.append((leaf.columns, leaf.mapping, leaf.kernel, point))
            if (first := seen.index(seen[-1])) < k:
                store.share(first)
                continue
            rows = found[k] if k in found else select(X, leaf.columns, VECTORS)
            if sp.issparse(rows):
                _add_sparse(store, sp.csr_array(rows))
            elif self.sparse and k not in found:
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
        or any(leaf.kind in ("matrix", "python", "sequence") for leaf in program.leaves)
    ):
        dtype = "float64"
    images = Images(program)
    found = images.of_those_that_stay(X)
    sparse = sp.issparse(X)
    single = Layout(program, "float32", sparse, [None] * len(program.leaves), images)
    if dtype != "float64":
        if not sparse:
            single.centres = [
                _centre(leaf, X, found.get(k)) for k, leaf in enumerate(program.leaves)
            ]
            if _mostly_zero(X, program):
                compressed = Layout(program, "float32", True, single.centres, images)
                store = compressed.prepare(X)
                if _accurate(compressed, store, X, found):
                    return compressed, store
        store = single.prepare(X, found=found)
        if dtype == "float32" or _accurate(single, store, X, found):
            return single, store
    double = Layout(program, "float64", sparse, [None] * len(program.leaves), images)
    return double, double.prepare(X, found=found)


def _accurate(layout: Layout, store: Any, X: Any, images: dict[int, Any]) -> bool:
    """Return whether single precision keeps kernel values within 2e-6."""
    if _exact(layout.program, store, images):
        return True
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


def _exact(program: Program, store: Any, images: dict[int, Any]) -> bool:
    """Return whether the program is one dot product of integers, rescaled by norms at most.

    Sums of integers, such as counts, are exact while they are small enough.
    """
    if [i for i in program.code if i[0] != "aux"] != [("leaf", 0)] or 0 not in images:
        return False
    if program.leaves[0].kind != "dot" or store.radius(0) ** 2 >= EXACT:
        return False
    values = images[0].data if sp.issparse(images[0]) else images[0]
    return bool(np.all(values == np.rint(values)))


def _largest_value(layout: Layout, X: Any) -> float:
    """Return the largest absolute value of the kernel among a sample of the objects."""
    step = max(1, kernel_objects.count(X) // SAMPLE)
    few = kernel_objects.take(X, slice(None, None, step))
    double = replace(layout, dtype="float64", centres=[None] * len(layout.centres))
    objects = double.prepare(few)
    return float(np.abs(double.evaluator(objects, objects, few, few).tile()).max())


def _centre(leaf: Leaf, X: Any, rows: Any) -> np.ndarray | None:
    """Return a point near the rows when they lie far from the origin, else None.

    The rows are those of `X`, unless images are given.
    """
    moves = leaf.coordinates is not None and leaf.coordinates.of_difference
    if leaf.kind not in ("sqdist", "l1") and not moves:
        return None
    if sp.issparse(rows):
        return None
    part = slice(None, None, max(1, kernel_objects.count(X) // 256))
    if rows is None:
        rows = select(kernel_objects.take(X, part), leaf.columns, VECTORS)
    else:
        rows = rows[part]
    rows = rows.astype(np.float64)
    mean = rows.mean(axis=0)
    if np.all(np.abs(mean) <= 2 * rows.std(axis=0)):
        return None
    return np.ascontiguousarray(mean)


def _mostly_zero(X: Any, program: Program) -> bool:
    """Return whether a dense array is stored better as compressed rows."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] < SPARSE_COLUMNS or is_table(X):
        return False
    unfit = ("matrix", "coordinates")
    if any(
        leaf.kind in unfit or leaf.kernel or leaf.columns or leaf.mapping for leaf in program.leaves
    ):
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
    X = view(X, scalars, scalars.kernel.takes)
    return (
        scalars.kernel.diag(X) if scalars.kind == "diagonal" else _inverse_norms(scalars.kernel, X)
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
    if leaf.coordinates is not None:
        return ("coordinates", leaf.coordinates.source(leaf.combination, leaf.order))
    if leaf.kind == "sequence":
        return ("sequence", leaf.kernel.native_form())  # type: ignore[union-attr]
    if leaf.kind != "python":
        return (leaf.kind,)
    kernel: Any = leaf.kernel
    A = view(X, leaf, kernel.takes)
    B = A if Z is X else view(Z, leaf, kernel.takes)

    def tile(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        values = kernel.tile(kernel_objects.take(A, a), kernel_objects.take(B, b))
        return np.asarray(values, dtype=np.float64)

    def diagonal(b: np.ndarray) -> np.ndarray:
        values = kernel.tile_diagonal(kernel_objects.take(B, b))
        return np.ascontiguousarray(values, dtype=np.float64)

    return ("python", tile, diagonal)
