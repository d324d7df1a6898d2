"""Kernel PCA contours, and sparse kernel feature analysis beside it.

The data of figure 7 of Schoelkopf and Smola's text: three clusters, a Gaussian kernel. The first
two components of kernel PCA split the clusters, the next three halve them. A feature of kernel
feature analysis is one kernel function, made orthogonal to those before, for one kernel value. The
scree plot shows how many components of kernel PCA capture 95 % of the variance.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelFeatureAnalysis, KernelPCA
from mercer.kernels import RBF
from mercer.plots import scree

CENTRES = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])


def draw():
    """Return the figure."""
    rng = np.random.default_rng(0)
    X = np.repeat(CENTRES, 30, axis=0) + 0.1 * rng.normal(size=(90, 2))
    x, y = np.meshgrid(np.linspace(-1, 1, 80), np.linspace(-0.6, 1.1, 70))
    grid = np.stack([x.ravel(), y.ravel()], axis=1)
    models = {
        "kernel PCA": KernelPCA(5, kernel=RBF(20.0)).fit(X),
        "feature analysis": KernelFeatureAnalysis(5, kernel=RBF(20.0)).fit(X),
    }
    fig = plt.figure(figsize=(14.0, 4.6), layout="constrained")
    cells = fig.add_gridspec(2, 7)
    for row, (name, model) in enumerate(models.items()):
        features = model.transform(grid)
        for j in range(5):
            ax = fig.add_subplot(cells[row, j])
            ax.label_outer()
            values = features[:, j].reshape(x.shape)
            limit = np.abs(values).max()
            ax.contourf(x, y, values, levels=21, cmap="RdBu_r", vmin=-limit, vmax=limit)
            ax.plot(*X.T, "k.", ms=2)
            ax.set_title(f"{name} {j + 1}", fontsize=9)
            if name != "kernel PCA":
                ax.plot(*X[model.indices_[: j + 1]].T, "o", mfc="none", mec="k")
    scree(KernelPCA(0.95, kernel=RBF(20.0)).fit(X), ax=fig.add_subplot(cells[:, 5:]))
    return fig


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    path = folder / "kernel-components.png"
    draw().savefig(path, dpi=90)
    return path


if __name__ == "__main__":
    print(main())
