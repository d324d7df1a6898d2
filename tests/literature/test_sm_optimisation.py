"""Smola's thesis, chapter 4: optimality, gaps, stopping rules and warm starts.

The chapter's primal is the problem in the multipliers, so its "primal objective" is minus the
dual value of a certificate and the other way round.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, Certificate, NuSVR, OneClassSVM
from mercer.data import noisy_sinc
from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Sigmoid
from mercer.losses import EpsilonInsensitive, Hinge
from mercer.run import Report, Run
from mercer.solvers import DualProblem, Settings, solve
from mercer.solvers.certificate import significant_figures
from mercer.solvers.prove.primal_dual import Values, loss_values

Array = NDArray[np.float64]

TIGHT: dict[str, Any] = {"tol": 1e-10}
KERNEL = RBF(0.5)


def overlapping(n: int = 80, seed: int = 0) -> tuple[Array, Array]:
    """Two Gaussians that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + 0.7 * y[:, None], y


def unfinished(model: Any, X: Array, y: Array) -> Any:
    """Fit without complaining about an early stop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def one_machine(loss: Any, y: Array, c: Array, beta: Array, K: Array, b: float) -> Values:
    f0 = K @ beta
    return loss_values(loss, y, c, beta, f0, f0 + b, np.zeros(1, dtype=np.intp))[0]


def group(n: int) -> NDArray[np.int64]:
    return np.zeros(n, dtype=np.int64)


def classification(y: Array, C: float) -> DualProblem:
    return DualProblem(*Hinge().pieces(y, np.full(len(y), C)), group=group(len(y)))


def regression(y: Array, C: float, eps: float) -> DualProblem:
    return DualProblem(*EpsilonInsensitive(eps).pieces(y, np.full(len(y), C)), group=group(len(y)))


# ------------------------------------------------------------------ uniqueness


@pytest.mark.spec("SM-4.01")
def test_only_the_value_is_unique_where_the_kernel_matrix_is_singular() -> None:
    X, y = overlapping(30)
    X, y = np.vstack([X, X]), np.concatenate([y, y])  # every multiplier can be shared by two rows
    gram = Gram(KERNEL, X)
    problem = classification(y, 1.0)
    first = solve(problem, gram, Settings(tol=1e-9))
    shared = np.tile((first.beta[:30] + first.beta[30:]) / 2, 2)
    again = solve(problem, gram, Settings(tol=1e-9), start=shared)
    assert np.abs(again.beta - first.beta).max() > 0.1
    assert again.objective == pytest.approx(first.objective, rel=1e-12)
    assert again.values == pytest.approx(first.values, abs=1e-8)


@pytest.mark.spec("SM-4.01")
def test_rows_in_another_order_give_the_same_function() -> None:
    X, y = overlapping(300)
    order = np.random.default_rng(0).permutation(300)
    first = SVC(kernel=KERNEL, tol=1e-8).fit(X, y)
    second = SVC(kernel=KERNEL, tol=1e-8).fit(X[order], y[order])
    assert second.decision_function(X) == pytest.approx(first.decision_function(X), abs=1e-7)
    assert second.alpha_ == pytest.approx(first.alpha_[order], abs=1e-6)  # K is definite


@pytest.mark.spec("SM-4.01")
def test_an_early_stop_knows_how_far_away_it_is() -> None:
    X, y = overlapping(300)
    best = SVC(kernel=KERNEL, C=10, **TIGHT).fit(X, y).certificate_.primal
    for steps in (50, 200, 500):
        proof = unfinished(SVC(kernel=KERNEL, C=10, max_iter=steps), X, y).certificate_
        assert proof.status == "iteration_limit"
        assert 0 < proof.primal - best <= proof.gap
        assert 0 < best - proof.dual <= proof.gap


@pytest.mark.spec("SM-4.01")
def test_without_convexity_no_gap_is_claimed() -> None:
    X, y = overlapping(60)
    kernel = Sigmoid(gamma=1.0, coef0=-1.0)
    assert np.linalg.eigvalsh(kernel(X)).min() < -0.1
    proof = SVC(kernel=kernel, C=10).fit(X, y).certificate_
    assert proof.status == "stationary"
    assert np.isnan([proof.primal, proof.dual, proof.gap, proof.relative_gap]).all()
    assert proof.kkt_violation <= 1e-3


# ------------------------------------------------------------------ the gap


@pytest.mark.spec("SM-4.02")
def test_classifier_with_slack_is_a_saddle_point() -> None:
    X, y = overlapping(40)
    C = 0.7
    model = SVC(kernel="linear", C=C, **TIGHT).fit(X, y)
    w, b, xi, alpha = model.coef_[0], model.intercept_[0], model.slack_, model.alpha_
    mu = C - alpha

    def lagrangian(w: Array, b: float, xi: Array, alpha: Array, mu: Array) -> float:
        constraints = y * (X @ w + b) - 1 + xi
        return float(0.5 * w @ w + C * xi.sum() - alpha @ constraints - mu @ xi)

    centre = lagrangian(w, b, xi, alpha, mu)
    assert centre == pytest.approx(model.certificate_.primal)
    assert centre == pytest.approx(model.certificate_.dual)
    rng = np.random.default_rng(1)
    for _ in range(100):
        s, t = rng.normal(size=3), rng.normal(size=40)
        assert lagrangian(w + s[:2], b + s[2], xi + t, alpha, mu) >= centre - 1e-9
        other = [np.maximum(0, m + rng.normal(size=40)) for m in (alpha, mu)]
        assert lagrangian(w, b, xi, *other) <= centre + 1e-9


@pytest.mark.spec("SM-4.03")
@pytest.mark.parametrize("machine", ["svc", "svr", "nu-svr", "one-class"])
def test_the_gap_is_a_certificate_at_every_feasible_point(machine: str) -> None:
    X, t = noisy_sinc(80, random_state=0)
    y = np.sign(t - 0.2) if machine == "svc" else t
    make = {
        "svc": lambda **k: SVC(kernel=KERNEL, C=5, **k),
        "svr": lambda **k: SVR(kernel=KERNEL, C=5, epsilon=0.05, **k),
        "nu-svr": lambda **k: NuSVR(kernel=KERNEL, C=5, nu=0.4, **k),
        "one-class": lambda **k: OneClassSVM(kernel=KERNEL, nu=0.4, **k),
    }[machine]
    best = make(tol=1e-7).fit(X, y).certificate_
    assert best.gap == pytest.approx(0, abs=1e-6)
    gaps = []
    for steps in (3, 30, 300, 3000):
        proof = unfinished(make(max_iter=steps, tol=1e-10), X, y).certificate_
        assert proof.gap == pytest.approx(proof.primal - proof.dual)
        assert proof.primal >= best.primal - 1e-6
        assert proof.dual <= best.dual + 1e-6
        gaps.append(proof.gap)
    assert min(gaps) > -1e-9
    assert gaps[0] > 10 * max(gaps[-1], 0)


@pytest.mark.spec("SM-4.04", "SM-4.12", "SM-4.13")
@pytest.mark.parametrize("seed", range(3))
def test_gap_of_classification_is_the_sum_of_the_violations(seed: int) -> None:
    X, y = overlapping(50, seed)
    K = KERNEL(X)
    rng = np.random.default_rng(seed)
    C = rng.uniform(0.5, 2.0, 50)  # one for every pattern
    alpha = rng.uniform(0, 0.2, 50)
    alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()
    alpha = np.minimum(alpha, C)
    assert alpha @ y == pytest.approx(0, abs=1e-12)
    for b in (-1.3, 0.0, 0.4):  # any bias
        values = one_machine(Hinge(), y, C, y * alpha, K, b)
        margin = y * (K @ (y * alpha) + b) - 1
        zeta = np.maximum(0, margin) * alpha - np.minimum(0, margin) * (C - alpha)
        assert zeta.min() >= 0
        gap = values.primal - values.dual
        assert zeta.sum() == pytest.approx(gap, rel=1e-12)
        # Complementarity: constraint times multiplier, for both constraints of every pattern.
        slack = np.maximum(0, -margin)
        products = (margin + slack) * alpha + slack * (C - alpha)
        assert values.dual == pytest.approx(values.primal - products.sum(), rel=1e-12)
        assert gap > 0.1


@pytest.mark.spec("SM-4.04", "SM-4.12", "SM-4.14")
@pytest.mark.parametrize("seed", range(3))
def test_gap_of_regression_is_the_sum_of_the_violations(seed: int) -> None:
    X, y = noisy_sinc(50, random_state=seed)
    K = KERNEL(X)
    rng = np.random.default_rng(seed)
    C = rng.uniform(0.5, 2.0, 50)
    above, below = rng.uniform(0, 0.3, (2, 50))  # asymmetric tubes, one for every pattern
    beta = rng.uniform(-0.2, 0.2, 50)
    beta -= beta.mean()
    a, a_star = np.maximum(beta, 0), np.maximum(-beta, 0)
    loss = EpsilonInsensitive(np.column_stack([below, above]))
    for b in (-0.5, 0.0, 0.7):
        values = one_machine(loss, y, C, beta, K, b)
        f = K @ beta + b
        # alpha belongs to y - f <= above + xi, alpha* to f - y <= below + xi*.
        over, under = f - (y + below), (y - above) - f
        zeta = (
            np.maximum(0, over) * (C - a_star)
            - np.minimum(0, over) * a_star
            + np.maximum(0, under) * (C - a)
            - np.minimum(0, under) * a
        )
        assert zeta.min() >= 0
        assert zeta.sum() == pytest.approx(values.primal - values.dual, rel=1e-11)
        misprint = (
            np.maximum(0, over) * (C - a_star)
            - np.minimum(0, over) * a_star
            + np.minimum(0, under) * (C - a)
            - np.maximum(0, under) * a
        )
        assert abs(misprint.sum() - zeta.sum()) > 0.1


@pytest.mark.spec("SM-4.13", "SM-4.14")
def test_certificates_are_these_gaps() -> None:
    X, y = overlapping(60)
    model = unfinished(SVC(kernel=KERNEL, C=2.0, max_iter=15), X, y)
    margin = y * model.decision_function(X) - 1
    alpha = model.alpha_
    gap = (np.maximum(0, margin) * alpha - np.minimum(0, margin) * (2.0 - alpha)).sum()
    assert model.certificate_.gap == pytest.approx(gap)
    assert model.certificate_.gap > 0.1
    X, y = noisy_sinc(60, random_state=0)
    tube = unfinished(SVR(kernel=KERNEL, C=2.0, epsilon=0.1, max_iter=15), X, y)
    beta = np.zeros(60)
    beta[tube.support_] = tube.dual_coef_[0]
    a, a_star, f = np.maximum(beta, 0), np.maximum(-beta, 0), tube.predict(X)
    over, under = f - (y + 0.1), (y - 0.1) - f
    gap = (
        np.maximum(0, over) * (2.0 - a_star)
        - np.minimum(0, over) * a_star
        + np.maximum(0, under) * (2.0 - a)
        - np.minimum(0, under) * a
    ).sum()
    assert tube.certificate_.gap == pytest.approx(gap)
    assert tube.certificate_.gap > 0.1


@pytest.mark.spec("SM-4.12")
def test_the_solver_measures_the_same_gap_as_the_certificate() -> None:
    X, y = overlapping(60)
    C, b = 2.0, None
    gram = Gram(KERNEL, X)
    solution = solve(classification(y, C), gram, Settings(tol=1e-10), run=Run(max_iter=15))
    b = -solution.multiplier[0]
    values = one_machine(Hinge(), y, np.full(60, C), solution.beta, gram.tile(), b)
    assert solution.relative_gap == pytest.approx(values.relative_gap, rel=1e-10)
    assert solution.relative_gap > 0.01


# ------------------------------------------------------------------ stopping


@pytest.mark.spec("SM-4.15")
@pytest.mark.parametrize("gap_tol", [1e-1, 1e-2, 1e-4])
@pytest.mark.parametrize("n", [150, 2300])
def test_stopping_by_the_relative_gap_bounds_the_true_distance(gap_tol: float, n: int) -> None:
    X, y = overlapping(n)
    tight = 1e-8 if n < 1000 else 1e-4
    best = SVC(kernel=KERNEL, C=5, tol=tight, dtype="float64").fit(X, y).certificate_
    # The violation must not stop it first.
    model = SVC(kernel=KERNEL, C=5, tol=1e-12, gap_tol=gap_tol, dtype="float64").fit(X, y)
    proof = model.certificate_
    assert proof.status == "optimal"
    assert proof.relative_gap <= gap_tol
    # The text divides by |P| + 1; ours divides by P alone, which is no weaker.
    assert proof.gap / (abs(proof.primal) + 1) <= gap_tol
    assert proof.primal - best.dual <= gap_tol * (abs(proof.primal) + 1)
    assert best.primal - proof.dual <= gap_tol * (abs(proof.primal) + 1)
    if gap_tol == 1e-1:  # and it did stop early
        assert proof.kkt_violation > 1e-2


@pytest.mark.spec("SM-4.16")
def test_three_significant_figures_are_a_gap_of_a_thousandth() -> None:
    for gap, figures in ((1e-3, 3.0), (1e-7, 7.0), (1.0, 0.0), (1e2, -2.0)):
        proof = Certificate("optimal", 4.0, 4.0 - 4 * gap, 4 * gap, gap, 1e-3)
        assert significant_figures(proof) == pytest.approx(figures)
    exact = Certificate("optimal", 4.0, 4.0, 0.0, 0.0, 0.0)
    assert significant_figures(exact) == np.inf
    none = Certificate("stationary", np.nan, np.nan, np.nan, np.nan, 1e-4)
    assert np.isnan(significant_figures(none))


@pytest.mark.spec("SM-4.16")
def test_more_steps_more_figures() -> None:
    X, y = overlapping(200)
    figures = [
        significant_figures(
            unfinished(SVC(kernel=KERNEL, C=5, max_iter=steps, tol=1e-9), X, y).certificate_
        )
        for steps in (20, 200, 600, 20_000)
    ]
    assert figures == sorted(figures)
    assert figures[0] < 1
    assert figures[-1] > 7


@pytest.mark.spec("SM-4.17")
def test_the_optimum_lies_between_the_best_bounds_seen() -> None:
    X, y = overlapping(2500)
    problem, gram = classification(y, 5.0), Gram(KERNEL, X, "float64")
    reports: list[tuple[float, float]] = []

    def watch(report: Report) -> None:
        reports.append((report.objective, report.gap))

    settings = Settings(tol=1e-4, shrinking=False, working_set=64)
    final = solve(problem, gram, settings, run=Run(listeners=[watch]))
    assert len(reports) > 20
    objective, relative = np.array(reports).T
    # The chapter's primal falls at every step ...
    assert np.all(np.diff(objective) <= 1e-9)
    # ... its dual need not: with relative = gap / P and gap = P - D, P = D / (1 - relative).
    started = objective < 0
    dual = -objective[started]
    primal = dual / (1 - relative[started])
    best = np.minimum.accumulate(primal)
    assert np.any(primal > best + 1e-9)  # it oscillates
    # Nested intervals that always contain the optimum.
    assert np.all(np.diff(best) <= 0)
    assert np.all(np.diff(dual) >= -1e-9)
    assert np.all(dual <= -final.objective + 1e-9)
    assert np.all(best >= -final.objective - 1e-9)
    assert best[-1] - dual[-1] < 1e-2 * dual[-1]


@pytest.mark.spec("SM-4.18")
def test_quadratic_form_from_the_errors() -> None:
    X, y = noisy_sinc(60, random_state=1)
    model = SVR(kernel=KERNEL, C=2.0, epsilon=0.1, **TIGHT).fit(X, y)
    beta = np.zeros(60)
    beta[model.support_] = model.dual_coef_[0]
    error = y - model.predict(X)
    form = beta @ KERNEL(X) @ beta
    from_errors = beta @ (y - error - model.intercept_[0])
    assert from_errors == pytest.approx(form, rel=1e-12)
    assert beta @ (y - error) == pytest.approx(form, rel=1e-9)  # sum beta = 0
    assert form == pytest.approx(model.margin_**-2, rel=1e-12)
    dual = y @ beta - 0.1 * np.abs(beta).sum() - 0.5 * from_errors
    assert dual == pytest.approx(model.certificate_.dual, rel=1e-12)
    assert abs(-(beta @ (error + y - model.intercept_[0])) - form) > 1  # as it is printed


# ------------------------------------------------------------------ warm starts


@pytest.mark.spec("SM-4.10")
@pytest.mark.parametrize("ratio", [0.9, 1.1])
def test_scaled_multipliers_start_near_the_optimum_of_another_constant(ratio: float) -> None:
    X, y = noisy_sinc(2500, random_state=0)
    gram, settings = Gram(KERNEL, X, "float64"), Settings(tol=1e-3)
    old = solve(regression(y, 1.0, 0.05), gram, settings)
    problem = regression(y, ratio, 0.05)
    start = ratio * old.beta
    assert np.all((problem.lower <= start) & (start <= problem.upper))
    assert start.sum() == pytest.approx(0, abs=1e-9)
    cold, warm = solve(problem, gram, settings), solve(problem, gram, settings, start=start)
    assert warm.n_iter < 0.4 * cold.n_iter
    assert warm.n_kernel_values < cold.n_kernel_values
    assert warm.objective == pytest.approx(cold.objective, rel=1e-4)
    # The quadratic part grows with the square of the ratio, the linear part with the ratio.
    quadratic, value = old.beta @ old.values, old.objective
    linear = value - 0.5 * quadratic
    scaled = 0.5 * ratio**2 * quadratic + ratio * linear
    assert scaled >= warm.objective - 1e-9
    assert scaled < 0.5 * warm.objective < 0


@pytest.mark.spec("SM-4.10")
@pytest.mark.parametrize("C", [0.9, 1.1])
def test_warm_start_of_a_machine_across_constants(C: float) -> None:
    X, y = overlapping(2500)
    model = SVC(kernel=KERNEL, C=1.0, warm_start=True).fit(X, y)
    warm = model.set_params(C=C).fit(X, y)
    cold = SVC(kernel=KERNEL, C=C).fit(X, y)
    assert warm.n_iter_[0] < cold.n_iter_[0]
    assert warm.certificate_.status == "optimal"
    assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-4)


@pytest.mark.spec("SM-4.11")
def test_multipliers_start_near_the_optimum_of_another_width() -> None:
    X, y = noisy_sinc(2500, random_state=0)
    settings, problem = Settings(tol=1e-3), regression(y, 1.0, 0.05)
    old = solve(problem, Gram(RBF(0.5), X, "float64"), settings)
    gram = Gram(RBF(0.5 * 1.1), X, "float64")
    cold, warm = solve(problem, gram, settings), solve(problem, gram, settings, start=old.beta)
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-4)
    # K alpha is that of the new kernel, not what the old solver left.
    assert warm.values == pytest.approx(gram.tile() @ warm.beta, abs=1e-9)


@pytest.mark.spec("SM-4.11")
def test_warm_start_of_a_machine_across_widths() -> None:
    X, y = overlapping(2500)
    model = SVC(kernel="rbf", gamma=0.5, warm_start=True).fit(X, y)
    warm = model.set_params(gamma=0.52).fit(X, y)
    cold = SVC(kernel="rbf", gamma=0.52).fit(X, y)
    assert warm.n_iter_[0] < cold.n_iter_[0]
    assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-4)
    assert warm.decision_function(X[:50]) == pytest.approx(cold.decision_function(X[:50]), abs=0.02)


@pytest.mark.spec("SM-4.10", "SM-4.11")
def test_a_start_outside_the_bounds_is_refused() -> None:
    X, y = overlapping(20)
    gram = Gram(Linear(), X)
    with pytest.raises(ValueError, match="outside the bounds"):
        solve(classification(y, 1.0), gram, Settings(), start=2.0 * y)
    with pytest.raises(ValueError, match="wrong length"):
        solve(classification(y, 1.0), gram, Settings(), start=y[:5])
