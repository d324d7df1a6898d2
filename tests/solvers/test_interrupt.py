"""Ctrl-C: heard within half a second, and the best model so far is kept."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading, time, warnings
import numpy as np
from mercer import SVC, SVR, NuSVR, OneClassSVM
from mercer.kernels import RBF, FromFunction
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)

def noise(n):
    return rng.normal(size=(n, 6)), rng.integers(0, 2, n)

def report(model, X, y, after=0.4):
    sent = []
    def press():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(after, press)
    timer.start()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        reaction = time.perf_counter() - sent[0]
    else:
        timer.cancel()
        print("finished - -")
        return
    if not hasattr(model, "certificate_"):
        print("lost - -")
        return
    model.predict(X[:5])
    proof = model.certificate_
    print(proof.status, reaction, float(proof.n_iter > 0 and np.isfinite(proof.gap)))

"""

NATIVE = """
X, y = noise(6000)
report(SVC(kernel=RBF(0.3), C=1e7, tol=1e-6), X, y)
report(SVC(kernel=RBF(0.05), C=1e9, tol=1e-9), X[:900], y[:900])
target = rng.normal(size=5000)
report(SVR(kernel=RBF(0.3), C=1e7, tol=1e-6), X[:5000], target)
report(NuSVR(kernel=RBF(0.3), C=1e6, nu=0.3, tol=1e-6), X[:5000], target)
"""

# Problems run side by side, largest first; the one that takes long may be that of any thread. Of
# the three classes the two that lie on each other make the hard pair.
SIDE_BY_SIDE = """
for sizes in ((1000, 950, 900), (900, 1000, 950), (950, 900, 1000), (1000, 900, 950)):
    parts = [rng.normal(size=(n, 6)) for n in sizes]
    parts[1] += 50
    X, y = np.vstack(parts), np.repeat([0, 1, 2], sizes)
    report(SVC(kernel=RBF(0.05), C=1e9, tol=1e-9, n_jobs=2, time_limit=3), X, y)
"""

# The signal arrives while the user's function runs.
PYTHON = """
X, y = noise(3000)
def f(A, B):
    return np.exp(-0.3 * ((A[:, None] - B) ** 2).sum(axis=2))
report(SVC(kernel=FromFunction(f), C=1e7, tol=1e-6), X, y)
"""


def run(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("code", "fits"),
    [(NATIVE, 4), (SIDE_BY_SIDE, 4), (PYTHON, 1)],
    ids=["native", "side by side", "Python"],
)
def test_an_interrupt_keeps_the_model(code: str, fits: int) -> None:
    lines = run(code)
    assert len(lines) == fits
    for line in lines:
        status, reaction, usable = line.split()
        assert status == "interrupted"
        assert float(usable) == 1
        assert float(reaction) < 0.5


LATER = """
X, y = noise(6000)
old = SVC(kernel=RBF(0.3)).fit(X, y)
coefficients = old.dual_coef_.copy()
model = SVC(kernel=RBF(0.3), C=1e7, tol=1e-6, warm_start=True)
report(model, X, y)
first = model.certificate_.dual
report(model, X, y)  # goes on where it was
print(model.certificate_.dual > first, np.array_equal(old.dual_coef_, coefficients))
signal.signal(signal.SIGINT, signal.default_int_handler)
print(SVC(kernel=RBF(0.3)).fit(X, y).certificate_.status)
"""


def test_life_goes_on_after_an_interrupt() -> None:
    first, second, went_on, status = run(LATER)
    assert first.startswith("interrupted")
    assert second.startswith("interrupted")
    assert went_on == "True True"
    assert status == "optimal"


HANDLER = """
import signal
X, y = noise(6000)
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))  # a handler that does not raise
model = SVC(kernel=RBF(0.3), C=1e7, tol=1e-6, time_limit=1.0)
def press():
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.3, press).start()
model.fit(X, y)
print(len(seen), model.certificate_.status)
"""


def test_a_signal_handler_of_the_user_decides() -> None:
    assert run(HANDLER) == ["1 time_limit"]
