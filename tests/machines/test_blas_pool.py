"""BLAS threads: NumPy's sleep while SciPy's factorise, and small matrices have one thread."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from mercer import GaussianProcessClassifier, GaussianProcessRegressor, KernelRidge
from mercer.kernels import FromFunction
from mercer.numerics.blas import threads_for

PROGRAM = """
import time
import warnings
from pathlib import Path

def tasks():
    return {p.name for p in Path("/proc/self/task").iterdir()}

before = tasks()
import numpy as np
pool = tasks() - before

def wakes():
    time.sleep(0.3)  # a thread that was woken spins for a while; it is counted when it sleeps
    lines = [Path(f"/proc/self/task/{t}/status").read_text().splitlines() for t in pool]
    return [line for status in lines for line in status if "ctxt" in line]

from mercer import GaussianProcessRegressor, KernelRidge, KernelRidgeCV, LSSVC, OneClassSVM
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
rows = rng.normal(size=(12_000, 2))  # BLAS wakes its threads for vectors of more than 10,000
idle = wakes()
process = GaussianProcessRegressor(kernel, optimizer=None)
runs = {
    "ridge": lambda: KernelRidge(kernel="rbf", gamma=0.05).fit(X, y),
    "intercept": lambda: LSSVC(gamma=0.05).fit(X, y > 0),
    "alphas": lambda: KernelRidgeCV([0.01, 1.0], kernel=RBF(0.05)).fit(X, y),
    "process": lambda: process.fit(X, y).log_marginal_likelihood(process.theta_, True),
    "one class": lambda: OneClassSVM(nu=0.01).fit(rows),
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
def test_fits_leave_the_threads_of_numpys_blas_asleep() -> None:
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


def _threads() -> set[int]:
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return {library.get_num_threads() for library in found}


def test_blas_has_one_thread_for_small_matrices_and_its_own_number_afterwards() -> None:
    with threadpool_limits(3, user_api="blas"):
        with threads_for(20):
            with threads_for(20):
                assert _threads() == {1}
            assert _threads() == {1}
        assert _threads() == {3}
        with threads_for(10_000):
            assert _threads() == {3}
        with pytest.raises(ZeroDivisionError), threads_for(20):
            raise ZeroDivisionError
        assert _threads() == {3}


@pytest.mark.parametrize(
    "model", [KernelRidge, GaussianProcessRegressor, GaussianProcessClassifier]
)
def test_a_small_fit_solves_on_one_thread(model: Any) -> None:
    seen = []

    def values(A: Any, B: Any) -> Any:
        seen.append(_threads())
        return np.exp(-np.square(A - B.T))

    X = np.arange(8.0)[:, None]
    with threadpool_limits(3, user_api="blas"):
        model(kernel=FromFunction(values)).fit(X, np.arange(8) % 2)
        assert seen[-1] == {1}
        assert _threads() == {3}
