"""The nu machines: a fraction of the weight sets the margin or the tube.

All three fix the sum of the multipliers instead of the price of an error. Their variables have
no linear cost except the targets of nu-SVR.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.solvers import DualProblem
from mercer.solvers import certification as proof
from mercer.solvers.feasibility import at_least, at_most
from mercer.solvers.rounding import ValueErrors

from .errors import InfeasibleNuError
from .formulation import Batch, Formulation, Measure, Outcome, Rows, Task
from .scale import largest_square

Array = NDArray[np.float64]

_RESOLUTION = 1e-13
"""A violation this small beside the largest value of an expansion is rounding."""

_NO_MARGIN = 1e-11
"""A margin this small beside the largest value of an expansion is none."""

_ONE = np.zeros(1, dtype=np.intp)
"""All variables are one group."""


class NuClassification(Formulation):
    """nu-SVC: minimise 1/2 |f|^2 - nu W rho + sum_i s_i max(0, rho - y_i f(x_i)).

    Dual: minimise 1/2 beta' K beta with 0 <= y_i beta_i <= s_i, where the beta_i of either class
    sum to +- nu W / 2. The multipliers m+ and m- of the two sums give rho = (m+ - m-) / 2 and
    b = -(m+ + m-) / 2. The model is divided by rho, so that its margin lies at +-1; it is then
    the C-SVC of C = 1 / rho.

    Without an intercept there is one sum, nu W, over the y_i beta_i. The signs then belong into
    the matrix y_i y_j K_ij, and its multiplier is rho.
    """

    attempts = 3
    _largest = 0.0  # the largest k(x, x), as soon as there is a matrix

    def __init__(self, nu: float, fit_intercept: bool = True) -> None:
        self.nu, self.fit_intercept = nu, fit_intercept
        self.signed_gram = not fit_intercept

    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem, or say which nu would have been feasible."""
        zero = np.zeros(len(y))
        total = self.nu * float(weight.sum())
        if not self.fit_intercept:
            group = np.zeros(len(y), dtype=np.int64)
            problem = DualProblem(zero, weight, zero, group=group, totals=np.array([total]))
            return Task(problem, y, weight, rows, name)
        largest = largest_nu(y, weight)
        if self.nu > largest * (1.0 + 1e-12):
            raise InfeasibleNuError(self.nu, largest, name if name is not None else (-1, 1))
        signed = y * weight
        problem = DualProblem(
            np.minimum(signed, 0.0),
            np.maximum(signed, 0.0),
            zero,
            group=np.where(y > 0.0, np.int64(0), np.int64(1)),
            rows=rows,
            totals=np.array([0.5 * total, -0.5 * total]),
        )
        return Task(problem, y, weight, rows, name)

    def tasks(self, batch: Batch) -> list[Task]:
        """Return the problems of several tasks; an error names the one that allows the least."""
        if self.fit_intercept and len(batch.ends) > 1:
            limits = [largest_nu(batch.y[p], batch.weight[p]) for p in batch.slices]
            tightest = int(np.argmin(limits))
            if self.nu > limits[tightest] * (1.0 + 1e-12):
                raise InfeasibleNuError(self.nu, limits[tightest], batch.names[tightest])
        return super().tasks(batch)

    def outcome(self, task: Task, solution: Any) -> Outcome:
        """Return the model with its margin at 1; where there is none, it is left unscaled."""
        if self.fit_intercept:
            plus, minus = (float(m) for m in solution.multiplier)
            rho, b, beta = 0.5 * (plus - minus), -0.5 * (plus + minus), solution.beta
        else:
            rho, b, beta = float(solution.multiplier[0]), 0.0, task.y * solution.beta
        if rho <= _NO_MARGIN * float(np.abs(beta).sum()) * self._largest:
            return Outcome(beta, b, rho=0.0)
        return Outcome(beta / rho, b / rho, rho=rho)

    def variables(self, task: Task, outcome: Outcome) -> Array:
        """Return the coefficients in units of the weights."""
        beta = outcome.beta * _scale(outcome)
        return beta if self.fit_intercept else task.y * beta

    def multipliers(self, outcome: Outcome) -> list[float] | None:
        """Return rho - b and -rho - b, in units of the weights."""
        b = outcome.intercept * _scale(outcome)
        return [outcome.rho - b, -outcome.rho - b] if self.fit_intercept else [outcome.rho]

    def unit(self, outcome: Outcome) -> float:
        """Return the margin, by which the model is divided and its proof is not."""
        return _scale(outcome)

    def solver_values(self, task: Task, outcome: Outcome, values: Array) -> Array:
        """Return the values in the units of the model."""
        return (values if self.fit_intercept else task.y * values) / _scale(outcome)

    def measure(self, task: Task, outcome: Outcome, f0: Array, errors: ValueErrors) -> Measure:
        """Return primal, dual and violation in units of the weights, the excess in the model's."""
        scale, y = _scale(outcome), task.y
        beta, raw, b = outcome.beta * scale, f0 * scale, outcome.intercept * scale
        least = self.nu * math.fsum(task.weight)
        point = at_least(beta, y * task.weight, least, balanced=self.fit_intercept)
        doubt = _doubt(point, beta, task, errors)
        values = proof.nu_svc_values(y, task.weight, self.nu, beta, raw, b, outcome.rho, doubt)
        values = values._replace(norm2=values.norm2 / scale**2)
        if self.fit_intercept:
            checked = self._conditions(task, beta, raw)
            low, high = checked.ranges.sum(axis=0).tolist()
            intercept_range = (-0.5 * high / scale, -0.5 * low / scale)
            if not intercept_range[0] < intercept_range[1]:
                intercept_range = (outcome.intercept, outcome.intercept)
        else:
            checked = proof.conditions(task.problem, y * beta, y * raw, _ONE)
            intercept_range = (0.0, 0.0)
        margin = 1.0 if outcome.rho > 0.0 else outcome.rho
        excess = margin - y * (f0 + outcome.intercept)
        return Measure(values, checked.violation, excess, checked.at_bound, intercept_range)

    def _conditions(self, task: Task, beta: Array, f0: Array) -> proof.Conditions:
        """Return the optimality conditions of the two classes, each a group of its own."""
        order = np.argsort(task.y < 0.0, kind="stable")
        zero = np.zeros(len(order))
        problem = DualProblem(task.problem.lower[order], task.problem.upper[order], zero)
        starts = np.array([0, np.count_nonzero(task.y > 0.0)])
        checked = proof.conditions(problem, beta[order], f0[order], starts)
        at_bound = np.empty(len(order), dtype=bool)
        at_bound[order] = checked.at_bound
        return checked._replace(at_bound=at_bound)

    def first_tolerance(self, tol: float, gram: Any) -> float:
        """Return the tolerance itself, and remember the size of kernel values."""
        self._largest = abs(largest_square(gram))
        return tol

    def next_tolerance(self, outcome: Outcome, used: float, wanted: float) -> float | None:
        """Return a smaller one where it is not small beside rho, by which the model is divided.

        Where there is no margin at all, this ends at what double precision resolves.
        """
        size = float(np.abs(outcome.beta).sum()) * _scale(outcome) * self._largest
        if used <= 0.1 * abs(outcome.rho) or 0.01 * used < _RESOLUTION * size:
            return None
        return 0.01 * used


class OneClass(Formulation):
    """One-class machine: minimise 1/2 |f|^2 - nu W rho + sum_i s_i max(0, rho - f(x_i)).

    Dual: minimise 1/2 beta' K beta with 0 <= beta_i <= s_i and sum_i beta_i = nu W, whose
    multiplier is rho.
    """

    def __init__(self, nu: float) -> None:
        self.nu = nu

    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem; `y` is not used."""
        zero = np.zeros(len(weight))
        group = np.zeros(len(weight), dtype=np.int64)
        totals = np.array([self.nu * float(weight.sum())])
        problem = DualProblem(zero, weight, zero, group=group, rows=rows, totals=totals)
        return Task(problem, np.ones(len(weight)), weight, rows, name)

    def outcome(self, task: Task, solution: Any) -> Outcome:
        """Return the model f - rho."""
        rho = float(solution.multiplier[0])
        return Outcome(solution.beta, -rho, rho=rho)

    def multipliers(self, outcome: Outcome) -> list[float] | None:
        """Return rho."""
        return [outcome.rho]

    def measure(self, task: Task, outcome: Outcome, f0: Array, errors: ValueErrors) -> Measure:
        """Return primal, dual and violation; see `mercer.solvers.certification`."""
        rho, beta = outcome.rho, outcome.beta
        point = at_least(beta, task.weight, self.nu * math.fsum(task.weight), balanced=False)
        doubt = _doubt(point, beta, task, errors)
        values = proof.one_class_values(task.weight, self.nu, beta, f0, rho, doubt)
        checked = proof.conditions(task.problem, outcome.beta, f0, _ONE)
        low, high = checked.ranges[0]
        interval = (-float(high), -float(low)) if low < high else (-rho, -rho)
        return Measure(values, checked.violation, rho - f0, checked.at_bound, interval)


class NuRegression(Formulation):
    """nu-SVR: minimise 1/2 |f|^2 + C (nu W eps + sum_i s_i max(0, |y_i - f(x_i)| - eps)).

    Dual in doubled variables, alpha_i in [0, C s_i] and -alpha*_i in [-C s_i, 0], each with the
    linear cost -y_i; either half sums to +- C nu W / 2. The multipliers m0 and m1 of the sums
    give b = -(m0 + m1) / 2 and eps = (m1 - m0) / 2.

    Without an intercept there is one sum, C nu W, over both halves as positive variables, and
    its multiplier is -eps.
    """

    def __init__(self, C: float, nu: float, fit_intercept: bool = True) -> None:
        self.C, self.nu, self.fit_intercept = C, nu, fit_intercept
        self.price = C
        self.signed_gram = not fit_intercept

    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem in doubled variables."""
        n = len(y)
        bound, zero = self.C * weight, np.zeros(n)
        half = 0.5 * self.C * self.nu * float(weight.sum())
        if not self.fit_intercept:
            problem = DualProblem(
                np.zeros(2 * n),
                np.concatenate([bound, bound]),
                np.concatenate([-y, y]),
                group=np.zeros(2 * n, dtype=np.int64),
                totals=np.array([2.0 * half]),
            )
            return Task(problem, y, weight, rows, name)
        once = np.arange(n) if rows is None else rows
        problem = DualProblem(
            np.concatenate([zero, -bound]),
            np.concatenate([bound, zero]),
            np.concatenate([-y, -y]),
            group=np.repeat(np.array([0, 1], dtype=np.int64), n),
            rows=np.concatenate([once, once]),
            totals=np.array([half, -half]),
        )
        return Task(problem, y, weight, rows, name)

    def outcome(self, task: Task, solution: Any) -> Outcome:
        """Return the model with its tube, which is not negative."""
        first, second = np.split(solution.beta, 2)
        if np.any((first != 0.0) & (second != 0.0)):
            # The solver's values are sums over both halves, with the rounding of what cancels.
            solution.fresh = False
        if not self.fit_intercept:
            return Outcome(first - second, 0.0, epsilon=max(-float(solution.multiplier[0]), 0.0))
        m0, m1 = (float(m) for m in solution.multiplier)
        return Outcome(first + second, -0.5 * (m0 + m1), epsilon=max(0.5 * (m1 - m0), 0.0))

    def multipliers(self, outcome: Outcome) -> list[float] | None:
        """Return -b - eps and -b + eps."""
        b, epsilon = outcome.intercept, outcome.epsilon
        return [-b - epsilon, -b + epsilon] if self.fit_intercept else [-epsilon]

    def variables(self, task: Task, outcome: Outcome) -> Array:
        """Return both halves; a sum that a tube of width 0 left open is shared by all rows."""
        positive, negative = np.maximum(outcome.beta, 0.0), np.maximum(-outcome.beta, 0.0)
        return np.concatenate([positive, -negative if self.fit_intercept else negative])

    def solver_values(self, task: Task, outcome: Outcome, values: Array) -> Array:
        """Return the values of the first half, whose sign is +."""
        return values[: len(task.y)]

    def measure(self, task: Task, outcome: Outcome, f0: Array, errors: ValueErrors) -> Measure:
        """Return primal, dual and violation; see `mercer.solvers.certification`."""
        y, s, b, epsilon = task.y, task.weight, outcome.intercept, outcome.epsilon
        beta, most = outcome.beta, self.C * self.nu * math.fsum(s)
        point = at_most(beta, self.C * s, most, balanced=self.fit_intercept)
        doubt = _doubt(point, beta, task, errors)
        values = proof.nu_svr_values(y, s, self.C, self.nu, beta, f0, b, epsilon, doubt)
        checked, interval = self._conditions(y, self.C * s, outcome.beta, f0, b)
        excess = np.abs(y - f0 - b) - epsilon
        return Measure(values, checked.violation, excess, checked.at_bound, interval)

    def _conditions(
        self, y: Array, bound: Array, beta: Array, f0: Array, b: float
    ) -> tuple[proof.Conditions, tuple[float, float]]:
        """Return the optimality conditions in terms of beta = alpha - alpha* alone.

        Where the tube has a positive width, alpha_i alpha*_i = 0 and |beta| uses up the whole
        sum. Otherwise the rest of it sits on alpha_i = alpha*_i, which no value sees, the two
        multipliers agree, and what remains are the conditions of SVR with a tube of width 0.
        """
        n = len(y)
        if float(np.abs(beta).sum()) < self.nu * float(bound.sum()) * (1.0 - 1e-9):
            tube = DualProblem(-bound, bound, -y)
            checked = proof.conditions(tube, beta, f0, _ONE, self.fit_intercept)
            low, high = (float(v) for v in checked.ranges[0])
            return checked, (-high, -low) if self.fit_intercept and low < high else (b, b)
        positive, negative = np.maximum(beta, 0.0), np.maximum(-beta, 0.0)
        zero = np.zeros(n)
        if self.fit_intercept:
            halves = DualProblem(
                np.concatenate([zero, -bound]),
                np.concatenate([bound, zero]),
                np.concatenate([-y, -y]),
            )
            checked = proof.conditions(
                halves,
                np.concatenate([positive, -negative]),
                np.concatenate([f0, f0]),
                np.array([0, n]),
            )
            low, high = (0.5 * float(v) for v in checked.ranges.sum(axis=0))
            interval = (-high, -low) if low < high else (b, b)
        else:
            halves = DualProblem(
                np.zeros(2 * n),
                np.concatenate([bound, bound]),
                np.concatenate([-y, y]),
            )
            checked = proof.conditions(
                halves,
                np.concatenate([positive, negative]),
                np.concatenate([f0, -f0]),
                _ONE,
            )
            interval = (0.0, 0.0)
        at_bound = checked.at_bound[:n] | checked.at_bound[n:]
        return checked._replace(at_bound=at_bound), interval


def _doubt(point: Array, beta: Array, task: Task, errors: ValueErrors) -> proof.Doubt:
    """Return how far a model may be from its dual point, and its values from the exact ones."""
    size = errors.size if task.rows is None else errors.size[task.rows]
    error = errors.of(beta, task.rows, _ONE)
    return proof.Doubt(point, error, size, conditional=errors.conditional)


def largest_nu(y: Array, weight: Array) -> float:
    """Return the largest feasible nu of two classes: 2 min(W+, W-) / (W+ + W-)."""
    total = float(weight.sum())
    plus = float(weight[y > 0.0].sum())
    return 2.0 * min(plus, total - plus) / total


def _scale(outcome: Outcome) -> float:
    return outcome.rho if outcome.rho > 0.0 else 1.0
