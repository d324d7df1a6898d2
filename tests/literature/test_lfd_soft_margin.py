"""Learning From Data, chapter 8: the soft margin (LFD-54 to LFD-64)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer import SVC
from mercer.data import lfd_toy, xor
from mercer.losses import Hinge, ZeroOne
from mercer.machines.support_vector.hard_margin import hard_margin_threshold
from mercer.solvers import svm_dual_matrices
from tests.literature.problems import (
    CLOUDS_KERNEL,
    EXACT,
    QUADRATIC,
    clouds,
    quadratic_program,
    signed,
    soft_margin_primal,
)


def toy(C: float, **parameters: Any) -> Any:
    """The linear machine on the four-point set."""
    X, y = lfd_toy()
    return SVC(kernel="linear", C=C, **{**EXACT, **parameters}).fit(X, y)


@pytest.mark.spec("LFD-54")
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_soft_margin_is_the_quadratic_program_with_slacks(C: float) -> None:
    X, y = clouds()
    X, y = X[12:28], y[12:28]
    w, _, xi = soft_margin_primal(X, y, C, 0.0)
    model = SVC(kernel="linear", C=C, **EXACT).fit(X, y)
    assert model.coef_[0] == pytest.approx(w, abs=1e-5)
    assert model.slack_.sum() == pytest.approx(xi.sum(), abs=1e-5)
    assert model.certificate_.primal == pytest.approx(0.5 * w @ w + C * xi.sum(), rel=1e-7)


@pytest.mark.spec("LFD-54")
def test_a_small_constant_gives_a_wide_margin_with_violations() -> None:
    margins = [toy(C).margin_ for C in (0.1, 0.25, 0.5, 0.75, 1.0)]
    assert (np.diff(margins) < 1e-9).all()
    assert toy(0.1).slack_.max() > 0.5
    assert toy(1e6).slack_.max() == pytest.approx(0.0, abs=1e-9)
    assert toy(1e6).margin_ == pytest.approx(0.5**0.5, abs=1e-9)


@pytest.mark.spec("LFD-56", "LFD-60")
def test_where_the_toy_points_lie() -> None:
    model = toy(0.5)
    assert model.slack_ == pytest.approx([0, 0, 2 / 3, 0], abs=1e-9)
    assert model.point_status_.tolist() == ["on edge", "on edge", "inside margin", "on edge"]
    assert model.bounded_support_.tolist() == [2]
    assert 2 not in model.free_support_
    assert toy(0.75).point_status_.tolist() == [
        "on edge",
        "on edge",
        "inside margin",
        "outside margin",
    ]


@pytest.mark.spec("LFD-56", "LFD-60")
def test_status_slack_and_multiplier_agree() -> None:
    X, y = clouds()
    C = 1.0
    model = SVC(kernel=CLOUDS_KERNEL, C=C, **EXACT).fit(X, y)
    margins = y * model.decision_function(X)
    status, alpha = model.point_status_, model.alpha_
    assert model.slack_ == pytest.approx(np.maximum(0, 1 - margins), abs=1e-10)
    assert set(status) == {"outside margin", "on edge", "inside margin", "misclassified"}
    assert (margins[status == "outside margin"] > 1).all()
    assert (alpha[status == "outside margin"] == 0).all()
    assert margins[status == "on edge"] == pytest.approx(1.0, abs=1e-9)
    inside = model.slack_[status == "inside margin"]
    assert ((inside > 0) & (inside <= 1)).all()
    assert (model.slack_[status == "misclassified"] > 1).all()
    assert (status == "misclassified").sum() == (model.predict(X) != y).sum() == 9
    free, bounded = model.free_support_, model.bounded_support_
    assert sorted([*free, *bounded]) == sorted(model.support_)
    assert ((alpha[free] > 0) & (alpha[free] < C)).all()
    assert (status[free] == "on edge").all()
    assert (alpha[bounded] == C).all()
    assert (margins[bounded] <= 1 + 1e-9).all()


@pytest.mark.spec("LFD-57")
@pytest.mark.parametrize("kernel", [QUADRATIC, CLOUDS_KERNEL], ids=["quadratic", "gaussian"])
def test_soft_margin_dual_with_a_kernel(kernel: Any) -> None:
    X, y = clouds()
    X, y = X[12:28], y[12:28]
    program = svm_dual_matrices(kernel(X), y, C=0.6)
    alpha = quadratic_program(*program)
    model = SVC(kernel=kernel, C=0.6, **EXACT).fit(X, y)
    assert model.certificate_.dual == pytest.approx(
        alpha.sum() - 0.5 * alpha @ program.Q @ alpha, rel=1e-8
    )
    assert kernel(X) @ signed(model, 16) == pytest.approx(kernel(X) @ (y * alpha), abs=1e-5)
    assert model.certificate_.primal == pytest.approx(model.certificate_.dual, rel=1e-10)
    assert y @ model.alpha_ == pytest.approx(0.0, abs=1e-10)
    assert 0 <= model.alpha_.min() <= model.alpha_.max() <= 0.6


@pytest.mark.spec("LFD-58")
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("tol", [1e-2, 1e-8])
def test_conditions_of_the_soft_margin(seed: int, tol: float) -> None:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(60) % 3 == 0, 1.0, -1.0)
    X = rng.normal(size=(60, 2)) + 0.5 * y[:, None]
    C = 2.0
    model = SVC(kernel="rbf", gamma=0.7, C=C, tol=tol).fit(X, y)
    alpha, margins = model.alpha_, y * model.decision_function(X)
    slack = np.maximum(0, 1 - margins)
    assert np.abs(alpha * (margins - 1 + slack)).max() <= C * tol
    assert np.abs((C - alpha) * slack).max() <= C * tol
    assert margins[alpha > 0].max() <= 1 + tol
    assert margins[alpha < C].min() >= 1 - tol
    assert model.certificate_.kkt_violation <= tol


@pytest.mark.spec("LFD-59")
def test_interval_of_the_bias_on_the_toy_set() -> None:
    X, y = lfd_toy()
    model = toy(0.1)
    assert model.alpha_ == pytest.approx([0.1] * 4, abs=1e-12)
    assert model.coef_[0] == pytest.approx([0.3, -0.2], abs=1e-12)
    assert len(model.free_support_) == 0
    assert model.intercept_range_ == pytest.approx([-1.0, 0.1], abs=1e-12)
    assert model.intercept_[0] == pytest.approx(-0.45, abs=1e-12)
    assert model.certificate_.dual == pytest.approx(0.335, abs=1e-12)
    assert model.certificate_.primal == pytest.approx(0.335, abs=1e-12)
    for b in np.linspace(-1.0, 0.1, 7):
        assert Hinge().value(y, X @ [0.3, -0.2] + b).sum() == pytest.approx(2.7, abs=1e-12)
    for b in (-1.01, 0.11):
        assert Hinge().value(y, X @ [0.3, -0.2] + b).sum() > 2.7 + 1e-3


@pytest.mark.spec("LFD-59")
@pytest.mark.parametrize("C", [1e-3, 0.02, 0.3, 5.0])
def test_interval_of_the_bias_from_the_inequalities(C: float) -> None:
    X, y = clouds()
    model = SVC(kernel=CLOUDS_KERNEL, C=C, **EXACT).fit(X, y)
    g, alpha = CLOUDS_KERNEL(X) @ signed(model, 40), model.alpha_
    below = np.where(y > 0, alpha < C, alpha > 0)
    above = np.where(y > 0, alpha > 0, alpha < C)
    interval = (y - g)[below].max(), (y - g)[above].min()
    assert model.intercept_range_ == pytest.approx(interval, abs=1e-9)
    assert model.intercept_[0] == pytest.approx(np.mean(interval), abs=1e-9)
    assert (len(model.free_support_) == 0) == (interval[1] - interval[0] > 1e-6)


@pytest.mark.spec("LFD-61")
@pytest.mark.parametrize(
    ("C", "w", "b", "alpha", "dual"),
    [
        (0.05, [0.15, -0.10], None, [0.05] * 4, 0.18375),
        (0.2, [0.6, -0.4], None, [0.2] * 4, 0.54),
        (2 / 9, [2 / 3, -4 / 9], None, [2 / 9] * 4, 46 / 81),
        (0.25, [2 / 3, -1 / 2], -1, [2 / 9, 1 / 4, 1 / 4, 2 / 9], 43 / 72),
        (0.5, [2 / 3, -2 / 3], -1, None, 7 / 9),
        (0.75, [3 / 4, -3 / 4], -1, [3 / 8, 3 / 8, 3 / 4, 0], 15 / 16),
        (1.0, [1, -1], -1, [1 / 2, 1 / 2, 1, 0], 1),
        (50.0, [1, -1], -1, [1 / 2, 1 / 2, 1, 0], 1),
    ],
)
def test_path_over_c_on_the_toy_set(C: float, w: Any, b: Any, alpha: Any, dual: float) -> None:
    model = toy(C)
    assert model.coef_[0] == pytest.approx(w, abs=1e-9)
    assert model.certificate_.dual == pytest.approx(dual, abs=1e-10)
    assert model.certificate_.primal == pytest.approx(dual, abs=1e-9)
    if b is not None:
        assert model.intercept_[0] == pytest.approx(b, abs=1e-9)
    if alpha is not None:  # at C = 0.5 the multipliers are not unique
        assert model.alpha_ == pytest.approx(alpha, abs=1e-9)
    if C <= 2 / 9:
        assert dual == pytest.approx(4 * C - 6.5 * C**2, abs=1e-12)


@pytest.mark.spec("LFD-62")
@pytest.mark.parametrize(
    ("data", "kernel", "threshold"),
    [(lfd_toy, "linear", 1.0), (xor, QUADRATIC, 1 / 8)],
    ids=["toy", "exclusive or"],
)
def test_threshold_to_the_hard_margin(data: Any, kernel: Any, threshold: float) -> None:
    X, y = data()
    hard = SVC(kernel=kernel, C=np.inf, tol=1e-9).fit(X, y)
    assert hard_margin_threshold(hard, X, y) == pytest.approx(threshold, abs=1e-8)
    at = SVC(kernel=kernel, C=threshold, **EXACT).fit(X, y)
    assert at.decision_function(X) == pytest.approx(hard.decision_function(X), abs=1e-9)
    below = SVC(kernel=kernel, C=0.99 * threshold, **EXACT).fit(X, y)
    assert below.margin_ > hard.margin_ * 1.001


@pytest.mark.spec("LFD-62")
def test_threshold_shares_the_multipliers_of_copies() -> None:
    X, y = lfd_toy()
    X, y = np.vstack([X, X[2:3]]), np.append(y, y[2])  # the point with multiplier 1 twice
    hard = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y)
    assert hard_margin_threshold(hard, X, y) == pytest.approx(0.5, abs=1e-8)


@pytest.mark.spec("LFD-63")
def test_hinge_error_bounds_the_training_error() -> None:
    X, y = lfd_toy()
    f = toy(0.5).decision_function(X)
    assert Hinge().value(y, f).mean() == pytest.approx(1 / 6, abs=1e-9)
    assert ZeroOne().value(y, f).mean() == 0.0
    rng = np.random.default_rng(12)
    y, f = rng.choice([-1.0, 1.0], 200), rng.normal(size=200)
    assert (Hinge().value(y, f) >= ZeroOne().value(y, f)).all()
    assert ZeroOne().value(y, f).mean() == (np.sign(f) != y).mean()


@pytest.mark.spec("LFD-64")
def test_regularised_form_on_the_toy_set() -> None:
    X, y = lfd_toy()
    C, n = 0.5, 4
    lam = 1 / (2 * C * n)
    assert lam == 0.25
    model = toy(1.0, lam=lam)  # C stays at its default, which lam replaces
    assert abs(model.C_ - C) < 1e-15
    w = model.coef_[0]
    assert w == pytest.approx(toy(C).coef_[0], abs=1e-12)
    error = Hinge().value(y, model.decision_function(X)).mean()
    assert lam * w @ w == pytest.approx(2 / 9, abs=1e-9)
    assert lam * w @ w + error == pytest.approx(7 / 18, abs=1e-9)
    assert lam * w @ w + error == pytest.approx(model.certificate_.primal / (C * n), abs=1e-9)
    with pytest.raises(ValueError, match="lam"):
        toy(C, lam=lam)
