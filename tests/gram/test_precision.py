"""How far a kernel value may be from the exact one, and which precision is chosen for it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer import SVC
from mercer.gram import Gram, Prepared
from mercer.kernels import RBF, Laplacian, Linear, Polynomial

Array = NDArray[np.float64]

LARGEST_ERROR = 2e-6
N = 1100  # beyond the size up to which everything is float64


def standardised(d: int = 10, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(N, d))


def near_duplicates(d: int = 10, distance: float = 1e-4) -> Array:
    """Ten copies of each point that differ a little, and a few rows far away."""
    rng = np.random.default_rng(1)
    X = np.repeat(rng.normal(size=(N // 10, d)), 10, axis=0)
    X += distance * rng.normal(size=X.shape)
    X[::100] *= 1000
    return X


def pixels(share: float = 0.2) -> Array:
    """784 columns between 0 and 1, most of them 0."""
    rng = np.random.default_rng(2)
    X = rng.random((N, 784))
    X[rng.random(X.shape) > share] = 0
    return X


def gaussian(X: Any, gamma: float, rows: list[int]) -> Array:
    """Exact values of some rows: differences in float64, no norms."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    return np.array([np.exp(-gamma * ((X - X[i]) ** 2).sum(axis=1)) for i in rows])


def largest_error(X: Any, gamma: float, dtype: str) -> float:
    rows = list(range(0, N, 37))
    exact = gaussian(X, gamma, rows)
    own = np.abs(Gram(RBF(gamma), X, dtype).tile(rows) - exact).max()
    other = np.abs(Prepared(RBF(gamma), X, dtype).tile(X[rows]) - exact).max()
    return float(max(own, other))


DATA: dict[str, tuple[Any, tuple[float, ...]]] = {
    "standardised": (standardised, (0.02, 0.1, 0.5, 5.0)),
    "standardised, two columns": (lambda: standardised(2), (0.1, 1.0, 50.0)),
    "mean 1e4": (lambda: standardised() + 1e4, (0.02, 0.1, 1.0)),
    "mean 1e4 in one column": (lambda: standardised() + 1e4 * np.eye(10)[3], (0.1,)),
    "near-duplicates with outliers": (near_duplicates, (0.01, 0.1, 1.0)),
    "784 columns": (lambda: standardised(784), (1 / 784, 0.2 / 784, 0.02)),
    "784 columns, mean 1e4": (lambda: standardised(784) + 1e4, (1 / 784,)),
    "784 columns, mostly zero": (pixels, (0.001, 0.02, 0.05)),
    "784 columns, 0 to 255": (lambda: np.round(255 * pixels()), (1 / (784 * 255**2), 1e-6)),
}


@pytest.mark.parametrize("dtype", ["float32", "auto"])
@pytest.mark.parametrize("name", DATA)
def test_gaussian_values_of_dense_rows(name: str, dtype: str) -> None:
    make, gammas = DATA[name]
    X = make()
    for gamma in gammas:
        assert largest_error(X, gamma, dtype) <= LARGEST_ERROR


@pytest.mark.parametrize("dtype", ["float32", "auto"])
@pytest.mark.parametrize(
    "name", ["standardised", "784 columns, mostly zero", "784 columns, 0 to 255"]
)
def test_gaussian_values_of_sparse_rows(name: str, dtype: str) -> None:
    make, gammas = DATA[name]
    X = sp.csr_matrix(make())
    for gamma in gammas:
        assert largest_error(X, gamma, dtype) <= LARGEST_ERROR


@pytest.mark.parametrize("name", ["mean 1e4", "near-duplicates with outliers"])
def test_sparse_rows_that_single_precision_cannot_hold_are_doubles(name: str) -> None:
    # Compressed rows cannot be centred: their squared distance is a difference of large numbers.
    make, gammas = DATA[name]
    X = sp.csr_matrix(make())
    for gamma in gammas:
        assert Gram(RBF(gamma), X).dtype == "float64"
        assert largest_error(X, gamma, "auto") <= LARGEST_ERROR


def test_single_precision_that_does_not_suffice_is_commented_on() -> None:
    far = sp.csr_matrix(standardised() + 1e4)
    with pytest.warns(UserWarning, match=r'may be wrong by 1.*dtype="auto"'):
        Gram(RBF(0.1), far, "float32")
    with pytest.warns(UserWarning, match="may be wrong by"):
        SVC(gamma=0.1, dtype="float32").fit(far, np.arange(N) % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Gram(RBF(0.1), far)
        Gram(RBF(0.1), standardised() + 1e4, "float32")
        Gram(RBF(0.1), sp.csr_matrix(standardised()), "float32")
        Gram(Linear(), far, "float32")  # its values are as large, and no less accurate


@pytest.mark.parametrize(("columns", "entries"), [(10, 10), (100, 30), (1200, 100), (1200, 1000)])
def test_error_of_sparse_rows_at_the_edge_of_single_precision(columns: int, entries: int) -> None:
    # Positive entries and near-duplicates: sums of one sign whose difference matters. The width
    # is as large as single precision is still taken for.
    rng = np.random.default_rng(3)
    base = np.zeros((N // 10, columns))
    for row in base:
        row[rng.choice(columns, entries, replace=False)] = 10 * rng.random(entries)
    X = np.repeat(base, 10, axis=0) * (1 + 1e-3 * rng.normal(size=(N, columns)))
    compressed = sp.csr_matrix(X)
    squared_radius = (X**2).sum(axis=1).max()
    taken = [
        gamma
        for gamma in np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) / squared_radius
        if Gram(RBF(gamma), compressed).dtype == "float32"
    ]
    for gamma in taken:
        assert largest_error(compressed, gamma, "auto") <= LARGEST_ERROR


def test_one_far_row_does_not_spoil_the_others() -> None:
    X = standardised() + 1e4
    X[0] = 1e9
    rows = list(range(1, N, 37))
    for kernel, exact in (
        (RBF(0.1), gaussian(X, 0.1, rows)),
        (Laplacian(0.05), np.exp(-0.05 * np.abs(X[rows][:, None] - X).sum(axis=2))),
    ):
        values = Gram(kernel, X, "float32").tile(rows)
        assert np.abs(values - exact).max() <= LARGEST_ERROR


def test_columns_of_two_values_are_packed_exactly() -> None:
    X = np.where(np.random.default_rng(0).random((N, 20)) < 0.7, 7.0, 3.0)
    assert largest_error(X, 0.01, "float32") <= 1e-7


def test_laplacian_values() -> None:
    for X in (standardised(), standardised() + 1e4, near_duplicates()):
        for dtype in ("float32", "auto"):
            exact = np.exp(-0.05 * np.abs(X[:20, None] - X).sum(axis=2))
            values = Gram(Laplacian(0.05), X, dtype).tile(range(20))
            error = np.abs(values - exact).max()
            assert error <= LARGEST_ERROR


def test_double_precision_on_request() -> None:
    for X in (standardised(), standardised() + 1e4, near_duplicates(), pixels()):
        assert largest_error(X, 0.05, "float64") < 1e-12
        assert largest_error(sp.csr_matrix(pixels()), 0.05, "float64") < 1e-12


def test_a_value_of_a_row_with_itself_is_one() -> None:
    for X in (standardised() + 1e4, pixels(), sp.csr_matrix(pixels())):
        for dtype in ("float32", "float64"):
            gram = Gram(RBF(0.1), X, dtype)
            assert np.diag(gram.tile()).tolist() == [1.0] * N
            assert gram.diag().tolist() == [1.0] * N


def test_duplicate_rows_have_the_value_one() -> None:
    X = np.vstack([standardised(3)[:600]] * 2) + 1e3
    gram = Gram(RBF(2.0), X, "float32")
    assert np.all(gram.tile(range(600))[np.arange(600), 600 + np.arange(600)] == 1.0)


def test_values_never_exceed_one() -> None:
    for X in (near_duplicates(), sp.csr_matrix(pixels()), pixels()):
        for dtype in ("float32", "float64"):
            tile = Gram(RBF(0.05), X, dtype).tile()
            assert tile.max() <= 1.0
            assert tile.min() >= 0.0


def test_far_rows_have_the_value_zero() -> None:
    X = np.arange(N)[:, None] * 1e3
    for dtype in ("float32", "float64"):
        assert Gram(RBF(1.0), X, dtype).tile([0])[0, 1:] == pytest.approx(0, abs=1e-37)


# ------------------------------------------------------------------ which precision


def test_precision_follows_size_data_and_request() -> None:
    X = standardised()
    assert Gram(RBF(0.1), X).dtype == "float32"
    assert Gram(RBF(0.1), X[:200]).dtype == "float64"  # small problems are solved in float64
    assert Gram(RBF(0.1), X[:200], "float32").dtype == "float32"
    assert Gram(RBF(0.1), X, "float64").dtype == "float64"
    assert Gram(RBF(0.1), X + 1e4).dtype == "float32"  # centred
    assert Gram(RBF(1e4), near_duplicates()).dtype == "float64"
    assert Gram(Linear(), X).dtype == "float32"
    assert Gram(Linear(), 1e4 * X).dtype == "float64"
    assert Gram(Polynomial(3, gamma=1.0, coef0=1.0), 1e3 * X).dtype == "float64"


@pytest.mark.parametrize("dtype", ["auto", "float32"])
@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20])
def test_rows_that_leave_the_range_of_single_precision_have_values_in_double(
    scale: float, dtype: str
) -> None:
    X, Z = standardised(2), standardised(2) * scale
    gamma = 1.0 / scale**2
    for kernel, scaled in (
        (RBF(1.0), RBF(gamma)),
        (RBF(1.0) + RBF(3.0), RBF(gamma) + RBF(3.0 * gamma)),
        (Polynomial(2, gamma=1.0, coef0=1.0), Polynomial(2, gamma=gamma, coef0=1.0)),
    ):
        expected = Gram(kernel, X, "float64").tile([0, 1])
        for rows in (Z, sp.csr_array(Z)):
            assert Gram(scaled, rows, dtype).tile([0, 1]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tiles_are_of_the_chosen_type_and_products_are_doubles(dtype: str) -> None:
    gram = Gram(RBF(0.1), standardised(), dtype)
    assert gram.tile([0]).dtype == dtype
    assert gram.matmul(np.ones(N)).dtype == np.float64
    assert gram.diag().dtype == np.float64
