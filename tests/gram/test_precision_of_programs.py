"""Single precision is taken only where it is enough, for every kernel of the catalogue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.gram import Gram
from mercer.kernels import (
    ANOVA,
    RBF,
    BSpline,
    ChiSquare,
    Exponential,
    HistogramIntersection,
    Kernel,
    Linear,
    Matern,
    OverFeatureSpace,
    RationalQuadratic,
    ThinPlate,
)
from tests.catalogue import catalogue, sample

N = 1100  # beyond the size up to which everything is float64
ROWS = list(range(0, N, 100))
# Irrational factors: the entries of the samples have few bits, which single precision holds.
VARIANTS = {
    "as drawn": lambda X: X * (np.pi / 3),
    "wide": lambda X: X * 7.3,
    "near-duplicates": lambda X: np.abs(X[np.arange(N) // 10] * (1 + 1e-4 * np.pi * (X % 1))),
    "sparse": lambda X: sp.csr_array(np.where(np.indices(X.shape).sum(0) % 2, X, 0) * (np.pi / 3)),
}
EXAMPLES = [
    example
    for kind in ("vectors", "histograms", "numbers")
    for example in catalogue(kind)
    if not example.kernel.pairwise
]


@pytest.mark.parametrize("variant", VARIANTS)
def test_values_of_every_kernel(variant: str) -> None:
    single = 0
    for example in EXAMPLES:
        kernel = example.kernel
        drawn = sample(example.objects, N, np.random.default_rng(0))
        try:
            X = kernel.validate(VARIANTS[variant](drawn))
            gram = Gram(kernel, X)
            values = gram.tile(ROWS)
        except (ValueError, IndexError):  # a user's function that takes no sparse rows
            continue
        if gram.dtype == "float64":
            continue
        single += 1
        exact = Gram(kernel, X, "float64").tile(ROWS)
        error = np.abs(values - exact).max()
        assert error <= 2e-6 * np.abs(exact).max(), (str(example), error)
    assert single >= len(EXAMPLES) // 4  # it is taken where it serves


def standardised() -> Any:
    return np.random.default_rng(1).normal(size=(N, 10))


@pytest.mark.parametrize(
    ("kernel", "data", "dtype"),
    [
        (Exponential(0.5), standardised(), "float32"),
        (Matern(1.5, 2.0), standardised() + 1e4, "float32"),
        (Matern(1.2, 2.0), standardised(), "float32"),
        (RationalQuadratic(), standardised(), "float32"),
        (HistogramIntersection(), np.abs(standardised()), "float32"),
        (ChiSquare(0.1), np.abs(standardised()) / 10, "float32"),
        (ANOVA(2, RBF(0.5)), standardised(), "float32"),
        (BSpline(3, 2.0), standardised(), "float32"),
        # The root of a difference of norms loses half of the digits.
        (Exponential(0.5), sp.csr_array(standardised()), "float64"),
        # A spline of high order is an alternating sum of large terms.
        (BSpline(15, 1.0), standardised(), "float64"),
        # A distance in feature space is a difference of large numbers.
        (OverFeatureSpace(Linear(), 1.0), 30 * standardised(), "float64"),
        (ANOVA(3, Linear()), 1e3 * standardised(), "float64"),
        (Exponential(1e4), standardised(), "float64"),
    ],
)
def test_the_precision_that_is_chosen(kernel: Kernel, data: Any, dtype: str) -> None:
    assert Gram(kernel, data).dtype == dtype


def test_an_overflow_is_not_taken_for_accuracy() -> None:
    assert Gram(ThinPlate(), 1e12 * standardised()).dtype in ("float32", "float64")
    huge = Gram(ThinPlate() ** 9, 1e3 * standardised())
    assert huge.dtype == "float64"
