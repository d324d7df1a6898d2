"""The ladder of solvers: which one a job gets, and what follows where it does not suffice.

The first rung is the solver that was asked for, or the first that takes the problem. Pair steps
that make little progress are followed, rung by rung, by

1. double precision, where the rounding of single precision ended them;
2. an interior point method in the features of the kernel matrix, as soon as they have cost as much
   as that would, where the rank is small enough; pair steps see to the last digits;
3. twice as many pair steps as before.

All rungs share the limits of the settings. A Ctrl-C between two runs ends the ladder with the best
point so far and the status "interrupted"; solvers hear one that falls into a run by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from mercer.gram import Gram

from .decomposition import Decomposition
from .feature_interior_point import solve_in_features
from .problem import DualProblem, Job, Problem, Settings, Solution

_PATIENCE, _PATIENCE_PER_ROW = 20_000, 20
"""Pair steps after which a problem is suspected to be badly conditioned."""

_LAST = 20
"""Times as many steps as before that may follow on an interior point method."""

_SMALL_RANK = 64
"""A rank that is always worth a try."""


class Solver(Protocol):
    """An optimiser: one a file, which says what it takes.

    Examples
    --------
    >>> from mercer.solvers import choose, Problem
    >>> from mercer.losses import Hinge
    >>> import numpy as np
    >>> solver = choose(Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2)))
    >>> solver.name, solver.access
    ('decomposition', 'rows')
    """

    name: str
    access: str
    """What it asks of the kernel matrix: "rows", "products", "features" or "whole"."""

    def takes(self, problem: Problem | DualProblem) -> str | None:
        """Return None, or a sentence that says what the problem lacks."""

    def solve(self, jobs: Sequence[Job], settings: Settings) -> list[Solution]:
        """Return the solutions of a batch, in its order, each with an honest status."""


SOLVERS: tuple[Solver, ...] = (Decomposition(),)
"""The solvers among which "auto" chooses, in this order."""


def choose(problem: Problem | DualProblem, solver: str | Solver = "auto") -> Solver:
    """Return the solver for a problem, or refuse it with the sentences of those that could be.

    Parameters
    ----------
    problem : Problem or DualProblem
        The problem.
    solver : str or Solver
        "auto", the name of a solver, or a solver.

    Returns
    -------
    Solver
        The solver.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import Problem, choose
    >>> problem = Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2), basis=np.zeros(2, dtype=int))
    >>> gram = Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> choose(problem).name
    'decomposition'
    """
    named = [s for s in SOLVERS if solver in ("auto", s.name)]
    candidates = named if isinstance(solver, str) else [solver]
    if not candidates:
        names = ", ".join(repr(s.name) for s in SOLVERS)
        raise ValueError(f"solver must be 'auto' or one of {names}; got {solver!r}.")
    refusals = []
    for candidate in candidates:
        refusal = candidate.takes(problem)
        if refusal is None:
            return candidate
        refusals.append(refusal)
    raise ValueError(" ".join(refusals))


def solve(
    problem: Problem | DualProblem,
    gram: Gram,
    settings: Settings,
    start: np.ndarray | None = None,
    solver: str | Solver = "auto",
) -> Solution:
    """Solve one problem.

    Parameters
    ----------
    problem : Problem or DualProblem
        The problem.
    gram : Gram
        Kernel matrix of its objects.
    settings : Settings
        When to stop.
    start : array of shape (m,), optional
        A feasible point; default: one next to 0.
    solver : str or Solver, default="auto"
        Which solver to begin with.

    Returns
    -------
    Solution
        The best point found, with an honest status.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import Problem, Settings, solve
    >>> problem = Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2), basis=np.zeros(2, dtype=int))
    >>> gram = Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> solve(problem, gram, Settings()).status
    'optimal'
    """
    return solve_jobs([Job(problem, gram, start)], settings, solver)[0]


def solve_jobs(
    jobs: Sequence[Job], settings: Settings, solver: str | Solver = "auto"
) -> list[Solution]:
    """Solve a batch of jobs, each on its own kernel matrix; jobs of one matrix share its rows.

    Parameters
    ----------
    jobs : sequence of Job
        Problems, Grams and feasible points.
    settings : Settings
        For each of them.
    solver : str or Solver, default="auto"
        Which solver to begin with.

    Returns
    -------
    list of Solution
        In the order of the jobs.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import Problem, Settings, Job, solve_jobs
    >>> problem = Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2), basis=np.zeros(2, dtype=int))
    >>> gram = Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> [solution.status for solution in solve_jobs([Job(problem, gram)], Settings())]
    ['optimal']
    """
    begin = perf_counter()
    jobs = [_started(job) for job in jobs]
    chosen = [choose(job.problem, solver) for job in jobs]
    solutions: list[Solution] = []
    for first, batch in _in_batches(chosen, jobs):
        steps = settings
        if isinstance(first, Decomposition):
            rows = max(len(job.problem.dual.lower) for job in batch)
            steps = settings.at_most(_PATIENCE + _PATIENCE_PER_ROW * rows)
        solutions += first.solve(batch, steps)
    interrupted = any(s.status == "interrupted" for s in solutions)
    k = 0
    try:
        while k < len(jobs) and not interrupted:
            if isinstance(chosen[k], Decomposition) and _unfinished(solutions[k], settings):
                for better in _climb(jobs[k], settings, begin, solutions[k]):
                    solutions[k] = better
            interrupted = solutions[k].status == "interrupted"
            k += 1
    except KeyboardInterrupt:  # between two runs of a solver, which hears it by itself
        solutions[k].status = "interrupted"
    return solutions


def _in_batches(chosen: list[Solver], jobs: list[Job]) -> Iterator[tuple[Solver, list[Job]]]:
    """Yield the consecutive jobs of one solver."""
    for _, pairs in groupby(zip(chosen, jobs, strict=True), key=lambda pair: id(pair[0])):
        batch = list(pairs)
        yield batch[0][0], [job for _, job in batch]


def _started(job: Job) -> Job:
    """Return the job with a feasible start, where 0 is none."""
    if job.start is not None or job.problem.totals is None or not np.any(job.problem.totals):
        return job
    return job._replace(start=job.problem.dual.feasible())


def _climb(job: Job, settings: Settings, begin: float, solution: Solution) -> Iterator[Solution]:
    """Yield ever better solutions of a problem on which pair steps make little progress."""
    problem, view = job.problem.dual, job.gram
    if problem.rows is not None:
        view, problem = view.take(problem.rows), replace(problem, rows=None)
    while _unfinished(solution, settings):
        left = settings.after(solution.n_iter, perf_counter() - begin)
        if solution.status == "stalled" and view.dtype == "float32":
            double = view.in_precision("float64")
            yield solve(problem, double, left, solution.beta).after(solution)
            return
        found = _in_features(problem, view, left, solution)
        if found is not None:
            yield found
            return
        if solution.status == "stalled":
            # Not even double precision reaches the tolerance.
            yield replace(solution, status="iteration_limit")
            return
        following = _run(problem, view, left.at_most(2 * solution.n_iter), solution.beta)
        solution = _whole(following, solution).after(solution)
        yield solution


def _run(problem: DualProblem, gram: Any, settings: Settings, start: np.ndarray) -> Solution:
    """Take pair steps."""
    return Decomposition().solve([Job(problem, gram, start)], settings)[0]


def _in_features(
    problem: DualProblem, gram: Gram, settings: Settings, solution: Solution
) -> Solution | None:
    """Go on with an interior point method; None where the rank is too large for it.

    Pair steps see to the last digits. On a matrix of low rank, those that do not end soon from
    there will not end at all: rounding keeps them from the tolerance.
    """
    if solution.negative_curvature:
        return None
    begin = perf_counter()
    totals = np.array([solution.beta[problem.group == g].sum() for g in range(problem.n_groups)])
    # A pair step takes some 10 n operations, 30 steps in features some 60 n rank^2.
    rank = max(np.sqrt(solution.n_iter / 6.0), _SMALL_RANK)
    double = gram.in_precision("float64")
    found = solve_in_features(problem, double, settings, totals, max_rank=rank)
    if found is None:
        return None
    there = _run(problem, double, replace(settings, max_iter=0), found.beta)
    start = there if there.objective <= solution.objective else solution
    left = settings.after(found.n_iter, perf_counter() - begin)
    ended = "interrupted" if there.status == "interrupted" else found.status
    if ended in ("time_limit", "interrupted"):
        left, status = replace(left, max_iter=0), ended
    else:
        left, status = left.at_most(_LAST * solution.n_iter), "iteration_limit"
    last = _whole(_run(problem, double, left, start.beta), start)
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


def _unfinished(solution: Solution, settings: Settings) -> bool:
    """Return whether a solver ended before the tolerance and before the limit of the user."""
    limited = 0 <= settings.max_iter <= solution.n_iter
    return solution.status == "stalled" or (solution.status == "iteration_limit" and not limited)
