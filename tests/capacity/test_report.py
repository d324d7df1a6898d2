"""The report of a fitted machine: what it says, of which machines, under which conditions."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from mercer import LSSVC, LSSVR, SVC, SVR, KernelRidge, NuSVC, OneClassSVM
from mercer.capacity import (
    best_bound,
    compression_bound,
    generalization_report,
    leave_one_out,
    vc_bound,
)
from mercer.kernels import RBF

TOY = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
LABELS = np.array([-1, -1, 1, 1])


def clouds(n=60, spread=0.6, k=2):
    """Return clouds in the plane with their labels."""
    y = np.arange(n) % k
    centres = np.array([[1, 0], [-1, 0], [0, 1.5]])
    return spread * np.random.default_rng(0).normal(size=(n, 2)) + centres[y], y


@pytest.mark.spec("LFD-29")
def test_the_guarantees_of_the_toy_set():
    report = SVC(kernel="linear", C=np.inf).fit(TOY, LABELS).generalization_report(TOY, LABELS)
    assert report["dimension of hyperplanes"].value == 3
    assert report["perceptron"].value == pytest.approx(4.5)
    assert report["dimension with this margin"].value == 3
    assert report["support vectors"].value == 0.75
    assert report["leave-one-out"].value == 0.5


@pytest.mark.spec("LFD-29", "LFD-27")
def test_vacuous_bounds_say_at_which_number_of_samples_they_stop_being_so():
    X, y = clouds(spread=0.25)
    report = SVC(kernel="linear", C=np.inf).fit(X, y).generalization_report(X, y)
    assert {"hard margin", "soft margin"} <= set(report.vacuous)
    assert "support vectors" not in report.vacuous
    for name in ("hard margin", "soft margin"):
        m = report.vacuous[name]
        assert m is not None
        assert report[name].at(n_samples=m).value < 1 <= report[name].at(n_samples=m - 1).value
    exact = report["leave-one-out"].value
    assert exact <= report["essential support vectors"].value <= report["support vectors"].value


def test_the_best_guarantee_shares_the_confidence():
    X, y = clouds(spread=0.25)
    model = SVC(kernel="linear", C=np.inf).fit(X, y)
    report = model.generalization_report(X, y, holdout=clouds(n=400, spread=0.25))
    shared = report["hold-out"].at(delta=0.05 / 5).value  # of five certified guarantees or fewer
    assert report["hold-out"].value < report.best.value <= shared
    assert report.best.delta == 0.05


def test_conditions_of_an_inconsistent_machine():
    X, y = clouds(spread=1.0)
    model = SVC(gamma=0.5).fit(X, y)
    report = model.generalization_report(X, y)
    assert report.training_error == np.mean(model.predict(X) != y) > 0
    assert not report["compression"].certified
    assert "hard margin" in report.not_applicable
    entropy = report["entropy numbers"]
    assert any("size, offset and radius were fixed before" in c.what for c in entropy.violated)
    with pytest.raises(KeyError, match="training errors"):
        report["hard margin"]
    with pytest.raises(KeyError, match="no statement"):
        report["magic"]


def test_a_model_tuned_on_the_same_rows_has_a_hold_out_bound_only():
    X, y = clouds(spread=0.25)
    model = SVC(kernel="linear", C=np.inf).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the caller said so, and the table repeats it
        report = model.generalization_report(X, y, tuned=True, holdout=clouds(n=100))
        assert generalization_report(model, X, y, tuned=True).best is None
    assert report.best.name == "best of 1: test_set_bound"
    assert not report["compression"].certified
    assert "tuned on the same rows" in str(report)
    assert model.generalization_report(X, y, tuned=False)["compression"].certified
    scaled = SVC().fit(X, y).generalization_report(X, y, tuned=False)["compression"]
    assert any("without these rows" in what for what in scaled.assumes)  # gamma="scale"


def test_what_applies_to_other_machines():
    X, y = clouds(k=3)
    report = SVC().fit(X, y).generalization_report(X, y)
    assert report.kind == "multiclass"
    assert {s.name for s in report.statements} == {
        "leave-one-out",
        "essential support vectors",
        "support vectors",
        "compression",
    }
    assert report["leave-one-out"] <= report["essential support vectors"]
    target = np.sin(X[:, 0])
    machine = SVR().fit(X, target)
    report = machine.generalization_report(X, target, theta=0.5, holdout=(X, target))
    assert {s.name for s in report.statements} == {
        "leave-one-out",
        "span",
        "slacks of regression",
        "sum of squares",
        "hold-out",
    }
    assert "theta=" in machine.generalization_report(X, target).not_applicable["sum of squares"]
    report = OneClassSVM(nu=0.2).fit(X).generalization_report(X)
    assert [s.name for s in report.statements] == ["leave-one-out"]
    assert report["leave-one-out"].value == leave_one_out(OneClassSVM(nu=0.2).fit(X), X).error


def test_the_time_limit_of_the_exact_error():
    X, y = clouds(spread=1.0)
    model = SVC(gamma=0.5).fit(X, y)
    report = model.generalization_report(X, y, time_limit=0)
    assert report["leave-one-out so far"].value == len(model.support_) / 60
    assert report.statements[0].says == "incomplete"
    nu = NuSVC(gamma=0.5, nu=0.4).fit(X, y).generalization_report(X, y, time_limit=0)
    assert nu["essential support vectors"].value == 1.0


def test_table_picture_and_plain_parts():
    pytest.importorskip("matplotlib")
    X, y = clouds(spread=0.25)
    report = SVC(kernel="linear", C=np.inf).fit(X, y).generalization_report(X, y)
    lines = str(report).splitlines()
    assert lines[1].split() == [
        "statement",
        "kind",
        "quantity",
        "value",
        "says",
        *lines[1].split()[5:],
    ]
    assert json.loads(json.dumps(report.to_dict()))["n_samples"] == 60
    ax = report.plot()
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert {"leave-one-out", "compression"} <= set(shown)
    ax.figure.clear()


def test_bad_input_is_refused():
    X, y = clouds()
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        model.generalization_report(X, y, delta=1.0)
    for theta in (0.0, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"theta.* positive and finite"):
            model.generalization_report(X, y, theta=theta)
    with pytest.raises(ValueError, match="not optimal on these rows"):
        model.generalization_report(X, np.where(np.arange(60) == 5, 1 - y, y))
    with pytest.raises(AttributeError):
        SVC().generalization_report(X, y)
    with pytest.raises(TypeError, match="machines of mercer"):
        generalization_report(object(), X, y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [KernelRidge(0.3, kernel="rbf"), LSSVR(C=2.0)], ids=repr)
def test_leave_one_out_of_ridge_regression_equals_its_refits(model, weighted):
    X = np.random.default_rng(1).normal(size=(25, 2))
    y = np.sin(X[:, 0])
    model = clone(model).set_params(gamma=0.5)
    weight = np.linspace(0.0, 2.0, 25) if weighted else np.ones(25)
    found = leave_one_out(clone(model).fit(X, y, weight), X, y, weight)
    for i, residual in zip(found.rows[::6], found.residuals[::6], strict=True):
        without = np.where(np.arange(25) == i, 0.0, weight)
        expected = y[i] - clone(model).fit(X, y, without).predict(X[i : i + 1])[0]
        assert residual == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_leave_one_out_of_a_least_squares_classifier_equals_its_refits(k):
    X, y = clouds(n=30, spread=1.0, k=k)
    model = LSSVC(C=3.0, kernel=RBF(0.5)).fit(X, y)
    found = leave_one_out(model, X, y)
    rest = np.arange(30)
    refits = [clone(model).fit(X[rest != i], y[rest != i]).predict(X[i : i + 1]) for i in rest]
    assert 0 < found.error < 1
    np.testing.assert_array_equal(found.losses, np.ravel(refits) != y)


def test_leave_one_out_of_a_balanced_classifier_holds_the_class_weights():
    X, y = clouds(n=30, spread=1.2)
    X, y = X[y + np.arange(30) % 3 < 3], y[y + np.arange(30) % 3 < 3]
    model = LSSVC(C=0.5, kernel=RBF(0.5), class_weight="balanced").fit(X, y)
    weights = len(y) / (2 * np.bincount(y))
    held = clone(model).set_params(class_weight=dict(enumerate(weights)))
    values = model.leave_one_out_values(X, y)
    for i in range(0, len(y), 4):
        rest = np.arange(len(y)) != i
        refit, recounted = (clone(m).fit(X[rest], y[rest]) for m in (held, model))
        assert values[i] == pytest.approx(refit.decision_function(X[i : i + 1])[0])
        assert values[i] != pytest.approx(recounted.decision_function(X[i : i + 1])[0], rel=1e-4)
    assert leave_one_out(model, X, y).error == np.mean((values > 0) != y)


@pytest.mark.spec("CS-4.37")
def test_the_report_of_ridge_regression_takes_the_offset_as_a_coordinate():
    X = np.linspace(-2, 2, 30)[:, None]
    y = 3.0 + np.sin(2 * X[:, 0])
    model = LSSVR(kernel=RBF(1.0), C=5.0).fit(X, y)
    report = model.generalization_report(X, y, theta=0.5)
    made = report["sum of squares"]
    K = np.exp(-((X - X.T) ** 2))
    norm2 = model.dual_coef_ @ K @ model.dual_coef_  # k(x, x) = 1, so that R = 1
    assert made.inputs["w_norm"] == pytest.approx(np.sqrt(norm2 + model.intercept_**2))
    assert made.inputs["radius"] == pytest.approx(np.sqrt(2))
    assert made.inputs["sse"] == pytest.approx(np.sum((y - model.predict(X)) ** 2))
    assert not any("offset" in what for what in made.assumes)
    assert "all rows are support vectors" in report.not_applicable["compression"]
    residuals = y - model.leave_one_out_values(X, y)
    assert report["leave-one-out"].value == pytest.approx(np.mean(residuals**2))


def test_margins_of_a_least_squares_classifier_are_those_of_its_function():
    X, y = clouds(spread=0.25)
    plain = LSSVC(kernel="linear", C=10.0, fit_intercept=False).fit(X, y)
    w = X.T @ plain.dual_coef_
    report = plain.generalization_report(X, y)
    margin = (np.where(y == 1, 1, -1) * (X @ w)).min() / np.linalg.norm(w)
    assert report["hard margin"].inputs["margin"] == pytest.approx(margin)
    matrix = X @ X.T
    same = LSSVC(kernel="precomputed", C=10.0, fit_intercept=False).fit(matrix, y)
    other = same.generalization_report(matrix, y)
    assert other["hard margin"].inputs["margin"] == pytest.approx(margin)
    assert other["leave-one-out"].value == report["leave-one-out"].value


def test_several_targets_have_values_but_no_single_leave_one_out_error():
    X = np.linspace(0, 1, 6)[:, None]
    Y = np.column_stack([X[:, 0], X[:, 0] ** 2])
    model = KernelRidge([0.1, 0.2]).fit(X, Y)
    one = KernelRidge(0.2).fit(X, Y[:, 1]).leave_one_out_values(X, Y[:, 1])
    np.testing.assert_allclose(model.leave_one_out_values(X, Y)[:, 1], one)
    with pytest.raises(ValueError, match="one target"):
        leave_one_out(model, X, Y)
    with pytest.raises(ValueError, match="interpolates"):
        KernelRidge(0.0).fit(X, Y).leave_one_out_values(X, Y)


def test_a_shared_confidence_keeps_what_was_decided():
    refuted = vc_bound(400, vc_dim=3).decide("training error", False, "50 of 400")
    assert not refuted.at(delta=0.01).certified
    best = best_bound(refuted, compression_bound(100, 400))
    assert best.name == "best of 2: compression_bound"


@pytest.mark.parametrize("params", [{"lam": 0.1}, {"class_weight": "balanced"}], ids=str)
def test_parameters_that_the_rows_decide_are_not_those_of_the_support_vectors(params):
    X, y = clouds(spread=0.25)
    report = SVC(kernel="linear", **params).fit(X, y).generalization_report(X, y, tuned=False)
    assert not report["compression"].certified
    assert any("chosen without" in what for what in report["soft margin"].assumes)


def test_a_hold_out_is_checked():
    X, y = clouds()
    model = SVC(kernel="linear").fit(X, y)
    column = model.generalization_report(X, y[:, None], holdout=(X, y[:, None]))
    assert column["hold-out"].inputs["n_errors"] == np.sum(model.predict(X) != y)
    for wrong in ((X, y[:3]), (X, None), X[:2]):
        with pytest.raises(ValueError, match="hold"):
            model.generalization_report(X, y, holdout=wrong)
    with pytest.raises(ValueError, match="not trained on: '0', '1'; its classes are 0, 1"):
        model.generalization_report(X, y, holdout=(X, y.astype(str)))
    target = np.where(y == 0, np.nan, X[:, 0])
    machine = SVR().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="contain NaN"):
        machine.generalization_report(X, X[:, 0], theta=0.5, holdout=(X, target))


def test_the_vc_bound_of_a_report_does_not_choose_its_theorem_by_the_data():
    for spread in (0.25, 1.0):  # without and with training errors
        X, y = clouds(spread=spread)
        model = SVC(kernel="linear").fit(X, y)
        errors = int(np.sum(model.predict(X) != y))
        made = model.generalization_report(X, y)["VC dimension"]
        assert made.value == vc_bound(60, 3, n_errors=errors).value
        assert made.certified
