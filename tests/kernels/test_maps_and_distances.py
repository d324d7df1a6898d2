"""Kernels through maps, on finite sets, of random functions and of distances."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.gram import Gram
from mercer.kernels import (
    RBF,
    ChiSquare,
    Covariance,
    DistanceKernel,
    Exponential,
    FiniteMatrix,
    FromFeatureMap,
    FromFunction,
    Laplacian,
    Linear,
    NegativeDistance,
    OverFeatureSpace,
    Polynomial,
    Precomputed,
    Sigmoid,
    ThinPlate,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 3))
Z = rng.normal(size=(7, 3))


@pytest.mark.spec("CS-3.16")
def test_gaussian_over_the_features_of_a_kernel():
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    inner = Polynomial(2, 1.0)
    assert (inner(x)[0, 0], inner(z)[0, 0]) == pytest.approx((25.0, 100.0))
    assert inner(x, z)[0, 0] == pytest.approx(1.0)
    value = OverFeatureSpace(inner, gamma=1 / 100)(x, z)[0, 0]
    assert value == pytest.approx(np.exp(-1.23), rel=1e-12)
    assert value == pytest.approx(0.292293, abs=1e-6)
    np.testing.assert_allclose(OverFeatureSpace(Linear(), 0.7)(X), RBF(0.7)(X), rtol=1e-11)
    over_distance = OverFeatureSpace(NegativeDistance(1.0), 0.35)
    np.testing.assert_allclose(over_distance(X), Exponential(0.7)(X), rtol=1e-12)


def test_gaussian_over_features_is_as_definite_as_the_distance_allows():
    assert OverFeatureSpace(RBF(1.0)).definiteness == "positive definite"
    assert OverFeatureSpace(Linear()).definiteness == "positive semidefinite"
    assert OverFeatureSpace(NegativeDistance()).definiteness == "positive semidefinite"
    assert OverFeatureSpace(RBF(1.0), 0.0).definiteness == "positive semidefinite"
    assert OverFeatureSpace(ThinPlate()).definiteness == "unknown"
    assert OverFeatureSpace(Sigmoid(1.0)).definiteness == "unknown"
    with pytest.raises(ValueError, match="gamma"):
        OverFeatureSpace(Linear(), -1.0)
    with pytest.raises(ValueError, match="precomputed"):
        OverFeatureSpace(Precomputed())


# -- maps --------------------------------------------------------------------------------------


def wave(A):
    return np.sin(A[:, :1]) + 2


@pytest.mark.spec("CS-3.18")
def test_any_real_function_is_a_kernel_of_rank_one():
    kernel = FromFeatureMap(wave)
    K, f = kernel(X), wave(X)[:, 0]
    np.testing.assert_allclose(K, np.outer(f, f), rtol=1e-13)
    assert np.linalg.matrix_rank(K) == 1
    for alpha in rng.normal(size=(5, 20)):
        assert alpha @ K @ alpha == pytest.approx((alpha @ f) ** 2, rel=1e-9, abs=1e-12)


def lengths(words):
    return np.array([[len(w), w.count("a")] for w in words], dtype=float)


@pytest.mark.spec("CS-3.19")
@pytest.mark.parametrize(
    "inner",
    [RBF(0.3), Polynomial(2, 0.5, 1.0) + Laplacian(0.1), RBF(0.5).on_columns([1])],
    ids=repr,
)
def test_vector_kernels_run_on_any_objects_through_a_map(inner):
    words = ["banana", "bandana", "cabana", "fan", "a", "xyzzy"]
    kernel = FromFeatureMap(lengths, kernel=inner)
    np.testing.assert_array_equal(kernel(words), inner(lengths(words)))
    np.testing.assert_array_equal(kernel(words, words[:2]), kernel(words)[:, :2])
    np.testing.assert_array_equal(kernel.diag(words), inner.diag(lengths(words)))
    assert np.linalg.eigvalsh(kernel(words))[0] > -1e-12
    assert kernel.definiteness == "positive semidefinite"  # anagrams have one image


def test_a_kernel_of_images_is_bound_to_the_images():
    words = ["banana", "bandana", "cabana", "fan"]
    kernel = FromFeatureMap(lengths, kernel=RBF("scale"))
    assert not kernel.is_bound
    bound = kernel.bind(words)
    assert bound.kernel.gamma == RBF("scale").bind(lengths(words)).gamma
    np.testing.assert_allclose(kernel(words), bound(words), rtol=1e-15)
    with pytest.raises(ValueError, match="bind it first"):
        kernel(words, words)


def test_conditional_kernels_through_a_map():
    assert FromFeatureMap(wave, NegativeDistance()).definiteness.order == 1
    assert FromFeatureMap(wave, ThinPlate()).definiteness == "unknown"
    assert FromFeatureMap(wave, Sigmoid()).definiteness == "indefinite"
    with pytest.raises(ValueError, match="rows of a kernel matrix"):
        FromFeatureMap(wave, Precomputed())
    with pytest.raises(TypeError, match="must be a kernel"):
        FromFeatureMap(wave, wave)


def test_the_map_is_called_once_for_a_set_of_objects_and_not_for_a_tile():
    calls = []

    def counted(A):
        calls.append(len(A))
        return np.asarray(A) ** 2

    A = rng.normal(size=(700, 3))
    kernel = FromFeatureMap(counted)
    gram = Gram(kernel, A)
    assert calls == [700]
    gram.tile(np.arange(5))
    gram.matmul(np.ones(700))
    gram.tile()
    assert calls == [700]
    kernel(A, A[:9])
    assert sorted(calls[1:]) == [9, 700]


def test_sparse_images_stay_sparse():
    def sparse(A):
        return sp.csr_matrix(np.maximum(np.asarray(A), 0.0))

    expected = np.maximum(X, 0) @ np.maximum(X, 0).T
    np.testing.assert_allclose(FromFeatureMap(sparse)(X), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        FromFeatureMap(sparse, RBF(0.5))(X, Z),
        RBF(0.5)(np.maximum(X, 0), np.maximum(Z, 0)),
        rtol=1e-12,
    )


# -- random functions --------------------------------------------------------------------------


@pytest.mark.spec("SS-10")
def test_the_covariance_of_random_linear_functions_is_the_dot_product():
    errors = []
    for m in (100, 10_000):
        W = np.random.default_rng(1).normal(size=(3, m))
        K = Covariance(lambda A, W=W: np.asarray(A) @ W)(X)
        assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.abs(K).max()
        errors.append(np.sqrt(np.mean((K - X @ X.T) ** 2)))
    assert errors[1] < 0.2 * errors[0]  # 1 / sqrt(samples): a tenth
    assert errors[1] < 0.1


@pytest.mark.spec("SS-10")
def test_the_covariance_of_a_list_of_functions():
    functions = [lambda A: A[:, 0], lambda A: np.sin(A[:, 1]), lambda A: np.ones(len(A))]
    values = np.column_stack([f(X) for f in functions])
    np.testing.assert_allclose(Covariance(functions)(X), values @ values.T / 3, rtol=1e-12)
    centred = values - values.mean(axis=1, keepdims=True)
    expected = centred @ centred.T / 3
    np.testing.assert_allclose(Covariance(functions, True)(X), expected, rtol=1e-11, atol=1e-13)
    for bad in (3, [], [3]):
        with pytest.raises(TypeError, match="function"):
            Covariance(bad)
    with pytest.raises(ValueError, match="must return an array of shape"):
        Covariance([lambda A: A])(X)


# -- finite sets -------------------------------------------------------------------------------

K3 = [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]


@pytest.mark.spec("CS-3.20")
def test_a_matrix_is_a_kernel_on_a_finite_set():
    kernel = FiniteMatrix(K3)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(kernel([0, 1, 2])), [2 - np.sqrt(2), 2, 2 + np.sqrt(2)], rtol=1e-12
    )
    features = kernel.feature_map([0, 1, 2])
    np.testing.assert_allclose(features @ features.T, K3, atol=1e-14)
    np.testing.assert_array_equal(
        kernel(np.array([2, 0, 2])), np.array(K3)[[2, 0, 2]][:, [2, 0, 2]]
    )
    np.testing.assert_array_equal(kernel(np.array([[1], [1]])), [[2, 2], [2, 2]])


@pytest.mark.spec("CS-3.20")
def test_a_matrix_that_is_no_kernel_is_refused_with_a_witness():
    with pytest.raises(ValueError, match=r"v'Kv = -1 for v = "):
        FiniteMatrix([[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: FiniteMatrix(K3)([3]), ValueError, "items 0 to 2; got 3"),
        (lambda: FiniteMatrix(K3)([-1]), ValueError, "items 0 to 2; got -1"),
        (lambda: FiniteMatrix(K3)([0.5]), ValueError, "takes the numbers 0 to 2"),
        (lambda: FiniteMatrix(K3)(["a"]), ValueError, "takes the numbers 0 to 2"),
        (lambda: FiniteMatrix(K3, "ab"), ValueError, "3 rows for 2 items"),
        (lambda: FiniteMatrix(K3, "aba"), ValueError, "'a' occurs twice"),
        (lambda: FiniteMatrix(K3, "abc")(["d"]), ValueError, "'d' is not among the 3 items"),
        (lambda: FiniteMatrix(K3, "abc")([["a"]]), TypeError, "hashable"),
        (lambda: FiniteMatrix([[1.0, 0.0]]), ValueError, "square"),
    ],
)
def test_objects_outside_the_finite_set_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


# -- distances ---------------------------------------------------------------------------------


@pytest.mark.spec("CS-8.13")
def test_exponentials_of_histogram_distances():
    x, z = np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])
    for name, d in {
        "chi2": 2.0,
        "l1": 2.0,
        "l2": np.sqrt(2),
        "sqeuclidean": 2.0,
        "linf": 1.0,
    }.items():
        kernel = DistanceKernel(name, scale=1.5)
        assert kernel(x, z)[0, 0] == pytest.approx(np.exp(-d / 1.5), rel=1e-12)
        assert kernel(x)[0, 0] == 1.0
    np.testing.assert_allclose(DistanceKernel("l1", 2.0)(X), Laplacian(0.5)(X), rtol=1e-12)
    np.testing.assert_allclose(DistanceKernel("l2", 2.0)(X), Exponential(0.5)(X), rtol=1e-12)
    np.testing.assert_allclose(DistanceKernel("sqeuclidean", 2.0)(X), RBF(0.5)(X), rtol=1e-12)
    np.testing.assert_array_equal(DistanceKernel(2)(X), DistanceKernel("l2")(X))
    H = rng.dirichlet(np.full(4, 0.5), size=10)
    np.testing.assert_allclose(DistanceKernel("chi2", 0.5)(H), ChiSquare(2.0)(H), rtol=1e-11)


@pytest.mark.spec("CS-8.13")
@pytest.mark.parametrize("scale", [0.5, 2.0, 10.0])
def test_which_distances_give_positive_definite_kernels(scale):
    for bins in (3, 8, 20):
        H = rng.dirichlet(np.full(bins, 0.3), size=40)
        for name in ("chi2", "l1", "l2", 1.3, "sqeuclidean"):
            kernel = DistanceKernel(name, scale)
            assert kernel.definiteness.is_psd
            assert np.linalg.eigvalsh(kernel(H))[0] > -1e-12
    grid = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    largest = DistanceKernel("linf", 2.0)
    assert largest.definiteness == "unknown"
    assert np.linalg.eigvalsh(largest(grid))[0] == pytest.approx(-0.18269, abs=1e-5)
    assert DistanceKernel(3.0).definiteness == "unknown"
    assert DistanceKernel(lambda A, B: 0).definiteness == "unknown"


def test_a_distance_of_ones_own():
    def letters(A, B):
        return [[len(set(a) ^ set(b)) for b in B] for a in A]

    kernel = DistanceKernel(letters, scale=2.0)
    words = ["ab", "bc", "abc"]
    np.testing.assert_allclose(kernel(words), np.exp(-np.array(letters(words, words)) / 2))
    np.testing.assert_array_equal((kernel + FromFunction(letters)).diag(words), [1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DistanceKernel("cosine"), "distance must be one of"),
        (lambda: DistanceKernel(0.5), "p >= 1"),
        (lambda: DistanceKernel(None), "distance must be one of"),
        (lambda: DistanceKernel("l1", 0.0), "scale"),
        (lambda: DistanceKernel("chi2")(X), "without negative entries"),
        (lambda: DistanceKernel("chi2").bind(X), "without negative entries"),
        (lambda: DistanceKernel(lambda A, B: np.zeros(3))(X), "must return an array of shape"),
        (lambda: DistanceKernel(lambda A, B: -np.ones((len(A), len(B))))(X), "negative"),
    ],
)
def test_bad_distances_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
