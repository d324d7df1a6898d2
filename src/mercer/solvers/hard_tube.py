"""Regression in a hard tube: an interior point method in the features of the kernel matrix.

    minimise    1/2 |w|^2   over w and m
    subject to  slope_left_i <= m - <w, phi_i> <= slope_right_i

which is the dual of the problem of `mercer.solvers.problem` without bounds and curvatures, with
w = sum_i beta_i phi_i and m the multiplier of the equality (0 without one). Pair steps crawl where
the kernel matrix is badly conditioned, for beta is then large and its parts nearly cancel.

Method. The rows of a Cholesky factor with pivoting, K = L L', stand for the feature vectors phi_i;
it ends at the rank that double precision resolves, so directions in which a function needs a norm
of more than about 10^7 times the usual are left out. Then Mehrotra's predictor and corrector, from
a start that meets no constraint: S. Mehrotra, "On the implementation of a primal-dual interior
point method", SIAM J. Optimization 2 (1992). Each step solves a system of the size of the rank,

    (D + A' W A) dx = ...   with A = [L, -1], D = diag(1, ..., 1, 0), W > 0 diagonal,

which stays solvable however the rows repeat. Where no function meets the constraints beta grows
along a ray with w / |beta| -> 0: the evidence of infeasibility.

Returned: beta, K beta, the multiplier and how the solver stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.gram import Gram

from .problem import Problem, Settings, Solution

Array = NDArray[np.float64]

_RANK = 1e-15
"""What is left of the diagonal, relative to its largest entry, when the factor ends."""

_ACCURACY = 1e-9
"""Gap and infeasibility, relative to the solution, at which the iterations end."""

_ITERATIONS = 250
"""About ten digits of the norm of a function cost a hundred iterations, where it is infinite."""

_LARGE = 1 << 20
"""Entries of a factor that are worth more than one thread."""

_THINNEST = 1e-9
"""Half width of a tube that has none, relative to the span of the targets."""


@dataclass
class _Iterate:
    """x = (w, m), the multipliers of the right and left constraints and their slacks."""

    x: Array
    right: Array
    left: Array
    slack_right: Array
    slack_left: Array

    @property
    def beta(self) -> Array:
        return self.right - self.left

    @property
    def complementarity(self) -> float:
        return float(self.right @ self.slack_right + self.left @ self.slack_left)

    def moved(self, step: _Iterate, t: float) -> _Iterate:
        parts = zip(vars(self).values(), vars(step).values(), strict=True)
        return _Iterate(*(a + t * b for a, b in parts))

    def room(self, step: _Iterate) -> float:
        """Return the largest t <= 1 with which all multipliers and slacks stay positive."""
        t = 1.0
        for value, change in list(zip(vars(self).values(), vars(step).values(), strict=True))[1:]:
            falling = change < 0.0
            if falling.any():
                t = min(t, float((value[falling] / -change[falling]).min()))
        return t


def solve_hard_tube(
    problem: Problem, gram: Gram, settings: Settings, largest_norm: float
) -> Solution | None:
    """Solve a problem of hard tubes.

    Parameters
    ----------
    problem : Problem
        Without bounds and curvatures, with kinks at 0 and at most one group.
    gram : Gram
        Kernel matrix of its objects, in float64.
    settings : Settings
        Tolerance, time limit and callback; ``cache_size`` bounds the factor.
    largest_norm : float
        A norm beyond which no function is taken to exist.

    Returns
    -------
    Solution or None
        With the status "infeasible" where the norm of every function inside the tubes exceeds
        `largest_norm`; None where the factor does not fit into ``cache_size``.
    """
    assert problem.slope_right is not None
    begin = perf_counter()
    features = pivoted_cholesky(gram, settings.cache_size * 2**20)
    if features is None:
        return None
    centre = 0.5 * (problem.slope_left + problem.slope_right)
    span = max(float(np.ptp(centre)), float(np.abs(centre).max()) * 1e-12, 1e-300)
    size = max(float(np.sqrt(np.square(features).sum(axis=1).max())), 1e-300)
    method = _Method(
        features / size,
        problem.slope_left / span,
        problem.slope_right / span,
        problem.group is not None,
    )
    # Several threads on small matrices spend their time waiting for each other.
    with threadpool_limits(1 if features.size < _LARGE else None, user_api="blas"):
        status, it, n_iter = method.run(settings, begin, largest_norm * size / span)
        unit = span / size**2
        candidates = [unit * method.cleaned(it)]
        if status != "infeasible":
            candidates.append(unit * method.from_weights(it))
    solutions = [_summary(problem, beta, gram, settings.n_jobs) for beta in candidates]
    best = min(solutions, key=lambda s: s.kkt_violation)
    if status == "optimal" and best.kkt_violation > settings.tol:
        status = "iteration_limit"
    elif status == "iteration_limit" and best.kkt_violation <= settings.tol:
        status = "optimal"
    best.status, best.n_iter, best.seconds = status, n_iter, perf_counter() - begin
    best.n_kernel_values = gram.n * features.shape[1]
    return best


def pivoted_cholesky(gram: Gram, max_bytes: float) -> Array | None:
    """Return L with K = L L' up to rounding, None where it needs more than `max_bytes`.

    Parameters
    ----------
    gram : Gram
        A positive semidefinite kernel matrix, of which one row per column of L is evaluated.
    max_bytes : float
        Limit on the size of L.
    """
    rest = gram.diag().astype(np.float64)
    n, largest = len(rest), float(rest.max(initial=0.0))
    L = np.empty((n, 16))
    rank = 0
    while rank < n:
        pivot = int(np.argmax(rest))
        if rest[pivot] <= _RANK * largest:
            break
        if 8.0 * n * (rank + 1) > max_bytes:
            return None
        if rank == L.shape[1]:
            L = np.concatenate([L, np.empty((n, min(rank, n - rank)))], axis=1)
        column = gram.tile([pivot])[0].astype(np.float64) - L[:, :rank] @ L[pivot, :rank]
        column /= np.sqrt(rest[pivot])
        L[:, rank] = column
        rest -= column * column
        rest[pivot] = -np.inf
        rank += 1
    return np.ascontiguousarray(L[:, :rank])


class _Method:
    """The iterations, in units in which targets and feature vectors have size 1."""

    def __init__(self, features: Array, left: Array, right: Array, equality: bool) -> None:
        n, self.rank = features.shape
        narrow = np.maximum(_THINNEST - 0.5 * (right - left), 0.0)
        self.left, self.right = left - narrow, right + narrow
        self.A = np.column_stack([features, -np.ones(n)]) if equality else features
        self.D = np.ones(self.A.shape[1])
        self.D[self.rank :] = 0.0

    def run(
        self, settings: Settings, begin: float, largest_norm: float
    ) -> tuple[str, _Iterate, int]:
        """Return how the iterations ended, the last iterate and their number."""
        n = len(self.left)
        ones = np.ones(n)
        it = _Iterate(np.zeros(len(self.D)), ones, ones, ones, ones)
        middle = 0.5 * (self.left + self.right)
        it.x[self.rank :] = 0.5 * (middle.max() + middle.min())
        k = 0
        try:
            for k in range(_ITERATIONS):
                beta, value = it.beta, self.A @ it.x
                excess = max(float(np.max(-value - self.right)), float(np.max(value + self.left)))
                w = self.A[:, : self.rank].T @ beta
                norm = float(np.linalg.norm(w))
                gain = self._gain(beta)
                balanced = abs(float(beta.sum())) <= 1e-6 * float(np.abs(beta).sum())
                if gain > largest_norm * norm and (balanced or self.rank == len(self.D)):
                    return "infeasible", it, k
                primal = 0.5 * float(it.x[: self.rank] @ it.x[: self.rank])
                gap = it.complementarity / max(primal, 1e-300)
                if excess <= _ACCURACY and gap <= _ACCURACY:
                    return "optimal", it, k
                if settings.time_limit and perf_counter() - begin > settings.time_limit:
                    return "time_limit", it, k
                report = settings.callback
                if report and report(k, max(excess, 0.0), -primal, gap, n, 0, 0):
                    return "interrupted", it, k
                following = self._step(it)
                if following is None:
                    break
                it = following
        except KeyboardInterrupt:
            return "interrupted", it, k
        return "iteration_limit", it, k

    def _gain(self, beta: Array) -> float:
        """Return the linear part of the dual: what any function in the tubes owes to beta."""
        return float(self.left @ np.maximum(-beta, 0.0) - self.right @ np.maximum(beta, 0.0))

    def _step(self, it: _Iterate) -> _Iterate | None:
        """Return the next iterate, None where the system cannot be solved."""
        A, D = self.A, self.D
        value = A @ it.x
        off_right = value + self.right - it.slack_right
        off_left = -value - self.left - it.slack_left
        off = A.T @ it.beta - D * it.x
        ratio_right, ratio_left = it.right / it.slack_right, it.left / it.slack_left
        W = ratio_right + ratio_left
        # The lower triangle of D + A' W A.
        M = scipy.linalg.blas.dsyrk(1.0, (A * np.sqrt(W)[:, None]).T, lower=1)
        M[np.diag_indices_from(M)] += D
        scale = 1.0 / np.sqrt(np.diag(M))
        factor = _cholesky(M * scale[:, None] * scale)
        if factor is None:
            return None

        def solve(b: Array) -> Array:
            x = scale * scipy.linalg.cho_solve(factor, scale * b)
            for _ in range(2):  # refinement: the system gets as bad as the constraints are tight
                rest = b - (A.T @ (W * (A @ x)) + D * x)
                x += scale * scipy.linalg.cho_solve(factor, scale * rest)
            return x

        def direction(goal_right: Array | float, goal_left: Array | float) -> _Iterate:
            to_right = goal_right / it.slack_right - it.right
            to_left = goal_left / it.slack_left - it.left
            rho = to_right - ratio_right * off_right - to_left + ratio_left * off_left
            dx = solve(A.T @ rho + off)
            change = A @ dx
            slack_right, slack_left = change + off_right, off_left - change
            return _Iterate(
                dx,
                to_right - ratio_right * slack_right,
                to_left - ratio_left * slack_left,
                slack_right,
                slack_left,
            )

        pairs = 2 * len(self.left)
        mu = it.complementarity / pairs
        ahead = direction(0.0, 0.0)
        reached = it.moved(ahead, it.room(ahead)).complementarity / pairs
        target = mu * (reached / mu) ** 3
        step = direction(
            target - ahead.right * ahead.slack_right, target - ahead.left * ahead.slack_left
        )
        following = it.moved(step, 0.995 * it.room(step))
        return following if all(np.isfinite(v).all() for v in vars(following).values()) else None

    def _active(self, it: _Iterate) -> NDArray[np.bool_]:
        largest = max(float(it.right.max()), float(it.left.max()))
        right, left = it.right > largest * it.slack_right, it.left > largest * it.slack_left
        return right | left

    def cleaned(self, it: _Iterate) -> Array:
        """Return beta without the traces that an interior point leaves in inactive constraints."""
        small = 1e-9 * float(np.abs(it.beta).max(initial=0.0))
        beta = np.where(np.abs(it.beta) > small, it.beta, 0.0)
        return self._balanced(beta)

    def from_weights(self, it: _Iterate) -> Array:
        """Return coefficients on the active constraints that give the weights w.

        The iterations find w to full precision and beta to less; least squares recover it.
        """
        active = np.flatnonzero(self._active(it))
        if len(active) == 0:
            return np.zeros(len(self.left))
        goal = np.zeros(len(self.D))
        goal[: self.rank] = it.x[: self.rank]
        found = scipy.linalg.lstsq(self.A[active].T, goal, lapack_driver="gelsy")[0]
        beta = np.zeros(len(self.left))
        beta[active] = np.where(found * it.beta[active] > 0.0, found, 0.0)
        return self._balanced(beta)

    def _balanced(self, beta: Array) -> Array:
        """Return beta with a sum of 0, where there is an equality; the largest entry gives way."""
        if self.rank < len(self.D) and len(beta):
            for _ in range(2):  # the second time for what rounding left
                beta[int(np.argmax(np.abs(beta)))] -= beta.sum()
        return beta


def _cholesky(M: Array) -> tuple[Array, bool] | None:
    shift = 0.0
    for _ in range(8):
        try:
            return scipy.linalg.cho_factor(M + shift * np.eye(len(M)), lower=True)
        except scipy.linalg.LinAlgError:
            shift = max(10.0 * shift, 1e-16)
        except ValueError:  # not finite
            return None
    return None


def _summary(problem: Problem, beta: Array, gram: Gram, n_jobs: int | None) -> Solution:
    """Return multipliers, violation and objective of a point."""
    values = gram.matmul(beta, n_jobs)
    left, right = problem.slope_left, problem.slope_right
    assert right is not None
    rising, falling = np.where(beta >= 0.0, right, left), np.where(beta > 0.0, right, left)
    low, high = float((values + falling).max()), float((values + rising).min())
    free = beta != 0.0
    equality = problem.group is not None
    middle = 0.5 * (low + high)
    multiplier = float((values + rising)[free].mean()) if free.any() else middle
    linear = float(right @ np.maximum(beta, 0.0) - left @ np.maximum(-beta, 0.0))
    return Solution(
        beta=beta,
        values=values,
        multiplier=np.array([multiplier] if equality else []),
        multiplier_range=np.array([[min(low, high), max(low, high)]] if equality else []),
        status="optimal",
        kkt_violation=max(low - high if equality else max(low, -high), 0.0),
        objective=0.5 * float(beta @ values) + linear,
        relative_gap=float("nan"),
        n_iter=0,
        n_kernel_values=0,
        seconds=0.0,
        precision=gram.dtype,
    )
