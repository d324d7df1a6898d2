"""Arrays in every layout that NumPy and SciPy have, without copies in another precision."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer import SVC, SVR
from mercer.gram import Gram, Prepared
from mercer.kernels import RBF, Linear, Polynomial, Precomputed

Array = NDArray[Any]

KERNELS = [RBF(0.1), Linear(), Polynomial(2, gamma=0.1, coef0=1.0), RBF(0.1).on_columns([0, 2])]


def plain(n: int = 60, d: int = 7) -> Array:
    return np.random.default_rng(0).normal(size=(n, d))


def reversed_view(X: Array) -> Array:
    return X[::-1, ::-1].copy()[::-1, ::-1]


def strided(X: Array) -> Array:
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::2, 1::3] = X
    return wide[::2, 1::3]


def read_only(X: Array) -> Array:
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": reversed_view,
    "read-only": read_only,
    "read-only Fortran": lambda X: read_only(np.asfortranarray(X)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_layout_of_an_array_does_not_matter(layout: Callable[[Array], Array], dtype: str) -> None:
    X = plain()
    for kernel in KERNELS:
        expected = Gram(kernel, X, dtype).tile()
        assert np.array_equal(Gram(kernel, layout(X), dtype).tile(), expected)
        assert np.array_equal(Prepared(kernel, layout(X), dtype).tile(layout(X)), expected)
        single = X.astype(np.float32)
        assert np.array_equal(
            Gram(kernel, layout(single).astype(np.float32), dtype).tile(),
            Gram(kernel, single, dtype).tile(),
        )


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_machines_take_every_layout(layout: Callable[[Array], Array]) -> None:
    X = plain()
    y = X[:, 0] > 0
    expected = SVC(gamma=0.1).fit(X, y).decision_function(X)
    model = SVC(gamma=0.1).fit(layout(X), y)
    assert np.array_equal(model.decision_function(layout(X)), expected)


def test_float32_stays_float32() -> None:
    X = plain(1200).astype(np.float32)
    for dtype in ("auto", "float32"):
        gram = Gram(RBF(0.1), X, dtype)
        assert gram.X is X
        assert gram.dtype == "float32"
        assert gram.tile([0]).dtype == np.float32
    model = SVR(gamma=0.1).fit(X, X[:, 0])
    assert model.support_vectors_.dtype == np.float32
    assert model.certificate_.status == "optimal"


def test_no_hidden_copy_in_double_precision() -> None:
    n, d = 20_000, 100
    X = np.random.default_rng(1).normal(size=(n, d)).astype(np.float32)
    tracemalloc.start()
    try:
        gram = Gram(RBF(0.01), X)
        gram.tile([0, n - 1])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # NumPy reports its arrays to tracemalloc: none of the size of a float64 copy of X was made.
    assert peak < 0.5 * X.size * 8


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_sparse_rows_have_the_values_of_dense_ones(kernel: Any, dtype: str) -> None:
    rng = np.random.default_rng(2)
    X = rng.random((80, 30)) * (rng.random((80, 30)) < 0.2)
    X[5] = 0  # an empty row
    sparse, full = sp.csr_matrix(X), Gram(kernel, X, dtype).tile()
    assert Gram(kernel, sparse, dtype).tile() == pytest.approx(full, abs=1e-6)
    assert Prepared(kernel, sparse, dtype).tile(sparse[3:9]) == pytest.approx(full[3:9], abs=1e-6)


def csr_variants(X: sp.csr_matrix) -> dict[str, Any]:
    """Return the same matrix stored in other ways."""
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    order = np.concatenate(
        [np.arange(a, b)[::-1] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    )
    unsorted = sp.csr_matrix((X.data[order], X.indices[order], X.indptr), shape=X.shape)
    # Every entry as two halves.
    doubled = sp.csr_matrix(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
    )
    zeros = X.copy()
    zeros.data = np.concatenate([X.data, [0.0]])
    zeros.indices = np.concatenate([X.indices, [29]])
    zeros.indptr = X.indptr.copy()
    zeros.indptr[-1] += 1
    frozen = X.copy()
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.flags.writeable = False
    assert not unsorted.has_sorted_indices
    return {
        "64-bit indices": wide,
        "unsorted": unsorted,
        "duplicates": doubled,
        "explicit zeros": zeros,
        "read-only": frozen,
        "array": sp.csr_array(X),
        "csc": X.tocsc(),
        "coo": X.tocoo(),
    }


def sparse_data() -> sp.csr_matrix:
    rng = np.random.default_rng(3)
    X = rng.random((70, 30)) * (rng.random((70, 30)) < 0.2)
    X[:, 29] = 0
    return sp.csr_matrix(X)


VARIANTS = csr_variants(sparse_data())


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=str)
def test_storage_of_sparse_rows_does_not_matter(name: str, kernel: Any) -> None:
    X, other = sparse_data(), VARIANTS[name].copy()
    before = VARIANTS[name].toarray()
    assert kernel(other) == pytest.approx(kernel(X), abs=1e-15)
    assert kernel(other, X) == pytest.approx(kernel(X), abs=1e-15)
    y = np.arange(70) % 2
    expected = SVC(kernel=kernel).fit(X, y).decision_function(X)
    model = SVC(kernel=kernel).fit(other, y)
    assert model.decision_function(other) == pytest.approx(expected, abs=1e-9)
    assert np.array_equal(other.toarray(), before)  # the user's matrix is left alone


@pytest.mark.parametrize("name", ["64-bit indices", "unsorted", "explicit zeros", "read-only"])
def test_the_gram_itself_takes_rows_in_any_order(name: str) -> None:
    X, other = sparse_data(), VARIANTS[name]
    for dtype in ("float32", "float64"):
        values = Gram(RBF(0.5), other, dtype).tile()
        assert values == pytest.approx(Gram(RBF(0.5), X, dtype).tile(), abs=1e-6)


def test_damaged_sparse_rows_do_not_crash() -> None:
    for damage in ("column", "negative", "decreasing"):
        X = sparse_data()
        if damage == "column":
            X.indices[3] = 10_000
        elif damage == "negative":
            X.indices[3] = -1
        else:
            X.indptr[4] = X.indptr[-1] + 10
        with pytest.raises((ValueError, IndexError)):
            Gram(RBF(0.5), X)


def test_a_precomputed_matrix_in_any_layout() -> None:
    X = plain()
    K = X @ X.T
    rows = [4, 59, 0]
    for M in (K, np.asfortranarray(K), strided(K), read_only(K), K.astype(np.float32)):
        gram = Gram(Precomputed(), M)
        assert np.array_equal(gram.tile(rows), M[rows].astype(np.float64))
        assert np.array_equal(gram.diag(), np.diag(M).astype(np.float64))
        assert gram.matmul(np.ones(60)) == pytest.approx(M.sum(axis=1), rel=1e-5)


def test_rows_out_of_range_are_refused() -> None:
    gram = Gram(Linear(), plain())
    for rows in ([60], [-1], [2**40]):
        with pytest.raises(IndexError):
            gram.tile(rows)
    for n_jobs in (0, 2**40, -(2**40), 1.0):
        with pytest.raises(ValueError, match="n_jobs must"):
            gram.tile(n_jobs=n_jobs)


def test_products_with_vectors_of_the_wrong_length_are_refused() -> None:
    gram = Gram(Linear(), plain())
    for V in (np.ones(59), np.ones((61, 2)), np.ones((2, 60))):
        with pytest.raises((ValueError, IndexError)):
            gram.matmul(V)


def test_an_array_that_changes_later_does_not_change_the_gram() -> None:
    X = plain()
    gram = Gram(RBF(0.1), X)
    before = gram.tile()
    X[:] = 0
    assert np.array_equal(gram.tile(), before)
