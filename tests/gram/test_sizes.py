"""Many rows and many columns: 64-bit offsets, and no matrix of the size of the data squared."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from mercer import SVC, KernelRidge
from mercer.gram import Gram, Prepared
from mercer.kernels import RBF, FromFunction, Laplacian, Linear, Precomputed

Array = NDArray[np.float64]

MANY = 70_000  # MANY * MANY exceeds 2^32


def many_points() -> tuple[Array, NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(MANY) % 2 == 0, 1, -1)
    return rng.normal(size=(MANY, 3)) + 3.0 * y[:, None], y


def gaussian(X: Array, rows: list[int], gamma: float) -> Array:
    return np.array([np.exp(-gamma * ((X - X[i]) ** 2).sum(axis=1)) for i in rows])


ROWS = [0, 1, 61_357, 65_535, 65_536, MANY - 2, MANY - 1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_near_the_end_of_a_large_gram(dtype: str) -> None:
    X, _ = many_points()
    gram = Gram(RBF(0.1), X, dtype)
    assert gram.n == MANY
    exact = gaussian(X, ROWS, 0.1)
    assert np.abs(gram.tile(ROWS) - exact).max() <= 2e-6
    # Both sides of the matrix.
    few = Gram(RBF(0.1), X[ROWS], dtype).tile()
    assert np.array_equal(gram.tile(ROWS, ROWS), few)


def test_products_with_rows_near_the_end() -> None:
    X, _ = many_points()
    v = np.zeros(MANY)
    v[ROWS] = np.arange(1.0, len(ROWS) + 1)
    exact = gaussian(X, ROWS, 0.1)
    prepared = Prepared(RBF(0.1), X, "float64")
    assert prepared.matmul(X[ROWS], v) == pytest.approx(exact @ v, abs=1e-10)
    few = Prepared(RBF(0.1), X[ROWS], "float64")
    assert np.abs(few.matmul(X, v[ROWS]) - exact.T @ v[ROWS]).max() < 1e-10


def test_a_matrix_with_more_entries_than_32_bits_count(tmp_path: Path) -> None:
    # A file with holes: only the pages that are written or read exist.
    matrix = np.memmap(tmp_path / "kernel", dtype=np.float64, mode="w+", shape=(MANY, MANY))
    assert matrix.size > 2**32
    for k, i in enumerate(ROWS):
        for m, j in enumerate(ROWS):
            matrix[i, j] = 100 * k + m
    gram = Gram(Precomputed(), np.asarray(matrix), "float64")
    block = gram.tile([MANY - 1, 65_536])
    assert block.shape == (2, MANY)
    assert block[:, ROWS].tolist() == [[600 + m for m in range(7)], [400 + m for m in range(7)]]
    assert np.count_nonzero(block) == 2 * len(ROWS)


@pytest.mark.parametrize("cache_size", [1, 200])
def test_training_on_many_rows(cache_size: float) -> None:
    X, y = many_points()
    model = SVC(kernel=RBF(0.1), cache_size=cache_size).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.kkt_violation <= 1e-3
    # The values of the model on rows near the end, from its coefficients alone.
    rows = [MANY - 1, MANY - 2, 65_536]
    K = np.exp(-0.1 * ((X[rows, None] - X[model.support_]) ** 2).sum(axis=2))
    f = K @ model.dual_coef_[0] + model.intercept_[0]
    assert model.decision_function(X[rows]) == pytest.approx(f, abs=1e-4)
    assert model.support_.max() > 65_536


def run(code: str, limit: float = 120.0) -> dict[str, float]:
    """Run a program that prints `name value` lines; return them."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=limit, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    pairs = (line.split() for line in done.stdout.splitlines())
    return {name: float(value) for name, value in pairs}


# Not ru_maxrss, which starts with the size of the process that runs the tests.
PEAK = """
def peak():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return float(line.split()[1]) / 1024  # MB
"""

FIT = (
    PEAK
    + """
import numpy as np
from mercer import SVC, SVR, OneClassSVM
from mercer.kernels import RBF
n = 20_000
rng = np.random.default_rng(0)
y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
X = (rng.normal(size=(n, 4)) + 1.5 * y[:, None]).astype(np.float32)
before = peak()
for model in (
    SVC(kernel=RBF(0.1), cache_size=30),
    SVR(kernel=RBF(0.1), epsilon=0.9, cache_size=30, max_iter=3000),
    OneClassSVM(kernel=RBF(0.1), nu=0.01, cache_size=30),
):
    model.fit(X, y)
    model.predict(X)
    model.certify(X, y)
print("used", peak() - before)
"""
)


def test_no_matrix_of_all_pairs_exists() -> None:
    # In float32 it would take 1600 MB.
    assert run("import warnings; warnings.simplefilter('ignore')\n" + FIT)["used"] < 150


WIDE = (
    PEAK
    + """
import numpy as np, scipy.sparse as sp
from mercer import SVC
n, d, k = 20_000, 1_000_000, 100
rng = np.random.default_rng(0)
y = np.where(np.arange(n) % 2 == 0, 1, -1)
# A few columns are common, most are rare; two of them tell the class.
columns = (d * rng.random((n, k)) ** 4).astype(np.int64)
columns[:, 0] = np.where(y > 0, d - 1, d - 2)
values = np.ones((n, k))
values[:, 0] = 8
X = sp.csr_matrix((values.ravel(), columns.ravel(), np.arange(0, n * k + 1, k)), shape=(n, d))
X.sum_duplicates()
X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1).A1), np.diff(X.indptr))
model = SVC(kernel={kernel!r}, gamma=1.0).fit(X, y)
print("optimal", int(model.certificate_.status == "optimal"))
print("right", model.score(X[:1000], y[:1000]))
print("support", sum(model.n_support_))
print("sparse", int(sp.issparse(model.support_vectors_)))
print("peak", peak())
"""
)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_million_columns_train_in_half_a_gigabyte(kernel: str) -> None:
    # All of the process: Python, the libraries, the data (24 MB) and the training.
    found = run(WIDE.replace("{kernel!r}", repr(kernel)))
    assert found["optimal"] == found["sparse"] == 1
    assert found["right"] > 0.99
    assert found["support"] > 20
    assert found["peak"] < 500


def test_empty_sets_and_single_objects() -> None:
    one = Gram(Linear(), np.ones((1, 3)))
    assert one.tile().tolist() == [[3.0]]
    assert one.matmul(np.ones(1)).tolist() == [3.0]
    prepared = Prepared(RBF(0.1), np.ones((4, 2)))
    assert prepared.tile(np.ones((1, 2))).tolist() == [[1.0] * 4]
    assert prepared.tile(np.empty((0, 2))).shape == (0, 4)
    assert prepared.matmul(np.empty((0, 2)), np.ones(4)).shape == (0,)


def test_a_block_computes_no_value_outside_it() -> None:
    asked: list[tuple[int, int]] = []

    def product(A: Array, B: Array) -> Array:
        asked.append((len(A), len(B)))
        return A @ B.T

    X = np.random.default_rng(0).normal(size=(400, 3))
    gram = Gram(FromFunction(product), X)
    whole = Gram(Linear(), X, "float64")
    K, mask = whole.tile(), X[:, 0] > 1
    asked.clear()
    for rows, cols in (
        (None, [3, 5]),
        ([7, 1, 2], [3, 399]),
        (slice(10, 20), slice(0, 4)),
        (None, mask),
        (mask, None),
        ([], [1]),
    ):
        block = K[slice(None) if rows is None else rows][:, slice(None) if cols is None else cols]
        asked.clear()
        np.testing.assert_allclose(gram.tile(rows, cols), block, rtol=0, atol=1e-14)
        assert sum(a * b for a, b in asked) == block.size
        np.testing.assert_array_equal(whole.tile(rows, cols), block)
    with pytest.raises(ValueError, match="mask must have 400 entries"):
        gram.tile(cols=mask[:10])


STARVED = """
import resource
import numpy as np
from mercer import _native
from mercer.gram import Gram
from mercer.kernels import RBF
X = np.zeros((30_000, 1))
RBF(0.1)(X[:10])
resource.setrlimit(resource.RLIMIT_AS, (4 * 10**9, 4 * 10**9))
def message(work):
    try:
        work()
    except MemoryError as error:
        print(error)
message(lambda: RBF(0.1)(X, X))
message(lambda: Gram(RBF(0.1), X, "float32").tile())
message(lambda: Gram(RBF(0.1), X, "float64").tile(cols=slice(0, 20_000)))
table = _native.hidden_markov_passes
k = 3000
message(lambda: table(np.zeros(200_000, np.int32), np.ones(k), np.ones((k, k)), np.ones((1, k))))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory")
def test_a_lack_of_memory_says_how_much_was_asked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARVED], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [
        "cannot allocate 30000 x 30000 values of 8 bytes (7200 MB)",
        "cannot allocate 30000 x 30000 values of 4 bytes (3600 MB)",
        "cannot allocate 30000 x 20000 values of 8 bytes (4800 MB)",
        "cannot allocate 600000000 values of 8 bytes (4800 MB)",
    ]


def test_sparse_rows_cost_by_their_entries_and_not_by_their_columns() -> None:
    """10^8 columns, of which 100 occur: the models of these 100, at the same price."""
    rng = np.random.default_rng(0)
    places = np.sort(rng.choice(10**8, 100, replace=False))
    few = sp.random(60, 100, density=0.1, random_state=0, format="csr")
    wide = sp.csr_matrix((few.data, places[few.indices], few.indptr), shape=(60, 10**8))
    y = np.arange(60) % 3
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for model in (SVC(kernel="linear"), SVC(gamma=1.0), SVC(kernel=Laplacian(0.5)), KernelRidge()):
        expected = clone(model).fit(few, y)
        found = model.fit(wide, y)
        np.testing.assert_allclose(
            found.predict(wide[:9]), expected.predict(few[:9]), rtol=1e-9, atol=1e-9
        )
        if model.kernel == "linear" and isinstance(model, SVC):
            np.testing.assert_allclose(found.coef_.data, expected.coef_.data, atol=1e-9)
    # In kilobytes; a table of all columns takes 400,000.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_columns_that_occur_are_found_among_many() -> None:
    """10^5 entries in as many columns: a page of a table for each would be 400 MB."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(8, 10**8, (1000, 100)), axis=1)
    columns[:, 0] = 7  # what the rows have in common
    start = np.arange(0, 100_001, 100)
    rows = sp.csr_matrix((rng.normal(size=100_000), columns.ravel(), start), (1000, 10**8))
    rows.sum_duplicates()
    places = np.unique(rows.indices, return_inverse=True)[1]
    few = sp.csr_matrix((rows.data, places, rows.indptr))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for kernel in (RBF(0.01), Linear(), Laplacian(0.01), RBF(0.01) + Linear()):
        K = kernel(rows)
        np.testing.assert_allclose(K, kernel(few), rtol=1e-12, atol=1e-12)
        # The same bits in any company: other rows bring other columns.
        np.testing.assert_array_equal(kernel(rows[:5], rows[3:9]), K[:5, 3:9])
        np.testing.assert_array_equal(kernel(rows[3:9]), K[3:9, 3:9])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes
