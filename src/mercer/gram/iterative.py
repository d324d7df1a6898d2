"""A shifted kernel matrix that is never built: conjugate gradients on tiles.

The preconditioner is LL' + N with a pivoted Cholesky factor L of K of low rank (J. Gardner et al.,
"GPyTorch: blackbox matrix-matrix Gaussian process inference with GPU acceleration", NeurIPS 2018);
its inverse is applied by the formula of Woodbury. The bounds of
:mod:`mercer.numerics.conjugate_gradients` stop the iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mercer.numerics.conjugate_gradients import Iterate, conjugate_gradients
from mercer.numerics.lanczos_quadrature import Estimate, quadratic_logs
from mercer.objects.arrays import Array

from .low_rank import LowRank

if TYPE_CHECKING:
    from .matrix import Gram
    from .shifted import Shift


_PRECONDITIONER_RANK = 400  # of the preconditioner; its storage is that of so many columns
_STEPS = 2_000  # default limit of the iterations


class Iterative:
    """Solutions of a shifted kernel matrix by preconditioned conjugate gradients.

    `n_iter`: steps of the last solution. `rank`: that of the preconditioner LL' + N. `last`: the
    last solution with its bounds. `residual`: y - (K + N) a of it, computed from the coefficients.
    `precision`: that of the kernel values.
    """

    solver = "cg"
    precision = "float64"

    def __init__(
        self, gram: Gram, shift: Shift, *, tol: float, max_iter: int | None, rank: int | None
    ) -> None:
        self.gram, self.shift = gram.in_precision("float64"), shift
        self._tol = tol
        self._max_iter = _STEPS if max_iter is None else max_iter
        self.n_iter = 0
        self.last: Iterate | None = None
        self.residual: Array | None = None
        self.preconditioner = LowRank(
            self.gram, shift.noise, _PRECONDITIONER_RANK if rank is None else rank
        )
        self.rank = self.preconditioner.rank

    def multiply(self, V: Array) -> Array:
        """Return (K + N) V in float64, on tiles."""
        return self.gram.matmul(V) + self.shift.noise.reshape(-1, *[1] * (V.ndim - 1)) * V

    def solve(
        self, Y: Array, stop: Callable[[Iterate], bool] | None = None, tol: float | None = None
    ) -> tuple[Array, Array]:
        """Return the coefficients a and those of the basis, for one or several columns.

        `stop` is called after each step; `tol`: the relative gap instead of that of the system.
        """
        Y = np.asarray(Y, dtype=np.float64)
        columns = Y if Y.ndim == 2 else Y[:, None]
        over = self.shift.complement
        state = conjugate_gradients(
            lambda V: over.project(self.multiply(over.project(V))),
            self.shift.noise,
            over.target(columns),
            lambda V: over.project(self.preconditioner.solve(V)),
            tol=self._tol if tol is None else tol,
            max_iter=self._max_iter,
            stop=stop,
        )
        A, M = self.solution_of(state, columns)
        return (A, M) if Y.ndim == 2 else (A[:, 0], M[:, 0])

    def solution_of(self, state: Iterate, Y: Array) -> tuple[Array, Array]:
        """Return coefficients and those of the basis where an iteration ended, for columns Y."""
        over = self.shift.complement
        self.last, self.n_iter = state, state.n_iter
        A = over.project(state.solution)
        self.residual = Y - self.multiply(A)
        M = over.coefficients(self.residual) if over.size else np.zeros((0, A.shape[1]))
        return A, M

    def logdet(self, n_probes: int = 16, seed: int = 0, tol: float = 1e-6) -> Estimate:
        """Return an estimate of log det(K + N) with its standard error and with bounds."""
        Z = self.preconditioner.draw(np.random.default_rng(seed), n_probes)
        return self.solve_with_probes(Z[:, :0], Z, tol)[2]

    def solve_with_probes(
        self, Y: Array, Z: Array, tol: float, stop: Callable[[Iterate], bool] | None = None
    ) -> tuple[Array, Array, Estimate]:
        """Return (K + N)^-1 Y and (K + N)^-1 Z, and the log-determinant that the latter give.

        The kernel values of a step serve all columns. `Z`: columns drawn by the preconditioner.
        """
        P = self.preconditioner
        state = conjugate_gradients(
            self.multiply,
            self.shift.noise,
            np.hstack([Y, Z]),
            P.solve,
            tol=tol,
            max_iter=self._max_iter,
            restarts=0,
            stop=stop,
        )
        self.last, self.n_iter = state, state.n_iter
        m = Y.shape[1]
        lengths = np.full(Z.shape[1], float(len(Z)))
        values = P.logdet() + quadratic_logs(state, lengths, m)
        low, high = P.bounds()
        return state.solution[:, :m], state.solution[:, m:], Estimate.of(values, low, high)
