"""Which peer counts, and what survives a file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.gaps import Gap
from benchmarks.growth import Point, exponent
from benchmarks.measure import Outcome
from benchmarks.report import best_input, equal_input, geometric_mean, ratios
from benchmarks.results import Results, peers_of


def outcome(engine, form, fit, gap):
    return Outcome(
        case="ring",
        engine=engine,
        form=form,
        fit=fit,
        cpu=fit,
        predict=fit / 10,
        one_row=1e-3,
        repeats=3,
        n_train=100,
        n_support=10,
        score=0.9,
        gap=Gap(1.0, 1.0 - gap, gap, gap, 0.0),
    )


RUNS = [
    outcome("mercer", "float64", 0.1, 1e-5),
    outcome("sklearn", "float64", 0.8, 1e-5),
    outcome("sklearnex", "float64", 1.0, 1e-5),
    outcome("sklearnex", "float32", 0.4, 5e-5),
]


def test_equal_input_is_the_fastest_peer_on_the_same_input():
    assert equal_input(RUNS, "ring") is RUNS[1]


def test_best_input_is_the_fastest_peer_that_solved_the_problem():
    assert best_input(RUNS, "ring") is RUNS[3]
    sloppy = outcome("sklearnex", "float32", 0.2, 1e-3)
    assert best_input([*RUNS[:3], sloppy], "ring") is RUNS[1]


def test_best_input_follows_the_peers_where_the_tolerance_is_loose_for_all():
    loose = [replace(run, gap=replace(run.gap, relative=2e-3)) for run in RUNS]
    assert best_input(loose, "ring") is loose[3]


def test_ratios_are_peer_over_mercer():
    line = next(line for line in ratios(RUNS, "fit").splitlines() if line.startswith("ring"))
    assert "8.00" in line
    assert "4.00" in line
    assert line.endswith("yes")


def test_geometric_mean():
    assert geometric_mean([2.0, 8.0, None]) == pytest.approx(4.0)


def test_exponent_of_a_power_law():
    points = [Point("mercer", n, 1e-6 * n**1.7) for n in (1000, 2000, 4000)]
    assert exponent(points, "mercer") == pytest.approx(1.7)


def test_results_survive_a_file_and_peers_keep_their_best(tmp_path):
    first = Results(RUNS, {"ring": 0.01}, {("ring", "sklearn"): 150.0}, [Point("sklearn", 9, 2.0)])
    first.write(tmp_path / "first.json", "here")
    assert Results.read(tmp_path / "first.json") == first
    again = Results([replace(RUNS[1], fit=0.7)], {}, {}, [Point("sklearn", 9, None)])
    again.write(tmp_path / "again.json", "here")
    merged = peers_of([tmp_path / "first.json", tmp_path / "again.json"], ["ring"])
    assert {run.engine for run in merged.outcomes} == {"sklearn", "sklearnex"}
    assert merged.outcomes[0].fit == 0.7
    assert merged.points == [Point("sklearn", 9, 2.0)]
