"""The hard margin, C = inf: every training point outside the margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.losses import Hinge
from mercer.solvers import Solution
from mercer.solvers.margin import Margin
from mercer.solvers.rounding import ValueErrors

from .formulation import Formulation, LossFormulation, Measure, Outcome, Rows, Task
from .nu_formulation import read_margin, two_sided

Array = NDArray[np.float64]

_OUTER = 2.0
"""A bound that no coefficient reaches, their sum being 1."""


class HardMargin(Formulation):
    """The hard-margin classifier, as the nearest points of two convex hulls.

    Minimise 1/2 beta' K beta over y_i beta_i >= 0, where the beta_i of either class sum to
    +-1: half the squared distance of two convex combinations, one of each class. Half the
    distance of any two is an upper bound of the margin, so data are declared not separable, with
    the combinations as evidence, as soon as it falls below `SMALLEST_MARGIN` times the largest
    norm. Otherwise, with the multipliers m+ and m- of the sums, rho = (m+ - m-) / 2, and
    beta / rho is the solution of 1/2 |f|^2 subject to y_i f(x_i) >= 1.

    This is bounded, as the usual dual is not: where no separating function exists its variables
    grow without end.

    Without an intercept: the point of the convex hull of y_i phi(x_i) next to the origin, with
    the signs in the matrix y_i y_j K_ij and rho as the multiplier of the one sum.
    """

    C = np.inf
    price = np.inf
    double = True

    def __init__(self, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept
        self._soft = LossFormulation(Hinge(), np.inf, fit_intercept)

    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem; weights do not matter where nothing may be violated."""
        total, outer = 2.0 if self.fit_intercept else 1.0, np.full(len(y), _OUTER)
        problem = two_sided(y, outer, total, rows, name, self.fit_intercept, Margin(hard=True))
        return Task(problem, y, weight, rows, name)

    def outcome(self, task: Task, solution: Solution, gram: Any) -> Outcome:
        """Return the model scaled to functional margin 1."""
        outcome = read_margin(task, solution)
        return outcome._replace(scale=outcome.rho if outcome.rho > 0.0 else 1.0)

    def proved(self, outcome: Outcome) -> Outcome:
        """Return the model at margin 1, where its values are comparable."""
        return Outcome(outcome.coef, outcome.intercept / outcome.scale, rho=outcome.rho)

    def variables(self, task: Task, outcome: Outcome) -> Array:
        """Return the convex combinations."""
        sums = max(float(np.abs(outcome.beta).sum()), 1e-300)
        beta = outcome.beta * ((2.0 if self.fit_intercept else 1.0) / sums)
        return super().variables(task, outcome._replace(beta=beta))

    def measures(
        self,
        tasks: Sequence[Task],
        outcomes: Sequence[Outcome],
        values: Sequence[Array],
        errors: ValueErrors,
    ) -> list[Measure]:
        """Return the proofs in the units of the margin 1, as those of a price that grows."""
        values = [f0 / o.scale for f0, o in zip(values, outcomes, strict=True)]
        outcomes = [self.proved(o) for o in outcomes]
        tasks = [self._soft.task(t.y, t.weight, t.rows, t.name) for t in tasks]
        return self._soft.measures(tasks, outcomes, values, errors)

    def measure(self, task: Task, outcome: Outcome, f0: Array, errors: ValueErrors) -> Measure:
        """Return the proof of one model."""
        return self.measures([task], [outcome], [f0], errors)[0]
