"""Iterative solvers of ridge regression: conjugate gradients and the rule of Widrow and Hoff.

Both need products with the kernel matrix or rows of it, never the whole, and stop when the duality
gap 1/2 r' N^-1 r of the residual r = y - (K + N) a - b 1 is at most `tol` times the dual value.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram.shifted import Iterative
from mercer.numerics.conjugate_gradients import Iterate
from mercer.objects.parameters import ParameterError
from mercer.run import Run

from .problem import RidgeProblem, RidgeSolution

Array = NDArray[np.float64]

_BLOCK = 256  # rows at a time
_SWEEPS = 1_000


def _reached(run: Run, n_iter: int, lower: Array, upper: Array, residual: Array) -> bool:
    """Report a step, whose optimum lies between `lower` and `upper`; return whether to stop."""
    if not run.watched:
        return run.stop(n_iter) is not None
    gap = float(((upper - lower) / np.maximum(np.abs(lower), 1e-300)).max())
    violation, objective = float(np.abs(residual).max(initial=0.0)), float(lower.sum())
    return run.stop(n_iter, violation, gap, objective, active=len(residual)) is not None


def by_cg(problem: RidgeProblem, tol: float, run: Run) -> RidgeSolution:
    """Solve by preconditioned conjugate gradients on tiles."""
    system = problem.gram.shifted(
        problem.noise, problem.basis, "cg", tol=tol, max_iter=run.max_iter
    )
    assert isinstance(system, Iterative)
    last: list[Iterate] = []

    def stop(state: Iterate) -> bool:
        last[:] = [state]
        return _reached(run, state.n_iter, state.lower, state.upper, state.residual)

    with run.until_stopped():
        coef, basis_coef = system.solve(problem.Y, stop)
    if run.by_keyboard:
        if not last:
            run.raise_interrupt()
        coef, basis_coef = system.solution_of(last[0], problem.Y)
    assert system.last is not None
    assert system.residual is not None
    converged = system.last.converged and not run.by_keyboard
    status = "optimal" if converged else run.status or "iteration_limit"
    values = problem.Y - system.residual - problem.noise[:, None] * coef
    return RidgeSolution(coef, basis_coef, "cg", system.n_iter, status, values=values)


def by_widrow_hoff(
    problem: RidgeProblem, tol: float, run: Run, eta: float | None = None
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
    steps = _SWEEPS if run.max_iter is None else run.max_iter
    converged, n_iter = False, 0
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

    with run.until_stopped():
        while n_iter < steps and not converged:
            sweep()
            n_iter += 1
            if not np.isfinite(residual).all():
                raise ParameterError(f"eta={eta} is too large: the iteration diverges.")
            low = 0.5 * np.einsum("ij,ij->j", A, Y + residual)
            high = low + 0.5 * np.einsum("ij,ij,i->j", residual, residual, 1.0 / noise)
            converged = bool((high - low <= tol * np.abs(low)).all())
            if not converged and _reached(run, n_iter, low, high, residual):
                break
    status = "optimal" if converged else run.status or "iteration_limit"
    return RidgeSolution(A, np.zeros((0, Y.shape[1])), "widrow_hoff", n_iter, status)
