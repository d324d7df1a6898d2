"""Kernel values as operators: the program of a kernel, written down instead of run.

One interpreter serves two purposes: the matrix k(x_i, z_j) between the rows of the input and given
vectors, and the column k(x_i, x_i), which normalised kernels and distances in feature space need.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram.interpreter import Interpreter
from mercer.gram.mapped_objects import views_of
from mercer.gram.program import Composed, Leaf, Mapping, Program, compile_kernel, part_program
from mercer.kernels import Bilinear, Kernel
from mercer.kernels.mapping import FeaturesOf
from mercer.kernels.vectors.column_widths import ScaledColumns
from mercer.kernels.vectors.exp_sine_squared import OnCircles
from mercer.kernels.white import without_white
from mercer.numerics.profile_table import EIGHTHS, Table
from mercer.objects.arrays import Array
from mercer.objects.rows import dense
from mercer.objects.validation import VECTORS, count

from . import statistics
from .graph import Graph

# Functions that are not smooth at 0, where a rounding error of a squared distance would show.
_SENSITIVE = {"sqrt", "power", "log", "table"}


class NotExportableError(ValueError):
    """A model or kernel that ONNX has no operators for."""


class Rows:
    """The input as a matrix of numbers.

    `graph`: where operators are written. `tensor`: the matrix. `n_columns`: its number of columns.
    """

    def __init__(self, graph: Graph, tensor: str, n_columns: int) -> None:
        self.graph, self.tensor, self.n_columns = graph, tensor, n_columns
        self._seen: dict[Any, tuple[str, int]] = {}

    def near(self, point: NDArray[Any] | None) -> Rows:
        """Return the rows relative to a point, if any."""
        if point is None:
            return self
        return Rows(self.graph, self.graph.sub(self.tensor, point.astype(float)), self.n_columns)

    def seen(self, columns: Any, mapping: Mapping | None, kernel: Kernel) -> tuple[str, int]:
        """Return what a leaf looks at, and its number of columns."""
        key = (columns, mapping)
        if key not in self._seen:
            index = range(self.n_columns) if columns is None else columns
            chosen = self.graph.columns(self.tensor, list(index), self.n_columns)
            self._seen[key] = self._mapped(chosen, len(index), mapping, kernel)
        return self._seen[key]

    def _mapped(
        self, X: str, n_columns: int, mapping: Mapping | None, kernel: Kernel
    ) -> tuple[str, int]:
        graph = self.graph
        if mapping is None:
            return X, n_columns
        if isinstance(mapping, ScaledColumns):
            return graph.mul(X, np.array(mapping.factors)), n_columns
        if isinstance(mapping, OnCircles):
            angle = graph.mul(X, np.array(2 * np.pi / mapping.period))
            turned = [graph.op(function, angle) for function in ("Cos", "Sin")]
            return graph.op("Concat", *turned, axis=1), 2 * n_columns
        if isinstance(mapping, FeaturesOf) and isinstance(mapping.kernel, Bilinear):
            A = mapping.kernel.factor
            A = A if len(A) else np.zeros((1, n_columns))
            return graph.op("MatMul", X, np.ascontiguousarray(A.T)), len(A)
        if isinstance(mapping, Composed):
            image, width = self._mapped(X, n_columns, mapping.first, kernel)
            if isinstance(mapping.then, tuple):
                return graph.columns(image, mapping.then), len(mapping.then)
            return self._mapped(image, width, mapping.then, kernel)
        raise _refusal(kernel, "it maps the objects by Python code")


def matrix(rows: Rows, kernel: Kernel, vectors: Any) -> str:
    """Return the kernel matrix between the rows of the input and vectors of an expansion."""
    kernel = without_white(kernel)  # other objects share no noise with those of a fit
    return _Pairs(compile_kernel(kernel), rows, kernel, vectors).run()


def diagonal(rows: Rows, kernel: Kernel) -> str:
    """Return the column of k(x, x)."""
    return _Objects(compile_kernel(kernel), rows, kernel).run()


def _refusal(kernel: Kernel, reason: str) -> NotExportableError:
    return NotExportableError(
        f"{kernel!r} cannot be written in the operators of ONNX: {reason}. Kernels on rows of "
        "numbers that are functions of dot products, distances and single coordinates can, and "
        "sums, products, powers and normalised forms of these. Serve this model with mercer.save "
        "and mercer.load."
    )


class _Operators(Interpreter[str]):
    """Writes the operators of a program; subclasses know leaves and numbers of objects."""

    width = 1  # the number of columns of the values

    def __init__(self, program: Program, rows: Rows, kernel: Kernel) -> None:
        super().__init__(program)
        self.rows, self.graph, self.kernel = rows, rows.graph, kernel
        self.exact = any(instruction[0] in _SENSITIVE for instruction in program.code)
        self._known: dict[int, str] = {}

    def leaf(self, k: int) -> str:
        """Return the values of a leaf, which are written once."""
        if k not in self._known:
            self._known[k] = self.statistic(self.program.leaves[k])
        return self._known[k]

    def statistic(self, leaf: Leaf) -> str:
        """Return the values of a leaf."""
        raise NotImplementedError

    def constant(self, value: float) -> str:
        return self.graph.filled(value, self.rows.tensor, self.width)

    def add(self, a: str, b: str) -> str:
        return self.graph.add(a, b)

    def multiply(self, a: str, b: str) -> str:
        return self.graph.mul(a, b)

    def function(self, x: str, name: str, arguments: list[Any]) -> str:
        if name not in ("affine", "exp"):
            return _function(self.graph, name, arguments, x)
        value = self.affine(x, *arguments)
        return value if name == "affine" else self.graph.op("Exp", value)

    def affine(self, x: str, a: float, b: float) -> str:
        """Return a x + b.

        The factor is written once for every column: onnxruntime joins a product with a single
        number to the matrix product before it, and rounds the number to single precision.
        """
        g = self.graph
        x = x if a == 1.0 else g.mul(x, np.full((1, self.width), a))
        return x if b == 0.0 else g.add(x, b)

    def norms(self, k: int) -> str:
        """Return the column of k(x, x) of a part of the kernel."""
        part = self.program.scalars[k]
        program = part_program(part.kernel, part.columns, part.mapping)
        return _Objects(program, self.rows, self.kernel).run()

    def lengths(self, k: int) -> str:
        """Return 1 / sqrt(k(x, x)), 0 where k(x, x) is 0."""
        g, norms = self.graph, self.norms(k)
        positive = g.op("Greater", norms, 0.0)
        root = g.op("Sqrt", g.where(positive, norms, 1.0))
        return g.where(positive, g.op("Reciprocal", root), 0.0)

    def refuse_objects(self, leaf: Leaf) -> None:
        """Reject a leaf that is not a statistic of rows of numbers."""
        if leaf.kind == "python":
            raise _refusal(self.kernel, "it is computed by Python code")
        if leaf.kind == "sequence" or leaf.mapped:
            of = leaf.kernel
            raise _refusal(self.kernel, f"{type(of).__name__} compares other things than numbers")


class _Pairs(_Operators):
    """Values between the rows of the input and given vectors."""

    def __init__(self, program: Program, rows: Rows, kernel: Kernel, vectors: Any) -> None:
        super().__init__(program, rows, kernel)
        self.vectors, self.views, self.width = vectors, views_of(vectors), count(vectors)

    def statistic(self, leaf: Leaf) -> str:
        if leaf.kind == "matrix":
            return self.graph.columns(self.rows.tensor, self.vectors)
        self.refuse_objects(leaf)
        X, _ = self.rows.seen(leaf.columns, leaf.mapping, self.kernel)
        Z = dense(self.views.of(leaf, VECTORS))
        if leaf.coordinates is not None:
            return statistics.coordinates_of_pairs(
                self.graph, leaf.coordinates, leaf.combination, leaf.order, X, Z
            )
        return statistics.of_pairs(self.graph, leaf.kind, X, Z, self.exact)

    def scaled(self, x: str, k: int) -> str:
        own = self._diagonal(k)
        with np.errstate(divide="ignore"):
            inverse = np.where(own > 0.0, 1.0 / np.sqrt(own), 0.0)
        return self.graph.mul(self.graph.mul(x, self.lengths(k)), inverse[None])

    def raised(self, x: str, k: int) -> str:
        return self.graph.add(self.graph.add(x, self.norms(k)), self._diagonal(k)[None])

    def _diagonal(self, k: int) -> Array:
        part = self.program.scalars[k]
        objects = self.views.of(part, part.kernel.takes)
        return np.asarray(part.kernel.diag(objects), dtype=np.float64)


class _Objects(_Operators):
    """Values of every row of the input with itself."""

    def statistic(self, leaf: Leaf) -> str:
        if leaf.kind == "matrix":
            raise _refusal(self.kernel, "a precomputed matrix does not hold k(x, x) of new objects")
        self.refuse_objects(leaf)
        X, n_columns = self.rows.seen(leaf.columns, leaf.mapping, self.kernel)
        if leaf.coordinates is not None:
            return statistics.coordinates_of_objects(
                self.graph, leaf.coordinates, leaf.combination, leaf.order, X, n_columns
            )
        return statistics.of_objects(self.graph, leaf.kind, X)

    def scaled(self, x: str, k: int) -> str:
        lengths = self.lengths(k)
        return self.graph.mul(self.graph.mul(x, lengths), lengths)

    def raised(self, x: str, k: int) -> str:
        return self.graph.add(x, self.graph.mul(self.norms(k), 2.0))


def _function(g: Graph, name: str, given: list[Any], x: str) -> str:
    """Return a function of one value; see `mercer.gram.program.Builder`."""
    if name == "log":
        return g.op("Log", g.op("Max", x, float(np.finfo(np.float64).tiny)))
    if name == "log1p":
        # log(1 + x) = x log(u) / (u - 1) with u = 1 + x as it is rounded, and x where u = 1.
        u = g.add(x, 1.0)
        one = g.op("Equal", u, 1.0)
        ratio = g.op("Div", g.op("Log", u), g.where(one, 1.0, g.sub(u, 1.0)))
        return g.mul(x, g.where(one, 1.0, ratio))
    if name == "at_least":
        return g.op("Max", x, given[0])
    if name == "sqrt":
        return g.op("Sqrt", g.op("Max", x, 0.0))
    if name in ("cos", "tanh", "reciprocal"):
        return g.op(name.capitalize(), x)
    if name == "power":
        return g.op("Pow", g.op("Max", x, 0.0), given[0])
    if name == "powi":
        return g.op("Pow", x, float(given[0]))
    if name == "polynomial":
        return _horner(g, given[0], x)
    return _table(g, given[0], x)


def _horner(g: Graph, falling: Any, x: str) -> str:
    """Return the value of a polynomial; coefficients by falling power: numbers or tensors."""
    first, *others = falling
    value = g.add(g.mul(x, 0.0), first)
    for c in others:
        value = g.add(g.mul(value, x), c)
    return value


def _table(g: Graph, table: Table, x: str) -> str:
    """Return the value of a piecewise polynomial; see `Table.__call__`."""
    pieces = table.pieces["float64"]
    coefficients = pieces.coefficients
    x = g.op("Max", x, 0.0)
    if table.grid == "octaves":
        # Neighbouring pieces agree where they meet, so a logarithm that is rounded to the next
        # octave costs nothing.
        safe = g.op("Max", x, 2.0**pieces.first)
        octave = g.op("Floor", g.mul(g.op("Log", safe), 1.0 / np.log(2.0)))
        mantissa = g.op("Div", safe, g.op("Pow", 2.0, octave))
        eighths = g.mul(g.sub(mantissa, 1.0), float(EIGHTHS))
        t = g.add(g.mul(g.sub(octave, float(pieces.first)), float(EIGHTHS)), eighths)
    else:
        t = g.mul(g.op("Sqrt", x) if table.grid == "root" else x, pieces.factor)
    last = coefficients.shape[1] - 1
    piece = g.op("Min", g.op("Max", g.op("Floor", t), 0.0), float(last))
    index = g.op("Cast", piece, to="int64")
    position = g.sub(t, piece)
    value = _horner(g, [g.op("Gather", row, index, axis=0) for row in coefficients], position)
    value = g.where(g.op("Less", t, float(last + 1)), value, table.beyond)
    if table.grid == "octaves":
        value = g.where(g.op("Less", x, 2.0**pieces.first), table.at_zero, value)
    return value
