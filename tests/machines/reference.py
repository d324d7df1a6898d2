"""A slow and exact solver on a dense kernel matrix: the oracle of the machine tests.

Problem (the same as `mercer.solvers`, written out once more so that the two can disagree):

    minimise  1/2 beta' K beta + sum_i phi_i(beta_i)
    subject to  lower <= beta <= upper,  sum_{i in g} beta_i fixed for every group g

by coordinate pairs of maximal violation with exact line search over the kinks, in float64, and one
linear solve on the free variables at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Dense:
    """The arrays of a problem with every default filled in."""

    lower: np.ndarray
    upper: np.ndarray
    slope_left: np.ndarray
    slope_right: np.ndarray
    curv_left: np.ndarray
    curv_right: np.ndarray
    kink: np.ndarray
    group: np.ndarray | None

    @classmethod
    def of(cls, problem) -> Dense:
        def filled(value, default):
            return np.array(default if value is None else value, dtype=float)

        lower = np.array(problem.lower, dtype=float)
        left = filled(problem.slope_left, np.zeros_like(lower))
        curv = filled(problem.curv_left, np.zeros_like(lower))
        return cls(
            lower,
            np.array(problem.upper, dtype=float),
            left,
            filled(problem.slope_right, left),
            curv,
            filled(problem.curv_right, curv),
            filled(problem.kink, np.zeros_like(lower)),
            None if problem.group is None else np.asarray(problem.group),
        )

    def slope_up(self, beta):
        right = beta >= self.kink
        return np.where(
            right,
            self.slope_right + self.curv_right * (beta - self.kink),
            self.slope_left + self.curv_left * (beta - self.kink),
        )

    def slope_down(self, beta):
        right = beta > self.kink
        return np.where(
            right,
            self.slope_right + self.curv_right * (beta - self.kink),
            self.slope_left + self.curv_left * (beta - self.kink),
        )


def solve_dense(problem, K, start=None, tol=1e-11, max_iter=500_000):
    """Return (beta, values = K beta, multipliers per group, ranges, violation, iterations)."""
    p = Dense.of(problem)
    n = len(p.lower)
    beta = np.zeros(n) if start is None else np.array(start, dtype=float)
    values = K @ beta
    groups = (
        [np.arange(n)]
        if p.group is None
        else [np.flatnonzero(p.group == g) for g in range(p.group.max() + 1)]
    )
    step = _coordinate_step if p.group is None else _pair_step
    iterations = 0
    while iterations < max_iter:
        moved = step(p, K, beta, values, groups, tol)
        if not moved:
            break
        iterations += 1
        if iterations % 1000 == 0:
            values[:] = K @ beta
    _polish(p, K, beta, groups)
    values = K @ beta
    ranges = multiplier_ranges(p, beta, values, groups)
    if p.group is None:
        violation = max(0.0, ranges[0, 0], -ranges[0, 1])
        return beta, values, np.zeros(0), np.zeros((0, 2)), violation, iterations
    violation = max(0.0, (ranges[:, 0] - ranges[:, 1]).max())
    multipliers = np.empty(len(groups))
    gradient = values + p.slope_up(beta)
    for g, rows in enumerate(groups):
        free = rows[_free(p, beta)[rows]]
        low, high = ranges[g]
        if len(free):
            multipliers[g] = gradient[free].mean()
        elif np.isfinite(low) and np.isfinite(high):
            multipliers[g] = (low + high) / 2
        else:
            multipliers[g] = low if np.isfinite(low) else high
    return beta, values, multipliers, ranges, violation, iterations


def multiplier_ranges(p, beta, values, groups):
    """For every group: (largest slope of a possible decrease, smallest of a possible increase)."""
    up = np.where(beta < p.upper, values + p.slope_up(beta), np.inf)
    down = np.where(beta > p.lower, values + p.slope_down(beta), -np.inf)
    return np.array([[down[rows].max(), up[rows].min()] for rows in groups])


def _free(p, beta):
    return (
        (beta > p.lower) & (beta < p.upper) & ((beta != p.kink) | (p.slope_left == p.slope_right))
    )


def _pair_step(p, K, beta, values, groups, tol):
    up = np.where(beta < p.upper, values + p.slope_up(beta), np.inf)
    down = np.where(beta > p.lower, values + p.slope_down(beta), -np.inf)
    best = (tol, -1, -1)
    for rows in groups:
        i, j = rows[np.argmin(up[rows])], rows[np.argmax(down[rows])]
        if down[j] - up[i] > best[0]:
            # Second order: the partner of i with the largest gain.
            gain = np.maximum(down[rows] - up[i], 0.0) ** 2
            eta = np.maximum(K[i, i] + np.diag(K)[rows] - 2 * K[i, rows], 1e-12)
            best = (down[j] - up[i], i, rows[np.argmax(gain / eta)])
    _, i, j = best
    if i < 0 or i == j:
        return False
    eta = max(K[i, i] + K[j, j] - 2 * K[i, j], 0.0)
    t = _line_search(p, eta, values[i] - values[j], ((i, 1.0, beta[i]), (j, -1.0, beta[j])))
    if t == 0.0:
        return False
    for k, sign in ((i, 1.0), (j, -1.0)):
        beta[k] = _moved(p, k, beta[k], sign * t)
    values += t * (K[i] - K[j])
    return True


def _coordinate_step(p, K, beta, values, groups, tol):
    up = np.where(beta < p.upper, -(values + p.slope_up(beta)), -np.inf)
    down = np.where(beta > p.lower, values + p.slope_down(beta), -np.inf)
    i, j = np.argmax(up), np.argmax(down)
    if max(up[i], down[j]) <= tol:
        return False
    k, sign = (i, 1.0) if up[i] >= down[j] else (j, -1.0)
    t = _line_search(p, K[k, k], sign * values[k], ((k, sign, beta[k]),))
    if t == 0.0:
        return False
    beta[k] = _moved(p, k, beta[k], sign * t)
    values += sign * t * K[k]
    return True


def _moved(p, k, old, by):
    """Arrive exactly at bounds and kinks, so that they are recognised later."""
    new = old + by
    scale = 1e-14 * max(abs(old), abs(new), 1e-300)
    for target in (p.lower[k], p.upper[k], p.kink[k]):
        if abs(new - target) <= scale + 1e-15:
            return target
    return min(max(new, p.lower[k]), p.upper[k])


def _line_search(p, eta, slope, moving):
    """Minimise along t >= 0 a convex piecewise quadratic; return its minimiser or the bound."""
    limit = min((p.upper[k] - b) if s > 0 else (b - p.lower[k]) for k, s, b in moving)
    breaks = sorted({t for k, s, b in moving if 0 < (t := s * (p.kink[k] - b)) < limit})
    start = 0.0
    for end in [*breaks, limit]:
        middle = start + (end - start) / 2 if np.isfinite(end) else start + 1.0
        linear, curvature = slope, eta
        for k, s, b in moving:
            right = b + s * middle > p.kink[k]
            c = p.curv_right[k] if right else p.curv_left[k]
            linear += s * ((p.slope_right[k] if right else p.slope_left[k]) + c * (b - p.kink[k]))
            curvature += c
        if linear + curvature * start >= 0:
            return start
        zero = -linear / curvature if curvature > 0 else np.inf
        if zero <= end:
            return zero
        start = end
    if not np.isfinite(limit):
        raise ValueError("the problem is unbounded")
    return limit


def _polish(p, K, beta, groups):
    """Solve the optimality system on the free variables, and keep it if it stays inside."""
    free = np.flatnonzero(_free(p, beta))
    if len(free) == 0:
        return
    right = beta[free] > p.kink[free]
    curv = np.where(right, p.curv_right[free], p.curv_left[free])
    slope = np.where(right, p.slope_right[free], p.slope_left[free])
    fixed = beta.copy()
    fixed[free] = 0.0
    A = K[np.ix_(free, free)] + np.diag(curv)
    rhs = -(K[free] @ fixed) - slope + curv * p.kink[free]
    if p.group is not None:
        E = np.array([[float(k in set(rows)) for k in free] for rows in groups])
        used = E.any(axis=1)
        totals = np.array([beta[rows].sum() - fixed[rows].sum() for rows in groups])[used]
        E = E[used]
        m = len(E)
        A = np.block([[A, E.T], [E, np.zeros((m, m))]])
        rhs = np.append(rhs, totals)
    solution = np.linalg.lstsq(A, rhs, rcond=1e-14)[0][: len(free)]
    inside = (solution > p.lower[free]) & (solution < p.upper[free])
    same_side = (solution > p.kink[free]) == right
    if inside.all() and (same_side | (p.slope_left == p.slope_right)[free]).all():
        candidate = fixed.copy()
        candidate[free] = solution
        if _violation(p, K, candidate, groups) < _violation(p, K, beta, groups):
            beta[:] = candidate


def _violation(p, K, beta, groups):
    ranges = multiplier_ranges(p, beta, K @ beta, groups)
    if p.group is None:
        return max(0.0, ranges[0, 0], -ranges[0, 1])
    return max(0.0, (ranges[:, 0] - ranges[:, 1]).max())
