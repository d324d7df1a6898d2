"""Crossover: from the last iterate of an interior point method to variables at their bounds.

The iterations show where variables belong: at a bound, at their kink, or free. With the others in
their places the free ones solve a linear system. Variables of the same object enter it as their
sum B, which is all that other objects see of them: with g = K B - Q m, a free variable has

    slope_i + curv_i (beta_i - kink_i) = -g,

so that without curvature g is known and B is free, and with curvature B is a linear function of g.
Sums are stored separately, because their terms may be large and cancel. Variables that the solution
shows to be in the wrong set are moved, and the system is solved again.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.objects.arrays import Array

from .dense_system import DenseSystem
from .interior_point import InteriorPoint, Iterate

Flags = NDArray[np.bool_]

_ROUNDS = 20  # corrections of Q' beta, each of which may meet bounds; one or two are usual
_WORST = 0.1  # violations, relative to the largest one, that show a variable to be in a wrong place
_FEW = 300  # free variables up to which a singular system is solved in least squares


class Places(NamedTuple):
    """Where variables belong: at the value `beta`, or free, above or below their kink."""

    beta: Array
    free: Flags
    above: Flags


class _Pieces(NamedTuple):
    """For every object with a free variable: slope + curv (B - level) = -g, and its variables."""

    objects: NDArray[np.intp]
    slope: Array
    curv: Array
    level: Array
    curved: Flags
    straight: NDArray[np.intp]


class Crossover(InteriorPoint):
    """An interior point method on a whole matrix, with the way to a feasible point."""

    system: DenseSystem
    Q: Array
    """The equations, with a row for each variable."""

    @property
    def _size2(self) -> float:
        return self.value / self.unit

    @property
    def _kinked(self) -> Flags:
        return (self.slope_left != self.slope_right) | (self.curv_left != self.curv_right)

    def places(self) -> Places:
        """Return the places of the variables that the last iterates indicate."""
        p, up = self.problem, self.sign > 0.0
        at_zero, at_bound = self.tending()
        above = self.coefficients(self._trail[-1].t) >= self.kink
        # A kink between equal slopes is none, and nothing rests there.
        free = ~self._kinked & (p.lower < self.kink) & (self.kink < p.upper)
        free[self.part_of[~at_zero & ~at_bound]] = True
        free[self.part_of[at_bound]] = False
        beta = self.kink.copy()
        for side, ends in ((up, p.upper), (~up, p.lower)):
            there = self.part_of[side & at_bound]
            beta[there] = ends[there]
        return Places(beta, free, above)

    def summing_to(self, beta: Array, sums: Array) -> Array:
        """Return coefficients with given sums over objects, moving the one with the most room."""
        p, place = self.problem, self.place
        room = np.where(self.free(beta), np.minimum(beta - p.lower, p.upper - beta), 0.0)
        order = np.lexsort((room, place))
        last = order[np.append(place[order][1:] != place[order][:-1], True)]
        last = last[room[last] > 0.0]
        others = beta.copy()
        others[last] = 0.0
        moved = (sums - self.summed(others))[place[last]]
        beta = beta.copy()
        beta[last] = np.clip(moved, p.lower[last], p.upper[last])
        return beta

    def solved(self, places: Places, it: Iterate) -> Array | None:
        """Return the solution with variables at their places, stopped at ends; None without one."""
        low, high = self._ends(places)
        near = np.clip(self.coefficients(it.t), low, high)
        beta = np.where(places.free, near, places.beta)
        if not places.free.any():
            return beta
        pieces = self._pieces(places, beta, low, high)
        B = self.summed(np.where(places.free, 0.0, beta))
        at, K, Q = pieces.objects, self.system.K, self.system.Q
        B[at] = self.unit * it.beta[at]
        size, c = len(at), Q.shape[1]
        # In the units of the iterations, so that matrix and equations are of one size.
        curv = pieces.curv / self._size2
        M = np.zeros((size + c, size + c))
        M[:size, :size] = K[np.ix_(at, at)] + np.diag(curv)
        M[:size, size:], M[size:, :size] = Q[at], Q[at].T
        rest = -pieces.slope / self._size2 - curv * (B[at] - pieces.level) - (K @ B)[at]
        found = _symmetric(M, np.concatenate([rest, -(Q.T @ B)]))
        if found is None:
            return None
        B[at] += found[:size]
        return self._shared(places, pieces, beta, B, low, high)

    def corrected(self, places: Places, beta: Array, multipliers: Array) -> Places | None:
        """Return places without the errors that a solution shows, None where there are none.

        Free variables that were stopped rest where they are; others that the conditions pull
        away from their place most are set free, on the side to which they go.

        `places`: the places that were tried. `beta`, `multipliers`: what came of them.
        """
        p, Qm = self.problem, self.Q @ multipliers
        low, high = self.intervals(beta, self.values(beta))
        violation = float(np.maximum(low - Qm, Qm - high).max())
        tol = max(1e-13 * self.value, _WORST * violation)
        stopped = (beta == p.lower) | (beta == p.upper) | (self._kinked & (beta == self.kink))
        stopped &= places.free
        rise, fall = ~places.free & (high < Qm - tol), ~places.free & (low > Qm + tol)
        if not (stopped.any() or rise.any() or fall.any()):
            return None
        above = np.where(rise, beta >= self.kink, np.where(fall, beta > self.kink, places.above))
        return Places(beta, (places.free & ~stopped) | rise | fall, above)

    def balanced(self, beta: Array) -> Array:
        """Return a point within the bounds that meets the equations to rounding.

        Free variables are moved, each in proportion to its room; if they do not suffice, all are.
        If that fails too the point is 0, which meets everything.

        `beta`: A point within the bounds.
        """
        p, Q = self.problem, self.Q
        span, largest = p.upper - p.lower, np.abs(Q).max(axis=0, initial=0.0)
        typical = max(float(np.abs(beta).max()), 1e-300)
        span = np.where(span < np.inf, span, typical)
        for everything in (False, True):
            for _ in range(_ROUNDS):
                missing = Q.T @ beta
                rounding = 4.0 * np.finfo(float).eps * largest * float(np.abs(beta).sum())
                if np.all(np.abs(missing) <= rounding):
                    return beta
                room = np.minimum(np.minimum(p.upper - beta, beta - p.lower), typical)
                room = span if everything else np.where(self.free(beta), room, 0.0)
                weighted = (room / typical)[:, None] * Q
                move = scipy.linalg.lstsq(weighted.T, missing, lapack_driver="gelsy")[0]
                beta = np.clip(beta - (room / typical) * move, p.lower, p.upper)
        return np.zeros_like(beta)

    def values(self, beta: Array) -> Array:
        """Return K beta at the variables."""
        raise NotImplementedError

    # -- objects -------------------------------------------------------------------------------

    def _ends(self, places: Places) -> tuple[Array, Array]:
        """Return the ends of the pieces of the costs."""
        p, kinked = self.problem, self._kinked
        low = np.where(places.above & kinked, self.kink, p.lower)
        return low, np.where(~places.above & kinked, self.kink, p.upper)

    def _pieces(self, places: Places, beta: Array, low: Array, high: Array) -> _Pieces:
        """Return the pieces of the objects; straight ones rule where there are any.

        Two straight ones with different slopes contradict each other: the one that is farther from
        its ends stays, and the other goes to an end of it (in `beta`).
        """
        place, n = self.place, len(self.system.K)
        slope, curv = self._slope(places), self._curv(places)
        curved, straight = places.free & (curv > 0.0), places.free & ~(curv > 0.0)
        room = np.where(straight, np.minimum(beta - low, high - beta), -np.inf)
        order = np.lexsort((room, place))
        last = order[np.append(place[order][1:] != place[order][:-1], True)]
        chosen = last[straight[last]]
        straight[chosen] = False
        beta[straight] = np.where(beta - low < high - beta, low, high)[straight]
        over = np.divide(1.0, curv, out=np.zeros(len(curv)), where=curved)

        objects = np.unique(place[places.free])
        along = self.summed(over)
        whole = np.divide(1.0, along, out=np.zeros(n), where=along > 0.0)
        common = whole * self.summed(slope * over)
        resting = np.where(places.free & ~straight, 0.0, beta)
        level = self.summed(np.where(curved, self.kink, resting))
        whole[place[chosen]] = 0.0
        common[place[chosen]] = slope[chosen]
        return _Pieces(objects, common[objects], whole[objects], level[objects], curved, chosen)

    def _shared(
        self, places: Places, pieces: _Pieces, beta: Array, B: Array, low: Array, high: Array
    ) -> Array:
        """Return the parts of the sums B."""
        at, place = pieces.objects, self.place
        slope, curv = self._slope(places), self._curv(places)
        pull = np.zeros(len(B))
        pull[at] = pieces.slope + pieces.curv * (B[at] - pieces.level)
        bent = self.kink + np.divide(
            pull[place] - slope, curv, out=np.zeros(len(curv)), where=pieces.curved
        )
        beta = np.where(pieces.curved, np.clip(bent, low, high), beta)
        last = pieces.straight
        beta[last] = 0.0
        rest = (B - self.summed(beta))[place[last]]
        beta[last] = np.clip(rest, low[last], high[last])
        return self.summing_to(beta, np.where(np.isin(np.arange(len(B)), at), B, self.summed(beta)))

    def _slope(self, places: Places) -> Array:
        return np.where(places.above, self.slope_right, self.slope_left)

    def _curv(self, places: Places) -> Array:
        return np.where(places.above, self.curv_right, self.curv_left)


def _symmetric(M: Array, b: Array) -> Array | None:
    """Return the solution of a symmetric system, None where there is none worth having."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
        try:
            x = scipy.linalg.solve(M, b, assume_a="sym", check_finite=False)
        except (scipy.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            if len(b) > _FEW:
                return None
            x = scipy.linalg.lstsq(M, b, lapack_driver="gelsy", check_finite=False)[0]
    return x if np.isfinite(x).all() else None
