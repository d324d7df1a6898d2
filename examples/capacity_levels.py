"""Shattering by real-valued functions: level 0, a common level, a level per point, a margin.

Smola, Figures 7.3 and 7.4. The published figures show six points on a line and three of the 64
functions, which pass above or below 0 (top), a common level (middle), a level per point (bottom),
and, in Figure 7.4, bars of the width of the margin. Ours draws functions of the unit ball of a
Gaussian RKHS that really shatter five points, found by solving K a = y, each with one fixed
function added whose values are the levels; the bars have the margin with which all 32 labellings
are realised.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer.capacity import shatter_with_margin, worst_margin
from mercer.kernels import RBF

X = np.linspace(0, 1, 5)[:, None]
GRID = np.linspace(-0.1, 1.1, 400)[:, None]
LABELS = ([1, -1, 1, -1, 1], [-1, -1, 1, 1, -1], [1, 1, -1, -1, -1])
LEVELS = {
    "level 0 ($h_s$)": np.zeros(5),
    "one level ($h_l$)": np.full(5, 0.15),
    "a level per point ($h_p$)": np.array([0.1, 0.25, 0.0, 0.2, 0.05]),
}


def draw():
    """Return the figure."""
    kernel = RBF(gamma=30.0)
    K, k = kernel(X), kernel(GRID, X)
    margin = worst_margin(K)
    fig, axes = plt.subplots(3, 1, figsize=(6.4, 7.0), sharex=True, layout="constrained")
    for ax, (name, levels) in zip(axes, LEVELS.items(), strict=True):
        shift = k @ np.linalg.solve(K, levels)  # one fixed function with the levels as its values
        for y, style in zip(LABELS, ("-", "--", ":"), strict=True):
            a, own = shatter_with_margin(K, y)
            signs = " ".join("+" if label > 0 else "−" for label in y)
            ax.plot(GRID, shift + k @ a * margin / own, style, color="#0072B2", label=signs)
        ax.errorbar(X[:, 0], levels, yerr=margin, fmt="k.", capsize=3, label="level ± margin")
        ax.set_title(f"{name}, margin {margin:.3f}", fontsize=9)
        ax.set_ylabel("f(x)")
    axes[-1].set_xlabel("x")
    handles, labels = axes[0].get_legend_handles_labels()
    title = "three of the 32 labellings, each realised by one function"
    fig.legend(handles, labels, loc="outside lower center", ncols=4, title=title, frameon=False)
    return fig


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    path = folder / "capacity-levels.png"
    draw().savefig(path, dpi=110)
    return path


if __name__ == "__main__":
    print(main())
