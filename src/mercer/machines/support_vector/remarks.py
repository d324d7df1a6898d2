"""Warnings about a fit that is optimal and still worth a second look.

Three findings: a kernel matrix that is close to diagonal, in which every row is similar to itself
alone (Honavar, Kernel Machines); an intercept that is not unique, so that labels of training rows
depend on the choice of it (Cristianini and Shawe-Taylor, section 6.1.2; Rifkin, Pontil and Verri,
1999); and a margin of 0, where the reduced convex hulls of two classes meet (Crisp and Burges, *A
Geometric Interpretation of nu-SVM Classifiers*, NIPS 12, 2000).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.callers import warn_caller

from ..errors import DegenerateFitWarning

if TYPE_CHECKING:
    from .proving import Fitting

_FEWEST = 20  # rows from which on a matrix is judged
_SAMPLE = 40  # rows that are compared with each other
# Share of support vectors below which the matrix is not looked at: most rows were not needed.
_SHARE = 0.95
# Ratio of the mean values off and on the diagonal below which a matrix counts as diagonal.
_EMPTY = 1e-3
_NARROW = 1e-6  # width of an interval of intercepts that is rounding
# Problems of a fit whose intercepts are looked at: of many pairs of classes some are always open,
# and a single one decides little.
_MOST_PROBLEMS = 10


def remark(machine: Any, fitting: Fitting) -> None:
    """Warn about a near-diagonal matrix, an intercept that decides labels, and a margin of 0."""
    for finding in (
        _near_diagonal(machine, fitting),
        _open_intercept(machine),
        _no_margin(machine),
    ):
        if finding:
            warn_caller(f"{type(machine).__name__}: {finding}", DegenerateFitWarning)


def _near_diagonal(machine: Any, fitting: Fitting) -> str | None:
    n = fitting.gram.n
    if n < _FEWEST or len(machine.support_) < _SHARE * n:
        return None
    rows = np.linspace(0, n - 1, _SAMPLE).astype(np.intp) if n > _SAMPLE else np.arange(n)
    values = np.abs(fitting.gram.tile(rows, rows, machine.n_jobs))
    diagonal = float(np.trace(values))
    ratio = (float(values.sum()) - diagonal) / (len(rows) - 1) / diagonal if diagonal > 0 else 1.0
    if ratio >= _EMPTY:
        return None
    return (
        f"the kernel matrix is close to diagonal (k(x, z) is {ratio:.1g} of k(x, x) on average), "
        f"and {len(machine.support_)} of {n} rows are support vectors: every row is similar to "
        "itself alone, and nothing is learned about new ones. Use a wider kernel (a smaller "
        "gamma), scale the columns or leave out irrelevant ones; see mercer.inspection.diagnose."
    )


def _open_intercept(machine: Any) -> str | None:
    """Return the warning of a classifier with a price C, where y f = 1 - excess."""
    if not hasattr(machine, "classes_") or not hasattr(machine, "C_") or not machine.fit_intercept:
        return None
    ranges, record = machine._intercept_ranges, machine._record
    if len(ranges) > _MOST_PROBLEMS:
        return None
    half = (ranges[:, 1] - ranges[:, 0]) / 2
    for p in (half > _NARROW).nonzero()[0]:
        near = np.abs(1.0 - record.of_tasks(record.excess)[p]) <= half[p] * (1 + 1e-9)
        if near.any():
            low, high = ranges[p]
            return (
                f"the intercept is not unique: every value from {low:.4g} to {high:.4g} is "
                "optimal, because no support vector lies strictly inside its bounds, and the "
                f"labels of {int(near.sum())} training rows depend on it. The middle is taken "
                "(intercept_range_ holds the interval). Use a larger C."
            )
    return None


def without_margin(machine: Any) -> NDArray[np.bool_]:
    """Return for each problem whether its optimum is the function 0, so that labels are rounding.

    Only nu classifiers have such problems.
    """
    if not (hasattr(machine, "rho_") and hasattr(machine, "classes_")):
        return np.zeros(1, dtype=bool)
    return np.atleast_1d(machine.rho_) == 0.0


def _no_margin(machine: Any) -> str | None:
    """Return the warning of a nu classifier whose function is 0."""
    none = without_margin(machine)
    if not none.any():
        return None
    which = f" in {int(none.sum())} of {len(none)} problems" if len(none) > 1 else ""
    return (
        f"the margin rho_ is 0{which}: the reduced convex hulls of the classes meet, so that the "
        "optimum is a constant function, and labels are rounding. Use a larger nu, or a kernel "
        "that separates the classes better."
    )
