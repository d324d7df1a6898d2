"""Precomputed matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.kernels import RBF, Precomputed, exp

rng = np.random.default_rng(4)
X = rng.normal(size=(6, 3))
K = RBF(0.5)(X)


def test_the_matrix_is_the_value():
    kernel = Precomputed()
    np.testing.assert_array_equal(kernel(K), K)
    np.testing.assert_array_equal(kernel.diag(K), np.ones(6))
    np.testing.assert_array_equal((2 * kernel + kernel**2)(K), 2 * K + K**2)
    np.testing.assert_allclose(exp(kernel)(K), np.exp(K), rtol=1e-15)
    assert kernel.is_bound
    assert kernel.bind(K) == kernel


def test_new_rows_are_compared_with_the_training_matrix():
    rows = RBF(0.5)(X[:2] + 1, X)
    np.testing.assert_array_equal(Precomputed()(rows, K), rows)
    np.testing.assert_array_equal((1 + Precomputed())(rows, K), 1 + rows)


def test_lists_and_float32():
    np.testing.assert_array_equal(Precomputed()([[1, 2], [2, 5]]), [[1.0, 2.0], [2.0, 5.0]])
    assert Precomputed()(K.astype(np.float32)).dtype == np.float64


def test_rounding_is_no_asymmetry():
    noisy = K * (1 + 1e-7 * rng.normal(size=K.shape))
    np.testing.assert_array_equal(Precomputed()(noisy), noisy)


def _asymmetric():
    wrong = K.copy()
    wrong[4, 1] += 0.1
    return wrong


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (K[:4], ValueError, "must be a square matrix.*got a 4x6 matrix"),
        (_asymmetric(), ValueError, r"must be symmetric; K\[1, 4\]"),
        (np.full((2, 2), np.nan), ValueError, "NaN"),
        (sp.csr_matrix(K), TypeError, "must be dense"),
        (np.ones(3), ValueError, "Expected 2D array"),
        (["a", "b"], ValueError, "."),
    ],
)
def test_what_is_no_kernel_matrix_is_refused(bad, error, message):
    with pytest.raises(error, match=message):
        Precomputed()(bad)


def test_new_rows_need_one_column_per_training_object():
    with pytest.raises(ValueError, match="got 4 columns for 6 objects"):
        Precomputed()(K[:, :4], K)
    with pytest.raises(ValueError, match="square matrix"):
        Precomputed().diag(K[:2])


def test_large_matrices_are_compared_with_their_transpose_block_by_block():
    A = rng.normal(size=(700, 2))
    big = A @ A.T
    Precomputed().validate(big)
    big[650, 10] += 1.0
    with pytest.raises(ValueError, match=r"K\[10, 650\]"):
        Precomputed().validate(big)
