"""Kernels from Python functions, on any objects."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mercer.kernels import RBF, FromFeatureMap, FromFunction, Linear, normalize

rng = np.random.default_rng(3)
X = rng.normal(size=(6, 3))
WORDS = ["kernel", "kernels", "colonel", "nel", "x"]


def bigrams(word):
    return {word[i : i + 2] for i in range(len(word) - 1)}


def shared_bigrams(A, B):
    return [[len(bigrams(a) & bigrams(b)) for b in B] for a in A]


def test_lists_of_objects():
    kernel = FromFunction(shared_bigrams)
    K = kernel(WORDS)
    assert K.dtype == np.float64
    np.testing.assert_array_equal(K, shared_bigrams(WORDS, WORDS))
    np.testing.assert_array_equal(kernel(WORDS[:2], WORDS), K[:2])
    np.testing.assert_array_equal(kernel.diag(WORDS), [5, 6, 6, 2, 0])
    np.testing.assert_array_equal(kernel(tuple(WORDS)), K)
    np.testing.assert_array_equal(kernel(np.array(WORDS)), K)
    np.testing.assert_array_equal(kernel(pd.Series(WORDS)), K)
    np.testing.assert_array_equal(normalize(kernel).diag(WORDS), [1, 1, 1, 1, 0])


def test_the_function_is_called_per_tile_and_not_per_pair():
    calls = []

    def dot(A, B):
        calls.append((len(A), len(B)))
        return A @ B.T

    A = rng.normal(size=(200, 3))
    np.testing.assert_allclose(FromFunction(dot)(A), A @ A.T)
    assert len(calls) <= 40


def test_the_function_sees_what_was_passed_in():
    seen = []

    def spy(A, B):
        seen.append(type(A))
        return np.zeros(
            (
                A.shape[0] if hasattr(A, "shape") else len(A),
                B.shape[0] if hasattr(B, "shape") else len(B),
            )
        )

    for data, kind in [
        (X, np.ndarray),
        (X.tolist(), np.ndarray),  # rows of numbers are an array
        ([[1.0], [2.0, 3.0]], list),  # ragged rows are not
        ([(1, 2), (3, 4)], list),
        ([{"a": 1}], list),
        (pd.DataFrame(X), np.ndarray),
    ]:
        seen.clear()
        FromFunction(spy)(data)
        assert set(seen) == {kind}
    seen.clear()
    FromFunction(spy)(sp.csr_matrix(X))
    assert all(issubclass(kind, sp.csr_matrix) for kind in seen)


def test_a_diagonal_of_its_own_is_used():
    def refuse(A, B):
        raise AssertionError("not needed for the diagonal")

    kernel = FromFunction(refuse, diagonal=lambda A: [float(len(a)) for a in A])
    assert kernel.diag(WORDS).tolist() == [6, 7, 7, 3, 1]


def test_the_diagonal_comes_in_small_tiles():
    A = rng.normal(size=(100, 3))
    kernel = FromFunction(lambda A, B: A @ B.T)
    np.testing.assert_allclose(kernel.diag(A), (A * A).sum(axis=1))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: np.zeros((len(A), len(B) + 1)), "must return an array of shape"),
        (lambda A, B: np.zeros(len(A)), "must return an array of shape"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN or infinity"),
    ],
)
def test_wrong_results_are_refused(function, message):
    with pytest.raises(ValueError, match=message):
        FromFunction(function)(WORDS)


def test_an_error_in_the_function_is_the_users_own():
    def broken(A, B):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        FromFunction(broken)(WORDS)


@pytest.mark.parametrize("bad", ["word", 3, {"a": 1}, {1, 2}, None, (w for w in WORDS)])
def test_objects_must_come_in_a_list_or_an_array(bad):
    with pytest.raises(TypeError, match="list or an array of objects"):
        FromFunction(shared_bigrams)(bad)


def test_no_objects():
    with pytest.raises(ValueError, match="got no objects"):
        FromFunction(shared_bigrams)([])
    with pytest.raises(ValueError, match="single value"):
        FromFunction(shared_bigrams)(np.array(3.0))


def squares(A):
    A = A.toarray() if sp.issparse(A) else np.asarray(A)
    return np.hstack([A, A * A])


@pytest.mark.spec("SS-04")
def test_a_feature_map_gives_the_dot_products_of_features():
    kernel = FromFeatureMap(squares)
    np.testing.assert_allclose(kernel(X), squares(X) @ squares(X).T, rtol=1e-13)
    np.testing.assert_allclose(kernel(X[:2], X), kernel(X)[:2], rtol=1e-14)
    np.testing.assert_allclose(kernel.diag(X), (squares(X) ** 2).sum(axis=1), rtol=1e-14)
    np.testing.assert_array_equal(kernel.feature_map(X), squares(X))
    mixed = kernel + RBF(0.5) * kernel
    np.testing.assert_allclose(mixed(X), kernel(X) * (1 + RBF(0.5)(X)), rtol=1e-13)


def test_a_feature_map_may_be_sparse():
    kernel = FromFeatureMap(lambda A: sp.csr_matrix(squares(A)))
    np.testing.assert_allclose(kernel(X), squares(X) @ squares(X).T, rtol=1e-13)
    np.testing.assert_allclose(kernel.diag(X), (squares(X) ** 2).sum(axis=1), rtol=1e-14)


def test_feature_maps_of_objects():
    alphabet = sorted({g for w in WORDS for g in bigrams(w)})
    kernel = FromFeatureMap(lambda words: [[g in bigrams(w) for g in alphabet] for w in words])
    np.testing.assert_array_equal(kernel(WORDS), shared_bigrams(WORDS, WORDS))


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (lambda A: np.zeros((len(A) + 1, 2)), "must return an array of shape"),
        (lambda A: np.zeros(len(A)), "must return an array of shape"),
        (lambda A: np.full((len(A), 1), np.inf), "NaN or infinity"),
        (lambda A: sp.csr_matrix((len(A) + 1, 2)), "returned 7 rows for 6 objects"),
    ],
)
def test_wrong_features_are_refused(phi, message):
    with pytest.raises(ValueError, match=message):
        FromFeatureMap(phi)(X)


def test_a_kernel_of_python_values_depends_on_its_two_objects_alone():
    kernel = FromFeatureMap(squares)
    A = rng.normal(size=(83, 3))
    K = kernel(A)
    index = np.array([80, 3, 44])
    np.testing.assert_array_equal(kernel(A[index], A[index]), K[np.ix_(index, index)])


def test_callables_work_in_place_of_functions():
    np.testing.assert_allclose(FromFunction(Linear())(X), X @ X.T)
