"""Bounds and estimates of the leave-one-out error against the exact one."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, OneClassSVM
from mercer.capacity import leave_one_out, loo_estimates
from mercer.kernels import ThinPlate

TOY = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
LABELS = np.array([-1, -1, 1, 1])
BOUNDS = ("support_vectors", "xi_alpha", "jaakkola_haussler", "radius_margin")


def clouds(seed, n=24):
    """Return overlapping clouds in the plane with their labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return 0.9 * rng.normal(size=(n, 2)) + np.array([[1, 0], [-1, 0]])[y], y


@pytest.mark.spec("LFD-26")
def test_support_vectors_bound_the_leave_one_out_error_of_the_toy_set():
    model = SVC(kernel="linear", C=np.inf).fit(TOY, LABELS)
    made = loo_estimates(model, TOY, LABELS, kind="support_vectors")
    assert made.value == 0.75
    assert made.certified
    assert made.value >= leave_one_out(model, TOY, LABELS).error


@pytest.mark.spec("CS-6.46", "LFD-26")
@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "linear", "C": 1.0},
        {"gamma": 0.7, "C": 0.3, "fit_intercept": False},
        {"gamma": 0.7, "C": 30.0},
        {"gamma": 3.0, "C": np.inf},
        {"gamma": 3.0, "C": np.inf, "fit_intercept": False},
        {"gamma": 0.7, "C": 2.0, "penalty_norm": 2},
        {"gamma": 0.7, "class_weight": {0: 1.0, 1: 4.0}},
    ],
)
def test_certified_bounds_dominate_the_exact_error(params):
    checked = 0
    for seed in range(3):
        X, y = clouds(seed)
        model = SVC(tol=1e-6, **params).fit(X, y)
        exact, found = leave_one_out(model, X, y).error, loo_estimates(model, X, y)
        certified = [name for name in BOUNDS if name in found and found[name].certified]
        for name in certified:
            assert found[name].value >= exact, name
        checked += len(certified)
    assert checked >= 3


@pytest.mark.spec("CS-6.46")
def test_jaakkola_haussler_is_a_bound_without_an_intercept_only():
    X, y = clouds(0)
    with_b = SVC(gamma=0.7).fit(X, y)
    without = SVC(gamma=0.7, fit_intercept=False).fit(X, y)
    assert not loo_estimates(with_b, X, y, kind="jaakkola_haussler").certified
    made = loo_estimates(without, X, y, kind="jaakkola_haussler")
    assert made.certified
    f = without.decision_function(X) * np.where(y == 1, 1, -1)
    flagged = (without.alpha_ > 0) & (without.alpha_ >= f)  # k(x, x) = 1
    assert made.value == flagged.mean()


@pytest.mark.spec("CS-6.46")
def test_the_span_rule_gives_the_left_out_values_while_the_sets_stay():
    """Ridge regression keeps every row in the set, so the rule is the exact formula."""
    X, _ = clouds(1)
    y = np.sin(X[:, 0])
    for fit_intercept in (True, False):
        model = SVR(
            loss="squared_epsilon_insensitive",
            epsilon=0.0,
            C=3.0,
            gamma=0.5,
            tol=1e-10,
            fit_intercept=fit_intercept,
        ).fit(X, y)
        made = loo_estimates(model, X, y, kind="span")
        assert made.value == pytest.approx(leave_one_out(model, X, y).error, rel=1e-6)


@pytest.mark.spec("CS-6.46")
def test_the_span_counts_distances_from_the_other_support_vectors():
    # Distances 2, 2 and sqrt(2) of three corners from the line through the other two.
    model = SVC(kernel="linear", C=np.inf).fit(TOY, LABELS)
    assert model.alpha_ == pytest.approx([0.5, 0.5, 1.0, 0.0])
    assert loo_estimates(model, TOY, LABELS, kind="span").value == 0.75  # 2, 2 and 2 >= 1


@pytest.mark.spec("CS-6.46")
def test_gacv_adds_the_leverage_of_the_rows_in_the_margin_to_the_training_loss():
    X, y = clouds(2)
    model = SVC(gamma=0.7, C=0.5, tol=1e-8).fit(X, y)
    agreement = model.decision_function(X) * np.where(y == 1, 1, -1)
    twice = 1.0 + (agreement < -1)
    expected = np.maximum(0, 1 - agreement).mean() + np.mean(twice * model.alpha_)
    made = loo_estimates(model, X, y, kind="gacv")
    assert made.value == pytest.approx(expected)
    assert made.quantity == "hinge loss"


@pytest.mark.spec("CS-6.46")
def test_radius_and_margin_of_the_toy_set():
    model = SVC(kernel="linear", C=np.inf).fit(TOY, LABELS)
    made = loo_estimates(model, TOY, LABELS, kind="radius_margin")
    # Smallest ball of the four points: its centre is equidistant from (0, 0), (2, 2), (3, 0).
    assert made.value == pytest.approx(4 * 2.5 / 0.5 / 4, rel=1e-4)


def test_conditions_say_when_nothing_holds():
    X, y = clouds(0)
    small = SVC(gamma=0.7, C=1e-3).fit(X, y)
    assert len(small.free_support_) == 0
    assert not loo_estimates(small, X, y, kind="support_vectors").certified
    assert "span" not in loo_estimates(small, X, y)
    nu = NuSVC(gamma=0.7, nu=0.4).fit(X, y)
    assert not any(loo_estimates(nu, X, y)[name].certified for name in ("xi_alpha", "gacv"))


def test_what_does_not_apply_is_refused_with_its_reason():
    X, y = clouds(0)
    three = np.arange(24) % 3
    assert set(loo_estimates(SVC().fit(X, three), X, three)) == {"support_vectors"}
    assert loo_estimates(OneClassSVM().fit(X), X, None) == {}
    target = X[:, 0]
    assert set(loo_estimates(SVR().fit(X, target), X, target)) == {"span"}
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="hard or squared margins; this one is linear"):
        loo_estimates(model, X, y, kind="radius_margin")
    with pytest.raises(ValueError, match="kind must be one of"):
        loo_estimates(model, X, y, kind="bootstrap")
    thin = SVC(kernel=ThinPlate()).fit(X, y)
    with pytest.raises(ValueError, match="needs a feature space"):
        loo_estimates(thin, X, y, kind="xi_alpha")


@pytest.mark.spec("CS-6.46")
@pytest.mark.parametrize("weights", [None, "balanced"])
def test_xi_alpha_is_no_bound_where_the_refits_lose_their_free_support_vectors(weights):
    """With a small C nearly all multipliers are bounded, and a row left out tips the intercept."""
    X, y = clouds(4, n=15)
    model = SVC(gamma=0.5, C=0.1, tol=1e-8, class_weight=weights).fit(X, y)
    found = leave_one_out(model, X, y)
    made = found["xi-alpha"]
    assert made.value < found.error
    assert not made.certified
    words = "free support vector" if weights is None else "one price"
    assert any(words in c.what for c in made.violated)
    assert loo_estimates(model, X, y, kind="xi_alpha").assumes  # not known without the refits


def test_the_only_member_of_a_class_is_counted_by_every_bound():
    X, y = np.array([[-2.0], [-1.0], [1.5]]), np.array([0, 0, 1])
    for C in (0.1, np.inf):
        model = SVC(kernel="linear", C=C, fit_intercept=False).fit(X, y)
        found = leave_one_out(model, X, y)
        assert found.losses[2] == 1
        for statement in found.statements:
            if statement.kind == "leave-one-out bound":
                assert statement.bound.value >= found.error, statement.name
