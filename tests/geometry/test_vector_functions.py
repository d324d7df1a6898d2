"""Functions with several outputs, and the symmetries that leave their outputs uncoupled."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.stats import ortho_group

from mercer import SVC
from mercer.geometry import RKHSFunction, VectorFunction, commutant_dimension
from mercer.kernels import RBF, Linear, Polynomial

rng = np.random.default_rng(3)
X, Z = rng.normal(size=(9, 2)), rng.normal(size=(6, 2))
A, B = rng.normal(size=(9, 3)), rng.normal(size=(6, 3))
KERNEL = RBF(0.6)


def permutations(n):
    """An exchange and a cycle, which generate all permutations."""
    return [np.eye(n)[[1, 0, *range(2, n)]], np.roll(np.eye(n), 1, axis=0)]


@pytest.mark.spec("SM-3.47")
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_rotations_and_signed_permutations_leave_multiples_of_one(n):
    flip = np.diag([-1.0] + [1.0] * (n - 1))
    assert commutant_dimension([*permutations(n), flip]) == 1
    assert commutant_dimension(ortho_group.rvs(n, size=3, random_state=n)) == 1


@pytest.mark.spec("SM-3.48")
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_permutations_leave_two_parameters_and_one_on_vectors_of_sum_zero(n):
    group = permutations(n)
    assert commutant_dimension(group) == 2
    assert commutant_dimension(group, symmetric=True) == 2
    coupled = 2.0 * np.eye(n) + 0.3 * np.ones((n, n))
    for g in group:
        np.testing.assert_allclose(g @ coupled, coupled @ g)
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T  # of the vectors of sum zero
    assert commutant_dimension([basis.T @ g @ basis for g in group]) == 1


def test_commutants_that_are_known_in_closed_form():
    turn = [[0.0, -1.0], [1.0, 0.0]]
    assert commutant_dimension(turn) == 2  # the complex numbers
    assert commutant_dimension(turn, symmetric=True) == 1
    assert commutant_dimension(np.eye(3)) == 9
    assert commutant_dimension(np.eye(3), symmetric=True) == 6
    assert commutant_dimension(np.zeros((1, 3, 3))) == 9
    # Eigenvalues of multiplicity 1, 2 and 3: blocks of 1, 4 and 9.
    U = ortho_group.rvs(6, random_state=0)
    assert commutant_dimension(1e6 * U @ np.diag([1, 2, 2, 3, 3, 3]) @ U.T) == 14
    assert commutant_dimension([[1.0, 1.0], [0.0, 1.0]]) == 2  # polynomials of a Jordan block


def test_what_is_no_set_of_matrices_is_refused():
    for bad in ([1.0, 2.0], np.ones((2, 3)), np.ones((0, 2, 2)), [np.eye(2), np.eye(3)]):
        with pytest.raises(ValueError, match="square matrices of one size"):
            commutant_dimension(bad)
    with pytest.raises(ValueError, match="real numbers"):
        commutant_dimension(1j * np.eye(2))
    with pytest.raises(ValueError, match="NaN"):
        commutant_dimension([[np.nan, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="tol"):
        commutant_dimension(np.eye(2), tol=0.0)


@pytest.mark.spec("SM-3.49")
@pytest.mark.parametrize("kernel", [KERNEL, Polynomial(2, 0.5, 1.0), Linear()], ids=repr)
def test_values_and_inner_products_are_those_of_the_outputs_together(kernel):
    f, g = VectorFunction(kernel, X, A), VectorFunction(kernel, Z, B)
    np.testing.assert_allclose(f(Z), kernel(Z, X) @ A, rtol=1e-10, atol=1e-12)
    assert f.inner(g) == pytest.approx(np.trace(A.T @ kernel(X, Z) @ B), rel=1e-12)
    assert f.squared_norm() == pytest.approx(np.trace(A.T @ kernel(X) @ A), rel=1e-12)
    assert f.norm() == pytest.approx(np.sqrt(f.squared_norm()), rel=1e-15)
    outputs = list(f)
    assert len(outputs) == f.n_outputs == 3
    assert sum(a.inner(b) for a, b in zip(f, g, strict=True)) == pytest.approx(f.inner(g))
    np.testing.assert_allclose(outputs[1](Z), f(Z)[:, 1])
    assert (f - 2 * g).norm() == pytest.approx(f.distance(2 * g), rel=1e-9)
    assert np.all(np.linalg.norm(f(Z), axis=1) <= f.evaluation_bound(Z))


@pytest.mark.spec("SM-3.49")
def test_rotations_of_the_outputs_leave_the_norm_alone():
    f, g = VectorFunction(KERNEL, X, A), VectorFunction(KERNEL, Z, B)
    U = ortho_group.rvs(3, random_state=1)
    np.testing.assert_allclose(f.transformed(U)(Z), f(Z) @ U.T, rtol=1e-12)
    assert f.transformed(U).squared_norm() == pytest.approx(f.squared_norm(), rel=1e-12)
    assert f.transformed(U).inner(g.transformed(U)) == pytest.approx(f.inner(g), rel=1e-12)
    assert f.transformed(U).distance(f) > 0.1
    assert f.transformed(2 * U).norm() == pytest.approx(2 * f.norm(), rel=1e-12)
    total = f.transformed(np.ones((1, 3)))
    np.testing.assert_allclose(total(Z)[:, 0], f(Z).sum(axis=1))


@pytest.mark.spec("SM-3.49")
def test_with_the_squared_loss_the_outputs_decouple():
    lam, K = 0.3, KERNEL(X)
    Y = np.random.default_rng(5).normal(size=(9, 3))

    def risk(f, targets):
        return float(((targets - f(X)) ** 2).sum() + lam * f.norm() ** 2)

    def joint(coef):
        C = coef.reshape(9, 3)
        residual = Y - K @ C
        value = (residual**2).sum() + lam * np.trace(C.T @ K @ C)
        return value, (2 * K @ (lam * C - residual)).ravel()

    alone = [RKHSFunction(KERNEL, X, np.linalg.solve(K + lam * np.eye(9), y)) for y in Y.T]
    together = VectorFunction(KERNEL, X, np.column_stack([f.coef for f in alone]))
    assert risk(together, Y) == pytest.approx(
        sum(risk(f, y) for f, y in zip(alone, Y.T, strict=True)), rel=1e-12
    )
    # Minimised over all coefficients at once, the risk is no smaller, and the function the same.
    options = {"gtol": 1e-12, "ftol": 1e-16, "maxiter": 5000}
    found = minimize(joint, np.zeros(27), jac=True, method="L-BFGS-B", options=options)
    assert found.fun == pytest.approx(risk(together, Y), rel=1e-9)
    same = VectorFunction(KERNEL, X, found.x.reshape(9, 3))
    np.testing.assert_allclose(same(X), together(X), atol=1e-4)


def test_outputs_of_a_machine_and_sparse_centres():
    machine = SVC(kernel=KERNEL, multiclass="ovr").fit(X, np.arange(9) % 3)
    f = VectorFunction.from_expansion(machine.expansion_)
    np.testing.assert_allclose(
        f(Z) + machine.intercept_, machine.expansion_(Z), rtol=1e-5, atol=1e-6
    )
    binary = SVC(kernel=KERNEL).fit(X, np.arange(9) % 2).expansion_
    assert VectorFunction.from_expansion(binary).n_outputs == 1
    g = VectorFunction(KERNEL, sp.csr_matrix(X), A)
    np.testing.assert_allclose(g(Z), KERNEL(Z, X) @ A, rtol=1e-10)
    again = pickle.loads(pickle.dumps(g))
    np.testing.assert_array_equal(again(Z), g(Z))
    assert repr(g) == "<VectorFunction of RBF(gamma=0.6): 9 terms>"


def test_functions_that_do_not_fit_together_are_refused():
    f = VectorFunction(KERNEL, X, A)
    with pytest.raises(ValueError, match="one row of numbers per centre"):
        VectorFunction(KERNEL, X, A[:, 0])
    with pytest.raises(ValueError, match="3 and 2 outputs"):
        f.inner(VectorFunction(KERNEL, X, A[:, :2]))
    with pytest.raises(TypeError, match="another VectorFunction is needed; got RKHSFunction"):
        f + f[0]
    with pytest.raises(TypeError, match="another RKHSFunction is needed"):
        f[0].inner(f)
    with pytest.raises(ValueError, match="different spaces"):
        f + VectorFunction(Linear(), X, A)
    with pytest.raises(ValueError, match="3 columns"):
        f.transformed(np.eye(2))
    with pytest.raises(IndexError, match="3 outputs"):
        f[3]
