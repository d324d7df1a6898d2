"""Probabilities from decision values.

For each binary problem a monotone map turns the decision value f(x) into P(first class | x, one of
the two). It is fitted to cross-fitted scores: decision values of rows from machines trained
without them (`mercer.machines.support_vector.cross_fitting`).

Class weights are prices. They shape the machines, whose `predict` answers the weighted question
"which class costs least"; they do not enter the calibration, so that probabilities estimate how
frequent the classes are. With p_c the probability and w_c the weight of class c the two are tied by

    predict = argmax_c w_c p_c(x),

exactly or nearly so, depending on the map:

"free"
    p = 1 / (1 + exp(-(a f + b))), J. Platt, "Probabilistic outputs for support vector machines",
    1999: two parameters that minimise the cross entropy against targets drawn in from 0 and 1,
    (N+ + 1) / (N+ + 2) and 1 / (N- + 2), by the Newton method of H.-T. Lin, C.-J. Lin, R. Weng, "A
    note on Platt's probabilistic outputs for support vector machines", 2007. The best calibrated
    of the three on most data; near the boundary the rule above may break.
"consistent"
    log(p / (1 - p)) = log(w- / w+) + a f with one slope a > 0 for f > 0 and another one for f < 0:
    the map goes through (0, w- / (w- + w+)), so the rule holds exactly. With several classes the
    coupled probabilities are projected onto those for which it holds. On imbalanced data this costs
    log loss (up to 20 % in a trial).
"isotonic"
    The best non-decreasing map, a step function between which values are interpolated. No shape is
    assumed; it needs more rows (about a thousand), and many scores share one probability.

Several classes. One against one: the pairwise probabilities r_ij are coupled by the second method
of T.-F. Wu, C.-J. Lin, R. Weng, "Probability estimates for multi-class classification by pairwise
coupling", JMLR 5, 2004, which minimises sum_ij (r_ji p_i - r_ij p_j)^2 over distributions p. One
against the rest: the values are divided by their sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mercer.objects.arrays import Array, Rows

from .multiclass import pair_indices

CALIBRATIONS = ("free", "consistent", "isotonic")

_STEPS = 100  # newton steps; ten do for most problems
# Least slope of the consistent map per typical score: worthless scores still break ties.
_SMALLEST = 1e-4
_STRICT = 1e-12  # relative distance that the consistent map keeps from its value at f = 0


@dataclass
class Scores:
    """Cross-fitted decision values of several binary problems, which begin at `starts`.

    `value`: NaN where a row could not be left out. `positive`: whether the row belongs to the class
    for which the value is positive. `weight`: sample weights, without class weights.
    """

    value: Array
    positive: NDArray[np.bool_]
    weight: Array
    starts: Rows

    def known(self) -> Scores:
        """Return the rows that have a value; a problem without any keeps none."""
        known = np.isfinite(self.value)
        before = np.concatenate([[0], np.cumsum(known)])[self.starts]
        return Scores(self.value[known], self.positive[known], self.weight[known], before)

    @property
    def sizes(self) -> Rows:
        """The number of rows of each problem."""
        return np.diff(np.append(self.starts, len(self.value)))

    def sums(self, values: Array) -> Array:
        """Return the sum of one number per row over the rows of each problem."""
        found = np.zeros(len(self.starts))
        filled = np.flatnonzero(self.sizes > 0)
        if len(filled):
            found[filled] = np.add.reduceat(values, self.starts[filled])
        return found

    def targets(self) -> Array:
        """Return Platt's targets: the posterior mean of a frequency after N cases of one class."""
        size = self.sizes
        plus = np.repeat(self.sums(np.where(self.positive, self.weight, 0.0)), size)
        minus = np.repeat(self.sums(np.where(self.positive, 0.0, self.weight)), size)
        return np.where(self.positive, (plus + 1.0) / (plus + 2.0), 1.0 / (minus + 2.0))


class Calibration(Protocol):
    """A monotone map for each of several binary problems."""

    def __call__(self, values: Array) -> Array:
        """Return probabilities for decision values, one column per problem."""


@dataclass
class Sigmoids:
    """p = 1 / (1 + exp(-(slope f + offset))), one pair of numbers per problem."""

    slope: Array
    offset: Array

    def __call__(self, values: Array) -> Array:
        """Return probabilities for decision values, one column per problem."""
        return expit(values * self.slope + self.offset)


@dataclass
class TwoSlopes:
    """log(p / (1 - p)) = odds + slope f, with a slope for either sign of f, per problem."""

    below: Array
    above: Array
    odds: Array

    def __call__(self, values: Array) -> Array:
        """Return probabilities; on the right side of the value at 0 also after rounding."""
        p = expit(self.odds + values * np.where(values > 0.0, self.above, self.below))
        level = expit(self.odds)
        room = _STRICT * np.minimum(level, 1.0 - level)
        above = np.where(values > 0.0, np.maximum(p, level + room), level)
        return np.where(values < 0.0, np.minimum(p, level - room), above)


@dataclass
class Steps:
    """Non-decreasing maps, linear between the given points, per problem."""

    points: list[tuple[Array, Array]]

    def __call__(self, values: Array) -> Array:
        """Return probabilities for decision values, one column per problem."""
        columns = [np.interp(values[:, t], x, p) for t, (x, p) in enumerate(self.points)]
        return np.stack(columns, axis=1) if columns else np.empty((len(values), 0))


def fit_calibration(
    kind: str, scores: Scores, weight_positive: Array, weight_negative: Array
) -> Calibration:
    """Return the maps of all problems, which for "consistent" depend on the class weights."""
    scores = scores.known()
    if kind == "isotonic":
        return _isotonic(scores)
    if kind == "consistent":
        return _two_slopes(scores, np.log(weight_negative / weight_positive))
    return _sigmoids(scores)


def _typical(scores: Scores) -> Array:
    """Return the mean size of the scores of each problem, 1 where there are none."""
    sizes = np.maximum(scores.sizes, 1)
    scale = scores.sums(np.abs(scores.value)) / sizes
    return np.where(scale > 0.0, scale, 1.0)


def _cross_entropy(t: Array, target: Array) -> Array:
    """Return -target log p - (1 - target) log(1 - p) for p = 1 / (1 + exp(-t))."""
    return np.maximum(t, 0.0) - t * target + np.log1p(np.exp(-np.abs(t)))


def _sigmoids(scores: Scores) -> Sigmoids:
    """Minimise the cross entropy of all problems together by Newton's method with line search."""
    size, u, target = scores.sizes, scores.weight, scores.targets()
    scale = _typical(scores)
    f = scores.value / np.repeat(scale, size)
    plus = scores.sums(np.where(scores.positive, u, 0.0))
    minus = scores.sums(np.where(scores.positive, 0.0, u))
    empty = size == 0
    a, b = np.zeros(len(size)), np.log((plus + 1.0) / (minus + 1.0))

    def value(a: Array, b: Array) -> Array:
        t = np.repeat(a, size) * f + np.repeat(b, size)
        return scores.sums(u * _cross_entropy(t, target))

    now = value(a, b)
    active = ~empty
    for _ in range(_STEPS):
        p = expit(np.repeat(a, size) * f + np.repeat(b, size))
        residual, curve = u * (p - target), u * p * (1.0 - p)
        ga, gb = scores.sums(residual * f), scores.sums(residual)
        haa = scores.sums(curve * f * f) + 1e-12
        hbb = scores.sums(curve) + 1e-12
        hab = scores.sums(curve * f)
        det = haa * hbb - hab * hab
        da, db = -(hbb * ga - hab * gb) / det, -(haa * gb - hab * ga) / det
        descent = ga * da + gb * db
        step = np.where(active & (descent < 0.0), 1.0, 0.0)
        for _ in range(40):
            trial = value(a + step * da, b + step * db)
            bad = (trial > now + 1e-4 * step * descent) & (step > 0.0)
            if not bad.any():
                break
            step = np.where(bad, np.where(step > 1e-10, 0.5 * step, 0.0), step)
        a, b = a + step * da, b + step * db
        gained, now = now - np.where(step > 0.0, trial, now), np.where(step > 0.0, trial, now)
        active &= (step > 0.0) & (gained > 1e-12 * np.abs(now))
        if not active.any():
            break
    # Scores that rank the wrong way round say nothing: the frequency alone is left.
    wrong = a < 0.0
    a, b = np.where(wrong, 0.0, a), np.where(wrong, np.log((plus + 1.0) / (minus + 1.0)), b)
    return Sigmoids(np.where(empty, 1.0, a / scale), np.where(empty, 0.0, b))


def _two_slopes(scores: Scores, odds: Array) -> TwoSlopes:
    """Minimise the cross entropy over the slope on either side, each by Newton's method."""
    scale, target = _typical(scores), scores.targets()
    size = scores.sizes
    f, c = scores.value / np.repeat(scale, size), np.repeat(odds, size)
    found = []
    for side in (f < 0.0, f > 0.0):
        u = np.where(side, scores.weight, 0.0)
        a = np.ones(len(size))
        for _ in range(_STEPS):
            p = expit(c + np.repeat(a, size) * f)
            slope = scores.sums(u * (p - target) * f)
            curve = scores.sums(u * p * (1.0 - p) * f * f) + 1e-12
            # The cross entropy is convex in a; short steps keep Newton from the flat tails.
            step = np.clip(slope / curve, -0.5 * a - 0.5, 0.5 * a)
            a = a - np.where(scores.sums(u) > 0.0, step, 0.0)
            if (np.abs(step) <= 1e-10 * a).all() or (a < _SMALLEST).all():
                break
        found.append(np.maximum(a, _SMALLEST) / scale)
    return TwoSlopes(found[0], found[1], odds)


def _isotonic(scores: Scores) -> Steps:
    """Return the non-decreasing maps of least squares, by pooling adjacent violators."""
    from sklearn.isotonic import isotonic_regression

    target, points = scores.targets(), []
    for begin, size in zip(scores.starts.tolist(), scores.sizes.tolist(), strict=True):
        if size == 0:
            points.append((np.array([-1.0, 1.0]), expit(np.array([-1.0, 1.0]))))
            continue
        part = slice(begin, begin + size)
        x, group = np.unique(scores.value[part], return_inverse=True)
        weight = np.bincount(group, scores.weight[part])
        mean = np.bincount(group, scores.weight[part] * target[part]) / weight
        points.append((x, isotonic_regression(mean, sample_weight=weight)))
    return Steps(points)


def couple(pairwise: Array, k: int) -> Array:
    """Return distributions over `k` classes, given the probability of the first of each pair."""
    n = len(pairwise)
    r = np.zeros((n, k, k))
    p = np.clip(pairwise, 1e-7, 1.0 - 1e-7)
    i, j = pair_indices(k)
    r[:, i, j], r[:, j, i] = p, 1.0 - p
    # Q_ii = sum_j r_ji^2, Q_ij = -r_ij r_ji; minimise p'Qp over sum p = 1.
    Q = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(k)
    Q[:, diagonal, diagonal] = (r**2).sum(axis=1) + 1e-12
    coupled = np.linalg.solve(Q, np.ones((n, k, 1)))[:, :, 0]
    coupled = np.maximum(coupled / coupled.sum(axis=1, keepdims=True), 1e-12)
    return coupled / coupled.sum(axis=1, keepdims=True)


def normalised(probabilities: Array) -> Array:
    """Return positive numbers, one for each class, divided by their sum."""
    p = np.maximum(probabilities, 1e-12)
    return p / p.sum(axis=1, keepdims=True)


def project(probabilities: Array, predicted: Rows, weight: Array) -> Array:
    """Return distributions near the given ones in which w_c p_c is largest for the prediction.

    Where another class is ahead, or equal and listed before it, the predicted one and those share
    their probability so that their w_c p_c are equal, one after the other until none is left; the
    rest stays. A part in 10^12 keeps the predicted class strictly in front, so that exact ties are
    broken as `predict` breaks them.
    """
    result = probabilities.copy()
    for row in np.flatnonzero((result * weight).argmax(axis=1) != predicted):
        p, c = result[row], predicted[row]
        others = np.delete(np.arange(len(p)), c)
        others = others[np.argsort(-(weight * p)[others], kind="stable")]
        total, parts, pooled = p[c], 1.0 / weight[c], 0
        while pooled < len(others) and (weight * p)[others[pooled]] >= total / parts:
            total += p[others[pooled]]
            parts += 1.0 / weight[others[pooled]]
            pooled += 1
        behind = others[:pooled]
        p[behind] = total / parts / weight[behind] * (1.0 - _STRICT)
        p[c] = total - p[behind].sum()
    return result
