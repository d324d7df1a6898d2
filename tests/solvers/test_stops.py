"""When the solver stops: tolerances, limits, callbacks, and what it leaves behind."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.gram import Gram
from mercer.kernels import RBF, Definiteness, FromFunction, Precomputed, Sigmoid
from mercer.losses import Hinge
from mercer.run import Run
from mercer.solvers import DualProblem, Settings, Solution, solve
from mercer.solvers.prove.primal_dual import loss_values

Array = NDArray[np.float64]

SMALL, LARGE = 300, 2300
both_sizes = pytest.mark.parametrize("n", [SMALL, LARGE])


def noise(n: int) -> tuple[Array, Array]:
    """Labels that have little to do with the points: slow to learn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, np.sign(X[:, 0] + 2 * rng.standard_normal(n))


def problem_of(y: Array, C: float) -> DualProblem:
    return DualProblem(
        *Hinge().pieces(y, np.full(len(y), C)), group=np.zeros(len(y), dtype=np.int64)
    )


def assert_honest(solution: Solution, problem: DualProblem, K: Array, y: Array, C: float) -> None:
    """Check that a point that is not optimal is feasible and that what is said of it is true."""
    beta = solution.beta
    assert np.all((problem.lower <= beta) & (beta <= problem.upper))
    assert beta.sum() == pytest.approx(0, abs=1e-9)
    f0 = K @ beta
    assert np.abs(solution.values - f0).max() < 1e-8
    assert solution.objective == pytest.approx(0.5 * beta @ f0 - y @ beta, rel=1e-9)
    f = f0 - solution.multiplier[0]
    values = loss_values(Hinge(), y, np.full(len(y), C), beta, f0, f, np.zeros(1, dtype=np.intp))[0]
    assert solution.relative_gap == pytest.approx(values.relative_gap, rel=1e-6)
    up = np.where(beta < problem.upper, f0 - y, np.inf).min()
    down = np.where(beta > problem.lower, f0 - y, -np.inf).max()
    assert solution.kkt_violation == pytest.approx(max(down - up, 0), abs=1e-8)


# ------------------------------------------------------------------ limits


@both_sizes
def test_iteration_limit(n: int) -> None:
    X, y = noise(n)
    gram, problem = Gram(RBF(0.3), X, "float64"), problem_of(y, 10.0)
    K = gram.tile()
    previous = math.inf
    for limit in (0, 1, 50, 400):
        solution = solve(problem, gram, Settings(), run=Run(max_iter=limit))
        assert solution.status == "iteration_limit"
        assert solution.n_iter == limit
        assert_honest(solution, problem, K, y, 10.0)
        assert solution.objective < previous
        previous = solution.objective
    assert solve(problem, gram, Settings(), run=Run(max_iter=10**7)).status == "optimal"


@both_sizes
def test_time_limit(n: int) -> None:
    X, y = noise(n)
    gram, problem = Gram(RBF(0.3), X, "float64"), problem_of(y, 1e7)
    begin = time.perf_counter()
    solution = solve(problem, gram, Settings(tol=1e-9), run=Run(time_limit=1e-3))
    assert time.perf_counter() - begin < 0.6
    assert solution.status == "time_limit"
    assert_honest(solution, problem, gram.tile(), y, 1e7)


@pytest.mark.parametrize(
    "machine", [SVC, SVR, NuSVC, NuSVR, OneClassSVM], ids=lambda machine: machine.__name__
)
def test_machines_say_that_they_stopped_early(machine: Any) -> None:
    X, y = noise(LARGE)
    constants: dict[str, Any] = {"C": 1e4} if machine in (SVC, SVR, NuSVR) else {"nu": 0.6}
    for limit, status in (
        ({"max_iter": 20}, "iteration_limit"),
        ({"time_limit": 1e-4}, "time_limit"),
    ):
        model = machine(gamma=0.3, tol=1e-7, **constants, **limit)
        with pytest.warns(ConvergenceWarning, match=r"terminated early.*Likely cause"):
            model.fit(X, y)
        assert model.certificate_.status == status
        assert model.fit_status_ == 1
        assert model.certificate_.kkt_violation > 1e-7
        assert np.isfinite(model.predict(X[:10])).all()


def test_the_warning_names_the_cause() -> None:
    X, y = noise(SMALL)
    changes: list[tuple[dict[str, Any], str]] = [
        ({"X": X * [1, 1, 1, 1e4]}, "different scales"),
        ({"C": 1e9}, "C is large"),
        ({"X": np.vstack([X[:150], X[:150]]), "y": np.r_[y[:150], -y[:150]]}, "duplicates"),
    ]
    for change, cause in changes:
        model = SVC(gamma=0.3, C=change.get("C", 1.0), max_iter=5)
        with pytest.warns(ConvergenceWarning, match=cause):
            model.fit(change.get("X", X), change.get("y", y))


@both_sizes
@pytest.mark.parametrize("gap_tol", [0.3, 1e-2, 1e-4])
def test_gap_tolerance(n: int, gap_tol: float) -> None:
    X, y = noise(n)
    gram, problem = Gram(RBF(0.3), X, "float64"), problem_of(y, 10.0)
    solution = solve(problem, gram, Settings(tol=1e-12, gap_tol=gap_tol))
    assert solution.status == "optimal"
    assert solution.relative_gap <= gap_tol
    assert_honest(solution, problem, gram.tile(), y, 10.0)
    exact = solve(problem, gram, Settings(tol=1e-5))
    assert solution.n_iter <= exact.n_iter
    if gap_tol == 0.3:
        assert solution.kkt_violation > 1e-2


@both_sizes
def test_a_finer_tolerance_is_never_worse(n: int) -> None:
    X, y = noise(n)
    gram, problem = Gram(RBF(0.3), X, "float64"), problem_of(y, 10.0)
    solutions = [solve(problem, gram, Settings(tol=tol)) for tol in (1e-1, 1e-2, 1e-4)]
    for solution, tol in zip(solutions, (1e-1, 1e-2, 1e-4), strict=True):
        assert solution.kkt_violation <= 1.01 * tol
    values = np.array([s.objective for s in solutions])
    assert np.all(np.diff(values) <= 1e-12 * np.abs(values[0]))  # small ones are polished


def test_a_tolerance_that_no_arithmetic_reaches_ends() -> None:
    X, y = noise(SMALL)
    gram, problem = Gram(RBF(0.3), X), problem_of(y, 1.0)
    begin = time.perf_counter()
    solution = solve(problem, gram, Settings(tol=0.0))
    assert time.perf_counter() - begin < 5
    assert solution.kkt_violation < 1e-10
    assert solution.status in ("optimal", "iteration_limit")


# ------------------------------------------------------------------ callbacks


def test_reports_of_a_large_problem() -> None:
    X, y = noise(LARGE)
    gram, problem = Gram(RBF(0.3), X, "float64"), problem_of(y, 10.0)
    seen: list[tuple[Any, ...]] = []
    settings, run = Settings(working_set=128), Run(listeners=[seen.append])
    solution = solve(problem, gram, settings, run=run)
    assert len(seen) > 5
    iteration, violation, objective, gap, active, hits, misses = map(list, zip(*seen, strict=True))
    assert iteration == sorted(iteration)
    assert iteration[-1] <= solution.n_iter
    assert np.all(np.diff(objective) <= 1e-9)
    assert violation[-1] <= 1e-3 < violation[0]
    assert all(0 < a <= LARGE for a in active)
    known = [g for g in gap if not math.isnan(g)]
    assert known
    assert all(g >= -1e-12 for g in known)
    assert hits == sorted(hits)
    assert misses == sorted(misses)
    assert (hits[-1], misses[-1]) == (solution.cache_hits, solution.cache_misses)
    assert misses[-1] > 0


@both_sizes
def test_a_true_answer_stops_the_solver(n: int) -> None:
    X, y = noise(n)
    gram, problem = Gram(RBF(0.3), X, "float64"), problem_of(y, 10.0)
    calls = []

    def enough(*report: Any) -> bool:
        calls.append(report)
        return True

    solution = solve(problem, gram, Settings(), run=Run(listeners=[enough]))
    assert len(calls) == 1
    assert solution.status == "interrupted"
    assert_honest(solution, problem, gram.tile(), y, 10.0)


@both_sizes
def test_what_a_callback_raises_reaches_the_caller(n: int) -> None:
    X, y = noise(n)
    gram = Gram(RBF(0.3), X)

    def broken(*_: Any) -> None:
        raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        solve(problem_of(y, 1.0), gram, Settings(), run=Run(listeners=[broken]))
    # And the solver still works.
    assert solve(problem_of(y, 1.0), gram, Settings()).status == "optimal"


def test_a_callback_does_not_change_the_answer() -> None:
    X, y = noise(LARGE)
    gram, problem = Gram(RBF(0.3), X), problem_of(y, 1.0)
    watched = solve(problem, gram, Settings(), run=Run(listeners=[lambda _: None]))
    assert np.array_equal(watched.beta, solve(problem, gram, Settings()).beta)


def test_functions_that_watch_a_machine() -> None:
    X, y = noise(LARGE)
    reports: list[Any] = []
    model = SVC(gamma=0.3).set_callbacks(reports.append).fit(X, y)
    assert len(reports) > 0
    assert reports[-1].violation <= 1e-3
    assert model.certificate_.status == "optimal"
    stopped = SVC(gamma=0.3).set_callbacks(lambda _: True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stopped.fit(X, y)
    assert stopped.certificate_.status == "interrupted"
    assert stopped.certificate_.gap > model.certificate_.gap


# ------------------------------------------------------------------ warm starts


@both_sizes
def test_a_solution_as_the_start_needs_no_step(n: int) -> None:
    X, y = noise(n)
    gram, problem = Gram(RBF(0.3), X, "float64"), problem_of(y, 10.0)
    first = solve(problem, gram, Settings(tol=1e-4))
    again = solve(problem, gram, Settings(tol=2e-4), start=first.beta)
    assert again.status == "optimal"
    assert again.objective == pytest.approx(first.objective, rel=1e-6)
    if n == LARGE:  # small problems are polished once more
        assert again.n_iter == 0
        assert np.array_equal(again.beta, first.beta)


@both_sizes
def test_going_on_after_a_limit(n: int) -> None:
    X, y = noise(n)
    gram, problem = Gram(RBF(0.3), X, "float64"), problem_of(y, 10.0)
    whole = solve(problem, gram, Settings(tol=1e-4))
    part = solve(problem, gram, Settings(tol=1e-4), run=Run(max_iter=whole.n_iter // 2))
    rest = solve(problem, gram, Settings(tol=1e-4), start=part.beta)
    assert part.status == "iteration_limit"
    assert rest.status == "optimal"
    assert rest.objective == pytest.approx(whole.objective, rel=1e-6)


def test_a_machine_goes_on_where_it_stopped() -> None:
    X, y = noise(LARGE)
    model = SVC(gamma=0.3, C=10, warm_start=True, max_iter=500)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    gaps = [model.certificate_.gap]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(200):
            model.fit(X, y)
            gaps.append(model.certificate_.gap)
            if model.certificate_.status == "optimal":
                break
    assert model.certificate_.status == "optimal"
    assert len(gaps) > 2
    assert gaps[-1] < 1e-2 * gaps[0]


# ------------------------------------------------------------------ indefinite kernels


@both_sizes
def test_an_indefinite_kernel_ends_at_a_stationary_point(n: int) -> None:
    X, y = noise(n)
    kernel = Sigmoid(gamma=0.5, coef0=-1.0)
    gram, problem = Gram(kernel, X, "float64"), problem_of(y, 10.0)
    K = gram.tile()
    assert np.linalg.eigvalsh(K[:300, :300]).min() < -1
    solution = solve(problem, gram, Settings())
    assert solution.status == "stationary"
    assert solution.negative_curvature
    beta = solution.beta
    assert np.all((problem.lower <= beta) & (beta <= problem.upper))
    up = np.where(beta < problem.upper, K @ beta - y, np.inf).min()
    down = np.where(beta > problem.lower, K @ beta - y, -np.inf).max()
    assert down - up <= 1.1e-3
    model = SVC(kernel=kernel, C=10).fit(X, y)
    assert model.certificate_.status == "stationary"
    assert math.isnan(model.certificate_.gap)
    assert model.kernel_.definiteness is Definiteness.INDEFINITE


def test_a_claim_of_definiteness_is_withdrawn_when_it_shows_to_be_false() -> None:
    X, y = noise(SMALL)
    kernel = FromFunction(
        lambda A, B: np.tanh(0.5 * A @ B.T - 1.0), definiteness="positive semidefinite"
    )
    model = SVC(kernel=kernel, C=10).fit(X, y)
    assert model.certificate_.status == "stationary"
    assert model.certificate_.assumes != "psd"
    assert math.isnan(model.certificate_.gap)


def test_a_negative_definite_matrix_moves_to_the_bounds() -> None:
    n = 20
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    problem = problem_of(y, 1.0)
    solution = solve(problem, Gram(Precomputed(), -np.eye(n)), Settings())
    assert solution.status == "stationary"
    assert np.abs(solution.beta).tolist() == [1.0] * n


@pytest.mark.parametrize("time_limit", [None, 10.0])
def test_values_that_overflow_end_a_fit_with_a_sentence(time_limit: float | None) -> None:
    """Kernel values of 1e300 are numbers, and so are coefficients of 1e11."""
    X, y = np.random.default_rng(0).normal(size=(43, 4)) * 1e150, np.linspace(-1.0, 1.0, 43)
    machine = NuSVR(C=2e11, nu=0.1, kernel="linear", time_limit=time_limit)
    with pytest.raises(ValueError, match=r"coefficients of up to .* overflow; scale the data"):
        machine.fit(X, y)
