"""Laws of the algebra, and constructions it refuses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import (
    RBF,
    Constant,
    FromFunction,
    Linear,
    Polynomial,
    PolynomialOf,
    Precomputed,
    exp,
    normalize,
    polynomial,
)
from tests.kernels.strategies import kernels, vectors

rng = np.random.default_rng(2)
X = rng.normal(size=(8, 3))
a, b, c = RBF(0.5), Linear(), Polynomial(2, 0.5, 1.0)


def same(k1, k2, X=X):
    np.testing.assert_allclose(k1(X), k2(X), rtol=1e-12, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(kernels, kernels, vectors())
def test_sums_and_products_commute(k1, k2, X):
    np.testing.assert_array_equal((k1 + k2)(X), (k2 + k1)(X))
    np.testing.assert_array_equal((k1 * k2)(X), (k2 * k1)(X))


def test_ring_laws():
    same((a + b) + c, a + (b + c))
    same((a * b) * c, a * (b * c))
    same(a * (b + c), a * b + a * c)
    same(a + a, 2 * a)
    same(a * a * a, a**3)
    same((a**2) ** 3, a**6)
    same(2 * (3 * a), 6 * a)
    same(a * 2, 2 * a)
    same(a + 3, a + Constant(3))
    same(exp(a + b), exp(a) * exp(b))
    same(polynomial(a, [1, 0, 3]), 1 + 3 * a**2)
    same(polynomial(b, [0.5]), Constant(0.5))
    same(a**1, a)
    same(0 * a, Constant(0))


def test_known_identities():
    same(normalize(exp(2 * Linear())), RBF(1.0))
    same(normalize(a), a)
    same(normalize(5 * c), normalize(c))
    same((0.5 * Linear() + 1) ** 2, c)
    same(RBF(0.5) * RBF(0.25), RBF(0.75))
    same(RBF(0.3).on_columns([0]) * RBF(0.3).on_columns([1]) * RBF(0.3).on_columns([2]), RBF(0.3))


def test_numpy_numbers_leave_the_operation_to_the_kernel():
    two = np.float64(2)
    assert two * a == 2 * a
    assert a * two == 2 * a
    assert two + a == 2 + a
    assert np.float32(2) * a == 2 * a
    assert np.int64(2) * a == 2 * a
    assert a ** np.int64(2) == a**2


def test_sum_of_a_list():
    assert sum([a, b, c]) == a + b + c
    assert a + 0 is a


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: -2 * a, "negative number is not positive semidefinite; got the factor -2"),
        (lambda: a * -0.5, "factor"),
        (lambda: a + (-1), "only if it is >= 0; got -1"),
        (lambda: a - b, "difference of kernels"),
        (lambda: a - 1, "difference of kernels"),
        (lambda: 1 - a, "difference of kernels"),
        (lambda: -a, "negative of a kernel"),
        (lambda: a**0.5, "natural powers.*got the exponent 0.5"),
        (lambda: a**0, "natural powers"),
        (lambda: a**-1, "natural powers"),
        (lambda: polynomial(a, [1, -2]), "got -2 for power 1"),
        (lambda: polynomial(a, []), "at least one"),
        (lambda: polynomial(a, 3), "sequence"),
        (lambda: polynomial(a, [np.nan]), "finite"),
        (lambda: np.inf * a, "finite"),
        (lambda: a + Precomputed(), "precomputed kernel matrix cannot be combined"),
        (lambda: Precomputed() * b, "precomputed kernel matrix cannot be combined"),
        (lambda: Precomputed().on_columns([0]), "columns of a precomputed"),
        (lambda: normalize(2 * Precomputed()), "does not hold"),
    ],
)
def test_illegal_constructions_are_refused_with_the_reason(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: a + "1",
        lambda: np.array([1.0, 2.0]) * a,
        lambda: a * [1],
        lambda: a**a,
        lambda: a / 2,
        lambda: np.exp(a),
        lambda: a + (1 + 1j),
    ],
)
def test_meaningless_operations_are_type_errors(make):
    with pytest.raises(TypeError):
        make()


def test_normalisation_is_zero_where_the_norm_is():
    A = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])
    K = normalize(Linear())(A)
    np.testing.assert_allclose(K, [[0, 0, 0], [0, 1, 0.6], [0, 0.6, 1]], rtol=1e-15)
    assert normalize(Linear()).diag(A).tolist() == [0.0, 1.0, 1.0]


def test_normalisation_refuses_a_negative_diagonal():
    negative = Polynomial(1, 1.0, -2.0)
    for evaluate in (normalize(negative), normalize(negative).diag):
        with pytest.raises(ValueError, match=r"k\(x, x\)"):
            evaluate(np.array([[3.0], [1.0]]))


@given(st.lists(st.floats(0, 3), min_size=1, max_size=5), vectors())
@settings(max_examples=30, deadline=None)
def test_polynomials_are_evaluated_by_their_coefficients(coefficients, X):
    t = X @ X.T
    expected = sum(w * t**m for m, w in enumerate(coefficients))
    np.testing.assert_allclose(PolynomialOf(Linear(), coefficients)(X), expected, rtol=1e-9)


def test_python_kernels_compose_with_native_ones():
    python = FromFunction(lambda A, B: A @ B.T)
    same(2 * python + RBF(0.5) * python, 2 * b + RBF(0.5) * b)
    same(normalize(python), normalize(b))
    same((python + RBF(0.5)).on_columns([0, 2]), (b + RBF(0.5)).on_columns([0, 2]))
