"""Peak memory of a fit and a prediction, in a fresh process per engine.

The process imports the engine, reads the rows from a file, forgets its peak so far, fits,
predicts, and reports the largest resident set since. Imports and data are part of the number for
every engine alike. Run as ``python -m benchmarks.memory`` by :func:`peak`; not meant for people.
"""

from __future__ import annotations

import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.cases import Case, Data
from benchmarks.engines import ENGINES, NATIVE, Engine, convert, fit

MEGABYTE = 2**20


def peak(case: Case, data: Data, engine: Engine, form: str = NATIVE, cap: float = 600.0) -> float:
    """Peak resident memory in MB; NaN when the process failed or needed more than ``cap`` s."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows"
        _store(rows, convert(data.X, form), data.y, convert(data.X_test, form))
        order = json.dumps({"machine": case.machine, "params": case.params, "engine": engine.name})
        try:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.memory", str(rows), order],
                cwd=Path(__file__).parents[1],
                capture_output=True,
                text=True,
                timeout=cap,
                check=True,
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return float("nan")
    return float(done.stdout.split()[-1])


def _store(rows: Path, X: Any, y: np.ndarray, X_test: Any) -> None:
    rows.mkdir()
    for name, part in (("X", X), ("X_test", X_test)):
        if sparse.issparse(part):
            sparse.save_npz(rows / f"{name}.npz", part, compressed=False)
        else:
            np.save(rows / f"{name}.npy", part)
    np.save(rows / "y.npy", y)


def _restore(rows: Path, name: str) -> Any:
    dense = rows / f"{name}.npy"
    return np.load(dense) if dense.exists() else sparse.load_npz(rows / f"{name}.npz")


def _forget_peak() -> None:
    """Reset the high-water mark of the resident set where the system allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _high_water() -> float:
    """Largest resident set in MB.

    ``ru_maxrss`` is only the fallback: on Linux it starts with the size of the parent process.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / MEGABYTE


def main(rows: str, order: str) -> None:
    what = json.loads(order)
    case = Case("memory", what["machine"], what["params"], lambda: _no_data())
    folder = Path(rows)
    X, y, X_test = (_restore(folder, name) for name in ("X", "y", "X_test"))
    estimator = ENGINES[what["engine"]].estimator(case)
    _forget_peak()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(estimator, case, X, y).predict(X_test)
    print(_high_water())


def _no_data() -> Data:
    raise LookupError("the rows of this case come from a file")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
