"""An interior point method in the features of the kernel matrix, for ill-conditioned problems.

Problem: see `mercer.solvers.problem`; method: see `mercer.solvers.interior_point`. With a factor
K = L L' (`pivoted_cholesky`) of w = L' beta:

    minimise    1/2 |w|^2 + sum_i phi_i(beta_i)
    subject to  L' beta = w,   sum of beta over every group = its total,   bounds.

Pair steps converge slowly where the kernel matrix is ill-conditioned, because contributions of beta
nearly cancel; in the variables w they do not. A step solves one system of the size of the rank,

    (D + A' W A) dx = ...,   A = [L, -E],   D = diag(1, ..., 1, 0),   W > 0 diagonal,

with E the indicators of the groups; it stays solvable however the rows repeat. The factor ends at
the rank that double precision resolves, so directions in which a function would need 10^7 times the
usual norm are left out. Where there are no bounds the problem may be unbounded (a hard tube that no
function fits): beta then grows along a ray with w / |beta| -> 0.

Returned: a feasible point, and how the iterations ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg.lapack
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.gram import Gram
from mercer.numerics.pivoted_cholesky import NegativeResidualError, chooser
from mercer.numerics.pivoted_cholesky import pivoted_cholesky as factorise
from mercer.objects.arrays import Array
from mercer.run import Run, Stopped

from .interior_point import LARGE, InteriorPoint, Iterate, cholesky
from .problem import DualProblem, Settings

_WORK = 4e10  # operations of one step that are still bearable: a few seconds
_DIAGONAL_LEFT = 1e-15  # of the diagonal, relative to its largest entry, when the factor ends
_MARGIN = 10.0  # above what rounding may contribute to the smallest eigenvalue


class Found(NamedTuple):
    """What the method found: a feasible point, a status and the number of iterations."""

    beta: Array
    status: str
    n_iter: int
    rank: int


def solve_in_features(
    problem: DualProblem,
    gram: Gram,
    settings: Settings,
    run: Run,
    totals: Array,
    max_rank: float = np.inf,
    largest_norm: float = np.inf,
) -> Found | None:
    """Solve a problem to about ten digits, where the kernel matrix has a small enough rank.

    `problem`: the problem; its rows are those of `gram`. `gram`: A positive semidefinite kernel
    matrix, in float64. `settings`: ``cache_size``, which bounds the factor. `run`: time limit and
    reports. `totals`: the sums of the groups. `max_rank`: rank beyond which the method is not
    tried. `largest_norm`: A norm of w beyond which a solution is taken not to exist.

    The status is "optimal", "infeasible", "iteration_limit" (also where rounding ends the
    iterations early), "time_limit" or "interrupted". Returns None where the rank is too large, the
    time limit ended the factorisation, a kink lies outside of its bounds, or the kernel is
    conditionally definite and coefficients need not sum to 0.
    """
    kink = 0.0 if problem.kink is None else problem.kink
    if np.any(kink < problem.lower) or np.any(kink > problem.upper):
        return None
    if gram.definiteness.order and not _sums_to_zero(totals, problem):
        return None
    n = gram.n
    room = min(settings.cache_size * 2**20 / (8.0 * n), np.sqrt(_WORK / n), max_rank, n)
    features = pivoted_cholesky(gram, int(room), run)
    if features is None or features.shape[1] == 0:
        return None
    # Several threads on small matrices spend their time waiting for each other.
    threads = threadpool_limits(1 if features.size < LARGE else None, user_api="blas")
    # The last iterations may divide by 0; what is not finite is not used.
    with threads, np.errstate(all="ignore"):
        method = _Method(problem, features, np.asarray(totals, dtype=np.float64))
        status, it, n_iter = method.run(run, largest_norm)
        candidates = [method.as_found(it)]
        if status != "infeasible":
            candidates.append(method.recovered(it))
        beta = min(candidates, key=method.violation)
    return Found(beta, status, n_iter, features.shape[1])


def _sums_to_zero(totals: Array, problem: DualProblem) -> bool:
    """Return whether the coefficients of every feasible point sum to 0, up to rounding."""
    if problem.group is None:
        return False
    return bool(abs(float(np.sum(totals))) <= 1e-12 * float(np.sum(np.abs(totals))))


class _Features:
    """The system in w and the multipliers of the groups; see the head of this module."""

    def __init__(self, features: Array, indicator: Array, totals: Array) -> None:
        self.rank = features.shape[1]
        self.A = np.concatenate([features, -indicator], axis=1)
        self.D = np.repeat([1.0, 0.0], [self.rank, len(totals)])
        self.T = np.concatenate([np.zeros(self.rank), totals])

    @property
    def unknowns(self) -> int:
        return len(self.D)

    def value(self, x: Array) -> Array:
        return self.A @ x

    def norm2(self, beta: Array) -> float:
        w = self.A[:, : self.rank].T @ beta
        return float(w @ w)

    def missing(self, x: Array, beta: Array) -> Array:
        return self.A.T @ beta + self.T - self.D * x

    def unbalanced(self, beta: Array) -> float:
        missing = self.A[:, self.rank :].T @ beta + self.T[self.rank :]
        return float(np.abs(missing).max(initial=0.0))

    def solver(self, W: Array) -> Callable[[Array, Array], tuple[Array, Array]] | None:
        A, D = self.A, self.D
        # The lower triangle of D + A' W A.
        M = scipy.linalg.blas.dsyrk(1.0, (A * np.sqrt(W)[:, None]).T, lower=1)
        M[np.diag_indices_from(M)] += D
        scale = 1.0 / np.sqrt(np.diag(M))
        factor = cholesky(M * scale[:, None] * scale)
        if factor is None:
            return None

        def solve(g: Array, missing: Array) -> tuple[Array, Array]:
            b = A.T @ g + missing
            x = scale * scipy.linalg.cho_solve(factor, scale * b, check_finite=False)
            for _ in range(2):  # refinement: the system gets as bad as the constraints are tight
                rest = b - (A.T @ (W * (A @ x)) + D * x)
                x += scale * scipy.linalg.cho_solve(factor, scale * rest, check_finite=False)
            return x, g - W * (A @ x)

        return solve


class _Method(InteriorPoint):
    """The iterations in features, and the way from where they end to a feasible point."""

    system: _Features

    def __init__(self, problem: DualProblem, features: Array, totals: Array) -> None:
        self.features, self.totals = features, totals
        n, groups = len(features), len(totals)
        right = problem.slope_left if problem.slope_right is None else problem.slope_right
        size2 = float(np.square(features).sum(axis=1).max())
        slopes = _size(np.concatenate([problem.slope_left, right]), groups)
        super().__init__(problem, size2, slopes)
        indicator = np.zeros((n, groups))
        if problem.group is not None:
            indicator[np.arange(n), problem.group] = 1.0
        self.system = _Features(features / np.sqrt(size2), indicator, totals / self.unit)

    def as_found(self, it: Iterate) -> Array:
        """Return the coefficients as they are."""
        return self._feasible(self._beta(it.t))

    def recovered(self, it: Iterate) -> Array:
        """Return beta from w, which is known to more digits, by least squares off the bounds."""
        at_zero, at_bound = self.settled(it)
        t = np.where(at_bound, self.bound, 0.0)
        free = np.flatnonzero(~at_zero & ~at_bound)
        if len(free):
            s = self.system
            goal = s.D * it.x - s.T - s.A.T @ self._beta(t)
            columns = (s.A[self.row[free]] * self.sign[free, None]).T
            t[free] = scipy.linalg.lstsq(columns, goal, lapack_driver="gelsy")[0]
        return self._feasible(self._beta(np.clip(t, 0.0, self.bound)))

    def _feasible(self, scaled: Array) -> Array:
        """Return a point within the bounds whose groups have their sums, in the problem's units."""
        p = self.problem
        beta = self.snapped(self.unit * scaled)
        free = self.free(beta)
        for g, total in enumerate(self.totals):
            members = np.flatnonzero(p.group == g)
            for _ in range(len(members)):
                missing = float(total - beta[members].sum())
                end = (p.upper if missing > 0.0 else p.lower)[members]
                moves = np.minimum(np.abs(end - beta[members]), abs(missing))
                # Free variables first: the others are where they belong.
                chosen = int(np.argmax(moves * np.where(free[members], 1e6, 1.0)))
                if not moves[chosen] > 1e-16 * float(np.abs(beta[members]).max()):
                    break
                beta[members[chosen]] += np.copysign(moves[chosen], missing)
        return np.clip(beta, p.lower, p.upper)

    def violation(self, beta: Array) -> float:
        """Return the largest violation of the optimality conditions."""
        p = self.problem
        low, high = self.intervals(beta, self.features @ (self.features.T @ beta))
        if p.group is None:
            return max(float(low.max()), -float(high.min()), 0.0)
        return max(
            0.0,
            *(
                float(low[p.group == g].max() - high[p.group == g].min())
                for g in range(len(self.totals))
            ),
        )


def _size(slopes: Array, groups: int) -> float:
    """Return the size of slopes, up to the multiplier that a group adds to all of them."""
    return float(np.ptp(slopes)) if groups else float(np.abs(slopes).max())


def pivoted_cholesky(
    gram: Gram, max_rank: int, run: Run | None = None
) -> NDArray[np.float64] | None:
    """Return L with K = L L' up to rounding, None where it needs more columns than allowed.

    `run`: ends the factorisation, with None, when its time is up.

    Of a conditionally positive definite kernel of order 1 it is the root of

        k(x_i, x_j) - k(x_i, x_0) - k(x_0, x_j) + k(x_0, x_0),

    which is positive semidefinite. Where coefficients sum to 0, it gives the same squared norm, and
    the same values up to a constant.
    """
    if _has_larger_rank(gram, max_rank):
        return None
    diagonal = gram.diag().astype(np.float64)
    largest = chooser("largest", diagonal, 0.0)

    def next_pivot(residual: NDArray[np.float64]) -> int | None:
        if run is not None:
            run.check()
        return largest(residual)

    offset = np.zeros(gram.n)
    if gram.definiteness.order == 1:
        offset = gram.tile([0])[0].astype(np.float64) - 0.5 * diagonal[0]
        diagonal = np.maximum(diagonal - 2.0 * offset, 0.0)  # which rounding may make negative
    try:
        columns, _, status = factorise(
            lambda i: gram.tile([i])[0].astype(np.float64) - offset - offset[i],
            diagonal,
            next_pivot,
            min(max_rank, gram.n),
            _DIAGONAL_LEFT,
        )
    except (Stopped, NegativeResidualError):
        return None  # also of a kernel that only claims to be positive semidefinite
    return None if status == "rank" else np.ascontiguousarray(columns.T)


def _has_larger_rank(gram: Gram, rank: int) -> bool:
    """Return whether a factor of so many columns is known to leave more than rounding.

    It has rank r, so of any r + 1 rows it leaves a matrix whose largest eigenvalue, and with it the
    trace, is at least the smallest eigenvalue of the part of K (Weyl): one entry of the diagonal
    keeps that divided by r + 1. A Cholesky factor of the part, less a diagonal, bounds the
    eigenvalue from below in r^3 / 3 operations, where the factor of all rows takes n r^2.
    """
    if rank >= gram.n or gram.definiteness.order:
        return False
    rows = np.sort(np.random.default_rng(0).choice(gram.n, rank + 1, replace=False))
    K = np.array(gram.take(rows).tile(), dtype=np.float64)
    diagonal = np.einsum("ii->i", K)
    diagonal -= _MARGIN * (rank + 1) * _DIAGONAL_LEFT * float(gram.diag().max())
    return bool(scipy.linalg.lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)[1] == 0)
