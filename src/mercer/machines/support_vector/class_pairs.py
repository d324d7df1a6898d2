"""Fits whose pairs of classes are one job, `mercer.solvers.class_pairs`: arrays from end to end.

The solution is stored as tables in the layout of ``dual_coef_``, and one number per pair of
everything else. Tasks, solutions and certificates are created on access.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.kernels import Definiteness, Kernel
from mercer.numerics.sums import compensated_product
from mercer.objects.arrays import Array, Rows
from mercer.run import Run
from mercer.solvers import Certificate, Settings, Solution
from mercer.solvers.centring import Centring
from mercer.solvers.certificate import GAP_LIMIT, STATUSES
from mercer.solvers.class_pairs import ClassPairs, PairsOfClasses, PairSolutions, pair_position
from mercer.solvers.rounding import UNIT

from ..kernel_estimator import TrainingData
from ..progress import is_watched
from .multiclass import OneVsOne, Scheme, Single, pair_indices, pair_places, pair_shifts
from .proving import Fitting, assumption, prove
from .rounding import SEEN
from .tasks import Task

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
    """Raise where the coefficients of all pairs cannot be held in memory."""
    n_pairs = n_classes * (n_classes - 1) // 2
    needed = (n_classes - 1) * n_samples * _BYTES_PER_COEFFICIENT + n_pairs * _BYTES_PER_PAIR
    if needed < 1e6 or needed <= (memory := _physical_memory()):
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

    The columns are the training rows sorted by class; `ends`: where each class ends.
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
        fitting = self._of
        if isinstance(fitting.scheme, Single):
            y, c = fitting.scheme.targets, fitting.posed.c
            problem = replace(fitting.posed.pair(p), y=y, c=c, rows=None)
            return Task(problem, y, fitting.weight)
        return fitting.pair_task(p)


class _Solutions(_Lazy):
    def _make(self, p: int) -> Solution:
        pairs = self._of.pairs
        alone = isinstance(self._of.scheme, Single)
        beta = self._of.matrix()[p] if alone else pairs.part(pairs.coef, p)
        groups = int(self._of.sum_zero)
        multiplier = np.full(groups, -pairs.intercept[p])
        return Solution(beta, np.zeros(0), multiplier, np.zeros((groups, 2)), "optimal")


@dataclass
class PairFitting(Fitting):
    """A fit whose pairs were solved as arrays; tasks and solutions are made when asked for."""

    posed: PairsOfClasses = None  # type: ignore[assignment]
    pairs: PairSolutions = None  # type: ignore[assignment]

    @property
    def statuses(self) -> set[str]:
        """How the problems ended."""
        return self.pairs.found_statuses()

    @property
    def out_of_time(self) -> bool:
        """Whether there is no proof: there always is one."""
        return False

    @cached_property
    def largest(self) -> float:
        """The largest k(x, x); `suits` takes positive semidefinite kernels alone."""
        return float(self.gram.diag().max(initial=0.0))

    def interrupt(self) -> None:
        """Take note of an interrupt that the solver did not see."""
        self.run.interrupt()
        self.pairs.status = "interrupted"

    def matrix(self) -> Array:
        """Return the coefficients in the layout of ``dual_coef_``, over all rows."""
        return self.pairs.in_order_of_rows(self.pairs.coef)

    def models(self) -> tuple[Array, Array, Array | None]:
        """Return coefficients and intercepts; there are no linear functions."""
        return self.matrix(), self.pairs.intercept, None

    def pair_task(self, p: int) -> Task:
        """Return the task of a pair, of which the first class is the positive one."""
        problem, labels = self.posed.pair(p), self.scheme.classes  # type: ignore[attr-defined]
        name = tuple(labels[c].item() for c in pair_position(p, len(labels)))
        return Task(problem, problem.y, self.weight[problem.rows], problem.rows, name)

    def pair_solution(self, p: int) -> Solution:
        """Return the solution of a pair, whose values are to be computed again."""
        pairs = self.pairs
        beta, multiplier = pairs.part(pairs.coef, p), -pairs.intercept[p : p + 1]
        interval = np.array([[-pairs.highest[p], -pairs.lowest[p]]])
        status = pairs.statuses[pairs.ended[p]]
        return Solution(beta, np.zeros(len(beta)), multiplier, interval, status, fresh=False)

    def shifts(self) -> Array:
        """Return by how much the intercepts on centred rows exceed those on the rows as given."""
        pairs, moved = self.pairs, self.centring
        if moved is None:
            return np.zeros(len(pairs.intercept))
        return pair_shifts(moved, pairs.coef, _blocks(pairs.ends), pairs.order)

    def task_weights(self) -> Array:
        """Return sum_i s_i of every problem."""
        pairs = self.pairs
        of_class = np.add.reduceat(self.weight[pairs.order], self.posed.begins)
        i, j = pair_indices(len(pairs.ends))
        return np.asarray(of_class[i] + of_class[j])


def posed(
    machine: Any,
    scheme: Scheme,
    kernel: Kernel,
    known: Definiteness,
    X: Any,
    weight: Array,
) -> PairsOfClasses | None:
    """Return the pairs of a fit as one problem, None where each is to be a problem of its own."""
    if machine.solver != "auto" or not machine._plain:
        return None
    if not isinstance(scheme, OneVsOne) or len(scheme.classes) < MANY:
        if machine.dtype == "float32" or machine.gap_tol is not None or machine.max_iter >= 0:
            return None
        if is_watched(machine):
            return None
        if not isinstance(scheme, OneVsOne | Single) or scheme.classes is None or not _small(X):
            return None
    # The bound on rounding needs a definite kernel; one that is the user's word is to be checked.
    if not known.is_psd or assumption(kernel, known) is not None:
        return None
    c, intercept = machine.C_ * weight, bool(machine.fit_intercept)
    codes: Any = scheme.codes
    k = len(scheme.classes)  # type: ignore[arg-type]
    problem = PairsOfClasses(machine._loss(), codes, k, c, intercept)
    return problem if ClassPairs().takes(problem) is None else None


def _small(X: Any) -> bool:
    """Return whether the whole kernel matrix of some rows is a matter of milliseconds."""
    if not (isinstance(X, np.ndarray) or sp.issparse(X)) or X.ndim != 2 or X.dtype.kind != "f":
        return False
    n, columns = X.shape
    return n <= _FEW_ROWS and n * n * columns <= _FEW_PRODUCTS


def read_pairs(
    data: TrainingData,
    gram: Gram,
    scheme: Scheme,
    settings: Settings,
    run: Run,
    weight: Array,
    centring: Centring | None,
    problem: PairsOfClasses,
    pairs: PairSolutions,
) -> PairFitting:
    """Return the fit of all pairs; those that were solved one by one are proved here."""
    none: Any = []
    fitting = PairFitting(
        data,
        gram,
        scheme,
        settings,
        run,
        weight,
        none,
        none,
        centring,
        problem.fit_intercept,
        posed=problem,
        pairs=pairs,
    )
    fitting.tasks, fitting.solutions = _Tasks(fitting), _Solutions(fitting)  # type: ignore[assignment]
    if centring is not None:
        for p in _widened(fitting, centring):
            pairs.unproved.setdefault(p, fitting.pair_solution(p))
    for p, solution in pairs.unproved.items():
        _prove(fitting, p, solution)
    if isinstance(scheme, Single):
        pairs.swap_sides()
    return fitting


def _widened(fitting: PairFitting, moved: Centring) -> list[int]:
    """Add what predictions of rows as given add to rounding; return pairs to be proved again.

    These are the ones for which that decides, such as those whose coefficients have a sum that is
    not rounding.
    """
    pairs, blocks = fitting.pairs, _blocks(fitting.pairs.ends)
    errors = fitting.errors("float64", reach=moved.reach(fitting.data.X))
    first, second = pair_places(len(blocks))
    ones = np.ones((len(pairs.order), 1))

    def of_pairs(table: Array) -> Array:
        return np.asarray(table.flat[first] + table.flat[second])

    def sums(terms: Array) -> Array:
        return of_pairs(np.stack([terms[:, b].sum(axis=1) for b in blocks]))

    size = np.abs(pairs.coef) * fitting.sizes[pairs.order]
    parts = np.stack([compensated_product(pairs.coef[:, b], ones[b]) for b in blocks], axis=1)
    of_classes = np.zeros((5, *parts[0].shape))
    norm, few = np.sqrt(np.maximum(pairs.norm2, 0.0)), 16.0 * UNIT
    spread = errors.systematic * sums(size) + errors.independent * np.sqrt(sums(size**2))
    for place in (first, second):
        of_classes[0].flat[place] = norm
        of_classes[1].flat[place] = sum(map(of_pairs, parts))
        of_classes[2].flat[place] = sums(np.abs(pairs.coef))
        of_classes[3].flat[place] = spread + few * norm
        of_classes[4].flat[place] = few * np.abs(pairs.intercept)
    rise = np.zeros(parts[0].shape[:2])
    for i, b in enumerate(blocks):
        rows, f = pairs.order[b], 1.0 - pairs.excess[:, b]
        # The native proof has the values within the errors of K beta. The loss is convex: from
        # their end on, further errors add most.
        f = f - of_classes[3, i] * fitting.sizes[rows] - of_classes[4, i]
        lowest = f - errors.of_far_rows(rows, *of_classes[:3, i])
        cost, c = fitting.posed.loss.cost, fitting.posed.c[rows]
        rise[i] = (cost(1.0, lowest, c) - cost(1.0, f, c)).sum(axis=1)
    added = of_pairs(rise)
    pairs.primal += added
    pairs.rounding += added
    return np.flatnonzero(~(added <= SEEN * GAP_LIMIT * pairs.terms)).tolist()


def _prove(fitting: PairFitting, p: int, solution: Solution) -> None:
    """Prove a pair that was solved alone, and write its proof into the arrays."""
    pairs, task, moved = fitting.pairs, fitting.pair_task(p), fitting.centring
    rows = task.rows
    assert rows is not None
    gram = fitting.gram.take(rows)
    task = replace(task, problem=replace(task.problem, rows=None), rows=None)
    alone = Fitting(
        fitting.data.take(rows),
        gram,
        Single(task.y),
        fitting.settings,
        fitting.run,
        task.weight,
        [task],
        [solution],
        None if moved is None else replace(moved, rows=moved.rows[rows]),
        fitting.sum_zero,
    )
    (proof,) = prove(alone, fitting.settings.n_jobs)[1]
    (solution,) = alone.solutions
    pairs.put(pairs.coef, p, solution.beta)
    pairs.put(pairs.excess, p, proof.excess)
    pairs.put(pairs.mark, p, proof.marks)
    pairs.intercept[p] = task.intercept(solution)
    pairs.lowest[p], pairs.highest[p] = proof.intercept_range
    values = proof.values
    pairs.primal[p], pairs.dual[p], pairs.terms[p] = values.primal, values.dual, values.terms
    pairs.norm2[p], pairs.rounding[p] = values.norm2, values.rounding
    pairs.violation[p] = proof.violation
    pairs.set_status(p, solution.status)


def _blocks(ends: Rows) -> list[slice]:
    """Return the sorted rows of each class."""
    return [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


class PairCertificates(Sequence[Certificate]):
    """The certificates of all pairs, each made when it is asked for."""

    def __init__(self, pairs: PairSolutions) -> None:
        names = ("primal", "dual", "terms", "rounding", "violation", "n_iter", "ended")
        self._columns = dict(zip(names, attrgetter(*names)(pairs), strict=True))
        self._statuses = pairs.statuses
        self._seconds, self._n_kernel_values = pairs.seconds, pairs.n_kernel_values

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
            status=self._statuses[row["ended"]],
            primal=row["primal"],
            dual=row["dual"],
            gap=gap,
            relative_gap=gap / row["terms"] if row["terms"] > 0.0 else abs(gap),
            kkt_violation=row["violation"],
            n_iter=row["n_iter"],
            n_kernel_values=self._n_kernel_values // len(self),
            seconds=self._seconds / len(self),
            precision="float64",
            rounding=min(row["rounding"], gap),
        )

    @property
    def converged(self) -> bool:
        """Whether all problems reached their tolerance."""
        return bool((self._columns["ended"] == self._statuses.index("optimal")).all())

    def combined(self) -> Certificate:
        """Return one certificate for all of them, as `Certificate.combine` does."""
        c = self._columns
        gap, terms = c["primal"] - c["dual"], c["terms"]
        relative = np.where(terms > 0.0, gap / np.where(terms > 0.0, terms, 1.0), np.abs(gap))
        codes = np.unique(c["ended"]).tolist()
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
            rounding=float(np.minimum(c["rounding"], gap).sum()),
            n_problems=len(c["ended"]),
        )
