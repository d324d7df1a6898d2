"""The seams carry strangers: a solver, a loss and a batch that change no line elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_equal
from scipy.special import expit, xlogy

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.gram import Gram
from mercer.kernels import RBF, FromFunction, Linear, Multiquadric, Sigmoid, ThinPlate
from mercer.losses import (
    L1,
    L2,
    EpsilonInsensitive,
    Hinge,
    Loss,
    Quadratic,
    Squared,
    SquaredHinge,
)
from mercer.losses.base import over
from mercer.run import Report, Run
from mercer.solvers import (
    Design,
    Job,
    Problem,
    Settings,
    Solution,
    Solver,
    certificate,
    choose,
    ladder,
    solve,
    solve_jobs,
)
from mercer.solvers.base import relative_gap

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * RNG.normal(size=60) > 0.3, 1.0, -1.0)
BIAS = np.zeros(60, dtype=np.int64)


def found(beta: Any, gram: Gram, multiplier: Any, n_iter: int) -> Solution:
    return Solution(
        beta, gram.matmul(beta), np.asarray(multiplier), np.empty((0, 2)), "optimal", np.nan,
        np.nan, np.nan, n_iter, gram.n**2, 0.0, "float64",
    )  # fmt: skip


class ProjectedGradient(Solver):
    """Minimise a smooth dual of a loss with pieces, without a basis, by projected gradients."""

    name, requires, needs_loss = "projected_gradient", ("dot", "tile"), ("pieces",)

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        problem, dual = job.problem, job.problem.dual
        gram = job.gram if problem.rows is None else job.gram.take(problem.rows)
        gram = gram.in_precision("float64")
        curved = [float(np.max(a)) for a in (dual.curv_left, dual.curv_right) if a is not None]
        step = 1.0 / (float(np.linalg.norm(gram.tile(), 2)) + max(curved, default=0.0))
        beta, n_iter = dual.feasible(job.start), 0
        with run.until_stopped():
            while run.stop(n_iter, *self.measures(problem, beta, gram.dot(beta))) is None:
                gradient = gram.dot(beta) + dual.slopes(beta)[0]
                beta = np.clip(beta - step * gradient, dual.lower, dual.upper)
                n_iter += 1
        values = gram.dot(beta)
        known = self.measures(problem, beta, values)
        none = np.zeros(0), np.zeros((0, 2))
        status = run.status or "iteration_limit"
        return Solution(beta, values, *none, status, known[0], relative_gap=known[1], n_iter=n_iter)

    def measures(self, problem: Problem, beta: Any, values: Any) -> tuple[float, float]:
        dual, half = problem.dual, 0.5 * float(beta @ values)
        slope = values + dual.slopes(beta)[0]
        low, high = slope[beta > dual.lower], -slope[beta < dual.upper]
        violation = max(low.max(initial=0.0), high.max(initial=0.0))
        return float(violation), relative_gap(problem, half, half, values, beta)


class LogCosh(Loss):
    """l(y, f) = log cosh(y - f): squared for small deviations, absolute for large ones."""

    def value(self, y: Any, f: Any) -> Any:
        r = np.abs(np.asarray(y) - f)
        return r + np.log1p(np.expm1(-2.0 * r) / 2.0)  # which is r^2 / 2 at 0, without overflow

    def slope(self, y: Any, f: Any) -> Any:
        return np.tanh(np.asarray(f) - y)

    def conjugate(self, y: Any, beta: Any, c: Any = 1.0) -> Any:
        t = over(np.asarray(beta, dtype=float), np.asarray(c, dtype=float))
        inside = np.abs(t) <= 1.0
        t = np.where(inside, t, 0.0)
        entropy = 0.5 * (xlogy(1.0 + t, 1.0 + t) + xlogy(1.0 - t, 1.0 - t))
        return np.where(inside, c * entropy - y * np.asarray(beta), np.inf)


class Logistic(Loss):
    """l(y, f) = log(1 + exp(-y f)); its conjugate is an entropy, which has no pieces."""

    def value(self, y: Any, f: Any) -> Any:
        return np.logaddexp(0.0, -np.asarray(y) * f)

    def conjugate(self, y: Any, beta: Any, c: Any = 1.0) -> Any:
        t = np.asarray(y) * beta / c
        inside = (t >= 0.0) & (t <= 1.0)
        t = np.clip(t, 0.0, 1.0)
        return np.where(inside, c * (xlogy(t, t) + xlogy(1.0 - t, 1.0 - t)), np.inf)

    entropy = conjugate

    def dual_slopes(self, y: Any, beta: Any, c: Any) -> tuple[Any, Any]:
        t = np.asarray(y) * beta / c
        slope = y * np.log(t / (1.0 - t))
        return slope, slope


class Newton(Solver):
    """Minimise over f = K beta + b by Newton's method on the values, for the logistic loss."""

    name, requires, needs_loss = "newton", ("tile",), ("entropy",)
    bases = ("none", "bias", "groups", "functions")

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        p, gram = job.problem, job.gram
        K, B = gram.tile(), p.columns
        n, k = B.shape
        beta, b = np.zeros(n), np.zeros(k)
        for n_iter in range(50):  # noqa: B007
            f = K @ beta + B @ b
            s = expit(p.y * f)
            w, g = p.c * s * (1.0 - s), p.c * p.y * (1.0 - s)
            top = np.hstack([K + np.diag(1.0 / w), B])
            system = np.vstack([top, np.hstack([B.T, np.zeros((k, k))])])
            solved = np.linalg.solve(system, np.concatenate([f + g / w, np.zeros(k)]))
            change = np.abs(solved[:n] - beta).max()
            beta, b = solved[:n], solved[n:]
            if change < 1e-13:
                break
        return found(beta, gram, -b, n_iter)


@pytest.mark.parametrize(
    "problem",
    [
        Problem(Hinge(), Y, np.full(60, 2.0)),
        Problem(Hinge(), Y[20:], np.full(40, 2.0), rows=np.arange(20, 60)),  # a pair of classes
        Problem(SquaredHinge(), Y, np.full(60, 0.01)),  # curvatures beyond the kernel matrix
    ],
)
def test_a_projected_gradient_solver_finds_what_decomposition_finds(problem: Any) -> None:
    gram = Gram(RBF(0.5), X, "float64")
    mine = solve(problem, gram, Settings(tol=1e-4), solver=ProjectedGradient())
    theirs = solve(problem, gram, Settings(tol=1e-10))
    np.testing.assert_allclose(mine.values, theirs.values, atol=1e-3)
    proof = certificate(problem, gram, mine)
    assert proof.status == "optimal"
    assert 0.0 <= proof.gap < 1e-3
    assert proof.kkt_violation < 1e-3


def test_a_solver_of_a_stranger_gets_what_every_solver_gets() -> None:
    """Limits, reports, Ctrl-C, a start and a proof; it knows of none of them."""
    gram, solver = Gram(RBF(0.5), X, "float64"), ProjectedGradient()
    problem, fine = Problem(Hinge(), Y, np.full(60, 50.0)), Settings(tol=1e-12)
    heard: list[Report] = []
    for run, status in (
        (Run(max_iter=7, listeners=[heard.append]), "iteration_limit"),
        (Run(time_limit=0.01), "time_limit"),
        (Run(listeners=[lambda report: report.iteration >= 5]), "interrupted"),
    ):
        found = solve(problem, gram, fine, solver=solver, run=run)
        assert (found.status, certificate(problem, gram, found).status) == (status, status)
    assert [report.iteration for report in heard] == list(range(8))
    assert heard[7].gap < heard[0].gap

    def press(report: Report) -> None:
        if report.iteration == 20:
            raise KeyboardInterrupt

    keyboard = Run(listeners=[press])
    kept = solve(problem, gram, fine, solver=solver, run=keyboard)
    assert (kept.status, kept.n_iter, keyboard.by_keyboard) == ("interrupted", 20, True)
    assert certificate(problem, gram, kept).relative_gap < heard[7].gap
    first = solve(problem, gram, Settings(gap_tol=1e-3), solver=solver)
    again = solve(problem, gram, Settings(gap_tol=1e-3), first.beta, solver=solver)
    assert (first.status, again.status, again.n_iter) == ("optimal", "optimal", 0)


def test_a_loss_of_a_stranger_is_minimised_and_certified() -> None:
    """It has a value, a slope and a conjugate; every solver that asks for no more takes it."""
    targets = X @ [1.0, -2.0, 0.5] + np.where(np.arange(60) % 9, 0.0, 20.0)
    r, beta = np.linspace(-8.0, 8.0, 16001), np.array([-0.9, 0.0, 0.3])
    supremum = (-beta[:, None] * (0.4 - r) - LogCosh().value(0.4, 0.4 - r)).max(axis=1)
    np.testing.assert_allclose(LogCosh().conjugate(0.4, beta), supremum, atol=1e-7)
    weights = np.r_[np.zeros(5), np.ones(55)]
    for operator in (Design(X), Gram(RBF(0.5), X, "float64")):
        for omega in (L1(0.5), L2(0.5)):
            problem = Problem(LogCosh(), targets, weights, omega=omega)
            found = solve(problem, operator, Settings(gap_tol=1e-7))
            proof = certificate(problem, operator, found)
            assert (found.status, proof.status) == ("optimal", "optimal")
            assert 0.0 <= proof.relative_gap < 2e-7
    with pytest.raises(ValueError, match=r"decomposition needs .*LogCosh has no method pieces"):
        solve(Problem(LogCosh(), targets, weights), Gram(RBF(0.5), X), Settings())


class Discount:
    """A conjugate that is not that of the value."""

    def conjugate(self, y: Any, beta: Any, c: Any = 1.0) -> Any:
        return super().conjugate(y, beta, c) - 0.1 * np.abs(beta)  # type: ignore[misc]


class TooCheap(Discount, SquaredHinge): ...


class TooCheapSquared(Discount, Squared): ...


def test_a_loss_whose_conjugate_is_too_small_is_refused() -> None:
    """Its dual value would exceed the primal value: a gap below 0, which proves nothing."""
    gram = Gram(RBF(0.5), X, "float64")
    problem = Problem(TooCheap(), Y, np.full(60, 2.0), basis=BIAS)
    solution = solve(problem, gram, Settings(tol=1e-6))
    with pytest.raises(ValueError, match="value and conjugate of TooCheap do not belong together"):
        certificate(problem, gram, solution)
    machine = type("Wrong", (SVC,), {"_loss": lambda self, extra=None: TooCheap()})
    with pytest.raises(ValueError, match="value and conjugate of TooCheap do not belong together"):
        machine(C=2.0, kernel=RBF(0.5), tol=1e-6, dtype="float32").fit(X, Y)
    K = gram.tile()
    w = np.linalg.solve(3.0 * np.eye(60) + 2.0 * K @ K, 2.0 * K @ Y)
    penalised = Problem(TooCheapSquared(), Y, np.ones(60), omega=L2(3.0))
    with pytest.raises(ValueError, match="of TooCheapSquared and of L2 do not belong together"):
        certificate(penalised, gram, replace(found(2.0 * (Y - K @ w), gram, [], 0), coef=w))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"c": 5.0}, r"c must have one entry for each of the 60 targets, .*; got 5.0"),
        ({"c": np.ones(59)}, r"shape \(60,\); got shape \(59,\)"),
        ({"c": -np.ones(60)}, "must be >= 0"),
        ({"y": np.full(60, np.nan)}, "must be finite"),
        ({"rows": np.arange(60) - 1}, "integers from 0 on"),
        ({"rows": np.arange(60.0)}, "integers from 0 on"),
        ({"sign": BIAS}, "1 or -1"),
        ({"basis": BIAS + 1}, r"numbered 0, 1, ...; got \[1\]. An intercept"),
        ({"basis": BIAS - 1}, r"numbered 0, 1, ...; got \[-1\]. An intercept"),
        ({"basis": np.zeros(60)}, "none 0 everywhere"),
        ({"basis": 0}, r"int64 of shape \(\). An intercept is .*np.zeros\(60, dtype=int\)"),
        ({"basis": BIAS, "totals": np.zeros(2)}, r"of the basis, 1; got shape \(2,\)"),
        ({"totals": np.ones(1)}, "of the basis, 0"),
    ],
)
def test_a_problem_says_which_of_its_arrays_is_wrong(changes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Problem(**{"loss": Hinge(), "y": Y, "c": np.ones(60)} | changes)


def test_a_problem_is_that_of_its_numbers_whatever_holds_them() -> None:
    gram = Gram(RBF(0.5), X, "float64")
    lists = Problem(Hinge(), Y.tolist(), [2] * 60, basis=[0] * 60)  # type: ignore[arg-type]
    arrays = Problem(Hinge(), Y, np.full(60, 2.0), basis=BIAS)
    assert_equal(*(solve(p, gram, Settings()).beta for p in (lists, arrays)))
    with pytest.raises(ValueError, match="60 variables and the matrix 30 objects"):
        solve(arrays, gram.take(np.arange(30)), Settings())
    constant = replace(arrays, basis=np.ones((60, 1)))
    with pytest.raises(ValueError, match=r"integers such as np.zeros\(60, dtype=int\); got float"):
        certificate(constant, gram, solve(arrays, gram, Settings()))


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("basis", [None, BIAS])
def test_a_logistic_machine_is_certified_by_value_and_conjugate_alone(
    basis: Any, registered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    gram, newton = Gram(RBF(0.5), X, "float64"), Newton()
    problem = Problem(Logistic(), Y, np.full(60, 2.0), basis=basis)
    if registered:
        monkeypatch.setattr(ladder, "SOLVERS", (*ladder.SOLVERS, newton))
    solution = solve(problem, gram, Settings(), solver="auto" if registered else newton)
    proof = certificate(problem, gram, solution)
    assert abs(proof.gap) < 1e-9
    assert proof.kkt_violation < 1e-9
    worse = solution.beta * 0.9
    poor = certificate(problem, gram, found(worse, gram, solution.multiplier, 0))
    assert poor.dual <= proof.primal <= poor.primal
    assert poor.gap > 1e-3
    assert poor.status == "iteration_limit"  # whatever the solver said


@pytest.mark.parametrize(
    "machine",
    [
        SVC(C=2.0),
        SVC(C=np.inf),
        SVR(C=2.0, epsilon=0.2, fit_intercept=False),
        SVR(C=np.inf, epsilon=0.5),
        NuSVC(nu=0.3),
        NuSVC(nu=0.3, fit_intercept=False),
        NuSVR(nu=0.3, C=2.0),
        NuSVR(nu=0.9, C=0.01, fit_intercept=False),
        OneClassSVM(nu=0.2),
    ],
    ids=repr,
)
def test_a_machine_is_its_problem_and_one_prover_certifies_them_all(machine: Any) -> None:
    fitted = machine.set_params(kernel=RBF(2.0), tol=1e-8).fit(X, Y).certificate_
    gram, problem = Gram(RBF(2.0), X, "float64"), machine._problem(Y, np.ones(60))
    proof = certificate(problem, gram, solve(problem, gram, Settings(tol=1e-8)))
    assert proof.status == fitted.status == "optimal"
    assert proof.gap < 1e-5 * abs(proof.primal)
    assert proof.dual <= fitted.primal
    assert fitted.dual <= proof.primal


class ProximalGradient(Solver):
    """Minimise lam |w|_1 + sum_j c_j l(y_j, (A w)_j) of a smooth loss by proximal gradients."""

    name, requires, needs_loss, omegas = "proximal_gradient", ("tile",), ("slope",), (L1,)

    def solve(self, job: Job, settings: Settings, run: Run) -> Solution:
        p, gram = job.problem, job.gram
        A, w, u = gram.tile(), np.zeros(gram.n), np.zeros(gram.n)
        step = 1.0 / (2.0 * p.c.max() * np.linalg.norm(A, 2) ** 2)
        for n_iter in range(3000):  # with the momentum of Nesterov
            moved = u - step * (A @ (p.c * p.loss.slope(p.y, A @ u)))
            before, w = w, np.sign(moved) * np.maximum(np.abs(moved) - step * p.omega.lam, 0.0)
            u = w + n_iter / (n_iter + 3.0) * (w - before)
        solution = found(-p.c * p.loss.slope(p.y, A @ w), gram, [], n_iter)
        solution.coef = w
        return solution


@pytest.mark.parametrize("kernel", [RBF(0.5), Sigmoid(0.5)])  # a design need not be definite
def test_a_penalty_on_coefficients_is_certified_by_value_and_conjugate(kernel: Any) -> None:
    gram, problem = Gram(kernel, X, "float64"), Problem(Squared(), Y, np.ones(60), omega=L1(2.0))
    solution = solve(problem, gram, Settings(), solver=ProximalGradient())
    proof = certificate(problem, gram, solution)
    assert 0.0 <= proof.relative_gap < 1e-4
    assert 0 < np.count_nonzero(solution.coef) < 40
    solution.coef = 0.9 * solution.coef
    poor = certificate(problem, gram, solution)
    assert poor.dual <= proof.primal < poor.primal
    assert poor.status == "iteration_limit"
    with pytest.raises(ValueError, match="the norm of a function, not a penalty on coefficients"):
        choose(problem, "decomposition")
    assert choose(problem).name == "fista"


def test_other_penalties_have_closed_forms_to_compare_with() -> None:
    K = Gram(RBF(0.5), X, "float64").tile()
    for omega, M in ((L2(3.0), 3.0 * np.eye(60)), (Quadratic(K + np.eye(60)), K + np.eye(60))):
        w = np.linalg.solve(M + 2.0 * K @ K, 2.0 * K @ Y)  # of squared losses, c = 1
        solution = found(2.0 * (Y - K @ w), Gram(RBF(0.5), X, "float64"), [], 0)
        solution.coef = w
        problem = Problem(Squared(), Y, np.ones(60), omega=omega)
        proof = certificate(problem, Gram(RBF(0.5), X, "float64"), solution)
        assert 0.0 <= proof.relative_gap < 1e-11
        assert proof.primal - proof.rounding <= 0.5 * w @ M @ w + np.sum((Y - K @ w) ** 2)
        assert proof.kkt_violation < 1e-10


def test_a_penalty_that_no_multiple_of_the_dual_point_meets_has_the_dual_value_of_zero() -> None:
    """lam / max |A'beta| underflows to 0: then beta = 0 is the dual point."""
    gram = Gram(Linear(), np.array([[1e150], [-1e150]]), "float64")
    problem = Problem(Squared(), np.array([1.0, -1.0]), np.ones(2), omega=L1(1e-200))
    solution = found(np.array([2.0, -2.0]), gram, [], 0)
    solution.coef = np.zeros(2)
    proof = certificate(problem, gram, solution)
    assert (proof.dual, proof.status) == (pytest.approx(0.0, abs=1e-300), "iteration_limit")
    assert proof.primal == pytest.approx(2.0)
    assert proof.kkt_violation == pytest.approx(4e300)


def test_the_conjugate_of_a_badly_conditioned_penalty_includes_its_rounding() -> None:
    """Eigenvalues from 1 to 1e-12, against v' M^-1 v / 2 in rationals."""
    r = np.random.default_rng(0)
    for _ in range(12):
        Q = np.linalg.qr(r.normal(size=(5, 5)))[0]
        M, v = (Q * 10.0 ** -np.linspace(0.0, 12.0, 5)) @ Q.T, r.normal(size=5)
        M = 0.5 * (M + M.T)
        exact = exact_solution(M, v).dot(np.vectorize(Fraction)(v)) / 2
        assert exact <= Fraction(Quadratic(M).conjugate(v)) <= exact * Fraction(1.01)


def exact_solution(M: Any, v: Any) -> Any:
    """Return M^-1 v by elimination in rationals."""
    system = np.vectorize(Fraction)(np.concatenate([M, v[:, None]], axis=1))
    for k in range(len(v)):
        system[k] = system[k] / system[k, k]
        for i in set(range(len(v))) - {k}:
            system[i] = system[i] - system[i, k] * system[k]
    return system[:, -1]


def test_signs_belong_to_the_objects_of_a_proof_too() -> None:
    """beta_j and sign_j: the same machine as sign_j beta_j without signs."""
    gram, sign = Gram(RBF(0.5), X, "float64"), np.where(Y > 0, 1.0, -1.0)
    plain = Problem(Hinge(), Y, np.full(60, 2.0))
    signed = Problem(Hinge(), np.ones(60), np.full(60, 2.0), sign=sign)
    proofs = [certificate(p, gram, solve(p, gram, Settings(tol=1e-9))) for p in (plain, signed)]
    assert [p.status for p in proofs] == ["optimal"] * 2
    assert proofs[0].primal == pytest.approx(proofs[1].primal, rel=1e-9)
    with pytest.raises(ValueError, match="takes no signs"):
        certificate(replace(signed, omega=L1()), gram, replace(found(Y, gram, [], 0), coef=Y))


def test_a_conditionally_definite_kernel_needs_the_sums_that_make_it_definite() -> None:
    gram, sign = Gram(Multiquadric(1.0), X, "float64"), np.where(Y > 0, 1.0, -1.0)
    signed = Problem(Hinge(), np.ones(60), np.full(60, 2.0), basis=BIAS, sign=sign)
    with pytest.raises(ValueError, match="a problem with signs does not ensure"):
        solve(signed, gram, Settings())
    without = Problem(Hinge(), Y, np.full(60, 2.0))
    for problem, matrix in ((without, gram), (replace(without, basis=BIAS), Gram(ThinPlate(), X))):
        with pytest.raises(ValueError, match="no duality gap"):
            certificate(problem, matrix.in_precision("float64"), found(0.0 * Y, gram, [], 0))
    # Coefficients that miss their sum by rounding have no norm: the proof is taken next to them.
    problem = replace(without, basis=BIAS)
    solution = solve(problem, gram, Settings(tol=1e-9))
    solution.beta[0] += 1e-9
    assert certificate(problem, gram, solution).rounding > 1e-10


def test_a_certificate_says_what_it_assumes() -> None:
    problem = Problem(Hinge(), Y, np.full(60, 2.0))
    for kernel, known in ((RBF(0.5), "theorem"), (FromFunction(RBF(0.5)), "not ruled out")):
        gram = Gram(kernel, X, "float64")
        proof = certificate(problem, gram, solve(problem, gram, Settings(tol=1e-9)))
        assert (proof.status, proof.convexity) == ("optimal", known)
    with pytest.raises(ValueError, match="double precision"):
        certificate(problem, Gram(RBF(0.5), X, "float32"), found(0.0 * Y, gram, [], 0))


def test_a_pair_that_does_not_fit_is_refused_with_a_sentence() -> None:
    with pytest.raises(
        ValueError, match=r"^decomposition needs .*Logistic has no method pieces"
    ) as e:
        choose(Problem(Logistic(), Y, np.ones(60)))
    assert "hard constraints" not in str(e.value)
    for changes, message in (
        ({"basis": BIAS}, "takes no basis, not one constant"),
        ({"omega": L1(0.1)}, r"not a penalty on coefficients \(L1\)"),
        ({"loss": Logistic()}, "needs a loss whose conjugate is piecewise quadratic; Logistic"),
        ({"loss": EpsilonInsensitive(0.1)}, "without a kink"),
        ({"c": np.full(60, np.inf)}, r"takes finite weights c, not infinite .*constraints"),
        ({"c": np.r_[np.ones(59), np.inf]}, "takes finite weights c, not some infinite"),
    ):
        with pytest.raises(ValueError, match=message):
            choose(replace(Problem(Hinge(), Y, np.ones(60)), **changes), ProjectedGradient())
    with pytest.raises(ValueError, match="solver must be 'auto' or one of 'decomposition'"):
        choose(Problem(Hinge(), Y, np.ones(60)), "magic")


@pytest.mark.parametrize("solver", ladder.SOLVERS, ids=lambda s: f"{type(s).__name__}:{s.name}")
@pytest.mark.parametrize(
    "loss", [Hinge(), EpsilonInsensitive(0.1), Squared()], ids=lambda loss: type(loss).__name__
)
@pytest.mark.parametrize("c", [2.0, np.inf])
def test_no_solver_drops_a_penalty_on_coefficients(solver: Solver, loss: Any, c: float) -> None:
    """What a solver does not declare it refuses, with its name; or it is not for such problems."""
    problem = Problem(loss, Y, np.full(60, c), omega=L1(0.5))
    refusal = solver.takes(problem)
    if L1 not in solver.omegas:
        assert refusal is not None
        assert refusal == "" or refusal.startswith(f"{solver.name} takes the norm of a function")
    with pytest.raises(ValueError, match=r"penalty on coefficients|infinite weights|needs a loss"):
        solve(problem, Gram(RBF(0.5), X, "float64"), Settings(), solver="decomposition")


@pytest.mark.parametrize("solver", ladder.SOLVERS, ids=lambda s: f"{type(s).__name__}:{s.name}")
def test_an_operator_must_have_what_a_solver_requires(solver: Solver) -> None:
    """Every registered solver declares what it asks of its operator, and it is looked at."""
    problems = [
        Problem(loss, Y, np.full(60, c), basis=basis, omega=omega)
        for loss in (Hinge(), EpsilonInsensitive(0.1))
        for c in (2.0, np.inf)
        for omega in (None, L1(0.5), L2(0.5))
        for basis in (None, BIAS)
    ]
    taken = [p for p in problems if solver.takes(p) is None]
    assert solver.requires
    for problem in taken:
        assert re.search("needs .*, which object does not have", solver.takes(problem, object()))  # type: ignore[arg-type]
    assert taken or Problem not in solver.kinds


def test_one_batch_serves_two_widths_and_three_folds() -> None:
    whole = Gram(RBF(0.5), X, "float64", cache_size=10)
    folds = [np.flatnonzero(np.arange(60) % 3 != k) for k in range(3)]
    jobs = [
        Job(Problem(Hinge(), Y[rows], np.full(40, 2.0), rows, BIAS[rows]), gram)
        for gram in (whole, whole.with_kernel(RBF(2.0)))
        for rows in folds
    ]
    for job, solution in zip(jobs, solve_jobs(jobs, Settings(tol=1e-9)), strict=True):
        rows, kernel = job.problem.rows, job.gram.kernel
        model = SVC(C=2.0, kernel=kernel, tol=1e-9).fit(X[rows], Y[rows])
        np.testing.assert_allclose(
            solution.values - solution.multiplier[0], model.decision_function(X[rows]), atol=1e-7
        )
        assert certificate(job.problem, job.gram, solution).relative_gap < 1e-7
