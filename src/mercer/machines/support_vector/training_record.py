"""Slack and status of the training rows: one number and one mark for each.

The attributes about training points (slacks, position relative to the margin, support vectors at
their bounds) are derived from this on access.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Rows

from .multiclass import class_members, pair_entries, pairs

ZERO, FREE, BOUNDED = 0, 1, 2
"""Marks of a coefficient: zero, strictly between its bounds, or at the bound of its loss."""


class PointStatus(StrEnum):
    """Where a training point lies; a string that compares as one.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.machines import PointStatus
    >>> model = SVC(kernel="linear").fit([[-1.0], [1.0], [3.0]], [0, 1, 1])
    >>> [PointStatus(status).value for status in model.point_status_]
    ['on edge', 'on edge', 'outside margin']
    """

    OUTSIDE_MARGIN = "outside margin"
    ON_EDGE = "on edge"
    INSIDE_MARGIN = "inside margin"
    MISCLASSIFIED = "misclassified"
    INSIDE_TUBE = "inside tube"
    OUTSIDE_TUBE = "outside tube"
    INLIER = "inlier"
    OUTLIER = "outlier"
    NOT_USED = "not used"
    UNKNOWN = "unknown"


@dataclass
class TrainingRecord:
    """The training rows of all tasks of one fit.

    `n_total`: rows of the user's data. `kept`: the rows that took part; None means all. `codes`:
    the class of each of them, where each task is a pair of classes; None where every task uses all
    rows. `excess`: by how much rows miss the region without loss (negative inside it). `marks`:
    `ZERO`, `FREE` or `BOUNDED` for their coefficients. Both are tables laid out as ``dual_coef_``,
    with a column for each row that took part.
    """

    n_total: int
    kept: Rows | None
    codes: NDArray[Any] | None
    excess: NDArray[Any]
    marks: NDArray[np.int8]

    def repeated(self, group: Rows, kept: Rows | None) -> TrainingRecord:
        """Return the record of all rows, given that of the distinct rows that they repeat."""
        codes = None if self.codes is None else self.codes[group]
        return TrainingRecord(
            self.n_total, kept, codes, self.excess[:, group], self.marks[:, group]
        )

    def of_tasks(self, table: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the entries of the rows of each task in a table."""
        if self.codes is None:
            return list(table)
        return pair_entries(table, class_members(self.codes, int(self.codes.max()) + 1))

    @property
    def rows(self) -> list[Rows | None]:
        """For each task the positions of its rows in the user's data; None means all."""
        if self.codes is None:
            return [self.kept] * len(self.marks)
        members = class_members(self.codes, int(self.codes.max()) + 1)
        if self.kept is not None:
            members = [self.kept[rows] for rows in members]
        return [np.concatenate([members[i], members[j]]) for i, j in pairs(len(members))]

    @property
    def single(self) -> bool:
        """Whether there is one task, so that results have no axis of tasks."""
        return self.codes is None and len(self.marks) == 1

    def spread(self, parts: Sequence[NDArray[Any]], fill: Any, dtype: Any) -> NDArray[Any]:
        """Return values of the rows of each task as one array over all of the user's rows."""
        table = np.full((len(parts), self.n_total), fill, dtype=dtype)
        for line, rows, part in zip(table, self.rows, parts, strict=True):
            line[slice(None) if rows is None else rows] = part
        return table[0] if self.single else table

    def marked(self, mark: int) -> NDArray[np.intp] | list[NDArray[np.intp]]:
        """Return the user's rows whose coefficient carries a mark: an array, or one per task."""
        return self._where(marks == mark for marks in self.of_tasks(self.marks))

    def with_coefficient(self) -> Any:
        """Return the user's rows whose coefficient is not 0: an array, or one per task."""
        return self._where(marks != ZERO for marks in self.of_tasks(self.marks))

    def on_edge(self, tol: float) -> NDArray[np.intp] | list[NDArray[np.intp]]:
        """Return the user's rows whose excess is within `tol` of 0: an array, or one per task."""
        return self._where(np.abs(part) <= tol for part in self.of_tasks(self.excess))

    def _where(self, masks: Iterable[NDArray[np.bool_]]) -> Any:
        """Return the user's rows that the masks of the tasks select: an array, or one per task."""
        here = zip(map(np.flatnonzero, masks), self.rows, strict=True)
        found = [some if rows is None else rows[some] for some, rows in here]
        return found[0] if self.single else found
