"""The closure rules of kernels as theorems: what is made of kernels is a kernel.

Cristianini and Shawe-Taylor 2000, proposition 3.12 and corollary 3.13.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from mercer.inspection import check
from mercer.kernels import (
    RBF,
    FromFeatureMap,
    Laplacian,
    Linear,
    Polynomial,
    exp,
    normalize,
    polynomial,
)
from tests.kernels.strategies import kernels, vectors

X = np.random.default_rng(0).normal(size=(8, 3))
FIRST, SECOND = RBF(0.5), Polynomial(2, 0.5, 1.0)


@pytest.mark.spec("CS-3.32")
def test_the_form_of_a_sum_is_the_sum_of_the_forms():
    a = np.random.default_rng(1).normal(size=8)
    forms = [a @ k(X) @ a for k in (FIRST, SECOND, FIRST + SECOND)]
    assert forms[2] == pytest.approx(forms[0] + forms[1])
    assert forms[2] >= 0
    features = (Linear() + SECOND).feature_map(X)
    parts = [Linear().feature_map(X), SECOND.feature_map(X)]
    assert features == pytest.approx(np.hstack(parts))
    assert features @ features.T == pytest.approx((Linear() + SECOND)(X))


@pytest.mark.spec("CS-3.33")
def test_a_factor_scales_the_eigenvalues():
    values = np.linalg.eigvalsh(SECOND(X))
    assert np.linalg.eigvalsh((2.5 * SECOND)(X)) == pytest.approx(2.5 * values, abs=1e-12)
    assert check(2.5 * SECOND, X).is_psd
    with pytest.raises(ValueError, match="negative number"):
        -2.0 * SECOND
    assert not check(lambda A, B: -2.0 * SECOND(A, B), X).is_psd


@pytest.mark.spec("CS-3.34")
def test_a_product_is_part_of_the_tensor_product():
    K1, K2 = FIRST(X), SECOND(X)
    tensor = np.kron(K1, K2)
    outer = np.outer(np.linalg.eigvalsh(K1), np.linalg.eigvalsh(K2)).ravel()
    assert np.linalg.eigvalsh(tensor) == pytest.approx(np.sort(outer), abs=1e-12)
    diagonal = np.arange(8) * 8 + np.arange(8)
    assert np.array_equal(tensor[np.ix_(diagonal, diagonal)], K1 * K2)
    H = (FIRST * SECOND)(X)
    assert pytest.approx(K1 * K2) == H
    assert np.linalg.eigvalsh(H)[0] >= np.linalg.eigvalsh(tensor)[0] - 1e-12
    features = (Linear() * SECOND).feature_map(X)
    assert features @ features.T == pytest.approx(Linear()(X) * SECOND(X))


@pytest.mark.spec("CS-3.34", "HO-05")
@given(kernels, vectors())
@settings(max_examples=80, deadline=None)
def test_whatever_is_composed_of_kernels_passes(kernel, rows):
    verdict = check(kernel, rows)
    assert verdict.symmetric
    assert verdict.definiteness.is_psd
    assert verdict.smallest_eigenvalue >= -1e-8 * max(1.0, abs(np.trace(kernel(rows))))
    assert not verdict.contradicts_claim


@pytest.mark.spec("CS-3.35")
def test_a_limit_of_kernels_is_a_kernel():
    small = 0.5 * RBF(0.5)  # values in (0, 1/2]
    K = small(X)
    errors = []
    for n_terms in (2, 5, 10, 20, 50):
        partial = polynomial(small, [1.0] * n_terms)
        assert check(partial, X).is_psd
        errors.append(np.abs(partial(X) - 1 / (1 - K)).max())
    assert all(b < a for a, b in itertools.pairwise(errors))
    assert errors[-1] < 1e-13
    assert check(1 / (1 - K)).is_psd
    exponential = polynomial(small, [1 / np.prod(np.arange(1.0, k + 1)) for k in range(20)])
    assert exponential(X) == pytest.approx(exp(small)(X))


@pytest.mark.spec("CS-3.36")
def test_conformal_rescaling_and_normalisation():
    def weight(A):
        return np.exp(-0.3 * np.asarray(A)[:, :1] ** 2) + 0.1

    conformal = FromFeatureMap(weight) * Laplacian(0.7)  # c(x) c(z) k(x, z)
    c = weight(X)[:, 0]
    assert conformal(X) == pytest.approx(np.outer(c, c) * Laplacian(0.7)(X))
    assert check(conformal, X).is_psd
    unit = normalize(SECOND)
    assert np.diagonal(unit(X)) == pytest.approx(np.ones(8))
    assert check(unit, X).is_psd
    # Normalising undoes any conformal factor.
    assert normalize(conformal)(X) == pytest.approx(normalize(Laplacian(0.7))(X))
