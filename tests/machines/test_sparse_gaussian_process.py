"""Sparse Gaussian processes: the bound, its gradients, the interval of the log evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import kernels as sk
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import GaussianProcessRegressor, SparseGaussianProcessRegressor
from mercer.kernels import (
    RBF,
    Laplacian,
    Linear,
    Matern,
    RationalQuadratic,
    Spectrum,
    ThinPlate,
    White,
)
from mercer.machines.gaussian_process import inducing_bound, inducing_search

RNG = np.random.default_rng(5)
X = RNG.uniform(-2.0, 2.0, size=(90, 2))
y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * RNG.normal(size=90)
NEW = RNG.uniform(-3.0, 3.0, size=(7, 2))


@parametrize_with_checks([SparseGaussianProcessRegressor(RBF(0.5), alpha=0.1, optimizer=None)])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inducing_bound, "_BLOCK", 32)


def dense_bound(kernel: Any, Z: Any, noise: Any, Y: Any) -> float:
    """Titsias' bound by its definition."""
    K, cross = kernel(X, X), kernel(X, Z)
    Q = cross @ np.linalg.solve(kernel(Z, np.array(Z)), cross.T)
    logs = [multivariate_normal.logpdf(t, np.zeros(90), Q + np.diag(noise)) for t in Y.T]
    return sum(logs) - 0.5 * Y.shape[1] * float(((np.diagonal(K - Q)) / noise).sum())


@pytest.mark.parametrize("kept", [True, False])
def test_the_bound_is_that_of_titsias_and_the_posterior_that_of_its_formulas(
    small_blocks: None, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    if not kept:  # blocks are computed again instead
        monkeypatch.setattr(inducing_bound, "_KEPT", 0)
    kernel, alpha = 1.5 * RBF([0.4, 0.2]), RNG.uniform(0.05, 0.3, size=90)
    Y = np.column_stack([y, X[:, 1] ** 2])
    model = SparseGaussianProcessRegressor(
        kernel + White(0.1), 12, alpha=alpha, optimizer=None
    ).fit(X, Y)
    Z, noise = model.inducing_points_, alpha + 0.1
    np.testing.assert_array_equal(Z, X[model.inducing_indices_])
    assert model.lower_bound_ == pytest.approx(dense_bound(kernel, Z, noise, Y), rel=1e-6)
    mean, cov = model.predict(NEW, return_cov=True, include_noise=False)
    Kuu, Kuf, k = kernel(Z), kernel(Z, X), kernel(NEW, Z)
    S = np.linalg.inv(Kuu + Kuf / noise @ Kuf.T)
    np.testing.assert_allclose(mean, k @ S @ (Kuf / noise) @ Y, atol=1e-6)
    expected = kernel(NEW) - k @ (np.linalg.inv(Kuu) - S) @ k.T
    np.testing.assert_allclose(cov[..., 0], expected, atol=1e-6)
    _, std = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(std[:, 1] ** 2, np.diagonal(expected) + 0.1, atol=1e-6)
    draws = model.sample_y(NEW, 5000, random_state=0, include_noise=False)
    np.testing.assert_allclose(np.cov(draws[:, 0]), expected, atol=0.05)


@pytest.mark.parametrize(
    "kernel",
    [
        0.7 * RBF([0.4, 0.9]) + 0.3 * Linear() + 2.0 * White(0.05),
        Matern(nu=1.5, length_scale=0.8) * RationalQuadratic() + 0.5,
        1.2 * Laplacian([0.4, 0.7]),
        sk.ConstantKernel(1.3) * sk.RBF([0.7, 1.3]) + sk.WhiteKernel(0.1),
    ],
    ids=str,
)
def test_gradients_by_hyper_parameters_and_inducing_points(small_blocks: None, kernel: Any) -> None:
    Y = np.column_stack([y, X[:, 1] ** 2])
    noise = None if not isinstance(kernel, mercer.kernels.Kernel) else 0.2
    model = SparseGaussianProcessRegressor(kernel, 9, noise=noise, alpha=0.1, optimizer=None)
    covariance = model.fit(X, Y)._covariance
    samples = inducing_search.Samples(X, Y, RNG.uniform(0.05, 0.2, size=90))
    Z = model.inducing_points_ + 0.05

    def value(theta: Any, Z: Any) -> float:
        return samples.bound(covariance.with_theta(theta), Z).value

    at = samples.bound(covariance, Z)
    by_theta, by_points = inducing_bound.bound_gradient(at, Y, positions=True)
    step, theta = 1e-5, covariance.theta
    numeric = [
        (value(theta + step * e, Z) - value(theta - step * e, Z)) / (2.0 * step)
        for e in np.eye(len(theta))
    ]
    np.testing.assert_allclose(by_theta, numeric, rtol=1e-4, atol=1e-4)
    assert by_points is not None
    for i, j in ((0, 0), (4, 1)):
        move = np.zeros_like(Z)
        move[i, j] = step
        slope = (value(theta, Z + move) - value(theta, Z - move)) / (2.0 * step)
        assert by_points[i, j] == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("m", [3, 12, 60])
def test_the_certificate_contains_the_log_evidence(m: int) -> None:
    model = SparseGaussianProcessRegressor(
        1.0 * RBF([0.5, 0.1]), m, random_state=0, normalize_y=False
    ).fit(X, y)
    whole = GaussianProcessRegressor(model.kernel_, noise=model.noise_, optimizer=None).fit(X, y)
    proof, evidence = model.certificate_, whole.log_marginal_likelihood_value_
    assert model.lower_bound_ <= proof.dual <= evidence <= proof.primal
    assert proof.gap < evidence - model.lower_bound_ + 1.0
    assert proof.status == "stationary"
    assert proof.kkt_violation < 0.05
    if m == 60:
        assert proof.gap < 1e-4
        exact = GaussianProcessRegressor(1.0 * RBF([0.5, 0.1]), noise=0.05).fit(X, y)
        assert exact.log_marginal_likelihood_value_ == pytest.approx(evidence, abs=1e-3)
        np.testing.assert_allclose(
            model.predict(NEW, return_std=True), exact.predict(NEW, return_std=True), atol=1e-3
        )


def test_points_that_are_moved_raise_the_bound() -> None:
    settings = {"kernel": 1.0 * RBF(0.5), "n_inducing": 6, "bounds": "fixed"}
    fixed = SparseGaussianProcessRegressor(**settings).fit(X[:40], y[:40])
    moved = SparseGaussianProcessRegressor(**settings, optimize_inducing=True)
    moved.fit(X[:40], y[:40])
    assert moved.kernel_ == fixed.kernel_
    assert moved.lower_bound_ > fixed.lower_bound_ + 1.0
    assert moved.inducing_indices_ is None
    with pytest.raises(NotImplementedError, match="with respect to the vectors"):
        SparseGaussianProcessRegressor(
            (RBF(0.5) + 1.0) ** 2, 6, optimize_inducing=True
        ).fit(X, y)  # fmt: skip


def test_many_samples_are_searched_on_a_part_first(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    bound = inducing_search.Samples.bound

    def seen(self: Any, covariance: Any, Z: Any) -> Any:
        sizes.append(len(self.Y))
        return bound(self, covariance, Z)

    monkeypatch.setattr(inducing_search.Samples, "bound", seen)
    monkeypatch.setattr(inducing_search, "_FIRST", 20)
    model = SparseGaussianProcessRegressor(1.0 * RBF(0.5), 2, random_state=0, normalize_y=False)
    model.fit(X, y)
    assert sizes[0] == 20
    assert sizes[-1] == 90
    whole = SparseGaussianProcessRegressor(model.kernel_, 2, noise=model.noise_, optimizer=None)
    assert whole.fit(X, y).lower_bound_ == pytest.approx(model.lower_bound_)


def test_limits_and_interrupts_keep_the_best_point() -> None:
    seen: list[float] = []
    model = SparseGaussianProcessRegressor(RBF(5.0), 10, noise=1.0)
    model.set_callbacks(lambda report: seen.append(report.objective) or len(seen) == 3)
    model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.lower_bound_ == pytest.approx(max(seen))

    def keyboard(report: Any) -> None:
        raise KeyboardInterrupt

    model.set_callbacks(keyboard)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.dual <= model.certificate_.primal
    short = SparseGaussianProcessRegressor(RBF(5.0), 10, time_limit=1e-9).fit(X, y)
    assert short.certificate_.status == "time_limit"
    assert short.lower_bound_ <= short.certificate_.dual


@pytest.mark.parametrize("moved", [False, True])
def test_the_bound_where_a_search_ends_is_not_computed_again(
    monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    calls: list[int] = []
    bound, choose = inducing_search.Samples.bound, inducing_search.InducingSearch.choose_better

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return bound(*arguments)

    def chosen_again(*arguments: Any) -> bool:
        calls.pop()  # one evaluation, for the new points
        return choose(*arguments)

    monkeypatch.setattr(inducing_search.Samples, "bound", counted)
    monkeypatch.setattr(inducing_search.InducingSearch, "choose_better", chosen_again)
    model = SparseGaussianProcessRegressor(1.0 * RBF(0.5), 8, optimize_inducing=moved)
    model.fit(X, y)
    assert len(calls) == model.certificate_.n_iter


def test_strings_and_files(tmp_path: Path) -> None:
    words = ["banana", "bandana", "kernel", "colonel", "banal"]
    targets = [1.0, 0.9, -1.0, -0.8, 0.7]
    model = SparseGaussianProcessRegressor(1.0 * Spectrum(2), 3, noise=0.1).fit(words, targets)
    assert len(model.inducing_points_) == 3
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    for a, b in zip(
        loaded.predict(["bananas"], return_std=True),
        model.predict(["bananas"], return_std=True),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    assert loaded.certificate_ == model.certificate_


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SparseGaussianProcessRegressor(RBF(0.4), 0), "n_inducing"),
        (SparseGaussianProcessRegressor(RBF(0.4), noise=None, alpha=0.0), "need noise"),
        (SparseGaussianProcessRegressor(RBF(0.4), noise=-1.0), "noise"),
        (SparseGaussianProcessRegressor(RBF(0.4), noise="half"), "noise must be"),
        (SparseGaussianProcessRegressor(sk.PairwiseKernel()), "no counterpart"),
        (SparseGaussianProcessRegressor("precomputed"), "need objects"),
        (SparseGaussianProcessRegressor(ThinPlate()), "GaussianProcessRegressor with a basis"),
    ],
)
def test_refused_parameters(model: Any, message: str) -> None:
    square = X @ X.T if isinstance(model.kernel, str) else X
    with pytest.raises(ValueError, match=message):
        model.fit(square, y)
