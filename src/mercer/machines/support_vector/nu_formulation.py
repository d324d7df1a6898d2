"""The nu machines: a fraction of the weight sets the margin or the tube.

All three fix the sum of the multipliers instead of the price of an error. Their variables have
no linear cost except the targets of nu-SVR.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.losses import OneSided
from mercer.solvers import DualProblem, Problem, Solution
from mercer.solvers import certification as proof
from mercer.solvers.feasibility import at_least, at_most
from mercer.solvers.margin import Margin
from mercer.solvers.rounding import ValueErrors, largest_square

from ..errors import InfeasibleNuError
from .formulation import Batch, Formulation, Measure, Outcome, Rows, Task

Array = NDArray[np.float64]

_ONE = np.zeros(1, dtype=np.intp)
"""All variables are one group."""


class NuClassification(Formulation):
    """nu-SVC: minimise 1/2 |f|^2 - nu W rho + sum_i s_i max(0, rho - y_i f(x_i)).

    Dual: minimise 1/2 beta' K beta with 0 <= y_i beta_i <= s_i, where the beta_i of either class
    sum to +- nu W / 2. The multipliers m+ and m- of the two sums give rho = (m+ - m-) / 2 and
    b = -(m+ + m-) / 2. The model is divided by rho, so that its margin lies at +-1; it is then
    the C-SVC of C = 1 / rho.

    Without an intercept there is one sum, nu W, over the y_i beta_i; its multiplier is rho.
    """

    def __init__(self, nu: float, fit_intercept: bool = True) -> None:
        self.nu, self.fit_intercept = nu, fit_intercept

    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem; raises InfeasibleNuError with the largest feasible nu."""
        total = self.nu * float(weight.sum())
        if self.fit_intercept:
            largest = largest_nu(y, weight)
            if self.nu > largest * (1.0 + 1e-12):
                raise InfeasibleNuError(self.nu, largest, name if name is not None else (-1, 1))
        problem = two_sided(y, weight, total, rows, name, self.fit_intercept, Margin())
        return Task(problem, y, weight, rows, name)

    def tasks(self, batch: Batch) -> list[Task]:
        """Return the problems of several tasks; an error names the one that allows the least."""
        if self.fit_intercept and len(batch.ends) > 1:
            limits = [largest_nu(batch.y[p], batch.weight[p]) for p in batch.slices]
            tightest = int(np.argmin(limits))
            if self.nu > limits[tightest] * (1.0 + 1e-12):
                raise InfeasibleNuError(self.nu, limits[tightest], batch.names[tightest])
        return super().tasks(batch)

    def outcome(self, task: Task, solution: Solution, gram: Any) -> Outcome:
        """Return the model with its margin at 1; where there is none, it is left unscaled."""
        outcome = read_margin(task, solution)
        rho = Margin().known(outcome.rho, outcome.beta, largest_square(gram))
        return outcome._replace(rho=rho, scale=rho if rho > 0.0 else 1.0)

    def multipliers(self, outcome: Outcome) -> list[float] | None:
        """Return rho - b and -rho - b."""
        rho, b = outcome.rho, outcome.intercept
        return [rho - b, -rho - b] if self.fit_intercept else [rho]

    def measure(self, task: Task, outcome: Outcome, f0: Array, errors: ValueErrors) -> Measure:
        """Return primal, dual and violation in units of the weights, the excess in the model's."""
        scale, y, beta, b = outcome.scale, task.y, outcome.beta, outcome.intercept
        least = self.nu * math.fsum(task.weight)
        point = at_least(beta, y * task.weight, least, balanced=self.fit_intercept)
        doubt = _doubt(point, beta, task, errors)
        values = proof.nu_svc_values(y, task.weight, self.nu, beta, f0, b, outcome.rho, doubt)
        values = values._replace(norm2=values.norm2 / scale**2)
        if self.fit_intercept:
            checked = self._conditions(task, beta, f0)
            low, high = checked.ranges.sum(axis=0).tolist()
            intercept_range = (-0.5 * high / scale, -0.5 * low / scale)
            if not intercept_range[0] < intercept_range[1]:
                intercept_range = (b / scale, b / scale)
        else:
            checked = proof.conditions(task.problem.dual, y * beta, y * f0, _ONE)
            intercept_range = (0.0, 0.0)
        excess = (outcome.rho - y * (f0 + b)) / scale
        return Measure(values, checked.violation, excess, checked.at_bound, intercept_range)

    def _conditions(self, task: Task, beta: Array, f0: Array) -> proof.Conditions:
        """Return the optimality conditions of the two classes, each a separate group."""
        order = np.argsort(task.y < 0.0, kind="stable")
        zero = np.zeros(len(order))
        dual = task.problem.dual
        problem = DualProblem(dual.lower[order], dual.upper[order], zero)
        starts = np.array([0, np.count_nonzero(task.y > 0.0)])
        checked = proof.conditions(problem, beta[order], f0[order], starts)
        at_bound = np.empty(len(order), dtype=bool)
        at_bound[order] = checked.at_bound
        return checked._replace(at_bound=at_bound)


class OneClass(Formulation):
    """One-class machine: minimise 1/2 |f|^2 - nu W rho + sum_i s_i max(0, rho - f(x_i)).

    Dual: minimise 1/2 beta' K beta with 0 <= beta_i <= s_i and sum_i beta_i = nu W, whose
    multiplier is rho.
    """

    def __init__(self, nu: float) -> None:
        self.nu = nu

    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem; `y` is not used."""
        total, ones = self.nu * float(weight.sum()), np.ones(len(weight))
        problem = one_sided(0.0 * ones, ones, weight, total, rows, name)
        return Task(problem, ones, weight, rows, name)

    def outcome(self, task: Task, solution: Solution, gram: Any) -> Outcome:
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
        checked = proof.conditions(task.problem.dual, outcome.beta, f0, _ONE)
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

    def task(self, y: Array, weight: Array, rows: Rows | None = None, name: Any = None) -> Task:
        """Return the problem in doubled variables."""
        n, total = len(y), self.C * self.nu * float(weight.sum())
        once = np.arange(n) if rows is None else rows
        bound, twice = np.tile(self.C * weight, 2), np.tile(once, 2)
        side = np.repeat([1.0, -1.0], n)
        if self.fit_intercept:
            group = np.repeat(np.array([0, 1], dtype=np.int64), n)
            totals = np.array([0.5 * total, -0.5 * total])
            problem = Problem(OneSided(side), np.tile(y, 2), bound, twice, group, totals, name)
        else:
            ones = np.ones(2 * n)
            problem = one_sided(side * np.tile(y, 2), ones, bound, total, twice, name, side)
        return Task(problem, y, weight, rows, name)

    def outcome(self, task: Task, solution: Solution, gram: Any) -> Outcome:
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


def one_sided(
    y: Array,
    side: Array,
    c: Array,
    total: float,
    rows: Rows | None,
    name: Any,
    sign: Array | None = None,
    margin: Margin | None = None,
) -> Problem:
    """Return the problem of one-sided losses with one sum of all variables."""
    group, totals = np.zeros(len(y), dtype=np.int64), np.array([total])
    return Problem(OneSided(side), y, c, rows, group, totals, name, sign, margin=margin)


def two_sided(
    y: Array,
    c: Array,
    total: float,
    rows: Rows | None,
    name: Any,
    fit_intercept: bool,
    margin: Margin,
) -> Problem:
    """Return the problem of two classes whose coefficients have a total: nu-SVC, hard margin.

    Without an intercept the variables are y_i beta_i, and the signs belong to the objects.
    """
    zero = np.zeros(len(y))
    if not fit_intercept:
        return one_sided(zero, np.ones(len(y)), c, total, rows, name, y, margin)
    group = np.where(y > 0.0, np.int64(0), np.int64(1))
    totals = np.array([0.5 * total, -0.5 * total])
    return Problem(OneSided(y), zero, c, rows, group, totals, name, margin=margin)


def read_margin(task: Task, solution: Solution) -> Outcome:
    """Return coefficients, intercept and margin of two classes, divided by nothing."""
    if len(solution.multiplier) == 2:
        plus, minus = (float(m) for m in solution.multiplier)
        return Outcome(solution.beta, -0.5 * (plus + minus), rho=0.5 * (plus - minus))
    return Outcome(task.y * solution.beta, 0.0, rho=float(solution.multiplier[0]))
