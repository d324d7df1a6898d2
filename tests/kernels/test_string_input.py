"""What kernels on strings accept, and what they refuse with which words."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from mercer import SVC
from mercer.kernels import (
    RBF,
    BlendedSpectrum,
    Linear,
    Mismatch,
    PairHMM,
    Spectrum,
    Subsequence,
    Substring,
    WeightedDegree,
    normalize,
)

STRINGS = ["banana", "ananas", "", "ban", "nnnnnnn"]
KERNELS = [
    Spectrum(2),
    BlendedSpectrum(2),
    Substring(0.5),
    Subsequence(2),
    Mismatch(2, 1),
    WeightedDegree(2),
    PairHMM(),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)

FORMS = {
    "tuple": tuple,
    "array of str": np.array,
    "array of objects": lambda X: np.array(X, dtype=object),
    "NumPy strings": lambda X: [np.str_(x) for x in X],
    "pandas": pd.Series,
    "pandas categories": lambda X: pd.Series(X, dtype="category"),
    "polars": pl.Series,
    "bytes": lambda X: [x.encode() for x in X],
    "bytearrays": lambda X: [bytearray(x.encode()) for x in X],
    "lists": lambda X: [list(x) for x in X],
    "tuples of tokens": lambda X: [tuple(x) for x in X],
    "numbers as tokens": lambda X: [[ord(c) for c in x] for x in X],
    "arrays of numbers": lambda X: [np.array([ord(c) for c in x], dtype=np.int64) for x in X],
    "arrays of letters": lambda X: [np.array(list(x), dtype="U1") for x in X],
    "tuples as tokens": lambda X: [[("letter", c) for c in x] for x in X],
    "other letters": lambda X: [x.replace("a", "\U0001f34c") for x in X],
    "lone surrogates": lambda X: [x.replace("a", "\ud800") for x in X],
}


@pytest.mark.parametrize("form", FORMS)
@every_kernel
def test_forms_of_strings(kernel, form):
    X = FORMS[form](STRINGS)
    expected = kernel.bind(STRINGS)(STRINGS)
    np.testing.assert_allclose(kernel.bind(X)(X), expected, rtol=1e-14)
    np.testing.assert_allclose(kernel.bind(X).diag(X), np.diagonal(expected), rtol=1e-14)


def test_rows_of_an_array_are_sequences():
    A = np.array([[1, 2, 1], [2, 1, 2]])
    assert Spectrum(2)(A).tolist() == [[2, 2], [2, 2]]
    letters = np.array([["a", "b", "a"], ["b", "a", "b"]])
    assert Spectrum(2)(letters).tolist() == [[2, 2], [2, 2]]


def test_words_as_tokens():
    X = [["to", "be", "or", "not", "to", "be"], ["to", "see", "or", "to", "be"]]
    assert Spectrum(2)(X).tolist() == [[7, 2], [2, 4]]
    assert Spectrum(1)(X, [["be", "and", "nothing"]]).tolist() == [[2], [1]]
    assert Subsequence(2, 1.0)([["a", "b"]], [["a", "new", "b"]])[0, 0] == 1
    # Unknown words are not equal to each other.
    assert Subsequence(1, 1.0)([["x", "y"]], [["a", "b"]])[0, 0] == 0


@every_kernel
def test_the_empty_string(kernel):
    kernel = kernel.bind(["ab"])
    values = kernel(["", "ab"])
    if isinstance(kernel, PairHMM):  # a probability: letters can be inserted
        assert (values > 0).all()
    else:
        assert values[0].tolist() == [0, 0]
        assert normalize(kernel)(["", "ab"])[0].tolist() == [0, 0]
    assert np.isfinite(normalize(kernel)(["", ""])).all()
    assert kernel.diag([""]).tolist() == [values[0, 0]]


@pytest.mark.parametrize(
    "kernel", [Spectrum(9), Subsequence(9), Mismatch(9, 2), Substring(min_length=9)], ids=repr
)
def test_strings_shorter_than_the_length(kernel):
    kernel = kernel.bind(["short", "shorter"])
    assert not kernel(["short", "shorter"]).any()
    assert not kernel.diag(["short"]).any()
    assert not normalize(kernel)(["short"], ["a", ""]).any()


# -------------------------------------------------------------------------- refusals

BAD_OBJECTS = [
    ([1.0, 2.0], TypeError, "object 0 is 1.0 of type float"),
    ([1, 2], TypeError, "object 0 is 1 of type int"),
    (np.array([1.0, 2.0]), TypeError, "type float64"),
    ([[0.5, 1.5], [1.0, 2.0]], TypeError, "real number 0.5"),
    (np.array([[0.5, 1.5]]), TypeError, "real number 0.5"),
    (["ab", 3.0], TypeError, "object 1 is 3.0"),
    (["ab", None], TypeError, "missing value"),
    (["ab", float("nan")], TypeError, "missing value"),
    (pd.Series(["ab", pd.NA], dtype=object), TypeError, "missing value"),
    (["ab", b"ab"], TypeError, "object 0 is of type str, object 1 of type bytes"),
    ([b"ab", "ab"], TypeError, "object 0 is of type bytes, object 1 of type str"),
    (["ab", ["a", "b"]], TypeError, "object 1 of type list"),
    ([{"a", "b"}], TypeError, "type set"),
    ([{"a": 1}], TypeError, "type dict"),
    ([["a", ["b"]]], TypeError, "object 0 holds a list"),
    ([["a", {"b"}]], TypeError, "object 0 holds a set"),
    ("banana", TypeError, "collection of sequences"),
    (b"banana", TypeError, "collection of sequences"),
    (5, TypeError, "collection of sequences"),
    ([], ValueError, "no objects"),
    (pd.DataFrame({"s": ["ab"]}), TypeError, "on_columns"),
    (pl.DataFrame({"s": ["ab"]}), TypeError, "on_columns"),
    (sp.csr_matrix([[1.0]]), TypeError, "on_columns"),
]


@pytest.mark.parametrize(("X", "error", "message"), BAD_OBJECTS)
@every_kernel
def test_wrong_objects(kernel, X, error, message):
    bound = kernel.bind(["ab"])
    for attempt in (
        lambda: bound(X),
        lambda: bound(X, ["ab"]),
        lambda: bound(["ab"], X),
        lambda: bound.diag(X),
        lambda: kernel.bind(X)(X),
        lambda: SVC(kernel=kernel).fit(X, [0, 1]),
    ):
        with pytest.raises(error, match=message):
            attempt()


def test_strings_given_to_a_vector_kernel():
    with pytest.raises(ValueError, match="defined on real vectors; got texts such as"):
        RBF(1.0)(["ab", "cd"])
    with pytest.raises(ValueError, match="string"):
        SVC(kernel=RBF(1.0)).fit(np.array(["ab", "cd"]).reshape(-1, 1), [0, 1])


@pytest.mark.parametrize("kernel", [Spectrum(2), Subsequence(2)], ids=repr)
def test_strings_are_not_compared_with_bytes_or_tokens(kernel):
    with pytest.raises(TypeError, match="bytes cannot be compared with sequences of type str"):
        kernel([b"ab"], ["ab"])
    machine = SVC(kernel=kernel).fit(["ab", "ba", "aa"], [0, 1, 0])
    with pytest.raises(TypeError, match="list of tokens cannot be compared"):
        machine.predict([["a", "b"]])


def test_letters_outside_the_alphabet_of_a_model():
    with pytest.raises(ValueError, match="object 1 has the letter 'x'"):
        PairHMM("ab")(["ab", "axb"])
    with pytest.raises(ValueError, match="object 0 has the letter 'B'"):
        PairHMM().bind(["ab"])(["aB"])
    with pytest.raises(ValueError, match="object 0 has the letter 99"):
        PairHMM().bind([b"ab"])([b"abc"])
    machine = SVC(kernel=PairHMM()).fit(["ab", "ba", "aa"], [0, 1, 0])
    with pytest.raises(ValueError, match="give an alphabet with all letters"):
        machine.predict(["abc"])


BAD_PARAMETERS = [
    (lambda: Spectrum(0), ValueError, "p must be an integer of at least 1"),
    (lambda: Spectrum(2.5), ValueError, "p must be an integer"),
    (lambda: Spectrum("3"), TypeError, "p must be an integer"),
    (lambda: Spectrum(True), ValueError, "p must be an integer"),
    (lambda: BlendedSpectrum(2, [1.0]), ValueError, "each length from 1 to p=2"),
    (lambda: BlendedSpectrum(2, [1.0, -1.0]), ValueError, "at least 0"),
    (lambda: BlendedSpectrum(2, "ab"), TypeError, "sequence of 2 numbers"),
    (lambda: Substring(0.0), ValueError, "decay must be a number > 0"),
    (lambda: Substring(-0.5), ValueError, "decay"),
    (lambda: Substring(np.inf), ValueError, "finite"),
    (lambda: Substring(min_length=0), ValueError, "min_length"),
    (lambda: Substring(min_length=3, max_length=2), ValueError, "max_length"),
    (lambda: Subsequence(0), ValueError, "n must be an integer of at least 1"),
    (lambda: Subsequence(2, 0.0), ValueError, "decay must be a number > 0"),
    (lambda: Subsequence(2, np.nan), ValueError, "decay"),
    (lambda: Subsequence(2, 0.5, [1.0, 1.0, 1.0]), ValueError, "each length from 1 to n=2"),
    (lambda: Mismatch(3, 3), ValueError, "m must be smaller than k=3"),
    (lambda: Mismatch(3, -1), ValueError, "m must be"),
    (lambda: Mismatch(3, 1, "AAC"), ValueError, "every token once"),
    (lambda: Mismatch(3, 1, ""), TypeError, "alphabet"),
    (lambda: Mismatch(3, 1, 4), TypeError, "alphabet"),
    (lambda: WeightedDegree(0), ValueError, "degree"),
    (lambda: WeightedDegree(3, -1), ValueError, "shift"),
    (lambda: WeightedDegree(3, 0, [1.0]), ValueError, "degree=3"),
    (lambda: PairHMM("ab", gap=1.0), ValueError, "gap must be smaller than 1"),
    (lambda: PairHMM("ab", end=0.0), ValueError, "end must be above 0"),
    (lambda: PairHMM("ab", mutation=1.5), ValueError, "mutation"),
    (lambda: PairHMM(emission=np.eye(2) / 2), ValueError, "order of an alphabet"),
    (lambda: PairHMM("ab", emission=np.eye(3) / 3), ValueError, r"shape \(2, 2\)"),
    (lambda: PairHMM("ab", emission=np.eye(2)), ValueError, "add up to 1"),
    (lambda: PairHMM("ab", emission=[[0.5, 0.2], [0.1, 0.2]]), ValueError, "symmetric"),
    (lambda: PairHMM("ab", background=[0.5, 0.6]), ValueError, "add up to 1"),
    (lambda: PairHMM("ab", background=[1.0]), ValueError, "2 numbers"),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD_PARAMETERS)
def test_parameters_out_of_range(make, error, message):
    with pytest.raises(error, match=message):
        make()


@every_kernel
def test_parameters_that_were_set_are_checked_at_use(kernel):
    copy = clone(kernel)
    name, value = next(iter(kernel.get_params().items()))
    copy.set_params(**{name: -1})
    for use in (copy, copy.bind, copy.diag):
        with pytest.raises((TypeError, ValueError)):
            use(["ab", "ba"])
    copy.set_params(**{name: value})
    assert copy == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_values_that_depend_on_data_need_a_bound_kernel():
    for kernel in (Mismatch(2, 1), PairHMM()):
        assert not kernel.is_bound
        with pytest.raises(ValueError, match="bind it first"):
            kernel(["ab"], ["ab"])
        assert kernel.bind(["ab", "cab"]).alphabet == ["a", "b", "c"]
        assert kernel.bind(["ab", "cab"], [1, 0]).alphabet == ["a", "b"]
        assert kernel.bind([""])([""]).shape == (1, 1)


def test_kernels_of_different_objects_do_not_mix():
    with pytest.raises(ValueError, match=r"on_columns\('text'\)"):
        Spectrum(2) + RBF()
    with pytest.raises(ValueError, match="on_columns"):
        RBF() * Spectrum(2)
    with pytest.raises(ValueError, match="on_columns"):
        Spectrum(2).on_columns(0) + Linear()
    with pytest.raises(ValueError, match="on_columns"):
        Spectrum(2) + Spectrum(2).on_columns(0)
    mixed = Spectrum(2) + 2 * Subsequence(2) * Spectrum(1) + 1
    assert mixed(["ab"])[0, 0] == 1 + 2 * 0.5**4 * 2 + 1
