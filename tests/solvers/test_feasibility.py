"""Dual points whose sums are exact, within their bounds, near where they started."""

from fractions import Fraction

import numpy as np
import pytest

from mercer.solvers.feasibility import MoveCosts, at_least, at_most, repaired, within_bounds

ONE = np.zeros(1, dtype=np.intp)


def total(values):
    return sum((Fraction(float(v)) for v in values), Fraction(0))


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12])
def test_every_segment_sums_to_exactly_zero(scale):
    random = np.random.default_rng(0)
    sizes = random.integers(2, 40, size=200)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    upper = scale * random.uniform(0.1, 3.0, sizes.sum())
    sign = np.where(np.arange(len(upper)) % 2, 1.0, -1.0)
    lower, upper = np.where(sign > 0, 0.0, -upper), np.where(sign > 0, upper, 0.0)
    beta = np.clip(sign * scale * random.uniform(-0.5, 4.0, len(sign)), lower, upper)
    for start, size in zip(starts, sizes, strict=True):  # sums of 1e-9, as a solver leaves them
        part = slice(start, start + size)
        positive, negative = beta[part].clip(0).sum(), -beta[part].clip(None, 0).sum()
        if min(positive, negative) > 0:
            smaller = min(positive, negative) * (1 + 1e-9)
            beta[part] *= np.where(beta[part] > 0, smaller / positive, smaller / negative)
        else:
            beta[part] = 0.0
    beta = np.clip(beta, lower, upper)
    point = repaired(beta, lower, upper, starts)
    assert np.all((lower <= point) & (point <= upper))
    sums = np.add.reduceat(np.abs(beta), starts)
    moved = np.add.reduceat(np.abs(point - beta), starts)
    assert np.all(moved <= 2e-9 * sums)
    for start, size in zip(starts, sizes, strict=True):
        assert total(point[start : start + size]) == 0


def test_without_a_free_coefficient_the_cheapest_one_moves_inward_from_its_bound():
    lower, upper = np.array([0.0, 0.0, -1.0, -1.0]), np.array([1.0, 1.0, 0.0, 0.0])
    beta = np.array([1.0, 1.0, -1.0, -1.0 + 2**-30])
    costs = MoveCosts(np.array([np.inf, np.inf, 3.0, 2.0]), np.array([5.0, 4.0, np.inf, np.inf]))
    bounded = np.array([1.0, 1.0, -1.0, -1.0])
    assert np.array_equal(repaired(bounded, lower, upper, ONE, costs), bounded)
    lower[3] = beta[3]
    point = repaired(beta, lower, upper, ONE, costs)
    assert np.array_equal(point, [1.0, 1.0 - 2**-30, -1.0, beta[3]])


def test_coefficients_that_are_no_rounding_of_feasible_ones_have_no_point():
    lower, upper = np.zeros(2), np.ones(2)
    assert within_bounds(np.array([0.5, 1.0 + 1e-12]), lower, upper).max() == 1.0
    assert within_bounds(np.array([0.5, 1.1]), lower, upper) is None


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_nu_sums_are_reached_from_the_right_side(balanced, seed):
    random = np.random.default_rng(seed)
    sign = np.where(np.arange(30) % 2, 1.0, -1.0) if balanced else np.ones(30)
    bound = random.uniform(0.1, 1.0, 30)
    alpha = bound * random.uniform(0.0, 0.9, 30)
    for side in (sign > 0, sign < 0):
        alpha[side] *= 2.0 / max(alpha[side].sum(), 1e-300)
    alpha = np.minimum(alpha, bound)
    wanted = float(alpha[sign > 0].sum()) * (2 if balanced else 1)
    for point in (
        at_least(sign * alpha, sign * bound, wanted, balanced=balanced),
        at_most(sign * alpha, bound, wanted, balanced=balanced),
    ):
        assert np.all(sign * point >= 0)
        assert np.all(np.abs(point) <= bound)
        assert np.abs(np.abs(point) - alpha).sum() <= 0.5
        if balanced:
            assert total(point) == 0
    assert total(
        np.abs(at_least(sign * alpha, sign * bound, wanted, balanced=balanced))
    ) >= Fraction(wanted)
    assert total(np.abs(at_most(sign * alpha, bound, wanted, balanced=balanced))) <= Fraction(
        wanted
    )


def test_bounds_that_leave_no_room_are_all_reached():
    bound = np.array([0.5, 0.25, -0.75])
    point = at_least(0.99 * bound, bound, 1.6, balanced=True)
    assert np.array_equal(point, bound)
