"""Centres of mass, and kernel matrices moved to them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import preprocessing
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.features import KernelCenterer
from mercer.geometry import centre_of_mass, distance_to_mean, mean_squared_distance
from mercer.kernels import RBF, FromFunction, Linear, Polynomial, Precomputed
from tests.kernels import strategies

rng = np.random.default_rng(8)
X, Z = rng.normal(size=(9, 3)) + 1, rng.normal(size=(5, 3))
weight = np.array([1, 2, 0, 3, 1, 1, 0, 2, 5.0])
repeated = np.repeat(np.arange(9), weight.astype(int))


@pytest.mark.spec("CS-3.49")
def test_the_corners_of_a_square():
    square = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]
    assert mean_squared_distance(Linear(), square) == pytest.approx(2.0, rel=1e-15)
    assert distance_to_mean(Linear(), [[1.0, 1.0]], square)[0] == pytest.approx(0, abs=1e-7)


@pytest.mark.spec("CS-3.49")
@given(strategies.kernels, strategies.vectors(), st.data())
@settings(max_examples=40, deadline=None)
def test_the_mean_squared_distance_is_the_trace_of_the_centred_matrix(kernel, A, data):
    w = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(A), max_size=len(A))))
    w[0] += 1
    K, share = kernel(A), w / w.sum()
    scale = np.abs(K).max() + 1e-300
    spread = mean_squared_distance(kernel, A, w)
    centred = KernelCenterer().fit(K, sample_weight=w).transform(K)
    assert spread == pytest.approx(share @ np.diagonal(centred), abs=1e-10 * scale)
    to_mean = distance_to_mean(kernel, A, A, w)
    assert spread == pytest.approx(share @ to_mean**2, abs=1e-10 * scale)
    S = centre_of_mass(kernel, A, w)
    assert S.norm() ** 2 == pytest.approx(share @ K @ share, abs=1e-10 * scale)
    # The centred images have mean 0, and the matrix stays symmetric.
    np.testing.assert_allclose(centred @ share, 0, atol=1e-10 * scale)
    np.testing.assert_allclose(centred, centred.T, atol=1e-10 * scale)


@pytest.mark.spec("CS-3.49")
def test_centring_is_subtracting_the_mean_of_explicit_features():
    kernel = Polynomial(2, 0.5, 1.0)
    features, others = kernel.feature_map(X), kernel.feature_map(Z)
    middle = (weight / weight.sum()) @ features
    expected = (others - middle) @ (features - middle).T
    centrer = KernelCenterer().fit(kernel(X), sample_weight=weight)
    np.testing.assert_allclose(centrer.transform(kernel(Z, X)), expected, rtol=1e-10, atol=1e-10)
    by_objects = KernelCenterer(kernel=kernel).fit(X, sample_weight=weight)
    np.testing.assert_allclose(by_objects.transform(Z), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        by_objects.diag(Z), np.linalg.norm(others - middle, axis=1) ** 2, rtol=1e-10
    )


def test_a_weight_is_a_number_of_copies():
    kernel = RBF(0.3)
    assert mean_squared_distance(kernel, X, weight) == pytest.approx(
        mean_squared_distance(kernel, X[repeated]), rel=1e-12
    )
    np.testing.assert_allclose(
        distance_to_mean(kernel, Z, X, weight), distance_to_mean(kernel, Z, X[repeated]), rtol=1e-12
    )
    one = KernelCenterer(kernel=kernel).fit(X, sample_weight=weight)
    other = KernelCenterer(kernel=kernel).fit(X[repeated])
    np.testing.assert_allclose(
        one.transform(Z)[:, repeated], other.transform(Z), rtol=1e-10, atol=1e-12
    )


def test_without_weights_it_is_scikit_learns():
    K, new = RBF(0.3)(X), RBF(0.3)(Z, X)
    theirs = preprocessing.KernelCenterer().fit(K)
    ours = KernelCenterer().fit(K)
    np.testing.assert_allclose(ours.transform(K), theirs.transform(K), atol=1e-14)
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), atol=1e-14)
    np.testing.assert_allclose(ours.K_fit_rows_, theirs.K_fit_rows_, rtol=1e-14)
    assert ours.K_fit_all_ == pytest.approx(theirs.K_fit_all_, rel=1e-14)


def test_tiles_products_and_copies():
    A = rng.normal(size=(600, 2))
    centrer = KernelCenterer(kernel=RBF(0.5)).fit(A)
    whole = centrer.transform(A)
    for rows in (1000, 77):
        tiles = list(centrer.tiles(A, rows))
        assert [first for first, _ in tiles] == list(range(0, 600, rows))
        np.testing.assert_array_equal(np.concatenate([tile for _, tile in tiles]), whole)
    V = rng.normal(size=(600, 3))
    np.testing.assert_allclose(centrer.matmul(V), whole @ V, atol=1e-10)
    np.testing.assert_allclose(centrer.matmul(V[:, 0]), whole @ V[:, 0], atol=1e-10)
    K = RBF(0.5)(A)
    by_matrix = KernelCenterer().fit(K)
    np.testing.assert_allclose(
        np.concatenate([tile for _, tile in by_matrix.tiles(K[:300])]), whole[:300], atol=1e-12
    )
    kept = K.copy()
    centred = by_matrix.transform(K)
    np.testing.assert_array_equal(K, kept)
    assert by_matrix.transform(K, copy=False) is K
    np.testing.assert_array_equal(K, centred)


def test_sparse_rows_strings_and_rules():
    dense = KernelCenterer(kernel="rbf").fit(X).transform(Z)
    sparse = KernelCenterer(kernel="rbf").fit(sp.csr_matrix(X)).transform(sp.csr_matrix(Z))
    np.testing.assert_allclose(sparse, dense, atol=1e-12)
    common = FromFunction(lambda A, B: [[len(set(s) & set(t)) for t in B] for s in A])
    words = ["abc", "bcd", "xyz"]
    centred = KernelCenterer(kernel=common).fit_transform(words)
    np.testing.assert_allclose(
        centred, preprocessing.KernelCenterer().fit_transform(common(words)), atol=1e-14
    )
    assert mean_squared_distance(Precomputed(), common(words)) == pytest.approx(
        np.trace(centred) / 3
    )


def test_what_is_refused():
    with pytest.raises(ValueError, match="square"):
        KernelCenterer().fit(np.ones((3, 4)))
    with pytest.raises(ValueError, match="symmetric"):
        KernelCenterer().fit(np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="one number for each"):
        KernelCenterer().fit(np.eye(3), sample_weight=[1.0])
    with pytest.raises(ValueError, match="not negative"):
        mean_squared_distance(Linear(), X, -weight)
    with pytest.raises(ValueError, match="at least one must count"):
        mean_squared_distance(Linear(), X, 0 * weight)
    with pytest.raises(ValueError, match="features"):
        KernelCenterer().fit(np.eye(3)).transform(np.ones((2, 4)))
    with pytest.raises(ValueError, match="keeps none"):
        KernelCenterer().fit(np.eye(3)).matmul(np.ones(3))
    with pytest.raises(ValueError, match="does not hold"):
        KernelCenterer().fit(np.eye(3)).diag(np.eye(3))
    with pytest.raises(ValueError, match="at least one row"):
        list(KernelCenterer().fit(np.eye(3)).tiles(np.eye(3), rows=0))


# The columns of the output are the training objects, so copies of them must change its shape.
BY_COLUMNS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "one output column per training object"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [KernelCenterer(), KernelCenterer(kernel="rbf")],
    expected_failed_checks=lambda estimator: BY_COLUMNS if estimator.kernel == "rbf" else {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
