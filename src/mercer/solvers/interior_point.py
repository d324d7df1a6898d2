"""Mehrotra's predictor-corrector method, for the problems of `mercer.solvers.problem`.

With beta = kink + u - v, where u and v have the bounds 0 <= u <= upper - kink and
0 <= v <= kink - lower:

    minimise    1/2 beta' K beta + sum_i (slope_right_i u_i + curv_right_i u_i^2 / 2)
                                 - sum_i (slope_left_i v_i - curv_left_i v_i^2 / 2)
    subject to  linear equations on beta.

Method: S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J.
Optimization 2 (1992), from an infeasible start. The matrix and the equations are
supplied by a :class:`System`: in the features of a matrix of low rank
(`mercer.solvers.feature_interior_point`), or on the whole matrix
(`mercer.solvers.dense_interior_point`). It has unknowns x that stand for the values K beta and for
the multipliers of the equations, such that the conditions of the variables are

    value(x) + slope + curvature - multipliers of the bounds = 0,

and a step with the diagonal weights W > 0 of the variables is one linear system.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.objects.arrays import Array
from mercer.run import Run

from .costs import Costs
from .problem import DualProblem

# The iterations end when gap and violated equations, relative to the solution, are this small and
# have not been halved for so many of them: at what double precision allows.
_ACCURACY, _STUCK = 1e-8, 3

ITERATIONS = 250
"""Twenty to forty are usual; the norm of a function that does not exist takes a hundred to grow."""

_SMALLEST = 1e-16  # a relative gap or error beyond which patience serves nothing

LARGE = 1 << 20
"""Entries of a matrix that are worth more than one thread."""

_TRAIL = 4  # iterates that show where variables tend to
_THINNEST = 1e-9  # distance of two slopes that are taken to be one, relative to all slopes


class System(Protocol):
    """The matrix and the equations, in units in which the matrix has size 1."""

    @property
    def unknowns(self) -> int:
        """Number of the unknowns x."""

    def value(self, x: Array) -> Array:
        """Return the values that x stands for, one for each row."""

    def norm2(self, beta: Array) -> float:
        """Return beta' K beta."""

    def missing(self, x: Array, beta: Array) -> Array:
        """Return the primal residual: x minus the values of beta, and that of the equations."""

    def unbalanced(self, beta: Array) -> float:
        """Return the residual of the equations."""

    def solver(self, W: Array) -> Callable[[Array, Array], tuple[Array, Array]] | None:
        """Return a function that solves the system of a step; None where that is impossible.

        For g and the residual m it returns the step dx and the change b = g - W value(dx) of beta
        for which x + dx has the residual 0 at beta + b.
        """


@dataclass
class Iterate:
    """x; beta; u and v in one array, their distance to the bounds, and the dual variables of both.

    beta is kink + u - v, and the distance is what a bound leaves; but each is kept on its own. Of
    two numbers of 10^12 that nearly cancel, as those of two samples of one object with different
    targets do, the difference would keep three digits, and a distance to a bound none.
    """

    x: Array
    beta: Array
    t: Array
    left: Array
    zero_dual: Array
    bound_dual: Array

    def moved(self, step: Iterate, length: float) -> Iterate:
        """Return the iterate a step further."""
        parts = zip(vars(self).values(), vars(step).values(), strict=True)
        return Iterate(*(a + length * b for a, b in parts))

    @property
    def finite(self) -> bool:
        """Whether all numbers are."""
        return all(bool(np.isfinite(part).all()) for part in vars(self).values())


class InteriorPoint(Costs):
    """The iterations, in units in which slopes and feature vectors have size 1.

    `problem`: the problem. `size2`: the largest squared norm in feature space. `slope_size`: the
    size of the slopes, up to what the equations take up. `place`: the row of the system that a
    coefficient of the problem belongs to; by default its own. Where objects repeat, their
    coefficients share a row.
    """

    system: System

    patient: ClassVar[bool] = False
    """Whether to go on while the gap shrinks, when rounding keeps other errors from it."""

    def __init__(
        self,
        problem: DualProblem,
        size2: float,
        slope_size: float,
        place: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(problem)
        n, left, right = len(problem.lower), self.slope_left, self.slope_right
        above, below = problem.upper - self.kink, self.kink - problem.lower
        self.unit = slope_size / size2
        if self.unit == 0.0:
            bounds = np.concatenate([above, below])
            bounds = bounds[(bounds > 0.0) & (bounds < np.inf)]
            self.unit = float(np.median(bounds)) if len(bounds) else 1.0
        value = self.unit * size2
        # Variables without room are left out; the others know the coefficient that they are a
        # part of, its row in the system, and their sign.
        self.place = np.arange(n) if place is None else place
        up, down = above > 0.0, below > 0.0
        self.part_of = np.concatenate([np.flatnonzero(up), np.flatnonzero(down)])
        self.row = self.place[self.part_of]
        self.sign = np.repeat([1.0, -1.0], [int(up.sum()), int(down.sum())])
        narrow = np.where(up & down, np.maximum(_THINNEST - (right - left) / value, 0.0), 0.0)
        self.slope = np.concatenate([(right / value + narrow)[up], (narrow - left / value)[down]])
        self.curv = np.concatenate([self.curv_right[up], self.curv_left[down]]) / size2
        self.bound = np.concatenate([above[up], below[down]]) / self.unit
        self.bounded = self.bound < np.inf
        self.size, self.value = np.sqrt(size2), value
        self._zero = -self.sign * self.kink[self.part_of] / self.unit  # where beta is 0
        self._kinks = self.summed(self.kink / self.unit)
        self._trail: deque[Iterate] = deque(maxlen=_TRAIL)

    # -- the iterations -----------------------------------------------------------------------

    def run(
        self, run: Run, largest_norm: float = np.inf, iterations: int = ITERATIONS
    ) -> tuple[str, Iterate, int]:
        """Return how the iterations ended, the best iterate and their number."""
        self._best, self._done = self._start(), 0
        part = run.branch()
        with part.until_stopped():
            part.status = self._iterate(part, largest_norm, iterations)
        assert part.status is not None
        return part.status, self._best, self._done

    def _iterate(self, run: Run, largest_norm: float, iterations: int) -> str:
        """Return how the iterations ended; the best iterate and their number are kept."""
        limit = largest_norm * self.size / self.value
        it = self._best
        least, smallest, stuck = np.inf, np.inf, 0
        for k in range(iterations + 1):
            self._done = k
            self._trail.append(it)
            beta = it.beta
            quadratic = 0.5 * max(self.system.norm2(beta), 0.0)
            linear = float(self.slope @ it.t + 0.5 * self.curv @ (it.t * it.t))
            norm = np.sqrt(2.0 * quadratic)
            balanced = self.system.unbalanced(beta) <= 1e-6 * float(np.abs(beta).sum())
            if limit < np.inf and -linear > limit * norm and balanced:
                self._best = it
                return "infeasible"
            terms = quadratic + float(np.abs(self.slope) @ np.abs(it.t - self._zero))
            gap = self._complementarity(it) / max(terms, 1e-300)
            off = float(np.abs(self._off(it)).max())
            error = max(off, gap, self._missing(it, beta))
            patient = self.patient and gap > _SMALLEST
            shrinking = _SMALLEST < error < 0.5 * least or (patient and gap < 0.5 * smallest)
            stuck, smallest = 0 if shrinking else stuck + 1, min(gap, smallest)
            if error < least:
                self._best, least = it, error
            # Rounding of a large beta may violate its equations, but leaves w accurate.
            if max(off, gap) <= _ACCURACY and stuck >= _STUCK:
                return "optimal"
            run.report(k, off * self.value, linear + quadratic, gap, len(beta))
            run.check()
            following = self._step(it) if k < iterations else None
            if following is None or not following.finite:
                break
            it = following
        return "optimal" if least <= _ACCURACY else "iteration_limit"

    def _start(self) -> Iterate:
        # Next to 0, where the equations hold, or at it where it lies inside of a piece.
        inside = np.clip(self._zero, 0.1 * self.bound, 0.9 * self.bound)
        t = np.where(self._zero > 0.0, inside, np.minimum(1.0, 0.5 * self.bound))
        left = np.where(self.bounded, self.bound - t, 1.0)
        ones, none = np.ones(len(t)), np.zeros(self.system.unknowns)
        return Iterate(none, self._beta(t), t, left, ones, np.where(self.bounded, 1.0, 0.0))

    def coefficients(self, t: Array) -> Array:
        """Return the coefficients of the problem, in its units, from the variables u and v."""
        parts = np.bincount(self.part_of, self.sign * t, len(self.kink))
        return self.kink + self.unit * parts

    def summed(self, beta: Array) -> Array:
        """Return the sums over the coefficients of each row."""
        sums: Array = np.bincount(self.place, beta).astype(float)
        return sums

    def _beta(self, t: Array) -> Array:
        """Return the sums of the coefficients of each row, in the units of the iterations."""
        return self._kinks + self._spread(self.sign * t)

    def _spread(self, values: Array) -> Array:
        """Return the sums over the variables of each row."""
        sums: Array = np.bincount(self.row, values, len(self._kinks)).astype(float)
        return sums

    def _missing(self, it: Iterate, beta: Array) -> float:
        """Return the primal residual, relative to the size of its terms."""
        missing = np.abs(self.system.missing(it.x, beta)).max()
        return float(missing) / (1.0 + float(np.abs(it.x).max()) + 1e-7 * float(np.abs(beta).sum()))

    def _complementarity(self, it: Iterate) -> float:
        return float(it.t @ it.zero_dual + it.left @ it.bound_dual)

    def _off(self, it: Iterate) -> Array:
        """Return the dual residual of the variables."""
        value = self.system.value(it.x)[self.row]
        return self.sign * value + self.slope + self.curv * it.t + it.bound_dual - it.zero_dual

    def _room(self, it: Iterate, step: Iterate) -> float:
        """Return the largest step length <= 1 that keeps positive variables positive."""
        length, some = 1.0, self.bounded
        pairs = [(it.t, step.t), (it.zero_dual, step.zero_dual)]
        pairs += [(it.bound_dual[some], step.bound_dual[some]), (it.left[some], step.left[some])]
        for value, change in pairs:
            falling = change < 0.0
            if falling.any():
                length = min(length, float((value[falling] / -change[falling]).min()))
        return length

    def _step(self, it: Iterate) -> Iterate | None:
        """Return the next iterate, None where the system cannot be solved."""
        system = self.system
        off = self._off(it)
        missing = system.missing(it.x, it.beta)
        stiff = it.zero_dual / it.t + it.bound_dual / it.left + self.curv
        solve = system.solver(self._spread(1.0 / stiff))
        if solve is None:
            return None
        # Rounding differences between the redundant parts of an iterate.
        apart = self._beta(it.t) - it.beta
        short = np.where(self.bounded, self.bound - it.t - it.left, 0.0)

        def direction(goal_zero: Array | float, goal_bound: Array | float) -> Iterate:
            zero = goal_zero / it.t - it.zero_dual
            bound = (goal_bound - it.bound_dual * short) / it.left - it.bound_dual
            bound = np.where(self.bounded, bound, 0.0)
            h = zero - bound - off
            dx, db = solve(self._spread(self.sign * h / stiff) + apart, missing)
            dt = (h - self.sign * system.value(dx)[self.row]) / stiff
            return Iterate(
                dx,
                db,
                dt,
                np.where(self.bounded, short - dt, 0.0),
                zero - it.zero_dual / it.t * dt,
                bound + it.bound_dual / it.left * dt,
            )

        pairs = len(it.t) + int(self.bounded.sum())
        mu = self._complementarity(it) / pairs
        if not mu > 0.0:
            return None
        ahead = direction(0.0, 0.0)
        reached = self._complementarity(it.moved(ahead, self._room(it, ahead))) / pairs
        target = mu * (reached / mu) ** 3
        step = direction(target - ahead.t * ahead.zero_dual, target - ahead.left * ahead.bound_dual)
        return it.moved(step, 0.995 * self._room(it, step))

    # -- from an interior point to one on its bounds ------------------------------------------

    def settled(self, it: Iterate) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which variables belong to 0 and which to their bounds."""
        largest = float(max(it.zero_dual.max(), it.bound_dual.max()))
        typical = float(it.t.max())
        at_zero = it.zero_dual / largest > it.t / typical
        at_bound = self.bounded & (it.bound_dual / largest > it.left / typical) & ~at_zero
        return at_zero, at_bound

    def tending(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which variables go to 0 and which to their bounds, from the last iterates.

        Of a variable and the multiplier of its bound one goes to 0 and the other to some number,
        whatever their units: the one that shrank less (A. El-Bakry, R. Tapia, Y. Zhang, "A study
        of indicators for identifying zero variables in interior-point methods", SIAM Review 36,
        1994).
        """
        first, last = self._trail[0], self._trail[-1]
        if first is last:
            return self.settled(last)
        at_zero = last.t / first.t < last.zero_dual / first.zero_dual
        left = last.left / first.left
        at_bound = self.bounded & (left < last.bound_dual / first.bound_dual) & ~at_zero
        return at_zero, at_bound


def cholesky(M: Array) -> tuple[Array, bool] | None:
    """Return the Cholesky factor of M (unit diagonal, overwritten), shifted if it is singular."""
    shift = 0.0
    while np.isfinite(M).all() and shift < 1e-8:
        try:
            return scipy.linalg.cho_factor(M, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            more = max(10.0 * shift, 1e-16)
            M[np.diag_indices_from(M)] += more - shift
            shift = more
    return None
