"""Kernel rows that a Gram keeps: shared by folds, pairs, values of C; never a bit of the result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.gram import Gram
from mercer.kernels import RBF, Precomputed
from mercer.losses import Hinge
from mercer.solvers import Job, Problem, Settings, solve, solve_jobs
from mercer.solvers.problem import DualProblem

rng = np.random.default_rng(3)
N = 600
X = rng.normal(size=(N, 300))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1.0, -1.0)
FOLDS = [np.flatnonzero(rng.permutation(N) % 5 != k) for k in range(3)]
PAIRS = [np.flatnonzero(np.arange(N) % 4 == a) for a in (0, 1)]
KERNEL = RBF(0.002)


def problem(C: float, rows: Any = None) -> DualProblem:
    y = Y if rows is None else Y[rows]
    bound = C * y
    return DualProblem(
        np.minimum(bound, 0), np.maximum(bound, 0), -y, group=np.zeros(len(y), int), rows=rows
    )


def jobs(gram: Gram) -> list[Job]:
    """Return everything, folds and pairs, for two values of C."""
    parts = [None, *FOLDS, *PAIRS]
    return [Job(problem(C, rows), gram) for C in (1.0, 10.0) for rows in parts]


def assert_same(one: Any, other: Any) -> None:
    assert np.array_equal(one.beta, other.beta)
    assert np.array_equal(one.values, other.values)
    assert one.n_iter == other.n_iter


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_of_a_batch_do_not_depend_on_budget_threads_or_history(dtype: str) -> None:
    alone = [
        solve(job.problem, Gram(KERNEL, X, dtype), Settings(n_jobs=1, cache_size=0))
        for job in jobs(Gram(KERNEL, X))
    ]
    for cache_size in (0.3, 100):
        gram = Gram(KERNEL, X, dtype)
        for n_jobs in (1, 2):
            found = solve_jobs(jobs(gram), Settings(n_jobs=n_jobs, cache_size=cache_size))
            for one, other in zip(alone, found, strict=True):
                assert_same(one, other)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_of_a_large_problem_do_not_depend_on_budget_threads_or_history(dtype: str) -> None:
    objects = np.vstack([X[:, :100], rng.normal(size=(1700, 100))])
    y = np.where(objects[:, 0] + rng.normal(size=len(objects)) > 0, 1.0, -1.0)
    fold = np.flatnonzero(rng.uniform(size=len(y)) < 0.95)[::-1].copy()  # in another order

    def task(rows: Any = None) -> DualProblem:
        z = y if rows is None else y[rows]
        group = np.zeros(len(z), int)
        return DualProblem(np.minimum(z, 0), np.maximum(z, 0), -z, group=group, rows=rows)

    kernel, tasks = RBF(0.01), [task(), task(fold), task()]
    alone = [solve(p, Gram(kernel, objects, dtype), Settings(n_jobs=1)) for p in tasks[:2]]
    for cache_size in (0, 4, 200):
        gram = Gram(kernel, objects, dtype)
        found = [solve(p, gram, Settings(n_jobs=2, cache_size=cache_size)) for p in tasks]
        for one, other in zip([*alone, alone[0]], found, strict=True):
            assert_same(one, other)


def test_a_second_value_of_c_finds_the_rows_of_the_first() -> None:
    gram = Gram(KERNEL, X, "float64")
    first = solve(problem(1.0), gram, Settings())
    again = solve(problem(1.0), gram, Settings())
    assert first.n_kernel_values > 0
    assert again.n_kernel_values == 0
    assert again.cache_misses == 0
    assert gram.kept_rows.rows <= N


def test_folds_share_the_rows_of_the_whole_matrix() -> None:
    gram = Gram(KERNEL, X, "float64")
    views = [solve(problem(1.0), gram, Settings())]
    for rows in FOLDS:
        y = problem(1.0, rows)
        view = gram.take(rows)
        assert view.kept_rows is gram.kept_rows
        y.rows = None
        views.append(solve(y, view, Settings()))
    computed = sum(s.n_kernel_values for s in views)
    assert computed <= N * N  # three folds and everything for the price of one matrix


def test_pairs_leave_each_other_what_they_computed() -> None:
    gram = Gram(KERNEL, X, "float64")
    rows = PAIRS[0]
    first = solve(problem(1.0, rows), gram, Settings())
    again = solve(problem(10.0, rows), gram, Settings())
    fresh = solve(problem(10.0, rows), Gram(KERNEL, X, "float64"), Settings())
    assert 0 < first.n_kernel_values < N * len(rows)
    assert again.n_kernel_values < fresh.n_kernel_values / 2
    assert np.array_equal(again.beta, fresh.beta)


def test_the_budget_bounds_the_rows() -> None:
    gram = Gram(KERNEL, X, "float64")
    solve(problem(1.0), gram, Settings(cache_size=1))
    assert 0 < gram.kept_rows.rows <= 2**20 // (8 * N)


def test_another_kernel_has_its_own_rows() -> None:
    gram = Gram(KERNEL, X, "float64")
    solve(problem(1.0), gram, Settings())
    other = solve(problem(1.0), gram.with_kernel(RBF(0.004)), Settings())
    alone = solve(problem(1.0), Gram(RBF(0.004), X, "float64"), Settings())
    assert np.array_equal(other.beta, alone.beta)


def test_a_precomputed_matrix_is_read_in_place() -> None:
    K = Gram(KERNEL, X, "float64").tile()
    gram = Gram(Precomputed(), K)
    for rows in (None, FOLDS[0], PAIRS[0]):
        found = solve(problem(1.0, rows), gram, Settings())
        alone = solve(problem(1.0, rows), Gram(KERNEL, X, "float64"), Settings())
        assert np.array_equal(found.beta, alone.beta)
        assert found.n_kernel_values == 0
    assert gram.kept_rows.rows == 0


def test_values_of_sparse_rows_are_worth_keeping() -> None:
    S = sp.random(2200, 300, 0.05, format="csr", random_state=0)
    y = np.where(np.asarray(S[:, :150].sum(axis=1)).ravel() > 3.7, 1.0, -1.0)
    bounds = np.minimum(5 * y, 0), np.maximum(5 * y, 0)
    task = DualProblem(*bounds, -y, group=np.zeros(len(y), int))
    roomy = solve(task, Gram(RBF(0.3), S, "float32"), Settings())
    starved = solve(task, Gram(RBF(0.3), S, "float32"), Settings(cache_size=0))
    assert np.array_equal(roomy.beta, starved.beta)
    assert roomy.n_kernel_values < 0.8 * starved.n_kernel_values


def test_rows_that_were_kept_have_no_part_in_a_matrix_with_signs() -> None:
    shared, settings = Gram(KERNEL, X, "float64"), Settings(tol=1e-8)
    solve(problem(1.0), shared, settings)  # keeps rows
    signed = Problem(Hinge(), np.ones(N), np.ones(N), sign=Y)
    found = solve(signed, shared, settings)
    values = np.outer(Y, Y) * shared.tile() @ found.beta
    np.testing.assert_allclose(found.values, values, atol=1e-10)
    free = (found.beta > 1e-6) & (found.beta < 1 - 1e-6)
    assert free.any()
    np.testing.assert_allclose(values[free], 1.0, atol=1e-7)
