"""What a fitted machine remembers of its training rows: one number and one mark for each.

Everything that is said about training points afterwards (slacks, who lies where, which support
vectors are at their bounds) is derived from this when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .multiclass import class_members, pairs

Rows = NDArray[np.intp]

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

    Attributes
    ----------
    n_total : int
        Rows of the user's data.
    kept : array of int or None
        The rows that took part; None stands for all.
    codes : array of int or None
        The class of each row that took part, where each task is a pair of classes; None where
        every task uses all rows.
    excess : sequence of array
        For each task, by how much its rows miss the region without loss (negative inside it).
    marks : sequence of int8 array
        For each task, `ZERO`, `FREE` or `BOUNDED` for the coefficients of its rows.
    """

    n_total: int
    kept: Rows | None
    codes: NDArray[Any] | None
    excess: Sequence[NDArray[Any]]
    marks: Sequence[NDArray[np.int8]]

    def repeated(self, group: Rows, kept: Rows | None) -> TrainingRecord:
        """Return the record of all rows, given that of distinct rows.

        Parameters
        ----------
        group : array of int
            The distinct row that each row repeats.
        kept : array of int or None
            Positions of all rows in the user's data.
        """
        if self.codes is None:
            excess = [part[group] for part in self.excess]
            marks = [part[group] for part in self.marks]
            return TrainingRecord(self.n_total, kept, None, excess, marks)
        codes = self.codes[group]
        k = int(self.codes.max()) + 1
        distinct, every = class_members(self.codes, k), class_members(codes, k)
        place = np.empty(len(self.codes), dtype=np.intp)
        for rows in distinct:
            place[rows] = np.arange(len(rows))
        within = [place[group[rows]] for rows in every]

        def spread(parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
            cuts = [len(distinct[i]) for i, _ in pairs(k)]
            return [
                np.concatenate([part[within[i]], part[cut + within[j]]])
                for part, cut, (i, j) in zip(parts, cuts, pairs(k), strict=True)
            ]

        return TrainingRecord(self.n_total, kept, codes, spread(self.excess), spread(self.marks))

    @property
    def rows(self) -> list[Rows | None]:
        """For each task the positions of its rows in the user's data; None stands for all."""
        if self.codes is None:
            return [self.kept] * len(self.excess)
        members = class_members(self.codes, int(self.codes.max()) + 1)
        if self.kept is not None:
            members = [self.kept[rows] for rows in members]
        return [np.concatenate([members[i], members[j]]) for i, j in pairs(len(members))]

    @property
    def single(self) -> bool:
        """Whether there is one task, so that results have no axis of tasks."""
        return len(self.excess) == 1

    def spread(self, parts: Sequence[NDArray[Any]], fill: Any, dtype: Any) -> NDArray[Any]:
        """Return values given for the rows of each task as an array over all of the user's rows.

        Parameters
        ----------
        parts : sequence of array
            One for each task.
        fill : object
            Value of rows that take no part in a task.
        dtype : dtype
            Type of the result, of shape (n_total,) or (n_tasks, n_total).
        """
        table = np.full((len(parts), self.n_total), fill, dtype=dtype)
        for line, rows, part in zip(table, self.rows, parts, strict=True):
            line[slice(None) if rows is None else rows] = part
        return table[0] if self.single else table

    def marked(self, mark: int) -> Any:
        """Return the user's rows whose coefficient carries a mark: an array, or one per task."""
        found = []
        for rows, marks in zip(self.rows, self.marks, strict=True):
            here = np.flatnonzero(marks == mark)
            found.append(here if rows is None else rows[here])
        return found[0] if self.single else found

    def on_edge(self, tol: float) -> Any:
        """Return the user's rows whose excess is within `tol` of 0: an array, or one per task."""
        found = []
        for rows, excess in zip(self.rows, self.excess, strict=True):
            here = np.flatnonzero(np.abs(excess) <= tol)
            found.append(here if rows is None else rows[here])
        return found[0] if self.single else found
