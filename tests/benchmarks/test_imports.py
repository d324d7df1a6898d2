"""Imports are timed in processes of their own."""

from __future__ import annotations

from benchmarks.imports import PEER, seconds, text


def test_what_a_statement_takes_is_measured():
    assert 0.0 <= seconds("pass") < seconds("import time; time.sleep(0.1)")


def test_the_peer_is_the_zero_of_the_differences():
    lines = text({"import mercer": 0.5, PEER: 0.75}).splitlines()
    assert lines[1].split() == ["import", "mercer", "0.500", "-0.250"]
    assert lines[2].split() == ["import", "sklearn.svm", "0.750", "+0.000"]
