"""Texts, sets and counts where numbers are needed: the error says what takes them."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import SVC
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
    ],
)
def test_what_is_no_vector_is_refused_in_words(objects, message):
    with pytest.raises(ValueError, match=f"RBF is defined on real vectors.*{message}"):
        RBF(1.0)(objects)
    with pytest.raises(ValueError, match=f"kernel of SVC is defined on real vectors.*{message}"):
        SVC().fit(objects, [0, 1])


def test_texts_that_are_numbers_are_read_as_numbers():
    rows = [["1.5", "2"], ["3", "4"]]
    expected = RBF(1.0)(np.array(rows, dtype=float))
    np.testing.assert_array_equal(RBF(1.0)(np.array(rows)), expected)
    np.testing.assert_array_equal(RBF(1.0)(pd.DataFrame(rows, dtype=object)), expected)
