"""Explicit features of kernels on strings, sets and truth values: their dot products, columns
and names."""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from mercer import SVC
from mercer.features import ExplicitFeatures
from mercer.kernels import (
    ANOVA,
    BlendedSpectrum,
    Boolean,
    FromFeatureMap,
    Linear,
    Mismatch,
    Multiset,
    Polynomial,
    PowerSeries,
    SetIntersection,
    SetPower,
    Spectrum,
    Subsequence,
    Vocabulary,
    WeightedDegree,
    normalize,
    polynomial,
)

rng = np.random.default_rng(5)


def strings(n, letters, longest):
    return ["".join(rng.choice(list(letters), rng.integers(0, longest))) for _ in range(n)]


def sets(n, letters):
    return [set(rng.choice(list(letters), rng.integers(0, 6))) for _ in range(n)]


X, Z = strings(20, "ACGT", 18), strings(15, "ACGTN", 24)
A, B = sets(15, "abcde"), sets(15, "abcdefgh")
M = [Counter(rng.choice(list("abc"), rng.integers(0, 6)).tolist()) for _ in range(15)]
N = [Counter(rng.choice(list("abcdef"), rng.integers(0, 7)).tolist()) for _ in range(15)]
BITS = rng.integers(0, 2, (12, 5)).astype(float)
ROWS = rng.normal(size=(10, 5))
WEIGHTS = {"a": 0.5, "b": 0.0, "c": 2.0}


def dense(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


CASES = [
    (Spectrum(2), X, Z),
    (Spectrum(9), X, X[:10] + Z),
    (Spectrum(3), ["日本語日本語", "本語", ""], ["語日本語", "日日本"]),
    (WeightedDegree(2, shift=1), ["日本語日本語", "本語", ""], ["語日本語日本語日本", "日日本"]),
    (Spectrum(2), [list(x) for x in X], [list(z) for z in Z]),
    (Spectrum(2), [x.encode() for x in X], [z.encode() for z in Z]),
    (BlendedSpectrum(3), X, Z),
    (BlendedSpectrum(8, [1, 0, 0, 0.5, 2, 0, 0, 1]), X, Z),
    (Mismatch(3, 1), X, Z),
    (Mismatch(4, 2, alphabet="TGCA"), X, Z),
    (WeightedDegree(3), X, Z),
    (WeightedDegree(3, shift=4, weights=[1, 0, 2]), X, Z),
    (SetIntersection(), A, B),
    (SetIntersection(WEIGHTS), A, B),
    (SetPower(), A, B),
    (SetPower(1.5, WEIGHTS), A, B),
    (SetPower(1.0), A, B),
    *((Multiset(mode), M, N) for mode in ("minimum", "product", "multisets", "subsets")),
    (Boolean(), BITS, 1 - BITS),
    (Boolean(monotone=False), BITS, 1 - BITS),
    (ANOVA(2, Linear()), ROWS, ROWS[:4] + 1),
    (ANOVA(5, Linear()), ROWS, ROWS[:4] + 1),
    (ANOVA(2, Polynomial(2, 1.0, 1.0)), ROWS, ROWS[:4] + 1),
    (2 * Spectrum(2) + WeightedDegree(2), X, Z),
    (Spectrum(2) * Spectrum(1), X, Z),
    (normalize(Spectrum(9)), X, X[:10] + Z),
    (normalize(SetPower() * SetIntersection()), A, B),
    (Spectrum(1) ** 2, X, Z),
    (polynomial(Spectrum(1), [1.0, 0.0, 2.0]), X, Z),
    (PowerSeries([1.0, 2.0], kernel=Spectrum(1)), X, Z),
    (Boolean().on_columns([0, 3]) + Linear(), BITS, 1 - BITS),
]


@pytest.mark.parametrize(
    ("kernel", "first", "later"),
    CASES,
    ids=[f"{str(case[0])[:60]}-{i}" for i, case in enumerate(CASES)],
)
def test_features_have_the_kernel_as_their_dot_product(kernel, first, later):
    transformer = ExplicitFeatures(kernel).fit(first)
    F, G = transformer.transform(first), transformer.transform(later)
    kernel = kernel.bind(first)
    np.testing.assert_allclose(dense(F @ F.T), kernel(first), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(dense(F @ G.T), kernel(first, later), rtol=1e-11, atol=1e-11)
    own = dense(kernel.feature_map(first))
    np.testing.assert_array_equal(own, dense(F))
    assert len(transformer.get_feature_names_out()) == F.shape[1] == transformer.n_components_


def test_counts_of_strings_and_sets_stay_sparse():
    for kernel, objects in [
        (Spectrum(3), X),
        (Spectrum(1) * Spectrum(2), X),
        (normalize(Spectrum(3)) + WeightedDegree(2), X),
        (SetPower(), A),
        (Boolean(), BITS),
        (Boolean() + Linear(), BITS),
    ]:
        assert sp.issparse(kernel.feature_map(objects)), kernel


def test_columns_are_the_counts_of_the_substrings_they_are_named_after():
    for kernel in (Spectrum(2), Spectrum(9)):
        transformer = ExplicitFeatures(kernel).fit(X)
        F, names = dense(transformer.transform(X)), transformer.get_feature_names_out()
        for j, word in enumerate(names):
            at = [sum(x.startswith(word, i) for i in range(len(x))) for x in X]
            np.testing.assert_array_equal(F[:, j], at)
    assert ExplicitFeatures(Spectrum(2)).fit(X).get_feature_names_out().tolist() == [
        "".join(word) for word in product("ACGT", repeat=2)
    ]
    tokens = [["to", "be"], ["or", "not", "to", "be"]]
    assert "not to" in ExplicitFeatures(Spectrum(2)).fit(tokens).get_feature_names_out()


def test_columns_of_mismatches_count_the_words_that_are_near():
    transformer = ExplicitFeatures(Mismatch(3, 1)).fit(X)
    F, names = dense(transformer.transform(X)), transformer.get_feature_names_out()
    for j in (0, 17, 63):
        near = [
            sum(
                sum(a != b for a, b in zip(x[i : i + 3], names[j], strict=True)) <= 1
                for i in range(len(x) - 2)
            )
            for x in X
        ]
        np.testing.assert_array_equal(F[:, j], near)


def test_names_of_places_sets_copies_and_conjunctions():
    def names(kernel, objects):
        return ExplicitFeatures(kernel).fit(objects).get_feature_names_out().tolist()

    assert names(WeightedDegree(2), ["AC"]) == ["0:A", "1:C", "0:AC"]
    assert names(BlendedSpectrum(2, [0, 1]), ["AB"]) == ["AA", "AB", "BA", "BB"]
    assert names(SetIntersection(), [{"b", "a"}, {"c"}]) == ["a", "b", "c"]
    assert names(SetPower(), [{"b", "a"}]) == ["{}", "{a}", "{b}", "{a, b}"]
    assert names(Multiset(), [Counter(b=2, a=1)]) == ["a", "b", "b x 2"]
    assert names(Multiset("multisets"), [Counter(b=2)]) == ["{}", "{b}", "{b x 2}"]
    assert names(Boolean(), [[1, 0]]) == ["x1", "x0", "x0 and x1"]
    assert names(Boolean(monotone=False), [[1.0]]) == ["x0", "not x0"]
    assert names(ANOVA(2, Linear()), np.ones((1, 3))) == ["x0 x1", "x0 x2", "x1 x2"]
    assert names(Mismatch(1, 0, alphabet=["to", "be"]), [["to"]]) == ["to", "be"]


def test_names_of_monomials_and_of_what_has_no_names():
    table = pd.DataFrame(ROWS[:, :2], columns=["a", "b"])
    features = ExplicitFeatures("poly", degree=2, coef0=1.0).fit(table)
    assert features.get_feature_names_out().tolist() == ["1", "a", "b", "a^2", "a b", "b^2"]
    transformed = features.set_output(transform="pandas").transform(table)
    scaled = np.sqrt(2.0) * features.kernel_.gamma * table["a"] * table["b"]
    np.testing.assert_allclose(transformed["a b"], scaled)
    unnamed = ExplicitFeatures(FromFeatureMap(np.square)).fit(ROWS[:, :1])
    assert unnamed.get_feature_names_out().tolist() == ["explicitfeatures0"]


def test_a_table_of_strings_and_numbers_has_features():
    table = pd.DataFrame({"text": X, "a": rng.normal(size=20), "b": rng.normal(size=20)})
    kernel = normalize(Spectrum(2)).on_columns("text") + Linear().on_columns(["a", "b"])
    kernel = kernel + Polynomial(2, 1.0, 1.0).on_columns(["a"])
    transformer = ExplicitFeatures(kernel).fit(table)
    F = transformer.transform(table)
    np.testing.assert_allclose(dense(F @ F.T), kernel.bind(table)(table), atol=1e-12)
    names = transformer.get_feature_names_out()
    assert names[:2].tolist() == ["text=AA", "text=AC"]
    assert names[-5:].tolist() == ["a", "b", "1", "a (2)", "a^2"]


def test_what_only_new_objects_hold_has_no_column():
    kernel = Spectrum(1)
    transformer = ExplicitFeatures(kernel).fit(["AB", "B"])
    G = dense(transformer.transform(["ABN", "NN"]))
    np.testing.assert_array_equal(G, [[1, 1], [0, 0]])
    assert kernel(["NN"])[0, 0] == 4  # which the dot product of two new objects lacks
    # The length of an object stays that of the kernel, not of the features that are left.
    unit = ExplicitFeatures(normalize(kernel)).fit(["AB", "B"])
    np.testing.assert_allclose(dense(unit.transform(["ABN"])), [[3**-0.5, 3**-0.5]])


def test_a_vocabulary_keeps_the_columns_of_the_first_objects():
    words = Vocabulary()
    kernel = SetPower() + 2 * SetIntersection()
    F, G = kernel.map_features(A, words), kernel.map_features(B, words)
    assert F.shape[1] == G.shape[1]
    np.testing.assert_allclose((F @ G.T).toarray(), kernel(A, B))


def test_a_linear_machine_on_counts_is_the_string_machine():
    y = np.array([x.count("A") > 2 for x in X])
    features = ExplicitFeatures(Spectrum(2)).fit(X)
    explicit = SVC(kernel="linear", tol=1e-9).fit(features.transform(X), y)
    implicit = SVC(kernel=Spectrum(2), tol=1e-9).fit(X, y)
    np.testing.assert_allclose(
        explicit.decision_function(features.transform(Z)),
        implicit.decision_function(Z),
        atol=1e-6,
    )


def test_libraries_with_indices_of_32_bits_take_the_features():
    y = np.array([x.count("A") > 2 for x in X])
    for kernel in (Spectrum(2), Spectrum(1) * Spectrum(2), 2 * Spectrum(2) + WeightedDegree(2)):
        features = ExplicitFeatures(kernel).fit_transform(X)
        assert LinearSVC().fit(features, y).score(features, y) > 0.8
    for kernel, objects in ((SetIntersection(), A), (SetPower(), A), (Boolean(), BITS)):
        assert kernel.feature_map(objects).indices.dtype == np.int32
    rows = sp.csr_array(BITS)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    assert ExplicitFeatures(Linear()).fit(rows).transform(rows).indices.dtype == np.int32
    assert rows.indices.dtype == np.int64  # the data themselves stay as they are


def test_features_too_many_to_list_are_refused():
    with pytest.raises(ValueError, match=r"object 0 has 131,072 of them, more than the 65,536"):
        SetPower().feature_map([set(range(17))])
    with pytest.raises(ValueError, match=r"2\^17 - 1 conjunctions"):
        Boolean().feature_map(np.zeros((1, 17)))
    with pytest.raises(ValueError, match=r"3\^11 - 1 conjunctions"):
        Boolean(monotone=False).feature_map(np.zeros((1, 11)))
    with pytest.raises(ValueError, match=r"20\^5 words"):
        Mismatch(5, 1, alphabet="ACDEFGHIKLMNPQRSTVWY").feature_map(["ACDEFG"])
    with pytest.raises(ValueError, match="3,921,225 sets of columns"):
        ANOVA(4, Linear()).feature_map(np.ones((1, 100)))
    with pytest.raises(ValueError, match="bind it first"):
        Mismatch(2, 1).feature_map(X)


def test_where_no_features_are_listed_the_error_does_not_claim_that_there_are_none():
    with pytest.raises(NotImplementedError, match="infinite in number, or not listed"):
        Subsequence(2).feature_map(X)
    with pytest.raises(NotImplementedError, match="infinite in number"):
        PowerSeries("exp").feature_map(ROWS)


def test_objects_without_features_have_rows_of_zeros():
    for kernel, empty in ((Spectrum(2), [""]), (SetIntersection(), [set()])):
        assert not kernel.feature_map(empty).toarray().any()
        assert ExplicitFeatures(kernel).fit(empty).get_feature_names_out().tolist() == ["nothing"]
