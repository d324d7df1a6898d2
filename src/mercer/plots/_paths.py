"""Regularisation paths: the coefficients, and the criterion that chooses a penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import BLUE, FAINT, VERMILION, finished, fitted, last_step, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def coefficient_path(path: Any, *, ax: Axes | None = None, most: int = 300) -> Axes:
    """Draw the coefficients of all training rows along a regularisation path.

    Over C the coefficients are drawn in units of C, which is their bound, on a logarithmic scale of
    C; over nu their bound is the weight of a row. Ticks at the lower edge are the breakpoints.

    Parameters
    ----------
    path : RegularizationPath
        What ``mercer.selection.regularization_path`` returned.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    most : int, default=300
        Number of values, at most, at which the lines are drawn.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.data import lfd_toy
    >>> from mercer.plots import coefficient_path
    >>> from mercer.selection import regularization_path
    >>> axes = coefficient_path(regularization_path(SVC(kernel="linear"), *lfd_toy()))
    >>> axes.get_xlabel(), len(axes.lines) >= 4
    ('C', True)
    """
    ax = new_axes(ax, figsize=(7.0, 4.2))
    if not hasattr(path, "breakpoints"):
        raise TypeError(
            f"coefficient_path draws the result of regularization_path; got {type(path).__name__}."
        )
    breaks = np.sort(path.breakpoints[np.isfinite(path.breakpoints)])
    over_cost = path.parameter == "C"
    if over_cost:
        breaks = breaks[breaks > 0]
        low, high = 0.5 * breaks[0], breaks[-1]
        if np.isinf(path.breakpoints[-1]):
            high *= 2.0
        ax.set_xscale("log")
        grid = np.geomspace(low, high, most)
    else:
        grid = np.linspace(breaks[0], breaks[-1], most)
    chosen = breaks[np.unique(np.linspace(0, len(breaks) - 1, most).astype(int))]
    values = np.unique(np.concatenate([grid, chosen]))
    coef = np.array([path.at(value).coef for value in values])
    if over_cost:
        coef /= values[:, None]
    for line in coef.T:
        if not line.any():
            continue
        ax.plot(values, line, color=BLUE if line.sum() > 0 else VERMILION, lw=0.8, alpha=0.8)
    ax.plot(breaks, np.full(len(breaks), coef.min()), "|", color=FAINT, ms=6)
    ax.axhline(0.0, color=FAINT, lw=0.8, zorder=0)
    y = "signed coefficient / C" if over_cost else "signed coefficient"
    return finished(ax, path.parameter, y, title=f"{len(path.breakpoints)} breakpoints")


def penalty_path(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the criterion of a KernelRidgeCV over its alphas, with the one chosen.

    Parameters
    ----------
    model : KernelRidgeCV, or pipeline that ends in one
        A fitted model.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidgeCV
    >>> from mercer.plots import penalty_path
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> axes = penalty_path(KernelRidgeCV(kernel="rbf").fit(X, np.sin(X[:, 0])))
    """
    model = last_step(fitted(model))
    ax = new_axes(ax)
    alpha, score = model.cv_results_["alpha"], np.asarray(model.cv_results_["score"])
    order = np.argsort(alpha)
    curves = (-score if score.ndim == 2 else -score[:, None])[order]
    ax.loglog(alpha[order], curves, color=BLUE, marker="o", ms=3)
    for t, chosen in enumerate(np.atleast_1d(model.alpha_)):
        at = int(np.argmin(np.abs(alpha[order] - chosen)))
        ax.plot(chosen, curves[at, min(t, curves.shape[1] - 1)], "o", color=VERMILION, ms=8)
        ax.axvline(chosen, color=FAINT, lw=0.8, zorder=0)
    names = {"loo": "mean squared leave-one-out error", "gcv": "generalised cross-validation"}
    return finished(ax, "alpha", names[model.criterion])
