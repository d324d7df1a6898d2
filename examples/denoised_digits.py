"""Digits with noise, projected onto kernel principal components and back (pre-images).

After S. Mika et al., "Kernel PCA and de-noising in feature spaces" (1999): Gaussian noise and noise
that switches pixels on and off, removed by linear PCA, by kernel PCA with as many components, and
by kernel PCA with more. 16 components are the best number for linear PCA on other digits; kernel
PCA, whose components are as many as the examples, gains from more.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.kernels import RBF, Linear

SHOWN = 8


def _error(images, clean):
    return np.sqrt(((images - clean) ** 2).mean())


def draw():
    """Return the figure."""
    rng = np.random.default_rng(0)
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    chosen = [int(np.flatnonzero(y == digit)[-1]) for digit in range(SHOWN)]
    clean = X[chosen]
    train = np.delete(X, chosen, axis=0)[::2]
    gaussian = clean + 0.25 * rng.normal(size=clean.shape)
    flipped = np.where(rng.uniform(size=clean.shape) < 0.15, rng.integers(0, 2, clean.shape), clean)
    linear = KernelPCA(16, kernel=Linear(), fit_inverse_transform=True, preimage="gradient")
    kernel = KernelPCA(16, kernel=RBF(0.05), fit_inverse_transform=True, preimage="fixed_point")
    more = KernelPCA(60, kernel=RBF(0.1), fit_inverse_transform=True, preimage="fixed_point")
    models = (("linear PCA, 16", linear), ("kernel PCA, 16", kernel), ("kernel PCA, 60", more))
    for _, model in models:
        model.fit(train)
    rows = [("digits", clean)]
    for name, noisy in (("Gaussian noise", gaussian), ("switched pixels", flipped)):
        rows.append((f"{name}, {_error(noisy, clean):.3f}", noisy))
        for label, model in models:
            back = model.inverse_transform(model.transform(noisy))
            rows.append((f"{label}: {_error(back, clean):.3f}", back))
    fig, axes = plt.subplots(len(rows), SHOWN, figsize=(7.0, 7.6), layout="constrained")
    for line, (name, images) in zip(axes, rows, strict=True):
        for ax, image in zip(line, images, strict=True):
            ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0.0, vmax=1.0)
            ax.set(xticks=[], yticks=[])
        line[0].set_ylabel(name, fontsize=7, rotation=0, ha="right", va="center")
    return fig


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    path = folder / "denoised-digits.png"
    draw().savefig(path, dpi=90)
    return path


if __name__ == "__main__":
    print(main())
