"""Solutions of a quadratic program along a parameter, exactly, from event to event.

    minimise    1/2 b'Kb + p'b
    subject to  lower_i(t) <= b_i <= upper_i(t),    sum of b_i over group g = total_g(t),

with bounds and totals that are linear in t. With m_g the multiplier of a group and
G_i = (Kb)_i + p_i + m_g(i), a variable is free (G = 0), at its lower bound (G >= 0) or at its upper
one (G <= 0). While these sets stay the same, b and m are linear in t; an *event* is a free variable
that meets a bound, or a bounded one whose G becomes 0 (T. Hastie, S. Rosset, R. Tibshirani, J. Zhu,
"The entire regularization path for the support vector machine", JMLR 5, 2004).

After an event the rates d = db/dt solve a quadratic program of their own,

    minimise 1/2 d'Kd   with d_i = rate of the bound for variables with G_i != 0,
                             d_i on the feasible side of it for those at a bound with G_i = 0,

which decides in one go about any number of simultaneous events, repeated rows and singular
matrices. A group without free variables leaves its multiplier an interval; it goes on until the
interval has shrunk to a point, or, where the total has to change, jumps to the end at which
variables can move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .path_qp import FREE, LOWER, UPPER, Groups, Signs, StalledError, minimise, solve_system

Array = NDArray[np.float64]

_NEAR = 1e-12
"""Differences that count as 0, relative to the size of what is compared."""

_PATIENCE = 20
"""Events in a row at one value of the parameter, after which rounding is said to prevail."""


@dataclass(frozen=True)
class Program:
    """A quadratic program that depends on t; `bound` + t `bound_rate`, and likewise the totals."""

    K: Array
    p: Array
    lower: Array
    lower_rate: Array
    upper: Array
    upper_rate: Array
    group: Groups
    total: Array
    total_rate: Array

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.total)

    def bounds(self, t: float) -> tuple[Array, Array]:
        """Return lower and upper bounds at t."""
        return self.lower + t * self.lower_rate, self.upper + t * self.upper_rate


class Segment(NamedTuple):
    """A part of the path on which the solution is linear."""

    begin: float
    end: float
    x: Array  # at `begin`
    rate: Array
    state: Signs

    def at(self, t: float) -> Array:
        """Return the solution at t."""
        return self.x + (t - self.begin) * self.rate


@dataclass
class _Front:
    """The solution at one value of t, and what is known about its continuation."""

    t: float
    x: Array
    state: Signs
    multiplier: Array
    slack: Array = field(default_factory=lambda: np.empty(0))  # G


def follow(
    program: Program, t: float, x: Array, state: Signs, t_end: float, max_segments: int
) -> Iterator[Segment]:
    """Yield the segments of the path from the solution x at t, up to t_end.

    Parameters
    ----------
    program : Program
        The problem.
    t, x, state : float, array, array
        Where the path begins, with the solution there and where its variables are.
    t_end : float
        Where it ends.
    max_segments : int
        Limit on the number of segments.
    """
    front = _Front(t, x.copy(), state.copy(), np.zeros(program.n_groups))
    waiting = 0
    for _ in range(max_segments):
        rate = _continued(program, front)
        step = _first_event(program, front, rate, t_end - front.t)
        waiting = waiting + 1 if step <= _NEAR * max(1.0, abs(front.t)) else 0
        if waiting > _PATIENCE:
            raise StalledError(
                f"events follow each other without progress near {front.t:.6g}: the kernel matrix "
                "is too ill-conditioned for float64. Use another kernel, or a shorter path."
            )
        yield Segment(front.t, front.t + step, front.x.copy(), rate.x, front.state.copy())
        if front.t + step >= t_end - _NEAR * max(1.0, abs(front.t)):
            return
        _advance(program, front, rate, step)


class _Rate(NamedTuple):
    x: Array
    multiplier: Array
    slack: Array
    open_groups: list[int]  # without a free variable: the multiplier is an interval


def _continued(program: Program, front: _Front) -> _Rate:
    """Return the rates after the events at the front, and put its sets in order."""
    n, groups = len(front.x), program.n_groups
    values = program.K @ front.x + program.p
    low, high = program.bounds(front.t)
    size = _NEAR * (largest_sum(program.K, front.x) + float(np.abs(program.p).max()))
    near = _NEAR * float(np.abs(front.x).max(initial=0.0))
    at_low, at_high = front.x <= low + near, front.x >= high - near
    strict = (front.state == FREE) & ~at_low & ~at_high
    met = (front.state == FREE) & ~strict
    front.state[met] = np.where(at_low[met], LOWER, UPPER)
    fixed = np.where(front.state == LOWER, program.lower_rate, program.upper_rate)
    fixed[front.state == FREE] = 0.0
    open_groups = _set_multipliers(program, front, values, fixed, strict, size)
    slack = values + of_groups(program, front.multiplier)
    edge = ~np.isin(program.group, open_groups) & ~strict & (np.abs(slack) <= size)
    edge |= met & (program.group < 0)
    chosen, rest = np.flatnonzero(strict | edge), np.flatnonzero(~(strict | edge))
    rate = np.zeros(n)
    rate[rest] = fixed[rest]
    slope = np.zeros(groups)
    if len(chosen):
        d_low = np.where(edge & at_low, program.lower_rate, -np.inf)[chosen]
        d_high = np.where(edge & at_high, program.upper_rate, np.inf)[chosen]
        c = program.K[np.ix_(chosen, rest)] @ rate[rest]
        totals = program.total_rate - np.array(
            [rate[rest][program.group[rest] == g].sum() for g in range(groups)]
        )
        group = program.group[chosen]
        start = _start(group, d_low, d_high, totals, strict[chosen])
        K = program.K[np.ix_(chosen, chosen)]
        tol = _NEAR * (largest_sum(program.K, rate) + largest_sum(K, start[0]) + 1e-300)
        found = minimise(K, c, d_low, d_high, group, groups, start, tol)
        front.state[chosen] = found.state
        if rate.any() or totals.any():  # otherwise nothing moves, and what is found is rounding
            least = _NEAR * max(np.abs(rate).max(), np.abs(found.x).max())
            rate[chosen] = np.where(np.abs(found.x) <= least, 0.0, found.x)
            slope = np.nan_to_num(found.multiplier)
    front.slack = np.where(strict | edge, 0.0, slack)
    _correct(program, front)
    open_groups = [g for g in range(groups) if not (front.state[program.group == g] == FREE).any()]
    return _Rate(rate, slope, program.K @ rate + of_groups(program, slope), open_groups)


def of_groups(program: Program, values: Array) -> Array:
    """Return for each variable the value of its group, 0 for those in none."""
    if not len(values):
        return np.zeros(len(program.p))
    return np.where(program.group >= 0, values[program.group], 0.0)


def _set_multipliers(
    program: Program,
    front: _Front,
    values: Array,
    fixed: Array,
    strict: NDArray[np.bool_],
    size: float,
) -> list[int]:
    """Set the multipliers at the front; return the groups for which an interval of them is right.

    Without a free variable the rates of the bounds must keep the total. Where they do not, the
    multiplier is at the end of its interval at which variables can move as the total demands.
    """
    open_groups = []
    for g in range(program.n_groups):
        members = program.group == g
        if strict[members].any():
            front.multiplier[g] = -float(values[members & strict].mean())
            continue
        least, most = interval(values, front.state, members)
        need = program.total_rate[g] - float(fixed[members].sum())
        if abs(need) > _NEAR * (abs(program.total_rate[g]) + float(np.abs(fixed[members]).sum())):
            front.multiplier[g] = least if need > 0 else most
            if not np.isfinite(front.multiplier[g]):
                raise StalledError("no variable of a group can move any further.")
            continue
        front.multiplier[g] = middle(least, most)
        if most - least > size:
            open_groups.append(g)
    return open_groups


def middle(least: float, most: float) -> float:
    """Return the middle of an interval, its finite end where one is infinite."""
    if np.isfinite(least) and np.isfinite(most):
        return 0.5 * (least + most)
    return least if np.isfinite(least) else most if np.isfinite(most) else 0.0


def interval(values: Array, state: Signs, members: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the least and the largest multiplier m for which G = values + m has the right signs.

    `values`: of Kb + p, for all variables. `members`: those of one group without free variables.
    """
    low, high = members & (state == LOWER), members & (state == UPPER)
    least = -float(values[low].min()) if low.any() else -np.inf
    most = -float(values[high].max()) if high.any() else np.inf
    return least, most


def _start(
    group: Groups, low: Array, high: Array, totals: Array, strict: NDArray[np.bool_]
) -> tuple[Array, Signs]:
    """Return a feasible point of the program of the rates."""
    x = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    places = np.where(np.isfinite(low), LOWER, np.where(np.isfinite(high), UPPER, FREE))
    state = places.astype(np.int8)
    for g in range(len(totals)):
        members = np.flatnonzero(group == g)
        if not len(members):
            continue
        missing = totals[g] - float(x[members].sum())
        inner = members[strict[members]]
        if len(inner):
            x[inner] += missing / len(inner)
            continue
        room = (high - x if missing > 0 else x - low)[members]
        share = np.where(np.isinf(room), 1.0, 0.0) if np.isinf(room).any() else room
        if missing == 0.0:
            continue
        if not share.sum() >= abs(missing) * (1 - _NEAR) and not np.isinf(room).any():
            raise StalledError("the total of a group cannot be kept.")
        x[members] += missing * share / share.sum()
        state[members[share > 0]] = FREE
    return x, state


def _correct(program: Program, front: _Front) -> None:
    """Remove the rounding that earlier segments have left in the free variables."""
    free = np.flatnonzero(front.state == FREE)
    if not len(free):
        return
    groups = program.n_groups
    own = of_groups(program, front.multiplier)[free]
    residual = (program.K[free] @ front.x + program.p[free] + own)[:, None]
    sums = np.zeros((groups, 1))
    for g in range(groups):
        if (program.group[free] == g).any():
            target = program.total[g] + front.t * program.total_rate[g]
            sums[g] = target - front.x[program.group == g].sum()
    inside = program.K[np.ix_(free, free)]
    found = solve_system(inside, program.group[free], groups, -residual, sums)[:, 0]
    change = found[: len(free)]
    if np.abs(change).max() <= 1e-6 * max(1e-300, float(np.abs(front.x).max())):
        front.x[free] += change
        front.multiplier += found[len(free) :]


def _first_event(program: Program, front: _Front, rate: _Rate, longest: float) -> float:
    """Return how far t can grow before a set changes."""
    low, high = program.bounds(front.t)
    free = front.state == FREE
    steps = [longest]
    for bound, bound_rate, sign in (
        (low, program.lower_rate, 1.0),
        (high, program.upper_rate, -1.0),
    ):
        room = sign * (front.x - bound)
        closing = -sign * (rate.x - bound_rate)
        ahead = free & (closing > _NEAR * (np.abs(rate.x) + np.abs(bound_rate)))
        if ahead.any():
            steps.append(float((np.maximum(room[ahead], 0.0) / closing[ahead]).min()))
    scale = _NEAR * (largest_sum(program.K, rate.x) + 1e-300)
    settled = ~np.isin(program.group, rate.open_groups)
    for side, sign in ((LOWER, 1.0), (UPPER, -1.0)):
        ahead = settled & (front.state == side) & (sign * rate.slack < -scale)
        if ahead.any():
            room = np.maximum(sign * front.slack[ahead], 0.0)
            steps.append(float((room / (-sign * rate.slack[ahead])).min()))
    steps += [_closing(front, rate, program.group == g, scale) for g in rate.open_groups]
    return max(0.0, min(steps))


def largest_sum(K: Array, x: Array) -> float:
    """Return the largest sum of absolute terms of K x, which rounds relative to it."""
    return float((np.abs(K) @ np.abs(x)).max(initial=0.0))


def _closing(front: _Front, rate: _Rate, members: NDArray[np.bool_], scale: float) -> float:
    """Return after which step the interval of a multiplier has shrunk to a point."""
    low, high = members & (front.state == LOWER), members & (front.state == UPPER)
    if not (low.any() and high.any()):
        return np.inf
    gap = front.slack[low][:, None] - front.slack[high][None, :]
    closing = rate.slack[high][None, :] - rate.slack[low][:, None]
    ahead = closing > scale
    if not ahead.any():
        return np.inf
    return float((np.maximum(gap[ahead], 0.0) / closing[ahead]).min())


def _advance(program: Program, front: _Front, rate: _Rate, step: float) -> None:
    """Move to the end of a segment; bounded variables stay on their bounds exactly."""
    front.t += step
    front.x = front.x + step * rate.x
    low, high = program.bounds(front.t)
    front.x = np.where(front.state == LOWER, low, np.where(front.state == UPPER, high, front.x))
