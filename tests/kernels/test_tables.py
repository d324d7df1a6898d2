"""Tables with columns of text and of numbers: each part of a kernel sees its own columns."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from mercer import SVC, SVR
from mercer.kernels import (
    RBF,
    FromFunction,
    GlobalAlignment,
    Linear,
    SetIntersection,
    Spectrum,
    Subsequence,
    normalize,
)

rng = np.random.default_rng(0)
N = 40
TEXT = ["".join(rng.choice(list("ab"), size=k)) for k in rng.integers(0, 9, size=N)]
A, B = rng.normal(size=N), rng.integers(0, 5, size=N)
Y = np.array([("ab" in s) ^ (a > 0) for s, a in zip(TEXT, A, strict=True)]).astype(int)
COLUMNS = {"text": TEXT, "a": A, "b": B}
NAMED = Spectrum(2).on_columns("text") + RBF().on_columns(["a", "b"])
PLACED = Spectrum(2).on_columns(0) + RBF().on_columns([1, 2])


def rows():
    return [[s, float(a), int(b)] for s, a, b in zip(TEXT, A, B, strict=True)]


TABLES = {
    "pandas": (pd.DataFrame(COLUMNS), NAMED),
    "pandas with an index": (pd.DataFrame(COLUMNS, index=np.arange(N)[::-1]), NAMED),
    "pandas objects": (pd.DataFrame(rows(), columns=list(COLUMNS), dtype=object), NAMED),
    "polars": (pl.DataFrame(COLUMNS), NAMED),
    "array": (np.array(rows(), dtype=object), PLACED),
    "list of rows": (rows(), PLACED),
    "frame by position": (pd.DataFrame(COLUMNS), PLACED),
}
every_table = pytest.mark.parametrize("name", TABLES)


def expected():
    numbers = np.column_stack([A, B])
    return Spectrum(2)(TEXT) + RBF()(numbers)


def some(table, index):
    if hasattr(table, "iloc"):
        return table.iloc[index]
    return table[index] if hasattr(table, "shape") else [table[i] for i in index]


@every_table
def test_values(name):
    table, kernel = TABLES[name]
    bound = kernel.bind(table)
    np.testing.assert_array_equal(bound(table), expected())
    np.testing.assert_array_equal(kernel(table), expected())
    np.testing.assert_array_equal(bound.diag(table), np.diagonal(expected()))
    few = np.array([3, 30, 7])
    np.testing.assert_array_equal(bound(some(table, few), table), expected()[few])
    assert bound.left.columns == [0]
    assert bound.right.columns == [1, 2]


@every_table
def test_machines(name):
    table, kernel = TABLES[name]
    machine = SVC(kernel=kernel, C=10).fit(table, Y)
    values = machine.decision_function(table)
    reference = SVC(kernel="precomputed", C=10).fit(expected(), Y)
    np.testing.assert_allclose(values, reference.decision_function(expected()), atol=1e-6)
    assert machine.n_features_in_ == 3
    named = name.startswith(("pandas", "polars", "frame"))
    assert hasattr(machine, "feature_names_in_") == named
    few = np.array([3, 30, 7])
    np.testing.assert_array_equal(machine.predict(some(table, few)), machine.predict(table)[few])
    assert machine.certify(table, Y).relative_gap < 1e-3
    for copy in (pickle.loads(pickle.dumps(machine)),):
        np.testing.assert_array_equal(copy.decision_function(table), values)


def test_the_support_vectors_are_rows_of_the_table():
    frame = pd.DataFrame(COLUMNS)
    machine = SVC(kernel=NAMED).fit(frame, Y)
    pd.testing.assert_frame_equal(machine.support_vectors_, frame.iloc[machine.support_])


def test_weights_choose_rows():
    frame = pd.DataFrame(COLUMNS)
    weight = rng.integers(0, 3, size=N).astype(float)
    machine = SVC(kernel=NAMED).fit(frame, Y, sample_weight=weight)
    kept = np.repeat(np.arange(N), weight.astype(int))
    copies = SVC(kernel=NAMED).fit(frame.iloc[kept], Y[kept])
    np.testing.assert_allclose(
        machine.decision_function(frame), copies.decision_function(frame), atol=1e-5
    )


@pytest.mark.parametrize("frame", [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS)], ids=["pd", "pl"])
def test_searches_and_pickles_of_frames(frame, tmp_path):
    has_ab = ["ab" in text for text in TEXT]
    assert cross_val_score(SVC(kernel=NAMED, C=10.0), frame, has_ab, cv=3).mean() > 0.8
    search = GridSearchCV(
        SVC(kernel=NAMED),
        {"kernel__left__kernel__p": [1, 2], "kernel__right__kernel__gamma": [0.1, 1.0]},
        cv=3,
        error_score="raise",
    ).fit(frame, Y)
    assert set(search.best_params_) == {"kernel__left__kernel__p", "kernel__right__kernel__gamma"}
    train, test, y_train, y_test = train_test_split(frame, Y, random_state=0)
    machine = make_pipeline("passthrough", SVC(kernel=NAMED)).fit(train, y_train)
    joblib.dump(machine, tmp_path / "machine")
    for copy in (joblib.load(tmp_path / "machine"), pickle.loads(pickle.dumps(machine))):
        np.testing.assert_array_equal(copy.decision_function(test), machine.decision_function(test))
        assert copy.score(test, y_test) == machine.score(test, y_test)


def test_a_pipeline_changes_the_text():
    frame = pd.DataFrame(COLUMNS)
    upper = make_pipeline(
        FunctionTransformer(lambda X: X.assign(text=X["text"].str.upper())), SVC(kernel=NAMED)
    ).fit(frame, Y)
    np.testing.assert_array_equal(
        upper.predict(frame), SVC(kernel=NAMED).fit(frame, Y).predict(frame)
    )


def test_several_kinds_of_objects_in_one_table():
    frame = pd.DataFrame(
        {
            "text": TEXT,
            "set": [frozenset(s) for s in TEXT],
            "series": [np.arange(1.0, 2 + b) for b in B],
            "a": A,
        }
    )
    kernel = (
        normalize(Subsequence(2)).on_columns("text") * Linear().on_columns("a")
        + SetIntersection().on_columns(["set"])
        + normalize(GlobalAlignment(0.5)).on_columns("series")
    )
    K = (
        normalize(Subsequence(2))(TEXT) * np.outer(A, A)
        + SetIntersection()([frozenset(s) for s in TEXT])
        + normalize(GlobalAlignment(0.5))(frame["series"].tolist())
    )
    np.testing.assert_allclose(kernel(frame), K, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(frame), np.diagonal(K), rtol=1e-12)
    assert SVR(kernel=kernel).fit(frame, A).predict(frame).shape == (N,)


def test_vector_kernels_leave_other_columns_alone():
    frame = pd.DataFrame(COLUMNS)
    numbers = frame[["a", "b"]]
    kernel = RBF().on_columns(["a", "b"])
    np.testing.assert_array_equal(kernel(frame), RBF()(numbers.to_numpy()))
    machine = SVC(kernel=kernel).fit(frame, Y)
    alone = SVC(kernel=RBF()).fit(numbers, Y)
    np.testing.assert_allclose(
        machine.decision_function(frame), alone.decision_function(numbers), atol=1e-9
    )
    nested = (Spectrum(2).on_columns("text") + Linear().on_columns("a")).on_columns(["a", "text"])
    np.testing.assert_allclose(nested(frame), Spectrum(2)(TEXT) + np.outer(A, A), rtol=1e-14)


def test_a_function_of_one_column_of_objects():
    def common(X, Z):
        return [[len(set(x) & set(z)) for z in Z] for x in X]

    frame = pd.DataFrame(COLUMNS)
    kernel = FromFunction(common).on_columns("text")
    np.testing.assert_array_equal(kernel(frame), common(TEXT, TEXT))


@pytest.mark.parametrize("frame", [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS)], ids=["pd", "pl"])
@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (Spectrum(2).on_columns("txt"), ValueError, "unknown column 'txt'; the data have text, a"),
        (Spectrum(2).on_columns(5), ValueError, "column 5 does not exist"),
        (Spectrum(2).on_columns(["text", "a"]), ValueError, "one column; got 2 columns"),
        (Spectrum(2).on_columns("a"), TypeError, "of type float"),
        (RBF().on_columns(["text", "a"]), ValueError, "holds texts such as"),
        (RBF().on_columns("c"), ValueError, "unknown column 'c'"),
    ],
)
def test_columns_that_do_not_fit(frame, kernel, error, message):
    with pytest.raises(error, match=message):
        kernel(frame)
    with pytest.raises(error, match=message):
        SVC(kernel=kernel).fit(frame, Y)


def test_tables_that_do_not_fit():
    frame = pd.DataFrame(COLUMNS)
    machine = SVC(kernel=NAMED).fit(frame, Y)
    with pytest.raises(ValueError, match="feature names"):
        machine.predict(frame[["a", "text", "b"]])
    with pytest.raises(ValueError, match="feature names"):
        machine.predict(frame[["text", "a"]])
    with pytest.raises(TypeError, match="rows with columns"):
        NAMED.bind(frame)(TEXT, frame)
    with pytest.raises(ValueError, match="same number of columns"):
        PLACED([["a", 1.0], ["b"]])
    with pytest.raises(ValueError, match="no column names"):
        NAMED(rows())
    with pytest.raises(TypeError, match="missing value"):
        Spectrum(2).on_columns("text")(frame.assign(text=[None, *TEXT[1:]]))
    with pytest.raises(ValueError, match="NaN"):
        NAMED(frame.assign(a=[np.nan, *A[1:]]))
    with pytest.raises(ValueError, match="empty"):
        NAMED(frame.iloc[:0])
