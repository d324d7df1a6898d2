"""Polygonal principal curves of bounded length, and principal curves by smoothing."""

import numpy as np
import pytest

import mercer
from mercer import PolygonalPrincipalCurve, PrincipalCurve, RegularizedPrincipalManifold
from mercer.features.manifolds.polyline import project
from mercer.kernels import NegativeDistance

RNG = np.random.default_rng(0)
T = RNG.uniform(0.0, np.pi, 120)
ARC = np.stack([np.cos(T), np.sin(T)], axis=1)
X = ARC + 0.05 * RNG.normal(size=ARC.shape)


def test_projection_onto_segments():
    knots = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    found = project(np.array([[0.25, 1.0], [2.0, 0.5], [-1.0, -1.0], [1.0, 0.0]]), knots)
    np.testing.assert_allclose(found.squares, [0.75**2, 1.0, 2.0, 0.0])
    assert found.segment.tolist()[:3] == [1, 1, 0]
    np.testing.assert_allclose(found.share[:3], [1.0, 0.5, 0.0])


@pytest.mark.spec("SM-5.26")
def test_length_is_bounded_and_the_error_falls_with_the_bound():
    errors = []
    for bound in (1.0, 2.0, 3.0):
        curve = PolygonalPrincipalCurve(10, bound).fit(X)
        assert bound * 0.99 < curve.length_ <= bound
        assert curve.knots_.shape == (10, 2)
        assert curve.certificate_.status == "stationary"
        errors.append(curve.quantization_error(X))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] == pytest.approx(0.05**2, rel=0.4)
    assert curve.objective_ == pytest.approx(120 * errors[2])
    free = PolygonalPrincipalCurve(10, tol=1e-3).fit(X)
    assert free.length_ > 3.0


@pytest.mark.spec("SM-5.34", "SM-5.26")
def test_penalising_the_speed_is_bounding_the_length():
    """The same errors at the same length, which is known after the fit only."""
    for lam in (1.0, 10.0):
        penalised = RegularizedPrincipalManifold(
            1, lam, kernel=0.5 * NegativeDistance(), n_nodes=30, tol=1e-8
        ).fit(X)
        bounded = PolygonalPrincipalCurve(30, penalised.curve_length(), tol=1e-6).fit(X)
        assert bounded.quantization_error(X) == pytest.approx(
            penalised.quantization_error(X), rel=0.01
        )


@pytest.mark.spec("SM-5.25")
def test_smoothing_recovers_an_arc():
    curve = PrincipalCurve(0.05).fit(X)
    assert curve.certificate_.status == "stationary"
    assert curve.quantization_error(X) == pytest.approx(0.05**2, rel=0.4)
    assert curve.quantization_error(ARC) < 0.05**2
    sides = np.linalg.norm(np.diff(curve.knots_, axis=0), axis=1)
    assert sides.std() < 0.02 * sides.mean()
    # With a wide smoother the curve is nearly the principal component.
    line = PrincipalCurve(10.0).fit(X)
    assert line.quantization_error(X) == pytest.approx(np.linalg.eigvalsh(np.cov(X.T))[0], rel=0.05)


@pytest.mark.parametrize("curve", [PolygonalPrincipalCurve(8, 2.0), PrincipalCurve()])
def test_positions_and_points(curve, tmp_path):
    curve.fit(X)
    position = curve.transform(X)
    assert position.shape == (120, 1)
    assert position.min() >= 0.0
    assert position.max() <= curve.length_ * (1.0 + 1e-12)
    squares = ((X - curve.inverse_transform(position)) ** 2).sum(axis=1)
    assert squares.mean() == pytest.approx(curve.quantization_error(X))
    weight = np.arange(120) % 3
    weighted = type(curve)(**curve.get_params()).fit(X, sample_weight=weight)
    repeated = type(curve)(**curve.get_params()).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.knots_, repeated.knots_, atol=1e-6)
    mercer.save(curve, tmp_path / "model")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model").transform(X), position)


def test_bad_input():
    with pytest.raises(ValueError, match="n_knots must be an integer of at least 2"):
        PolygonalPrincipalCurve(1).fit(X)
    with pytest.raises(ValueError, match="length must be a number > 0"):
        PolygonalPrincipalCurve(4, -1.0).fit(X)
    with pytest.raises(ValueError, match="bandwidth must be"):
        PrincipalCurve(0.0).fit(X)
    with pytest.raises(ValueError, match="one finite position"):
        PrincipalCurve().fit(X).inverse_transform([[0.0, 1.0]])


@pytest.mark.parametrize("length", [None, 2.0])
def test_weights_are_repetitions_for_any_number_of_knots(length):
    """Fewer rows than knots, whose lines are free between the points."""
    rng = np.random.default_rng(0)
    rows, weight = rng.random((15, 30)), rng.integers(0, 5, 15)
    for n_knots in (2, 4, 8, 10, 20, 30):
        weighted = PolygonalPrincipalCurve(n_knots, length).fit(rows, sample_weight=weight)
        repeated = PolygonalPrincipalCurve(n_knots, length).fit(np.repeat(rows, weight, axis=0))
        assert weighted.n_iter_ == repeated.n_iter_
        np.testing.assert_allclose(weighted.transform(rows), repeated.transform(rows), atol=1e-7)
