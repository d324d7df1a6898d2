"""The two-sample test by the maximum mean discrepancy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from mercer import mmd_test
from mercer.kernels import RBF, Linear, Precomputed, Spectrum

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(13, 2)), RNG.normal(0.5, 1.0, size=(9, 2))


def by_definition(K, n, statistic):
    xx, yy, xy = K[:n, :n], K[n:, n:], K[:n, n:]
    if statistic == "biased":
        return xx.mean() + yy.mean() - 2.0 * xy.mean()
    n, m = len(xx), len(yy)
    left = (xx.sum() - np.trace(xx)) / (n * (n - 1))
    right = (yy.sum() - np.trace(yy)) / (m * (m - 1))
    return left + right - 2.0 * xy.mean()


@pytest.mark.parametrize("statistic", ["biased", "unbiased"])
def test_statistic_and_permutations_are_those_of_the_definition(statistic):
    result = mmd_test(X, Y, RBF(0.5), statistic=statistic, n_permutations=300, random_state=1)
    K = RBF(0.5)(np.vstack([X, Y]))
    assert result.statistic == pytest.approx(by_definition(K, 13, statistic))
    rng = np.random.default_rng(1)
    for value in result.null[:5]:
        chosen = rng.permutation(22)[:13]
        order = np.concatenate([chosen, np.setdiff1d(np.arange(22), chosen)])
        assert value == pytest.approx(by_definition(K[np.ix_(order, order)], 13, statistic))
    larger = np.count_nonzero(result.null >= result.statistic)
    assert result.p_value == (1 + larger) / 301


def test_linear_kernel_measures_the_distance_of_the_means():
    result = mmd_test(X, Y, Linear(), statistic="biased", n_permutations=1)
    assert result.statistic == pytest.approx(((X.mean(axis=0) - Y.mean(axis=0)) ** 2).sum())


@pytest.mark.parametrize("statistic", ["unbiased", "biased", "linear"])
def test_level_and_power(statistic):
    rng = np.random.default_rng(5)
    wrong = right = 0
    for seed in range(400):
        A, B = rng.normal(size=(20, 1)), rng.normal(size=(20, 1))
        options = {"statistic": statistic, "n_permutations": 39, "random_state": seed}
        wrong += mmd_test(A, B, RBF(0.5), **options).p_value <= 0.05
        if seed < 40:
            right += mmd_test(A, 4.0 + B, RBF(0.1), **options).p_value <= 0.05
    # 5 % of 400 is 20 with standard deviation 4.4; the linear statistic is discrete with 10 terms.
    assert wrong <= 34
    assert right >= 38


def test_strings():
    one, other = ["banana", "ananas", "nana", "bananas"] * 3, ["kernel", "colonel", "lonel"] * 4
    assert mmd_test(one, other, Spectrum(2), n_permutations=99, random_state=0).p_value == 0.01
    same = mmd_test(one, list(one), Spectrum(2), n_permutations=99, random_state=0)
    assert same.p_value > 0.5


def test_wild_bootstrap_holds_its_level_where_permutations_do_not():
    rng = np.random.default_rng(7)

    def series(n=150):
        x = rng.normal(size=n)
        for t in range(1, n):
            x[t] += 0.8 * x[t - 1]
        return x[:, None]

    rejected = {None: 0, 12.0: 0}
    for seed in range(60):
        A, B = series(), series()
        for dependence in rejected:
            result = mmd_test(
                A,
                B,
                RBF(0.2),
                statistic="biased",
                n_permutations=99,
                random_state=seed,
                dependence=dependence,
            )
            rejected[dependence] += result.p_value <= 0.05
    assert rejected[None] > 12  # a permutation breaks the dependence in time
    assert rejected[12.0] <= 9


def test_bad_input():
    with pytest.raises(ValueError, match="statistic must be one of"):
        mmd_test(X, Y, statistic="other")
    with pytest.raises(ValueError, match="at least two objects"):
        mmd_test(X, Y[:1])
    with pytest.raises(ValueError, match="FiniteMatrix"):
        mmd_test(X, Y, Precomputed())
    with pytest.raises(ValueError, match="equal length"):
        mmd_test(X, Y, dependence=3.0)


def test_kernels_have_names_and_statistics_that_are_rounding_are_ties():
    named = mmd_test(X, Y, "linear", n_permutations=50, random_state=0)
    given = mmd_test(X, Y, Linear(), n_permutations=50, random_state=0)
    assert (named.statistic, named.p_value) == (given.statistic, given.p_value)
    # Far away every difference of the averages is rounding, so no permutation is smaller.
    assert mmd_test(X + 1e9, Y + 1e9, "linear", n_permutations=50, random_state=0).p_value == 1.0


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_are_pooled_by_their_columns(library):
    first, second = (
        library.DataFrame({"a": part[:, 0], "b": part[:, 1]}) for part in (X, np.round(3 * Y))
    )
    kernel = RBF(1.0).on_columns(["b"]) + Linear().on_columns(["a"])
    rows = (X, np.round(3 * Y))
    placed = RBF(1.0).on_columns([1]) + Linear().on_columns([0])
    for given, expected in ((None, None), (kernel, placed)):
        found = mmd_test(first, second, given, n_permutations=9, random_state=0)
        assert found.statistic == mmd_test(*rows, expected, n_permutations=9).statistic
    renamed = library.DataFrame({"a": Y[:, 0], "c": Y[:, 1]})
    for other in (second[["b", "a"]], second[["a"]], renamed):
        with pytest.raises(ValueError, match="same columns in the same order"):
            mmd_test(first, other)
    mixed = mmd_test(first, rows[1], n_permutations=9).statistic
    assert mixed == mmd_test(*rows, n_permutations=9).statistic


def test_samples_with_different_numbers_of_columns_are_refused():
    for other in (Y[:, :1], sp.csr_array(Y[:, :1])):
        with pytest.raises(ValueError, match="same columns; X has 2, Y has 1"):
            mmd_test(X, other)
