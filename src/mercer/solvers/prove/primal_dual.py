r"""Primal and dual values of a model, from its coefficients and its values on the training rows.

Nothing here comes from a solver. The input is what the model is: coefficients beta, the values
f0 = K beta that the expansion takes on the training rows, and the intercept b. With
w2 = beta' K beta, s_i the weights, W their sum, c_i = C s_i, f = f0 + b and r = y - f:

=============  =====================================================  ======================
problem        primal P                                               dual D
=============  =====================================================  ======================
no totals      w2/2 + sum c_i l(y_i, f_i)                             -w2/2 - sum phi_i(beta_i)
totals d       w2/2 + sum c_i l(y_i, f0_i - (B m)_i) - d'm            the same
nu-SVC         w2/2 - nu W rho + sum s_i max(0, rho - y_i f_i)        -w2/2
one-class      w2/2 - nu W rho + sum s_i max(0, rho - f0_i)           -w2/2
nu-SVR         w2/2 + C (nu W eps + sum s_i max(0, abs(r_i) - eps))   y'beta - w2/2
=============  =====================================================  ======================

The last three are cases of the second: d'm is nu W rho, or -C nu W eps. phi_i is the conjugate of
the weighted loss (see `mercer.losses`), so the first line is C-SVC with any norm of the slacks and
SVR with any tube. The relative gap divides P - D by the sum of the absolute terms of P.

P is taken at the model, D at a point next to its coefficients that satisfies the constraints of the
dual problem exactly (see `mercer.solvers.feasibility`). P includes, and D leaves out, what rounding
can contribute (see `mercer.solvers.rounding`): the optimum lies between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.losses import Loss, PiecewiseQuadratic, Regulariser
from mercer.objects.arrays import Array

from ..feasibility import MoveCosts, at_least, at_most, repaired
from ..problem import Problem
from ..rounding import UNIT, of_sum, segment_sizes

# A coefficient this close to its bound, relative to it, is at it: a rescaling rounds.
_AT_BOUND = 1e-12
_ONE = np.zeros(1, dtype=np.intp)  # where the only machine begins
# Primal terms this small beside the squared norm that the coefficients allow are rounding.
_CANCELLED = 1e-9


class Values(NamedTuple):
    """Bounds on the optimum: primal and dual value, and what they are made of.

    ``terms`` is the sum of the absolute primal terms, ``norm2`` the squared norm of the model.
    ``rounding`` is how much rounding could contribute: the primal value is larger, the dual value
    smaller than what was computed, by ``rounding`` together. ``doubt`` names what is not proved of
    that, where there is such a thing. ``widened``: the values belong to the problem whose hard
    tubes are wider by so much.
    """

    primal: float
    dual: float
    terms: float
    norm2: float
    rounding: float = 0.0
    doubt: str = ""
    widened: float = 0.0

    @property
    def relative_gap(self) -> float:
        """The gap over the sum of the absolute terms of the primal."""
        return self._relative(self.primal - self.dual)

    @property
    def computed_gap(self) -> float:
        """The relative gap without what rounding could contribute."""
        return self._relative(self.primal - self.dual - self.rounding)

    def _relative(self, gap: float) -> float:
        if not math.isfinite(gap):
            return gap
        return gap / self.terms if self.terms > 0.0 else abs(gap)


@dataclass(frozen=True)
class Doubt:
    """Errors of coefficients and values of models that a proof accounts for.

    `dual`: coefficients near those of the models that satisfy the constraints of the dual problem
    exactly. `error`: bounds on the errors of the values K beta. `size`: numbers r_i with abs(k(x_i,
    x_j)) <= r_i r_j. `moved`: K (dual - beta), and bounds on its errors, where it is known.
    `distance`: how far from `dual` the point lies that satisfies the constraints, where it is known
    to exist but not in numbers; see `mercer.solvers.equations`. `conditional`: whether the kernel
    is definite only where the equations hold. A function whose coefficients miss them has no norm
    then, so the primal value is taken at the dual point too. `shift`: bounds on the errors of what
    is added to K beta, besides an intercept.
    """

    dual: Array
    error: Array | float
    size: Array
    moved: tuple[Array, Array] | None = None
    distance: Array | None = None
    conditional: bool = False
    shift: Array | float = 0.0


@dataclass(frozen=True, kw_only=True)
class Evidence(Doubt):
    """What a proof is computed from, for several models one after the other.

    `beta`, `f0`: coefficients of the models, and their values K beta as computed. `starts`: where
    each model begins.
    """

    beta: Array
    f0: Array
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, beta: Array, f0: Array, starts: NDArray[np.intp], doubt: Doubt | None) -> Evidence:
        """Return the evidence; without doubts `beta` is feasible and `f0` exact."""
        if doubt is None:
            doubt = Doubt(beta, 0.0, np.zeros(len(beta)))
        return cls(**doubt.__dict__, beta=beta, f0=f0, starts=starts)

    def sums(self, terms: Array) -> Array:
        """Return the sum of the terms of each model."""
        return np.add.reduceat(terms, self.starts)

    def unknown(self) -> NDArray[np.bool_]:
        """Return which models have values that an interrupt left unknown."""
        return np.logical_or.reduceat(np.isnan(self.f0), self.starts)

    def argument_error(self, *terms: Array | float) -> Array:
        """Return bounds on the errors of a value f, which is a sum of f0 and these terms."""
        size = np.abs(self.f0)
        for term in terms:
            size = size + np.abs(term)
        error = self.error + self.shift + (8.0 * UNIT) * size
        return error + self._moves() if self.conditional else error

    def norms(self) -> SquaredNorms:
        """Return the squared norms of the models and of the dual points.

        With d = dual - beta, dual' K dual = beta' K beta + 2 d'f0 + d'Kd. The last term is at most
        (sum_i |d_i| r_i)^2, which will do where d is rounding.
        """
        products = self.beta * self.f0
        computed = np.maximum(self.sums(products), 0.0)
        error = self.sums(np.abs(self.beta) * self.error) + of_sum(np.abs(products), self.starts)
        change, of_change = self._change()
        dual, dual_error = computed + change, error + of_change
        if self.conditional:  # the model is the dual point
            error = np.maximum(dual + dual_error - computed, error)
        return SquaredNorms(computed, error, dual, dual_error)

    def conjugate_rise(self, loss: Loss, y: Array, c: Array, conjugate: Array) -> Array | float:
        """Return how much larger the conjugate may be within the distance of the dual points."""
        if self.distance is None:
            return 0.0
        ends = (loss.conjugate(y, self.dual + sign * self.distance, c) for sign in (-1.0, 1.0))
        return np.maximum(np.maximum(*ends) - conjugate, 0.0)  # a convex function

    def _change(self) -> tuple[Array, Array]:
        """Return how much the squared norm of the dual points differs, and a bound on its error."""
        zero = np.zeros(len(self.starts))
        change, of_change = zero, zero
        moved = self.dual - self.beta
        size = np.abs(moved)
        if size.any():
            change = 2.0 * self.sums(moved * self.f0)
            of_change = 2.0 * self.sums(size * (self.error + 8.0 * UNIT * np.abs(self.f0)))
            of_change += of_sum(2.0 * size * np.abs(self.f0), self.starts)
            if self.moved is None:
                of_change += self.sums(size * self.size) ** 2 * (1.0 + 1e-9)
            else:
                values, doubt = self.moved
                change = change + self.sums(moved * values)
                of_change += self.sums(size * doubt) + of_sum(size * np.abs(values), self.starts)
        if self.distance is not None:
            values = np.abs(self.f0) + self.error + self._moves()
            of_change = of_change + 2.0 * self.sums(self.distance * values) * (1.0 + 1e-9)
            of_change = of_change + self.sums(self.distance * self.size) ** 2 * (1.0 + 1e-9)
        return change, of_change

    def _moves(self) -> Array:
        """Return bounds on the changes of the values K beta from the models to the dual points."""
        distance = np.zeros(len(self.dual)) if self.distance is None else self.distance
        sizes = segment_sizes(self.starts, len(self.beta))
        if self.moved is None:
            far = self.sums((np.abs(self.dual - self.beta) + distance) * self.size)
            return self.size * np.repeat(far, sizes) * (1.0 + 1e-9)
        values, doubt = self.moved
        far = self.sums(distance * self.size)
        return np.abs(values) + doubt + self.size * np.repeat(far, sizes) * (1.0 + 1e-9)


class SquaredNorms(NamedTuple):
    """Squared norms of models and of dual points as computed, and how much larger they may be."""

    model: Array
    model_error: Array
    dual: Array
    dual_error: Array


class Conditions(NamedTuple):
    """How far the optimality conditions are violated, and which multipliers satisfy them.

    ``ranges`` has one row (low, high) per equality: low is the largest slope of a coefficient
    that may decrease, high the smallest slope of one that may increase. At an optimum
    low <= high, and every multiplier between them is optimal. ``violations`` are low - high, or
    the distance of that interval from 0 where there is no equality; at least 0. ``costs`` are what
    moves of single coefficients cost, up to a constant for each equality.
    """

    violations: Array
    ranges: Array
    at_bound: NDArray[np.bool_]
    costs: MoveCosts

    @property
    def violation(self) -> float:
        """The largest violation."""
        return float(self.violations.max())


def dot(a: Array, b: Array) -> float:
    """Return the sum of products, without waking the threads of a BLAS for it."""
    return float((a * b).sum())


def widened_values(
    primal: Array,
    high: Array,
    dual: Array,
    low: Array,
    terms: Array,
    norms: Array,
    unknown: NDArray[Any],
) -> list[Values]:
    """Return values widened by rounding, given those that were computed.

    What overflowed bounds nothing: a bound that is not a number becomes infinite. `unknown`: of
    models whose values were not computed, because of an interrupt, nothing is said.
    """
    high = np.where(unknown, np.nan, np.where(np.isnan(high), np.inf, high))
    low = np.where(unknown, np.nan, np.where(np.isnan(low), -np.inf, low))
    with np.errstate(invalid="ignore"):  # of infinite values no rounding is known
        rounding = (high - primal) + (dual - low)
    columns = np.stack([high, low, terms, norms, rounding], axis=1)
    return [Values(*row) for row in columns.tolist()]


def loss_values(
    loss: Loss,
    y: Array,
    c: Array,
    beta: Array,
    f0: Array,
    f: Array,
    starts: NDArray[np.intp],
    doubt: Doubt | None = None,
    reward: Array | None = None,
) -> list[Values]:
    """Return the values of machines that minimise a regularised sum of losses.

    The arrays hold several machines one after the other, which begin at `starts`. `reward`: the
    totals times the multipliers of each, where there are totals; the loss is one-sided then.
    """
    e = Evidence.of(beta, f0, starts, doubt)
    norms = e.norms()
    error = e.argument_error(f, y)
    cost = e.sums(loss.cost(y, f, c))
    # A convex loss is largest at an end of the interval that holds the true value.
    worst = np.maximum(loss.cost(y, f - error, c), loss.cost(y, f + error, c))
    high = 0.5 * (norms.model + norms.model_error) + e.sums(worst) + of_sum(worst, starts)
    conjugate = loss.conjugate(y, e.dual, c)
    total = e.sums(conjugate)
    size = 1.0 + np.abs(y) if reward is None else np.abs(y)  # of what may have cancelled
    terms = np.abs(conjugate) + 2.0 * np.abs(e.dual) * size
    primal, dual = 0.5 * norms.model + cost, -0.5 * norms.dual - total
    scale = primal
    if reward is not None:
        primal, scale = primal - reward, primal + np.abs(reward)
        high = high - reward + 8.0 * UNIT * (np.abs(reward) + norms.model)
    low = dual - 0.5 * norms.dual_error - of_sum(terms, starts)
    rise = e.conjugate_rise(loss, y, c, conjugate)
    low = low - e.sums(rise + np.zeros(len(y))) * (1.0 + 1e-9)
    low = np.where(total < np.inf, low, -np.inf)
    return widened_values(primal, high, dual, low, scale, norms.model, e.unknown())


def values_of(
    loss: Any,
    y: Array,
    c: Array,
    beta: Array,
    f0: Array,
    f: Array,
    starts: NDArray[np.intp],
    doubt: Doubt,
) -> list[Values]:
    """Return the values of models without totals; infinite weights c are hard constraints."""
    if not np.isinf(c).all():
        return [
            dual_below_primal(found, loss)
            for found in loss_values(loss, y, c, beta, f0, f, starts, doubt)
        ]
    if hasattr(loss, "margin"):
        return hard_margin_values(y, beta, f0, f, starts, doubt)
    return [dual_below_primal(hard_tube_values(loss, y, beta, f0, f, doubt), loss)]


def dual_below_primal(found: Values, *functions: Loss | Regulariser) -> Values:
    """Return the values, unless the dual value exceeds the primal value by more than rounding.

    By the inequality of Fenchel and Young, c l(y, f) + phi(beta) >= -beta f for every loss, so that
    no coefficients and no kernel matrix do that.
    """
    excess = found.dual - found.primal
    if excess > found.rounding + _CANCELLED * found.terms:
        names = " and of ".join(type(function).__name__ for function in functions)
        raise ValueError(
            f"the dual value {found.dual:.6g} exceeds the primal value {found.primal:.6g} by "
            f"{excess:.3g}, more than rounding ({found.rounding:.1g}): value and conjugate of "
            f"{names} do not belong together. Of a loss, the conjugate is the supremum over f of "
            "-beta f - c l(y, f)."
        )
    return found


def hard_margin_values(
    y: Array, beta: Array, f0: Array, f: Array, starts: NDArray[np.intp], doubt: Doubt | None = None
) -> list[Values]:
    """Return the values of hard-margin classifiers, one after the other from `starts` on.

    A model that falls short of the margin by a tolerance is not feasible. Dividing it by its
    smallest functional margin m < 1 makes it so; P is the value of that function.
    """
    e = Evidence.of(beta, f0, starts, doubt)
    norms, error = e.norms(), e.argument_error(f, 1.0)
    smallest = np.minimum(np.minimum.reduceat(y * f, e.starts), 1.0)
    surely = np.minimum(np.minimum.reduceat(y * f - error, e.starts), 1.0)
    with np.errstate(divide="ignore"):
        primal = np.where(smallest > 0.0, 0.5 * norms.model / smallest**2, np.inf)
        high = 0.5 * (norms.model + norms.model_error) * (1.0 + 8.0 * UNIT) / surely**2
    high = np.where(surely > 0.0, high, np.inf)
    gain = y * e.dual
    dual = e.sums(gain) - 0.5 * norms.dual
    low = dual - 0.5 * norms.dual_error - of_sum(np.abs(gain), e.starts)
    low = np.where(np.minimum.reduceat(gain, e.starts) >= 0.0, low, -np.inf)
    return widened_values(primal, high, dual, low, primal, norms.model, e.unknown())


def hard_tube_values(
    loss: PiecewiseQuadratic, y: Array, beta: Array, f0: Array, f: Array, doubt: Doubt | None = None
) -> Values:
    """Return the values of a regression that must stay in its tube.

    A model that leaves its tubes by a tolerance is not feasible, and has no primal value. The
    values are those of the problem whose tubes are wide enough for it, by no more than its
    violation: P = |f|^2 / 2 there, and D, which wider tubes only lower, bounds the norm of every
    function inside the tubes that were asked for as well. ``widened`` says by how much.
    """
    e = Evidence.of(beta, f0, _ONE, doubt)
    norms = e.norms()
    excess = np.maximum(loss.excess(y, f) + e.argument_error(f, y), 0.0)
    widened = np.abs(e.dual) * excess
    c = np.full(len(y), np.inf)
    conjugate = loss.conjugate(y, e.dual, c)
    primal = 0.5 * norms.model
    dual = -e.sums(conjugate) - e.sums(widened) - 0.5 * norms.dual
    terms = np.abs(conjugate) + 2.0 * np.abs(e.dual) * np.abs(y) + widened
    low = dual - 0.5 * norms.dual_error - of_sum(terms, e.starts)
    high = primal + 0.5 * norms.model_error
    low = low - e.sums(e.conjugate_rise(loss, y, c, conjugate) + np.zeros(len(y))) * (1.0 + 1e-9)
    if e.distance is not None:
        low = low - e.sums(e.distance * excess) * (1.0 + 1e-9)
    (found,) = widened_values(primal, high, dual, low, primal, norms.model, e.unknown())
    return found._replace(widened=float(excess.max(initial=0.0)))


def total_values(
    problem: Problem, beta: Array, f0: Array, multiplier: Array, doubt: Doubt
) -> Values:
    """Return the values of a problem with totals d, such as those of the nu machines.

    P = w2/2 + sum_j c_j l(y_j, z_j) - d'm at z = f0 - B m, with m the multipliers. The variables of
    the dual point, which `dual_point` makes, sum to at least d in size where d rewards a
    margin, which no optimum has negative, and to at most d where it prices a tube. Where the bounds
    leave them short of a reward, the dual value is lowered by what is missing times a bound on the
    optimal margin, which the largest norm of the optimal function implies.
    """
    assert problem.totals is not None
    assert problem.basis is not None
    reward = np.array([dot(problem.totals, multiplier)])
    z = f0 - multiplier[problem.basis]
    (found,) = loss_values(problem.loss, problem.y, problem.c, beta, f0, z, _ONE, doubt, reward)
    missing = float(np.abs(problem.totals).sum()) * (1.0 + 8.0 * UNIT)
    missing -= float(np.abs(doubt.dual).sum())  # exact: see `mercer.solvers.feasibility`
    if not problem.rewarded or missing <= 0.0:
        return dual_below_primal(found, problem.loss)
    radius = float(doubt.size.max(initial=0.0))
    norm = math.sqrt(max(-2.0 * found.dual, 0.0)) + 2.0 * radius * missing
    loss = radius * norm * missing
    found = found._replace(dual=found.dual - loss, rounding=found.rounding + loss)
    return dual_below_primal(found, problem.loss)


@dataclass
class SmoothTerms:
    """The dual terms of a loss without pieces: no bounds, and slopes, NaN where it has none."""

    loss: Any
    y: Array
    c: Array

    @property
    def upper(self) -> Array:
        """No bounds."""
        return np.full(len(self.y), np.inf)

    @property
    def lower(self) -> Array:
        """No bounds."""
        return -self.upper

    def slopes(self, beta: Array) -> tuple[Array, Array]:
        """Return the left and the right derivative of every conjugate at -beta."""
        if not hasattr(self.loss, "dual_slopes"):
            return np.full(len(beta), np.nan), np.full(len(beta), np.nan)
        found: tuple[Array, Array] = self.loss.dual_slopes(self.y, beta, self.c)
        return found


def dual_terms(problem: Problem) -> Any:
    """Return bounds and slopes of the dual problem."""
    known = hasattr(problem.loss, "pieces")
    return problem.dual if known else SmoothTerms(problem.loss, problem.y, problem.c)


def dual_point(problem: Problem, beta: Array, costs: MoveCosts | None = None) -> Array:
    """Return variables near `beta`, within their bounds, whose sums are what a proof needs.

    Those of groups without totals are exactly 0. Totals are bounded from the side that a proof
    needs. `costs`: what moves cost, used where no variable is free.
    """
    terms = dual_terms(problem)
    lower, upper = terms.lower, terms.upper
    if problem.totals is not None and problem.totals.any():
        total, two = float(np.abs(problem.totals).sum()), len(problem.totals) == 2
        if problem.rewarded:
            return at_least(beta, lower + upper, total, balanced=two)
        return at_most(beta, np.abs(lower + upper), total, balanced=two)
    point = np.clip(beta, lower, upper)
    for column in problem.columns.T:
        group = np.flatnonzero(column)
        of_group = None if costs is None else MoveCosts(costs.up[group], costs.down[group])
        point[group] = repaired(point[group], lower[group], upper[group], _ONE, of_group)
    return point


def group_conditions(problem: Problem, beta: Array, f0: Array) -> Conditions:
    """Return the optimality conditions of a problem, each group by itself.

    Where the price of a tube is not used up, the tube has width 0. The rest of the sum sits on both
    sides alike, which no value sees, and the multipliers of the two sides agree.
    """
    terms = dual_terms(problem)
    if problem.basis is None:
        return conditions(terms, beta, f0, _ONE, equality=False)
    if problem.totals is not None and not problem.rewarded:
        total = float(np.abs(problem.totals).sum())
        if float(np.abs(beta).sum()) < total * (1.0 - 1e-9):
            return conditions(terms, beta, f0, _ONE, problem.sign is None)
    order = np.argsort(problem.basis, kind="stable")
    starts = np.searchsorted(problem.basis[order], np.arange(int(problem.basis.max()) + 1))
    return conditions(terms, beta, f0, starts, order=order)


def rounding_floor(beta: Array, largest: float) -> float:
    """Return the size of primal terms below which they are rounding.

    The squared norm of the expansion is at most (sum_i |beta_i|)^2 max_i k(x_i, x_i). Where a nu
    machine finds nothing, all of its terms cancel to rounding of that, and so does the gap;
    their ratio would say nothing.
    """
    total = float(np.abs(beta).sum())
    return _CANCELLED * total * total * largest


def conditions(
    problem: Any,
    beta: Array,
    f0: Array,
    starts: NDArray[np.intp],
    equality: bool = True,
    order: NDArray[np.intp] | None = None,
) -> Conditions:
    """Return the violations of the optimality conditions of groups of variables.

    With v_i = f0_i + phi_i'(beta_i), a group is optimal when no coefficient that may decrease has a
    larger v than one that may increase. `starts`: where each group begins; a group is a run of
    consecutive variables. `equality`: whether the sum of a group is fixed; otherwise every v is
    compared with 0. `order`: the variables in the order of their groups, by default as they are.
    """
    lower, upper = problem.lower, problem.upper
    # An infinite bound times 0 would be NaN; no coefficient is near it anyway.
    at_upper = beta >= np.where(upper < np.inf, (1.0 - _AT_BOUND) * upper, upper)
    at_lower = beta <= np.where(lower > -np.inf, (1.0 - _AT_BOUND) * lower, lower)
    falling, rising = problem.slopes(beta)
    up = np.where(at_upper, np.inf, f0 + rising)
    down = np.where(at_lower, -np.inf, f0 + falling)
    # A variable that rests at 0 is at a bound too, but not at one that its loss pushed it to.
    at_bound = (at_upper | at_lower) & (beta != 0.0)
    low = np.maximum.reduceat(down if order is None else down[order], starts)
    high = np.minimum.reduceat(up if order is None else up[order], starts)
    violations = np.maximum(low - high if equality else np.maximum(low, -high), 0.0)
    return Conditions(violations, np.stack([low, high], axis=1), at_bound, MoveCosts(up, -down))
