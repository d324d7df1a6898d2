"""An interior point method on the whole kernel matrix, for problems with several equations.

    minimise    1/2 beta' K beta + sum_i phi_i(beta_i)
    subject to  lower_i <= beta_i <= upper_i,   Q' beta = 0,

with phi_i as in `mercer.solvers.problem` and K positive semidefinite on the vectors that meet the
equations: the dual of a machine whose function has a part sum_j m_j q_j(x) that is not regularised,
Q_ij = q_j(x_i) (A. Smola, *Learning with Kernels*, thesis, 1998, section 3.7.2). The method is that
of `mercer.solvers.interior_point`, on (1 - QQ') K (1 - QQ'), which has the same values where the
equations hold and is positive semidefinite everywhere; its steps are those of
`mercer.solvers.dense_system`. Variables of the same object and cost are one
(`mercer.solvers.repeated`). Last, the free variables are solved for with the others at their bounds
(`mercer.solvers.crossover`), and what rounding leaves of Q' beta is removed.

Memory: five matrices of n^2 numbers; time: some 30 factorisations, n^3 / 3 operations each.

Returned: a point that meets the bounds exactly and the equations to rounding, and the multipliers
(`mercer.solvers.multipliers`).
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.gram import Gram
from mercer.numerics.symmetric_matrices import projected_matrix
from mercer.objects.arrays import Array
from mercer.run import Run

from .crossover import Crossover
from .dense_system import DenseSystem
from .interior_point import ITERATIONS, LARGE, Iterate
from .multipliers import choose_multipliers
from .problem import DualProblem, Settings, Solution
from .repeated import Together, without_idle_kinks

_MATRICES = 5  # matrices of the size of K that exist at one time
# Slopes, or values of the projected matrix, this small beside the given ones are rounding.
_NONE = 1e-13
# An eigenvalue of the projected matrix below minus this, relative to its largest entry, is not
# rounding, unless that of the kernel values themselves.
_NEGATIVE = 1e-10
_CHANGES = 10  # corrections of what the iterations show; none or one are usual
# Factor by which the conditions on multipliers are loosened where they contradict each other.
_MORE_SLACK = 100.0


class TooLargeError(MemoryError):
    """The kernel matrix, or the rows as dense numbers, do not fit into memory."""


def solve_with_equations(
    problem: DualProblem,
    gram: Gram,
    settings: Settings,
    run: Run,
    equations: Array,
    weight: Array | None = None,
    largest_norm: float = np.inf,
) -> Solution:
    """Solve a problem with several equations.

    `problem`: the problem; its groups are not looked at. Zero must lie within the bounds. Variables
    may stand for the same object, which is then one row of the matrix. `gram`: the kernel matrix,
    in float64, positive semidefinite where the equations hold. `run`: ``max_iter`` limits the
    iterations, time limit and listeners are heard after each. `equations`: Q, with
    orthonormal columns, and equal rows for the same object. `weight`: how much rows count where the
    multipliers are not unique; see `mercer.solvers.multipliers`. `largest_norm`: A norm beyond
    which a solution is taken not to exist.

    The solution has one multiplier for each equation: f = K beta - Q multiplier on the rows.
    """
    view, place = gram, np.arange(gram.n)
    if problem.rows is not None:
        objects, place = np.unique(problem.rows, return_inverse=True)
        view = gram.take(objects)
    require_memory(
        8.0 * _MATRICES * view.n**2,
        f"is trained on the whole kernel matrix: {view.n} rows",
        "Train on fewer samples, or use Projected(kernel) + s * Linear() with a large factor s.",
    )
    K = view.tile().astype(np.float64, copy=False)
    weight = np.ones(len(place)) if weight is None else weight
    repeated = Together(problem, place)
    rows, problem = repeated.first, without_idle_kinks(repeated.problem)
    # Several threads on small matrices spend their time waiting for each other.
    jobs = 1 if K.size < LARGE else settings.n_jobs
    threads = threadpool_limits(jobs if jobs is not None and jobs > 0 else None, user_api="blas")
    # The last iterations may divide by 0; what is not finite is not used.
    with threads, np.errstate(all="ignore"):
        method = _Method(problem, K, equations[rows], repeated.total(weight), place[rows])
        limit = ITERATIONS if run.max_iter is None else min(run.max_iter, ITERATIONS)
        found, status, n_iter = method.zero(), "optimal", 1  # the check of 0 counts as an iteration
        if found is None:
            status, it, n_iter = method.run(run, largest_norm, limit)
            ends: list[_Point] = []
            if run.keep(lambda: ends.append(method.finished(it, status))):
                status = "interrupted"
            found = ends[-1]
        values = method.values(found.beta)
        part, curved = run.branch(), False
        with part.until_stopped():
            curved = status != "interrupted" and method.negative_curvature
        status = part.status or status
    reached = settings.gap_tol is not None or 2.0 * found.violation <= settings.tol
    if status == "iteration_limit" and reached:
        status = "optimal"  # the last steps are not those of the iterations
    return Solution(
        beta=repeated.apart(found.beta),
        values=values[repeated.member],
        multiplier=found.multipliers,
        multiplier_range=np.full((len(found.multipliers), 2), np.nan),
        status=status,
        kkt_violation=2.0 * found.violation,
        objective=method.objective(found.beta, values),
        n_iter=n_iter,
        n_kernel_values=view.n**2,
        n_outer=n_iter,
        negative_curvature=curved,
        fresh=True,
    )


class _Point(NamedTuple):
    """A feasible point, its multipliers, and the violation of the optimality conditions."""

    beta: Array
    multipliers: Array
    violation: float


class _Method(Crossover):
    """The iterations on the whole matrix, and the way from where they end to a feasible point."""

    patient = True

    def __init__(
        self, problem: DualProblem, K: Array, Q: Array, weight: Array, place: NDArray[np.intp]
    ) -> None:
        once = np.zeros((len(K), Q.shape[1]))
        once[place] = Q
        rows, self._triangle = scipy.linalg.qr(once, mode="economic")
        # The same bits for the same object, so that what cancels there cancels.
        self.K, self.Q, self.weight = K, once[place], weight
        Q, left = self.Q, problem.slope_left
        right = left if problem.slope_right is None else problem.slope_right
        # The component of the slopes in the span of Q only shifts the multipliers.
        self.shift = scipy.linalg.lstsq(Q, 0.5 * (left + right), lapack_driver="gelsy")[0]
        largest = float(max(np.abs(left).max(), np.abs(right).max()))
        left, right = left - Q @ self.shift, right - Q @ self.shift
        problem = replace(problem, slope_left=left, slope_right=right)
        size = float(max(np.abs(left).max(), np.abs(right).max()))
        projected = projected_matrix(K, rows)
        size2 = float(np.abs(np.diag(projected)).max())
        if not size2 > _NONE * float(np.abs(K).max()):
            projected, size2 = np.zeros_like(K), 1.0
        super().__init__(problem, size2, size if size > _NONE * largest else 0.0, place)
        self.system = DenseSystem(projected / size2, rows)

    def values(self, beta: Array) -> Array:
        """Return K beta at the variables."""
        values: Array = (self.K @ self.summed(beta))[self.place]
        return values

    @property
    def negative_curvature(self) -> bool:
        """Whether the matrix is not positive semidefinite where the equations hold."""
        n, size2 = len(self.K), self.value / self.unit
        rounding = 4.0 * n * np.finfo(float).eps * float(np.abs(self.K).max()) / size2
        shifted = self.system.K.copy()
        shifted[np.diag_indices(n)] += _NEGATIVE + rounding
        try:
            scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            return True
        return False

    def objective(self, beta: Array, values: Array) -> float:
        """Return the value of the dual problem at a feasible point."""

        def costs(b: Array) -> Array:
            d = b - self.kink
            slope = np.where(d > 0.0, self.slope_right, self.slope_left)
            curv = np.where(d > 0.0, self.curv_right, self.curv_left)
            return (slope + 0.5 * curv * d) * d

        return float(0.5 * beta @ values + (costs(beta) - costs(np.zeros_like(beta))).sum())

    # -- from an interior point to a feasible one ---------------------------------------------

    def zero(self) -> _Point | None:
        """Return the point 0 if it is optimal, which the iterations would take long to see."""
        beta = np.zeros(len(self.place))
        found = self._point(beta, None)
        low, high = self.problem.slopes(beta)
        largest = float(max(np.abs(low).max(), np.abs(high).max()))
        largest = max(largest, float(np.abs(self.shift).max(initial=0.0)))
        return found if found is not None and found.violation <= _NONE * largest else None

    def finished(self, it: Iterate, status: str) -> _Point:
        """Return a feasible point near the iterate, or what it shows to be the solution."""
        near, beta = self.value * it.x[len(self.K) :], self.coefficients(it.t)

        def point(beta: Array) -> _Point:
            found = self._point(self.balanced(beta), near)
            assert found is not None  # `near` at least
            return found

        places = self.places()
        best = min(
            (
                point(self.summing_to(as_found, self.unit * it.beta))
                for as_found in (self.snapped(beta), np.where(places.free, beta, places.beta))
            ),
            key=lambda found: found.violation,
        )
        worse = np.inf
        for _ in range(_CHANGES if status in ("optimal", "iteration_limit") else 0):
            solved = self.solved(places, it) if best.violation > _NONE * self.value else None
            if solved is None:
                break
            found = point(solved)
            best = min(best, found, key=lambda found: found.violation)
            corrected = self.corrected(places, solved, found.multipliers - self.shift)
            if corrected is None or not found.violation < worse:
                break
            places, worse = corrected, found.violation
        return best

    def _point(self, beta: Array, near: Array | None) -> _Point | None:
        """Return a feasible point with its multipliers, for the matrix as it was given.

        `near` are those of the iterations, for the projected matrix. Without them only such
        multipliers are found that satisfy all conditions.
        """
        Q, values = self.Q, self.values(beta)
        low, high = self.intervals(beta, values)

        def violation(m: Array) -> float:
            return max(float(np.maximum(low - Q @ m, Q @ m - high).max()), 0.0)

        slack = most = 0.0
        if near is not None:
            near = near + self.system.Q.T @ (self.K @ self.summed(beta))
            near = scipy.linalg.solve_triangular(self._triangle, near)
            slack = _NONE * self.value
            most = 2.0 * violation(near) + slack
        left, right = self.problem.slopes(np.zeros_like(beta))
        target = values + 0.5 * (left + right)
        # Slack lets the multipliers approach the target, and those of the iterations may be far
        # off where they are not unique: use as little slack as possible.
        m = choose_multipliers(Q, low, high, target, self.weight, slack)
        while m is None and slack < most:
            slack = min(_MORE_SLACK * slack, most)
            m = choose_multipliers(Q, low, high, target, self.weight, slack)
        m = near if m is None else m
        return None if m is None else _Point(beta, m + self.shift, violation(m))


def require_memory(needed: float, what: str, advice: str) -> None:
    """Raise where a fit (`what`) needs more bytes of memory than there are, with an advice."""
    there = _memory()
    if needed > there:
        raise TooLargeError(
            f"a kernel with an unpenalised linear term {what} need {needed / 2**30:.1f} GB, and "
            f"this machine has {there / 2**30:.1f} GB. {advice}"
        )


def _memory() -> float:
    """Return the bytes of memory of this machine, infinity where they are not known."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return np.inf
