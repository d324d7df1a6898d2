"""Smola's thesis, chapters 1 and 2: the tube, its dual, its bias, and the tube chosen by nu."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer import SVC, SVR, NotSeparableError, NuSVR
from mercer.data import noisy_sinc
from mercer.gram import Gram
from mercer.kernels import RBF
from mercer.losses import EpsilonInsensitive, Hinge
from mercer.solvers import DualProblem, Settings, solve

Array = NDArray[np.float64]

TIGHT: dict[str, Any] = {"tol": 1e-10}
LINEAR: dict[str, Any] = {"kernel": "linear", **TIGHT}
TWO = np.array([[0.0], [1.0]]), np.array([0.0, 1.0])


def line(n: int = 40, seed: int = 0) -> tuple[Array, Array]:
    """A linear function of three columns with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -0.5, 0.2] + 0.5 + 0.3 * rng.standard_normal(n)


def signed(model: Any, n: int) -> Array:
    """Return alpha - alpha* for every training row."""
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta


def tube_loss(residual: Array, eps: float) -> Array:
    return np.maximum(0, np.abs(residual) - eps)


# ------------------------------------------------------------------ data and model


@pytest.mark.spec("SM-1.01")
def test_rounded_targets_of_a_line_fit_a_tube_of_half_a_step() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(60, 2))
    w, b, q = np.array([0.7, -0.3]), 0.2, 0.25
    y = np.round((X @ w + b) / q) * q
    model = SVR(C=np.inf, epsilon=q / 2, **LINEAR).fit(X, y)
    assert np.abs(y - model.predict(X)).max() <= q / 2 + 1e-8
    assert np.linalg.norm(model.coef_) <= np.linalg.norm(w) + 1e-8  # the flattest of all
    with pytest.raises(NotSeparableError):  # half the precision is not known
        SVR(C=np.inf, epsilon=q / 8, **LINEAR).fit(X, y)


@pytest.mark.spec("SM-1.01")
def test_precision_may_differ_from_sample_to_sample() -> None:
    X, y = line()
    width = np.random.default_rng(1).uniform(0, 0.5, len(y))
    model = SVR(C=2.0, **LINEAR).fit(X, y, sample_epsilon=width)
    beta, residual = signed(model, len(y)), y - model.predict(X)
    inside = np.abs(residual) < width - 1e-8
    assert inside.any()
    assert np.all(beta[inside] == 0)
    assert np.all(np.abs(beta[np.abs(residual) > width + 1e-8]) == 2.0)


@pytest.mark.spec("SM-1.02", "SM-1.08")
def test_weights_and_expansion_predict_alike() -> None:
    X, y = line()
    model = SVR(**LINEAR).fit(X, y)
    Z = np.random.default_rng(2).normal(size=(30, 3))
    by_weights = Z @ model.coef_[0] + model.intercept_[0]
    by_expansion = Z @ model.support_vectors_.T @ model.dual_coef_[0] + model.intercept_[0]
    assert by_expansion == pytest.approx(by_weights, abs=1e-10)
    assert model.predict(Z) == pytest.approx(by_weights, abs=1e-10)
    assert X[model.support_].tolist() == model.support_vectors_.tolist()


# ------------------------------------------------------------------ hard and soft tube


@pytest.mark.spec("SM-1.03", "SM-2.13")
def test_hard_tube_of_two_points() -> None:
    model = SVR(C=np.inf, epsilon=0.1, **LINEAR).fit(*TWO)
    assert model.coef_[0, 0] == pytest.approx(0.8)
    assert model.intercept_[0] == pytest.approx(0.1)
    assert model.certificate_.primal == pytest.approx(0.32)
    assert model.certificate_.dual == pytest.approx(0.32)


@pytest.mark.spec("SM-1.03")
def test_smallest_tube_of_a_constant_is_half_the_range() -> None:
    _, y = line()
    X = np.zeros((len(y), 1))  # only constants
    half = (y.max() - y.min()) / 2
    model = SVR(C=np.inf, epsilon=half * (1 + 1e-9), **LINEAR).fit(X, y)
    assert model.predict(X) == pytest.approx(np.full(len(y), (y.max() + y.min()) / 2), abs=1e-6)
    with pytest.raises(NotSeparableError, match="no function stays within epsilon") as error:
        SVR(C=np.inf, epsilon=half * (1 - 1e-3), **LINEAR).fit(X, y)
    # The evidence: points that coincide and would have to lie on opposite sides of f.
    assert error.value.distance == pytest.approx(0, abs=1e-9)
    mean = error.value.first.weights @ y[error.value.first.rows]
    other = error.value.second.weights @ y[error.value.second.rows]
    assert abs(mean - other) > 2 * half * (1 - 1e-3)


@pytest.mark.spec("SM-2.13")
def test_hard_costs_are_the_limit_of_large_constants() -> None:
    X, y = noisy_sinc(30, random_state=0)
    kernel = RBF(1.0)
    hard = SVR(C=np.inf, epsilon=0.2, kernel=kernel, **TIGHT).fit(X, y)
    assert np.abs(y - hard.predict(X)).max() <= 0.2 + 1e-8
    largest = hard.alpha_.max()
    same = SVR(C=1.01 * largest, epsilon=0.2, kernel=kernel, **TIGHT).fit(X, y)
    assert same.predict(X) == pytest.approx(hard.predict(X), abs=1e-6)
    softer = SVR(C=0.5 * largest, epsilon=0.2, kernel=kernel, **TIGHT).fit(X, y)
    assert softer.slack_.max() > 1e-3
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    hard_margin = SVC(C=np.inf, kernel=kernel, **TIGHT).fit(X, y)
    soft = SVC(C=1.01 * hard_margin.alpha_.max(), kernel=kernel, **TIGHT).fit(X, y)
    f = hard_margin.decision_function(X)
    assert soft.decision_function(X) == pytest.approx(f, abs=1e-6)


@pytest.mark.spec("SM-1.04", "SM-1.10")
def test_soft_tube_of_two_points_has_an_interval_of_biases() -> None:
    X, y = TWO
    model = SVR(C=0.5, epsilon=0.1, **LINEAR).fit(X, y)
    assert model.coef_[0, 0] == pytest.approx(0.5)
    assert [model.certificate_.primal, model.certificate_.dual] == pytest.approx([0.275, 0.275])
    assert model.slack_.sum() == pytest.approx(0.3)
    assert model.intercept_range_ == pytest.approx([0.1, 0.4])
    assert model.intercept_[0] == pytest.approx(0.25)  # the middle
    for b in (0.1, 0.25, 0.4):
        slack = tube_loss(y - 0.5 * X[:, 0] - b, 0.1).sum()
        assert 0.125 + 0.5 * slack == pytest.approx(0.275)
    for b in (0.09, 0.41):
        assert 0.125 + 0.5 * tube_loss(y - 0.5 * X[:, 0] - b, 0.1).sum() > 0.275 + 1e-3


@pytest.mark.spec("SM-1.04")
def test_a_larger_constant_allows_less_violation_and_less_flatness() -> None:
    X, y = line()
    models = [SVR(C=C, epsilon=0.1, **LINEAR).fit(X, y) for C in (0.001, 0.01, 0.1, 1.0)]
    norms = [np.linalg.norm(m.coef_) for m in models]
    slacks = [m.slack_.sum() for m in models]
    assert norms == sorted(norms)
    assert slacks == sorted(slacks, reverse=True)
    assert norms[0] < norms[-1]


@pytest.mark.spec("SM-1.05")
def test_the_objective_sees_the_tube_loss() -> None:
    X, y = noisy_sinc(50, random_state=1)
    model = SVR(C=3.0, epsilon=0.1, kernel=RBF(0.5), **TIGHT).fit(X, y)
    residual = y - model.predict(X)
    loss = EpsilonInsensitive(0.1)
    assert loss.value(y, model.predict(X)) == pytest.approx(tube_loss(residual, 0.1))
    value = 0.5 * model.margin_**-2 + 3.0 * tube_loss(residual, 0.1).sum()
    assert value == pytest.approx(model.certificate_.primal)
    assert value == pytest.approx(model.certificate_.dual)


@pytest.mark.spec("SM-1.05")
def test_the_density_of_the_tube_loss() -> None:
    grid = np.linspace(-60, 60, 120_001)
    at_zero = EpsilonInsensitive(0.25).density(0.0, 0.0)
    assert at_zero == pytest.approx(1 / (2 * (1 + 0.25)))  # flat in the tube, tails of Laplace
    for loss, c in ((EpsilonInsensitive(0.25), 1.0), (EpsilonInsensitive([[0.5, 2.0]]), 3.0)):
        density = loss.density(grid, 0.0, c)
        assert density.sum() * 1e-3 == pytest.approx(1.0, abs=1e-5)  # the step of the grid
        assert -np.log(density / density.max()) == pytest.approx(c * loss.value(grid, 0.0))


@pytest.mark.spec("SM-1.05")
def test_conjugate_and_subgradient_of_the_tube_loss() -> None:
    loss, y = EpsilonInsensitive(0.25), 0.4
    grid = np.linspace(-30, 30, 60_001)
    values = loss.value(np.full_like(grid, y), grid)
    for beta in (-1.0, -0.3, 0.0, 0.6, 1.0):
        supremum = (-beta * grid - values).max()
        assert loss.conjugate(y, beta) == pytest.approx(supremum, abs=1e-9)
    assert loss.conjugate(y, 1.001) == np.inf
    for f in (-1.0, 0.3, 0.4, 1.7):  # l(g) >= l(f) + l'(f) (g - f)
        slope = loss.slope(y, f)
        assert np.all(values >= loss.value(y, f) + slope * (grid - f) - 1e-9)


# ------------------------------------------------------------------ Lagrangian and dual


@pytest.mark.spec("SM-1.06", "SM-4.02")
def test_the_solution_is_a_saddle_point_of_the_lagrangian() -> None:
    X, y = line(20)
    n, C, eps = len(y), 0.5, 0.1
    model = SVR(C=C, epsilon=eps, **LINEAR).fit(X, y)
    beta = signed(model, n)
    a, a_star = np.maximum(beta, 0), np.maximum(-beta, 0)
    eta, eta_star = C - a, C - a_star
    w, b = model.coef_[0], model.intercept_[0]
    residual = y - model.predict(X)
    xi, xi_star = np.maximum(0, residual - eps), np.maximum(0, -residual - eps)

    def lagrangian(
        w: Array,
        b: float,
        xi: Array,
        xi_star: Array,
        a: Array,
        a_star: Array,
        eta: Array,
        eta_star: Array,
    ) -> float:
        f = X @ w + b
        return float(
            0.5 * w @ w
            + C * (xi + xi_star).sum()
            - a @ (eps + xi - y + f)
            - a_star @ (eps + xi_star + y - f)
            - eta @ xi
            - eta_star @ xi_star
        )

    # Stationarity.
    assert (a_star - a).sum() == pytest.approx(0, abs=1e-12)
    assert w == pytest.approx((a - a_star) @ X, abs=1e-10)
    assert min(eta.min(), eta_star.min()) >= 0
    centre = lagrangian(w, b, xi, xi_star, a, a_star, eta, eta_star)
    assert centre == pytest.approx(model.certificate_.primal)
    rng = np.random.default_rng(3)
    for _ in range(100):
        s = rng.normal(size=4)
        t = rng.normal(size=(2, n))
        moved = lagrangian(w + s[:3], b + s[3], xi + t[0], xi_star + t[1], a, a_star, eta, eta_star)
        assert moved >= centre - 1e-9
        other = [np.maximum(0, m + rng.normal(size=n)) for m in (a, a_star, eta, eta_star)]
        assert lagrangian(w, b, xi, xi_star, *other) <= centre + 1e-9


@pytest.mark.spec("SM-1.07")
def test_dual_of_two_points() -> None:
    for C in (0.8, 1.0, 50.0):
        model = SVR(C=C, epsilon=0.1, **LINEAR).fit(*TWO)
        assert signed(model, 2) == pytest.approx([-0.8, 0.8])
        assert model.certificate_.gap == pytest.approx(0, abs=1e-12)


@pytest.mark.spec("SM-1.07")
def test_no_feasible_point_of_the_dual_exceeds_the_optimum() -> None:
    X, y = line(25)
    n, C, eps = len(y), 0.5, 0.1
    model = SVR(C=C, epsilon=eps, **LINEAR).fit(X, y)
    K = X @ X.T

    def dual(a: Array, a_star: Array) -> float:
        d = a - a_star
        return float(-0.5 * d @ K @ d - eps * (a + a_star).sum() + y @ d)

    beta = signed(model, n)
    a, a_star = np.maximum(beta, 0), np.maximum(-beta, 0)
    best = dual(a, a_star)
    assert best == pytest.approx(model.certificate_.dual)
    assert best == pytest.approx(model.certificate_.primal)
    # Adding the same to both multipliers of a point changes nothing but the cost of the tube.
    assert dual(a + 0.1, a_star + 0.1) == pytest.approx(best - 0.2 * eps * n)
    rng = np.random.default_rng(4)
    for _ in range(100):
        other, other_star = rng.uniform(0, C, (2, n))
        total = min(other.sum(), other_star.sum())
        assert dual(other * total / other.sum(), other_star * total / other_star.sum()) <= best


@pytest.mark.spec("SM-1.07")
def test_doubled_variables_never_use_both_multipliers_of_a_point() -> None:
    X, y = line(25)
    n, C, eps = len(y), 0.5, 0.1
    # alpha and -alpha* as variables of their own: complementarity is found, not built in.
    problem = DualProblem(
        np.concatenate([np.zeros(n), np.full(n, -C)]),
        np.concatenate([np.full(n, C), np.zeros(n)]),
        np.concatenate([-y + eps, -y - eps]),
        group=np.zeros(2 * n, dtype=np.int64),
        rows=np.tile(np.arange(n), 2),
    )
    gram = Gram(RBF(0.2), X)
    solution = solve(problem, gram, Settings(tol=1e-10))
    a, a_star = solution.beta[:n], -solution.beta[n:]
    assert np.all(np.minimum(a, a_star) < 1e-9)
    model = SVR(C=C, epsilon=eps, kernel=RBF(0.2), **TIGHT).fit(X, y)
    assert a - a_star == pytest.approx(signed(model, n), abs=1e-8)
    assert -solution.multiplier[0] == pytest.approx(model.intercept_[0], abs=1e-8)


@pytest.mark.spec("SM-1.08")
def test_points_inside_the_tube_can_be_left_out() -> None:
    X, y = noisy_sinc(60, random_state=2)
    model = SVR(C=1.0, epsilon=0.1, kernel=RBF(0.5), **TIGHT).fit(X, y)
    inside = np.abs(y - model.predict(X)) < 0.1 - 1e-8
    assert inside.sum() > 10
    assert np.all(signed(model, len(y))[inside] == 0)
    again = SVR(C=1.0, epsilon=0.1, kernel=RBF(0.5), **TIGHT).fit(X[~inside], y[~inside])
    Z = np.linspace(-10, 10, 50)[:, None]
    assert again.predict(Z) == pytest.approx(model.predict(Z), abs=1e-8)
    assert model.refit_on_support().predict(Z) == pytest.approx(model.predict(Z), abs=1e-8)


@pytest.mark.spec("SM-1.08")
def test_only_dot_products_are_needed() -> None:
    X, y = line()
    linear = SVR(**LINEAR).fit(X, y)
    precomputed = SVR(kernel="precomputed", **TIGHT).fit(X @ X.T, y)
    assert precomputed.predict(X @ X.T) == pytest.approx(linear.predict(X), abs=1e-9)
    assert not hasattr(precomputed, "coef_")


@pytest.mark.spec("SM-1.09")
@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
def test_complementarity_divides_the_training_set(C: float) -> None:
    X, y = noisy_sinc(60, random_state=3)
    eps = 0.1
    model = SVR(C=C, epsilon=eps, kernel=RBF(0.5), **TIGHT).fit(X, y)
    beta, residual = signed(model, len(y)), y - model.predict(X)
    a, a_star = np.maximum(beta, 0), np.maximum(-beta, 0)
    xi, xi_star = np.maximum(0, residual - eps), np.maximum(0, -residual - eps)
    scale = 1e-8 * max(C, 1)
    assert a * (eps + xi - residual) == pytest.approx(0, abs=scale)
    assert a_star * (eps + xi_star + residual) == pytest.approx(0, abs=scale)
    assert (C - a) * xi == pytest.approx(0, abs=scale)
    assert (C - a_star) * xi_star == pytest.approx(0, abs=scale)
    status = model.point_status_
    free, bounded = model.free_support_, model.bounded_support_
    assert np.all(beta[status == "inside tube"] == 0)
    assert np.all(np.abs(beta[status == "outside tube"]) == C)
    assert set(status[free].tolist()) <= {"on edge"}
    assert np.all(np.abs(beta[bounded]) == C)
    assert sorted([*free, *bounded]) == np.flatnonzero(beta).tolist()


# ------------------------------------------------------------------ bias


@pytest.mark.spec("SM-1.10", "SM-1.11")
@pytest.mark.parametrize("seed", range(4))
def test_every_free_support_vector_gives_the_bias_of_the_solver(seed: int) -> None:
    X, y = line(30, seed)
    n, C, eps = len(y), 0.3, 0.1
    kernel = RBF(0.2)
    model = SVR(C=C, epsilon=eps, kernel=kernel, **TIGHT).fit(X, y)
    beta = signed(model, n)
    r = y - kernel(X) @ beta
    free = (beta != 0) & (np.abs(beta) < C)
    assert free.sum() > 1
    from_support = r[free] - eps * np.sign(beta[free])
    assert from_support == pytest.approx(model.intercept_[0], abs=1e-8)
    # The multiplier of the equality of the dual problem is minus the bias.
    terms = EpsilonInsensitive(eps).pieces(y, np.full(n, C))
    problem = DualProblem(*terms, group=np.zeros(n, dtype=np.int64))
    solution = solve(problem, Gram(kernel, X), Settings(tol=1e-10))
    assert -solution.multiplier[0] == pytest.approx(model.intercept_[0], abs=1e-8)
    # Bounds from all points meet there.
    a, a_star = np.maximum(beta, 0), np.maximum(-beta, 0)
    low = max((r - eps)[a < C].max(), (r + eps)[a_star > 0].max())
    high = min((r + eps)[a_star < C].min(), (r - eps)[a > 0].min())
    assert [low, high] == pytest.approx([model.intercept_[0]] * 2, abs=1e-8)
    assert model.intercept_range_ == pytest.approx([model.intercept_[0]] * 2, abs=1e-8)


@pytest.mark.spec("SM-1.10")
def test_without_free_support_vectors_the_interval_is_that_of_the_bounds() -> None:
    X, y = line(30)
    n, C, eps = len(y), 1e-3, 0.1
    model = SVR(C=C, epsilon=eps, **LINEAR).fit(X, y)
    if len(model.free_support_):
        pytest.fail("choose a smaller C: this test is about multipliers at their bounds")
    beta = signed(model, n)
    r = y - X @ model.coef_[0]
    low = max((r - eps)[beta < C].max(), (r + eps)[beta < 0].max())
    high = min((r + eps)[beta > -C].min(), (r - eps)[beta > 0].min())
    assert low < high
    assert model.intercept_range_ == pytest.approx([low, high])
    assert model.intercept_[0] == pytest.approx((low + high) / 2)


@pytest.mark.spec("SM-1.12")
def test_margin_width_of_two_points() -> None:
    model = SVC(C=np.inf, **LINEAR).fit([[-1.0], [1.0]], [-1, 1])
    assert model.coef_[0] == pytest.approx([1])
    assert model.margin_width_ == pytest.approx(2)
    beta = model.dual_coef_[0]
    form = beta @ model.support_vectors_ @ model.support_vectors_.T @ beta
    assert model.margin_width_ == pytest.approx(2 / np.sqrt(form))


# ------------------------------------------------------------------ losses of chapter 2


@pytest.mark.spec("SM-2.12")
def test_hinge_is_a_tube_that_is_open_on_one_side() -> None:
    rng = np.random.default_rng(5)
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(40, 2)) + 0.7 * y[:, None]
    far = 1e3  # beyond every value of f
    tubes = np.where(y[:, None] > 0, [[far, 0.0]], [[0.0, far]])
    kernel = RBF(0.5)
    regression = SVR(C=0.8, kernel=kernel, **TIGHT).fit(X, y, sample_epsilon=tubes)
    classifier = SVC(C=0.8, kernel=kernel, **TIGHT).fit(X, y)
    f = classifier.decision_function(X)
    assert regression.predict(X) == pytest.approx(f, abs=1e-8)
    assert EpsilonInsensitive(tubes).value(y, f) == pytest.approx(Hinge().value(y, f))
    # The dual of the tube is the dual of the classifier: alpha >= 0, slope 1.
    assert signed(regression, 40) * y == pytest.approx(classifier.alpha_, abs=1e-8)
    alpha = classifier.alpha_
    dual = alpha.sum() - 0.5 * (alpha * y) @ kernel(X) @ (alpha * y)
    assert regression.certificate_.dual == pytest.approx(dual)


@pytest.mark.spec("SM-2.12")
def test_hinge_depends_on_the_product_of_label_and_value() -> None:
    f = np.linspace(-3, 3, 13)
    loss = Hinge()
    plus, minus = loss.value(np.ones(13), f), loss.value(-np.ones(13), -f)
    assert plus.tolist() == minus.tolist() == np.maximum(0, 1 - f).tolist()


# ------------------------------------------------------------------ the tube chosen by nu


@pytest.mark.spec("SM-2.31")
@pytest.mark.parametrize("nu", [0.2, 0.5])
def test_joint_minimum_over_function_and_tube(nu: float) -> None:
    X, y = noisy_sinc(40, random_state=4)
    C, kernel = 0.5, RBF(0.5)
    joint = NuSVR(nu=nu, C=C, kernel=kernel, **TIGHT).fit(X, y)
    best = joint.certificate_.primal

    def risk(eps: float) -> float:
        fixed = SVR(C=C, epsilon=eps, kernel=kernel, **TIGHT).fit(X, y)
        return fixed.certificate_.primal + C * nu * len(y) * eps

    assert risk(joint.epsilon_) == pytest.approx(best, rel=1e-8)
    for factor in (0.0, 0.5, 0.9, 1.1, 2.0):
        assert risk(factor * joint.epsilon_) > best


@pytest.mark.spec("SM-2.32")
def test_nu_regression_of_two_points() -> None:
    C, nu = 1.0, 0.8
    model = NuSVR(nu=nu, C=C / 2, **LINEAR).fit(*TWO)  # the text divides by the number of points
    assert model.coef_[0, 0] == pytest.approx(0.4)
    assert [model.epsilon_, model.intercept_[0]] == pytest.approx([0.3, 0.3])
    assert [model.certificate_.primal, model.certificate_.dual] == pytest.approx([0.32, 0.32])
    beta = signed(model, 2)
    assert np.abs(beta).sum() == pytest.approx(C * nu)
    assert beta.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.spec("SM-2.32")
def test_a_tube_of_width_zero_leaves_the_sum_of_the_multipliers_open() -> None:
    # Two points on a line that is not expensive: eps* = 0, and |beta| does not use up C nu.
    model = NuSVR(nu=1.0, C=5.0, **LINEAR).fit(*TWO)
    assert model.epsilon_ == pytest.approx(0, abs=1e-12)
    assert model.predict(TWO[0]) == pytest.approx(TWO[1])
    assert np.abs(signed(model, 2)).sum() < 10 - 1e-6
    assert [model.certificate_.primal, model.certificate_.dual] == pytest.approx([0.5, 0.5])


@pytest.mark.spec("SM-2.33")
@pytest.mark.parametrize("nu", [0.1, 0.3, 0.6])
def test_the_tube_that_was_found_gives_the_same_function(nu: float) -> None:
    X, y = noisy_sinc(50, random_state=5)
    C, kernel = 1.0, RBF(0.5)
    model = NuSVR(nu=nu, C=C, kernel=kernel, **TIGHT).fit(X, y)
    assert model.epsilon_ > 0
    fixed = SVR(C=model.equivalent_C_, epsilon=model.epsilon_, kernel=kernel, **TIGHT).fit(X, y)
    Z = np.linspace(-10, 10, 60)[:, None]
    assert fixed.predict(Z) == pytest.approx(model.predict(Z), abs=1e-7)
    # Both numbers from the free multipliers of either side.
    beta = signed(model, len(y))
    r = y - kernel(X) @ beta
    above, below = (beta > 0) & (beta < C), (beta < 0) & (beta > -C)
    assert above.any()
    assert below.any()
    upper, lower = r[above].mean(), r[below].mean()
    assert model.intercept_[0] == pytest.approx((upper + lower) / 2, abs=1e-8)
    assert model.epsilon_ == pytest.approx((upper - lower) / 2, abs=1e-8)


@pytest.mark.spec("SM-2.33")
def test_a_side_without_free_multipliers_takes_the_middle_of_its_bounds() -> None:
    X, y = line(10, 3)
    nu, C = 0.4, 1e-3  # nu m / 2 = 2 multipliers at the bound on either side, none between
    model = NuSVR(nu=nu, C=C, **LINEAR).fit(X, y)
    beta = signed(model, len(y))
    assert len(model.free_support_) == 0
    r = y - X @ model.coef_[0]
    up = (r[beta <= 0].max() + r[beta > 0].min()) / 2
    low = (r[beta < 0].max() + r[beta >= 0].min()) / 2
    assert model.intercept_[0] == pytest.approx((up + low) / 2, abs=1e-9)
    assert model.epsilon_ == pytest.approx((up - low) / 2, abs=1e-9)
    assert [model.certificate_.primal] == pytest.approx([model.certificate_.dual])


@pytest.mark.spec("SM-2.34")
@pytest.mark.parametrize("nu", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_nu_bounds_the_fractions_outside_and_of_support_vectors(nu: float) -> None:
    X, y = noisy_sinc(60, noise=0.3, random_state=6)
    model = NuSVR(nu=nu, C=1.0, kernel=RBF(0.5), **TIGHT).fit(X, y)
    # At 0.9 the tube has no width, and the statement does not apply; the bounds hold all the same.
    assert model.epsilon_ > 1e-2 if nu < 0.9 else model.epsilon_ < 1e-12
    outside = (np.abs(y - model.predict(X)) > model.epsilon_ + 1e-8).mean()
    assert outside <= nu + 1e-12
    assert nu <= len(model.support_) / len(y) + 1e-12


@pytest.mark.spec("SM-2.34")
@pytest.mark.parametrize(("m", "eps", "close"), [(200, 0.2, 0.06), (1000, 0.2, 0.02)])
def test_both_fractions_tend_to_nu(m: int, eps: float, close: float) -> None:
    rng = np.random.default_rng(7)
    X = rng.uniform(-5, 5, size=(m, 1))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(m)
    model = SVR(C=1.0, epsilon=eps, kernel=RBF.from_sigma(1.0), tol=1e-8).fit(X, y)
    nu = np.abs(model.dual_coef_).sum() / m
    errors = (np.abs(y - model.predict(X)) > eps + 1e-7).mean()
    support = len(model.support_) / m
    assert errors <= nu <= support
    assert support - errors < close
