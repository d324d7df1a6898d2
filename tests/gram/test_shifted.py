"""The shifted kernel matrix: solutions, log-determinant and inverse, with and without a border."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer.gram import Gram
from mercer.gram import factorised as factorised_module
from mercer.gram.factorised import NotDefiniteError
from mercer.kernels import RBF, Linear, ThinPlate

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = RNG.normal(size=(60, 2))
NOISE = RNG.uniform(0.05, 0.5, size=60)
LINEAR = np.column_stack([np.ones(60), X])


def bordered(K: Any, noise: Any, basis: Any, Y: Any) -> tuple[Any, Any]:
    """The solution of the whole bordered system by LU."""
    n, p = len(K), 0 if basis is None else basis.shape[1]
    B = np.zeros((n, 0)) if basis is None else basis
    whole = np.block([[K + np.diag(noise), B], [B.T, np.zeros((p, p))]])
    solution = np.linalg.solve(whole, np.concatenate([Y, np.zeros((p, Y.shape[1]))]))
    return solution[:n], solution[n:]


@pytest.mark.parametrize("basis", [None, LINEAR[:, :1], LINEAR])
@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_both_solvers_solve_the_bordered_system(solver: str, basis: Any) -> None:
    gram = Gram(RBF(0.3), X)
    system = gram.shifted(NOISE, basis, solver, tol=1e-20)
    a, m = system.solve(Y)
    expected = bordered(gram.tile(), NOISE, basis, Y)
    np.testing.assert_allclose(a, expected[0], atol=1e-8)
    np.testing.assert_allclose(m, expected[1], atol=1e-8)
    single, _ = system.solve(Y[:, 0])
    np.testing.assert_allclose(single, a[:, 0], atol=1e-8)
    assert system.solver == solver


@pytest.mark.parametrize("basis", [None, LINEAR])
def test_log_determinant_and_inverse(basis: Any) -> None:
    gram = Gram(RBF(0.3), X)
    system: Any = gram.shifted(NOISE, basis, "cholesky")
    C = gram.tile() + np.diag(NOISE)
    logdet = np.linalg.slogdet(C)[1]
    if basis is not None:
        inner = basis.T @ np.linalg.solve(C, basis)
        logdet += np.linalg.slogdet(inner)[1] - np.linalg.slogdet(basis.T @ basis)[1]
    assert system.logdet() == pytest.approx(logdet, abs=1e-10)
    a, _ = system.solve(Y)
    np.testing.assert_allclose(system.inverse @ Y, a, atol=1e-10)
    np.testing.assert_allclose(system.inverse, system.inverse.T, atol=0)
    np.testing.assert_allclose(system.inverse_diagonal(), np.diagonal(system.inverse), atol=1e-11)
    half = system.halved(Y)
    np.testing.assert_allclose(half.T @ half, Y.T @ system.inverse @ Y, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.3, 1e-3])
def test_a_float32_factor_is_refined_to_double_precision(
    alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factorised_module, "_SMALL", 0)
    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=(2100, 6)), rng.normal(size=2100)
    system = Gram(RBF(0.05), Z, dtype="float64").shifted(alpha)
    a, _ = system.solve(y)
    assert system.precision == "float32, refined"
    assert 1 <= system.n_iter <= 6
    residual = y - system.multiply(a)
    assert np.linalg.norm(residual) < 1e-7 * np.linalg.norm(y)


def test_where_the_float32_factor_fails_one_in_float64_takes_its_place() -> None:
    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=(2100, 2)), rng.normal(size=2100)
    system: Any = Gram(RBF(0.01), Z, dtype="float64").shifted(1e-6)
    a, _ = system.solve(y)
    assert system.precision == "float64"
    assert np.linalg.norm(y - system.multiply(a)) < 1e-5 * np.linalg.norm(y)


def test_a_conditionally_definite_kernel_is_factorised_beside_its_polynomials() -> None:
    gram = Gram(ThinPlate(), X)
    a, m = gram.shifted(0.1, LINEAR, "cholesky").solve(Y)
    expected = bordered(gram.tile(), np.full(60, 0.1), LINEAR, Y)
    np.testing.assert_allclose(a, expected[0], atol=1e-8)
    np.testing.assert_allclose(m, expected[1], atol=1e-8)
    with pytest.raises(NotDefiniteError, match="not positive definite"):
        gram.shifted(0.1, None, "cholesky")


def test_the_matrix_of_a_precomputed_kernel_is_not_overwritten() -> None:
    from mercer.kernels import Precomputed

    K = X @ X.T
    before = K.copy()
    Gram(Precomputed(), K).shifted(0.1).solve(Y)
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize(
    ("noise", "basis", "solver", "message"),
    [
        (-1.0, None, "auto", "at least 0"),
        (np.ones(3), None, "auto", "one entry for each of the 60"),
        (1.0, np.ones((60, 2)), "auto", "linearly dependent"),
        (1.0, np.tile([1.0, 9998429.555358559], (60, 1)), "auto", "linearly dependent"),
        (1.0, np.ones((60, 61)), "auto", "61 functions for 60 samples"),
        (0.0, None, "cg", "positive noise"),
        (1.0, None, "qr", "solver must be one of"),
    ],
)
def test_refused_systems(noise: Any, basis: Any, solver: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Gram(Linear(), X).shifted(noise, basis, solver)
