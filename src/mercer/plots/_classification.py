"""Pictures of classifiers and of one-class machines in the plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array
from mercer.objects.rows import dense

from ._plane import Grid, contours, finish, ring, scatter, shade_values, support_points
from ._style import (
    FAINT,
    INK,
    binary,
    colour_of,
    column_names,
    counted,
    dense_2d,
    fitted,
    in_frames,
    last_step,
    new_axes,
    signed_values,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

INLIERS = {1: "inlier", -1: "outlier"}
_MOST_ELONGATED = 5.0  # with one scale for both axes, columns of other units would be a stripe


def decision_surface(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    ax: Axes | None = None,
    resolution: int = 200,
    mark_support: bool = True,
) -> Axes:
    """Draw the regions of the classes, the contours f = -1, 0, +1 and the data points.

    A one-class machine shows inliers and outliers and the contour f = 0 between them. Two classes
    (and one-class machines) are shaded by the value of the decision function, several
    classes by the predicted class. The picture is drawn in the plane of the data, while margins
    are distances in feature space: only for the linear kernel is the band equally wide everywhere.

    Parameters
    ----------
    model : fitted machine, or pipeline that ends in one
        Trained on two columns.
    X : array-like or frame of shape (n, 2)
        Points to draw, as a rule the training set. The columns of a frame name the axes.
    y : array-like of shape (n,), default=None
        Their labels; without them the predictions colour the points.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    resolution : int, default=200
        Grid points per axis.
    mark_support : bool, default=True
        Ring the support vectors.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.data import rings
    >>> from mercer.plots import decision_surface
    >>> X, y = rings(80, random_state=0)
    >>> ax = decision_surface(SVC().fit(X, y), X, y)
    >>> ax.figure.savefig("rings.png")  # doctest: +SKIP
    """
    model = fitted(model)
    points = dense_2d(X, columns=2, what="decision_surface")
    ax = new_axes(ax)
    model_at = in_frames(model, X)
    one_class = not hasattr(model, "classes_")
    classes = np.array([1, -1]) if one_class else model.classes_  # inliers have the first colour
    labels = np.asarray(model.predict(X) if y is None else y)
    grid = Grid(points, resolution)
    lines: Sequence[Artist] = ()
    if len(classes) > 2:
        _shade_classes(ax, model, grid, classes, model_at)
    else:
        values = grid.reshape(signed_values(model, model_at(grid.points)))
        # A classifier's margin lies at -1 and 1, and beyond twice that a stronger shade would say
        # nothing more; the values of a one-class machine have no such scale.
        scale = float(np.abs(values).max()) if one_class else 2.0
        shade_values(ax, grid, -values if one_class else values, scale)
        lines = contours(ax, grid, values, () if one_class else (-1.0, 1.0))
    scatter(ax, points, labels, classes, INLIERS if one_class else None)
    if mark_support:
        ring(ax, support_points(model, X, points))
    finish(ax, grid, column_names(X, model), lines)
    return ax


def margin(model: Any, X: Any, y: Any, *, ax: Axes | None = None, resolution: int = 300) -> Axes:
    """Draw the separator, its cushion, the support vectors and their distances.

    For the linear kernel, segments show the geometric margin of the support vectors that lie on
    the cushion, and the title states it. For other kernels the cushion is the band -1 < f < 1,
    which is a distance in feature space and not on paper, so no segment is drawn. Both axes have
    one scale, unless the ranges of the columns differ by more than a factor of 5.

    Parameters
    ----------
    model : fitted binary classifier, or pipeline that ends in one
        Trained on two columns.
    X : array-like or frame of shape (n, 2)
        Training points.
    y : array-like of shape (n,)
        Labels.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    resolution : int, default=300
        Grid points per axis.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.data import lfd_toy
    >>> from mercer.plots import margin
    >>> X, y = lfd_toy()
    >>> margin(SVC(kernel="linear", C=10, tol=1e-6).fit(X, y), X, y).get_title()
    'margin 0.7071, 3 support vectors'
    """
    model = fitted(model)
    binary(model, "margin")
    points = dense_2d(X, columns=2, what="margin")
    ax = new_axes(ax)
    model_at = in_frames(model, X)
    grid = Grid(points, resolution, pad=0.3)  # room for the cushion around the outer points
    values = grid.reshape(signed_values(model, model_at(grid.points)))
    ax.contourf(*grid.axes, values, levels=[-1, 1], colors=[INK], alpha=0.07)
    lines = contours(ax, grid, values, (-1.0, 1.0))
    support = support_points(model, X, points)
    weights = _plane_weights(model)
    if weights is not None:
        _segments(ax, support, signed_values(model, model_at(support)), weights)
    scatter(ax, points, np.asarray(y), getattr(model, "classes_", np.array([-1, 1])))
    ring(ax, support)
    size = "" if weights is None else f"margin {1 / np.linalg.norm(weights):.4g}, "
    ax.set_title(size + counted(len(last_step(model).support_), "support vector"))
    finish(ax, grid, column_names(X, model), lines)
    width, height = np.ptp(grid.points, axis=0)
    if max(width, height) <= _MOST_ELONGATED * min(width, height):
        ax.set_aspect("equal", adjustable="box")
    return ax


def _shade_classes(
    ax: Axes, model: Any, grid: Grid, classes: NDArray[Any], model_at: Callable[[Array], Any]
) -> None:
    from matplotlib.colors import ListedColormap

    index = np.searchsorted(classes, model.predict(model_at(grid.points)))
    colours = [colour_of(k) for k in range(len(classes))]
    ax.pcolormesh(
        *grid.axes,
        grid.reshape(index),
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(classes) - 0.5,
        alpha=0.3,
        shading="nearest",
        rasterized=True,
        zorder=0,
    )
    for k in range(len(classes)):
        ax.contour(
            *grid.axes,
            grid.reshape((index == k).astype(np.float64)),
            levels=[0.5],
            colors=[INK],
            linewidths=0.9,
            zorder=1,
        )


def _segments(ax: Axes, support: Array, values: Array, weights: Array) -> None:
    """Draw the way from each support vector on the cushion to the separator."""
    on_edge = np.abs(np.abs(values) - 1) <= 0.01
    for point, value in zip(support[on_edge], values[on_edge], strict=True):
        foot = point - value * weights / (weights @ weights)
        ax.plot(*np.column_stack([point, foot]), color=FAINT, linewidth=1.4, zorder=3)


def _plane_weights(model: Any) -> Array | None:
    """Weights of a linear machine, None for other kernels."""
    try:
        weights = model.coef_
    except AttributeError:
        return None
    weights = dense(weights).reshape(-1)
    return weights if np.linalg.norm(weights) > 0 else None
