"""The generated tables of the benchmark have the truth that they state; encoders of the peer."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import tables


@pytest.mark.parametrize(
    ("name", "columns"),
    [("interaction", 5), ("levels", 6), ("tickets", 6), ("words", 6), ("ring", 10)],
)
def test_generated_tables(name, columns):
    X, y = tables.generated(name, 0)
    assert X.shape == (tables.ROWS, columns)
    assert 0.3 < y.mean() < 0.7
    again = tables.generated(name, 0)
    assert again.X.equals(X)
    np.testing.assert_array_equal(again.y, y)


def test_the_category_decides_the_sign_of_a_number():
    X, y = tables.generated("interaction", 0)
    gold = X.category == "gold"
    assert np.corrcoef(X.a[gold], y[gold])[0, 1] < -0.5
    assert np.corrcoef(X.a[~gold], y[~gold])[0, 1] > 0.5


def test_the_peer_encodes_numbers_categories_and_texts():
    X = tables.generated("tickets", 0).X
    encode = tables.pipeline(X).estimator[0].fit(X[:300])
    names = encode.get_feature_names_out()
    assert sum("standardscaler" in name for name in names) == 4
    assert sum("onehotencoder" in name for name in names) == 3
    assert sum("tfidfvectorizer" in name for name in names) == len(tables.WORDS)
