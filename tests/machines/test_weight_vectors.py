"""Kernels that are dot products of stored rows: weight vectors take the place of kernel rows."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.feature_extraction.text import CountVectorizer

from mercer import SVC, SVR
from mercer.gram import Gram, Prepared, Products
from mercer.kernels import RBF, Constant, Linear, Spectrum, normalize

LARGE = 2500  # more than a problem without working sets has


@pytest.fixture(scope="module")
def strings():
    random = np.random.default_rng(0)
    letters = random.choice(list("ACGT"), size=(LARGE, 30))
    letters[::2, 10:14] = list("GATC")
    return ["".join(row) for row in letters], (np.arange(LARGE) % 2 == 0).astype(int)


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(1)
    X = random.normal(size=(LARGE, 6))
    return X, (X @ [1, -1, 0.5, 0, 0, 0] + random.normal(size=LARGE) > 0).astype(int)


def test_no_kernel_row_is_evaluated(rows):
    X, y = rows
    linear = SVC(kernel="linear").fit(X, y)
    assert linear.certificate_.status == "optimal"
    other = SVC(kernel=Linear() + 1e-9 * RBF(1.0)).fit(X, y)  # nearly the same, by values
    support = int(linear.n_support_.sum())
    assert linear.certificate_.n_kernel_values < 0.7 * other.certificate_.n_kernel_values
    assert other.certificate_.n_kernel_values > LARGE * support
    a, b = linear.certificate_, other.certificate_
    np.testing.assert_allclose(a.dual, b.dual, rtol=1e-5, atol=a.rounding + b.rounding)


def test_strings_against_the_peer_on_their_counts(strings):
    S, y = strings
    counts = CountVectorizer(analyzer="char", ngram_range=(3, 3)).fit_transform(S).astype(float)
    ours = SVC(kernel=Spectrum(3), C=0.01, tol=1e-6).fit(S, y)
    peer = svm.SVC(kernel="linear", C=0.01, tol=1e-6).fit(counts, y)
    np.testing.assert_allclose(
        ours.decision_function(S[:200]), peer.decision_function(counts[:200]), atol=1e-4
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_over_columns_of_different_kinds(strings, dtype):
    import pandas as pd

    S, y = strings
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"s": S, "a": random.normal(size=LARGE), "b": random.normal(size=LARGE)})
    kernel = 2.0 * normalize(Spectrum(3)).on_columns("s") + Linear().on_columns(["a", "b"]) + 0.5
    machine = SVC(kernel=kernel, dtype=dtype, tol=1e-5).fit(frame, y)
    assert machine.certificate_.status == "optimal"
    assert machine.certify(frame, y).status == "optimal"
    K = machine.kernel_(frame.iloc[:50], frame.iloc[machine.support_])
    direct = K @ machine.dual_coef_[0] + machine.intercept_
    np.testing.assert_allclose(
        machine.decision_function(frame.iloc[:50]),
        direct,
        atol=1e-5 if dtype == "float32" else 1e-9,
    )


def test_same_bits_for_any_number_of_threads_and_any_company(rows, strings):
    X, y = rows
    one, two = (SVR(kernel="linear", n_jobs=n).fit(X, X[:, 0] + 0.1 * y) for n in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    S, _ = strings
    machine = SVC(kernel=normalize(Spectrum(2))).fit(S[:300], np.arange(300) % 3)
    batch = machine.decision_function(S[300:420])
    alone = np.concatenate([machine.decision_function([s]) for s in S[300:420]])
    np.testing.assert_array_equal(batch, alone)


def test_products_agree_with_the_matrix(strings):
    S, _ = strings
    kernel = (normalize(Spectrum(2)) + 3.0 * Spectrum(1) + Constant(2.0)).bind(S)
    prepared, random = Prepared(kernel, S[:200]), np.random.default_rng(3)
    groups = [(0, random.normal(size=(120, 2))), (100, random.normal(size=(100, 1)))]
    products = Products(prepared, groups)
    K = prepared.tile(S[200:900])
    expected = np.hstack([K[:, :120] @ groups[0][1], K[:, 100:] @ groups[1][1]])
    for _ in range(2):  # the second time with weights that are kept
        np.testing.assert_allclose(products(S[200:900]), expected, rtol=1e-10, atol=1e-10)
    V = random.normal(size=(200, 3))
    np.testing.assert_allclose(Gram(kernel, S[:200]).matmul(V), kernel(S[:200]) @ V, rtol=1e-9)


def test_other_kernels_have_no_weights(rows):
    X, _ = rows
    products = Products(Prepared(RBF(1.0), X[:100]), [(0, np.ones((100, 1)))])
    products(X[:5])
    assert not products._multiplier.linear
