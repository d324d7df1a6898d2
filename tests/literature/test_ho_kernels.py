"""Kernels of Honavar's slides: feature maps, Gram matrices and what may be done with kernels."""

import numpy as np
import pytest

from mercer import SVC
from mercer.kernels import RBF, FromFeatureMap, FromFunction, Linear, Polynomial, exp, polynomial

rng = np.random.default_rng(4)
X = rng.normal(size=(12, 3))


def smallest_eigenvalue(K):
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    return np.linalg.eigvalsh(K)[0]


@pytest.mark.spec("HO-01")
def test_the_quadratic_map_of_the_plane():
    square = Polynomial(degree=2, gamma=1.0, coef0=0.0)
    x, z = [[1.0, 2.0]], [[3.0, 4.0]]
    np.testing.assert_allclose(square.feature_map(x), [[1, 2 * np.sqrt(2), 4]])
    np.testing.assert_allclose(square.feature_map(z), [[9, 12 * np.sqrt(2), 16]])
    assert square(x, z)[0, 0] == 121
    assert (square.feature_map(x) @ square.feature_map(z).T)[0, 0] == pytest.approx(121)
    # An ellipse becomes a plane.
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring = np.stack([np.cos(angle), 2 * np.sin(angle)], axis=1)
    data, y = np.r_[0.8 * ring, 1.2 * ring], np.repeat([0, 1], 40)
    assert SVC(kernel=Linear()).fit(data, y).score(data, y) < 0.7
    assert (
        SVC(kernel=Linear(), C=100.0)
        .fit(square.feature_map(data), y)
        .score(square.feature_map(data), y)
        == 1.0
    )


@pytest.mark.spec("HO-04")
def test_a_matrix_is_a_gram_matrix_if_and_only_if_it_is_symmetric_and_positive_semidefinite():
    K = Polynomial(degree=2, gamma=0.5, coef0=1.0)(X)
    assert smallest_eigenvalue(K) > -1e-12
    # Conversely, the rows of a root of K are vectors that have it as their Gram matrix.
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    np.testing.assert_allclose(Linear()(root), K, atol=1e-10)
    y = X[:, 0] > 0
    given = SVC(kernel="precomputed", C=10.0, tol=1e-9).fit(K, y)
    found = SVC(kernel=Linear(), C=10.0, tol=1e-9).fit(root, y)
    np.testing.assert_allclose(given.decision_function(K), found.decision_function(root), atol=1e-6)


@pytest.mark.spec("HO-06")
def test_the_exponential_of_the_dot_product_needs_its_sign():
    points = np.array([[-1.0], [1.0]])
    printed = FromFunction(lambda A, B: np.exp(-(A @ B.T)))(points)
    np.testing.assert_allclose(np.linalg.eigvalsh(printed), [-2.3504, 3.0862], atol=1e-4)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(exp(Linear())(points)), [2.3504, 3.0862], atol=1e-4
    )
    assert exp(0.5 * Linear()).definiteness.is_psd
    np.testing.assert_allclose(exp(0.5 * Linear())(X), np.exp(X @ X.T / 2), rtol=1e-12)
    np.testing.assert_allclose(
        RBF.from_sigma(0.7)([[0.0]], [[1.0]]), np.exp(-1 / (2 * 0.7**2)), rtol=1e-13
    )


@pytest.mark.spec("HO-07")
def test_what_keeps_a_kernel_a_kernel():
    k1, k2 = RBF(0.5), Polynomial(degree=3, gamma=1.0, coef0=0.5)
    root = rng.normal(size=(3, 2))
    B = root @ root.T  # positive semidefinite, of rank 2
    made = {
        "sum": k1 + k2,
        "scaled": 3 * k1,
        "product": k1 * k2,
        "polynomial": polynomial(k1, [1.0, 0.0, 2.0]),
        "f(x) f(z)": FromFeatureMap(lambda A: np.sin(A[:, :1])),
        "k(phi(x), phi(z))": FromFunction(
            lambda A, C: RBF(1.0)(A[:, :2] ** 2, C[:, :2] ** 2), "positive semidefinite"
        ),
        "x' B z": FromFeatureMap(lambda A: A @ root),
    }
    for name, kernel in made.items():
        assert kernel.definiteness.is_psd, name
        assert smallest_eigenvalue(kernel(X)) > -1e-9 * np.abs(kernel(X)).max(), name
    np.testing.assert_allclose(made["x' B z"](X), X @ B @ X.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(made["product"](X), k1(X) * k2(X), rtol=1e-12)
