"""Exact dual feasibility: the equality constraint of an intercept, repaired in floating point.

The dual of a machine with an intercept requires sum_i beta_i = 0, and weak duality holds at points
that satisfy it. Coefficients of a solver satisfy it up to rounding, which is not enough: where the
sum is s and the multiplier m (minus the intercept), the dual value is wrong by about s m, in either
direction.

All coefficients of a problem are rounded towards 0 to multiples of one power of two, so large that
the sum of their absolute values is less than 2^53 of these units. Every partial sum is then an
integer that float64 holds, so that sums are exact, in any order. What is missing to the wanted sum
is an integer too, and is given to a coefficient that is free to move; where there is none, it is
taken from those for which a move costs least. Rounding towards 0 keeps coefficients within
their bounds, since every bound interval here contains 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array

from .rounding import UNIT, segment_sizes

Starts = NDArray[np.intp]

_DIGITS = 52  # the sum of the absolute coefficients has so many binary digits in units of the grid
_SMALLEST = -1074  # exponent of the smallest positive float64 number


# Distance from a bound, relative to it, that may be rounding: of a model that was rescaled.
_ROUNDED = 1e-9


class MoveCosts(NamedTuple):
    """Cost of a unit move of each coefficient: upwards, and downwards; infinite: not possible."""

    up: Array
    down: Array


def grid(beta: Array, starts: Starts) -> NDArray[np.intc]:
    """Return the exponent e of the grid 2^e of each problem."""
    size = np.add.reduceat(np.abs(beta), starts)
    # frexp: size < 2^exponent; the sum itself is rounded, by less than the factor 2 of reserve.
    return np.maximum(np.frexp(size)[1] - _DIGITS, _SMALLEST)


def on_grid(beta: Array, exponent: Array | NDArray[np.intc]) -> Array:
    """Return coefficients or bounds in units of their grid, rounded towards 0: whole numbers."""
    return np.trunc(np.ldexp(beta, -exponent))


def within_bounds(beta: Array, lower: Array, upper: Array) -> Array | None:
    """Return coefficients moved into their bounds; None where that is more than rounding."""
    point = np.clip(beta, lower, upper)
    moved = point - beta
    if not moved.any():
        return beta
    # Where a coefficient is moved, the point is the bound, and finite.
    return point if np.all(np.abs(moved) <= _ROUNDED * np.abs(point)) else None


def balanced(beta: Array, lower: Array, upper: Array) -> Array:
    """Return variables near `beta`, within the bounds, whose sum is rounding of one of them.

    What a solver left in the sum is taken from the smallest variable with room for it; where none
    is free, the variables stay as they are.
    """
    for _ in range(2):  # the second time for what the first subtraction rounds
        excess = math.fsum(beta)
        room = np.minimum(np.minimum(beta - lower, upper - beta), np.abs(beta))
        free = np.flatnonzero(room > abs(excess))
        if excess == 0.0 or not len(free):
            break
        beta = beta.copy()
        beta[free[np.argmin(np.abs(beta[free]))]] -= excess
    return beta


def repaired(
    beta: Array, lower: Array, upper: Array, starts: Starts, costs: MoveCosts | None = None
) -> Array:
    """Return points near `beta`, within the bounds, of which every segment sums to exactly 0.

    Bounds satisfy lower <= 0 <= upper and may be infinite. `starts`: where each problem begins.
    `costs`: what a move costs to first order; used where no coefficient is free.
    """
    sizes = segment_sizes(starts, len(beta))
    exponent = np.repeat(grid(beta, starts), sizes)
    units = on_grid(beta, exponent)
    missing = -np.add.reduceat(units, starts)
    if missing.any():
        ends = on_grid(lower, exponent), on_grid(upper, exponent)
        units = with_sums(units, *ends, starts, missing, costs)
    return np.ldexp(units, exponent)


def with_sums(
    units: Array,
    lower: Array,
    upper: Array,
    starts: Starts,
    missing: Array,
    costs: MoveCosts | None = None,
) -> Array:
    """Return whole numbers within their bounds whose sums are larger by `missing`.

    One free number of each segment takes all of it. Where a segment has not as much room, its
    numbers end at their bounds. `costs`: what a move costs; used where no number is strictly
    between 0 and its outer bound.
    """
    # A free number has room for the whole correction, in both directions, on its side of 0.
    amount = np.abs(missing)
    if len(starts) > 1:
        amount = np.repeat(amount, segment_sizes(starts, len(units)))
    room = np.minimum(np.minimum(upper - units, units - lower), np.abs(units))
    free = (room > amount).nonzero()[0]
    chosen = np.full(len(starts), -1)  # the first free number of each segment
    chosen[(np.searchsorted(starts, free, side="right") - 1)[::-1]] = free[::-1]
    moved = chosen >= 0
    units = units.copy()
    units[chosen[moved]] += missing[moved]
    for k in np.flatnonzero(~moved & (missing != 0.0)):
        part = slice(starts[k], starts[k + 1] if k + 1 < len(starts) else None)
        cost = None if costs is None else MoveCosts(costs.up[part], costs.down[part])
        units[part] = _cheapest(units[part], lower[part], upper[part], float(missing[k]), cost)
    return units


def _cheapest(
    units: Array, lower: Array, upper: Array, missing: float, costs: MoveCosts | None
) -> Array:
    """Return numbers that sum to `missing` more, moved in the order of what a move costs."""
    rising = missing > 0.0
    room = upper - units if rising else units - lower
    if costs is None:
        cost = (units == 0.0).astype(np.float64)
    else:
        cost = costs.up if rising else costs.down
    order = np.argsort(cost, kind="stable")
    left, moved = abs(missing), units.copy()
    for i in order:
        step = min(room[i], left)
        moved[i] += step if rising else -step
        left -= step
        if left == 0.0:
            break
    return moved


def at_least(beta: Array, bound: Array, total: float, *, balanced: bool) -> Array:
    """Return a point near `beta` whose absolute sum is at least `total`, as nu machines need it.

    Where the bounds leave no room for that, it is as large as they allow. `bound`: signed;
    coefficients lie between 0 and it. `balanced`: positive and negative ones sum to the same,
    exactly.
    """
    return _with_total(beta, np.abs(bound), np.sign(bound), total, balanced, rounding=np.ceil)


def at_most(beta: Array, bound: Array, total: float, *, balanced: bool) -> Array:
    """Return a point near `beta`, of sizes up to `bound`, whose absolute sum is at most `total`.

    `balanced`: whether positive and negative coefficients sum to the same, exactly.
    """
    return _with_total(beta, bound, np.sign(beta), total, balanced, rounding=np.floor)


def _with_total(
    beta: Array, bound: Array, sign: Array, total: float, balanced: bool, rounding: np.ufunc
) -> Array:
    exponent = int(max(np.frexp(max(float(np.abs(beta).sum()), total))[1] - _DIGITS, _SMALLEST))
    limit = np.trunc(np.ldexp(bound, -exponent))
    units = np.clip(np.trunc(np.ldexp(sign * beta, -exponent)), 0.0, limit)
    sides = [sign > 0.0, sign < 0.0] if balanced else [np.ones(len(beta), dtype=bool)]
    # A few roundings of the total, and its half for each of two sides.
    outward = 1.0 + (8.0 if rounding is np.ceil else -8.0) * UNIT
    target = float(rounding(np.ldexp(total * outward / len(sides), -exponent)))
    most = limit if rounding is np.ceil else units
    target = min([target, *(float(most[side].sum()) for side in sides)])
    start = np.zeros(1, dtype=np.intp)
    for side in sides:
        missing = np.array([target - float(units[side].sum())])
        if missing[0] != 0.0:
            zero = np.zeros(np.count_nonzero(side))
            units[side] = with_sums(units[side], zero, limit[side], start, missing)
    return sign * np.ldexp(units, exponent)
