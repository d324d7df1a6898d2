"""The report of a fitted machine: guarantees, leave-one-out bounds and estimates in one picture.

A linear hard-margin machine on two clouds in the plane, with rows held out. Hollow points are no
guarantees: a condition of the theorem is violated, or a constant is not known. An error of 0 is
drawn at half a row.
"""

from pathlib import Path

import numpy as np

from mercer import SVC


def sample(rng, n):
    """Return two clouds around (1, 0) and (-1, 0) with their labels."""
    y = np.where(np.arange(n) % 2, 1, -1)
    return 0.25 * rng.normal(size=(n, 2)) + np.outer(y, [1.0, 0.0]), y


def main(folder: Path = Path()) -> Path:
    """Write the picture and return its path."""
    rng = np.random.default_rng(0)
    X, y = sample(rng, 400)
    model = SVC(kernel="linear", C=np.inf).fit(X, y)
    report = model.generalization_report(X, y, holdout=sample(rng, 200))
    print(report)
    path = folder / "capacity-report.png"
    report.plot().figure.savefig(path, dpi=100)
    return path


if __name__ == "__main__":
    print(main())
