"""A fit on one page, from data to a certified model.

``SVC.fit`` and the other machines call `fit`, which goes through these steps:

==========  ======================================================================================
enter       ``machine._enter`` (`..estimator`): validate X, y and weights, bind the kernel
merge       `find_repetition`: equal rows become one row with the sum of their weights
centre      `centring`: the rows of a linear kernel with an intercept around a point of the data
pose        ``machine._pose``: labels become tasks (`multiclass`); ``machine._problem``: the problem
            of each task (`tasks`)
Gram        ``machine._gram``: the kernel matrix, in the precision that the tolerance needs
solve       `solve_tasks`: the problems to the ladder (`mercer.solvers.ladder`), a `Solution` each
keep        ``machine._keep``: `prove` the model (`proving`: values, `prove_models`, refinement,
            status), read coefficients and intercepts (`Task.coef`, `Task.intercept`), set the
            fitted attributes and ``certificates_``
share out   ``machine._share_out``: the coefficients of merged rows
conclude    ``machine._finish`` (calibration), warnings (`fit_diagnosis`, `remarks`)
==========  ======================================================================================

Small problems for all pairs of classes are one problem, which a native call solves and proves
(`class_pairs`). `fit_on` is the same fit without the step "enter", for callers that have validated
samples and their kernel matrix: folds, values of C, leave-one-out. `solve_on` ends with "solve",
for calibration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from time import perf_counter
from typing import Any, NamedTuple

from mercer.gram import Gram
from mercer.kernels import Kernel
from mercer.objects.validation import count
from mercer.run import Run
from mercer.solvers import Settings
from mercer.solvers.centring import Centring, centring
from mercer.solvers.class_pairs import PairSolutions

from ..constant_kernels import warn_of_constant
from ..kernel_estimator import TrainingData
from ..progress import Listener, is_watched, listening
from . import class_pairs, fit_diagnosis
from .definiteness import check_definiteness
from .linear_part import with_linear_part
from .proving import Fitting
from .remarks import remark
from .repetition import find_repetition
from .solving import settings_for, solve_tasks
from .tasks import pose_tasks

_RESERVED = 0.1
"""Most of the time left that is kept for the steps behind the solver."""

_NO_NORM = 1e-9
"""A squared norm this small relative to the largest k(x, x) suggests a constant kernel."""


class _Limits(NamedTuple):
    """When a fit was called, and the accuracy and the run that the caller gave, if any."""

    begin: float
    settings: Settings | None = None
    run: Run | None = None

    def of(self, machine: Any, listeners: Sequence[Listener] = ()) -> tuple[Settings, Run]:
        """Return accuracy and run of the solver; time counts from the moment fit was called."""
        settings = settings_for(machine) if self.settings is None else self.settings
        if self.run is not None:
            return settings, self.run
        limit = None
        if machine.time_limit is not None:
            # What comes after the solver reads the rows about as often as what came before it, but
            # may not take the time that is there for steps.
            spent = perf_counter() - self.begin
            left = max(machine._time_for_fit() - spent, 0.0)
            limit = left - min(spent, _RESERVED * left)
        return settings, Run(limit, machine.max_iter, listeners)


def fit(
    machine: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    extra: Any = None,
    *,
    multipliers_of: Any = None,
) -> Any:
    """Fit a machine to objects or a Gram matrix, and return it; unchanged if the fit fails.

    `multipliers_of`: a machine whose intercepts and tubes are taken where they are optimal as well.
    """
    begin = perf_counter()
    machine._check_parameters()
    try:
        with machine._transaction():
            data, kernel = machine._enter(X, y, sample_weight, extra)
            start = machine if machine.warm_start and machine.__sklearn_is_fitted__() else None
            fitting = _fit(machine, data, kernel, data.gram, start, _Limits(begin), multipliers_of)
    except MemoryError as error:
        if type(error) is not MemoryError:
            raise
        raise fit_diagnosis.out_of_memory(machine, X) from error
    machine._finish(fitting, begin)
    fit_diagnosis.conclude(machine, fitting)
    if start is None:  # a warm-started fit does not repeat remarks
        remark(machine, fitting)
        if machine._squared_norms.max() <= _NO_NORM * machine._largest and machine._sums_to_zero:
            warn_of_constant(fitting.gram.kernel, data)
    return machine


def fit_on(
    machine: Any,
    data: TrainingData,
    gram: Gram,
    start: Any = None,
    settings: Settings | None = None,
    *,
    run: Run | None = None,
    quiet: bool = False,
) -> Any:
    """Fit a machine to checked samples on a kernel matrix they share with others, and return it.

    Nothing is validated, bound or packed again. `data` and `gram` come from one door,
    ``machine._enter(X, y, sample_weight)`` and ``machine._gram(data, kernel)``, or are the same
    rows of both: ``data.take(rows)`` and ``gram.take(rows)``.

    `machine`: what to fit. The kernel of `gram` is used and kept as ``kernel_``. `data`: the
    samples. `gram`: their kernel matrix; another precision is chosen where the machine asks for it.
    `start`: A machine of the same kind, fitted to these samples or to more or fewer of the same
    data, perhaps with other constants, from whose solution the solver starts. `settings`, `run`:
    tolerances and limits of the solver, by default those of the machine. `quiet`: leave it to the
    caller to look into ``certificate_`` for how the fit ended, without a warning or an interrupt.

    Examples
    --------
    Leave every second sample out, without passing the door again:

    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.machines.support_vector.fitting import fit_on
    >>> X, y = np.array([[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]), [0, 0, 0, 1, 1, 1]
    >>> model = SVC(kernel="linear")
    >>> data, kernel = model._enter(X, y)
    >>> gram, rows = model._gram(data, kernel), np.array([0, 2, 4])
    >>> fit_on(model, data.take(rows), gram.take(rows)).support_.tolist()
    [2, 4]
    """
    if gram.n != data.n:
        raise ValueError(
            f"the Gram matrix has {gram.n} rows, but there are {data.n} samples: take the same "
            "rows of both."
        )
    begin = perf_counter()
    machine._check_parameters()
    with machine._transaction():
        machine._note_columns(data)
        limits = _Limits(begin, settings, run)
        fitting = _fit(machine, data, gram.kernel, gram, start, limits)
    machine._finish(fitting, begin)
    if not quiet:
        fit_diagnosis.conclude(machine, fitting)
    return machine


def solve_on(
    machine: Any, data: TrainingData, gram: Gram, start: Any, settings: Settings, run: Run
) -> Fitting:
    """Return the solved problems of a machine on rows of another fit, without proof or model.

    These are the steps "pose" to "solve" alone, for callers that need coefficients and intercepts
    (`Fitting.models`) as accurate as the solver leaves them. `gram` is used as it is: values of the
    models are products with the same kernel matrix. The parameters are those of `fit_on`.
    """
    kernel, alone, limits = gram.kernel, start is None, _Limits(0.0, settings, run)
    return _solved(machine, data, lambda _: gram, kernel, None, start, alone, limits)


def _fit(
    machine: Any,
    data: TrainingData,
    kernel: Kernel,
    given: Gram | None,
    start: Any,
    limits: _Limits,
    multipliers_of: Any = None,
) -> Fitting:
    """Do all steps behind the door, without the conclusion; `given` is the Gram matrix if known."""
    whole, X = data, data.X
    repetition = None if data.pairwise else find_repetition(X, data.y, data.extra)
    if repetition is not None:
        data = data.merged(repetition.first, repetition.total(data.weight))
        X = data.X
        given = None if given is None else given.take(repetition.first)
    moved = centring(kernel, X, machine._sums_to_zero)

    def matrix(precision: str) -> Gram:
        if given is not None and moved is None:
            return given if precision == "auto" else given.in_precision(precision)
        return machine._gram(data, kernel, precision, None if moved is None else moved.rows)

    alone = start is None and multipliers_of is None
    if repetition is not None:
        start = None
    fitting = _solved(machine, data, matrix, kernel, moved, start, alone, limits)
    if multipliers_of is not None:
        _take_multipliers(multipliers_of, fitting)
    if not isinstance(fitting.solutions, PairSolutions):  # at finite prices: all are feasible
        fit_diagnosis.refuse_infeasible(machine, fitting)
    proof = fitting.run.branch()
    with proof.until_stopped():
        machine._keep(fitting, kernel, data.y)
    if proof.status == "interrupted":  # the model is there, and only its proof was interrupted
        fitting.interrupt()
        machine._keep(fitting, kernel, data.y)
    if repetition is not None:
        machine._share_out(repetition, whole, fitting)
    return fitting


def _take_multipliers(model: Any, fitting: Fitting) -> None:
    """Give solutions the multipliers of another model where they are optimal as well."""
    tasks, solutions = fitting.tasks, fitting.solutions
    widths = model._widths(len(tasks))
    if not len(widths) == len(model.intercept_) == len(tasks):
        return
    shifts = fitting.scheme.shifts(fitting.centring, fitting.scheme.stack(fitting.coefs()))
    for k, (task, solution) in enumerate(zip(tasks, solutions, strict=True)):
        if solution.linear is not None:  # the data determine it
            continue
        t = float(widths[k])
        scale = t if task.problem.margin is not None and t > 0.0 else 1.0
        wanted = task.multipliers(float(model.intercept_[k] + shifts[k]) * scale, t)
        for g, (low, high) in enumerate(solution.multiplier_range):
            if low <= high:
                solution.multiplier[g] = min(max(wanted[g], low), high)
        task.settle(solution, fitting.gram)


def _solved(
    machine: Any,
    data: TrainingData,
    matrix: Callable[[str], Gram],
    kernel: Kernel,
    moved: Centring | None,
    start: Any,
    alone: bool,
    limits: _Limits,
) -> Fitting:
    """Pose and solve the problems of a machine on samples that differ.

    `matrix`: returns their kernel matrix in a precision. `kernel`: the bound kernel. `moved`:
    by what the rows behind the matrix were translated. `alone`: whether the fit is neither started
    from another nor compared with one, so that small pairs of classes can be one job.
    """
    X = data.X
    scheme, s = machine._pose(data.y, data.weight, count(X), fitting=True)
    machine._set_price(float(s.sum()))
    known = check_definiteness(machine, kernel)
    tasks: Any = None
    watched = is_watched(machine)
    if alone:
        tasks = class_pairs.posed(machine, scheme, kernel, known, X, s, watched)
    starts, precision = None, "float64"
    if tasks is None:
        tasks = pose_tasks(machine, scheme.batch(s), data.extra)
        if known.order == 2:
            with_linear_part(tasks, kernel, X)
        if start is not None:
            starts = start._warm_starts(machine, scheme, tasks, data.n_total, data.kept, s)
        precision = machine._kernel_dtype(tasks[0].problem)
    gram = matrix(precision)
    gram.definiteness = known
    with listening(machine, len(tasks)) if watched else nullcontext(()) as listeners:
        settings, run = limits.of(machine, listeners)
        solutions = solve_tasks(tasks, gram, settings, run, starts)
    return Fitting(data, gram, scheme, settings, run, s, tasks, solutions, moved)
