"""Threads: the same bits for any number of them, after a fork, and as many as allowed."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM, show_config

Array = NDArray[np.float64]

N = 5200


def points() -> Array:
    return np.random.default_rng(0).normal(size=(N, 5))


def two_classes(X: Array) -> Array:
    rng = np.random.default_rng(1)
    return np.sign(X[:, 0] + X[:, 1] ** 2 - 1 + 0.3 * rng.standard_normal(len(X)))


def ten_classes(X: Array) -> NDArray[np.int64]:
    score = X[:, 0] + 0.5 * X[:, 1]
    return np.digitize(score, np.quantile(score, np.linspace(0.1, 0.9, 9)))


def targets(X: Array) -> Array:
    return X[:, 0] + 0.2 * np.random.default_rng(2).standard_normal(len(X))


STARVED = {"cache_size": 0.05}  # less than three rows

CASES: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "two classes": (SVC, {}, two_classes),
    "float64": (SVC, {"dtype": "float64"}, two_classes),
    "starved cache": (SVC, {"C": 20, **STARVED}, two_classes),
    "ten classes": (SVC, {}, ten_classes),
    "ten classes, starved cache": (SVC, STARVED, ten_classes),
    "ten classes against the rest": (SVC, {"multiclass": "ovr"}, ten_classes),
    "probabilities": (SVC, {"probability": True, "random_state": 0}, two_classes),
    "regression": (SVR, {}, targets),
    "regression, starved cache": (SVR, STARVED, targets),
    "nu regression": (NuSVR, {"nu": 0.2}, targets),
    "nu classification": (NuSVC, {"nu": 0.3}, two_classes),
    "one class": (OneClassSVM, {"nu": 0.1}, lambda X: None),
}


def bits(model: Any, X: Array) -> tuple[bytes, ...]:
    values = model.predict(X) if not hasattr(model, "decision_function") else None
    return (
        model.support_.tobytes(),
        model.dual_coef_.tobytes(),
        model.intercept_.tobytes(),
        model.n_iter_.tobytes() if hasattr(model.n_iter_, "tobytes") else bytes([0]),
        (model.decision_function(X) if values is None else values).tobytes(),
    )


@pytest.mark.parametrize("name", CASES)
def test_one_and_two_threads_give_the_same_bits(name: str) -> None:
    machine, parameters, label = CASES[name]
    X = points()
    y = label(X)
    found = []
    for n_jobs in (1, 2, 3):
        model = machine(gamma=0.2, n_jobs=n_jobs, **parameters).fit(X, y)
        assert model.certificate_.status == "optimal"
        found.append(bits(model, X[:500]))
        if "probability" in parameters:
            found[-1] += (model.predict_proba(X[:500]).tobytes(),)
    assert found[0] == found[1] == found[2]


def test_the_size_of_the_cache_does_not_change_a_bit() -> None:
    X = points()
    y = two_classes(X)
    X = np.tile(X, 64 // X.shape[1] + 1)  # the rows of narrower data are not worth a cache
    models = [SVC(gamma=0.02, C=5, cache_size=size).fit(X, y) for size in (0.001, 2, 500)]
    assert bits(models[0], X) == bits(models[1], X) == bits(models[2], X)
    values = [m.certificate_.n_kernel_values for m in models]
    assert values[0] > values[2]  # it does change the work


def test_a_fit_can_be_repeated() -> None:
    X = points()
    y = ten_classes(X)
    assert bits(SVC(gamma=0.2).fit(X, y), X) == bits(SVC(gamma=0.2).fit(X, y), X)


def test_two_fits_at_the_same_time() -> None:
    X = points()
    y = two_classes(X)
    alone = bits(SVC(gamma=0.2).fit(X, y), X[:100])
    found: list[Any] = [None, None, None]

    def work(k: int) -> None:
        found[k] = bits(SVC(gamma=0.2).fit(X, y), X[:100])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert found == [alone] * 3


# ------------------------------------------------------------------ forks


def in_child(queue: Any) -> None:
    X = points()
    queue.put(bits(SVC(gamma=0.2, n_jobs=2).fit(X, two_classes(X)), X[:100]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_of_a_fork_can_train() -> None:
    X = points()
    here = bits(SVC(gamma=0.2, n_jobs=2).fit(X, two_classes(X)), X[:100])  # the pool has started
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=in_child, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    there = [queue.get(timeout=60) for _ in children]
    for child in children:
        child.join(timeout=60)
    assert there == [here, here]
    assert [child.exitcode for child in children] == [0, 0]
    # And so can the parent, afterwards.
    assert bits(SVC(gamma=0.2, n_jobs=2).fit(X, two_classes(X)), X[:100]) == here


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_bare_fork() -> None:
    X = points()
    SVC(gamma=0.2, n_jobs=2).fit(X, two_classes(X))
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            model = SVC(gamma=0.2, n_jobs=2).fit(X, two_classes(X))
            code = 0 if model.certificate_.status == "optimal" else 2
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


# ------------------------------------------------------------------ how many


def configured(code: str = "", **environment: str) -> int:
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{code}\nfrom mercer import _native\nprint(_native.get_num_threads())",
        ],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return int(run.stdout)


def test_omp_num_threads_is_respected() -> None:
    config = show_config("dict")
    assert config is not None
    cores = config["cores"]
    assert configured(OMP_NUM_THREADS="1") == 1
    assert configured(OMP_NUM_THREADS="1000") == cores
    assert configured(OMP_NUM_THREADS="") == cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_the_affinity_of_the_process_is_respected() -> None:
    pin = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    assert configured(pin, OMP_NUM_THREADS="") == 1


def test_threadpoolctl_limits_the_pool() -> None:
    X = points()
    before = show_config("dict")
    assert before is not None
    with threadpool_limits(limits=1):
        inside = show_config("dict")
        assert inside is not None
        assert inside["threads"] == 1
        limited = SVC(gamma=0.2).fit(X, two_classes(X))
    after = show_config("dict")
    assert after is not None
    assert after["threads"] == before["threads"]
    assert bits(limited, X) == bits(SVC(gamma=0.2).fit(X, two_classes(X)), X)


USED = """
import os, threading
import numpy as np
from mercer import SVC
X = np.random.default_rng(0).normal(size=(5200, 5))
others = len(os.listdir("/proc/self/task")) - 1  # of other libraries
model = SVC(gamma=0.2, n_jobs={n_jobs}).fit(X, X[:, 0] > 0)
model.predict(X)
print(len(os.listdir("/proc/self/task")) - others)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="no list of threads here")
def test_one_job_starts_no_thread() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": ""}

    def threads(n_jobs: int | None) -> int:
        run = subprocess.run(
            [sys.executable, "-c", USED.format(n_jobs=n_jobs)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return int(run.stdout)

    assert threads(1) == 1
    config = show_config("dict")
    assert config is not None
    cores = config["cores"]
    assert threads(2) == min(2, cores)
    # Threads that share a core wait for each other, in this fit and in all later ones.
    assert threads(64) == min(64, cores)


NO_THREADS = """
import os, resource
import numpy as np
from mercer import SVC, _native
X = np.random.default_rng(0).normal(size=(5200, 5))
_native.set_num_threads(4)
if os.getuid() == 0:
    os.setuid(65534)  # root is above the limit
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
try:
    __import__("threading").Thread(target=print).start()
except RuntimeError:
    model = SVC(gamma=0.2, n_jobs=4).fit(X, X[:, 0] > 0)
    print(model.certificate_.status, model.predict(X).mean() > 0)
else:
    print("no limit")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of threads")
def test_a_fit_runs_where_no_thread_can_be_started() -> None:
    run = subprocess.run(
        [sys.executable, "-c", NO_THREADS],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if run.stdout.endswith("no limit\n"):
        pytest.skip("the limit of threads does not hold here")
    assert (run.returncode, run.stdout, run.stderr) == (0, "optimal True\n", "")
