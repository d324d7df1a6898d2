"""Slack and status of the training rows: one number and one mark for each.

The attributes about training points (slacks, position relative to the margin, support vectors at
their bounds) are derived from this on access.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Rows
from mercer.objects.compression import packed_if_smaller, unpacked

from .multiclass import class_members, pairs

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


class BriefParts(Sequence[NDArray[Any]]):
    """Excess or marks of the rows of all tasks, in few bits: what pickles and files hold.

    A row has the code mark + 3 * place. At place 0 it is outside the region of losses, at 1 within
    `edge` of its edge, at 2 its excess is one of `values`; None: these are the marks. The codes of
    all tasks, of `lengths` rows, are compressed by zlib one after the other.
    """

    def __init__(
        self, codes: NDArray[np.uint8], lengths: NDArray[Any], values: NDArray[Any] | None
    ) -> None:
        self.codes, self.lengths, self.values = codes, lengths, values

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, position: int) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, position: slice) -> list[NDArray[Any]]: ...
    def __getitem__(self, position: Any) -> Any:
        """Return the rows of a task; those outside have excess minus infinity."""
        if "_lazy" not in self.__dict__:
            self._lazy = self._parts()
        return self._lazy[position]

    def __getstate__(self) -> dict[str, Any]:
        return {
            "codes": self.codes,
            "lengths": self.lengths,
            "values": packed_if_smaller(self.values),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: unpacked(value) for name, value in state.items()})

    def _parts(self) -> list[NDArray[Any]]:
        total = int(np.sum(self.lengths, dtype=np.int64))
        raw = zlib.decompressobj().decompress(self.codes.tobytes(), max(total, 1))
        place, mark = np.divmod(np.frombuffer(raw, dtype=np.uint8), 3)
        if self.values is None:
            whole = mark.astype(np.int8)
        else:
            whole = np.where(place == 1, 0.0, -np.inf).astype(self.values.dtype)
            whole[place == 2] = self.values
        ends = np.cumsum(self.lengths, dtype=np.intp).tolist()
        return [whole[a:b] for a, b in zip([0, *ends], ends, strict=False)]


@dataclass
class TrainingRecord:
    """The training rows of all tasks of one fit.

    `n_total`: rows of the user's data. `kept`: the rows that took part; None means all. `codes`:
    the class of each of them, where each task is a pair of classes; None where every task uses all
    rows. `excess`: for each task, by how much its rows miss the region without loss (negative
    inside it). `marks`: `ZERO`, `FREE` or `BOUNDED` for their coefficients. `edge`: None: excess
    values are as the fit computed them. A number: those of at most this size are 0, those below
    minus this are minus infinity, and the others are in single precision.
    """

    n_total: int
    kept: Rows | None
    codes: NDArray[Any] | None
    excess: Sequence[NDArray[Any]]
    marks: Sequence[NDArray[np.int8]]
    edge: float | None = None

    def brief(self, edge: float) -> TrainingRecord:
        """Return what slacks, places and marks need, in less than a byte for each row."""
        if self.edge is not None or not len(self.excess):
            return self
        excess = np.concatenate(list(self.excess))
        near = np.abs(excess) <= edge
        stored = ~near & ~(excess < 0.0)  # of unknown rows too
        codes = np.concatenate(list(self.marks)).astype(np.uint8)
        codes += np.select([near, stored], [np.uint8(3), np.uint8(6)], np.uint8(0))
        packed = np.frombuffer(zlib.compress(codes.tobytes(), 6), dtype=np.uint8)
        lengths = np.array([len(part) for part in self.marks])
        lengths = lengths.astype(np.min_scalar_type(int(lengths.max())))
        return TrainingRecord(
            self.n_total,
            self.kept,
            self.codes,
            BriefParts(packed, lengths, _single(excess[stored], (edge, 1.0))),
            BriefParts(packed, lengths, None),
            edge,
        )

    def repeated(self, group: Rows, kept: Rows | None) -> TrainingRecord:
        """Return the record of all rows, given that of the distinct rows that they repeat."""
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
        """For each task the positions of its rows in the user's data; None means all."""
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
        """Return values of the rows of each task as one array over all of the user's rows."""
        table = np.full((len(parts), self.n_total), fill, dtype=dtype)
        for line, rows, part in zip(table, self.rows, parts, strict=True):
            line[slice(None) if rows is None else rows] = part
        return table[0] if self.single else table

    def marked(self, mark: int) -> NDArray[np.intp] | list[NDArray[np.intp]]:
        """Return the user's rows whose coefficient carries a mark: an array, or one per task."""
        return self._where(marks == mark for marks in self.marks)

    def with_coefficient(self) -> Any:
        """Return the user's rows whose coefficient is not 0: an array, or one per task."""
        return self._where(marks != ZERO for marks in self.marks)

    def on_edge(self, tol: float) -> NDArray[np.intp] | list[NDArray[np.intp]]:
        """Return the user's rows whose excess is within `tol` of 0: an array, or one per task."""
        if self.edge is not None and tol != self.edge:
            raise ValueError(
                "a model that was saved knows which rows are on the edge of its margin for the "
                f"tolerance of its fit, {self.edge:g}, alone; got tol={tol!r}. Leave tol out, or "
                "ask the model before it is saved."
            )
        return self._where(np.abs(excess) <= tol for excess in self.excess)

    def _where(self, masks: Iterable[NDArray[np.bool_]]) -> Any:
        """Return the user's rows that the masks of the tasks select: an array, or one per task."""
        here = zip(map(np.flatnonzero, masks), self.rows, strict=True)
        found = [some if rows is None else rows[some] for some, rows in here]
        return found[0] if self.single else found


def _single(values: NDArray[Any], limits: tuple[float, ...]) -> NDArray[np.float32]:
    """Return values in single precision, on the same side of every limit as before."""
    rounded = values.astype(np.float32)
    for limit in limits:
        above = np.nextafter(np.float32(limit), np.float32(np.inf))
        rounded[(values > limit) & ~(rounded.astype(np.float64) > limit)] = above
    return rounded
