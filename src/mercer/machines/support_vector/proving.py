"""The proof of a fit: in which precision it is made, and what happens when it fails.

The values of a model on its training rows are a product of the kernel matrix with the returned
coefficients after the last step; solvers end with that product, so it is not computed twice. A
model trained on float32 kernel values is checked on float64 values where that is cheap beside the
fit, where rounding could be as large as the tolerance or keeps the gap from being small, or where
``dtype="float32"`` was asked for and is less accurate than ``dtype="auto"`` allows. One that then
violates its tolerance, or whose gap float32 values keep wide, is refined on float64 values, from
where it stands. What the errors of float32 values contribute to a proof is measured on a sample of
the rows.

A model within its tolerance whose relative gap exceeds `GAP_LIMIT` is solved further, with smaller
tolerances. The gap includes what rounding can contribute. Where that alone is too much in float64,
the status is "precision_limit".

After an interrupt the proof is computed from the values that the solver has, without further work.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram, refuse_asymmetry
from mercer.kernels import Definiteness, FromFunction, Kernel
from mercer.objects.arrays import Array
from mercer.run import Run
from mercer.solvers import Certificate, Settings
from mercer.solvers.centring import Centring
from mercer.solvers.certificate import GAP_LIMIT, SOLVER_VALUES
from mercer.solvers.class_pairs import PairSolutions
from mercer.solvers.curvature import Curvature, NegativeCurvature, look_for_negative_curvature
from mercer.solvers.feasibility import balanced
from mercer.solvers.prove.convex import Proof, certified, prove_models
from mercer.solvers.rounding import ValueErrors, estimated, largest_square, value_sizes
from mercer.solvers.task import joined

from ..kernel_estimator import TrainingData
from .multiclass import Scheme
from .rounding import ERROR, REACHED, SEEN, error_sample, largest_of, rounding_of_values
from .solving import TrainingKernel, solve_tasks

_NEGLIGIBLE, _UNSEEN = 1e-14, 1e-3
"""A coefficient this small beside the largest one, and whose part of a decision value is this
small beside the tolerance, is rounding, and set to 0."""

_CHEAP = 10
"""A float64 value costs about twice what a float32 one does: a tenth of the values of the fit,
checked in float64, is a fifth of its time."""

_CLOSER, _ATTEMPTS = 0.1, 6
"""Factor of the tolerance, and how often it is applied, while the gap is too large."""

_FIFTH = 0.2
"""Part of the time of a fit that looking for negative curvature may take."""

_NATIVE_VALUE = 2e-9
"""Seconds of a kernel value that does not come from Python."""

_MARGIN = 2.0
"""What the root mean square of the errors on a sample of the rows is multiplied by to serve for all
of them, where no error of the sample is larger. Proofs add up absolute errors of all rows: their
mean is no more than the root mean square, which 24 rows or more determine to about 15 %. Errors
of like sign add up faster than `ERROR` has it, and are seen on the sample."""

_HEAVIEST = 8
"""Rows of the largest |beta_i| r_i, where an error counts most, that the sample includes."""

_UNLIMITED = ("optimal", "stationary", "iteration_limit")
"""How a fit without a limit ends: within its tolerance, or where no step makes progress."""


@dataclass
class Fitting:
    """Everything a fit works on; nothing of it outlives the call of ``fit``."""

    data: TrainingData  # the rows of `gram`, before it was centred
    gram: Gram
    scheme: Scheme
    settings: Settings
    run: Run
    weight: Array
    tasks: Any  # `Task` objects: a list, or `PairTasks`
    solutions: Any  # a list of `Solution`, or `PairSolutions`
    centring: Centring | None = None  # of the rows behind `gram`
    stalled: set[int] = field(default_factory=set)  # tasks whose gap rounding kept from closing
    curvature: Curvature | None = None  # of a user's kernel, once it was examined
    rounding: float | None = None  # see `_rounding`, of these solutions
    share: float = 1.0  # measured errors of float32 values, as a multiple of the estimate
    measured: float = 0.0  # the largest of these errors
    repetition: Any = None  # which of the user's rows were taken together
    row_weight: Array | None = None  # the sample weights of these rows; None stands for ones
    stacked: tuple[list[Array], Array] | None = None  # coefficients, and their matrix

    @property
    def interrupted(self) -> bool:
        """Whether the user interrupted the fit, other than by a callback."""
        return self.run.by_keyboard

    @property
    def statuses(self) -> set[str]:
        """How the problems ended."""
        if isinstance(self.solutions, PairSolutions):
            return self.solutions.statuses
        return {solution.status for solution in self.solutions}

    @property
    def out_of_time(self) -> bool:
        """Whether a time limit left no time for the values that a proof is made of."""
        return any(s.status == "time_limit" and not s.fresh for s in self.solutions)

    @property
    def hurried(self) -> bool:
        """Whether the proof must be made of the values that the solver had at hand."""
        return self.interrupted or self.out_of_time

    def interrupt(self) -> None:
        """Take note of an interrupt that the solver did not see."""
        self.run.interrupt()
        if isinstance(self.solutions, PairSolutions):
            self.solutions.status = "interrupted"
            return
        for solution in self.solutions:
            solution.status = "interrupted"

    @property
    def boxed(self) -> bool:
        """Whether the loss bounds every coefficient, by the price of its row."""
        dual = self.tasks[0].problem.dual
        return dual.totals is None and bool(np.isfinite(dual.upper - dual.lower).all())

    def betas(self) -> list[Array]:
        """Return the coefficients of the rows of every task, in its units."""
        return [t.coef(s) for t, s in zip(self.tasks, self.solutions, strict=True)]

    def coefs(self) -> list[Array]:
        """Return the coefficients of the models, which are divided by their margins."""
        models = zip(self.tasks, self.solutions, self.betas(), strict=True)
        return [b if (u := t.scale(s)) == 1.0 else b / u for t, s, b in models]

    def widths(self) -> list[float]:
        """Return the margin, or minus the half width of the tube, of every task."""
        return [t.width(s) for t, s in zip(self.tasks, self.solutions, strict=True)]

    def matrix(self) -> Array:
        """Return the coefficients of all problems, laid out as ``dual_coef_``, over all rows."""
        return self.stack(self.betas())

    def support(self) -> NDArray[np.intp]:
        """Return the rows with a coefficient other than 0 in any task."""
        return np.flatnonzero(self.matrix().any(axis=0))

    def stack(self, betas: list[Array]) -> Array:
        """Return coefficients of all tasks as one matrix, made once of the same arrays."""
        if self.stacked is None or not all(map(operator.is_, betas, self.stacked[0])):
            self.stacked = betas, self.scheme.stack(betas)
        return self.stacked[1]

    def models(self) -> tuple[Array, Array, Array | None]:
        """Return the coefficients, laid out as ``dual_coef_``, over all rows, and the intercepts.

        The intercepts belong to the rows behind `gram`. Third are the unpenalised linear functions
        of all tasks, where there are any.
        """
        if isinstance(found := self.solutions, PairSolutions):
            return found.coef, found.intercept, None
        models = zip(self.tasks, self.solutions, strict=True)
        intercept = np.array([t.intercept(s) / t.scale(s) for t, s in models])
        linear = [s.linear for s in self.solutions]
        functions = None if linear[0] is None else np.array([a for _, a in linear])
        return self.stack(self.coefs()), intercept, functions

    def tidy(self) -> None:
        """Set coefficients to 0 that are rounding, and take rounding out of sums that count.

        Around a point far from the origin, a sum of coefficients other than 0 is multiplied by it.
        """
        self._drop_negligible()
        if self.centring is None:
            return
        for task, solution in zip(self.tasks, self.solutions, strict=True):
            dual = task.problem.dual
            beta = balanced(solution.beta, dual.lower, dual.upper)
            if beta is not solution.beta:
                solution.beta, solution.fresh = beta, False

    def _drop_negligible(self) -> None:
        """Set coefficients to 0 that are rounding beside the largest one of all tasks."""
        size = np.abs(joined([solution.beta for solution in self.solutions]))
        largest = float(size.max(initial=0.0))
        if not ((size > 0.0) & (size <= _NEGLIGIBLE * largest)).any():
            return
        for solution in self.solutions:
            size = np.abs(solution.beta)
            rounding = (size > 0.0) & (size <= _NEGLIGIBLE * largest)
            if rounding.any():  # and its effect on decision values is negligible
                rounding &= size * self.largest <= _UNSEEN * self.settings.tol
            if rounding.any():
                solution.beta = np.where(rounding, 0.0, solution.beta)
                solution.fresh = False

    def errors(self, precision: str, **more: Any) -> ValueErrors:
        """Return estimates of the errors of values that were computed in a precision."""
        single = precision.startswith("float32")
        if single and self.gram.coarse:  # both the value and the exact one are at most r_i r_j
            more["systematic"] = 2.0
        conditional = bool(self.gram.definiteness.order)
        share = ERROR["float32"] * self.share if single else 0.0
        return estimated(self.sizes, share, conditional=conditional, **more)

    def measure_errors(self, values: list[Array] | None) -> None:
        """Measure the errors of the float32 values K beta on a sample of the rows.

        `values`: those of the solver, used if there is one task. The values of several tasks cover
        the rows of each alone, so they are computed again.
        """
        matrix, scheme, n_jobs = self.matrix(), self.scheme, self.settings.n_jobs
        weight = np.abs(matrix) * self.sizes
        heaviest = largest_of(weight.max(axis=0), _HEAVIEST)
        rows = error_sample(self.gram, heaviest)
        known = values is not None and len(values) == 1
        precisions = ("float64",) if known else ("float32", "float64")
        kernels = [TrainingKernel(self.gram, d, n_jobs) for d in precisions]
        *singles, double = scheme.all_values_at(matrix, kernels, rows)
        single = values[0][rows, None] if known else singles[0]  # type: ignore[index]
        error, squares = np.abs(single - double), scheme.sums(np.square(weight))
        estimate = ERROR["float32"] * np.outer(self.sizes[rows], np.sqrt(squares))
        ratio = np.divide(error, estimate, out=np.zeros_like(error), where=estimate > 0.0)
        mean = math.sqrt(np.square(ratio).sum(axis=0).max(initial=0.0) / len(rows))
        self.share = float(max(_MARGIN * mean, ratio.max(initial=0.0)))
        self.measured = float(error.max(initial=0.0))

    @cached_property
    def sizes(self) -> Array:
        """Numbers r_i with |k(x_i, x_j)| <= r_i r_j."""
        return value_sizes(self.gram)

    def support_share(self, rows: NDArray[np.intp]) -> float:
        """Return the weight of all rows over that of the support vectors, inf without any."""
        share = float(self.weight[rows].sum())
        return float(self.weight.sum()) / share if share > 0.0 else math.inf

    @cached_property
    def largest(self) -> float:
        """The largest squared norm in feature space."""
        return largest_square(self.gram)


@dataclass
class Proved:
    """What is proved of the models of a fit, for each task.

    `terms`: what the gaps are relative to. `norm2`: squared norms. `intercept_range`: intervals of
    optimal intercepts, on the rows behind the Gram matrix. `excess`: by how much rows miss the
    region without loss, and `marks` of their coefficients: tables laid out as ``dual_coef_``.
    `precision`: to evaluate the models in. `negative_curvature`: of the kernel matrix, in the rows
    of the user.
    """

    certificates: Sequence[Certificate]
    converged: bool
    n_iter: NDArray[np.int32]
    terms: Array
    norm2: Array
    intercept_range: Array
    excess: NDArray[np.floating]
    marks: NDArray[np.int8]
    precision: str = "float64"
    negative_curvature: NegativeCurvature | None = None


def prove(fitting: Fitting, n_jobs: int | None) -> Proved:
    """Return what is proved of the models; the fitting is refined where needed."""
    if not fitting.hurried:
        fitting.tidy()
    check = checked(fitting, checking_precision(fitting), n_jobs)
    check = _recomputed(fitting, check, n_jobs)
    if fitting.curvature is None:
        _look_at_curvature(fitting)
    check = _closed(fitting, check, n_jobs)
    if check.precision == "float32" and not fitting.hurried and _stuck(fitting, check.proofs):
        fitting.stalled.clear()
        check = _closed(fitting, checked(fitting, "float64", n_jobs), n_jobs)
    check = _recomputed(fitting, check, n_jobs)
    _judge(fitting, check)
    found = certificates(fitting.gram, check, fitting.solutions, *convexity_of(fitting))
    store = np.float32 if fitting.gram.dtype == "float32" else np.float64
    return Proved(
        found,
        all(certificate.converged for certificate in found),
        np.array([certificate.n_iter for certificate in found], dtype=np.int32),
        np.array([proof.values.terms for proof in check.proofs]),
        np.array([proof.values.norm2 for proof in check.proofs]),
        np.array([proof.intercept_range for proof in check.proofs]),
        fitting.scheme.stack([p.excess.astype(store, copy=False) for p in check.proofs]),
        fitting.scheme.stack([proof.marks for proof in check.proofs]),
        predicting_precision(fitting),
        _in_all_rows(fitting),
    )


@dataclass
class Check:
    """The proofs of all tasks, from kernel values of one precision."""

    proofs: list[Proof]
    precision: str


def _recomputed(fitting: Fitting, check: Check, n_jobs: int | None) -> Check:
    """Recompute a proof in float64 if rounding dominates the gap, and refine the models there."""
    if check.precision == "float32" and _unsure(fitting, check.proofs):
        check = checked(fitting, "float64", n_jobs)
    double = check.precision == "float64" and fitting.gram.dtype == "float32"
    if double and _refinable(fitting, check.proofs):
        _refine(fitting, "float64", fitting.settings, range(len(fitting.tasks)))
        check = checked(fitting, "float64", n_jobs)
    return check


def _look_at_curvature(fitting: Fitting) -> None:
    """Look whether the problem of a user's kernel is convex, before it is called optimal."""
    known = fitting.gram.definiteness
    if known is Definiteness.INDEFINITE:
        _call_stationary(fitting)  # there is no gap to close
    if fitting.hurried or known.order == 2 or assumption(fitting.gram.kernel, known) is None:
        return
    seconds = sum(solution.seconds for solution in fitting.solutions)
    values = sum(int(solution.n_kernel_values) for solution in fitting.solutions)
    per_value = seconds / max(values, 1) if fitting.gram.in_python else _NATIVE_VALUE
    fitting.curvature = look_for_negative_curvature(
        fitting.gram,
        fitting.support(),
        sum_zero=fitting.tasks[0].problem.sums_to_zero,
        seconds=_FIFTH * seconds,
        value_seconds=per_value,
    )
    if fitting.curvature.negative is not None:
        _call_stationary(fitting)


def _call_stationary(fitting: Fitting) -> None:
    """Take note that the problems are not convex."""
    for solution in fitting.solutions:
        solution.negative_curvature = True
        if solution.status == "optimal":
            solution.status = "stationary"


def _closed(fitting: Fitting, check: Check, n_jobs: int | None) -> Check:
    """Go on with tasks that are within their tolerance while their gap is too large."""
    settings, precision = fitting.settings, check.precision
    began = [solution.status for solution in fitting.solutions]
    reached = [p.values.relative_gap for p in check.proofs]
    for attempt in range(_ATTEMPTS if settings.largest_gap > 0.0 else 0):
        wide = [
            t
            for t, (solution, found) in enumerate(zip(fitting.solutions, check.proofs, strict=True))
            if solution.status == "optimal"
            and found.values.computed_gap > GAP_LIMIT
            and t not in fitting.stalled
            and (attempt == 0 or found.values.relative_gap < 0.9 * reached[t])
        ]
        if not wide or fitting.hurried:
            break
        reached = [p.values.relative_gap for p in check.proofs]
        settings = replace(settings, tol=_CLOSER * settings.tol)
        _refine(fitting, precision, settings, wide)
        check = checked(fitting, precision, n_jobs)
        for t in wide:
            solution = fitting.solutions[t]
            if solution.status == "iteration_limit" and fitting.run.max_iter is None:
                # Rounding ends what no limit does; the tolerance that was asked for is met.
                solution.status = began[t]
                fitting.stalled.add(t)
    return check


def _judge(fitting: Fitting, check: Check) -> None:
    """Take back the status of models that the proof does not confirm."""
    settings, proofs = fitting.settings, check.proofs
    missed = [_excess(settings, proof) for proof in proofs]
    # Errors of float32 values add up to no more than the tolerance; see `checking_precision`.
    rounding = 0.0
    if check.precision == "float32" and max(missed) > 0.0 and not fitting.hurried:
        rounding = _rounding(fitting)
    unlimited = fitting.run.max_iter is None and not fitting.interrupted
    for t, (solution, proof) in enumerate(zip(fitting.solutions, proofs, strict=True)):
        wide = settings.gap_tol is None and proof.values.relative_gap > REACHED * GAP_LIMIT
        if missed[t] <= rounding and not wide:
            continue
        if unlimited and solution.status in _UNLIMITED:
            refuse_asymmetry(fitting.gram, fitting.support(), fitting.data.kept)
        ended = solution.status == "iteration_limit" and unlimited
        if solution.status == "optimal" or ended:  # the solver was wrong about its own values
            limited = _limited_by_rounding(fitting, t, proof)
            solution.status = "precision_limit" if limited else "iteration_limit"


def _limited_by_rounding(fitting: Fitting, t: int, proof: Proof) -> bool:
    """Return whether rounding in float64 explains that a model misses what was asked for."""
    if t in fitting.stalled:
        return True
    settings, values = fitting.settings, proof.values
    limit = GAP_LIMIT if settings.gap_tol is None else settings.gap_tol
    if values.rounding > SEEN * limit * values.terms:
        return True
    if settings.gap_tol is not None:
        return False
    task, beta = fitting.tasks[t], fitting.tasks[t].coef(fitting.solutions[t])
    (error,) = rounding_of_values(fitting.gram, [task], [beta], "float64", settings.n_jobs)
    return error > SEEN * settings.tol


def _unsure(fitting: Fitting, proofs: list[Proof]) -> bool:
    """Return whether errors of float32 values exceed the tolerance, or alone keep a gap wide."""
    settings = fitting.settings
    limit = REACHED * (GAP_LIMIT if settings.gap_tol is None else settings.gap_tol)
    wide = any(p.values.computed_gap <= limit < p.values.relative_gap for p in proofs)
    return wide or fitting.measured > settings.tol


def _stuck(fitting: Fitting, proofs: list[Proof]) -> bool:
    """Return whether a gap stayed wide that errors of float32 values contribute to."""
    return fitting.settings.gap_tol is None and any(
        s.status == "optimal"
        and p.values.relative_gap > REACHED * GAP_LIMIT
        and p.values.rounding > SEEN * GAP_LIMIT * p.values.terms
        for s, p in zip(fitting.solutions, proofs, strict=True)
    )


def _refine(fitting: Fitting, precision: str, settings: Settings, chosen: Sequence[int]) -> None:
    """Go on with some tasks from where they are, on kernel values of a precision."""
    gram = fitting.gram.in_precision(precision)
    tasks = [fitting.tasks[t] for t in chosen]
    starts: list[Array | None] = [
        task.start(task.coef(fitting.solutions[t])) for task, t in zip(tasks, chosen, strict=True)
    ]
    steps = max(fitting.solutions[t].n_iter for t in chosen)
    refined = solve_tasks(tasks, gram, settings, fitting.run.branch(after=steps), starts)
    for t, solution in zip(chosen, refined, strict=True):
        fitting.solutions[t] = solution.adding(fitting.solutions[t])
    fitting.gram, fitting.rounding = gram, None
    if not fitting.hurried:
        fitting.tidy()


def checked(
    fitting: Fitting, precision: str, n_jobs: int | None, bounds: ValueErrors | None = None
) -> Check:
    """Return the proofs of the models on kernel values of a precision.

    `bounds`: guaranteed errors of these values, in place of estimates.
    """
    if fitting.hurried:
        return _as_solved(fitting)
    return Check(_proofs(fitting, precision, n_jobs, bounds), precision)


def _as_solved(fitting: Fitting) -> Check:
    """Return the proofs from the values that the solver left, NaN where it has none."""
    tasks, solutions = fitting.tasks, fitting.solutions
    values = [task.values(solution) for task, solution in zip(tasks, solutions, strict=True)]
    lowest = min(solution.precision for solution in fitting.solutions)
    proofs = prove_models(tasks, solutions, values, fitting.errors(lowest))
    return Check(proofs, f"{lowest}, {SOLVER_VALUES}")


def _in_all_rows(fitting: Fitting) -> NegativeCurvature | None:
    """Return the direction of negative curvature that was found, in the rows of the user."""
    found = None if fitting.curvature is None else fitting.curvature.negative
    if found is None or fitting.data.kept is None:
        return found
    return replace(found, rows=fitting.data.kept[found.rows])


def checking_precision(fitting: Fitting) -> str:
    """Return the precision in which the model is to be checked."""
    if fitting.gram.dtype == "float64" or fitting.hurried:
        return fitting.gram.dtype
    # Of a linear kernel there is a weight vector, which costs next to nothing.
    if fitting.gram.linear or fitting.gram.coarse:
        return "float64"
    spent = sum(int(solution.n_kernel_values) for solution in fitting.solutions)
    if _CHEAP * len(fitting.support()) * fitting.gram.n <= spent:
        return "float64"
    return "float64" if _rounding(fitting) > fitting.settings.tol else "float32"


def predicting_precision(fitting: Fitting) -> str:
    """Return the precision to evaluate the model in: single where it says what was proved."""
    gram = fitting.gram
    single = gram.dtype == "float32" and not (gram.linear or gram.coarse)
    if single and (fitting.interrupted or _rounding(fitting) <= fitting.settings.tol):
        return "float32"
    return "float64"


def _rounding(fitting: Fitting) -> float:
    """Return the effect of float32 rounding on the KKT violation, estimated once."""
    if fitting.rounding is None:
        fitting.rounding = _estimate(fitting)
    return fitting.rounding


def _estimate(fitting: Fitting) -> float:
    """Estimate the effect of float32 rounding on the KKT violation.

    Where the largest k(x, x), which bounds all values of a positive semidefinite kernel, shows that
    it is less than the tolerance, that will do.
    """
    betas = fitting.betas()
    if fitting.gram.definiteness.is_psd:
        # Not beta @ beta, for which BLAS wakes threads that spin while the next fit computes.
        norms = [math.sqrt(float(np.square(beta).sum())) for beta in betas]
        bound = ERROR["float32"] * fitting.largest * max(norms)
        if bound <= fitting.settings.tol:
            return bound
    models = fitting.tasks, betas
    return max(rounding_of_values(fitting.gram, *models, "float32", fitting.settings.n_jobs))


def _proofs(
    fitting: Fitting, precision: str, n_jobs: int | None, bounds: ValueErrors | None
) -> list[Proof]:
    values = _fresh_values(fitting) if precision == fitting.gram.dtype else None
    kernel = TrainingKernel(fitting.gram, precision, n_jobs)
    if precision == "float32":
        fitting.measure_errors(values)
    if values is None:
        values = fitting.scheme.training_values(fitting.matrix(), kernel)
    scheme, moved = fitting.scheme, fitting.centring
    errors = replace(
        fitting.errors(precision) if bounds is None else bounds,
        product=lambda betas: scheme.training_values(scheme.stack(betas), kernel),
        conditional=bool(fitting.gram.definiteness.order),
        reach=None if moved is None else moved.reach(fitting.data.X),
    )
    return prove_models(fitting.tasks, fitting.solutions, values, errors)


def _fresh_values(fitting: Fitting) -> list[Array] | None:
    """Return the values of the models where the solver's last act was to compute them.

    It reads rows of the matrix as columns, which for a Python function is to be proved. Where some
    of the tasks alone were refined, the values of the others are of a lower precision.
    """
    precision = fitting.gram.dtype
    fresh = all(s.fresh and s.precision in (precision, "float64") for s in fitting.solutions)
    if fitting.gram.in_python or not fresh:
        return None
    pairs = zip(fitting.tasks, fitting.solutions, strict=True)
    return [task.values(solution) for task, solution in pairs]


def _refinable(fitting: Fitting, proofs: list[Proof]) -> bool:
    """Return whether a model that was meant to be within its tolerance is not."""
    if any(solution.status != "optimal" for solution in fitting.solutions):
        return False
    return any(_excess(fitting.settings, proof) > 0.0 for proof in proofs)


def _excess(settings: Settings, proof: Proof) -> float:
    """Return by how much a model misses the tolerance that was asked for."""
    if settings.gap_tol is not None:
        return proof.values.relative_gap - REACHED * settings.gap_tol
    return proof.violation - REACHED * settings.tol


def certificates(
    gram: Gram,
    check: Check,
    counts: Sequence[Any],
    convexity: str = "theorem",
    eigenvalue: float | None = None,
) -> list[Certificate]:
    """Return the certificates of all tasks; an indefinite kernel has stationary points and no gap.

    `counts`: carry ``status``, ``n_iter``, ``n_kernel_values`` and ``seconds``. `convexity`,
    `eigenvalue`: what is known of the kernel matrix of a user's kernel, and a negative eigenvalue
    of it.
    """
    indefinite = gram.definiteness is Definiteness.INDEFINITE
    assumed = assumption(gram.kernel, gram.definiteness)
    result = []
    for proof, count in zip(check.proofs, counts, strict=True):
        curved = count.status == "stationary" or getattr(count, "negative_curvature", False)
        result.append(
            certified(
                count,
                proof.values,
                proof.violation,
                check.precision,
                assumes=assumed,
                convexity="refuted" if indefinite or curved else convexity,
                eigenvalue=eigenvalue,
            )
        )
    return result


def convexity_of(fitting: Fitting) -> tuple[str, float | None]:
    """Return what is known of the convexity of a fit's problems, and a negative eigenvalue."""
    found = fitting.curvature
    if assumption(fitting.gram.kernel, fitting.gram.definiteness) is None:
        return "theorem", None
    if found is None:
        return "not ruled out", None
    if found.negative is not None:
        return "refuted", found.negative.eigenvalue
    return ("checked" if found.complete else "not ruled out"), None


def assumption(kernel: Kernel, known: Definiteness | None = None) -> str | None:
    """Return "psd" where definiteness is the user's word, None where it is a theorem.

    "cpd" is the user's word for conditional definiteness, which an intercept makes sufficient, or
    a linear function beside it. `known`: what is known of the kernel, where that was asked before.
    """
    known = kernel.definiteness if known is None else known
    if known is Definiteness.UNKNOWN or _has_user_code(kernel):
        return "cpd" if known.order else "psd"
    return None


def _has_user_code(kernel: Kernel) -> bool:
    return isinstance(kernel, FromFunction) or any(map(_has_user_code, kernel.inner_kernels()))
