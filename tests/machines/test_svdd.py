"""Support vector data description."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVDD, OneClassSVM
from mercer.geometry import ball, smallest_enclosing_ball
from mercer.kernels import RBF, Linear, Multiquadric, Polynomial, Precomputed, Spectrum, normalize
from mercer.solvers import solve

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
NEW = 2.0 * RNG.normal(size=(200, 2))


@parametrize_with_checks([SVDD()])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.spec("CS-3.51")
def test_without_outliers_it_is_the_smallest_enclosing_ball():
    triangle = [[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]]
    model = SVDD(nu=0.01, kernel=Linear()).fit(triangle)
    assert model.radius_**2 == pytest.approx(1.0 / 3.0, rel=1e-5)
    np.testing.assert_allclose(model.dual_coef_ @ triangle, [0.5, 0.28868], atol=1e-4)
    ball = smallest_enclosing_ball(RBF(0.5), X)
    assert SVDD(nu=0.01, kernel=RBF(0.5)).fit(X).radius_ == pytest.approx(ball.radius, rel=1e-5)


@pytest.mark.spec("CS-3.51")
@pytest.mark.parametrize("nu", [0.13, 0.37, 0.9])
def test_equivalence_with_the_one_class_machine_for_kernels_of_constant_norm(nu):
    ball = SVDD(nu=nu, kernel=RBF(0.5), tol=1e-9).fit(X)
    plane = OneClassSVM(nu=nu, kernel=RBF(0.5), tol=1e-8).fit(X)
    coef = np.zeros(60)
    coef[plane.support_] = plane.dual_coef_[0] / (nu * 60)
    mine = np.zeros(60)
    mine[ball.support_] = ball.dual_coef_
    np.testing.assert_allclose(mine, coef, atol=1e-5)
    np.testing.assert_allclose(
        ball.decision_function(NEW), 2.0 * plane.decision_function(NEW) / (nu * 60), atol=1e-5
    )


@pytest.mark.parametrize("nu", [0.1, 0.25, 0.6])
def test_nu_bounds_the_fraction_outside(nu):
    model = SVDD(nu=nu, kernel=RBF(0.3)).fit(X)
    values = model.decision_function(X)
    assert (values < -1e-6).mean() <= nu <= len(model.support_) / 60
    certificate = model.certificate_
    assert certificate.status == "optimal"
    assert certificate.relative_gap <= 1e-6
    outside = np.maximum(-values, 0.0).sum() / (nu * 60)
    assert model.radius_**2 + outside == pytest.approx(certificate.primal, rel=1e-6)


def test_no_other_ball_has_a_lower_objective():
    model = SVDD(nu=0.2, kernel=Linear()).fit(X)
    rng = np.random.default_rng(1)
    for _ in range(200):
        centre = X.mean(axis=0) + 0.3 * rng.normal(size=2)
        squares = ((X - centre) ** 2).sum(axis=1)
        radius2 = np.quantile(squares, rng.uniform(0.6, 1.0))
        value = radius2 + np.maximum(squares - radius2, 0.0).sum() / 12
        assert value >= model.certificate_.dual


@pytest.mark.parametrize("status", ["time_limit", "interrupted"])
def test_a_stop_keeps_the_best_ball_so_far(monkeypatch, status):
    calls = []

    def stopped(problem, gram, settings, start, run):
        calls.append(run.seconds_left)
        found = solve(problem, gram, settings, start, run=run.branch(steps=3))
        if status == "interrupted":
            run.interrupt()
        return dataclasses.replace(found, status=status)

    monkeypatch.setattr(ball, "solve", stopped)
    model = SVDD(nu=0.2, kernel=RBF(0.5), time_limit=7.0)
    if status == "interrupted":
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
        with pytest.raises(KeyboardInterrupt):
            smallest_enclosing_ball(RBF(0.5), X)
    else:
        with pytest.warns(ConvergenceWarning, match="time_limit=7"):
            model.fit(X)
        assert len(calls) == 1
    assert 6.0 < calls[0] <= 7.0  # what is left of it when the solver begins
    assert model.certificate_.status == status
    assert model.certificate_.dual < model.certificate_.primal < np.inf
    assert model.predict(X).shape == (60,)
    with pytest.raises(ValueError, match="time_limit"):
        SVDD(time_limit=0.0).fit(X)


def test_weights_are_repetition_and_objects_may_be_strings():
    weight = np.arange(60) % 3
    weighted = SVDD(nu=0.3, kernel=RBF(0.5)).fit(X, sample_weight=weight)
    repeated = SVDD(nu=0.3, kernel=RBF(0.5)).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(
        weighted.decision_function(NEW), repeated.decision_function(NEW), atol=1e-5
    )
    words = ["banana", "ananas", "nana", "bananas", "kernel"]
    kernel = normalize(Spectrum(2))
    model = SVDD(nu=0.5, kernel=kernel).fit(words)
    assert model.predict(words)[4] == -1
    K = kernel(words)
    matrix = SVDD(nu=0.5, kernel="precomputed").fit(K)
    assert matrix.radius_ == pytest.approx(model.radius_)
    with pytest.raises(ValueError, match="does not hold k"):
        matrix.predict(K)


@pytest.mark.parametrize("nu", [0.3, 0.05])
def test_an_indefinite_matrix_has_no_smallest_ball(nu):
    """Along the negative eigenvector the dual value grows: no gap bounds anything."""
    K = RBF(0.5)(X) - 0.05 * X @ X.T
    with pytest.warns(ConvergenceWarning, match="no feature space with a smallest ball"):
        refuted = SVDD(nu=nu, kernel="precomputed").fit(K).certificate_
    assert (refuted.status, refuted.convexity, refuted.assumes) == ("stationary", "refuted", None)
    assert np.isnan(refuted.gap)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    assert refuted.eigenvalue == pytest.approx(np.linalg.eigvalsh(centred)[0], rel=1e-9)
    with pytest.warns(ConvergenceWarning, match="no feature space"):
        ball = smallest_enclosing_ball(Precomputed(), K)
    assert (ball.certificate.status, ball.lower_bound) == ("stationary", 0.0)
    # Up to constants is enough, and known where it is a theorem.
    checked = SVDD(nu=nu, kernel="precomputed").fit(Multiquadric(1.0)(X)).certificate_
    assert (checked.status, checked.convexity, checked.assumes) == ("optimal", "checked", "psd")
    known = SVDD(nu=nu, kernel=Multiquadric(1.0)).fit(X).certificate_
    assert (known.status, known.convexity, known.assumes) == ("optimal", "theorem", None)


def test_a_linear_kernel_far_from_the_origin_keeps_its_digits():
    grid = np.round(X * 2**12) / 2**12
    near, far = (SVDD(nu=0.2, kernel="linear").fit(grid + shift) for shift in (0.0, 2.0**33))
    assert far.radius_ == pytest.approx(near.radius_, rel=1e-6)
    np.testing.assert_allclose(
        far.decision_function(grid + 2.0**33), near.decision_function(grid), atol=1e-4
    )


def test_coefficients_at_their_bounds_start_the_next_attempt():
    random = np.random.default_rng(0)
    X = np.repeat(random.normal(size=(8, 2)) + 1e3, [1, 7, 3, 1, 2, 3, 7, 2], axis=0)
    for nu in (0.1, 0.3, 0.6):
        certificate = SVDD(nu, kernel=Polynomial(2), tol=1e-9).fit(X).certificate_
        assert certificate.status in ("optimal", "precision_limit")
        assert certificate.dual <= certificate.primal
