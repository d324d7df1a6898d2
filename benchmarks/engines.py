"""The engines that are compared, behind one small interface.

An engine makes estimators with scikit-learn's constructor; what a fitted model is, is read from
the public attributes ``support_``, ``dual_coef_`` and ``intercept_`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.cases import Case, Data

CLASSES = {
    "svc": "SVC",
    "nusvc": "NuSVC",
    "svr": "SVR",
    "nusvr": "NuSVR",
    "oneclass": "OneClassSVM",
}

NATIVE = "float64"
"""Name of the input that every engine gets: float64, sparse where the case is sparse."""


@dataclass(frozen=True)
class Model:
    """A fitted machine in plain arrays.

    Attributes
    ----------
    support : (m,) indices of the training rows with a non-zero coefficient
    coef : (r, m) float64 signed dual variables in scikit-learn's layout; r = 1, or the number of
        classes less one with several classes
    intercept : (p,) one per binary problem
    """

    support: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray


@dataclass(frozen=True)
class Engine:
    """A package that provides ``SVC`` and its relatives.

    ``widens`` tells that the package turns float32 input into float64, which makes a float32 run
    of it a slower copy of the float64 run.
    """

    name: str
    module: str
    distribution: str
    widens: bool = False

    def load(self) -> ModuleType | None:
        try:
            return import_module(self.module)
        except ImportError:
            return None

    def version(self) -> str:
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return str(getattr(self.load(), "__version__", "unknown"))

    def provides(self, case: Case) -> bool:
        return hasattr(self.load(), CLASSES[case.machine])

    def estimator(self, case: Case, extra: Mapping[str, Any] | None = None) -> Any:
        """An unfitted estimator for the case."""
        return getattr(self.load(), CLASSES[case.machine])(**case.params, **(extra or {}))

    def inputs(self, data: Data) -> list[str]:
        """Forms of the data that are worth a try with this engine."""
        names = [NATIVE] if self.widens else [NATIVE, "float32"]
        if data.is_sparse:
            names += ["dense"] if self.widens else ["dense", "dense32"]
        return names


MERCER = Engine("mercer", "mercer", "mercer")
PEERS = (
    Engine("sklearn", "sklearn.svm", "scikit-learn", widens=True),
    Engine("sklearnex", "sklearnex.svm", "scikit-learn-intelex"),
)
ENGINES = {engine.name: engine for engine in (MERCER, *PEERS)}


def convert(X: Any, form: str) -> Any:
    """The rows in the form that ``Engine.inputs`` names."""
    if form.startswith("dense") and sparse.issparse(X):
        X = X.toarray()
    return X.astype(np.float32) if form in ("float32", "dense32") else X


def fit(estimator: Any, case: Case, X: Any, y: np.ndarray) -> Any:
    """Fit; a one-class machine sees no targets."""
    return estimator.fit(X) if case.machine == "oneclass" else estimator.fit(X, y)


def extract(estimator: Any) -> Model:
    """Read the fitted model from its public attributes."""
    coef = estimator.dual_coef_
    coef = coef.toarray() if sparse.issparse(coef) else coef
    return Model(
        np.asarray(estimator.support_, dtype=np.int64),
        np.atleast_2d(np.asarray(coef, dtype=np.float64)),
        np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64)),
    )


def available(names: list[str] | None) -> tuple[list[Engine], list[str]]:
    """Engines that can be imported, and the names of the requested ones that cannot."""
    wanted = list(ENGINES) if names is None else names
    unknown = sorted(set(wanted) - set(ENGINES))
    if unknown:
        raise ValueError(f"unknown engines {', '.join(unknown)}; known are {', '.join(ENGINES)}")
    found = [ENGINES[name] for name in wanted if ENGINES[name].load() is not None]
    missing = [name for name in wanted if ENGINES[name].load() is None]
    return found, missing
