"""Pictures of Gaussian processes and of the choice of a penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import BLUE, FAINT, INK, SKY, VERMILION, dense_2d, last_step, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def posterior(
    model: Any,
    *,
    n_samples: int = 3,
    level: float = 1.96,
    n_points: int = 300,
    margin: float = 0.15,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the posterior of a Gaussian process on one column: mean, band, samples, data.

    Parameters
    ----------
    model : GaussianProcessRegressor, or pipeline that ends in one
        Fitted on one column and one target. Of a pipeline, the process is drawn over the column
        that reaches it.
    n_samples : int, default=3
        Functions drawn from the posterior.
    level : float, default=1.96
        Half width of the band in standard deviations of the latent function.
    n_points : int, default=300
        Points of the curve.
    margin : float, default=0.15
        How far the curve goes beyond the data, as a share of their range.
    random_state : int, RandomState or None, default=0
        Draws the functions.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessRegressor
    >>> from mercer.kernels import RBF
    >>> from mercer.plots import posterior
    >>> X = np.linspace(0, 3, 8)[:, None]
    >>> axes = posterior(GaussianProcessRegressor(RBF(1.0), noise=0.01).fit(X, np.sin(X[:, 0])))
    """
    of_pipeline = last_step(model) is not model
    model = last_step(model)
    x = dense_2d(model.X_train_, columns=1, what="posterior")[:, 0]
    if np.ndim(model.y_train_) != 1:
        raise ValueError("posterior draws a process with one target.")
    ax = new_axes(ax)
    room = margin * (np.ptp(x) or 1.0)
    grid = np.linspace(x.min() - room, x.max() + room, n_points)
    mean, std = model.predict(grid[:, None], return_std=True, include_noise=False)
    ax.fill_between(
        grid, mean - level * std, mean + level * std, color=SKY, alpha=0.3, lw=0, label="band"
    )
    if n_samples:
        draws = model.sample_y(grid[::3, None], n_samples, random_state, include_noise=False)
        ax.plot(grid[::3], draws, color=BLUE, lw=0.7, alpha=0.7)
    ax.plot(grid, mean, color=BLUE, lw=2.0, label="posterior mean")
    y = model._y_train_std * model.y_train_ + model._y_train_mean
    ax.plot(x, y, "o", color=INK, ms=3.5, label="data")
    ax.set_xlabel("transformed x" if of_pipeline else "x")
    ax.set_ylabel("y")
    tidy(ax)
    return ax


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
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidgeCV
    >>> from mercer.plots import penalty_path
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> axes = penalty_path(KernelRidgeCV(kernel="rbf").fit(X, np.sin(X[:, 0])))
    """
    model = last_step(model)
    ax = new_axes(ax)
    alpha, score = model.cv_results_["alpha"], np.asarray(model.cv_results_["score"])
    order = np.argsort(alpha)
    curves = (-score if score.ndim == 2 else -score[:, None])[order]
    ax.loglog(alpha[order], curves, color=BLUE, marker="o", ms=3)
    for t, chosen in enumerate(np.atleast_1d(model.alpha_)):
        at = int(np.argmin(np.abs(alpha[order] - chosen)))
        ax.plot(chosen, curves[at, min(t, curves.shape[1] - 1)], "o", color=VERMILION, ms=8)
        ax.axvline(chosen, color=FAINT, lw=0.8, zorder=0)
    ax.set_xlabel("alpha")
    names = {"loo": "mean squared leave-one-out error", "gcv": "generalised cross-validation"}
    ax.set_ylabel(names[model.criterion])
    tidy(ax)
    return ax
