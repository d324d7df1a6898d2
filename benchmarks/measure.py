"""Wall-clock seconds: engines alternate, the best of several repeats counts.

The best run is the one that other processes disturbed least. Alternating the engines, and turning
the order round every time, spreads slow drifts of the machine over all of them.
"""

from __future__ import annotations

import gc
import statistics
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.cases import Case, Data
from benchmarks.engines import MERCER, NATIVE, Engine, convert, extract, fit
from benchmarks.gaps import Gap, duality_gap

LONG_ENOUGH = 0.5
"""Seconds of fitting per run below which short fits are repeated more often than asked for."""

MOST_REPEATS = 100


@dataclass(frozen=True)
class Budget:
    """How often and how long: at least ``repeat`` rounds, unless ``cap`` seconds are used up."""

    repeat: int = 3
    cap: float = 30.0


@dataclass
class Outcome:
    """What one engine made of one form of the input.

    ``cpu`` is the processor time of the fit over all threads. It shows how many cores an engine
    keeps busy, and on a machine with other work it is steadier than the wall clock.
    """

    case: str
    engine: str
    form: str
    fit: float
    cpu: float
    predict: float
    one_row: float
    repeats: int
    n_train: int
    n_support: int
    score: float
    gap: Gap
    kernel_values: int | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.case, self.engine, self.form

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Outcome:
        return cls(**{**stored, "gap": Gap(**stored["gap"])})

    def best_of(self, other: Outcome) -> Outcome:
        """The same run measured twice: the shorter times."""
        times = ("fit", "cpu", "predict", "one_row")
        shorter = {name: min(getattr(self, name), getattr(other, name)) for name in times}
        return replace(self, repeats=self.repeats + other.repeats, **shorter)


@dataclass
class _Run:
    """One engine on one form of the input while it is being timed."""

    engine: Engine
    form: str
    X: Any
    X_test: Any
    extra: Mapping[str, Any]
    fits: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    predictions: list[float] = field(default_factory=list)
    model: Any = None
    failure: str = ""

    def finished(self, budget: Budget) -> bool:
        if self.failure:
            return True
        spent = sum(self.fits)
        if self.fits and spent + sum(self.predictions) > budget.cap:
            return True
        enough = spent > LONG_ENOUGH or len(self.fits) >= MOST_REPEATS
        return len(self.fits) >= budget.repeat and enough

    def once(self, case: Case, data: Data) -> None:
        model = self.engine.estimator(case, self.extra)
        gc.collect()
        start, busy = perf_counter(), process_time()
        fit(model, case, self.X, data.y)
        self.fits.append(perf_counter() - start)
        self.cpu.append(process_time() - busy)
        self.model = model
        self.predictions.append(best(lambda: model.predict(self.X_test), 0.05, 5))


def best(action: Callable[[], object], seconds: float, most: int) -> float:
    """Shortest time of an action that is repeated until ``seconds`` are used up."""
    times: list[float] = []
    while not times or (sum(times) < seconds and len(times) < most):
        start = perf_counter()
        action()
        times.append(perf_counter() - start)
    return min(times)


def latency(model: Any, X_test: Any) -> float:
    """Median time of a prediction for one row: what a service feels, not the luckiest call."""
    row = X_test[:1]
    model.predict(row)
    times: list[float] = []
    while len(times) < 5 or (len(times) < 200 and sum(times) < 0.3):
        start = perf_counter()
        model.predict(row)
        times.append(perf_counter() - start)
    return statistics.median(times)


def compare(
    case: Case,
    data: Data,
    engines: list[Engine],
    budget: Budget,
    mercer_extra: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> tuple[list[Outcome], list[str]]:
    """Time every engine on every form of the input that is worth a try.

    mercer itself runs on the native form only: ratios compare it there with the same input and
    with the peer's best input. A run that raises ends with its message in the second list, and
    does not stop the others.
    """
    runs = [
        _Run(
            engine,
            form,
            convert(data.X, form),
            convert(data.X_test, form),
            (mercer_extra or {}) if engine == MERCER else {},
        )
        for engine in engines
        if engine.provides(case)
        for form in ([NATIVE] if engine == MERCER else engine.inputs(data))
    ]
    turn = list(runs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while waiting := [run for run in turn if not run.finished(budget)]:
            for run in waiting:
                try:
                    run.once(case, data)
                    progress(f"{run.engine.name} {run.form}: fit {run.fits[-1]:.4f} s")
                except Exception as error:
                    run.failure = f"{run.engine.name} {run.form}: {type(error).__name__}: {error}"
            turn.reverse()
    failures = [run.failure for run in runs if run.failure]
    return [_outcome(case, data, run) for run in runs if not run.failure], failures


def _outcome(case: Case, data: Data, run: _Run) -> Outcome:
    model = extract(run.model)
    return Outcome(
        case.name,
        run.engine.name,
        run.form,
        min(run.fits),
        min(run.cpu),
        min(run.predictions),
        latency(run.model, run.X_test),
        len(run.fits),
        data.X.shape[0],
        len(model.support),
        _score(case, run.model.predict(run.X_test), data.y_test),
        duality_gap(case.machine, case.params, model, data.X, data.y),
        _kernel_values(run.model),
    )


def _score(case: Case, predicted: np.ndarray, truth: np.ndarray) -> float:
    """Accuracy, R squared, or the share of rows inside for a one-class machine."""
    if case.machine == "oneclass":
        return float(np.mean(predicted > 0))
    if case.machine in ("svr", "nusvr"):
        return float(1 - np.mean((truth - predicted) ** 2) / np.var(truth))
    return float(np.mean(predicted == truth))


def _kernel_values(model: Any) -> int | None:
    """Kernel values that a fit of mercer evaluated; the peers do not tell."""
    certificate = getattr(model, "certificate_", None)
    count = getattr(certificate, "n_kernel_values", None)
    return None if count is None else int(count)
