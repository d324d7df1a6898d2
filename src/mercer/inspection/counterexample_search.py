"""The search behind `falsify`: trials, promising places, the smallest counterexample, a bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from mercer.gram.running_error import ASSUMED
from mercer.kernels import Kernel
from mercer.objects.validation import count, take

from .definiteness_check import check
from .eigenvalue_descent import descend, scaled_extreme, swap
from .entry_errors import EntryErrors
from .matrix_source import KernelValues
from .samplers import Box, Sampler
from .verdict import Verdict
from .witness import prove

PROMISING = 3  # places of each size from which the eigenvalue is driven down
DESCENT_POINTS = 32  # objects that are moved at a time
_EPS = float(np.finfo(np.float64).eps)


class Search:
    """A search for objects on which a kernel is not positive semidefinite.

    `trials`: sets of objects tried. `smallest`: smallest eigenvalue seen, of matrices scaled to
    unit diagonal. `points`, `verdict`: the counterexample.
    """

    def __init__(self, kernel: Kernel, sampler: Sampler, rng: np.random.Generator) -> None:
        self.kernel, self.sampler, self.rng = kernel, sampler, rng
        self.trials = 0
        self.smallest = np.inf
        self.points: Any = None
        self.verdict: Verdict | None = None

    def run(self, n_points: int, n_trials: int, tell: Callable[[int], bool]) -> list[Any] | None:
        """Return the promising sets of one size, None when `tell` or a counterexample ends it."""
        seen: list[tuple[float, int, Any]] = []
        for _ in range(n_trials):
            if isinstance(self.sampler, Box) and self.trials % 2:
                X: Any = self.sampler.mesh(self.rng, n_points)
            else:
                X = self.sampler(self.rng, n_points)
            value = self.examine(X)
            seen.append((value, len(seen), X))
            self.trials += 1
            if tell(n_points) or self.verdict is not None:
                return None
        return [X for _, _, X in sorted(seen, key=lambda entry: entry[:2])[:PROMISING]]

    def descend(self, X: Any) -> None:
        """Drive the smallest eigenvalue down from a promising set."""
        if count(X) > DESCENT_POINTS:
            _, vector = scaled_extreme(self.kernel(X))
            X = take(X, np.sort(np.argsort(-np.abs(vector))[:DESCENT_POINTS]))
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f":
            box = self.sampler
            bounds = (box.low, box.high) if isinstance(box, Box) else None
            self.examine(descend(self.kernel, X, bounds))
        else:
            self.examine(swap(self.kernel, X, self.sampler, self.rng))

    def examine(self, X: Any) -> float:
        """Return the smallest scaled eigenvalue of a set; keep the set if it is a proof."""
        K = self.kernel(X)
        value, _ = scaled_extreme(K)
        self.smallest = min(self.smallest, value)
        if value < -ASSUMED * _EPS * len(K):
            chosen = reduce_counterexample(K, EntryErrors(KernelValues(self.kernel, X)).full())
            if chosen is not None:
                points = take(X, chosen)
                verdict = check(self.kernel, points)
                if verdict.witness is not None:
                    self.points, self.verdict = points, verdict
        return value


def reduce_counterexample(K: np.ndarray, errors: float | np.ndarray = 0.0) -> np.ndarray | None:
    """Return positions of few objects whose matrix is proved indefinite, None without a proof."""
    K, errors = (K + K.T) / 2, np.broadcast_to(errors, K.shape)

    def fails(chosen: Any) -> bool:
        block = np.ix_(chosen, chosen)
        vector = np.linalg.eigh(K[block])[1][:, 0]
        return prove(K[block], vector, errors[block]) is not None

    if not fails(np.arange(len(K))):
        return None
    _, vector = scaled_extreme(K)
    order = np.argsort(-np.abs(vector), kind="stable")
    size = 1
    while size < len(order) and not fails(order[:size]):
        size *= 2
    chosen = list(order[:size])
    for index in chosen[::-1]:
        fewer = [i for i in chosen if i != index]
        if fewer and fails(fewer):
            chosen = fewer
    return np.sort(np.array(chosen))


class Bar:
    """Progress of a known number of steps: a bar where rich is installed, lines otherwise."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.total = name, total
        self._progress: Any = None

    def __enter__(self) -> Self:
        try:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        except ImportError:
            return self
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}  {task.fields[note]}"),
            TimeElapsedColumn(),
        )
        self._progress.start()
        self._task = self._progress.add_task(self.name, total=self.total, note="")
        return self

    def report(self, done: int, note: str) -> None:
        """Show how many steps are done, with a note."""
        if self._progress is None:
            print(f"[{self.name}] {done}/{self.total}  {note}")  # noqa: T201 - asked for
        else:
            self._progress.update(self._task, completed=done, note=note)

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
