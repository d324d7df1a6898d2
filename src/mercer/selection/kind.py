"""The kind of a set of objects, as far as it matters for the choice of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tables import Part


@dataclass(frozen=True)
class DataKind:
    """The kind of a set of objects.

    Attributes
    ----------
    name : str
        "dense", "sparse", "histograms", "periodic", "strings", "documents", "sets", "counts",
        "series", "categories" or "table".
    X : objects
        The objects, in the form in which kernels take them.
    notes : list of str
        What was noticed.
    period : float or None
        The period of a periodic target.
    parts : list of Part
        The groups of columns of a table, with the kind of each.
    steps : int
        What a value of the most expensive kernel on them costs, in steps; 1 where it is cheap.
    """

    name: str
    X: Any
    notes: list[str] = field(default_factory=list)
    period: float | None = None
    parts: list[Part] = field(default_factory=list)
    steps: int = 1


def some(n: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
