"""Norms and inner products of sequences and of functions, and a coordinate for every object."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer import SVC
from mercer.geometry import (
    function_inner,
    function_norm,
    p_distance,
    p_norm,
    shifted_gram,
    weighted_inner,
)
from mercer.kernels import RBF, Linear, Precomputed

rng = np.random.default_rng(12)
rows = arrays(np.float64, (3, 4), elements=st.floats(-1e3, 1e3))
exponents = st.sampled_from([1.0, 1.5, 2.0, 3.0, 7.0, math.inf])


@pytest.mark.spec("CS-B.02")
@given(rows, rows, st.floats(-50, 50), exponents)
@settings(max_examples=40, deadline=None)
def test_the_axioms_of_a_norm(A, B, factor, p):
    a, b = p_norm(A, p), p_norm(B, p)
    scale = 1e-9 * (1 + a.max() + b.max())
    assert (a >= 0).all()
    np.testing.assert_array_equal(a == 0, (A == 0).all(axis=1))
    assert (p_norm(A + B, p) <= a + b + scale).all()
    np.testing.assert_allclose(p_norm(factor * A, p), abs(factor) * a, rtol=1e-9, atol=1e-300)
    apart = p_distance(A, B, p)
    np.testing.assert_allclose(apart, p_distance(B, A, p).T, rtol=1e-12)
    np.testing.assert_allclose(apart[1, 2], p_norm((A[1] - B[2])[None], p)[0], rtol=1e-12)


@pytest.mark.spec("CS-B.02")
def test_norms_of_one_vector():
    x = [[3.0, -4.0, 0.0]]
    assert p_norm(x, 1)[0] == 7
    assert p_norm(x)[0] == 5
    assert p_norm(x, math.inf)[0] == 4
    assert p_norm(x, 3)[0] == pytest.approx(91 ** (1 / 3), rel=1e-15)
    huge = p_norm([[1e200, 1e200]], 3)[0]
    assert huge == pytest.approx(1e200 * 2 ** (1 / 3), rel=1e-14)
    with pytest.raises(ValueError, match="at least 1"):
        p_norm(x, 0.5)
    with pytest.raises(ValueError, match="no difference"):
        p_distance(x, [[1.0]])
    with pytest.raises(ValueError, match="shape"):
        p_norm([1.0, 2.0])


@pytest.mark.spec("CS-B.03")
def test_a_weighted_inner_product_is_the_linear_kernel_on_scaled_inputs():
    A, B, w = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), np.array([0.5, 2.0, 3.0])
    expected = Linear()(A * np.sqrt(w), B * np.sqrt(w))
    np.testing.assert_allclose(weighted_inner(A, B, w), expected, rtol=1e-12, atol=1e-14)
    assert np.linalg.eigvalsh(weighted_inner(A, A, w)).min() >= -1e-12
    with pytest.raises(ValueError, match="positive"):
        weighted_inner(A, B, [1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="one number per column"):
        weighted_inner(A, B, [1.0])


@pytest.mark.spec("CS-B.03", "CS-B.07")
def test_inner_products_and_norms_of_functions():
    period = 2 * np.pi
    assert function_inner(np.sin, np.sin, 0, period) == pytest.approx(np.pi, rel=1e-13)
    assert function_inner(np.sin, np.cos, 0, period) == pytest.approx(0, abs=1e-13)
    # The norm has the root that is missing in print.
    assert function_norm(np.sin, 0, period) == pytest.approx(math.sqrt(np.pi), rel=1e-13)
    assert function_norm(np.sin, 0, period, p=1) == pytest.approx(4, rel=1e-4)
    assert function_norm(np.sin, 0, period, p=math.inf) == pytest.approx(1, rel=1e-3)
    assert function_norm(lambda x: 3.0, 1, 5) == pytest.approx(6, rel=1e-13)
    inner = function_inner(np.exp, lambda x: x, 0, 1)
    assert inner == pytest.approx(1.0, rel=1e-13)  # integral of x exp(x)
    assert inner <= function_norm(np.exp, 0, 1) * function_norm(lambda x: x, 0, 1)
    with pytest.raises(ValueError, match="a < b"):
        function_norm(np.sin, 1, 0)


@pytest.mark.spec("CS-3.55")
def test_with_a_coordinate_of_its_own_for_every_object_all_labellings_separate():
    A = np.vstack([rng.normal(size=(6, 2)), np.zeros((2, 2))])  # two equal objects
    kernel = RBF(0.5)
    K = shifted_gram(kernel, A, shift=0.3)
    assert K[6, 7] == 1.0  # by index: equal objects do not share the shift
    assert K[6, 6] == pytest.approx(1.09)
    for labels in rng.choice([-1, 1], size=(5, 8)):
        labels[6:] = [-1, 1]  # contradicting labels of the equal objects
        model = SVC(kernel=Precomputed(), C=np.inf).fit(K, labels)
        assert (labels * model.decision_function(K) > 0.999).all()


@pytest.mark.spec("CS-3.55")
def test_the_hard_margin_of_the_shifted_matrix_is_the_squared_soft_margin():
    A, C = rng.normal(size=(20, 2)), 3.0
    y = np.where(A[:, 0] + 0.5 * rng.normal(size=20) > 0, 1, -1)
    kernel = RBF(0.5)
    hard = SVC(kernel="precomputed", C=np.inf, tol=1e-9).fit(
        shifted_gram(kernel, A, shift=math.sqrt(1 / (2 * C))), y
    )
    soft = SVC(kernel=kernel, C=C, penalty_norm=2, tol=1e-9).fit(A, y)
    new = rng.normal(size=(7, 2))
    np.testing.assert_allclose(
        hard.decision_function(kernel(new, A)), soft.decision_function(new), atol=1e-5
    )
    with pytest.raises(ValueError, match="shift"):
        shifted_gram(kernel, A, -1.0)
