"""Every bound that applies to one machine, over the number of samples.

A linear hard-margin machine on two clouds in the plane. The curves take the measured quantities
(dimension, support vectors, radius, margin) as they are and vary the number of samples alone: where
a curve crosses the dotted line the bound begins to say something.
"""

from pathlib import Path

import numpy as np

from mercer import SVC
from mercer.capacity import (
    compare,
    compression_bound,
    hard_margin_bound,
    stratified,
    test_set_bound,
    vc_bound,
)


def sample(rng, n):
    """Return two clouds around (1, 0) and (-1, 0) with their labels."""
    y = np.where(np.arange(n) % 2, 1, -1)
    return 0.25 * rng.normal(size=(n, 2)) + np.outer(y, [1.0, 0.0]), y


def bounds(n=400):
    """Return the bounds of a machine trained on n samples."""
    rng = np.random.default_rng(0)
    X, y = sample(rng, n)
    model = SVC(kernel="linear", C=np.inf).fit(X, y)
    X_new, y_new = sample(rng, n // 2)
    norm = float(np.linalg.norm(model.coef_))
    radius = float(np.linalg.norm(X, axis=1).max())
    margin = hard_margin_bound(n, radius, 1 / norm, offset=float(model.intercept_[0]) / norm)
    return [
        vc_bound(n_samples=n, vc_dim=3),
        compression_bound(n_sv=len(model.support_), n_samples=n),
        margin,
        stratified(margin),
        test_set_bound(n_errors=int(np.sum(model.predict(X_new) != y_new)), n_samples=n // 2),
    ]


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    made = compare(*bounds())
    print(made)
    ax = made.plot(np.geomspace(10, 1e9, 80))
    path = folder / "capacity-bounds.png"
    ax.figure.savefig(path, dpi=110)
    return path


if __name__ == "__main__":
    print(main())
