"""Pictures of kernel matrices: their blocks and their eigenvalues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._style import BESIDE, BLUE, FAINT, INK, VERMILION, colour_of, finished, label_name, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rows that paper can show; more are thinned out evenly.
SHOWN = 600
DEEP = "#01304B"  # the blue of the largest value
# Named along the edge; more would overlap.
NAMED = 12


def gram(kernel: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw a kernel matrix with its objects ordered by class, and what it says.

    Within a class the objects are ordered such that similar ones are neighbours.

    A good kernel shows blocks on the diagonal, one per class; a matrix that is bright on the
    diagonal alone, or evenly bright, says nothing about the classes. Zero is white, positive
    values are blue and negative ones vermilion.

    Parameters
    ----------
    kernel : Kernel, callable or array of shape (n, n)
        The kernel, or its matrix.
    X : objects, optional
        The objects; None for a matrix.
    y : array of shape (n,), optional
        Labels, which order the objects, or real targets, which order them by size.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.data import rings
    >>> from mercer.kernels import RBF
    >>> from mercer.plots import gram
    >>> X, y = rings(80, random_state=0)
    >>> gram(RBF(gamma=0.5), X, y).get_title().splitlines()[0]
    'class blocks'
    """
    from mercer.inspection import diagnose
    from mercer.inspection.matrix_source import KernelValues

    found = diagnose(kernel, X, y)
    values = KernelValues(kernel, X)
    ax = new_axes(ax, figsize=(5.6, 5.0))
    order = np.arange(values.n) if y is None else np.argsort(np.asarray(y), kind="stable")
    shown = order[:: -(-values.n // SHOWN)]
    matrix = values.rows(shown)[:, shown]
    if y is None or found.within is not None:
        groups = np.zeros(len(shown)) if y is None else np.asarray(y)[shown]
        inside = _alike_together(matrix, groups)
        matrix, shown = matrix[np.ix_(inside, inside)], shown[inside]
    image = ax.imshow(matrix, interpolation="nearest", **_shades(matrix))
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, pad=0.02)
    bar.outline.set_visible(False)
    if y is not None and found.within is not None:
        _class_edges(ax, np.asarray(y)[shown])
    else:
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_xlabel("objects" if y is None else "objects by target")
    ax.spines[:].set_visible(False)
    ax.set_title(_title(found))
    return ax


def eigenvalues(
    kernel: Any, X: Any = None, *, ax: Axes | None = None, label: str | None = None
) -> Axes:
    """Draw the eigenvalues of a kernel matrix by rank, on a logarithmic scale.

    Parameters
    ----------
    kernel : Kernel, callable or array of shape (n, n)
        The kernel, or its matrix.
    X : objects, optional
        The objects; None for a matrix.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure. Several kernels may be drawn on one.
    label : str, optional
        Name in the legend; by default the kernel's own.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.data import rings
    >>> from mercer.kernels import RBF
    >>> from mercer.plots import eigenvalues
    >>> ax = eigenvalues(RBF(gamma=1.0), rings(80, random_state=0)[0])
    """
    from mercer.inspection import eigenvalue_report
    from mercer.kernels import Kernel

    report = eigenvalue_report(kernel, X)
    ax = new_axes(ax, figsize=(7.6, 3.8))
    colour = colour_of(sum(line.get_gid() == "eigenvalues" for line in ax.lines))
    values = report.eigenvalues
    ranks = np.arange(1, len(values) + 1)
    seen = np.abs(values) > report.tolerance
    positive = seen & (values > 0)
    if label is None:
        label = repr(kernel) if isinstance(kernel, Kernel) else "matrix"
    ax.semilogy(
        ranks[positive],
        values[positive],
        color=colour,
        marker=".",
        linewidth=1.2,
        label=label,
        gid="eigenvalues",
    )
    negative = seen & (values < 0)
    if negative.any():
        ax.semilogy(
            ranks[negative],
            -values[negative],
            color=colour,
            marker="x",
            linestyle="none",
            label=f"{label}: {negative.sum()} negative, sizes",
        )
    level = ax.axhline(report.tolerance, color=FAINT, linewidth=0.9, linestyle="dotted", zorder=0)
    level.set_label("rounding" if colour == colour_of(0) else None)
    return finished(ax, "rank", "eigenvalue", legend=BESIDE)


def _shades(matrix: NDArray[np.float64]) -> dict[str, Any]:
    """Return colours with zero at white: two-sided only where there are negative values."""
    from matplotlib.colors import LinearSegmentedColormap

    size = float(np.abs(matrix).max()) or 1.0
    if matrix.min() >= 0:
        colours, low = ["#FFFFFF", BLUE, DEEP], 0.0
    else:
        colours, low = [VERMILION, "#FFFFFF", BLUE], -size
    cmap = LinearSegmentedColormap.from_list("mercer", colours)
    return {"cmap": cmap, "vmin": low, "vmax": size}


def _alike_together(matrix: NDArray[np.float64], groups: NDArray[Any]) -> NDArray[np.intp]:
    """Return an order, group by group, with similar objects together: spectral seriation."""
    order: list[NDArray[np.intp]] = []
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        similarity = np.maximum(matrix[np.ix_(members, members)], 0.0)
        similarity = (similarity + similarity.T) / 2
        laplacian = np.diag(similarity.sum(axis=1)) - similarity
        place = np.linalg.eigh(laplacian)[1][:, min(1, len(members) - 1)]
        order.append(members[np.argsort(place, kind="stable")])
    return np.concatenate(order)


def _class_edges(ax: Axes, labels: NDArray[Any]) -> None:
    """Draw lines between the classes and name them at the edge."""
    classes, sizes = np.unique(labels, return_counts=True)
    ends = np.cumsum(sizes)
    for end in ends[:-1]:
        for colour, width in (("white", 2.6), (INK, 0.8)):  # seen on dark blocks too
            ax.axhline(end - 0.5, color=colour, linewidth=width)
            ax.axvline(end - 0.5, color=colour, linewidth=width)
    if len(classes) <= NAMED:
        names = [label_name(c) for c in classes]
        ax.set_xticks(ends - sizes / 2 - 0.5, names)
        ax.set_yticks(ends - sizes / 2 - 0.5, names)
    else:
        ax.set_xticks([])
        ax.set_yticks([])
    ax.tick_params(length=0)
    ax.set_xlabel("class")


def _title(found: Any) -> str:
    numbers = f"off the diagonal {found.off_diagonal_ratio:.2g} of it"
    if found.alignment is not None:
        numbers = f"alignment {found.alignment:.2f}"
        if found.centred_alignment is not None:
            numbers += f", centred {found.centred_alignment:.2f}"
    return f"{found.kind}\n{numbers}"
