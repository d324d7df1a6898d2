"""Feature maps and kernels: one machine in two forms (Smola 1998, section 3.1)."""

from math import comb

import numpy as np
import pytest

from mercer import SVC, SVR
from mercer.data import rings
from mercer.inspection import check
from mercer.kernels import FromFeatureMap, Linear, Polynomial

TIGHT = {"tol": 1e-8, "C": 1.0}


@pytest.fixture(scope="module")
def wave():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(30, 2))
    return X, X[:, 0] ** 2 - X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=30)


def quadratic(X):
    a, b = np.asarray(X).T
    return np.column_stack([a * a, np.sqrt(2) * a * b, b * b])


@pytest.mark.spec("SM-3.01")
def test_features_and_kernel_are_one_machine(wave):
    X, y = wave
    explicit = SVR(kernel="linear", epsilon=0.05, **TIGHT).fit(quadratic(X), y)
    by_map = SVR(kernel=FromFeatureMap(quadratic), epsilon=0.05, **TIGHT).fit(X, y)
    by_kernel = SVR(kernel=Polynomial(2, 1.0), epsilon=0.05, **TIGHT).fit(X, y)
    grid = np.random.default_rng(1).uniform(-1, 1, size=(20, 2))
    expected = explicit.predict(quadratic(grid))
    assert by_map.predict(grid) == pytest.approx(expected, abs=1e-6)
    assert by_kernel.predict(grid) == pytest.approx(expected, abs=1e-6)


@pytest.mark.spec("SM-3.02")
def test_every_way_of_giving_a_kernel_is_the_same_machine(wave):
    X, y = wave
    kernel = Polynomial(3, 0.5, 1.0)
    by_name = SVR(kernel="poly", degree=3, gamma=0.5, coef0=1.0, epsilon=0.05, **TIGHT).fit(X, y)
    by_object = SVR(kernel=kernel, epsilon=0.05, **TIGHT).fit(X, y)
    by_function = SVR(kernel=lambda A, B: (0.5 * A @ B.T + 1) ** 3, epsilon=0.05, **TIGHT)
    by_function.fit(X, y)
    by_matrix = SVR(kernel="precomputed", epsilon=0.05, **TIGHT).fit(kernel(X), y)
    grid = np.random.default_rng(1).uniform(-1, 1, size=(20, 2))
    expected = by_name.predict(grid)
    assert by_object.predict(grid) == pytest.approx(expected, abs=1e-6)
    assert by_function.predict(grid) == pytest.approx(expected, abs=1e-6)
    assert by_matrix.predict(kernel(grid, X)) == pytest.approx(expected, abs=1e-6)
    # The expansion (3.5): coefficients times kernel values plus the bias.
    values = kernel(grid, X[by_object.support_]) @ by_object.dual_coef_[0]
    assert values + by_object.intercept_[0] == pytest.approx(by_object.predict(grid))


@pytest.mark.spec("SM-3.03", "HO-01")
def test_quadratic_features_of_the_plane():
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])
    kernel = Polynomial(2, 1.0)
    assert kernel.feature_map(x)[0] == pytest.approx([1, 2 * np.sqrt(2), 4])
    assert kernel.feature_map(z)[0] == pytest.approx([9, 16.9706, 16], abs=5e-5)
    assert (kernel.feature_map(x) @ kernel.feature_map(z).T)[0, 0] == pytest.approx(121)
    assert kernel(x, z)[0, 0] == 121
    X = np.random.default_rng(0).normal(size=(9, 2))
    assert kernel.feature_map(X) == pytest.approx(quadratic(X))


@pytest.mark.spec("HO-01")
def test_an_ellipse_is_a_plane_in_quadratic_features():
    X, y = rings(80, noise=0.02, random_state=0)
    features = Polynomial(2, 1.0).feature_map(X)
    assert SVC(kernel="linear", C=100).fit(X, y).score(X, y) < 0.8
    assert SVC(kernel="linear", C=100).fit(features, y).score(features, y) == 1


@pytest.mark.spec("SM-3.03", "SM-3.04")
@pytest.mark.parametrize(("d", "p"), [(1, 4), (2, 3), (3, 2), (4, 3)])
@pytest.mark.parametrize("c", [0.0, 1.0, 2.5])
def test_polynomial_kernels_are_weighted_monomials(d, p, c):
    X = np.random.default_rng(d).normal(size=(12, d))
    kernel = Polynomial(p, 1.0, c)
    features = kernel.feature_map(X)
    assert features @ features.T == pytest.approx((X @ X.T + c) ** p)
    assert features.shape[1] == (comb(d + p, p) if c > 0 else comb(d + p - 1, p))
    assert check(kernel, X).is_psd


@pytest.mark.spec("SM-3.02")
def test_the_linear_kernel_is_the_linear_machine(wave):
    X, y = wave
    model = SVR(kernel=Linear(), epsilon=0.05, **TIGHT).fit(X, y)
    assert model.predict(X) == pytest.approx(X @ model.coef_[0] + model.intercept_[0])
