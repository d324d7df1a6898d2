"""Kernels for tables with columns of several kinds, and for sets, counts and series."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.inspection import centred_alignment
from mercer.kernels import (
    RBF,
    Categorical,
    Delayed,
    GlobalAlignment,
    Jaccard,
    Linear,
    Multiset,
    OnColumns,
    OverFeatureSpace,
    Product,
    SetIntersection,
    Sum,
    TfIdf,
    normalize,
)
from mercer.selection import data_kind, suggest
from mercer.selection.table_candidates import usual_candidates

rng = np.random.default_rng(8)
N = 90
LABEL = np.arange(N) % 2
SAME = Categorical()


def words(label):
    return " ".join(rng.choice(["corn", "wheat", "ship", "rain", "sun"], 5)) + " end" * label


COLUMNS = {
    "sequence": ["".join(rng.permutation(list("ACGT" * 4))) for _ in range(N)],
    "text": [words(label) for label in LABEL],
    "a": rng.normal(size=N),
    "b": 40.0 * rng.normal(size=N),
    "cat": rng.choice(["red", "green", "blue"], N).tolist(),
}
FRAME = pd.DataFrame(COLUMNS)


def array_of(columns):
    table = np.empty((N, len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        table[:, j] = values
    return table


def summands(kernel):
    return summands(kernel.left) + summands(kernel.right) if isinstance(kernel, Sum) else [kernel]


def usual(X, y=LABEL, classification=True):
    kind = data_kind(X, None if classification else y)
    return [c.kernel for c in usual_candidates(kind, np.asarray(y), classification, 0)], kind


@pytest.mark.parametrize(
    "table",
    [FRAME, pl.DataFrame(COLUMNS), array_of(COLUMNS)],
    ids=["pandas", "polars", "array of objects"],
)
def test_every_group_of_columns_gets_kernels_of_its_own(table):
    found, kind = usual(table)
    assert kind.name == "table"
    named = list(COLUMNS) if hasattr(table, "columns") else list(range(5))
    assert [(part.columns, part.kind.name) for part in kind.parts] == [
        (named[0], "strings"),
        (named[1], "documents"),
        (named[4], "categories"),
        (named[2], "dense"),
        (named[3], "dense"),  # of another scale than the column before it
    ]
    sums = [kernel for kernel in found if len(summands(kernel)) == 5]
    assert len(sums) == 8
    for kernel in sums:
        terms = {
            str(term.kernel.columns if hasattr(term, "scale") else term.columns): term
            for term in summands(kernel)
        }
        assert terms.keys() == {str(name) for name in named}
        assert terms[str(named[4])].kernel == SAME
        for term in terms.values():  # all of one weight
            assert 0.45 < term.bind(table).diag(table).mean() < 2.2
    assert sum(isinstance(kernel, Product) for kernel in found) == 1 + 3
    assert len(found) == 5 + 3 + 8 + 1 + 3  # alone; best two, three, four; all; product; Gaussians


def test_a_table_is_learned_and_predicted_whole():
    found = suggest(FRAME, LABEL, n_folds=3)
    assert found.kind == "table"
    assert found[0].score == 1.0
    assert "text alone: shared words" in found[0].reason  # nothing else matters here
    assert found.n_used == N
    text = str(found)
    assert "sequence: 90 strings of length 16 to 16; text: 90 texts" in text
    assert "columns of numbers that differ in scale get kernels of their own" in text
    model = found.estimator().fit(FRAME[:60], LABEL[:60])
    assert model.score(FRAME[60:], LABEL[60:]) == 1.0
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict(FRAME), model.predict(FRAME))
    single = suggest(FRAME[["text"]], LABEL, n_folds=3)
    assert isinstance(single.best, OnColumns)
    assert single.best.columns == "text"


def test_numbers_and_categories_together_explain_more_than_each():
    table = FRAME[["a", "b", "cat"]]
    y = FRAME.a + 1.5 * (FRAME.cat == "red")
    found = suggest(table, y, n_folds=3)
    assert found.task == "regression"
    assert found[0].score > 0.95
    both = next(s for s in found if isinstance(s.kernel, Sum))
    assert both.score > found[0].score - 0.5 * found[0].error  # with the Gaussian of the row
    assert {str(t.columns) for t in summands(both.kernel) if isinstance(t, OnColumns)} >= {
        "a",
        "cat",
    }
    assert "cat: 1 for the same category, else 0" in both.reason
    alone = suggest(table, y, n_folds=3, candidates=[Linear().on_columns("a")])
    assert found[0].score > alone[0].score + 0.05
    for item in found:
        expected = centred_alignment(item.kernel, table, y, task="regression")
        assert item.alignment == pytest.approx(expected, rel=1e-9)


def test_the_effect_of_a_number_may_depend_on_a_category():
    sign = np.where(np.isin(COLUMNS["cat"], ["red", "blue"]), 1.0, -1.0)
    table, y = FRAME[["a", "b", "cat"]], sign * FRAME.a > 0
    found = suggest(table, y, n_folds=3)
    assert "a Gaussian of the row" in found[0].reason
    assert found[0].score > 0.85
    # It is the Gaussian of standardised numbers and indicators of the categories.
    encoded = np.c_[
        FRAME[["a", "b"]] / FRAME[["a", "b"]].std(ddof=0), pd.get_dummies(FRAME.cat).astype(float)
    ]
    rows = next(
        k for k in usual(table, y)[0] if isinstance(k, Product) and "OverFeature" in repr(k)
    )
    np.testing.assert_allclose(rows(table), RBF(0.003)(encoded), rtol=1e-6)


def test_a_column_of_many_names_holds_categories():
    cities = [f"city {i % 45}" for i in range(4 * N)]
    frame = pd.DataFrame({"city": cities, "x": np.arange(4.0 * N)})
    assert data_kind(frame).parts[0].kind.name == "categories"
    assert data_kind(frame[: 3 * 45]).parts[0].kind.name == "documents"  # each in three rows only


def test_a_kernel_of_categories_is_the_dot_product_of_indicators():
    table = np.array([["a", "x"], ["b", "x"], ["a", "y"], ["c", "z"], ["b", "x"]], dtype=object)
    K = SAME(table)
    one_hot = np.hstack([np.equal.outer(c, np.unique(c.astype(str))) for c in table.T]).astype(
        float
    )
    np.testing.assert_allclose(K, one_hot @ one_hot.T / 2)
    np.testing.assert_allclose(SAME(["a", "new"], ["b", "a"]), [[0, 1], [0, 0]])
    frame = pd.DataFrame(table, columns=["u", "v"])
    np.testing.assert_array_equal(SAME.on_columns(["u", "v"])(frame), K)
    np.testing.assert_array_equal(
        SAME.on_columns(["u", "v"])(pl.DataFrame({"u": frame.u.tolist(), "v": frame.v.tolist()})), K
    )
    both, kind = usual(pd.DataFrame({"u": ["a", "b", "c"] * 30, "v": ["x", "y"] * 45}))
    assert kind.parts[0].columns == ["u", "v"]
    assert both[:2] == [SAME.on_columns(["u", "v"]), (SAME**2).on_columns(["u", "v"])]
    gaussians = [k.kernel for k in both[2:]]
    assert [type(k) for k in gaussians] == [OverFeatureSpace] * 3
    assert all(k.kernel == SAME for k in gaussians)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (COLUMNS["cat"], "categories"),
        (["a", np.nan] * (N // 2), "categories"),  # missing values are one of them
        (pd.Categorical([f"id {i}" for i in range(N)]), "categories"),
        (COLUMNS["sequence"], "strings"),
        (COLUMNS["text"], "documents"),
        ([str(i / 7) for i in range(N)], "dense"),
        ([{i % 3, 7} for i in range(N)], "sets"),
        ([Counter("ab"[: 1 + i % 2]) for i in range(N)], "counts"),
        ([np.arange(3.0 + i % 4) for i in range(N)], "series"),
        ([[0.5 * i, 1.0, 2.0] for i in range(N)], "series"),  # equally long, and no rows
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_what_a_column_holds(values, kind):
    frame = pd.DataFrame({"flag": LABEL == 0, "x": values, "name": COLUMNS["sequence"]})
    parts = {str(part.columns): part.kind.name for part in data_kind(frame).parts}
    if kind == "dense":
        assert "dense" in parts.values()
    else:
        assert parts == {"x": kind, "flag": "dense", "name": "strings"}
    found = suggest(frame, LABEL, n_folds=2, n_sample=30)
    assert found[0].score == 1.0  # the flag says it all
    assert found.estimator().fit(frame, LABEL).score(frame, LABEL) == 1.0


@pytest.mark.parametrize(
    "values",
    [pd.array([pd.NA, "b"] * (N // 2), dtype="string"), pd.Categorical(["b", None] * (N // 2))],
    ids=["string", "category"],
)
def test_missing_values_are_a_category(values):
    kind = data_kind(pd.DataFrame({"x": values, "z": COLUMNS["a"]})).parts[0].kind
    assert kind.name == "categories"
    assert kind.notes == ["2 categories"]


def test_columns_that_say_nothing_or_have_no_name_of_their_own():
    frame = pd.DataFrame({"same": ["one"] * N, "text": COLUMNS["text"]})
    kind = data_kind(frame)
    assert [part.columns for part in kind.parts] == ["text"]
    assert "column 'same' is constant and left out" in kind.notes
    twins = pd.DataFrame(np.c_[COLUMNS["text"], COLUMNS["sequence"]], columns=["t", "t"])
    assert [part.columns for part in data_kind(twins).parts] == [0, 1]
    wide = pd.DataFrame({f"x{j}": rng.normal(size=N) for j in range(6)} | {"t": COLUMNS["text"]})
    assert "x0, x1, x2 and 3 more: 90 rows of 6 columns" in data_kind(wide).notes


def test_tables_that_are_refused():
    for column, message in [
        ([None, *COLUMNS["text"][1:]], "column 'x' lacks 1 of 90 values; fill them in with fillna"),
        (["1.5", np.nan] * 45, "column 'x' lacks 45 of 90 values"),
        ([{1}, None] * 45, "column 'x' lacks 45 of 90 values"),
        (pd.date_range("2020", periods=N), "column 'x' holds times"),
        ([object() for _ in range(N)], "column 'x': no kernels are suggested for objects of type"),
        (["same"] * N, "every column of X is constant"),
    ]:
        frame = pd.DataFrame({"x": column, "y": ["text"] * N})
        with pytest.raises(ValueError, match=message):
            suggest(frame, LABEL)


# -- objects that are no rows ----------------------------------------------------------------


def test_sets_are_compared_by_their_common_elements():
    sets = [{*rng.integers(0, 30, 4).tolist(), 100 + label} for label in LABEL]
    for given in (sets, [frozenset(s) for s in sets], pd.Series(sets)):
        found, kind = usual(given)
        assert kind.name == "sets"
        assert kind.notes == [f"90 sets of {min(map(len, sets))} to 5 elements"]
        assert found[:2] == [Jaccard(), SetIntersection()]
        assert normalize(SetIntersection()) in found
        assert all(
            k.kernel == normalize(SetIntersection()) and k.definiteness.is_psd
            for k in found
            if isinstance(k, OverFeatureSpace)
        )
        assert sum(isinstance(k, OverFeatureSpace) for k in found) == 3
    best = suggest(sets, LABEL, n_folds=3)
    assert best[0].score == 1.0
    assert best.estimator().fit(sets, LABEL).predict(sets).tolist() == LABEL.tolist()
    assert suggest([{1}] * N, LABEL, n_folds=3)[0].score <= 0.6  # equal sets: nothing to find


def test_counts_are_compared_with_their_copies():
    bags = [Counter(a=3 + 4 * int(label), b=int(rng.integers(0, 9)), c=4) for label in LABEL]
    found, kind = usual(bags)
    assert kind.name == "counts"
    assert kind.notes[0].startswith("90 multisets of 2 to 3 elements, counted up to 8 times")
    assert found[:4] == [Multiset(), Jaccard(multisets=True), TfIdf(idf="none"), TfIdf()]
    best = suggest(bags, LABEL, n_folds=3)
    assert best[0].score > 0.95
    assert best.estimator().fit(bags, LABEL).score(bags, LABEL) > 0.95
    many = [Counter(a=int(1e7 * (1 + label))) + Counter(b=1) for label in LABEL]
    assert not any(isinstance(k, Multiset | Jaccard) for k in usual(many)[0])
    with pytest.raises(ValueError, match=r"object 1 maps 'a' to 0.5, which is no count.*DictVec"):
        suggest([{"a": 1}, {"a": 0.5}] * 20, LABEL[:40])


def waves(label, length):
    t = np.linspace(0, 6, length)
    return np.sin(t * (1 + label) + 0.3 * rng.normal()) + 0.1 * rng.normal(size=length)


@pytest.mark.parametrize("form", ["lists", "arrays", "object array", "channels", "block"])
def test_series_are_aligned_or_delayed(form):
    lengths = rng.integers(12, 28, N)
    if form == "block":
        X = np.array([np.c_[waves(label, 20), rng.normal(size=20)] for label in LABEL])
    elif form == "channels":
        X = [
            np.c_[waves(label, n), rng.normal(size=n)]
            for label, n in zip(LABEL, lengths, strict=True)
        ]
    else:
        X = [waves(label, n) for label, n in zip(LABEL, lengths, strict=True)]
    if form == "lists":
        X = [x.tolist() for x in X]
    if form == "object array":
        X = pd.Series(X).to_numpy()
    found, kind = usual(X)
    assert kind.name == "series"
    assert f"{2 if form in ('channels', 'block') else 1} channel" in kind.notes[0]
    dimension = 20 if form == "block" else 10
    assert found[0] == Delayed(Linear(), dimension)
    gaussian = [k for k in found if isinstance(k, Delayed) and isinstance(k.kernel, RBF)]
    assert len(gaussian) == 3
    gamma = GlobalAlignment().bind(kind.X).gamma
    aligned = [
        k.kernel for k in found if hasattr(k, "kernel") and isinstance(k.kernel, GlobalAlignment)
    ]
    assert [k.gamma / gamma for k in aligned] == pytest.approx([0.25, 1.0, 4.0])
    best = suggest(X, LABEL, n_folds=3)
    assert best[0].score > 0.9
    assert best.estimator().fit(X, LABEL).score(X, LABEL) > 0.9


def test_long_series_are_compared_within_a_band_and_on_fewer_objects():
    X = np.array([waves(label, 400) for label in LABEL])[:, :, None]
    found, kind = usual(X)
    assert {
        k.kernel.band for k in found if isinstance(getattr(k, "kernel", 0), GlobalAlignment)
    } == {40}
    assert kind.steps == 400 * 79
    ragged = [
        x[: 400 - 2 * i] for i, x in enumerate(X)
    ]  # ends that a band would never bring together
    assert all(
        k.kernel.band is None for k in usual(ragged)[0] if isinstance(k.kernel, GlobalAlignment)
    )
    # A matrix of all 90 would take 90^2 / 2 * 4e5 steps.
    slow = [np.r_[x[:, 0], np.zeros(100 * (i % 2))] for i, x in enumerate(X)]
    assert data_kind(slow).steps == 450**2
    best = suggest(slow, LABEL, n_folds=2, time_limit=1e-9)
    assert best.n_used == 60
    assert best.n_objects == N


def test_objects_that_are_refused():
    for X, message in [
        ([["a", "b"], ["c"]] * 20, "lists of strings, which may be sequences"),
        ([[1.0, 2.0], []] * 20, "series 1 is empty"),
        ([[[1.0, 2.0], [3.0]]] * 40, "rows of different lengths"),
        ([object()] * 40, "objects of type object"),
        ([{1}, Counter(a=1)] * 20, "objects of type set"),
    ]:
        with pytest.raises(ValueError, match=message):
            suggest(X, LABEL[:40])
    with pytest.raises(TypeError, match="suggest is defined on series"):
        suggest([[1.0], "ab"] * 20, LABEL[:40])
    whole = data_kind([[1, 2, 3], [4, 5]])
    assert "if they are symbols, name kernels on sequences" in whole.notes[1]
