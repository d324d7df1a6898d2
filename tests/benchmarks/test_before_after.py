"""The interval of a ratio, by which a change counts as slower."""

import sys

import numpy as np
import pytest

from benchmarks import before_after


def test_the_interval_of_equal_ratios_is_a_point() -> None:
    mean, low, high = before_after.interval([1.0, 2.0, 4.0], [1.1, 2.2, 4.4])
    np.testing.assert_allclose([mean, low, high], 1.1)


def test_the_interval_covers_the_ratio_in_19_of_20_experiments() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        before, after = np.exp(0.1 * rng.normal(size=(2, 21)))
        _, low, high = before_after.interval(list(before), list(1.2 * after))
        covered += low <= 1.2 <= high
    assert 920 <= covered <= 975


def test_a_process_measures_the_named_cases() -> None:
    found = before_after._run(sys.executable, ["process"])
    assert list(found) == ["process"]
    assert 0.0 < found["process"] < 5.0


def test_a_failure_of_a_process_is_shown() -> None:
    with pytest.raises(RuntimeError, match="unknown"):
        before_after._run(sys.executable, ["no such case"])
