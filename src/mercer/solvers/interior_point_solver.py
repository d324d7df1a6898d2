"""Interior point methods behind the protocol of solvers: ``solver="interior_point"``.

A basis of real functions (kernels of order 2) makes several equations, which the method on the
whole kernel matrix takes (`mercer.solvers.dense_interior_point`). Constants of groups, with totals
or without, are solved in the features of the matrix (`mercer.solvers.feature_interior_point`); pair
steps then compute the last digits and the multipliers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mercer.run import Run

from .base import Solver
from .decomposition import Decomposition
from .dense_interior_point import solve_with_equations
from .feature_interior_point import solve_in_features
from .hard_tube import largest_norm
from .problem import DualProblem, Job, Problem, Settings, Solution

_LAST, _LAST_PER_ROW = 20_000, 20  # pair steps that may follow


class InteriorPointSolver(Solver):
    """Newton steps on a barrier, for losses with pieces, on up to a few thousand rows."""

    name = "interior_point"
    kinds = (Problem, DualProblem)
    requires = ("native",)
    needs_loss = ("pieces",)
    bases = ("none", "bias", "groups", "functions")
    totals = ("none", "bias", "groups")
    prices = ("finite", "mixed", "infinite")
    kinks = True

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        """Return the solution of one problem."""
        problem: Any = job.problem
        limit = largest_norm(problem, job.gram) if isinstance(problem, Problem) else np.inf
        if isinstance(problem, Problem) and not problem.grouped:
            gram = job.gram.in_precision("float64")
            weight = problem.c if problem.weight is None else problem.weight
            equations = problem.columns, weight, limit
            return solve_with_equations(problem.dual, gram, settings, run, *equations)
        dual, gram = problem.dual, job.gram
        if dual.rows is not None:
            gram, dual = gram.take(dual.rows), replace(dual, rows=None)
        gram = gram.in_precision("float64")
        totals = np.zeros(dual.n_groups) if dual.totals is None else dual.totals
        found = solve_in_features(dual, gram, settings, run, totals, largest_norm=limit)
        # Pair steps alone will do on a matrix that is 0 everywhere.
        if found is None and run.status is None and gram.diag().any():
            raise ValueError(
                f"interior_point does not take a kernel matrix of {gram.n} rows whose rank is this "
                'large within cache_size; raise it, or use solver="decomposition".'
            )
        start, status, n_iter, rank = (None, run.status, 0, 0) if found is None else found
        ended = status in ("infeasible", "time_limit", "interrupted")
        steps = 0 if ended else _LAST + _LAST_PER_ROW * gram.n
        left = run.branch(after=n_iter, steps=steps)
        last = Decomposition().solve(Job(dual, gram, start), settings, left)
        if ended:
            last.status = str(status)
        elif last.status == "stalled":
            last.status = "iteration_limit"
        last.n_iter += n_iter
        last.n_kernel_values += gram.n * rank
        return last
