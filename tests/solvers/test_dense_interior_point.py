"""The interior point method on the whole matrix, and the multipliers it returns."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from mercer.gram import Gram
from mercer.kernels import RBF, Linear, ThinPlate, polynomial_basis
from mercer.kernels.conditional import orthonormal
from mercer.losses import (
    CombinedHinge,
    EpsilonInsensitive,
    Hinge,
    Loss,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from mercer.run import Report, Run
from mercer.solvers import DualProblem, Settings, Solution, dense_interior_point, solve
from mercer.solvers.dense_interior_point import TooLargeError, solve_with_equations
from mercer.solvers.multipliers import choose_multipliers

Array = NDArray[np.float64]

N = 14
rng = np.random.default_rng(4)
X = rng.normal(size=(N, 2))
T = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=N)
Y = np.where(T + 0.8 * rng.normal(size=N) > 0.0, 1.0, -1.0)
Q = orthonormal(polynomial_basis(X, 2))
ODD = rng.uniform(0.0, 0.4, size=(N, 2))

LOSSES: dict[str, tuple[Loss, Array]] = {
    "tube": (EpsilonInsensitive(0.1), T),
    "no tube": (EpsilonInsensitive(0.0), T),
    "odd tubes": (EpsilonInsensitive(ODD), T),
    "squared tube": (SquaredEpsilonInsensitive(0.1), T),
    "hinge": (Hinge(), Y),
    "squared hinge": (SquaredHinge(), Y),
    "combined hinge": (CombinedHinge(0.3), Y),
}
PRICES = np.where(np.arange(N) % 3 == 0, 0.5, 2.0)

each_loss = pytest.mark.parametrize(("loss", "y"), LOSSES.values(), ids=LOSSES)


def posed(loss: Loss, y: Array, c: Array = PRICES) -> DualProblem:
    return DualProblem(**{k: v for k, v in loss.pieces(y, c)._asdict().items() if v is not None})


def bounds_of_the_optimum(loss: Loss, y: Array, c: Array, found: Solution) -> tuple[float, float]:
    """Return the primal and the dual value of a solution, from their definitions."""
    K = ThinPlate()(X)
    norm2 = found.beta @ K @ found.beta
    f = K @ found.beta - Q @ found.multiplier
    primal = 0.5 * norm2 + float(loss.cost(y, f, c).sum())
    return primal, -0.5 * norm2 - float(loss.conjugate(y, found.beta, c).sum())


def optimum_of_a_general_solver(loss: Loss, y: Array, c: Array) -> float:
    """Return the dual optimum by SLSQP, in variables beta = kink + u - v."""
    K, terms = ThinPlate()(X), loss.pieces(y, c)
    left = terms.slope_left
    right = left if terms.slope_right is None else terms.slope_right
    below = np.zeros(N) if terms.curv_left is None else terms.curv_left
    above = below if terms.curv_right is None else terms.curv_right
    kink = np.zeros(N) if terms.kink is None else terms.kink

    def value(t: Array) -> tuple[float, Array]:
        u, v = t[:N], t[N:]
        beta = kink + u - v
        gradient = K @ beta
        cost = right @ u - left @ v + 0.5 * (above @ (u * u) + below @ (v * v))
        slopes = np.concatenate([gradient + right + above * u, -gradient - left + below * v])
        return float(0.5 * beta @ gradient + cost), slopes

    equations = np.hstack([Q.T, -Q.T])
    found = minimize(
        value,
        np.zeros(2 * N),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, b) for b in np.concatenate([terms.upper - kink, kink - terms.lower])],
        constraints={
            "type": "eq",
            "fun": lambda t: equations @ t + Q.T @ kink,
            "jac": lambda t: equations,
        },
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return -float(found.fun + loss.conjugate(y, kink, c).sum())


@pytest.mark.spec("SM-3.54")
@each_loss
def test_the_gap_encloses_what_a_general_solver_finds(loss: Loss, y: Array) -> None:
    problem = posed(loss, y)
    found = solve_with_equations(problem, Gram(ThinPlate(), X, "float64"), Settings(), Run(), Q)
    assert found.status == "optimal"
    assert found.kkt_violation < 1e-10
    assert np.all((found.beta >= problem.lower) & (found.beta <= problem.upper))
    assert np.abs(Q.T @ found.beta).max() < 1e-14 * np.abs(found.beta).sum()
    primal, dual = bounds_of_the_optimum(loss, y, PRICES, found)
    assert -1e-12 < primal - dual < 1e-10 * primal
    assert -found.objective == pytest.approx(dual, rel=1e-10)
    other = optimum_of_a_general_solver(loss, y, PRICES)
    assert other == pytest.approx(dual, rel=1e-7)
    assert other <= primal * (1.0 + 1e-9)


@each_loss
def test_the_gap_is_valid_wherever_the_iterations_end(
    loss: Loss, y: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    gram, problem = Gram(ThinPlate(), X, "float64"), posed(loss, y)
    best = -solve_with_equations(problem, gram, Settings(), Run(), Q).objective
    monkeypatch.setattr(dense_interior_point, "_CHANGES", 0)
    gaps = []
    for limit in range(0, 12, 2):
        found = solve_with_equations(problem, gram, Settings(), Run(max_iter=limit), Q)
        assert found.n_iter <= limit
        assert np.all((found.beta >= problem.lower) & (found.beta <= problem.upper))
        assert np.abs(Q.T @ found.beta).max() <= 1e-13 * np.abs(found.beta).sum()
        primal, dual = bounds_of_the_optimum(loss, y, PRICES, found)
        assert dual <= best * (1.0 + 1e-12)
        assert primal >= best * (1.0 - 1e-12)
        gaps.append(primal - dual)
    assert found.status in ("optimal", "iteration_limit")
    assert gaps[-1] < 1e-2 * gaps[0]


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=["rbf", "linear"])
@each_loss
def test_with_one_equation_pair_steps_find_the_same(loss: Loss, y: Array, kernel: Any) -> None:
    gram, problem = Gram(kernel, X, "float64"), posed(loss, y)
    one = np.full((N, 1), 1.0 / np.sqrt(N))
    found = solve_with_equations(problem, gram, Settings(), Run(), one)
    problem.group = np.zeros(N, dtype=np.int64)
    pairs = solve(problem, gram, Settings(tol=1e-10))
    K = kernel(X)
    values = [
        0.5 * beta @ K @ beta + float(loss.conjugate(y, beta, PRICES).sum())
        for beta in (found.beta, pairs.beta)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    assert found.objective == pytest.approx(values[0], rel=1e-10)
    if y is T:  # where the multiplier is unique
        assert found.multiplier[0] / np.sqrt(N) == pytest.approx(pairs.multiplier[0], abs=1e-7)


def test_without_equations_it_solves_machines_without_a_bias() -> None:
    gram, problem = Gram(RBF(0.5), X, "float64"), posed(*LOSSES["tube"])
    found = solve_with_equations(problem, gram, Settings(), Run(), np.empty((N, 0)))
    pairs = solve(problem, gram, Settings(tol=1e-10))
    np.testing.assert_allclose(found.beta, pairs.beta, atol=1e-7)


def test_rows_are_those_of_the_problem() -> None:
    rows = np.array([1, 3, 4, 6, 8, 9, 13])
    loss = EpsilonInsensitive(0.1)
    c = PRICES[rows]
    problem = posed(loss, T[rows], c)
    basis = orthonormal(polynomial_basis(X[rows], 2))
    alone = solve_with_equations(
        problem, Gram(ThinPlate(), X[rows], "float64"), Settings(), Run(), basis
    )
    problem.rows = rows
    view = solve_with_equations(problem, Gram(ThinPlate(), X, "float64"), Settings(), Run(), basis)
    np.testing.assert_allclose(view.beta, alone.beta, atol=1e-12)
    assert view.n_kernel_values == 49


def test_variables_of_the_same_object_share_a_row() -> None:
    rows = np.concatenate([np.arange(N), np.arange(5)])
    y = np.concatenate([T, T[:5] + 0.7])
    loss, c = EpsilonInsensitive(0.05), np.full(N + 5, 2.0)
    basis = orthonormal(polynomial_basis(X[rows], 2))
    gram = Gram(ThinPlate(), X, "float64")
    shared = posed(loss, y, c)
    shared.rows = rows
    one = solve_with_equations(shared, gram, Settings(), Run(), basis)
    assert one.n_kernel_values == N * N
    apart = Gram(ThinPlate(), X[rows], "float64")
    other = solve_with_equations(posed(loss, y, c), apart, Settings(), Run(), basis)
    assert one.objective == pytest.approx(other.objective, rel=1e-10)
    f, g = (s.values - basis @ s.multiplier for s in (one, other))
    np.testing.assert_allclose(f, g, atol=1e-8)
    np.testing.assert_array_equal(one.values[N:], one.values[:5])


def test_a_matrix_that_is_negative_where_the_equations_hold_is_noticed() -> None:
    problem = posed(*LOSSES["squared tube"])
    gram = Gram(ThinPlate(), X, "float64")
    assert not solve_with_equations(problem, gram, Settings(), Run(), Q).negative_curvature
    constants = Q[:, :1] * 0.0 + 1.0 / np.sqrt(N)
    assert solve_with_equations(problem, gram, Settings(), Run(), constants).negative_curvature


def test_limits_and_listeners() -> None:
    gram, problem = Gram(ThinPlate(), X, "float64"), posed(*LOSSES["tube"])
    late = Run(time_limit=1e-9)
    assert solve_with_equations(problem, gram, Settings(), late, Q).status == "time_limit"
    heard: list[int] = []

    def listen(report: Report) -> bool:
        heard.append(report.iteration)
        return report.iteration == 3

    found = solve_with_equations(problem, gram, Settings(), Run(listeners=[listen]), Q)
    assert (found.status, heard) == ("interrupted", [0, 1, 2, 3])
    assert np.isfinite(found.multiplier).all()


def test_a_matrix_that_does_not_fit_into_memory_is_announced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dense_interior_point, "_memory", lambda: 6000.0)
    with pytest.raises(TooLargeError, match=r"14 rows need 0\.0 GB"):
        solve_with_equations(
            posed(*LOSSES["tube"]), Gram(ThinPlate(), X, "float64"), Settings(), Run(), Q
        )


def test_large_problems_take_seconds() -> None:
    Z = np.random.default_rng(0).normal(size=(600, 3))
    y = np.sin(2.0 * Z[:, 0]) * Z[:, 1]
    basis = orthonormal(polynomial_basis(Z, 2))
    problem = posed(EpsilonInsensitive(0.05), y, np.full(600, 5.0))
    begin = time.perf_counter()
    found = solve_with_equations(problem, Gram(ThinPlate(), Z, "float64"), Settings(), Run(), basis)
    assert found.status == "optimal"
    assert found.kkt_violation < 1e-9
    assert time.perf_counter() - begin < 60.0


# ------------------------------------------------------------------ multipliers


def test_free_rows_determine_the_multipliers() -> None:
    value = Q @ [1.0, -2.0, 0.5]
    low = np.where(np.arange(N) < 3, value, -np.inf)
    high = np.where(np.arange(N) < 3, value, np.inf)
    m = choose_multipliers(Q, low, high, np.zeros(N), np.ones(N))
    assert m == pytest.approx([1.0, -2.0, 0.5])


def test_least_squares_choose_among_multipliers_and_weights_are_repetitions() -> None:
    target = T + 3.0 * np.arange(N)
    low, high = target - 25.0, target + 25.0
    low[2], high[2] = target[2] - 1e-3, target[2] + 1e-3
    weight = np.where(np.arange(N) < 5, 2.0, 1.0)
    m = choose_multipliers(Q, low, high, target, weight)
    assert m is not None
    assert np.all((Q @ m >= low - 1e-9) & (Q @ m <= high + 1e-9))
    again = np.concatenate([np.arange(N), np.arange(5)])
    twice = choose_multipliers(Q[again], low[again], high[again], target[again], np.ones(N + 5))
    assert m == pytest.approx(twice, abs=1e-9)

    def distance(m: Array) -> float:
        return float(weight @ (Q @ m - target) ** 2)

    inside = {"type": "ineq", "fun": lambda m: np.concatenate([Q @ m - low, high - Q @ m])}
    found = minimize(distance, m + 0.1, constraints=inside, method="SLSQP", options={"ftol": 1e-14})
    assert found.fun == pytest.approx(distance(m), rel=1e-8)
    unbounded = np.linalg.lstsq(np.sqrt(weight)[:, None] * Q, np.sqrt(weight) * target)[0]
    assert distance(unbounded) < distance(m)


def test_contradictions_have_no_multipliers() -> None:
    ends = np.where(np.arange(N) == 0, 1.0, np.inf)
    ones = np.full((N, 1), 1.0 / np.sqrt(N))
    apart = np.where(np.arange(N) == 1, 2.0, -np.inf)
    assert choose_multipliers(ones, apart, ends, np.zeros(N), np.ones(N)) is None
    middle = choose_multipliers(ones, apart, ends, np.zeros(N), np.ones(N), slack=0.6)
    assert middle is not None
    assert 1.4 - 1e-9 <= middle[0] / np.sqrt(N) <= 1.6 + 1e-9
