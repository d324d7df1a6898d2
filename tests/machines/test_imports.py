"""What importing the machines loads: mercer itself, and nothing that sklearn.svm does not load."""

import subprocess
import sys

# `numpy.typing` and `fractions`, which it imports, are small. Old versions of scikit-learn
# do not load them.
PROGRAM = """
import sys
import sklearn.svm
before = set(sys.modules)
from mercer import SVC
packages = {name.split(".")[0] for name in set(sys.modules) - before}
heavy = {name for name in set(sys.modules) - before if name.startswith("scipy.")}
print(sorted(packages - {"mercer", "numpy", "fractions"} | heavy))
"""


def test_the_machines_load_nothing_slow():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
