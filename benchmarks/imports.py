"""Seconds of an import, in fresh processes that alternate.

python -m benchmarks.imports
"""

from __future__ import annotations

import subprocess
import sys

PEER = "import sklearn.svm"
STATEMENTS = ("import mercer", "from mercer import SVC", "import mercer.kernels", PEER)
ROUNDS = 5


def measure(statements: tuple[str, ...] = STATEMENTS, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the shortest time of each statement over some rounds."""
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(rounds):
        for statement in statements:
            best[statement] = min(best[statement], seconds(statement))
    return best


def seconds(statement: str) -> float:
    """Return what one statement takes in a process of its own."""
    timed = (
        f"import time; begin = time.perf_counter()\n{statement}\nprint(time.perf_counter() - begin)"
    )
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
    return float(done.stdout)


def text(best: dict[str, float]) -> str:
    """Return a small table, with the difference from the peer."""
    width = max(map(len, best))
    lines = ["Imports: seconds in a fresh process, and more than scikit-learn's"]
    for statement, time in best.items():
        lines.append(f"{statement:<{width}}  {time:6.3f}  {time - best[PEER]:+7.3f}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(text(measure()))
