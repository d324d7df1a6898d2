"""Several classes from binary machines: one against one, or one against the rest.

Conventions, which are scikit-learn's:

- One task per pair (i, j), i < j, in the order (0, 1), (0, 2), ..., (1, 2), ...; its decision
  value is positive for class i. With two classes there is a single task and the sign is turned:
  a positive value means ``classes_[1]``.
- Support vectors are sorted by class. ``dual_coef_`` has one row less than there are classes: the
  coefficient of a support vector of class i in the pair (i, j) is in row j - 1, that of one
  of class j in row i.
- One against the rest has one task and one row of ``dual_coef_`` per class.

Every scheme keeps all coefficients in one matrix of shape (rows of ``dual_coef_``, n samples),
zero for what is not a support vector.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import _native
from mercer.numerics.sums import compensated_product, compensated_sums
from mercer.objects.arrays import Array, Rows
from mercer.solvers.centring import Centring

from .solving import TrainingKernel
from .tasks import Batch

_FEW = 20_000  # values of pairs, on all rows, up to which one product for everything is the fastest


def distinct_labels(y: NDArray[Any]) -> tuple[NDArray[Any], Rows]:
    """Return the labels in their order, and the place of each entry of `y` among them."""
    if y.dtype.kind == "i":
        low = int(y.min())
        if int(y.max()) - low <= len(y):  # counting is faster than sorting
            offset = y.astype(np.intp) - low
            present = np.bincount(offset) > 0
            if present.all():
                return (np.arange(len(present)) + low).astype(y.dtype), offset
            return (present.nonzero()[0] + low).astype(y.dtype), (present.cumsum() - 1)[offset]
    return np.unique(y, return_inverse=True)


class Scheme(ABC):
    """How labels become tasks, and coefficients a matrix; here for tasks that all use every row."""

    def __init__(self, codes: Any, classes: Any) -> None:
        self.codes, self.classes = codes, classes

    @abstractmethod
    def batch(self, weight: Array) -> Batch:
        """Return the rows, targets and weights of the tasks."""

    def stack(self, betas: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return the coefficients of all tasks as one matrix."""
        return np.stack(betas)

    def unstack(self, matrix: Array) -> list[Array]:
        """Return the coefficients task by task: the inverse of `stack`."""
        return list(matrix)

    def order(self, support: NDArray[np.bool_]) -> tuple[Rows, NDArray[np.int32]]:
        """Return the positions of the support vectors by class, and their number in each."""
        rows = support.nonzero()[0]
        if self.codes is None:
            return rows, np.array([len(rows)], dtype=np.int32)
        labels = self.codes[rows]
        counts = np.bincount(labels, minlength=len(self.classes)).astype(np.int32)
        return rows[labels.argsort(kind="stable")], counts

    def prices(self, prices: Array, weight: Array) -> tuple[Array, Array]:
        """Return the class weights of the positive and of the negative side of every task."""
        raise NotImplementedError("only the tasks of a classifier have two sides.")

    def training_values(self, matrix: Array, kernel: TrainingKernel) -> list[Array]:
        """Return f0 = K beta on the rows of every task, each kernel value evaluated once."""
        support = np.flatnonzero(matrix.any(axis=0))
        return list(kernel.product(support, matrix[:, support].T).T)

    def shifts(self, moved: Centring | None, matrix: Array) -> Array:
        """Return the intercepts on centred rows minus those on the original rows."""
        return np.zeros(len(matrix)) if moved is None else moved.shifts(matrix)

    def sides(self, codes: NDArray[Any]) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the tasks of rows of some classes, and whether they are positive there.

        Both have a column for each row and a line for each line of ``dual_coef_``.
        """
        line = np.arange(1)[:, None]
        return np.broadcast_to(line, (1, len(codes))), (codes == 1)[None]

    def values_at(self, matrix: Array, kernel: TrainingKernel, rows: Rows) -> Array:
        """Return f0 = K beta of the tasks of some rows, laid out as `sides`."""
        support = np.flatnonzero(matrix.any(axis=0))
        return kernel.product(support, matrix[:, support].T, rows).T

    def all_values_at(
        self, matrix: Array, kernels: Sequence[TrainingKernel], rows: Rows
    ) -> list[Array]:
        """Return f0 = K beta at some rows, of any class, by each kernel: a column for each task."""
        return [self.values_at(matrix, kernel, rows).T for kernel in kernels]

    def sums(self, matrix: Array) -> Array:
        """Return the sums of the entries of a matrix over the rows of each task."""
        return matrix.sum(axis=1)

    def task_weights(self, weight: Array) -> Array:
        """Return the sum of the weights of the rows of each task."""
        return weight.sum(keepdims=True)


class Single(Scheme):
    """One task on all rows, with real targets or labels -1 and +1."""

    def __init__(self, targets: Array, codes: Any = None, classes: Any = None) -> None:
        self.targets, self.codes, self.classes = targets, codes, classes

    def batch(self, weight: Array) -> Batch:
        """Return the one task."""
        name = None if self.classes is None else tuple(self.classes.tolist())
        return Batch(self.targets, weight, None, [len(weight)], [name])

    def prices(self, prices: Array, weight: Array) -> tuple[Array, Array]:
        """Return the weight of the second class, which is the positive one, and of the first."""
        return prices[1:], prices[:1]


class OneVsRest(Scheme):
    """One task per class on all rows: +1 for the class, -1 for all others."""

    def batch(self, weight: Array) -> Batch:
        """Return as many tasks as there are classes."""
        k, n = len(self.classes), len(self.codes)
        y = np.where(self.codes == np.arange(k)[:, None], 1.0, -1.0).ravel()
        names = [(label, "the rest") for label in self.classes.tolist()]
        everything = np.tile(np.arange(n), k)
        ends = list(range(n, k * n + 1, n))
        return Batch(y, np.tile(weight, k), everything, ends, names)

    def prices(self, prices: Array, weight: Array) -> tuple[Array, Array]:
        """Return the weight of each class, and the mean weight of the rows of all others."""
        k = len(self.classes)
        sums = np.bincount(self.codes, weights=weight, minlength=k)
        rows = np.bincount(self.codes, weights=weight / prices[self.codes], minlength=k)
        return prices, (sums.sum() - sums) / (rows.sum() - rows)

    def sides(self, codes: NDArray[Any]) -> tuple[Rows, NDArray[np.bool_]]:
        """Return every class for every row, and whether it is the row's."""
        line = np.arange(len(self.classes))[:, None]
        return np.broadcast_to(line, (len(line), len(codes))), codes == line

    def task_weights(self, weight: Array) -> Array:
        """Return the sum of all weights for each class."""
        return np.full(len(self.classes), weight.sum())


class OneVsOne(Scheme):
    """One task per pair of classes on the rows of the two."""

    @property
    def n_pairs(self) -> int:
        """The number of tasks."""
        k = len(self.classes)
        return k * (k - 1) // 2

    @cached_property
    def members(self) -> list[Rows]:
        """The rows of every class."""
        return class_members(self.codes, len(self.classes))

    def batch(self, weight: Array) -> Batch:
        """Return the tasks in the order of the pairs."""
        members, labels = self.members, self.classes.tolist()
        sizes = [len(rows) for rows in members]
        parts: list[Rows] = []
        y_parts: list[Array] = []
        ends, end = [], 0
        ones, minus = np.ones(max(sizes)), -np.ones(max(sizes))
        for i, j in pairs(len(members)):
            parts += (members[i], members[j])
            y_parts += (ones[: sizes[i]], minus[: sizes[j]])
            end += sizes[i] + sizes[j]
            ends.append(end)
        rows = np.concatenate(parts)
        names = [(labels[i], labels[j]) for i, j in pairs(len(members))]
        return Batch(np.concatenate(y_parts), weight[rows], rows, ends, names)

    def stack(self, betas: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return the matrix with n_classes - 1 rows."""
        k, members = len(self.members), self.members
        ends = np.cumsum([len(rows) for rows in members]).tolist()
        by_class = np.empty((k - 1, len(self.codes)), dtype=betas[0].dtype)
        for (i, j), beta in zip(pairs(k), betas, strict=True):
            first = ends[i - 1] if i else 0
            cut = ends[i] - first
            by_class[j - 1, first : ends[i]] = beta[:cut]
            by_class[i, ends[j - 1] : ends[j]] = beta[cut:]
        matrix = np.empty_like(by_class)
        matrix[:, np.concatenate(members)] = by_class
        return matrix

    def unstack(self, matrix: Array) -> list[Array]:
        """Return the coefficients pair by pair."""
        return pair_entries(matrix, self.members)

    def prices(self, prices: Array, weight: Array) -> tuple[Array, Array]:
        """Return the weights of the first and of the second class of every pair."""
        first, second = pair_indices(len(self.classes))
        return prices[first], prices[second]

    def training_values(self, matrix: Array, kernel: TrainingKernel) -> list[Array]:
        """Return the values pair by pair.

        The block of rows of class r and support vectors of class c serves the pair of r and c
        alone, except on the diagonal, where it serves all pairs of the class. For few rows the
        calls cost more than the values: one block serves all.
        """
        members = self.members
        k = len(members)
        if len(self.codes) * k * (k - 1) <= _FEW:
            values = kernel.full_product(pair_coefficients(matrix, members))
            return [
                np.concatenate([values[members[i], p], values[members[j], p]])
                for p, (i, j) in enumerate(pairs(k))
            ]
        table = self._by_class(matrix, kernel, members)
        return [np.concatenate([table[i][j - 1], table[j][i]]) for i, j in pairs(k)]

    def shifts(self, moved: Centring | None, matrix: Array) -> Array:
        """Return the intercepts on centred rows minus those on the original rows."""
        if moved is None:
            return np.zeros(self.n_pairs)
        ends = np.cumsum([len(rows) for rows in self.members]).tolist()
        blocks = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        order = np.concatenate(self.members)
        return pair_shifts(moved, matrix[:, order], blocks, order)

    def sides(self, codes: NDArray[Any]) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the pairs of the class of every row with all others; the first one is positive."""
        k = len(self.classes)
        line = np.arange(k - 1)[:, None]
        other = line + (line >= codes)
        first, second = np.minimum(codes, other), np.maximum(codes, other)
        return first * (2 * k - first - 1) // 2 + second - first - 1, codes < other

    def values_at(self, matrix: Array, kernel: TrainingKernel, rows: Rows) -> Array:
        """Return the values of the pairs of some rows."""
        codes, k = self.codes[rows], len(self.classes)
        if len(rows) * k * (k - 1) <= _FEW:
            support = np.flatnonzero(matrix.any(axis=0))
            blocks = class_members(self.codes[support], k)
            values = kernel.product(support, pair_coefficients(matrix[:, support], blocks), rows)
            return values[np.arange(len(rows)), self.sides(codes)[0]]
        members = class_members(codes, k)
        table = np.empty((k - 1, len(rows)))
        found = self._by_class(matrix, kernel, [rows[part] for part in members])
        for part, values in zip(members, found, strict=True):
            table[:, part] = values
        return table

    def all_values_at(
        self, matrix: Array, kernels: Sequence[TrainingKernel], rows: Rows
    ) -> list[Array]:
        """Return f0 = K beta at some rows, of any class, by each kernel: a column for each pair."""
        support, first = self._support(matrix)
        groups = [(first[c], matrix[:, of_class].T) for c, of_class in enumerate(support)]
        columns = np.concatenate(support)
        parts = (kernel.grouped_at(columns, groups, rows) for kernel in kernels)
        i, j = pair_places(len(support))
        return [part[:, i] + part[:, j] for part in parts]

    def sums(self, matrix: Array) -> Array:
        """Return the sums of the entries of a matrix over the rows of each pair of classes."""
        begins = np.cumsum([0, *(len(of_class) for of_class in self.members[:-1])])
        by_class = matrix.take(np.concatenate(self.members), axis=1)
        parts = np.add.reduceat(by_class, begins, axis=1).T.ravel()
        i, j = pair_places(len(self.members))
        return parts[i] + parts[j]

    def task_weights(self, weight: Array) -> Array:
        """Return the sum of the weights of each pair of classes."""
        first, second = pair_indices(len(self.classes))
        of_class = np.bincount(self.codes, weight, len(self.classes))
        return np.asarray(of_class[first] + of_class[second])

    def _support(self, matrix: Array) -> tuple[list[Rows], Rows]:
        """Return the support vectors of every class, and where they begin, one after the other."""
        used = np.asarray(matrix.any(axis=0))
        support = [of_class[used[of_class]] for of_class in self.members]
        return support, np.concatenate([[0], np.cumsum([len(of_class) for of_class in support])])

    def _by_class(self, matrix: Array, kernel: TrainingKernel, rows: Sequence[Rows]) -> list[Array]:
        """Return the values of some rows of every class, a line for each other class."""
        k = len(rows)
        support, first = self._support(matrix)
        columns = kernel.prepared(np.concatenate(support))
        found = []
        for r in range(k):
            # In the pair of r and c, class c is the second one where c > r.
            groups = [(first[r], matrix[:, support[r]].T)]
            groups += [
                (first[c], matrix[r if c > r else r - 1, support[c]][:, None])
                for c in range(k)
                if c != r
            ]
            values = (
                kernel.grouped(columns, groups, rows[r])
                if len(rows[r])
                else np.empty((0, 2 * k - 2))
            )
            found.append((values[:, : k - 1] + values[:, k - 1 :]).T)
        return found


def pair_entries(table: NDArray[Any], members: Sequence[Rows]) -> list[NDArray[Any]]:
    """Return the entries of every pair in a table laid out as ``dual_coef_``.

    `members`: the columns of the rows of each class.
    """
    return [
        np.concatenate([table[j - 1, members[i]], table[i, members[j]]])
        for i, j in pairs(len(members))
    ]


def pair_coefficients(matrix: Array, members: Sequence[Any]) -> Array:
    """Return one column of coefficients per pair; `members`: the columns of each class."""
    k = len(members)
    V = np.zeros((matrix.shape[1], k * (k - 1) // 2))
    for p, (i, j) in enumerate(pairs(k)):
        V[members[i], p] = matrix[j - 1, members[i]]
        V[members[j], p] = matrix[i, members[j]]
    return V


def class_members(codes: NDArray[Any], n_classes: int) -> list[Rows]:
    """Return the positions of the rows of every class."""
    short = np.int16 if n_classes <= np.iinfo(np.int16).max else codes.dtype
    order = np.argsort(codes.astype(short), kind="stable")  # few digits are sorted fast
    ends = np.cumsum(np.bincount(codes, minlength=n_classes)).tolist()
    return [order[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]


@lru_cache(maxsize=64)
def pairs(n_classes: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs (i, j) with i < j in the order of the tasks."""
    return tuple((i, j) for i in range(n_classes) for j in range(i + 1, n_classes))


def pair_groups(n_classes: int) -> Iterator[tuple[int, slice]]:
    """Yield each class with the positions of the pairs whose first class it is."""
    end = 0
    for i in range(n_classes - 1):
        begin, end = end, end + n_classes - 1 - i
        yield i, slice(begin, end)


@lru_cache(maxsize=16)
def pair_indices(n_classes: int) -> tuple[Rows, Rows]:
    """Return the first and the second class of every pair."""
    first, second = np.triu_indices(n_classes, 1)
    return first, second


@lru_cache(maxsize=16)
def pair_places(n_classes: int) -> tuple[Rows, Rows]:
    """Return the positions of both parts of every pair among n_classes - 1 values of each class."""
    i, j = pair_indices(n_classes)
    return i * (n_classes - 1) + j - 1, j * (n_classes - 1) + i


def pair_shifts(moved: Centring, coef: Array, blocks: list[slice], rows: Rows | None) -> Array:
    """Return <w, p> of every pair of classes, the change of its intercept by centring."""
    rows = np.arange(moved.rows.shape[0]) if rows is None else rows
    place, support = moved.along(rows), rows[coef.any(axis=0)]
    parts = []
    for b in blocks:
        parts_of_class = [p for part in compensated_product(coef[:, b], place[b]) for p in part.T]
        size = np.abs(coef[:, b]).sum(axis=1)
        parts.append((*parts_of_class, *compensated_sums(coef[:, b].T), size))
    first, second = pair_places(len(blocks))
    # The two classes of a pair cancel, so that corrections are added after them.
    *products, total, lost, size = (
        table.flat[first] + table.flat[second]
        for table in (np.stack(part) for part in zip(*parts, strict=True))
    )
    return np.asarray(sum(products) + moved.shifts_of_sums(total + lost, size, support))


@dataclass(frozen=True)
class DecisionRule:
    """What a classifier answers, given the decision values of its binary problems.

    `one_against_one`: whether the problems are pairs of more than two classes; else they are one
    for two classes, or one for each class. `break_ties`, `shape`: the parameters `break_ties` and
    `decision_function_shape` of a classifier.
    """

    classes_: NDArray[Any]
    one_against_one: bool
    break_ties: bool
    shape: str

    def decision_function(self, values: Array) -> Array:
        """Return the scores, by class or by pair of classes."""
        k = len(self.classes_)
        if self.one_against_one and self.shape == "ovr":
            return one_score_per_class(values, k)
        return values[:, 0] if k == 2 else values

    def predict(self, values: Array) -> NDArray[Any]:
        """Return the labels."""
        return self.classes_[self.winners(values)]

    def check_ties(self) -> None:
        """Reject ties to be broken by scores of classes where there are scores of pairs."""
        if self.shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")

    def winners(self, values: Array) -> NDArray[np.intp]:
        """Return the positions of the predicted classes."""
        if self.break_ties:
            self.check_ties()
        k = len(self.classes_)
        if k == 2:
            return (values[:, 0] >= 0.0).astype(np.intp)
        if not self.one_against_one:
            return values.argmax(axis=1)
        if self.break_ties:
            return one_score_per_class(values, k).argmax(axis=1)
        return votes(values, k).argmax(axis=1)


def votes(decision: Array, n_classes: int) -> Array:
    """Return the number of pairs that each class wins; a value of 0 is won by the second."""
    return _native.count_votes(np.ascontiguousarray(decision), n_classes)


def one_score_per_class(decision: Array, n_classes: int) -> Array:
    """Return the votes of each class plus a confidence that only breaks ties between them.

    The values of all pairs that a class takes part in, counted positive in its favour, are summed
    and squeezed into (-1/3, 1/3) by t / (3 (|t| + 1)): less than half a vote apart.
    """
    score = np.zeros((len(decision), n_classes))
    confidence = np.zeros((len(decision), n_classes))
    for i, group in pair_groups(n_classes):
        value = decision[:, group]
        first = value >= 0.0
        score[:, i] += first.sum(axis=1)
        score[:, i + 1 :] += ~first
        confidence[:, i] += value.sum(axis=1)
        confidence[:, i + 1 :] -= value
    return score + confidence / (3.0 * (np.abs(confidence) + 1.0))
