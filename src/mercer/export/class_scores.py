"""Votes, scores and probabilities of several classes from the values of binary problems.

The values of the pairs of classes are laid out as a square for each row, with the value of the
pair (i, j), i < j, at (i, j) and at (j, i): votes and probabilities are then sums along its rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.machines.support_vector import calibration
from mercer.machines.support_vector.multiclass import pair_indices
from mercer.objects.arrays import Array

from .graph import Graph


def votes(g: Graph, values: str, k: int) -> str:
    """Return the number of pairs that each class wins; a value of 0 is won by the second."""
    square, upper, lower = _square(g, values, k)
    first = g.indicator(g.op("Greater", square, 0.0))
    return _row_sums(g, _either(g, first, upper, lower))


def scores(g: Graph, values: str, k: int) -> str:
    """Return the votes of each class plus a confidence; see `one_score_per_class`."""
    square, upper, lower = _square(g, values, k)
    first = g.indicator(g.op("GreaterOrEqual", square, 0.0))
    won = _row_sums(g, _either(g, first, upper, lower))
    confidence = _row_sums(g, g.mul(square, upper - lower))
    scale = g.mul(g.add(g.op("Abs", confidence), 1.0), 3.0)
    return g.add(won, g.op("Div", confidence, scale))


def coupled(g: Graph, pairwise: str, k: int) -> str:
    """Return distributions over `k` classes, as `calibration.couple` does."""
    p = g.op("Min", g.op("Max", pairwise, 1e-7), 1.0 - 1e-7)
    square, upper, lower = _square(g, p, k)
    r = _either(g, square, upper, lower)
    Q = g.op("Neg", g.mul(r, g.op("Transpose", r, perm=[0, 2, 1])))
    own = g.add(g.op("ReduceSum", g.mul(r, r), np.array([1]), keepdims=1), 1e-12)
    solution = _solved(g, g.add(Q, g.mul(own, np.eye(k))), k)
    solution = g.op("Div", solution, g.total(solution, 1))
    return normalised(g, solution)


def normalised(g: Graph, p: str) -> str:
    """Return positive numbers, one for each class, divided by their sum."""
    p = g.op("Max", p, 1e-12)
    return g.op("Div", p, g.total(p, 1))


def calibrated(g: Graph, maps: Any, values: str) -> str:
    """Return the probability of the positive side of each problem."""
    if isinstance(maps, calibration.Sigmoids):
        return g.op("Sigmoid", g.add(g.mul(values, maps.slope), maps.offset))
    if isinstance(maps, calibration.TwoSlopes):
        return _two_slopes(g, maps, values)
    columns = [
        _interpolated(g, x, p, g.columns(values, [t])) for t, (x, p) in enumerate(maps.points)
    ]
    return g.op("Concat", *columns, axis=1)


def projected(g: Graph, p: str, predicted: str, weight: Array) -> str:
    """Return distributions in which the prediction leads, as `calibration.project` does.

    The loop of `project` over the classes ahead of the predicted one, largest first, as cumulated
    sums: a class joins the pool while all before it have.
    """
    k = len(weight)
    weighted = g.mul(p, weight)
    led = g.op("Gather", np.eye(k), predicted, axis=0)
    is_leader = g.op("Greater", led, 0.5)
    sizes, order = g.several(
        2, "TopK", g.where(is_leader, -1.0, weighted), np.array([k]), axis=1, largest=1, sorted=1
    )
    shares = g.op("GatherElements", p, order, axis=1)
    parts = g.op("Gather", 1.0 / weight, order, axis=0)
    own_share = g.total(g.mul(p, led), 1)
    own_part = g.total(g.mul(led, 1.0 / weight), 1)
    along = np.array(1)

    def pool(own: str, terms: str) -> str:
        return g.add(own, g.op("CumSum", terms, along, exclusive=1))

    level = g.op("Div", pool(own_share, shares), pool(own_part, parts))
    outside = g.indicator(g.op("Less", sizes, level))
    joined = g.indicator(g.op("Less", g.op("CumSum", outside, along), 0.5))
    total = g.add(own_share, g.total(g.mul(shares, joined), 1))
    part = g.add(own_part, g.total(g.mul(parts, joined), 1))
    level = g.mul(g.op("Div", total, part), 1.0 - calibration._STRICT)
    pooled = g.add(g.mul(g.mul(level, parts), joined), g.mul(shares, g.sub(1.0, joined)))
    result = g.op("ScatterElements", p, order, pooled, axis=1)
    rest = g.total(g.mul(result, g.sub(1.0, led)), 1)
    result = g.where(is_leader, g.sub(1.0, rest), result)
    leads = g.op("Equal", g.op("ArgMax", weighted, axis=1, keepdims=1), g.op(
        "Unsqueeze", predicted, np.array([1])))  # fmt: skip
    return g.where(leads, p, result)


def _square(g: Graph, values: str, k: int) -> tuple[str, Array, Array]:
    """Return the values of the pairs as squares (n, k, k), and masks of the two triangles."""
    place = np.zeros((k, k), dtype=np.int64)
    first, second = pair_indices(k)
    place[first, second] = place[second, first] = np.arange(len(first))
    shape = np.array([-1, k, k])
    square = g.op("Reshape", g.columns(values, place.ravel()), shape)
    return square, np.triu(np.ones((k, k)), 1), np.tril(np.ones((k, k)), -1)


def _either(g: Graph, share: str, upper: Array, lower: Array) -> str:
    """Return the share in the upper triangle, and what is left to 1 in the lower one."""
    return g.add(g.mul(share, upper - lower), lower)


def _row_sums(g: Graph, square: str) -> str:
    return g.op("ReduceSum", square, np.array([2]), keepdims=0)


def _solved(g: Graph, Q: str, k: int) -> str:
    """Return the solutions of Q x = 1 for symmetric positive definite Q (n, k, k).

    Elimination after Gauss and Jordan, one step for each class; no pivoting is needed.
    """
    ones = g.mul(g.op("Slice", Q, np.array([0]), np.array([1]), np.array([2])), 0.0)
    system = g.op("Concat", Q, g.add(ones, 1.0), axis=2)
    body = Graph(g)
    step = body.input(body.fresh(), "int64", [])
    go_on = body.input(body.fresh(), "bool", [])
    A = body.input(body.fresh(), "float64")
    row = body.op("Gather", A, step, axis=1)
    pivot = body.op("Unsqueeze", body.op("Gather", row, step, axis=1), np.array([1]))
    row = body.op("Unsqueeze", body.op("Div", row, pivot), np.array([1]))
    column = body.sub(body.op("Gather", A, step, axis=2), body.op("Gather", np.eye(k), step))
    column = body.op("Unsqueeze", column, np.array([2]))
    body.output(body.op("Identity", go_on), "bool", [])
    body.output(body.sub(A, body.mul(column, row)), "float64")
    reduced = g.op("Loop", np.array(k), np.array(True), system, body=body)
    return g.op("Gather", reduced, np.array(k), axis=2)


def _two_slopes(g: Graph, maps: calibration.TwoSlopes, values: str) -> str:
    above, below = g.op("Greater", values, 0.0), g.op("Less", values, 0.0)
    slope = g.where(above, maps.above, maps.below)
    p = g.op("Sigmoid", g.add(g.mul(values, slope), maps.odds))
    level = 1.0 / (1.0 + np.exp(-maps.odds))
    room = calibration._STRICT * np.minimum(level, 1.0 - level)
    upper = g.where(above, g.op("Max", p, level + room), level)
    return g.where(below, g.op("Min", p, level - room), upper)


def _interpolated(g: Graph, x: Array, p: Array, values: str) -> str:
    """Return the values of a function that is linear between points, as a column."""
    if len(x) == 1:
        return g.add(g.mul(values, 0.0), float(p[0]))
    inside = g.op("Min", g.op("Max", values, float(x[0])), float(x[-1]))
    passed = g.indicator(g.op("GreaterOrEqual", inside, x[1:-1][None])) if len(x) > 2 else None
    slopes = np.diff(p) / np.diff(x)
    if passed is None:
        return g.add(g.mul(g.sub(inside, float(x[0])), float(slopes[0])), float(p[0]))
    piece = g.op("Cast", g.total(passed, 1), to="int64")
    offset = g.sub(inside, g.op("Gather", x[:-1], piece, axis=0))
    return g.add(g.mul(offset, g.op("Gather", slopes, piece, axis=0)),
                 g.op("Gather", p[:-1], piece, axis=0))  # fmt: skip
