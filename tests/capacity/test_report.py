"""The report of a fitted machine: what it says, of which machines, under which conditions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, OneClassSVM
from mercer.capacity import generalization_report, leave_one_out

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
    assert any("fixed before" in what for what in entropy.assumes)
    with pytest.raises(KeyError, match="training errors"):
        report["hard margin"]
    with pytest.raises(KeyError, match="no statement"):
        report["magic"]


def test_a_model_tuned_on_the_same_rows_has_a_hold_out_bound_only():
    X, y = clouds(spread=0.25)
    model = SVC(kernel="linear", C=np.inf).fit(X, y)
    with pytest.warns(UserWarning, match="tuned on the same rows"):
        report = model.generalization_report(X, y, tuned=True, holdout=clouds(n=100))
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
    with pytest.raises(ValueError, match="delta must lie strictly between"):
        model.generalization_report(X, y, delta=1.0)
    with pytest.raises(ValueError, match="theta"):
        model.generalization_report(X, y, theta=0.0)
    with pytest.raises(ValueError, match="not optimal on these rows"):
        model.generalization_report(X, np.where(np.arange(60) == 5, 1 - y, y))
    with pytest.raises(AttributeError):
        SVC().generalization_report(X, y)
    with pytest.raises(TypeError, match="machines of mercer"):
        generalization_report(object(), X, y)
