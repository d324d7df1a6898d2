"""The ladder of solvers: the solver of a job, and the fallbacks if it misses the tolerance.

The solver that was asked for, or the first that takes the problem, begins. Where pair steps make
little progress, one loop goes through a list of rungs (`RUNGS`) until the tolerance is met or a
limit reached:

1. double precision, where the rounding of single precision ended the steps;
2. an interior point method in the features of the kernel matrix, as soon as the steps have cost as
   much as that would, where the rank is small enough; pair steps compute the last digits;
3. twice as many pair steps as before.

Pairs of classes that one native call did not finish (`class_pairs.py`) climb one by one.
Then variables next to a bound are snapped to it, and problems whose solution is divided by its
margin are solved to smaller tolerances, small relative to the margin (`mercer.solvers.margin`).

All of this is one run: rungs share its limits, and reports continue those of the rung before. A
Ctrl-C between two solvers ends the ladder with the best point so far and the status "interrupted";
solvers handle one that occurs while they work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from mercer.gram import Gram
from mercer.run import Run

from .base import Solver
from .class_pairs import ClassPairs, PairsOfClasses
from .coordinate_descent import CoordinateDescent
from .decomposition import Decomposition, refuse_overflow
from .feature_interior_point import solve_in_features
from .fista import FISTA
from .hard_margin import HardMargin
from .hard_tube import HardTube
from .interior_point_solver import InteriorPointSolver
from .margin import margin_of
from .problem import DualProblem, Job, Problem, Settings, Solution, without_signs
from .rounding import largest_square
from .smo import SMO
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
        names = ", ".join(dict.fromkeys(repr(s.name) for s in SOLVERS[1:]))
        raise ValueError(f"solver must be 'auto' or one of {names}; got {solver!r}.")
    raise ValueError(" ".join(dict.fromkeys(filter(None, refusals))))


def solve(
    problem: Problem | DualProblem,
    gram: Gram,
    settings: Settings,
    start: np.ndarray | None = None,
    solver: str | Solver = "auto",
    run: Run | None = None,
) -> Solution:
    """Solve one problem.

    Parameters
    ----------
    problem : Problem or DualProblem
        The problem.
    gram : Gram
        Kernel matrix of its objects.
    settings : Settings
        How accurately.
    start : array of shape (m,), optional
        A feasible point; default: one next to 0.
    solver : str or Solver, default="auto"
        Which solver to begin with; "auto": that of the settings.
    run : Run, optional
        Limits and listeners (`mercer.run`); by default there are none.

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
    return solve_jobs([Job(problem, gram, start)], settings, solver, run)[0]


def solve_jobs(
    jobs: Sequence[Job],
    settings: Settings,
    solver: str | Solver = "auto",
    run: Run | None = None,
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
    run : Run, optional
        Limits and listeners; by default there are none. ``max_iter`` is for each job.

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
    run = Run() if run is None else run
    asked = settings.solver if solver == "auto" else solver
    given, jobs, chosen = jobs, [], []
    for job in map(_ready, given):
        jobs.append(job)
        chosen.append(choose(job.problem, asked, job.gram))
    settings, wanted = _for_first_rung(jobs, settings), settings.tol
    solutions = _begun(chosen, jobs, settings, run)
    with run.until_stopped():
        _improve(jobs, chosen, solutions, settings, run)
        for k, job in enumerate(jobs):
            margin = getattr(job.problem, "margin", None)
            if margin is not None and "interrupted" not in [s.status for s in solutions]:
                solutions[k] = _tightened(job, chosen[k], settings, run, wanted, solutions[k])
    if run.status == "interrupted":
        solutions[-1].status = "interrupted"
    return solutions


def _for_first_rung(jobs: list[Job], settings: Settings) -> Settings:
    """Return the settings of the first solver: a margin sets the scale of its tolerance."""
    gram, problem = jobs[0].gram, jobs[0].problem
    margin = getattr(problem, "margin", None)
    if margin is None:
        gapless = getattr(problem, "unbounded", False) or gram.definiteness == "indefinite"
        return replace(settings, largest_gap=0.0) if gapless else settings
    settings = replace(settings, largest_gap=0.0)
    largest = largest_square(gram)
    floor = margin.floor(problem.dual.n_groups, largest)
    return replace(settings, tol=margin.first(settings.tol, largest), objective_floor=floor)


def _begun(chosen: list[Solver], jobs: list[Job], settings: Settings, run: Run) -> list[Solution]:
    """Return the solutions of the solvers that were chosen, each given consecutive jobs at once."""
    solutions: list[Solution] = []
    for _, pairs in groupby(zip(chosen, jobs, strict=True), key=itemgetter(0)):
        solvers, batch = zip(*pairs, strict=True)
        steps = None
        if isinstance(solvers[0], Decomposition):
            rows = max([len(job.problem.dual.lower) for job in batch])
            steps = _PATIENCE + _PATIENCE_PER_ROW * rows
        solutions += _called(solvers[0], batch, settings, run, steps)
    return solutions


def _called(
    solver: Solver, jobs: Sequence[Job], settings: Settings, run: Run, steps: int | None = None
) -> list[Solution]:
    """Call a solver: it is told its target, and the run how it ended; its time is measured."""
    began = run.seconds
    part = run.branch(steps=steps, target=settings.target)
    if len(jobs) == 1:
        solutions = [solver.solve(jobs[0], settings, part)]
    else:
        solutions = solver.solve_batch(jobs, settings, part)
    seconds = (run.seconds - began) / len(jobs)
    for solution in solutions:
        solution.seconds = seconds
        if solution.status == "interrupted":
            run.note("interrupted")
    return solutions


def _improve(
    jobs: list[Job],
    chosen: list[Solver],
    solutions: list[Solution],
    settings: Settings,
    run: Run,
) -> None:
    """Improve solutions in place: climb where pair steps made little progress, snap to bounds."""
    snapped = []
    for k, job in enumerate(jobs):
        if isinstance(job.problem, PairsOfClasses):
            stalled = solutions[k].stalled  # type: ignore[attr-defined]
            if stalled:
                _finish_pairs(job.problem, job.gram, solutions[k], stalled, settings, run)
            continue
        if solutions[k].status == "interrupted":
            return
        if isinstance(chosen[k], Decomposition) and _unfinished(solutions[k], run):
            refuse_overflow(solutions[k], job.gram)
            _climb(job, settings, run, solutions, k)
        if _in_arrays(job.problem) and chosen[k] in SOLVERS and job.problem.grouped:
            snapped.append(job.problem.dual)
    if len(snapped) == len(jobs):
        snap_to_bounds(snapped, solutions, jobs[0].gram, settings.tol)


def _in_arrays(problem: Any) -> bool:
    """Return whether a problem has a dual in arrays."""
    plain = isinstance(problem, Problem) and problem.omega is None
    return plain and hasattr(problem.loss, "pieces")


def _finish_pairs(
    pairs: PairsOfClasses,
    gram: Gram,
    found: Any,
    stalled: list[int],
    settings: Settings,
    run: Run,
) -> None:
    """Solve again, one by one, the pairs of classes on which the native call made no progress."""
    again = run.seconds
    for p in stalled:
        if run.seconds_left == 0.0:
            found.set_status(found.stalled, "time_limit")  # with the proofs of the native call
            break
        problem = pairs[p]
        start = problem.dual.feasible(found.part(found.coef, p))
        solution = solve(problem, gram, settings, start, run=run.branch())
        found.replace(p, solution)
        if solution.status == "interrupted":
            found.set_status(found.stalled, "interrupted")
            break
    found.seconds += run.seconds - again


def _tightened(
    job: Job, solver: Solver, settings: Settings, run: Run, wanted: float, solution: Solution
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
        settings = replace(settings, tol=tol)
        again = job._replace(start=solution.beta)
        more = _with_fallbacks(again, settings, run, solver).adding(solution)
        if more.status == "iteration_limit" and run.max_iter is None:
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


@dataclass
class _Climb:
    """One problem on the ladder: where it stands, and on which kernel matrix."""

    problem: DualProblem
    gram: Any
    settings: Settings
    run: Run
    solution: Solution
    ended: bool = False

    @property
    def left(self) -> Run:
        """What the run leaves after the steps so far."""
        return self.run.branch(after=self.solution.n_iter)

    def take_steps(self, steps: int) -> None:
        """Go on with pair steps from the best point."""
        found = self.pair_steps(self.left.branch(steps=steps), self.solution.beta)
        self.solution = _whole(found, self.solution).adding(self.solution)

    def pair_steps(self, run: Run, start: np.ndarray) -> Solution:
        """Return the solution of pair steps from a point."""
        job = Job(self.problem, self.gram, start)
        return _called(_PAIR_STEPS, [job], self.settings, run)[0]


def _climb(job: Job, settings: Settings, run: Run, solutions: list[Solution], k: int) -> None:
    """Improve a solution, in place, on which pair steps make little progress, rung by rung."""
    problem, view = job.problem.dual, job.gram
    if problem.rows is not None:
        view, problem = view.take(problem.rows), replace(problem, rows=None)
    climb = _Climb(problem, view, settings, run, solutions[k])
    while not climb.ended and _unfinished(climb.solution, run):
        next(rung for rung in RUNGS if rung(climb))
        solutions[k] = climb.solution


def _in_double_precision(climb: _Climb) -> bool:
    """Go on in double precision where single precision ended the steps; return whether it did."""
    if climb.solution.status != "stalled" or climb.gram.dtype != "float32":
        return False
    climb.gram = climb.gram.in_precision("float64")
    climb.take_steps(_PATIENCE + _PATIENCE_PER_ROW * len(climb.problem.lower))
    return True


def _in_features(climb: _Climb) -> bool:
    """Go on with an interior point method, unless the rank is too large for it.

    Pair steps see to the last digits. On a matrix of low rank, those that do not end soon from
    there will not end at all: rounding keeps them from the tolerance.
    """
    problem, gram, solution = climb.problem, climb.gram, climb.solution
    if solution.negative_curvature or gram.definiteness == "indefinite":
        return False
    totals = np.array([solution.beta[problem.group == g].sum() for g in range(problem.n_groups)])
    # A pair step takes some 10 n operations, 30 steps in features some 60 n rank^2.
    rank = max(np.sqrt(solution.n_iter / 6.0), _SMALL_RANK)
    double = gram.in_precision("float64")
    found = solve_in_features(problem, double, climb.settings, climb.left, totals, max_rank=rank)
    if found is None:
        return False
    climb.gram = double
    there = climb.pair_steps(climb.left.branch(steps=0), found.beta)
    start = there if there.objective <= solution.objective else solution
    left = climb.left.branch(after=found.n_iter)
    ended = "interrupted" if there.status == "interrupted" else found.status
    if ended in ("time_limit", "interrupted"):
        steps, status = 0, ended
    else:
        steps, status = _LAST * solution.n_iter, "iteration_limit"
    last = _whole(climb.pair_steps(left.branch(steps=steps), start.beta), start)
    if last.status in ("stalled", "iteration_limit"):
        last.status = status
    last.n_iter += found.n_iter
    last.n_kernel_values += gram.n * found.rank
    climb.solution, climb.ended = last.adding(solution), True
    return True


def _longer(climb: _Climb) -> bool:
    """Take twice as many pair steps as before, where not even double precision ended them."""
    if climb.solution.status == "stalled":
        climb.solution, climb.ended = replace(climb.solution, status="iteration_limit"), True
    else:
        climb.take_steps(2 * climb.solution.n_iter)
    return True


RUNGS: tuple[Callable[[_Climb], bool], ...] = (_in_double_precision, _in_features, _longer)
"""How a problem goes on, in this order; each returns whether it was taken."""


def _with_fallbacks(
    job: Job, settings: Settings, run: Run, solver: Solver | None = None
) -> Solution:
    """Solve one job, by default by pair steps, and climb where these make little progress."""
    chosen = [solver or Decomposition()]
    solutions = _begun(chosen, [job], settings, run)
    _improve([job], chosen, solutions, settings, run)
    return solutions[0]


def _whole(found: Solution, start: Solution) -> Solution:
    """Return a solution, or where an interrupt left its values unknown, the one it started from."""
    if found.status != "interrupted" or not np.isnan(found.values).any():
        return found
    work = ("n_iter", "n_kernel_values", "seconds", "n_outer", "cache_hits", "cache_misses")
    return replace(start, status="interrupted", **{name: getattr(found, name) for name in work})


def _unfinished(solution: Solution, run: Run) -> bool:
    """Return whether a solver ended before the tolerance and before the limit of the user."""
    limited = run.max_iter is not None and run.max_iter <= solution.n_iter
    return solution.status == "stalled" or (solution.status == "iteration_limit" and not limited)


_PAIR_STEPS = Decomposition()

SOLVERS: tuple[Solver, ...] = (
    ClassPairs(),
    _PAIR_STEPS,
    HardMargin(solve_jobs),
    HardTube(_with_fallbacks),
    HardMargin(solve_jobs, "interior_point"),
    InteriorPointSolver(),
    SMO(),
    CoordinateDescent(),
    FISTA(),
)
"""The solvers among which "auto" chooses, in this order."""

NAMES = (
    "auto",
    *dict.fromkeys(
        s.name
        for s in SOLVERS
        if Problem in s.kinds and None in s.omegas and all(hasattr(Gram, r) for r in s.requires)
    ),
)
"""What the parameter ``solver`` of a kernel machine may be: solvers for the norm of a function."""
