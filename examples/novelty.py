"""Where data live: a ball in feature space, a density, and calibrated novelty scores."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVDD, ConformalNovelty, ParzenDensity
from mercer.kernels import RBF


def draw():
    """Return the figure."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0.0, np.pi, 200)
    X = np.stack([np.cos(t), np.sin(t)], axis=1) + 0.12 * rng.normal(size=(200, 2))
    x, y = np.meshgrid(np.linspace(-1.8, 1.8, 120), np.linspace(-0.8, 1.8, 100))
    grid = np.stack([x.ravel(), y.ravel()], axis=1)
    ball = SVDD(0.1, kernel=RBF(4.0)).fit(X)
    density = ParzenDensity().fit(X)
    calibrated = ConformalNovelty(SVDD(0.1, kernel=RBF(4.0)), random_state=0).fit(X)
    panels = (
        ("SVDD: decision function", ball.decision_function(grid), [0.0]),
        (f"Parzen density, h = {density.bandwidth_:.2f}", np.exp(density.score_samples(grid)), []),
        ("conformal p-values", calibrated.score_samples(grid), [0.05]),
    )
    fig, axes = plt.subplots(1, 3, figsize=(11.0, 3.2), layout="constrained")
    for ax, (name, values, levels) in zip(axes, panels, strict=True):
        shade = ax.contourf(x, y, values.reshape(x.shape), levels=20, cmap="viridis")
        if levels:
            ax.contour(x, y, values.reshape(x.shape), levels=levels, colors="w")
        ax.plot(*X.T, "k.", ms=2)
        ax.set_title(name, fontsize=9)
        fig.colorbar(shade, ax=ax)
    return fig


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    path = folder / "novelty.png"
    draw().savefig(path, dpi=90)
    return path


if __name__ == "__main__":
    print(main())
