"""Honavar's slides: margins, conditions of optimality, exclusive or, slacks, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer import SVC, SVR, NotSeparableError, OneClassSVM
from mercer.data import lfd_toy, xor
from mercer.geometry.hyperplanes import functional_margin, geometric_margin, margin
from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Polynomial
from mercer.losses import Hinge
from mercer.machines.support_vector.hard_margin import training_set_margin
from mercer.run import Run
from mercer.solvers import DualProblem, Settings, solve

Array = NDArray[np.float64]

TIGHT: dict[str, Any] = {"tol": 1e-10}
LINEAR: dict[str, Any] = {"kernel": "linear", **TIGHT}


def overlapping(n: int = 60, seed: int = 0) -> tuple[Array, Array]:
    """Two Gaussians that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + 0.7 * y[:, None], y


def hard_toy() -> tuple[SVC, Array, Array]:
    X, y = lfd_toy()
    return SVC(C=np.inf, **LINEAR).fit(X, y), X, y


# ------------------------------------------------------------------ machines and margins


@pytest.mark.spec("HO-12")
def test_a_kernel_machine_is_a_linear_machine_in_its_dual_form() -> None:
    X, y = overlapping()
    Z = np.random.default_rng(1).normal(size=(20, 2))
    for model in (SVC(**LINEAR).fit(X, y), SVR(**LINEAR).fit(X, X[:, 0] + y)):
        primal = Z @ model.coef_[0] + model.intercept_[0]
        dual = (Z @ X[model.support_].T) @ model.dual_coef_[0] + model.intercept_[0]
        assert model.expansion_(Z) == pytest.approx(primal, abs=1e-10)
        assert dual == pytest.approx(primal, abs=1e-10)


@pytest.mark.spec("HO-12")
def test_in_feature_space_the_kernel_machine_is_the_linear_one() -> None:
    X, y = overlapping()

    def phi(Z: Array) -> Array:
        a, b = Z.T
        return np.column_stack([a**2, b**2, np.sqrt(2) * a * b])

    Z = np.random.default_rng(2).normal(size=(20, 2))
    dual = SVC(kernel=Linear() ** 2, **TIGHT).fit(X, y)
    linear = SVC(**LINEAR).fit(phi(X), y)
    assert dual.decision_function(Z) == pytest.approx(linear.decision_function(phi(Z)), abs=1e-8)


@pytest.mark.spec("HO-29")
def test_functional_and_geometric_margin() -> None:
    assert functional_margin([1, 1], -1, [[1, 1]], [1]) == pytest.approx([1])
    assert geometric_margin([1, 1], -1, [[1, 1]], [1]) == pytest.approx([1 / np.sqrt(2)])
    # Scaling the hyperplane changes the first only.
    assert functional_margin([3, 3], -3, [[1, 1]], [1]) == pytest.approx([3])
    assert geometric_margin([3, 3], -3, [[1, 1]], [1]) == pytest.approx([1 / np.sqrt(2)])


@pytest.mark.spec("HO-29")
def test_margin_of_a_set_is_the_largest_minimum_over_hyperplanes() -> None:
    model, X, y = hard_toy()
    best = training_set_margin(X, y)
    assert best == pytest.approx(np.sqrt(0.5))
    assert margin(model.coef_[0], model.intercept_[0], X, y) == pytest.approx(best)
    rng = np.random.default_rng(3)
    planes = rng.normal(size=(500, 3))
    assert max(margin(p[:2], p[2], X, y) for p in planes) <= best
    with pytest.raises(NotSeparableError):
        training_set_margin(*xor())


@pytest.mark.spec("HO-30")
def test_width_between_the_margins() -> None:
    model, X, _ = hard_toy()
    w = model.coef_[0]
    plus, minus = X[2], X[0]
    assert (plus - minus) @ w / np.linalg.norm(w) == pytest.approx(np.sqrt(2))
    assert model.margin_width_ == pytest.approx(np.sqrt(2))
    assert model.margin_width_ == pytest.approx(2 / np.linalg.norm(w))


# ------------------------------------------------------------------ the optimisation problem


@pytest.mark.spec("HO-38")
def test_primal_and_dual_of_the_toy_set() -> None:
    model, X, y = hard_toy()
    alpha, w = model.alpha_, model.coef_[0]
    assert w == pytest.approx([1, -1])
    assert (y * model.decision_function(X)).min() == pytest.approx(1)
    assert alpha == pytest.approx([1 / 2, 1 / 2, 1, 0], abs=1e-9)
    dual = alpha.sum() - 0.5 * (alpha * y) @ X @ X.T @ (alpha * y)
    # With the factor 1/2 in the primal; without it w stays the same and alpha would double.
    assert dual == pytest.approx(0.5 * w @ w)
    assert [model.certificate_.primal, model.certificate_.dual] == pytest.approx([1, 1])


@pytest.mark.spec("HO-39")
def test_bias_from_the_primal_weights() -> None:
    model, X, y = hard_toy()
    values = X @ model.coef_[0]
    midpoint = -(values[y < 0].max() + values[y > 0].min()) / 2
    assert midpoint == pytest.approx(-1)
    assert model.intercept_[0] == pytest.approx(midpoint)
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3)) + 3 * y.repeat(10)[:, None]
    model = SVC(C=np.inf, **LINEAR).fit(X, y.repeat(10))
    values = X @ model.coef_[0]
    low, high = values[y.repeat(10) < 0].max(), values[y.repeat(10) > 0].min()
    assert model.intercept_[0] == pytest.approx(-(low + high) / 2, abs=1e-8)


def kkt_residual(alpha: Array, b: float, K: Array, y: Array, C: float) -> float:
    """Largest violation of the conditions of the soft margin; slacks are eliminated."""
    f = K @ (alpha * y) + b
    slack = np.maximum(0, 1 - y * f)
    return max(
        float(abs(alpha @ y)),
        float(np.maximum(-alpha, 0).max()),
        float(np.maximum(alpha - C, 0).max()) if np.isfinite(C) else 0.0,
        float(np.abs(alpha * (y * f - 1 + slack)).max()),
        float(np.abs((C - alpha) * slack).max()) if np.isfinite(C) else float(slack.max()),
    )


@pytest.mark.spec("HO-40")
def test_solving_the_machine_is_solving_its_conditions() -> None:
    model, X, y = hard_toy()
    K = X @ X.T
    assert kkt_residual(model.alpha_, model.intercept_[0], K, y, np.inf) < 1e-9
    # Only points of functional margin 1 may have a multiplier.
    margins = y * model.decision_function(X)
    assert margins[model.alpha_ > 0] == pytest.approx(1)
    assert model.alpha_[margins > 1 + 1e-9].tolist() == [0]
    # And conversely: what meets the conditions is the solution. Any change of it breaks them.
    for i in range(4):
        moved = model.alpha_ + 0.01 * np.eye(4)[i]
        assert kkt_residual(moved, model.intercept_[0], K, y, np.inf) > 1e-3


@pytest.mark.spec("HO-41")
def test_squared_norm_is_the_sum_of_the_multipliers() -> None:
    model, _, _ = hard_toy()
    assert model.alpha_.sum() == pytest.approx(2)
    assert model.margin_ == pytest.approx(model.alpha_.sum() ** -0.5)
    assert model.margin_ == pytest.approx(0.7071, abs=5e-5)
    corners = SVC(C=np.inf, kernel=(1 + Linear()) ** 2, **TIGHT).fit(*xor())
    assert corners.alpha_.sum() == pytest.approx(1 / 2)
    assert corners.margin_ == pytest.approx(np.sqrt(2))


@pytest.mark.spec("HO-41")
def test_with_slack_the_norm_counts_what_the_slack_leaves() -> None:
    X, y = overlapping()
    model = SVC(kernel=RBF(0.5), C=2.0, **TIGHT).fit(X, y)
    assert model.slack_.sum() > 1
    assert model.alpha_ @ (1 - model.slack_) == pytest.approx(model.margin_**-2)


@pytest.mark.spec("HO-42")
def test_solutions_are_sparse() -> None:
    rng = np.random.default_rng(5)
    y = np.repeat([-1.0, 1.0], 100)
    X = rng.normal(size=(200, 2)) + 3 * y[:, None]
    model = SVC(C=np.inf, **LINEAR).fit(X, y)
    assert 2 <= sum(model.n_support_) <= 3  # at most d + 1 in general position
    assert np.count_nonzero(model.alpha_) == sum(model.n_support_) == len(model.support_)
    # The others are exactly zero, and removing them changes nothing.
    rows = model.support_
    again = SVC(C=np.inf, **LINEAR).fit(X[rows], y[rows])
    assert again.coef_ == pytest.approx(model.coef_, abs=1e-8)


@pytest.mark.spec("HO-43")
def test_a_wrong_label_has_the_largest_multiplier() -> None:
    rng = np.random.default_rng(6)
    y = np.repeat([-1.0, 1.0], 40)
    X = rng.normal(size=(80, 2)) + 3 * y[:, None]
    deep = 40 + int(np.linalg.norm(X[40:] - 3, axis=1).argmin())
    y[deep] = -1
    model = SVC(C=np.inf, kernel=RBF(0.5), **TIGHT).fit(X, y)
    suspects = np.argsort(-model.alpha_)
    assert suspects[0] == deep
    assert model.alpha_[deep] > 2 * model.alpha_[suspects[1]]


# ------------------------------------------------------------------ exclusive or


@pytest.mark.spec("HO-47")
def test_exclusive_or_by_hand() -> None:
    X, y = xor()
    kernel = (1 + Linear()) ** 2
    K = kernel(X)
    assert pytest.approx(8 * np.eye(4) + 1) == K
    system = np.outer(y, y) * K
    assert system == pytest.approx(
        np.array([[9, -1, -1, 1], [-1, 9, 1, -1], [-1, 1, 9, -1], [1, -1, -1, 9]])
    )
    by_hand = np.linalg.solve(system, np.ones(4))
    assert by_hand == pytest.approx([1 / 8] * 4)
    model = SVC(C=np.inf, kernel=kernel, tol=1e-12).fit(X, y)
    assert model.alpha_ == pytest.approx(by_hand, abs=1e-8)
    assert model.certificate_.dual == pytest.approx(1 / 4, abs=1e-8)
    assert model.certificate_.primal == pytest.approx(1 / 4, abs=1e-8)
    assert model.n_support_.tolist() == [2, 2]
    assert model.intercept_[0] == pytest.approx(0, abs=1e-8)
    assert model.margin_ == pytest.approx(np.sqrt(2), abs=1e-8)
    phi = np.column_stack(
        [
            np.ones(4),
            X[:, 0] ** 2,
            np.sqrt(2) * X[:, 0] * X[:, 1],
            X[:, 1] ** 2,
            np.sqrt(2) * X[:, 0],
            np.sqrt(2) * X[:, 1],
        ]
    )
    assert phi @ phi.T == pytest.approx(K)
    w = (model.alpha_ * y) @ phi
    assert w == pytest.approx([0, 0, -1 / np.sqrt(2), 0, 0, 0], abs=1e-8)
    assert w @ w == pytest.approx(1 / 2, abs=1e-8)
    Z = np.random.default_rng(7).normal(size=(50, 2))
    assert model.decision_function(Z) == pytest.approx(-Z[:, 0] * Z[:, 1], abs=1e-8)
    named = SVC(C=np.inf, kernel=Polynomial(2, gamma=1.0, coef0=1.0), tol=1e-12).fit(X, y)
    assert named.alpha_ == pytest.approx(by_hand, abs=1e-8)


# ------------------------------------------------------------------ slack


@pytest.mark.spec("HO-49")
def test_slack_of_a_point_and_training_errors() -> None:
    X, y = overlapping()
    model = SVC(C=1.0, **LINEAR).fit(X, y)
    margins = y * model.decision_function(X)
    assert model.slack_ == pytest.approx(np.maximum(0, 1 - margins))
    errors = margins < 0
    assert np.all(model.slack_[errors] > 1)
    assert 0 < errors.sum() <= model.slack_.sum()
    assert model.slack_ == pytest.approx(Hinge().value(y, model.decision_function(X)))


@pytest.mark.spec("HO-49")
def test_without_slack_the_dual_of_exclusive_or_has_no_bound() -> None:
    X, y = xor()
    # The multipliers (t, t, t, t) are feasible, w vanishes, and the dual is 4 t.
    t = 7.0
    assert (t * y) @ X == pytest.approx(0)
    problem = DualProblem(
        *Hinge().pieces(y, np.full(4, np.inf))[:3], group=np.zeros(4, dtype=np.int64)
    )
    assert problem.upper.tolist() == [0, np.inf, np.inf, 0]
    solution = solve(
        problem, Gram(Linear(), X), Settings(objective_floor=-1e6), run=Run(max_iter=10**6)
    )
    assert solution.status == "infeasible"
    assert solution.objective < -1e6
    with pytest.raises(NotSeparableError, match="not separable") as error:
        SVC(C=np.inf, **LINEAR).fit(X, y)
    first, second, distance = error.value.first, error.value.second, error.value.distance
    assert sorted([*first.rows, *second.rows]) == [0, 1, 2, 3]
    apart = first.weights @ X[first.rows] - second.weights @ X[second.rows]
    assert np.linalg.norm(apart) == pytest.approx(distance, abs=1e-12)
    assert distance < 1e-6


@pytest.mark.spec("HO-50")
@pytest.mark.parametrize(
    ("C", "w", "b", "objective", "alpha"),
    [
        (0.5, 4 / 7, -5 / 7, 4 / 7, (2 / 7, 2 / 7, 4 / 7, 0)),
        (1.0, 8 / 11, -9 / 11, 8 / 11, None),
        (10.0, 0.963855, -0.975904, None, None),
    ],
)
def test_squared_slack_of_the_toy_set(
    C: float, w: float, b: float, objective: float | None, alpha: tuple[float, ...] | None
) -> None:
    X, y = lfd_toy()
    model = SVC(C=C, penalty_norm=2, **LINEAR).fit(X, y)
    assert model.coef_[0] == pytest.approx([w, -w], abs=1e-6)
    assert model.intercept_[0] == pytest.approx(b, abs=1e-6)
    assert model.slack_ == pytest.approx(model.alpha_ / (2 * C), abs=1e-9)
    if objective is not None:
        assert model.certificate_.primal == pytest.approx(objective)
        assert model.certificate_.dual == pytest.approx(objective)
    if alpha is not None:
        assert model.alpha_ == pytest.approx(alpha, abs=1e-9)
    # A hard margin with 1 / (2 C) on the diagonal of the kernel is the same machine.
    shifted = SVC(C=np.inf, kernel="precomputed", **TIGHT).fit(X @ X.T + np.eye(4) / (2 * C), y)
    assert shifted.alpha_ == pytest.approx(model.alpha_, abs=1e-8)


@pytest.mark.spec("HO-51")
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_conditions_of_the_soft_margin(C: float) -> None:
    X, y = overlapping()
    kernel = RBF(0.5)
    model = SVC(kernel=kernel, C=C, **TIGHT).fit(X, y)
    alpha, K = model.alpha_, kernel(X)
    assert kkt_residual(alpha, model.intercept_[0], K, y, C) < 1e-8 * C
    mu = C - alpha
    assert mu.min() >= 0
    assert mu * model.slack_ == pytest.approx(0, abs=1e-8 * C)
    # A bounded multiplier need not be an error: it may lie inside the margin on the right side.
    bounded = model.point_status_[model.bounded_support_]
    assert {"inside margin", "misclassified"} <= set(bounded.tolist())
    dual = alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y)
    assert dual == pytest.approx(model.certificate_.dual)
    assert dual == pytest.approx(0.5 * model.margin_**-2 + C * model.slack_.sum())


@pytest.mark.spec("HO-52")
@pytest.mark.parametrize("steps", [5, 40])
def test_gradient_of_the_dual_against_finite_differences(steps: int) -> None:
    X, y = overlapping()
    n, gram = len(y), Gram(RBF(0.5), X, "float64")
    K = gram.tile()
    problem = DualProblem(*Hinge().pieces(y, np.ones(n))[:3], group=np.zeros(n, dtype=np.int64))
    # Stopped on the way, where the gradient does not vanish.
    solution = solve(problem, gram, Settings(tol=1e-12), run=Run(max_iter=steps))
    assert solution.status == "iteration_limit"
    alpha = y * solution.beta
    gradient = 1 - y * solution.values

    def dual(alpha: Array) -> float:
        return float(alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y))

    assert -solution.objective == pytest.approx(dual(alpha))
    h = 1e-5
    numeric = [(dual(alpha + h * e) - dual(alpha - h * e)) / (2 * h) for e in np.eye(n)]
    assert gradient == pytest.approx(numeric, abs=1e-8)
    assert np.abs(gradient).max() > 0.05


# ------------------------------------------------------------------ probabilities


@pytest.mark.spec("HO-64")
def test_probabilities_are_monotone_in_the_decision_value() -> None:
    X, y = overlapping(120)
    Z = np.random.default_rng(8).normal(size=(200, 2)) * 2
    for calibration in ("free", "consistent"):
        model = SVC(probability=True, calibration=calibration, random_state=0).fit(X, y)
        f, p = model.decision_function(Z), model.predict_proba(Z)[:, 1]
        assert np.all(np.diff(p[np.argsort(f)]) >= 0)
        if calibration == "free":
            assert p == pytest.approx(1 / (1 + np.exp(model.probA_[0] * f + model.probB_[0])))
        else:
            assert np.all((p > 0.5) == (f > 0))
    assert model.predict_proba(Z).sum(axis=1) == pytest.approx(1)


@pytest.mark.spec("HO-64")
def test_probabilities_are_never_fitted_to_the_outputs_of_training() -> None:
    # Labels without any relation to the points, learnt by heart: on the training set the
    # decision values separate the classes perfectly, on points left out they know nothing.
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(200, 2)), np.where(rng.random(200) < 0.5, 1, -1)
    model = SVC(kernel=RBF(200.0), C=100, probability=True, random_state=0).fit(X, y)
    assert model.score(X, y) == 1
    p = model.predict_proba(X)[:, 1]
    assert np.abs(p - 0.5).max() < 0.2
    known = SVC(kernel=RBF(0.5), probability=True, random_state=0).fit(X, np.sign(X[:, 0]))
    assert np.abs(known.predict_proba([[2.0, 0.0], [-2.0, 0.0]])[:, 1] - 0.5).min() > 0.4


@pytest.mark.spec("HO-64")
def test_no_probabilities_without_asking() -> None:
    X, y = overlapping()
    assert not hasattr(SVC().fit(X, y), "predict_proba")
    assert not hasattr(OneClassSVM().fit(X), "predict_proba")
