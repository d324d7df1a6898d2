"""One call from data to a tuned machine."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import cross_val_score

import mercer
from mercer.inspection.targets import is_classification
from mercer.kernels import RBF, Spectrum, WeightedDegree, normalize
from mercer.selection import suggest, tuning
from mercer.selection.trials import splitter


def test_a_classifier_is_tuned_with_a_nested_estimate():
    X, y = load_iris(return_X_y=True)
    found = mercer.tune(X * [1, 10, 100, 1000], y, kernels=[RBF(0.1), RBF(1.0)], cv=3)
    assert found.task == "classification"
    assert found.chosen.score == max(t.score for t in found.trials)
    assert {t.stage for t in found.trials} == {"coarse", "fine"}
    assert 0.85 < found.score <= 1.0
    assert found.estimator.score(X * [1, 10, 100, 1000], y) > 0.9
    assert found.estimator.named_steps["machine"].C == found.chosen.C
    assert "nested" in str(found)
    figure = found.plot()
    assert len(figure.axes) == 3


def test_the_bar_counts_all_searches_and_ends_at_its_total(capfd):
    X, y = load_iris(return_X_y=True)
    mercer.tune(X, y, kernels=[RBF(0.1)], cv=3, verbose=1)
    # Four runs of 5 coarse and 25 fine candidates in 3 folds, and of one fit of the chosen one.
    drawn = capfd.readouterr().err.split("\r")
    assert "/about 364 fits" in drawn[1]
    assert drawn[-1].startswith(f"[{30 * '#'}] 364/364 fits, ")
    assert drawn[-1].endswith("\n")
    mercer.tune(X, y, kernels=[RBF(0.1)], cv=3, nested=False)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_the_columns_of_a_frame_of_numbers_are_standardised_as_those_of_an_array(table):
    X, y = load_iris(return_X_y=True)
    X = X * [1, 10, 100, 1e6]
    frame = table({name: X[:, j] for j, name in enumerate("abcd")})
    kernels = [RBF(0.1), RBF(1.0).on_columns([2, 3])]
    named = [RBF(0.1), RBF(1.0).on_columns(["c", "d"])]
    array = mercer.tune(X, y, kernels=kernels, cv=3, nested=False)
    found = mercer.tune(frame, y, kernels=named, cv=3, nested=False)
    assert [t.score for t in found.trials] == [t.score for t in array.trials]
    assert (found.predict(frame) == array.predict(X)).all()


@pytest.mark.filterwarnings("error:Tight layout")
def test_the_report_of_a_table_repeats_no_candidate_and_its_picture_fits():
    X, y = load_iris(as_frame=True, return_X_y=True)
    X["colour"] = np.where(y == 0, "white", "blue")
    found = mercer.tune(X, y, cv=3, nested=False)
    lines = str(found).splitlines()[1:-1]
    assert lines[0].startswith("->")
    assert len(set(lines)) == 5
    left = found.plot().axes[0]
    left.figure.canvas.draw()
    assert all(label.get_window_extent().x0 >= 0.0 for label in left.get_yticklabels())


def test_the_one_standard_error_rule_takes_a_smaller_cost():
    X, y = load_diabetes(return_X_y=True)
    options = {"kernels": [RBF(0.03), RBF(0.1)], "cv": 3, "nested": False}
    best = mercer.tune(X[:120], y[:120], **options)
    smooth = mercer.tune(X[:120], y[:120], one_standard_error=True, **options)
    assert best.task == "regression"
    assert smooth.chosen.C < best.chosen.C
    assert smooth.chosen.score >= best.chosen.score - best.chosen.error
    assert smooth.score is None


def test_large_data_are_searched_coarsely_on_a_sample(monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(tuning, "_COARSE", 60)
    found = mercer.tune(X, y, kernels=[RBF(0.01), RBF(0.5)], cv=3, nested=False)
    assert found.notes == ["coarse search on 60 of 150 rows, fine search on all"]
    fine = [t for t in found.trials if t.stage == "fine"]
    assert found.chosen in fine
    assert found.chosen.score == max(t.score for t in fine)
    equal = [t.C for t in fine if (t.score, t.kernel) == (found.chosen.score, found.chosen.kernel)]
    assert sorted(equal)[len(equal) // 2] == found.chosen.C
    again = cross_val_score(found.estimator, X, y, cv=splitter(True, 3, _seed(), y))
    assert found.chosen.score == pytest.approx(again.mean())
    assert found.chosen.error == pytest.approx(again.std(ddof=1) / np.sqrt(3))


def _seed():
    return int(np.random.default_rng(0).integers(2**31 - 1))


def test_aligned_sequences_are_compared_by_position():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("acgt"), 12)) for _ in range(80)]
    y = np.arange(80) % 2
    X = [s[:4] + ("ga" if label else "ct") + s[6:] for s, label in zip(X, y, strict=True)]
    assert isinstance(suggest(X, y, time_limit=10.0).best.kernel, WeightedDegree)
    kernels = [normalize(Spectrum(2)), normalize(WeightedDegree(3))]
    found = mercer.tune(X, y, kernels=kernels, cv=3, nested=False)
    assert found.chosen.kernel == kernels[1]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="one value for each of the 3 objects"):
        mercer.tune([[0.0], [1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="time_limit must be"):
        mercer.tune([[0.0], [1.0], [2.0]], [0, 1, 0], time_limit=0.0)


@pytest.mark.parametrize("seconds", [1e-9, 0.05, 0.3])
@pytest.mark.parametrize("data", [load_iris, load_diabetes])
def test_a_limit_that_suffices_for_no_search_leaves_a_fitted_default(data, seconds):
    X, y = data(return_X_y=True)
    found = mercer.tune(X, y, time_limit=seconds)
    assert len(found.predict(X)) == len(y)
    if found.chosen.stage == "default":
        assert f"time_limit={seconds:g} s sufficed for no search" in str(found)
        found.plot()
    else:
        assert seconds > 1e-9


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, lambda X: X.tolist()])
def test_missing_numbers_are_imputed_and_reported(form):
    X, y = load_iris(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X = form(X)
    if hasattr(X, "columns"):
        X.columns = list("abcd")
    found = mercer.tune(X, y, kernels=[RBF(0.1)], cv=3)
    assert found.score > 0.85
    assert "in 4 columns: replaced by the median, with indicators" in str(found)
    assert list(found.estimator.named_steps) == ["impute", "scale", "machine"]


@pytest.mark.parametrize("form", [lambda frame: frame, pl.from_pandas])
def test_missing_values_of_a_table_are_imputed_by_kind(form):
    rng = np.random.default_rng(0)
    age = rng.normal(40.0, 10.0, 120)
    colour = rng.choice(["red", "blue", "green"], 120).astype(object)
    text = np.array([f"word{i} and {c}" for i, c in enumerate(colour)], dtype=object)
    y = np.where((age > 40.0) ^ (colour == "red"), "yes", "no")
    age[::7], colour[::11], text[::13] = np.nan, None, None
    table = form(pd.DataFrame({"age": age, "colour": colour, "text": text}))
    found = mercer.tune(table, y, nested=False, cv=3, time_limit=20.0)
    assert len(found.predict(table)) == 120
    assert found.chosen.score > 0.6
    report = str(found)
    assert "of the numbers are missing, in 1 column: replaced by the median" in report
    assert "10 values of 'text' are missing: replaced by the most frequent" in report
    assert "'colour'" not in report.partition("->")[0]  # a category of its own


@pytest.mark.parametrize(
    ("y", "classification"),
    [
        (np.r_[np.arange(1, 28), 29].repeat(100).astype(float), False),  # rings of abalone
        (np.r_[np.arange(1, 28), 29].repeat(100), False),
        (np.arange(3, 10).repeat(50).astype(float), False),  # quality of wine
        (np.arange(10).repeat(50).astype(float), True),  # digits
        (np.arange(26).repeat(20), True),  # letters
        (np.arange(1, 4).repeat(5).astype(float), True),
        (np.array([-1.0, 1.0]).repeat(5), True),
        (np.array([1, 2, 3, 5, 6, 7]).repeat(5), True),  # glass
        (np.arange(40).repeat(2), False),
        (np.linspace(0.0, 1.0, 9), False),
        (np.array(["a", "b"]), True),
        (np.array([True, False]), True),
    ],
)
def test_whole_numbers_are_labels_where_they_are_codes_of_classes(y, classification):
    assert is_classification(y) is classification
