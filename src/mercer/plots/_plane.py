"""Grids, shades, contours and points of pictures in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array
from mercer.objects.rows import dense

from ._style import BESIDE, BLUE, INK, VERMILION, colour_of, label_name, last_step

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


class Grid:
    """A rectangle of points around the data; rows with a missing value have no place in it."""

    def __init__(self, points: Array, resolution: int, pad: float = 0.12) -> None:
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        border = pad * np.where(high > low, high - low, 1.0)
        self.axes = [
            np.linspace(a, b, resolution) for a, b in zip(low - border, high + border, strict=True)
        ]
        first, second = np.meshgrid(*self.axes)
        self.shape = first.shape
        self.points = np.column_stack([first.ravel(), second.ravel()])

    def reshape(self, values: Array) -> Array:
        return values.reshape(self.shape)


def shade_values(ax: Axes, grid: Grid, values: Array, scale: float) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("mercer", [BLUE, "#FFFFFF", VERMILION])
    ax.imshow(
        values,
        cmap=shades,
        vmin=-scale,
        vmax=scale,
        extent=(*grid.axes[0][[0, -1]], *grid.axes[1][[0, -1]]),
        origin="lower",
        aspect="auto",
        interpolation="bilinear",
        alpha=0.5,
        zorder=0,
    )


def contours(ax: Axes, grid: Grid, values: Array, edges: tuple[float, ...]) -> list[Artist]:
    """Draw f = 0 and the dashed lines f = `edges`; return their entries for the legend."""
    from matplotlib.lines import Line2D

    entries: list[Artist] = []
    if values.min() < 0 < values.max():
        ax.contour(*grid.axes, values, levels=[0.0], colors=[INK], linewidths=1.8, zorder=2)
        entries.append(Line2D([], [], color=INK, linewidth=1.8, label="boundary, f = 0"))
    levels = [level for level in edges if values.min() < level < values.max()]
    if levels:
        ax.contour(
            *grid.axes,
            values,
            levels=levels,
            colors=[INK],
            linewidths=1.0,
            linestyles="dashed",
            zorder=2,
        )
        entries.append(
            Line2D([], [], color=INK, linewidth=1.0, linestyle="dashed", label="margin, f = ±1")
        )
    return entries


def scatter(
    ax: Axes,
    points: Array,
    labels: NDArray[Any],
    classes: NDArray[Any],
    names: dict[Any, str] | None = None,
) -> None:
    """Draw the points of each class in its colour; `names` replaces labels in the legend."""
    for k, label in enumerate(classes):
        chosen = points[labels == label]
        ax.scatter(
            chosen[:, 0],
            chosen[:, 1],
            s=24,
            color=colour_of(k),
            edgecolor="white",
            linewidth=0.6,
            label=(names or {}).get(label, label_name(label)),
            zorder=4,
        )


def ring(ax: Axes, support: Array) -> None:
    """Draw a ring around every support vector, the same in all pictures."""
    if not len(support):
        return
    ax.scatter(
        support[:, 0],
        support[:, 1],
        s=70,
        marker="o",
        facecolor="none",
        edgecolor=INK,
        linewidth=1.0,
        label="support vector",
        gid="support",
        zorder=3,
    )


def support_points(model: Any, X: Any, points: Array) -> Array:
    """Return the support vectors in the plane that is drawn.

    Those of a pipeline live among its transformed rows: they are found among the rows of `X` where
    these are the training set, and are not drawn where they are not.
    """
    machine = last_step(model)
    vectors = dense(machine.support_vectors_)
    if machine is model:
        return vectors.reshape(-1, 2)
    rows = np.asarray(machine.support_)
    known = len(rows) > 0 and rows.max() < len(points)
    if known and np.allclose(dense(model[:-1].transform(X))[rows], vectors):
        return points[rows]
    return np.empty((0, 2))


def finish(
    ax: Axes, grid: Grid, names: tuple[str, str] = ("$x_1$", "$x_2$"), lines: Sequence[Artist] = ()
) -> None:
    """Set limits and names of the axes, and a legend of points and `lines`."""
    ax.set_xlim(grid.axes[0][0], grid.axes[0][-1])
    ax.set_ylim(grid.axes[1][0], grid.axes[1][-1])
    ax.set_xlabel(names[0])
    short = len(names[1].strip("$")) <= 3
    ax.set_ylabel(names[1], rotation=0 if short else 90, labelpad=8 if short else 4)
    handles = [*ax.get_legend_handles_labels()[0], *lines]
    ax.legend(handles=handles, frameon=False, **BESIDE)
