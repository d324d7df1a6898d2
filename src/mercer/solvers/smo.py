"""Sequential minimal optimisation: Platt's algorithm.

Problem: minimise over beta, with beta_i = y_i alpha_i in classification,

    1/2 beta' K beta + sum_i (slope_i beta_i + curvature_i beta_i^2 / 2)
    subject to  lower_i <= beta_i <= upper_i,   sum_i beta_i = 0,

the dual of 1/2 |f|^2 + sum_i c_i l(y_i, f(x_i) + b) for losses without a kink in the dual: for the
hinge loss slope = -y, curvature = 0 and beta_i between 0 and c_i y_i.

Method: J. Platt, "Fast training of support vector machines using sequential minimal optimization",
Advances in Kernel Methods, 1999; pseudocode in N. Cristianini, J. Shawe-Taylor, *An Introduction to
Support Vector Machines*, 2000, section 7.5 and appendix A. In signed variables a step on (i, j)
moves t from beta_j to beta_i. With the errors E = K beta + slope + curvature beta (f - y for the
hinge, up to the threshold b) and eta = K_ii + K_jj - 2 K_ij + curvature_i + curvature_j, the
objective changes by t (E_i - E_j) + t^2 eta / 2, so t = (E_j - E_i) / eta, clipped to the bounds;
the bounds of Platt's four cases are those of t. Where eta <= 0 the better end of the bounds is
taken. Coefficients within 1e-8 c_i of a bound are put onto it, and their partners make up for it.

The first index runs over all variables, then over those inside their bounds until none of them
changes, then over all again. The second has the largest |E_i - E_j| inside the bounds; where that
makes no progress come all others inside, then all, from a random position on.

This is the textbook's algorithm, for reading: `decomposition` is the fast one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array
from mercer.run import Run

from .base import Solver, relative_gap
from .problem import Job, Problem, Settings, Solution

_SNAP = 1e-8  # distance to a bound, relative to the room of a variable, that is none
_LEAST = 1e-14  # a move this small beside the coefficients is no progress
_EVERY = 100  # steps between two computations of violation and gap
_PART = 0.1  # of the largest violation: smaller ones are left for later passes


class SMO(Solver):
    """Platt's algorithm, for losses whose dual has no kink and with an intercept."""

    name = "smo"
    requires = ("rows", "diag")
    needs_loss = ("pieces",)
    bases = ("bias",)

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        """Return the coefficients, with the threshold as the multiplier of their sum."""
        problem, rows = job.problem, job.problem.rows
        operator = (job.gram if rows is None else job.gram.take(rows)).in_precision("float64")
        state = _State(problem, operator, job.start, settings.cache_size)
        with run.until_stopped():
            everything = True
            while run.stop(state.n_iter, *state.measures()) is None:
                changed, tolerance = 0, _PART * state.violation
                for i in range(len(state.beta)) if everything else np.flatnonzero(state.inside):
                    if not state.examine(int(i), tolerance):
                        continue
                    changed += 1
                    due = state.n_iter % _EVERY == 0 or state.n_iter == run.max_iter
                    if due and run.stop(state.n_iter, *state.measures()) is not None:
                        break
                if everything and not changed:
                    break  # rounding leaves no pair that makes progress
                everything = not everything and not changed
        return state.solution(run.status or "iteration_limit")


class _State:
    """Coefficients and errors of all variables, and the kernel rows that were computed."""

    def __init__(
        self, problem: Problem, operator: Any, start: Array | None, cache_size: float
    ) -> None:
        self.problem, self.operator, terms = problem, operator, problem.dual
        self.lower, self.upper, self.slope = terms.lower, terms.upper, terms.slope_left
        n = len(self.lower)
        self.curvature = np.zeros(n) if terms.curv_left is None else terms.curv_left
        self.diagonal = operator.diag()
        self.beta = np.zeros(n) if start is None else problem.dual.feasible(start)
        values = operator.dot(self.beta) if self.beta.any() else np.zeros(n)
        self.errors = values + self.slope + self.curvature * self.beta
        self.rows: dict[int, Array] = {}
        self.most_rows = max(2, int(cache_size * 2**20 / (8 * n)))
        self.random = np.random.default_rng(0)
        self.n_iter = self.n_rows = 0
        self.threshold = self.middle()

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which coefficients are strictly inside their bounds."""
        return (self.lower < self.beta) & (self.beta < self.upper)

    @property
    def interval(self) -> tuple[float, float]:
        """The largest error of a coefficient that can fall, the smallest of one that can rise."""
        falling, rising = self.beta > self.lower, self.beta < self.upper
        high = self.errors[falling].max(initial=-np.inf)
        return float(high), float(self.errors[rising].min(initial=np.inf))

    @property
    def violation(self) -> float:
        """By how much the optimality conditions are violated, for the best threshold."""
        high, low = self.interval
        return max(high - low, 0.0)

    def middle(self) -> float:
        """Return the mean error inside the bounds, or the middle of the optimal thresholds."""
        inside = self.inside
        if inside.any():
            return float(self.errors[inside].mean())
        ends = [end for end in self.interval if np.isfinite(end)]
        return float(np.mean(ends)) if ends else 0.0

    def examine(self, i: int, tolerance: float) -> bool:
        """Take a step with a coefficient that violates its conditions; return whether one did."""
        off = self.errors[i] - self.threshold
        can_rise, can_fall = self.beta[i] < self.upper[i], self.beta[i] > self.lower[i]
        if not ((off < -tolerance and can_rise) or (off > tolerance and can_fall)):
            return False
        inside = np.flatnonzero(self.inside)
        if len(inside) > 1:
            farthest = np.abs(self.errors[inside] - self.errors[i]).argmax()
            if self.take_step(i, int(inside[farthest])):
                return True
        for candidates in (inside, np.arange(len(self.beta))):
            first = self.random.integers(max(len(candidates), 1))
            if any(self.take_step(i, int(j)) for j in np.roll(candidates, -first)):
                return True
        return False

    def take_step(self, i: int, j: int) -> bool:
        """Move t from beta_j to beta_i, to the best place; return whether that is progress."""
        beta, lower, upper, E = self.beta, self.lower, self.upper, self.errors
        least = max(lower[i] - beta[i], beta[j] - upper[j])
        most = min(upper[i] - beta[i], beta[j] - lower[j])
        if i == j or least >= most:
            return False
        row, gain = self.row(i), E[j] - E[i]
        eta = self.diagonal[i] + self.diagonal[j] - 2.0 * row[j]
        curvature = self.curvature[i] + self.curvature[j]
        if curvature > 0.0:  # of equal rows the rest is 0, up to rounding; bounds may be infinite
            eta = max(eta, 0.0) + curvature
        if eta > 0.0:
            t = min(max(gain / eta, least), most)
        else:  # also of equal rows, up to rounding
            t = max(least, most, key=lambda end: end * (gain - 0.5 * eta * end))
        ends = self.moved(i, j, t)
        change_i, change_j = ends[0] - beta[i], ends[1] - beta[j]
        if abs(change_i) <= _LEAST * (abs(beta[i]) + abs(beta[j]) + _LEAST):
            return False
        E += change_i * row + change_j * self.row(j)
        E[i] += self.curvature[i] * change_i
        E[j] += self.curvature[j] * change_j
        beta[[i, j]] = ends
        inside = [k for k in (i, j) if lower[k] < beta[k] < upper[k]]
        self.threshold = float(E[inside[0]] if inside else 0.5 * (E[i] + E[j]))
        self.n_iter += 1
        return True

    def moved(self, i: int, j: int, t: float) -> tuple[float, float]:
        """Return both coefficients after a step, on their bounds where they are next to them."""
        total = self.beta[i] + self.beta[j]
        at_i = self.snapped(i, self.beta[i] + t, _SNAP)
        at_j = self.snapped(j, total - at_i, _SNAP)
        other = self.snapped(i, total - at_j, _LEAST)  # without rounding, so that the sum stays
        return (other if self.lower[i] <= other <= self.upper[i] else at_i), at_j

    def snapped(self, i: int, value: float, close: float) -> float:
        """Return a value of a coefficient, or the bound next to it."""
        low, high = float(self.lower[i]), float(self.upper[i])
        near = close * (high - low) if high - low < np.inf else 0.0
        return low if abs(value - low) <= near else high if abs(high - value) <= near else value

    def row(self, i: int) -> Array:
        """Return a row of the kernel matrix."""
        if i not in self.rows:
            if len(self.rows) >= self.most_rows:
                self.rows.clear()
            self.rows[i], self.n_rows = self.operator.rows([i])[0], self.n_rows + 1
        return self.rows[i]

    def measures(self, values: Array | None = None) -> tuple[float, float, float]:
        """Return the violation, the relative gap and the dual objective."""
        p, beta = self.problem, self.beta
        if values is None:
            values = self.errors - self.slope - self.curvature * beta
        half = 0.5 * float(beta @ values)
        gap = relative_gap(p, half, half, values - self.middle(), beta)
        return self.violation, gap, half + float(p.loss.conjugate(p.y, beta, p.c).sum())

    def solution(self, status: str) -> Solution:
        """Return the coefficients with values computed from them alone."""
        self.beta = self.problem.dual.feasible(self.beta)  # but for rounding they are
        values = self.operator.dot(self.beta)
        self.errors = values + self.slope + self.curvature * self.beta
        violation, gap, objective = self.measures(values)
        return Solution(
            self.beta,
            values,
            np.array([self.middle()]),
            np.array([self.interval]),
            status,
            violation,
            objective,
            gap,
            self.n_iter,
            (self.n_rows + len(values)) * len(values),
            fresh=True,
        )
