"""Cristianini and Shawe-Taylor: support vector regression (CS-6.31 to CS-6.37, CS-7.48).

The text's |w|^2 + C sum (xi^2 + xi'^2) is 1/2 |w|^2 + (C/2) sum ..., so that its C is twice
mercer's for the quadratic loss; for the linear loss the constants agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVR
from mercer.gram import Gram
from mercer.kernels import Precomputed
from mercer.losses import EpsilonInsensitive, Loss, SquaredEpsilonInsensitive
from mercer.losses.base import DualTerms
from mercer.solvers import Problem, Settings, solve
from tests.literature.problems import (
    CLOUDS_KERNEL,
    EXACT,
    WAVE_KERNEL,
    clouds,
    dual_optimum,
    minimise,
    signed,
    two_points,
    wave,
)

SQUARED: dict[str, Any] = {"loss": "squared_epsilon_insensitive", **EXACT}


@pytest.mark.spec("CS-6.31")
def test_values_of_the_two_losses() -> None:
    y, f = np.array([1.0, 1.0, 1.0]), np.array([0.7, 1.3, 0.95])  # |y - f| = 0.3, 0.3, 0.05
    assert EpsilonInsensitive(0.1).value(y, f) == pytest.approx([0.2, 0.2, 0], abs=1e-15)
    assert SquaredEpsilonInsensitive(0.1).value(y, f) == pytest.approx([0.04, 0.04, 0], abs=1e-15)
    assert EpsilonInsensitive(0.0).value(y, f) == pytest.approx(np.abs(y - f), abs=1e-15)


@pytest.mark.spec("CS-6.31")
def test_margin_slack_is_a_tube_narrower_by_the_margin() -> None:
    theta, gamma = 0.5, 0.2
    deviation = np.linspace(-1, 1, 41)
    margin_slack = np.maximum(0, gamma - (theta - np.abs(deviation)))
    tube = EpsilonInsensitive(theta - gamma).value(deviation, np.zeros(41))
    assert tube == pytest.approx(margin_slack, abs=1e-15)


@pytest.mark.spec("CS-6.32", "CS-7.48")
def test_quadratic_loss_on_two_points() -> None:
    X, y = two_points()
    model = SVR(kernel="linear", C=1 / 2, epsilon=0.1, **SQUARED).fit(X, y)  # the text's C is 1
    assert signed(model, 2) == pytest.approx([0.3, -0.3], abs=1e-12)
    assert model.coef_[0, 0] == pytest.approx(0.6, abs=1e-12)
    assert model.predict(X) - y == pytest.approx([-0.4, 0.4], abs=1e-12)
    proof = model.certificate_
    assert proof.gap - proof.rounding == pytest.approx(0.0, abs=1e-15)


@pytest.mark.spec("CS-6.32", "CS-0.13")
def test_quadratic_loss_on_the_wave() -> None:
    X, y = wave()
    text_C = 5.0
    model = SVR(kernel=WAVE_KERNEL, C=text_C / 2, epsilon=0.1, **SQUARED).fit(X, y)
    beta, K = signed(model, 12), WAVE_KERNEL(X)
    # The dual with the term -epsilon |beta|_1 that two printed lines lack.
    dual = y @ beta - 0.1 * np.abs(beta).sum() - 0.5 * beta @ (K + np.eye(12) / text_C) @ beta
    assert dual == pytest.approx(0.7618928, abs=1e-7)
    assert model.certificate_.dual == pytest.approx(dual, rel=1e-12)
    assert model.intercept_[0] == pytest.approx(0.0014951, abs=1e-7)
    assert len(model.support_) == 9
    residual = model.predict(X) - y
    up, down = beta > 0, beta < 0
    assert residual[up] == pytest.approx(-0.1 - beta[up] / text_C, abs=1e-9)
    assert residual[down] == pytest.approx(0.1 - beta[down] / text_C, abs=1e-9)
    slack = np.maximum(0, np.abs(residual) - 0.1)
    assert model.certificate_.primal == pytest.approx(
        0.5 * beta @ K @ beta + text_C / 2 * slack @ slack, rel=1e-12
    )
    assert beta == pytest.approx(dual_optimum(K, y, shift=1 / text_C, epsilon=0.1), abs=1e-5)


@pytest.mark.spec("CS-6.33")
def test_without_a_tube_the_quadratic_loss_is_a_linear_system() -> None:
    X, y = wave()
    text_C = 3.0
    ones = np.ones((12, 1))
    system = np.block([[WAVE_KERNEL(X) + np.eye(12) / text_C, ones], [ones.T, np.zeros((1, 1))]])
    *alpha, b = np.linalg.solve(system, np.append(y, 0.0))
    model = SVR(kernel=WAVE_KERNEL, C=text_C / 2, epsilon=0.0, **SQUARED).fit(X, y)
    assert signed(model, 12) == pytest.approx(alpha, abs=1e-8)
    assert model.intercept_[0] == pytest.approx(b, abs=1e-8)


@pytest.mark.spec("CS-6.33")
def test_least_squares_on_labels_is_the_two_norm_machine_without_signs() -> None:
    X, y = clouds()

    def both(C: float) -> tuple[Any, Any, Any]:
        regression = SVR(kernel=CLOUDS_KERNEL, C=C, epsilon=0.0, **SQUARED).fit(X, y)
        machine = SVC(kernel=CLOUDS_KERNEL, C=C, penalty_norm=2, **EXACT).fit(X, y)
        return y * signed(regression, 40), regression, machine

    alpha, _, machine = both(0.5)  # no value overshoots its label: the two are one machine
    assert (alpha > 0).all()
    assert alpha == pytest.approx(machine.alpha_, abs=1e-9)
    alpha, regression, machine = both(5.0)  # some do, which the classifier does not mind
    assert (alpha < 0).any()
    assert (machine.alpha_ >= 0).all()
    assert machine.certificate_.primal < regression.certificate_.primal - 0.1


@pytest.mark.spec("CS-6.33")
def test_a_growing_constant_leads_to_plain_least_squares() -> None:
    X, y = clouds()
    plain = np.linalg.lstsq(np.column_stack([X, np.ones(40)]), y, rcond=None)[0]
    distances = []
    for C in (1.0, 10.0, 100.0):
        model = SVR(kernel="linear", C=C, epsilon=0.0, **SQUARED).fit(X, y)
        distances.append(np.abs([*model.coef_[0], model.intercept_[0]] - plain).max())
    assert distances[2] < 1e-4
    assert distances[:2] == pytest.approx([100 * distances[2], 10 * distances[2]], rel=0.05)


@pytest.mark.spec("CS-6.34")
def test_linear_loss_on_two_points() -> None:
    X, y = two_points()
    model = SVR(kernel="linear", C=10.0, epsilon=0.1, **EXACT).fit(X, y)
    assert signed(model, 2) == pytest.approx([0.45, -0.45], abs=1e-12)
    assert model.coef_[0, 0] == pytest.approx(0.9, abs=1e-12)
    assert np.abs(y - model.predict(X)) == pytest.approx([0.1, 0.1], abs=1e-12)


@pytest.mark.spec("CS-6.34")
def test_linear_loss_on_the_wave() -> None:
    X, y = wave()
    model = SVR(kernel=WAVE_KERNEL, C=5.0, epsilon=0.1, **EXACT).fit(X, y)
    beta, K = signed(model, 12), WAVE_KERNEL(X)
    expected = [-0.731421, 0.922713, 0, 0, 0.852142, 0, -0.343363, 0, 0, -0.868508, 0, 0.168437]
    assert beta == pytest.approx(expected, abs=1e-6)
    assert model.certificate_.dual == pytest.approx(0.8836929, abs=1e-7)
    assert model.intercept_[0] == pytest.approx(-0.0064181, abs=1e-7)
    assert len(model.support_) == 6
    residual = model.predict(X) - y
    assert residual[beta > 0] == pytest.approx(np.full(3, -0.1), abs=1e-9)
    assert residual[beta < 0] == pytest.approx(np.full(3, 0.1), abs=1e-9)
    assert beta == pytest.approx(dual_optimum(K, y, C=5.0, epsilon=0.1), abs=1e-5)


@pytest.mark.spec("CS-6.34", "CS-6.35")
def test_gap_and_tube_of_the_linear_loss() -> None:
    X, y = wave()
    C, epsilon = 0.4, 0.1
    model = SVR(kernel=WAVE_KERNEL, C=C, epsilon=epsilon, **EXACT).fit(X, y)
    beta, K = signed(model, 12), WAVE_KERNEL(X)
    loss = np.maximum(0, np.abs(y - model.predict(X)) - epsilon)
    gap = beta @ K @ beta - y @ beta + epsilon * np.abs(beta).sum() + C * loss.sum()
    assert gap == pytest.approx(0.0, abs=1e-8)
    assert model.certificate_.gap == pytest.approx(gap, abs=1e-12)
    assert model.slack_ == pytest.approx(loss, abs=1e-12)
    # Strictly inside: no multiplier. Outside: at the bound. On the edge: anything between.
    status = model.point_status_
    assert set(status) == {"inside tube", "on edge", "outside tube"}
    assert (beta[status == "inside tube"] == 0).all()
    assert (np.abs(beta[status == "outside tube"]) == C).all()
    assert (np.abs(beta[(status != "on edge")]) % C == 0).all()
    assert ((np.abs(beta) > 0) & (np.abs(beta) < C) <= (status == "on edge")).all()
    assert np.abs((np.abs(beta) - C) * loss).max() < 1e-9


@pytest.mark.spec("CS-6.36")
@pytest.mark.parametrize("nu", [0.2, 0.5, 0.8])
def test_nu_bounds_the_fraction_outside_the_tube(nu: float) -> None:
    rng = np.random.default_rng(9)
    X = np.sort(rng.uniform(-3, 3, 40))[:, None]
    y = np.sinc(X[:, 0]) + 0.2 * rng.standard_normal(40)
    text_C = 40.0  # (C / l) sum of the slacks in the text
    model = NuSVR(kernel="rbf", gamma=0.5, nu=nu, C=text_C / 40, **EXACT).fit(X, y)
    assert model.epsilon_ > 0.01
    outside = np.abs(y - model.predict(X)) > model.epsilon_ + 1e-8
    assert outside.mean() <= nu <= len(model.support_) / 40
    assert model.alpha_.max() <= text_C / 40
    assert model.alpha_.sum() == pytest.approx(text_C * nu, rel=1e-9)
    fixed = SVR(kernel="rbf", gamma=0.5, epsilon=model.epsilon_, C=text_C / 40, **EXACT).fit(X, y)
    assert fixed.predict(X) == pytest.approx(model.predict(X), abs=1e-7)


class HuberWithTube(Loss):
    """Nothing up to epsilon, quadratic up to epsilon + sigma, linear beyond."""

    def __init__(self, epsilon: float, sigma: float) -> None:
        self.epsilon, self.sigma = epsilon, sigma

    def excess(self, y: Any, f: Any) -> Any:
        return np.abs(np.asarray(y) - f) - self.epsilon

    def value(self, y: Any, f: Any) -> Any:
        t = np.maximum(self.excess(y, f), 0.0)
        return np.where(t <= self.sigma, t**2 / (2 * self.sigma), t - self.sigma / 2)

    def subgradient(self, y: Any, f: Any) -> Any:
        t = np.clip(self.excess(y, f), 0.0, self.sigma) / self.sigma
        return t * np.sign(np.asarray(f) - y)

    def conjugate(self, y: Any, beta: Any, c: Any = 1.0) -> Any:
        size = np.abs(beta)
        inside = -y * beta + self.epsilon * size + self.sigma * size**2 / (2 * np.asarray(c))
        return np.where(size <= c, inside, np.inf)

    def dual(self, y: Any, c: Any) -> DualTerms:
        return DualTerms(
            -c, c, -y - self.epsilon, -y + self.epsilon, curv_left=np.full(len(y), self.sigma) / c
        )


def with_loss(loss: Loss, C: float) -> tuple[Any, Any]:
    """Solve the wave problem for any loss: beta and b."""
    X, y = wave()
    problem = Problem(*loss.dual(y, np.full(12, C)), group=np.zeros(12, np.int64))  # type: ignore[arg-type]
    found = solve(problem, Gram(WAVE_KERNEL, X, "float64"), Settings(tol=1e-10))
    assert found.status == "optimal"
    return found.beta, -found.multiplier[0]


@pytest.mark.spec("CS-6.37")
def test_a_loss_of_ones_own_with_the_tube_reproduces_the_machine() -> None:
    X, y = wave()
    beta, b = with_loss(HuberWithTube(0.1, sigma=0.0), C=0.4)
    model = SVR(kernel=WAVE_KERNEL, C=0.4, epsilon=0.1, **EXACT).fit(X, y)
    assert beta == pytest.approx(signed(model, 12), abs=1e-9)
    assert b == pytest.approx(model.intercept_[0], abs=1e-9)


@pytest.mark.spec("CS-6.37")
def test_another_convex_loss_against_its_primal() -> None:
    X, y = wave()
    loss, C, K = HuberWithTube(0.05, sigma=0.15), 0.7, WAVE_KERNEL(X)
    beta, b = with_loss(loss, C)
    f = K @ beta + b
    primal = 0.5 * beta @ K @ beta + C * loss.value(y, f).sum()
    dual = -0.5 * beta @ K @ beta - loss.conjugate(y, beta, C).sum()
    assert primal == pytest.approx(dual, abs=1e-9)
    root = np.linalg.cholesky(K + 1e-10 * np.eye(12))

    def objective(v: Any) -> float:  # f = root u + b has the norm |u|
        return 0.5 * v[:12] @ v[:12] + C * loss.value(y, root @ v[:12] + v[12]).sum()

    def gradient(v: Any) -> Any:
        slope = C * loss.subgradient(y, root @ v[:12] + v[12])
        return np.append(v[:12] + root.T @ slope, slope.sum())

    v = minimise(objective, gradient, np.zeros(13))
    assert root @ v[:12] + v[12] == pytest.approx(f, abs=1e-4)
    assert objective(v) == pytest.approx(primal, abs=1e-7)


@pytest.mark.spec("CS-7.48")
def test_quadratic_loss_is_a_heavier_diagonal_without_a_box() -> None:
    X, y = wave()
    text_C = 5.0
    K = WAVE_KERNEL(X)
    problem = Problem(
        np.full(12, -np.inf), np.full(12, np.inf), -y - 0.1, -y + 0.1, group=np.zeros(12, np.int64)
    )
    gram = Gram(Precomputed(), K + np.eye(12) / text_C, "float64")
    found = solve(problem, gram, Settings(tol=1e-10))
    model = SVR(kernel=WAVE_KERNEL, C=text_C / 2, epsilon=0.1, **SQUARED).fit(X, y)
    assert found.beta == pytest.approx(signed(model, 12), abs=1e-9)
    assert -found.multiplier[0] == pytest.approx(model.intercept_[0], abs=1e-9)
    hard = SVR(kernel="precomputed", C=np.inf, epsilon=0.1, **EXACT)
    hard.fit(K + np.eye(12) / text_C, y)
    assert signed(hard, 12) == pytest.approx(found.beta, abs=1e-8)
