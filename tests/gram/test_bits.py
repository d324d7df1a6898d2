"""A kernel value depends on its two rows alone: the same bits wherever it is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC, SVR
from mercer.gram import Gram, Prepared, evaluate
from mercer.kernels import (
    ANOVA,
    RBF,
    BSpline,
    Exponential,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    OverFeatureSpace,
    PeriodicGaussian,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    exp,
    normalize,
)

N = 400

KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "polynomial": Polynomial(3, gamma=0.1, coef0=1.0),
    "rbf": RBF(0.1),
    "laplacian": Laplacian(0.1),
    "sigmoid": Sigmoid(gamma=0.05, coef0=0.1),
    "sum and product": 2 * RBF(0.3) + Linear() * RBF(0.1),
    "power": RBF(0.05) ** 3,
    "exponential": exp(0.01 * Linear()),
    "normalised": normalize(Polynomial(2, gamma=0.1, coef0=1.0)),
    "root and power": Exponential(0.2) + RationalQuadratic(0.7, 2.0),
    "table": Matern(1.2, 3.0),
    "coordinates": ANOVA(2, RBF(0.3)) + 2 * BSpline(3, 4.0),
    "periodic": PeriodicGaussian(3.0),
    "diagonal": OverFeatureSpace(Linear(), 0.05),
    "columns": RBF(0.2).on_columns([0, 3]) + Linear().on_columns([1]),
}


def dense() -> Any:
    return np.random.default_rng(0).normal(size=(N, 13))


def mostly_zero() -> Any:
    rng = np.random.default_rng(1)
    return rng.random((N, 90)) * (rng.random((N, 90)) < 0.1)


OBJECTS = {
    "dense": dense,
    "mostly zero": mostly_zero,
    "csr": lambda: sp.csr_matrix(mostly_zero()),
    "float32": lambda: dense().astype(np.float32),
}

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
each_objects = pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
each_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


@each_dtype
@each_objects
@each_kernel
def test_tiles_subsets_and_threads(kernel: Kernel, make: Any, dtype: str) -> None:
    X = make()
    gram = Gram(kernel, X, dtype)
    full = gram.tile(n_jobs=1)
    assert np.array_equal(full, full.T)
    assert np.array_equal(gram.tile(range(N)), full)  # the whole is computed by halves
    assert np.array_equal(gram.tile(n_jobs=2), full)
    assert np.array_equal(np.diag(full), gram.diag())
    for rows in ([3], [399, 0, 250], list(range(100, 133)), [7, 7], list(range(257))):
        assert np.array_equal(gram.tile(rows), full[rows])
    assert np.array_equal(gram.tile([5, 6], [1, 398]), full[np.ix_([5, 6], [1, 398])])
    # The same rows in another company and at other places.
    order = np.random.default_rng(2).permutation(N)[:233]
    assert np.array_equal(Gram(kernel, X[order], dtype).tile(), full[np.ix_(order, order)])
    assert np.array_equal(evaluate(kernel, X[order], X, dtype), full[order])
    prepared = Prepared(kernel, X, dtype)
    assert np.array_equal(prepared.tile(X[41:42])[0], full[41])
    assert np.array_equal(prepared.tile(X[order], n_jobs=2), full[order])


@each_dtype
@each_objects
@each_kernel
def test_products_agree_with_tiles(kernel: Kernel, make: Any, dtype: str) -> None:
    X = make()
    gram = Gram(kernel, X, dtype)
    V = np.random.default_rng(3).normal(size=(N, 3))
    K = gram.tile().astype(np.float64)
    product = gram.matmul(V, n_jobs=1)
    scale = np.abs(K) @ np.abs(V)
    assert np.all(np.abs(product - K @ V) <= 1e-13 * scale)
    assert np.array_equal(gram.matmul(V, n_jobs=2), product)
    prepared = Prepared(kernel, X, dtype)
    rows = [0, 17, 399]
    assert np.array_equal(prepared.matmul(X[rows], V), product[rows])
    assert gram.matmul(V[:, 0]).shape == (N,)
    assert gram.matmul(V[:, 0]) == pytest.approx(product[:, 0], rel=1e-10, abs=1e-10)
    parts = prepared.grouped_matmul(X, [(0, V[:250, :2]), (250, V[250:, 2:])])
    expected = np.column_stack([K[:, :250] @ V[:250, :2], K[:, 250:] @ V[250:, 2:]])
    assert parts == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_several_large_columns_and_few_rows() -> None:
    X = np.random.default_rng(4).normal(size=(50, 3))
    V = np.random.default_rng(5).normal(size=(50, 70))
    gram = Gram(RBF(0.3), X)
    assert gram.matmul(V) == pytest.approx(gram.tile() @ V, abs=1e-13)
    assert gram.matmul(np.zeros((50, 0))).shape == (50, 0)
    assert gram.tile([]).shape == (0, 50)


def test_far_data_keep_the_bits_within_one_gram() -> None:
    # The centre that is subtracted belongs to the objects that stay.
    X = dense() + 1e4
    full = Gram(RBF(0.1), X, "float32").tile()
    prepared = Prepared(RBF(0.1), X, "float32")
    assert np.array_equal(prepared.tile(X), full)
    assert np.array_equal(prepared.tile(X[100:103]), full[100:103])


@each_objects
def test_predicting_a_subset_is_a_subset_of_the_predictions(make: Any) -> None:
    X = make()
    rng = np.random.default_rng(6)
    y = rng.integers(0, 7, N)
    target = rng.normal(size=N)
    for dtype in ("float32", "float64"):
        classifier = SVC(dtype=dtype, gamma=0.1).fit(X, y)
        regressor = SVR(dtype=dtype, gamma=0.1).fit(X, target)
        f, g = classifier.decision_function(X), regressor.predict(X)
        for rows in ([3], [5, 390], list(range(129))):
            assert np.array_equal(classifier.decision_function(X[rows]), f[rows])
            assert np.array_equal(regressor.predict(X[rows]), g[rows])
