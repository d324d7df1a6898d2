"""A daemon thread inside native code when the interpreter exits: the process ends normally."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import threading, warnings
import numpy as np
from mercer import SVC
from mercer.kernels import FromFunction, Subsequence
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
inside = threading.Event()
X, y = rng.normal(size=(3000, 6)), rng.integers(0, 2, 3000)

def work():
{work}

threading.Thread(target=work, daemon=True).start()
inside.wait(30)
threading.Event().wait(0.1)
"""

PREDICT = """
    model = SVC(gamma=0.3).fit(X, y)
    while True:
        inside.set()
        model.predict(X)
"""

FIT = """
    inside.set()
    SVC(gamma=0.3, C=1e9, tol=1e-9).fit(X, y)
"""

# Small problems of all pairs of classes, solved by one native call.
PAIRS = """
    y = rng.integers(0, 40, 3000)
    while True:
        inside.set()
        SVC(gamma=0.3).fit(X, y)
"""

# The thread holds and releases the interpreter lock in turns, inside the user's function too.
PYTHON_KERNEL = """
    def f(A, B):
        inside.set()
        return np.exp(-0.3 * ((A[:, None] - B) ** 2).sum(axis=2))
    while True:
        SVC(kernel=FromFunction(f), C=1e7, tol=1e-6).fit(X[:300], y[:300])
"""

PURE_PYTHON_KERNEL = """
    def f(A, B):
        inside.set()
        for _ in range(10**7):
            pass
        return A @ B.T
    while True:
        FromFunction(f)(X[:300])
"""

CALLBACK = """
    def callback(progress):
        inside.set()
        for _ in range(10**5):
            pass
    SVC(gamma=0.3, C=1e9, tol=1e-9).set_callbacks(callback).fit(X, y)
"""

# One call that is still computing when the interpreter is gone.
LONG_TILE = """
    strings = ["".join(rng.choice(list("acgt"), 5000)) for _ in range(20)]
    inside.set()
    Subsequence(4)(strings)
"""


@pytest.mark.parametrize(
    "work",
    [PREDICT, FIT, PAIRS, PYTHON_KERNEL, PURE_PYTHON_KERNEL, CALLBACK, LONG_TILE],
    ids=[
        "predict",
        "fit",
        "pairs of classes",
        "NumPy kernel",
        "Python kernel",
        "callback",
        "one long call",
    ],
)
def test_a_daemon_thread_does_not_abort_the_process(work: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(work=work)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
