"""Pictures of regression machines on one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._plane import ring
from ._style import (
    BESIDE,
    BLUE,
    FAINT,
    VERMILION,
    dense_2d,
    finished,
    fitted,
    in_frames,
    last_step,
    new_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tube(model: Any, X: Any, y: Any, *, ax: Axes | None = None, resolution: int = 500) -> Axes:
    """Draw a regression function, its tube and the points inside, on and outside of it.

    Points strictly inside the tube have coefficient zero: removing them changes nothing.

    Parameters
    ----------
    model : fitted SVR or NuSVR, or pipeline that ends in one
        Trained on one column.
    X : array-like of shape (n, 1)
        Training points.
    y : array-like of shape (n,)
        Targets.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    resolution : int, default=500
        Points of the curve.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVR
    >>> from mercer.data import noisy_sinc
    >>> from mercer.plots import tube
    >>> X, y = noisy_sinc(60, random_state=0)
    >>> ax = tube(SVR(C=10, epsilon=0.1).fit(X, y), X, y)
    """
    model = fitted(model)
    points = dense_2d(X, columns=1, what="tube")
    targets = np.asarray(y, dtype=np.float64)
    ax = new_axes(ax, figsize=(7.0, 4.2))
    # The nu machine finds its tube, the other one is given it.
    machine = last_step(model)
    epsilon = float(getattr(machine, "epsilon_", getattr(machine, "epsilon", 0.0)))

    low, high = points.min(), points.max()
    pad = 0.03 * (high - low or 1.0)
    x = np.linspace(low - pad, high + pad, resolution)
    f = np.asarray(model.predict(in_frames(model, X)(x[:, None])), dtype=np.float64)
    label = rf"tube, $\varepsilon$ = {epsilon:.4g}"
    ax.fill_between(
        x, f - epsilon, f + epsilon, color=BLUE, alpha=0.15, linewidth=0, zorder=1, label=label
    )
    ax.plot(x, f, color=BLUE, linewidth=2, zorder=2, label="$f(x)$")

    support = np.zeros(len(targets), dtype=bool)
    support[np.asarray(machine.support_)] = True
    kinds = ((~support, FAINT, "inside"), (support, VERMILION, "on the edge or outside"))
    for zorder, (chosen, colour, name) in enumerate(kinds, start=3):
        x, label = points[chosen, 0], f"{name} ({int(chosen.sum())})"
        ax.scatter(x, targets[chosen], s=16, color=colour, linewidth=0, label=label, zorder=zorder)
    ring(ax, np.column_stack([points[support, 0], targets[support]]))
    title = rf"$\varepsilon$ = {epsilon:.4g}"
    return finished(ax, "$x$", "$y$", title=title, upright=True, legend=BESIDE)
