"""Latency of predictions of one row beside scikit-learn: alone, from many threads, after a fork.

python -m benchmarks.latency [--quick]
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, Thread
from time import perf_counter
from typing import Any

from benchmarks.cases import Case, Sources, all_cases
from benchmarks.engines import ENGINES, Engine, fit

CASES = ("letter", "mnist10k", "pixels", "a8a", "sparse")  # two of them generated stand-ins
GOAL = 3.0  # times the speed of the peer
THREADS = 8
ROUNDS = 5


@dataclass(frozen=True)
class Latency:
    """Seconds of one prediction in one situation: the shortest mean over some rounds."""

    case: str
    situation: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


def one_by_one(model: Any, rows: list[Any]) -> float:
    """Return the mean time of a prediction, one after the other."""
    begin = perf_counter()
    for row in rows:
        model.predict(row)
    return (perf_counter() - begin) / len(rows)


def from_threads(model: Any, rows: list[Any]) -> float:
    """Return the time for each prediction while many threads ask, like the workers of a server."""
    begin, end = Barrier(THREADS + 1), Barrier(THREADS + 1)

    def ask(mine: list[Any]) -> None:
        begin.wait()
        for row in mine:
            model.predict(row)
        end.wait()

    threads = [Thread(target=ask, args=(rows[k::THREADS],)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    begin.wait()
    started = perf_counter()
    end.wait()
    seconds = perf_counter() - started
    for thread in threads:
        thread.join()
    return seconds / len(rows)


def from_executor(model: Any, rows: list[Any]) -> float:
    """Return the time for each prediction while an executor of many threads asks."""
    with ThreadPoolExecutor(THREADS) as executor:
        list(executor.map(model.predict, rows[:THREADS]))  # starts the threads
        begin = perf_counter()
        list(executor.map(model.predict, rows))
        return (perf_counter() - begin) / len(rows)


def after_fork(model: Any, rows: list[Any]) -> float:
    """Return the mean time in a forked process, which has the model but not its threads."""
    receiver, sender = multiprocessing.get_context("fork").Pipe(duplex=False)

    def answer() -> None:
        model.predict(rows[0])
        sender.send(one_by_one(model, rows))

    child = multiprocessing.get_context("fork").Process(target=answer)
    child.start()
    seconds: float = receiver.recv()
    child.join()
    return seconds


SITUATIONS: dict[str, Callable[[Any, list[Any]], float]] = {
    "one by one": one_by_one,
    f"{THREADS} threads": from_threads,
    "executor": from_executor,
    "after fork": after_fork,
}


def measure(case: Case, rounds: int = ROUNDS, n_rows: int = 200, rows: int = 0) -> list[Latency]:
    """Return the latencies of one case.

    `n_rows`: predictions of a round. `rows`: training rows; 0 stands for all.
    """
    data = case.load()
    X, y = (data.X[:rows], data.y[:rows]) if rows else (data.X, data.y)
    engines: list[Engine] = [ENGINES["mercer"], ENGINES["sklearn"]]
    models = [fit(engine.estimator(case), case, X, y) for engine in engines]
    asked = [data.X_test[i : i + 1] for i in range(min(n_rows, data.X_test.shape[0]))]
    found = []
    for situation, timed in SITUATIONS.items():
        best = [float("inf")] * 2
        for _ in range(rounds):
            for k, model in enumerate(models):
                best[k] = min(best[k], timed(model, asked))
        found.append(Latency(case.name, situation, *best))
    return found


def compare(quick: bool = False, sources: Sources | None = None) -> list[Latency]:
    """Return the latencies of all cases."""
    sources = sources or Sources.from_environment()
    cases = [case for case in all_cases(sources) if case.name in CASES]
    budget = {"rounds": 2, "n_rows": 50, "rows": 2000} if quick else {}
    return [found for case in cases for found in measure(case, **budget)]


def text(found: list[Latency]) -> str:
    """Return a table, with the ratios that miss the goal marked."""
    lines = [
        f"Latency of one prediction, microseconds (goal: {GOAL:g} times scikit-learn's speed)",
        f"{'case':<12} {'situation':<12} {'mercer':>9} {'sklearn':>9} {'ratio':>7}",
    ]
    for one in found:
        mark = "" if one.ratio >= GOAL else "  below"
        lines.append(
            f"{one.case:<12} {one.situation:<12} {1e6 * one.ours:9.0f} {1e6 * one.theirs:9.0f} "
            f"{one.ratio:7.1f}{mark}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(text(compare("--quick" in sys.argv)))
