r"""Primal and dual values of a model, from its coefficients and its values on the training rows.

Nothing here comes from a solver. The input is what the model is: coefficients beta, the values
f0 = K beta that the expansion takes on the training rows, and the intercept b. With
w2 = beta' K beta, s_i the weights, W their sum, c_i = C s_i, f = f0 + b and r = y - f:

=============  =====================================================  ======================
machine        primal P                                               dual D
=============  =====================================================  ======================
loss machine   w2/2 + sum c_i l(y_i, f_i)                             -w2/2 - sum phi_i(beta_i)
nu-SVC         w2/2 - nu W rho + sum s_i max(0, rho - y_i f_i)        -w2/2
one-class      w2/2 - nu W rho + sum s_i max(0, rho - f0_i)           -w2/2
nu-SVR         w2/2 + C (nu W eps + sum s_i max(0, abs(r_i) - eps))   y'beta - w2/2
=============  =====================================================  ======================

phi_i is the conjugate of the weighted loss (see `mercer.losses`), so the first line is C-SVC with
any norm of the slacks and SVR with any tube. The relative gap divides P - D by the sum of the
absolute terms of P.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.losses import Loss

Array = NDArray[np.float64]

_AT_BOUND = 1e-12
"""A coefficient this close to its bound, relative to it, is at it: a rescaling rounds."""

_CANCELLED = 1e-10
"""Primal terms this small beside the squared norm that the coefficients allow are rounding."""


class Values(NamedTuple):
    """Primal and dual value, the sum of the absolute primal terms, and the squared norm."""

    primal: float
    dual: float
    terms: float
    norm2: float

    @property
    def relative_gap(self) -> float:
        """The gap over the sum of the absolute terms of the primal."""
        gap = self.primal - self.dual
        if not math.isfinite(gap):
            return gap
        return gap / self.terms if self.terms > 0.0 else abs(gap)


class Conditions(NamedTuple):
    """How far the optimality conditions are violated, and which multipliers satisfy them.

    ``ranges`` has one row (low, high) per equality: low is the largest slope of a coefficient
    that may decrease, high the smallest slope of one that may increase. At an optimum
    low <= high, and every multiplier between them is optimal. ``violations`` are low - high, or
    the distance of that interval from 0 where there is no equality; at least 0.
    """

    violations: Array
    ranges: Array
    at_bound: NDArray[np.bool_]

    @property
    def violation(self) -> float:
        """The largest violation."""
        return float(self.violations.max())


def dot(a: Array, b: Array) -> float:
    """Return the sum of products, without waking the threads of a BLAS for it."""
    return float((a * b).sum())


def loss_values(
    loss: Loss, y: Array, c: Array, beta: Array, f0: Array, f: Array, starts: NDArray[np.intp]
) -> list[Values]:
    """Return the values of machines that minimise a regularised sum of losses.

    The arrays hold several machines one after the other, which begin at `starts`.
    """
    norms = np.maximum(np.add.reduceat(beta * f0, starts), 0.0)
    primal = 0.5 * norms + np.add.reduceat(loss.cost(y, f, c), starts)
    dual = -0.5 * norms - np.add.reduceat(loss.conjugate(y, beta, c), starts)
    return [Values(p, d, p, n) for p, d, n in np.stack([primal, dual, norms], axis=1).tolist()]


def hard_margin_values(
    y: Array, beta: Array, f0: Array, f: Array, starts: NDArray[np.intp]
) -> list[Values]:
    """Return the values of hard-margin classifiers, one after the other from `starts` on.

    A model that falls short of the margin by a tolerance is not feasible. Dividing it by its
    smallest functional margin m < 1 makes it so; P is the value of that function.
    """
    norms = np.maximum(np.add.reduceat(beta * f0, starts), 0.0)
    duals = np.add.reduceat(y * beta, starts) - 0.5 * norms
    smallest = np.minimum(np.minimum.reduceat(y * f, starts), 1.0)
    values = []
    for norm2, dual, m in zip(norms.tolist(), duals.tolist(), smallest.tolist(), strict=True):
        primal = 0.5 * norm2 / m**2 if m > 0.0 else math.inf
        values.append(Values(primal, dual, primal, norm2))
    return values


def hard_tube_values(loss: Loss, y: Array, beta: Array, f0: Array, f: Array) -> Values:
    """Return the values of a regression that must stay in its tube.

    A model that leaves its tubes by a tolerance is not feasible, and has no primal value. The
    values are those of the problem whose tubes are wide enough for it, by no more than its
    violation: P = |f|^2 / 2 there, and D, which wider tubes only lower, bounds the norm of every
    function inside the tubes that were asked for as well.
    """
    norm2 = max(float(beta @ f0), 0.0)
    widened = float(np.abs(beta) @ np.maximum(loss.excess(y, f), 0.0))
    gain = -float(loss.conjugate(y, beta, np.full(len(beta), np.inf)).sum())
    return Values(0.5 * norm2, gain - widened - 0.5 * norm2, 0.5 * norm2, norm2)


def nu_svc_values(
    y: Array, s: Array, nu: float, beta: Array, f0: Array, intercept: float, rho: float
) -> Values:
    """Return the values of nu-SVC, in units in which the coefficients are bounded by s."""
    norm2 = max(dot(beta, f0), 0.0)
    slack = dot(s, np.maximum(rho - y * (f0 + intercept), 0.0))
    reward = nu * float(s.sum()) * rho
    return Values(
        0.5 * norm2 - reward + slack, -0.5 * norm2, 0.5 * norm2 + abs(reward) + slack, norm2
    )


def one_class_values(s: Array, nu: float, beta: Array, f0: Array, rho: float) -> Values:
    """Return the values of the one-class machine."""
    return nu_svc_values(np.ones_like(s), s, nu, beta, f0, 0.0, rho)


def nu_svr_values(
    y: Array,
    s: Array,
    C: float,
    nu: float,
    beta: Array,
    f0: Array,
    intercept: float,
    epsilon: float,
) -> Values:
    """Return the values of nu-SVR, whose tube `epsilon` is a variable of the primal."""
    norm2 = max(dot(beta, f0), 0.0)
    slack = dot(s, np.maximum(np.abs(y - f0 - intercept) - epsilon, 0.0))
    primal = 0.5 * norm2 + C * (nu * float(s.sum()) * epsilon + slack)
    return Values(primal, dot(y, beta) - 0.5 * norm2, primal, norm2)


def rounding_floor(beta: Array, largest: float) -> float:
    """Return the size of primal terms below which they are rounding.

    The squared norm of the expansion is at most (sum_i |beta_i|)^2 max_i k(x_i, x_i). Where a nu
    machine finds nothing, all of its terms cancel to rounding of that, and so does the gap;
    their ratio would say nothing.
    """
    return _CANCELLED * float(np.abs(beta).sum()) ** 2 * largest


def conditions(
    problem: Any, beta: Array, f0: Array, starts: NDArray[np.intp], equality: bool = True
) -> Conditions:
    """Return the violations of the optimality conditions of groups of variables.

    With v_i = f0_i + phi_i'(beta_i), a group is optimal when no coefficient that may decrease
    has a larger v than one that may increase.

    Parameters
    ----------
    problem : Problem
        Bounds, slopes, curvatures and kinks.
    beta, f0 : array
        Coefficients and values of the expansion, one for each variable of the problem.
    starts : array of int
        Where each group begins; a group is a run of consecutive variables.
    equality : bool, default=True
        Whether the sum of a group is fixed; otherwise every v is compared with 0.
    """
    lower, upper = problem.lower, problem.upper
    # An infinite bound times 0 would be NaN; no coefficient is near it anyway.
    at_upper = beta >= np.where(upper < np.inf, (1.0 - _AT_BOUND) * upper, upper)
    at_lower = beta <= np.where(lower > -np.inf, (1.0 - _AT_BOUND) * lower, lower)
    rising, falling = slopes(problem, beta)
    up = np.where(at_upper, np.inf, f0 + rising)
    down = np.where(at_lower, -np.inf, f0 + falling)
    # A variable that rests at 0 is at a bound too, but not at one that its loss pushed it to.
    at_bound = (at_upper | at_lower) & (beta != 0.0)
    low, high = np.maximum.reduceat(down, starts), np.minimum.reduceat(up, starts)
    violations = np.maximum(low - high if equality else np.maximum(low, -high), 0.0)
    return Conditions(violations, np.stack([low, high], axis=1), at_bound)


def slopes(problem: Any, beta: Array) -> tuple[Array, Array]:
    """Return the right and the left derivative of every phi_i at beta_i."""
    left, right = problem.slope_left, problem.slope_right
    curv_left, curv_right = problem.curv_left, problem.curv_right
    if right is None and curv_left is None:
        return left, left
    if right is None:
        right = left
    offset = beta if problem.kink is None else beta - problem.kink
    if curv_left is not None:
        left = left + curv_left * offset
        right = right + (curv_left if curv_right is None else curv_right) * offset
    return np.where(offset >= 0.0, right, left), np.where(offset > 0.0, right, left)
