"""Solvers of one file each: what they find; limits, interrupts and starts as all solvers have."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC, SVR
from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Sigmoid
from mercer.losses import (
    L1,
    L2,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Squared,
    SquaredHinge,
)
from mercer.run import Report, Run
from mercer.solvers import Design, Problem, Settings, Solution, certificate, choose, solve

RNG = np.random.default_rng(3)


def repr_of(part: Any) -> str:
    """Return the name of a class, for the names of tests."""
    return type(part).__name__


def replace_omega(problem: Problem, lam: float) -> Problem:
    """Return a problem with another penalty."""
    return Problem(problem.loss, problem.y, problem.c, omega=L1(lam))


def two_classes(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return points, labels that overlap, and weights of which some are 0."""
    r = np.random.default_rng(seed)
    X = r.normal(size=(n, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * r.normal(size=n) > 0.3, 1.0, -1.0)
    return X, y, r.integers(0, 4, n) * r.uniform(0.5, 2.0, n)


def sparse_classes(n: int, columns: int = 2000) -> tuple[Any, Any]:
    """Return sparse rows and labels of a noisy hyperplane."""
    r = np.random.default_rng(0)
    entries = r.uniform(size=20 * n), r.integers(0, columns, 20 * n), np.arange(0, 20 * n + 1, 20)
    A = sp.csr_array(entries, shape=(n, columns))
    A.sum_duplicates()
    return A, np.where(A @ r.normal(size=columns) + r.normal(size=n) > 0.0, 1.0, -1.0)


# ------------------------------------------------------------------ Platt's algorithm


@pytest.mark.spec("CS-7.33", "CS-7.38", "CS-7.39", "SM-4.51", "SM-4.57")
@pytest.mark.parametrize("seed", range(20))
def test_smo_finds_the_objective_of_the_default(seed: int) -> None:
    X, y, weight = two_classes(60, seed)
    C = 10.0 ** RNG.uniform(-1.0, 1.0)
    found = [
        SVC(C=C, gamma=0.5, tol=1e-8, solver=solver).fit(X, y, weight).certificate_
        for solver in ("smo", "auto")
    ]
    assert [proof.status for proof in found] == ["optimal", "optimal"]
    assert found[0].primal == pytest.approx(found[1].primal, abs=1e-6)
    assert found[0].dual == pytest.approx(found[1].dual, abs=1e-6)


def test_smo_takes_other_losses_without_a_kink_and_refuses_the_rest() -> None:
    X, y, _ = two_classes(60)
    gram, bias = Gram(RBF(0.5), X, "float64"), np.zeros(60, dtype=np.int64)
    for loss in (SquaredHinge(), Squared(), Huber(0.3)):
        problem = Problem(loss, y, np.full(60, 2.0), basis=bias)
        mine = solve(problem, gram, Settings(tol=1e-9), solver="smo")
        theirs = solve(problem, gram, Settings(tol=1e-9))
        assert mine.objective == pytest.approx(theirs.objective, abs=1e-9)
        assert certificate(problem, gram, mine).relative_gap < 1e-8
    with pytest.raises(ValueError, match=r"^smo takes finite weights c, not infinite"):
        SVC(C=np.inf, solver="smo").fit(X, y)
    with pytest.raises(ValueError, match=r"^smo takes one constant, not no basis"):
        SVC(solver="smo", fit_intercept=False).fit(X, y)
    with pytest.raises(ValueError, match=r"^smo takes dual costs without a kink"):
        SVR(solver="smo").fit(X, y)


@pytest.mark.spec("CS-7.34", "SM-4.56")
def test_smo_on_equal_rows_and_on_a_kernel_that_is_not_definite() -> None:
    X, y, _ = two_classes(30)
    X, y = np.vstack([X, X]), np.r_[y, -y]
    bias = np.zeros(60, dtype=np.int64)
    problem = Problem(Hinge(), y, np.full(60, 2.0), basis=bias)
    gram = Gram(RBF(0.5), X, "float64")
    found = solve(problem, gram, Settings(tol=1e-8), solver="smo")
    assert found.status == "optimal"
    assert certificate(problem, gram, found).primal == pytest.approx(120.0)  # f = 0
    indefinite = Gram(Sigmoid(1.0, -1.0), X, "float64")
    run = Run(max_iter=20_000)
    beta = solve(problem, indefinite, Settings(), solver="smo", run=run).beta
    assert np.all(np.abs(beta) <= 2.0)
    assert beta.sum() == pytest.approx(0.0, abs=1e-9)


def test_smo_on_equal_rows_beside_which_a_curvature_is_rounding() -> None:
    """Without a box a step along equal rows ends where the curvature of the loss says."""
    X = np.full((6, 1), 1e8)
    y = np.arange(6.0)
    problem = Problem(Squared(), y, np.full(6, 500.0), basis=np.zeros(6, dtype=np.int64))
    gram = Gram(Linear(), X, "float64")
    with np.errstate(all="raise"):
        found = solve(problem, gram, Settings(gap_tol=1e-9), solver="smo")
    assert found.status == "optimal"
    np.testing.assert_allclose(found.beta, 1000.0 * (y - 2.5), atol=1e-3)  # f = 2.5


@pytest.mark.spec("SM-4.59", "CS-7.39")
def test_smo_leaves_no_coefficient_beside_its_bound() -> None:
    X, y, weight = two_classes(80)
    problem = Problem(Hinge(), y, weight, basis=np.zeros(80, dtype=np.int64))
    gram = Gram(RBF(0.5), X, "float64")
    first, second = (solve(problem, gram, Settings(tol=1e-9), solver="smo") for _ in range(2))
    assert np.array_equal(first.beta, second.beta)
    size = np.abs(first.beta)
    for end in (np.zeros(80), weight):
        assert not ((size != end) & (np.abs(size - end) < 1e-8 * weight)).any()


# ------------------------------------------------------------------ coordinate descent


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Squared(), Huber(0.3)], ids=repr_of)
@pytest.mark.parametrize("dense", [False, True])
def test_coordinate_descent_finds_what_decomposition_finds(loss: Any, dense: bool) -> None:
    A, y = sparse_classes(300, 30)
    A = A.toarray() if dense else A
    c = np.random.default_rng(1).integers(1, 4, 300) * 0.5
    problem, gram = Problem(loss, y, c), Gram(Linear(), A, "float64")
    mine = solve(problem, Design(A), Settings(tol=1e-10), solver="coordinate_descent")
    theirs = solve(problem, gram, Settings(tol=1e-10))
    assert mine.status == "optimal"
    assert mine.objective == pytest.approx(theirs.objective, rel=1e-9)
    np.testing.assert_allclose(mine.coef, A.T @ mine.beta, atol=1e-12)
    assert certificate(problem, gram, mine).relative_gap < 1e-8


def test_a_weight_decay_scales_the_problem_of_a_design() -> None:
    A, y = sparse_classes(200, 30)
    plain = Problem(Hinge(), y, np.full(200, 0.5))
    decay = Problem(Hinge(), y, np.full(200, 1.5), omega=L2(3.0))
    first, second = (
        solve(p, Design(A), Settings(tol=1e-10), solver="coordinate_descent")
        for p in (plain, decay)
    )
    np.testing.assert_allclose(first.coef, second.coef, atol=1e-9)
    assert second.objective == pytest.approx(3.0 * first.objective)
    half = Problem(Hinge(), y[::2], np.full(100, 0.5), rows=np.arange(0, 200, 2))
    part = Problem(Hinge(), y[::2], np.full(100, 0.5))
    first, second = (
        solve(p, Design(X), Settings(tol=1e-10), solver="coordinate_descent")
        for p, X in ((half, A), (part, A[::2]))
    )
    assert np.array_equal(first.coef, second.coef)


def test_a_hundred_thousand_sparse_rows_need_no_kernel_matrix() -> None:
    A, y = sparse_classes(100_000)
    problem = Problem(Hinge(), y, np.full(100_000, 0.1))
    found = solve(problem, Design(A), Settings(gap_tol=1e-3), solver="coordinate_descent")
    assert found.status == "optimal"
    f = A @ found.coef
    primal = 0.5 * found.coef @ found.coef + 0.1 * np.maximum(0.0, 1.0 - y * f).sum()
    assert -found.objective <= primal <= -found.objective / (1.0 - 1e-3)


def test_a_design_is_told_from_a_kernel_matrix() -> None:
    A, y = sparse_classes(50, 30)
    problem, gram = Problem(Hinge(), y, np.ones(50)), Gram(RBF(0.5), A)
    with pytest.raises(ValueError, match="the rows of a linear machine's design, which Gram does"):
        choose(problem, "coordinate_descent", gram)
    with pytest.raises(ValueError, match="by the native core, which Design does not have"):
        choose(problem, "decomposition", Design(A))
    assert choose(problem, "auto", Design(A)).name == "coordinate_descent"
    assert choose(problem, "auto", gram).name == "decomposition"
    with pytest.raises(ValueError, match="finite numbers"):
        Design([[1.0, np.nan]])
    with pytest.raises(ValueError, match="50 variables and the matrix 40 objects"):
        solve(problem, Design(A[:40]), Settings())


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=repr)
def test_the_certificate_of_a_design_brackets_its_values(
    far: float, scale: float, convert: Any
) -> None:
    """Primal and dual value of the returned model in rationals; rounding is part of the bounds."""
    A, y = sparse_classes(40, 5)
    X = (A.toarray() + far) * scale
    exact, design = np.vectorize(Fraction)(X), Design(convert(X))
    for loss, omega in ((Hinge(), None), (SquaredHinge(), L2(0.3)), (Squared(), L1(2.0))):
        problem = Problem(loss, y, np.r_[np.zeros(3), np.ones(37)], omega=omega)
        for steps in (0, 3, 300):
            found = solve(problem, design, Settings(tol=1e-9), run=Run(max_iter=steps))
            proof = certificate(problem, design, found)
            w, beta = (np.vectorize(Fraction)(a) for a in (found.coef, found.beta))
            weights = np.vectorize(Fraction)(problem.c)
            lam = Fraction(1 if omega is None else omega.lam)
            size = abs(w).sum() if isinstance(omega, L1) else w @ w / 2
            slack = np.maximum(1 - np.vectorize(int)(y) * (exact @ w), 0)
            slack = y.astype(int) - exact @ w if isinstance(loss, Squared) else slack
            losses = slack if isinstance(loss, Hinge) else slack**2
            assert Fraction(proof.primal) >= lam * size + weights @ losses
            assert proof.dual <= proof.primal
            if isinstance(omega, L1) or proof.dual == -np.inf:
                continue
            v = exact.T @ beta
            kept = beta[3:]
            conjugate = -(np.vectorize(int)(y[3:]) @ kept)
            conjugate += 0 if isinstance(loss, Hinge) else kept @ kept / 4
            assert Fraction(proof.dual) <= -(v @ v) / (2 * lam) - conjugate


def test_the_certificate_of_a_design_is_that_of_its_kernel_matrix() -> None:
    A, y = sparse_classes(300, 30)
    plain = Problem(Hinge(), y, np.ones(300))
    gram, design = Gram(Linear(), A, "float64"), Design(A)
    found = solve(plain, design, Settings(tol=1e-9))
    first, second = (certificate(plain, operator, found) for operator in (gram, design))
    assert second.status == "optimal"
    assert second.primal == pytest.approx(first.primal, rel=1e-11)
    assert second.dual == pytest.approx(first.dual, rel=1e-11)
    found.coef = 0.9 * found.coef  # the primal value is that of the weights
    poor = certificate(plain, design, found)
    assert poor.dual == second.dual
    assert poor.primal > 1.001 * second.primal
    assert poor.status == "iteration_limit"
    repeated = Problem(Hinge(), y[:200], np.ones(200), rows=np.arange(200) // 2)
    found = solve(repeated, design, Settings(tol=1e-9))
    assert certificate(repeated, design, found).relative_gap < 1e-8


def test_a_penalty_has_no_proof_with_functions_or_totals() -> None:
    A, y = sparse_classes(50, 5)
    problem = Problem(Squared(), y, np.ones(50), omega=L1(2.0))
    found, bias = solve(problem, Design(A), Settings()), np.zeros(50, dtype=np.int64)
    found.multiplier = np.zeros(1)
    with pytest.raises(ValueError, match="needs sums that can be made exact"):
        certificate(replace(problem, basis=A.sum(axis=1)), Design(A), found)
    with pytest.raises(ValueError, match="takes no totals"):
        certificate(replace(problem, basis=bias, totals=np.ones(1)), Design(A), found)
    with_bias = certificate(replace(problem, basis=bias), Design(A), found)
    assert with_bias.dual <= with_bias.primal


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_matrix], ids=str)
def test_a_design_is_its_matrix(convert: Any) -> None:
    X = np.random.default_rng(0).normal(size=(6, 4)).round()
    design, rows = Design(convert(X)), np.array([4, 1, 1])
    w, u = np.arange(4.0), np.arange(6.0)
    assert design.shape == (6, 4)
    np.testing.assert_allclose(design.dot(w), X @ w)
    np.testing.assert_allclose(design.dot(w, rows), X[rows] @ w)
    np.testing.assert_allclose(design.t_dot(u), X.T @ u)
    np.testing.assert_allclose(design.t_dot(u[:3], rows), X[rows].T @ u[:3])
    np.testing.assert_allclose(design.rows(rows), X[rows])
    np.testing.assert_allclose(design.diag(), (X**2).sum(axis=1))
    np.testing.assert_allclose(design.take(rows).csr.toarray(), X[rows])
    sign = np.where(u > 2.0, 1.0, -1.0)
    np.testing.assert_allclose(design.signed(sign).dot(w), sign * (X @ w))
    single = design.in_precision("float32")
    assert (design.dtype, single.dtype) == ("float64", "float32")
    assert design.in_precision("float64") is design


def test_a_design_adds_up_repeated_entries_of_a_copy() -> None:
    X = sp.csr_array((np.arange(1.0, 5.0), [1, 0, 1, 0], [0, 3, 4]), shape=(2, 2))
    before = [a.copy() for a in (X.data, X.indices, X.indptr)]
    design = Design(X)
    assert design.diag().tolist() == [20.0, 16.0]
    assert design.csr.data.tolist() == [2.0, 4.0, 4.0]
    assert design.absolute.dot(np.ones(2)).tolist() == [6.0, 4.0]
    for now, then in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_a_gram_is_an_operator_as_a_design_is() -> None:
    X = np.random.default_rng(0).normal(size=(6, 4))
    gram, rows, w = Gram(RBF(0.5), X, "float64"), np.array([4, 1, 1]), np.arange(6.0)
    K = gram.tile()
    assert gram.shape == (6, 6)
    np.testing.assert_allclose(gram.dot(w), K @ w)
    np.testing.assert_allclose(gram.dot(w, rows), K[rows] @ w)
    np.testing.assert_allclose(gram.t_dot(w[:3], rows), K[rows].T @ w[:3])
    np.testing.assert_allclose(gram.rows(rows), K[rows])


# ------------------------------------------------------------------ proximal gradients


@pytest.mark.parametrize("loss", [Huber(0.2), Squared(), SquaredHinge(), Logistic()], ids=repr_of)
@pytest.mark.parametrize("omega", [L1(0.5), L2(0.5)], ids=repr_of)
@pytest.mark.parametrize("kernel", [RBF(0.5), Sigmoid(0.5)], ids=repr_of)
def test_fista_closes_the_gap_of_any_smooth_loss(loss: Any, omega: Any, kernel: Any) -> None:
    X, y, weight = two_classes(80)
    problem, gram = Problem(loss, y, weight + 0.1, omega=omega), Gram(kernel, X, "float64")
    found = solve(problem, gram, Settings(gap_tol=5e-7), solver="fista")
    assert found.status == "optimal"
    assert found.relative_gap <= 5e-7
    assert 0.0 <= certificate(problem, gram, found).relative_gap < 1e-6


def test_an_l1_penalty_selects_columns_of_a_design() -> None:
    A, _ = sparse_classes(400, 60)
    w = np.zeros(60)
    w[:4] = [2.0, -3.0, 1.5, 4.0]
    y = A @ w + 0.01 * np.random.default_rng(0).normal(size=400)
    y[::25] += 10.0  # outliers
    problem = Problem(Huber(0.1), y, np.ones(400), omega=L1(6.0))
    found = solve(problem, Design(A), Settings(gap_tol=1e-8), solver="fista")
    assert found.status == "optimal"
    assert np.flatnonzero(np.abs(found.coef) > 0.5).tolist() == [0, 1, 2, 3]
    assert np.count_nonzero(found.coef) < 30
    at_zero = solve(replace_omega(problem, 1e4), Design(A), Settings(), solver="fista")
    assert not at_zero.coef.any()
    assert at_zero.status == "optimal"


def test_fista_ends_where_rounding_leaves_no_progress() -> None:
    X, y, _ = two_classes(40)
    problem = Problem(Huber(), y, np.ones(40), omega=L1(0.5))
    found = solve(
        problem, Design(X), Settings(gap_tol=1e-300), solver="fista", run=Run(time_limit=20)
    )
    assert found.status == "iteration_limit"
    assert found.relative_gap < 1e-8  # the gap falls like the root of what F tells apart


def test_fista_says_that_a_loss_has_no_derivative_by_its_status() -> None:
    X, y, _ = two_classes(40)
    problem = Problem(EpsilonInsensitive(0.1), y, np.ones(40), omega=L1(0.5))
    gram = Gram(RBF(0.5), X, "float64")
    found = solve(problem, gram, Settings(gap_tol=1e-9), solver="fista", run=Run(max_iter=5000))
    assert found.status == "iteration_limit"
    assert certificate(problem, gram, found).status == "iteration_limit"
    with pytest.raises(ValueError, match=r"fista takes .*\(L1\) or .*\(L2\), not the norm"):
        choose(Problem(Squared(), y, np.ones(40)), "fista")


# ------------------------------------------------------------------ what every solver gets


def long_problem(name: str) -> tuple[Problem, Any]:
    """Return a problem that takes the solver more than a second."""
    if name == "smo":
        X, y, _ = two_classes(1500)
        bias = np.zeros(1500, dtype=np.int64)
        return Problem(Hinge(), y, np.full(1500, 1e4), basis=bias), Gram(RBF(0.5), X, "float64")
    if name == "coordinate_descent":
        A, y = sparse_classes(20_000, 500)
        return Problem(Hinge(), y, np.full(20_000, 1e5)), Design(A)
    X, y, _ = two_classes(1000)
    problem = Problem(Huber(1e-3), y, np.ones(1000), omega=L1(1e-6))
    return problem, Gram(RBF(5.0), X, "float64")


each = pytest.mark.parametrize("name", ["smo", "coordinate_descent", "fista"])


def assert_consistent(found: Solution, problem: Problem, operator: Any) -> None:
    """Check that values and measures are those of the returned point."""
    w = found.beta if found.coef is None else found.coef
    np.testing.assert_allclose(found.values, operator.dot(w), rtol=1e-7, atol=1e-7)
    assert np.isfinite([found.kkt_violation, found.objective]).all()


@each
def test_a_time_limit_ends_a_solver_with_the_status(name: str) -> None:
    problem, operator = long_problem(name)
    begin = time.perf_counter()
    limit = Run(time_limit=0.01)
    found = solve(problem, operator, Settings(tol=1e-12), solver=name, run=limit)
    assert found.status == "time_limit"
    assert time.perf_counter() - begin < 3.0
    assert_consistent(found, problem, operator)


@each
def test_a_limit_of_steps_and_progress(name: str) -> None:
    problem, operator = long_problem(name)
    heard: list[Report] = []
    run = Run(max_iter=12, listeners=[heard.append])
    found = solve(problem, operator, Settings(tol=1e-12), solver=name, run=run)
    assert found.status == "iteration_limit"
    assert found.n_iter == 12
    assert [r.iteration for r in heard] == sorted(r.iteration for r in heard)
    assert np.isfinite(heard[0].violation)
    assert np.isfinite(heard[0].gap)
    stopped = Run(listeners=[lambda report: report.iteration >= 5])
    found = solve(problem, operator, Settings(tol=1e-12), solver=name, run=stopped)
    assert found.status == "interrupted"
    assert not stopped.by_keyboard


@each
def test_an_interrupt_keeps_the_best_point(name: str) -> None:
    problem, operator = long_problem(name)
    sent: list[float] = []

    def press(*_: Any) -> None:
        sent.append(time.perf_counter())
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    run = Run()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.4)
        found = solve(problem, operator, Settings(tol=1e-13), solver=name, run=run)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - sent[0] < 0.5
    assert found.status == "interrupted"
    assert run.by_keyboard
    assert found.n_iter > 0
    assert_consistent(found, problem, operator)


@each
def test_a_solution_is_a_start(name: str) -> None:
    if name == "smo":
        X, y, weight = two_classes(100)
        bias = np.zeros(100, dtype=np.int64)
        problem, operator = Problem(Hinge(), y, weight, basis=bias), Gram(RBF(0.5), X, "float64")
    else:
        A, y = sparse_classes(500, 50)
        omega = L1(0.2) if name == "fista" else None
        problem, operator = Problem(SquaredHinge(), y, np.ones(500), omega=omega), Design(A)
    first = solve(problem, operator, Settings(tol=1e-6), solver=name)
    start = first.coef if name == "fista" else first.beta
    again = solve(problem, operator, Settings(tol=2e-6), start, solver=name)
    assert first.status == again.status == "optimal"
    assert first.n_iter > 3
    assert again.n_iter <= 1
    assert again.objective == pytest.approx(first.objective, rel=1e-9)
