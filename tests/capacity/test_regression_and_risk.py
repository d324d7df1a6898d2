"""Regression bounds, Bayesian statements, risks and estimates of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mercer import SVC
from mercer.capacity import (
    cross_validation_estimate,
    empirical_risk,
    gaussian_posterior,
    hard_margin_bound,
    log_marginal_likelihood,
    map_weights,
    regression_bound,
    regression_slacks,
    sse_bound,
    vc_bound,
)
from mercer.kernels import RBF


@pytest.mark.spec("CS-4.34")
def test_regression_slacks() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0])
    A = np.column_stack([x, np.ones(3)])
    f = A @ np.linalg.lstsq(A, y, rcond=None)[0]
    slacks = regression_slacks(f, y, theta=0.3, margin=0.1)
    assert slacks == pytest.approx([0, 0.13333, 0], abs=1e-5)
    rng = np.random.default_rng(7)
    g, t = rng.normal(size=(2, 100))
    slack = regression_slacks(g, t, theta=1.0, margin=0.4)
    assert np.array_equal(slack > 0.4, np.abs(g - t) > 1.0)
    with pytest.raises(ValueError, match="margin <= theta"):
        regression_slacks(f, y, theta=0.1, margin=0.3)


@pytest.mark.spec("CS-4.35")
def test_hard_regression_bound() -> None:
    made = regression_bound(10**6, 1.0, 0.5, theta=0.7, largest_residual=0.2)
    assert made.value == pytest.approx(0.272190, rel=1e-5)
    assert made.certified
    with pytest.raises(ValueError, match="exceeds theta - margin"):
        regression_bound(10**6, 1.0, 0.5, theta=0.7, largest_residual=0.21)
    with pytest.raises(ValueError, match="norm=1 or norm=2"):
        regression_bound(10**6, 1.0, 0.5, slack=1.0)


@pytest.mark.spec("CS-4.36", "CS-4.37")
def test_two_norm_and_sse_bounds() -> None:
    made = regression_bound(1000, 1.0, 0.5, norm=2, w_norm=2.0, slack=math.sqrt(2))
    assert made.value == pytest.approx(2.38793, abs=1e-5)
    # Only the product of norm and radius matters: the function is not rescaled.
    wider = regression_bound(1000, 4.0, 0.5, norm=2, w_norm=0.5, slack=math.sqrt(2))
    assert wider.value == pytest.approx(made.value)
    sse = sse_bound(1000, radius=1.0, w_norm=2.0, sse=2.0, theta=0.5)
    assert sse.value == pytest.approx(made.value)
    assert made.relative
    assert sse.relative
    # Ridge regression with lambda = R^2 minimises it.
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=40)
    R2 = np.max(np.sum(X**2, axis=1))

    def value(lam: float) -> float:
        w = np.linalg.solve(X.T @ X + lam * np.eye(3), X.T @ y)
        residual = np.sum((y - X @ w) ** 2)
        return sse_bound(40, math.sqrt(R2), np.linalg.norm(w), residual, theta=1.0).value

    factors = (0.01, 0.1, 0.5, 0.9, 1, 1.1, 2, 10)
    assert min(factors, key=lambda t: value(t * R2)) == 1


@pytest.mark.spec("CS-4.38")
def test_one_norm_regression_bound_takes_the_logarithm_of_the_margin() -> None:
    made = regression_bound(1000, 1.0, 0.5, norm=1, w_norm=2.0, slack=3.0)
    by_hand = ((4 + 9 * math.log2(2)) / 0.25 * math.log2(1000) ** 2 + math.log2(20)) / 1000
    assert made.value == pytest.approx(by_hand)
    # The slack term has log(1/gamma), not the log(1/delta) of the scan.
    surer = regression_bound(1000, 1.0, 0.5, delta=0.001, norm=1, w_norm=2.0, slack=3.0)
    assert surer.terms["slack"] == made.terms["slack"]
    # The 1-norm copes with outliers: the best constant for (0, 0, 0, 0, 10) is 0, not 2.
    y, grid = np.array([0, 0, 0, 0, 10.0]), np.linspace(0, 10, 1001)
    one = [regression_slacks(np.full(5, g), y, 0.5, 0.5).sum() for g in grid]
    two = [np.sum(regression_slacks(np.full(5, g), y, 0.5, 0.5) ** 2) for g in grid]
    assert (grid[np.argmin(one)], grid[np.argmin(two)]) == pytest.approx((0, 2))


@pytest.mark.spec("CS-4.39")
def test_marginal_likelihood_is_the_density_of_noisy_targets() -> None:
    K = np.array([[1.0, 0.6], [0.6, 1.0]])
    y, noise = np.array([0.4, -0.3]), 0.2
    # Average of P(y | t) over draws of t from the prior.
    t = np.random.default_rng(9).multivariate_normal([0, 0], K, size=200_000)
    likelihood = np.exp(-np.sum((y - t) ** 2, axis=1) / (2 * noise)) / (2 * math.pi * noise)
    made = math.exp(log_marginal_likelihood(K, y, noise))
    assert made == pytest.approx(likelihood.mean(), rel=0.01)


@pytest.mark.spec("CS-4.40", "CS-4.41")
def test_most_probable_function_is_the_posterior_mean() -> None:
    x, y = np.array([[0.0], [1.0]]), [1.0, 0.0]
    kernel = RBF(1.0)
    mean, variance = gaussian_posterior(kernel(x), kernel([[0.5]], x), [1.0], y, noise=0.1)
    assert (mean[0], variance[0]) == pytest.approx((0.530562, 0.173596), abs=1e-6)
    rng = np.random.default_rng(10)
    Phi, phi, t = rng.normal(size=(8, 3)), rng.normal(size=(4, 3)), rng.normal(size=8)
    averaged, error = gaussian_posterior(
        Phi @ Phi.T, phi @ Phi.T, np.sum(phi**2, axis=1), t, noise=0.3
    )
    assert phi @ map_weights(Phi, t, 0.3) == pytest.approx(averaged, abs=1e-12)
    inverse = np.linalg.inv(Phi.T @ Phi / 0.3 + np.eye(3))
    assert error == pytest.approx(np.einsum("ij,jk,ik->i", phi, inverse, phi))
    with pytest.raises(ValueError, match="noise"):
        gaussian_posterior(np.eye(1), [[1.0]], [1.0], [1.0], noise=0.0)


@pytest.mark.spec("CS-4.42")
def test_cross_validation_spreads_and_the_bound_holds() -> None:
    rng = np.random.default_rng(11)

    def stump(X: np.ndarray, y: np.ndarray):
        """Return the consistent threshold in the middle of the gap."""
        low, high = X[y < 0].max(initial=0.0), X[y > 0].min(initial=1.0)
        return lambda Z: np.where(Z[:, 0] >= (low + high) / 2, 1, -1)

    estimates, failures = [], 0
    limit = vc_bound(20, 1).value
    for _ in range(200):
        X = rng.random((20, 1))
        y = np.where(X[:, 0] >= 0.5, 1, -1)
        estimates.append(cross_validation_estimate(stump, X, y, n_folds=5).mean)
        grid = np.linspace(0, 1, 401)[:, None]
        failures += np.mean(stump(X, y)(grid) != np.where(grid[:, 0] >= 0.5, 1, -1)) > limit
    assert np.std(estimates) > 0.02  # as large as the error itself
    assert failures / 200 <= 0.05
    one = cross_validation_estimate(stump, X, y, n_folds=20)
    assert len(one.folds) == 20
    assert one.spread == pytest.approx(np.std(one.folds, ddof=1))
    assert set(one.folds) <= {0.0, 1.0}


@pytest.mark.spec("CS-4.43", "HO-16")
def test_risks_with_equal_and_unequal_costs() -> None:
    rng = np.random.default_rng(12)
    y, h = rng.choice([-1, 1], size=(2, 200))
    assert empirical_risk(y, h) == pytest.approx(np.sum(np.abs(y - h)) / 400)
    assert empirical_risk(y, h) == np.mean(y != h)
    up, down = np.mean(h > y), np.mean(h < y)
    weighed = empirical_risk(y, h, false_positive=3, false_negative=0.5)
    assert weighed == pytest.approx(3 * up + 0.5 * down)


@pytest.mark.spec("CS-4.44")
def test_least_slack_is_not_least_errors() -> None:
    # One far outlier: the least sum of slacks accepts two errors near the threshold instead.
    x = np.array([-9.0, -1.0, -0.6, 0.4, 0.5, 1.0])
    y = np.array([1, -1, -1, -1, 1, 1])
    grid = np.linspace(-10, 10, 2001)
    best = {}
    for sign, t in itertools.product((1, -1), grid):
        margins = y * sign * (x - t)
        errors, slack = int(np.sum(margins <= 0)), np.maximum(0, 1 - margins).sum()
        best.setdefault("errors", []).append((errors, slack))
    fewest = min(e for e, _ in best["errors"])
    least = min(best["errors"], key=lambda pair: pair[1])
    assert fewest == 1
    assert least[0] > fewest


@pytest.mark.spec("HO-31")
def test_the_norm_grows_with_the_price_of_errors() -> None:
    rng = np.random.default_rng(13)
    X = rng.normal(size=(40, 2)) + np.repeat([[0.7, 0], [-0.7, 0]], 20, axis=0)
    y = np.repeat([1, -1], 20)
    norms = [
        np.linalg.norm(SVC(kernel="linear", C=C, tol=1e-8).fit(X, y).coef_)
        for C in (1e-3, 1e-2, 0.1, 1, 10, 100)
    ]
    assert np.all(np.diff(norms) >= -1e-6)
    # The bound depends on radius over margin alone, whatever the number of features.
    assert "n_features" not in hard_margin_bound(10**6, 1.0, 0.5).inputs
