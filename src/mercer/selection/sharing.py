"""One engine for many fits of a search: shared kernel matrices, folds as views, paths along C.

Fits of the same machine on the same rows differ in the kernel, in C and in the fold. Here they are
sorted by kernel: the matrix of a kernel on all rows is computed once (from pair statistics that all
kernels share), stored, and serves every fold and every other parameter. The values of C of one fold
form a path (``cpp/cost_path.hpp``): each solution starts the next, and the decision values on the
validation rows follow from the coefficients that changed. Paths, folds, pairs of classes and
kernels run side by side on all cores, under a byte budget for the matrices.

Of a matrix beyond the budget some rows are kept and the others computed again: the machines of one
split are then fitted one after the other, along C each from the solution before it, and folds share
the rows that are kept.

A transformer before the machine is fitted fold by fold; the matrices are then those of one fold. A
kernel whose parameters depend on the data (``gamma="scale"``) is bound to each training set.

Machines without such a path are fitted by their own solvers on parts of the stored matrix
(`stored_values`). Fits that this engine does not support (see :func:`refusal`) are made one by one,
and so are those that an error stops, whose note says which: sharing is a matter of speed, and never
ends a search.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pickle import PicklingError
from typing import Any, NamedTuple

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer import _native
from mercer.gram import Gram
from mercer.gram.mapped_objects import Views
from mercer.gram.matrix import native_jobs
from mercer.kernels import Kernel
from mercer.machines.input_validation import check_training_objects
from mercer.machines.kernel_estimator import TrainingData
from mercer.machines.ridge.base import RidgeMachine
from mercer.machines.support_vector.base import KernelMachine
from mercer.machines.support_vector.classifier import KernelClassifier
from mercer.machines.support_vector.multiclass import DecisionRule
from mercer.machines.support_vector.proving import assumption
from mercer.machines.support_vector.regressor import KernelRegressor
from mercer.machines.support_vector.remarks import without_margin
from mercer.machines.support_vector.solving import settings_for
from mercer.machines.support_vector.tasks import Batch
from mercer.machines.weights import check_sample_weight, positive_rows
from mercer.objects.tables import stacked
from mercer.objects.validation import count, take
from mercer.run import Run, stopwatch
from mercer.sklearn_internals import safe_indexing, safe_split
from mercer.solvers import DualProblem, Settings
from mercer.solvers.centring import centring
from mercer.solvers.certificate import GAP_LIMIT
from mercer.solvers.decomposition import native_settings

from . import stored_values
from .fold_model import FoldModel, RealValues
from .stored_values import CannotShareError

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
Single = NDArray[np.float32]

NO_MARGIN = "no_margin"
"""The status of a nu classifier whose optimum is the function 0, so that labels are rounding."""

_WIDE = 50
"""Columns from which it costs less to keep pair statistics than to compute them again."""

_TASKS_PER_THREAD = 8
"""Problems that are handed to the threads together, where memory allows."""


class Request(NamedTuple):
    """One fit of a search: an estimator with its parameters, on one split of the data.

    `train`, `test`: positions of rows. Equal splits are the same arrays.
    """

    position: int
    estimator: Any
    X: Any
    y: Any
    train: Rows
    test: Rows
    sample_weight: Any = None
    evaluate_train: bool = False

    @property
    def machine(self) -> Any:
        """The machine at the end of the estimator."""
        return final_step(self.estimator)[1]


class Answer(NamedTuple):
    """A model that stands for a fit, and what it was computed from."""

    model: Any
    X_test: Any
    X_train: Any
    status: str
    gap: float
    seconds: float


def final_step(estimator: Any) -> tuple[list[Any], Any]:
    """Return the transformers before a machine, and the machine."""
    if not isinstance(estimator, Pipeline):
        return [], estimator
    steps = [step for _, step in estimator.steps]
    return [s for s in steps[:-1] if s is not None and s != "passthrough"], steps[-1]


def refusal(machine: Any) -> str | None:
    """Return None where fits of a machine can share, else the reason why not.

    Parameters
    ----------
    machine : estimator
        With the parameters of one candidate.
    """
    if not isinstance(machine, KernelMachine | RidgeMachine):
        return f"{type(machine).__name__} does not share kernel matrices"
    if getattr(machine, "probability", False):
        return "probability=True fits machines of its own"
    if (machine.max_iter or -1) >= 0 or machine.time_limit is not None:
        return "max_iter or time_limit ends each fit by itself"
    if getattr(machine, "gap_tol", None) is not None:
        return "gap_tol ends each fit by itself"
    if machine.solver == "interior_point":
        return "interior points solve one problem at a time"
    if machine.verbose or machine.__dict__.get("_listeners") or "_skl_callbacks" in vars(machine):
        return "verbose or a callback reports each fit by itself"
    machine._check_parameters()
    if machine._resolved_kernel().depends_on_identity:
        return "White noise depends on which sample an object is"
    return None if has_path(machine) else stored_values.refusal(machine)


def has_path(machine: Any) -> bool:
    """Return whether the solutions of a machine along C are followed natively."""
    if not isinstance(machine, KernelClassifier | KernelRegressor):
        return False
    if type(machine)._pose not in (KernelClassifier._pose, KernelRegressor._pose):
        return False
    machine._check_parameters()
    machine._set_price(1.0)
    if not machine._plain:
        return False
    kernel = machine._resolved_kernel()
    return bool(kernel.definiteness.is_psd and assumption(kernel) is None)


@dataclass(eq=False)
class _Split:
    """Rows of one split in the objects of its domain."""

    train: Rows  # positions in the user's data
    test: Rows
    X_train: Any = None
    X_test: Any = None
    y_train: Any = None
    inside: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    outside: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weight: Array | None = None
    train_places: Any = None  # of the rows of `train` and `test`, in this order, among the objects
    test_places: Any = None
    back: Rows | None = None  # from `inside` to the order of `train`
    back_test: Rows | None = None  # from `outside` to the order of `test`


class _Domain:
    """Objects on which kernel matrices are computed, with the splits that live on them."""

    def __init__(self, objects: Any, pairwise: bool, names: Any, budget: float) -> None:
        self.objects, self.names = objects, names
        self.n = count(objects)
        wide = sp.issparse(objects) or np.ndim(objects) != 2 or objects.shape[1] > _WIDE
        bytes_ = 8.5 * self.n**2
        keeps = wide and not pairwise and bytes_ < budget / 2
        self._statistics = bytes_ / 2**20 if keeps else 0.0
        self._gram: Gram | None = None

    def gram(self, kernel: Any) -> Gram:
        """Return the Gram matrix of a kernel, which shares what others have prepared."""
        if self._gram is None:
            self._gram = Gram(kernel, self.objects, "float64", self._statistics)
        return self._gram.with_kernel(kernel)


class _Path(NamedTuple):
    """The problems of one split for all values of C, whatever the kernel is."""

    native: Any
    order: list[int]  # of the values of C, ascending
    ends: Rows
    source: DecisionRule | RealValues  # of predictions, from decision values


class _Job(NamedTuple):
    """Fits on one split and one kernel matrix, which differ in constants alone."""

    split: _Split
    requests: list[Request]  # in the order of the path
    path: _Path | None  # None: the machines are fitted by their own solvers

    @property
    def settings(self) -> Settings:
        machine = self.requests[0].machine
        return Settings(tol=float(machine.tol), shrinking=bool(machine.shrinking))


@dataclass(eq=False)
class _Matrix:
    """A kernel matrix to be computed, and the fits on it."""

    domain: _Domain
    kernel: Any
    jobs: list[_Job] = field(default_factory=list)

    @property
    def bytes(self) -> float:
        return 8.0 * self.domain.n**2

    @property
    def paths(self) -> list[_Path]:
        return [job.path for job in self.jobs if job.path is not None]

    @property
    def workspace(self) -> float:
        """Bytes that a thread needs to solve the largest task."""
        sizes = [np.diff(path.ends, prepend=0).max() for path in self.paths]
        return 1.4 * 4.0 * float(max(sizes)) ** 2

    @property
    def tasks(self) -> int:
        return sum(len(path.ends) for path in self.paths)

    @property
    def requests(self) -> list[Request]:
        return [request for job in self.jobs for request in job.requests]


class SharedFits:
    """The engine; see the head of this module.

    Parameters
    ----------
    cache_size : float
        Megabytes for kernel matrices.
    n_jobs : int, optional
        Threads; None: all.

    Attributes
    ----------
    refused : list of (Request, str)
        Fits that have to be made one by one, with the reason.
    """

    def __init__(self, cache_size: float = 500.0, n_jobs: int | None = None) -> None:
        self.cache_size, self.n_jobs = float(cache_size), n_jobs
        self.refused: list[tuple[Request, str]] = []
        self._domains: dict[Any, _Domain] = {}
        self._splits: dict[Any, _Split] = {}
        self._paths: dict[Any, _Path] = {}
        self._storage: list[Single] = []  # of kernel matrices, from batch to batch

    def run(self, requests: Sequence[Request], run: Run) -> Iterator[tuple[Request, Answer]]:
        """Yield the answers to requests as they become known, those it refuses left out.

        Parameters
        ----------
        requests : sequence of Request
            The fits.
        run : Run
            Its limits end the iteration by `Stopped`.
        """
        self.refused = []
        waiting, stored, large = self._planned(requests)
        while waiting:
            run.check()
            yield from self._solved(self._next_batch(waiting), run)
        for matrix in stored:
            yield from self._fitted(matrix, run)
        for matrix in large:
            yield from self._followed(matrix, run)

    # -- planning -----------------------------------------------------------------------------

    def _planned(self, requests: Sequence[Request]) -> tuple[list[_Matrix], ...]:
        """Return the kernel matrices: with paths, to be stored, and too large to be stored."""
        families: dict[Any, list[Request]] = defaultdict(list)
        described: dict[int, Any] = {}
        users: dict[Any, list[Request]] = defaultdict(list)
        for request in requests:
            about = described.get(id(request.estimator))
            if about is None:
                about = described[id(request.estimator)] = self._describe(request.estimator)
            if isinstance(about, str):
                self.refused.append((request, about))
                continue
            before, key = about
            data = id(request.X), id(request.y), id(request.sample_weight)
            where = (data, before) if before is None else (data, before, id(request.train))
            families[where, key, id(request.train)].append(request)
            users[where].append(request)
        followed: dict[Any, _Matrix] = {}
        stored: dict[Any, _Matrix] = {}
        large: dict[Any, _Matrix] = {}
        for (where, (others, _), _), members in families.items():
            try:
                domain, split, kernel, key = self._prepared(where, members[0], users[where])
                path = self._path(where, others, members, split) if others[0] else None
            except Exception as error:  # which a plain fit raises as well, or has a way around
                self._refuse(members, f"it cannot be prepared ({_named(error)})")
                continue
            if path is not None:
                members = [members[k] for k in path.order]
            job = _Job(split, members, path)
            if self._needs(_Matrix(domain, kernel, [job])) <= self._budget:
                kind = stored if path is None else followed
            elif path is not None and not kernel.pairwise:
                kind = large
            else:
                reason = f"the kernel matrix of {domain.n} rows exceeds cache_size"
                self._refuse(members, reason)
                continue
            kind.setdefault(key, _Matrix(domain, kernel)).jobs.append(job)
        return list(followed.values()), list(stored.values()), list(large.values())

    def _refuse(self, requests: Iterable[Request], reason: str) -> None:
        self.refused += [(request, reason) for request in requests]

    def _describe(self, estimator: Any) -> Any:
        """Return what distinguishes the fits of an estimator, or why it cannot share."""
        before, machine = final_step(estimator)
        try:
            reason = refusal(_copied(machine))  # which poses a problem
            if reason is not None:
                return reason
            kernel = machine._resolved_kernel()
            others = dict(vars(machine))
            follows = has_path(_copied(machine))
            constants = ("C", "lam") if follows else stored_values.CONSTANTS
            for name in (*constants, *stored_values.OF_KERNELS):
                others.pop(name, None)
            key = (follows, type(machine), _parameter_key(others)), _kernel_key(kernel)
            steps = joblib.hash(before) if before else None
        except Exception as error:
            return f"cannot be described ({_named(error)})"
        return steps, key

    def _prepared(
        self, where: Any, request: Request, users: Iterable[Request]
    ) -> tuple[_Domain, _Split, Any, Any]:
        """Return objects, split and bound kernel of fits, and what identifies their matrix."""
        machine = _copied(request.machine)
        kernel = machine._resolved_kernel()
        domain = self._domain(where, request, machine, kernel, users)
        split = self._splits[where, id(request.train)]
        shared = kernel.is_bound
        objects = domain.objects if shared else take(domain.objects, split.inside)
        weight = None if shared else split.weight
        bound = kernel.bound_to_valid(Views(objects), weight, domain.names)
        if centring(bound, objects, machine._sums_to_zero) is not None:
            raise CannotShareError("centred rows are packed for each fit")
        # A kernel that learns is told apart by what it learns from: its vocabulary may be large.
        key = where, _kernel_key(kernel), None if shared else id(request.train)
        return domain, split, bound, key

    def _path(self, where: Any, others: Any, members: list[Request], split: _Split) -> _Path:
        """Return the problems of machines that differ in C alone, which are posed once."""
        constants = tuple((str(r.machine.C), str(r.machine.lam)) for r in members)
        known = where, others, id(members[0].train), constants
        if known not in self._paths:
            self._paths[known] = _path(split, members)
        return self._paths[known]

    def _domain(
        self, where: Any, request: Request, machine: Any, kernel: Any, users: Iterable[Request]
    ) -> _Domain:
        """Return the objects of a request with its split; both are made once."""
        domain = self._domains.get(where)
        if domain is None or (where, id(request.train)) not in self._splits:
            domain = self._domains[where] = self._new_domain(where, machine, kernel, list(users))
        return domain

    def _new_domain(self, where: Any, machine: Any, kernel: Any, users: list[Request]) -> _Domain:
        first = users[0]
        splits = {id(request.train): request for request in users}
        before, _ = final_step(first.estimator)
        n = count(first.X)
        weight = check_sample_weight(first.sample_weight, n)
        if before:
            return self._transformed_domain(where, machine, kernel, first, weight)
        objects = check_training_objects(machine, first.X, kernel)
        names = getattr(machine, "feature_names_in_", None)
        y = machine._check_target(first.y, n)
        order = _order([(r.train, r.test) for r in splits.values()], y, n)
        place = np.full(n, -1, dtype=np.int64)
        place[order] = np.arange(len(order))
        if kernel.pairwise:
            objects = take(objects, order)[:, order]
        else:
            objects = take(objects, order)
        for request in splits.values():
            split = _Split(request.train, request.test)
            train = _kept(request.train, weight)
            train = train[np.argsort(place[train], kind="stable")]
            split.inside, split.outside = place[train], np.sort(place[request.test])
            split.back_test = np.argsort(np.argsort(place[request.test], kind="stable"))
            split.train_places, split.test_places = place[request.train], place[request.test]
            split.y_train = None if y is None else y[train]
            split.weight = None if weight is None else weight[train]
            split.X_test, _ = safe_split(
                request.estimator, request.X, None, request.test, request.train
            )
            if request.evaluate_train:
                if len(train) < len(request.train):
                    raise CannotShareError("training scores need all rows")
                split.X_train, _ = safe_split(
                    request.estimator, request.X, None, request.train, request.train
                )
                split.back = np.argsort(np.argsort(place[request.train], kind="stable"))
            self._splits[where, id(request.train)] = split
        return _Domain(objects, kernel.pairwise, names, self._budget)

    def _transformed_domain(
        self, where: Any, machine: Any, kernel: Any, request: Request, weight: Array | None
    ) -> _Domain:
        """Return the objects that the transformers before the machine make of one split."""
        if kernel.pairwise:
            raise CannotShareError("a precomputed kernel takes no transformer")
        before, _ = final_step(request.estimator)
        estimator = request.estimator
        X_train, y_train = safe_split(estimator, request.X, request.y, request.train)
        X_test, _ = safe_split(estimator, request.X, None, request.test, request.train)
        for step in before:
            step, X_train = _transformed(step, X_train, y_train)
            X_test = step.transform(X_test)
        objects = check_training_objects(machine, X_train, kernel)
        tested = check_training_objects(_copied(machine), X_test, kernel)
        y = machine._check_target(y_train, count(objects))
        own = None if weight is None else weight[request.train]
        kept = positive_rows(own)
        train = np.arange(len(request.train)) if kept is None else kept
        by_class = train if y is None or y.ndim > 1 else train[np.argsort(y[train], kind="stable")]
        n, m = len(request.train), len(train)
        # Rows of weight 0 after the others: stored values are those of all training rows.
        order = np.concatenate([by_class, np.setdiff1d(np.arange(n), train)])
        objects = stacked(take(objects, order), tested)
        split = _Split(request.train, request.test, X_train, X_test)
        split.y_train = None if y is None else y[by_class]
        split.inside, split.outside = np.arange(m), np.arange(n, n + len(request.test))
        split.train_places, split.test_places = np.argsort(order), split.outside
        split.weight = None if own is None else own[by_class]
        if request.evaluate_train and m < n:
            raise CannotShareError("training scores need all rows")
        if request.evaluate_train:
            split.back = np.argsort(by_class)
        self._splits[where, id(request.train)] = split
        return _Domain(objects, False, getattr(machine, "feature_names_in_", None), self._budget)

    # -- solving ------------------------------------------------------------------------------

    @property
    def _budget(self) -> float:
        return self.cache_size * 2**20

    @cached_property
    def _threads(self) -> int:
        jobs = native_jobs(self.n_jobs)
        if jobs > 0:
            return min(jobs, _native.usable_cpus())
        return _native.get_num_threads() if jobs == 0 else _native.usable_cpus()

    def _needs(self, matrix: _Matrix) -> float:
        """Return the bytes of a matrix and of what the fits on it need."""
        if not matrix.paths:  # its part for a fit, in the form of the solver as well
            return 3.0 * matrix.bytes
        return matrix.bytes + self._threads * matrix.workspace

    def _next_batch(self, waiting: list[_Matrix]) -> list[_Matrix]:
        """Remove from the list what is computed together: enough for all threads."""
        batch = [waiting.pop(0)]
        while waiting:
            together = [*batch, waiting[0]]
            room = sum(m.bytes for m in together)
            room += self._threads * max(m.workspace for m in together)
            full = sum(m.tasks for m in batch) >= _TASKS_PER_THREAD * self._threads
            if (
                full
                or room > self._budget
                or waiting[0].jobs[0].settings != batch[0].jobs[0].settings
            ):
                break
            batch.append(waiting.pop(0))
        return batch

    def _solved(self, batch: list[_Matrix], run: Run) -> Iterator[tuple[Request, Answer]]:
        seconds = stopwatch()
        values: list[tuple[Single, Single]] = []
        jobs: list[tuple[int, _Job]] = []
        for matrix in batch:
            high, low = self._values(len(values), matrix)
            if not np.isfinite(high.diagonal()).all():
                reason = "kernel values exceed the range of single precision"
                self._refuse(matrix.requests, reason)
                continue
            jobs += [(len(values), job) for job in matrix.jobs]
            values.append((high, low))
        if not jobs:
            return
        settings = replace(batch[0].jobs[0].settings, n_jobs=self.n_jobs)
        paths = [(k, job.path.native) for k, job in jobs if job.path is not None]
        call = values, paths, native_settings(settings, run)[0], GAP_LIMIT
        found, interrupted = _native.solve_cost_paths(*call)
        each = seconds() / sum(len(job.requests) for _, job in jobs)
        for (_, job), result in zip(jobs, found, strict=True):
            yield from self._answers(job, result, each)
        if interrupted:
            run.interrupt()
            run.check()

    def _values(self, k: int, matrix: _Matrix) -> tuple[Single, Single]:
        """Return a kernel matrix as the sum of two, in the k-th place of the storage."""
        n = matrix.domain.n
        if k == len(self._storage):
            self._storage.append(np.empty(0, dtype=np.float32))
        if self._storage[k].size < 2 * n * n:
            self._storage[k] = np.empty(2 * n * n, dtype=np.float32)
        high, low = self._storage[k][: 2 * n * n].reshape(2, n, n)
        matrix.domain.gram(matrix.kernel).split(high, low, self.n_jobs)
        return high, low

    def _answers(
        self, job: _Job, result: dict[str, Any], seconds: float
    ) -> Iterator[tuple[Request, Answer]]:
        assert job.path is not None
        names = _native.cost_path_statuses
        split, m = job.split, len(job.split.outside)
        for c, request in enumerate(job.requests):
            statuses = [names[code] for code in np.unique(result["status"][c])]
            if statuses != ["optimal"]:
                if not {"time_limit", "interrupted"} & set(statuses):
                    note = "pair steps did not reach the tolerance on the stored matrix"
                    self.refused.append((request, note))
                continue
            values = (result["valid"][c] - result["multiplier"][c][:, None]).T
            tested = values[:m] if split.back_test is None else values[:m][split.back_test]
            known = [(split.X_test, tested)]
            if request.evaluate_train:
                known.append((split.X_train, values[m:][split.back]))
            model = FoldModel(request.machine, job.path.source, known)
            gap = float(result["gap"][c].max())
            yield request, Answer(model, split.X_test, split.X_train, "optimal", gap, seconds)

    def _fitted(self, stored: _Matrix, run: Run) -> Iterator[tuple[Request, Answer]]:
        """Yield the answers of machines that are fitted on a stored matrix."""
        run.check()
        seconds = stopwatch()
        try:
            K = stored.domain.gram(stored.kernel).tile(n_jobs=self.n_jobs)
        except Exception as error:  # of a kernel of the user's, which a plain fit raises again
            reason = f"the kernel matrix cannot be computed ({_named(error)})"
            self._refuse(stored.requests, reason)
            return
        once = seconds() / len(stored.requests)
        for split, requests, _ in stored.jobs:
            machines = [request.machine for request in requests]
            first, rows = requests[0], split.train_places
            inside = K[np.ix_(rows, rows)]
            known = [(split.X_test, K[np.ix_(split.test_places, rows)])]
            if first.evaluate_train:
                known.append((split.X_train, inside))
            y, weight = first.y, check_sample_weight(first.sample_weight, count(first.X))
            y = None if y is None else safe_indexing(y, split.train)
            weight = None if weight is None else weight[split.train]
            seconds = stopwatch()
            for k, found in stored_values.fits(machines, stored.kernel, inside, y, weight):
                if isinstance(found, Exception):
                    reason = f"the fit on stored values failed ({_named(found)})"
                    self.refused.append((requests[k], reason))
                    continue
                model = FoldModel(machines[k], found, known)
                yield requests[k], _answer(model, split, found, once + seconds())
                run.check()
                seconds = stopwatch()

    def _followed(self, large: _Matrix, run: Run) -> Iterator[tuple[Request, Answer]]:
        """Yield the answers of machines along C; rows of the matrix are kept or computed again.

        A machine is fitted on all splits before the next one, which starts from it: what a limit
        leaves are whole candidates.
        """
        gram = Gram(large.kernel, large.domain.objects, "auto")
        starts: dict[int, Any] = {}
        for step in range(max(len(requests) for _, requests, _ in large.jobs)):
            for k, (split, requests, _) in enumerate(large.jobs):
                if step >= len(requests):
                    continue
                run.check()
                request, seconds = requests[step], stopwatch()
                machine = clone(request.machine)
                rows, names = split.inside, large.domain.names
                views = Views(take(large.domain.objects, rows))
                data = TrainingData(
                    views.X, split.y_train, split.weight, None, len(rows), views=views, names=names
                )
                settings = settings_for(machine)
                settings = replace(settings, n_jobs=self.n_jobs, cache_size=self.cache_size)
                try:
                    part, start = gram.take(rows), starts.get(k)
                    starts[k] = stored_values.fitted(machine, data, part, start, settings)
                except Exception as error:
                    reason = f"the fit on kept rows failed ({_named(error)})"
                    self.refused.append((request, reason))
                    continue
                yield request, _answer(machine, split, machine, seconds())


def _answer(model: Any, split: _Split, fitted: Any, seconds: float) -> Answer:
    gap = float(fitted.certificate_.relative_gap)
    return Answer(model, split.X_test, split.X_train, status_of(fitted), gap, seconds)


def status_of(fitted: Any) -> str:
    """Return the status of a fit in a search: its certificate's, if there is a function to score.

    The solution of a nu classifier without a margin is the function 0. It may be proved, but the
    labels that are scored are rounding.
    """
    found: str = fitted.certificate_.status
    return NO_MARGIN if found == "optimal" and without_margin(fitted).any() else found


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _path(split: _Split, requests: list[Request]) -> _Path:
    """Return the problems of machines that differ in C alone."""
    machines = [_copied(request.machine) for request in requests]
    first = machines[0]
    scheme, s = first._pose(split.y_train, split.weight, len(split.inside), fitting=True)
    batch = scheme.batch(s)
    for machine in machines:
        machine._set_price(float(s.sum()))
    order = sorted(range(len(machines)), key=lambda k: float(machines[k].C_))
    rows = split.inside if batch.rows is None else split.inside[batch.rows]
    rows, ends = np.ascontiguousarray(rows, dtype=np.int64), np.array(batch.ends, dtype=np.int64)
    valid = split.outside
    if requests[0].evaluate_train:
        valid = np.concatenate([split.outside, split.inside])
    steps = [_terms(machines[k], batch) for k in order]
    native = _native.CostPath(rows, ends, valid, bool(first.fit_intercept), steps)
    return _Path(native, order, ends, _source(first))


def _source(machine: Any) -> DecisionRule | RealValues:
    """Return what makes predictions of the decision values of a machine with a path."""
    if not isinstance(machine, KernelClassifier):
        return RealValues()
    pairs = len(machine.classes_) > 2 and machine.multiclass == "ovo"
    shape = machine.decision_function_shape
    return DecisionRule(machine.classes_, pairs, machine.break_ties, shape)


def _parameter_key(parameters: dict[str, Any]) -> Any:
    """Return what tells parameters apart: numbers and names as they are, others by a digest."""
    if all(v is None or isinstance(v, str | int | float) for v in parameters.values()):
        return tuple((name, type(v), v) for name, v in sorted(parameters.items()))
    return joblib.hash(parameters)


def _copied(machine: Any) -> Any:
    """Return a machine with the same parameters, before a fit; `copy` would compress them."""
    other = object.__new__(type(machine))
    other.__dict__.update(machine.__dict__)
    return other


def _kernel_key(kernel: Kernel) -> Any:
    """Return what tells kernels apart; functions that cannot be pickled by their identity."""
    if all(v is None or isinstance(v, str | int | float) for v in vars(kernel).values()):
        return type(kernel), _parameter_key(vars(kernel))
    try:
        return str(joblib.hash(kernel))
    except PicklingError:
        parameters = kernel.get_params(deep=True).items()
        return str(
            joblib.hash([type(kernel), [(name, _plain(value)) for name, value in parameters]])
        )


def _plain(value: Any) -> Any:
    if isinstance(value, Kernel):
        return type(value)
    return id(value) if callable(value) else value


def _kept(train: Rows, weight: Array | None) -> Rows:
    """Return the training rows of positive weight."""
    train = np.asarray(train)
    return train if weight is None else train[weight[train] > 0.0]


def _order(splits: list[tuple[Rows, Rows]], y: NDArray[Any] | None, n: int) -> Rows:
    """Return the rows that take part, such that folds, and classes in them, are consecutive."""
    fold = np.full(n, -1, dtype=np.int64)
    used = np.zeros(n, dtype=bool)
    for k, (train, test) in enumerate(splits):
        used[train] = used[test] = True
        mine = np.asarray(test)
        fold[mine[fold[mine] < 0]] = k
    codes = np.zeros(n, dtype=np.int64)
    if y is not None and y.dtype.kind != "f":
        codes = np.unique(y, return_inverse=True)[1]
    order = np.lexsort((np.arange(n), codes, fold))
    return order[used[order]]


def _transformed(step: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return a transformer fitted to objects, and what it makes of them."""
    if not hasattr(step, "transform"):
        raise CannotShareError(f"{type(step).__name__} before a machine is no transformer")
    step = clone(step)
    if hasattr(step, "fit_transform"):
        return step, step.fit_transform(X, y)
    return step.fit(X, y), step.transform(X)


def _terms(machine: Any, batch: Batch) -> dict[str, Any]:
    """Return the dual terms of all tasks at one value of C."""
    pieces = machine._loss().pieces(batch.y, machine.C_ * batch.weight)
    return DualProblem(*pieces).native(None)
