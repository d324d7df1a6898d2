"""Pictures of Gaussian processes: the posterior, its coverage, the relevance of columns."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from ._style import BLUE, FAINT, INK, SKY, dense_2d, finished, fitted, last_step, new_axes

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

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessRegressor
    >>> from mercer.kernels import RBF
    >>> from mercer.plots import posterior
    >>> X = np.linspace(0, 3, 8)[:, None]
    >>> axes = posterior(GaussianProcessRegressor(RBF(1.0), noise=0.01).fit(X, np.sin(X[:, 0])))
    """
    model = fitted(model)
    of_pipeline = last_step(model) is not model
    model = last_step(model)
    x = dense_2d(model.X_train_, columns=1, what="posterior")[:, 0]
    if np.ndim(model.y_train_) != 1:
        raise ValueError("posterior draws a process with one target.")
    ax = new_axes(ax)
    room = margin * (np.ptp(x) or 1.0)
    grid = np.linspace(x.min() - room, x.max() + room, n_points)
    name = "transformed x" if of_pipeline else "x"
    if hasattr(model, "feature_names_in_"):  # the points to draw are rows without names
        name = str(model.feature_names_in_[0])
        model = copy.copy(model)
        del model.feature_names_in_
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
    return finished(ax, name, "y")


def coverage(model: Any, X: Any, y: Any, *, n_levels: int = 39, ax: Axes | None = None) -> Axes:
    """Draw how often the predictive intervals of a process contain the targets.

    For every level p the share of targets within the central interval of probability p, against p.
    A calibrated model follows the diagonal; below it the intervals are too narrow. The band is
    where 95% of the shares of a calibrated model lie, for independent targets.

    Parameters
    ----------
    model : GaussianProcessRegressor or SparseGaussianProcessRegressor
        Fitted on one target.
    X : objects
        Objects that were not used for the fit.
    y : array-like of shape (n_samples,)
        Their targets.
    n_levels : int, default=39
        Number of levels.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessRegressor
    >>> from mercer.kernels import RBF
    >>> from mercer.plots import coverage
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, size=(80, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=80)
    >>> model = GaussianProcessRegressor(RBF(0.5), noise=0.1).fit(X[:40], y[:40])
    >>> axes = coverage(model, X[40:], y[40:])
    """
    model = fitted(model)
    mean, variance = model._observed(X)
    y = np.asarray(y, dtype=np.float64)
    if mean.ndim != 1 or y.shape != mean.shape:
        raise ValueError(
            f"coverage draws one target for each object; got targets of shape {y.shape} for "
            f"predictions of shape {mean.shape}."
        )
    # |y - mean| <= z_p std, with z_p the quantile of the normal distribution at (1 + p) / 2
    reached = 2.0 * ndtr(np.abs(y - mean) / np.sqrt(variance)) - 1.0
    levels = np.linspace(0.0, 1.0, n_levels + 2)[1:-1]
    shares = (reached[:, None] <= levels).mean(axis=0)
    ax = new_axes(ax)
    low, high = (binom.ppf(q, len(y), levels) / len(y) for q in (0.025, 0.975))
    ax.fill_between(levels, low, high, color=SKY, alpha=0.3, lw=0, label="95% if calibrated")
    ax.plot([0, 1], [0, 1], color=FAINT, lw=0.8)
    ax.plot(levels, shares, color=BLUE, lw=2.0, label="targets inside")
    return finished(ax, "probability of the interval", "share of targets inside", legend={})


def relevances(model: Any, *, names: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the relevance of each column: the reciprocal of its length scale, as bars.

    A column of relevance near 0 has no effect. The kernel has one width for each column, such as
    ``RBF(gamma=[...])``, also as a part of another kernel; the first such part is drawn.

    Parameters
    ----------
    model : estimator or Kernel
        A fitted model with ``kernel_``, or a kernel; mercer's or scikit-learn's.
    names : sequence of str, optional
        Names of the columns; default: those that the model was fitted with, or their numbers.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> from mercer.plots import relevances
    >>> axes = relevances(1.0 * RBF([2.0, 0.0001]), names=["width", "noise"])
    """
    kernel = getattr(model, "kernel_", model)
    if not hasattr(kernel, "get_params"):
        raise TypeError(f"relevances takes a fitted model or a kernel; got {type(model).__name__}.")
    scales = _length_scales(kernel)
    if scales is None:
        raise ValueError(f"{kernel!r} has no width for each column, such as RBF(gamma=[...]).")
    if names is None:
        names = getattr(model, "feature_names_in_", range(len(scales)))
    names = [str(name) for name in names]
    if len(names) != len(scales):
        raise ValueError(f"the kernel has {len(scales)} columns; got {len(names)} names.")
    ax = new_axes(ax)
    ax.barh(names, 1.0 / scales, color=BLUE)
    ax.invert_yaxis()
    return finished(ax, "1 / length scale", "column")


def _length_scales(kernel: Any) -> np.ndarray | None:
    """Return the length scales of the first part with a width for each column."""
    parts = [kernel, *kernel.get_params().values()]
    for part in parts:
        for name, power in (("gamma", -0.5), ("length_scale", 1.0)):
            widths = getattr(part, name, None)
            if isinstance(widths, list | tuple | np.ndarray) and np.ndim(widths) == 1:
                widths = np.asarray(widths, dtype=np.float64)
                if name == "gamma":
                    # gamma multiplies squared differences in RBF, differences in the others
                    power = -0.5 if type(part).__name__ in ("RBF", "Gaussian") else -1.0
                    widths = 2.0 * widths if power == -0.5 else widths
                return widths**power
    return None
