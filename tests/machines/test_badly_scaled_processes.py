"""Posterior and evidence of badly scaled kernels against 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from mercer import GaussianProcessRegressor, KernelRidge, SparseGaussianProcessRegressor
from mercer.kernels import RBF

X = np.array([0.0, 0.5, 1.25, 2.0, 2.5, 3.25, 4.0, 4.75])[:, None]  # exact in binary
Y = np.array([0.25, -1.0, 0.5, 2.0, 1.5, -0.75, 0.0, 1.0])
NEW = 1.75
GAMMA = 0.0625


def exact(scale: float, alpha: float) -> tuple[float, float, float]:
    """Posterior mean and variance at NEW, and the log evidence, in 50 digits."""
    with mpmath.workdps(50):
        x = [mpmath.mpf(float(v)) for v in X[:, 0]]

        def k(a, b):
            return mpmath.mpf(scale) * mpmath.exp(-mpmath.mpf(GAMMA) * (a - b) ** 2)

        C = mpmath.matrix(8, 8)
        for i in range(8):
            for j in range(8):
                C[i, j] = k(x[i], x[j]) + (mpmath.mpf(alpha) if i == j else 0)
        y, row = mpmath.matrix(Y.tolist()), mpmath.matrix([k(mpmath.mpf(NEW), v) for v in x])
        a, w = mpmath.lu_solve(C, y), mpmath.lu_solve(C, row)
        mean = (row.T * a)[0]
        variance = mpmath.mpf(scale) - (row.T * w)[0]
        evidence = -((y.T * a)[0] + mpmath.log(mpmath.det(C)) + 8 * mpmath.log(2 * mpmath.pi)) / 2
        return float(mean), float(variance), float(evidence)


@pytest.mark.parametrize(("scale", "alpha"), [(1e6, 1.0), (1e-6, 1e-12), (1.0, 1e-7)])
def test_a_process_on_8_points(scale: float, alpha: float) -> None:
    mean, variance, evidence = exact(scale, alpha)
    model = GaussianProcessRegressor(scale * RBF(GAMMA), alpha=alpha, optimizer=None).fit(X, Y)
    found, std = model.predict([[NEW]], return_std=True)
    assert model.jitter_ == 0.0
    assert found[0] == pytest.approx(mean, rel=1e-6, abs=1e-7)
    assert std[0] ** 2 == pytest.approx(variance, rel=1e-4, abs=1e-13 * scale)
    assert model.log_marginal_likelihood_value_ == pytest.approx(evidence, rel=1e-7)
    ridge = KernelRidge(alpha, kernel=scale * RBF(GAMMA)).fit(X, Y)
    assert ridge.predict([[NEW]])[0] == pytest.approx(mean, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("scale", "alpha"), [(1e4, 1e-6), (1.0, 1e-12), (1e8, 1e-2)])
def test_intervals_of_the_log_evidence_allow_for_the_rounding_of_large_coefficients(
    scale: float, alpha: float
) -> None:
    evidence = exact(scale, alpha)[2]
    kernel = scale * RBF(GAMMA)
    iterative = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None, solver="cg")
    low, high = iterative.fit(X, Y).log_marginal_likelihood_interval_
    assert low <= evidence <= high
    for m in (3, 5, 8):
        sparse = SparseGaussianProcessRegressor(
            kernel, m, alpha=alpha, optimizer=None, noise=None
        ).fit(X, Y)
        assert sparse.certificate_.dual <= evidence <= sparse.certificate_.primal
        assert sparse.certificate_.rounding > 0.0
