"""Small pairs of classes: all of them as arrays, from the dual terms to the proofs.

With 1,000 classes there are 499,500 problems of a few rows each; a Python object for each of them
would take longer than solving them. So it would for the one or three problems of a small data set.
Here all pairs are solved and proved by one native call (``cpp/class_pairs.hpp``), and what they
leave is kept in arrays: tables of coefficients, margins and marks in the layout of ``dual_coef_``,
and one number per pair of everything else. A task, an outcome or a certificate is made when
somebody asks for it. A problem on which pair steps stall is solved again by the general solver.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.kernels import Definiteness, Kernel
from mercer.objects.compression import packed_if_smaller, unpacked
from mercer.objects.validation import take
from mercer.solvers import Certificate, Settings
from mercer.solvers.centring import Centring
from mercer.solvers.certificate import STATUSES
from mercer.solvers.decomposition import blame_overflow, native_settings

from .estimator import TrainingData
from .formulation import Formulation, LossFormulation, Outcome, Task
from .multiclass import OneVsOne, Scheme, Single, pair_position, pair_shifts
from .progress import is_watched
from .proving import Fitting, assumption, prove
from .solving import solve_tasks

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

MANY = 20
"""From this number of classes on, the pairs are solved as arrays for any number of samples."""

_FEW_ROWS = 400
"""Rows of a small data set: with more of them shrinking saves more than a single call does."""

_FEW_PRODUCTS = 20_000_000
"""Products of entries, for all kernel values of a small data set, that take milliseconds."""

_BYTES_PER_COEFFICIENT = 2 * 8 + 8 + 1
"""Of the tables: the coefficient, also in ``dual_coef_``, the margin and the mark."""

_BYTES_PER_PAIR = 150
"""Of the numbers that are kept for every pair."""


def refuse_too_many_classes(n_classes: int, n_samples: int) -> None:
    """Raise where the coefficients of all pairs cannot be held in memory.

    Parameters
    ----------
    n_classes, n_samples : int
        Of the training set.
    """
    n_pairs = n_classes * (n_classes - 1) // 2
    needed = (n_classes - 1) * n_samples * _BYTES_PER_COEFFICIENT + n_pairs * _BYTES_PER_PAIR
    memory = _physical_memory()
    if needed <= memory:
        return
    raise ValueError(
        f"{n_classes:,} classes in {n_samples:,} samples make {n_pairs:,} pairs, whose "
        f"coefficients and proofs take {needed / 1e9:,.0f} GB; this machine has "
        f"{memory / 1e9:,.0f} GB. Are the targets real numbers? Then use SVR. Otherwise use "
        'multiclass="ovr", or fewer classes.'
    )


def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # no such question on this system
        return float("inf")


class PairTable(Sequence[NDArray[Any]]):
    """Values of the rows of every pair, read from a table in the layout of ``dual_coef_``.

    Parameters
    ----------
    table : array of shape (n_classes - 1, n)
        The columns are the training rows sorted by class.
    ends : array of int of shape (n_classes,)
        Where each class ends.
    """

    def __init__(self, table: NDArray[Any], ends: Rows) -> None:
        self.table, self.ends = table, ends

    def __len__(self) -> int:
        k = len(self.ends)
        return k * (k - 1) // 2

    @overload
    def __getitem__(self, position: int) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, position: slice) -> list[NDArray[Any]]: ...
    def __getitem__(self, position: Any) -> Any:
        """Return the values of one pair, the rows of its first class first."""
        if isinstance(position, slice):
            return [self[p] for p in range(*position.indices(len(self)))]
        i, j = pair_position(range(len(self))[position], len(self.ends))
        return np.concatenate([self._part(j - 1, i), self._part(i, j)])

    def __iter__(self) -> Iterator[NDArray[Any]]:
        k = len(self.ends)
        for i in range(k):
            for j in range(i + 1, k):
                yield np.concatenate([self._part(j - 1, i), self._part(i, j)])

    def _part(self, line: int, c: int) -> NDArray[Any]:
        begin = self.ends[c - 1] if c else 0
        return self.table[line, begin : self.ends[c]]


@dataclass
class PairSolutions:
    """What the solver found for all pairs, as arrays; see the head of this module.

    Attributes
    ----------
    order : array of int of shape (n,)
        The training rows sorted by class.
    ends : array of int of shape (n_classes,)
        Where each class ends in `order`.
    coef, excess, mark : array of shape (n_classes - 1, n)
        Coefficient, 1 - y f and mark of each row in each pair, in the layout of ``dual_coef_``.
    intercept, lowest, highest : array of shape (n_pairs,)
        The intercept and the interval of optimal ones.
    primal, dual, terms, norm2, violation, rounding : array of shape (n_pairs,)
        The proofs; primal and dual value include what rounding can contribute.
    n_iter : array of int of shape (n_pairs,)
        Pair updates.
    status : array of int of shape (n_pairs,)
        Positions in `statuses`.
    statuses : list of str
        The names.
    n_kernel_values : int
        Kernel values evaluated, for all problems together.
    seconds : float
        Time, for all problems together.
    """

    order: Rows
    ends: Rows
    coef: Array
    excess: Array
    mark: NDArray[np.int8]
    intercept: Array
    lowest: Array
    highest: Array
    primal: Array
    dual: Array
    terms: Array
    norm2: Array
    violation: Array
    rounding: Array
    n_iter: NDArray[np.int32]
    status: NDArray[np.int8]
    statuses: list[str]
    n_kernel_values: int
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.intercept)

    def swap_sides(self) -> None:
        """Make the second class of every pair the positive one, as it is for two classes."""
        self.coef, self.intercept = -self.coef, -self.intercept
        self.lowest, self.highest = -self.highest, -self.lowest

    def in_order_of_rows(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return a table with its columns in the order of the training rows."""
        rows = np.empty_like(table)
        rows[:, self.order] = table
        return rows

    def with_status(self, name: str) -> Rows:
        """Return the problems that ended like this."""
        return np.flatnonzero(self.status == self.statuses.index(name))

    def found_statuses(self) -> set[str]:
        """Return the statuses that occur."""
        counts = np.bincount(self.status, minlength=len(self.statuses))
        return {name for name, count in zip(self.statuses, counts, strict=True) if count}

    def set_status(self, p: int, name: str) -> None:
        """Say how a problem ended."""
        if name not in self.statuses:
            self.statuses.append(name)
        self.status[p] = self.statuses.index(name)

    def rename(self, old: str, new: str) -> None:
        """Give all problems of one status another one."""
        self.status[self.status == self.statuses.index(old)] = self.statuses.index(new)


def solve_pairs(
    formulation: LossFormulation,
    gram: Gram,
    codes: NDArray[np.intp],
    n_classes: int,
    weight: Array,
    settings: Settings,
    rows: Rows | None = None,
) -> PairSolutions | None:
    """Return the solutions of all pairs of classes; None where some of them are too large.

    Parameters
    ----------
    formulation : LossFormulation
        The machine; its loss is the same function for all rows of a label.
    gram : Gram
        The kernel matrix of the training rows, in float64.
    codes : array of int
        The class of every training row.
    n_classes : int
        Number of classes, each of which occurs among `rows`.
    weight : array
        s_i of every training row.
    settings : Settings
        Tolerances and limits; the time limit is for all problems together.
    rows : array of int, optional
        The rows to train on, by default all.
    """
    order = np.argsort(codes, kind="stable")
    if rows is not None:
        inside = np.zeros(len(codes), dtype=bool)
        inside[rows] = True
        order = order[inside[order]]
    ends = np.cumsum(np.bincount(codes[order], minlength=n_classes))
    label = np.repeat([1.0, -1.0], len(order))
    price = formulation.C * np.tile(weight[order], 2)
    dual = formulation.loss.pieces(label, price)
    zero = np.zeros(len(label))
    curv_left = zero if dual.curv_left is None else dual.curv_left
    problems = {
        "order": np.ascontiguousarray(order, dtype=np.int64),
        "ends": np.ascontiguousarray(ends, dtype=np.int64),
        "equality": formulation.fit_intercept,
        "lower": dual.lower,
        "upper": dual.upper,
        "slope_left": dual.slope_left,
        "slope_right": dual.slope_left if dual.slope_right is None else dual.slope_right,
        "curv_left": curv_left,
        "curv_right": curv_left if dual.curv_right is None else dual.curv_right,
        "kink": zero if dual.kink is None else dual.kink,
    }
    evaluator, objects = gram.native
    begin = perf_counter()
    try:
        found = evaluator.solve_class_pairs(
            objects, problems, native_settings(settings), settings.callback
        )
    except ValueError as error:
        blame_overflow(gram, error)
        raise
    if found is None:
        return None
    return PairSolutions(order, ends, **found, seconds=perf_counter() - begin)


class _Lazy(Sequence[Any]):
    """A sequence of one object per pair, each made when it is asked for."""

    def __init__(self, fitting: PairFitting) -> None:
        self._of = fitting

    def __len__(self) -> int:
        return len(self._of.pairs)

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [self._make(p) for p in range(*position.indices(len(self)))]
        return self._make(range(len(self))[position])

    def _make(self, p: int) -> Any:
        raise NotImplementedError


class _Tasks(_Lazy):
    def _make(self, p: int) -> Task:
        fitting, pairs = self._of, self._of.pairs
        if isinstance(fitting.scheme, Single):
            return fitting.scheme.tasks(fitting.formulation, fitting.weight)[p]
        k = len(pairs.ends)
        i, j = pair_position(p, k)
        begins = np.concatenate([[0], pairs.ends])
        parts = [pairs.order[begins[c] : begins[c + 1]] for c in (i, j)]
        rows = np.concatenate(parts)
        y = np.repeat([1.0, -1.0], [len(part) for part in parts])
        labels = fitting.scheme.classes  # type: ignore[attr-defined]
        name = (labels[i].item(), labels[j].item())
        return fitting.formulation.task(y, fitting.weight[rows], rows, name)


class _Outcomes(_Lazy):
    def _make(self, p: int) -> Outcome:
        pairs = self._of.pairs
        alone = isinstance(self._of.scheme, Single)
        beta = self._of.matrix()[p] if alone else PairTable(pairs.coef, pairs.ends)[p]
        return Outcome(beta, float(pairs.intercept[p]))


@dataclass
class PairFitting(Fitting):
    """A fit whose pairs were solved as arrays; tasks and outcomes are made when asked for."""

    pairs: PairSolutions = None  # type: ignore[assignment]

    @property
    def statuses(self) -> set[str]:
        """How the problems ended."""
        return self.pairs.found_statuses()

    @cached_property
    def largest(self) -> float:
        """The largest k(x, x); `suits` takes positive semidefinite kernels alone."""
        return float(self.gram.diag().max(initial=0.0))

    def interrupt(self) -> None:
        """Take note of an interrupt that the solver did not see."""
        self.signalled = True
        self.pairs.status[:] = self.pairs.statuses.index("interrupted")

    def matrix(self) -> Array:
        """Return the coefficients in the layout of ``dual_coef_``, over all rows."""
        return self.pairs.in_order_of_rows(self.pairs.coef)

    def make_parts(self) -> None:
        """Make all tasks and outcomes, for somebody who asks for each of them often."""
        self.tasks, self.outcomes = list(self.tasks), list(self.outcomes)

    def shifts(self) -> Array:
        """Return by how much the intercepts on centred rows exceed those on the rows as given."""
        pairs, moved = self.pairs, self.centring
        if moved is None:
            return np.zeros(len(pairs.intercept))
        return pair_shifts(moved, pairs.coef, _blocks(pairs.ends), pairs.order)

    def alpha_shares(self) -> Array:
        """Return sum_i |beta_i| / sum_i s_i of every problem."""
        pairs = self.pairs
        begins = np.concatenate([[0], pairs.ends[:-1]])
        of_class = np.add.reduceat(self.weight[pairs.order], begins)
        sums = np.add.reduceat(pairs.coef, begins, axis=1)
        i, j = np.triu_indices(len(pairs.ends), 1)
        # The coefficients of a class have one sign.
        return (np.abs(sums[j - 1, i]) + np.abs(sums[i, j])) / (of_class[i] + of_class[j])


def suits(
    machine: Any,
    scheme: Scheme,
    formulation: Formulation,
    kernel: Kernel,
    known: Definiteness,
    X: Any,
) -> bool:
    """Return whether the pairs of a fit are to be solved as arrays."""
    if machine.solver != "auto" or type(formulation) is not LossFormulation or formulation.hard:
        return False
    if not isinstance(scheme, OneVsOne) or len(scheme.classes) < MANY:
        if machine.dtype == "float32" or machine.gap_tol is not None or machine.max_iter >= 0:
            return False
        if is_watched(machine):
            return False
        if not isinstance(scheme, OneVsOne | Single) or scheme.classes is None or not _small(X):
            return False
    # The bound on rounding needs a definite kernel; one that is the user's word is to be checked.
    return known.is_psd and assumption(kernel, known) is None


def _small(X: Any) -> bool:
    """Return whether the whole kernel matrix of some rows is a matter of milliseconds."""
    if not (isinstance(X, np.ndarray) or sp.issparse(X)) or X.ndim != 2 or X.dtype.kind != "f":
        return False
    n, columns = X.shape
    return n <= _FEW_ROWS and n * n * columns <= _FEW_PRODUCTS


def fit_pairs(
    data: TrainingData,
    gram: Gram,
    scheme: OneVsOne | Single,
    formulation: LossFormulation,
    settings: Settings,
    weight: Array,
    centring: Centring | None = None,
) -> PairFitting | None:
    """Return a fit of all pairs on a float64 matrix; None where the general solver is to do it.

    That is where some pairs are too large, or pair steps stall on the only one.
    """
    begin = perf_counter()
    codes, classes = scheme.codes, scheme.classes
    assert codes is not None
    assert classes is not None
    pairs = solve_pairs(formulation, gram, codes, len(classes), weight, settings)
    if pairs is None:
        return None
    stalled = pairs.with_status("stalled").tolist()
    if isinstance(scheme, Single):
        if stalled:
            return None
        pairs.swap_sides()
    empty: Any = []
    fitting = PairFitting(
        data.X,
        gram,
        scheme,
        formulation,
        settings,
        weight,
        data.kept,
        data.n_total,
        empty,
        empty,
        empty,
    )
    fitting.pairs, fitting.centring = pairs, centring
    fitting.sum_zero = formulation.fit_intercept
    fitting.tasks, fitting.outcomes = _Tasks(fitting), _Outcomes(fitting)  # type: ignore[assignment]
    if stalled:
        _finish(fitting, stalled, settings.after(0, perf_counter() - begin))
    return fitting


def _finish(fitting: PairFitting, stalled: list[int], settings: Settings) -> None:
    """Solve and prove again, one by one, the problems that the native call did not finish."""
    pairs = fitting.pairs
    table = PairTable(pairs.coef, pairs.ends)
    begin = perf_counter()
    for p in stalled:
        spent = perf_counter() - begin
        if settings.time_limit is not None and spent >= settings.time_limit:
            pairs.rename("stalled", "time_limit")  # their proofs are those of the native call
            break
        alone = _alone(fitting, p, table[p], settings.after(0, spent))
        (measure,) = prove(alone, settings.n_jobs)[1]
        (solution,), (outcome,) = alone.solutions, alone.outcomes
        marks = (outcome.beta != 0.0).view(np.int8) + measure.at_bound.view(np.int8)
        i, j = pair_position(p, len(pairs.ends))
        parts = {"coef": outcome.beta, "excess": measure.excess, "mark": marks}
        for name, part in parts.items():
            _put(getattr(pairs, name), pairs.ends, i, j, part)
        pairs.intercept[p] = outcome.intercept
        pairs.lowest[p], pairs.highest[p] = measure.intercept_range
        pairs.primal[p], pairs.dual[p] = measure.values.primal, measure.values.dual
        pairs.terms[p], pairs.norm2[p] = measure.values.terms, measure.values.norm2
        pairs.rounding[p], pairs.violation[p] = measure.values.rounding, measure.violation
        pairs.n_iter[p] += solution.n_iter
        pairs.n_kernel_values += solution.n_kernel_values
        pairs.set_status(p, solution.status)
        if solution.status == "interrupted":
            pairs.rename("stalled", "interrupted")
            break
    pairs.seconds += perf_counter() - begin


def _alone(fitting: PairFitting, p: int, start: Array, settings: Settings) -> Fitting:
    """Return the fit of one pair by the general solver, from where the native call left it."""
    task = fitting.tasks[p]
    rows = task.rows
    assert rows is not None
    task = fitting.formulation.task(task.y, task.weight, name=task.name)
    X, gram = take(fitting.X, rows), fitting.gram.take(rows)
    solutions, outcomes = solve_tasks(
        fitting.formulation, [task], gram, settings, [task.start(start)]
    )
    return Fitting(
        X,
        gram,
        Single(task.y),
        fitting.formulation,
        settings,
        task.weight,
        None,
        len(rows),
        [task],
        solutions,
        outcomes,
        sum_zero=fitting.sum_zero,
    )


def _blocks(ends: Rows) -> list[slice]:
    """Return the sorted rows of each class."""
    return [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def _put(table: NDArray[Any], ends: Rows, i: int, j: int, values: NDArray[Any]) -> None:
    """Write the values of the rows of a pair into a table in the layout of ``dual_coef_``."""
    first = slice(ends[i - 1] if i else 0, ends[i])
    second = slice(ends[j - 1], ends[j])
    cut = first.stop - first.start
    table[j - 1, first], table[i, second] = values[:cut], values[cut:]


class PairCertificates(Sequence[Certificate]):
    """The certificates of all pairs, each made when it is asked for.

    Parameters
    ----------
    pairs : PairSolutions
        The proofs.
    """

    def __init__(self, pairs: PairSolutions) -> None:
        names = ("primal", "dual", "terms", "rounding", "violation", "n_iter", "status")
        self._columns = {name: getattr(pairs, name) for name in names}
        self._statuses = pairs.statuses
        self._seconds, self._n_kernel_values = pairs.seconds, pairs.n_kernel_values

    def __getstate__(self) -> dict[str, Any]:
        columns = {name: packed_if_smaller(column) for name, column in self._columns.items()}
        return {**self.__dict__, "_columns": columns}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._columns = {name: unpacked(column) for name, column in self._columns.items()}

    def __len__(self) -> int:
        return len(self._columns["primal"])

    @overload
    def __getitem__(self, position: int) -> Certificate: ...
    @overload
    def __getitem__(self, position: slice) -> list[Certificate]: ...
    def __getitem__(self, position: Any) -> Any:
        """Return the certificate of a pair; its time and kernel values are an equal share."""
        if isinstance(position, slice):
            return [self[p] for p in range(*position.indices(len(self)))]
        p = range(len(self))[position]
        row = {name: column[p].item() for name, column in self._columns.items()}
        gap = row["primal"] - row["dual"]
        return Certificate(
            status=self._statuses[row["status"]],
            primal=row["primal"],
            dual=row["dual"],
            gap=gap,
            relative_gap=gap / row["terms"] if row["terms"] > 0.0 else abs(gap),
            kkt_violation=row["violation"],
            n_iter=row["n_iter"],
            n_kernel_values=self._n_kernel_values // len(self),
            seconds=self._seconds / len(self),
            precision="float64",
            rounding=row["rounding"],
        )

    @property
    def converged(self) -> bool:
        """Whether all problems reached their tolerance."""
        return bool((self._columns["status"] == self._statuses.index("optimal")).all())

    def combined(self) -> Certificate:
        """Return one certificate for all of them, as `Certificate.combine` does."""
        c = self._columns
        gap, terms = c["primal"] - c["dual"], c["terms"]
        relative = np.where(terms > 0.0, gap / np.where(terms > 0.0, terms, 1.0), np.abs(gap))
        codes = np.unique(c["status"]).tolist()
        return Certificate(
            status=max((self._statuses[code] for code in codes), key=STATUSES.index),
            primal=float(c["primal"].sum()),
            dual=float(c["dual"].sum()),
            gap=float(gap.sum()),
            relative_gap=float(relative.max()),
            kkt_violation=float(c["violation"].max()),
            n_iter=int(c["n_iter"].sum()),
            n_kernel_values=int(self._n_kernel_values),
            seconds=float(self._seconds),
            precision="float64",
            rounding=float(c["rounding"].sum()),
            n_problems=len(c["status"]),
        )
