"""Matrices and diagonals against their definitions, on every kind of input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import RBF, Constant, Laplacian, Linear, Polynomial, Sigmoid, exp, normalize
from tests.kernels.reference import defined, interpreted
from tests.kernels.strategies import kernels, vectors

rng = np.random.default_rng(0)
X = rng.normal(size=(9, 5))
Z = rng.normal(size=(7, 5))

LEAVES = [
    Linear(),
    Polynomial(degree=3, gamma=0.3, coef0=1.0),
    Polynomial(degree=1, gamma=2.0, coef0=-1.0),
    Polynomial(degree=0, gamma=1.0),
    RBF(gamma=0.7),
    RBF(gamma=0.0),
    Laplacian(gamma=0.4),
    Sigmoid(gamma=0.2, coef0=-0.5),
    Constant(1.5),
]
COMPOSED = [
    2 * RBF(0.5) + Polynomial(2, 0.5, 1.0) ** 2,
    RBF(0.5) * Linear() + 3,
    normalize(Polynomial(3, 1.0, 1.0)),
    exp(normalize(Linear())),
    RBF(0.5).on_columns([0, 3]) + Laplacian(0.2).on_columns([4, 1, 2]),
    (Linear().on_columns([2, 0]) + RBF(1.0)).on_columns([3, 1, 4]),
    normalize(Linear().on_columns([1])) * RBF(0.1),
]


@pytest.mark.parametrize("kernel", LEAVES + COMPOSED, ids=repr)
def test_matrix_agrees_with_its_definition(kernel):
    np.testing.assert_allclose(kernel(X, Z), defined(kernel, X, Z), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel(X), defined(kernel, X), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kernel", LEAVES + COMPOSED, ids=repr)
def test_program_agrees_with_its_definition(kernel):
    np.testing.assert_allclose(
        interpreted(kernel, X, Z), defined(kernel, X, Z), rtol=1e-12, atol=1e-13
    )


@settings(max_examples=60, deadline=None)
@given(kernels, vectors(), vectors())
def test_composed_kernels_agree_with_their_definition(kernel, X, Z):
    expected = defined(kernel, X, Z)
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(interpreted(kernel, X, Z), expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(kernels, vectors())
def test_gram_matrix_is_symmetric_and_positive_semidefinite(kernel, X):
    K = kernel(X)
    assert kernel.definiteness.is_psd
    np.testing.assert_array_equal(K, K.T)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-9 * max(1.0, eigenvalues[-1])


@settings(max_examples=60, deadline=None)
@given(kernels, vectors())
def test_diagonal_agrees_with_the_matrix(kernel, X):
    np.testing.assert_allclose(
        kernel.diag(X), np.diagonal(defined(kernel, X)), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("kernel", LEAVES + COMPOSED, ids=repr)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_sparse_rows_give_the_dense_values(kernel, index_type):
    A = np.where(rng.random((9, 5)) < 0.4, X, 0.0)
    A[3] = 0.0  # a row without entries
    S = sp.csr_matrix(A)
    S.indices, S.indptr = S.indices.astype(index_type), S.indptr.astype(index_type)
    np.testing.assert_allclose(kernel(S), defined(kernel, A), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel(S, Z), defined(kernel, A, Z), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel(Z, S), defined(kernel, Z, A), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.diag(S), kernel.diag(A), rtol=1e-12)


def test_unsorted_and_duplicate_sparse_entries_mean_their_sum():
    S = sp.csr_matrix(
        (np.array([3.0, 1.0, 2.0, 4.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3)
    )
    before = S.indices.copy()
    A = np.array([[1.0, 0.0, 5.0], [0.0, 4.0, 0.0]])
    for kernel in (Linear(), RBF(0.1), Laplacian(0.1)):
        np.testing.assert_allclose(kernel(S), defined(kernel, A), rtol=1e-13)
    np.testing.assert_array_equal(S.indices, before)  # the user's matrix is left alone


def _read_only(A):
    A = A.copy()
    A.flags.writeable = False
    return A


FORMS = {
    "float64": lambda A: A,
    "fortran": np.asfortranarray,
    "read-only": _read_only,
    "strided": lambda A: np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
    "list": lambda A: A.tolist(),
    "pandas": lambda A: pd.DataFrame(A, columns=list("abcde")),
    "polars": lambda A: pl.DataFrame(A, schema=list("abcde")),
    "csr": sp.csr_matrix,
    "csr array": sp.csr_array,
    "csc": sp.csc_matrix,
    "coo": sp.coo_array,
    "big-endian": lambda A: A.astype(">f8"),
    "object": lambda A: A.astype(object),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.7), Laplacian(0.4)], ids=repr)
def test_every_form_of_input_gives_the_same_values(kernel, form):
    given_X, given_Z = FORMS[form](X), FORMS[form](Z)
    np.testing.assert_allclose(kernel(given_X, given_Z), defined(kernel, X, Z), rtol=1e-13)
    np.testing.assert_allclose(kernel.diag(given_X), np.diagonal(defined(kernel, X)), rtol=1e-13)


@pytest.mark.parametrize("kernel", LEAVES + COMPOSED, ids=repr)
def test_float32_input_is_evaluated_as_the_numbers_it_holds(kernel):
    X32 = X.astype(np.float32)
    expected = defined(kernel, X32.astype(np.float64))
    np.testing.assert_allclose(kernel(X32), expected, rtol=1e-12, atol=1e-12)
    assert kernel(X32).dtype == np.float64


def test_integers_and_booleans_are_numbers():
    A = np.array([[1, 2], [3, 4]])
    np.testing.assert_array_equal(Linear()(A), A @ A.T)
    np.testing.assert_array_equal(Linear()(A > 2), [[0, 0], [0, 2]])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", LEAVES + COMPOSED, ids=repr)
def test_a_value_depends_on_its_two_rows_alone(kernel, sparse):
    A = rng.normal(size=(41, 5))
    B = rng.normal(size=(37, 5))
    if sparse:
        A, B = sp.csr_matrix(np.where(A > 0, A, 0)), sp.csr_matrix(np.where(B > 0, B, 0))
    K = kernel(A, B)
    rows, columns = np.array([40, 3, 17]), np.array([5, 36, 0, 5])
    np.testing.assert_array_equal(kernel(A[rows], B[columns]), K[np.ix_(rows, columns)])
    np.testing.assert_array_equal(kernel(A[[7]], B[[9]]), K[7:8, 9:10])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[1.0, np.nan]]), "NaN"),
        (np.array([[1.0, np.inf]]), "infinity"),
        (np.array([[1e308, 1e308, np.inf]]), "infinity"),
        (sp.csr_matrix([[1.0, np.nan]]), "NaN"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((2, 0)), "0 feature"),
        (np.array([1.0, 2.0]), "Reshape your data"),
        (np.zeros((2, 2, 2)), "dim 3"),
        (np.array([[1j, 2.0]]), "Complex data not supported"),
        (["a", "b"], "defined on real vectors"),
        ("ab", "defined on real vectors"),
        ([{1, 2}], "defined on real vectors"),
        (np.array([["a", "b"]]), "string"),
    ],
)
@pytest.mark.parametrize("kernel", [Linear(), 2 * RBF(1.0) + 1, RBF("scale")], ids=repr)
def test_bad_vectors_are_refused(kernel, bad, message):
    with pytest.raises(ValueError, match=message):
        kernel(bad)
    with pytest.raises(ValueError, match=message):
        kernel.diag(bad)


def test_sets_with_different_columns_are_refused():
    for kernel in (Linear(), RBF(1.0) + 1, RBF(1.0).on_columns([0])):
        with pytest.raises(ValueError, match="X has 4 features"):
            kernel(X[:, :4], Z)


def test_large_values_are_not_mistaken_for_infinity():
    A = np.full((2, 3), 1.5e308)
    assert RBF(1.0)(A).tolist() == [[1.0, 1.0], [1.0, 1.0]]


@given(st.integers(1, 70))
@settings(max_examples=15, deadline=None)
def test_shapes(n):
    A = np.ones((n, 2))
    assert RBF(1.0)(A).shape == (n, n)
    assert RBF(1.0)(A, A[:1]).shape == (n, 1)
    assert RBF(1.0).diag(A).shape == (n,)
