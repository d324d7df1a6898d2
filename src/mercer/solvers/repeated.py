"""Merging of variables that have the same object and the same cost.

Samples that repeat, with targets that repeat as well, give variables beta_i of one object whose
costs are the same function for different weights, phi_i(b) = c_i phi(b / c_i). Only their sum acts
on other objects, and for a given sum S the least cost is

    min { sum_i phi_i(beta_i) : sum_i beta_i = S } = C phi(S / C),   C = sum_i c_i,

which beta_i = S c_i / C attains. So one variable stands for all of them: bounds and kinks add up,
and so do the inverses of curvatures.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array

from .problem import DualProblem

_SAME = 1e-12  # shapes that differ by less, relative to their size, are the same


class Together:
    """A problem with one variable for those of the same object (`place`) and cost.

    `problem`: the smaller problem, without rows. `first`: for each of its variables the first one
    that it stands for. `member`: the variable of the smaller problem that stands for each one.
    """

    def __init__(self, problem: DualProblem, place: NDArray[np.intp]) -> None:
        self._whole, scale = problem, _scales(problem)
        key = np.column_stack([place, *_shape(problem, scale)])
        _, first, member = np.unique(key, axis=0, return_index=True, return_inverse=True)
        # In the order of their first members, so that without repetitions nothing changes.
        order = np.argsort(first)
        self.first = first[order]
        self.member = np.argsort(order)[member.reshape(-1)]
        total = self.total(scale)
        self._share = scale / total[self.member]
        part = {f.name: getattr(problem, f.name) for f in fields(problem) if f.name != "totals"}
        part = {name: None if a is None else a[self.first] for name, a in part.items()}
        ratio = total / scale[self.first]
        for name in ("lower", "upper", "kink"):
            if part[name] is not None:
                part[name] = self.total(getattr(problem, name))
        for name in ("curv_left", "curv_right"):
            if part[name] is not None:
                part[name] = part[name] / ratio
        self.problem = replace(problem, **part | {"rows": None})

    def total(self, values: Array) -> Array:
        """Return the sums over the variables taken together."""
        sums: Array = np.bincount(self.member, values, len(self.first)).astype(float)
        return sums

    def apart(self, beta: Array) -> Array:
        """Return the variables, each its share of what stands for it in the smaller problem."""
        p, small, there = self._whole, self.problem, self.member
        found = np.clip(self._share * beta[there], p.lower, p.upper)
        ends = [(small.lower, p.lower), (small.upper, p.upper)]
        if p.kink is not None and small.kink is not None:
            ends.append((small.kink, p.kink))
        for together, alone in ends:  # exactly, whatever the shares are rounded to
            found = np.where(beta[there] == together[there], alone, found)
        return found


def without_idle_kinks(problem: DualProblem) -> DualProblem:
    """Return the problem with kinks between equal, straight costs moved to a bound."""
    left, right = problem.slope_left, problem.slope_right
    idle = np.isfinite(problem.lower) & (problem.lower < 0.0) & (problem.upper > 0.0)
    idle &= left == (left if right is None else right)
    for curv in (problem.curv_left, problem.curv_right):
        if curv is not None:
            idle &= curv == 0.0
    kink = np.zeros(len(left)) if problem.kink is None else problem.kink
    return replace(problem, kink=np.where(idle, problem.lower, kink))


def _scales(problem: DualProblem) -> Array:
    """Return the weights c_i, up to a factor that is the same for equal costs."""
    scale = np.maximum(np.abs(problem.lower), np.abs(problem.upper))
    for curv in (problem.curv_left, problem.curv_right):
        if curv is not None:
            over = np.divide(1.0, curv, out=np.full(len(curv), np.inf), where=curv > 0.0)
            scale = np.minimum(scale, over)
    return np.where((scale > 0.0) & np.isfinite(scale), scale, 1.0)


def _shape(problem: DualProblem, scale: Array) -> list[Array]:
    """Return numbers that are the same for variables with costs c_i phi(b / c_i)."""

    def rounded(values: Array) -> Array:
        ends = np.isfinite(values) & (values != 0.0)
        digits = np.floor(np.log10(np.abs(np.where(ends, values, 1.0))))
        unit = _SAME * 10.0**digits
        return np.where(ends, np.round(np.where(ends, values, 0.0) / unit) * unit, values)

    p = problem
    found = [p.slope_left, p.slope_left if p.slope_right is None else p.slope_right]
    found += [rounded(a / scale) for a in (p.lower, p.upper, p.kink) if a is not None]
    found += [rounded(a * scale) for a in (p.curv_left, p.curv_right) if a is not None]
    return found
