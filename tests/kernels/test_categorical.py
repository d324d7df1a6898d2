"""Categories: agreement of columns, missing values, new categories, and what errors say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.preprocessing import OneHotEncoder

from mercer import SVC
from mercer.features import ExplicitFeatures
from mercer.kernels import RBF, Categorical, Linear

ROWS = [["red", "S", 1], ["red", None, 2], ["blue", None, 1], ["green", "L", 2]]


def test_missing_values_agree_with_each_other_whatever_stands_for_them():
    frame = pd.DataFrame({"a": ["x", None, np.nan, pd.NA, "y"]}, dtype=object)
    K = Categorical()(frame)
    missing = np.array([0, 1, 1, 1, 0])
    np.testing.assert_array_equal(K, np.maximum(np.outer(missing, missing), np.eye(5)))
    np.testing.assert_array_equal(
        Categorical()(np.array([[1.0], [np.nan], [np.nan]]))[1], [0, 1, 1]
    )
    np.testing.assert_array_equal(
        Categorical()(pl.DataFrame({"a": ["x", None, None]}))[1], [0, 1, 1]
    )


def test_new_categories_match_only_themselves():
    new = [["pink", "S", 1], ["pink", "XL", 7]]
    np.testing.assert_allclose(Categorical()(new, ROWS), [[2 / 3, 0, 1 / 3, 0], [0, 0, 0, 0]])
    np.testing.assert_allclose(Categorical()(new), [[1, 1 / 3], [1 / 3, 1]])


@pytest.mark.parametrize("X", [pd.Series(["a", "b", "a"]), ("a", "b", "a"), np.array(list("aba"))])
def test_single_categories_are_a_table_of_one_column(X):
    np.testing.assert_array_equal(Categorical()(X), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])


def test_a_machine_gives_the_decision_values_of_one_hot_columns():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "a": rng.choice(list("xyz"), 60),
            "b": rng.choice(list("uv"), 60),
            "n": rng.normal(size=60),
        }
    )
    y = (frame.a == "x") ^ (frame.n > 0)
    kernel = Categorical().on_columns(["a", "b"]) + RBF(1.0).on_columns(["n"])
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    hot = np.hstack([encoder.fit_transform(frame[["a", "b"]]) / np.sqrt(2), frame[["n"]]])
    of_hot = Linear().on_columns(range(5)) + RBF(1.0).on_columns([5])
    model, other = SVC(kernel=kernel).fit(frame, y), SVC(kernel=of_hot).fit(hot, y)
    new = frame.assign(a="new")
    new_hot = np.hstack([encoder.transform(new[["a", "b"]]) / np.sqrt(2), new[["n"]]])
    np.testing.assert_allclose(
        model.decision_function(new), other.decision_function(new_hot), atol=1e-4
    )


def test_features_have_names_and_give_the_values():
    frame = pd.DataFrame(ROWS, columns=["colour", "size", "kind"])
    features = ExplicitFeatures(Categorical()).fit(frame)
    F = features.transform(frame)
    np.testing.assert_allclose((F @ F.T).toarray(), Categorical()(frame))
    names = set(features.get_feature_names_out())
    assert {"colour=red", "size missing", "kind=2"} <= names


def test_values_that_are_no_categories_are_refused():
    with pytest.raises(TypeError, match=r"column 1 holds others, such as lists or sets"):
        Categorical()(np.array([["a", {1}], ["b", {2}]], dtype=object))
    with pytest.raises(ValueError, match="same columns"):
        Categorical()([["a"]], [["a", "b"]])


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"x": [1.0, 2.0], "colour": pd.Categorical(["red", "blue"])}),
        pd.DataFrame({"x": [1.0, 2.0], "colour": [np.nan, "blue"]}),
        pl.DataFrame({"x": [1.0, 2.0], "colour": ["red", "blue"]}).cast({"colour": pl.Categorical}),
        pl.DataFrame({"x": [1.0, 2.0], "colour": ["red", "b"]}).cast(
            {"colour": pl.Enum(["red", "b"])}
        ),
    ],
)
def test_errors_for_columns_of_categories_advise_the_kernel_that_takes_them(X):
    with pytest.raises(ValueError, match=r"Categorical\(\)\.on_columns\('colour'\)"):
        SVC().fit(X, [0, 1])


def test_arrays_of_strings_get_the_same_advice():
    X = np.array([["1.5", "red"], ["2.5", "blue"]])
    for table in (X, X.astype(object)):
        with pytest.raises(ValueError, match=r"column 1 holds .*Categorical\(\)\.on_columns\(1\)"):
            SVC().fit(table, [0, 1])
        with pytest.raises(ValueError, match=r"column 1 holds .*Categorical"):
            RBF(1.0)(table)


def test_errors_for_values_that_are_no_numbers_name_the_columns():
    X = np.ones((6, 4))
    X[2:4, 1], X[5, 3] = np.nan, np.inf
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(ValueError, match=r"contains NaN.*'b' \(2 rows\), 'd' \(1 row\)"):
        SVC().fit(frame, [0, 1] * 3)
    with pytest.raises(ValueError, match=r"contains NaN.*Columns 1 \(2 rows\), 3 \(1 row\)"):
        RBF(1.0)(X)
    model = SVC().fit(np.ones((6, 4)) * np.arange(6)[:, None], [0, 1] * 3)
    with pytest.raises(ValueError, match=r"contains infinity.*Column 3 \(1 row\)"):
        model.predict(X[5:])
