"""One ridge regression from problem to proof: choose a solver, solve, certify."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning

from mercer.gram.shifted import NotDefiniteError, choose_solver, require_memory
from mercer.run import Run, stopwatch
from mercer.solvers import Certificate
from mercer.solvers.certificate import GAP_LIMIT

from .direct import Spectrum, by_cholesky, by_lu
from .iterating import by_cg, by_widrow_hoff
from .problem import RidgeProblem, RidgeSolution
from .proof import certificates

Array = NDArray[np.float64]

SOLVERS = ("auto", "cholesky", "cg", "eigh", "lu", "widrow_hoff")


def solve_and_certify(
    problem: RidgeProblem, solver: str, tol: float, run: Run
) -> tuple[RidgeSolution, list[Certificate]]:
    """Return the solution and the certificate of each target.

    alpha = 0 is solved by the eigendecomposition for any solver, because the solution of
    smallest norm needs the eigenvalues that are 0. "auto" takes LU where the matrix is not
    positive definite; a solver that was requested by name raises NotDefiniteError.
    """
    elapsed = stopwatch()
    tol = min(tol, GAP_LIMIT)
    interpolated = None
    if problem.alpha == 0.0:
        spectrum = Spectrum(problem)
        solution, interpolated = spectrum.solution(0.0), spectrum.projected_target()
    else:
        solution = _solved(problem, solver, tol, run)
    return solution, certificates(problem, solution, elapsed(), interpolated)


def interpolated_by(problem: RidgeProblem) -> Array | None:
    """Return the values that the solution of alpha = 0 must take; None for a positive alpha."""
    return Spectrum(problem).projected_target() if problem.alpha == 0.0 else None


def _solved(problem: RidgeProblem, solver: str, tol: float, run: Run) -> RidgeSolution:
    chosen = choose_solver(problem.gram.n) if solver == "auto" else solver
    if chosen == "cg":
        return by_cg(problem, tol, run)
    if chosen == "widrow_hoff":
        return by_widrow_hoff(problem, tol, run)
    if solver != "auto":
        require_memory(problem.gram.n)
    if chosen == "eigh":
        return Spectrum(problem).solution(problem.alpha)
    if chosen == "lu":
        return by_lu(problem)
    try:
        return by_cholesky(problem)
    except NotDefiniteError:
        if solver != "auto":
            raise
    if problem.gram.kernel.definiteness.is_psd:  # rounding alone: K is singular, alpha tiny
        return Spectrum(problem).solution(problem.alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # the certificate says how good it is
        return by_lu(problem)
