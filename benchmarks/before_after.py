"""Two installations of mercer next to each other, in alternating processes.

    python -m benchmarks.before_after BEFORE/.venv/bin/python AFTER/.venv/bin/python

Either interpreter has a mercer of its own. Each pair of fresh processes measures every case once,
in turn one or the other first; a case counts as slower where the 95 % confidence interval of its
ratio, after over before, lies above 1.03. The exit code is the number of such cases.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.cases import QUICK, Sources, all_cases, select
from benchmarks.engines import MERCER, fit
from benchmarks.generated import friedman1

SLOWER = 1.03
LEAST, SECONDS, MOST = 3, 0.15, 40  # fits of a case in a process
WIDE = ("magic", "letter", "friedman1", "magic-oneclass", "magic-nusvc", "sparse")


def actions(names: list[str] | None) -> dict[str, Callable[[], Any]]:
    """Return what is timed, by name: fits of the benchmark, ridge, a process and a search."""
    known = (*QUICK, *WIDE, *OTHERS)
    if unknown := set(names or ()) - set(known):
        raise ValueError(f"unknown cases {sorted(unknown)}; known are {known}")
    found: dict[str, Callable[[], Any]] = {}
    for case in select(all_cases(Sources()), list(QUICK + WIDE)):
        if names is None or case.name in names:
            data = case.load()
            found[case.name] = lambda case=case, data=data: fit(
                MERCER.estimator(case), case, data.X, data.y
            )
    X, y = friedman1(2000)
    for name, make in OTHERS.items():
        if names is None or name in names:
            found[name] = lambda make=make: make(X, y)
    return found


def _ridge(X: np.ndarray, y: np.ndarray) -> Any:
    from mercer import KernelRidge

    return KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1).fit(X, y)


def _process(X: np.ndarray, y: np.ndarray) -> Any:
    from mercer import GaussianProcessRegressor
    from mercer.kernels import RBF

    return GaussianProcessRegressor(RBF(1.0), noise=0.5).fit(X[:300], y[:300])


def _search(X: np.ndarray, y: np.ndarray) -> Any:
    from mercer import SVR
    from mercer.selection import GridSearchCV

    grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.1, 0.5]}
    return GridSearchCV(SVR(), grid, cv=3).fit(X[:800], y[:800])


def _components(X: np.ndarray, y: np.ndarray) -> Any:
    from mercer import KernelPCA

    return KernelPCA(5, kernel="rbf", gamma=0.5).fit(X[:1000])


OTHERS = {"ridge": _ridge, "process": _process, "search": _search, "kernel-pca": _components}


def measure(names: list[str] | None) -> dict[str, float]:
    """Return the shortest time of each action in this process."""
    warnings.simplefilter("ignore")
    best: dict[str, float] = {}
    for name, action in actions(names).items():
        gc.collect()
        times: list[float] = []
        while len(times) < LEAST or (sum(times) < SECONDS and len(times) < MOST):
            begin = perf_counter()
            action()
            times.append(perf_counter() - begin)
        best[name] = min(times)
    return best


def interval(before: list[float], after: list[float]) -> tuple[float, float, float]:
    """Return the geometric mean of the ratios of pairs, and the ends of its 95 % interval."""
    logs = np.log(after) - np.log(before)
    width = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    low, mean, high = np.exp(logs.mean() + np.array([-width, 0.0, width]))
    return float(mean), float(low), float(high)


def _run(python: str, names: list[str] | None) -> dict[str, float]:
    command = [python, "-m", "benchmarks.before_after", "--measure", *(names or [])]
    root = Path(__file__).resolve().parent.parent
    found = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True
    )
    if found.returncode:
        raise RuntimeError(f"{python} failed:\n{found.stderr}")
    return json.loads(found.stdout)


def main() -> int:
    """Measure, print a table, and return the number of cases that became slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.before_after", description=__doc__)
    parser.add_argument("--measure", action="store_true", help="time the cases in this process")
    parser.add_argument("--pairs", type=int, default=21, help="pairs of processes (default: 21)")
    parser.add_argument("--cases", help="names separated by commas (default: all)")
    parser.add_argument("names", nargs="*", help="the interpreters before and after")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.names or None)))
        return 0
    if len(options.names) != 2:
        parser.error("two interpreters, before and after")
    names = options.cases.split(",") if options.cases else None
    times: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
    for k in range(options.pairs):
        for side in (0, 1) if k % 2 == 0 else (1, 0):
            times[side].append(_run(options.names[side], names))
        print(f"pair {k + 1} of {options.pairs}", file=sys.stderr)
    slower = 0
    print(f"{'case':<16}{'before':>10}{'after':>10}  {'ratio':>6}  95 % interval")
    for name in times[0][0]:
        before, after = ([run[name] for run in side] for side in times)
        mean, low, high = interval(before, after)
        slower += low > SLOWER
        mark = "  SLOWER" if low > SLOWER else ""
        print(
            f"{name:<16}{1e3 * min(before):>8.2f}ms{1e3 * min(after):>8.2f}ms  {mean:>6.3f}  "
            f"{low:.3f} to {high:.3f}{mark}"
        )
    return slower


if __name__ == "__main__":
    sys.exit(main())
