"""The ladder of solvers: the solver of a job, and the fallbacks if it misses the tolerance.

The first rung is the solver that was asked for, or the first that takes the problem. Pair steps
that make little progress are followed, rung by rung, by

1. double precision, where the rounding of single precision ended them;
2. an interior point method in the features of the kernel matrix, as soon as they have cost as much
   as that would, where the rank is small enough; pair steps compute the last digits;
3. twice as many pair steps as before.

Pairs of classes that one native call did not finish (`class_pairs.py`) climb one by one.
Then variables next to a bound are snapped to it, and problems whose solution is divided by its
margin are solved to smaller tolerances, small relative to the margin (`mercer.solvers.margin`).

All rungs share the limits of the settings. A Ctrl-C between two runs ends the ladder with the best
point so far and the status "interrupted"; solvers handle one that occurs during a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np

from mercer.gram import Gram

from .base import Solver
from .class_pairs import ClassPairs, PairsOfClasses
from .decomposition import Decomposition, refuse_overflow
from .feature_interior_point import solve_in_features
from .hard_margin import HardMargin
from .hard_tube import HardTube
from .interior_point_solver import InteriorPointSolver
from .interrupt import interrupted
from .margin import margin_of
from .problem import DualProblem, Job, Problem, Settings, Solution, without_signs
from .rounding import largest_square
from .snapping import snap_to_bounds

FINE_TOL, FINE_GAP = 1e-5, 1e-6
"""Tolerances on violation and relative gap below which float32 kernel values are too coarse."""

_PATIENCE, _PATIENCE_PER_ROW = 20_000, 20
"""Pair steps after which a problem is suspected to be badly conditioned."""

_LAST = 20
"""Times as many steps as before that may follow on an interior point method."""

_SMALL_RANK = 64
"""A rank that is always worth a try."""


def choose(problem: Any, solver: str | Solver = "auto", operator: Any = None) -> Solver:
    """Return the solver for a problem, or refuse it with the sentences of those that could be.

    Parameters
    ----------
    problem : Problem or DualProblem
        The problem.
    solver : str or Solver
        "auto", the name of a solver, or a solver.
    operator : Operator, optional
        What the solver will be given, such as a Gram; refused as well if it lacks what the solver
        asks of it.

    Returns
    -------
    Solver
        The solver.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import Problem, choose
    >>> choose(Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2))).name
    'decomposition'
    """
    candidates = SOLVERS if isinstance(solver, str) else (solver,)
    refusals = []
    for candidate in candidates:
        if solver in ("auto", candidate.name, candidate):
            refusal = candidate.takes(problem, operator)
            if refusal is None:
                return candidate
            refusals.append(refusal)
    if not refusals:
        names = ", ".join(repr(name) for name in NAMES[1:])
        raise ValueError(f"solver must be 'auto' or one of {names}; got {solver!r}.")
    raise ValueError(" ".join(dict.fromkeys(filter(None, refusals))))


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
        Which solver to begin with; "auto": that of the settings.

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
        Which solver to begin with; "auto": that of the settings.

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
    asked = settings.solver if solver == "auto" else solver
    jobs = list(map(_ready, jobs))
    chosen = [choose(job.problem, asked, job.gram) for job in jobs]
    settings, wanted = _for_first_rung(jobs, settings), settings.tol
    solutions = _first_rung(chosen, jobs, settings)

    def go_on() -> None:
        _improve(jobs, chosen, solutions, settings, begin)
        for k, job in enumerate(jobs):
            margin = getattr(job.problem, "margin", None)
            if margin is not None and "interrupted" not in [s.status for s in solutions]:
                left = settings.after(0, perf_counter() - begin)
                solutions[k] = _tightened(job, chosen[k], left, wanted, solutions[k])

    if interrupted(go_on):
        solutions[-1].status = "interrupted"
    return solutions


def _for_first_rung(jobs: list[Job], settings: Settings) -> Settings:
    """Return the settings of the first rung: a margin sets the scale of its tolerance."""
    gram, problem = jobs[0].gram, jobs[0].problem
    margin = getattr(problem, "margin", None)
    if margin is None:
        gapless = getattr(problem, "unbounded", False) or gram.definiteness == "indefinite"
        return replace(settings, largest_gap=0.0) if gapless else settings
    settings = replace(settings, largest_gap=0.0)
    largest = largest_square(gram)
    floor = margin.floor(problem.dual.n_groups, largest)
    return replace(settings, tol=margin.first(settings.tol, largest), objective_floor=floor)


def _first_rung(chosen: list[Solver], jobs: list[Job], settings: Settings) -> list[Solution]:
    """Return the solutions of the solvers that were chosen, each given consecutive jobs at once."""
    solutions: list[Solution] = []
    for _, pairs in groupby(zip(chosen, jobs, strict=True), key=lambda pair: id(pair[0])):
        solvers, batch = zip(*pairs, strict=True)
        steps = settings
        if isinstance(solvers[0], Decomposition):
            rows = max([len(job.problem.dual.lower) for job in batch])
            steps = settings.at_most(_PATIENCE + _PATIENCE_PER_ROW * rows)
        solutions += solvers[0].solve(batch, steps)
    return solutions


def _improve(
    jobs: list[Job],
    chosen: list[Solver],
    solutions: list[Solution],
    settings: Settings,
    begin: float,
) -> None:
    """Improve solutions in place: climb where pair steps made little progress, snap to bounds."""
    snapped = []
    for k, job in enumerate(jobs):
        if isinstance(job.problem, PairsOfClasses):
            _finish_pairs(job.problem, job.gram, solutions[k], settings, begin)
            continue
        if solutions[k].status == "interrupted":
            return
        if isinstance(chosen[k], Decomposition) and _unfinished(solutions[k], settings):
            refuse_overflow(solutions[k], job.gram)
            for better in _climb(job, settings, begin, solutions[k]):
                solutions[k] = better
        if _in_arrays(job.problem) and chosen[k] in SOLVERS and job.problem.grouped:
            snapped.append(job.problem.dual)
    if len(snapped) == len(jobs):
        snap_to_bounds(snapped, solutions, jobs[0].gram, settings.tol)


def _in_arrays(problem: Any) -> bool:
    """Return whether a problem has a dual in arrays."""
    plain = isinstance(problem, Problem) and problem.omega is None
    return plain and hasattr(problem.loss, "pieces")


def _finish_pairs(
    pairs: PairsOfClasses, gram: Gram, found: Any, settings: Settings, begin: float
) -> None:
    """Solve again, one by one, the pairs of classes on which the native call made no progress."""
    stalled, again = found.stalled, perf_counter()
    for p in stalled:
        spent = perf_counter() - begin
        if settings.time_limit is not None and spent >= settings.time_limit:
            found.set_status(found.stalled, "time_limit")  # with the proofs of the native call
            break
        problem = pairs.pair(p)
        start = problem.dual.feasible(found.part(found.coef, p))
        solution = solve(problem, gram, settings.after(0, spent), start)
        found.replace(p, solution)
        if solution.status == "interrupted":
            found.set_status(found.stalled, "interrupted")
            break
    if stalled:
        found.seconds += perf_counter() - again


def _tightened(
    job: Job, solver: Solver, settings: Settings, wanted: float, solution: Solution
) -> Solution:
    """Go on with smaller tolerances until they are small beside the margin."""
    problem: Any = job.problem
    largest = largest_square(job.gram)
    for _ in range(problem.margin.attempts):
        if solution.status != "optimal":
            break
        rho = margin_of(problem.totals, solution.multiplier)
        tol = problem.margin.following(rho, solution.beta, largest, settings.tol, wanted)
        if tol is None:
            break
        settings, begin = replace(settings, tol=tol), perf_counter()
        again = job._replace(start=solution.beta)
        more = _with_fallbacks(again, settings, solver).adding(solution)
        settings = settings.after(0, perf_counter() - begin)
        if more.status == "iteration_limit" and settings.max_iter < 0:
            # Rounding ends what no limit does; the tolerance that was asked for is met.
            more.status = solution.status
            if more.kkt_violation >= solution.kkt_violation:
                solution.n_iter, solution.seconds = more.n_iter, more.seconds
                break
        solution = more
    return solution


def _ready(job: Job) -> Job:
    """Return the job with its signs in the Gram matrix and a feasible start, where 0 is none."""
    problem, gram = job.problem, job.gram
    if isinstance(problem, Problem):
        problem, gram = without_signs(problem, gram)
    start = job.start
    if start is None and problem.totals is not None and np.any(problem.totals):
        start = problem.dual.feasible()
    if problem is job.problem and start is job.start:
        return job
    return Job(problem, gram, start)


def _climb(job: Job, settings: Settings, begin: float, solution: Solution) -> Iterator[Solution]:
    """Yield ever better solutions of a problem on which pair steps make little progress."""
    problem, view = job.problem.dual, job.gram
    if problem.rows is not None:
        view, problem = view.take(problem.rows), replace(problem, rows=None)
    while _unfinished(solution, settings):
        left = settings.after(solution.n_iter, perf_counter() - begin)
        if solution.status == "stalled" and view.dtype == "float32":
            double = view.in_precision("float64")
            yield _with_fallbacks(Job(problem, double, solution.beta), left).adding(solution)
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
        solution = _whole(following, solution).adding(solution)
        yield solution


def _with_fallbacks(job: Job, settings: Settings, solver: Solver | None = None) -> Solution:
    """Solve one job, by default by pair steps, and climb where these make little progress."""
    begin, chosen = perf_counter(), [solver or Decomposition()]
    solutions = _first_rung(chosen, [job], settings)
    _improve([job], chosen, solutions, settings, begin)
    return solutions[0]


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
    if solution.negative_curvature or gram.definiteness == "indefinite":
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
    return last.adding(solution)


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


SOLVERS: tuple[Solver, ...] = (
    ClassPairs(),
    Decomposition(),
    HardMargin(solve_jobs),
    HardTube(_with_fallbacks),
    HardMargin(solve_jobs, "interior_point"),
    InteriorPointSolver(),
)
"""The solvers among which "auto" chooses, in this order."""

NAMES = ("auto", *dict.fromkeys(s.name for s in SOLVERS if not isinstance(s, ClassPairs)))
"""What the parameter ``solver`` of a machine may be; pairs of classes are found, not asked for."""
