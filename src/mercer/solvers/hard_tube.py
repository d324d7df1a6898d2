"""Hard tubes, without upper bounds in the dual: rounds of pair steps, and a test of infeasibility.

Problem: minimise 1/2 |f|^2 subject to f(x_i) in its tube, whose dual has no upper bounds and is
unbounded where no function fits. Any beta bounds the norm of every feasible function,

    |f| >= -sum_i phi_i(beta_i) / sqrt(beta' K beta)
         = (y'beta - sum_i epsilon_i |beta_i|) / sqrt(beta' K beta),

whatever its scale, so the solver works in rounds; after each beta is scaled to where the dual is
largest along its ray, and the constraints are declared infeasible when the bound exceeds the span
of the targets over `SMALLEST_MARGIN` times the largest norm in feature space. What pair steps do
not solve soon is passed to `mercer.solvers.feature_interior_point`; further rounds compute the last
digits, or solve what is too large for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.objects.arrays import Array
from mercer.run import Run

from .base import Solver
from .feature_interior_point import solve_in_features
from .margin import SMALLEST_MARGIN
from .problem import Job, Problem, Settings, Solution
from .rounding import largest_square

_NO_NORM = 1e-15  # a norm this small beside the gain of its coefficients is rounding
_FIRST_ROUNDS, _LAST_ROUNDS = 2, 10  # rounds of pair steps, each twice as long as the one before


def largest_norm(problem: Problem, gram: Any) -> float:
    """Return the norm beyond which the problem counts as infeasible; infinite for soft losses."""
    if not problem.unbounded:
        return np.inf
    radius = math.sqrt(max(largest_square(gram), 1e-300))
    return max(float(np.ptp(problem.y)), 1e-300) / (SMALLEST_MARGIN * radius)


class HardTube(Solver):
    """Pair steps in rounds; `pair_steps` takes them on one job and falls back where they stall."""

    name = "decomposition"
    requires = ("native",)
    needs_loss = ("pieces",)
    bases = ("none", "bias", "groups")
    prices = ("infinite",)
    kinks = True

    def __init__(self, pair_steps: Callable[[Job, Settings, Run], Solution]) -> None:
        self._pair_steps = pair_steps

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        """Return the solution, or coefficients that prove that there is none."""
        solution = self._rounds(job, settings, run, _FIRST_ROUNDS)
        left = run.branch(after=solution.n_iter)
        if solution.status != "iteration_limit" or left.max_iter == 0:
            return solution
        problem: Any = job.problem
        totals = np.zeros(problem.dual.n_groups)
        limit = largest_norm(problem, job.gram)
        found = solve_in_features(
            problem.dual, job.gram, settings, left, totals, largest_norm=limit
        )
        if found is None:
            job = job._replace(start=solution.beta)
            return self._rounds(job, settings, left, _LAST_ROUNDS).adding(solution)
        solution.n_iter += found.n_iter
        job = job._replace(start=found.beta)
        if found.status in ("infeasible", "time_limit", "interrupted"):
            more = self._rounds(job, settings, run.branch(steps=0), 1)
            more.status = found.status
        else:
            left = run.branch(after=solution.n_iter)
            more = self._rounds(job, settings, left, _LAST_ROUNDS)
        return more.adding(solution)

    def _rounds(self, job: Job, settings: Settings, run: Run, rounds: int) -> Solution:
        """Take pair steps, looking after every round whether the problem is unbounded."""
        problem: Any = job.problem
        limit = largest_norm(problem, job.gram)
        chunk, solution = 1000 + 10 * len(problem.y), None
        for _ in range(rounds):
            found = self._pair_steps(job, settings, run.branch(steps=chunk))
            scale, bound = _scaled(problem, found.beta, found.values)
            if bound > limit:
                found.status = "infeasible"
            run = run.branch(after=found.n_iter)
            solution = found if solution is None else found.adding(solution)
            if found.status != "iteration_limit" or run.max_iter == 0:
                break
            job = job._replace(start=scale * found.beta)
            chunk *= 2
        assert solution is not None
        return solution


def _scaled(problem: Problem, beta: Array, values: Array) -> tuple[float, float]:
    """Return the best scale of beta along its ray and the bound on the norm of f."""
    with np.errstate(over="ignore", invalid="ignore"):
        gain = -float(problem.loss.conjugate(problem.y, beta, np.full(len(beta), np.inf)).sum())
        norm2 = max(float((beta * values).sum()), 0.0)
    if not gain > 0.0:
        return 1.0, 0.0
    if not math.sqrt(norm2) > _NO_NORM * gain:  # also where the coefficients overflow
        return 1.0, np.inf
    return gain / norm2, gain / np.sqrt(norm2)
