"""Lengths, angles and distances in feature space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.geometry import angle, cosine, distance, distance_to_mean, norm
from mercer.kernels import (
    RBF,
    FromFunction,
    Linear,
    Polynomial,
    normalize,
)
from tests.kernels import strategies

rng = np.random.default_rng(5)
X = rng.normal(size=(9, 3))
Z = rng.normal(size=(5, 3))


@pytest.mark.spec("SS-03")
def test_the_linear_kernel_gives_euclidean_geometry():
    lengths = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(norm(Linear(), X), lengths, rtol=1e-14)
    expected = (X @ Z.T) / np.outer(lengths, np.linalg.norm(Z, axis=1))
    np.testing.assert_allclose(cosine(Linear(), X, Z), expected, rtol=1e-13, atol=1e-15)
    apart = np.linalg.norm(X[:, None] - Z, axis=-1)
    np.testing.assert_allclose(distance(Linear(), X, Z), apart, rtol=1e-12)
    to_mean = np.linalg.norm(X - Z.mean(axis=0), axis=1)
    np.testing.assert_allclose(distance_to_mean(Linear(), X, Z), to_mean, rtol=1e-12)


@pytest.mark.spec("SS-03", "CS-3.48")
def test_the_gaussian_kernel_lives_on_the_unit_sphere():
    kernel = RBF(0.4)
    assert norm(kernel, X).tolist() == [1.0] * 9
    np.testing.assert_allclose(distance(kernel, X, Z) ** 2, 2 - 2 * kernel(X, Z), rtol=1e-12)
    np.testing.assert_array_equal(cosine(kernel, X, Z), kernel(X, Z))


def test_explicit_features_have_the_same_geometry():
    kernel = Polynomial(2, 1.0, 1.0)
    features, others = kernel.feature_map(X), kernel.feature_map(Z)
    np.testing.assert_allclose(
        distance(kernel, X, Z), np.linalg.norm(features[:, None] - others, axis=-1), rtol=1e-9
    )
    np.testing.assert_allclose(
        distance_to_mean(kernel, X, Z),
        np.linalg.norm(features - others.mean(axis=0), axis=1),
        rtol=1e-9,
    )
    np.testing.assert_allclose(norm(kernel, X), np.linalg.norm(features, axis=1), rtol=1e-12)


def test_one_set():
    apart = distance(RBF(), X)
    assert np.diagonal(apart).tolist() == [0.0] * 9
    np.testing.assert_array_equal(apart, apart.T)
    np.testing.assert_array_equal(cosine(Linear(), X), normalize(Linear())(X))


def test_rounding_never_gives_a_negative_square():
    A = 1e4 + rng.normal(size=(20, 4)) * 1e-6
    assert np.isfinite(distance(Linear(), A, A + 1e-9)).all()


def test_the_mean_of_many_objects_is_taken_in_blocks():
    A = rng.normal(size=(1200, 2))
    expected = np.linalg.norm(X[:, :2] - A.mean(axis=0), axis=1)
    np.testing.assert_allclose(distance_to_mean(Linear(), X[:, :2], A), expected, rtol=1e-9)


def test_objects():
    kernel = FromFunction(lambda A, B: [[len(a & b) for b in B] for a in A])
    assert distance(kernel, [{1, 2}], [{2, 3}, {1, 2}]).tolist() == [[2**0.5, 0.0]]
    assert distance_to_mean(kernel, [{1}, {2}], [{1}, {2}]).tolist() == [0.5**0.5] * 2


def test_there_is_no_length_with_a_negative_square():
    with pytest.raises(ValueError, match="has no norm"):
        norm(Polynomial(1, 1.0, -5.0), X)
    with pytest.raises(ValueError, match="bind it first"):
        distance_to_mean(RBF(), X, Z)


@pytest.mark.spec("CS-B.04")
@given(strategies.kernels, strategies.vectors())
@settings(max_examples=40, deadline=None)
def test_schwarz_polarisation_and_angles(kernel, A):
    K, own = kernel(A), norm(kernel, A)
    rounding = 1e-9 * (own.max() ** 2 + 1e-300)
    assert (np.abs(K) <= np.outer(own, own) + rounding).all()
    apart = distance(kernel, A) ** 2
    polar = own[:, None] ** 2 + own**2 - 2 * K
    np.testing.assert_allclose(apart, polar, atol=rounding)
    angles = angle(kernel, A)
    known = np.outer(own > 0, own > 0)
    assert np.isnan(angles[~known]).all()
    expected = np.divide(K, np.outer(own, own), out=np.zeros_like(K), where=known)
    np.testing.assert_allclose(np.cos(angles[known]), expected[known], atol=1e-7)
    assert (angles[known] >= 0).all()
    assert (angles[known] <= np.pi).all()


@pytest.mark.spec("CS-B.04")
@given(st.floats(-10, 10), st.floats(0.1, 10))
@settings(max_examples=40, deadline=None)
def test_schwarz_is_an_equality_for_dependent_vectors(factor, length):
    A = np.array([[length, 2 * length]])
    assert abs(Linear()(A, factor * A)[0, 0]) == pytest.approx(
        norm(Linear(), A)[0] * norm(Linear(), factor * A)[0], rel=1e-14
    )


def test_angles():
    np.testing.assert_allclose(
        angle(Linear(), [[1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [1.0, 1.0]]),
        [[0, np.pi / 2, np.pi, np.pi / 4]],
        atol=1e-15,
    )
    assert np.isnan(angle(Linear(), [[0.0, 0.0]], [[1.0, 0.0]])).all()
