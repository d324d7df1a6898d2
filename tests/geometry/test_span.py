"""Incomplete Cholesky, Gram-Schmidt, projections and independence in feature space."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.geometry import (
    RKHSFunction,
    Span,
    basis_matrix,
    independent_subset,
    numerical_rank,
    pivoted_cholesky,
)
from mercer.kernels import RBF, FromFunction, Linear, Polynomial, Precomputed
from tests.kernels import strategies

rng = np.random.default_rng(9)
X, Z = rng.normal(size=(30, 4)), rng.normal(size=(6, 4))


@given(
    strategies.kernels,
    strategies.vectors(),
    st.sampled_from(["largest", "random", "given"]),
    st.integers(1, 6),
)
@settings(max_examples=40, deadline=None)
def test_the_error_is_what_the_certificate_says(kernel, A, pivoting, rank):
    low = pivoted_cholesky(kernel, A, tol=0.0, max_rank=rank, pivoting=pivoting, random_state=0)
    K = kernel(A)
    rest = K - low.factor @ low.factor.T
    rounding = 1e-9 * np.abs(K).max()
    assert low.rank <= rank
    np.testing.assert_allclose(np.diagonal(rest), low.residual, atol=rounding)
    assert np.linalg.norm(rest, 2) <= low.trace_residual + rounding
    assert np.abs(rest).max() <= low.largest_residual + rounding
    assert np.linalg.eigvalsh(rest).min() >= -rounding
    np.testing.assert_allclose(rest[low.pivots], 0, atol=10 * rounding)  # exact at the pivots
    np.testing.assert_allclose(low.transform(A), low.factor, atol=1e-6 * np.abs(K).max())


def test_it_stops_at_the_tolerance_at_the_rank_or_at_rounding():
    kernel = RBF(0.2)
    by_tol = pivoted_cholesky(kernel, X, tol=1e-3)
    assert by_tol.status == "tolerance"
    assert by_tol.relative_error <= 1e-3
    shorter = pivoted_cholesky(kernel, X, tol=0.0, max_rank=by_tol.rank - 1)
    assert shorter.status == "rank"
    assert shorter.relative_error > 1e-3
    whole = pivoted_cholesky(kernel, np.vstack([X, X]), tol=0.0)
    assert whole.status == "exhausted"
    assert whole.rank == 30
    assert whole.relative_error < 1e-12
    zero = pivoted_cholesky(Linear(), np.zeros((3, 2)))
    assert (zero.rank, zero.trace_residual, zero.relative_error) == (0, 0.0, 0.0)
    assert "rank 30, stopped by exhausted" in str(whole)


def test_no_matrix_of_all_objects_is_evaluated():
    asked = []

    def product(A, B):
        asked.append((len(A), len(B)))
        return A @ B.T

    kernel = FromFunction(product, diagonal=lambda A: (A * A).sum(axis=1))
    low = pivoted_cholesky(kernel, X, max_rank=3, tol=0.0)
    assert low.rank == 3
    assert sum(n * m for n, m in asked) == 3 * 30


def test_greedy_pivots_are_the_farthest_objects():
    kernel = RBF(0.5)
    low = pivoted_cholesky(kernel, X, max_rank=6, tol=0.0)
    for j in range(1, 6):
        away = Span(kernel, X[low.pivots[:j]]).distance(X)
        assert away[low.pivots[j]] == pytest.approx(away.max(), rel=1e-9)


def test_random_pivots_repeat_with_the_seed_and_follow_the_residual():
    first, again, other = (
        pivoted_cholesky(RBF(0.5), X, max_rank=5, pivoting="random", random_state=seed).pivots
        for seed in (0, 0, 1)
    )
    assert first.tolist() == again.tolist() != other.tolist()
    # An object without length is never drawn.
    A = np.vstack([np.zeros((200, 2)), [[1.0, 0.0]], [[0.0, 1.0]]])
    drawn = pivoted_cholesky(Linear(), A, pivoting="random", random_state=0, tol=0.0)
    assert sorted(drawn.pivots) == [200, 201]


def test_strings_sparse_rows_and_matrices():
    common = FromFunction(lambda A, B: [[len(set(s) & set(t)) for t in B] for s in A])
    words = ["abc", "bcd", "xyz", "abcd", "x"]
    low = pivoted_cholesky(common, words, tol=1e-12)
    np.testing.assert_allclose(low.factor @ low.factor.T, common(words), atol=1e-10)
    by_matrix = pivoted_cholesky(Precomputed(), common(words), tol=1e-12)
    np.testing.assert_array_equal(by_matrix.pivots, low.pivots)
    new = common(["az", "by"], words)
    np.testing.assert_allclose(by_matrix.transform(new), low.transform(["az", "by"]), atol=1e-12)
    sparse = pivoted_cholesky(RBF(0.5), sp.csr_matrix(X), tol=1e-12)
    np.testing.assert_allclose(
        sparse.transform(sp.csr_matrix(Z)) @ sparse.factor.T, RBF(0.5)(Z, X), atol=1e-4
    )
    np.testing.assert_allclose(sparse.transform(Z), sparse.transform(sp.csr_matrix(Z)), atol=1e-7)


@pytest.mark.spec("CS-B.06")
def test_gram_schmidt_gives_an_orthonormal_basis():
    kernel = Polynomial(2, 0.5, 1.0)
    span = Span(kernel, X[:10])
    basis = span.basis
    G = np.array([[e.inner(f) for f in basis] for e in basis])
    np.testing.assert_allclose(G, np.eye(len(basis)), atol=1e-9)
    Q, R = np.linalg.qr(kernel.feature_map(X[:10]).T)
    sign = np.sign(np.diagonal(R))
    np.testing.assert_allclose(
        span.coordinates(Z), kernel.feature_map(Z) @ (Q * sign), rtol=1e-8, atol=1e-9
    )


@pytest.mark.spec("CS-B.06")
@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(2, 0.5, 1.0), Linear()], ids=repr)
def test_a_projection_is_nearest_and_its_remainder_orthogonal(kernel):
    span = Span(kernel, X[:7])
    f = RKHSFunction(kernel, Z, rng.normal(size=6))
    near = span.project(f)
    rest = f - near
    for e in span.basis:
        assert rest.inner(e) == pytest.approx(0, abs=1e-8 * f.norm())
    np.testing.assert_allclose(near(X[:7]), f(X[:7]), rtol=1e-7, atol=1e-8 * f.norm())
    apart = span.distance(f)
    assert apart == pytest.approx(f.distance(near), abs=1e-6 * f.norm())
    for _ in range(5):
        other = RKHSFunction(kernel, X[:7], rng.normal(size=7))
        assert f.distance(other) >= apart * (1 - 1e-9)
    # Parseval in the span: the coordinates have the length of the projection.
    assert np.linalg.norm(span.coordinates(f)) == pytest.approx(near.norm(), rel=1e-9)
    # A function of the span is its own projection.
    inside = RKHSFunction(kernel, X[:7], rng.normal(size=7))
    assert span.distance(inside) == pytest.approx(0, abs=1e-6 * inside.norm())
    assert np.linalg.norm(span.coordinates(inside)) == pytest.approx(inside.norm(), rel=1e-9)


def test_distances_of_objects_to_a_span():
    span = Span(Linear(), [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    np.testing.assert_allclose(span.distance([[5.0, 6.0, 7.0], [1.0, 2.0, 0.0]]), [7, 0], atol=1e-7)


@pytest.mark.spec("CS-B.01")
@pytest.mark.parametrize("rank", [1, 2, 4])
def test_the_rank_of_the_linear_kernel_is_that_of_the_data(rank):
    A = rng.normal(size=(20, rank)) @ rng.normal(size=(rank, 6))
    assert numerical_rank(Linear(), A) == rank == np.linalg.matrix_rank(A)
    chosen = independent_subset(Linear(), A)
    assert np.linalg.matrix_rank(A[chosen]) == rank == len(chosen)
    np.testing.assert_allclose(Span(Linear(), A[chosen]).distance(A), 0, atol=1e-6)
    assert Span(Linear(), A).independent.tolist() == list(range(rank))


@pytest.mark.spec("CS-B.01")
def test_expansions_over_independent_objects_are_unique():
    kernel = RBF(0.5)
    f = RKHSFunction(kernel, X[:6], rng.normal(size=6))
    np.testing.assert_allclose(Span(kernel, X[:6]).project(f).coef, f.coef, rtol=1e-7)


@pytest.mark.spec("CS-B.05")
def test_a_gram_matrix_is_definite_exactly_for_independent_vectors():
    M = rng.normal(size=(4, 3))
    assert np.linalg.eigvalsh(Linear()(M.T)).min() > 1e-3  # three independent columns
    assert numerical_rank(Linear(), M.T) == 3
    K = Linear()(M)  # four vectors in three dimensions
    assert np.linalg.eigvalsh(K).min() == pytest.approx(0, abs=1e-12)
    assert numerical_rank(Linear(), M) == 3
    v = rng.normal(size=4)
    assert v @ K @ v == pytest.approx(np.linalg.norm(M.T @ v) ** 2, rel=1e-12)
    twice = np.vstack([X[:5], X[:2]])
    assert numerical_rank(RBF(0.5), twice) == 5
    assert np.linalg.eigvalsh(RBF(0.5)(twice)).min() == pytest.approx(0, abs=1e-12)


@pytest.mark.spec("SM-3.60")
def test_free_functions_must_be_determined_by_the_data():
    x = np.linspace(0, 1, 5)
    Phi = basis_matrix([np.ones_like, lambda t: t, lambda t: t**2], x)
    assert np.linalg.matrix_rank(Phi) == 3
    with pytest.raises(ValueError, match=r"function 2 is a combination"):
        basis_matrix([lambda t: 5 + t, lambda t: t, np.ones_like], x)
    with pytest.raises(ValueError, match="combination"):
        basis_matrix([np.ones_like, lambda t: t, lambda t: t**2], x[:2])
    with pytest.raises(ValueError, match="function 0 is a combination"):
        basis_matrix([np.zeros_like], x)
    with pytest.raises(ValueError, match="at least one function"):
        basis_matrix([], x)
    with pytest.raises(ValueError, match="one value per object"):
        basis_matrix([np.ones_like, lambda t: t[:2]], x)
    with pytest.raises(ValueError, match="NaN"):
        basis_matrix([lambda t: t * np.nan], x)


def test_what_is_refused():
    with pytest.raises(ValueError, match="not positive semidefinite"):
        pivoted_cholesky(Precomputed(), np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="has no norm"):
        pivoted_cholesky(Precomputed(), -np.eye(2))
    with pytest.raises(ValueError, match="pivoting"):
        pivoted_cholesky(Linear(), X, pivoting="best")
    with pytest.raises(ValueError, match="tol"):
        pivoted_cholesky(Linear(), X, tol=-1)
    with pytest.raises(ValueError, match="max_rank"):
        pivoted_cholesky(Linear(), X, max_rank=0)
    with pytest.raises(ValueError, match="span nothing"):
        Span(Linear(), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="holds no objects"):
        Span(Precomputed(), np.eye(2))
    with pytest.raises(ValueError, match="only elements of one space"):
        Span(RBF(0.1), X).project(RKHSFunction(RBF(0.2), X, np.ones(30)))
    assert repr(Span(Linear(), X)) == "<Span of 30 objects, rank 4>"
