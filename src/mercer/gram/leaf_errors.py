"""Errors of the leaves of programs: what rounding does to pair statistics of stored rows.

Sums of positive terms have a relative error of one rounding per term. The terms of a dot product
may cancel, so its error is relative to the sum of their sizes; distances of compressed rows are
taken from norms where they are not small beside them (cpp/evaluator_leaves.cpp), and their error is
relative to these. Functions of single coordinates are followed term by term.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.objects.rows import dense_column, squared_norms

from .bounded import TINY, UNIT, Bounded, add, exact, gamma, multiply, rounded
from .coordinate_statistics import Coordinates
from .layout import EXACT

# Distances of compressed rows below this share of the norms are summed once more, from the
# differences of the entries (near_share in cpp/evaluator_leaves.cpp).
NEAR = 1.0 / 128.0


class RowPairs:
    """Pairs of rows: all of `A` with all of `B`, or without `B` every row with itself."""

    def __init__(self, A: Any, B: Any = None) -> None:
        self.A, self.own = A, B is None
        self.B = A if B is None else B

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.A.shape[1])

    @property
    def terms(self) -> int:
        """The largest number of terms of a sum over the columns."""
        if not sp.issparse(self.A):
            return self.columns
        longest = [int(np.diff(X.indptr).max(initial=0)) for X in (self.A, self.B)]
        return min(self.columns, sum(longest)) + 16  # runs are added one after the other

    def products(self) -> np.ndarray:
        """Return the sums of the sizes of the products of the entries."""
        if self.own:
            return squared_norms(self.A)
        A, B = abs(self.A), abs(self.B)
        if sp.issparse(A):
            return np.asarray((A @ B.T).toarray(), dtype=np.float64)
        return A.astype(np.float64) @ B.astype(np.float64).T

    def both(self, numbers: Any) -> np.ndarray:
        """Return the sums u(x) + u(z) of a function of single rows."""
        own = numbers(self.A)
        return 2.0 * own if self.own else own[:, None] + numbers(self.B)

    def used_columns(self, f: Coordinates, combination: str) -> Any:
        """Return the columns that change a statistic; entries that are all 0 may not."""
        neutral = float(f.values(np.zeros(1), np.zeros(1))[0]) / f.peak
        if not sp.issparse(self.A) or neutral != (combination == "product"):
            return range(self.columns)
        return np.union1d(self.A.indices, self.B.indices)

    def column(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the entries of one column, such that they can be combined."""
        x, z = (dense_column(X, j) for X in (self.A, self.B))
        return (x, z) if self.own else (x[:, None], z[None, :])


def statistic_error(kind: str, pairs: RowPairs, value: np.ndarray) -> np.ndarray:
    """Return bounds of the errors of a pair statistic; see `mercer.gram.program.Builder.leaf`."""
    relative = gamma(pairs.terms + 4)
    if kind == "dot":
        sizes = pairs.products()
        if _integral(pairs.A) and _integral(pairs.B) and sizes.max(initial=0.0) < EXACT["float64"]:
            return np.zeros_like(value)
        return relative * sizes + pairs.columns * TINY
    distance = kind in ("sqdist", "l1", "chi")
    if distance and pairs.own:
        return np.zeros_like(value)
    error = relative * np.abs(value) + pairs.columns * TINY
    if distance and sp.issparse(pairs.A):
        norms = pairs.both(squared_norms if kind == "sqdist" else _masses)
        error = np.where(value < NEAR * norms, error, 2.0 * relative * norms)
    return error


def coordinates_error(f: Coordinates, combination: str, order: int, pairs: RowPairs) -> Bounded:
    """Return a statistic of single coordinates with bounds of its errors."""
    scale = f.peak if combination != "anova" else f.peak**order
    one = exact(np.ones(()))
    sums = [one] + [exact(np.zeros(()))] * (order if combination == "anova" else 1)
    for j in pairs.used_columns(f, combination):
        factor = _coordinate(f, *pairs.column(j))
        if combination == "product":
            sums[0] = multiply(sums[0], factor)
        elif combination == "maximum":
            larger = np.maximum(sums[1].value, factor.value)
            sums[1] = Bounded(larger, np.maximum(sums[1].error, factor.error))
        else:
            for k in range(order, 0, -1):
                sums[k] = add(sums[k], multiply(factor, sums[k - 1]))
    found = sums[0] if combination == "product" else sums[-1]
    if combination == "product":
        scale = f.peak**pairs.columns
    shape = (pairs.A.shape[0],) if pairs.own else (pairs.A.shape[0], pairs.B.shape[0])
    found = Bounded(*(np.broadcast_to(part, shape) for part in found))
    return rounded(scale * found.value, abs(scale) * found.error, 4.0 + pairs.columns)


def _coordinate(f: Coordinates, x: np.ndarray, z: np.ndarray) -> Bounded:
    """Return f of two numbers, divided by its peak, with a bound of its error."""
    value = f.values(x, z) / f.peak
    if f.function in ("product", "minimum"):
        return rounded(value, 0.0 * value)
    if f.function == "spline":
        m = np.minimum(x, z)
        sizes = 1.0 + np.abs(x * z) * (1.0 + m) + (x + z) * m**2 + m**3
        return Bounded(value, gamma(10) * sizes)
    t = np.abs(x - z)
    if f.function in ("power", "half_power"):
        return rounded(value, 0.0 * value, 12.0 + 3.0 * (f.a or f.count))
    if f.function in ("gaussian", "laplacian"):
        exponent = f.a * (t * t if f.function == "gaussian" else t)
        error = value * np.expm1(gamma(8) * exponent) + TINY
        return rounded(value, error, 4.0)
    found = {"bspline": _bspline, "cosines": _cosines, "wrapped": _wrapped}[f.function](f, t)
    return Bounded(value, np.where(t == 0, 0.0, found))  # 1 at 0, to the last bit


def _bspline(f: Coordinates, t: np.ndarray) -> np.ndarray:
    """Bound the error of an alternating sum of powers."""
    half, n = f.count, 2 * f.count - 1
    u = half - f.a * t
    argument = gamma(3) * (half + f.a * t)
    error = np.zeros_like(t)
    for k, c in enumerate(f.coefficients):
        v = np.maximum(u - k, 0.0)
        shift = argument + UNIT * v
        spread = (v + shift) ** n - v**n
        error = error + abs(c) * (spread + gamma(n + 2 * half + 4) * (v + shift) ** n)
    return error


def _cosines(f: Coordinates, t: np.ndarray) -> np.ndarray:
    """Bound the error of Clenshaw's rule.

    An error made at one step is carried on by Chebyshev polynomials of the second kind, which are
    at most their number plus 1. An error e of the cosine u changes cos(k x) by at most
    k e / sqrt(1 - u^2) and k^2 e, and one of the argument x by k times it.
    """
    s = f.a * t
    u = np.cos(pi * np.remainder(s, 2.0))
    sine = np.sqrt(np.maximum(1.0 - u * u, 0.0))
    argument = pi * gamma(4) * s
    later, latest = np.zeros_like(t), np.zeros_like(t)
    error = np.zeros_like(t)
    for k in range(len(f.coefficients) - 1, -1, -1):
        c = f.coefficients[k]
        with np.errstate(divide="ignore", over="ignore"):
            rate = np.minimum(float(k * k), k / np.maximum(sine, TINY))
        error = error + abs(c) * (k * argument + 4.0 * UNIT * rate)
        now = (2.0 if k else 1.0) * u * latest + (c - later)
        local = np.abs(now) + np.abs(c) + np.abs(later) + 2.0 * np.abs(u * latest)
        error = error + (k + 1) * gamma(3) * local
        later, latest = latest, now
    return error


def _wrapped(f: Coordinates, t: np.ndarray) -> np.ndarray:
    """Bound the error of a sum of Gaussians over periods."""
    near = np.abs(t - f.b * np.round(t / f.b))
    shift = 2.0 * UNIT * t  # of the difference, moved by whole periods
    error = np.zeros_like(t)
    for k in range(f.count):
        m = -(k + 1) // 2 if k % 2 else k // 2
        s = np.abs(near + m * f.b)
        moved = shift + gamma(2) * (near + abs(m) * f.b)
        exponent = f.a * s * s
        change = f.a * moved * (2.0 * s + moved) + gamma(8) * exponent
        error = error + np.exp(-exponent) * (np.expm1(change) + gamma(f.count + 8))
    factor, constant = f.coefficients
    return abs(factor) * error + gamma(4) * (abs(factor) + abs(constant) + 1.0)


def _integral(X: Any) -> bool:
    values = X.data if sp.issparse(X) else X
    return bool(np.array_equal(values, np.rint(values)))


def _masses(X: Any) -> np.ndarray:
    return np.asarray(abs(X).sum(axis=1), dtype=np.float64).reshape(-1)
