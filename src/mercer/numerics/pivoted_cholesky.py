"""Pivoted Cholesky factorisation of a positive semidefinite matrix of which rows are evaluated.

At every step the pivot p is one of the rows that the earlier ones do not explain,

    L_:j = (K_:p - L L_p') / sqrt(residual_p),    residual -= L_:j^2,

which needs one row of K and no matrix: S. Fine, K. Scheinberg, "Efficient SVM training using
low-rank kernel representations", JMLR 2, 2001; F. Bach, M. Jordan, "Kernel independent component
analysis", JMLR 3, 2002. With random pivots, drawn in proportion to the residuals, the expected
error is within a constant of the best of its rank: Y. Chen, E. Epperly, J. Tropp, R. Webber,
"Randomly pivoted Cholesky", CPAM 78, 2025.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array

Chooser = Callable[[Array], int | None]  # names the next pivot; None: the tolerance is met

PIVOTING = ("largest", "random", "given")
# A residual below minus this share of the largest diagonal entry is no rounding: the matrix has a
# negative eigenvalue.
_NEGATIVE = 1e-9


class NegativeResidualError(ValueError):
    """A matrix is not positive semidefinite: `row` has a negative residual after `pivot`."""

    def __init__(self, row: int, pivot: int, residual: float) -> None:
        super().__init__(f"row {row} has the residual {residual:.6g} after the pivot {pivot}.")
        self.row, self.pivot, self.residual = row, pivot, residual


def chooser(pivoting: str, diagonal: Array, tol: float, random_state: Any = None) -> Chooser:
    """Return the rule of the pivots: the largest residual, random ones, or the given order.

    The trace of the residual is brought below `tol` times that of the matrix; in the given order
    rows are left out whose residual is at most `tol` times their own diagonal entry.
    """
    if pivoting == "given":
        order = iter(range(len(diagonal)))
        threshold = tol * diagonal
        return lambda residual: next((p for p in order if residual[p] > threshold[p]), None)
    goal = tol * float(diagonal.sum())
    rng = np.random.default_rng(random_state)

    def next_pivot(residual: Array) -> int | None:
        total = float(residual.sum())
        if total <= goal:
            return None
        if pivoting == "random":
            return int(rng.choice(len(residual), p=residual / total))
        return int(residual.argmax())

    return next_pivot


def pivoted_cholesky(
    row: Callable[[int], Array], diagonal: Array, choose: Chooser, limit: int, noise: float
) -> tuple[Array, NDArray[np.intp], str]:
    """Return the transposed factor, the pivots and the reason for the end.

    `row`: row i of the matrix, as an array that may be overwritten. `noise`: residuals below this
    share of the largest diagonal entry are rounding. The reason is "tolerance", "exhausted" (what
    is left is rounding) or "rank" (`limit` pivots were not enough).
    """
    scale = float(diagonal.max(initial=0.0))
    residual = diagonal.copy()
    columns = np.empty((min(limit, 32), len(diagonal)))
    pivots: list[int] = []
    while True:
        residual[residual < noise * scale] = 0.0
        pivot = choose(residual)
        if pivot is None or residual[pivot] == 0.0:
            status = "tolerance" if residual.any() else "exhausted"
            break
        j = len(pivots)
        if j == limit:
            status = "rank"
            break
        if j == len(columns):
            columns = np.concatenate([columns, np.empty((min(j, limit - j), len(diagonal)))])
        new = row(pivot)
        new -= columns[:j, pivot] @ columns[:j]
        new /= np.sqrt(residual[pivot])
        new[pivots] = 0.0
        new[pivot] = np.sqrt(residual[pivot])
        columns[j] = new
        residual -= new * new
        residual[pivot] = 0.0
        pivots.append(pivot)
        worst = int(residual.argmin())
        if residual[worst] < -_NEGATIVE * scale:
            raise NegativeResidualError(worst, pivot, float(residual[worst]))
    return columns[: len(pivots)], np.array(pivots, dtype=np.intp), status
