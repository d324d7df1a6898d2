"""Rigorous certificates of composed kernels, compared with optima in 50 digits and more."""

from decimal import Decimal

import mpmath as mp
import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, OneClassSVM
from mercer.gram import Gram
from mercer.kernels import (
    RBF,
    BSpline,
    DistanceKernel,
    FourierSeries,
    FromFunction,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    PeriodicGaussian,
    Polynomial,
    Projected,
    ThinPlate,
    normalize,
)
from mercer.machines.support_vector.guaranteed_errors import guaranteed_errors
from tests.fuzz.exact import Program, exact, minimum
from tests.gram.exact_programs import exact_value

DIGITS = 60
ONE = np.zeros(1, dtype=np.intp)


def _rbf(gamma):
    return lambda x, z: mp.exp(
        -mp.mpf(gamma) * sum((a - b) ** 2 for a, b in zip(x, z, strict=True))
    )


def _dot(x, z):
    return mp.fsum(a * b for a, b in zip(x, z, strict=True))


def _laplacian(gamma):
    return lambda x, z: mp.exp(-mp.mpf(gamma) * sum(abs(a - b) for a, b in zip(x, z, strict=True)))


def _poly(gamma, degree):
    return lambda x, z: (mp.mpf(gamma) * _dot(x, z) + 1) ** degree


def _normalized(k):
    return lambda x, z: k(x, z) / mp.sqrt(k(x, x) * k(z, z))


def _chi(x, z):
    return mp.exp(-sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b))


# Kernels with their formulas, written once more.
COMPOSED = [
    (RBF(0.5) + 2 * Polynomial(2, gamma=1e-6, coef0=1.0),
     lambda x, z: _rbf(0.5)(x, z) + 2 * _poly(1e-6, 2)(x, z)),
    (RBF(0.5) * Laplacian(0.25), lambda x, z: _rbf(0.5)(x, z) * _laplacian(0.25)(x, z)),
    (normalize(Polynomial(5, gamma=0.5, coef0=1.0)), _normalized(_poly(0.5, 5))),
    ((RBF(0.25) + 0.5) ** 3, lambda x, z: (_rbf(0.25)(x, z) + mp.mpf(0.5)) ** 3),
    (DistanceKernel("chi2"), _chi),
    (HistogramIntersection(), lambda x, z: sum(min(a, b) for a, b in zip(x, z, strict=True))),
    (normalize(HistogramIntersection() * RBF(0.5)),
     _normalized(lambda x, z: sum(min(a, b) for a, b in zip(x, z, strict=True)) * _rbf(0.5)(x, z))),
    (Linear() + RBF(0.5), lambda x, z: _dot(x, z) + _rbf(0.5)(x, z)),
    (2 * Linear() + 1, lambda x, z: 2 * _dot(x, z) + 1),
]  # fmt: skip


def _rows(offset, n=9):
    rng = np.random.default_rng(int(offset) + 3)
    X = offset + np.abs(rng.normal(size=(n, 3)))
    return X, np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def _matrix(formula, X):
    with mp.workdps(DIGITS):
        rows = [[mp.mpf(float(v)) for v in row] for row in X]
        return [[Decimal(mp.nstr(formula(x, z), DIGITS)) for z in rows] for x in rows]


def _optimum(K, y, C, beta):
    """Return the value of the hinge machine with an intercept, in 60 digits."""
    sign = [exact(v) for v in y]
    n = len(y)
    Q = [[sign[i] * sign[j] * K[i][j] for j in range(n)] for i in range(n)]
    one, zero = Decimal(1), Decimal(0)
    found = minimum(
        Program(Q, [-one] * n, [zero] * n, [exact(C)] * n, [sign], [zero]), np.abs(beta).tolist()
    )
    assert found is not None
    return -found


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize(("kernel", "formula"), COMPOSED, ids=[repr(k) for k, _ in COMPOSED])
def test_rigorous_certificates_bracket_the_optimum_of_composed_kernels(kernel, formula, offset):
    X, y = _rows(offset)
    C = 2.0
    model = SVC(kernel=kernel, C=C, tol=1e-8).fit(X, y)
    proof = model.certify(X, y, rigorous=True)
    assert proof.guaranteed
    assert "guaranteed" in str(proof)
    assert not model.certify(X, y).guaranteed
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    optimum = _optimum(_matrix(formula, X), y, C, beta)
    assert exact(proof.dual) <= optimum <= exact(proof.primal)
    assert proof.rounding < 1e-9 * (1.0 + offset) * proof.primal


# Kernels whose values are wrong by more than some hundred roundings.
DELICATE = [
    BSpline(25),
    FourierSeries([0.0] * 30 + [1.0], 0.3),
    PeriodicGaussian(3.0),
    normalize(Polynomial(100, gamma=1.0, coef0=1.0)),
]


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("kernel", DELICATE, ids=repr)
def test_errors_of_products_are_bounded(kernel, offset):
    X, _ = _rows(offset, 6)
    X = offset + 0.02 * (X - offset)
    beta = np.array([1.0, -2.0, 0.0, 0.5, -0.25, 0.75])
    gram = Gram(kernel, X, "float64")
    errors, doubts = guaranteed_errors(gram)
    bound = errors.of(beta, None, ONE)
    found = gram.matmul(beta)
    assert doubts == ()
    for i, x in enumerate(X):
        expected = mp.fsum(b * exact_value(kernel, x, z) for b, z in zip(beta, X, strict=True))
        assert abs(expected - mp.mpf(float(found[i]))) <= bound[i]
    assert bound.max() < 1e-3


def test_the_bounds_of_several_models_are_those_of_each():
    X, _ = _rows(0.0, 8)
    errors, _ = guaranteed_errors(Gram(RBF(0.5) + Linear() ** 2, X, "float64"))
    first, second = np.array([1.0, 0.0, -1.0]), np.array([0.5, -2.0, 1.5, 0.0])
    a, b = np.array([1, 4, 7]), np.array([0, 2, 5, 6])
    both = errors.of(
        np.concatenate([first, second]), np.concatenate([a, b]), np.array([0, 3], dtype=np.intp)
    )
    alone = np.concatenate([errors.of(first, a, ONE), errors.of(second, b, ONE)])
    np.testing.assert_allclose(both, alone, rtol=0.3)  # sums of 3 terms and of 2
    assert (both >= alone).all()


class _Written(Kernel):
    """A Gaussian kernel in Python."""

    def tile(self, A, B):
        return np.exp(-((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (Matern(1.3), "table"),
        (RBF(1.0) + Matern(1.3), "table"),
        (Projected(ThinPlate()), "condition number"),
        (_Written(), "_Written come from Python"),
        (normalize(_Written() + 1.0), "_Written come from Python"),
    ],
    ids=lambda p: repr(p)[:40],
)
def test_what_has_no_proven_bound_is_named_and_not_guaranteed(kernel, reason):
    X, y = _rows(0.0, 12)
    proof = SVC(kernel=kernel).fit(X, y).certify(X, y, rigorous=True)
    assert not proof.guaranteed
    assert reason in proof.rounding_basis
    assert "not guaranteed" in str(proof)


@pytest.mark.parametrize("machine", [SVC(), SVR(), NuSVC(nu=0.4), OneClassSVM(nu=0.5)])
def test_numbers_that_the_user_gives_are_the_kernel(machine):
    X, y = _rows(0.0, 12)
    K = RBF(0.5)(X)
    target = () if isinstance(machine, OneClassSVM) else (y,)
    function = FromFunction(lambda A, B: RBF(0.5)(A, B))
    for kernel, data in (("precomputed", K), (function, X), (RBF(0.5), X)):
        proof = machine.set_params(kernel=kernel).fit(data, *target)
        proof = proof.certify(data, *target, rigorous=True)
        assert proof.guaranteed
        assert proof.gap >= 0.0
        assert (proof.assumes == "psd") == (kernel != RBF(0.5))


def test_several_problems_are_guaranteed_where_all_are():
    X, _ = _rows(0.0, 12)
    labels = np.arange(12) % 3
    assert SVC(kernel=RBF(0.5)).fit(X, labels).certify(X, labels, rigorous=True).guaranteed
    assert not SVC(kernel=Matern(1.3)).fit(X, labels).certify(X, labels, rigorous=True).guaranteed
