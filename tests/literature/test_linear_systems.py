"""Linear systems of Gaussian processes: direct solvers, conjugate gradients and their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.gram import Gram
from mercer.kernels import RBF

X = np.linspace(0.0, 3.0, 12)[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=12)
SIGMA2 = 0.1


def system(steps=None, rank=0):
    gram = Gram(RBF(2.0), X, dtype="float64")
    return gram.shifted(SIGMA2, solver="cg", max_iter=steps, rank=rank, tol=1e-30)


def exact():
    return np.linalg.solve(RBF(2.0)(X) + SIGMA2 * np.eye(12), Y)


@pytest.mark.spec("CS-7.49")
def test_direct_solution():
    a, _ = Gram(RBF(2.0), X).shifted(SIGMA2, solver="cholesky").solve(Y)
    K = RBF(2.0)(X) + SIGMA2 * np.eye(12)
    assert np.abs(K @ a - Y).max() < 1e-8
    for solver in ("cholesky", "lu", "eigh"):
        model = KernelRidge(SIGMA2, kernel=RBF(2.0), solver=solver).fit(X, Y)
        assert np.abs(K @ model.dual_coef_ - Y).max() < 1e-8


@pytest.mark.spec("CS-7.51")
@pytest.mark.parametrize(("steps", "error"), [(3, 0.93), (6, 0.063), (9, 6.9e-4)])
def test_conjugate_gradients_without_a_preconditioner(steps, error):
    a, _ = system(steps).solve(Y)
    assert np.abs(a - exact()).max() == pytest.approx(error, rel=0.02)


@pytest.mark.spec("CS-7.51")
def test_conjugate_gradients_end_after_as_many_steps_as_rows():
    a, _ = system(12).solve(Y)
    assert np.abs(a - exact()).max() < 1e-7


@pytest.mark.spec("CS-7.52")
def test_two_sided_bounds_meet_at_the_quadratic_form():
    iterative = system(12)
    iterative.solve(Y)
    bounds = [(float(low[0]), float(high[0])) for low, high in iterative.last.history]
    value = 0.5 * Y @ exact()
    assert value == pytest.approx(1.2677623, abs=1e-7)
    lower = [bounds[k - 1][0] for k in (3, 6, 9)]
    assert lower == pytest.approx([1.1083736, 1.2668879, 1.2677622], abs=1e-7)
    assert all(low <= value + 1e-12 and value <= high + 1e-12 for low, high in bounds)
    low, high = bounds[-1]
    assert high - low < 1e-12
