"""FISTA: accelerated proximal gradients for penalties on coefficients.

Problem: minimise over w

    F(w) + Omega(w),    F(w) = sum_j c_j l(y_j, (A w)_j),

for a smooth loss l and a penalty Omega with a proximal operator (L1, L2). A is the kernel matrix,
which need not be definite, or the design of a linear machine.

Method: A. Beck, M. Teboulle, "A fast iterative shrinkage-thresholding algorithm for linear inverse
problems", SIAM Journal on Imaging Sciences 2, 2009, with backtracking: a step length t is accepted
if F(w) <= F(u) + <F'(u), w - u> + |w - u|^2 / (2 t), and may grow again. The momentum begins anew
where it points uphill (B. O'Donoghue, E. Candes, "Adaptive restart for accelerated gradient
schemes", Foundations of Computational Mathematics 15, 2015).

With beta_j = -c_j l'(y_j, (A w)_j), and a multiple of it for which Omega* is finite, the dual value
is -Omega*(A'beta) - sum_j phi_j(beta_j). Returned: the best w, ``coef``, with its beta and values
A w. For a loss without a derivative the steps shrink to nothing, which ends as "iteration_limit".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mercer.losses import L1, L2
from mercer.objects.arrays import Array
from mercer.run import Run

from .base import Solver, relative_gap
from .problem import Job, Problem, Settings, Solution

_EVERY = 10  # iterations between two evaluations of the gap, each a product with A'
_GROWTH = 1.1  # of the step length from one iteration to the next
_SHORTEST = 1e-30  # factor by which the steps may shrink
_STALLED = 1000  # iterations without a smaller objective, which rounding alone leaves
_SEEN = 1e-10  # part of F below which its differences are rounding: the step length stays


class FISTA(Solver):
    """Accelerated proximal gradients with backtracking and restarts."""

    name = "fista"
    requires = ("dot", "t_dot")
    needs_loss = ("slope",)
    omegas = (L1, L2)

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        """Return the coefficients; the start, if any, are coefficients as well."""
        smooth, omega = _Smooth(job.problem, job.gram), job.problem.omega
        w = np.zeros(job.gram.shape[1]) if job.start is None else np.array(job.start, dtype=float)
        best = now = smooth.at(w)
        least, step, momentum, n_iter = smooth.objective(now), smooth.first_step(now), 1.0, 0
        stalled = 0
        before, last, seen = now, step * _SHORTEST, True
        with run.until_stopped():
            while step > last and stalled < _STALLED:
                known = smooth.measures(best) if n_iter % _EVERY == 0 else (np.nan, np.nan)
                if run.stop(n_iter, *known, least) is not None:
                    break
                following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
                u = smooth.between(now, before, (momentum - 1.0) / following)
                gradient = smooth.gradient(u)
                step *= _GROWTH if seen else 1.0
                while step > last:
                    found = smooth.at(omega.prox(u.w - step * gradient, step))
                    move = found.w - u.w
                    curved = 0.5 * float(move @ move) / step
                    seen = curved > _SEEN * u.loss
                    if not seen or found.loss <= u.loss + gradient @ move + curved:
                        break
                    step *= 0.5
                uphill = (u.w - found.w) @ (found.w - now.w) > 0.0
                before, now = now, found
                momentum = 1.0 if uphill else following
                n_iter += 1
                objective = smooth.objective(now)
                stalled += 1
                if objective < least:
                    best, least, stalled = now, objective, 0
        return smooth.solution(best, run.status or "iteration_limit", n_iter)


class _Point(NamedTuple):
    """Coefficients, their values A w, and the sum of the losses."""

    w: Array
    z: Array
    loss: float


class _Smooth:
    """The loss of a problem as a function of the coefficients."""

    def __init__(self, problem: Problem, operator: Any) -> None:
        self.problem, self.operator = problem, operator

    def at(self, w: Array) -> _Point:
        """Return the point of some coefficients."""
        return self._point(w, self.operator.dot(w, self.problem.rows))

    def between(self, now: _Point, before: _Point, share: float) -> _Point:
        """Return the point further along the last move; its values need no product."""
        if share == 0.0:
            return now
        return self._point(now.w + share * (now.w - before.w), now.z + share * (now.z - before.z))

    def _point(self, w: Array, z: Array) -> _Point:
        p = self.problem
        return _Point(w, z, float(p.loss.cost(p.y, z, p.c).sum()))

    def multipliers(self, point: _Point) -> Array:
        """Return beta, minus the derivatives of the losses."""
        p = self.problem
        return -p.c * p.loss.slope(p.y, point.z)  # type: ignore[attr-defined,no-any-return]

    def gradient(self, point: _Point) -> Array:
        """Return the gradient of F."""
        return -self.operator.t_dot(self.multipliers(point), self.problem.rows)

    def objective(self, point: _Point) -> float:
        """Return F + Omega."""
        return point.loss + self.problem.omega.value(point.w)  # type: ignore[union-attr]

    def first_step(self, point: _Point) -> float:
        """Return the inverse of the curvature of F along its gradient, by a difference."""
        gradient = self.gradient(point)
        length = float(np.linalg.norm(gradient))
        if length == 0.0:
            return 1.0
        small = 1e-6 * (1.0 + float(np.linalg.norm(point.w))) / length
        change = self.gradient(self.at(point.w - small * gradient)) - gradient
        return small * length / max(float(np.linalg.norm(change)), 1e-12 * length)

    def measures(self, point: _Point) -> tuple[float, float]:
        """Return the violation of the optimality conditions and the relative gap."""
        omega: Any = self.problem.omega
        beta = self.multipliers(point)
        v = self.operator.t_dot(beta, self.problem.rows)
        t = omega.reach(v)
        t *= 1.0 if t == 1.0 else 1.0 - 1e-12
        ends = omega.value(point.w), omega.conjugate(t * v)
        return omega.violation(point.w, v), relative_gap(self.problem, *ends, point.z, t * beta)

    def solution(self, point: _Point, status: str, n_iter: int) -> Solution:
        """Return a point as a solution."""
        violation, gap = self.measures(point)
        return Solution(
            self.multipliers(point),
            point.z,
            np.zeros(0),
            np.zeros((0, 2)),
            status,
            violation,
            self.objective(point),
            gap,
            n_iter,
            coef=point.w,
            fresh=True,
        )
