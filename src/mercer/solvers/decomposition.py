"""The decomposition solver: block working sets, inner second-order SMO, shrinking.

Problem: see `mercer.solvers.problem`. Method: E. Osuna, R. Freund, F. Girosi, "Training support
vector machines: an application to face detection", CVPR 1997; T. Joachims, "Making large-scale
SVM learning practical", 1999 (working sets, shrinking); R.-E. Fan, P.-H. Chen, C.-J. Lin,
"Working set selection using second order information for training SVM", JMLR 6, 2005 (pairs).
The loops are native (``cpp/decomposition.cpp``). Returned: the variables, K beta, the multipliers
of the equalities with their intervals, and how the solver stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from mercer.gram import Gram
from mercer.gram.matrix import native_jobs

from .problem import Problem, Settings, Solution


def solve(
    problem: Problem, gram: Gram, settings: Settings, start: np.ndarray | None = None
) -> Solution:
    """Solve one problem.

    Parameters
    ----------
    problem : Problem
        The problem.
    gram : Gram
        Kernel matrix of its objects.
    settings : Settings
        When to stop.
    start : array of shape (m,), optional
        A feasible point, default zero; the sums over the groups keep its values.

    Returns
    -------
    Solution
        The best point found, with an honest status.
    """
    return solve_many([problem], gram, settings, [start])[0]


def solve_many(
    problems: Sequence[Problem],
    gram: Gram,
    settings: Settings,
    starts: Sequence[np.ndarray | None] | None = None,
) -> list[Solution]:
    """Solve several problems on views of one Gram; small ones run side by side.

    Parameters
    ----------
    problems : sequence of Problem
        The problems.
    gram : Gram
        Kernel matrix of all objects.
    settings : Settings
        For each of them.
    starts : sequence of array or None, optional
        Feasible points.

    Returns
    -------
    list of Solution
        In the order of the problems.
    """
    if starts is None:
        starts = [None] * len(problems)
    evaluator, objects = gram.native
    begin = perf_counter()
    found = evaluator.solve(
        objects,
        [p.native(s) for p, s in zip(problems, starts, strict=True)],
        _native_settings(settings),
        settings.callback,
    )
    seconds = perf_counter() - begin
    solutions = [_solution(d, seconds / len(problems), gram.dtype) for d in found]
    stalled = [k for k, s in enumerate(solutions) if s.status == "stalled"]
    if stalled:
        _finish_stalled(stalled, solutions, problems, gram, settings)
    return solutions


def _finish_stalled(
    stalled: list[int],
    solutions: list[Solution],
    problems: Sequence[Problem],
    gram: Gram,
    settings: Settings,
) -> None:
    """Go on in double precision where the rounding of single precision stopped the solver."""
    if gram.dtype == "float64":
        for k in stalled:  # not even double precision reaches this tolerance
            solutions[k].status = "iteration_limit"
        return
    try:
        double = Gram(gram.kernel, gram.X, "float64")
    except KeyboardInterrupt:
        for k in stalled:
            solutions[k].status = "interrupted"
        return
    again = solve_many(
        [problems[k] for k in stalled], double, settings, [solutions[k].beta for k in stalled]
    )
    for k, better in zip(stalled, again, strict=True):
        better.n_iter += solutions[k].n_iter
        better.n_kernel_values += solutions[k].n_kernel_values
        better.seconds += solutions[k].seconds
        solutions[k] = better


def _native_settings(s: Settings) -> dict[str, Any]:
    return {
        "tol": float(s.tol),
        "gap_tol": float(s.gap_tol or 0.0),
        "max_iter": int(s.max_iter),
        "time_limit": float(s.time_limit or 0.0),
        "shrinking": bool(s.shrinking),
        "cache_bytes": float(s.cache_size) * 2**20,
        "n_jobs": native_jobs(s.n_jobs),
        "working_set": int(s.working_set),
        "objective_floor": float(s.objective_floor),
    }


def _solution(d: dict[str, Any], seconds: float, precision: str) -> Solution:
    status = d["status"]
    if status == "optimal" and d["negative_curvature"]:
        status = "stationary"
    return Solution(
        beta=d["beta"],
        values=d["values"],
        multiplier=np.array(d["multiplier"], dtype=np.float64),
        multiplier_range=np.array(d["multiplier_range"], dtype=np.float64).reshape(-1, 2),
        status=status,
        kkt_violation=d["violation"],
        objective=d["objective"],
        relative_gap=d["relative_gap"],
        n_iter=d["n_iter"],
        n_kernel_values=d["n_kernel_values"],
        seconds=seconds,
        precision=precision,
        n_outer=d["outer"],
        cache_hits=d["cache_hits"],
        cache_misses=d["cache_misses"],
        negative_curvature=d["negative_curvature"],
    )
