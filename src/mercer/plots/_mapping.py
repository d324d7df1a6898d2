"""The picture of a feature map: a curve among the data that is a line among their features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._classification import decision_surface
from ._plane import Grid, contours, finish, ring, scatter, shade_values
from ._style import binary, dense_2d, fitted, last_step, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def feature_map(
    model: Any, X: Any, y: Any, *, axes: tuple[Axes, Axes] | None = None, resolution: int = 200
) -> tuple[Axes, Axes]:
    """Draw a classifier in the plane of the data and in the plane of its features.

    On the left the data, on the right their images under the feature map of the kernel. The
    separator on the right is the line w . phi + b = 0 with w = sum_i c_i phi(x_i) over the support
    vectors; on the left are the points that are mapped onto it. Rings, which no line separates,
    are separated by one after the map (x_1^2, x_2^2).

    Parameters
    ----------
    model : fitted binary classifier, or pipeline that ends in one
        Trained on two columns, with a kernel of two explicit features.
    X : array-like of shape (n, 2)
        Points to draw, as a rule the training set.
    y : array-like of shape (n,)
        Their labels.
    axes : pair of matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    resolution : int, default=200
        Grid points per axis.

    Returns
    -------
    pair of matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.data import rings
    >>> from mercer.kernels import FromFeatureMap
    >>> from mercer.plots import feature_map
    >>> X, y = rings(80, noise=0.05, random_state=0)
    >>> before, after = feature_map(SVC(kernel=FromFeatureMap(np.square), C=np.inf).fit(X, y), X, y)
    """
    model = fitted(model)
    binary(model, "feature_map")
    points = dense_2d(X, columns=2, what="feature_map")
    machine = last_step(model)
    images = _images(machine, points if machine is model else model[:-1].transform(X))
    support = _images(machine, machine.support_vectors_)
    weights = np.asarray(machine.dual_coef_, dtype=np.float64).reshape(-1) @ support
    if axes is None:
        first = new_axes(None, figsize=(10.0, 4.2))
        figure = first.figure
        first.remove()
        left, right = figure.subplots(1, 2)
    else:
        left, right = axes
    decision_surface(model, X, y, ax=left, resolution=resolution)
    left.get_legend().remove()
    left.set_aspect("equal", adjustable="box")
    grid = Grid(images, resolution)
    values = grid.reshape(grid.points @ weights + float(np.ravel(machine.intercept_)[0]))
    shade_values(right, grid, values, 2.0)
    lines = contours(right, grid, values, (-1.0, 1.0))
    scatter(right, images, np.asarray(y), model.classes_)
    ring(right, support)
    finish(right, grid, lines=lines)
    right.set_xlabel(r"$\phi_1$")
    right.set_ylabel(r"$\phi_2$", rotation=0, labelpad=8)
    left.set_title("data")
    right.set_title("features")
    return left, right


def _images(model: Any, points: Any) -> NDArray[np.float64]:
    """Return the features of points, two each."""
    kernel = model.kernel_
    try:
        features = kernel.feature_map(points)
    except NotImplementedError:
        raise ValueError(
            f"feature_map draws the features of a kernel, and {kernel!r} does not list them; use "
            "decision_surface."
        ) from None
    if features.shape[1] != 2:
        raise ValueError(
            f"feature_map draws a kernel with two explicit features; {kernel!r} has "
            f"{features.shape[1]}. Use decision_surface, or FromFeatureMap with a function that "
            "returns two features."
        )
    return dense_2d(features, columns=2, what="the right side of feature_map")
