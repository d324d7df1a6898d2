"""Hard constraints, C = inf: every training point outside the margin, or inside the tube."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.losses import Hinge
from mercer.solvers import Problem
from mercer.solvers.rounding import ValueErrors

from . import certification as proof
from .formulation import Formulation, LossFormulation, Measure, Outcome, Rows, Task
from .scale import largest_square

Array = NDArray[np.float64]

_SMALLEST_MARGIN = 1e-7
"""Margin, relative to the largest norm in feature space, below which there is none."""


_RESOLUTION = 1e-14
"""A violation this small beside the squared norms is rounding."""

_NO_NORM = 1e-15
"""A norm this small beside the gain of its coefficients is rounding."""

_OUTER = 2.0
"""A bound that no coefficient reaches, their sum being 1."""


class HardMargin(Formulation):
    """The hard-margin classifier, as the nearest points of two convex hulls.

    Minimise 1/2 beta' K beta over y_i beta_i >= 0, where the beta_i of either class sum to
    +-1: half the squared distance of two convex combinations, one of each class. Half the
    distance of any two is an upper bound of the margin, so data are declared not separable, with
    the combinations as evidence, as soon as it falls below `_SMALLEST_MARGIN` times the largest
    norm. Otherwise, with the multipliers m+ and m- of the sums, rho = (m+ - m-) / 2, and
    beta / rho is the solution of 1/2 |f|^2 subject to y_i f(x_i) >= 1.

    This is bounded, as the usual dual is not: where no separating function exists its variables
    grow without end.

    Without an intercept: the point of the convex hull of y_i phi(x_i) next to the origin, with
    the signs in the matrix y_i y_j K_ij and rho as the multiplier of the one sum.
    """

    C = np.inf
    price = np.inf
    hard = True
    attempts = 8

    def __init__(self, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept
        self.signed_gram = not fit_intercept
        self._soft = LossFormulation(Hinge(), np.inf, fit_intercept)

    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem; weights do not matter where nothing may be violated."""
        n = len(y)
        zero, start = np.zeros(n), np.zeros(n)
        if not self.fit_intercept:
            start[0] = 1.0
            problem = Problem(zero, np.full(n, _OUTER), zero, group=np.zeros(n, dtype=np.int64))
            return Task(problem, y, weight, rows, start, name)
        positive = y > 0.0
        start[np.argmax(positive)], start[np.argmin(positive)] = 1.0, -1.0
        problem = Problem(
            np.where(positive, 0.0, -_OUTER),
            np.where(positive, _OUTER, 0.0),
            zero,
            group=np.where(positive, np.int64(0), np.int64(1)),
            rows=rows,
        )
        return Task(problem, y, weight, rows, start, name)

    def outcome(self, task: Task, solution: Any) -> Outcome:
        """Return the model scaled to functional margin 1."""
        if self.fit_intercept:
            plus, minus = (float(m) for m in solution.multiplier)
            rho, b, beta = 0.5 * (plus - minus), -0.5 * (plus + minus), solution.beta
        else:
            rho, b, beta = float(solution.multiplier[0]), 0.0, task.y * solution.beta
        scale = rho if rho > 0.0 else 1.0
        return Outcome(beta / scale, b / scale, rho=rho)

    def variables(self, task: Task, outcome: Outcome) -> Array:
        """Return the convex combinations."""
        sums = max(float(np.abs(outcome.beta).sum()), 1e-300)
        beta = outcome.beta * ((2.0 if self.fit_intercept else 1.0) / sums)
        return beta if self.fit_intercept else task.y * beta

    def solver_values(self, task: Task, outcome: Outcome, values: Array) -> Array:
        """Return the values in the units of the model."""
        scale = outcome.rho if outcome.rho > 0.0 else 1.0
        return (values if self.fit_intercept else task.y * values) / scale

    def measures(
        self,
        tasks: Sequence[Task],
        outcomes: Sequence[Outcome],
        values: Sequence[Array],
        errors: ValueErrors,
    ) -> list[Measure]:
        """Return the proofs in the units of the margin 1."""
        tasks = [self._soft.task(t.y, t.weight, t.rows, t.name) for t in tasks]
        return self._soft.measures(tasks, outcomes, values, errors)

    def measure(self, task: Task, outcome: Outcome, f0: Array, errors: ValueErrors) -> Measure:
        """Return the proof of one model."""
        return self.measures([task], [outcome], [f0], errors)[0]

    def objective_floor(self, y: Array | None, gram: Any) -> float:
        """Return half the squared distance below which the hulls are taken to touch."""
        hulls = 2.0 if self.fit_intercept else 1.0
        return 0.5 * (hulls * _SMALLEST_MARGIN) ** 2 * largest_square(gram)

    def first_tolerance(self, tol: float, gram: Any) -> float:
        """Return a tolerance in units of the squared norm, which bounds rho."""
        self._largest = max(largest_square(gram), 1e-300)
        return 0.01 * tol * self._largest

    def next_tolerance(self, outcome: Outcome, used: float, wanted: float) -> float | None:
        """Return the tolerance in units of rho, once rho is known, until it is met."""
        if used <= wanted * outcome.rho or used <= _RESOLUTION * self._largest:
            return None
        smaller = 0.5 * wanted * outcome.rho if outcome.rho > 0.0 else 0.01 * used
        return max(min(smaller, 0.5 * used), _RESOLUTION * self._largest)


class HardTube(LossFormulation):
    """Regression whose deviations must not exceed the tube.

    The usual dual without upper bounds. Any beta bounds the norm of every feasible function,

        |f| >= (y'beta - sum_i epsilon_i |beta_i|) / sqrt(beta' K beta),

    whatever its scale, so the solver works in rounds; after each beta is scaled to where the dual
    is largest along its ray, and the constraints are declared infeasible when the bound exceeds
    the span of the targets over `_SMALLEST_MARGIN` times the largest norm in feature space. What
    pair steps do not solve soon is solved by `mercer.solvers.feature_interior_point`.
    """

    def scaled(self, task: Task, beta: Array, f0: Array) -> tuple[float, float]:
        """Return the best scale of beta along its ray and the bound on the norm of f."""
        gain = -float(self.loss.conjugate(task.y, beta, np.full(len(beta), np.inf)).sum())
        norm2 = max(proof.dot(beta, f0), 0.0)
        if not gain > 0.0:
            return 1.0, 0.0
        if not math.sqrt(norm2) > _NO_NORM * gain:  # also where the coefficients overflow
            return 1.0, np.inf
        return gain / norm2, gain / np.sqrt(norm2)

    def largest_norm(self, y: Array, gram: Any) -> float:
        """Return the norm beyond which no function is taken to exist."""
        radius = np.sqrt(max(largest_square(gram), 1e-300))
        return max(float(np.ptp(y)), 1e-300) / (_SMALLEST_MARGIN * radius)
