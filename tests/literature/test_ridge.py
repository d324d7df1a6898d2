"""Worked numbers of ridge regression and its dual forms."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import SVR, KernelRidge, KernelRidgeClassifier
from mercer.kernels import RBF, FromFeatureMap, Linear

X = [[0.0], [1.0], [2.0]]
Y = [1.0, 2.0, 4.0]

LFD_X = np.array(
    [
        (-0.494, 0.363), (-0.311, -0.101), (-0.0064, 0.374), (-0.0089, -0.173), (0.0014, 0.138),
        (-0.189, 0.718), (0.085, 0.32208), (0.171, -0.302), (0.142, 0.568), (0.491, 0.920),
        (-0.892, -0.946), (-0.721, -0.710), (0.519, -0.715), (-0.775, 0.551), (-0.646, 0.773),
        (-0.803, 0.878), (0.944, 0.801), (0.724, -0.795), (-0.748, -0.853), (-0.635, -0.905),
    ]
)  # fmt: skip
LFD_Y = np.repeat([1, -1], [9, 11])


def weights(model, Z):
    """The weight vector of a linear expansion."""
    return np.asarray(Z).T @ model.dual_coef_


def monomials(X, degree):
    a, b = np.asarray(X).T
    columns = [np.ones(len(a)), a, b, a**2, a * b, b**2]
    if degree == 3:
        columns += [a**3, a**2 * b, a * b**2, b**3]
    return np.column_stack(columns)


@pytest.mark.spec("CS-2.25")
@pytest.mark.parametrize(("lam", "w", "b"), [(1.0, 1.0, 4 / 3), (2.0, 0.75, 1.5833333)])
def test_primal_ridge_with_an_unpenalised_bias(lam, w, b):
    model = KernelRidge(lam, kernel="linear", fit_intercept=True).fit(X, Y)
    assert weights(model, X) == pytest.approx([w])
    assert model.intercept_ == pytest.approx(b)


@pytest.mark.spec("CS-2.25")
def test_limits_of_the_penalty():
    small = KernelRidge(0.0, fit_intercept=True).fit(X, Y)
    slope, level = np.polyfit(np.ravel(X), Y, 1)
    assert weights(small, X) == pytest.approx([slope])
    assert small.intercept_ == pytest.approx(level)
    large = KernelRidge(1e9, fit_intercept=True).fit(X, Y)
    assert weights(large, X) == pytest.approx([0.0], abs=1e-6)
    assert large.intercept_ == pytest.approx(np.mean(Y))


@pytest.mark.spec("CS-2.26")
def test_dual_ridge_without_and_with_a_bias():
    model = KernelRidge(1.0).fit(X, Y)
    assert model.dual_coef_ == pytest.approx([1.0, 1 / 3, 2 / 3])
    assert model.predict([[3.0]]) == pytest.approx([5.0])
    bordered = KernelRidge(1.0, fit_intercept=True).fit(X, Y)
    assert bordered.dual_coef_ == pytest.approx([-1 / 3, -1 / 3, 2 / 3])
    assert bordered.intercept_ == pytest.approx(4 / 3)


@pytest.mark.spec("CS-2.28")
def test_gradient_descent_with_weight_decay_reaches_ridge():
    x, y, w = np.ravel(X), np.asarray(Y), 0.0
    for _ in range(500):
        w -= 0.05 * 2.0 * (1.0 * w + (w * x - y) @ x)  # of 1.0 w^2 + sum of squared errors
    assert weights(KernelRidge(1.0).fit(X, Y), X) == pytest.approx([w], abs=1e-12)


@pytest.mark.spec("CS-6.38")
def test_the_books_multipliers_are_2_lambda_times_the_coefficients():
    model = KernelRidge(1.0).fit([[1.0], [2.0]], [1.0, 2.0])
    assert weights(model, [[1.0], [2.0]]) == pytest.approx([5 / 6])
    assert 2.0 * model.dual_coef_ == pytest.approx([1 / 3, 2 / 3])
    residual = np.array([1.0, 2.0]) - model.predict([[1.0], [2.0]])
    assert residual == pytest.approx([1 / 6, 1 / 3])
    assert model.predict([[3.0]]) == pytest.approx([2.5])
    proof = model.certificate_
    assert proof.primal == pytest.approx(proof.dual, abs=1e-12)
    # lambda |w|^2 + sum of squares is 2 lambda times the value of 1/2 |w|^2 + C sum of squares.
    assert 2.0 * proof.primal == pytest.approx((5 / 6) ** 2 + 1 / 36 + 1 / 9)


@pytest.mark.spec("CS-6.39")
def test_squared_tube_of_width_0_without_a_bias_is_ridge():
    alpha = 0.25
    machine = SVR(
        kernel=RBF(1.0), C=0.5 / alpha, epsilon=0.0, loss="squared_epsilon_insensitive",
        fit_intercept=False, tol=1e-12,
    ).fit(X, Y)  # fmt: skip
    expected = np.linalg.solve(RBF(1.0)(X) + alpha * np.eye(3), Y)
    assert KernelRidge(alpha, kernel=RBF(1.0)).fit(X, Y).dual_coef_ == pytest.approx(expected)
    assert machine.dual_coef_[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.spec("CS-6.43")
def test_the_mean_of_the_losses_scales_the_penalty_with_their_number():
    C, n = 7.0, 3
    model = KernelRidge(n / C, kernel=RBF(1.0)).fit(X, Y)
    f, K = model.predict(X), RBF(1.0)(X)
    # Stationarity of |f|^2 + (C / n) sum of squares: 2 K a - 2 (C / n) K (y - f) = 0.
    assert K @ model.dual_coef_ == pytest.approx(C / n * K @ (np.asarray(Y) - f))


@pytest.mark.spec("CS-7.50")
def test_the_dual_rule_of_widrow_and_hoff_converges_to_the_linear_system():
    x = np.linspace(0.0, 3.0, 12)[:, None]
    y = np.sin(2.0 * x[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=12)
    K = RBF(2.0)(x)
    model = KernelRidge(0.1, kernel=RBF(2.0), solver="widrow_hoff", tol=1e-14).fit(x, y)
    assert model.dual_coef_ == pytest.approx(np.linalg.solve(K + 0.1 * np.eye(12), y), abs=1e-5)
    few = KernelRidge(0.1, kernel=RBF(2.0), solver="widrow_hoff", max_iter=1)
    a = np.zeros(12)  # one sweep, written as in the text
    for i in range(12):
        a[i] += (y[i] - K[i] @ a - 0.1 * a[i]) / (K[i, i] + 0.1)
    with pytest.warns(UserWarning, match="iteration_limit"):
        few.fit(x, y)
    np.testing.assert_allclose(few.dual_coef_, a, atol=1e-12)


@pytest.mark.spec("LFD-67")
@pytest.mark.parametrize(
    ("degree", "lam", "expected"),
    [
        (2, 0.0, (1.149612, -0.100091, 0.212156, -1.810920, 0.398584, -1.680980)),
        (
            3, 0.0, (1.200496, 0.418594, 0.862577, -0.855806, 0.096499, -2.529297, 2.033717,
                     -2.014001, -2.468884, 0.451103),
        ),
        (
            3, 1.0, (0.710653, -0.009050, 0.376657, -1.153833, 0.118756, -1.177031, 0.170622,
                     -0.292504, -0.096452, -0.106671),
        ),
    ],
)  # fmt: skip
def test_linear_regression_as_a_classifier(degree, lam, expected):
    Z = monomials(LFD_X, degree)
    model = KernelRidgeClassifier(lam, kernel=Linear()).fit(Z, LFD_Y)
    assert weights(model, Z) == pytest.approx(expected, abs=2e-6)
    assert model.score(Z, LFD_Y) == 1.0
    mapped = FromFeatureMap(lambda A: monomials(A, degree))
    np.testing.assert_allclose(
        KernelRidgeClassifier(lam, kernel=mapped).fit(LFD_X, LFD_Y).decision_function(LFD_X),
        model.decision_function(Z),
        atol=1e-7,
    )


@pytest.mark.spec("LFD-68")
def test_kernel_pseudo_inverse_classifier():
    model = KernelRidgeClassifier(0.1, kernel=RBF(1.0)).fit(X, [1, -1, 1])
    assert model.dual_coef_ == pytest.approx([1.529875, -1.932381, 1.529875], abs=1e-6)
    assert model.predict(X).tolist() == [1, -1, 1]
