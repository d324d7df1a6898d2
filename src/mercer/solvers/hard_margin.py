"""The hard margin as the nearest points of two convex hulls.

Problem: minimise 1/2 |f|^2 subject to y_i f(x_i) >= 1, a loss of the margin with an infinite c. Its
usual dual is unbounded where no separating function exists. This one is bounded: minimise
1/2 beta' K beta over y_i beta_i >= 0, where the beta_i of either class sum to +-1, half the squared
distance of two convex combinations, one of each class (K. Bennett, E. Bredensteiner, "Duality and
geometry in SVM classifiers", ICML 2000). Half the distance of any two is an upper bound of the
margin, so data are declared not separable, with the combinations as evidence, as soon as it falls
below `SMALLEST_MARGIN` times the largest norm. Otherwise, with the multipliers m+ and m- of the
sums, rho = (m+ - m-) / 2, and beta / rho is returned, whose margin is 1.

Without an intercept: the point of the convex hull of y_i phi(x_i) next to the origin, with rho the
multiplier of the one sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.run import Run

from .base import Solver
from .margin import Margin, margin_of
from .problem import Job, Settings, Solution, margin_problem

_OUTER = 2.0  # a bound that no coefficient reaches, their sum being 1


class HardMargin(Solver):
    """Nearest points of convex hulls; `run` solves their problems with all means of the ladder."""

    requires = ("native",)
    needs_loss = ("margin",)
    bases = ("none", "bias", "groups")
    prices = ("infinite",)

    def __init__(self, run: Callable[..., list[Solution]], name: str = "decomposition") -> None:
        self._run, self.name = run, name

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        """Return the solution of one problem."""
        return self.solve_batch([job], settings, run)[0]

    def solve_batch(self, jobs: Sequence[Job], settings: Settings, run: Run) -> list[Solution]:
        """Return the solutions at margin 1; where there is no margin, convex combinations."""
        hulls = [_nearest_points(job) for job in jobs]
        found = self._run(hulls, settings, self.name, run)
        return [_at_margin_one(h, f) for h, f in zip(hulls, found, strict=True)]


def _nearest_points(job: Job) -> Job:
    problem: Any = job.problem
    y, intercept = problem.y, problem.basis is not None
    total, outer = 2.0 if intercept else 1.0, np.full(len(y), _OUTER)
    margin = Margin(hard=True)
    hulls = margin_problem(y, outer, total, intercept, margin, problem.rows, problem.name)
    start = job.start
    if start is not None:
        start = start * (total / max(float(np.abs(start).sum()), 1e-300))
        start = hulls.dual.feasible(start if hulls.sign is None else hulls.sign * start)
    return Job(hulls, job.gram, start)


def _at_margin_one(hulls: Job, found: Solution) -> Solution:
    problem: Any = hulls.problem
    rho = margin_of(problem.totals, found.multiplier)
    scale = rho if rho > 0.0 else 1.0
    beta, values = found.beta / scale, found.values / scale
    if problem.sign is not None:
        beta, values = problem.sign * beta, problem.sign * values
    half = len(found.multiplier) == 2  # minus the intercept is the mean of two multipliers
    return replace(
        found,
        beta=beta,
        values=values,
        multiplier=found.multiplier.mean(keepdims=True) / scale if half else np.zeros(0),
        multiplier_range=(
            found.multiplier_range.mean(axis=0, keepdims=True) / scale if half else np.zeros((0, 2))
        ),
        kkt_violation=found.kkt_violation / scale,
        objective=0.5 * float((beta * values).sum()) - float(np.abs(beta).sum()),
    )
