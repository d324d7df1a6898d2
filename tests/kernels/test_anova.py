"""The ANOVA kernel: sums of products over sets of columns."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC
from mercer.gram import compile_kernel
from mercer.kernels import (
    ANOVA,
    RBF,
    Constant,
    FiniteMatrix,
    HistogramIntersection,
    Linear,
    Matern,
    Polynomial,
    Spline,
)


@pytest.mark.spec("CS-3.40")
def test_sums_over_subsets_of_one_two_three_four():
    x, z = np.ones((1, 4)), np.array([[1.0, 2.0, 3.0, 4.0]])
    values = [ANOVA(order, Linear())(x, z).item() for order in (1, 2, 3, 4)]
    assert values == [10.0, 35.0, 50.0, 24.0]


@pytest.mark.spec("CS-3.40")
@pytest.mark.parametrize("order", [1, 2, 3, 4, 6, 9])
def test_the_recursion_is_the_sum_over_subsets(order):
    rng = np.random.default_rng(order)
    X, Z = rng.normal(size=(6, 9)), rng.normal(size=(5, 9))
    for base in (RBF(0.5), Linear(), Matern(1.5)):  # the last one is called column by column
        columns = [base(X[:, [j]], Z[:, [j]]) for j in range(9)]
        expected = sum(np.prod(chosen, axis=0) for chosen in combinations(columns, order))
        np.testing.assert_allclose(ANOVA(order, base)(X, Z), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.spec("CS-3.40")
def test_anova_is_positive_semidefinite():
    X = np.random.default_rng(0).normal(size=(40, 6))
    for order in (1, 3, 6):
        kernel = ANOVA(order, RBF(0.3))
        assert kernel.definiteness.is_psd
        assert np.linalg.eigvalsh(kernel(X))[0] > -1e-12
        np.testing.assert_allclose(kernel.diag(X), comb(6, order))
    assert not ANOVA(2, Polynomial(1, gamma=1.0, coef0=-1.0)).definiteness.is_psd


def test_all_orders_together_are_a_product():
    # The sum over all sets of columns is the product of 1 + k over the columns.
    X = np.random.default_rng(1).normal(size=(10, 5))
    total = sum(ANOVA(order, RBF(0.7))(X) for order in range(1, 6)) + 1
    squares = (X[:, None] - X) ** 2
    np.testing.assert_allclose(total, (1 + np.exp(-0.7 * squares)).prod(axis=2), rtol=1e-12)


def test_a_function_of_two_columns_at_a_time_is_learnt():
    # y is a product of two of six columns: an interaction of order two, and none of order one.
    X = np.random.default_rng(2).normal(size=(400, 6))
    y = np.sign(X[:, 1] * X[:, 4])
    score = {
        order: SVC(kernel=ANOVA(order, RBF(0.5)), C=10.0)
        .fit(X[:300], y[:300])
        .score(X[300:], y[300:])
        for order in (1, 2)
    }
    assert score[1] < 0.65 < 0.8 < score[2]


def test_the_native_bases_call_no_python():
    for base in (None, RBF(1.0), Linear(), Spline(), HistogramIntersection()):
        kinds = {leaf.kind for leaf in compile_kernel(ANOVA(2, base)).leaves}
        assert kinds == {"coordinates"}
    assert {leaf.kind for leaf in compile_kernel(ANOVA(2, Matern())).leaves} == {"python"}


def test_sparse_rows():
    rng = np.random.default_rng(3)
    X = rng.random((50, 300)) * (rng.random((50, 300)) < 0.05)
    for base in (RBF(0.5), Linear(), Spline()):
        kernel = ANOVA(2, base)
        np.testing.assert_allclose(kernel(sp.csr_array(X)), kernel(X), rtol=1e-11, atol=1e-11)


def test_a_data_dependent_base_is_bound():
    X = np.random.default_rng(4).normal(size=(30, 4))
    kernel = ANOVA(2, RBF("scale"))
    assert not kernel.is_bound
    bound = kernel.bind(X)
    assert bound.base.gamma == RBF("scale").bind(X).gamma
    np.testing.assert_array_equal(kernel(X), bound(X))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ANOVA(0), "order must be an integer of at least 1"),
        (lambda: ANOVA(65), "order must be at most 64"),
        (lambda: ANOVA(2.5), "order must be an integer"),
        (lambda: ANOVA(2, RBF), r"Create one: RBF\(\)"),
        (lambda: ANOVA(2, FiniteMatrix([[1.0]], ["a"])), "kernel on single columns"),
        (lambda: ANOVA(2, Constant(1.0)), "kernel on single columns"),
        (lambda: ANOVA(4)(np.ones((5, 3))), "order of at most 3"),
        (lambda: ANOVA(4).bind(np.ones((5, 3))), "order of at most 3"),
        (lambda: ANOVA(2, Spline())(-np.ones((5, 3))), "without negative entries"),
    ],
)
def test_what_has_no_meaning_is_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
