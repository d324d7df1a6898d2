"""Iterative solvers of ridge regression: conjugate gradients and the rule of Widrow and Hoff.

Both need products with the kernel matrix or rows of it, never the whole, and stop when the duality
gap 1/2 r' N^-1 r of the residual r = y - (K + N) a - b 1 is at most `tol` times the dual value.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram.shifted import Iterative
from mercer.numerics.conjugate_gradients import Iterate
from mercer.solvers.interrupt import interrupted

from ..errors import ParameterError
from .problem import RidgeProblem, RidgeSolution

Array = NDArray[np.float64]
Report = Callable[..., bool]

_BLOCK = 256  # rows at a time
_SWEEPS = 1_000


class Limits:
    """When to stop an iteration before it has converged.

    `max_iter`: limit on the steps of each system. `time_limit`: seconds for all systems together.
    `report`: told of every step; returns whether to stop.
    """

    def __init__(
        self, max_iter: int | None, time_limit: float | None, report: Report | None = None
    ) -> None:
        self.max_iter, self.report = max_iter, report
        self.deadline = None if time_limit is None else time.perf_counter() + time_limit
        self.status, self.by_keyboard = "iteration_limit", False

    def interrupt(self) -> None:
        """Take note of Ctrl-C."""
        self.status, self.by_keyboard = "interrupted", True

    def reached(self, n_iter: int, lower: Array, upper: Array, residual: Array) -> bool:
        """Return whether to stop; `status` then says why."""
        if self.deadline is not None and time.perf_counter() > self.deadline:
            self.status = "time_limit"
            return True
        if self.report is None:
            return False
        gap = float(((upper - lower) / np.maximum(np.abs(lower), 1e-300)).max())
        violation = float(np.abs(residual).max(initial=0.0))
        if self.report(n_iter, violation, float(lower.sum()), gap, len(residual), 0, 0):
            self.status = "interrupted"
            return True
        return False


def by_cg(problem: RidgeProblem, tol: float, limits: Limits) -> RidgeSolution:
    """Solve by preconditioned conjugate gradients on tiles."""
    system = problem.gram.shifted(
        problem.noise, problem.basis, "cg", tol=tol, max_iter=limits.max_iter
    )
    assert isinstance(system, Iterative)

    last: list[Iterate] = []

    def stop(state: Iterate) -> bool:
        last[:] = [state]
        return limits.reached(state.n_iter, state.lower, state.upper, state.residual)

    try:
        coef, basis_coef = system.solve(problem.Y, stop)
    except KeyboardInterrupt:
        if not last:
            raise
        limits.interrupt()
        coef, basis_coef = system.solution_of(last[0], problem.Y)
    assert system.last is not None
    assert system.residual is not None
    converged = system.last.converged and not limits.by_keyboard
    status = "optimal" if converged else limits.status
    values = problem.Y - system.residual - problem.noise[:, None] * coef
    return RidgeSolution(coef, basis_coef, "cg", system.n_iter, status, values=values)


def by_widrow_hoff(
    problem: RidgeProblem, tol: float, limits: Limits, eta: float | None = None
) -> RidgeSolution:
    """Solve by sweeps of the dual rule of Widrow and Hoff.

    a_i <- a_i + eta_i (y_i - sum_j (K_ij + N_i delta_ij) a_j), one row after the other. By default
    eta_i = 1 / (K_ii + N_i), which is the method of Gauss and Seidel and converges for every
    positive definite system. A block of rows is one triangular system, with the same result.
    """
    if problem.basis is not None:
        raise ParameterError(
            'solver="widrow_hoff" has no intercept: its rule changes one coefficient at a time, '
            "which cannot keep their sum at 0. Use fit_intercept=False or another solver."
        )
    gram, Y, noise = problem.gram, problem.Y, problem.noise
    n, A = gram.n, np.zeros_like(problem.Y)
    max_iter = _SWEEPS if limits.max_iter is None else limits.max_iter
    status, n_iter = "iteration_limit", 0
    residual = Y.copy()

    def sweep() -> None:
        nonlocal residual
        for first in range(0, n, _BLOCK):
            rows = np.arange(first, min(first + _BLOCK, n))
            tile = gram.tile(rows)
            error = Y[rows] - tile @ A - noise[rows, None] * A[rows]
            lower = tile[:, rows]
            diagonal = np.einsum("ii->i", lower)
            diagonal += noise[rows]
            if eta is not None:
                diagonal[:] = 1.0 / eta
            A[rows] += scipy.linalg.solve_triangular(lower, error, lower=True, check_finite=False)
        residual = Y - gram.matmul(A) - noise[:, None] * A

    while n_iter < max_iter:
        if interrupted(sweep):
            limits.interrupt()
            status = limits.status
            break
        n_iter += 1
        if not np.isfinite(residual).all():
            raise ParameterError(f"eta={eta} is too large: the iteration diverges.")
        low = 0.5 * np.einsum("ij,ij->j", A, Y + residual)
        high = low + 0.5 * np.einsum("ij,ij,i->j", residual, residual, 1.0 / noise)
        if (high - low <= tol * np.abs(low)).all():
            status = "optimal"
            break
        if limits.reached(n_iter, low, high, residual):
            status = limits.status
            break
    return RidgeSolution(A, np.zeros((0, Y.shape[1])), "widrow_hoff", n_iter, status)
