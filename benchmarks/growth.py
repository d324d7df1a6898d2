"""How fit time grows with the number of rows, on one generated problem."""

from __future__ import annotations

import gc
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from benchmarks.cases import COMMON, Case, Data
from benchmarks.engines import MERCER, Engine, extract, fit
from benchmarks.gaps import duality_gap
from benchmarks.generated import overlapping_classes

SIZES = (2000, 4000, 8000, 16000, 32000, 64000)
PARAMS = {**COMMON, "C": 10.0, "gamma": 0.2}

FEARED_EXPONENT = 2.5
"""Doubling the rows is assumed to cost at most 2**2.5 times as much when a run is foreseen."""


@dataclass(frozen=True)
class Point:
    """One fit of one engine; ``seconds`` is None when the time cap forbade it."""

    engine: str
    n: int
    seconds: float | None
    n_support: int | None = None
    relative_gap: float | None = None

    def faster_of(self, other: Point) -> Point:
        """The same fit measured twice: the shorter time, if any was measured."""
        return min(self, other, key=lambda p: math.inf if p.seconds is None else p.seconds)


def problem(n: int) -> tuple[Case, Data]:
    """The first n rows of one fixed sequence, so that each size contains the smaller ones."""
    X, y = overlapping_classes(max(SIZES))
    data = Data(X[:n], y[:n], X[:1], y[:1])
    return Case(f"growth-{n}", "svc", PARAMS, lambda: data), data


def grow(
    engines: list[Engine],
    sizes: tuple[int, ...] = SIZES,
    cap: float = 120.0,
    repeat: int = 2,
    mercer_extra: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Point]:
    """Fit every engine on every size that it is expected to finish within ``cap`` seconds."""
    points: list[Point] = []
    last: dict[str, float] = {engine.name: 0.0 for engine in engines}
    for n in sizes:
        case, data = problem(n)
        for engine in engines:
            if last[engine.name] * 2**FEARED_EXPONENT > cap:
                last[engine.name] = math.inf
                points.append(Point(engine.name, n, None))
                continue
            extra = (mercer_extra or {}) if engine == MERCER else {}
            seconds, model = _best_fit(case, data, engine, extra, repeat, cap)
            last[engine.name] = seconds
            plain = extract(model)
            gap = duality_gap("svc", PARAMS, plain, data.X, data.y) if n <= 16000 else None
            points.append(
                Point(engine.name, n, seconds, len(plain.support), gap.relative if gap else None)
            )
            progress(f"growth n={n} {engine.name}: {seconds:.3f} s")
    return points


def _best_fit(
    case: Case, data: Data, engine: Engine, extra: Mapping[str, Any], repeat: int, cap: float
) -> tuple[float, Any]:
    times: list[float] = []
    model: Any = None
    while not times or (len(times) < repeat and sum(times) + times[-1] < cap / 2):
        model = engine.estimator(case, extra)
        gc.collect()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = perf_counter()
            fit(model, case, data.X, data.y)
            times.append(perf_counter() - start)
    return min(times), model


def exponent(points: list[Point], engine: str) -> float | None:
    """Least-squares slope of log seconds against log n over the sizes that were run."""
    done = [(p.n, p.seconds) for p in points if p.engine == engine and p.seconds is not None]
    if len(done) < 2:
        return None
    xs, ys = [math.log(n) for n, _ in done], [math.log(s) for _, s in done]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / sum(
        (x - mx) ** 2 for x in xs
    )
