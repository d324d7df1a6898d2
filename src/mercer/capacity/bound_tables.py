"""Statements about the error of one fitted machine, and tables of bounds with learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .bound import Bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["Comparison", "Statement", "compare"]

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
COMPARED = ("bound", "quantity", "value", "says", "stops being vacuous at", "dominant term")
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
        found = verdict(self.bound)
        return found if self.kind in BOUNDS or self.bound.violated else self.kind

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


@dataclass(frozen=True)
class Comparison:
    """Bounds in the order of their values; made by `compare`.

    Attributes
    ----------
    bounds : tuple of Bound
        Certified bounds first, each group from the smallest value to the largest.

    Examples
    --------
    >>> from mercer.capacity import compare, test_set_bound, vc_bound
    >>> test = test_set_bound(n_errors=2, n_samples=300)
    >>> made = compare(vc_bound(n_samples=1000, vc_dim=3), test)
    >>> [bound.name for bound in made.bounds]
    ['vc_bound', 'test_set_bound']
    """

    bounds: tuple[Bound, ...]

    @property
    def best(self) -> Bound | None:
        """The smallest certified upper bound that is not vacuous.

        It may only be quoted with its own `delta` if it was chosen before the data were seen;
        `best_bound` shares the confidence among the candidates.
        """
        useful = (b for b in self.bounds if b.side == "upper" and b.certified and not b.vacuous)
        return next(useful, None)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table, without its headings."""
        return [
            (b.name, b.quantity, f"{b.value:.4g}", verdict(b), _turning_point(b), b.dominant)
            for b in self.bounds
        ]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the bounds in plain parts, ready for JSON."""
        return [b.to_dict() for b in self.bounds]

    def plot(self, n_samples: Any = None, ax: Axes | None = None) -> Axes:
        """Draw the bounds over the number of samples, on logarithmic axes.

        Parameters
        ----------
        n_samples : array-like, optional
            Where to evaluate; by default from a tenth of the present number of samples to a
            thousand times as many.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        """
        drawn = [b for b in self.bounds if "n_samples" in b.inputs]
        if not drawn:
            raise ValueError("none of these bounds depends on n_samples: nothing to draw.")
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")[1]
        for b in drawn:
            m = int(b.inputs["n_samples"])
            chosen = np.geomspace(max(2, m / 10), 1000 * m, 60) if n_samples is None else n_samples
            grid = np.unique(np.asarray(chosen, dtype=int))
            line = ax.loglog(grid, _curve(b, grid), label=b.name)
            face = "none" if b.violated or b.relative else line[0].get_color()
            ax.plot([m], [b.value], "o", color=line[0].get_color(), markerfacecolor=face)
        ax.axhline(1.0, color="0.5", linewidth=0.8, linestyle=":")
        ax.set(
            xlabel="number of samples", ylabel="bound (dotted: says nothing; hollow: no guarantee)"
        )
        ax.legend(fontsize="small")
        return ax

    def __str__(self) -> str:
        return "\n".join(aligned([COMPARED, *self.rows()]))


def compare(*bounds: Bound) -> Comparison:
    """Put bounds side by side.

    Parameters
    ----------
    *bounds : Bound
        At least one.

    Returns
    -------
    Comparison
        Prints as a table; `best`, `plot`, `to_dict`.

    Examples
    --------
    >>> from mercer.capacity import compare, compression_bound, vc_bound
    >>> both = compare(vc_bound(n_samples=1000, vc_dim=200),
    ...                compression_bound(n_sv=20, n_samples=1000))
    >>> print(both)
    bound              quantity  value   says       stops being vacuous at  dominant term
    compression_bound  error     0.1592  certified  109                     complexity
    vc_bound           error     1.916   vacuous    2429                    complexity
    >>> both.best.name
    'compression_bound'
    """
    if not bounds or not all(isinstance(b, Bound) for b in bounds):
        raise ValueError("compare needs at least one bound, and nothing but bounds.")
    return Comparison(tuple(sorted(bounds, key=lambda b: (not b.certified, b.value))))


def verdict(b: Bound) -> str:
    """Return what a bound is worth, in a word or two."""
    if b.violated or b.vacuous:
        return "condition violated" if b.violated else "vacuous"
    return "relative" if b.relative else "certified"


def _turning_point(b: Bound) -> str:
    if b.trivial is None or "n_samples" not in b.inputs or b.side == "lower":
        return "-"
    try:
        return str(b.sample_complexity())
    except ValueError:
        return "never"


def _curve(b: Bound, grid: np.ndarray) -> np.ndarray:
    """Return the values along the grid; NaN where the formula does not apply."""
    values = np.full(len(grid), np.nan)
    for i, n in enumerate(grid):
        try:
            there = b.at(n_samples=int(n))
        except ValueError:
            continue
        if not there.violated:
            values[i] = there.value
    return values
