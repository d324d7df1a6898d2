"""A verdict knows the rounding of its values: definite kernels are not disproved."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.inspection import check, eigenvalue_report, falsify
from mercer.kernels import (
    RBF,
    BSpline,
    Definiteness,
    FourierSeries,
    FromFunction,
    FromSpectrum,
    Laplacian,
    Linear,
    LogDistance,
    Matern,
    Multiquadric,
    PeriodicGaussian,
    Polynomial,
    Projected,
    Sigmoid,
    ThinPlate,
    normalize,
)
from tests.catalogue import catalogue

LINE = np.linspace(0.0, 1.0, 12)[:, None]
FAR = sp.csr_array(LINE + 1e3)
HARD = [
    (BSpline(13), np.linspace(-0.2, 0.2, 30)[:, None]),
    (BSpline(25), np.linspace(-1.0, 1.0, 20)[:, None]),
    (RBF(0.1), FAR),
    (Laplacian(0.1), FAR),
    (Matern(2.5), FAR),
    (Projected(ThinPlate()), FAR),
    (Projected(LogDistance()), FAR),
    (LogDistance(), 1e-4 * LINE),
    (FourierSeries([0.0] * 30 + [1.0], 0.3), np.linspace(0.0, 1.0, 20)[:, None]),
    (FourierSeries([0.0] * 30 + [1.0], 0.3), np.linspace(0.0, 1.0, 20)[:, None] + 1e3),
    (PeriodicGaussian(3.0), 1e3 * np.linspace(0.0, 1.0, 20)[:, None]),
    (PeriodicGaussian(3.0), 1e3 + np.linspace(0.0, 1.0, 20)[:, None]),
    (PeriodicGaussian(0.3), 1e3 * np.linspace(0.0, 1.0, 20)[:, None]),
    (Projected(Multiquadric(1.0)), 0.02 * LINE),
    (Projected(Multiquadric(1.0)), 0.02 + 0.02 * LINE),
    (normalize(Polynomial(60, gamma=1.0, coef0=1.0)), 1e-3 * LINE + 1.0),
]


@pytest.mark.parametrize(("kernel", "X"), HARD, ids=lambda p: repr(p)[:50])
def test_rounding_disproves_no_kernel(kernel, X):
    verdict = check(kernel, X)
    assert not verdict.contradicts_claim
    assert verdict.definiteness is not Definiteness.INDEFINITE
    assert verdict.error_source == "bounded"


def test_values_too_rough_for_a_verdict_say_so():
    verdict = check(BSpline(13), np.linspace(-0.2, 0.2, 30)[:, None])
    assert verdict.definiteness is Definiteness.UNKNOWN
    assert not verdict.is_psd
    assert "cannot be decided in float64" in str(verdict).splitlines()[0]


@pytest.mark.parametrize(
    "kernel", [BSpline(25), FourierSeries([0.0] * 30 + [1.0], 0.3), PeriodicGaussian(3.0)], ids=repr
)
def test_a_search_is_not_fooled_by_rounding(kernel):
    assert not falsify(kernel, (-1.0, 1.0), n_trials=12, max_points=32, descents=False).falsified


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_no_definite_kernel_is_disproved_on_near_or_far_vectors(scale, offset):
    X = scale * np.random.default_rng(3).normal(size=(16, 3)) + offset
    for example in catalogue("vectors"):
        kernel = example.kernel
        if kernel.definiteness.order is None or isinstance(kernel, FromSpectrum):
            continue
        if kernel.has_bounded_values or kernel.translation_invariant:  # others may overflow
            assert not check(kernel, X).contradicts_claim, kernel


def test_what_is_disproved_stays_disproved():
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert check(Sigmoid(1.0, -1.0), X).witness is not None
    assert check(Polynomial(2, gamma=1.0, coef0=-0.5), X).witness is not None
    assert check(lambda A, B: -np.abs(A[:, :1] - B[:, 0]), X).error_source == "assumed"


def test_errors_of_the_users_own_kernels_are_assumed():
    X = np.random.default_rng(0).normal(size=(6, 2))
    assert check(FromFunction(lambda A, B: A @ B.T), X).error_source == "assumed"
    assert check(X @ X.T).error_source == "assumed"
    assert check(X @ X.T, value_error=1e-9).error_source == "given"
    assert check(Linear(), X).error_source == "bounded"


def test_a_witness_allows_for_the_error_of_every_entry():
    X = np.array([[0.0], [1.0]])
    witness = check(Sigmoid(1.0, -1.0), X).witness
    assert witness.value < witness.upper_bound < 0
    assert 0 < witness.entry_error < 1e-14


def test_the_rank_counts_no_rounding():
    # four exponentials at most: the others are rounding
    assert eigenvalue_report(FourierSeries([0.0] * 30 + [1.0], 0.3), LINE).rank == 2


def test_samplers_may_return_sparse_rows():
    def sampler(rng, n):
        return sp.random_array((n, 6), density=0.5, rng=rng, format="csr")

    assert falsify(Sigmoid(1.0, -1.0), sampler, n_trials=20).falsified
    assert not falsify(RBF(1.0), sampler, n_trials=20).falsified
    rows = sampler(np.random.default_rng(0), 30)
    assert not falsify(RBF(1.0), rows, n_trials=10).falsified
