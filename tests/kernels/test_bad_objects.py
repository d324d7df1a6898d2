"""What kernels on structured objects get that they cannot take, for every one of the catalogue."""

import numpy as np
import pandas as pd
import pytest

from mercer import SVC
from mercer.kernels import (
    RBF,
    Convolution,
    Fisher,
    GlobalAlignment,
    HiddenMarkov,
    Jaccard,
    Kernel,
    Marginalized,
    Multiset,
    OnColumns,
    SetPower,
    Spectrum,
    TfIdf,
)
from tests.catalogue import catalogue
from tests.kernels.enumeration import random_model

MODEL = random_model(0, 2, "ab")
GENERAL = ("vectors", "histograms", "short vectors", "numbers", "matrix", "items", "categories")


def is_restricted(example):
    """Whether the objects are of one kind, and not whatever a function of the user takes."""
    values = example.kernel.get_params().values()
    holds_function = any(callable(v) and not isinstance(v, Kernel) for v in values)
    return example.objects not in GENERAL and not holds_function


EXAMPLES = [example for example in catalogue() if is_restricted(example)]
every = pytest.mark.parametrize("example", EXAMPLES, ids=str)

WRONG = {
    "a single string": "ab",
    "a number": 3,
    "no objects": [],
    "missing values": [None, None],
    "numbers that are no series": [0.5, 1.5],
    "functions": [len, max],
    "a table": pd.DataFrame({"word": ["ab", "b"]}),
}


@every
@pytest.mark.parametrize("name", WRONG)
def test_wrong_objects_are_refused_at_the_door(example, name):
    X = WRONG[name]
    if any(
        isinstance(part, OnColumns) for part in (example.kernel, *example.kernel.inner_kernels())
    ):
        X = [[x, x, x, x] for x in X] if isinstance(X, list) and X else X
    with pytest.raises((TypeError, ValueError)) as refusal:
        example.kernel(X)
    words = str(refusal.value)
    assert len(words) > 30  # says what was expected
    assert "Traceback" not in words
    with pytest.raises((TypeError, ValueError)):
        SVC(kernel=example.kernel).fit(X, [0, 1])


@pytest.mark.parametrize("kernel", [SetPower(), Jaccard(), Multiset()])
def test_rows_of_real_numbers_are_no_sets(kernel):
    for X in (np.array([[0.5, 1.5]]), [[0.5, 1.5]], [(0.5, 1.5)]):
        with pytest.raises(TypeError, match=r"object 0 is a list of real numbers such as 0\.5"):
            kernel(X)
    assert kernel([{0.5, 1.5}])[0, 0] == kernel([{1, 2}])[0, 0]  # said to be a set


@pytest.mark.parametrize("kernel", [Fisher(MODEL), Marginalized(MODEL)], ids=["f", "m"])
def test_models_of_sequences_see_a_column_not_the_table(kernel):
    frame = pd.DataFrame({"s": ["ab", "b"], "x": [1.0, 2.0]})
    with pytest.raises(TypeError, match=r"got a table \(DataFrame\)\. Choose the column"):
        kernel(frame)
    np.testing.assert_array_equal(kernel.on_columns("s")(frame), kernel(["ab", "b"]))


def test_a_failing_function_of_parts_names_the_object():
    with pytest.raises(TypeError, match="has no len") as failure:
        Convolution(lambda x: range(len(x)))(["ab", 3.5])
    assert failure.value.__notes__ == ["This happened while Convolution took object 1 apart: 3.5."]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Jaccard(multisets="yes"), "multisets must be True or False; got 'yes'"),
        (lambda: Convolution(list, average=2), "average must be True or False; got 2"),
        (lambda: Marginalized(HiddenMarkov(), average=None), "average must be True or False"),
        (lambda: TfIdf(normalize="l2"), "normalize must be True or False; got 'l2'"),
    ],
)
def test_what_is_neither_true_nor_false_is_refused(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_series_of_the_wrong_kind():
    with pytest.raises(TypeError, match=r"series: .*; object 1 is of type str"):
        GlobalAlignment(1.0)([[1.0], "ab"])
    with pytest.raises(TypeError, match="object 0, of type NoneType, has 0 dimensions"):
        GlobalAlignment(1.0)([None])


@pytest.mark.parametrize("column", ["sequnce", 7, -8])
def test_a_column_that_does_not_exist(column):
    frame = pd.DataFrame({"sequence": ["ab", "ba"], "x": [1.0, 2.0]})
    kernel = Spectrum(1).on_columns(column) + RBF(1.0).on_columns(["x"])
    for attempt in (
        lambda: kernel(frame),
        lambda: kernel.bind(frame),
        lambda: SVC(kernel=kernel).fit(frame, [0, 1]),
    ):
        with pytest.raises(
            ValueError,
            match=r"unknown column 'sequnce'; the data have sequence, x"
            if isinstance(column, str)
            else rf"column {column} does not exist; the",
        ):
            attempt()


def test_a_gram_matrix_that_is_none():
    K = Spectrum(1)(["ab", "ba", "aa"])
    machine = SVC(kernel="precomputed")
    with pytest.raises(ValueError, match="square"):
        machine.fit(K[:2], [0, 1])
    K[0, 1] += 1.0
    with pytest.raises(ValueError, match=r"symmetric; K\[0, 1\]"):
        machine.fit(K, [0, 1, 0])
