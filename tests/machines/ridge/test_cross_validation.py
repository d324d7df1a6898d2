"""The choice of alpha by exact leave-one-out errors, and jackknife+ intervals."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import LSSVR, KernelRidge, KernelRidgeCV
from mercer.kernels import RBF

RNG = np.random.default_rng(2)
X = RNG.uniform(-2.0, 2.0, size=(24, 2))
Y = np.column_stack([np.sin(2.0 * X[:, 0]), X[:, 1]]) + 0.2 * RNG.normal(size=(24, 2)) + 3.0
ALPHAS = [1e-3, 1e-1, 1.0, 10.0]


# Leaving out a sample of weight 2 is not leaving out one of two copies.
@parametrize_with_checks(
    [KernelRidgeCV()],
    expected_failed_checks=lambda e: {
        "check_sample_weight_equivalence_on_dense_data": "a weight is left out whole",
        "check_sample_weight_equivalence_on_sparse_data": "a weight is left out whole",
    },
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def refitted(alpha: float, intercept: bool, weight: Any) -> Any:
    """Leave-one-out errors by fitting again without each sample."""
    errors = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        model = KernelRidge(alpha, kernel=RBF(0.5), fit_intercept=intercept)
        model.fit(X[rest], Y[rest], sample_weight=weight[rest])
        errors.append(Y[i] - model.predict(X[[i]])[0])
    return np.array(errors)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_errors_are_those_of_fits_without_a_sample(
    intercept: bool, weighted: bool
) -> None:
    weight = RNG.uniform(0.5, 2.0, size=24) if weighted else np.ones(24)
    model = KernelRidgeCV(ALPHAS, kernel=RBF(0.5), fit_intercept=intercept)
    model.fit(X, Y, sample_weight=weight)
    errors = {alpha: refitted(alpha, intercept, weight) for alpha in ALPHAS}
    np.testing.assert_allclose(model.loo_residuals_, errors[model.alpha_], atol=1e-9)
    scores = [-np.average(errors[alpha] ** 2, axis=0, weights=weight).mean() for alpha in ALPHAS]
    np.testing.assert_allclose(model.cv_results_["score"], scores, rtol=1e-8)
    assert model.best_score_ == max(model.cv_results_["score"])
    plain = KernelRidge(model.alpha_, kernel=RBF(0.5), fit_intercept=intercept)
    plain.fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), atol=1e-9)
    assert model.certificate_.status == "optimal"
    assert model.certify(X, Y, sample_weight=weight).relative_gap < 1e-8


def test_generalised_cross_validation_follows_its_formula() -> None:
    y = Y[:, 0]
    model = KernelRidgeCV(ALPHAS, criterion="gcv", kernel=RBF(0.5)).fit(X, y)
    K = RBF(0.5)(X)
    for alpha, score, freedom in zip(
        ALPHAS, model.cv_results_["score"], model.cv_results_["degrees_of_freedom"], strict=True
    ):
        hat = K @ np.linalg.inv(K + alpha * np.eye(24))
        gcv = np.mean((y - hat @ y) ** 2) / (1.0 - np.trace(hat) / 24.0) ** 2
        assert score == pytest.approx(-gcv)
        assert freedom == pytest.approx(np.trace(hat))


def test_every_target_may_have_its_own_alpha() -> None:
    model = KernelRidgeCV(ALPHAS, kernel=RBF(0.5), alpha_per_target=True).fit(X, Y)
    for t in range(2):
        single = KernelRidgeCV(ALPHAS, kernel=RBF(0.5)).fit(X, Y[:, t])
        assert model.alpha_[t] == single.alpha_
        assert model.best_score_[t] == pytest.approx(single.best_score_)
        np.testing.assert_allclose(model.predict(X)[:, t], single.predict(X), atol=1e-10)


def test_samples_of_weight_0_have_no_leave_one_out_error() -> None:
    weight = np.ones(24)
    weight[3] = 0.0
    model = KernelRidgeCV(ALPHAS, kernel=RBF(0.5)).fit(X, Y[:, 0], sample_weight=weight)
    assert np.flatnonzero(np.isnan(model.loo_residuals_)).tolist() == [3]


@pytest.mark.parametrize("intercept", [False, True])
def test_jackknife_plus_is_that_of_fits_without_a_sample(intercept: bool) -> None:
    y, new = Y[:, 0], np.array([[0.3, -0.2], [5.0, 5.0]])
    model = KernelRidge(0.1, kernel=RBF(0.5), fit_intercept=intercept).fit(X, y)
    low, high = model.predict_interval(new, level=0.8)
    below, above = [], []
    for i in range(24):
        rest = np.arange(24) != i
        without = KernelRidge(0.1, kernel=RBF(0.5), fit_intercept=intercept).fit(X[rest], y[rest])
        error = abs(y[i] - without.predict(X[[i]])[0])
        below.append(without.predict(new) - error)
        above.append(without.predict(new) + error)
    np.testing.assert_allclose(low, np.sort(below, axis=0)[5 - 1], atol=1e-9)  # floor(0.2 * 25)
    np.testing.assert_allclose(high, np.sort(above, axis=0)[20 - 1], atol=1e-9)
    ends = model.predict_interval(new, level=0.99)
    assert np.isinf(ends[0]).all()
    assert np.isinf(ends[1]).all()


def test_jackknife_plus_covers_new_targets() -> None:
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(260, 1))
    t = np.sin(2.0 * Z[:, 0]) + 0.3 * rng.normal(size=260)
    low, high = LSSVR(kernel=RBF(1.0), C=5.0).fit(Z[:60], t[:60]).predict_interval(Z[60:], 0.9)
    covered = np.mean((low <= t[60:]) & (t[60:] <= high))
    assert 0.8 <= covered <= 0.99  # at least 2 * 0.9 - 1 in the mean


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelRidgeCV([0.0, 1.0]), "positive and finite"),
        (KernelRidgeCV([]), "list of positive"),
        (KernelRidgeCV(criterion="aic"), "criterion must be one of"),
        (KernelRidgeCV(alpha_per_target=1), "alpha_per_target must be"),
    ],
)
def test_refused_parameters(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


def test_intervals_that_have_no_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match="alpha=0 interpolates"):
        KernelRidge(0.0, kernel=RBF(0.5)).fit(X, Y[:, 0]).predict_interval(X)
    K = RBF(0.5)(X)
    with pytest.raises(ValueError, match="precomputed"):
        KernelRidge(0.1, kernel="precomputed").fit(K, Y[:, 0]).predict_interval(K)
    with pytest.raises(ValueError, match="n_samples=1"):
        KernelRidgeCV().fit(X[:1], Y[:1, 0])


def test_leave_one_out_errors_with_an_intercept_and_a_tiny_alpha() -> None:
    """Against 50 digits: the inverse of alpha is 1e8 times the entries that are divided by."""
    x, y, alpha = [0.0, 0.4, 1.1, 1.9, 3.0], [1.0, -0.5, 0.25, 2.0, -1.0], 1e-10
    with mpmath.workdps(50):
        n = len(x)
        bordered = mpmath.ones(n + 1)
        bordered[n, n] = 0
        for i in range(n):
            for j in range(n):
                bordered[i, j] = mpmath.exp(-((mpmath.mpf(x[i]) - x[j]) ** 2)) + alpha * (i == j)
        G = (bordered**-1)[:n, :n]
        exact = [float(sum(G[i, j] * y[j] for j in range(n)) / G[i, i]) for i in range(n)]
    model = KernelRidgeCV([alpha], kernel=RBF(1.0), fit_intercept=True)
    found = model.fit(np.array(x)[:, None], y).loo_residuals_
    np.testing.assert_allclose(found, exact, rtol=1e-11)
