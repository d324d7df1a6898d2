"""The decomposition solver against the definition of its problem, for every kind of cost."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Precomputed
from mercer.losses import CombinedHinge, EpsilonInsensitive, Hinge, Loss, SquaredHinge
from mercer.losses import SquaredEpsilonInsensitive as SquaredTube
from mercer.solvers import DualProblem, Job, Settings, Solution, solve, solve_jobs

Array = NDArray[np.float64]

SMALL, LARGE = 90, 2200  # SMO on all variables; working sets
KERNEL = RBF(0.3)


def data(n: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Points, labels and targets."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 3)) + 0.5 * y[:, None]
    return X, y, X[:, 0] + 0.5 * rng.standard_normal(n)


def zeros(n: int) -> NDArray[np.int64]:
    return np.zeros(n, dtype=np.int64)


def loss_problem(loss: Loss, target: Array, c: Array, *, bias: bool) -> DualProblem:
    return DualProblem(*loss.pieces(target, c), group=zeros(len(target)) if bias else None)


def filled(problem: DualProblem) -> tuple[Array, ...]:
    """Return slopes, curvatures and kinks with their defaults."""
    left = problem.slope_left
    right = left if problem.slope_right is None else problem.slope_right
    zero = np.zeros(len(left))
    curv_left = zero if problem.curv_left is None else problem.curv_left
    curv_right = curv_left if problem.curv_right is None else problem.curv_right
    return left, right, curv_left, curv_right, zero if problem.kink is None else problem.kink


def cost(problem: DualProblem, beta: Array) -> float:
    left, right, curv_left, curv_right, kink = filled(problem)
    x = beta - kink
    phi = np.where(x < 0, (left + 0.5 * curv_left * x) * x, (right + 0.5 * curv_right * x) * x)
    return float(phi.sum())


def violation(problem: DualProblem, beta: Array, values: Array) -> float:
    """max(0, m - M), straight from the conditions of optimality."""
    left, right, curv_left, curv_right, kink = filled(problem)
    x = beta - kink
    rising = values + np.where(x >= 0, right + curv_right * x, left + curv_left * x)
    falling = values + np.where(x > 0, right + curv_right * x, left + curv_left * x)
    up = np.where(beta < problem.upper, rising, np.inf)
    down = np.where(beta > problem.lower, falling, -np.inf)
    if problem.group is None:
        return max(0.0, float(down.max()), float(-up.min()))
    groups = range(int(problem.group.max()) + 1)
    members = [problem.group == g for g in groups]
    return max(0.0, *(float(down[m].max() - up[m].min()) for m in members))


def assert_solved(
    problem: DualProblem, K: Array, solution: Solution, tol: float, start: Array | None = None
) -> None:
    beta = solution.beta
    begin = np.zeros(len(beta)) if start is None else start
    assert solution.status == "optimal"
    assert np.all((beta >= problem.lower) & (beta <= problem.upper))
    if problem.group is not None:
        for g in range(int(problem.group.max()) + 1):
            members = problem.group == g
            assert beta[members].sum() == pytest.approx(begin[members].sum(), abs=1e-9)
            low, high = solution.multiplier_range[g]
            assert low - tol <= solution.multiplier[g] <= high + tol
    values = K @ beta
    assert np.abs(solution.values - values).max() < 1e-9
    assert violation(problem, beta, values) <= 1.01 * tol
    assert solution.kkt_violation == pytest.approx(violation(problem, beta, values), abs=1e-9)
    objective = 0.5 * beta @ values + cost(problem, beta)
    assert solution.objective == pytest.approx(objective, rel=1e-10, abs=1e-10)


LOSSES: dict[str, tuple[Loss, bool]] = {
    "hinge": (Hinge(), True),
    "squared hinge": (SquaredHinge(), True),
    "combined hinge": (CombinedHinge(0.5), True),
    "tube": (EpsilonInsensitive(0.2), False),
    "tube of width 0": (EpsilonInsensitive(0.0), False),
    "squared tube": (SquaredTube(0.2), False),
}


@pytest.mark.parametrize("bias", [True, False], ids=["one equality", "no equality"])
@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("name", LOSSES)
def test_every_loss(name: str, n: int, bias: bool) -> None:
    loss, labels = LOSSES[name]
    X, y, target = data(n)
    c = np.random.default_rng(1).uniform(0.2, 3.0, n)  # a constant for every pattern
    problem = loss_problem(loss, y if labels else target, c, bias=bias)
    gram = Gram(KERNEL, X, "float64")
    tol = 1e-4
    assert_solved(problem, gram.tile(), solve(problem, gram, Settings(tol=tol)), tol)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_two_equalities(n: int) -> None:
    X, y, _ = data(n)
    bound = np.random.default_rng(2).uniform(0.5, 1.5, n)
    problem = DualProblem(
        np.where(y > 0, 0.0, -bound),
        np.where(y > 0, bound, 0.0),
        np.zeros(n),
        group=(y < 0).astype(np.int64),
    )
    start = 0.3 * y * bound
    gram = Gram(KERNEL, X, "float64")
    solution = solve(problem, gram, Settings(tol=1e-4), start=start)
    assert_solved(problem, gram.tile(), solution, 1e-4, start)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_variables_that_share_an_object(n: int) -> None:
    X, _, target = data(n // 2)
    m = n // 2
    problem = DualProblem(
        np.concatenate([np.zeros(m), np.full(m, -1.0)]),
        np.concatenate([np.full(m, 1.0), np.zeros(m)]),
        np.concatenate([-target, -target]),
        group=np.repeat([0, 1], m),
        rows=np.tile(np.arange(m), 2),
    )
    start = np.concatenate([np.full(m, 0.2), np.full(m, -0.2)])
    gram = Gram(KERNEL, X, "float64")
    solution = solve(problem, gram, Settings(tol=1e-4), start=start)
    assert_solved(problem, np.tile(gram.tile(), (2, 2)), solution, 1e-4, start)


@pytest.mark.parametrize(
    "settings", [{"shrinking": False}, {"cache_size": 0.01}, {"working_set": 64}]
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_settings_change_the_way_not_the_answer(settings: dict[str, float], dtype: str) -> None:
    X, y, _ = data(LARGE)
    problem = loss_problem(Hinge(), y, np.full(LARGE, 2.0), bias=True)
    gram = Gram(KERNEL, X, dtype)
    first = solve(problem, gram, Settings(tol=1e-3))
    other = solve(problem, gram, Settings(tol=1e-3, **settings))  # type: ignore[arg-type]
    assert other.status == "optimal"
    assert other.objective == pytest.approx(first.objective, rel=1e-5)
    values = Gram(KERNEL, X, "float64").tile() @ other.beta
    assert violation(problem, other.beta, values) <= 1.1e-3


def test_single_precision_finds_the_solution_of_double_precision() -> None:
    X, y, target = data(LARGE)
    for loss, t in ((Hinge(), y), (EpsilonInsensitive(0.1), target)):
        problem = loss_problem(loss, t, np.full(LARGE, 1.0), bias=True)
        single = solve(problem, Gram(KERNEL, X, "float32"), Settings(tol=1e-4))
        double = solve(problem, Gram(KERNEL, X, "float64"), Settings(tol=1e-4))
        assert single.objective == pytest.approx(double.objective, rel=1e-6)
        assert np.abs(single.values - double.values).max() < 2e-3


def test_a_tolerance_beyond_single_precision_goes_on_in_double() -> None:
    X, y, _ = data(LARGE)
    problem = loss_problem(Hinge(), y, np.full(LARGE, 5.0), bias=True)
    solution = solve(problem, Gram(KERNEL, X, "float32"), Settings(tol=1e-7))
    assert solution.status == "optimal"
    assert solution.precision == "float64"
    values = Gram(KERNEL, X, "float64").tile() @ solution.beta
    assert violation(problem, solution.beta, values) <= 1.1e-7


def test_small_problems_are_polished_to_the_last_digits() -> None:
    X, y, target = data(SMALL)
    gram = Gram(KERNEL, X)
    for loss, t in ((Hinge(), y), (EpsilonInsensitive(0.2), target), (SquaredHinge(), y)):
        problem = loss_problem(loss, t, np.full(SMALL, 1.0), bias=True)
        solution = solve(problem, gram, Settings(tol=1e-3))
        assert solution.kkt_violation < 1e-10
        assert_solved(problem, gram.tile(), solution, 1e-10)


# ------------------------------------------------------------------ multipliers


def test_without_a_free_variable_the_multiplier_is_the_middle_of_its_range() -> None:
    # Two points far apart at their bounds: any bias between them will do.
    X = np.array([[0.0], [1.0]])
    problem = DualProblem(
        np.array([-0.1, 0.0]), np.array([0.0, 0.1]), np.array([1.0, -1.0]), group=zeros(2)
    )
    solution = solve(problem, Gram(Linear(), X), Settings(tol=1e-9))
    assert solution.beta.tolist() == [-0.1, 0.1]
    low, high = solution.multiplier_range[0]
    assert [low, high] == pytest.approx([-0.9, 1.0])
    assert solution.multiplier[0] == pytest.approx((low + high) / 2)


def test_a_range_that_is_open_on_one_side_gives_its_finite_end() -> None:
    X = np.array([[0.0], [1.0]])
    problem = DualProblem(np.zeros(2), np.ones(2), np.zeros(2), group=zeros(2))
    solution = solve(problem, Gram(Linear(), X), Settings(tol=1e-9))  # nothing may rise: sum 0
    assert solution.beta.tolist() == [0.0, 0.0]
    assert solution.multiplier_range[0].tolist() == [-np.inf, 0.0]
    assert solution.multiplier[0] == 0.0


# ------------------------------------------------------------------ several problems


@pytest.mark.parametrize("n", [300, 4600])
def test_several_problems_are_solved_as_if_alone(n: int) -> None:
    X, y, _ = data(n)
    gram = Gram(KERNEL, X, "float32")
    rng = np.random.default_rng(3)
    problems = []
    for C, share in ((0.5, 0.3), (1.0, 0.5), (2.0, 0.9), (1.0, 0.1)):
        rows = np.sort(rng.permutation(n)[: int(share * n)])
        problem = loss_problem(Hinge(), y[rows], np.full(len(rows), C), bias=True)
        problem.rows = rows
        problems.append(problem)
    together = solve_jobs([Job(p, gram) for p in problems], Settings(n_jobs=1))
    threaded = solve_jobs([Job(p, gram) for p in problems], Settings(n_jobs=2))
    for problem, one, two in zip(problems, together, threaded, strict=True):
        assert np.array_equal(one.beta, two.beta)
        assert np.array_equal(one.values, two.values)
        assert (one.status, one.n_iter) == (two.status, two.n_iter)
        alone = solve(problem, gram, Settings())
        assert one.status == alone.status == "optimal"
        assert one.objective == pytest.approx(alone.objective, rel=1e-4)
        assert one.multiplier == pytest.approx(alone.multiplier, abs=2e-3)
        if n == 300:  # the same method, side by side or not
            assert np.array_equal(one.beta, alone.beta)


def test_a_problem_on_some_rows_is_the_problem_on_these_objects() -> None:
    X, y, _ = data(300)
    rows = np.arange(0, 300, 3)
    problem = loss_problem(Hinge(), y[rows], np.ones(100), bias=True)
    there = solve(problem, Gram(KERNEL, X[rows]), Settings())
    problem.rows = rows
    here = solve(problem, Gram(KERNEL, X), Settings())
    assert np.array_equal(here.beta, there.beta)


def test_starts_belong_to_their_problems() -> None:
    X, y, _ = data(200)
    gram = Gram(KERNEL, X)
    problems = [loss_problem(Hinge(), y, np.full(200, C), bias=True) for C in (0.5, 1.0)]
    cold = solve_jobs([Job(p, gram) for p in problems], Settings())
    pairs = zip(problems, cold, strict=True)
    warm = solve_jobs([Job(p, gram, c.beta) for p, c in pairs], Settings())
    for a, b in zip(cold, warm, strict=True):
        assert b.n_iter == 0
        assert b.objective == pytest.approx(a.objective, rel=1e-12)
    mixed = solve_jobs([Job(problems[0], gram), Job(problems[1], gram, cold[1].beta)], Settings())
    assert mixed[0].n_iter == cold[0].n_iter
    assert mixed[1].n_iter == 0


# ------------------------------------------------------------------ input


def test_problems_that_do_not_fit_are_refused() -> None:
    X, y, _ = data(20)
    gram = Gram(KERNEL, X)
    good = loss_problem(Hinge(), y, np.ones(20), bias=True)
    assert solve(good, gram, Settings()).status == "optimal"
    bad: dict[str, dict[str, object]] = {
        "differ in length": {"upper": good.upper[:5]},
        "lower exceeds upper": {"lower": good.upper, "upper": good.lower},
        "group has the wrong length": {"group": zeros(3)},
        "no such group": {"group": np.full(20, -1)},
        r"got one of shape \(20, 1\)": {"lower": good.lower[:, None]},
        "one of them is NaN": {"upper": np.full(20, np.nan)},
        "slopes and kinks must be finite": {"slope_left": np.full(20, np.nan)},
        "slopes and kinks must be finite.*": {"kink": np.full(20, np.inf)},
        "not convex": {"curv_left": np.full(20, -1.0)},
        "not convex.*left": {"slope_right": good.slope_left - 1},
        "one entry for each variable": {"group": np.zeros((20, 1))},
    }
    for message, change in bad.items():
        with pytest.raises(ValueError, match=message):
            solve(DualProblem(**{**good.__dict__, **change}), gram, Settings())
    with pytest.raises(ValueError, match="another number of objects"):
        solve(loss_problem(Hinge(), y[:7], np.ones(7), bias=True), gram, Settings())
    with pytest.raises(IndexError):
        solve(DualProblem(**{**good.__dict__, "rows": np.arange(20) + 1}), gram, Settings())


THREE = """
import numpy as np
from mercer.gram import Gram
from mercer.kernels import Linear
from mercer.solvers import DualProblem, Settings, solve
n = 30
problem = DualProblem(np.zeros(n), np.ones(n), -np.ones(n), group=np.arange(n) % 3)
try:
    solve(problem, Gram(Linear(), np.eye(n)), Settings())
except ValueError as error:
    print(error)
"""


def test_three_equalities_are_refused() -> None:
    # In a process of its own: the native arrays have room for two.
    run = subprocess.run(
        [sys.executable, "-c", THREE], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0
    assert "two" in run.stdout


@pytest.mark.parametrize("name", ["tol", "gap_tol", "cache_size"])
@pytest.mark.parametrize("value", [float("nan"), -1.0])
def test_settings_that_are_no_sizes_are_refused(name: str, value: float) -> None:
    X, y, _ = data(20)
    problem = loss_problem(Hinge(), y, np.ones(20), bias=True)
    with pytest.raises(ValueError, match=f"{name} must be a number >= 0"):
        solve(problem, Gram(KERNEL, X), Settings(**{name: value}))


def test_a_start_that_is_not_a_number_is_refused() -> None:
    X, y, _ = data(20)
    problem = loss_problem(Hinge(), y, np.ones(20), bias=True)
    with pytest.raises(ValueError, match="start"):
        solve(problem, Gram(KERNEL, X), Settings(), start=np.full(20, np.nan))


def test_a_matrix_of_kernel_values() -> None:
    X, y, _ = data(SMALL)
    K = KERNEL(X)
    problem = loss_problem(Hinge(), y, np.ones(SMALL), bias=True)
    given = solve(problem, Gram(Precomputed(), K), Settings(tol=1e-6))
    assert_solved(problem, K, given, 1e-6)


@pytest.mark.parametrize("shrinking", [True, False])
def test_values_of_a_large_problem_are_as_accurate_as_a_fresh_product(shrinking):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0, 1.0, -1.0)
    bounds = np.minimum(5 * y, 0), np.maximum(5 * y, 0)
    gram = Gram(RBF(0.5), X, "float32")
    settings = Settings(working_set=256, shrinking=shrinking)
    found = solve(DualProblem(*bounds, -y, group=np.zeros(len(y), int)), gram, settings)
    assert found.fresh
    assert found.n_outer > 4
    product = gram.tile().astype(np.float64) @ found.beta
    np.testing.assert_allclose(found.values, product, atol=1e-9 * np.linalg.norm(found.beta))
