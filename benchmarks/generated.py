"""Generated data sets: same numbers on every machine and in every run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Rows = NDArray[np.float64]


def friedman1(n: int, seed: int = 0) -> tuple[Rows, Rows]:
    """Friedman's first regression problem with ten columns and unit noise.

    y = 10 sin(pi x0 x1) + 20 (x2 - 1/2)^2 + 10 x3 + 5 x4 + noise, with x uniform on the unit cube
    (J. H. Friedman, Multivariate adaptive regression splines, Annals of Statistics 19, 1991).
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(n)
    return X, y


def overlapping_classes(n: int, seed: int = 0) -> tuple[Rows, NDArray[np.int64]]:
    """Two classes with a curved border in six columns and three labels in a hundred flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    height = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] ** 2 - 0.5
    y = (height > 0).astype(np.int64)
    flipped = rng.uniform(size=n) < 0.03
    return X, np.where(flipped, 1 - y, y)


def sparse_categories(n: int = 22696, seed: int = 0) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
    """One-hot rows of 14 categorical answers (123 columns); a quarter of the rows is positive.

    The shape of a census questionnaire: within an answer the choices follow a geometric law, and
    the class is a noisy sum of per-choice and pairwise effects.
    """
    rng = np.random.default_rng(seed)
    choices = np.array([5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 5, 5, 5, 35])
    offsets = np.concatenate([[0], np.cumsum(choices)[:-1]])
    answers = np.column_stack([np.minimum(rng.geometric(0.35, n) - 1, c - 1) for c in choices])
    columns = answers + offsets
    effect = rng.standard_normal(int(choices.sum()))
    score = effect[columns].sum(axis=1) + 1.5 * effect[columns[:, 3]] * effect[columns[:, 7]]
    score += 1.5 * rng.standard_normal(n)
    y = (score > np.quantile(score, 0.75)).astype(np.int64)
    indptr = np.arange(0, n * len(choices) + 1, len(choices))
    X = sparse.csr_matrix(
        (np.ones(columns.size), columns.ravel(), indptr), shape=(n, int(choices.sum()))
    )
    return X, y


def pixel_classes(n: int = 10000, seed: int = 0) -> tuple[Rows, NDArray[np.int64]]:
    """Ten classes of 28 x 28 grey images in [0, 1]: smooth strokes, shifted, bent and noisy.

    A class is a closed curve of a few random harmonics; an image draws it with a soft brush after
    a random perturbation of the harmonics, so that each class is a curved manifold as scanned
    digits are.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 10, n)
    harmonics = np.arange(1, 4)
    # Axes: class or image, coordinate, sine or cosine, harmonic.
    shape = rng.standard_normal((10, 2, 2, 3)) / harmonics
    bent = shape[y] + 0.35 * rng.standard_normal((n, 2, 2, 3)) / harmonics
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    waves = np.stack([np.sin(np.outer(harmonics, angle)), np.cos(np.outer(harmonics, angle))])
    curve = 14 + 4.5 * np.einsum("nach,chp->nap", bent, waves)
    grid = np.arange(28)
    # The brush is a product of two Gaussians, so an image is a sum of 24 outer products.
    across = np.exp(-0.5 * (curve[:, 0, :, None] - grid) ** 2)
    along = np.exp(-0.5 * (curve[:, 1, :, None] - grid) ** 2)
    images = np.einsum("npi,npj->nij", across, along).reshape(n, 784)
    images = np.clip(images + 0.05 * rng.standard_normal(images.shape) * (images > 0.05), 0, 1)
    # Scanned digits are mostly exact zeros and 8-bit values.
    return np.round(images * 255) / 255, y
