"""Kernels written in Python: called once for a tile, alone and inside native compositions."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer import SVC
from mercer.gram import Gram, Prepared
from mercer.kernels import RBF, FromFunction, Linear

Array = NDArray[np.float64]


class Counted:
    """A Gaussian kernel that remembers the sizes of the tiles it was asked for."""

    def __init__(self, gamma: float = 0.3) -> None:
        self.gamma = gamma
        self.tiles: list[tuple[int, int]] = []

    def __call__(self, A: Array, B: Array) -> Array:
        self.tiles.append((len(A), len(B)))
        return np.exp(-self.gamma * ((A[:, None] - B) ** 2).sum(axis=2))

    @property
    def pairs(self) -> int:
        return sum(a * b for a, b in self.tiles)


def points(n: int = 400) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.sign(X[:, 0] + 0.5 * rng.standard_normal(n))


def test_a_block_of_the_matrix_is_one_call() -> None:
    X, _ = points()
    f = Counted()
    gram = Gram(FromFunction(f), X)
    assert np.abs(gram.tile() - RBF(0.3)(X)).max() < 1e-12
    assert f.tiles == [(400, 400)]
    f.tiles.clear()
    gram.tile([5, 6, 7])
    assert f.tiles == [(3, 400)]
    f.tiles.clear()
    Prepared(FromFunction(f), X[:50]).tile(X[:9])
    assert f.tiles == [(9, 50)]


def test_products_and_diagonals_are_a_few_calls() -> None:
    X, _ = points()
    f = Counted()
    gram = Gram(FromFunction(f), X)
    assert gram.matmul(np.ones(400)) == pytest.approx(RBF(0.3)(X).sum(axis=1), abs=1e-9)
    assert len(f.tiles) <= 50
    f.tiles.clear()
    assert gram.diag() == pytest.approx(np.ones(400))
    assert len(f.tiles) <= 20
    f.tiles.clear()
    with_diagonal = FromFunction(f, diagonal=lambda A: np.ones(len(A)))
    assert Gram(with_diagonal, X).diag().tolist() == [1.0] * 400
    assert f.tiles == []


@pytest.mark.parametrize("n", [400, 2300])
def test_training_and_prediction_never_call_for_a_pair(n: int) -> None:
    X, y = points(n)
    f = Counted()
    model = SVC(kernel=FromFunction(f)).fit(X, y)
    native = SVC(kernel=RBF(0.3), dtype="float64").fit(X, y)
    assert model.decision_function(X) == pytest.approx(native.decision_function(X), abs=1e-2)
    assert model.certificate_.status == "optimal"
    assert len(f.tiles) < n
    assert f.pairs / len(f.tiles) > 500
    assert f.pairs < 4 * n * n
    f.tiles.clear()
    model.predict(X)
    assert f.pairs == n * len(model.support_)
    assert len(f.tiles) <= n / 8


def test_what_a_function_raises_reaches_the_caller() -> None:
    X, y = points(100)

    def broken(A: Array, B: Array) -> Array:
        raise LookupError("no such object")

    with pytest.raises(LookupError, match="no such object"):
        Gram(FromFunction(broken), X).tile()
    with pytest.raises(LookupError, match="no such object"):
        SVC(kernel=broken).fit(X, y)


def test_results_of_the_wrong_kind_are_refused() -> None:
    X, y = points(60)
    for wrong in (
        lambda A, B: np.ones((len(A), len(B) + 1)),
        lambda A, B: np.ones(len(A)),
        lambda A, B: np.full((len(A), len(B)), np.nan),
    ):
        with pytest.raises(ValueError, match=r"must return an array|NaN"):
            SVC(kernel=FromFunction(wrong)).fit(X, y)


COMPOSED = """
import numpy as np, scipy.sparse as sp
from mercer import SVC
from mercer.gram import Gram
from mercer.kernels import FromFunction, Linear, RBF

def dot(A, B):
    return (A @ B.T).toarray() if sp.issparse(A) else A @ B.T

rng = np.random.default_rng(0)
n = 700
X = rng.random((n, 40)) * (rng.random((n, 40)) < 0.2)
G, L = RBF(0.5)(X), X @ X.T
cases = [
    (FromFunction(dot) + RBF(0.5), L + G),
    (2 * FromFunction(dot) * RBF(0.5), 2 * L * G),
    (RBF(0.5) + FromFunction(dot) + Linear(), 2 * L + G),
    (FromFunction(dot) + FromFunction(dot), 2 * L),
    ((1 + FromFunction(dot)) ** 2, (1 + L) ** 2),
]
V = rng.normal(size=n)
for objects in (X, sp.csr_matrix(X)):
    for kernel, K in cases:
        for dtype in ("float64", "float32"):
            gram = Gram(kernel, objects, dtype)
            error = max(
                abs(gram.tile() - K).max(),
                abs(gram.tile([3, 699]) - K[[3, 699]]).max(),
                abs(gram.matmul(V) - K @ V).max() / 100,
                abs(gram.diag() - np.diag(K)).max(),
            )
            assert error < (1e-10 if dtype == "float64" else 1e-4), (kernel, dtype, error)
        model = SVC(kernel=kernel).fit(objects, np.arange(n) % 2)
        assert model.certificate_.status == "optimal", kernel
print("all right")
"""


def test_compositions_of_python_and_native_kernels() -> None:
    # In a process of its own: what goes wrong here goes wrong in native memory.
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", COMPOSED],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stdout.strip()) == (0, "all right"), run.stderr[-2000:]


QUIET = """
import numpy as np
from mercer.gram import Gram
from mercer.kernels import FromFunction

def dot(A, B):
    return A @ B.T

X = np.eye(3)
gram = Gram(FromFunction(dot), X)  # a global that the kernel's function can reach
gram.tile()
"""


def test_nothing_is_printed_at_exit() -> None:
    run = subprocess.run(
        [sys.executable, "-c", QUIET], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_linear_machines_of_a_function_and_of_the_kernel_agree() -> None:
    X, y = points(200)
    function = SVC(kernel=lambda A, B: A @ B.T, tol=1e-9).fit(X, y)
    native = SVC(kernel=Linear(), tol=1e-9).fit(X, y)
    assert function.decision_function(X) == pytest.approx(native.decision_function(X), abs=1e-7)
    assert function.certificate_.assumes == "psd"
    assert native.certificate_.assumes is None
