"""Variables of one object and cost, taken together."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer.losses import (
    CombinedHinge,
    EpsilonInsensitive,
    Hinge,
    Loss,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from mercer.solvers import DualProblem
from mercer.solvers.repeated import Together, without_idle_kinks

Array = NDArray[np.float64]

PLACE = np.array([0, 0, 0, 1, 1, 2])
Y = np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0])
WEIGHT = np.array([1.0, 1e-6, 3.0, 7.0, 1e4, 0.1])

LOSSES: list[Loss] = [
    Hinge(),
    SquaredHinge(),
    CombinedHinge(0.3),
    EpsilonInsensitive(0.1),
    SquaredEpsilonInsensitive(0.1),
]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def posed(loss: Loss, y: Array = Y, c: Array = WEIGHT) -> DualProblem:
    return DualProblem(**{k: v for k, v in loss.pieces(y, c)._asdict().items() if v is not None})


@each_loss
def test_one_variable_costs_what_its_parts_cost(loss: Loss) -> None:
    together = Together(posed(loss), PLACE)
    assert together.first.tolist() == [0, 2, 3, 5]
    assert together.member.tolist() == [0, 0, 1, 2, 2, 3]
    total = together.total(WEIGHT)
    wanted = posed(loss, Y[together.first], total)
    for share in (0.3, 1.0, 1.7):
        beta = share * Y[together.first] * total
        beta = np.clip(beta, wanted.lower, wanted.upper)
        parts = together.apart(beta)
        assert np.all((parts >= posed(loss).lower) & (parts <= posed(loss).upper))
        np.testing.assert_allclose(together.total(parts), beta, rtol=1e-15)
        np.testing.assert_allclose(
            loss.conjugate(Y, parts, WEIGHT).sum(),
            loss.conjugate(Y[together.first], beta, total).sum(),
            rtol=1e-12,
        )
        small, other = together.problem.slopes(beta), wanted.slopes(beta)
        np.testing.assert_allclose(small, other, rtol=1e-12)


def test_ends_are_ends_for_all() -> None:
    problem = posed(Hinge(), c=np.array([0.1, 0.2, 0.3, 0.7, 0.6, 0.5]))
    together = Together(problem, PLACE)
    small = together.problem
    np.testing.assert_array_equal(
        together.apart(np.where(Y[together.first] > 0, small.upper, small.lower)),
        np.where(Y > 0, problem.upper, problem.lower),
    )
    np.testing.assert_array_equal(together.apart(np.zeros(4)), np.zeros(6))


def test_different_costs_stay_apart() -> None:
    tubes = EpsilonInsensitive(np.array([0.1, 0.2, 0.1, 0.1, 0.1, 0.1]))
    y = np.array([1.0, 1.0, 1.0, 2.0, 2.5, 1.0])
    together = Together(posed(tubes, y), PLACE)
    assert together.member.tolist() == [0, 1, 0, 2, 3, 4]
    alone = Together(posed(Hinge()), np.arange(6))
    np.testing.assert_array_equal(alone.apart(0.5 * Y * WEIGHT), 0.5 * Y * WEIGHT)


def test_kinks_without_a_jump_are_moved_to_a_bound() -> None:
    problem = without_idle_kinks(posed(EpsilonInsensitive(0.0)))
    np.testing.assert_array_equal(problem.kink, problem.lower)
    for loss in (EpsilonInsensitive(0.1), SquaredEpsilonInsensitive(0.0), Hinge()):
        np.testing.assert_array_equal(without_idle_kinks(posed(loss)).kink, np.zeros(6))
