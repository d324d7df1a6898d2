"""The diagonal k(x, x) of any kernel: its program, run once per object instead of per pair.

For a pair (x, x) the squared distance and the L1 distance are 0 and the dot product is the
squared norm, so the same postfix program that fills tiles gives the diagonal in O(n d).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.objects.rows import dense_column, squared_norms
from mercer.objects.validation import VECTORS, count
from mercer.objects.vocabulary import Vocabulary

from .coordinate_statistics import combined
from .interpreter import Numbers
from .program import Columns, Leaf, Mapping, Program, part_program

if TYPE_CHECKING:
    from .interface import Kernel
    from .mapped_objects import Views


def diagonal(
    kernel: Kernel, views: Views, columns: Columns = None, mapping: Mapping | None = None
) -> np.ndarray:
    """Return k(x, x) of a bound kernel."""
    if kernel.states_diagonal:
        return kernel.diag(views.seen(columns, mapping, kernel.takes))
    return _Diagonal(part_program(kernel, columns, mapping), views).run()


class _Diagonal(Numbers):
    """Runs a program on the pairs (x, x)."""

    def __init__(self, program: Program, views: Views) -> None:
        super().__init__(program, count(views.X))
        self._views = views

    def leaf(self, k: int) -> np.ndarray:
        return own_values(self.program.leaves[k], self._views)

    def scaled(self, x: np.ndarray, k: int) -> np.ndarray:
        """Return 1 in place of k(x, x), 0 where it is 0."""
        check_nonnegative(x, self.program.scalars[k].kernel)
        return (x > 0).astype(np.float64)

    def raised(self, x: np.ndarray, k: int) -> np.ndarray:
        own = self.program.scalars[k]
        return x + 2.0 * diagonal(own.kernel, self._views, own.columns, own.mapping)

    def function(self, x: np.ndarray, name: str, arguments: list[Any]) -> np.ndarray:
        if name not in ("reciprocal", "power"):
            return self.functions[name](x, *arguments)
        with np.errstate(divide="ignore"):
            return self.functions[name](x, *arguments)


def own_values(leaf: Leaf, views: Views) -> np.ndarray:
    """Return the values of a leaf for the pairs (x, x)."""
    kernel: Any = leaf.kernel
    if leaf.kind in ("sqdist", "l1", "chi"):
        return np.zeros(count(views.X))
    if leaf.kind == "matrix":
        X = views.X
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                "the values k(x, x) cannot be read from a precomputed matrix that is not square; "
                f"got shape {X.shape}."
            )
        return np.diagonal(X).astype(np.float64)
    objects = views.of(leaf, VECTORS if kernel is None else kernel.takes)
    if leaf.kind == "python":
        return np.asarray(kernel.tile_diagonal(objects), dtype=np.float64)
    if leaf.kind == "sequence":
        sequences = kernel.encode(objects, Vocabulary())
        values = sequences.diagonal(kernel.native_form(leaf.normalized))
        if leaf.normalized:
            return (values > -np.inf).astype(np.float64)
        with np.errstate(over="ignore"):
            return np.exp(values) if kernel.logarithmic else values
    rows = kernel.map_objects(objects, Vocabulary()) if leaf.mapped else objects
    if leaf.coordinates is not None:
        columns = (dense_column(rows, j) for j in range(rows.shape[1]))
        factors = (leaf.coordinates.values(x, x) for x in columns)
        values = combined(factors, leaf.combination, leaf.order)
        return np.broadcast_to(values, rows.shape[0]).astype(np.float64)
    if leaf.kind == "dot":
        return squared_norms(rows)
    sums = np.asarray(rows.sum(axis=1, dtype=np.float64)).reshape(-1)
    return sums if leaf.kind == "minimum" else sums / 2


def check_nonnegative(diagonal: np.ndarray, kernel: Kernel) -> None:
    """Reject a negative k(x, x), of which no norm can be taken."""
    if diagonal.size and not diagonal.min() >= 0:
        i = int(np.argmin(diagonal))
        raise ValueError(
            f"k(x, x) = {diagonal[i]:.6g} for object {i} under {kernel!r}, so x has no norm in "
            "feature space; only kernels with a non-negative diagonal have this geometry."
        )
