"""Labellings of three points that a hyperplane realises, thin or with a margin.

Learning From Data, Figures 8.3 and 8.4, and Smola, Figure 7.2. The published figures show three
points that thin lines label in all 8 ways (4 are drawn, the others are their negatives), and the
same points with lines of thickness rho, which realise only 4 of the 8. Ours draws both rows for one
triangle, with the thickest separator of every labelling, and a fourth point that no line can cope
with. The counts above the panels are computed, not drawn.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer.capacity import count_dichotomies, is_shattered
from mercer.capacity.separation import largest_margin

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [0.2, 0.4]])
SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
THICKNESS = 0.3
SHOWN = ([1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1])


def panel(ax, X, y, rho):
    """Draw points, and the separator of largest margin with the band of half-width rho."""
    y = np.asarray(y)
    ax.scatter(*X[y > 0].T, marker="o", color="#0072B2", zorder=3)
    ax.scatter(*X[y < 0].T, marker="x", color="#D55E00", zorder=3)
    found = largest_margin(X, y)
    if found is not None and np.isfinite(found.margin):
        fits = found.margin >= rho
        across = np.array([-found.w[1], found.w[0]])
        foot = -found.b * found.w + across * ((X.mean(axis=0) + found.b * found.w) @ across)
        for shift, width in ((0.0, 1.2), (rho, 0.6), (-rho, 0.6)):
            line = foot + shift * found.w + np.outer([-2, 2], across)
            ax.plot(*line.T, color="#222222", lw=width, ls="-" if fits else "--")
        ax.set_title(f"margin {found.margin:.2f}", fontsize=8)
    elif found is None:
        ax.set_title("no line", fontsize=8)
    ax.set(xlim=(-0.5, 1.5), ylim=(-0.6, 1.4), xticks=[], yticks=[], aspect="equal")


def draw():
    """Return the figure."""
    fig, axes = plt.subplots(2, 5, figsize=(10, 4.4), layout="constrained")
    for row, rho in zip(axes, (0.0, THICKNESS), strict=True):
        for ax, y in zip(row[:4], SHOWN, strict=True):
            panel(ax, POINTS, y, rho)
        count = count_dichotomies(POINTS, margin=rho)
        row[0].set_ylabel(f"rho = {rho:g}: {count} of 8", fontsize=9)
    panel(axes[0, 4], SQUARE, is_shattered(SQUARE).failing, 0.0)
    axes[1, 4].axis("off")
    return fig


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    path = folder / "capacity-shattering.png"
    draw().savefig(path, dpi=110)
    print(is_shattered(POINTS))
    print(is_shattered(POINTS, margin=THICKNESS))
    print(is_shattered(SQUARE))
    return path


if __name__ == "__main__":
    print(main())
