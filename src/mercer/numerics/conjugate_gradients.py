"""Preconditioned conjugate gradients with two-sided bounds, several right-hand sides at once.

Solve (K + N) a = y for a positive semidefinite K that is given by its products and a positive
diagonal N. With the residual r = y - (K + N) a of any a whatever,

    Q = 1/2 a'(y + r)   <=   1/2 y'(K + N)^-1 y   <=   Q + 1/2 r' N^-1 r.

The lower bound is y'a - 1/2 a'(K + N) a; the upper one follows from the same inequality for the
matrix K (K + N), as J. Skilling proposed (M. Gibbs, D. MacKay, "Efficient implementation of
Gaussian processes", 1997, section 3). They are also the dual and primal value of ridge regression,

    min_f  1/2 |f|^2 + 1/2 sum_i (y_i - f(x_i))^2 / N_i,

so their difference is a duality gap. The iteration stops when the gap is small relative to Q; it
needs no estimate of eigenvalues. The method: M. Hestenes, E. Stiefel, 1952; G. Golub, C. Van Loan,
*Matrix Computations*, 4th edition, section 11.5.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array

Linear = Callable[[Array], Array]  # a linear map of columns (n, m)


@dataclass
class Iterate:
    """Where the iteration stands; all arrays have a column for each right-hand side.

    `solution`, `residual` (n, m): a, and y - (K + N) a computed from it. `lower`, `upper` (m,):
    bounds on 1/2 y'(K + N)^-1 y. `n_iter`: products with K for the search directions. `converged`:
    whether the gap of every column is within the tolerance. `history`: the bounds after every step.
    `coefficients`: of every step: the columns that took part, the lengths of their steps and the
    ratios of their new and old directions. They are the Lanczos matrix of the preconditioned K + N.
    """

    solution: Array
    residual: Array
    lower: Array
    upper: Array
    n_iter: int = 0
    converged: bool = False
    history: list[tuple[Array, Array]] = field(default_factory=list)
    coefficients: list[tuple[NDArray[np.intp], Array, Array]] = field(default_factory=list)


def conjugate_gradients(
    product: Linear,
    noise: Array,
    Y: Array,
    precondition: Linear,
    *,
    tol: float,
    max_iter: int,
    restarts: int = 2,
    stop: Callable[[Iterate], bool] | None = None,
) -> Iterate:
    """Return an approximate solution of (K + N) A = Y with bounds on its quality.

    `product`: V -> (K + N) V for an array of columns. `noise` (n,): the diagonal N, all positive.
    `Y` (n, m): right-hand sides. `precondition`: an approximate inverse of K + N, symmetric and
    positive definite. `tol`: the gap 1/2 r' N^-1 r that is accepted, relative to the lower bound.
    `max_iter`: limit on the steps. `restarts`: the recurrence for the residual drifts from the
    residual. Where the true one, which is computed at the end, misses the tolerance, the iteration
    begins again from there, so often. `stop`: called after each step; returns whether to stop.
    Returns the solution with its true residual.
    """
    state = Iterate(np.zeros_like(Y), Y.copy(), np.zeros(Y.shape[1]), np.zeros(Y.shape[1]))
    _bound(state, Y, noise)
    for _ in range(restarts + 1):
        stopped = _run(state, product, noise, Y, precondition, tol, max_iter, stop)
        if state.n_iter:
            state.residual = Y - product(state.solution)
            _bound(state, Y, noise)
        state.converged = not _open(state, tol).any()
        if state.converged or stopped or state.n_iter >= max_iter:
            break
    return state


def _run(
    state: Iterate,
    product: Linear,
    noise: Array,
    Y: Array,
    precondition: Linear,
    tol: float,
    max_iter: int,
    stop: Callable[[Iterate], bool] | None,
) -> bool:
    """Iterate until the recurrence meets the tolerance; return whether it was told to stop."""
    active = np.flatnonzero(_open(state, tol))
    X, R = state.solution, state.residual
    Z = precondition(R[:, active])
    P, rz = Z.copy(), _dots(R[:, active], Z)
    while len(active) and state.n_iter < max_iter:
        Q = product(P)
        curvature = _dots(P, Q)
        step = np.divide(rz, curvature, out=np.zeros_like(rz), where=curvature > 0.0)
        X[:, active] += step * P
        R[:, active] -= step * Q
        state.n_iter += 1
        _bound(state, Y, noise)
        state.history.append((state.lower.copy(), state.upper.copy()))
        if stop is not None and stop(state):
            return True
        taken = (active, step, np.zeros_like(step))
        state.coefficients.append(taken)
        # A column without curvature left cannot go on: its residual is at the rounding level.
        still = _open(state, tol)[active] & (step > 0.0)
        active, P, rz = active[still], P[:, still], rz[still]
        if not len(active):
            break
        Z = precondition(R[:, active])
        new = _dots(R[:, active], Z)
        ratio = np.divide(new, rz, out=np.zeros_like(new), where=rz > 0.0)
        taken[2][still] = ratio
        P *= ratio
        P += Z
        rz = new
    return False


def _bound(state: Iterate, Y: Array, noise: Array) -> None:
    """Set both bounds from solution and residual."""
    state.lower, state.upper = quadratic_bounds(state.solution, state.residual, Y, noise)


def quadratic_bounds(A: Array, R: Array, Y: Array, noise: Array) -> tuple[Array, Array]:
    """Return bounds on 1/2 y'(K + N)^-1 y, given a and y - (K + N) a, for each column."""
    lower = 0.5 * _dots(A, Y + R)
    return lower, lower + 0.5 * np.einsum("ij,ij,i->j", R, R, 1.0 / noise)


def _open(state: Iterate, tol: float) -> NDArray[np.bool_]:
    """Return which columns have not reached the tolerance."""
    return ~(state.upper - state.lower <= tol * np.abs(state.lower))


def _dots(A: Array, B: Array) -> Array:
    return np.einsum("ij,ij->j", A, B)
