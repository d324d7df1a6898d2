"""Storage of objects for the native loops: dense or compressed, single or double precision.

A `Layout` is chosen once, from the reference objects (training rows, support vectors), and then
holds for whatever is compared with them, so that a kernel value depends on its two rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _native
from mercer.objects.callers import warn_caller
from mercer.objects.tables import is_table, select
from mercer.objects.validation import VECTORS, count, take

from .mapped_objects import SPARSE_DENSITY, Images, Views
from .object_norms import numbers, sequence_norms
from .precision import SPARSE_ERROR, coarseness_of_single, leaves_single
from .program import Leaf, Program, Scalars, compile_kernel, part_program

# Single precision that a user insists on is commented on beyond this multiple of the error.
COARSE = 100.0
# Up to this many objects the whole problem is solved in double precision.
SMALL = 1000
# Objects on which the size of kernel values is tried out, and whether they lie far from the origin.
SAMPLE = 64
# Dense arrays of fewer columns are not stored compressed.
SPARSE_COLUMNS = 64
# Integers up to this are exact, and so are their sums.
EXACT = {"float32": 2.0**24, "float64": 2.0**53}

# Pair statistics whose values and rows may be shared between kernels.
_KEPT = {"dot", "sqdist", "l1", "minimum", "harmonic", "chi"}

_STORES = {"float32": _native.Objects32, "float64": _native.Objects64}
_EVALUATORS = {"float32": _native.Evaluator32, "float64": _native.Evaluator64}
_STATISTICS = {"float32": _native.Statistics32, "float64": _native.Statistics64}


@dataclass
class Layout:
    """Storage of the objects of one program."""

    program: Program  # the kernel's program
    dtype: str  # {"float32", "float64"}: precision of the kernel values
    sparse: bool  # whether rows are stored compressed
    # per leaf a point that is subtracted from dense rows before rounding
    centres: list[np.ndarray | None]
    images: Images  # how objects become the rows of leaves that look at their images
    # error of the kernel values as a multiple of that which "auto" allows; in float64 nothing
    coarseness: float = 0.0

    def prepare(
        self,
        views: Views,
        ids: np.ndarray | None = None,
        found: dict[int, Any] | None = None,
        known: tuple[Layout, Any] | None = None,
    ) -> Any:
        """Return the native form of the objects.

        `ids`: positions that stand for the objects in matrix and Python leaves. `found`: what the
        leaves make of the objects, where it is known. `known`: another layout, which shares what it
        can.
        """
        X = views.X
        n = count(X) if ids is None else len(ids)
        store: Any = _STORES[self.dtype](n)
        if found is None and known is None and self._of_whole_rows:
            self._add_rows(store, X, self.centres[0])
            for _ in self.centres[1:]:
                store.share(store, 0)
            return store
        if found is None:
            found = self.images.of(views)
        seen: list[tuple[Any, ...]] = []  # the inputs of the leaves
        for k, (leaf, centre) in enumerate(zip(self.program.leaves, self.centres, strict=True)):
            point = None if centre is None else centre.tobytes()
            other = leaf.kind if leaf.kind in ("matrix", "python", "sequence") else None
            seen.append((other, leaf.columns, leaf.mapping, leaf.kernel, point))
            if known is not None and self._shares(leaf, known[0]):
                store.share(known[1], known[0].program.leaves.index(leaf))
                continue
            if leaf.kind in ("matrix", "python"):
                store.index(np.arange(n, dtype=np.int64) if ids is None else ids)
                continue
            if leaf.kind == "sequence":
                norm, kernel = sequence_norms(leaf, found[k], views), leaf.kernel
                found[k].add_to(store, norm, kernel.native_form())  # type: ignore[union-attr]
                continue
            if (first := seen.index(seen[-1])) < k:
                store.share(store, first)
                continue
            if k not in found:
                rows = X if leaf.columns is None else select(X, leaf.columns, VECTORS)
                self._add_rows(store, rows, centre)
            elif sp.issparse(rows := found[k]):
                exact = leaf.kind == "dot" and _exact_sums(rows, self.dtype)
                _add_sparse(store, rows.tocsr(), exact)
            else:
                store.dense(_floats(rows), centre)
        for scalars in self.program.scalars:
            store.aux(self._numbers(scalars, views))
        return store

    @cached_property
    def _of_whole_rows(self) -> bool:
        """Whether all leaves look at the rows of numbers as given, and there is nothing else."""
        points = {None if centre is None else centre.tobytes() for centre in self.centres}
        return (
            len(points) == 1
            and not self.program.scalars
            and all(
                leaf.kind not in ("matrix", "python", "sequence")
                and leaf.columns is leaf.mapping is leaf.kernel is None
                for leaf in self.program.leaves
            )
        )

    def _add_rows(self, store: Any, rows: Any, centre: np.ndarray | None) -> None:
        """Add rows of numbers to a store, compressed where the reference objects are."""
        if type(rows) is not np.ndarray and sp.issparse(rows):
            _add_sparse(store, rows.tocsr(), False)
        elif self.sparse:
            store.compress(_floats(rows))
        else:
            store.dense(_floats(rows), centre)

    def signed(self) -> Layout:
        """Return the layout of objects with one more number each, which multiplies the values."""
        program = self.program
        code = [*program.code, ("aux", len(program.scalars))]
        none: Any = None  # no kernel is behind a given sign
        scalars = [*program.scalars, Scalars("sign", none)]
        return replace(self, program=replace(program, code=code, scalars=scalars))

    def _numbers(self, scalars: Scalars, views: Views) -> np.ndarray:
        """Return the numbers u(x) of the program, in the precision of its values.

        Diagonals are those of the native tiles to the last bit, so that k(x, x) - 2 k(x, x) +
        k(x, x) is 0.
        """
        kernel = scalars.kernel
        if scalars.kind != "diagonal" or hasattr(kernel, "diag_error"):
            return numbers(scalars, views)
        program = part_program(kernel, scalars.columns, scalars.mapping)
        images = Images(program)
        found = images.of_reference(views)
        centres: list[np.ndarray | None] = [None] * len(program.leaves)
        own = Layout(program, self.dtype, self.sparse, centres, images)
        store = own.prepare(views, found=found)
        return np.asarray(own.evaluator(store, store, views, views).diag(), dtype=np.float64)

    def _shares(self, leaf: Leaf, other: Layout) -> bool:
        """Return whether another layout stores a leaf in the same way."""
        return (
            leaf in other.program.leaves
            and (self.dtype, self.sparse) == (other.dtype, other.sparse)
            and leaf.kind in _KEPT
            and not leaf.mapped
        )

    def statistics(
        self, n: int, megabytes: float, known: tuple[Layout, dict[Leaf, Any]] | None = None
    ) -> dict[Leaf, Any]:
        """Return a store of values for each pair statistic; those `known` are shared."""
        leaves = [x for x in self.program.leaves if x.kind in _KEPT and not x.mapped]
        kept = {}
        for leaf in leaves:
            if known is not None and self._shares(leaf, known[0]):
                kept[leaf] = known[1][leaf]
            else:
                kept[leaf] = _STATISTICS[self.dtype](n, megabytes * 2**20 / len(leaves))
        return kept

    def evaluator(
        self, a: Any, b: Any, X: Views, Z: Views, statistics: dict[Leaf, Any] | None = None
    ) -> Any:
        """Return the native evaluator of prepared objects `a` (from `X`) and `b` (from `Z`)."""
        sources = [_source(leaf, X, Z) for leaf in self.program.leaves]
        if statistics is not None:
            for k, leaf in enumerate(self.program.leaves):
                if leaf in statistics:
                    sources[k] = (*sources[k], statistics[leaf])
        code = [i if i[0] != "table" else i[1].lowered(self.dtype) for i in self.program.code]
        return _EVALUATORS[self.dtype](code, sources, len(self.program.scalars), a, b)


def choose_layout(
    kernel: Any,
    views: Views,
    dtype: str,
    known: tuple[Layout, Any] | None = None,
    program: Program | None = None,
) -> tuple[Layout, Any]:
    """Return the layout for objects and their native form, which shares what is `known` of them.

    `program`: of the kernel, where it is compiled.

    "auto" takes float32 where a kernel value then is accurate to 2e-6, and float64 for small
    problems and everywhere else; "float32" takes float64 where numbers leave its range.
    """
    X, program = views.X, compile_kernel(kernel) if program is None else program
    if dtype == "auto" and (
        count(X) <= SMALL
        or any(leaf.kind in ("matrix", "python", "sequence") for leaf in program.leaves)
    ):
        dtype = "float64"
    images = Images(program)
    found = images.of_reference(views)
    sparse = sp.issparse(X)
    if dtype != "float64":
        single = Layout(program, "float32", sparse, [None] * len(program.leaves), images)
        if not sparse:
            single.centres = [
                _centre(leaf, X, found.get(k)) for k, leaf in enumerate(program.leaves)
            ]
            if _mostly_zero(X, program):
                compressed = Layout(program, "float32", True, single.centres, images)
                store = compressed.prepare(views, known=known)
                compressed.coarseness = _coarseness(compressed, store, views, found)
                if compressed.coarseness <= 1.0:
                    return compressed, store
        store = single.prepare(views, found=found, known=known)
        single.coarseness = _coarseness(single, store, views, found)
        if dtype == "float32" and sparse:
            _warn_of_errors(program, single.coarseness)
        if single.coarseness <= 1.0 or (dtype == "float32" and not leaves_single(program, store)):
            return single, store
    double = Layout(program, "float64", sparse, [None] * len(program.leaves), images)
    return double, double.prepare(views, found=found, known=known)


def _coarseness(layout: Layout, store: Any, views: Views, images: dict[int, Any]) -> float:
    """Return the error of kernel values in single precision, as a multiple of the allowed one."""
    if _exact(layout.program, images):
        return 0.0
    leaves = range(len(layout.program.leaves))

    def extremes(k: int) -> tuple[float, float]:
        found = numbers(layout.program.scalars[k], views)
        return float(found.min()), float(found.max())

    return coarseness_of_single(
        layout.program,
        store,
        [store.is_sparse(k) for k in leaves],
        [store.columns(k) for k in leaves],
        extremes,
        lambda: _largest_value(layout, views),
    )


def _warn_of_errors(program: Program, coarseness: float) -> None:
    """Warn of single precision that was asked for where sparse rows need more."""
    if coarseness > COARSE and program.bounded:
        warn_caller(
            f"kernel values in float32 may be wrong by {min(1.0, coarseness * SPARSE_ERROR):.1g} "
            "on these sparse rows, which cannot be centred and lie far from the origin for the "
            'width of the kernel. Use dtype="auto" or "float64".'
        )


def _exact(program: Program, images: dict[int, Any]) -> bool:
    """Return whether the program is a dot product of small integers, rescaled at most by norms."""
    code = [i for i in program.code if i[0] != "aux"]
    if code != [("leaf", 0)] or program.leaves[0].kind != "dot" or 0 not in images:
        return False
    return _exact_sums(images[0], "float32")


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


def _largest_value(layout: Layout, views: Views) -> float:
    """Return the largest absolute value of the kernel among a sample of the objects."""
    step = max(1, count(views.X) // SAMPLE)
    few = views.take(slice(None, None, step))
    double = replace(layout, dtype="float64", centres=[None] * len(layout.centres))
    objects = double.prepare(few)
    return float(np.abs(double.evaluator(objects, objects, few, few).tile()).max())


def _centre(leaf: Leaf, X: Any, rows: Any) -> np.ndarray | None:
    """Return a point near the rows when they lie far from the origin, else None.

    The rows are those of `X`, unless images are given. Medians and the median deviations from
    them, of a sample: one far row does not move them.
    """
    moves = leaf.coordinates is not None and leaf.coordinates.of_difference
    if leaf.kind not in ("sqdist", "l1") and not moves:
        return None
    if sp.issparse(rows):
        return None
    middle = None
    wide = rows is None and isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] > 128
    for few in (SAMPLE,) if wide else (SAMPLE, 4 * SAMPLE):  # most rows are near, at first sight
        part = slice(None, None, max(1, count(X) // few))
        some = select(take(X, part), leaf.columns, VECTORS) if rows is None else rows[part]
        if len(some) == 0:
            return None
        some = some.astype(np.float64)
        middle = np.sort(some, axis=0)[len(some) // 2]
        deviation = np.sort(np.abs(some - middle), axis=0)[len(some) // 2]
        if np.all(np.abs(middle) <= 8 * deviation):
            return None
    return np.ascontiguousarray(middle)


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


def _add_sparse(store: Any, X: Any, exact: bool) -> None:
    data = _floats(X.data)
    index = np.int64 if X.indptr.dtype == np.int64 or X.indices.dtype == np.int64 else np.int32
    store.sparse(
        np.ascontiguousarray(data),
        np.ascontiguousarray(X.indices, dtype=index),
        np.ascontiguousarray(X.indptr, dtype=index),
        X.shape[1],
        exact,
    )


def _source(leaf: Leaf, X: Views, Z: Views) -> tuple[Any, ...]:
    """Return the native source of the values of a leaf."""
    if leaf.kind == "matrix":
        return ("matrix", X.X)
    if leaf.coordinates is not None:
        return ("coordinates", leaf.coordinates.source(leaf.combination, leaf.order))
    if leaf.kind == "sequence":
        sequences: Any = leaf.kernel
        return ("sequence", sequences.native_form(leaf.normalized))
    if leaf.kind != "python":
        return (leaf.kind,)
    kernel: Any = leaf.kernel
    A = X.of(leaf, kernel.takes)
    B = A if Z is X else Z.of(leaf, kernel.takes)

    def tile(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        values = np.asarray(kernel.tile(take(A, a), take(B, b)), dtype=np.float64)
        if values.shape != (len(a), len(b)):
            raise ValueError(
                f"tile of {kernel!r} must return shape ({len(a)}, {len(b)}) for {len(a)} and "
                f"{len(b)} objects; got {values.shape}."
            )
        return values

    def diagonal(b: np.ndarray) -> np.ndarray:
        values = kernel.tile_diagonal(take(B, b))
        return np.ascontiguousarray(values, dtype=np.float64)

    return ("python", tile, diagonal)
