"""An array of one column is a table, not a collection of sequences of one token."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from mercer import SVC
from mercer.kernels import (
    Jaccard,
    Mismatch,
    Multiset,
    PairHMM,
    Spectrum,
    Subsequence,
    TfIdf,
    WeightedDegree,
    normalize,
)

WORDS = ["banana", "ananas", "bandana", "nab", "ban", "an"] * 3
LABELS = [len(word) % 2 for word in WORDS]
KERNELS = [
    Spectrum(2),
    Subsequence(2),
    Mismatch(2, 1),
    WeightedDegree(2),
    PairHMM(),
    TfIdf(),
    Jaccard(),
    Multiset(),
    2 * normalize(Spectrum(3)) + Subsequence(2),
]
FORMS = {
    "objects": lambda X: np.array(X, dtype=object)[:, None],
    "str": lambda X: np.array(X)[:, None],
    "bytes": lambda X: np.array([x.encode() for x in X])[:, None],
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_error_says_to_choose_the_column(kernel, form):
    table = form(WORDS)
    message = r"a table of one column \(an array of shape \(18, 1\)\)\. Choose the column: .*\(0\)"
    with pytest.raises(TypeError, match=message):
        kernel(table)
    with pytest.raises(TypeError, match=message):
        SVC(kernel=kernel).fit(table, LABELS)


@pytest.mark.parametrize("form", ["objects", "str"])
def test_the_advice_works(form):
    table = FORMS[form](WORDS)
    expected = Spectrum(2)(WORDS)
    np.testing.assert_array_equal(Spectrum(2).on_columns(0)(table), expected)
    np.testing.assert_array_equal(Spectrum(2)(table[:, 0]), expected)


@pytest.mark.parametrize(
    "first",
    [SimpleImputer(strategy="most_frequent"), make_column_transformer(("passthrough", [0]))],
    ids=["imputer", "transformer"],
)
def test_columns_from_transformers_are_noticed(first):
    table = np.array(WORDS, dtype=object)[:, None]
    with pytest.raises(TypeError, match="Choose the column"):
        make_pipeline(first, SVC(kernel=Spectrum(2))).fit(table, LABELS)
    model = make_pipeline(first, SVC(kernel=Spectrum(2).on_columns(0), C=10)).fit(table, LABELS)
    assert model.score(table, LABELS) == 1.0


def test_columns_from_bagging_are_noticed():
    table = np.array(WORDS, dtype=object)[:, None]
    with pytest.raises(TypeError, match="Choose the column"):
        BaggingClassifier(SVC(kernel=Spectrum(2)), 2, random_state=0).fit(table, LABELS)


def test_sequences_of_one_token_stay_legal():
    lists = [["the"], ["a"], ["the"]]
    np.testing.assert_array_equal(Spectrum(1)(lists), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(Spectrum(1)(np.array([[1], [2], [1]])), Spectrum(1)(lists))
    pairs = np.array([["the", "cat"], ["a", "cat"]])
    np.testing.assert_array_equal(Spectrum(1)(pairs), [[2, 1], [1, 2]])
