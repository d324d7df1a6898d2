"""The diagonal k(x, x) of any kernel: its program, run once per object instead of per pair.

For a pair (x, x) the squared distance and the L1 distance are 0 and the dot product is the
squared norm, so the same postfix program that fills tiles gives the diagonal in O(n d).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.numerics.profile_table import Table
from mercer.objects.rows import dense_column, squared_norms
from mercer.objects.validation import VECTORS, count
from mercer.objects.vocabulary import Vocabulary

from .coordinate_statistics import combined
from .program import Scope

if TYPE_CHECKING:
    from .coordinate_statistics import Coordinates
    from .interface import Kernel
    from .mapped_objects import Views
    from .program import Columns, Mapping


def diagonal(
    kernel: Kernel, views: Views, columns: Columns = None, mapping: Mapping | None = None
) -> np.ndarray:
    """Return k(x, x) of a bound kernel."""
    if kernel.states_diagonal:
        return kernel.diag(views.seen(columns, mapping, kernel.takes))
    program = Diagonal(views, columns, mapping)
    kernel.compile(program)  # type: ignore[arg-type]
    return program.result()


class Stack(Scope):
    """The operations of a program on arrays of `n` numbers, which are evaluated, not recorded."""

    def __init__(self, n: int, columns: Columns = None, mapping: Mapping | None = None) -> None:
        super().__init__(columns, mapping)
        self._n, self._stack = n, list[np.ndarray]()

    def result(self) -> np.ndarray:
        """Return the one value left on the stack."""
        (values,) = self._stack
        return values

    def const(self, value: float) -> None:
        self._stack.append(np.full(self._n, float(value)))

    def dup(self) -> None:
        self._stack.append(self._stack[-1])

    def swap(self) -> None:
        self._stack[-2:] = self._stack[:-3:-1]

    def affine(self, factor: float, shift: float) -> None:
        self._stack[-1] = factor * self._stack[-1] + shift

    def add(self) -> None:
        self._stack[-2:] = [self._stack[-2] + self._stack[-1]]

    def mul(self) -> None:
        self._stack[-2:] = [self._stack[-2] * self._stack[-1]]

    def powi(self, exponent: int) -> None:
        self._stack[-1] = self._stack[-1] ** exponent

    def exp(self) -> None:
        self._stack[-1] = np.exp(self._stack[-1])

    def log(self) -> None:
        self._stack[-1] = np.log(np.maximum(self._stack[-1], np.finfo(np.float64).tiny))

    def log1p(self) -> None:
        """Replace the top t by log(1 + t)."""
        self._stack[-1] = np.log1p(self._stack[-1])

    def at_least(self, bound: float) -> None:
        """Replace the top by itself or by a bound, whichever is larger."""
        self._stack[-1] = np.maximum(self._stack[-1], bound)

    def sqrt(self) -> None:
        self._stack[-1] = np.sqrt(np.maximum(self._stack[-1], 0.0))

    def cos(self) -> None:
        self._stack[-1] = np.cos(self._stack[-1])

    def reciprocal(self) -> None:
        with np.errstate(divide="ignore"):
            self._stack[-1] = 1.0 / self._stack[-1]

    def power(self, exponent: float) -> None:
        with np.errstate(divide="ignore"):
            self._stack[-1] = np.maximum(self._stack[-1], 0.0) ** exponent

    def polynomial(self, coefficients: Sequence[float]) -> None:
        self._stack[-1] = np.polynomial.polynomial.polyval(self._stack[-1], coefficients)

    def table(self, table: Table) -> None:
        """Replace the top by the value of a table."""
        self._stack[-1] = table(self._stack[-1])

    def tanh(self) -> None:
        self._stack[-1] = np.tanh(self._stack[-1])


class Diagonal(Stack):
    """A program builder that evaluates instead of recording; see `mercer.gram.program`."""

    def __init__(
        self, views: Views, columns: Columns = None, mapping: Mapping | None = None
    ) -> None:
        super().__init__(count(views.X), columns, mapping)
        self._views = views

    def leaf(self, statistic: str) -> None:
        """Push a pair statistic of (x, x)."""
        if statistic == "dot":
            self._stack.append(squared_norms(self._rows()))
        elif statistic in ("minimum", "harmonic"):
            sums = np.asarray(self._rows().sum(axis=1, dtype=np.float64)).reshape(-1)
            self._stack.append(sums if statistic == "minimum" else sums / 2)
        else:
            self.const(0.0)

    def coordinates(
        self, function: Coordinates, combination: str = "product", order: int = 0
    ) -> None:
        """Push a statistic of single coordinates of (x, x)."""
        X = self._rows()
        columns = (dense_column(X, j) for j in range(X.shape[1]))
        values = combined((function.values(x, x) for x in columns), combination, order)
        self._stack.append(np.broadcast_to(values, self._n).astype(np.float64))

    def mapped(self, kernel: Kernel, statistic: str) -> None:
        """Push a pair statistic of the features of x with themselves."""
        if statistic not in ("dot", "minimum"):
            return self.const(0.0)
        features = kernel.map_objects(self._objects(kernel), Vocabulary())
        sums = np.asarray(features.sum(axis=1, dtype=np.float64)).reshape(-1)
        self._stack.append(squared_norms(features) if statistic == "dot" else sums)

    def sequence(self, kernel: Any) -> None:
        """Push the values of sequences with themselves."""
        values = self._own_values(kernel)
        with np.errstate(over="ignore"):
            self._stack.append(np.exp(values) if kernel.logarithmic else values)

    def matrix(self) -> None:
        """Push the diagonal of a precomputed matrix."""
        X = self._views.X
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                "the values k(x, x) cannot be read from a precomputed matrix that is not square; "
                f"got shape {X.shape}."
            )
        self._stack.append(np.diagonal(X).astype(np.float64))

    def python(self, kernel: Kernel) -> None:
        """Push the diagonal of a kernel written in Python."""
        values = kernel.tile_diagonal(self._objects(kernel))
        self._stack.append(np.asarray(values, dtype=np.float64))

    def add_diagonal(self, kernel: Kernel) -> None:
        """Add twice k(x, x)."""
        own = diagonal(kernel, self._views, self._columns, self._mapping)
        self._stack[-1] = self._stack[-1] + 2.0 * own

    def normalize(self, kernel: Kernel) -> None:
        """Replace the top, which is k(x, x), by 1, or by 0 where it is 0."""
        if kernel.normalized_by_logarithms:
            positive = self._own_values(kernel, logarithms=True) > -np.inf
        else:
            check_nonnegative(self._stack[-1], kernel)
            positive = self._stack[-1] > 0
        self._stack[-1] = positive.astype(np.float64)

    def _own_values(self, kernel: Any, logarithms: bool = False) -> np.ndarray:
        """Return k(x, x) of a native kernel on sequences, or its logarithm."""
        sequences = kernel.encode(self._objects(kernel), Vocabulary())
        return sequences.diagonal(kernel.native_form(logarithms))

    def _rows(self) -> Any:
        return self._views.seen(self._columns, self._mapping, VECTORS)

    def _objects(self, kernel: Kernel) -> Any:
        return self._views.seen(self._columns, self._mapping, kernel.takes)


def check_nonnegative(diagonal: np.ndarray, kernel: Kernel) -> None:
    """Reject a negative k(x, x), of which no norm can be taken."""
    if diagonal.size and not diagonal.min() >= 0:
        i = int(np.argmin(diagonal))
        raise ValueError(
            f"k(x, x) = {diagonal[i]:.6g} for object {i} under {kernel!r}, so x has no norm in "
            "feature space; only kernels with a non-negative diagonal have this geometry."
        )
