"""The test of independence by the Hilbert-Schmidt criterion."""

import numpy as np
import pytest

from mercer import hsic_test
from mercer.hypotheses import independence
from mercer.kernels import RBF, Linear, Spectrum

RNG = np.random.default_rng(0)


def by_definition(K, L):
    n = len(K)
    H = np.eye(n) - 1.0 / n
    return np.trace(K @ H @ L @ H) / n**2


def test_statistic_and_permutations_are_those_of_the_definition(monkeypatch):
    x, y = RNG.normal(size=(20, 2)), RNG.normal(size=(20, 1))
    K, L = RBF(0.3)(x), RBF(0.7)(y)
    result = hsic_test(x, y, RBF(0.3), RBF(0.7), n_permutations=99, random_state=1)
    assert result.statistic == pytest.approx(by_definition(K, L))
    order = np.random.default_rng(1).permutation(20)
    assert result.null[0] == pytest.approx(by_definition(K, L[np.ix_(order, order)]))
    monkeypatch.setattr(independence, "_ROWS", 7)
    monkeypatch.setattr(independence, "_KEPT_BYTES", 0)
    tiles = hsic_test(x, y, RBF(0.3), RBF(0.7), n_permutations=99, random_state=1)
    np.testing.assert_allclose(tiles.null, result.null)


def test_linear_kernels_measure_the_squared_covariance():
    x, y = RNG.normal(size=(30, 1)), RNG.normal(size=(30, 1))
    covariance = np.cov(x[:, 0], y[:, 0], bias=True)[0, 1]
    result = hsic_test(x, y, Linear(), Linear(), n_permutations=1)
    assert result.statistic == pytest.approx(covariance**2)


def test_level_and_power():
    rng = np.random.default_rng(3)
    wrong = right = 0
    for seed in range(300):
        x, y = rng.normal(size=(20, 1)), rng.normal(size=(20, 1))
        wrong += hsic_test(x, y, n_permutations=39, random_state=seed).p_value <= 0.05
        if seed < 40:
            right += (
                hsic_test(x, x**2 + 0.1 * y, n_permutations=39, random_state=seed).p_value <= 0.05
            )
    assert wrong <= 27  # 15 expected, standard deviation 3.8
    assert right >= 36


def test_multipliers_of_the_wild_bootstrap_have_unit_variance_after_centring():
    n, length = 30, 6.0
    x, y = RNG.normal(size=(n, 1)), RNG.normal(size=(n, 1))
    H = np.eye(n) - 1.0 / n
    products = (H @ RBF(0.3)(x) @ H) * (H @ RBF(0.7)(y) @ H)
    covariance = H @ np.exp(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / length) @ H
    covariance /= np.trace(covariance) / n
    result = hsic_test(
        x, y, RBF(0.3), RBF(0.7), n_permutations=20_000, random_state=0, dependence=length
    )
    assert result.statistic == pytest.approx(by_definition(RBF(0.3)(x), RBF(0.7)(y)))
    assert result.null.mean() == pytest.approx((products * covariance).sum() / n**2, rel=0.02)
    with pytest.raises(ValueError, match="smaller than the length of the series, 30"):
        hsic_test(x, y, dependence=30.0)


def test_wild_bootstrap_of_series():
    rng = np.random.default_rng(7)
    rejected = 0
    for seed in range(40):
        x, y = rng.normal(size=(2, 150))
        for t in range(1, 150):
            x[t] += 0.8 * x[t - 1]
            y[t] += 0.8 * y[t - 1]
        result = hsic_test(
            x[:, None], y[:, None], n_permutations=99, random_state=seed, dependence=12.0
        )
        rejected += result.p_value <= 0.05
    assert rejected <= 7
    assert hsic_test(
        x[:, None], np.abs(x)[:, None], n_permutations=99, random_state=0, dependence=12.0
    ).p_value == pytest.approx(0.01)


def test_objects_of_two_kinds():
    words = ["aaa", "aab", "bbb", "bba"] * 6
    lengths = np.array([[0.0], [0.1], [1.0], [0.9]] * 6)
    assert hsic_test(words, lengths, Spectrum(1), n_permutations=99, random_state=0).p_value == 0.01
    with pytest.raises(ValueError, match="as many objects"):
        hsic_test(words, lengths[:5], Spectrum(1))
