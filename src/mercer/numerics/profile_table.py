"""A profile without a short formula, as a piecewise polynomial with a known error.

A kernel whose profile is costly (a Bessel function, a Fourier integral, a spline of high order)
is interpolated once, in Chebyshev points of every piece, and the native core evaluates the pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial, chebyshev

from mercer.objects.parameters import require_choice

Function = Callable[[np.ndarray], np.ndarray]

# Errors that are aimed at, relative to the largest value, in the two precisions of the core.
ERRORS = {"float32": 1e-8, "float64": 2e-14}
GRIDS = ("even", "root", "octaves")
_DEGREES = (3, 5, 7, 9, 11, 13)  # of the pieces, tried in this order: a low one costs less
_MAX_NUMBERS = 1 << 15  # coefficients of a table of equal pieces
_MAX_OCTAVES = 400  # below the end; smaller arguments count as 0
EIGHTHS = 8  # pieces to every doubling of the argument; see cpp/isa/profiles.hpp
# Exponents of the smallest arguments that the precisions tell from 0.
_LOWEST = {"float32": -125, "float64": -1021}
_PROBES = 5  # places for each coefficient of a piece where the error is measured


@dataclass(frozen=True, eq=False)
class Pieces:
    """Polynomials in the position f in [0, 1) within a piece."""

    first: int  # exponent of 2 where the first piece begins (octaves only)
    factor: float  # pieces per unit of the argument or of its root (even and root grids only)
    coefficients: np.ndarray  # by falling power, shape (degree + 1, n_pieces)
    error: float  # the largest error that was seen between the interpolation points


@dataclass(frozen=True, eq=False)
class Table:
    """A function f of a number x >= 0 as a piecewise polynomial, constant from an end on.

    Make it with :meth:`fit`, or with :meth:`exact` when f is a piecewise polynomial.

    Attributes
    ----------
    grid : {"even", "root", "octaves"}
        Pieces of equal length in x, of equal length in sqrt(x), or eight to every doubling of x.
    end : float
        Where the pieces end.
    at_zero : float
        f(0).
    beyond : float
        The value for x >= end.
    pieces : dict
        The polynomials for "float32" and for "float64".
    slope_at_zero : float, callable or None
        f'(0), minus infinity for a function with a kink there, where it is known; or a function
        that computes it.
    curvature_at_end : callable or None
        A function that computes f''(end), infinity for a function that is not flat there, where
        it is known.
    accuracy : float
        Error of the values of f from which the pieces were made.

    Examples
    --------
    >>> from mercer.gram import Table
    >>> import numpy as np
    >>> table = Table.fit(lambda x: np.exp(-x), end=40.0)
    >>> bool(abs(table(np.array([1.0]))[0] - np.exp(-1.0)) < 1e-12)
    True
    """

    grid: str
    end: float
    at_zero: float
    beyond: float
    pieces: dict[str, Pieces]
    slope_at_zero: float | Callable[[], float] | None = None
    curvature_at_end: Callable[[], float] | None = None
    accuracy: float = 0.0

    @classmethod
    def fit(
        cls,
        function: Function,
        end: float,
        *,
        grid: str = "octaves",
        beyond: float = 0.0,
        errors: dict[str, float] | None = None,
        slope_at_zero: float | Callable[[], float] | None = None,
        curvature_at_end: Callable[[], float] | None = None,
        accuracy: float = 1e-15,
    ) -> Table:
        """Return the table of a function, or refuse when the error cannot be reached.

        Parameters
        ----------
        function : callable
            Vectorised, of x >= 0; finite and, within the pieces, smooth.
        end : float > 0
            The table covers [0, end]; a grid of octaves goes on to the end of the last piece.
        grid : {"even", "root", "octaves"}, default="octaves"
            "octaves" suits functions that are smooth but at 0 and decay; "root" functions that
            are smooth in sqrt(x), also oscillating ones; "even" functions smooth in x.
        beyond : float, default=0.0
            The value after the last piece.
        errors : dict, optional
            The errors allowed in "float32" and "float64", relative to the largest value.
        slope_at_zero : float or callable, optional
            f'(0), where it is known: what derivatives of the kernel need at equal objects.
        curvature_at_end : callable, optional
            f''(end), for a table in the distance from the end of the support.
        accuracy : float, default=1e-15
            Error of the function itself, relative to the largest value.

        Returns
        -------
        Table

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.gram import Table
        >>> table = Table.fit(lambda x: np.exp(-np.sqrt(x)), end=1600.0)
        >>> bool(abs(table(2.0) - np.exp(-np.sqrt(2.0))) < 1e-13)
        True
        """
        _check_grid(grid, end)
        sample = np.asarray(function(end * np.linspace(0.0, 1.0, 257) ** 2), dtype=np.float64)
        if not np.isfinite(sample).all():
            raise ValueError("the function of a table must be finite from 0 to its end.")
        at_zero, scale = float(sample[0]), float(np.abs(sample).max())
        pieces = {}
        for dtype, allowed in (errors or ERRORS).items():
            lowest = _LOWEST[dtype]
            found = _cheapest(function, end, grid, at_zero, allowed * scale, lowest)
            if found.error > allowed * scale:
                raise ValueError(
                    f"no piecewise polynomial on the grid {grid!r} keeps the error below "
                    f"{allowed * scale:.3g}; the best has {found.error:.3g}. Use another grid or "
                    "a smaller end."
                )
            pieces[dtype] = found
        return cls(
            grid,
            float(end),
            at_zero,
            float(beyond),
            pieces,
            slope_at_zero,
            curvature_at_end,
            accuracy * scale,
        )

    @classmethod
    def exact(
        cls, coefficients: Any, end: float, *, grid: str = "even", beyond: float = 0.0
    ) -> Table:
        """Return the table of a function that is a polynomial on each of equal pieces.

        `coefficients`, of shape (n_pieces, degree + 1): of the powers of f in [0, 1), the position
        within the piece, by rising power. `end`: where the last piece ends, and the value is
        `beyond` from there on. `grid`: "even" or "root", pieces of equal length in x or in sqrt(x).
        """
        _check_grid(grid, end)
        if grid == "octaves":
            raise ValueError("exact pieces are of equal length; use the grid 'even' or 'root'.")
        rising = np.atleast_2d(np.asarray(coefficients, dtype=np.float64))
        factor = len(rising) / (end if grid == "even" else np.sqrt(end))
        found = Pieces(0, float(factor), np.ascontiguousarray(rising[:, ::-1].T), 0.0)
        both = dict.fromkeys(ERRORS, found)
        return cls(grid, float(end), float(rising[0, 0]), float(beyond), both)

    @cached_property
    def value_error(self) -> float:
        """Error of a value in float64: of the function, of the pieces, and of their evaluation.

        The pieces are measured between the interpolation points, so theirs gets a margin. Horner's
        rule rounds twice a step; a place in a grid of equal pieces is rounded in units of the
        number of pieces.
        """
        unit = float(np.finfo(np.float64).eps) / 2
        p = self.pieces["float64"]
        degree, sizes = len(p.coefficients) - 1, np.abs(p.coefficients)
        rates = np.arange(degree, -1, -1) @ sizes
        places = 0.0 if self.grid == "octaves" else 4.0 * unit * p.coefficients.shape[1]
        evaluation = (2 * degree + 2) * unit * float(sizes.sum(axis=0).max())
        return self.accuracy + 1.5 * p.error + evaluation + places * float(rates.max())

    def lowered(self, dtype: str) -> tuple[Any, ...]:
        """Return the instruction of the native core."""
        p = self.pieces[dtype]
        bias = {"float32": 127, "float64": 1023}[dtype]  # of the exponents of the core's numbers
        ends = (float((p.first + bias) * EIGHTHS), self.at_zero, self.beyond)
        return ("table", self.grid, p.factor, *ends, p.coefficients)

    def __call__(self, x: Any) -> np.ndarray:
        """Return the values at `x` >= 0 in float64, by the same rule as the native core."""
        shape = np.shape(x)
        x = np.maximum(np.asarray(x, dtype=np.float64), 0.0).reshape(-1)
        t, piece, position = self._places(x)
        coefficients = self.pieces["float64"].coefficients
        y = np.zeros_like(x)
        for row in coefficients:
            y = y * position + row[piece]
        y = np.where(t < 0, self.at_zero, np.where(t < coefficients.shape[1], y, self.beyond))
        return y.reshape(shape)

    def derivative(self, x: Any) -> np.ndarray:
        """Return the derivative of the pieces at `x`, in float64.

        0 where the table is constant, before the first piece and after the last, and at 0.
        """
        shape = np.shape(x)
        x = np.maximum(np.asarray(x, dtype=np.float64), 0.0).reshape(-1)
        t, piece, position = self._places(x)
        p = self.pieces["float64"]
        y = np.zeros_like(x)
        for power, row in zip(range(len(p.coefficients) - 1, 0, -1), p.coefficients, strict=False):
            y = y * position + power * row[piece]
        inside = (x > 0) & (t >= 0) & (t < p.coefficients.shape[1])
        safe = np.where(inside, x, 1.0)
        if self.grid == "octaves":
            rate = EIGHTHS / 2.0 ** (np.frexp(safe)[1] - 1)
        else:
            rate = p.factor / (2.0 * np.sqrt(safe) if self.grid == "root" else np.ones_like(safe))
        return np.where(inside, rate * y, 0.0).reshape(shape)

    def _places(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the piece of every number, also as an index, and the position within it."""
        p = self.pieces["float64"]
        last = p.coefficients.shape[1] - 1
        if self.grid == "octaves":
            bits = x.view(np.int64)
            t = ((bits >> 49) - (p.first + 1023) * EIGHTHS).astype(np.float64)
            low = (bits & ((1 << 49) - 1)) | (1023 << 52)
            position = (low.view(np.float64) - 1.0) * EIGHTHS
            piece = np.clip(t, 0, last)
        else:
            t = (np.sqrt(x) if self.grid == "root" else x) * p.factor
            piece = np.clip(np.floor(t), 0, last)
            position = t - piece
        return t, piece.astype(np.intp), position


def _check_grid(grid: str, end: float) -> None:
    require_choice(grid, "grid", GRIDS)
    if not (np.isfinite(end) and end > 0):
        raise ValueError(f"end must be a positive number; got {end!r}.")


def _cheapest(
    function: Function, end: float, grid: str, at_zero: float, error: float, lowest: int
) -> Pieces:
    """Return the pieces of lowest degree within `error`, or the best ones."""
    best: Pieces | None = None
    octaves = _octaves(function, end, at_zero, error, lowest) if grid == "octaves" else None
    for degree in _DEGREES:
        for edges in _even(end, grid, degree) if octaves is None else [octaves]:
            found = _interpolate(function, edges, grid, at_zero, degree)
            if best is None or found.error < best.error:
                best = found
            if found.error <= error:
                return found
    assert best is not None
    return best


def _even(end: float, grid: str, degree: int) -> Iterator[np.ndarray]:
    """Yield the edges of finer and finer equal pieces, of x or of sqrt(x)."""
    n = 8
    while n * (degree + 1) <= _MAX_NUMBERS:
        yield np.linspace(0.0, end if grid == "even" else np.sqrt(end), n + 1)
        n *= 2


def _octaves(
    function: Function, end: float, at_zero: float, error: float, lowest: int
) -> np.ndarray:
    """Return the edges of eighths of octaves, from where the function is still f(0)."""
    last = ceil(log2(end))
    exponents = np.arange(last - 1, max(lowest, last - _MAX_OCTAVES) - 1, -1)
    near = np.abs(function(2.0**exponents) - at_zero) <= error / 2
    start = int(exponents[np.argmax(near)] if near.any() else exponents[-1])
    eighths = np.arange((last - start) * EIGHTHS + 1)
    edges = 2.0 ** (start + eighths // EIGHTHS) * (1 + (eighths % EIGHTHS) / EIGHTHS)
    return edges[: max(int(np.searchsorted(edges, end)) + 1, 2)]


def _interpolate(
    function: Function, edges: np.ndarray, grid: str, at_zero: float, degree: int
) -> Pieces:
    """Interpolate in the Chebyshev points of every piece and measure the error between them."""
    nodes = (chebyshev.chebpts1(degree + 1) + 1) / 2
    to_series = np.linalg.inv(chebyshev.chebvander(2 * nodes - 1, degree))
    basis = [chebyshev.Chebyshev.basis(k, domain=[0, 1]).convert(kind=Polynomial).coef
             for k in range(degree + 1)]  # fmt: skip
    to_powers = np.zeros((degree + 1, degree + 1))
    for k, powers in enumerate(basis):
        to_powers[k, : len(powers)] = powers
    rising = _values(function, edges, grid, nodes) @ to_series.T @ to_powers
    if grid != "octaves":
        rising[0, 0] = at_zero  # exact at the origin, where k(x, x) is read
    falling = np.ascontiguousarray(rising[:, ::-1].T)

    probes = np.linspace(0.0, 1.0, _PROBES * (degree + 1))
    approximation = np.zeros((len(rising), len(probes)))
    for row in falling:
        approximation = approximation * probes + row[:, None]
    error = float(np.abs(approximation - _values(function, edges, grid, probes)).max())
    if grid == "octaves":
        gap = float(function(np.full(1, edges[0]))[0]) - at_zero
        return Pieces(int(log2(edges[0])), 0.0, falling, max(error, abs(gap)))
    return Pieces(0, len(rising) / float(edges[-1]), falling, error)


def _values(function: Function, edges: np.ndarray, grid: str, places: np.ndarray) -> np.ndarray:
    """Return the function at these places within every piece."""
    at = edges[:-1, None] + np.diff(edges)[:, None] * places
    values = function((at * at if grid == "root" else at).reshape(-1))
    return np.asarray(values, dtype=np.float64).reshape(at.shape)
