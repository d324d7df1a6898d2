"""The table of latencies, and all situations on a small model."""

from benchmarks.latency import SITUATIONS, Latency, text
from mercer import SVC


def test_ratios_below_the_goal_are_marked():
    table = text([Latency("letter", "one by one", 1e-4, 5e-4), Latency("a8a", "after fork", 2, 3)])
    assert "letter       one by one         100       500     5.0\n" in table
    assert table.endswith("1.5  below")


def test_every_situation_is_timed():
    model = SVC().fit([[0.0], [1.0]], [0, 1])
    assert all(timed(model, [[[0.2]]] * 3) > 0.0 for timed in SITUATIONS.values())
