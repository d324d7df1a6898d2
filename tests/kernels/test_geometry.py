"""Lengths, angles and distances in feature space."""

import numpy as np
import pytest

from mercer.kernels import (
    RBF,
    FromFunction,
    Linear,
    Polynomial,
    cosine,
    distance,
    distance_to_mean,
    norm,
    normalize,
)

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


@pytest.mark.spec("SS-03")
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
