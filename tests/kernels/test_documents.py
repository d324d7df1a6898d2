"""Bags of words with tf-idf weights."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer import SVC
from mercer.kernels import RBF, Linear, Polynomial, TfIdf, exp, mutual_information
from tests.kernels.agreement import agrees
from tests.kernels.document_definitions import learned_idf, tf_idf

NEWS = [
    "Wheat and corn prices rise as the harvest fails",
    "the corn harvest: wheat, wheat, and more wheat",
    "a ship leaves the harbour with corn",
    "the harbour master counts ship after ship",
    "prices of wheat fall",
    "a ship in the harbour",
]
TOPIC = ["grain", "grain", "ship", "ship", "grain", "ship"]


@pytest.mark.spec("CS-8.03")
@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), min_size=1, max_size=7))
def test_the_formula(documents):
    if not any(documents):
        documents = [*documents, ["a"]]
    idf = learned_idf(documents)
    agrees(TfIdf(), documents, lambda x, z: tf_idf(x, z, idf))


@pytest.mark.spec("CS-8.03")
def test_the_worked_document():
    # Four documents; the three terms are in one, two and all four of them.
    documents = [["x", "y", "y", "z", "z", "z", "z", "z"], ["y", "z"], ["z"], ["z"]]
    kernel = TfIdf().bind(documents)
    columns = [kernel.vocabulary.index(term) for term in "xyz"]
    phi = kernel.feature_map(documents).toarray()[:, columns]
    np.testing.assert_allclose(phi[0], [1 / math.sqrt(2), 1 / math.sqrt(2), 0.0], rtol=1e-14)
    np.testing.assert_array_equal(phi[2], [0, 0, 0])  # only a term that all documents have
    np.testing.assert_allclose(kernel.diag(documents), [1, 1, 0, 0])


@pytest.mark.spec("CS-8.03")
def test_presence_instead_of_counts():
    documents = [["a", "a", "b"], ["a", "c"], ["b", "b", "c"]]
    K = TfIdf(tf="binary", idf="none")(documents)
    np.testing.assert_allclose(K, [[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]])
    counts = TfIdf(idf="none", normalize=False)(documents)
    np.testing.assert_array_equal(counts, [[5, 2, 2], [2, 2, 1], [2, 1, 5]])


def test_idf_is_learned_from_the_training_documents_only():
    kernel = TfIdf().bind(NEWS)
    K = kernel(NEWS)
    np.testing.assert_array_equal(kernel(["unheard words", *NEWS[:2]], NEWS)[1:], K[:2])
    np.testing.assert_array_equal(kernel(["unheard words"], NEWS), np.zeros((1, len(NEWS))))
    with pytest.raises(ValueError, match="bind it first"):
        TfIdf()(NEWS, NEWS)


def test_scikit_learn_agrees():
    expected = TfidfVectorizer().fit(NEWS)
    for kernel in (
        TfIdf(idf="smooth"),
        TfIdf(idf="smooth", analyzer=CountVectorizer()),
        TfIdf(idf="smooth", analyzer=CountVectorizer().build_analyzer()),
    ):
        np.testing.assert_allclose(
            kernel.bind(NEWS)(NEWS[:2], NEWS),
            (expected.transform(NEWS[:2]) @ expected.transform(NEWS).T).toarray(),
            rtol=1e-13,
        )
    sub = TfidfVectorizer(sublinear_tf=True).fit_transform(NEWS)
    np.testing.assert_allclose(
        TfIdf(tf="log", idf="smooth")(NEWS), (sub @ sub.T).toarray(), rtol=1e-13
    )


@pytest.mark.spec("CS-3.44")
@pytest.mark.spec("CS-8.05")
def test_rows_of_counts_dense_or_sparse():
    counts = CountVectorizer().fit_transform(NEWS)
    expected = TfIdf(idf="smooth")(NEWS)
    sparse = TfIdf(idf="smooth").bind(counts)
    dense = TfIdf(idf="smooth").bind(counts.toarray())
    for kernel, X in ((sparse, counts), (dense, counts.toarray()), (sparse, counts.toarray())):
        np.testing.assert_allclose(kernel(X), expected, rtol=1e-13)
        np.testing.assert_allclose(kernel(X[:2], X), expected[:2], rtol=1e-13)
    tf = TfidfTransformer().fit_transform(counts)
    np.testing.assert_allclose(Linear()(tf), expected, rtol=1e-13)
    for kernel in (Linear(), Polynomial(2, 1.0, 1.0), RBF(0.5)):
        np.testing.assert_allclose(kernel(tf), kernel(tf.toarray()), rtol=1e-13)


@pytest.mark.spec("CS-8.05")
def test_sparse_and_dense_counts_give_the_same_machine():
    counts = CountVectorizer().fit_transform(NEWS)
    models = [
        SVC(kernel=TfIdf(), C=10.0, tol=1e-10).fit(X, TOPIC) for X in (counts, counts.toarray())
    ]
    np.testing.assert_allclose(models[0].dual_coef_.toarray(), models[1].dual_coef_, atol=1e-9)
    np.testing.assert_allclose(
        models[0].decision_function(counts), models[1].decision_function(counts.toarray())
    )


def stem(word):
    for suffix in ("ational", "ation", "ing", "er", "s"):
        if word.endswith(suffix):
            return word.removesuffix(suffix)
    return word


@pytest.mark.spec("CS-8.04")
def test_stems_and_stop_words():
    documents = ["the computer", "a computation", "computing and trees", "the tree"]
    kernel = TfIdf(stemmer=stem, stop_words="english", idf="smooth").bind(documents)
    assert kernel.vocabulary == ["comput", "tree"]
    assert TfIdf(stop_words=["the", "and"]).bind(documents).vocabulary == [
        "computation",
        "computer",
        "computing",
        "tree",
        "trees",
    ]


@pytest.mark.spec("CS-8.04")
def test_rare_terms_vanish():
    documents = [["a", "b"], ["a", "b"], ["a", "c"], ["d"]]
    assert TfIdf(min_df=2).bind(documents).vocabulary == ["a", "b"]
    assert TfIdf(min_df=3).bind(documents).vocabulary == ["a"]
    assert TfIdf(max_features=3).bind(documents).vocabulary == ["a", "b", "c"]
    counts = CountVectorizer(analyzer=list).fit_transform(documents)
    kernel = TfIdf(min_df=2).bind(counts)
    np.testing.assert_array_equal(kernel.idf > 0, [True, True, False, False])
    np.testing.assert_allclose(kernel(counts), TfIdf(min_df=2)(documents), rtol=1e-14)


@pytest.mark.spec("CS-8.04")
def test_mutual_information_ranks_the_telling_term_first():
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(NEWS)
    information = mutual_information(counts, TOPIC)
    names = vectorizer.get_feature_names_out()
    assert names[np.argmax(information)] in ("harbour", "ship", "wheat")
    assert information.max() == pytest.approx(math.log(2))
    expected = mutual_info_classif((counts > 0).toarray(), TOPIC, discrete_features=True)
    np.testing.assert_allclose(information, expected, atol=1e-12)
    model = make_pipeline(
        CountVectorizer(), SelectKBest(mutual_information, k=3), SVC(kernel=TfIdf())
    )
    assert model.fit(NEWS, TOPIC).score(NEWS, TOPIC) == 1.0
    with pytest.raises(ValueError, match="6 documents, but y has 2 labels"):
        mutual_information(counts, ["a", "b"])


def test_weights_are_repetitions():
    weight = np.array([2.0, 1, 0, 3, 1, 0])
    repeated = [text for text, w in zip(NEWS, weight, strict=True) for _ in range(int(w))]
    for options in ({}, {"idf": "smooth"}, {"min_df": 3}):
        weighted = TfIdf(**options).bind(NEWS, weight)
        plain = TfIdf(**options).bind(repeated)
        assert weighted.vocabulary == plain.vocabulary
        np.testing.assert_allclose(weighted.idf, plain.idf, rtol=1e-14)


def test_composition():
    K = TfIdf()(NEWS)
    np.testing.assert_allclose((TfIdf() ** 2)(NEWS), K**2, rtol=1e-13, atol=1e-300)
    gaussian = exp(2.0 * TfIdf())  # up to a constant the Gaussian, since all lengths are 1
    np.testing.assert_allclose(gaussian(NEWS), np.exp(2 * K), rtol=1e-13)
    model = SVC(kernel=0.5 * TfIdf() + TfIdf() ** 2, C=100.0).fit(NEWS, TOPIC)
    assert list(model.predict(NEWS)) == TOPIC


def test_grid_search_reaches_the_parameters():
    search = GridSearchCV(SVC(kernel=TfIdf()), {"kernel__tf": ["binary", "count"]}, cv=2)
    assert search.fit(NEWS, TOPIC).best_score_ >= 0.5
    kernel = search.best_estimator_.kernel_
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy == kernel
        np.testing.assert_array_equal(copy(NEWS), kernel(NEWS))


def test_a_column_of_text_beside_numbers():
    frame = pd.DataFrame({"text": NEWS, "length": [len(text) / 50 for text in NEWS]})
    kernel = TfIdf().on_columns("text") + RBF(1.0).on_columns(["length"])
    expected = TfIdf()(NEWS) + RBF(1.0)(frame[["length"]])
    np.testing.assert_allclose(kernel(frame), expected, rtol=1e-13)


def test_a_bound_kernel_is_printed_in_one_line():
    assert repr(TfIdf().bind(NEWS)) == "TfIdf(tf='count', idf=<20 numbers>, vocabulary=<20 terms>)"


def test_a_vocabulary_can_be_given():
    kernel = TfIdf(vocabulary=["wheat", "ship", "unknown"]).bind(NEWS)
    assert kernel.vocabulary == ["wheat", "ship"]
    np.testing.assert_allclose(kernel.idf, [math.log(2), math.log(2)])
    fixed = TfIdf(idf=[1.0, 2.0], vocabulary=["wheat", "ship"], normalize=False)
    assert fixed(["wheat ship ship"], ["ship"])[0, 0] == 8.0


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([3.5], TypeError, "object 0 is of type float"),
        ([b"bytes"], TypeError, "object 0 is of type bytes"),
        ([{"a", "b"}], TypeError, "object 0 is of type set"),
        ([None], TypeError, r"object 0 is of type NoneType\. It is missing: .*fillna"),
        ("text", TypeError, "Put the objects into a list"),
        ([], ValueError, "got no objects"),
        ([[["a"]]], TypeError, "document 0 has the token .* not hashable"),
        ([{"a": -1}], ValueError, "document 0 has the term 'a' -1 times"),
        ([{"a": "many"}], ValueError, "document 0 has the term 'a' 'many' times"),
        (["", ""], ValueError, "found no term"),
        (["a b", "c"], ValueError, "one-letter words only"),
        (np.array([[1.0, -1.0]]), ValueError, "counts of at least 0"),
        (np.array([[np.nan, 1.0]]), ValueError, "NaN"),
        (sp.csr_array(np.array([[-2.0]])), ValueError, "got -2"),
    ],
)
def test_what_is_no_document_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        TfIdf()(X)


def test_documents_and_counts_are_not_mixed():
    with pytest.raises(TypeError, match="bound to rows of counts"):
        TfIdf().bind(np.eye(3))(NEWS)
    with pytest.raises(ValueError, match="X has 4 columns of counts, but TfIdf has 3 terms"):
        TfIdf().bind(np.eye(3))(np.eye(4))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"tf": "raw"}, ValueError, "tf must be one of 'count', 'log', 'binary'"),
        ({"idf": "maximal"}, ValueError, "idf must be one of 'log', 'smooth', 'none'"),
        ({"idf": [[1.0]]}, ValueError, "one finite number for every term"),
        ({"idf": [1.0, np.inf]}, ValueError, "one finite number for every term"),
        ({"idf": [1.0], "vocabulary": ["a", "b"]}, ValueError, "1 numbers for a vocabulary of 2"),
        ({"vocabulary": ["a", "a"]}, ValueError, "every term once"),
        ({"stop_words": "german"}, ValueError, "stop_words must be 'english'"),
        ({"stemmer": "porter"}, TypeError, "stemmer must be a function"),
        ({"analyzer": "word"}, TypeError, "analyzer must be a function"),
        (
            {"analyzer": "char"},
            TypeError,
            r"got 'char'\. .*pass CountVectorizer\(analyzer=\"char\", ngram_range=\(2, 4\)\)",
        ),
        ({"min_df": 0}, ValueError, "min_df"),
        ({"min_df": -0.1}, ValueError, "min_df"),
        ({"max_features": 0}, ValueError, "max_features"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        TfIdf(**parameters)


def test_min_df_below_one_is_a_share():
    documents = [["a", "b"], ["a", "c"], ["a", "b"], ["a"], ["d", "a"]]
    for share, peer in ((0.2, 0.2), (0.4, 0.4), (0.41, 0.41), (0.9, 0.9)):
        vectoriser = CountVectorizer(analyzer=list, min_df=peer).fit(documents)
        assert sorted(TfIdf(min_df=share).bind(documents).vocabulary) == sorted(
            vectoriser.vocabulary_
        )
    # Weights count as copies: without the third document b is in one of four.
    weights = np.array([1.0, 1.0, 0.0, 1.0, 1.0])
    assert TfIdf(min_df=0.3).bind(documents, weights).vocabulary == ["a"]
    assert TfIdf(min_df=0.25).bind(documents, weights).vocabulary == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match=r"no term that 1\.8 documents contain"):
        TfIdf(min_df=0.9).bind([["a"], ["b"]])


def test_letters_by_a_vectoriser():
    kernel = TfIdf(idf="smooth", analyzer=CountVectorizer(analyzer="char", ngram_range=(2, 3)))
    documents = ["abcab", "cabac", "bbbca"]
    peer = TfidfVectorizer(analyzer="char", ngram_range=(2, 3)).fit_transform(documents)
    np.testing.assert_allclose(kernel(documents), (peer @ peer.T).toarray(), rtol=1e-13)


def test_stemmers_see_every_term_once_and_predictions_make_no_dictionary():
    seen = []

    def stem(term):
        seen.append(term)
        return term.rstrip("s")

    documents = ["cats and dogs", "dogs and a cat", "cats cats cats", "the dog"]
    model = SVC(kernel=TfIdf(stemmer=stem, stop_words=["and"])).fit(documents, [0, 1, 0, 1])
    assert sorted(seen) == ["cat", "cats", "dog", "dogs", "the"]
    vocabulary = Untouched(model.kernel_.vocabulary)
    model.predict(documents[:1])
    model.kernel_.vocabulary = vocabulary
    np.testing.assert_array_equal(model.predict(["cats"]), [0])


class Untouched(list):
    """Terms that nothing may go through: prediction costs the words of its documents alone."""

    def __iter__(self):
        raise AssertionError("went through the vocabulary")
