"""Pair statistics of the rows of the input and of given rows, as operators.

Dot products are matrix products. Sums over columns of a function of two coordinates run over the
columns in a loop (Scan), so that no tensor is larger than the kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

from mercer.gram.coordinate_statistics import Coordinates
from mercer.objects.arrays import Array

from .graph import Graph

Function = Callable[[Graph, str, str], str]
Step = Callable[[Graph, list[str], str, str], list[str]]
Combination = Callable[[Graph, list[str], str], list[str]]


def dot(graph: Graph, X: str, Z: Array) -> str:
    """Return the dot products."""
    return graph.op("MatMul", X, np.ascontiguousarray(Z.T))


def squared_distance(graph: Graph, X: str, Z: Array, exact: bool) -> str:
    """Return the squared distances.

    |x|^2 + |z|^2 - 2 x.z of centred rows; where `exact`, the sum of the squared differences, which
    has small distances to all digits: functions that are not smooth at 0 need them.
    """
    if exact:
        return _sums(graph, X, Z, lambda g, x, z: _square(g, g.sub(x, z)))
    centre = Z.mean(axis=0) if len(Z) else np.zeros(Z.shape[1])
    X, Z = graph.sub(X, centre), Z - centre
    norms = graph.add(graph.total(_square(graph, X), 1), (Z**2).sum(axis=1)[None])
    return graph.op("Max", graph.sub(norms, dot(graph, X, 2.0 * Z)), 0.0)


def of_pairs(graph: Graph, statistic: str, X: str, Z: Array, exact: bool) -> str:
    """Return a statistic of `mercer.gram.program.Leaf`, as a matrix."""
    if statistic == "dot":
        return dot(graph, X, Z)
    if statistic == "sqdist":
        return squared_distance(graph, X, Z, exact)
    functions: dict[str, Function] = {
        "l1": lambda g, x, z: g.op("Abs", g.sub(x, z)),
        "minimum": lambda g, x, z: g.op("Min", x, z),
        "harmonic": lambda g, x, z: _over_sum(g, g.mul(x, z), x, z),
        "chi": lambda g, x, z: _over_sum(g, _square(g, g.sub(x, z)), x, z),
    }
    return _sums(graph, X, Z, functions[statistic])


def of_objects(graph: Graph, statistic: str, X: str) -> str:
    """Return a statistic of every row with itself, as a column."""
    if statistic == "dot":
        return graph.total(_square(graph, X), 1)
    if statistic in ("minimum", "harmonic"):
        return graph.mul(graph.total(X, 1), 1.0 if statistic == "minimum" else 0.5)
    return graph.filled(0.0, X, 1)


def coordinates_of_pairs(
    graph: Graph, f: Coordinates, combination: str, order: int, X: str, Z: Array
) -> str:
    """Return a statistic that is put together from a function of single coordinates."""
    starts, step = _combination(combination, order)
    states = [graph.filled(value, X, len(Z)) for value in starts]
    return _over_columns(
        graph, states, X, Z, lambda g, s, x, z: step(g, s, _coordinate(g, f, x, z))
    )


def coordinates_of_objects(
    graph: Graph, f: Coordinates, combination: str, order: int, X: str, n_columns: int
) -> str:
    """Return such a statistic of every row with itself, as a column."""
    if f.of_difference:
        value = f.peak if f.function not in ("power", "half_power") else 0.0
        total = {
            "product": value**n_columns,
            "maximum": value,
            "anova": comb(n_columns, order) * value**order,
        }
        return graph.filled(total[combination], X, 1)
    starts, step = _combination(combination, order)
    states = [graph.filled(value, X, 1) for value in starts]
    return _over_columns(
        graph, states, X, None, lambda g, s, x, z: step(g, s, _coordinate(g, f, x, z))
    )


def _combination(combination: str, order: int) -> tuple[list[float], Combination]:
    """Return the values before the first column and what a column makes of them."""
    if combination == "product":
        return [1.0], lambda g, s, f: [g.mul(s[0], f)]
    if combination == "maximum":
        return [0.0], lambda g, s, f: [g.op("Max", s[0], f)]

    def sums(g: Graph, s: list[str], f: str) -> list[str]:
        # The last sum, over all products of `order` columns, comes first.
        before = s[1:]
        return [g.add(s[j], g.mul(f, before[j]) if j < len(before) else f) for j in range(len(s))]

    return [0.0] * order, sums


def _coordinate(g: Graph, f: Coordinates, x: str, z: str) -> str:
    """Return f(x, z), as `Coordinates.values` defines it."""
    if f.function == "product":
        value = g.mul(x, z)
    elif f.function == "minimum":
        value = g.op("Min", x, z)
    elif f.function == "spline":
        m, xz = g.op("Min", x, z), g.mul(x, z)
        square = _square(g, m)
        value = g.add(g.add(xz, 1.0), g.mul(xz, m))
        value = g.sub(value, g.mul(g.mul(g.add(x, z), square), 0.5))
        value = g.add(value, g.mul(g.mul(square, m), 1.0 / 3.0))
    else:
        value = _of_distance(g, f, g.op("Abs", g.sub(x, z)))
    return g.mul(value, f.peak) if f.peak != 1.0 else value


def _of_distance(g: Graph, f: Coordinates, t: str) -> str:
    """Return a function of the distance of two coordinates."""
    if f.function in ("power", "half_power"):
        return g.op("Pow", t, f.a if f.function == "power" else f.count / 2)
    if f.function == "gaussian":
        return g.op("Exp", g.mul(_square(g, t), -f.a))
    if f.function == "laplacian":
        return g.op("Exp", g.mul(t, -f.a))
    if f.function == "bspline":
        u = g.sub(float(len(f.coefficients)), g.mul(t, f.a))
        n = float(2 * len(f.coefficients) - 1)
        return _added(
            g,
            [
                g.mul(g.op("Pow", g.op("Max", g.sub(u, float(k)), 0.0), n), c)
                for k, c in enumerate(f.coefficients)
            ],
        )
    if f.function == "cosines":
        turns = g.mul(t, np.pi * f.a)
        waves = [
            g.mul(g.op("Cos", g.mul(turns, float(k))), c) for k, c in enumerate(f.coefficients)
        ]
        return _added(g, waves)
    t = g.op("Abs", g.sub(t, g.mul(g.op("Round", g.mul(t, 1.0 / f.b)), f.b)))
    shifts = [f.b * (-(k + 1) // 2 if k % 2 else k // 2) for k in range(f.count)]
    bumps = _added(g, [g.op("Exp", g.mul(_square(g, g.add(t, s)), -f.a)) for s in shifts])
    return g.add(g.mul(bumps, f.coefficients[0]), f.coefficients[1])


def _sums(graph: Graph, X: str, Z: Array, function: Function) -> str:
    """Return the sums over the columns of a function of two coordinates."""
    start = graph.filled(0.0, X, len(Z))
    return _over_columns(graph, [start], X, Z, lambda g, s, x, z: [g.add(s[0], function(g, x, z))])


def _over_columns(graph: Graph, states: list[str], X: str, Z: Array | None, step: Step) -> str:
    """Return the first state after a loop over the columns of `X` and of `Z`.

    `step`: makes the next states from those before, a column of `X` and a column of `Z` laid down
    as a row. Without `Z`, the column of `X` comes twice.
    """
    body = Graph(graph)
    before = [body.input(body.fresh(), "float64") for _ in states]
    x = z = body.op("Unsqueeze", body.input(body.fresh(), "float64"), np.array([1]))
    given, axes = [*states, X], [1]
    if Z is not None:
        z = body.op("Unsqueeze", body.input(body.fresh(), "float64"), np.array([0]))
        given, axes = [*given, graph.constant(Z)], [1, 1]
    for state in step(body, before, x, z):
        body.output(state, "float64")
    return graph.several(
        len(states), "Scan", *given, body=body, num_scan_inputs=len(axes), scan_input_axes=axes
    )[0]


def _square(g: Graph, a: str) -> str:
    return g.mul(a, a)


def _over_sum(g: Graph, a: str, x: str, z: str) -> str:
    """Return a / (x + z), 0 where x + z is 0, and a is too."""
    total = g.add(x, z)
    return g.op("Div", a, g.where(g.op("Equal", total, 0.0), 1.0, total))


def _added(g: Graph, terms: list[str]) -> str:
    total = terms[0]
    for term in terms[1:]:
        total = g.add(total, term)
    return total
