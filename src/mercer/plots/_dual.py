"""Pictures of the dual variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import BESIDE, BLUE, FAINT, VERMILION, counted, finished, fitted, last_step, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dual_coefficients(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the multiplier of every training point: few bars, the rest exactly zero.

    Free support vectors, which lie on the margin or on the edge of the tube, are told from bounded
    ones, whose multiplier is as large as C and their weight allow. With several classes a bar is
    the sum of a point's multipliers over the binary machines.

    Parameters
    ----------
    model : fitted machine, or pipeline that ends in one
        Any of the support vector machines.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.data import lfd_toy
    >>> from mercer.plots import dual_coefficients
    >>> X, y = lfd_toy()
    >>> dual_coefficients(SVC(kernel="linear", C=10, tol=1e-6).fit(X, y)).get_title()
    '3 support vectors among 4 points'
    """
    model = last_step(fitted(model))
    ax = new_axes(ax, figsize=(7.0, 3.2))
    heights = np.atleast_2d(model.alpha_).sum(axis=0)
    n = len(heights)
    bounded = np.zeros(n, dtype=bool)
    bounded[np.concatenate(_per_problem(model.bounded_support_))] = True
    support = heights > 0

    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=1)
    width = max(0.8, n / 300)  # never thinner than the paper can show
    kinds = ((support & ~bounded, BLUE, "free"), (support & bounded, VERMILION, "bounded"))
    for mask, colour, name in kinds:
        if mask.any():
            ax.bar(
                np.flatnonzero(mask),
                heights[mask],
                width=width,
                color=colour,
                label=f"{name} ({mask.sum()})",
                zorder=2,
            )
    ax.set_xlim(-0.5 - width / 2, n - 0.5 + width / 2)
    title = f"{counted(int(support.sum()), 'support vector')} among {n} points"
    x, y = "training point", r"$\alpha_i$"
    return finished(ax, x, y, title=title, upright=True, legend=BESIDE)


def _per_problem(rows: Any) -> list[Any]:
    """Rows of each binary problem: one array becomes a list of one."""
    return list(rows) if isinstance(rows, list) else [rows]
