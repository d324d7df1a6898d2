"""Expansions f(x) = sum_i v_i k(x_i, x) + b."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import Expansion
from mercer.kernels import RBF, FromFunction, Linear, Precomputed

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(30, 3))
V = RNG.normal(size=(30, 4))
X = RNG.normal(size=(50, 3))
B = np.arange(4.0)


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), RBF(0.2) + Linear()], ids=repr)
def test_values_are_the_sum_of_kernels(kernel):
    f = Expansion(kernel, Z, V, B)
    np.testing.assert_allclose(f(X), kernel(X, Z) @ V + B, atol=1e-12)
    one = Expansion(kernel, Z, V[:, 0], 2.0)
    np.testing.assert_allclose(one(X), kernel(X, Z) @ V[:, 0] + 2.0, atol=1e-12)
    np.testing.assert_allclose(f.norm2(), np.diag(V.T @ kernel(Z) @ V), rtol=1e-9)
    assert one.norm2() == pytest.approx(V[:, 0] @ kernel(Z) @ V[:, 0])


def test_a_subset_of_the_objects_has_a_subset_of_the_values():
    for kernel in (RBF(0.5), Linear()):
        f = Expansion(kernel, Z, V, B)
        whole = f(X)
        for index in ([0], [3, 1], np.arange(0, 50, 7)):
            np.testing.assert_array_equal(f(X[index]), whole[index])


def test_outputs_terms_and_reduction():
    f = Expansion(RBF(0.5), Z, V, B)
    np.testing.assert_allclose(f[2](X), f(X)[:, 2], atol=1e-13)
    np.testing.assert_allclose(f[[0, 3]](X), f(X)[:, [0, 3]], atol=1e-13)
    part = f.take(np.arange(10))
    np.testing.assert_allclose(part(X), RBF(0.5)(X, Z[:10]) @ V[:10] + B, atol=1e-12)
    sparse = V.copy()
    sparse[::2] = 0.0
    g = Expansion(RBF(0.5), Z, sparse, B)
    assert g.reduce().n_terms == 15
    np.testing.assert_allclose(g.reduce()(X), g(X), atol=1e-13)
    with pytest.raises(IndexError):
        f[0][0]
    assert "30 terms, 4 outputs" in repr(f)


def test_sparse_vectors_objects_and_matrices():
    dense = Expansion(RBF(0.5), Z, V)(X)
    f = Expansion(RBF(0.5), sp.csr_matrix(Z), V)
    np.testing.assert_allclose(f(sp.csr_matrix(X)), dense, atol=1e-10)
    np.testing.assert_allclose(f(X), dense, atol=1e-10)
    linear = Expansion(Linear(), sp.csr_matrix(Z), V)
    np.testing.assert_allclose(linear(X), X @ Z.T @ V, atol=1e-10)
    words = Expansion(
        FromFunction(lambda A, B: [[len(a) * len(b) for b in B] for a in A]),
        ["a", "bcd"],
        [1.0, 2.0],
    )
    np.testing.assert_allclose(words(["xy"]), [14.0])
    K = RBF(0.5)(X, X)
    matrix = Expansion(Precomputed(), np.array([4, 7]), [1.0, -1.0], 0.5)
    np.testing.assert_allclose(matrix(K), K[:, 4] - K[:, 7] + 0.5)
    scaled = Expansion(2.0 * Precomputed(), np.array([4, 7]), [1.0, -1.0], 0.5)
    np.testing.assert_allclose(scaled(K), 2 * K[:, 4] - 2 * K[:, 7] + 0.5)


def test_empty_expansion_is_constant():
    f = Expansion(RBF(0.5), np.empty((0, 3)), np.empty(0), 1.5)
    np.testing.assert_array_equal(f(X), np.full(50, 1.5))


def test_what_makes_no_expansion_is_refused():
    with pytest.raises(ValueError, match="bind"):
        Expansion(RBF(), Z, V)
    with pytest.raises(ValueError, match="30 vectors"):
        Expansion(RBF(0.5), Z, V[:5])
    with pytest.raises(ValueError, match="intercept"):
        Expansion(RBF(0.5), Z, V, [1.0, 2.0])
    with pytest.raises(ValueError, match="features"):
        Expansion(RBF(0.5), Z, V)(X[:, :2])
    with pytest.raises(ValueError, match="toarray"):
        Expansion(RBF(0.5), Z, V)(sp.csr_matrix(X))
    with pytest.raises(ValueError, match="column"):
        Expansion(Precomputed(), [0, 9], [1.0, 2.0])(np.eye(3))
