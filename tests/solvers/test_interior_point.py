"""The interior point method in features, and the problems that pair steps do not solve."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, NuSVC
from mercer.gram import Gram
from mercer.kernels import RBF, Kernel, Linear, Polynomial
from mercer.machines.support_vector import proving
from mercer.run import Run
from mercer.solvers import DualProblem, Settings, solve
from mercer.solvers import feature_interior_point as factor
from mercer.solvers.feature_interior_point import solve_in_features

Array = NDArray[np.float64]

N = 60
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=N) > 0, 1.0, -1.0)
T = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=N)
ONE = np.zeros(N, dtype=np.int64)
CLASSES = (Y < 0).astype(np.int64)
FREE = np.full(N, np.inf)
HALF = np.full(N, 0.5)

# Bounds, slopes, curvatures, kinks, groups and their sums, in all combinations that occur.
PROBLEMS: dict[str, tuple[DualProblem, list[float]]] = {
    "hinge": (DualProblem(np.minimum(Y, 0), np.maximum(Y, 0), -Y, group=ONE), [0.0]),
    "no equality": (DualProblem(np.minimum(Y, 0), np.maximum(Y, 0), -Y), []),
    "squared hinge": (
        DualProblem(
            np.where(Y > 0, 0, -FREE), np.where(Y > 0, FREE, 0), -Y, curv_left=HALF, group=ONE
        ),
        [0.0],
    ),
    "tube": (DualProblem(-2 * HALF, 2 * HALF, -T - 0.1, -T + 0.1, group=ONE), [0.0]),
    "squared tube": (
        DualProblem(-FREE, FREE, -T - 0.1, -T + 0.1, curv_left=HALF, group=ONE),
        [0.0],
    ),
    "hard tube": (DualProblem(-FREE, FREE, -T - 0.5, -T + 0.5, group=ONE), [0.0]),
    "one class": (DualProblem(0 * HALF, 2 * HALF, 0 * HALF, group=ONE), [20.0]),
    "two sums": (
        DualProblem(np.minimum(Y, 0), np.maximum(Y, 0), 0 * HALF, group=CLASSES),
        [10.0, -10.0],
    ),
    "kinks": (
        DualProblem(-2 * HALF, 4 * HALF, -Y - 0.2, -Y + 0.1, kink=HALF, group=ONE),
        [5.0],
    ),
    "two curvatures": (
        DualProblem(-FREE, FREE, -Y - 0.2, -Y + 0.1, HALF, 3 * HALF, group=ONE),
        [1.0],
    ),
}

each_problem = pytest.mark.parametrize(("problem", "totals"), PROBLEMS.values(), ids=PROBLEMS)


def start_of(problem: DualProblem, totals: list[float]) -> Array:
    """Return a feasible point: every group shares its sum in proportion to the room there is."""
    lower, upper = np.maximum(problem.lower, -10), np.minimum(problem.upper, 10)
    point = np.clip(np.zeros(N), lower, upper)
    for g, total in enumerate(totals):
        members = problem.group == g
        missing = total - point[members].sum()
        room = (upper - point if missing > 0 else point - lower)[members]
        point[members] += missing * room / max(room.sum(), 1e-300)
    return point


@each_problem
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5)], ids=["linear", "rbf"])
def test_both_methods_find_the_same_optimum(
    problem: DualProblem, totals: list[float], kernel: Kernel
) -> None:
    gram = Gram(kernel, X)
    found = solve_in_features(problem, gram, Settings(), Run(), np.array(totals))
    assert found is not None
    assert found.status == "optimal"
    assert np.all((found.beta >= problem.lower) & (found.beta <= problem.upper))
    for g, total in enumerate(totals):
        assert found.beta[problem.group == g].sum() == pytest.approx(total, abs=1e-9)
    # No step is left to do, and pair steps from elsewhere end at the same value.
    there = solve(problem, gram, Settings(tol=1e-6), start=found.beta, run=Run(max_iter=0))
    assert there.kkt_violation < 1e-5
    pairs = solve(problem, gram, Settings(tol=1e-9), start=start_of(problem, totals))
    assert pairs.status == "optimal"
    assert there.objective == pytest.approx(pairs.objective, rel=1e-7, abs=1e-7)


def test_what_it_does_not_take_it_leaves() -> None:
    problem, _ = PROBLEMS["hinge"]
    assert solve_in_features(problem, Gram(RBF(5.0), X), Settings(), Run(), np.zeros(1), 10) is None
    tiny = Settings(cache_size=8 * N * 2 / 2**20)  # room for two columns
    assert solve_in_features(problem, Gram(Linear(), X), tiny, Run(), np.zeros(1)) is None
    outside = DualProblem(HALF, 2 * HALF, -Y, group=ONE)  # kinks at 0
    assert (
        solve_in_features(outside, Gram(Linear(), X), Settings(), Run(), np.array([40.0])) is None
    )
    assert solve_in_features(problem, Gram(Linear(), 0 * X), Settings(), Run(), np.zeros(1)) is None


# ------------------------------------------------------------------ badly scaled data

MANY = rng.normal(size=(400, 8))
LABELS = (MANY[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(int)
TARGETS = MANY[:, 0] + 0.3 * rng.normal(size=400)


@pytest.mark.parametrize("scale", [1e3, 1e4])
@pytest.mark.parametrize(
    "machine",
    [
        SVC(kernel="linear"),
        SVC(kernel="linear", penalty_norm=2),
        SVC(kernel="linear", fit_intercept=False),
        NuSVC(kernel="linear", nu=0.2),
        SVR(kernel="linear"),
    ],
    ids=str,
)
def test_unscaled_columns_take_no_minutes(machine: Any, scale: float) -> None:
    y = TARGETS if isinstance(machine, SVR) else LABELS
    begin = time.perf_counter()
    model = machine.fit(scale * MANY, y)
    assert time.perf_counter() - begin < 5
    proof = model.certificate_
    assert proof.status == "optimal"
    assert proof.gap - proof.rounding < 1e-4 * (abs(proof.primal) + abs(proof.dual))
    assert model.score(scale * MANY, y) > 0.9


def test_scales_of_columns_and_several_classes() -> None:
    X = MANY * np.logspace(-2, 4, 8)
    y = np.arange(400) % 3
    begin = time.perf_counter()
    model = SVC(kernel="linear").fit(X, y)
    assert time.perf_counter() - begin < 10
    assert [c.status for c in model.certificates_] == ["optimal"] * 3
    assert model.certificate_.relative_gap < 1e-3


def test_small_coefficients_of_large_kernel_values_count() -> None:
    # Coefficients of 1e-15 beside a bound of 1: k(x, x) is as large as they are small.
    model = SVC(kernel=Polynomial(3, gamma=1.0)).fit(100 * MANY, LABELS)
    # The optimum is 1e-11; rounding of the losses, which are sums of terms of size 1, is larger.
    assert model.certificate_.status == "precision_limit"
    assert model.certificate_.kkt_violation < 1e-3
    assert model.score(100 * MANY, LABELS) == 1


@pytest.mark.parametrize("scale", [1e8, 1e20, 1e100])
def test_what_rounding_forbids_ends_soon_and_says_so(scale: float) -> None:
    with pytest.warns(ConvergenceWarning, match="[Ss]cale the columns"):
        model = SVC(kernel="linear").fit(scale * MANY, LABELS)
    assert model.n_iter_[0] < 1_000_000
    assert model.certificate_.status in ("precision_limit", "iteration_limit")


def test_limits_hold() -> None:
    X = 1e4 * MANY
    with pytest.warns(ConvergenceWarning, match="max_iter=1000"):
        model = SVC(kernel="linear", max_iter=1000).fit(X, LABELS)
    assert model.n_iter_[0] == 1000
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = SVC(kernel="linear", time_limit=0.01).fit(X, LABELS)
    assert model.certificate_.status == "time_limit"
    reports: list[int] = []
    model = SVC(kernel="linear").set_callbacks(lambda report: reports.append(report.iteration))
    model.fit(X, LABELS)
    assert reports == sorted(reports)


# ------------------------------------------------------------------ an honest status


def test_a_rank_that_is_too_large_is_refused_before_the_factorisation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert factor.pivoted_cholesky(Gram(Linear(), X), 5) is not None  # of rank 3
    assert factor.pivoted_cholesky(Gram(RBF(0.5), np.vstack([X[:20]] * 3)), 20) is not None
    pivots: list[int] = []
    chooser = factor.chooser("largest", np.ones(N), 0.0)
    monkeypatch.setattr(factor, "chooser", lambda *_: lambda r: pivots.append(1) or chooser(r))
    assert factor.pivoted_cholesky(Gram(RBF(5.0), X), 40) is None
    assert not pivots


@pytest.mark.filterwarnings("ignore:Linear")  # which says that every model is a constant
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_matrix_that_is_zero_everywhere_has_rank_zero(fit_intercept: bool) -> None:
    zeros = np.zeros((N, 2))
    settings: dict[str, Any] = {"kernel": "linear", "fit_intercept": fit_intercept}
    found, expected = (
        SVC(solver=solver, **settings).fit(zeros, Y).certificate_
        for solver in ("interior_point", "decomposition")
    )
    assert found.status == "optimal"
    assert found.primal == pytest.approx(expected.primal)
    assert SVR(solver="interior_point", **settings).fit(zeros, T).certificate_.status == "optimal"


def test_the_time_limit_ends_the_factorisation(monkeypatch: pytest.MonkeyPatch) -> None:
    pivots: list[int] = []
    chooser = factor.chooser("largest", np.ones(N), 0.0)
    monkeypatch.setattr(factor, "chooser", lambda *_: lambda r: pivots.append(1) or chooser(r))
    begin = time.perf_counter()  # every pivot takes an hour
    clock = SimpleNamespace(perf_counter=lambda: begin + 3600.0 * len(pivots))
    monkeypatch.setattr("mercer.run.time", clock)
    model = SVC(gamma=0.1, solver="interior_point", time_limit=1e4)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, Y)
    assert len(pivots) == 3
    assert model.certificate_.status == "time_limit"
    assert 0.0 <= model.certificate_.gap < np.inf


def test_a_model_that_misses_its_tolerance_is_not_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = proving._proofs

    def worse(*arguments: Any) -> Any:
        return [m._replace(violation=m.violation + 0.01) for m in proofs(*arguments)]

    monkeypatch.setattr(proving, "_proofs", worse)
    with pytest.warns(ConvergenceWarning, match="no more progress"):
        model = SVC(solver="decomposition").fit(MANY, LABELS)
    assert model.certificate_.status == "iteration_limit"
    assert model.fit_status_ == 1


def test_a_hard_margin_does_not_claim_more_than_it_has() -> None:
    X, y = MANY[:100], np.where(MANY[:100, 0] > 0, 1, -1)
    X = X + 1e-3 * y[:, None]
    assert SVC(kernel="linear", C=np.inf, tol=1e-6).fit(X, y).certificate_.status == "optimal"
    with pytest.warns(ConvergenceWarning, match="rounding"):
        model = SVC(kernel="linear", C=np.inf, tol=1e-14).fit(X, y)
    assert model.certificate_.status == "precision_limit"
    assert 1e-14 < model.certificate_.kkt_violation < 1e-10
