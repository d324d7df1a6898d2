"""Leave-one-out by refits of support vectors: against training on every remainder from scratch."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mercer import SVC, SVR, NuSVC, OneClassSVM
from mercer.capacity import leave_one_out, loo_estimates
from mercer.capacity.loo_exact import TITLES
from mercer.kernels import RBF, Linear

TOY = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
LABELS = np.array([-1, -1, 1, 1])


def clouds(n=40, k=2, seed=0):
    """Return overlapping clouds in the plane with their labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return 0.9 * rng.normal(size=(n, 2)) + np.array([[1, 0], [-1, 0], [0, 1.5]])[y], y


def brute_force(make, X, y=None, weight=None):
    """Return the errors of machines trained without each row."""
    losses = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        machine = make()
        targets = () if y is None else (y[rest],)
        machine.fit(X[rest], *targets, sample_weight=None if weight is None else weight[rest])
        predicted = machine.predict(X[[i]])[0]
        if y is None:
            losses.append(predicted < 0)
        else:
            losses.append(
                predicted != y[i] if hasattr(machine, "classes_") else (predicted - y[i]) ** 2
            )
    return np.array(losses, dtype=float)


@pytest.mark.spec("LFD-25")
def test_leave_one_out_error_of_the_toy_set():
    found = leave_one_out(SVC(kernel="linear", C=np.inf).fit(TOY, LABELS), TOY, LABELS)
    assert found.losses.tolist() == [1, 1, 0, 0]
    assert found.error == 0.5
    assert found.interval == (0.5, 0.5)
    without = [([0, -1], 1), ([1, 0], -1), ([2 / 3, -2 / 3], -1), ([1, -1], -1)]
    for i, (w, b) in enumerate(without):
        rest = np.delete(np.arange(4), i)
        model = SVC(kernel="linear", C=np.inf).fit(TOY[rest], np.asarray(LABELS)[rest])
        assert model.coef_[0] == pytest.approx(w, abs=1e-9)
        assert model.intercept_[0] == pytest.approx(b, abs=1e-9)


@pytest.mark.spec("LFD-27")
def test_essential_support_vectors_of_the_toy_set():
    hard = SVC(kernel="linear", C=np.inf)
    assert leave_one_out(hard.fit(TOY, LABELS), TOY, LABELS).essential.tolist() == [0, 1, 2]
    # With a copy of point 3 neither copy is needed.
    X, y = np.vstack([TOY, TOY[2]]), np.append(LABELS, 1)
    found = leave_one_out(hard.fit(X, y), X, y)
    assert found.essential.tolist() == [0, 1]
    assert found.error == 2 / 5


@pytest.mark.spec("LFD-25", "LFD-26", "LFD-29", "CS-6.46")
@pytest.mark.parametrize(
    "params",
    [
        {"C": np.inf, "gamma": 3.0},
        {"C": 1.0, "gamma": 0.7},
        {"C": 2.0, "gamma": 0.7, "fit_intercept": False},
        {"C": 2.0, "gamma": "scale", "penalty_norm": 2},
        {"C": 1.0, "gamma": 0.7, "class_weight": "balanced"},
    ],
    ids=str,
)
def test_one_call_gives_the_exact_error_with_all_its_bounds(params):
    X, y = clouds(n=30)
    model = SVC(tol=1e-6, **params).fit(X, y)
    found = leave_one_out(model, X, y)
    names = {"essential support vectors", "support vectors", "xi-alpha", "span", "GACV"}
    names |= {"radius and margin", "Jaakkola-Haussler"}
    assert {s.name for s in found.statements} | set(found.not_applicable) == {
        "leave-one-out",
        *names,
    }
    assert found["leave-one-out"].value == found.error
    for statement in found.statements:
        if statement.kind == "leave-one-out bound" and statement.bound.certified:
            assert statement.bound.value >= found.error, statement.name
        alone = {v: k for k, v in TITLES.items()}.get(statement.name)
        if alone:
            assert loo_estimates(model, X, y, kind=alone).value == statement.bound.value
    assert all(name in str(found) for name in names)
    limited = leave_one_out(model, X, y, time_limit=0)
    assert limited["leave-one-out so far"].value >= found.error
    assert limited["support vectors"] == found["support vectors"]


@pytest.mark.spec("LFD-25")
@pytest.mark.parametrize(
    ("make", "k"),
    [
        (lambda: SVC(gamma=0.5, C=2.0, tol=1e-6), 2),
        (lambda: SVC(kernel="linear", penalty_norm=2, tol=1e-6), 2),
        (lambda: SVC(gamma=0.5, tol=1e-6), 3),
        (lambda: SVC(gamma=0.5, multiclass="ovr", tol=1e-6), 3),
        (lambda: NuSVC(gamma=0.5, nu=0.3, tol=1e-6), 2),
    ],
)
def test_refits_of_support_vectors_equal_brute_force_for_classes(make, k):
    X, y = clouds(k=k)
    found = leave_one_out(make().fit(X, y), X, y)
    assert found.losses.tolist() == brute_force(make, X, y).tolist()


@pytest.mark.spec("LFD-25")
def test_refits_of_support_vectors_equal_brute_force_for_regression_and_one_class():
    X, _ = clouds()
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1]

    def regression():
        return SVR(gamma=0.5, C=2.0, tol=1e-8)

    found = leave_one_out(regression().fit(X, y), X, y)
    assert 0 < len(found.refitted) < len(X)
    assert found.losses == pytest.approx(brute_force(regression, X, y), abs=1e-7)

    def one_class():
        return OneClassSVM(gamma=0.5, nu=0.2, tol=1e-8)

    outliers = leave_one_out(one_class().fit(X), X)
    assert outliers.losses.tolist() == brute_force(one_class, X).tolist()


def test_kernel_and_class_weights_are_those_of_the_fit():
    X, y = clouds(n=30)
    y[:10] = 0
    model = SVC(class_weight="balanced", lam=0.02, tol=1e-6).fit(X, y)
    weights = dict(zip(model.classes_, model.class_weight_, strict=True))

    def held():
        return SVC(kernel=model.kernel_, C=model.C_, class_weight=weights, tol=1e-6)

    found = leave_one_out(model, X, y)
    assert found.losses.tolist() == brute_force(held, X, y).tolist()


def test_a_row_is_left_out_with_its_whole_weight():
    X, y = clouds(n=30)
    weight = 1.0 + np.arange(30) % 3
    weight[4] = 0.0

    def make():
        return SVC(gamma=0.5, tol=1e-6)

    found = leave_one_out(make().fit(X, y, weight), X, y, weight)
    assert found.rows.tolist() == [i for i in range(30) if i != 4]
    expected = brute_force(make, X, y, weight)
    assert found.losses.tolist() == np.delete(expected, 4).tolist()


def test_without_a_free_support_vector_every_row_is_refitted():
    """Here the interval of intercepts ends at rows that are not support vectors."""
    X = np.array([[-3.0], [-1.0], [1.0], [1.5], [4.0]])
    y = np.array([0, 0, 1, 1, 1])

    def make():
        return SVC(kernel="linear", C=0.01, tol=1e-8)

    model = make().fit(X, y)
    assert len(model.free_support_) == 0
    found = leave_one_out(model, X, y)
    assert len(found.refitted) == 5
    assert found.losses.tolist() == brute_force(make, X, y).tolist()


def test_the_only_member_of_a_class_is_an_error():
    X, y = [[0.0], [1.0], [2.0], [9.0]], [0, 0, 1, 2]
    found = leave_one_out(SVC(kernel="linear").fit(X, y), X, y)
    assert found.losses[2:].tolist() == [1, 1]


def test_a_precomputed_kernel_gives_the_same_errors():
    X, y = clouds()
    model = SVC(gamma=0.5, tol=1e-6).fit(X, y)
    K = model.kernel_(X)
    other = SVC(kernel="precomputed", tol=1e-6).fit(K, y)
    expected = leave_one_out(model, X, y)
    assert leave_one_out(other, K, y).losses.tolist() == expected.losses.tolist()


def test_the_time_limit_leaves_an_interval():
    X, y = clouds()
    model = SVC(gamma=0.5).fit(X, y)
    coef = model.dual_coef_.copy()
    exact, found = leave_one_out(model, X, y), leave_one_out(model, X, y, time_limit=0)
    assert not found.complete
    assert np.isnan(found.error)
    low, high = found.interval
    assert low <= exact.error <= high
    assert high == len(model.support_) / 40
    assert "not reached in time" in str(found)
    assert high == found["leave-one-out so far"].value
    np.testing.assert_array_equal(model.dual_coef_, coef)  # the model is not touched


def test_other_rows_are_refused():
    X, y = clouds()
    model = SVC(gamma=0.5).fit(X, y)
    with pytest.raises(ValueError, match="not optimal on these rows"):
        leave_one_out(model, X, np.where(np.arange(40) == 5, 1 - y, y))
    with pytest.raises(ValueError, match="40 training samples"):
        leave_one_out(model, X[:30], y[:30])
    with pytest.raises(ValueError, match="time_limit"):
        leave_one_out(model, X, y, time_limit=-1)
    with pytest.raises(TypeError, match="machines of mercer"):
        leave_one_out(object(), X, y)


def test_tubes_of_single_samples_are_left_out_with_their_rows():
    X, _ = clouds(n=20)
    y, tubes = np.sin(X[:, 0]), 0.05 * (np.arange(20) % 3)
    model = SVR(gamma=0.5, tol=1e-8).fit(X, y, sample_epsilon=tubes)
    found = leave_one_out(model, X, y, sample_epsilon=tubes)
    for i in found.refitted[::4]:
        rest = np.arange(20) != i
        refit = SVR(gamma=0.5, tol=1e-8).fit(X[rest], y[rest], sample_epsilon=tubes[rest])
        assert found.residuals[i] == pytest.approx(y[i] - refit.predict(X[[i]])[0], abs=1e-6)


@pytest.mark.filterwarnings("error")
def test_frames_give_what_their_numbers_give():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    frame = pd.DataFrame(X, columns=["age", "pay"])
    found = leave_one_out(SVC().fit(frame, y), frame, y)
    np.testing.assert_array_equal(found.losses, leave_one_out(SVC().fit(X, y), X, y).losses)


def test_the_only_row_cannot_be_left_out():
    X, y, weight = [[0.0], [1.0]], [0.0, 1.0], [0.0, 1.0]
    model = SVR().fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="two rows of positive weight"):
        leave_one_out(model, X, y, weight)


def test_specks_of_rounding_choose_no_end_of_an_interval_of_intercepts():
    X = [[9999.5980040468, 10000.554779623002], [10001.269301845392, 9999.395138265585]]
    X += [[9999.403597922174, 9998.430109082236], [9999.948663173238, 10000.329335723418]]
    X = np.array([*X, [9999.060949791987, 9999.806692056258]])
    y = [0.16138499645191579, -0.9777254790292019, 0.26207800099346096, 0.06117097158574397]
    y = np.array([*y, 0.6661623845420136])
    model = SVR(kernel=RBF(2.0) + 0.1 * Linear(), C=0.2799926822906102, tol=1e-8).fit(X, y)
    found = leave_one_out(model, X, y)
    for i in (2, 3):
        others = np.arange(5) != i
        alone = clone(model).fit(X[others], y[others])
        assert alone.intercept_range_[0] < alone.intercept_range_[1]
        assert found.losses[i] == pytest.approx((y[i] - alone.predict(X[[i]])[0]) ** 2, abs=1e-6)


@pytest.mark.filterwarnings("ignore:SVC. the intercept is not unique")
def test_far_from_the_origin_only_ties_may_be_counted_either_way():
    """Row 1 lies on the line between two classes: its value is 0, and rounding gives it a label."""
    points = [[2, -3], [1, -1], [0, 1], [0, 1], [-1, 0], [-3, 1], [-2, 1], [-1, -1], [-2, -1]]
    points = np.array([*points, [-1, 1], [1, 1], [0, 1]], dtype=float)
    y = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3, 1, 0, 2])

    def machine():
        return SVC(kernel="linear", C=0.46411518791891154, decision_function_shape="ovo")

    def smallest(i):
        others = np.arange(len(y)) != i
        values = machine().fit(points[others], y[others]).decision_function(points[[i]])
        return np.abs(values).min()

    tied = np.array([smallest(i) < 1e-12 for i in range(len(y))])
    assert tied[1]
    assert not tied.all()
    near = brute_force(machine, points, y)
    for offset in (0.0, 104720.0, 1e6):
        X = points + offset
        found = leave_one_out(machine().fit(X, y), X, y).losses
        assert found[~tied].tolist() == near[~tied].tolist()
        assert found[~tied].tolist() == brute_force(machine, X, y)[~tied].tolist()


def test_nothing_is_certified_where_a_nu_classifier_has_no_margin():
    """Labels drawn at random: the reduced hulls meet, and the labels of f = 0 are rounding."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = NuSVC(nu=0.8, kernel="linear")
    with pytest.warns(UserWarning, match="rho_ is 0"):
        model.fit(X, y)
    assert model.rho_ == 0.0
    said = {s.name: s.bound for s in leave_one_out(model, X, y).statements}
    assert not any(bound.certified for bound in said.values())
    apart = NuSVC(nu=0.2, kernel="linear").fit(X + 4.0 * y[:, None], y)
    said = {s.name: s.bound for s in leave_one_out(apart, X + 4.0 * y[:, None], y).statements}
    assert said["essential support vectors"].certified
