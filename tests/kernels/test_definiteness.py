"""What kernels claim about their quadratic form, and that the claims hold."""

import numpy as np
import pytest

from mercer.kernels import (
    RBF,
    Constant,
    Definiteness,
    FromFeatureMap,
    FromFunction,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    exp,
    normalize,
    polynomial,
)

PD, PSD, CPD, CPD2, INDEFINITE, UNKNOWN = Definiteness
conditional = Polynomial(1, 1.0, -1.0)  # x.z - 1
unknown = FromFunction(lambda A, B: A @ B.T)


@pytest.mark.parametrize(
    ("kernel", "claim"),
    [
        (RBF(), PD),
        (RBF(0.0), PSD),
        (Laplacian("auto"), PD),
        (Linear(), PSD),
        (Polynomial(3), PSD),
        (Polynomial(2, coef0=-1), INDEFINITE),
        (Polynomial(3, coef0=-1), INDEFINITE),
        (Polynomial(0, coef0=-1), PSD),
        (Polynomial(2, gamma=0, coef0=-1), PSD),
        (Polynomial(3, gamma=0, coef0=-1), CPD),
        (conditional, CPD),
        (Sigmoid(), INDEFINITE),
        (Constant(1), PSD),
        (Precomputed(), UNKNOWN),
        (unknown, UNKNOWN),
        (FromFunction(len, "positive definite"), PD),
        (FromFeatureMap(len), PSD),
        (RBF() + Linear(), PD),
        (Linear() + 1, PSD),
        (conditional + RBF(), CPD),
        (conditional + conditional, CPD),
        (RBF() + Sigmoid(), UNKNOWN),
        (Linear() + unknown, UNKNOWN),
        (RBF() * Laplacian(), PD),
        (RBF() * Linear(), PSD),
        (RBF() * Sigmoid(), UNKNOWN),
        (conditional * conditional, UNKNOWN),
        (2 * RBF(), PD),
        (0 * Sigmoid(), PSD),
        (3 * Sigmoid(), INDEFINITE),
        (RBF() ** 2, PD),
        (Sigmoid() ** 2, UNKNOWN),
        (Sigmoid() ** 1, INDEFINITE),
        (exp(Linear()), PSD),
        (exp(RBF()), PD),
        (exp(conditional), PSD),
        (exp(Sigmoid()), UNKNOWN),
        (polynomial(RBF(), [0, 1]), PD),
        (polynomial(RBF(), [1]), PSD),
        (polynomial(conditional, [1, 2]), CPD),
        (polynomial(conditional, [1, 2, 3]), UNKNOWN),
        (normalize(RBF()), PD),
        (normalize(Linear()), PSD),
        (RBF().on_columns([0]), PSD),
        (conditional.on_columns([0]), CPD),
    ],
    ids=repr,
)
def test_claims(kernel, claim):
    assert kernel.definiteness is claim


def test_a_claim_is_a_string():
    assert RBF().definiteness == "positive definite"
    assert f"{Linear().definiteness}" == "positive semidefinite"


def test_the_negative_claims_have_witnesses():
    X = np.random.default_rng(0).normal(size=(12, 2))
    for kernel in (Sigmoid(1.0), Polynomial(2, 1.0, -1.0), Polynomial(3, 1.0, -1.0)):
        assert np.linalg.eigvalsh(kernel(X))[0] < -1e-6


def test_a_conditional_kernel_is_positive_on_vectors_of_sum_zero():
    X = np.random.default_rng(0).normal(size=(10, 3))
    K = conditional(X)
    centre = np.eye(10) - 0.1
    assert np.linalg.eigvalsh(K)[0] < -1e-3
    assert np.linalg.eigvalsh(centre @ K @ centre)[0] > -1e-12
    assert np.linalg.eigvalsh(exp(conditional)(X))[0] > -1e-12


def test_strictly_definite_kernels_have_invertible_matrices():
    X = np.random.default_rng(0).normal(size=(10, 3))
    for kernel in (RBF(1.0), Laplacian(1.0), RBF(1.0) + Linear(), exp(RBF(1.0))):
        assert np.linalg.eigvalsh(kernel(X))[0] > 1e-6


def test_domains():
    assert Linear().domain.startswith("real vectors")
    assert Linear().requires_vectors
    assert Linear().accepts_sparse
    assert not Linear().pairwise
    assert (2 * Precomputed() + 1).pairwise
    assert not Precomputed().accepts_sparse
    assert not unknown.requires_vectors
    assert (unknown + RBF()).requires_vectors
    assert unknown.on_columns([0]).requires_vectors
    assert "function" in unknown.domain
    assert Constant(1).domain == "any objects"
    assert (Linear() + 1).domain == Linear().domain
