"""Gaussian process regression: posterior, evidence, basis, noise, appended samples, refusals."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import sklearn.gaussian_process as peer
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import kernels as sk
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import (
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelRidge,
    KernelRidgeCV,
    SparseGaussianProcessRegressor,
)
from mercer.data import noisy_sinc
from mercer.gram import factorised, iterative, shifted
from mercer.kernels import (
    RBF,
    Definiteness,
    FromFunction,
    Linear,
    Matern,
    NegativeDistance,
    SetPower,
    Sigmoid,
    Spectrum,
    ThinPlate,
    VectorKernel,
    White,
    from_sklearn,
)
from mercer.machines.gaussian_process import regression
from mercer.machines.gaussian_process.search import maximise
from mercer.run import Run
from tests.catalogue import catalogue, sample
from tests.machines.counted_work import Work

RNG = np.random.default_rng(3)
X = RNG.uniform(-2.0, 2.0, size=(30, 2))
y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * RNG.normal(size=30)
NEW = RNG.uniform(-3.0, 3.0, size=(7, 2))


def rounding(estimator: Any) -> dict[str, str]:
    """Without noise the variance at a training row is 1e-10, beside rounding of 1e-16."""
    reason = "score_samples has 5 digits at training rows of a process without noise"
    return {"check_methods_subset_invariance": reason} if estimator.alpha == 1e-10 else {}


@parametrize_with_checks(
    [
        GaussianProcessRegressor(),
        GaussianProcessRegressor(alpha=1e-2),
        GaussianProcessRegressor(RBF(0.5), alpha=1e-2, optimizer=None),
    ],
    expected_failed_checks=rounding,
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_values_of_a_subset_are_those_of_the_whole_but_for_rounding() -> None:
    """Means have the same bits, variances the digits that the prior variance leaves them."""
    model = GaussianProcessRegressor(RBF(0.5), optimizer=None).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    density = model.score_samples(X)
    for row in range(len(X)):
        one_mean, one_std = model.predict(X[[row]], return_std=True)
        assert one_mean[0] == mean[row]
        assert abs(one_std[0] ** 2 - std[row] ** 2) < 1e-14
        np.testing.assert_allclose(model.score_samples(X[[row]]), density[row], atol=1e-4)


def dense(kernel: Any, alpha: Any, new: Any) -> tuple[Any, Any]:
    """Posterior mean and covariance by their formulas."""
    C = kernel(X) + np.diag(np.broadcast_to(alpha, 30))
    k = kernel(new, X)
    return k @ np.linalg.solve(C, y), kernel(new) - k @ np.linalg.solve(C, k.T)


def test_posterior_is_that_of_the_formulas_and_the_mean_is_ridge() -> None:
    kernel = 1.5 * RBF(0.4)
    alpha = RNG.uniform(0.05, 0.3, size=30)
    model = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(X, y)
    mean, cov = model.predict(NEW, return_cov=True)
    expected = dense(kernel, alpha, NEW)
    np.testing.assert_allclose(mean, expected[0], atol=1e-10)
    np.testing.assert_allclose(cov, expected[1], atol=1e-10)
    _, std = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(std**2, np.diagonal(cov), atol=1e-10)
    ridge = KernelRidge(1.0, kernel=kernel).fit(X, y, sample_weight=1.0 / alpha)
    np.testing.assert_allclose(model.predict(NEW), ridge.predict(NEW), atol=1e-10)
    assert model.certificate_.primal == pytest.approx(ridge.certificate_.primal)
    assert model.certificate_.status == "optimal"


def test_optimised_evidence_is_at_least_that_of_scikit_learn() -> None:
    ours = GaussianProcessRegressor(1.0 * RBF(0.5), noise=0.1).fit(X, y)
    other = peer.GaussianProcessRegressor(
        sk.ConstantKernel(1.0) * sk.RBF(1.0) + sk.WhiteKernel(0.1)
    ).fit(X, y)
    assert ours.log_marginal_likelihood_value_ > other.log_marginal_likelihood_value_ - 1e-4
    assert ours.certificate_.status == "stationary"
    assert ours.certificate_.kkt_violation < 1e-2
    assert ours.noise_ == pytest.approx(other.kernel_.k2.noise_level, rel=1e-2)
    a, s = ours.predict(NEW, return_std=True)
    b, t = other.predict(NEW, return_std=True)
    np.testing.assert_allclose(a, b, atol=2e-3)
    np.testing.assert_allclose(s, t, atol=2e-3)
    latent = ours.predict(NEW, return_std=True, include_noise=False)[1]
    np.testing.assert_allclose(s**2 - latent**2, ours.noise_, atol=1e-12)
    inner = GaussianProcessRegressor(
        sk.ConstantKernel(1.0) * sk.RBF(1.0) + sk.WhiteKernel(0.1), optimizer=None
    ).fit(X, y)
    with_noise, without = (
        inner.predict(NEW, return_std=True, include_noise=flag)[1] for flag in (True, False)
    )
    np.testing.assert_allclose(with_noise**2 - without**2, 0.1, atol=1e-12)


def test_the_search_takes_the_path_of_length_scales() -> None:
    paths: list[list[Any]] = [[], []]
    kernels = 1.0 * RBF(0.5), sk.ConstantKernel(1.0) * sk.RBF(1.0)
    for path, kernel in zip(paths, kernels, strict=True):

        def density(theta: Any, path: list[Any] = path) -> Any:
            path.append(theta)
            return 0.0, np.zeros(2)

        GaussianProcessRegressor(kernel, alpha=0.1, log_prior=density).fit(X, y)
    for (gamma, scale), (constant, length) in zip(paths[0][:6], paths[1][:6], strict=True):
        assert gamma == pytest.approx(-2.0 * length - np.log(2.0), abs=1e-6)
        assert scale == pytest.approx(constant, abs=1e-6)


def slopes(model: Any, theta: Any, value: Any) -> Any:
    step = 1e-5
    return [
        (value(theta + step * e) - value(theta - step * e)) / (2.0 * step)
        for e in np.eye(len(theta))
    ]


def test_one_small_gain_stops_the_search_on_flat_ground_only() -> None:
    """On Rosenbrock's function in ten dimensions, flattened, SciPy's rule ends 1e-5 too early."""

    def valley(theta: Any, stop: Any) -> Any:
        value = 1000.0 - 0.01 * scipy.optimize.rosen(theta)
        return value, lambda: -0.01 * scipy.optimize.rosen_der(theta), None

    def plain(theta: Any, stop: Any) -> Any:
        return 20.0 - 5e-5 * float(np.exp(-theta[0])), lambda: 5e-5 * np.exp(-theta), None

    bounds = np.tile([-5.0, 5.0], (10, 1))
    found = maximise(valley, [np.full(10, -1.0)], bounds, "fmin_l_bfgs_b", Run())
    assert found.value > 1000.0 - 1e-6
    assert found.n_iter < 60
    assert maximise(plain, [np.zeros(1)], bounds[:1], "fmin_l_bfgs_b", Run()).n_iter == 2


@pytest.mark.parametrize("basis", [None, "linear"])
@pytest.mark.parametrize("objective", ["evidence", "loo"])
def test_gradients_of_both_objectives(objective: str, basis: Any) -> None:
    Y = np.column_stack([y, X[:, 1] ** 2])
    model = GaussianProcessRegressor(
        0.7 * RBF(0.4) + 0.3 * Matern(nu=1.5), noise=0.1, optimizer=None, objective=objective,
        basis=basis,
    ).fit(X, Y)  # fmt: skip
    covariance = model._covariance

    def value(theta: Any) -> float:
        return model._value(covariance.with_theta(theta), gradient=False)[0]

    gradient = model._value(covariance, gradient=True)[1]
    assert len(gradient) >= 4
    np.testing.assert_allclose(gradient, slopes(model, model.theta_, value), rtol=1e-5, atol=1e-6)


COVARIANCES = [e for e in catalogue() if not e.kernel.pairwise and e.kernel.definiteness.order == 0]


@pytest.mark.spec("CS-6.42")
@pytest.mark.parametrize("example", COVARIANCES, ids=str)
def test_evidence_gradients_of_the_whole_catalogue(example: Any) -> None:
    objects = sample(example.objects, 6, np.random.default_rng(0))
    targets = np.random.default_rng(1).normal(size=6)
    model = GaussianProcessRegressor(example.kernel, alpha=0.3, optimizer=None)
    model.fit(objects, targets)
    value, gradient = model.log_marginal_likelihood(model.theta_, eval_gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood_value_)
    if example.kernel == SetPower(1.0):  # the end of the range of its parameter
        return
    numeric = slopes(model, model.theta_, model.log_marginal_likelihood)
    np.testing.assert_allclose(gradient, numeric, rtol=2e-4, atol=2e-5)


def test_samples_far_from_the_origin_leave_no_rounding_in_the_derivative_by_the_width() -> None:
    rows = 1e3 + X
    for kernel in (RBF(1e6), RBF([1e6, 1e6])):
        slope = kernel.contract(rows, rows, 1e8 * np.eye(30), frozenset({"gamma"}))["gamma"]
        np.testing.assert_array_equal(slope, 0.0)


def test_leave_one_out_objective_is_that_of_fits_without_a_sample() -> None:
    model = GaussianProcessRegressor(RBF(0.4), alpha=0.1, optimizer=None, objective="loo")
    model.fit(X, y)
    total = 0.0
    for i in range(30):
        rest = np.arange(30) != i
        left = GaussianProcessRegressor(RBF(0.4), alpha=0.1, optimizer=None).fit(X[rest], y[rest])
        total += left.score_samples(X[[i]], y[[i]])[0]
    assert model._value(model._covariance, gradient=False)[0] == pytest.approx(total)


@pytest.mark.parametrize("basis", ["constant", "linear"])
def test_a_mean_basis_is_the_limit_of_a_vague_prior_on_its_coefficients(basis: str) -> None:
    big = 1e6
    vague = RBF(0.4) + (big if basis == "constant" else big * (Linear() + 1.0))
    wide = GaussianProcessRegressor(vague, alpha=0.1, optimizer=None).fit(X, y)
    flat = GaussianProcessRegressor(RBF(0.4), alpha=0.1, optimizer=None, basis=basis).fit(X, y)
    a, s = wide.predict(NEW, return_std=True)
    b, t = flat.predict(NEW, return_std=True)
    np.testing.assert_allclose(b, a, atol=1e-4)
    np.testing.assert_allclose(t, s, atol=1e-4)
    cov = flat.predict(NEW, return_cov=True)[1]
    np.testing.assert_allclose(np.diagonal(cov), t**2, atol=1e-10)
    p = 1 if basis == "constant" else 3
    assert flat.basis_coef_.shape == (p,)
    # The restricted likelihood: the vague prior costs 1/2 log(big) for each coefficient.
    B = np.ones((30, 1)) if p == 1 else np.column_stack([np.ones(30), X])
    shift = 0.5 * p * np.log(2 * np.pi * big) + 0.5 * np.linalg.slogdet(B.T @ B)[1]
    assert wide.log_marginal_likelihood_value_ + shift == pytest.approx(
        flat.log_marginal_likelihood_value_, abs=1e-3
    )


def test_conditionally_definite_kernels_need_their_polynomials_in_the_basis() -> None:
    model = GaussianProcessRegressor(
        NegativeDistance(), alpha=0.1, basis="constant", optimizer=None
    )
    assert np.isfinite(model.fit(X, y).predict(NEW)).all()
    plate = GaussianProcessRegressor(ThinPlate(), alpha=1e-6, basis="linear", optimizer=None)
    plane = 1.0 + X @ [2.0, -1.0]
    mean, std = plate.fit(X, plane).predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, 1.0 + NEW @ [2.0, -1.0], atol=1e-6)
    assert (std > 0.0).all()
    with pytest.raises(ValueError, match='basis="linear"'):
        GaussianProcessRegressor(ThinPlate(), basis="constant").fit(X, y)


def test_samples_have_the_posterior_covariance() -> None:
    Y = np.column_stack([y, 10.0 * X[:, 1]])
    model = GaussianProcessRegressor(RBF(0.4), alpha=0.1, optimizer=None, normalize_y=True)
    model.fit(X, Y)
    mean, cov = model.predict(NEW, return_cov=True)
    draws = model.sample_y(NEW, 20_000, random_state=1)
    assert draws.shape == (7, 2, 20_000)
    for t in range(2):
        scale = np.sqrt(np.diagonal(cov[..., t])).max()
        np.testing.assert_allclose(draws[:, t].mean(axis=1), mean[:, t], atol=0.03 * scale)
        np.testing.assert_allclose(np.cov(draws[:, t]), cov[..., t], atol=0.05 * scale**2)


def wave(X: Any) -> Any:
    return np.column_stack([np.ones(len(X)), np.cos(X[:, 0])])


@pytest.mark.parametrize(
    ("kernel", "basis"),
    [(RBF(0.4), None), (RBF(0.4), "linear"), (RBF(0.4), wave), (ThinPlate(), "linear")],
)
def test_partial_fit_appends_samples_without_a_new_factorisation(
    kernel: Any, basis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Y = np.column_stack([y, X[:, 0] ** 2 + 0.1 * np.random.default_rng(0).normal(size=30)])
    alpha = np.repeat([1e-3, 2e-3, 3e-3], [20, 5, 5])
    model = GaussianProcessRegressor(0.7 * kernel, noise=0.05, alpha=1e-3, basis=basis)
    model.fit(X[:20], Y[:20])
    whole = GaussianProcessRegressor(
        model.kernel_, noise=model.noise_, alpha=alpha, basis=basis, optimizer=None
    ).fit(X, Y)
    factorised: list[int] = []
    cholesky = scipy.linalg.cholesky
    monkeypatch.setattr(
        scipy.linalg, "cholesky", lambda C, **of: factorised.append(len(C)) or cholesky(C, **of)
    )
    monkeypatch.setattr(shifted.Factorised, "_factorise", lambda *_: pytest.fail("factorised anew"))
    model.partial_fit(X[20:25], Y[20:25], alpha[20:25]).partial_fit(X[25:], Y[25:], alpha[25:])
    assert factorised == [5, 5]
    for a, b in zip(*(m.predict(NEW, return_cov=True) for m in (model, whole)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(model.basis_coef_, whole.basis_coef_, rtol=0.0, atol=1e-9)
    assert model.log_marginal_likelihood_value_ == pytest.approx(
        whole.log_marginal_likelihood_value_, abs=1e-9
    )
    assert model.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-9)
    assert model.certificate_.relative_gap < 1e-9
    # The evidence is not optimised again, and the certificate claims nothing about it.
    assert np.isnan(model.certificate_.kkt_violation)
    assert "partial_fit keeps" in str(model.certificate_)


def test_predictive_intervals_have_their_probability_under_the_model() -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 10, size=(2000, 1))
    kernel = 2.0 * RBF(0.5)
    latent = np.linalg.cholesky(kernel(rows) + 1e-8 * np.eye(2000)) @ rng.normal(size=2000)
    seen = latent + 0.3 * rng.normal(size=2000)
    options: dict[str, Any] = {"alpha": 0.04, "noise": 0.05, "optimizer": None, "normalize_y": True}
    scale = np.std(seen[:60])  # of the targets, by which the model divides
    model = GaussianProcessRegressor(kernel * float(1 / scale**2), **options)
    model.set_params(alpha=0.04 / scale**2, noise=0.05 / scale**2).fit(rows[:60], seen[:60])
    for truth, noise in ((seen, True), (latent, False)):
        low, high = model.predict_interval(rows[60:], level=0.8, include_noise=noise)
        inside = (low <= truth[60:]) & (truth[60:] <= high)
        assert inside.mean() == pytest.approx(0.8, abs=0.04)
    both = GaussianProcessRegressor(kernel, **options).fit(rows[:60], np.c_[seen, seen][:60])
    assert both.predict_interval(rows[:5])[0].shape == (5, 2)
    with pytest.raises(ValueError, match="level"):
        model.predict_interval(rows[:5], level=90)


def test_partial_fit_starts_with_a_fit_and_adds_jitter_where_targets_conflict() -> None:
    model = GaussianProcessRegressor(RBF(0.4), alpha=0.0, optimizer=None).partial_fit(X, y)
    with pytest.raises(ValueError, match="fitted on targets"):
        model.partial_fit(NEW, np.zeros((7, 2)))
    model.partial_fit(X, y + 1.0)
    assert model.jitter_ > 0.0
    np.testing.assert_allclose(model.predict(X), y + 0.5, atol=1e-2)


def test_duplicate_rows_without_noise_get_the_jitter_that_is_needed() -> None:
    twice = np.concatenate([X, X])
    model = GaussianProcessRegressor(RBF(0.4), alpha=0.0, optimizer=None).fit(twice, np.tile(y, 2))
    assert 0.0 < model.jitter_ < 1e-8
    np.testing.assert_allclose(model.predict(X), y, atol=1e-4)
    conflict = GaussianProcessRegressor(RBF(0.4), alpha=0.0, optimizer=None)
    conflict.fit(twice, np.concatenate([y, y + 1.0]))
    np.testing.assert_allclose(conflict.predict(X), y + 0.5, atol=1e-2)
    assert GaussianProcessRegressor(RBF(0.4), alpha=0.1, optimizer=None).fit(X, y).jitter_ == 0.0


def test_strings_and_scikit_learn_kernels_pickle() -> None:
    words = ["banana", "bandana", "kernel", "colonel"]
    model = GaussianProcessRegressor(Spectrum(2), alpha=0.1).fit(words, [1.0, 0.9, -1.0, -0.8])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(["bananas"]), model.predict(["bananas"]))
    other = GaussianProcessRegressor(sk.RBF(1.0), alpha=0.1).fit(X, y)
    assert isinstance(other.kernel_, sk.RBF)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(other)).predict(NEW), other.predict(NEW)
    )


def test_a_parameter_at_its_bound_is_named_with_what_that_means() -> None:
    noise = np.random.default_rng(0).normal(size=30)
    model = GaussianProcessRegressor(RBF(5.0), alpha=1e-2, bounds={"gamma": (1e-2, 1e2)})
    with pytest.warns(ConvergenceWarning, match=r"parameter gamma .* upper bound 100.*noise"):
        model.fit(X, noise)


def test_limits_and_interrupts_keep_the_best_point() -> None:
    seen: list[float] = []
    model = GaussianProcessRegressor(RBF(5.0), noise=1.0)
    model.set_callbacks(lambda report: seen.append(report.objective) or len(seen) == 3)
    model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.log_marginal_likelihood_value_ == pytest.approx(max(seen))

    def keyboard(report: Any) -> None:
        raise KeyboardInterrupt

    model.set_callbacks(keyboard)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    short = GaussianProcessRegressor(RBF(5.0), noise=1.0, time_limit=1e-9).fit(X, y)
    assert short.certificate_.status == "time_limit"


def test_the_clock_is_read_between_the_steps_of_an_evaluation(monkeypatch: Any) -> None:
    work = Work(monkeypatch, factorised)
    model = GaussianProcessRegressor(RBF(5.0), noise=1.0)
    model.set_params(time_limit=0.5).fit(X, y)  # the factor alone takes 1
    assert (work.factors, work.inverses) == (1, 0)
    assert model.certificate_.status == "time_limit"
    assert np.isnan(model.certificate_.kkt_violation)
    assert model.certificate_.relative_gap < 1e-6
    model.set_params(time_limit=6.5).fit(X, y)  # the second evaluation ends at 6
    assert (work.factors, work.inverses) == (4, 2)


def test_an_interrupt_makes_no_further_factorisation(monkeypatch: Any) -> None:
    work = Work(monkeypatch, factorised)
    model = GaussianProcessRegressor(RBF(5.0), noise=1.0, optimizer=None).fit(X, y)
    before = model.predict(X)

    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    model.set_params(optimizer="fmin_l_bfgs_b")
    with monkeypatch.context() as patch:  # in the first factorisation: there is no other model
        patch.setattr(factorised, "dpotrf", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert np.array_equal(model.predict(X), before)
    monkeypatch.setattr(factorised, "dpotri", interrupt)  # after it: the factor is the model
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert work.factors == 2
    assert model.certificate_.status == "interrupted"


def test_the_certificate_of_a_process_by_iteration_takes_ka_from_the_evidence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = []
    certificates = regression.certificates

    def seen(problem: Any, solution: Any, *rest: Any) -> Any:
        given.append(solution.values)
        return certificates(problem, solution, *rest)

    monkeypatch.setattr(regression, "certificates", seen)
    model = GaussianProcessRegressor(RBF(0.4), alpha=0.1, solver="cg", optimizer=None).fit(X, y)
    K = model.kernel_(X, X)
    np.testing.assert_allclose(given[0][:, 0], K @ model.alpha_, rtol=1e-12)


def test_a_prior_on_hyper_parameters_pulls_them() -> None:
    def log_prior(theta: Any) -> Any:
        return -50.0 * float(((theta - 1.0) ** 2).sum()), -100.0 * (theta - 1.0)

    model = GaussianProcessRegressor(RBF(0.4), alpha=0.1, log_prior=log_prior).fit(X, y)
    free = GaussianProcessRegressor(RBF(0.4), alpha=0.1).fit(X, y)
    assert abs(model.theta_[0] - 1.0) < abs(free.theta_[0] - 1.0)


class Bump(VectorKernel):
    """exp(-|x - z|^2 / width), without derivatives."""

    definiteness = Definiteness.POSITIVE_DEFINITE

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    def compile(self, builder: Any) -> None:
        builder.leaf("sqdist")
        builder.affine(-1.0 / self.width, 0.0)
        builder.exp()


def test_parameters_without_derivatives_stay_and_are_named() -> None:
    with pytest.warns(UserWarning, match=r"kernel__width of .* stay as they are: .* derivatives"):
        model = GaussianProcessRegressor(0.5 * Bump(2.0), alpha=0.1).fit(X, y)
    assert model.fixed_parameters_ == ["kernel__width"]
    assert model.parameter_names_ == ["scale"]
    assert model.kernel_.kernel.width == 2.0
    same = GaussianProcessRegressor(model.kernel_.scale * RBF(0.5), alpha=0.1, optimizer=None)
    np.testing.assert_allclose(model.predict(NEW), same.fit(X, y).predict(NEW), atol=1e-9)
    fixed = GaussianProcessRegressor(RBF(0.4), alpha=0.1, bounds="fixed").fit(X, y)
    assert fixed.theta_.shape == (0,)
    assert fixed.certificate_.status == "optimal"


def test_kernels_that_may_be_indefinite_are_not_called_proved() -> None:
    def f(A: Any, B: Any) -> Any:
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))

    labels = y > 0
    models = [
        GaussianProcessRegressor(FromFunction(f), alpha=0.1, optimizer=None).fit(X, y),
        SparseGaussianProcessRegressor(FromFunction(f), 5, optimizer=None).fit(X, y),
        GaussianProcessClassifier(FromFunction(f), optimizer=None).fit(X, labels),
    ]
    for model in models:
        assert model.certificate_.assumes == "psd"
    indefinite = Sigmoid(0.1, -0.01)
    proof = GaussianProcessClassifier(indefinite, optimizer=None).fit(X, labels).certificate_
    assert (proof.status, proof.convexity) == ("stationary", "refuted")
    assert np.isnan(proof.gap)
    with pytest.raises(ValueError, match="indefinite"):
        SparseGaussianProcessRegressor(indefinite, 5).fit(X, y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GaussianProcessRegressor(RBF(0.4), alpha=np.ones(3)), "same number of entries"),
        (GaussianProcessRegressor(RBF(0.4), alpha=-1.0), "at least 0"),
        (GaussianProcessRegressor(RBF(0.4), bounds={"gamma": (1.0, 2.0)}), "outside its bounds"),
        (GaussianProcessRegressor(RBF(0.4), bounds={"width": (1.0, 2.0)}), "no continuous param"),
        (GaussianProcessRegressor(RBF(0.4), bounds={"gamma": (2.0, 1.0)}), "0 < low <= high"),
        (GaussianProcessRegressor(RBF(0.4), objective="aic"), "objective must be"),
        (GaussianProcessRegressor(RBF(0.4), basis="cubic"), "basis must be"),
        (GaussianProcessRegressor(RBF(0.4), solver="lu"), "solver must be"),
        (GaussianProcessRegressor(RBF(0.4), solver="cg", objective="loo"), "cholesky"),
        (GaussianProcessRegressor(RBF(0.4), solver="cg", alpha=0.0), "positive noise"),
        (GaussianProcessRegressor(sk.RBF(), noise=0.1), "WhiteKernel"),
        (GaussianProcessRegressor(NegativeDistance()), 'basis="constant"'),
        (GaussianProcessRegressor(RBF(0.4), log_prior=3), "log_prior must be"),
    ],
)
def test_refused_parameters(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_the_prior_before_a_fit() -> None:
    model = GaussianProcessRegressor(2.0 * RBF(0.4), noise=0.5)
    mean, cov = model.predict(NEW, return_cov=True)
    np.testing.assert_array_equal(mean, np.zeros(7))
    np.testing.assert_allclose(cov, 2.0 * RBF(0.4)(NEW) + 0.5 * np.eye(7))


def test_white_noise_is_the_parameter_noise_as_a_part_of_the_kernel() -> None:
    inside = GaussianProcessRegressor(1.0 * RBF(0.5) + White(0.1)).fit(X, y)
    beside = GaussianProcessRegressor(1.0 * RBF(0.5), noise=0.1).fit(X, y)
    assert inside.log_marginal_likelihood_value_ == pytest.approx(
        beside.log_marginal_likelihood_value_, abs=1e-6
    )
    for flag in (True, False):
        a, b = (m.predict(NEW, return_std=True, include_noise=flag) for m in (inside, beside))
        np.testing.assert_allclose(a, b, atol=1e-3)
    level = inside.kernel_.right.level
    with_noise, latent = (
        inside.predict(NEW, return_cov=True, include_noise=flag)[1] for flag in (True, False)
    )
    np.testing.assert_allclose(with_noise - latent, level * np.eye(7), atol=1e-12)
    inside.partial_fit(NEW, np.zeros(7))
    whole = GaussianProcessRegressor(inside.kernel_, optimizer=None)
    whole.fit(np.concatenate([X, NEW]), np.concatenate([y, np.zeros(7)]))
    np.testing.assert_allclose(inside.predict(X), whole.predict(X), atol=1e-8)


@pytest.mark.parametrize(
    "kernel",
    [
        2.0 * sk.RBF([0.7, 1.3]) + sk.WhiteKernel(0.1),
        sk.Matern([0.7, 1.3], nu=1.5) * sk.ConstantKernel(1.5) + sk.WhiteKernel(0.2),
        sk.Matern(0.9, nu=2.5) ** 2 + sk.DotProduct(0.8) + sk.WhiteKernel(0.1, "fixed"),
        sk.RationalQuadratic(0.8, 0.6) * sk.RBF(2.0) + sk.WhiteKernel(0.1),
        sk.RBF(0.9) ** 1.5 + sk.WhiteKernel(0.1),
    ],
    ids=str,
)
def test_kernels_of_scikit_learn_are_computed_by_their_counterparts(kernel: Any) -> None:
    ours = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
    theirs = peer.GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
    theta = kernel.theta + 0.1
    a, b = (m.log_marginal_likelihood(theta, eval_gradient=True) for m in (ours, theirs))
    assert a[0] == pytest.approx(b[0], abs=1e-8)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-6, atol=1e-7)
    for flag in ({"return_std": True}, {"return_cov": True}):
        for p, q in zip(ours.predict(NEW, **flag), theirs.predict(NEW, **flag), strict=True):
            np.testing.assert_allclose(p, q, atol=1e-7)
    assert ours.kernel_ == kernel
    if "1.5 +" in str(kernel):
        with pytest.raises(ValueError, match="no counterpart"):
            from_sklearn(kernel)
    else:
        np.testing.assert_allclose(from_sklearn(kernel)(X), kernel(X), atol=1e-12)


def test_the_periodic_kernel_of_scikit_learn_has_a_counterpart_on_one_column() -> None:
    t = 1900.0 + X[:, :1]
    kernel = 2.0 * sk.RBF(3.0) * sk.ExpSineSquared(1.2, 2.5) + sk.WhiteKernel(0.1)
    np.testing.assert_allclose(from_sklearn(kernel, 1)(t), kernel(t), atol=1e-10)
    with pytest.raises(ValueError, match="n_features=1"):
        from_sklearn(kernel)
    ours = GaussianProcessRegressor(kernel, optimizer=None).fit(t, y)
    theirs = peer.GaussianProcessRegressor(kernel, optimizer=None).fit(t, y)
    a, b = (m.log_marginal_likelihood(kernel.theta, eval_gradient=True) for m in (ours, theirs))
    assert a[0] == pytest.approx(b[0], abs=1e-7)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-6, atol=1e-6)
    SparseGaussianProcessRegressor(kernel, 5, optimizer=None).fit(t, y)
    with pytest.raises(ValueError, match="no counterpart"):
        SparseGaussianProcessRegressor(kernel, 5, optimizer=None).fit(X, y)


def test_a_column_without_effect_is_found_irrelevant() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 3))
    target = np.sin(2.0 * Z[:, 0]) + 0.05 * rng.normal(size=60)
    kernel = 1.0 * RBF([0.5, 0.5, 0.5]) + White(0.01)
    model = GaussianProcessRegressor(kernel).fit(Z, target)
    gamma = model.kernel_.left.kernel.gamma
    assert gamma[0] > 0.1
    assert max(gamma[1:]) < 1e-3
    assert model.parameter_names_[:2] == ["left__kernel__gamma[0]", "left__kernel__gamma[1]"]


@pytest.mark.parametrize("basis", [None, "linear"])
def test_iterations_estimate_the_evidence_with_its_error(
    monkeypatch: pytest.MonkeyPatch, basis: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(iterative, "_PRECONDITIONER_RANK", 3)  # so that the estimates have to work
    kernel = 1.5 * RBF([0.4, 0.2]) + White(0.1)
    settings = {"optimizer": None, "basis": basis, "random_state": 0}
    exact = GaussianProcessRegressor(kernel, **settings).fit(X, y)
    model = GaussianProcessRegressor(kernel, solver="cg", **settings).fit(X, y)
    assert (exact.solver_, model.solver_) == ("cholesky", "cg")
    evidence = exact.log_marginal_likelihood_value_
    low, high = model.log_marginal_likelihood_interval_
    assert low < evidence < high
    error = model.log_marginal_likelihood_error_
    assert 0.0 < error < 2.0
    assert abs(model.log_marginal_likelihood_value_ - evidence) < 4.0 * error
    assert model.certificate_.relative_gap < 1e-8
    mean, std = model.predict(NEW, return_std=True)
    expected = exact.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, expected[0], atol=1e-4)
    excess = std**2 - expected[1] ** 2
    assert (excess >= -1e-12).all()
    assert (excess <= 1.6 * model.variance_error_ + 1e-12).all()
    cov = model.predict(NEW, return_cov=True)[1]
    np.testing.assert_allclose(cov, exact.predict(NEW, return_cov=True)[1], atol=1e-3)
    mercer.save(model, tmp_path / "model")
    for again in (mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict(NEW, return_std=True)[1], std)


def test_the_search_on_estimates_ends_where_that_on_factors_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(iterative, "_PRECONDITIONER_RANK", 25)
    monkeypatch.setattr(regression, "_FIRST", 12)  # a part of the samples comes first
    exact = GaussianProcessRegressor(1.0 * RBF(0.5), noise=0.1).fit(X, y)
    model = GaussianProcessRegressor(1.0 * RBF(0.5), noise=0.1, solver="cg", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    refitted = GaussianProcessRegressor(model.kernel_, noise=model.noise_, optimizer=None)
    found = refitted.fit(X, y).log_marginal_likelihood_value_
    assert found > exact.log_marginal_likelihood_value_ - 0.05
    model.partial_fit(NEW, np.zeros(7))
    assert len(model.alpha_) == 37


def test_too_little_memory_is_said_before_the_matrix_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shifted, "available_bytes", lambda: 1000)
    monkeypatch.setattr(shifted, "_ALWAYS", 0)
    with pytest.raises(MemoryError, match=r"30 rows .* GB are free.*solver='cg'"):
        GaussianProcessRegressor(RBF(0.4), optimizer=None).fit(X, y)
    assert GaussianProcessRegressor(RBF(0.4), alpha=0.1, optimizer=None).fit(X, y).solver_ == "cg"
    for ridge in (KernelRidge(solver="cholesky"), KernelRidge(alpha=0.0), KernelRidgeCV()):
        with pytest.raises(MemoryError, match="30 rows"):
            ridge.fit(X, y)


def test_a_search_ends_on_the_rounding_of_its_objective() -> None:
    def objective(theta: Any, stop: Any) -> tuple[float, Any, Any]:
        # The values are wrong in the tenth digit, the slopes are not.
        noise = 1e-8 * np.sin(1e9 * theta.sum())
        value = float(217.0 - np.sum(np.cosh(theta - 1.0))) + noise
        return value, lambda: -np.sinh(theta - 1.0), theta

    counts = []
    for seed in range(20):
        start = np.random.default_rng(seed).normal(size=3)
        found = maximise(objective, [start], np.tile([-9.0, 9.0], (3, 1)), "", Run())
        assert found.slope <= 1e-3
        assert np.array_equal(found.at, found.theta)
        counts.append(found.n_iter)
    assert max(counts) <= 16


def test_the_gradient_by_a_scale_survives_equal_rows_with_different_targets() -> None:
    # C = scale 11' + alpha I: the sum of the targets alone depends on the scale.
    targets, alpha = np.array([1e4 / 3.0, 3.0 - 1e4 / 3.0]), 1e-6
    model = GaussianProcessRegressor(1.0 * RBF(0.5), alpha=alpha, optimizer=None)
    with pytest.warns(UserWarning, match="every pair"):
        model.fit(np.ones((2, 1)), targets)
    slope = model.log_marginal_likelihood(model.theta_, eval_gradient=True)[1]
    at = model.parameter_names_.index("scale")
    large = 2.0 + alpha
    assert slope[at] == pytest.approx((targets.sum() ** 2 / 2.0) / large**2 - 1.0 / large, rel=1e-5)


def test_a_precomputed_matrix_gives_the_mean_of_its_kernel_and_no_variances() -> None:
    kernel = RBF(0.5)
    model = GaussianProcessRegressor("precomputed", alpha=0.1).fit(kernel(X), y)
    whole = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X, y)
    rows = kernel(NEW, X)
    np.testing.assert_allclose(model.predict(rows), whole.predict(NEW), rtol=1e-10)
    np.testing.assert_allclose(model.expansion_(rows), model.predict(rows), rtol=1e-10)
    for name in ("return_std", "return_cov"):
        with pytest.raises(ValueError, match=r"need k\(x, x\) of new objects"):
            model.predict(rows, **{name: True})


def test_the_expansion_is_the_mean_where_mercer_has_the_kernel() -> None:
    several = GaussianProcessRegressor(RBF(0.5), alpha=0.1, basis="constant", normalize_y=True)
    several.fit(X, np.c_[y, 3.0 - y])
    np.testing.assert_allclose(several.expansion_(NEW), several.predict(NEW), rtol=1e-9)
    foreign = GaussianProcessRegressor(sk.PairwiseKernel(), alpha=0.1, optimizer=None).fit(X, y)
    with pytest.raises(AttributeError, match="has no counterpart in mercer"):
        foreign.expansion_  # noqa: B018


FIRST_USES = [
    GaussianProcessRegressor(RBF(1.0)),
    GaussianProcessRegressor(1.0 * RBF()),
    GaussianProcessRegressor(noise=0.01),
    GaussianProcessRegressor(bounds={"scale": (1e-3, 1e3)}),
    SparseGaussianProcessRegressor(),
]


@pytest.mark.parametrize("model", FIRST_USES, ids=repr)
@pytest.mark.parametrize("data", ["sinc", "diabetes"])
def test_a_first_use_without_settings_explains_the_targets(model, data):
    """Targets of mean 152 as well: noise, mean and scale are found where nobody states them."""
    if data == "sinc":
        X, y, least = *noisy_sinc(100, random_state=0), 0.85
    else:
        X, y, least = *load_diabetes(return_X_y=True), 0.3
    model = clone(model).fit(X[::2], y[::2])
    low, high = model.predict_interval(X[1::2], 0.9)
    assert model.score(X[1::2], y[1::2]) > least
    assert 0.8 < np.mean((low <= y[1::2]) & (y[1::2] <= high)) < 0.98


@pytest.mark.parametrize(
    "model",
    [
        GaussianProcessRegressor(RBF(1.0), noise=None),
        GaussianProcessRegressor(RBF(1.0), alpha=0.1),
        GaussianProcessRegressor(RBF(1.0), optimizer=None),
        GaussianProcessRegressor(RBF(1.0), bounds="fixed"),
        GaussianProcessRegressor(RBF(1.0) + White(0.1)),
        GaussianProcessRegressor(sk.ConstantKernel() * sk.RBF()),
        GaussianProcessRegressor(),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_stated_noise_and_kernels_of_scikit_learn_are_left_alone(model):
    X, y = noisy_sinc(30, random_state=0)
    model.fit(X, 5.0 + y)
    assert model.noise_ == 0.0
    np.testing.assert_array_equal(model.y_train_, 5.0 + y)


@pytest.mark.parametrize(
    ("data", "noise", "cause"),
    [
        (noisy_sinc(100, random_state=0), None, 'pass noise="auto"'),
        (load_diabetes(return_X_y=True), 0.1, "have mean 152 .* normalize_y=True"),
    ],
    ids=["no noise", "a mean"],
)
def test_a_search_that_relates_no_sample_to_another_names_the_cause(data, noise, cause):
    with pytest.warns(ConvergenceWarning, match=f"relates no sample to another.*{cause}"):
        GaussianProcessRegressor(RBF(1.0), noise=noise).fit(*data)
