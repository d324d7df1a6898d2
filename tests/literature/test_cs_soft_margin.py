"""Cristianini and Shawe-Taylor: soft margins, several classes, nu (CS-6.15 to CS-6.28).

The texts' (C/2) sum xi^2 is C sum xi^2 in mercer, so that their C is twice ours there; the sum of
slacks has the same C in both.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import SVC, NuSVC
from mercer.data import TrainingSet
from mercer.losses import CombinedHinge, Hinge, SquaredHinge
from mercer.solvers.prove.primal_dual import loss_values
from tests.literature.problems import (
    CLOUDS_KERNEL,
    EXACT,
    clouds,
    dual_optimum,
    separated,
    signed,
    soft_margin_primal,
    three_points,
    two_points,
)

GRID = np.geomspace(1e-3, 1e3, 13)


def sixteen() -> tuple[Any, Any]:
    X, y = clouds()
    return X[12:28], y[12:28]


@pytest.mark.spec("CS-6.15")
def test_squared_slacks_need_no_sign_and_weigh_one_over_the_squared_radius() -> None:
    X, y = sixteen()
    radius = TrainingSet(X, y).radius()
    text_C = radius**-2  # <w, w> + C sum xi^2
    model = SVC(kernel="linear", C=text_C / 2, penalty_norm=2, **EXACT).fit(X, y)
    w, slack = model.coef_[0], model.slack_
    for any_sign in (False, True):
        direct, _, xi = soft_margin_primal(X, y, 0.0, text_C, norm=1.0, any_sign=any_sign)
        assert direct == pytest.approx(w, abs=1e-6)
        assert xi == pytest.approx(slack, abs=1e-6)
    assert (slack >= 0).all()
    # The bound (R^2 + |xi|^2 / |w|^2) / gamma^2 is R^2 times what is minimised.
    bound = (radius**2 + slack @ slack / (w @ w)) / model.margin_**2
    assert bound == pytest.approx(radius**2 * (w @ w + text_C * slack @ slack), rel=1e-10)


@pytest.mark.spec("CS-6.16")
@pytest.mark.parametrize("norm", [1, 2])
def test_along_c_the_norm_grows_and_the_slack_falls(norm: int) -> None:
    X, y = clouds()
    norms, slacks = [], []
    warm = SVC(kernel=CLOUDS_KERNEL, penalty_norm=norm, warm_start=True, **EXACT)
    for C in GRID:
        cold = SVC(kernel=CLOUDS_KERNEL, penalty_norm=norm, C=C, **EXACT).fit(X, y)
        warm.set_params(C=C).fit(X, y)
        assert warm.decision_function(X) == pytest.approx(cold.decision_function(X), abs=1e-7)
        norms.append(1 / warm.margin_)
        slacks.append((warm.slack_**norm).sum())
    assert (np.diff(norms) > -1e-9).all()
    assert (np.diff(slacks) < 1e-9).all()
    assert norms[-1] > 100 * norms[0]
    assert slacks[-1] < 0.5 * slacks[0]


@pytest.mark.spec("CS-6.17", "CS-7.40")
def test_two_norm_machine_on_two_points() -> None:
    X, y = two_points()
    model = SVC(kernel="linear", C=1 / 2, penalty_norm=2, **EXACT).fit(X, y)  # the text's C is 1
    assert model.alpha_ == pytest.approx([1 / 3, 1 / 3], abs=1e-12)
    assert model.coef_[0, 0] == pytest.approx(2 / 3, abs=1e-12)
    assert model.slack_ == pytest.approx([1 / 3, 1 / 3], abs=1e-12)
    assert model.margin_ == pytest.approx(1.5, abs=1e-12)


@pytest.mark.spec("CS-6.17", "CS-7.40")
@pytest.mark.parametrize(
    ("text_C", "alpha", "norm2", "b"), [(1, 0.5, 0.5, -0.5), (10, 10 / 11, 200 / 121, -10 / 11)]
)
def test_two_norm_machine_on_three_points(
    text_C: float, alpha: float, norm2: float, b: float
) -> None:
    X, y = three_points()
    model = SVC(kernel="linear", C=text_C / 2, penalty_norm=2, **EXACT).fit(X, y)
    assert model.alpha_ == pytest.approx([alpha, 0, alpha], abs=1e-12)
    assert model.margin_**-2 == pytest.approx(norm2, abs=1e-12)
    assert model.intercept_[0] == pytest.approx(b, abs=1e-12)


@pytest.mark.spec("CS-6.17")
def test_two_norm_machine_on_clouds() -> None:
    X, y = clouds()
    text_C = 1.0
    model = SVC(kernel=CLOUDS_KERNEL, C=text_C / 2, penalty_norm=2, **EXACT).fit(X, y)
    alpha, f = model.alpha_, model.decision_function(X)
    assert model.certificate_.dual == pytest.approx(12.3352628, abs=1e-7)
    assert alpha.sum() == pytest.approx(24.6705255, abs=1e-7)
    assert model.intercept_[0] == pytest.approx(-0.2804496, abs=1e-7)
    assert model.margin_**-2 == pytest.approx(3.2047327, abs=1e-7)
    assert model.margin_ == pytest.approx((alpha.sum() - alpha @ alpha / text_C) ** -0.5, rel=1e-9)
    assert len(model.support_) == 40
    assert model.slack_ == pytest.approx(alpha / text_C, abs=1e-10)
    assert y * f == pytest.approx(1 - alpha / text_C, abs=1e-10)
    assert alpha * (y * f - 1 + model.slack_) == pytest.approx(np.zeros(40), abs=1e-10)


@pytest.mark.spec("CS-6.19", "CS-6.21")
def test_one_norm_machine_on_clouds() -> None:
    X, y = clouds()
    model = SVC(kernel=CLOUDS_KERNEL, C=1.0, **EXACT).fit(X, y)
    assert model.certificate_.dual == pytest.approx(20.8341337, abs=1e-7)
    assert model.alpha_.sum() == pytest.approx(24.1907668, abs=1e-7)
    assert model.margin_**-2 == pytest.approx(6.7132662, abs=1e-7)
    assert model.intercept_[0] == pytest.approx(-0.2992947, abs=1e-7)
    assert len(model.support_) == 29
    assert len(model.bounded_support_) == 18
    assert len(model.free_support_) == 11
    assert (model.predict(X) != y).sum() == 9


@pytest.mark.spec("CS-6.19", "CS-6.21")
def test_box_and_slack_are_complementary() -> None:
    X, y = clouds()
    C = 0.8
    model = SVC(kernel="linear", C=C, **EXACT).fit(X, y)
    alpha, slack, f = model.alpha_, model.slack_, model.decision_function(X)
    assert np.abs(alpha * (y * f - 1 + slack)).max() < 1e-9
    assert np.abs(slack * (alpha - C)).max() < 1e-9
    assert (alpha[slack > 1e-9] == C).all()
    free = (alpha > 0) & (alpha < C)
    assert sorted(model.free_support_) == np.flatnonzero(free).tolist()
    distances = np.abs(f[free]) / np.linalg.norm(model.coef_[0])
    assert distances == pytest.approx(np.full(free.sum(), model.margin_), rel=1e-8)
    assert (slack > 1e-9).sum() <= len(model.bounded_support_)
    assert model.margin_ == pytest.approx(
        ((y * alpha) @ (X @ X.T) @ (y * alpha)) ** -0.5, rel=1e-10
    )


@pytest.mark.spec("CS-6.19")
def test_every_point_may_have_a_box_of_its_own() -> None:
    X, y = sixteen()
    weight = np.random.default_rng(3).uniform(0.2, 2.0, 16)
    model = SVC(kernel=CLOUDS_KERNEL, C=0.5, **EXACT).fit(X, y, sample_weight=weight)
    beta = dual_optimum(CLOUDS_KERNEL(X), y, C=0.5 * weight)
    assert model.alpha_ == pytest.approx(y * beta, abs=1e-6)
    assert (model.alpha_ <= 0.5 * weight).all()
    assert len(model.bounded_support_) > 0


@pytest.mark.spec("CS-6.20")
def test_bias_is_an_interval_where_no_multiplier_is_inside_the_box() -> None:
    X, y = three_points()
    model = SVC(kernel="linear", C=0.25, **EXACT).fit(X, y)
    assert model.alpha_ == pytest.approx([0.25, 0, 0.25], abs=1e-12)
    assert model.coef_[0] == pytest.approx([0.25, 0.25], abs=1e-12)
    assert model.intercept_range_ == pytest.approx([0.0, 0.5], abs=1e-12)
    assert model.intercept_[0] == pytest.approx(0.25, abs=1e-12)
    assert len(model.free_support_) == 0

    X, y = two_points()
    model = SVC(kernel="linear", C=0.25, **EXACT).fit(X, y)
    assert model.alpha_ == pytest.approx([0.25, 0.25], abs=1e-12)
    assert model.coef_[0, 0] == pytest.approx(0.5, abs=1e-12)
    with pytest.warns(UserWarning, match=r"every value from -0.5 to 0.5 is optimal") as caught:
        SVC(kernel="linear", C=0.25, **EXACT).fit(X, y)
    assert caught[0].filename == __file__
    assert model.certificate_.dual == pytest.approx(0.375, abs=1e-12)
    assert model.certificate_.primal == pytest.approx(0.375, abs=1e-12)
    low, high = model.intercept_range_
    assert (low, high) == pytest.approx((-0.5, 0.5), abs=1e-12)

    def primal(b: float) -> float:
        return 0.125 + 0.25 * np.maximum(0, 1 - y * (0.5 * X[:, 0] + b)).sum()

    for b in (low, -0.2, 0.0, high):
        assert primal(b) == pytest.approx(0.375, abs=1e-12)
    assert min(primal(low - 0.01), primal(high + 0.01)) > 0.375 + 1e-3


@pytest.mark.spec("CS-6.21")
def test_an_outlier_pulls_no_harder_than_its_box() -> None:
    X, y = separated()
    X, y = np.vstack([X, [[-2.5, 0.0]]]), np.append(y, 1.0)  # in the middle of the other class
    for C in (0.1, 1.0, 10.0):
        model = SVC(kernel="linear", C=C, **EXACT).fit(X, y)
        assert model.alpha_[30] == C
        assert 30 in model.bounded_support_
        assert model.slack_[30] > 1  # a training error
        squared = SVC(kernel="linear", C=C, penalty_norm=2, **EXACT).fit(X, y)
        assert squared.alpha_[30] > 2 * C  # without a box it pulls harder


@pytest.mark.spec("CS-6.22", "CS-7.09")
def test_gap_of_any_feasible_multipliers_and_any_bias() -> None:
    X, y = clouds()
    K, C = CLOUDS_KERNEL(X), 1.3
    rng = np.random.default_rng(4)
    for _ in range(5):
        alpha = rng.uniform(0, C, 20)
        alpha = np.concatenate([alpha, rng.permutation(alpha)])  # sum y alpha = 0
        b = rng.normal()
        f0 = K @ (y * alpha)
        slack = np.maximum(0, 1 - y * (f0 + b))
        H = np.outer(y, y) * K
        W = alpha.sum() - 0.5 * alpha @ H @ alpha
        proof = loss_values(
            Hinge(), y, np.full(40, C), y * alpha, f0, f0 + b, np.zeros(1, np.intp)
        )[0]
        products = alpha @ (y * (f0 + b) - 1 + slack) + (C - alpha) @ slack
        contributions = alpha * (y * f0 - 1) + C * slack
        for gap in (
            products,
            alpha @ H @ alpha - alpha.sum() + C * slack.sum(),
            alpha.sum() - 2 * W + C * slack.sum(),
            contributions.sum(),
        ):
            assert proof.primal - proof.dual == pytest.approx(gap, rel=1e-12)
        assert proof.dual == pytest.approx(W, rel=1e-12)


@pytest.mark.spec("CS-6.22")
def test_gap_vanishes_at_the_optimum() -> None:
    X, y = clouds()
    proof = SVC(kernel=CLOUDS_KERNEL, **EXACT).fit(X, y).certify(X, y)
    assert abs(proof.gap) < 1e-8
    assert proof.primal == pytest.approx(20.8341337, abs=1e-7)


@pytest.mark.spec("CS-6.23")
@pytest.mark.parametrize("norm", [1, 2])
def test_both_soft_margins_tend_to_the_hard_margin(norm: int) -> None:
    X, y = separated(gap=0.5)
    hard = SVC(kernel="linear", C=np.inf, tol=1e-8).fit(X, y)
    distances = []
    for C in (1e-1, 1e1, 1e3, 1e5, 1e7):
        soft = SVC(kernel="linear", C=C, penalty_norm=norm, tol=1e-8).fit(X, y)
        distances.append(np.abs(soft.coef_[0] - hard.coef_[0]).max())
    assert (np.diff(distances) <= 1e-9).all()
    assert distances[0] > 0.1
    assert distances[-1] < 1e-4


@pytest.mark.spec("CS-6.23")
def test_the_two_norm_is_a_hard_margin_with_a_heavier_diagonal() -> None:
    X, y = clouds()
    K = CLOUDS_KERNEL(X)
    soft = SVC(kernel=CLOUDS_KERNEL, C=0.5, penalty_norm=2, **EXACT).fit(X, y)
    hard = SVC(kernel="precomputed", C=np.inf, tol=1e-8).fit(K + np.eye(40), y)
    assert hard.alpha_ == pytest.approx(soft.alpha_, abs=1e-8)
    assert hard.intercept_[0] == pytest.approx(soft.intercept_[0], abs=1e-8)
    boxed = SVC(kernel=CLOUDS_KERNEL, C=0.5, **EXACT).fit(X, y)
    assert np.abs(boxed.alpha_ - soft.alpha_).max() > 0.1  # not the other soft margin


@pytest.mark.spec("CS-6.25")
def test_for_two_classes_every_strategy_is_the_binary_machine() -> None:
    X, y = clouds()
    one = SVC(kernel=CLOUDS_KERNEL, multiclass="ovo", **EXACT).fit(X, y)
    rest = SVC(kernel=CLOUDS_KERNEL, multiclass="ovr", **EXACT).fit(X, y)
    beta = dual_optimum(CLOUDS_KERNEL(X), y, C=1.0)
    assert signed(one, 40) == pytest.approx(beta, abs=1e-5)
    assert rest.decision_function(X).tolist() == one.decision_function(X).tolist()


@pytest.mark.spec("CS-6.25")
def test_pairs_and_rests_are_the_machines_trained_apart() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    apart = {"kernel": "rbf", "gamma": 0.3, "C": 2.0, **EXACT}
    pairs = SVC(decision_function_shape="ovo", **apart).fit(X, y)
    for column, (i, j) in enumerate(combinations(range(3), 2)):
        rows = (y == i) | (y == j)
        alone = SVC(**apart).fit(X[rows], np.where(y[rows] == i, 1, -1))
        assert pairs.decision_function(X)[:, column] == pytest.approx(
            alone.decision_function(X), abs=1e-7
        )
    rests = SVC(multiclass="ovr", **apart).fit(X, y)
    for c in range(3):
        alone = SVC(**apart).fit(X, np.where(y == c, 1, -1))
        assert rests.decision_function(X)[:, c] == pytest.approx(
            alone.decision_function(X), abs=1e-7
        )
    assert rests.predict(X).tolist() == rests.decision_function(X).argmax(axis=1).tolist()


@pytest.mark.spec("CS-6.26")
def test_combined_slacks_against_the_primal() -> None:
    X, y = sixteen()
    C1, text_C2 = 0.7, 2.0  # 1/2 |w|^2 + C1 sum xi + (C2/2) sum xi^2
    w, _, xi = soft_margin_primal(X, y, C1, text_C2 / 2)
    model = SVC(kernel="linear", C=C1, C2=text_C2 / 2, **EXACT).fit(X, y)
    alpha = model.alpha_
    beyond = np.maximum(0, alpha - C1)
    dual = alpha.sum() - 0.5 * (y * alpha) @ (X @ X.T) @ (y * alpha)
    dual -= beyond @ beyond / (2 * text_C2)
    primal = 0.5 * w @ w + C1 * xi.sum() + 0.5 * text_C2 * xi @ xi
    assert model.coef_[0] == pytest.approx(w, abs=1e-6)
    assert model.certificate_.dual == pytest.approx(dual, rel=1e-12)
    assert primal == pytest.approx(dual, abs=1e-8)
    assert model.slack_ == pytest.approx(beyond / text_C2, abs=1e-9)
    on = alpha > 0
    f = model.decision_function(X)
    assert (y * f)[on] == pytest.approx(1 - beyond[on] / text_C2, abs=1e-9)


@pytest.mark.spec("CS-6.26")
def test_limits_of_the_combined_slacks() -> None:
    X, y = clouds()
    # C2 -> 0 is the box, C1 -> 0 the diagonal.
    box = SVC(kernel=CLOUDS_KERNEL, C=0.7, **EXACT).fit(X, y)
    nearly = SVC(kernel=CLOUDS_KERNEL, C=0.7, C2=1e-5, **EXACT).fit(X, y)
    assert nearly.alpha_ == pytest.approx(box.alpha_, abs=1e-3)
    assert 0.7 < nearly.alpha_.max() < 0.7001
    diagonal = SVC(kernel=CLOUDS_KERNEL, C=0.7, penalty_norm=2, **EXACT).fit(X, y)
    nearly = SVC(kernel=CLOUDS_KERNEL, C=1e-9, C2=0.7, **EXACT).fit(X, y)
    assert nearly.alpha_ == pytest.approx(diagonal.alpha_, abs=1e-6)
    xi = np.array([0.0, 0.5, 2.0])
    both = CombinedHinge(3.0).value(np.ones(3), 1 - xi)
    by_parts = Hinge().value(np.ones(3), 1 - xi) + 3 * SquaredHinge().value(np.ones(3), 1 - xi)
    assert both == pytest.approx(by_parts, abs=1e-14)


@pytest.mark.spec("CS-6.27")
def test_multipliers_are_given_for_every_row_and_are_exact_zeros_elsewhere() -> None:
    X, y = clouds()
    order = np.random.default_rng(5).permutation(40)
    model = SVC(kernel=CLOUDS_KERNEL, **EXACT).fit(X[order], y[order])
    assert model.alpha_.shape == (40,)
    others = np.setdiff1d(np.arange(40), model.support_)
    assert (model.alpha_[model.support_] > 0).all()
    assert (model.alpha_[others] == 0.0).all()
    assert model.dual_coef_[0] == pytest.approx((y[order] * model.alpha_)[model.support_], abs=0)
    straight = SVC(kernel=CLOUDS_KERNEL, **EXACT).fit(X, y)
    assert model.alpha_ == pytest.approx(straight.alpha_[order], abs=1e-9)


@pytest.mark.spec("CS-6.28")
def test_nu_machine_reproduces_the_machine_with_c_one() -> None:
    X, y = clouds()
    c_machine = SVC(kernel=CLOUDS_KERNEL, C=1.0, **EXACT).fit(X, y)
    nu = c_machine.alpha_.sum() / 40
    assert nu == pytest.approx(0.604769, abs=1e-6)
    assert c_machine.nu_ == pytest.approx(nu, abs=1e-12)
    model = NuSVC(kernel=CLOUDS_KERNEL, nu=nu, **EXACT).fit(X, y)
    # mercer's coefficients are divided by rho; those of the text are alpha / (C l).
    text_alpha = model.alpha_ * model.rho_ / 40
    assert text_alpha == pytest.approx(c_machine.alpha_ / 40, abs=3e-8)
    assert text_alpha.sum() == pytest.approx(nu, abs=1e-9)
    assert model.equivalent_C_ == pytest.approx(1.0, abs=1e-6)
    assert model.decision_function(X) == pytest.approx(c_machine.decision_function(X), abs=1e-6)
    assert (model.slack_ > 1e-6).mean() == 0.45
    assert len(model.support_) / 40 == 0.725


@pytest.mark.spec("CS-6.28")
def test_margin_and_bias_of_the_nu_machine_from_points_inside_the_box() -> None:
    X, y = clouds()
    model = NuSVC(kernel=CLOUDS_KERNEL, nu=0.5, **EXACT).fit(X, y)
    beta = signed(model, 40) * model.rho_  # in the units of the dual problem
    f0 = CLOUDS_KERNEL(X) @ beta
    free = np.zeros(40, dtype=bool)
    free[model.free_support_] = True
    plus, minus = f0[free & (y > 0)], f0[free & (y < 0)]
    assert model.rho_ == pytest.approx((plus.mean() - minus.mean()) / 2, rel=1e-9)
    assert model.intercept_[0] * model.rho_ == pytest.approx(
        -(plus.mean() + minus.mean()) / 2, abs=1e-8
    )
    same = SVC(kernel=CLOUDS_KERNEL, C=model.equivalent_C_, **EXACT).fit(X, y)
    assert same.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-7)
    assert (model.slack_ > 1e-7).mean() <= 0.5 <= len(model.support_) / 40


@pytest.mark.spec("CS-6.28")
def test_nu_does_not_see_the_scale_of_feature_space() -> None:
    X, y = clouds()
    one = NuSVC(kernel=CLOUDS_KERNEL, nu=0.604769, **EXACT).fit(X, y)
    ten = NuSVC(kernel=10.0 * CLOUDS_KERNEL, nu=0.604769, **EXACT).fit(X, y)
    assert ten.alpha_ * ten.rho_ == pytest.approx(one.alpha_ * one.rho_, abs=1e-7)
    assert ten.decision_function(X) == pytest.approx(one.decision_function(X), abs=1e-7)


@pytest.mark.spec("CS-6.28")
def test_the_largest_feasible_nu() -> None:
    X, y = clouds()
    X, y = X[10:], y[10:]  # 10 positive, 20 negative: nu <= 2/3
    NuSVC(kernel=CLOUDS_KERNEL, nu=0.66).fit(X, y)
    with pytest.raises(ValueError, match="specified nu is infeasible") as raised:
        NuSVC(kernel=CLOUDS_KERNEL, nu=0.67).fit(X, y)
    assert raised.value.largest_nu == pytest.approx(2 / 3, abs=1e-12)  # type: ignore[attr-defined]
