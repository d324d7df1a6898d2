"""Learning From Data, chapter 8: the dual problem and kernels (LFD-33 to LFD-43, LFD-52)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mercer import SVC, NotSeparableError
from mercer.data import lfd_problem_8_13, lfd_toy, xor
from mercer.expansion import Expansion
from mercer.gram import Gram
from mercer.kernels import RBF, FromFunction, Linear
from mercer.solvers import (
    DualProblem,
    Settings,
    hard_margin_lagrangian,
    hard_margin_primal_matrices,
    solve,
    svm_dual_matrices,
)
from tests.literature.problems import QUADRATIC, quadratic_program, separated, signed

HARD: dict[str, Any] = {"C": np.inf, "tol": 1e-9}


def slopes(function: Any, at: Any, h: float = 1e-5) -> Any:
    """Central differences."""
    steps = h * np.eye(len(at))
    return np.array([(function(at + s) - function(at - s)) / (2 * h) for s in steps])


@pytest.mark.spec("LFD-33", code="src/mercer/solvers/matrices.py")
def test_the_machine_is_a_stationary_point_of_the_lagrangian() -> None:
    X, y = lfd_toy()
    model = SVC(kernel="linear", **HARD).fit(X, y)
    w, b, alpha = model.coef_[0], model.intercept_[0], model.alpha_

    def of_plane(v: Any) -> float:
        return hard_margin_lagrangian(v[:2], v[2], alpha, X, y)

    assert slopes(of_plane, np.append(w, b)) == pytest.approx(np.zeros(3), abs=1e-8)
    # Anywhere: dL/db = -sum alpha y and dL/dw = w - sum alpha y x.
    rng = np.random.default_rng(0)
    v, other = rng.normal(size=3), rng.uniform(size=4)
    expected = np.append(v[:2] - (other * y) @ X, -other @ y)
    found = slopes(lambda u: hard_margin_lagrangian(u[:2], u[2], other, X, y), v)
    assert found == pytest.approx(expected, abs=1e-8)
    # A saddle point: no (w, b) is lower, no alpha >= 0 higher; the value is primal and dual.
    value = hard_margin_lagrangian(w, b, alpha, X, y)
    assert value == pytest.approx(1.0, abs=1e-9)
    for _ in range(50):
        plane = of_plane(np.append(w, b) + rng.normal(size=3))
        assert plane >= value - 1e-9
        assert hard_margin_lagrangian(w, b, rng.exponential(size=4), X, y) <= value + 1e-9


@pytest.mark.spec("LFD-34")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_dual_and_primal_program_give_one_machine(seed: int) -> None:
    X, y = separated(n=6, gap=0.4, seed=seed)
    alpha = quadratic_program(*svm_dual_matrices(X @ X.T, y))
    u = quadratic_program(*hard_margin_primal_matrices(X, y))
    model = SVC(kernel="linear", **HARD).fit(X, y)
    assert model.coef_[0] == pytest.approx((y * alpha) @ X, abs=1e-5)
    assert model.coef_[0] == pytest.approx(u[1:], abs=1e-6)
    assert model.certificate_.dual == pytest.approx(
        alpha.sum() - 0.5 * (y * alpha) @ (X @ X.T) @ (y * alpha), rel=1e-7
    )


@pytest.mark.spec("LFD-35", code="src/mercer/solvers/matrices.py")
def test_matrices_of_the_dual() -> None:
    X, y = lfd_toy()
    program = svm_dual_matrices(X @ X.T, y)
    assert program.Q.tolist() == [[0, 0, 0, 0], [0, 8, -4, -6], [0, -4, 4, 6], [0, -6, 6, 9]]
    assert program.p.tolist() == [-1, -1, -1, -1]
    assert program.A.tolist() == [[-1, -1, 1, 1], [1, 1, -1, -1], *np.eye(4).tolist()]
    assert program.c.tolist() == [0] * 6
    rows = y[:, None] * X
    assert np.array_equal(program.Q, rows @ rows.T)
    boxed = svm_dual_matrices(X @ X.T, y, C=0.5)
    assert boxed.A[6:].tolist() == (-np.eye(4)).tolist()
    assert boxed.c[6:].tolist() == [-0.5] * 4
    soft = SVC(kernel="linear", C=0.5, tol=1e-10).fit(X, y)
    alpha = quadratic_program(*boxed)
    assert 0.5 * alpha @ boxed.Q @ alpha - alpha.sum() == pytest.approx(
        -soft.certificate_.dual, abs=1e-9
    )


@pytest.mark.spec("LFD-36")
def test_multipliers_of_the_toy_set() -> None:
    X, y = lfd_toy()
    model = SVC(kernel="linear", **HARD).fit(X, y)
    a = model.alpha_
    assert a == pytest.approx([0.5, 0.5, 1.0, 0.0], abs=1e-10)
    assert a[1] == pytest.approx(a[2] / 2 + 3 * a[3] / 4, abs=1e-10)
    assert a[0] == pytest.approx(a[2] / 2 + a[3] / 4, abs=1e-10)

    def reduced(a3: Any, a4: Any) -> Any:
        return a3**2 + 9 / 4 * a4**2 + 3 * a3 * a4 - 2 * a3 - 2 * a4

    assert reduced(a[2], a[3]) == pytest.approx(-1.0, abs=1e-10)
    assert model.certificate_.dual == pytest.approx(1.0, abs=1e-10)
    grid = np.linspace(0, 2, 81)
    assert reduced(grid[:, None], grid).min() == pytest.approx(-1.0, abs=1e-12)
    three = SVC(kernel="linear", **HARD).fit(X[:3], y[:3])
    assert three.alpha_ == pytest.approx([0.5, 0.5, 1.0], abs=1e-10)


@pytest.mark.spec("LFD-37")
def test_every_support_vector_yields_the_bias() -> None:
    X, y = lfd_toy()
    model = SVC(kernel="linear", **HARD).fit(X, y)
    beta = signed(model, 4)
    assert model.coef_[0] == pytest.approx(beta @ X, abs=1e-12)
    biases = y[:3] - (X @ X.T)[:3] @ beta
    assert biases == pytest.approx([-1, -1, -1], abs=1e-10)
    assert model.intercept_[0] == pytest.approx(biases.mean(), abs=1e-10)
    Z = np.random.default_rng(3).normal(size=(20, 2))
    for s in range(3):  # g(x) = sign(sum y alpha <x_n, x - x_s> + y_s)
        values = (Z - X[s]) @ X.T @ beta + y[s]
        assert values == pytest.approx(model.decision_function(Z), abs=1e-9)


@pytest.mark.spec("LFD-38", code="src/mercer/machines/support_vector/classifier.py")
def test_one_class_alone_has_the_constant_solution_and_the_estimator_says_so() -> None:
    X = np.random.default_rng(4).normal(size=(12, 2))
    y = np.ones(12)
    problem = DualProblem(np.zeros(12), np.full(12, np.inf), -y, group=np.zeros(12, np.int64))
    found = solve(problem, Gram(Linear(), X, "float64"), Settings(tol=1e-9))
    assert not found.beta.any()  # alpha = 0, hence w = 0
    low, high = -found.multiplier_range[0][::-1]
    assert (low, high) == (1.0, np.inf)  # any b >= 1
    assert -found.multiplier[0] == 1.0  # b = y: the constant classifier
    with pytest.raises(ValueError, match="1 class"):
        SVC(**HARD).fit(X, y)


@pytest.mark.spec("LFD-39")
def test_support_vectors_and_candidates() -> None:
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0, -1.0])
    model = SVC(kernel="linear", **HARD).fit(X, y)
    assert model.coef_[0] == pytest.approx([0.0, -2.0], abs=1e-9)
    assert model.intercept_[0] == pytest.approx(1.0, abs=1e-9)
    assert model.margin_ == pytest.approx(0.5, abs=1e-10)
    assert model.alpha_ == pytest.approx([2.0, 0.0, 2.0], abs=1e-9)
    assert model.margin_points(1e-8).tolist() == [0, 1, 2]
    assert sorted(model.support_) == [0, 2]


@pytest.mark.spec("LFD-40")
def test_support_vectors_and_weights_predict_the_same() -> None:
    rng = np.random.default_rng(5)
    y = np.repeat([1.0, -1.0], 25)
    X = rng.normal(size=(50, 2)) + 2.5 * y[:, None]
    model = SVC(kernel="linear", **HARD).fit(X, y)
    assert len(model.support_) <= 3  # fifty random points, three support vectors
    Z = 5 * rng.normal(size=(100, 2))
    by_weights = Z @ model.coef_[0] + model.intercept_[0]
    by_vectors = Expansion(  # a kernel that cannot be collapsed to weights
        FromFunction(lambda A, B: A @ B.T),
        model.support_vectors_,
        model.dual_coef_[0],
        model.intercept_[0],
    )(Z)
    assert by_vectors == pytest.approx(by_weights, abs=1e-10)
    assert model.decision_function(Z) == pytest.approx(by_weights, abs=1e-10)
    assert model.predict(Z).tolist() == np.where(by_weights >= 0, 1, -1).tolist()
    many = SVC(kernel="linear", C=1e-3).fit(X, y)  # many support vectors: collapsed to w
    assert len(many.support_) > 10
    assert many.decision_function(Z) == pytest.approx(
        Z @ many.coef_[0] + many.intercept_[0], abs=1e-10
    )


@pytest.mark.spec("LFD-41")
def test_a_cache_smaller_than_the_matrix_gives_the_same_multipliers() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(3000, 2))
    y = np.where(X[:, 0] ** 2 + 0.3 * rng.standard_normal(3000) > 0.5, 1, -1)
    kind: dict[str, Any] = {"kernel": "rbf", "gamma": 1.0, "C": 5.0}
    roomy = SVC(cache_size=200, **kind).fit(X, y)
    starved = SVC(cache_size=0.1, **kind).fit(X, y)  # the matrix has 36 MB or more
    assert starved.alpha_.tolist() == roomy.alpha_.tolist()
    assert starved.intercept_.tolist() == roomy.intercept_.tolist()


@pytest.mark.spec("LFD-43")
def test_hard_margin_with_a_quadratic_kernel() -> None:
    X, y = lfd_problem_8_13()
    model = SVC(kernel=QUADRATIC, **HARD).fit(X, y)
    assert model.margin_ == pytest.approx(0.176181, abs=5e-7)
    assert len(model.support_) == 5
    assert model.intercept_[0] == pytest.approx(2.337654, abs=5e-7)
    beta = signed(model, 20)
    for s in model.support_:  # b from any support vector
        assert y[s] - QUADRATIC(X)[s] @ beta == pytest.approx(model.intercept_[0], abs=1e-7)
    assert model.predict(X).tolist() == y.tolist()
    Z = np.random.default_rng(7).uniform(-1, 1, size=(30, 2))
    assert model.decision_function(Z) == pytest.approx(
        QUADRATIC(Z, X) @ beta + model.intercept_[0], abs=1e-9
    )


@pytest.mark.spec("LFD-43")
def test_hard_margin_of_exclusive_or() -> None:
    X, y = xor()
    model = SVC(kernel=QUADRATIC, **HARD).fit(X, y)
    assert signed(model, 4) == pytest.approx(y / 8, abs=1e-12)
    assert model.margin_ == pytest.approx(math.sqrt(2), abs=1e-12)


@pytest.mark.spec("LFD-52")
@pytest.mark.parametrize("seed", [8, 9, 10])
def test_a_gaussian_kernel_separates_random_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 2)), rng.choice([-1, 1], 50)
    model = SVC(kernel="rbf", gamma=10.0, C=np.inf, tol=1e-6).fit(X, y)
    assert model.score(X, y) == 1.0
    assert (y * model.decision_function(X)).min() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.spec("LFD-52")
def test_but_not_one_point_with_two_labels() -> None:
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(20, 2)), rng.choice([-1, 1], 20)
    X, y = np.vstack([X, X[4:5]]), np.append(y, -y[4])
    with pytest.raises(NotSeparableError) as raised:
        SVC(kernel=RBF(10.0), C=np.inf).fit(X, y)
    assert {4, 20} <= {*raised.value.first.rows.tolist(), *raised.value.second.rows.tolist()}
    assert raised.value.distance < 1e-6
