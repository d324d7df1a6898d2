"""Cristianini and Shawe-Taylor: the maximal margin classifier (CS-6.01 to CS-6.12)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mercer import SVC
from mercer.capacity import compression_bound, loo_bound
from mercer.data import TrainingSet, xor
from mercer.geometry.hyperplanes import (
    canonicalize,
    functional_margin,
    geometric_margin,
    margin,
    signed_distance,
)
from mercer.gram import Gram
from mercer.kernels import RBF, Definiteness, Linear
from mercer.run import Run
from mercer.solvers import (
    DualProblem,
    Settings,
    hard_margin_primal_matrices,
    solve,
    svm_dual_matrices,
)
from mercer.solvers.prove.primal_dual import hard_margin_values
from tests.literature.problems import (
    CLOUDS_KERNEL,
    QUADRATIC,
    clouds,
    quadratic_program,
    separated,
    signed,
    three_points,
)

HARD: dict[str, Any] = {"C": np.inf, "tol": 1e-8}
NARROW = RBF(5.0)  # narrow enough for a margin between the overlapping clouds


@pytest.mark.spec("CS-6.01")
def test_rescaling_changes_the_functional_margin_and_not_the_geometric_one() -> None:
    X, y = separated()
    w, b = np.array([1.0, 0.2]), 0.1
    assert functional_margin(w, b, X, y) == pytest.approx(y * (X @ w + b), abs=1e-14)
    for factor in (1e-3, 7.0):
        scaled = factor * w, factor * b
        assert functional_margin(*scaled, X, y) == pytest.approx(
            factor * functional_margin(w, b, X, y), rel=1e-12
        )
        assert geometric_margin(*scaled, X, y) == pytest.approx(
            geometric_margin(w, b, X, y), rel=1e-12
        )
    unit = np.linalg.norm(w)
    assert geometric_margin(w, b, X, y) == pytest.approx(
        functional_margin(w / unit, b / unit, X, y), rel=1e-12
    )


@pytest.mark.spec("CS-6.01")
def test_the_canonical_hyperplane_has_margin_one_over_its_norm() -> None:
    X, y = separated()
    plane = canonicalize([1.0, 0.2], 0.1, X, y)
    assert functional_margin(plane.w, plane.b, X, y).min() == pytest.approx(1.0, rel=1e-12)
    assert margin(plane.w, plane.b, X, y) == pytest.approx(1 / np.linalg.norm(plane.w), rel=1e-12)
    model = SVC(kernel="linear", **HARD).fit(X, y)
    w = model.coef_[0]
    plus = model.support_vectors_[model.dual_coef_[0] > 0]
    minus = model.support_vectors_[model.dual_coef_[0] < 0]
    halves = (signed_distance(plus, w, 0.0)[:, None] - signed_distance(minus, w, 0.0)) / 2
    assert halves == pytest.approx(np.full(halves.shape, model.margin_), rel=1e-9)
    assert model.margin_ == pytest.approx(margin(w, model.intercept_[0], X, y), rel=1e-9)


@pytest.mark.spec("CS-6.02")
def test_hard_margin_of_three_points() -> None:
    X, y = three_points()
    model = SVC(kernel="linear", **HARD).fit(X, y)
    assert model.coef_[0] == pytest.approx([1.0, 1.0], abs=1e-10)
    assert model.intercept_[0] == pytest.approx(-1.0, abs=1e-10)
    assert model.margin_ == pytest.approx(math.sqrt(0.5), abs=1e-10)


@pytest.mark.spec("CS-6.02")
def test_hard_margin_equals_a_general_solver_of_the_primal() -> None:
    X, y = separated()
    u = quadratic_program(*hard_margin_primal_matrices(X, y))
    model = SVC(kernel="linear", **HARD).fit(X, y)
    assert [model.intercept_[0], *model.coef_[0]] == pytest.approx(u, abs=1e-7)


@pytest.mark.spec("CS-6.03", "CS-6.06")
def test_exclusive_or_by_hand() -> None:
    X, y = xor()
    model = SVC(kernel=QUADRATIC, **HARD).fit(X, y)
    assert model.alpha_ == pytest.approx(np.full(4, 1 / 8), abs=1e-12)
    assert signed(model, 4) == pytest.approx(y / 8, abs=1e-12)
    assert model.alpha_.sum() == pytest.approx(1 / 2, abs=1e-12)
    assert model.certificate_.dual == pytest.approx(1 / 4, abs=1e-12)
    assert model.margin_ == pytest.approx(math.sqrt(2), abs=1e-12)
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-12)
    Z = np.random.default_rng(0).normal(size=(10, 2))
    assert model.decision_function(Z) == pytest.approx(-Z[:, 0] * Z[:, 1], abs=1e-12)


@pytest.mark.spec("CS-6.03")
def test_hard_margin_equals_a_general_solver_of_the_dual() -> None:
    X, y = clouds()
    X, y = X[12:28], y[12:28]
    alpha = quadratic_program(*svm_dual_matrices(NARROW(X), y))
    model = SVC(kernel=NARROW, **HARD).fit(X, y)
    assert model.alpha_ == pytest.approx(alpha, rel=1e-4, abs=1e-4)
    assert model.certificate_.dual == pytest.approx(
        alpha.sum() - 0.5 * (y * alpha) @ NARROW(X) @ (y * alpha), rel=1e-8
    )


@pytest.mark.spec("CS-6.04")
def test_midpoint_and_average_rule_give_one_bias() -> None:
    X, y = clouds()
    model = SVC(kernel=NARROW, **HARD).fit(X, y)
    f0 = NARROW(X) @ signed(model, 40)
    midpoint = -0.5 * (f0[y < 0].max() + f0[y > 0].min())
    average = (y - f0)[model.support_].mean()
    assert model.intercept_[0] == pytest.approx(midpoint, abs=1e-8)
    assert model.intercept_[0] == pytest.approx(average, abs=1e-8)


@pytest.mark.spec("CS-6.05")
def test_only_points_on_the_margin_have_multipliers() -> None:
    X, y = clouds()
    model = SVC(kernel=NARROW, **HARD).fit(X, y)
    margins = y * model.decision_function(X)
    assert margins.min() > 1 - 1e-8
    assert np.abs(model.alpha_ * (margins - 1)).max() < 1e-6
    assert model.alpha_[margins > 1 + 1e-6].tolist() == [0.0] * int((margins > 1 + 1e-6).sum())
    assert 2 <= len(model.support_) < 40


@pytest.mark.spec("CS-6.05")
def test_other_points_may_move_or_go() -> None:
    X, y = separated()
    model = SVC(kernel="linear", **HARD).fit(X, y)
    alone = model.refit_on_support()
    assert alone.coef_[0] == pytest.approx(model.coef_[0], abs=1e-9)
    assert alone.intercept_[0] == pytest.approx(model.intercept_[0], abs=1e-9)
    others = np.setdiff1d(np.arange(len(y)), model.support_)
    moved = X.copy()
    moved[others] += 3.0 * y[others, None] * model.coef_[0]  # away from the plane
    again = SVC(kernel="linear", **HARD).fit(moved, y)
    assert again.coef_[0] == pytest.approx(model.coef_[0], abs=1e-9)
    assert again.intercept_[0] == pytest.approx(model.intercept_[0], abs=1e-9)


@pytest.mark.spec("CS-6.06")
def test_the_margin_is_the_sum_of_the_multipliers_to_the_power_minus_one_half() -> None:
    X, y = clouds()
    model = SVC(kernel=NARROW, **HARD).fit(X, y)
    alpha, H = model.alpha_, np.outer(y, y) * NARROW(X)
    assert alpha @ H @ alpha == pytest.approx(alpha.sum(), rel=1e-9)
    assert model.margin_ == pytest.approx(alpha.sum() ** -0.5, rel=1e-9)
    for value in (0.5 * alpha.sum(), 0.5 * alpha @ H @ alpha, 0.5 / model.margin_**2):
        assert model.certificate_.dual == pytest.approx(value, rel=1e-9)


@pytest.mark.spec("CS-6.07")
def test_multipliers_of_copies_may_be_shared_in_any_way() -> None:
    X, y = three_points()
    X, y = np.vstack([X, X[:1]]), np.append(y, y[0])  # (1, 1) twice
    model = SVC(kernel="linear", **HARD).fit(X, y)
    assert model.coef_[0] == pytest.approx([1.0, 1.0], abs=1e-10)
    assert model.alpha_[[0, 3]].sum() == pytest.approx(1.0, abs=1e-10)
    problem = DualProblem(
        np.where(y > 0, 0, -np.inf), np.where(y > 0, np.inf, 0), -y, group=np.zeros(4, np.int64)
    )
    gram = Gram(Linear(), X, "float64")
    for share in (0.0, 0.3, 1.0):
        start = np.array([share, 0.0, -1.0, 1.0 - share])
        found = solve(problem, gram, Settings(tol=1e-10), start=start)
        assert found.n_iter == 0  # every share is optimal
        assert found.beta.tolist() == start.tolist()
        assert found.objective == pytest.approx(-1.0, abs=1e-12)


@pytest.mark.spec("CS-6.07")
def test_signs_keep_a_kernel_matrix_semidefinite_and_the_optimum_unique() -> None:
    X, y = clouds()
    assert CLOUDS_KERNEL.definiteness is Definiteness.POSITIVE_DEFINITE
    assert np.linalg.eigvalsh(np.outer(y, y) * CLOUDS_KERNEL(X))[0] > -1e-12
    box = DualProblem(np.minimum(y, 0), np.maximum(y, 0), -y, group=np.zeros(40, np.int64))
    gram = Gram(CLOUDS_KERNEL, X, "float64")
    rng = np.random.default_rng(2)
    found = []
    for _ in range(4):  # no local optima: every feasible start ends in the same point
        alpha = rng.permutation(np.linspace(0, 1, 20))
        start = np.concatenate([alpha, -rng.permutation(alpha)])
        found.append(solve(box, gram, Settings(tol=1e-10), start=start))
    for one in found:
        assert one.beta == pytest.approx(found[0].beta, abs=1e-8)
        assert one.objective == pytest.approx(-20.8341337, abs=1e-7)


@pytest.mark.spec("CS-6.08", "CS-0.13", code="src/mercer/data/_training_set.py")
def test_radius_margin_ratio_of_exclusive_or() -> None:
    X, y = xor()
    radius = TrainingSet(X, y).radius(QUADRATIC)  # sqrt(max K(x, x)), as corrected
    model = SVC(kernel=QUADRATIC, **HARD).fit(X, y)
    assert radius**2 == pytest.approx(9.0, abs=1e-12)
    assert radius**2 / model.margin_**2 == pytest.approx(4.5, abs=1e-10)


@pytest.mark.spec("CS-6.09")
def test_feasibility_gap_is_a_true_gap_only_for_a_feasible_machine() -> None:
    X, y = clouds()
    K = NARROW(X)
    gram = Gram(NARROW, X, "float64")
    problem = DualProblem(
        np.where(y > 0, 0, -np.inf), np.where(y > 0, np.inf, 0), -y, group=np.zeros(40, np.int64)
    )
    best = SVC(kernel=NARROW, **HARD).fit(X, y).certificate_
    optimum, misleading = best.primal, 0
    for steps in (10, 30, 100, 300):
        found = solve(problem, gram, Settings(tol=1e-8), run=Run(max_iter=steps))
        alpha, f = y * found.beta, found.values - found.multiplier[0]
        norm2 = found.beta @ K @ found.beta
        dual = alpha.sum() - 0.5 * norm2
        # W - |w|^2 / 2 is minus the sum of the complementarity products: b drops out.
        assert dual - 0.5 * norm2 == pytest.approx(-(alpha @ (y * f - 1)), abs=1e-9)
        proof = hard_margin_values(y, found.beta, found.values, f, np.zeros(1, np.intp))[0]
        assert proof.dual == pytest.approx(dual, rel=1e-12)
        # The proof brackets the optimum; |w|^2 / 2 of an infeasible machine need not.
        assert proof.dual <= best.primal
        assert best.dual <= proof.primal
        misleading += (y * f).min() < 1 and 0.5 * norm2 < optimum
    assert misleading == 4


@pytest.mark.spec("CS-6.09")
def test_feasibility_gap_vanishes_at_the_optimum() -> None:
    X, y = clouds()
    model = SVC(kernel=NARROW, **HARD).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert 0 <= model.certificate_.relative_gap < 1e-9
    assert (y * model.decision_function(X)).min() > 1 - 1e-9


@pytest.mark.spec("CS-6.10")
def test_compression_bound_in_both_bases() -> None:
    assert compression_bound(50, 1000, 0.05) == pytest.approx(0.31844, abs=5e-6)
    assert compression_bound(50, 1000, 0.05, base=math.e) == pytest.approx(0.22073, abs=5e-6)
    by_hand = (50 * math.log2(math.e * 1000 / 50) + math.log2(1000 / 0.05)) / 950
    assert compression_bound(50, 1000, 0.05) == pytest.approx(by_hand, rel=1e-14)


@pytest.mark.spec("CS-6.11")
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_leaving_one_out_errs_at_most_on_support_vectors(seed: int) -> None:
    X, y = separated(n=8, gap=0.3, seed=seed)
    model = SVC(kernel="linear", **HARD).fit(X, y)
    errors = 0
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        without = SVC(kernel="linear", **HARD).fit(X[rest], y[rest])
        errors += int(without.predict(X[i : i + 1])[0] != y[i])
        if i not in model.support_:
            assert without.coef_[0] == pytest.approx(model.coef_[0], abs=1e-8)
    bound = loo_bound(len(model.support_), len(y))
    assert bound == len(model.support_) / 16
    assert errors / len(y) <= bound < 1


@pytest.mark.spec("CS-6.12", code="src/mercer/machines/support_vector/fitted.py")
@pytest.mark.parametrize("flipped", [2, 17, 30])
def test_a_wrong_label_has_the_largest_multiplier(flipped: int) -> None:
    rng = np.random.default_rng(flipped)
    y = np.repeat([1.0, -1.0], 20)
    X = rng.normal(size=(40, 2)) + 3.0 * y[:, None]
    X[flipped] = 3.0 * y[flipped]  # deep inside its class
    y[flipped] *= -1
    model = SVC(kernel="rbf", gamma=0.5, **HARD).fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.argmax(model.alpha_) == flipped
