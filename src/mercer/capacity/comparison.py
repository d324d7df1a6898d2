"""Several bounds side by side: a table, the best of them, and their learning curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .bound import Bound
from .statements import aligned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "compare"]


HEADINGS = ("bound", "quantity", "value", "says", "stops being vacuous at", "dominant term")


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
            (b.name, b.quantity, f"{b.value:.4g}", _verdict(b), _turning_point(b), b.dominant)
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
        return "\n".join(aligned([HEADINGS, *self.rows()]))


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


def _verdict(b: Bound) -> str:
    if b.violated:
        return "condition violated"
    if b.vacuous:
        return "vacuous"
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
