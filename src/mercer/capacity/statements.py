"""Statements about the error of one fitted machine: what each is worth, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .bound import Bound

__all__ = ["Statement"]

EXACT, LEAVE_ONE_OUT, ESTIMATE, GUARANTEE, RELATIVE, DIMENSION = KINDS = (
    "exact",
    "leave-one-out bound",
    "estimate",
    "guarantee",
    "up to a constant",
    "dimension",
)
BOUNDS = LEAVE_ONE_OUT, GUARANTEE, RELATIVE
HEADINGS = ("statement", "kind", "quantity", "value", "says", "stops being vacuous at")
UNFINISHED = "leave-one-out so far"


@dataclass(frozen=True)
class Statement:
    """One line of a report.

    Attributes
    ----------
    name : str
        What is computed, e.g. "compression".
    kind : str
        What may be concluded from it: "exact", "leave-one-out bound", "estimate", "guarantee",
        "up to a constant" or "dimension".
    bound : Bound
        The number with its conditions.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.data import rings
    >>> X, y = rings(60, random_state=0)
    >>> report = SVC().fit(X, y).generalization_report(X, y)
    >>> {statement.kind for statement in report.statements} >= {"guarantee"}
    True
    """

    name: str
    kind: str
    bound: Bound

    @property
    def says(self) -> str:
        """A word on the number: certified, vacuous, estimate, exact, ..."""
        if self.name == UNFINISHED:
            return "incomplete"
        if self.bound.violated:
            return "condition violated"
        if self.kind in BOUNDS:
            if self.bound.vacuous:
                return "vacuous"
            return "relative" if self.bound.relative else "certified"
        return self.kind

    @cached_property
    def turning_point(self) -> int | None:
        """The number of samples from which on it is not vacuous; None where there is none.

        All that was measured on the model (support vectors, margin, flagged rows) is held fixed.
        """
        if self.kind not in BOUNDS:
            return None
        try:
            return self.bound.sample_complexity()
        except ValueError:
            return None

    @property
    def row(self) -> tuple[str, ...]:
        """The line of the table."""
        turning = "-" if self.turning_point is None else str(self.turning_point)
        made = self.bound
        return (self.name, self.kind, made.quantity, f"{made.value:.4g}", self.says, turning)


class Statements:
    """Mixin of reports: their statements by name, and as a table."""

    statements: tuple[Statement, ...]
    not_applicable: dict[str, str]

    def __getitem__(self, name: str) -> Bound:
        for statement in self.statements:
            if statement.name == name:
                return statement.bound
        reason = self.not_applicable.get(name)
        raise KeyError(f"{name}: {reason}" if reason else f"no statement is called {name!r}.")

    @property
    def vacuous(self) -> dict[str, int | None]:
        """The vacuous bounds, each with the number of samples from which on it is not vacuous."""
        return {
            s.name: s.turning_point for s in self.statements if s.kind in BOUNDS and s.bound.vacuous
        }

    def _lines(self) -> list[str]:
        """Return the table as text, and what does not apply."""
        lines = aligned([HEADINGS, *(s.row for s in self.statements)])
        if self.not_applicable:
            lines.append("not applicable:")
            lines += [f"  {name}: {reason}" for name, reason in self.not_applicable.items()]
        return lines


def aligned(table: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows of a table as lines with columns of equal width."""
    widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


def ordered(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return statements sorted by kind, each kind from the smallest value to the largest."""
    return tuple(sorted(statements, key=lambda s: (KINDS.index(s.kind), s.bound.value)))
