"""Handlers of signals that the user installed."""

import subprocess
import sys

PROGRAM = """
import signal
import numpy as np
from mercer import SVC

class TimeIsUp(Exception):
    pass

def ring(*_):
    raise TimeIsUp("the user's own words")

signal.signal(signal.SIGALRM, ring)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(5000, 6)), rng.integers(0, 2, 5000)
model = SVC(C=1e7, gamma=0.3, tol=1e-6)
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    model.fit(X, y)
except TimeIsUp as error:
    print(error, hasattr(model, "support_"))
"""


def test_what_a_handler_raises_reaches_the_user():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout == "the user's own words False\n"
