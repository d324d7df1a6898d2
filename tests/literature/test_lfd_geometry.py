"""Learning From Data, chapter 8: hyperplanes, margins and the primal problem (LFD-01 to LFD-12)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mercer import SVC, NotSeparableError
from mercer.data import lfd_problem_8_2, lfd_toy, xor
from mercer.geometry.hyperplanes import (
    canonicalize,
    distance_to_hyperplane,
    functional_margin,
    geometric_margin,
    margin,
    separates,
    side_margins,
    signed_distance,
)
from mercer.machines.support_vector.hard_margin import training_set_margin
from mercer.solvers import hard_margin_primal_matrices
from tests.literature.problems import quadratic_program, separated, signed

HARD: dict[str, Any] = {"kernel": "linear", "C": np.inf, "tol": 1e-9}


def exercise_8_2() -> tuple[Any, Any, Any, float]:
    """X, y and a separating hyperplane w, b that is not the best one."""
    X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0]])
    return X, np.array([-1.0, -1.0, 1.0]), np.array([1.2, -3.2]), -0.5


@pytest.mark.spec("LFD-01")
def test_the_hyperplane_of_exercise_8_2_separates() -> None:
    X, y, w, b = exercise_8_2()
    assert functional_margin(w, b, X, y) == pytest.approx([0.5, 4.5, 1.9], abs=1e-12)
    assert separates(w, b, X, y)
    assert separates(w / 3.0, b / 3.0, X, y)  # the same hyperplane
    assert not separates(-w, -b, X, y)
    assert not separates(w, 0.0, X, y)  # a point on the plane is on neither side


@pytest.mark.spec("LFD-02")
def test_canonical_form_of_exercise_8_2() -> None:
    X, y, w, b = exercise_8_2()
    plane = canonicalize(w, b, X, y)
    assert plane.rho == pytest.approx(0.5, abs=1e-12)
    assert plane.w == pytest.approx([2.4, -6.4], abs=1e-12)
    assert plane.b == pytest.approx(-1.0, abs=1e-12)
    assert functional_margin(plane.w, plane.b, X, y).min() == pytest.approx(1.0, abs=1e-12)
    assert margin(w, b, X, y) == pytest.approx(0.146301, abs=5e-7)
    with pytest.raises(ValueError, match="separating"):
        canonicalize(-w, -b, X, y)


@pytest.mark.spec("LFD-03")
def test_distances_of_the_toy_points() -> None:
    X, y = lfd_toy()
    root = math.sqrt(2)
    for scale in (1.0, -7.0, 1e-6):
        w, b = scale * np.array([1.0, -1.0]), -scale
        assert distance_to_hyperplane(X, w, b) == pytest.approx(
            [1 / root, 1 / root, 1 / root, root], abs=1e-12
        )
    w, b = np.array([1.0, -1.0]), -1.0
    assert signed_distance(X, w, b) * y == pytest.approx(distance_to_hyperplane(X, w, b), abs=1e-12)
    foot = X - signed_distance(X, w, b)[:, None] * w / root  # w is normal to the plane
    assert foot @ w + b == pytest.approx(np.zeros(4), abs=1e-12)


@pytest.mark.spec("LFD-04")
def test_the_margin_is_the_noise_that_is_tolerated() -> None:
    X, y = lfd_toy()
    w, b = np.array([1.0, -1.0]), -1.0
    r = margin(w, b, X, y)
    assert r == pytest.approx(1 / math.sqrt(2), abs=1e-12)
    assert training_set_margin(X, y) == pytest.approx(r, abs=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(200):
        noise = rng.normal(size=X.shape)
        noise *= 0.999 * r / np.linalg.norm(noise, axis=1, keepdims=True)
        assert separates(w, b, X + noise, y)
    for boxed in range(3):
        moved = X.copy()
        moved[boxed] -= 1.001 * r * y[boxed] * w / np.linalg.norm(w)
        assert not separates(w, b, moved, y)


@pytest.mark.spec("LFD-05")
def test_margins_of_the_two_sides() -> None:
    X, y = lfd_toy()
    best = SVC(**HARD).fit(X, y)
    sides = side_margins(best.coef_[0], best.intercept_[0], X, y)
    assert sides == pytest.approx((0.7071068, 0.7071068), abs=1e-7)
    X, y, w, b = exercise_8_2()
    assert side_margins(w, b, X, y) == pytest.approx((0.5559, 0.1463), abs=5e-5)
    assert side_margins(-w, -b, X, -y) == pytest.approx((0.1463, 0.5559), abs=5e-5)
    X, y = separated()
    best = SVC(**HARD).fit(X, y)
    plus, minus = side_margins(best.coef_[0], best.intercept_[0], X, y)
    assert plus == pytest.approx(minus, rel=1e-9)
    assert plus == pytest.approx(best.margin_, rel=1e-9)


@pytest.mark.spec("LFD-06")
@pytest.mark.parametrize(
    ("plus", "minus"),
    [((3.0, 4.0), (0.0, 0.0)), ((1.0, -2.0), (0.5, 3.0)), ((9.0, 9.0), (8.0, 9.0))],
)
def test_one_point_of_each_class(plus: Any, minus: Any) -> None:
    p, m = np.array(plus), np.array(minus)
    model = SVC(**HARD).fit([p, m], [1, -1])
    square = (p - m) @ (p - m)
    assert model.coef_[0] == pytest.approx(2 * (p - m) / square, abs=1e-10)
    assert model.intercept_[0] == pytest.approx((m @ m - p @ p) / square, abs=1e-10)
    assert model.margin_ == pytest.approx(math.sqrt(square) / 2, rel=1e-10)
    assert model.alpha_ == pytest.approx([2 / square, 2 / square], abs=1e-10)
    if plus == (3.0, 4.0):
        assert model.coef_[0] == pytest.approx([0.24, 0.32], abs=1e-10)
        assert model.intercept_[0] == pytest.approx(-1.0, abs=1e-10)
        assert model.margin_ == pytest.approx(2.5, abs=1e-10)


@pytest.mark.spec("LFD-07")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hard_margin_is_the_quadratic_program(seed: int) -> None:
    X, y = separated(n=8, gap=0.4, seed=seed)
    model = SVC(**HARD).fit(X, y)
    u = quadratic_program(*hard_margin_primal_matrices(X, y))
    assert [model.intercept_[0], *model.coef_[0]] == pytest.approx(u, abs=1e-6)
    assert (y * model.decision_function(X)).min() == pytest.approx(1.0, abs=1e-8)
    assert model.certificate_.primal == pytest.approx(0.5 * u[1:] @ u[1:], rel=1e-7)


@pytest.mark.spec("LFD-07")
def test_what_cannot_be_separated_is_reported_with_the_evidence() -> None:
    X, y = xor()
    with pytest.raises(NotSeparableError) as raised:
        SVC(**HARD).fit(X, y)
    first, second = raised.value.first, raised.value.second
    assert {tuple(sorted(first.rows)), tuple(sorted(second.rows))} == {(0, 3), (1, 2)}
    for side in (first, second):
        assert side.weights.sum() == pytest.approx(1.0, abs=1e-12)
    meeting = first.weights @ X[first.rows] - second.weights @ X[second.rows]
    assert np.linalg.norm(meeting) == pytest.approx(raised.value.distance, abs=1e-7)
    assert raised.value.distance < 1e-6


@pytest.mark.spec("LFD-09")
def test_toy_set() -> None:
    X, y = lfd_toy()
    assert X.tolist() == [[0, 0], [2, 2], [2, 0], [3, 0]]
    assert y.tolist() == [-1, -1, 1, 1]
    model = SVC(**HARD).fit(X, y)
    assert model.coef_[0] == pytest.approx([1.0, -1.0], abs=1e-10)
    assert model.intercept_[0] == pytest.approx(-1.0, abs=1e-10)
    assert model.margin_ == pytest.approx(1 / math.sqrt(2), abs=1e-10)
    assert model.alpha_ == pytest.approx([0.5, 0.5, 1.0, 0.0], abs=1e-10)
    assert model.alpha_.sum() == pytest.approx(2.0, abs=1e-10)
    assert model.certificate_.primal == pytest.approx(1.0, abs=1e-9)
    assert model.margin_points().tolist() == [0, 1, 2]
    assert model.predict([[2.5, 1.0], [2.5, 2.0]]).tolist() == [1, -1]
    without = SVC(**HARD).fit(X[:3], y[:3])
    assert without.coef_[0] == pytest.approx(model.coef_[0], abs=1e-10)
    assert without.intercept_[0] == pytest.approx(-1.0, abs=1e-10)


@pytest.mark.spec("LFD-10")
def test_a_point_on_the_margin_that_is_no_support_vector() -> None:
    X, y = lfd_problem_8_2()
    model = SVC(**HARD).fit(X, y)
    assert model.coef_[0] == pytest.approx([-1.0, 0.0], abs=1e-10)
    assert model.intercept_[0] == pytest.approx(-1.0, abs=1e-10)
    assert model.margin_ == pytest.approx(1.0, abs=1e-10)
    assert model.alpha_ == pytest.approx([0.5, 0.0, 0.5], abs=1e-10)
    assert y[1] * model.decision_function(X)[1] == pytest.approx(1.0, abs=1e-10)
    assert 1 in model.margin_points()
    assert 1 not in model.support_


@pytest.mark.spec("LFD-11", code="src/mercer/solvers/matrices.py")
def test_matrices_of_the_primal() -> None:
    program = hard_margin_primal_matrices(*lfd_toy())
    assert program.Q.tolist() == np.diag([0.0, 1.0, 1.0]).tolist()
    assert program.p.tolist() == [0, 0, 0]
    assert program.A.tolist() == [[-1, 0, 0], [-1, -2, -2], [1, 2, 0], [1, 3, 0]]
    assert program.c.tolist() == [1, 1, 1, 1]
    u = quadratic_program(*program)
    assert u == pytest.approx([-1, 1, -1], abs=1e-7)


@pytest.mark.spec("LFD-12")
@pytest.mark.parametrize("seed", range(5))
def test_refitting_on_the_support_vectors_changes_nothing(seed: int) -> None:
    X, y = separated(n=20, gap=0.5, seed=seed)
    model = SVC(**HARD).fit(X, y)
    assert len(model.support_) < len(y)
    alone = model.refit_on_support()
    assert np.linalg.norm(alone.coef_[0] - model.coef_[0]) < 1e-6
    assert alone.intercept_[0] == pytest.approx(model.intercept_[0], abs=1e-6)
    for i in np.setdiff1d(np.arange(len(y)), model.support_)[:5]:
        rest = np.delete(np.arange(len(y)), i)
        without = SVC(**HARD).fit(X[rest], y[rest])
        assert np.linalg.norm(without.coef_[0] - model.coef_[0]) < 1e-6
    for i in model.support_:  # every support vector matters
        rest = np.delete(np.arange(len(y)), i)
        assert SVC(**HARD).fit(X[rest], y[rest]).margin_ > model.margin_ * (1 + 1e-9)
    assert geometric_margin(model.coef_[0], model.intercept_[0], X, y).min() == pytest.approx(
        (signed(model, len(y)) @ y) ** -0.5, rel=1e-9
    )
