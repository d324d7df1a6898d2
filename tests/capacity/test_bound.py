"""The language of bounds: conditions, terms, comparison, learning curves, sample complexity."""

from __future__ import annotations

import inspect
import json
import math
import pickle

import numpy as np
import pytest

import mercer.capacity as capacity
from mercer.capacity import (
    Bound,
    Condition,
    compare,
    compression_bound,
    finite_class_bound,
    overall_bound,
    vc_bound,
)
from mercer.capacity.bound import bound, state


@pytest.mark.spec("CS-4.01", "CS-4.45", "SM-7.01")
def test_a_bound_states_its_conditions_and_what_it_assumes() -> None:
    fine = vc_bound(n_samples=1000, vc_dim=3, delta=0.05)
    assert fine.certified
    assert not fine.vacuous
    assert {c.state for c in fine.conditions} == {"satisfied", "unknown"}
    assert any("independently" in what for what in fine.assumes)
    assert sum(fine.terms.values()) == pytest.approx(fine.value)
    few = vc_bound(n_samples=5, vc_dim=30)
    assert [c.what for c in few.violated] == ["vc_dim <= n_samples"]
    assert not few.certified
    assert "[says nothing; a condition is violated]" in str(few)
    assert fine.at(vc_dim=10).value == vc_bound(n_samples=1000, vc_dim=10, delta=0.05).value


@pytest.mark.spec("CS-4.01", "SM-7.27")
def test_sample_complexity_of_bounds_that_rise_before_they_fall() -> None:
    made = capacity.soft_margin_bound(1000, radius=1.0, margin=0.5, slack=0.5)
    for value in (1.0, 4.5, 5.5):  # at one sample log2(l) = 0, and the value is 4.3
        m = made.sample_complexity(value)
        curve = made.learning_curve(np.arange(1, 2 * m))
        assert (curve[m - 1 :] <= value).all()
        assert curve[m - 2] > value


@pytest.mark.spec("CS-4.45")
def test_what_was_measured_on_the_sample_makes_a_bound_data_dependent() -> None:
    assert not vc_bound(1000, 3).data_dependent
    assert not vc_bound(1000, 3, n_errors=5).data_dependent
    assert compression_bound(3, 1000).to_dict()["data_dependent"]
    assert capacity.hard_margin_bound(1000, 1.0, 0.5).data_dependent


def test_a_lower_bound_is_never_the_best_and_quantities_are_not_mixed() -> None:
    upper, lower = vc_bound(1000, 3), capacity.vc_lower_bound(1000, 3)
    assert compare(upper, lower).best is upper
    assert compare(lower).best is None
    posterior = capacity.pac_bayes_bound(1000, 0.1, kl=2.0)
    for others in (lower, posterior):
        with pytest.raises(ValueError, match="upper bounds on one quantity"):
            capacity.best_bound(upper, others)


@pytest.mark.spec("SM-7.29")
def test_when_a_bound_says_nothing() -> None:
    assert overall_bound(10**5, 2.0, emp_risk=0.5).trivial == 1
    doubled = overall_bound(10**5, 2.0, emp_risk=1.5, loss_range=2.0)
    assert doubled.trivial == 2
    assert not doubled.vacuous
    assert doubled.at(n_samples=100).vacuous
    wide = capacity.linear_fat_dimension(radius=10.0, margin=1.0)
    assert wide.trivial is None
    assert not wide.vacuous
    assert Bound(0.0, side="lower").vacuous
    assert not Bound(0.1, side="lower").vacuous
    assert Bound(math.nan).vacuous
    infinite = vc_bound(n_samples=10, vc_dim=math.inf)
    assert infinite.dominant == "complexity"
    assert "complexity inf, confidence" in str(infinite)


def test_an_assumption_can_be_decided_by_who_knows() -> None:
    made = vc_bound(n_samples=1000, vc_dim=3)
    good = made.decide("training error", True, "0 of 1000")
    assert len(good.assumes) == len(made.assumes) - 1
    assert good.certified
    bad = made.decide("training error", False, "7 of 1000")
    assert not bad.certified
    assert "violated: the hypothesis makes no training error (7 of 1000)" in str(bad)
    with pytest.raises(ValueError, match="names 0 assumed conditions"):
        made.decide("weather", True)


def test_bounds_compare_by_value_and_survive_json() -> None:
    small, large = vc_bound(n_samples=1000, vc_dim=3), vc_bound(n_samples=1000, vc_dim=30)
    assert small < large
    assert sorted([large, small])[0] is small
    assert min(small, 0.01) == 0.01
    assert small <= 1
    twin = vc_bound(n_samples=1000, vc_dim=3, n_errors=None, variant="cs").at(delta=0.05)
    other = finite_class_bound(n_samples=1, n_hypotheses=1).at(delta=0.5)
    assert small <= twin
    assert small >= twin
    assert other != twin
    assert small == vc_bound(n_samples=1000, vc_dim=3)
    assert small == pytest.approx(float(small))
    plain = json.loads(json.dumps(overall_bound(n_samples=100, ln_n=lambda e, n: 1.0).to_dict()))
    assert plain["inputs"]["n_samples"] == 100
    assert plain["conditions"][0]["state"] == "satisfied"
    assert plain["dominant"] == "deviation"


@pytest.mark.spec("SM-7.01")
def test_every_bound_grows_with_confidence_and_falls_with_samples() -> None:
    for function in formulas():
        parameters = inspect.signature(function).parameters
        if not {"n_samples", "delta"} <= set(parameters):
            continue
        given = {n: p.default for n, p in parameters.items() if p.default is not p.empty}
        given |= {n: GOOD[n] for n in parameters if n in GOOD and n not in given}
        given |= {n: v for n, v in EXTRA.items() if n in parameters}
        made = function(**given | {"n_samples": 10**5})
        assert made.value >= 0, function.__name__
        surer, longer = made.at(delta=0.001), made.at(n_samples=10**7)
        if made.side == "upper":
            assert surer.value >= made.value, function.__name__
            assert longer.value <= made.value, function.__name__
        else:
            assert surer.value >= made.value
        assert sum(made.terms.values()) >= made.value * (1 - 1e-12)
        copy = pickle.loads(pickle.dumps(made))
        assert copy == made
        assert copy.at(delta=0.001).value == surer.value


@pytest.mark.spec("SM-7.27")
@pytest.mark.parametrize("value", [0.5, 0.1, 0.01])
@pytest.mark.parametrize(
    "made",
    [
        vc_bound(n_samples=1000, vc_dim=3),
        vc_bound(n_samples=1000, vc_dim=10, variant="vc71", n_errors=0),
        compression_bound(n_sv=7, n_samples=1000),
        finite_class_bound(n_samples=1000, n_hypotheses=50),
        overall_bound(n_samples=1000, ln_n=lambda eps, n: 3 / eps),
    ],
    ids=lambda made: made.name,
)
def test_sample_complexity_is_the_least_number_of_samples(made: Bound, value: float) -> None:
    m = made.sample_complexity(value)
    assert made.at(n_samples=m).value <= value
    assert made.at(n_samples=m - 1).value > value
    grid = [m, 2 * m, 5 * m]
    curve = made.learning_curve(grid)
    assert curve[0] == made.at(n_samples=m).value
    assert np.all(np.diff(curve) < 0)


def test_the_sample_size_at_which_a_bound_stops_being_vacuous() -> None:
    made = vc_bound(n_samples=100, vc_dim=30)
    m = made.sample_complexity()
    assert made.at(n_samples=m - 1).vacuous
    assert not made.at(n_samples=m).vacuous
    with pytest.raises(ValueError, match="does not reach"):
        vc_bound(n_samples=10, vc_dim=math.inf).sample_complexity()
    with pytest.raises(ValueError, match="n_samples"):
        capacity.hoeffding_tail(eps=0.1, ranges=[1.0]).sample_complexity()


@pytest.mark.spec("CS-4.22")
def test_an_unspecified_constant_is_flagged() -> None:
    @bound("error", relative=True)
    def rate(n_samples: int, c: float = 1.0) -> Bound:
        return state({"rate": c / n_samples})

    made = rate(n_samples=10)
    assert made.relative
    assert not made.certified
    assert "unspecified constant" in str(made)
    assert compare(made, vc_bound(n_samples=1000, vc_dim=3)).best.name == "vc_bound"


def test_a_comparison_is_a_table_and_a_picture() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    made = compare(
        vc_bound(n_samples=100, vc_dim=60),
        compression_bound(n_sv=5, n_samples=1000),
        vc_bound(n_samples=10, vc_dim=60),
    )
    assert [row[3] for row in made.rows()] == ["certified", "vacuous", "condition violated"]
    assert made.best.name == "compression_bound"
    ax = made.plot()
    assert len(ax.get_legend().get_texts()) == 3
    assert ax.get_xscale() == ax.get_yscale() == "log"
    plt.close("all")
    assert compare(vc_bound(n_samples=10, vc_dim=5)).best is None
    with pytest.raises(ValueError, match="at least one bound"):
        compare()


GOOD = {
    "n_samples": 100, "vc_dim": 3, "delta": 0.05, "radius": 1.0, "margin": 0.5, "slack": 1.0,
    "n_hypotheses": 4, "ln_n": 2.0, "n_errors": 1, "n_sv": 3, "emp_risk": 0.1, "eps": 0.1,
    "c": 1.0, "prior": 0.5, "w_norm": 1.0, "fat_dim": 4, "kl": 2.0, "theta": 1.0, "sse": 5.0,
    "ln_n_slack": 1.0, "n_points": 50,
}  # fmt: skip
EXTRA = {"rank": 3}
BAD = {
    "n_samples": [0, -1, 2.5, "ten"], "vc_dim": [-1, math.nan], "delta": [0, 1, -0.1, math.nan],
    "radius": [0, -1, math.inf], "margin": [0, -0.5, math.nan], "slack": [-1, math.inf],
    "n_hypotheses": [0, 0.5], "ln_n": [-1.0, "many"], "n_errors": [-1, 0.5], "n_sv": [-1],
    "emp_risk": [-0.1, math.inf], "eps": [0, -1], "c": [0, math.inf], "prior": [0, 2],
    "w_norm": [-1], "fat_dim": [-1], "theta": [0, math.inf], "sse": [-1, math.inf],
    "ln_n_slack": [-1, math.nan], "n_points": [0, math.inf], "n_features": [0, -1, 1.5],
    "kl": [-1, math.nan], "lipschitz": [0, math.inf], "loss_range": [0, math.inf],
    "base": [1, math.inf], "largest_residual": [-1, math.nan],
}  # fmt: skip


def formulas() -> list[object]:
    """Every exported function that returns a bound from keywords of the vocabulary alone."""
    functions = [getattr(capacity, name) for name in capacity.__all__]
    return [f for f in functions if hasattr(f, "__wrapped__")]


@pytest.mark.parametrize("formula", formulas(), ids=lambda f: f.__name__)
def test_bad_input_gets_a_sentence_that_names_the_keyword(formula) -> None:
    parameters = inspect.signature(formula).parameters
    required = {n: GOOD.get(n) for n, p in parameters.items() if p.default is p.empty}
    for name in set(parameters) & set(BAD):
        for value in BAD[name] + [None] * (name in required):
            with pytest.raises(ValueError, match=name):
                formula(**{**required, name: value})


def test_a_condition_has_one_of_three_states() -> None:
    assert str(Condition("iid")) == "assumes: iid"
    with pytest.raises(ValueError, match="state"):
        Condition("iid", "maybe")
