"""AIC, BIC and NIC against their definitions in the space of the weights."""

import math

import numpy as np
import pytest

from mercer import SVR, GaussianProcessRegressor, KernelRidge, KernelRidgeCV
from mercer.data import noisy_sinc
from mercer.kernels import RBF
from mercer.selection import aic, bic, information_criteria, nic


def by_definition(X, y, s, alpha, intercept):
    """Return deviance, trace of the hat matrix and tr(V U^-1), from gradients of all rows."""
    n = len(y)
    A = np.column_stack([X, np.ones(n)]) if intercept else X
    penalty = np.diag([alpha] * X.shape[1] + [0.0] * intercept)
    w = np.linalg.solve(A.T @ (s[:, None] * A) + penalty, A.T @ (s * y))
    r = y - A @ w
    sigma2 = np.mean(s * r**2)
    v = sigma2 / s
    deviance = np.sum(np.log(2 * math.pi * v) + r**2 / v)
    U = A.T @ (A / v[:, None]) + penalty / sigma2
    H = A @ np.linalg.solve(U, A.T / v)
    gradients = -(r / v)[:, None] * A + (penalty @ w / sigma2) / n
    assert gradients.sum(axis=0) == pytest.approx(np.zeros(A.shape[1]), abs=1e-9)
    network = np.trace(gradients.T @ gradients @ np.linalg.inv(U))
    own = 0.5 * (np.mean(r**4 / v**2) - 1)  # of the variance
    return deviance, np.trace(H), network + own


@pytest.mark.spec("SM-7.10")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_criteria_of_linear_ridge_regression(intercept, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X @ [1.0, 0.0, -1.0, 2.0] + rng.standard_t(4, size=30)
    s = 1.0 + np.arange(30) % 3 if weighted else np.ones(30)
    model = KernelRidge(alpha=3.0, fit_intercept=intercept).fit(X, y, sample_weight=s)
    deviance, df, network = by_definition(X, y, s, 3.0, intercept)
    found = information_criteria(model, X, y, s)
    assert found.deviance == pytest.approx(deviance, rel=1e-9)
    assert found.degrees_of_freedom == pytest.approx(df, rel=1e-9)
    assert aic(model, X, y, s) == pytest.approx(deviance + 2 * (df + 1), rel=1e-9)
    assert bic(model, X, y, s) == pytest.approx(deviance + math.log(30) * (df + 1), rel=1e-9)
    assert nic(model, X, y, s) == pytest.approx(deviance + 2 * network, rel=1e-9)


@pytest.mark.spec("SM-7.10")
def test_known_noise_makes_aic_unbiased_for_new_targets():
    """Mean of AIC / 2 over samples = expected negative log-likelihood of new targets."""
    rng = np.random.default_rng(1)
    X, truth = rng.normal(size=(25, 6)), 2 * rng.normal(size=6)
    estimates, new = [], []
    for _ in range(60):
        y = X @ truth + rng.normal(size=25)
        model = KernelRidge(alpha=0.5).fit(X, y)
        estimates.append(information_criteria(model, X, y, noise_variance=1.0).aic)
        bias = X @ truth - model.predict(X)
        new.append(25 * math.log(2 * math.pi) + 25 + bias @ bias)
    difference = np.subtract(estimates, new)
    assert abs(difference.mean()) < 4 * difference.std() / math.sqrt(60)


@pytest.mark.spec("SM-7.10")
def test_a_process_is_a_ridge_machine_with_known_noise():
    X, y = noisy_sinc(40, random_state=0)
    ridge = KernelRidge(kernel=RBF(0.5), alpha=0.04).fit(X, y)
    process = GaussianProcessRegressor(RBF(0.5), alpha=0.04, optimizer=None).fit(X, y)
    found = information_criteria(process, X, y)
    expected = information_criteria(ridge, X, y, noise_variance=0.04)
    for name in ("degrees_of_freedom", "deviance", "aic", "bic", "nic"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-6), name
    scaled = GaussianProcessRegressor(RBF(0.5), alpha=0.04 / np.var(y), optimizer=None)
    scaled.set_params(normalize_y=True).fit(X, 10 * y + 3)
    moved = information_criteria(scaled, X, 10 * y + 3)
    assert moved.noise_variance == pytest.approx(100 * 0.04)


def test_criteria_choose_a_penalty_between_the_extremes():
    X, y = noisy_sinc(60, random_state=0)
    alphas = np.logspace(-6, 3, 10)
    models = [KernelRidge(kernel=RBF(0.5), alpha=a).fit(X, y) for a in alphas]
    for criterion in (aic, bic, nic):
        values = [criterion(model, X, y) for model in models]
        assert 0 < int(np.argmin(values)) < 9, criterion
    chosen = KernelRidgeCV(kernel=RBF(0.5), alphas=alphas).fit(X, y)
    assert information_criteria(chosen, X, y).n == 60


def test_models_without_a_likelihood_are_refused():
    X, y = noisy_sinc(20, random_state=0)
    with pytest.raises(TypeError, match="machines with a hat matrix"):
        aic(SVR().fit(X, y), X, y)
    with pytest.raises(ValueError, match="one target"):
        aic(KernelRidge().fit(X, np.column_stack([y, y])), X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="alpha=0 interpolates"):
        aic(KernelRidge(alpha=0.0, kernel=RBF(5.0)).fit(X, y), X, y)
