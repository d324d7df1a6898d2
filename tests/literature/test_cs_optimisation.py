"""Cristianini and Shawe-Taylor: one solver, its steps, stopping rules and memory (CS-7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer import SVC, SVR
from mercer.data import xor
from mercer.gram import Gram
from mercer.kernels import RBF, Linear, Precomputed
from mercer.losses import Hinge, SquaredHinge
from mercer.run import Run
from mercer.solvers import DualProblem, Settings, Solution, solve
from mercer.solvers.prove.primal_dual import hard_margin_values, loss_values
from tests.literature.problems import (
    CLOUDS_KERNEL,
    EXACT,
    QUADRATIC,
    WAVE_KERNEL,
    clouds,
    dual_optimum,
    signed,
    three_points,
    wave,
)

NARROW = RBF(5.0)
FIRST = np.zeros(1, np.intp)  # one machine, beginning at row 0


def one_group(n: int) -> Any:
    return np.zeros(n, np.int64)


def classification(
    y: Any, C: float = np.inf, shift: float = 0.0, slope: float = 0.0
) -> DualProblem:
    """(7.1) in signed variables: 0 <= y beta <= C, diagonal shift, sum beta fixed."""
    return DualProblem(
        np.where(y > 0, 0.0, -C),
        np.where(y > 0, C, 0.0),
        -y + slope,
        curv_left=np.full(len(y), shift),
        group=one_group(len(y)),
    )


def regression(y: Any, epsilon: float, C: float = np.inf, shift: float = 0.0) -> DualProblem:
    """(7.2): |beta| <= C with epsilon |beta|, diagonal shift, sum beta fixed."""
    n = len(y)
    return DualProblem(
        np.full(n, -C),
        np.full(n, C),
        -y - epsilon,
        -y + epsilon,
        curv_left=np.full(n, shift),
        group=one_group(n),
    )


def big_clouds(n: int = 4000, seed: int = 3) -> tuple[Any, Any]:
    """More rows than a small problem has, so that blocks, caches and shrinking are used."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y


# ------------------------------------------------------------------ one problem (7.1) and (7.2)


@pytest.mark.spec("CS-7.01")
@pytest.mark.parametrize(
    ("C", "shift", "model"),
    [
        (np.inf, 0.0, SVC(C=np.inf, tol=1e-8)),
        (1.0, 0.0, SVC(C=1.0, **EXACT)),
        (
            np.inf,
            1.0,
            SVC(C=0.5, penalty_norm=2, **EXACT),
        ),  # the text's C = 1 / shift is twice ours
    ],
    ids=["hard", "one norm", "two norm"],
)
def test_the_three_classifiers_are_one_problem(C: float, shift: float, model: Any) -> None:
    X, y = clouds()
    X, y = X[12:28], y[12:28]
    found = solve(classification(y, C, shift), Gram(NARROW, X, "float64"), Settings(tol=1e-9))
    direct = dual_optimum(NARROW(X), y, C=C, shift=shift)
    assert found.beta == pytest.approx(direct, rel=1e-5, abs=1e-5)
    fitted = model.set_params(kernel=NARROW).fit(X, y)
    assert signed(fitted, 16) == pytest.approx(found.beta, abs=1e-7)
    assert fitted.intercept_[0] == pytest.approx(-found.multiplier[0], abs=1e-7)
    assert fitted.certificate_.dual == pytest.approx(-found.objective, rel=1e-9)


@pytest.mark.spec("CS-7.01")
@pytest.mark.parametrize(
    ("C", "shift", "model"),
    [
        (0.4, 0.0, SVR(C=0.4, **EXACT)),
        (np.inf, 0.2, SVR(C=2.5, loss="squared_epsilon_insensitive", **EXACT)),
    ],
    ids=["linear", "quadratic"],
)
def test_the_two_regressions_are_one_problem(C: float, shift: float, model: Any) -> None:
    X, y = wave()
    problem = regression(y, 0.1, C, shift)
    found = solve(problem, Gram(WAVE_KERNEL, X, "float64"), Settings(tol=1e-10))
    direct = dual_optimum(WAVE_KERNEL(X), y, C=C, shift=shift, epsilon=0.1)
    assert found.beta == pytest.approx(direct, abs=1e-5)
    fitted = model.set_params(kernel=WAVE_KERNEL, epsilon=0.1).fit(X, y)
    assert signed(fitted, 12) == pytest.approx(found.beta, abs=1e-8)
    assert fitted.certificate_.dual == pytest.approx(-found.objective, rel=1e-9)


# ------------------------------------------------------------------ optimality conditions


def classifier_violation(alpha: Any, margins: Any, C: float, text_C: float = np.inf) -> float:
    """The largest violation of: y f >= 1 - alpha / text_C if alpha < C, <= if alpha > 0."""
    target = 1 - alpha / text_C
    short = np.where(alpha < C, target - margins, 0.0)
    far = np.where(alpha > 0, margins - target, 0.0)
    return float(max(short.max(), far.max(), 0.0))


def regression_violation(beta: Any, r: Any, epsilon: float, C: float, text_C: float) -> float:
    """The same for r = y - f, with the edges of the tube at +-epsilon + beta / text_C."""
    above, below = r - epsilon - beta / text_C, r + epsilon - beta / text_C
    return float(
        max(
            above[(beta >= 0) & (beta < C)].max(initial=0.0),  # could rise
            -above[beta > 0].min(initial=0.0),  # could fall
            -below[(beta <= 0) & (beta > -C)].min(initial=0.0),
            below[beta < 0].max(initial=0.0),
        )
    )


@pytest.mark.spec("CS-7.02", "CS-7.05")
@pytest.mark.parametrize(
    ("model", "C", "text_C"),
    [
        (SVC(C=np.inf, kernel=NARROW), np.inf, np.inf),
        (SVC(C=2.0, penalty_norm=2, kernel=CLOUDS_KERNEL), np.inf, 4.0),
        (SVC(C=2.0, kernel=CLOUDS_KERNEL), 2.0, np.inf),
    ],
    ids=["hard", "two norm", "one norm"],
)
def test_conditions_of_the_classifiers_hold_after_a_fit(
    model: Any, C: float, text_C: float
) -> None:
    X, y = clouds()
    for tol in (1e-2, 1e-7):
        model.set_params(tol=tol).fit(X, y)
        assert classifier_violation(model.alpha_, y * model.decision_function(X), C, text_C) <= tol
        assert model.certificate_.kkt_violation <= tol


@pytest.mark.spec("CS-7.02")
@pytest.mark.parametrize(
    ("model", "C", "text_C"),
    [
        (SVR(C=1.0, loss="squared_epsilon_insensitive"), np.inf, 2.0),
        (SVR(C=0.4), 0.4, np.inf),
    ],
    ids=["quadratic", "linear"],
)
def test_conditions_of_the_regressions_hold_after_a_fit(
    model: Any, C: float, text_C: float
) -> None:
    X, y = wave()
    for tol in (1e-2, 1e-7):
        model.set_params(kernel=WAVE_KERNEL, epsilon=0.1, tol=tol).fit(X, y)
        beta, r = signed(model, 12), y - model.predict(X)
        assert regression_violation(beta, r, 0.1, C, text_C) <= tol
        assert model.certificate_.kkt_violation <= tol


@pytest.mark.spec("CS-7.05")
@pytest.mark.parametrize("norm", [1, 2])
def test_an_injected_error_shows_in_the_conditions(norm: int) -> None:
    X, y = clouds()
    C = 1.0
    model = SVC(kernel=CLOUDS_KERNEL, C=C, penalty_norm=norm, **EXACT).fit(X, y)
    assert model.certify(X, y).kkt_violation < 1e-9
    free = model.free_support_
    first, second = free[y[free] > 0][0], free[y[free] < 0][0]
    coef = model.dual_coef_.copy()
    for row in (first, second):  # both multipliers change by 0.05, so that the sum stays 0
        at = np.flatnonzero(model.support_ == row)[0]
        coef[0, at] -= np.sign(coef[0, at]) * 0.05
    model.dual_coef_ = coef
    beta = signed(model, 40)
    alpha = y * beta
    v = CLOUDS_KERNEL(X) @ beta - y + (beta / (2 * C) if norm == 2 else 0.0)
    upper = C if norm == 1 else np.inf
    may_rise = np.where(y > 0, alpha < upper, alpha > 0)
    may_fall = np.where(y > 0, alpha > 0, alpha < upper)
    by_hand = v[may_fall].max() - v[may_rise].min()
    assert by_hand > 0.02
    assert model.certify(X, y).kkt_violation == pytest.approx(by_hand, rel=1e-9)


# ------------------------------------------------------------------ starts, steps and stops


@pytest.mark.spec("CS-7.03")
def test_any_feasible_start_leads_to_the_optimum_and_the_optimum_stays() -> None:
    X, y = clouds()
    gram, problem = Gram(CLOUDS_KERNEL, X, "float64"), classification(y, 1.0)
    cold = solve(problem, gram, Settings(tol=1e-9))
    again = solve(problem, gram, Settings(tol=1e-9), start=cold.beta)
    assert again.n_iter == 0
    assert again.beta.tolist() == cold.beta.tolist()
    rng = np.random.default_rng(6)
    for _ in range(3):
        alpha = rng.uniform(0, 1, 20)
        start = np.concatenate([alpha, -rng.permutation(alpha)])
        warm = solve(problem, gram, Settings(tol=1e-9), start=start)
        assert warm.beta == pytest.approx(cold.beta, abs=1e-8)
        assert warm.objective == pytest.approx(cold.objective, abs=1e-10)


@pytest.mark.spec("CS-7.03")
def test_an_infeasible_start_is_refused() -> None:
    X, y = clouds()
    gram, problem = Gram(CLOUDS_KERNEL, X, "float64"), classification(y, 1.0)
    with pytest.raises(ValueError, match=r"start|feasible|bound"):
        solve(problem, gram, Settings(), start=1.5 * y)


@pytest.mark.spec("CS-7.03")
def test_the_objective_never_gets_worse() -> None:
    X, y = clouds()
    gram, problem = Gram(CLOUDS_KERNEL, X, "float64"), classification(y, 1.0)
    path = [
        solve(problem, gram, Settings(tol=1e-9), run=Run(max_iter=k)).objective for k in range(80)
    ]
    assert (np.diff(path) <= 1e-12).all()
    assert path[-1] < path[0]

    X, y = big_clouds()
    reports: list[float] = []
    model = SVC(kernel="rbf", gamma=0.5, C=10.0)
    model.set_callbacks(lambda report: reports.append(report.objective)).fit(X, y)
    assert len(reports) > 3
    assert (np.diff(reports) <= 0).all()
    assert reports[-1] == pytest.approx(-model.certificate_.dual, rel=1e-4)


@pytest.mark.spec("CS-7.03")
def test_a_warm_start_at_the_optimum_needs_no_step() -> None:
    X, y = clouds()
    model = SVC(kernel=CLOUDS_KERNEL, warm_start=True, **EXACT).fit(X, y)
    f = model.decision_function(X)
    assert model.n_iter_[0] > 10
    model.fit(X, y)
    assert model.n_iter_[0] == 0
    assert model.decision_function(X) == pytest.approx(f, abs=1e-12)


@pytest.mark.spec("CS-7.04")
def test_slow_growth_of_the_objective_does_not_mean_optimality() -> None:
    X, y = clouds()
    gram, problem = Gram(CLOUDS_KERNEL, X, "float64"), classification(y, 1e3)
    value, steps, beta = 0.0, 0, None
    while True:  # stop when W grows by less than the fraction 1e-9 in a step
        one = solve(problem, gram, Settings(tol=1e-3), start=beta, run=Run(max_iter=1))
        beta, steps = one.beta, steps + one.n_iter
        if (-one.objective - value) / -one.objective < 1e-9:
            break
        value = -one.objective
    by_conditions = solve(problem, gram, Settings(tol=1e-3))
    assert one.status == "iteration_limit"
    assert one.kkt_violation > 1e-3 >= by_conditions.kkt_violation
    assert steps < by_conditions.n_iter
    assert one.relative_gap > 10 * by_conditions.relative_gap
    assert one.relative_gap > 1e-4


@pytest.mark.spec("CS-7.06")
def test_gap_ratio_at_the_optimum() -> None:
    X, y = clouds()
    model = SVC(kernel=CLOUDS_KERNEL, C=1.0, **EXACT).fit(X, y)
    alpha, slack = model.alpha_, model.slack_
    W = alpha.sum() - 0.5 * (y * alpha) @ CLOUDS_KERNEL(X) @ (y * alpha)
    ratio = (alpha.sum() - 2 * W + slack.sum()) / (alpha.sum() - W + slack.sum() + 1)
    assert abs(ratio) < 4.8e-10
    assert alpha.sum() - W + slack.sum() == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert model.certificate_.gap == pytest.approx(alpha.sum() - 2 * W + slack.sum(), abs=1e-10)


@pytest.mark.spec("CS-7.06")
@pytest.mark.parametrize("gap_tol", [1e-1, 1e-3, 1e-9])
def test_stopping_by_the_gap_reaches_the_gap(gap_tol: float) -> None:
    X, y = np.random.default_rng(0).normal(size=(400, 2)), np.tile([1.0, -1.0], 200)
    X += 0.7 * y[:, None]
    model = SVC(kernel=CLOUDS_KERNEL, C=10.0, gap_tol=gap_tol).fit(X, y)
    proof = model.certify(X, y)
    assert proof.status == "optimal"
    assert proof.relative_gap <= gap_tol
    # The text divides by the primal plus 1, which is never the larger ratio.
    assert proof.gap / (proof.primal + 1) <= proof.relative_gap
    if gap_tol >= 1e-3:
        tight = SVC(kernel=CLOUDS_KERNEL, C=10.0, tol=1e-6).fit(X, y)
        assert model.n_iter_[0] < tight.n_iter_[0]


@pytest.mark.spec("CS-7.07")
def test_a_moving_box_gives_a_gap_to_machines_without_one() -> None:
    X, y = clouds()
    gram = Gram(NARROW, X, "float64")
    hard = SVC(kernel=NARROW, C=np.inf, tol=1e-8).fit(X, y)
    optimum = hard.certificate_.dual
    ratios = []
    for steps in (50, 200, 3200):
        found = solve(classification(y), gram, Settings(tol=1e-9), run=Run(max_iter=steps))
        box = np.abs(found.beta).max() + 1
        f0, f = found.values, found.values - found.multiplier[0]
        proof = loss_values(Hinge(), y, np.full(40, box), found.beta, f0, f, FIRST)[0]
        alpha, slack = y * found.beta, np.maximum(0, 1 - y * f)
        gap = alpha.sum() - 2 * proof.dual + box * slack.sum()
        assert proof.primal - proof.dual == pytest.approx(gap, abs=1e-8)
        ratios.append(gap / (proof.primal + 1))
        # Another way to a gap: scale the machine until it is feasible.
        scaled = hard_margin_values(y, found.beta, f0, f, FIRST)[0]
        assert proof.dual <= optimum * (1 + 1e-12)
        assert scaled.primal >= optimum * (1 - 1e-12)
    assert ratios[0] > 100 * ratios[1] > 100 * ratios[2]
    assert ratios[0] > 0.05
    assert ratios[-1] < 1e-9
    # Any box above the largest multiplier has the same solution.
    soft = SVC(kernel=NARROW, C=hard.alpha_.max() + 1, tol=1e-8).fit(X, y)
    assert soft.alpha_ == pytest.approx(hard.alpha_, abs=1e-6)
    assert soft.certificate_.primal == pytest.approx(optimum, rel=1e-8)


@pytest.mark.spec("CS-7.07")
def test_direct_gap_of_the_two_norm_machine() -> None:
    X, y = clouds()
    gram, C = Gram(CLOUDS_KERNEL, X, "float64"), 0.5  # the text's C is 1
    gaps = []
    for steps in (10, 40, 160, 1000):
        found = solve(
            classification(y, shift=1.0), gram, Settings(tol=1e-10), run=Run(max_iter=steps)
        )
        f = found.values - found.multiplier[0]
        proof = loss_values(SquaredHinge(), y, np.full(40, C), found.beta, found.values, f, FIRST)[
            0
        ]
        slack = np.maximum(0, 1 - y * f)
        primal = 0.5 * found.beta @ found.values + 0.5 * slack @ slack
        assert proof.primal == pytest.approx(primal, rel=1e-12)
        assert proof.dual == pytest.approx(-found.objective, rel=1e-12)
        assert proof.dual <= 12.3352628 + 1e-7 <= proof.primal + 2e-7
        gaps.append(proof.primal - proof.dual)
    assert gaps[0] > 0.1
    assert gaps[-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.spec("CS-7.08", code="src/mercer/machines/support_vector/svc.py")
def test_a_tight_tolerance_costs_steps_and_changes_hardly_a_label() -> None:
    X, y = big_clouds(1600)
    train, test = slice(0, 800), slice(800, 1600)
    kind: dict[str, Any] = {"kernel": "rbf", "gamma": 0.5, "C": 10.0, "dtype": "float32"}
    loose = SVC(tol=1e-2, **kind).fit(X[train], y[train])
    tight = SVC(tol=1e-5, **kind).fit(X[train], y[train])
    assert (loose.predict(X[test]) != tight.predict(X[test])).mean() <= 0.005
    assert tight.n_iter_[0] > 2 * loose.n_iter_[0]
    assert tight.certificate_.kkt_violation < loose.certificate_.kkt_violation <= 1e-2


@pytest.mark.spec("CS-7.09")
def test_contributions_to_the_gap_point_at_what_is_not_yet_solved() -> None:
    X, y = clouds()
    gram = Gram(CLOUDS_KERNEL, X, "float64")
    found = solve(classification(y, 1.0), gram, Settings(tol=1e-9), run=Run(max_iter=12))
    alpha, f = y * found.beta, found.values - found.multiplier[0]
    slack = np.maximum(0, 1 - y * f)
    proof = loss_values(Hinge(), y, np.ones(40), found.beta, found.values, f, FIRST)[0]
    shares = alpha * (y * found.values - 1) + slack  # the bias drops out of the sum alone
    assert shares.sum() == pytest.approx(proof.primal - proof.dual, rel=1e-12)
    with_bias = alpha * (y * f - 1) + slack
    assert with_bias.sum() == pytest.approx(proof.primal - proof.dual, rel=1e-12)
    assert (with_bias >= -1e-12).all()  # every point adds to the gap
    assert with_bias.max() > 10 * np.abs(with_bias).min()


@pytest.mark.spec("CS-7.40")
def test_pair_steps_without_an_upper_bound() -> None:
    X, y = clouds()
    K, gram = NARROW(X), Gram(NARROW, X, "float64")
    before = np.zeros(40)
    for k in range(1, 60):
        found = solve(classification(y), gram, Settings(tol=1e-9), run=Run(max_iter=k))
        change = found.beta - before
        i, j = np.flatnonzero(change)  # exactly two variables
        up, down = (i, j) if change[i] > 0 else (j, i)
        assert change[up] == pytest.approx(-change[down], abs=1e-12)
        v = K @ before - y
        curvature = K[i, i] + K[j, j] - 2 * K[i, j]
        unclipped = (v[down] - v[up]) / curvature
        # alpha >= 0 alone limits the step: an alpha that falls has only its own value to give.
        room = min(-before[up] if y[up] < 0 else np.inf, before[down] if y[down] > 0 else np.inf)
        assert change[up] == pytest.approx(min(unclipped, room), rel=1e-9)
        before = found.beta


@pytest.mark.spec("CS-7.40")
@pytest.mark.parametrize(
    ("data", "kernel", "shift", "alpha", "b"),
    [
        (three_points, Linear(), 0.0, [1, 0, 1], -1),
        (three_points, Linear(), 0.1, [10 / 11, 0, 10 / 11], -10 / 11),
        (xor, QUADRATIC, 0.0, [1 / 8] * 4, 0),
    ],
    ids=["hard", "two norm", "exclusive or"],
)
def test_worked_numbers_without_an_upper_bound(
    data: Any, kernel: Any, shift: float, alpha: Any, b: float
) -> None:
    X, y = data()
    gram = Gram(kernel, X, "float64")
    found = solve(classification(y, shift=shift), gram, Settings(tol=1e-10))
    assert y * found.beta == pytest.approx(alpha, abs=1e-10)
    assert -found.multiplier[0] == pytest.approx(b, abs=1e-10)
    heavier = Gram(Precomputed(), kernel(X) + shift * np.eye(len(y)), "float64")
    same = solve(classification(y), heavier, Settings(tol=1e-10))
    assert same.beta == pytest.approx(found.beta, abs=1e-10)


@pytest.mark.spec("CS-7.41")
@pytest.mark.parametrize("b", [1.0, -4.0, 1024.0])
def test_steps_do_not_depend_on_the_bias(b: float) -> None:
    X, y = clouds()
    gram = Gram(CLOUDS_KERNEL, X, "float64")
    for steps in (1, 5, 20, 80):
        plain = solve(classification(y, 1.0), gram, Settings(tol=1e-8), run=Run(max_iter=steps))
        # E_i = f_i + b - y_i: the bias adds the same number to all of them.
        shifted = solve(
            classification(y, 1.0, slope=b), gram, Settings(tol=1e-8), run=Run(max_iter=steps)
        )
        assert shifted.n_iter == plain.n_iter == steps
        assert shifted.beta == pytest.approx(plain.beta, abs=1e-11)
        assert shifted.multiplier[0] - plain.multiplier[0] == pytest.approx(b, abs=1e-10)


def slack_sum(b: Any, f0: Any, y: Any) -> Any:
    return np.maximum(0, 1 - y * (f0 + np.asarray(b)[..., None])).sum(axis=-1)


@pytest.mark.spec("CS-7.42")
@pytest.mark.parametrize("steps", [15, 20, 30])
def test_the_bias_that_minimises_the_slacks_has_the_smallest_gap(steps: int) -> None:
    X, y = clouds()
    gram = Gram(CLOUDS_KERNEL, X, "float64")
    found = solve(classification(y, 1.0), gram, Settings(tol=1e-9), run=Run(max_iter=steps))
    f0, alpha = found.values, y * found.beta

    def gap(b: float) -> float:
        proof = loss_values(Hinge(), y, np.ones(40), found.beta, f0, f0 + b, FIRST)[0]
        return proof.primal - proof.dual

    kinks = y - f0  # sum xi is piecewise linear in b with these kinks
    best = kinks[slack_sum(kinks, f0, y).argmin()]
    may_rise = np.where(y > 0, alpha < 1, alpha > 0)
    may_fall = np.where(y > 0, alpha > 0, alpha < 1)
    b_up, b_low = kinks[may_fall].min(), kinks[may_rise].max()
    assert b_low - b_up == pytest.approx(found.kkt_violation, rel=1e-9)  # Keerthi's two
    others = [b_up, b_low, (b_up + b_low) / 2, -found.multiplier[0]]
    free = (alpha > 0) & (alpha < 1)
    others.extend(kinks[free])
    assert free.any()
    assert all(gap(best) <= gap(b) + 1e-12 for b in others)
    assert max(gap(b) for b in others) > 1.2 * gap(best) > 0


@pytest.mark.spec("CS-7.42")
@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 100.0])
def test_the_bias_of_a_fit_minimises_the_slacks(C: float) -> None:
    X, y = clouds()
    model = SVC(kernel=CLOUDS_KERNEL, C=C, **EXACT).fit(X, y)
    f0 = CLOUDS_KERNEL(X) @ signed(model, 40)
    least = slack_sum(y - f0, f0, y).min()
    for b in (*model.intercept_range_, model.intercept_[0]):
        assert slack_sum(b, f0, y) == pytest.approx(least, abs=1e-8)


@pytest.mark.spec("CS-7.43")
def test_without_a_bias_each_step_moves_one_multiplier_by_its_best_amount() -> None:
    X, y = clouds()
    K, gram = CLOUDS_KERNEL(X), Gram(CLOUDS_KERNEL, X, "float64")
    problem = DualProblem(np.minimum(y, 0), np.maximum(y, 0), -y)
    alpha = np.zeros(40)
    for k in range(1, 80):
        found = solve(problem, gram, Settings(tol=1e-9), run=Run(max_iter=k))
        change = y * found.beta - alpha
        (i,) = np.flatnonzero(change)
        step = (1 - y[i] * (K[i] @ (y * alpha))) / K[i, i]  # the row of Table 7.1
        assert alpha[i] + change[i] == pytest.approx(np.clip(alpha[i] + step, 0, 1), abs=1e-12)
        alpha = y * found.beta


@pytest.mark.spec("CS-7.43")
def test_optimum_without_a_bias() -> None:
    X, y = clouds()
    H = np.outer(y, y) * CLOUDS_KERNEL(X)
    model = SVC(kernel=CLOUDS_KERNEL, C=1.0, fit_intercept=False, **EXACT).fit(X, y)
    assert model.certificate_.dual == pytest.approx(21.0652224, abs=1e-7)
    assert len(model.support_) == 30
    assert model.intercept_[0] == 0.0
    alpha = np.zeros(40)
    for _ in range(4000):  # Table 7.1 itself, with eta_i = 1 / K_ii
        for i in range(40):
            alpha[i] = np.clip(alpha[i] + (1 - H[i] @ alpha) / H[i, i], 0, 1)
        if np.abs(alpha - model.alpha_).max() < 1e-6:
            break
    assert alpha == pytest.approx(model.alpha_, abs=1e-6)


# ------------------------------------------------------------------ memory and caching


def resident(name: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at its highest since the last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))


@pytest.mark.spec("CS-7.10", "CS-7.44")
def test_memory_stays_near_the_cache_where_the_matrix_would_not_fit() -> None:
    rng = np.random.default_rng(0)
    n = 30_000  # n^2 doubles are 7 GB
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += 0.3 * y
    model = SVC(kernel="rbf", gamma=0.5, cache_size=4)
    model.fit(X[:2000], y[:2000])  # whatever is allocated once
    try:
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
    except OSError:
        pytest.skip("the highest memory use of a process cannot be reset here")
    before = resident("VmRSS")
    model.fit(X, y)
    assert resident("VmHWM") - before < 4 * 2**20 + 2000 * n
    assert model.certificate_.status == "optimal"
    assert model.certificate_.n_kernel_values < 0.1 * n**2
    assert model.score(X, y) == 1.0


def with_cache(megabytes: float, X: Any, y: Any) -> Solution:
    gram = Gram(RBF(0.5), X, "float32")
    return solve(classification(y, 10.0), gram, Settings(cache_size=megabytes))


@pytest.mark.spec("CS-7.23")
def test_a_cache_changes_the_work_and_not_a_bit_of_the_answer() -> None:
    X, y = big_clouds()
    X = np.tile(X, 40) / np.sqrt(40.0)  # the same distances; narrow rows are not worth a cache
    small, large = with_cache(0.01, X, y), with_cache(200.0, X, y)
    assert small.beta.tobytes() == large.beta.tobytes()
    assert small.multiplier.tobytes() == large.multiplier.tobytes()
    assert small.n_iter == large.n_iter
    assert small.cache_hits < large.cache_hits
    assert small.n_kernel_values > large.n_kernel_values
