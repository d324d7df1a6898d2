"""Cristianini and Shawe-Taylor: the conventions and the misprints (CS-0)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.svm
from sklearn.base import clone

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.data import lfd_toy
from mercer.gram import Gram
from mercer.kernels import Precomputed
from mercer.losses import ZeroOne
from mercer.run import Run
from mercer.solvers import DualProblem, Settings, solve
from tests.literature.problems import CLOUDS_KERNEL, EXACT, clouds, soft_margin_primal, two_points

MACHINES = [SVC(), NuSVC(nu=0.65), SVR(), NuSVR(nu=0.4), OneClassSVM(nu=0.4)]


def values(model: Any, X: Any) -> Any:
    if isinstance(model, SVR | NuSVR):
        return model.predict(X)
    return model.decision_function(X)


@pytest.mark.spec("CS-0.02")
@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.5)], ids=["SVC", "NuSVC"])
def test_without_information_the_value_is_zero_and_zero_is_positive(machine: Any) -> None:
    K = np.zeros((4, 4))
    model = clone(machine).set_params(kernel="precomputed").fit(K, [-1, 1, -1, 1])
    assert not model.decision_function(K).any()
    assert model.predict(K).tolist() == [1, 1, 1, 1]


@pytest.mark.spec("CS-0.02")
def test_the_sign_of_zero_is_positive_as_in_scikit_learn() -> None:
    X, y = two_points()
    Z = np.array([[-0.5], [0.0], [0.5]])
    model = SVC(kernel="linear", C=10.0).fit(X, y)
    peer = sklearn.svm.SVC(kernel="linear", C=10.0).fit(X, y)
    assert model.decision_function(Z).tolist() == peer.decision_function(Z).tolist()
    assert peer.predict(Z).tolist() == [-1, 1, 1]
    assert model.predict(Z).tolist() == [-1, 1, 1]
    assert ZeroOne().value([1, -1], [0.0, 0.0]).tolist() == [0.0, 1.0]


@pytest.mark.spec("CS-0.04", "CS-0.12")
@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_primal_and_dual_form_predict_the_same(machine: Any) -> None:
    X, y = clouds()
    Z = np.random.default_rng(7).normal(size=(50, 2))
    y = X @ [1.0, -0.5] + 0.3 * y + 2.0 if isinstance(machine, SVR | NuSVR) else y
    model = clone(machine).set_params(kernel="linear", **EXACT).fit(X + 1.0, y)
    primal = Z @ model.coef_[0] + model.intercept_[0]
    dual = (Z @ model.support_vectors_.T) @ model.dual_coef_[0] + model.intercept_[0]
    assert primal == pytest.approx(dual, abs=1e-12)
    assert values(model, Z) == pytest.approx(primal, abs=1e-12)
    assert abs(model.intercept_[0]) > 0.01  # or the sign of b would not show


@pytest.mark.spec("CS-0.04")
@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_data_enter_through_kernel_values_alone(machine: Any) -> None:
    X, y = clouds()
    Z = np.random.default_rng(8).normal(size=(20, 2))
    on_points = clone(machine).set_params(kernel=CLOUDS_KERNEL, **EXACT).fit(X, y)
    on_matrix = clone(machine).set_params(kernel="precomputed", **EXACT)
    on_matrix.fit(CLOUDS_KERNEL(X), y)
    assert values(on_matrix, CLOUDS_KERNEL(Z, X)) == pytest.approx(values(on_points, Z), abs=1e-9)


@pytest.mark.spec("CS-0.11")
def test_the_printed_one_norm_primal_has_half_the_box() -> None:
    X, y = lfd_toy()
    C = 1.0
    w, _, _ = soft_margin_primal(X, y, C, 0.0, norm=1.0)  # <w, w> + C sum xi
    half = SVC(kernel="linear", C=C / 2, **EXACT).fit(X, y)
    assert half.coef_[0] == pytest.approx([2 / 3, -2 / 3], abs=1e-9)
    assert w == pytest.approx(half.coef_[0], abs=1e-6)
    assert np.abs(SVC(kernel="linear", C=C, **EXACT).fit(X, y).coef_[0] - w).max() > 0.3


@pytest.mark.spec("CS-0.11")
@pytest.mark.parametrize("norm", [1, 2])
def test_primal_value_is_half_the_norm_plus_c_times_the_slacks(norm: int) -> None:
    # The text's (C/2) sum xi^2 is C sum xi^2 here, with C half as large.
    X, y = clouds()
    model = SVC(kernel="linear", C=0.7, penalty_norm=norm, **EXACT).fit(X, y)
    w, slack = model.coef_[0], np.maximum(0, 1 - y * model.decision_function(X))
    assert model.certificate_.primal == pytest.approx(
        0.5 * w @ w + 0.7 * (slack**norm).sum(), rel=1e-12
    )
    assert model.certificate_.dual == pytest.approx(model.certificate_.primal, rel=1e-12)


@pytest.mark.spec("CS-0.12")
def test_the_bias_is_added() -> None:
    model = SVC(kernel="linear", C=np.inf, **EXACT).fit([[1.0], [3.0]], [-1, 1])
    assert model.intercept_[0] == pytest.approx(-2.0, abs=1e-12)
    assert model.decision_function([[5.0]])[0] == pytest.approx(3.0, abs=1e-12)


@pytest.mark.spec("CS-0.12")
def test_cached_errors_equal_errors_from_scratch_after_every_step() -> None:
    X, y = clouds()
    K = CLOUDS_KERNEL(X)
    gram = Gram(CLOUDS_KERNEL, X, "float64")
    problem = DualProblem(
        np.minimum(y, 0), np.maximum(y, 0), -y, group=np.zeros(40, dtype=np.int64)
    )
    for step in range(1, 60):
        found = solve(problem, gram, Settings(tol=1e-10), run=Run(max_iter=step))
        assert found.n_iter == step
        errors = found.values - found.multiplier[0] - y  # f = values + b with b = -multiplier
        again = K @ found.beta - found.multiplier[0] - y
        assert np.abs(errors - again).max() < 1e-12


def corrected_program(total: float) -> Any:
    """Minimise 1/2 w'Qw - k'w, w_1 + w_2 = total, with Q = diag(2, 4) and k = (1, 2)."""
    problem = DualProblem(
        np.full(2, -np.inf), np.full(2, np.inf), -np.array([1.0, 2.0]), group=np.zeros(2, np.int64)
    )
    gram = Gram(Precomputed(), np.diag([2.0, 4.0]), "float64")
    return solve(problem, gram, Settings(tol=1e-12), start=np.array([total, 0.0]))


@pytest.mark.spec("CS-0.13")
def test_the_derivative_of_the_optimal_value_is_minus_the_multiplier() -> None:
    at = corrected_program(0.2)
    assert at.beta == pytest.approx([-1 / 30, 7 / 30], abs=1e-12)
    assert at.objective == pytest.approx(-0.97 / 3, abs=1e-12)
    alpha = -at.multiplier[0]  # of L = 1/2 w'Qw - k'w + alpha (w_1 + w_2 - c)
    assert alpha == pytest.approx(16 / 15, abs=1e-12)
    h = 1e-3  # central differences are exact for a quadratic
    slope = (corrected_program(0.2 + h).objective - corrected_program(0.2 - h).objective) / (2 * h)
    assert slope == pytest.approx(-alpha, abs=1e-9)


@pytest.mark.spec("CS-0.13")
def test_the_constant_of_the_dual_program_has_the_inverse_matrix() -> None:
    Q, k, c = np.diag([2.0, 4.0]), np.array([1.0, 2.0]), 0.2
    x = np.ones(2)
    at = corrected_program(c)
    alpha = -at.multiplier[0]
    inverse = np.linalg.inv(Q)
    varying = -0.5 * alpha**2 * x @ inverse @ x - alpha * (c - x @ inverse @ k)
    assert varying - 0.5 * k @ inverse @ k == pytest.approx(at.objective, abs=1e-12)
    assert varying - 0.5 * k @ Q @ k == pytest.approx(-8.573333, abs=1e-6)  # as printed: wrong


@pytest.mark.spec("CS-0.13")
def test_weights_and_bias_rules_as_corrected() -> None:
    X, y = clouds()
    text_C = 1.6  # (C/2) sum xi^2 in the text
    model = SVC(kernel="linear", C=text_C / 2, penalty_norm=2, **EXACT).fit(X, y)
    alpha = model.alpha_
    # (e) no factor 1 / gamma; (g) alpha = C xi and y f = 1 - alpha / C where alpha > 0.
    assert model.coef_[0] == pytest.approx((y * alpha) @ X, abs=1e-10)
    assert alpha == pytest.approx(text_C * model.slack_, abs=1e-9)
    on = alpha > 0
    f = model.decision_function(X)
    assert (y * f)[on] == pytest.approx(1 - alpha[on] / text_C, abs=1e-9)
