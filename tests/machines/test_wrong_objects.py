"""Texts, sets and counts where numbers are needed: the error says what takes them."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import SVC, GaussianProcessClassifier, GaussianProcessRegressor
from mercer.kernels import RBF

WORDS = ["banana", "kernel"]
COLUMNS = {"number": [1.0, 2.0], "word": WORDS}


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (WORDS, r"texts such as 'banana'\. For texts use Spectrum"),
        ("banana", "texts such as 'banana'"),
        ([b"banana", b"kernel"], "texts such as b'banana'"),
        (np.array(WORDS), "texts such as 'banana'"),
        (np.array(WORDS, dtype=object), "texts such as 'banana'"),
        (pd.Series(WORDS, index=[7, 8]), "texts such as 'banana'"),
        ([{1, 2}, {3}], r"sets such as \{1, 2\}\. For sets use Jaccard"),
        ([Counter("aab"), Counter("b")], "use Multiset"),
        (pd.DataFrame(COLUMNS, index=[7, 8]), r"'word' holds texts .*on_columns\('word'\)"),
        (pl.DataFrame(COLUMNS), r"'word' holds texts such as 'banana'"),
        ([[1, "banana"], [2, "kernel"]], "column 1 holds texts such as 'banana'"),
        (np.array([[1, 2], [3, "kernel"]], dtype=object), "column 1 holds texts such as 'kernel'"),
    ],
    ids=[
        "list",
        "str",
        "bytes",
        "array",
        "objects",
        "series",
        "sets",
        "counts",
        "pandas",
        "polars",
        "lists",
        "below a number",
    ],
)
def test_what_is_no_vector_is_refused_in_words(objects, message):
    with pytest.raises(ValueError, match=f"RBF is defined on real vectors.*{message}"):
        RBF(1.0)(objects)
    with pytest.raises(ValueError, match=f"kernel of SVC is defined on real vectors.*{message}"):
        SVC().fit(objects, [0, 1])


@pytest.mark.parametrize("machine", [GaussianProcessClassifier(), GaussianProcessRegressor()])
def test_processes_with_the_kernel_of_scikit_learn_refuse_texts_too(machine):
    name = type(machine).__name__
    with pytest.raises(ValueError, match=f"kernel of {name} .* column 0 holds texts such as 'red'"):
        machine.fit(np.array([["red", "S"], ["blue", "M"]]), [0, 1])


def test_missing_values_in_lists_are_refused_by_columns():
    with pytest.raises(ValueError, match=r"Column 1 \(1 row\)\. Leave these rows out"):
        SVC().fit([[1.0, float("nan")], [2.0, 3.0]], [0, 1])


def test_texts_that_are_numbers_are_read_as_numbers():
    rows = [["1.5", "2"], ["3", "4"]]
    expected = RBF(1.0)(np.array(rows, dtype=float))
    np.testing.assert_array_equal(RBF(1.0)(np.array(rows)), expected)
    np.testing.assert_array_equal(RBF(1.0)(pd.DataFrame(rows, dtype=object)), expected)
