"""Rounding errors of kernel programs, which decide between single and double precision.

The error of a value may be 2e-6 of the largest value of the kernel. Programs whose error cannot be
bounded by that run in double precision.

The classical programs, whose leaves go straight into an exponential or into powers, have bounds
in closed form. Any other program is followed instruction by instruction: what depends on a single
pair statistic is a function of one number, which is evaluated on a grid, with the statistic
moved by its own error, and once more in single precision; what combines several statistics is
bounded by intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import comb, inf, sqrt
from typing import Any

import numpy as np

from mercer.numerics.profile_table import Table

from .interpreter import FUNCTIONS, Interpreter, Numbers
from .program import Leaf, Program

# A kernel value in single precision may differ from the exact one by 2e-6. Rounding the rows may
# use up this much of it; the sums and the exponential need the rest.
SINGLE_ERROR = 1.2e-6
# Compressed rows: the whole error of a value. That of a squared distance comes from sums of
# products in single precision, each of whose partial sums is rounded. The roundings point both
# ways, so that they add up to 0.58 units times the root of the sum of their squares; the largest of
# 1e5 pairs is at 4.3 times that, and a distance has twice the error of a dot product. The second
# factor is for the rows themselves and for partial sums that are alike in all runs of a row
# (cpp/objects.cpp).
SPARSE_ERROR = 1.9e-6
PARTIAL_SUMS = 5.0
NARROW = 256
"""Sums over compressed rows of more columns are added in runs, in double precision."""

NORMS = 3.0
# Unbounded kernels (polynomials) keep their relative error; beyond this scale it is too large.
SINGLE_SCALE = 1e3
# The relative error of a power of a dot product, by an estimate that is two to three times the
# errors that were seen.
SINGLE_POWER = 5e-6

# Norms of rows whose squares, and those of small differences, have exponents of single precision.
SMALLEST_ROW, LARGEST_ROW = 1e-15, 1e18
LARGEST_CONSTANT = 1e38  # of a program, below the largest number of float32

_EPS = 2.0**-24  # unit roundoff of float32
_GRID = 513  # values of a statistic at which errors are tried out
_LONGEST = 400  # instructions of a function of one statistic that are followed
_CLASSICAL = {"leaf", "const", "affine", "exp", "powi", "add", "mul", "aux"}


def coarseness_of_single(
    program: Program,
    store: Any,
    sparse: list[bool],
    columns: list[int],
    ranges: Callable[[int], tuple[float, float]],
    scale: Callable[[], float],
) -> float:
    """Return the error of kernel values in single precision, as a multiple of the allowed 2e-6.

    `ranges`: the smallest and the largest of the program's numbers u(x), by their index. `scale`:
    the largest absolute value of the kernel on a sample of the objects.
    """
    kinds = {leaf.kind for leaf in program.leaves}
    if kinds & {"matrix", "python", "sequence"} or leaves_single(program, store):
        return inf
    leaves = [
        _Rows(
            leaf, store.radius(k), store.rounding(k), sparse[k], columns[k], store.partial_sums(k)
        )
        for k, leaf in enumerate(program.leaves)
    ]
    if _is_classical(program):
        degrees = _degrees(program)
        return max(
            _classical(rows, program.widths.get(k), degrees.get(k, 0))
            for k, rows in enumerate(leaves)
        )
    with np.errstate(all="ignore"):  # an overflow shows as an infinite error
        bound = _Follower(program, leaves, ranges).bound()
    # The terms of a sum may cancel, and the values of rows that lie close together need not come
    # near the ends of the interval of all that may occur.
    size = min(_size(bound), scale())
    return bound.error / (2e-6 * size) if np.isfinite(bound.error) and size > 0 else inf


def leaves_single(program: Program, store: Any) -> bool:
    """Return whether rows or constants of a program leave the range of single precision."""
    radii = [store.radius(k) for k in range(len(program.leaves))]
    numbers = [abs(a) for _, *args in program.code for a in args if isinstance(a, float)]
    return max(numbers, default=0.0) > LARGEST_CONSTANT or any(
        r > 0.0 and not SMALLEST_ROW <= r <= LARGEST_ROW for r in radii
    )


@dataclass(frozen=True)
class _Rows:
    """Properties of the rows behind a leaf: their largest norm, and that of their rounding.

    ``partial_sums`` is, for compressed rows, the root of the sum of squares of the partial sums of
    a row's squares, each of which is rounded.
    """

    leaf: Leaf
    radius: float
    rounding: float
    sparse: bool
    columns: int
    partial_sums: float

    @property
    def roundings(self) -> float:
        """Error of a squared distance of compressed rows, in roundings of the squared norm."""
        return NORMS + PARTIAL_SUMS * self.partial_sums / max(self.radius**2, 1e-300)

    @property
    def powered(self) -> float:
        """Relative error of a dot product, as a random walk of the sum and of the rows."""
        # Runs of compressed rows that are not narrow are added in double precision.
        runs = 16 if self.sparse and self.columns > NARROW else 1
        walk = 2.0 + sqrt(self.columns / (3.0 * runs))
        return _EPS * walk + 2.0 * self.rounding / self.radius if self.radius > 0 else 0.0

    @property
    def sums(self) -> float:
        """Relative error of a sum over the columns, whose roundings point both ways."""
        return _EPS * (2.0 + sqrt(self.columns))

    def grid(self) -> np.ndarray:
        """Return values that the statistic may take."""
        t = np.concatenate([np.linspace(0.0, 1.0, _GRID), np.geomspace(1e-8, 1.0, _GRID)])
        if self.leaf.kind == "sqdist":
            return (2.0 * self.radius * t) ** 2
        if self.leaf.kind == "dot":
            return self.radius**2 * np.concatenate([-t, t])
        return 2.0 * sqrt(self.columns) * self.radius * t

    def moved(self, s: np.ndarray) -> list[np.ndarray]:
        """Return the values with the errors they may have, one kind of error after the other."""
        if self.leaf.kind == "sqdist" and not self.sparse:
            return [(np.sqrt(s) + 2.0 * self.rounding) ** 2, s * (1.0 + self.sums)]
        if self.leaf.kind == "sqdist":
            return [s + self.roundings * _EPS * self.radius**2]
        if self.leaf.kind == "dot":
            return [s + 2.0 * self.rounding * self.radius + self.sums * self.radius**2]
        if self.leaf.kind == "chi" and self.sparse:  # from the masses, as distances from norms
            mass = sqrt(self.columns) * self.radius
            return [s + self.roundings * _EPS * 2.0 * mass]
        # Sums of absolute differences, of minima and of harmonic means change as fast as their
        # rows, the chi-square distance at most three times as fast.
        rate = 3.0 if self.leaf.kind == "chi" else 1.0
        return [s + rate * 4.0 * max(self.rounding, _EPS * self.radius), s * (1.0 + self.sums)]


def _is_classical(program: Program) -> bool:
    """Return whether distances go straight into decaying exponentials, and the rest into powers."""
    before: tuple[Any, ...] = ()
    for instruction in program.code:
        if instruction[0] not in _CLASSICAL:
            return False
        if instruction[0] == "exp":
            if before[0] != "leaf" or instruction[1] > 0:
                return False
            if program.leaves[before[1]].kind not in ("sqdist", "l1"):
                return False
        before = instruction
    return all(leaf.kind in ("dot", "sqdist", "l1") for leaf in program.leaves)


def _degrees(program: Program) -> dict[int, int]:
    """Return the degree in which every leaf enters a classical program, 0 through exponentials."""
    stack: list[dict[int, int]] = []
    for name, *arguments in program.code:
        if name == "leaf":
            stack.append({arguments[0]: 1})
        elif name == "const":
            stack.append({})
        elif name == "exp":
            stack[-1] = {}
        elif name == "powi":
            stack[-1] = {leaf: d * int(arguments[0]) for leaf, d in stack[-1].items()}
        elif name in ("add", "mul"):
            a, b = stack.pop(), stack.pop()
            join: Any = max if name == "add" else sum
            stack.append({leaf: join([a.get(leaf, 0), b.get(leaf, 0)]) for leaf in {**a, **b}})
    return stack[0]


def _classical(rows: _Rows, width: float | None, degree: int) -> float:
    """Return the error of a leaf of a classical program, as a multiple of the allowed one.

    For exp(-g d^2) with rows wrong by at most e, the error is at most
    max_t 2 sqrt(g) t exp(-t^2) * 2 e < 1.72 sqrt(g) e; for exp(-g d) with the l1 norm it is g
    times the l1 error. Compressed rows take d^2 from norms and dot products, whose rounding is
    relative to the norms, not to the distance. A power of a dot product multiplies its relative
    error by the degree.
    """
    if rows.leaf.kind == "sqdist" and width is not None:
        if rows.sparse:
            return rows.roundings * _EPS * width * rows.radius**2 / SPARSE_ERROR
        return 1.72 * sqrt(width) * rows.rounding / SINGLE_ERROR
    if rows.leaf.kind == "l1" and width is not None:
        return 4 * width * max(rows.rounding, _EPS * rows.radius) / SINGLE_ERROR
    power = degree * rows.powered / SINGLE_POWER if degree > 1 else 0.0
    return max(rows.radius**2 / SINGLE_SCALE, power)


@dataclass(frozen=True)
class _Bound:
    """An interval that holds a number, and how wrong it may be."""

    low: float
    high: float
    error: float


@dataclass(frozen=True)
class _Profile:
    """A function of one leaf, as the code that computes it; leaf None: a constant."""

    leaf: int | None
    code: tuple[tuple[Any, ...], ...] = field(default=())


class _Follower(Interpreter["_Profile | _Bound"]):
    """Runs a program on bounds instead of numbers."""

    def __init__(
        self,
        program: Program,
        leaves: list[_Rows],
        ranges: Callable[[int], tuple[float, float]],
    ) -> None:
        super().__init__(program)
        self._leaves = leaves
        self._ranges = ranges

    def bound(self) -> _Bound:
        """Return the bound of the program's value."""
        return self._bound(self.run())

    def leaf(self, k: int) -> _Profile | _Bound:
        if self._leaves[k].leaf.coordinates is not None:
            return _coordinates(self._leaves[k])
        return _Profile(k, (("leaf", 0),))

    def constant(self, value: float) -> _Profile | _Bound:
        return _Profile(None, (("const", value),))

    def add(self, a: _Profile | _Bound, b: _Profile | _Bound) -> _Profile | _Bound:
        return self._combine("add", a, b)

    def multiply(self, a: _Profile | _Bound, b: _Profile | _Bound) -> _Profile | _Bound:
        return self._combine("mul", a, b)

    def scaled(self, x: _Profile | _Bound, k: int) -> _Bound:
        (_, most), bound = self._ranges(k), self._bound(x)
        factor, error = most * most, bound.error + 3 * _EPS * _size(bound)
        return _Bound(factor * bound.low, factor * bound.high, factor * error)

    def raised(self, x: _Profile | _Bound, k: int) -> _Bound:
        (least, most), bound = self._ranges(k), self._bound(x)
        low, high = bound.low + 2 * least, bound.high + 2 * most
        return _Bound(low, high, bound.error + 3 * _EPS * max(abs(least), abs(most), abs(high)))

    def _combine(self, name: str, a: _Profile | _Bound, b: _Profile | _Bound) -> _Profile | _Bound:
        if isinstance(a, _Profile) and isinstance(b, _Profile):
            leaves = {a.leaf, b.leaf} - {None}
            if len(leaves) < 2 and len(a.code) + len(b.code) < _LONGEST:
                leaf = a.leaf if b.leaf is None else b.leaf
                return _Profile(leaf, (*a.code, *b.code, (name,)))
        x, y = self._bound(a), self._bound(b)
        if name == "add":
            low, high, error = x.low + y.low, x.high + y.high, x.error + y.error
        else:
            ends = [p * q for p in (x.low, x.high) for q in (y.low, y.high)]
            low, high = min(ends), max(ends)
            error = _size(x) * y.error + _size(y) * x.error + x.error * y.error
        return _Bound(low, high, error + _EPS * max(abs(low), abs(high)))

    def function(self, x: _Profile | _Bound, name: str, arguments: list[Any]) -> _Profile | _Bound:
        instruction = (name, *arguments)
        if isinstance(x, _Profile) and len(x.code) < _LONGEST:
            return _Profile(x.leaf, (*x.code, instruction))
        bound = self._bound(x)
        return _measured(
            (("leaf", 0), instruction),
            np.linspace(bound.low, bound.high, _GRID),
            lambda t: [t + bound.error, t - bound.error],
        )

    def _bound(self, x: _Profile | _Bound) -> _Bound:
        if isinstance(x, _Bound):
            return x
        if x.leaf is None:
            (value,) = _OneNumber(x.code, np.zeros(1)).run()
            return _Bound(value, value, _EPS * abs(value))
        rows = self._leaves[x.leaf]
        return _measured(x.code, rows.grid(), rows.moved)


def _measured(
    code: tuple[tuple[Any, ...], ...],
    grid: np.ndarray,
    moved: Callable[[np.ndarray], list[np.ndarray]],
) -> _Bound:
    """Bound a function of one number by its values on a grid."""
    grid = grid.astype(np.float32).astype(np.float64)
    exact = _OneNumber(code, grid).run()
    errors = [float(np.abs(_OneNumber(code, other).run() - exact).max()) for other in moved(grid)]
    rounded = _OneNumber(code, grid.astype(np.float32)).run()
    errors.append(2.0 * float(np.abs(rounded - exact).max()))
    low, high = float(exact.min()), float(exact.max())
    total = sum(errors)
    return _Bound(low, high, total if np.isfinite(total) else np.inf)


def _size(x: _Bound) -> float:
    return max(abs(x.low), abs(x.high))


def _coordinates(rows: _Rows) -> _Bound:
    """Bound a product, a maximum or an ANOVA sum of a function of single coordinates.

    Relative to its largest value a product of d factors is wrong by the sum of their errors; an
    ANOVA sum of order D by D times the error of one of its factors.
    """
    f, leaf = rows.leaf.coordinates, rows.leaf
    assert f is not None
    spread = 2.0 * rows.radius
    if f.of_difference:
        t = np.concatenate([np.linspace(0.0, spread, 8 * _GRID), np.geomspace(1e-8, 1, _GRID)])
        values = f.values(t, 0.0)
        step = max(2.0 * rows.rounding, 1e-12 * spread)
        slope = float(np.abs(f.values(t + step, 0.0) - values).max())
        size = float(np.abs(values).max())
        rounding = f.roundings * _EPS * size + abs(f.a) * spread * _EPS * size * f.oscillates
    else:
        size = max(float(np.abs(f.values(*(np.full(1, rows.radius),) * 2))[0]), 1e-300)
        slope = 4.0 * rows.rounding / max(rows.radius, 1e-300) * size
        rounding = f.roundings * _EPS * size
        if size > SINGLE_SCALE:
            return _Bound(0.0, 1.0, np.inf)
    if leaf.combination == "maximum":
        return _Bound(0.0, size, slope + rounding)
    if leaf.combination == "anova":
        terms = comb(rows.columns, leaf.order)
        relative = leaf.order * (slope + rounding) / size + rows.sums
        top = terms * size**leaf.order
    else:
        relative = sqrt(rows.columns) * (slope + rounding) / size + rows.sums
        top = size**rows.columns
    return _Bound(-top, top, relative * top)


class _OneNumber(Numbers):
    """Runs the code of a function of one number, which ("leaf", 0) pushes, in its precision."""

    functions = FUNCTIONS | {"table": lambda x, table: _read(x, table)}

    def __init__(self, code: tuple[tuple[Any, ...], ...], x: np.ndarray) -> None:
        super().__init__(Program(list(code)), len(x))
        self._x = x

    def leaf(self, k: int) -> np.ndarray:
        return self._x

    def constant(self, value: float) -> np.ndarray:
        return np.full_like(self._x, value)


def _read(x: np.ndarray, table: Table) -> np.ndarray:
    """Return values of a table; its pieces for single precision have an error of their own."""
    own = table.pieces["float32"].error if x.dtype == np.float32 else 0.0
    return (table(x) + own).astype(x.dtype)
