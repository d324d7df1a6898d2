"""Running error analysis of kernel values in float64: the program, run on error bounds.

The programs of the library are followed instruction by instruction (`mercer.gram.bounded`), from
the errors of their leaves (`mercer.gram.leaf_errors`) to that of the value. The images of objects
under maps count as exact, since a kernel on inexact images is still a kernel, unless the map itself
states an error; so do the constants of a program. Of values that come from Python or from a matrix
nothing is known: they are assumed to be right to 16 units in the last place of the largest one, and
`known` says so. With `given`, the numbers of the user define the kernel and count as exact.

Not all that is followed is a theorem: the error of a table between its nodes was measured, and
that of a projection rests on an estimated condition number. `doubts` lists these in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.objects import validation as kernel_objects
from mercer.objects.tables import select
from mercer.objects.validation import VECTORS
from mercer.objects.vocabulary import Vocabulary

from .bounded import TINY, UNIT, Bounded, add, exact, gamma, multiply, rounded, transform
from .interpreter import Interpreter
from .kernel_diagonal import diagonal, own_values
from .layout import Layout, choose_layout
from .leaf_errors import RowPairs, coordinates_error, statistic_error
from .mapped_objects import Views, views_of
from .object_norms import numbers, sequence_norms
from .program import Columns, Leaf, Mapping, Program, Scalars, compile_kernel, part_program

# Assumed error of values of which nothing is known, in units of the last place of the largest.
ASSUMED = 16.0


class ErrorBounds:
    """Bounds of the errors of the kernel values between two sets of objects, in float64.

    `X`, `Z`: validated objects, stored alike. `given`: whether the numbers of the user's matrices
    and functions are the kernel: without error. `known`: whether all errors are followed; False
    where some values come from Python or from a matrix. `doubts`: what the bounds rest on that is
    estimated or assumed; where there is nothing, they are guaranteed.
    """

    def __init__(self, kernel: Any, X: Any, Z: Any = None, *, given: bool = False) -> None:
        self.kernel, self._given = kernel, given
        self._columns = views_of(X if Z is None else Z)
        self._rows = self._columns if Z is None else views_of(X)
        self._layout, self._b = choose_layout(kernel, self._columns, "float64")
        self._a = self._b if Z is None else self._layout.prepare(self._rows)
        self._program = self._layout.program
        self.known = _is_known(self._program)
        self.doubts = tuple(dict.fromkeys(_doubts(self._program, given)))
        images = self._layout.images
        self._images_b = images.of(self._columns)
        self._images_a = self._images_b if Z is None else images.of(self._rows)
        self._numbers: dict[int, tuple[Bounded, Bounded]] = {}

    @property
    def width(self) -> int:
        """The number of terms of the sums behind a value that is a sum of dot products."""
        stored = (self._stored(k, self._images_b, self._columns) for k in range(len(self._leaves)))
        return sum(int(rows.shape[1]) + 1 for rows in stored)

    def rows(self, index: Any = None) -> np.ndarray:
        """Return the bounds of some rows of the matrix, by default of all."""
        return self.values(index).error

    def values(self, index: Any = None) -> Bounded:
        """Return values of some rows of the matrix, by default of all, with their bounds."""
        if index is None:
            index = np.arange(int(self._a.n))
        index = np.ascontiguousarray(index, dtype=np.int64)
        shape = (len(index), int(self._b.n))
        if not len(index):
            return Bounded(np.zeros(shape), np.zeros(shape))
        with np.errstate(all="ignore"):  # an overflow has an infinite error
            found = _OnBounds(
                self._program,
                lambda k: self._leaf(k, index),
                lambda k: self._pair_numbers(k, index),
            ).run()
        return Bounded(*(np.broadcast_to(part, shape) for part in found))

    @property
    def _leaves(self) -> list[Leaf]:
        return self._program.leaves

    def _leaf(self, k: int, index: np.ndarray) -> Bounded:
        leaf = self._program.leaves[k]
        code = replace(self._program, code=[("leaf", k)])
        single: Layout = replace(self._layout, program=code)
        evaluator = single.evaluator(self._a.take(index), self._b, self._rows, self._columns)
        value = np.asarray(evaluator.tile(None, 0), dtype=np.float64)
        if leaf.kind in ("python", "matrix"):
            if self._given and _is_given(leaf):
                return exact(value)
            return _assumed(value, self._rows.X if leaf.kind == "matrix" else None)
        if leaf.kind == "sequence":
            return self._sequences(k, leaf, index, value)
        A, B = (
            self._stored(k, self._images_a, self._rows),
            self._stored(k, self._images_b, self._columns),
        )
        pairs = RowPairs(A[index], B)
        if leaf.coordinates is not None:
            found = coordinates_error(leaf.coordinates, leaf.combination, leaf.order, pairs)
            return Bounded(value, found.error)
        error = statistic_error(leaf.kind, pairs, value)
        own, other = _image_errors(leaf, self._rows), _image_errors(leaf, self._columns)
        if own is not None and other is not None:  # of a dot product
            sums = [np.abs(np.asarray(Y, dtype=np.float64)).sum(axis=1) for Y in (pairs.A, B)]
            own = own[index]
            error = error + own[:, None] * sums[1] + sums[0][:, None] * other
            error = error + A.shape[1] * own[:, None] * other
        return Bounded(value, error)

    def _stored(self, k: int, images: dict[int, Any], views: Views) -> Any:
        if k in images:
            return images[k]
        return select(views.X, self._program.leaves[k].columns, VECTORS)

    def _sequences(self, k: int, leaf: Leaf, index: np.ndarray, value: np.ndarray) -> Bounded:
        a, b = self._images_a[k], self._images_b[k]
        lengths = np.diff(a.start)[index][:, None] + np.diff(b.start)[None, :]
        logarithms = np.zeros_like(value)
        own, other = sequence_norms(leaf, a, self._rows), sequence_norms(leaf, b, self._columns)
        if own is not None and other is not None:
            halves = [np.where(np.isfinite(half), np.abs(half), 0.0) for half in (own, other)]
            logarithms = halves[0][index][:, None] + halves[1][None, :]
        return _of_sequences(leaf.kernel, value, lengths, logarithms)

    def _pair_numbers(self, k: int, index: np.ndarray) -> tuple[Bounded, Bounded]:
        if k not in self._numbers:
            scalars = self._program.scalars[k]
            other = _numbers(scalars, self._columns, self._given)
            alike = self._rows is self._columns
            own = other if alike else _numbers(scalars, self._rows, self._given)
            self._numbers[k] = own, other
        own, other = self._numbers[k]
        chosen = Bounded(own.value[index][:, None], own.error[index][:, None])
        return chosen, Bounded(other.value[None, :], other.error[None, :])


def diagonal_bounds(
    kernel: Any,
    views: Views,
    columns: Columns = None,
    mapping: Mapping | None = None,
    given: bool = False,
) -> Bounded:
    """Return k(x, x) of a bound kernel on columns or images, with bounds of the errors."""
    if hasattr(kernel, "diag_error"):
        objects = views.seen(columns, mapping, kernel.takes)
        return Bounded(kernel.diag(objects), kernel.diag_error(objects))
    program = part_program(kernel, columns, mapping)

    def numbers_of(k: int) -> tuple[Bounded, Bounded]:
        own = _numbers(program.scalars[k], views, given)
        return own, own

    leaves = program.leaves
    found = _OnBounds(program, lambda k: _own_leaf(leaves[k], views, given), numbers_of).run()
    value = diagonal(kernel, views, columns, mapping)
    return Bounded(value, np.broadcast_to(found.error, value.shape))


def _is_known(program: Program) -> bool:
    """Return whether no value comes from Python or from a matrix."""
    if any(leaf.kind in ("python", "matrix") for leaf in program.leaves):
        return False
    parts = [s.kernel for s in program.scalars if not hasattr(s.kernel, "diag_error")]
    return all(_is_known(compile_kernel(kernel)) for kernel in parts)


def _doubts(program: Program, given: bool) -> Iterator[str]:
    """Yield what bounds of the errors of a program rest on that is not proved."""
    if any(name == "table" for name, *_ in program.code):
        yield "profiles are read from a table whose error was measured"
    for leaf in program.leaves:
        if leaf.kind in ("python", "matrix") and not (given and _is_given(leaf)):
            what = "a matrix" if leaf.kernel is None else type(leaf.kernel).__name__
            yield f"the values of {what} come from Python code of unknown rounding"
        if hasattr(leaf.mapping, "image_error"):
            yield "the error of a projection is estimated from a condition number"
    for scalars in program.scalars:
        if not hasattr(scalars.kernel, "diag_error"):  # of a kernel that has a leaf as well
            yield from _doubts(compile_kernel(scalars.kernel), given)


def _is_given(leaf: Leaf) -> bool:
    """Return whether the user's own numbers are the kernel."""
    return leaf.kind == "matrix" or bool(getattr(leaf.kernel, "_given", False))


class _OnBounds(Interpreter[Bounded]):
    """Runs a program on bounded numbers, given its leaves and the numbers of objects."""

    def __init__(
        self,
        program: Program,
        leaf: Callable[[int], Bounded],
        numbers_of: Callable[[int], tuple[Bounded, Bounded]],
    ) -> None:
        super().__init__(program)
        self._leaf, self._numbers_of = leaf, numbers_of

    def leaf(self, k: int) -> Bounded:
        return self._leaf(k)

    def constant(self, value: float) -> Bounded:
        return exact(value)

    def add(self, a: Bounded, b: Bounded) -> Bounded:
        return add(a, b)

    def multiply(self, a: Bounded, b: Bounded) -> Bounded:
        return multiply(a, b)

    def scaled(self, x: Bounded, k: int) -> Bounded:
        own, other = self._numbers_of(k)
        return multiply(multiply(x, own), other)

    def raised(self, x: Bounded, k: int) -> Bounded:
        return add(x, add(*self._numbers_of(k)))

    def function(self, x: Bounded, name: str, arguments: list[Any]) -> Bounded:
        return transform(x, name, arguments)


def _numbers(scalars: Scalars, views: Views, given: bool) -> Bounded:
    """Return the numbers u(x) of a program with bounds of their errors."""
    value = numbers(scalars, views)
    own = diagonal_bounds(scalars.kernel, views, scalars.columns, scalars.mapping, given)
    if scalars.kind == "diagonal":
        return Bounded(value, own.error)
    with np.errstate(all="ignore"):
        share = 2.0 * own.error / np.maximum(own.value, TINY)
        relative = np.where(share < 1.0, 1.0 / np.sqrt(1.0 - np.minimum(share, 1.0)) - 1.0, np.inf)
        error = np.where(value > 0, value * (relative + gamma(4)), 0.0)
    return Bounded(value, error)


def _own_leaf(leaf: Leaf, views: Views, given: bool) -> Bounded:
    """Return a leaf of pairs (x, x)."""
    kernel: Any = leaf.kernel
    if leaf.kind == "sequence" and leaf.normalized:
        n = kernel_objects.count(views.X)
        return rounded(np.ones(n), np.zeros(n), 4.0)
    value = own_values(leaf, views)
    if leaf.kind in ("matrix", "python"):
        matrix = views.X if leaf.kind == "matrix" else None
        return exact(value) if given and _is_given(leaf) else _assumed(value, matrix)
    objects = views.of(leaf, VECTORS if kernel is None else kernel.takes)
    if leaf.kind == "sequence":
        lengths = np.diff(kernel.encode(objects, Vocabulary()).start)
        return _of_sequences(kernel, value, 2 * lengths, np.zeros(len(value)))
    pairs = RowPairs(kernel.map_objects(objects, Vocabulary()) if leaf.mapped else objects)
    if leaf.coordinates is not None:
        return coordinates_error(leaf.coordinates, leaf.combination, leaf.order, pairs)
    return Bounded(value, statistic_error(leaf.kind, pairs, value))


def _assumed(value: np.ndarray, matrix: Any) -> Bounded:
    """Return values of unknown error, with the error that is assumed."""
    unit = float(np.finfo(np.float64).eps)
    if matrix is not None and np.dtype(matrix.dtype) == np.float32:
        unit = float(np.finfo(np.float32).eps)
    size = float(np.abs(value).max(initial=0.0))
    return Bounded(value, np.full_like(value, ASSUMED * unit * size))


def _of_sequences(
    kernel: Any, value: np.ndarray, lengths: np.ndarray, logarithms: np.ndarray
) -> Bounded:
    """Return values of a native evaluator of pairs of sequences with bounds of their errors.

    The evaluators add and multiply numbers that are not negative, along chains that are as long as
    the two sequences together, once for each order of the recursion; logarithms that are
    exponentiated are rounded in units of their size.
    """
    chain = 8.0 + 6.0 * lengths * float(getattr(kernel, "recursions", 1))
    size = np.abs(value)
    if kernel.normalized_by_logarithms or kernel.logarithmic:
        logs = np.abs(np.log(np.where(size > 0, size, 1.0)))
        chain = chain + 8.0 * (logs + 2.0 * logarithms)
    return Bounded(value, size * np.expm1(UNIT * chain) + TINY)


def _image_errors(leaf: Leaf, views: Views) -> np.ndarray | None:
    """Return the error of every entry of the images of an object, where the map states it."""
    if leaf.mapping is None or not hasattr(leaf.mapping, "image_error"):
        return None
    return leaf.mapping.image_error(select(views.X, leaf.columns, leaf.mapping.takes))
