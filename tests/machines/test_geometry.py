"""Hyperplanes, margins, and bounds from the number of support vectors."""

import math

import numpy as np
import pytest

from mercer import SVC, NotSeparableError
from mercer.capacity import compression_bound, loo_bound
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
from mercer.machines.support_vector.hard_margin import hard_margin_threshold, training_set_margin
from tests.machines.data_sets import TOY

X3, Y3 = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0]]), np.array([-1, -1, 1])
W, B = np.array([1.2, -3.2]), -0.5


def test_separation_and_canonical_form():
    assert separates(W, B, X3, Y3)
    assert not separates(-W, -B, X3, Y3)
    np.testing.assert_allclose(functional_margin(W, B, X3, Y3), [0.5, 4.5, 1.9])
    plane = canonicalize(W, B, X3, Y3)
    np.testing.assert_allclose(plane.w, [2.4, -6.4])
    assert (plane.b, plane.rho) == pytest.approx((-1.0, 0.5))
    assert functional_margin(plane.w, plane.b, X3, Y3).min() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="separating"):
        canonicalize(-W, -B, X3, Y3)


def test_geometric_margin_does_not_see_the_scale():
    np.testing.assert_allclose(
        geometric_margin(3 * W, 3 * B, X3, Y3), geometric_margin(W, B, X3, Y3)
    )
    assert margin(W, B, X3, Y3) == pytest.approx(0.146301, abs=1e-6)
    assert side_margins(W, B, X3, Y3) == pytest.approx((0.5559, 0.1463), abs=1e-4)
    with pytest.raises(ValueError, match="both classes"):
        side_margins(W, B, X3, [1, 1, 1])


def test_distances_of_the_toy_set():
    X, y = TOY
    w, b = [1.0, -1.0], -1.0
    np.testing.assert_allclose(distance_to_hyperplane(X, w, b), np.array([1, 1, 1, 2]) / np.sqrt(2))
    np.testing.assert_allclose(signed_distance(X, w, b) * y, distance_to_hyperplane(X, w, b))
    assert side_margins(w, b, X, y) == pytest.approx((1 / np.sqrt(2), 1 / np.sqrt(2)))


def test_largest_margin_of_a_training_set():
    X, y = TOY
    assert training_set_margin(X, y) == pytest.approx(1 / np.sqrt(2))
    assert training_set_margin([[3.0, 4.0], [0.0, 0.0]], [1, -1]) == pytest.approx(2.5)
    with pytest.raises(NotSeparableError):
        training_set_margin([[0.0], [1.0], [2.0]], [1, -1, 1])


def test_threshold_to_the_hard_margin():
    X, y = TOY
    hard = SVC(kernel="linear", C=np.inf).fit(X, y)
    assert hard_margin_threshold(hard, X, y) == pytest.approx(1.0)
    xor, labels = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1.0]]), [-1, 1, 1, -1]
    model = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=np.inf).fit(xor, labels)
    assert hard_margin_threshold(model) == pytest.approx(1 / 8)
    for C, same in ((1.001, True), (0.9, False)):
        soft = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
        assert np.allclose(soft.coef_, hard.coef_, atol=1e-6) is same


def test_shared_multipliers_lower_the_threshold():
    X, y = TOY
    doubled, labels = np.vstack([X, X[2:3]]), np.append(y, 1)
    model = SVC(kernel="linear", C=np.inf).fit(doubled, labels)
    assert hard_margin_threshold(model, doubled, labels) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="hard-margin"):
        hard_margin_threshold(SVC(kernel="linear").fit(X, y))


@pytest.mark.parametrize(
    ("w", "X", "y"), [([0, 0], X3, Y3), ([1.0], X3, Y3), (W, X3, [0, 1, 1]), (W, X3, [1, 1])]
)
def test_bad_hyperplanes_are_refused(w, X, y):
    with pytest.raises(ValueError, match=r"w|label"):
        geometric_margin(w, 0.0, X, y)


def test_compression_bound():
    assert compression_bound(50, 1000, 0.05) == pytest.approx(0.31844, abs=1e-5)
    assert compression_bound(50, 1000, 0.05, base=math.e) == pytest.approx(0.22073, abs=1e-5)
    assert compression_bound(0, 100, 0.05) > 0
    assert compression_bound(10, 1000) < compression_bound(20, 1000)
    for bad in ((5, 5), (6, 5), (-1, 5)):
        with pytest.raises(ValueError, match=r"support|n_sv"):
            compression_bound(*bad)
    with pytest.raises(ValueError, match="delta"):
        compression_bound(1, 5, delta=0.0)
    with pytest.raises(ValueError, match="base"):
        compression_bound(1, 5, base=1)


def test_leave_one_out_error_is_below_the_share_of_support_vectors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + np.repeat([[2.5, 0], [-2.5, 0]], 20, axis=0)
    y = np.repeat([1, -1], 20)
    model = SVC(kernel="linear", C=np.inf).fit(X, y)
    errors = 0
    for i in range(40):
        rest = np.arange(40) != i
        left = SVC(kernel="linear", C=np.inf).fit(X[rest], y[rest])
        errors += left.predict(X[i : i + 1])[0] != y[i]
    assert errors / 40 <= loo_bound(len(model.support_), 40)
