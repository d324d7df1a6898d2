"""Ctrl-C and time limits inside kernels on sequences, single pairs included."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, threading, time, warnings
import numpy as np
from mercer import SVC
from mercer.kernels import *
from mercer.gram import Gram
from mercer import _native
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)

def text(n, letters="acgt"):
    return "".join(rng.choice(list(letters), n))

def run(work):
    # The signal comes when the thread of the main program is inside the native call.
    sent = []
    def press():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.4, press)
    timer.daemon = True
    timer.start()
    try:
        work()
    except KeyboardInterrupt:
        print("interrupted", time.perf_counter() - sent[0])
    else:
        print("finished", 0)
    finally:
        timer.cancel()
"""

# Each takes at least many seconds when nobody listens.
LONG = {
    "subsequences": "pair = [text(100_000), text(100_000)]\nwork = lambda: Subsequence(4)(pair)",
    "long subsequences": "pair = [text(20_000), text(20_000)]\n"
    "work = lambda: normalize(Subsequence(20))(pair)",
    "unlike letters": "pair = [text(300_000, 'ab'), text(300_000, 'cd')]\n"
    "work = lambda: Subsequence(1)(pair)",
    "many strings": "all = [text(20_000) for _ in range(20)]\nwork = lambda: Subsequence(3)(all)",
    "weighted degree": "pair = [text(100_000), text(100_000)]\n"
    "work = lambda: WeightedDegree(8, shift=50_000)(pair)",
    "substrings of words": "pair = [[str(i) for i in rng.permutation(150_000)] for _ in '12']\n"
    "work = lambda: Substring(0.5)(pair)",
    "pair model": "pair = [text(80_000, 'ab'), text(80_000, 'ab')]\n"
    "work = lambda: normalize(PairHMM(alphabet='ab', gap=0.1))(pair)",
    "alignment": "pair = [rng.normal(size=(100_000, 2)), rng.normal(size=(100_000, 2))]\n"
    "work = lambda: normalize(GlobalAlignment(gamma=1.0))(pair)",
    "diagonal": "all = [text(100_000) for _ in range(4)]\n"
    "gram = Gram(WeightedDegree(8, shift=100_000), all, 'float64')\nwork = gram.diag",
}


def reaction(code: str) -> tuple[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + code + "\nrun(work)\n"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    how, seconds = done.stdout.split()
    return how, float(seconds)


@pytest.mark.parametrize("name", LONG)
def test_a_single_pair_of_sequences_can_be_interrupted(name: str) -> None:
    how, seconds = reaction(LONG[name])
    assert how == "interrupted"
    assert seconds < 2  # half a second on a machine that does nothing else


# A kernel value takes half a second; making the Gram matrix none.
LIMITED = """
from mercer.losses import Hinge
from mercer.run import Run
from mercer.solvers import DualProblem, Settings, solve
gram = Gram(WeightedDegree(8, shift=20_000), [text(20_000) for _ in range(40)], "float64")
y = np.where(np.arange(40) % 2, 1.0, -1.0)
problem = DualProblem(*Hinge().pieces(y, np.ones(40)), group=np.zeros(40, dtype=np.int64))
begin = time.perf_counter()
print(solve(problem, gram, Settings(), run=Run(time_limit=0.3)).status, time.perf_counter() - begin)
"""


def test_a_time_limit_ends_the_computation_of_kernel_values() -> None:
    status, seconds = reaction(LIMITED + "raise SystemExit")
    assert status == "time_limit"
    assert seconds < 5  # about 20 s for the diagonal alone


LISTENING = """
stop, wakes = threading.Event(), []
def other():
    while not stop.is_set():
        time.sleep(0.001)
        wakes.append(1)
gram = Gram(WeightedDegree(8, shift=20_000), [text(20_000) for _ in range(2)], "float64")
thread = threading.Thread(target=other)
thread.start()
gram.diag()
stop.set()
thread.join()
print("shares", len(wakes))
raise SystemExit
"""


def test_a_diagonal_lets_other_threads_run() -> None:
    # The other thread wakes up every millisecond; with the lock held it would not wake up at all.
    how, wakes = reaction(LISTENING)
    assert how == "shares"
    assert wakes > 10
