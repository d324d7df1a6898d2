"""Weights of named features."""

import numpy as np
import pandas as pd
import pytest

from mercer import SVC, SVR, KernelRidge
from mercer.kernels import RBF, Categorical, Linear, Spectrum, TfIdf, normalize

TEXTS = ["sun and sea", "sun and sand", "rain and mud", "rain and wind", "sea and sand", "mud"] * 3
GOOD = np.array([1, 1, 0, 0, 1, 0] * 3)
FRAME = pd.DataFrame({"price": np.arange(18.0), "text": TEXTS})


def test_the_weights_of_terms_give_the_decision_function():
    model = SVC(kernel=TfIdf()).fit(TEXTS, GOOD)
    values = model.kernel_.feature_map(TEXTS) @ np.ravel(model.coef_.toarray()) + model.intercept_
    np.testing.assert_allclose(values, model.decision_function(TEXTS), atol=1e-9)
    top = model.top_features(3)
    assert len(top) == 3
    assert top == sorted(top, key=lambda pair: -abs(pair[1]))
    weights = dict(model.top_features(100))
    assert weights["sun"] > 0 > weights["rain"]


def test_substrings_of_several_classes_have_weights():
    model = SVC(kernel=normalize(Spectrum(2))).fit(
        ["aab", "aabb", "bba", "bbaa", "cca", "ccab"], [0, 0, 1, 1, 2, 2]
    )
    found = model.top_features(4)
    assert [len(part) for part in found] == [4, 4, 4]
    assert dict(found[0])["bb"] < 0
    assert model.coef_.shape[0] == 3


def test_sums_over_the_columns_of_a_table():
    kernel = 0.01 * Linear().on_columns(["price"]) + TfIdf().on_columns("text")
    model = SVR(kernel=kernel).fit(FRAME, FRAME["price"] + GOOD)
    names = [name for name, _ in model.top_features(100)]
    assert "price" in names
    assert "sun" in names


def test_categories_of_a_table_have_weights():
    frame = FRAME.assign(sky=np.where(GOOD == 1, "blue", "grey"), place=["a", None, "b"] * 6)
    parts = TfIdf().on_columns("text") + 0.01 * Linear().on_columns(["price"])
    kernel = Categorical().on_columns(["sky", "place"]) + parts
    model = SVC(kernel=kernel).fit(frame, GOOD)
    weights = dict(model.top_features(100))
    assert weights["sky=blue"] > 0 > weights["sky=grey"]
    assert {"place=a", "place=b", "place missing", "sun"} < set(weights)
    # Two rows that differ in one category alone differ in f by that of its weights.
    new = frame.iloc[[0, 0]].assign(sky=["blue", "grey"])
    change = (weights["sky=blue"] - weights["sky=grey"]) / np.sqrt(2)
    assert np.subtract(*model.decision_function(new)) == pytest.approx(change)


def test_ridge_machines_have_weights():
    model = KernelRidge(alpha=0.1, kernel=TfIdf()).fit(TEXTS, np.column_stack([GOOD, 1 - GOOD]))
    good, bad = model.top_features(4)
    # Every pair of the three words is one text: by symmetry they weigh the same.
    assert {name for name, _ in good[:3]} == {"sun", "sea", "sand"}
    np.testing.assert_allclose([weight for _, weight in good[:3]], good[0][1])
    assert good[3][1] < 0.99 * good[2][1]
    assert bad[0][0] == "mud"
    weights = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    features = model.kernel_.feature_map(TEXTS)
    np.testing.assert_allclose(features @ weights.T, model.predict(TEXTS), atol=1e-9)
    assert not hasattr(KernelRidge(kernel="rbf").fit(FRAME[["price"]], GOOD), "coef_")


def test_columns_without_names_are_numbered():
    model = SVC(kernel="linear").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert {name for name, _ in model.top_features()} == {"x0", "x1"}


def test_other_kernels_have_none():
    model = SVC(kernel=RBF(1.0)).fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="dot product of named features"):
        model.top_features()
    with pytest.raises(ValueError, match="n must be an integer of at least 1; got 0"):
        model.top_features(0)
