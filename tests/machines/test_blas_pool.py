"""One BLAS pool in the hot paths: NumPy's threads sleep while SciPy's factorise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import warnings
from pathlib import Path

def tasks():
    return {p.name for p in Path("/proc/self/task").iterdir()}

before = tasks()
import numpy as np
pool = tasks() - before

def wakes():
    lines = [Path(f"/proc/self/task/{t}/status").read_text().splitlines() for t in pool]
    return [line for status in lines for line in status if "ctxt" in line]

from mercer import GaussianProcessRegressor, KernelRidge, KernelRidgeCV, LSSVC
from mercer.kernels import RBF, White
from threadpoolctl import ThreadpoolController

for library in ThreadpoolController().lib_controllers:
    if "numpy" not in library.filepath:  # with one thread each they do not spin
        library.set_num_threads(1)
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(800, 10))
y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=800)
kernel = 1.0 * RBF([0.05] * 10) + White(0.1)
idle = wakes()
process = GaussianProcessRegressor(kernel, optimizer=None)
runs = {
    "ridge": lambda: KernelRidge(kernel="rbf", gamma=0.05).fit(X, y),
    "intercept": lambda: LSSVC(gamma=0.05).fit(X, y > 0),
    "alphas": lambda: KernelRidgeCV([0.01, 1.0], kernel=RBF(0.05)).fit(X, y),
    "process": lambda: process.fit(X, y).log_marginal_likelihood(process.theta_, True),
}
for name, run in runs.items():
    run()
    if wakes() != idle:
        print("woken by", name)
        break
X @ X.T
print("separate" if wakes() != idle else "shared")
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads the threads from /proc")
def test_ridge_and_processes_leave_the_threads_of_numpys_blas_asleep() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"OPENBLAS_NUM_THREADS": "2", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    if run.stdout.strip() == "shared":
        pytest.skip("NumPy's BLAS is that of SciPy, or starts no threads when it is loaded")
    assert run.stdout.strip() == "separate"
