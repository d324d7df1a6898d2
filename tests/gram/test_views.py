"""Views of a kernel matrix: some of its objects, or another kernel on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.gram import Gram
from mercer.kernels import RBF, FromFunction, Kernel, Laplacian, Linear, Precomputed, normalize
from mercer.kernels.base import Kernel as AnyKernel
from mercer.solvers import DualProblem, Settings, solve

N = 1300  # more than are always computed in float64
rng = np.random.default_rng(0)
DENSE = rng.normal(size=(N, 13)) + 100.0  # far from the origin, so that rows are centred
ZEROS = rng.random((N, 90)) * (rng.random((N, 90)) < 0.1)
SOME = rng.permutation(N)[:333]

OBJECTS: dict[str, Any] = {"dense": DENSE, "mostly zero": ZEROS, "csr": sp.csr_matrix(ZEROS)}
KERNELS: dict[str, AnyKernel] = {
    "rbf": RBF(0.1),
    "sum": 2 * RBF(0.3) + RBF(0.1) * Laplacian(0.1),
    "normalised": normalize(1 + Linear()),
}

each_objects = pytest.mark.parametrize("X", OBJECTS.values(), ids=OBJECTS)
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
each_cache = pytest.mark.parametrize("cache_size", [0, 1, 50])


# ------------------------------------------------------------------ some of the objects


@each_objects
@each_kernel
@pytest.mark.parametrize("cache_size", [0, 1])
def test_a_view_has_the_values_of_the_whole(X: Any, kernel: Kernel, cache_size: float) -> None:
    gram = Gram(kernel, X, cache_size=cache_size)
    view = gram.take(SOME)
    whole = gram.tile()
    assert view.n == len(SOME)
    assert view.dtype == gram.dtype
    assert np.array_equal(view.tile(), whole[np.ix_(SOME, SOME)])
    assert np.array_equal(view.diag(), gram.diag()[SOME])
    # A view of a view, with repeats.
    again = [5, 5, 0, 100]
    assert np.array_equal(view.take(again).tile(), whole[np.ix_(SOME[again], SOME[again])])
    v = rng.normal(size=(len(SOME), 2))
    assert view.matmul(v) == pytest.approx(view.tile().astype(np.float64) @ v, rel=1e-9, abs=1e-9)


@each_objects
@each_kernel
def test_a_block_times_vectors(X: Any, kernel: Kernel) -> None:
    gram = Gram(kernel, X)
    whole = gram.tile().astype(np.float64)
    rows, cols = SOME[:50], SOME[20:200]
    V = rng.normal(size=(180, 3))
    expected = whole[np.ix_(rows, cols)] @ V
    assert gram.matmul(V, rows=rows, cols=cols) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert gram.matmul(V, cols=cols)[rows] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    everything = rng.normal(size=N)
    assert np.array_equal(gram.matmul(everything, rows=rows), gram.matmul(everything)[rows])
    with pytest.raises(ValueError, match="must have 180 rows"):
        gram.matmul(V[:7], rows=rows, cols=cols)


def test_a_mask_is_an_index() -> None:
    gram = Gram(RBF(0.1), DENSE)
    mask = np.zeros(N, dtype=bool)
    mask[[3, 70]] = True
    assert np.array_equal(gram.take(mask).tile(), gram.take([3, 70]).tile())
    with pytest.raises(ValueError, match="mask must have 1300 entries"):
        gram.take(mask[:5])
    with pytest.raises(ValueError, match="positions or a mask"):
        gram.take([0.5])
    with pytest.raises(IndexError, match=f"object {N} is out of range: there are {N}"):
        gram.take([N])


def test_views_of_matrices_and_of_functions() -> None:
    X = rng.normal(size=(40, 2))
    K = RBF(0.5)(X)
    index = np.array([7, 3, 30])
    part = K[np.ix_(index, index)]
    precomputed = Gram(Precomputed(), K).take(index)
    assert np.array_equal(precomputed.tile(), part)
    assert np.array_equal(precomputed.X, part)
    function = FromFunction(lambda A, B: RBF(0.5)(A, B))
    view = Gram(function, X).take(index)
    assert view.tile() == pytest.approx(part, abs=1e-15)
    assert np.array_equal(view.X, X[index])
    words = ["a", "bb", "ccc", "dddd"]
    lengths = FromFunction(lambda A, B: np.array([[len(a) * len(b) for b in B] for a in A], float))
    assert Gram(lengths, words).take([3, 0]).X == ["dddd", "a"]


def test_a_problem_on_a_view_is_that_of_its_objects() -> None:
    y = np.where(DENSE[:, 0] > 100.0, 1.0, -1.0)[SOME]
    problem = DualProblem(np.minimum(y, 0), np.maximum(y, 0), -y, group=np.zeros(len(y), int))
    on_view = solve(problem, Gram(RBF(0.1), DENSE, "float32").take(SOME), Settings())
    alone = solve(problem, Gram(RBF(0.1), DENSE[SOME], "float32"), Settings())
    assert on_view.status == "optimal"
    assert on_view.objective == pytest.approx(alone.objective, rel=1e-5)
    rows = DualProblem(*(problem.lower, problem.upper, problem.slope_left), group=problem.group)
    rows.rows = SOME
    same = solve(rows, Gram(RBF(0.1), DENSE, "float32"), Settings())
    assert np.array_equal(on_view.beta, same.beta)


# ------------------------------------------------------------------ other kernels


@each_objects
@each_cache
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_another_kernel_has_its_own_values(X: Any, cache_size: float, dtype: str) -> None:
    gram = Gram(RBF(0.1), X, dtype, cache_size)
    for kernel in (RBF(0.1), RBF(0.4), RBF(0.1) + Laplacian(0.2), Linear(), normalize(1 + RBF(2))):
        new, other = Gram(kernel, X, dtype), gram.with_kernel(kernel)
        # Twice: the first time statistics are kept, the second time they are read.
        for _ in range(2):
            assert np.array_equal(other.tile(SOME), new.tile(SOME))
        assert np.array_equal(other.tile(), new.tile())
        assert np.array_equal(other.take(SOME).tile(), new.tile()[np.ix_(SOME, SOME)])
        assert np.array_equal(gram.take(SOME).with_kernel(kernel).tile(), other.take(SOME).tile())


@each_cache
def test_a_tile_may_be_known_in_part(cache_size: float) -> None:
    X = rng.normal(size=(N, 40))
    gram = Gram(RBF(0.05), X, "float32", cache_size)
    gram.tile(np.arange(0, N, 3))
    gram.take(np.arange(400)).tile()
    assert np.array_equal(gram.tile(), Gram(RBF(0.05), X, "float32").tile())
    jobs = [gram.with_kernel(RBF(0.07)).tile(n_jobs=k) for k in (1, 2)]
    assert np.array_equal(jobs[0], jobs[1])


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("float64", 8)])
def test_the_budget_holds(dtype: str, size: int) -> None:
    gram = Gram(RBF(0.1) + Linear(), DENSE, dtype, cache_size=2)
    gram.tile()
    kept = [store.rows for store in (gram._statistics or {}).values()]
    assert kept == [2**20 // (size * N)] * 2
    assert np.array_equal(gram.tile(), Gram(RBF(0.1) + Linear(), DENSE, dtype).tile())


def test_kernels_share_one_store() -> None:
    gram = Gram(RBF(0.1), DENSE, "float32", cache_size=50)
    gram.take(SOME).with_kernel(RBF(0.2)).tile()
    (store,) = (gram._statistics or {}).values()
    assert store.rows == len(SOME)
    other = gram.with_kernel(RBF(0.2) + Linear())
    assert store in (other._statistics or {}).values()


def test_a_kernel_that_needs_more_digits_gets_them() -> None:
    X = rng.normal(size=(N, 5))
    gram = Gram(RBF(0.1), X, cache_size=10)
    assert gram.dtype == "float32"
    sharp = gram.with_kernel(RBF(1e7))
    assert sharp.dtype == "float64"
    assert np.array_equal(sharp.tile(), Gram(RBF(1e7), X).tile())


def test_solutions_do_not_depend_on_what_is_kept() -> None:
    y = np.where(DENSE[:, 0] > 100.0, 1.0, -1.0)
    problem = DualProblem(np.minimum(y, 0), np.maximum(y, 0), -y, group=np.zeros(N, int))
    gram = Gram(RBF(0.1), DENSE, cache_size=3)
    for gamma in (0.05, 0.1, 0.2):
        kept = solve(problem, gram.with_kernel(RBF(gamma)), Settings())
        alone = solve(problem, Gram(RBF(gamma), DENSE), Settings())
        assert np.array_equal(kept.beta, alone.beta)
