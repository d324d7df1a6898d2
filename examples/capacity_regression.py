"""The slack variables of regression for a target accuracy theta and a loss margin gamma.

Cristianini and Shawe-Taylor, Figures 4.1 and 4.2. The published figures show points around a line
and around a curve, with the inner band theta - gamma in which training residuals are free, the
outer band theta that is tested, and slacks drawn from the inner band to the points. Ours fits both
functions with SVR (epsilon = theta - gamma) and marks the points whose slack exceeds gamma: they
are those outside the outer band.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVR
from mercer.capacity import regression_slacks
from mercer.kernels import RBF, Linear

THETA, GAMMA = 0.5, 0.25


def panel(ax, kernel, target):
    """Draw one regression function with its bands and slacks."""
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0, 4, size=30))
    y = target(x) + 0.35 * rng.normal(size=30)
    model = SVR(kernel=kernel, C=5.0, epsilon=THETA - GAMMA).fit(x[:, None], y)
    grid = np.linspace(0, 4, 200)
    f = model.predict(grid[:, None])
    fitted = model.predict(x[:, None])
    slack = regression_slacks(fitted, y, THETA, GAMMA)
    ax.plot(grid, f, color="#222222", label="f")
    inner = THETA - GAMMA
    band = {"color": "#56B4E9", "lw": 0}
    ax.fill_between(grid, f - inner, f + inner, alpha=0.55, label="f ± (θ − γ): no slack", **band)
    ax.fill_between(grid, f - THETA, f + THETA, alpha=0.25, label="f ± θ: accurate", **band)
    edge = fitted + np.sign(y - fitted) * inner
    held = slack > 0
    ax.vlines(x[held], edge[held], y[held], color="#D55E00", lw=1, label="slack")
    outside = slack > GAMMA
    ax.plot(x[~outside], y[~outside], "o", ms=4, color="#0072B2", label="residual at most θ")
    ax.plot(x[outside], y[outside], "o", ms=5, mfc="none", color="#D55E00", label="above θ")
    ax.set_title(f"{outside.sum()} of {len(x)} residuals exceed θ", fontsize=9)
    ax.set(xlabel="x", ylabel="y")


def draw():
    """Return the figure."""
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    panel(axes[0], Linear(), lambda x: 0.6 * x - 1)
    panel(axes[1], RBF(gamma=1.0), lambda x: np.sin(2 * x))
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    return fig


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    path = folder / "capacity-regression.png"
    draw().savefig(path, dpi=110)
    return path


if __name__ == "__main__":
    print(main())
