"""Growth of ridge and Gaussian processes, 1,000 to 50,000 rows: seconds, memory, the route taken.

Every fit runs in a process of its own, whose peak memory is counted beyond that of the imports. A
line ends where the next size is expected to exceed the cap, or where a matrix does not fit in
memory; it says so.

python -m benchmarks.ridge_growth
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
CAP = 150.0
"""Seconds that a fit may be expected to take."""

FEARED_EXPONENT = 2.7
_COLUMNS = 12


@dataclass(frozen=True)
class Fit:
    """One fit; None where it was left out."""

    line: str
    n: int
    seconds: float | None
    megabytes: float = 0.0
    note: str = ""


def _data(n: int, columns: int = _COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, columns))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def _ridge(n: int) -> tuple[Callable[[], Any], Callable[[Any], str]]:
    from mercer import KernelRidge

    X, y = _data(n)
    model = KernelRidge(0.3, kernel="rbf", gamma=0.05, tol=1e-6)
    return lambda: model.fit(X, y), lambda m: f"{m.solver_} {m.certificate_.relative_gap:.0e}"


def _ridge_of_sklearn(n: int) -> tuple[Callable[[], Any], Callable[[Any], str]]:
    from sklearn.kernel_ridge import KernelRidge

    X, y = _data(n)
    model = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.05)
    return lambda: model.fit(X, y), lambda m: ""


def _process(n: int) -> tuple[Callable[[], Any], Callable[[Any], str]]:
    from mercer import GaussianProcessRegressor
    from mercer.kernels import RBF, White

    X, y = _data(n)
    model = GaussianProcessRegressor(2.0 * RBF(0.05) + White(0.1), optimizer=None, random_state=0)
    return (
        lambda: model.fit(X, y),
        lambda m: f"{m.solver_} +-{m.log_marginal_likelihood_error_:.0f}",
    )


def _process_of_sklearn(n: int) -> tuple[Callable[[], Any], Callable[[Any], str]]:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process import kernels as sk

    X, y = _data(n)
    kernel = sk.ConstantKernel(2.0) * sk.RBF(10**0.5) + sk.WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, optimizer=None)
    return lambda: model.fit(X, y), lambda m: ""


def _searched(n: int) -> tuple[Callable[[], Any], Callable[[Any], str]]:
    from mercer import GaussianProcessRegressor
    from mercer.kernels import RBF, White

    X, y = _data(n)
    model = GaussianProcessRegressor(1.0 * RBF(0.1) + White(0.1), random_state=0)
    return lambda: model.fit(X, y), lambda m: f"{m.solver_}, {m.certificate_.n_iter} evaluations"


def _searched_of_sklearn(n: int) -> tuple[Callable[[], Any], Callable[[Any], str]]:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process import kernels as sk

    X, y = _data(n)
    kernel = sk.ConstantKernel(1.0) * sk.RBF(5**0.5) + sk.WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel)
    return lambda: model.fit(X, y), lambda m: ""


def _sparse(n: int) -> tuple[Callable[[], Any], Callable[[Any], str]]:
    from mercer import SparseGaussianProcessRegressor
    from mercer.kernels import RBF

    X, y = _data(n)
    model = SparseGaussianProcessRegressor(1.0 * RBF(0.1), 500, random_state=0)

    def note(m: Any) -> str:
        proof = m.certificate_
        return f"[{proof.dual:.0f}, {proof.primal:.0f}]"

    return lambda: model.fit(X, y), note


LINES = {
    "ridge": _ridge,
    "ridge, sklearn": _ridge_of_sklearn,
    "process": _process,
    "process, sklearn": _process_of_sklearn,
    "process, searched": _searched,
    "process, searched, sklearn": _searched_of_sklearn,
    "sparse process (500), searched": _sparse,
}


def measured(line: str, n: int) -> Fit:
    """Return one fit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.ridge_growth", "--child", line, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    if done.returncode:
        killed = f"killed by signal {-done.returncode}, as where memory ends"
        reason = (done.stderr.strip().splitlines() or [killed])[-1]
        return Fit(line, n, None, note=reason[:60])
    seconds, megabytes, note = json.loads(done.stdout.splitlines()[-1])
    return Fit(line, n, seconds, megabytes, note)


def _child(line: str, n: int) -> None:
    warnings.simplefilter("ignore")
    run, note = LINES[line](n)
    small, _ = LINES[line](200)
    small()  # imports, threads
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = perf_counter()
    model = run()
    seconds = perf_counter() - begin
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024.0
    print(json.dumps([seconds, megabytes, note(model)]))


def grow(sizes: tuple[int, ...] = SIZES, cap: float = CAP) -> list[Fit]:
    """Measure all lines, each as far as the cap allows."""
    found: list[Fit] = []
    for line in LINES:
        last: Fit | None = None
        for n in sizes:
            if last is not None and last.seconds is not None:
                expected = last.seconds * (n / last.n) ** FEARED_EXPONENT
                if expected > cap * FEARED_EXPONENT:
                    found.append(Fit(line, n, None, note="cap"))
                    break
            last = measured(line, n)
            found.append(last)
            if last.seconds is None or last.seconds > cap:
                break
    return found


def text(found: list[Fit]) -> str:
    """Return the table: a row for each size, seconds and megabytes of every line."""
    lines = [
        "Growth of ridge and Gaussian processes on 12 normal columns",
        f"{'line':<32}{'rows':>8}{'seconds':>10}{'MB':>8}  route, quality",
    ]
    for fit in found:
        seconds = "-" if fit.seconds is None else f"{fit.seconds:.2f}"
        lines.append(f"{fit.line:<32}{fit.n:>8,}{seconds:>10}{fit.megabytes:>8.0f}  {fit.note}")
    for line in ("ridge", "process"):
        routes = [(f.n, f.note.split()[0]) for f in found if f.line == line and f.seconds]
        change = next(((n, route) for n, route in routes if route != routes[0][1]), None)
        if change is not None:
            lines.append(f"{line}: {routes[0][1]} below {change[0]:,} rows, {change[1]} from there")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2], int(sys.argv[3]))
    else:
        print(text(grow()))
