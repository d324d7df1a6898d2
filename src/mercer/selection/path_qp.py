"""Small convex quadratic programs with bounds and sums, exactly, by a primal active set.

    minimise    1/2 x'Kx + c'x
    subject to  lower_i <= x_i <= upper_i,     sum of x_i over group g = total_g.

Variables outside of every group (group -1) have no equality. K is positive semidefinite and may be
singular: the step on the free variables is then one of least norm, and a direction without
curvature is followed to the next bound (R. Fletcher, *Practical Methods of Optimization*, 1987,
chapter 10). From a feasible point every step lowers the objective or changes the working set.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
Groups = NDArray[np.intp]

LOWER, FREE, UPPER = np.int8(-1), np.int8(0), np.int8(1)

_FLAT = 1e-9
"""Part of the gradient that no step on the free variables removes, relative to its size."""

_NEAR = 1e-12
"""Distance from a bound that is rounding, relative to the largest variable."""

_SINGULAR = 1e-11
"""Singular values that count as 0, relative to the largest one."""


class Point(NamedTuple):
    """A solution: variables, where they are, and the multiplier of each group's sum."""

    x: Array
    state: Signs
    multiplier: Array  # NaN for a group without free variables


class StalledError(RuntimeError):
    """Rounding keeps an active set from an end."""


def solve_system(K: Array, group: Groups, n_groups: int, rhs: Array, totals: Array) -> Array:
    """Return x and the multipliers m of K x + A'm = rhs, A x = totals, by columns.

    A has a row of ones for each group. Of several solutions that of least norm is returned, of none
    that of least squares. Groups without a variable get the multiplier 0.
    """
    n = len(K)
    present = np.unique(group[group >= 0])
    size = n + len(present)
    system = np.zeros((size, size))
    system[:n, :n] = K
    for k, g in enumerate(present):
        system[n + k, :n] = system[:n, n + k] = group == g
    right = np.vstack([rhs, totals[present]])
    scale = float(np.abs(np.diagonal(K)).max(initial=0.0)) or 1.0
    system[:n, n:] *= scale  # so that the border weighs as much as the matrix
    system[n:, :n] *= scale
    right[n:] *= scale
    found = _solved(system, right)
    out = np.zeros((n + n_groups, right.shape[1]))
    out[:n] = found[:n]
    out[n + present] = found[n:] * scale
    return out


def _solved(system: Array, right: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
        try:
            return np.asarray(scipy.linalg.solve(system, right, assume_a="sym"))
        except (np.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            return np.asarray(scipy.linalg.lstsq(system, right, cond=_SINGULAR)[0])


def minimise(
    K: Array,
    c: Array,
    lower: Array,
    upper: Array,
    group: Groups,
    n_groups: int,
    start: tuple[Array, Signs],
    tol: float,
) -> Point:
    """Return the solution from a feasible point, whose sums are the totals.

    `start`: the point and which of its variables are at a bound. `tol`: the size of a gradient that
    counts as 0.
    """
    x, state = start[0].copy(), start[1].copy()
    n = len(x)
    movable = lower < upper
    for _ in range(50 * (n + 10)):
        free = np.flatnonzero(state == FREE)
        gradient = K @ x + c
        multiplier = np.zeros(n_groups)
        if len(free):
            step, multiplier, flat = _step(K, gradient, free, group, n_groups, tol)
            blocking, length = _ratio(x[free], step, lower[free], upper[free], flat)
            if blocking is None:
                x[free] += step
            else:
                x[free] += length * step
                hit = free[blocking]
                state[hit] = UPPER if step[blocking] > 0 else LOWER
                x[hit] = upper[hit] if step[blocking] > 0 else lower[hit]
                continue
            gradient = K @ x + c
        released = _released(gradient, state, movable, group, n_groups, multiplier, tol)
        if not released:
            _snap_to_bounds(x, state, lower, upper)
            inner = group[state == FREE]
            multiplier[[g for g in range(n_groups) if not (inner == g).any()]] = np.nan
            return Point(x, state, multiplier)
        state[released] = FREE
    raise StalledError("the active set does not settle.")


def _snap_to_bounds(x: Array, state: Signs, lower: Array, upper: Array) -> None:
    """Set free variables that are within rounding of a bound to that bound."""
    near = _NEAR * float(np.abs(x).max(initial=0.0))
    for bound, side in ((lower, LOWER), (upper, UPPER)):
        on_it = (state == FREE) & (np.abs(x - bound) <= near)
        x[on_it], state[on_it] = bound[on_it], side


def _step(
    K: Array, gradient: Array, free: Groups, group: Groups, n_groups: int, tol: float
) -> tuple[Array, Array, bool]:
    """Return the step to the minimum on the free variables, or a direction without curvature."""
    m = len(free)
    inside = K[np.ix_(free, free)]
    found = solve_system(
        inside, group[free], n_groups, -gradient[free][:, None], np.zeros((n_groups, 1))
    )[:, 0]
    step, multiplier = found[:m], found[m:]
    own = np.where(group[free] >= 0, multiplier[group[free]] if n_groups else 0.0, 0.0)
    left = gradient[free] + inside @ step + own
    size = float(np.abs(gradient[free]).max() + np.abs(own).max())
    if np.abs(left).max() > max(tol, _FLAT * size):
        for g in np.unique(group[free][group[free] >= 0]):
            left[group[free] == g] -= left[group[free] == g].mean()
        return -left, multiplier, True
    return step, multiplier, False


def _ratio(
    x: Array, step: Array, lower: Array, upper: Array, flat: bool
) -> tuple[int | None, float]:
    """Return which free variable meets a bound first, and after which part of the step."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(step > 0, upper - x, lower - x) / step
    room = np.where(step == 0.0, np.inf, np.maximum(room, 0.0))
    first = int(np.argmin(room))
    if room[first] < 1.0 or (flat and np.isfinite(room[first])):
        return first, float(room[first])
    if flat:
        raise StalledError("the objective is not bounded from below.")
    return None, 1.0


def _released(
    gradient: Array,
    state: Signs,
    movable: NDArray[np.bool_],
    group: Groups,
    n_groups: int,
    multiplier: Array,
    tol: float,
) -> list[int]:
    """Return the variables that should leave their bounds: the worst one, or a pair of a group."""
    own = np.where(group >= 0, multiplier[group] if n_groups else 0.0, 0.0)
    reduced = gradient + own
    settled = np.ones(len(state), dtype=bool)  # in a group with a multiplier, or in none
    for g in range(n_groups):
        members = group == g
        if (state[members] == FREE).any():
            continue
        settled &= ~members
        low = np.flatnonzero(members & movable & (state == LOWER))
        high = np.flatnonzero(members & movable & (state == UPPER))
        if len(low) and len(high):
            up, down = low[np.argmin(gradient[low])], high[np.argmax(gradient[high])]
            if gradient[up] < gradient[down] - tol:
                return [int(up), int(down)]
    violation = np.where(state == LOWER, -reduced, np.where(state == UPPER, reduced, 0.0))
    violation[~(settled & movable)] = 0.0
    worst = int(np.argmax(violation))
    return [worst] if violation[worst] > tol else []
