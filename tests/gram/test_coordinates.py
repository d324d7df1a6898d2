"""Statistics of histograms and of single coordinates: native values against their definition."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer import _native
from mercer.gram import Gram, coordinate_statistics, evaluate
from tests.gram.programs import Written, on

Array = np.ndarray[Any, np.dtype[np.float64]]

FUNCTIONS = {
    "product": coordinate_statistics.Coordinates("product"),
    "minimum": coordinate_statistics.Coordinates("minimum"),
    "power 1.3": coordinate_statistics.power(1.3),
    "power 1.5": coordinate_statistics.power(1.5),
    "power 3": coordinate_statistics.power(3.0),
    "gaussian": coordinate_statistics.Coordinates("gaussian", 0.8),
    "laplacian": coordinate_statistics.Coordinates("laplacian", 0.8),
    "spline": coordinate_statistics.Coordinates("spline"),
    "bspline 1": coordinate_statistics.bspline(1, 0.7),
    "bspline 9": coordinate_statistics.bspline(9, 0.7),
    "cosines": coordinate_statistics.cosines([0.5, 1.0, 0.25, 0.1, 0.05, 0.3], 2.3),
    "theta, narrow": coordinate_statistics.theta(0.1, 1.7, 0.9, 0.2),
    "theta, wide": coordinate_statistics.theta(0.9, 1.7, 0.9, 0.2),
}
COMBINATIONS = [("product", 0), ("anova", 1), ("anova", 2), ("anova", 4), ("anova", 7)]

histograms = arrays(
    np.float64, (9, 8), elements=st.integers(-64, 128).map(lambda n: max(n, 0) / 64)
)


def combined(factors: Array, combination: str, order: int) -> Array:
    """The sum over all sets of columns, one by one."""
    columns = list(np.moveaxis(factors, -1, 0))
    if combination == "maximum":
        return np.max(columns, axis=0)
    sets = [columns] if combination == "product" else combinations(columns, order)
    return np.asarray(sum(np.prod(chosen, axis=0) for chosen in sets))


def written(function: Any, combination: str, order: int) -> Written:
    return Written(lambda builder: builder.coordinates(function, combination, order))


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=5, deadline=None)
@given(X=histograms)
def test_dense_and_sparse_rows_give_the_definition(name: str, X: Array) -> None:
    f = FUNCTIONS[name]
    factors = f.values(X[:, None], X[None])
    choices = [*COMBINATIONS, ("maximum", 0)] if name.startswith("power") else COMBINATIONS
    for combination, order in choices:
        expected = combined(factors, combination, order)
        kernel, close = written(f, combination, order), 1e-13 * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(evaluate(kernel, X), expected, rtol=1e-12, atol=close)
        np.testing.assert_allclose(
            evaluate(kernel, sp.csr_array(X)), expected, rtol=1e-12, atol=close
        )
        np.testing.assert_allclose(
            evaluate(kernel, X, dtype="float32"),
            expected,
            rtol=1e-5,
            atol=1e-5 * np.abs(expected).max(),
        )
        for rows in (X, sp.csr_array(X)):
            np.testing.assert_allclose(
                kernel.diag(rows), np.diagonal(expected), rtol=1e-12, atol=close
            )


STATISTICS = {
    "minimum": lambda x, z: np.minimum(x, z),
    "harmonic": lambda x, z: x * z / np.where(x + z > 0, x + z, 1),
    "chi": lambda x, z: (x - z) ** 2 / np.where(x + z > 0, x + z, 1),
}


@pytest.mark.parametrize("statistic", STATISTICS)
@settings(max_examples=10, deadline=None)
@given(X=histograms)
def test_statistics_of_histograms(statistic: str, X: Array) -> None:
    expected = STATISTICS[statistic](X[:, None], X[None]).sum(axis=2)
    kernel = on(statistic)
    for rows in (X, sp.csr_array(X)):
        for dtype, error in (("float64", 1e-14), ("float32", 1e-6)):
            values = evaluate(kernel, rows, dtype=dtype)
            np.testing.assert_allclose(values, expected, atol=20 * error)
            np.testing.assert_array_equal(values, values.T)
            np.testing.assert_allclose(
                Gram(kernel, rows, dtype).diag(), np.diagonal(values), atol=error
            )
            if statistic == "chi":
                assert not np.diagonal(values).any()
        np.testing.assert_allclose(kernel.diag(rows), np.diagonal(expected), atol=1e-13)


def test_tiny_and_subnormal_bins() -> None:
    X = np.array([[1e-310, 0.0, 1.0], [0.0, 0.0, 1e-308], [1e-300, 0.0, 2.0]])
    for statistic, rows in ((s, r) for s in ("harmonic", "chi") for r in (X, sp.csr_array(X))):
        values = evaluate(on(statistic), rows)
        assert np.isfinite(values).all()
        exact = STATISTICS[statistic](X[:, None], X[None]).sum(axis=2)
        np.testing.assert_allclose(values, exact, atol=1e-15)


@pytest.mark.parametrize("isa", _native.available_isas())
def test_every_instruction_set_agrees(isa: str) -> None:
    X = np.random.default_rng(0).random((70, 11))
    usual = _native.isa()
    try:
        _native.set_isa(isa)
        for f in FUNCTIONS.values():
            for combination, order in COMBINATIONS:
                expected = coordinate_statistics.combined(
                    (f.values(X[:, None, j], X[None, :, j]) for j in range(11)), combination, order
                )
                values = evaluate(written(f, combination, order), X)
                error = np.abs(values - expected).max() / np.abs(expected).max()
                assert error < 1e-13, (f, combination, order)
    finally:
        _native.set_isa(usual)


def test_a_value_depends_on_its_two_rows_alone() -> None:
    rng = np.random.default_rng(1)
    X = rng.random((300, 40)) * (rng.random((300, 40)) < 0.3)
    few = np.array([299, 0, 17])
    for f in FUNCTIONS.values():
        for combination, order in (("product", 0), ("anova", 2)):
            kernel = written(f, combination, order)
            for rows in (X, sp.csr_array(X)):
                whole, part = evaluate(kernel, rows), evaluate(kernel, rows[few])
                np.testing.assert_array_equal(part, whole[np.ix_(few, few)])
                np.testing.assert_array_equal(whole, whole.T)


def test_a_function_of_the_difference_is_exact_at_zero() -> None:
    X = np.full((3, 50), 0.3)
    for name, f in FUNCTIONS.items():
        if f.of_difference and not name.startswith("power"):
            for dtype in ("float32", "float64"):
                values = evaluate(written(f, "product", 0), X, dtype=dtype)
                assert (values == np.dtype(dtype).type(f.peak**50)).all(), name


def test_rows_far_from_the_origin_are_moved_to_it() -> None:
    # Of float64 data with mean 1e4, single precision would keep three digits of the differences.
    X = np.random.default_rng(2).random((1100, 3)) + 1e4
    kernel = written(coordinate_statistics.Coordinates("gaussian", 1.0), "anova", 2)
    gram = Gram(kernel, X)
    assert gram.dtype == "float32"
    exact = evaluate(kernel, X)[:50]
    assert np.abs(gram.tile(range(50)) - exact).max() <= 2e-6 * 3


def test_sums_over_very_many_columns_of_sparse_rows_are_refused() -> None:
    X = sp.csr_array((np.ones(2), ([0, 1], [5, 99_999])), shape=(2, 100_000))
    with pytest.raises(ValueError, match="every column"):
        evaluate(written(coordinate_statistics.Coordinates("gaussian", 1.0), "anova", 1), X)
    product = evaluate(written(coordinate_statistics.Coordinates("gaussian", 1.0), "product", 0), X)
    np.testing.assert_allclose(product, [[1.0, np.exp(-2)], [np.exp(-2), 1.0]])
    common = evaluate(written(coordinate_statistics.Coordinates("product"), "anova", 2), X)
    np.testing.assert_array_equal(common, np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"function": "sine"}, "unknown function"),
        ({"combination": "anova", "order": 0}, "order out of range"),
        ({"combination": "anova", "order": 65}, "order out of range"),
        ({"function": "bspline", "count": 3}, "too few coefficients"),
    ],
)
def test_malformed_descriptions_are_refused(changes: dict[str, Any], message: str) -> None:
    objects = _native.Objects64(2)
    objects.dense(np.eye(2))
    source = coordinate_statistics.Coordinates("product").source("product", 0) | changes
    with pytest.raises(ValueError, match=message):
        _native.Evaluator64([("leaf", 0)], [("coordinates", source)], 0, objects, objects)
