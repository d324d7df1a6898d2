"""Kernels of histograms."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import additive_chi2_kernel, chi2_kernel

from mercer import SVC
from mercer.kernels import (
    AdditiveChiSquare,
    ChiSquare,
    DistanceKernel,
    HistogramIntersection,
    Laplacian,
    Spline,
    exp,
)

KERNELS = [HistogramIntersection(), ChiSquare(0.5), AdditiveChiSquare(), Spline()]


def dirichlet(n, d, seed=0, concentration=0.3):
    return np.random.default_rng(seed).dirichlet(np.full(d, concentration), size=n)


@pytest.mark.spec("CS-8.13")
def test_distances_of_disjoint_histograms():
    x, z = [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]
    assert ChiSquare(1.0)(x, z).item() == pytest.approx(np.exp(-2.0))  # a distance of 2
    assert ChiSquare(1.0)(x, x).item() == 1.0
    assert HistogramIntersection()(x, z).item() == AdditiveChiSquare()(x, z).item() == 0.0


@pytest.mark.spec("CS-8.13")
@pytest.mark.parametrize("bins", [3, 8, 20])
def test_chi_square_is_positive_definite_on_histograms(bins):
    X = dirichlet(60, bins, seed=bins)
    for variance in (0.5, 2.0, 10.0):
        kernel = ChiSquare(1.0 / variance)
        assert kernel.definiteness == "positive definite"
        assert DistanceKernel("chi2", variance).definiteness == "positive definite"
        assert np.linalg.eigvalsh(kernel(X))[0] > 0


@pytest.mark.spec("CS-8.13")
def test_the_distance_is_the_mass_minus_four_harmonic_sums():
    X = 3 * np.random.default_rng(1).random((20, 7))
    mass = X.sum(axis=1)
    distance = -np.log(ChiSquare(1.0)(X))
    np.testing.assert_allclose(
        mass[:, None] + mass - 2 * AdditiveChiSquare()(X), distance, atol=1e-12
    )


def test_the_same_values_as_scikit_learn():
    X, Z = dirichlet(30, 12), dirichlet(20, 12, seed=1)
    np.testing.assert_allclose(ChiSquare(0.7)(X, Z), chi2_kernel(X, Z, gamma=0.7), rtol=1e-12)
    # scikit-learn's additive kernel is the negative distance; ours is half the mass above it.
    negative = additive_chi2_kernel(X, Z)
    np.testing.assert_allclose(AdditiveChiSquare()(X, Z), 1 + negative / 2, atol=1e-12)


def test_intersection_and_l1_distance_share_the_mass():
    # min(x, z) = (x + z - |x - z|) / 2, so for histograms of mass 1 they say the same.
    X = dirichlet(25, 9)
    from_l1 = 1 + np.log(Laplacian(1.0)(X)) / 2
    np.testing.assert_allclose(HistogramIntersection()(X), from_l1, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sparse_histograms(kernel):
    rng = np.random.default_rng(2)
    X = rng.random((60, 500)) * (rng.random((60, 500)) < 0.03)
    sparse = sp.csr_array(X)
    np.testing.assert_allclose(kernel(sparse), kernel(X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(sparse), np.diagonal(kernel(X)), rtol=1e-11)
    single = SVC(kernel=kernel).fit(sparse, X[:, 0] > 0) if X[:, 0].any() else None
    assert single is None or single.certificate_.status == "optimal"


def test_an_empty_histogram():
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    assert HistogramIntersection()(X).tolist() == [[0.0, 0.0], [0.0, 3.0]]
    assert AdditiveChiSquare()(X).tolist() == [[0.0, 0.0], [0.0, 3.0]]
    np.testing.assert_allclose(ChiSquare(1.0)(X), [[1.0, np.exp(-3)], [np.exp(-3), 1.0]])


@pytest.mark.parametrize("kernel", [*KERNELS, exp(HistogramIntersection()), 2 * Spline()], ids=repr)
def test_negative_entries_are_refused_at_the_door(kernel):
    X = dirichlet(10, 4)
    X[7, 2] = -0.25
    with pytest.raises(ValueError, match=r"without negative entries.*-0\.25"):
        kernel(X)
    with pytest.raises(ValueError, match="without negative entries"):
        kernel.bind(X)
    with pytest.raises(ValueError, match="without negative entries"):
        kernel(sp.csr_array(X))
    with pytest.raises(ValueError, match="row 7, column 2"):
        kernel(np.abs(X), X)
    with pytest.raises(ValueError, match="without negative entries"):
        SVC(kernel=kernel).fit(X, np.arange(10) % 2)


@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf, "scale", None])
def test_the_width_must_be_a_number(gamma):
    with pytest.raises((ValueError, TypeError), match="gamma must be"):
        ChiSquare(gamma)
