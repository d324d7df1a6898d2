"""Dual coordinate descent for linear machines, with shrinking.

Problem: minimise over the weights w of a design X

    lam / 2 |w|^2 + sum_i c_i l(y_i, <x_i, w>)

for losses whose dual costs have no kink: the hinge and the squared hinge of classifiers. Its dual
in beta, with w = X' beta / lam, is

    minimise  lam / 2 |w|^2 + sum_i phi_i(beta_i)    subject to  lower_i <= beta_i <= upper_i.

Method: C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. Keerthi, S. Sundararajan, "A dual coordinate descent
method for large-scale linear SVM", ICML 2008. A step minimises over one variable; with w at hand it
costs one sparse dot product. Variables are visited in a random order, and left out while they stay
at a bound: those at their lower bound whose gradient exceeds the largest projected gradient of the
pass before, and likewise above. The loop over the rows is native (``cpp/coordinate_descent.cpp``).

Where the projected gradients of the remaining variables fell to a tenth, all are looked at again,
and the violation of all conditions and the duality gap are computed from beta itself. Returned:
beta, the values X w and the weights, ``coef``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _native
from mercer.losses import L2
from mercer.objects.arrays import Array
from mercer.run import Run

from .base import Solver, relative_gap
from .problem import Job, Problem, Settings, Solution

_ENTRIES = 10_000_000  # of the rows of one native call, which takes some 50 ms
_PASSES = 50  # before all variables are looked at again
_ROUNDING, _STALLED = 1e-15, 3  # looks at which the dual objective fell by no more than rounding
_CLOSER = 0.9  # or the violation fell to no less than this part of the least so far
_FELL = 0.1  # projected gradients this small beside those of the last pass over all variables


class CoordinateDescent(Solver):
    """Exact steps along single dual variables of a linear machine."""

    name = "coordinate_descent"
    requires = ("csr",)
    needs_loss = ("pieces",)
    omegas = (None, L2)

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        """Return the weights, and the dual variables behind them."""
        problem, design = job.problem, job.gram
        design = design if problem.rows is None else design.take(problem.rows)
        descent = _Descent(problem, design, job.start)
        n_iter = stalled = 0
        with run.until_stopped():
            while run.stop(n_iter, *descent.measures(), active=len(descent.beta)) is None:
                stalled = 0 if descent.fell else stalled + 1
                if stalled == _STALLED:
                    break  # rounding leaves no progress
                descent.look_at_all()
                for _ in range(_PASSES):
                    descent.take_pass(run)
                    n_iter += 1
                    if descent.largest <= _FELL * descent.violation:
                        break
                    if run.stop(n_iter, active=len(descent.order)) is not None:
                        break
        return descent.solution(run.status or "iteration_limit", n_iter)


class _Descent:
    """The variables of one problem, and those that are not left out."""

    def __init__(self, problem: Problem, design: Any, start: Array | None) -> None:
        self.problem, self.design, terms = problem, design, problem.dual
        self.lam = 1.0 if problem.omega is None else float(problem.omega.lam)  # type: ignore[attr-defined]
        m = len(problem.y)
        self.slope, zero = terms.slope_left, np.zeros(m)
        self.curvature = zero if terms.curv_left is None else terms.curv_left
        whole = design.diag() / self.lam + self.curvature
        arrays = terms.lower, terms.upper, self.slope, self.curvature, whole
        doubles = [np.ascontiguousarray(a, dtype=np.float64) for a in arrays]
        self.terms = doubles[0], doubles[1], doubles[2], doubles[3], doubles[4]
        self.beta = np.clip(zero if start is None else start, terms.lower, terms.upper)
        self.active = np.ones(m, dtype=np.uint8)
        self.order = np.arange(m, dtype=np.int64)
        self.random = np.random.default_rng(0)
        self.rows_at_once = max(1, _ENTRIES * m // max(design.csr.nnz, 1))
        self.violation = self.objective = self.least = np.inf
        self.largest, self.fell = np.inf, True
        self.bounds = np.inf, -np.inf

    def measures(self) -> tuple[float, float, float]:
        """Return the violation, the relative gap and the dual objective, from beta alone."""
        p, beta = self.problem, self.beta
        lower, upper = self.terms[:2]
        self.w = self.design.t_dot(beta) / self.lam
        self.values = self.design.dot(self.w)
        gradient = self.values + self.slope + self.curvature * beta
        falling, rising = (
            np.where(beta > lower, gradient, 0.0),
            np.where(beta < upper, gradient, 0.0),
        )
        self.violation = max(float(falling.max(initial=0.0)), float(-rising.min(initial=0.0)))
        half = 0.5 * self.lam * float(self.w @ self.w)
        before, self.objective = (
            self.objective,
            half + float(p.loss.conjugate(p.y, beta, p.c).sum()),
        )
        closer = self.violation <= _CLOSER * self.least
        self.fell = closer or not before - self.objective <= _ROUNDING * half
        self.least = min(self.least, self.violation)
        self.gap = relative_gap(p, half, half, self.values, beta)
        return self.violation, self.gap, self.objective

    def look_at_all(self) -> None:
        """Take all variables into the next passes."""
        self.active[:] = 1
        self.order = np.arange(len(self.beta), dtype=np.int64)
        self.bounds = np.inf, -np.inf

    def take_pass(self, run: Run) -> None:
        """Take a step along each variable that is not left out, in a random order."""
        rows, largest, smallest = self.design.csr, -np.inf, np.inf
        self.random.shuffle(self.order)
        for first in range(0, len(self.order), self.rows_at_once):
            run.check()
            chunk = self.order[first : first + self.rows_at_once]
            matrix, where = (rows.data, rows.indices, rows.indptr), (chunk, *self.bounds)
            high, low = _native.descend(
                *matrix, *self.terms, self.lam, *where, self.beta, self.w, self.active
            )
            largest, smallest = max(largest, high), min(smallest, low)
        self.order = self.order[self.active[self.order] > 0]
        self.largest = max(largest, -smallest, 0.0)
        # Variables beyond these are left out; without any on one side, none of it is.
        self.bounds = largest if largest > 0.0 else np.inf, smallest if smallest < 0.0 else -np.inf

    def solution(self, status: str, n_iter: int) -> Solution:
        """Return the weights of the dual variables, computed from these alone."""
        self.measures()
        return Solution(
            self.beta,
            self.values,
            np.zeros(0),
            np.zeros((0, 2)),
            status,
            self.violation,
            self.objective,
            self.gap,
            n_iter,
            coef=self.w,
            fresh=True,
        )
