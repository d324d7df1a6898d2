"""Multipliers of several equations, when a solution is known.

At an optimum of a problem with the equations Q' beta = 0 the multipliers m are those with

    low_i <= (Q m)_i <= high_i   for all i,

where the interval of a free variable is a point and that of one at its bound or kink is not. There
may be too few free variables to determine m. Then it is the point of this set where Q m is nearest
to a target, in weighted least squares: a rule under which a weight k is the same as k copies of a
row. With the targets of a regression the function it gives stays as close to them as it can.

Method: what free variables determine is fixed, and least squares in what is left are a problem of
least distance, which is one of non-negative least squares (C. Lawson, R. Hanson, *Solving Least
Squares Problems*, 1974, chapter 23).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.optimize

from mercer.objects.arrays import Array

_POINT = 1e-12  # length of an interval, relative to the largest end, that is a point
_UNDETERMINED = 1e-9  # singular values, relative to the largest one, that count as none


def choose_multipliers(
    Q: Array, low: Array, high: Array, target: Array, weight: Array, slack: float = 0.0
) -> Array | None:
    """Return multipliers m with low <= Q m <= high.

    `Q`: orthonormal columns, one for each equation. `low`, `high`: the intervals; ends may be
    infinite. `target`, `weight`: what Q m is to be close to where it is not determined, and how
    much each row counts. `slack`: by how much Q m may leave the intervals, which contradict each
    other where the solution is not exact. Returns None if there are no such multipliers; those that
    free variables determine are not checked against the other intervals.
    """
    finite = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)]])
    scale = max(float(np.abs(finite).max(initial=0.0)), 1e-300)
    point = high - low <= _POINT * scale
    fixed, free = _determined(Q[point], 0.5 * (low[point] + high[point]))
    if free.shape[1] == 0:
        return fixed
    base, rest = Q @ fixed, ~point
    moved = _least_squares(
        Q[rest] @ free,
        (low - base - slack)[rest],
        (high - base + slack)[rest],
        np.sqrt(weight)[:, None] * (Q @ free),
        np.sqrt(weight) * (target - base),
    )
    return None if moved is None else fixed + free @ moved


def _determined(A: Array, b: Array) -> tuple[Array, Array]:
    """Return the shortest m with A m = b in least squares, and a basis of what A leaves free."""
    c = A.shape[1]
    if A.size == 0:
        return np.zeros(c), np.eye(c)
    U, s, Vt = scipy.linalg.svd(A, full_matrices=len(A) < c)
    rank = int(np.count_nonzero(s > _UNDETERMINED * s[0]))
    return Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank]), Vt[rank:].T


def _least_squares(G: Array, low: Array, high: Array, A: Array, b: Array) -> Array | None:
    """Return the z of least |A z - b| with low <= G z <= high, None where none is found."""
    Q, R = scipy.linalg.qr(A, mode="economic")
    if float(np.abs(np.diag(R)).min()) <= _UNDETERMINED * float(np.abs(R).max()):
        return None  # too few rows of any weight to say what is nearest
    goal = Q.T @ b
    z = scipy.linalg.solve_triangular(R, goal)
    value = G @ z
    if np.all(value >= low) and np.all(value <= high):
        return z
    # z = R^-1 (w + goal) with the shortest w such that E w >= e.
    E = np.concatenate([G[np.isfinite(low)], -G[np.isfinite(high)]])
    e = np.concatenate([low[np.isfinite(low)], -high[np.isfinite(high)]])
    E = scipy.linalg.solve_triangular(R, E.T, trans="T").T
    e = e - E @ goal
    size = max(float(np.abs(e).max()), 1e-300)
    try:
        u = scipy.optimize.nnls(np.vstack([E.T, e / size]), np.append(np.zeros(len(R)), 1.0))[0]
    except RuntimeError:  # too many iterations
        return None
    residual = np.append(E.T @ u, e @ u / size - 1.0)
    if not residual[-1] < -1e-12:
        return None  # the inequalities contradict each other
    found = [-size * residual[:-1] / residual[-1]]
    active = u > 0.0
    if active.any():  # the same point again, from the inequalities that hold as equations
        found.append(scipy.linalg.lstsq(E[active], e[active], lapack_driver="gelsy")[0])
    w = min(found, key=lambda w: float((e - E @ w).max()))
    return scipy.linalg.solve_triangular(R, w + goal)
