"""Posing the tasks of a fit: the problem of each binary or real-valued machine.

A machine poses a `mercer.solvers.Problem` (``_problem``) for each task of its `Batch`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from mercer.objects.arrays import Array, Rows
from mercer.solvers.class_pairs import PairsOfClasses, pair_position
from mercer.solvers.task import Task

from ..errors import InfeasibleNuError


class Batch(NamedTuple):
    """The rows of several tasks, one after the other.

    ``y`` and ``weight`` are their targets and weights s_i, ``rows`` their positions in the training
    set (None where the only task uses all rows), ``ends`` where each task ends, ``names`` the class
    or pair of classes of each, for messages.
    """

    y: Array
    weight: Array
    rows: Rows | None
    ends: list[int]
    names: list[Any]

    @property
    def slices(self) -> list[slice]:
        """The part of the arrays that belongs to each task."""
        return [slice(a, b) for a, b in zip([0, *self.ends[:-1]], self.ends, strict=True)]


@dataclass
class PairTasks:
    """The tasks of all pairs of classes; single ones are made when they are read.

    `problems`: theirs. `weight`: the weights s_i of all rows. `classes`: the labels, for messages.
    """

    problems: PairsOfClasses
    weight: Array
    classes: Any

    def __len__(self) -> int:
        k = len(self.classes)
        return k * (k - 1) // 2

    def __getitem__(self, position: int) -> Task:
        problem = self.problems[position]
        name = tuple(self.classes[c].item() for c in pair_position(position, len(self.classes)))
        return Task(problem, problem.y, self.weight[problem.rows], problem.rows, name)


def pose_tasks(machine: Any, batch: Batch, extra: Any = None) -> list[Task]:
    """Return the tasks of a machine; where its nu is infeasible, the error names the tightest."""
    if machine._plain and len(batch.names) > 1:
        whole = machine._problem(batch.y, batch.weight, batch.rows, None, extra)
        parts = zip(whole.parts(batch.slices, batch.names), batch.slices, strict=True)
        return [Task(p, p.y, batch.weight[part], p.rows, p.name) for p, part in parts]
    tasks, refused = [], list[InfeasibleNuError]()
    for part, name in zip(batch.slices, batch.names, strict=True):
        rows = None if batch.rows is None else batch.rows[part]
        y, weight = batch.y[part], batch.weight[part]
        try:
            problem = machine._problem(y, weight, rows, name, extra)
            tasks.append(Task(problem, y, weight, rows, name))
        except InfeasibleNuError as error:
            refused.append(error)
    if refused:
        raise min(refused, key=lambda error: error.largest_nu)
    return tasks
