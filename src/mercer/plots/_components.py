"""The scree plot of principal components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import BLUE, FAINT, INK, VERMILION, finished, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scree(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the share of the variance of every component, and of all components up to it.

    Bars have the intervals that contain the exact eigenvalues as error bars. Where the number of
    components was chosen by a share of the variance, a dashed line shows that share.

    Parameters
    ----------
    model : KernelPCA
        A fitted model.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer import KernelPCA
    >>> from mercer.data import rings
    >>> from mercer.plots import scree
    >>> X, y = rings(80, random_state=0)
    >>> scree(KernelPCA(0.9, kernel="rbf", gamma=0.5).fit(X)).get_title()
    '9 components, 92 % of the variance'
    """
    if not hasattr(model, "explained_variance_ratio_"):
        raise ValueError("scree draws a fitted KernelPCA; call fit first.")
    shares = np.asarray(model.explained_variance_ratio_)
    ranks = np.arange(1, len(shares) + 1)
    ax = new_axes(ax)
    from matplotlib.ticker import MaxNLocator

    colours = np.where(shares < 0.0, VERMILION, BLUE)
    # Shares are eigenvalues over one number, the trace.
    per_unit = np.divide(
        shares, model.eigenvalues_, out=np.zeros_like(shares), where=model.eigenvalues_ != 0.0
    )
    errors = np.abs(model.eigenvalue_bounds_ - model.eigenvalues_[:, None]) * per_unit[:, None]
    ax.bar(ranks, np.abs(shares), color=colours, yerr=np.abs(errors).T, ecolor=INK, capsize=2)
    ax.plot(ranks, np.cumsum(shares), ".-", color=INK, label="up to this component")
    wanted = model.n_components
    if wanted is not None and 0.0 < float(wanted) < 1.0:
        ax.axhline(float(wanted), color=FAINT, ls="--", label=f"wanted: {float(wanted):g}")
    ax.set_ylim(0.0, 1.05 * max(1.0, float(np.cumsum(shares).max(initial=0.0))))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    title = f"{len(shares)} components, {100.0 * shares.sum():.0f} % of the variance"
    legend = {"loc": "center right"}
    return finished(ax, "component", "share of the variance", title=title, legend=legend)
