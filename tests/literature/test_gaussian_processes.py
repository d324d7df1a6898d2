"""Gaussian processes as the texts state them: prior, posterior, noise, evidence."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import GaussianProcessRegressor, KernelRidge
from mercer.kernels import RBF, FromFeatureMap

X = np.linspace(-1.0, 1.0, 5)[:, None]


def trigonometric(Z):
    """The features 1, cos, sin, cos 2, sin 2, times the roots of their eigenvalues."""
    t = np.asarray(Z)[:, 0]
    weights = np.sqrt([1.0, 0.5, 0.5, 0.25, 0.25])
    return weights * np.column_stack(
        [np.ones_like(t), np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)]
    )


@pytest.mark.spec("CS-3.56")
def test_values_of_the_prior_have_the_kernel_as_covariance():
    kernel = RBF(1.0)
    draws = GaussianProcessRegressor(kernel).sample_y(X, 100_000, random_state=0)
    np.testing.assert_allclose(np.cov(draws), kernel(X), atol=0.015)
    np.testing.assert_allclose(draws.mean(axis=1), 0.0, atol=0.015)


@pytest.mark.spec("CS-3.57")
def test_independent_weights_of_variance_lambda_give_the_kernel():
    kernel = FromFeatureMap(trigonometric)
    pair = np.array([[0.4], [1.3]])
    assert kernel(pair)[0, 1] == pytest.approx(1.254, abs=5e-5)
    weights = np.random.default_rng(0).normal(size=(200_000, 5))  # of the scaled features
    values = weights @ trigonometric(pair).T
    assert np.mean(values[:, 0] * values[:, 1]) == pytest.approx(kernel(pair)[0, 1], abs=0.015)
    model = GaussianProcessRegressor(kernel)
    np.testing.assert_allclose(model.predict(pair, return_cov=True)[1], kernel(pair))


@pytest.mark.spec("CS-6.40")
def test_one_observation():
    model = GaussianProcessRegressor(RBF(0.5), alpha=0.25, optimizer=None).fit([[0.0]], [1.0])
    mean, std = model.predict([[0.0]], return_std=True)
    assert mean == pytest.approx([0.8])
    assert std**2 == pytest.approx([0.2])
    noisy = GaussianProcessRegressor(
        RBF(0.5), noise=0.25, alpha=0.0, optimizer=None
    ).fit([[0.0]], [1.0])  # fmt: skip
    _, observed = noisy.predict([[0.0]], return_std=True)
    _, latent = noisy.predict([[0.0]], return_std=True, include_noise=False)
    assert observed**2 == pytest.approx([0.45])
    assert latent**2 == pytest.approx([0.2])


@pytest.mark.spec("CS-6.40", "CS-6.41", "SM-3.28")
def test_the_mean_is_ridge_regression_with_the_noise_variance_as_penalty():
    y = np.sin(3.0 * X[:, 0])
    C = 2.0
    process = GaussianProcessRegressor(RBF(1.0), alpha=1.0 / (2.0 * C), optimizer=None).fit(X, y)
    ridge = KernelRidge(1.0 / (2.0 * C), kernel=RBF(1.0)).fit(X, y)
    assert ridge.noise_variance_ == 1.0 / (2.0 * C)
    np.testing.assert_allclose(process.predict(X), ridge.predict(X), atol=1e-12)
    _, covariance = process.predict(np.linspace(-2.0, 2.0, 9)[:, None], return_cov=True)
    assert (np.diagonal(covariance) > 0.0).all()
    # The most probable function: minus its log posterior is the primal value, up to a constant.
    a = ridge.dual_coef_
    value = 0.5 * a @ RBF(1.0)(X) @ a + C * np.sum((y - ridge.predict(X)) ** 2)
    assert process.certificate_.primal == pytest.approx(value)


@pytest.mark.spec("CS-6.42")
def test_the_evidence_peaks_near_the_kernel_that_drew_the_data():
    Z = np.random.default_rng(1).uniform(0.0, 10.0, size=(120, 1))
    prior = GaussianProcessRegressor(RBF(0.5), noise=0.01)
    y = prior.sample_y(Z, random_state=3)[:, 0]
    model = GaussianProcessRegressor(RBF(0.1), noise=0.1).fit(Z, y)
    assert model.kernel_.gamma == pytest.approx(0.5, rel=0.4)
    assert model.noise_ == pytest.approx(0.01, rel=0.4)
    C = model.kernel_(Z) + (model.noise_ + 1e-10) * np.eye(120)
    evidence = -0.5 * (
        y @ np.linalg.solve(C, y) + np.linalg.slogdet(C)[1] + 120 * np.log(2 * np.pi)
    )
    assert model.log_marginal_likelihood_value_ == pytest.approx(evidence)
