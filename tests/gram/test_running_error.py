"""The bound of the rounding of a kernel value holds, for every program that can be run exactly."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.gram import compile_kernel
from mercer.gram.running_error import ErrorBounds
from mercer.kernels import (
    RBF,
    BSpline,
    DistanceKernel,
    FourierSeries,
    FromFunction,
    Laplacian,
    Linear,
    LogDistance,
    Multiquadric,
    OverFeatureSpace,
    PeriodicGaussian,
    Polynomial,
    PowerSeries,
    Sigmoid,
    ThinPlate,
    normalize,
)
from tests.catalogue import catalogue, sample
from tests.gram.exact_programs import exact_value

EXTRA = [
    BSpline(13),
    BSpline(25),
    FourierSeries([0.0] * 30 + [1.0], 0.3),
    PeriodicGaussian(3.0),
    PeriodicGaussian(0.3),
    LogDistance(),
    LogDistance(1.0, 3.0),
    normalize(Polynomial(100, gamma=1.0, coef0=1.0)),
    OverFeatureSpace(Polynomial(2, gamma=1.0, coef0=1.0)),
    normalize(BSpline(9)),
    DistanceKernel(1.5, scale=2.0) * RBF(0.1) + 2 * Linear() ** 2,
]


def _exactly_computable(kernel):
    program = compile_kernel(kernel)
    kernels = [s.kernel for s in program.scalars]
    plain = all(
        leaf.kind not in ("python", "matrix", "sequence")
        and leaf.mapping is None
        and leaf.kernel is None
        and leaf.columns is None
        for leaf in program.leaves
    )
    tables = any(i[0] == "table" for i in program.code)
    return plain and not tables and all(map(_exactly_computable, kernels))


def _kernels():
    bound = [(e.kernel.bind(sample(e.objects, 6, np.random.default_rng(0))), e.objects)
             for e in catalogue() if "vectors" in e.objects or e.objects in
             ("histograms", "numbers", "non-negative vectors")]  # fmt: skip
    return [(k, o) for k, o in bound if _exactly_computable(k)] + [(k, "vectors") for k in EXTRA]


def _compare(kernel, X, dense):
    values, bounds = kernel(X), ErrorBounds(kernel, X)
    errors = bounds.rows()
    assert bounds.known
    assert np.isfinite(errors).all()
    for i in range(len(dense)):
        for j in range(i, len(dense)):
            exact = exact_value(kernel, dense[i], dense[j])
            assert abs(exact - values[i, j]) <= errors[i, j], (i, j, float(exact), values[i, j])


@pytest.mark.parametrize(("kernel", "objects"), _kernels(), ids=lambda p: repr(p)[:60])
def test_the_error_of_a_value_is_bounded(kernel, objects):
    X = sample(objects, 4, np.random.default_rng(2))
    _compare(kernel, X, X)
    if objects == "vectors":
        near = 0.02 * X  # values that differ little
        _compare(kernel, near, near)


@pytest.mark.parametrize(
    "kernel",
    [RBF(0.1), Laplacian(0.5), ThinPlate(), LogDistance(), Multiquadric(0.1), PeriodicGaussian(3.0),
     FourierSeries([0.5, 1.0, 0.25], 3.0), Linear(), Polynomial(3, gamma=0.01, coef0=1.0)],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_error_is_bounded_far_from_the_origin(kernel, store):
    X = 1e3 + np.random.default_rng(1).random((4, 3))
    X[:, 1] = 0.0
    _compare(kernel, store(X), X)


def test_sparse_distances_keep_their_digits_far_from_the_origin():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((30, 40)) < 0.7, 1e4 + 1e-3 * rng.random((30, 40)), 0.0)
    dense[10:] = dense[9] + 1e-3 * (dense[9] > 0) * rng.random((20, 40))
    for kernel in (RBF(1.0), Laplacian(1.0), ThinPlate(), DistanceKernel("chi2", scale=1e-7)):
        expected = kernel(dense)
        found = kernel(sp.csr_array(dense))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
        np.testing.assert_array_equal(found, found.T)


def test_the_bounds_are_not_idle():
    X = np.random.default_rng(0).normal(size=(40, 5))
    for kernel in (RBF(0.5), Laplacian(0.5), Polynomial(3, gamma=0.2, coef0=1.0), Linear()):
        assert ErrorBounds(kernel, X).rows().max() < 1e-14 * np.abs(kernel(X)).max()


def test_errors_of_functions_are_unknown():
    X = np.zeros((2, 1))
    assert not ErrorBounds(FromFunction(lambda A, B: A @ B.T), X).known
    assert not ErrorBounds(normalize(FromFunction(lambda A, B: A @ B.T + 1.0)), X).known
    assert ErrorBounds(normalize(RBF(1.0) + 1.0), X).known


@pytest.mark.parametrize(
    ("kernel", "x", "exact"),
    [
        (LogDistance(), 1e-6, -1e-12),
        (LogDistance(1.0), 1e-9, -1e-9),
        (Sigmoid(1e-8), 1e-5, 0.0),
        (Sigmoid(1.0), 1e-4, 0.0),
        (PowerSeries("sinh"), 1e-5, 0.0),
        (PowerSeries("log"), 1e-5, 0.0),
    ],
    ids=repr,
)
def test_small_values_keep_their_digits(kernel, x, exact):
    z = 0.0 if exact else x
    expected = exact_value(kernel, [x], [z])
    assert kernel([[x]], [[z]])[0, 0] == pytest.approx(float(expected), rel=1e-14)
    assert abs(float(expected)) > 0
