"""All numbers of a run, in memory and in a JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.engines import MERCER
from benchmarks.growth import Point
from benchmarks.measure import Outcome


@dataclass
class Results:
    """What a run found.

    Attributes
    ----------
    outcomes : one per case, engine and form of the input
    passes : seconds of one pass over the kernel values, by case
    peaks : peak memory in MB by case and engine
    points : fit time against the number of rows
    """

    outcomes: list[Outcome] = field(default_factory=list)
    passes: dict[str, float | None] = field(default_factory=dict)
    peaks: dict[tuple[str, str], float] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)

    def write(self, path: Path, machine: str) -> None:
        content = {
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine,
            "outcomes": [asdict(outcome) for outcome in self.outcomes],
            "passes": self.passes,
            "peaks": [[case, engine, peak] for (case, engine), peak in self.peaks.items()],
            "points": [asdict(point) for point in self.points],
        }
        path.write_text(json.dumps(content, indent=1))

    @classmethod
    def read(cls, path: Path) -> Results:
        content = json.loads(path.read_text())
        return cls(
            [Outcome.from_dict(entry) for entry in content["outcomes"]],
            content["passes"],
            {(case, engine): peak for case, engine, peak in content["peaks"]},
            [Point(**entry) for entry in content["points"]],
        )


def peers_of(paths: list[Path], cases: list[str]) -> Results:
    """The peers' numbers of earlier runs; where there are several, the smaller ones."""
    outcomes: dict[tuple[str, str, str], Outcome] = {}
    peaks: dict[tuple[str, str], float] = {}
    points: dict[tuple[str, int], Point] = {}
    for stored in map(Results.read, paths):
        for outcome in stored.outcomes:
            if outcome.engine != MERCER.name and outcome.case in cases:
                known = outcomes.get(outcome.key)
                outcomes[outcome.key] = known.best_of(outcome) if known else outcome
        for (case, engine), peak in stored.peaks.items():
            if engine != MERCER.name and case in cases:
                peaks[case, engine] = min(peak, peaks.get((case, engine), peak))
        for point in stored.points:
            if point.engine != MERCER.name:
                key = (point.engine, point.n)
                points[key] = point.faster_of(points.get(key, point))
    return Results(list(outcomes.values()), {}, peaks, list(points.values()))
