"""Fits, values and errors in a native module that was built with the sanitizers.

usage: python -m tools.sanitized_fits MODULE

MODULE takes the place of ``mercer._native``. Whatever the sanitizers find ends the process.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def use(module: Path) -> None:
    """Load this file as ``mercer._native``."""
    spec = importlib.util.spec_from_file_location("mercer._native", module)
    assert spec is not None
    assert spec.loader is not None
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    sys.modules["mercer._native"] = native


def fit_machines() -> int:
    """Fit every machine to rows of every kind, as many as slots and one more."""
    from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
    from mercer.kernels import RBF, Linear, Polynomial

    rng = np.random.default_rng(0)
    fits = 0
    for n in (32, 33, 65):
        dense = rng.random((n, 7)) * (rng.random((n, 7)) < 0.6)
        y = np.where(np.arange(n) % 3 > 0, 1, -1)
        for X in (dense, sp.csr_matrix(dense)):
            for dtype in ("float32", "float64"):
                for kernel in (RBF(0.5), Linear(), Polynomial(2, gamma=1.0, coef0=1.0)):
                    machines = SVC, SVR, NuSVC, NuSVR, OneClassSVM
                    for machine in machines:
                        model = machine(kernel=kernel, dtype=dtype, max_iter=2000).fit(X, y)
                        model.predict(X)
                        fits += 1
    X = rng.normal(size=(1300, 4))  # the solver for large problems, several classes, threads
    for rows in (X, sp.csr_matrix(X * (X > 0))):
        SVC(gamma=0.5, n_jobs=2).fit(rows, np.arange(1300) % 4).predict(rows[:50])
        SVR(gamma=0.5, n_jobs=2, max_iter=3000).fit(rows, X[:, 0]).predict(rows[:50])
        fits += 2
    return fits


def search() -> int:
    """Search along C on shared matrices, with enough free coefficients for conjugate steps."""
    from mercer import SVC, SVR
    from mercer.selection import GridSearchCV

    rng = np.random.default_rng(2)
    X = rng.normal(size=(131, 3))
    y = X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.normal(size=len(X))
    grid = {"C": [0.1, 10.0, 1e4], "gamma": [0.05, 1.0]}
    fits = 0
    for machine, targets in ((SVC(), np.digitize(y, (-0.7, 0.7))), (SVR(epsilon=0.01), y)):
        found = GridSearchCV(machine, grid, cv=3).fit(X, targets)
        assert "shared" in set(found.cv_results_["note"]), found.cv_results_["note"]
        fits += 3 * len(found.cv_results_["note"])
    return fits


def compute_values() -> int:
    """Tiles, diagonals and products of the catalogue, and what is refused."""
    from mercer.gram import Gram
    from mercer.kernels import RBF
    from tests.catalogue import catalogue, sample

    rng = np.random.default_rng(1)
    kernels = 0
    for example in catalogue():
        for count in (7, 33):
            gram = Gram(example.kernel, sample(example.objects, count, rng))
            gram.tile()
            gram.diag()
        kernels += 1
    for columns in (3, 300):
        X = rng.random((41, columns))
        for rows in (X, sp.csr_matrix(X * (X > 0.5))):
            for dtype in ("float32", "float64"):
                gram = Gram(RBF(0.1), rows, dtype)
                for vectors in (1, 2, 9):
                    gram.matmul(rng.normal(size=(41, vectors)))
    for wrong in (np.full((3, 2), np.nan), np.zeros((0, 2))):
        try:
            RBF(1.0)(wrong)
        except ValueError:
            continue
    return kernels


if __name__ == "__main__":
    use(Path(sys.argv[1]))
    warnings.simplefilter("ignore")
    from mercer import show_config

    report = show_config("dict")
    assert report is not None
    fits, kernels = fit_machines() + search(), compute_values()
    print(f"{report['instruction set']}: {fits} fits, {kernels} kernels")
