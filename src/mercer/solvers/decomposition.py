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
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from mercer.gram import Gram
from mercer.gram.matrix import native_jobs
from mercer.gram.overflow import advice

from .feature_interior_point import solve_in_features
from .problem import Problem, Settings, Solution

_PATIENCE, _PATIENCE_PER_ROW = 20_000, 20
"""Pair steps after which a problem is suspected to be badly conditioned."""

_LAST = 20
"""Times as many steps as before that may follow on an interior point method."""

_SMALL_RANK = 64
"""A rank that is always worth a try."""


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
    begin = perf_counter()
    patience = _PATIENCE + _PATIENCE_PER_ROW * max((len(p.lower) for p in problems), default=0)
    solutions = _run(problems, gram, settings.at_most(patience), starts)
    try:
        interrupted = any(s.status == "interrupted" for s in solutions)
        for k, solution in enumerate(solutions):
            if interrupted:
                break
            if solution.status == "stalled" or _gave_up(solution, settings):
                solutions[k] = _insist(problems[k], gram, settings, begin, solution)
                interrupted = solutions[k].status == "interrupted"
    except KeyboardInterrupt:  # between two problems
        solutions[-1].status = "interrupted"
    return solutions


def _run(
    problems: Sequence[Problem],
    gram: Gram,
    settings: Settings,
    starts: Sequence[np.ndarray | None],
) -> list[Solution]:
    """Call the native solver."""
    evaluator, objects = gram.native
    begin = perf_counter()
    natives = [p.native(s) for p, s in zip(problems, starts, strict=True)]
    try:
        found = evaluator.solve(objects, natives, native_settings(settings), settings.callback)
    except ValueError as error:
        _blame_overflow(gram, error)
        raise
    seconds = (perf_counter() - begin) / max(len(problems), 1)
    try:
        return [_solution(d, seconds, gram.dtype) for d in found]
    except KeyboardInterrupt:  # just after the run, which hears it by itself
        solutions = [_solution(d, seconds, gram.dtype) for d in found]
        solutions[-1].status = "interrupted"
        return solutions


def _blame_overflow(gram: Gram, error: ValueError) -> None:
    """Say which k(x, x) is no number and what to do, if that is why the core refused."""
    own = gram.diag()
    if np.isfinite(own).all():
        return
    i = int(np.argmin(np.isfinite(own)))
    raise ValueError(
        f"kernel values are not finite on these objects: k(x, x) of object {i} under "
        f"{gram.kernel!r} overflows; {advice(gram.kernel)}."
    ) from error


def _insist(
    problem: Problem, gram: Gram, settings: Settings, begin: float, solution: Solution
) -> Solution:
    """Go on with a problem on which pair steps make little progress.

    As soon as they have cost as much as an interior point method would, that is tried; it needs
    a kernel matrix of low rank. Where the rounding of single precision ends them, double
    precision goes on.
    """
    try:
        view = gram if problem.rows is None else gram.take(problem.rows)
        problem = replace(problem, rows=None)
        while solution.status == "stalled" or _gave_up(solution, settings):
            left = settings.after(solution.n_iter, perf_counter() - begin)
            if solution.status == "stalled" and view.dtype == "float32":
                double = view.in_precision("float64")
                return solve(problem, double, left, solution.beta).after(solution)
            found = _in_features(problem, view, left, solution)
            if found is not None:
                return found
            if solution.status == "stalled":
                # Not even double precision reaches the tolerance.
                solution.status = "iteration_limit"
                break
            steps = left.at_most(2 * solution.n_iter)
            following = _run([problem], view, steps, [solution.beta])[0]
            solution = _whole(following, solution).after(solution)
    except KeyboardInterrupt:  # between two runs of the solver, which hears it by itself
        solution.status = "interrupted"
    return solution


def _in_features(
    problem: Problem, gram: Gram, settings: Settings, solution: Solution
) -> Solution | None:
    """Go on with an interior point method; None where the rank is too large for it.

    Pair steps see to the last digits. On a matrix of low rank, those that do not end soon from
    there will not end at all: rounding keeps them from the tolerance.
    """
    if solution.negative_curvature:
        return None
    begin = perf_counter()
    groups = range(0 if problem.group is None else len(solution.multiplier))
    totals = np.array([solution.beta[problem.group == g].sum() for g in groups])
    # A pair step takes some 10 n operations, 30 steps in features some 60 n rank^2.
    rank = max(np.sqrt(solution.n_iter / 6.0), _SMALL_RANK)
    double = gram.in_precision("float64")
    found = solve_in_features(problem, double, settings, totals, max_rank=rank)
    if found is None:
        return None
    there = _run([problem], double, replace(settings, max_iter=0), [found.beta])[0]
    start = there if there.objective <= solution.objective else solution
    left = settings.after(found.n_iter, perf_counter() - begin)
    ended = "interrupted" if there.status == "interrupted" else found.status
    if ended in ("time_limit", "interrupted"):
        left, status = replace(left, max_iter=0), ended
    else:
        left, status = left.at_most(_LAST * solution.n_iter), "iteration_limit"
    last = _whole(_run([problem], double, left, [start.beta])[0], start)
    if last.status in ("stalled", "iteration_limit"):
        last.status = status
    last.n_iter += found.n_iter
    last.n_kernel_values += gram.n * found.rank
    return last.after(solution)


def _whole(found: Solution, start: Solution) -> Solution:
    """Return a solution, or where an interrupt left its values unknown, the one it started from."""
    if found.status != "interrupted" or not np.isnan(found.values).any():
        return found
    work = ("n_iter", "n_kernel_values", "seconds", "n_outer", "cache_hits", "cache_misses")
    return replace(start, status="interrupted", **{name: getattr(found, name) for name in work})


def _gave_up(solution: Solution, settings: Settings) -> bool:
    """Return whether a solver ended before the limit that the user set."""
    limited = 0 <= settings.max_iter <= solution.n_iter
    return solution.status == "iteration_limit" and not limited


def native_settings(s: Settings) -> dict[str, Any]:
    """Return the settings as the native solvers take them."""
    numbers = {
        "tol": s.tol,
        "gap_tol": s.gap_tol or 0.0,
        "time_limit": s.time_limit or 0.0,
        "cache_size": s.cache_size,
    }
    for name, number in numbers.items():
        if not float(number) >= 0.0:
            raise ValueError(f"{name} must be a number >= 0; got {number!r}.")
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
        fresh=d["fresh"],
    )
