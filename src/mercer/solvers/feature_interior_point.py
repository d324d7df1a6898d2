"""An interior point method in the features of the kernel matrix, for what pair steps do not solve.

Problem: see `mercer.solvers.problem`. With beta = kink + u - v, where u and v have the bounds
0 <= u <= upper - kink and 0 <= v <= kink - lower, and a factor K = L L' (`mercer.solvers.factor`)
of w = L' beta:

    minimise    1/2 |w|^2 + sum_i (slope_right_i u_i + curv_right_i u_i^2 / 2)
                          - sum_i (slope_left_i v_i - curv_left_i v_i^2 / 2)
    subject to  L' beta = w,   sum of beta over every group = its total.

Pair steps crawl where the kernel matrix is badly conditioned, for the parts of beta then nearly
cancel; in the variables w they do not. Method: Mehrotra's predictor and corrector from a start that
meets no equation, S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM
J. Optimization 2 (1992). A step solves one system of the size of the rank,

    (D + A' W A) dx = ...,   A = [L, -E],   D = diag(1, ..., 1, 0),   W > 0 diagonal,

with E the indicators of the groups; it stays solvable however the rows repeat. The factor ends at
the rank that double precision resolves, so directions in which a function would need 10^7 times the
usual norm are left out. Where there are no bounds the problem may be unbounded (a hard tube that no
function fits): beta then grows along a ray with w / |beta| -> 0.

Returned: a feasible point, and how the iterations ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.gram import Gram

from .factor import pivoted_cholesky
from .problem import Problem, Settings

Array = NDArray[np.float64]

_ACCURACY, _STUCK = 1e-8, 3
"""The iterations end when gap and violated equations, relative to the solution, are this small and
have not been halved for so many of them: at what double precision allows."""

_ITERATIONS = 250
"""Twenty to forty are usual; the norm of a function that does not exist takes a hundred to grow."""

_WORK = 4e10
"""Operations of one step that are still bearable: a few seconds."""

_LARGE = 1 << 20
"""Entries of a factor that are worth more than one thread."""

_TRACE = 1e-9
"""Distance to a bound or kink, relative to the room of a variable, that counts as none."""

_THINNEST = 1e-9
"""Distance of two slopes that are taken to be one, relative to all slopes."""


class Found(NamedTuple):
    """What the method found: a feasible point, a status and the number of iterations."""

    beta: Array
    status: str
    n_iter: int
    rank: int


def solve_in_features(
    problem: Problem,
    gram: Gram,
    settings: Settings,
    totals: Array,
    max_rank: float = np.inf,
    largest_norm: float = np.inf,
) -> Found | None:
    """Solve a problem to about ten digits, where the kernel matrix has a small enough rank.

    Parameters
    ----------
    problem : Problem
        The problem; its rows are those of `gram`.
    gram : Gram
        A positive semidefinite kernel matrix, in float64.
    settings : Settings
        Time limit, callback and ``cache_size``, which bounds the factor.
    totals : array of shape (n_groups,)
        The sums of the groups.
    max_rank : float, optional
        Rank beyond which the method is not tried.
    largest_norm : float, optional
        A norm of w beyond which a solution is taken not to exist.

    Returns
    -------
    Found or None
        The status is "optimal", "infeasible", "iteration_limit" (also where rounding ends the
        iterations early), "time_limit" or "interrupted"; None where the rank is too large or a
        kink lies outside of its bounds.
    """
    begin = perf_counter()
    kink = 0.0 if problem.kink is None else problem.kink
    if np.any(kink < problem.lower) or np.any(kink > problem.upper):
        return None
    n = gram.n
    room = min(settings.cache_size * 2**20 / (8.0 * n), np.sqrt(_WORK / n), max_rank, n)
    features = pivoted_cholesky(gram, int(room))
    if features is None or features.shape[1] == 0:
        return None
    # Several threads on small matrices spend their time waiting for each other.
    threads = threadpool_limits(1 if features.size < _LARGE else None, user_api="blas")
    # The last iterations may divide by 0; what is not finite is not used.
    with threads, np.errstate(all="ignore"):
        method = _Method(problem, features, np.asarray(totals, dtype=np.float64))
        status, it, n_iter = method.run(settings, begin, largest_norm)
        candidates = [method.as_found(it)]
        if status != "infeasible":
            candidates.append(method.recovered(it))
        beta = min(candidates, key=method.violation)
    return Found(beta, status, n_iter, features.shape[1])


@dataclass
class _Iterate:
    """x = (w, multipliers of the groups); u and v in one array with the multipliers of bounds."""

    x: Array
    t: Array
    at_zero: Array
    at_bound: Array

    def moved(self, step: _Iterate, length: float) -> _Iterate:
        parts = zip(vars(self).values(), vars(step).values(), strict=True)
        return _Iterate(*(a + length * b for a, b in parts))

    @property
    def finite(self) -> bool:
        return all(bool(np.isfinite(part).all()) for part in vars(self).values())


class _Method:
    """The iterations, in units in which slopes and feature vectors have size 1."""

    def __init__(self, problem: Problem, features: Array, totals: Array) -> None:
        n, self.rank = features.shape
        self.problem, self.features, self.totals = problem, features, totals
        right = problem.slope_left if problem.slope_right is None else problem.slope_right
        zero = np.zeros(n)
        curv_left = zero if problem.curv_left is None else problem.curv_left
        curv_right = curv_left if problem.curv_right is None else problem.curv_right
        self.kink = zero if problem.kink is None else problem.kink
        above, below = problem.upper - self.kink, self.kink - problem.lower
        groups = len(totals)
        size2 = float(np.square(features).sum(axis=1).max())
        self.unit = _size(np.concatenate([problem.slope_left, right]), groups) / size2
        if self.unit == 0.0:
            bounds = np.concatenate([above, below])
            self.unit = float(np.median(bounds[(bounds > 0.0) & (bounds < np.inf)]))
        value = self.unit * size2
        # Variables without room are left out; the others know their row and their sign.
        rows = np.arange(n)
        up, down = above > 0.0, below > 0.0
        self.row = np.concatenate([rows[up], rows[down]])
        self.sign = np.repeat([1.0, -1.0], [int(up.sum()), int(down.sum())])
        narrow = np.where(
            up & down, np.maximum(_THINNEST - (right - problem.slope_left) / value, 0.0), 0.0
        )
        slope = np.concatenate(
            [(right / value + narrow)[up], (narrow - problem.slope_left / value)[down]]
        )
        self.slope = slope
        self.curv = np.concatenate([curv_right[up], curv_left[down]]) / size2
        self.bound = np.concatenate([above[up], below[down]]) / self.unit
        self.bounded = self.bound < np.inf
        indicator = np.zeros((n, groups))
        if problem.group is not None:
            indicator[rows, problem.group] = 1.0
        self.A = np.concatenate([features / np.sqrt(size2), -indicator], axis=1)
        self.D = np.repeat([1.0, 0.0], [self.rank, groups])
        self.T = np.concatenate([np.zeros(self.rank), totals / self.unit])
        self.size, self.value = np.sqrt(size2), value

    # -- the iterations -----------------------------------------------------------------------

    def run(
        self, settings: Settings, begin: float, largest_norm: float
    ) -> tuple[str, _Iterate, int]:
        """Return how the iterations ended, the last iterate and their number."""
        limit = largest_norm * self.size / self.value
        it = best = self._start()
        least, stuck, k = np.inf, 0, 0
        try:
            for k in range(_ITERATIONS):
                beta = self._beta(it.t)
                w = self.A[:, : self.rank].T @ beta
                quadratic = 0.5 * float(w @ w)
                linear = float(self.slope @ it.t + 0.5 * self.curv @ (it.t * it.t))
                norm = np.sqrt(2.0 * quadratic)
                if limit < np.inf and -linear > limit * norm and self._balances(beta):
                    return "infeasible", it, k
                terms = quadratic + float(np.abs(self.slope) @ it.t)
                gap = self._complementarity(it) / max(terms, 1e-300)
                off = float(np.abs(self._off(it)).max())
                error = max(off, gap, self._missing(it, beta))
                stuck = 0 if error < 0.5 * least else stuck + 1
                if error < least:
                    best, least = it, error
                # Rounding of a large beta may spoil its equations, but not what w is.
                if max(off, gap) <= _ACCURACY and stuck >= _STUCK:
                    return "optimal", best, k
                if settings.time_limit and perf_counter() - begin > settings.time_limit:
                    return "time_limit", best, k
                report = settings.callback
                if report and report(k, off * self.value, linear + quadratic, gap, len(beta), 0, 0):
                    return "interrupted", best, k
                following = self._step(it)
                if following is None or not following.finite:
                    break
                it = following
        except KeyboardInterrupt:
            return "interrupted", best, k
        return "optimal" if least <= _ACCURACY else "iteration_limit", best, k

    def _start(self) -> _Iterate:
        t = np.minimum(1.0, 0.5 * self.bound)
        ones = np.ones(len(t))
        return _Iterate(np.zeros(len(self.D)), t, ones, np.where(self.bounded, 1.0, 0.0))

    def _beta(self, t: Array) -> Array:
        return self.kink / self.unit + self._spread(self.sign * t)

    def _spread(self, values: Array) -> Array:
        """Return the sums over the variables of each row."""
        sums: Array = np.bincount(self.row, values, len(self.A)).astype(np.float64, copy=False)
        return sums

    def _balances(self, beta: Array) -> bool:
        """Return whether the groups have their sums."""
        missing = self.A[:, self.rank :].T @ beta + self.T[self.rank :]
        return bool(np.all(np.abs(missing) <= 1e-6 * float(np.abs(beta).sum())))

    def _missing(self, it: _Iterate, beta: Array) -> float:
        """Return by how much the equations are not met, relative to the size of their terms."""
        missing = np.abs(self.A.T @ beta + self.T - self.D * it.x).max()
        return float(missing) / (1.0 + float(np.abs(it.x).max()) + 1e-7 * float(np.abs(beta).sum()))

    def _left(self, t: Array) -> Array:
        """Return the distance to the bound, 1 where there is none."""
        return np.where(self.bounded, self.bound - t, 1.0)

    def _complementarity(self, it: _Iterate) -> float:
        return float(it.t @ it.at_zero + self._left(it.t) @ it.at_bound)

    def _off(self, it: _Iterate) -> Array:
        """Return by how much the conditions of the variables are not met yet."""
        value = (self.A @ it.x)[self.row]
        return self.sign * value + self.slope + self.curv * it.t + it.at_bound - it.at_zero

    def _room(self, it: _Iterate, step: _Iterate) -> float:
        """Return the largest step <= 1 with which everything that is positive stays so."""
        length = 1.0
        pairs = [(it.t, step.t), (it.at_zero, step.at_zero)]
        some = self.bounded
        pairs += [(it.at_bound[some], step.at_bound[some])]
        pairs += [((self.bound - it.t)[some], -step.t[some])]
        for value, change in pairs:
            falling = change < 0.0
            if falling.any():
                length = min(length, float((value[falling] / -change[falling]).min()))
        return length

    def _step(self, it: _Iterate) -> _Iterate | None:
        """Return the next iterate, None where the system cannot be solved."""
        A, D, left = self.A, self.D, self._left(it.t)
        off = self._off(it)
        missing = A.T @ self._beta(it.t) + self.T - D * it.x
        stiff = it.at_zero / it.t + it.at_bound / left + self.curv
        W = self._spread(1.0 / stiff)
        # The lower triangle of D + A' W A.
        M = scipy.linalg.blas.dsyrk(1.0, (A * np.sqrt(W)[:, None]).T, lower=1)
        M[np.diag_indices_from(M)] += D
        scale = 1.0 / np.sqrt(np.diag(M))
        factor = _cholesky(M * scale[:, None] * scale)
        if factor is None:
            return None

        def solve(b: Array) -> Array:
            x = scale * scipy.linalg.cho_solve(factor, scale * b, check_finite=False)
            for _ in range(2):  # refinement: the system gets as bad as the constraints are tight
                rest = b - (A.T @ (W * (A @ x)) + D * x)
                x += scale * scipy.linalg.cho_solve(factor, scale * rest, check_finite=False)
            return x

        def direction(goal_zero: Array | float, goal_bound: Array | float) -> _Iterate:
            zero = goal_zero / it.t - it.at_zero
            bound = np.where(self.bounded, goal_bound / left - it.at_bound, 0.0)
            h = zero - bound - off
            dx = solve(A.T @ self._spread(self.sign * h / stiff) + missing)
            dt = (h - self.sign * (A @ dx)[self.row]) / stiff
            return _Iterate(dx, dt, zero - it.at_zero / it.t * dt, bound + it.at_bound / left * dt)

        pairs = len(it.t) + int(self.bounded.sum())
        mu = self._complementarity(it) / pairs
        ahead = direction(0.0, 0.0)
        reached = self._complementarity(it.moved(ahead, self._room(it, ahead))) / pairs
        target = mu * (reached / mu) ** 3
        step = direction(target - ahead.t * ahead.at_zero, target + ahead.t * ahead.at_bound)
        return it.moved(step, 0.995 * self._room(it, step))

    # -- from an interior point to a feasible one ---------------------------------------------

    def as_found(self, it: _Iterate) -> Array:
        """Return the coefficients as they are."""
        return self._feasible(self._beta(it.t))

    def recovered(self, it: _Iterate) -> Array:
        """Return coefficients that give the weights w, with those at bounds where they belong.

        The iterations find w to full precision and beta to less; least squares recover it.
        """
        largest = float(max(it.at_zero.max(), it.at_bound.max()))
        typical = float(it.t.max())
        at_zero = it.at_zero / largest > it.t / typical
        at_bound = self.bounded & (it.at_bound / largest > self._left(it.t) / typical) & ~at_zero
        t = np.where(at_bound, self.bound, 0.0)
        free = np.flatnonzero(~at_zero & ~at_bound)
        if len(free):
            goal = self.D * it.x - self.T - self.A.T @ self._beta(t)
            columns = (self.A[self.row[free]] * self.sign[free, None]).T
            t[free] = scipy.linalg.lstsq(columns, goal, lapack_driver="gelsy")[0]
        return self._feasible(self._beta(np.clip(t, 0.0, self.bound)))

    def _feasible(self, scaled: Array) -> Array:
        """Return a point within the bounds whose groups have their sums, in the problem's units.

        An interior point leaves traces next to bounds and kinks, which are removed.
        """
        p = self.problem
        beta = self.unit * scaled
        spans = p.upper - p.lower
        room = _TRACE * np.where(spans < np.inf, spans, float(np.abs(beta).max()))
        for end in (self.kink, p.lower, p.upper):
            beta = np.where(np.abs(beta - end) <= room, end, beta)
        beta = np.clip(beta, p.lower, p.upper)
        free = (beta > p.lower) & (beta < p.upper) & (beta != self.kink)
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
        value = self.features @ (self.features.T @ beta)
        offset = beta - self.kink
        slope = [p.slope_left, p.slope_left if p.slope_right is None else p.slope_right]
        curv_left = np.zeros(len(beta)) if p.curv_left is None else p.curv_left
        curv = [curv_left, curv_left if p.curv_right is None else p.curv_right]
        left, right = (value + s + c * offset for s, c in zip(slope, curv, strict=True))
        up = np.where(beta < p.upper, np.where(offset >= 0.0, right, left), np.inf)
        down = np.where(beta > p.lower, np.where(offset > 0.0, right, left), -np.inf)
        if p.group is None:
            return max(float(down.max()), -float(up.min()), 0.0)
        return max(
            0.0,
            *(
                float(down[p.group == g].max() - up[p.group == g].min())
                for g in range(len(self.totals))
            ),
        )


def _size(slopes: Array, groups: int) -> float:
    """Return the size of slopes, up to the multiplier that a group adds to all of them."""
    return float(np.ptp(slopes)) if groups else float(np.abs(slopes).max())


def _cholesky(M: Array) -> tuple[Array, bool] | None:
    """Return the factor of a matrix, of which a multiple of 1 may have to be added."""
    shift = 0.0
    while np.isfinite(M).all() and shift < 1e-8:
        try:
            return scipy.linalg.cho_factor(M + shift * np.eye(len(M)), lower=True)
        except scipy.linalg.LinAlgError:
            shift = max(10.0 * shift, 1e-16)
    return None
