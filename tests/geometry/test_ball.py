"""The smallest ball that holds all objects, with its duality gap."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from mercer.geometry import (
    distance_to_mean,
    norm,
    shifted_gram,
    smallest_enclosing_ball,
    squared_radius,
)
from mercer.kernels import RBF, FromFunction, Linear, Polynomial, Precomputed
from tests.kernels import strategies

rng = np.random.default_rng(10)


@pytest.mark.spec("CS-3.51")
def test_a_flat_triangle_is_held_by_the_ball_of_its_long_side():
    ball = smallest_enclosing_ball(Linear(), [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.5]], tol=1e-10)
    assert ball.radius == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(ball.coef, [0.5, 0.5, 0.0], atol=1e-9)
    assert ball.support.tolist() == [0, 1]


@pytest.mark.spec("CS-3.51")
def test_an_equilateral_triangle():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    ball = smallest_enclosing_ball(Linear(), corners, tol=1e-10)
    np.testing.assert_allclose(ball.coef @ corners, [0.5, 0.28868], atol=5e-6)
    assert ball.radius**2 == pytest.approx(1 / 3, rel=1e-9)
    np.testing.assert_allclose(ball.distance(corners), ball.radius, rtol=1e-9)


@pytest.mark.spec("CS-3.51")
@given(strategies.kernels, strategies.vectors())
@settings(max_examples=50, deadline=None)
def test_the_gap_proves_the_radius(kernel, A):
    ball = smallest_enclosing_ball(kernel, A)
    K = kernel(A)
    scale = np.abs(K).max() + 1e-300
    own = np.diagonal(K)
    primal = ball.coef @ K @ ball.coef + (own - 2 * K @ ball.coef).max()
    dual = ball.coef @ own - ball.coef @ K @ ball.coef
    assert ball.coef.min() >= 0
    assert ball.coef.sum() == pytest.approx(1, rel=1e-12)
    assert ball.certificate.primal == pytest.approx(primal, abs=1e-12 * scale)
    assert ball.certificate.dual == pytest.approx(dual, abs=1e-12 * scale)
    assert primal - dual >= -1e-12 * scale
    assert primal - dual <= 1e-6 * primal + 1e-12 * scale
    # Radius and bound belong to these numbers, and every object is inside.
    assert ball.radius == pytest.approx(np.sqrt(max(primal, 0)), abs=1e-6 * np.sqrt(scale))
    assert (ball.distance(A) <= ball.radius + 1e-6 * np.sqrt(scale)).all()
    # It is no larger than the ball around the mean, or the one around the origin.
    assert ball.lower_bound <= distance_to_mean(kernel, A, A).max() + 1e-6 * np.sqrt(scale)
    assert ball.lower_bound <= norm(kernel, A).max() + 1e-6 * np.sqrt(scale)


def test_a_general_solver_finds_the_same_ball():
    A = rng.normal(size=(40, 2))

    def primal(c):  # in input space: the largest distance to c
        return np.linalg.norm(A - c, axis=1).max()

    best = min(
        minimize(primal, A.mean(axis=0) + s, method="Nelder-Mead", options={"xatol": 1e-9}).fun
        for s in rng.normal(size=(3, 2)) * 0.1
    )
    ball = smallest_enclosing_ball(Linear(), A, tol=1e-9)
    assert ball.radius == pytest.approx(best, rel=1e-5)
    assert len(ball.support) <= 3
    np.testing.assert_allclose(ball.distance(A[ball.support]), ball.radius, rtol=1e-6)


@pytest.mark.spec("CS-3.51")
def test_shifting_the_data_moves_the_ball_and_not_its_radius():
    A = rng.normal(size=(30, 3))
    near = smallest_enclosing_ball(Linear(), A, tol=1e-8)
    far = smallest_enclosing_ball(Linear(), A + 100, tol=1e-8)
    assert far.radius == pytest.approx(near.radius, rel=1e-6)
    assert far.radius < norm(Linear(), A + 100).max() / 20  # what the origin would give
    np.testing.assert_allclose(far.coef @ A, near.coef @ A, atol=1e-3)
    assert far.centre([[1.0, 0.0, 0.0]])[0] == pytest.approx((far.coef @ (A + 100))[0], rel=1e-9)


def test_many_objects_in_single_precision_are_proved_in_double():
    A = rng.normal(size=(1500, 5))
    ball = smallest_enclosing_ball(RBF(0.1), A)
    assert ball.certificate.status == "optimal"
    assert ball.certificate.precision == "float64"
    assert 0 <= ball.certificate.relative_gap <= 1e-6
    assert ball.lower_bound <= ball.radius


def test_matrices_strings_and_copies():
    A = rng.normal(size=(12, 3))
    kernel = Polynomial(2, 0.5, 1.0)
    by_matrix = smallest_enclosing_ball(Precomputed(), kernel(A))
    assert by_matrix.radius == pytest.approx(smallest_enclosing_ball(kernel, A).radius, rel=1e-6)
    assert by_matrix.certificate.assumes == "psd"
    with pytest.raises(ValueError, match="does not hold"):
        by_matrix.distance(kernel(A))
    common = FromFunction(lambda A, B: [[len(set(s) & set(t)) for t in B] for s in A])
    ball = smallest_enclosing_ball(common, ["ab", "cd"])
    assert ball.radius == pytest.approx(1.0)  # |phi(ab) - phi(cd)| = 2
    same = smallest_enclosing_ball(RBF(1.0), np.ones((4, 2)))
    assert same.radius == pytest.approx(0, abs=1e-7)
    assert same.certificate.status == "optimal"
    with pytest.raises(ValueError, match="tol must be a number > 0"):
        smallest_enclosing_ball(Linear(), A, tol=0)


def test_with_a_coordinate_more_for_every_object():
    A = rng.normal(size=(15, 2))
    for kernel in (RBF(0.5), Linear()):
        by_matrix = smallest_enclosing_ball(Precomputed(), shifted_gram(kernel, A, 0.7))
        assert squared_radius(kernel, A, shift=0.7) == pytest.approx(by_matrix.radius**2, rel=1e-5)
    assert squared_radius(Linear(), np.zeros((1, 2)), shift=3.0) == pytest.approx(0, abs=1e-9)


def test_a_translation_moves_the_centre_and_not_the_radius():
    near = 0.01 * rng.normal(size=(40, 2)).round(3)
    far = near + 1e4
    exact = smallest_enclosing_ball(Linear(), far - 1e4)  # the differences are exact
    ball = smallest_enclosing_ball(Linear(), far)
    assert ball.radius == pytest.approx(exact.radius, rel=1e-6)
    assert ball.lower_bound <= exact.radius * (1 + 1e-12)
    assert ball.certificate.status == "optimal"
    np.testing.assert_allclose(ball.distance(far).max(), exact.radius, rtol=0.2)
    assert squared_radius(Linear(), far) == pytest.approx(exact.radius**2, rel=1e-6)


def test_what_rounding_leaves_of_a_radius_is_said():
    far = 0.01 * rng.normal(size=(20, 2)) + 1e5
    kernel = Polynomial(2, 1.0, 1.0)
    with pytest.warns(ConvergenceWarning, match="lies between"):
        squared_radius(kernel, far)
    proof = smallest_enclosing_ball(kernel, far).certificate
    assert proof.status == "precision_limit"
    assert proof.dual <= proof.primal
