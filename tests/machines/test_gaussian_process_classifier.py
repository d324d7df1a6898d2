"""Gaussian process classification: mode, evidence, several classes, certificates, refusals."""

from __future__ import annotations

import pickle
from typing import Any

import mpmath
import numpy as np
import pytest
import sklearn.gaussian_process as peer
from sklearn.gaussian_process import kernels as sk
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import GaussianProcessClassifier
from mercer.kernels import RBF, NegativeDistance, Spectrum, White
from mercer.machines.gaussian_process import laplace, softmax_laplace
from mercer.numerics.logistic_normal import logistic_normal_mean
from tests.machines.counted_work import Work

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
LEVEL = X[:, 0] + 0.5 * np.sin(2.0 * X[:, 1]) + 0.3 * RNG.normal(size=30)
TWO = np.where(LEVEL > 0.0, "up", "down")
THREE = np.digitize(LEVEL, [-0.5, 0.5])
NEW = RNG.normal(size=(9, 2))
K = (3.0 * RBF(0.5))(X)


@parametrize_with_checks(
    [
        GaussianProcessClassifier(2.0 * RBF(0.5), optimizer=None),
        GaussianProcessClassifier(2.0 * RBF(0.5), optimizer=None, multi_class="softmax"),
    ]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.spec("CS-6.44")
def test_two_classes_agree_with_scikit_learn() -> None:
    ours = GaussianProcessClassifier(1.0 * RBF(0.5)).fit(X, TWO)
    theirs = peer.GaussianProcessClassifier(1.0 * sk.RBF(1.0)).fit(X, TWO)
    assert ours.log_marginal_likelihood_value_ >= theirs.log_marginal_likelihood_value_ - 1e-6
    np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    # scikit-learn sums five error functions in the place of the logistic function.
    np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=2e-3)
    if hasattr(theirs, "latent_mean_and_variance"):  # scikit-learn 1.7 and later
        found = theirs.latent_mean_and_variance(NEW)
        for a, b in zip(ours.latent_mean_and_variance(NEW), found, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-2)
    proof = ours.certificate_
    assert proof.status == "stationary"
    assert proof.relative_gap < 1e-9
    assert proof.kkt_violation < 1e-2


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_kernels_of_scikit_learn_stay_what_they_are(multi_class: str) -> None:
    kernel = 1.0 * sk.RBF([1.0, 1.0]) + sk.WhiteKernel(0.1, "fixed")
    ours = GaussianProcessClassifier(kernel, multi_class=multi_class).fit(X, THREE)
    theirs = peer.GaussianProcessClassifier(kernel, multi_class=multi_class).fit(X, THREE)
    assert isinstance(ours.kernel_, sk.CompoundKernel)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(
        theirs.log_marginal_likelihood_value_, abs=1e-4
    )
    if multi_class == "one_vs_rest":  # ties of votes are broken by p - 1/2 here, by p there
        np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    theta = kernel.theta + 0.1
    assert ours.log_marginal_likelihood(theta) == pytest.approx(
        theirs.log_marginal_likelihood(theta), abs=1e-7
    )
    assert len(ours.certificates_) == 3


def test_the_mode_minimises_the_penalised_logistic_problem() -> None:
    y = np.where(TWO == "up", 1.0, -1.0)
    mode = laplace.posterior_mode(K, y, None, 50)
    np.testing.assert_allclose(mode.coef, mode.slope, atol=1e-8)  # the gradient vanishes
    assert mode.primal - mode.dual == pytest.approx(0.0, abs=1e-12)
    early = laplace.posterior_mode(K, y, None, 1)
    assert early.dual <= mode.primal <= early.primal
    poor = laplace.posterior_mode(K, y, 100.0 * RNG.normal(size=30), 50)
    assert poor.primal == pytest.approx(mode.primal)


def derivative(find: Any, targets: Any, D: Any, step: float = 1e-5) -> float:
    ends = (find(K + t * D, targets, None, 50).evidence for t in (step, -step))
    return (next(ends) - next(ends)) / (2.0 * step)


@pytest.mark.parametrize(
    ("module", "find", "targets"),
    [
        (laplace, laplace.posterior_mode, np.where(TWO == "up", 1.0, -1.0)),
        (softmax_laplace, softmax_laplace.softmax_mode, np.eye(3)[THREE]),
    ],
)
def test_evidence_gradients_by_the_covariance_matrix(module: Any, find: Any, targets: Any) -> None:
    mode = find(K, targets, None, 50)
    W = module.evidence_gradient(mode, K)
    for gamma in (0.1, 1.0, 20.0):
        D = RBF(gamma)(X)
        assert np.sum(W * D) == pytest.approx(derivative(find, targets, D), rel=1e-5, abs=1e-7)


def test_softmax_by_dense_formulas() -> None:
    mode = softmax_laplace.softmax_mode(K, np.eye(3)[THREE], None, 50)
    np.testing.assert_allclose(mode.coef, mode.slope, atol=1e-7)
    assert mode.primal - mode.dual == pytest.approx(0.0, abs=1e-11)
    P = mode.probability
    W = np.block(
        [[np.diag((a == b) * P[:, a] - P[:, a] * P[:, b]) for b in range(3)] for a in range(3)]
    )
    whole = np.kron(np.eye(3), K)
    inner = np.eye(90) + whole @ W
    assert mode.logdet == pytest.approx(np.linalg.slogdet(inner)[1])
    k = (3.0 * RBF(0.5))(NEW, X)
    found = softmax_laplace.latent_covariances(mode.blocks, mode.factor, np.full(9, 3.0), k)
    spread = W @ np.linalg.inv(inner)
    for row, covariance in zip(k, found, strict=True):
        B = np.kron(np.eye(3), row[:, None])
        np.testing.assert_allclose(covariance, 3.0 * np.eye(3) - B.T @ spread @ B, atol=1e-10)


def test_softmax_of_two_classes_is_one_logistic_function() -> None:
    # The difference of two independent latent functions has twice the covariance.
    joint = GaussianProcessClassifier(RBF(0.5), optimizer=None, multi_class="softmax")
    single = GaussianProcessClassifier(2.0 * RBF(0.5), optimizer=None)
    a, b = joint.fit(X, TWO), single.fit(X, TWO)
    np.testing.assert_allclose(a.predict_proba(NEW), b.predict_proba(NEW), atol=2e-3)
    np.testing.assert_array_equal(a.predict(NEW), b.predict(NEW))
    assert a.log_marginal_likelihood_value_ == pytest.approx(b.log_marginal_likelihood_value_)


def test_softmax_is_fitted_by_its_evidence() -> None:
    model = GaussianProcessClassifier(
        1.0 * RBF([0.5, 0.5]) + White(0.01), multi_class="softmax", bounds={"right": "fixed"}
    ).fit(X, THREE)
    start = model.kernel_.with_bounds({"right": "fixed"})
    value, gradient = model.log_marginal_likelihood(start.theta, eval_gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood_value_)
    assert np.abs(gradient).max() < 1e-2
    assert model.certificate_.status == "stationary"
    p = model.predict_proba(NEW)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(NEW), p.argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(NEW[2:4]), p[2:4], rtol=1e-10)


def test_the_mean_of_the_logistic_function_has_13_digits() -> None:
    for m, v in ((0.3, 0.01), (-5.0, 1.0), (2.0, 1.1), (0.3, 400.0)):
        with mpmath.workdps(20):
            s = mpmath.sqrt(v)
            points = [-12, -6, -3, -1, 0, 1, 3, 6, 12]
            if v < 10:

                def f(z: Any, m: float = m, s: Any = s) -> Any:
                    return mpmath.npdf(z) / (1 + mpmath.exp(-m - s * z))
            else:
                points = [4 * p for p in points]

                def f(z: Any, m: float = m, s: Any = s) -> Any:
                    return mpmath.ncdf((m - z) / s) / (2 + 2 * mpmath.cosh(z))

            exact = mpmath.quad(f, points)
        found = logistic_normal_mean(np.array([m]), np.array([v]))[0]
        assert abs(found - float(exact)) < 1e-12


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "softmax"])
def test_the_mode_is_a_fixed_point_to_rounding(multi_class: str) -> None:
    # Where primal and dual agree to 1e-15, f may be wrong by the root of that.
    for scale in (1.0, 100.0):
        kernel = scale * RBF(0.5)
        model = GaussianProcessClassifier(kernel, optimizer=None, multi_class=multi_class)
        mode = model.fit(X, THREE).problems_[0]._mode
        assert np.abs(mode.coef - mode.slope).max() <= 1e-12


@pytest.mark.parametrize("classes", [2, 3])
def test_the_log_evidence_is_a_function_of_theta_alone(classes: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [0.0, 0.8][: classes - 1])
    multi_class = "softmax" if classes > 2 else "one_vs_rest"
    model = GaussianProcessClassifier(4.0 * RBF(0.7), optimizer=None, multi_class=multi_class).fit(
        X, y
    )
    evidence, theta = model.log_marginal_likelihood, np.log([4.0, 0.7])
    value, gradient = evidence(theta, eval_gradient=True)
    for other in (theta + 1.0, theta + 1e-4):
        evidence(other)
        assert evidence(theta) == value
    steps = 1e-3 * np.eye(2)
    differences = [
        sum(c * evidence(theta + k * step) for k, c in ((-2, 1), (-1, -8), (1, 8), (2, -1))) / 12e-3
        for step in steps
    ]
    np.testing.assert_allclose(differences, gradient, rtol=1e-7)


def test_strings_pickles_limits_and_warm_starts() -> None:
    words, labels = ["banana", "bandana", "kernel", "colonel"], [1, 1, 0, 0]
    model = GaussianProcessClassifier(Spectrum(2), warm_start=True).fit(words, labels)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.predict_proba(["bananas"]), model.predict_proba(["bananas"])
    )
    assert model.predict(["bananas"]) == [1]
    before = model.predict_proba(["bananas"])
    np.testing.assert_allclose(model.fit(words, labels).predict_proba(["bananas"]), before)
    short = GaussianProcessClassifier(1.0 * RBF(5.0), time_limit=1e-9).fit(X, THREE)
    assert short.certificate_.status == "time_limit"

    def keyboard(report: Any) -> None:
        raise KeyboardInterrupt

    model = GaussianProcessClassifier(1.0 * RBF(5.0)).set_callbacks(keyboard)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, TWO)
    assert model.certificate_.status == "interrupted"
    with pytest.raises(KeyboardInterrupt):  # the second and the third class are not yet begun
        model.fit(X, THREE)
    assert [proof.status for proof in model.certificates_] == ["interrupted"] * 3
    assert model.score(X, THREE) > 0.7
    few = GaussianProcessClassifier(1e4 * RBF(1.0), optimizer=None, max_iter_predict=1)
    assert few.fit(X, TWO).certificate_.status == "iteration_limit"


@pytest.mark.parametrize(
    ("module", "multi_class", "factors"),
    [(laplace, "one_vs_rest", 3), (softmax_laplace, "softmax", 4)],
)
def test_the_clock_is_read_between_newton_steps(
    monkeypatch: Any, module: Any, multi_class: str, factors: int
) -> None:
    work = Work(monkeypatch, module)
    model = GaussianProcessClassifier(1.0 * RBF(5.0), multi_class=multi_class, time_limit=0.5)
    model.fit(X, THREE)
    # Of each problem the factor at the first point, which softmax makes of three.
    assert work.factors == factors
    assert model.certificate_.status == "time_limit"
    assert model.score(X, THREE) > 0.7


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GaussianProcessClassifier(RBF(1.0), multi_class="all"), "multi_class must be"),
        (
            GaussianProcessClassifier(RBF(1.0), max_iter_predict=0),
            "max_iter_predict must be an integer of at least 1",
        ),
        (GaussianProcessClassifier(NegativeDistance()), "no covariance"),
        (GaussianProcessClassifier("precomputed"), "precomputed"),
        (GaussianProcessClassifier(RBF(1.0), bounds={"gamma": (2.0, 3.0)}), "outside its bounds"),
    ],
)
def test_refused_parameters(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(K if model.kernel == "precomputed" else X, TWO)


def test_refused_questions() -> None:
    model = GaussianProcessClassifier(RBF(1.0), optimizer=None, multi_class="one_vs_one")
    model.fit(X, THREE)
    with pytest.raises(ValueError, match="one_vs_one"):
        model.predict_proba(NEW)
    with pytest.raises(NotImplementedError, match="softmax"):
        model.log_marginal_likelihood([0.0], eval_gradient=True)
    with pytest.raises(ValueError, match="Shape of theta"):
        model.log_marginal_likelihood([0.0, 1.0])
    with pytest.raises(ValueError, match="binary"):
        model.latent_mean_and_variance(NEW)
    with pytest.raises(ValueError, match="only class a"):
        GaussianProcessClassifier(RBF(1.0)).fit(X, np.full(30, "a"))


def test_an_indefinite_kernel_of_the_user_has_no_gap():
    """The primal value has no minimum there: a mode with a gap below 0 is no optimum."""
    A = np.random.default_rng(0).normal(size=(120, 4))

    def indefinite(X, Z):
        return RBF(0.5)(X, Z) - 0.05 * X @ Z.T

    proof = GaussianProcessClassifier(indefinite, optimizer=None).fit(A, A[:, 0] > 0).certificate_
    assert (proof.status, proof.convexity, proof.assumes) == ("stationary", "refuted", None)
    assert np.isnan(proof.gap)
    assert proof.eigenvalue == pytest.approx(np.linalg.eigvalsh(indefinite(A, A))[0])
    model = GaussianProcessClassifier(lambda X, Z: RBF(0.5)(X, Z), optimizer=None)
    proof = model.fit(A, A[:, 0] > 0).certificate_
    assert (proof.status, proof.convexity, proof.assumes) == ("optimal", "checked", "psd")
