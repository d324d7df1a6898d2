"""The decomposition solver: block working sets, inner second-order SMO, shrinking.

Problem: see `mercer.solvers.problem`. Method: E. Osuna, R. Freund, F. Girosi, "Training support
vector machines: an application to face detection", CVPR 1997; T. Joachims, "Making large-scale
SVM learning practical", 1999 (working sets, shrinking); R.-E. Fan, P.-H. Chen, C.-J. Lin,
"Working set selection using second order information for training SVM", JMLR 6, 2005 (pairs).
The loops are native (``cpp/decomposition.cpp``). Returned: the variables, K beta, the multipliers
of the equalities with their intervals, and how the solver stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from mercer.gram import Gram
from mercer.gram.matrix import native_jobs
from mercer.gram.overflow import advice
from mercer.run import Run

from .base import Solver, in_turn
from .problem import DualProblem, Job, Problem, Settings, Solution

_ONE_STEP = 0.5  # seconds; a kernel of long sequences may need more for its diagonal alone


class Decomposition(Solver):
    """The native solver, for losses with pieces and at most two equalities."""

    name = "decomposition"
    kinds = (Problem, DualProblem)
    requires = ("native",)
    needs_loss = ("pieces",)
    bases = totals = ("none", "bias", "groups")
    prices = ("finite", "mixed")
    kinks = True

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        """Return the solution of one problem."""
        return _run([job], settings, run)[0]

    def solve_batch(self, jobs: Sequence[Job], settings: Settings, run: Run) -> list[Solution]:
        """Return the solutions; jobs of one Gram go to the core together."""
        batches = [list(batch) for _, batch in groupby(jobs, key=lambda job: job.gram)]
        return in_turn(lambda batch, left: _run(batch, settings, left), batches, run)


def _run(jobs: Sequence[Job], settings: Settings, run: Run) -> list[Solution]:
    """Call the native solver on jobs of one Gram.

    Where the time limit ends it at a function that is 0, it takes one pair step nevertheless, if
    that takes no longer than `_ONE_STEP`.
    """
    gram = jobs[0].gram
    evaluator, objects = gram.native
    options, callback = native_settings(settings, run)
    natives = [job.problem.dual.native(job.start) for job in jobs]

    def solved(which: Sequence[int], options: dict[str, Any]) -> list[dict[str, Any]]:
        chosen = [natives[k] for k in which]
        try:
            return list(evaluator.solve(objects, chosen, options, callback, gram.kept_rows))
        except ValueError as error:
            blame_overflow(gram, error)
            raise

    found = solved(range(len(jobs)), options)
    empty = [
        k
        for k, (job, d) in enumerate(zip(jobs, found, strict=True))
        if d["status"] == "time_limit" and not _is_begun(job, d["beta"])
    ]
    if empty:
        begun = solved(empty, options | {"max_iter": 1, "time_limit": _ONE_STEP})
        for k, d in zip(empty, begun, strict=True):
            ended = "time_limit" if d["status"] == "iteration_limit" else d["status"]
            found[k] = d | {"status": ended}
    solutions: list[Solution] = []

    def read() -> None:
        solutions[:] = [_solution(d, gram.dtype) for d in found]

    if run.keep(read):
        solutions[-1].status = "interrupted"
    return solutions


def _is_begun(job: Job, beta: np.ndarray) -> bool:
    """Return whether the function with these variables is other than 0."""
    rows = job.problem.dual.rows
    return bool(np.any(beta if rows is None else np.bincount(rows, beta)))


def blame_overflow(gram: Gram, error: ValueError) -> None:
    """Raise an error that names the k(x, x) that overflows, if that is why the core refused."""
    own = gram.diag()
    if np.isfinite(own).all():
        return
    i = int(np.argmin(np.isfinite(own)))
    raise ValueError(
        f"kernel values are not finite on these objects: k(x, x) of object {i} under "
        f"{gram.kernel!r} overflows; {advice(gram.kernel)}."
    ) from error


def refuse_overflow(solution: Solution, gram: Gram) -> None:
    """Raise if products of kernel values and coefficients overflowed."""
    ended = solution.status in ("stalled", "iteration_limit")
    finite = math.isfinite(solution.kkt_violation) and np.isfinite(solution.values).all()
    if ended and not finite:
        raise ValueError(
            f"kernel values of up to {float(np.abs(gram.diag()).max()):.3g} times coefficients of "
            f"up to {float(np.abs(solution.beta).max()):.3g} overflow; {advice(gram.kernel)}, or "
            "use a smaller C."
        )


def native_settings(s: Settings, run: Run) -> tuple[dict[str, Any], Callable[..., bool] | None]:
    """Return settings, limits and callback as the native solvers take them."""
    for name in ("tol", "gap_tol", "largest_gap", "cache_size"):
        number = getattr(s, name)
        if not float(number or 0.0) >= 0.0:
            raise ValueError(f"{name} must be a number >= 0; got {number!r}.")
    seconds, callback = run.native()
    numbers = {
        "tol": float(s.tol),
        "gap_tol": float(s.gap_tol or 0.0),
        "largest_gap": float(s.largest_gap),
        "max_iter": -1 if run.max_iter is None else run.max_iter,
        "time_limit": seconds,
        "shrinking": bool(s.shrinking),
        "cache_bytes": float(s.cache_size) * 2**20,
        "n_jobs": native_jobs(s.n_jobs),
        "working_set": int(s.working_set),
        "objective_floor": float(s.objective_floor),
    }
    return numbers, callback


def _solution(d: dict[str, Any], precision: str) -> Solution:
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
        precision=precision,
        n_outer=d["outer"],
        cache_hits=d["cache_hits"],
        cache_misses=d["cache_misses"],
        negative_curvature=d["negative_curvature"],
        fresh=d["fresh"],
        near_bound=d["near_bound"],
    )
