"""Kernel values where a formula as it stands would lose digits or leave the range of numbers."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.features import Nystrom
from mercer.gram import Gram
from mercer.inspection import FourierOperator
from mercer.kernels import (
    DistanceKernel,
    Linear,
    Matern,
    OverFeatureSpace,
    Polynomial,
    Spectrum,
    ThinPlate,
    normalize,
)

N = 1100  # beyond the size up to which everything is float64


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inner", [Polynomial(2, gamma=1.0, coef0=1.0), Linear()], ids=repr)
def test_no_object_is_at_a_distance_from_itself_in_feature_space(store, dtype, inner):
    X = store(np.random.default_rng(0).normal(size=(12, 5)) + 1e3)
    kernel = OverFeatureSpace(inner)
    K = Gram(kernel, X, dtype).tile()
    np.testing.assert_array_equal(np.diagonal(K), 1.0)
    np.testing.assert_array_equal(kernel.diag(X), 1.0)
    assert K.max() == 1.0


def test_distances_in_the_feature_space_of_strings():
    K = OverFeatureSpace(normalize(Spectrum(2)), 0.5)(["abab", "baba", "abab"])
    assert K[0, 2] == 1.0
    assert 0.0 < K[0, 1] < 1.0


@pytest.mark.parametrize("p", [3.0, 17.5, 50.0, 1000.0, 1e5])
@pytest.mark.parametrize("scale", [1e-20, 1e-7, 1.0, 1e9])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_p_norms_of_any_p_and_scale(p, scale, store):
    x, z = scale * np.array([[0.1, 0.2, 0.0]]), scale * np.array([[0.4, 0.1, 0.0]])
    distance = 0.3 * (1.0 + 3.0**-p) ** (1.0 / p)
    found = DistanceKernel(p, scale)(store(x), store(z))[0, 0]
    assert found == pytest.approx(np.exp(-distance), rel=1e-12)


@pytest.mark.parametrize("degree", [2, 3, 7, 20, 100])
@pytest.mark.parametrize("columns", [4, 300])
def test_automatic_precision_bounds_the_error_of_powers(degree, columns):
    X = np.random.default_rng(0).normal(size=(N, columns)) / np.sqrt(columns)
    for kernel in (
        normalize(Polynomial(degree, gamma=1.0, coef0=1.0)),
        normalize(Polynomial(1, gamma=1.0, coef0=1.0)) ** degree,
    ):
        gram = Gram(kernel, X)
        rows = np.arange(20)
        assert np.abs(gram.tile(rows) - Gram(kernel, X, "float64").tile(rows)).max() <= 2e-6
    assert Gram(Polynomial(2, gamma=1.0, coef0=1.0), X).dtype == "float32"


def test_automatic_precision_looks_at_the_values_that_occur():
    X = 1e3 + 0.01 * np.random.default_rng(0).normal(size=(N, 3))
    for store in (np.asarray, sp.csr_array):
        gram = Gram(ThinPlate(), store(X))
        exact = ThinPlate()(X[:20] - 1e3, X - 1e3)
        assert np.abs(gram.tile(np.arange(20)) - exact).max() <= 2e-6 * np.abs(exact).max()


def test_landmarks_have_their_kernel_values():
    X = np.random.default_rng(0).normal(size=(200, 2))
    for gamma in (1e-3, 0.1, 3.0):
        features = Nystrom(gamma=gamma, n_components=80, random_state=0).fit(X)
        Z = X[features.landmark_indices_]
        F = features.transform(Z)
        np.testing.assert_allclose(F @ F.T, features.kernel_(Z), atol=1e-11)


def test_an_integral_that_does_not_settle_is_commented_on():
    operator = FourierOperator(lambda w: 1.0 / (1.0 + w**2), 1)
    with pytest.warns(RuntimeWarning, match="did not settle"):
        operator.inner(lambda w: 1.0 / (1.0 + w), lambda w: 1.0 / (1.0 + w))


@pytest.mark.parametrize("distance", [1e3, 1e100, 1e154, 1e200, 1e300])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 3.5, 0.3, 1.2, np.inf])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_decaying_kernels_are_zero_at_any_large_distance(distance, nu, store):
    X = store(np.array([[1.0], [distance]]))
    np.testing.assert_allclose(Matern(nu, 0.7)(X), np.eye(2), atol=1e-250)
