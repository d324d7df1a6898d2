"""Kernels of the dot product: power series, their features and the norms they give."""

from itertools import product
from math import comb, factorial, inf, prod

import numpy as np
import pytest

from mercer.kernels import (
    RBF,
    Bilinear,
    ExponentialDot,
    Linear,
    Polynomial,
    PolynomialOf,
    PowerSeries,
    SumOfPowers,
    exp,
    normalize,
    taylor_inner_product,
)
from mercer.kernels.algebra.power_series import CLOSED_FORMS

rng = np.random.default_rng(0)
X = rng.normal(size=(9, 3))


def smallest_eigenvalue(K):
    return np.linalg.eigvalsh(K)[0]


@pytest.mark.spec("SM-3.41")
@pytest.mark.parametrize(
    "kernel",
    [Polynomial(3, 0.5, 1.0), SumOfPowers(3, 0.5), ExponentialDot(0.3), PowerSeries("cosh")],
    ids=repr,
)
def test_kernels_of_the_dot_product_are_invariant_under_rotations_only(kernel):
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    np.testing.assert_allclose(kernel(X @ R), kernel(X), rtol=1e-10)
    assert not kernel.translation_invariant
    assert np.abs(kernel(X + 1.0) - kernel(X)).max() > 0.1


# -- the norm of a function from its Taylor coefficients ---------------------------------------


def taylor(kernel, x, degree):
    """Return the Taylor coefficients of k(x, .): the weight of a monomial times its value."""
    coefficients = {}
    for m in product(range(degree + 1), repeat=len(x)):
        weight = factorial(sum(m)) / prod(map(factorial, m)) * kernel.series_coefficient(sum(m))
        if weight > 0:
            coefficients[m] = weight * float(np.prod(np.power(x, m)))
    return coefficients


@pytest.mark.spec("SM-3.42")
def test_homogeneous_polynomials_reproduce_with_the_corrected_exponent():
    x, y = np.array([0.3, -1.2]), np.array([0.7, 0.4])
    kernel = Polynomial(2, 1.0)
    f, g = taylor(kernel, x, 2), taylor(kernel, y, 2)
    assert (x @ y) ** 2 == pytest.approx(0.0729)
    assert taylor_inner_product(kernel, f, g) == pytest.approx(0.0729, rel=1e-12)
    # With the exponent as printed, +1/2, the weights are inverted:
    weights = {(2, 0): 1, (1, 1): 2, (0, 2): 1}
    printed = sum(f[m] * g[m] * w for m, w in weights.items())
    assert printed == pytest.approx(-0.5319, abs=1e-4)


@pytest.mark.spec("SM-3.43")
def test_components_of_other_degrees_do_not_matter_to_a_homogeneous_kernel():
    x, y = rng.normal(size=(2, 3))
    kernel = Polynomial(3, 1.0)
    f, g = taylor(kernel, x, 3), taylor(kernel, y, 3)
    with_others = SumOfPowers(5)  # the same weight 1 for degree 3, and others beside it
    assert taylor_inner_product(with_others, f, g) == pytest.approx((x @ y) ** 3, rel=1e-12)


@pytest.mark.spec("SM-3.44")
@pytest.mark.parametrize(("degree", "d", "c"), [(1, 2, 0.5), (2, 3, 2.0), (3, 2, 1.0), (4, 2, 0.3)])
def test_inhomogeneous_polynomials_reproduce(degree, d, c):
    x, y = rng.normal(size=(2, d))
    kernel = Polynomial(degree, 1.0, c)
    for i in range(degree + 1):  # the sum starts at the power 0, and c has the rest of the degree
        assert kernel.series_coefficient(i) == pytest.approx(comb(degree, i) * c ** (degree - i))
    f, g = taylor(kernel, x, degree), taylor(kernel, y, degree)
    assert taylor_inner_product(kernel, f, g) == pytest.approx((x @ y + c) ** degree, rel=1e-11)


def test_a_monomial_that_is_no_feature_has_an_infinite_norm():
    assert taylor_inner_product(Polynomial(2, 1.0), {(1, 0): 1.0}, {(1, 0): 1.0}) == inf
    assert taylor_inner_product(Polynomial(2, 1.0), {(1, 0): 1.0}, {(2, 0): 1.0}) == 0.0
    assert taylor_inner_product(Linear(), {(1, 0): 2.0}, {(1, 0): 3.0}) == 6.0
    with pytest.raises(TypeError, match="not a power series in the dot product"):
        taylor_inner_product(RBF(1.0), {}, {})
    with pytest.raises(TypeError, match="not a power series in the dot product"):
        taylor_inner_product(PowerSeries("exp", kernel=RBF(1.0)), {}, {})


# -- power series ------------------------------------------------------------------------------


@pytest.mark.spec("SM-3.45")
@pytest.mark.parametrize("name", ["exp", "cosh", "sinh"])
def test_entire_functions_with_non_negative_coefficients_are_kernels(name):
    kernel = PowerSeries(name)
    np.testing.assert_allclose(kernel(X), getattr(np, name)(X @ X.T), rtol=1e-12, atol=1e-12)
    assert smallest_eigenvalue(kernel(X)) > -1e-10 * np.abs(kernel(X)).max()
    x, y = 0.5 * X[:2]
    f, g = taylor(kernel, x, 12), taylor(kernel, y, 12)
    assert taylor_inner_product(kernel, f, g) == pytest.approx(getattr(np, name)(x @ y), rel=1e-8)


@pytest.mark.spec("SM-3.45")
def test_a_negative_coefficient_is_refused_by_its_name():
    with pytest.raises(ValueError, match=r"got -0.5 for power 2"):
        PowerSeries([1.0, 0.0, -0.5])
    with pytest.raises(ValueError, match=r"got -1.0 for power 3"):
        PowerSeries(lambda n: -1.0 if n == 3 else 1.0, radius=1.0)
    # tanh has such a series; its kernel has negative eigenvalues.
    assert smallest_eigenvalue(np.tanh(X @ X.T)) < -0.01


@pytest.mark.spec("SM-3.46")
def test_a_series_of_any_kernel():
    kernel = PowerSeries("sinh", kernel=exp(Linear()))
    small = 0.5 * X
    np.testing.assert_allclose(kernel(small), np.sinh(np.exp(small @ small.T)), rtol=1e-12)
    assert kernel.definiteness.is_psd
    assert smallest_eigenvalue(kernel(small)) > -1e-10
    assert PowerSeries("geometric", kernel=0.5 * normalize(Linear()))(X).shape == (9, 9)


def test_closed_forms_have_the_coefficients_they_claim():
    t = 0.3
    for name, form in CLOSED_FORMS.items():
        series = sum(form.coefficient(n) * t**n for n in range(60))
        A = np.array([[np.sqrt(t)]])
        assert PowerSeries(name)(A)[0, 0] == pytest.approx(series, rel=1e-13)


def test_objects_outside_the_radius_of_convergence_are_refused():
    kernel = PowerSeries("geometric")
    inside = 0.9 * X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(kernel(inside), 1 / (1 - inside @ inside.T), rtol=1e-12)
    outside = np.vstack([inside, [[1.0, 0.1, 0.0]]])
    for refuse in (kernel, kernel.diag, kernel.bind, lambda A: kernel(inside, A)):
        with pytest.raises(ValueError, match=r"converges for k\(x, x\) < 1 only, and object 9 has"):
            refuse(outside)
    with pytest.raises(ValueError, match="converges"):
        (2 * kernel + RBF(1.0)).bind(outside)
    with pytest.raises(ValueError, match="converges"):
        kernel.on_columns([0, 1, 2]).bind(outside)
    assert (2 * kernel).on_columns([2]).bind(outside).is_bound


def bessel(n):
    return 1.0 / factorial(n) ** 2


def test_the_truncation_error_is_what_was_left_out():
    from scipy.special import i0

    kernel = PowerSeries(bessel, radius=inf, n_terms=4)
    t = (X * X).sum(axis=1).max()
    left_out = i0(2 * np.sqrt(t)) - sum(bessel(n) * t**n for n in range(4))
    assert kernel.truncation_error(X) == pytest.approx(left_out, rel=1e-9)
    exact = i0(2 * np.sqrt((X * X).sum(axis=1)))
    assert (np.abs(kernel.diag(X) - exact) <= kernel.truncation_error(X) * (1 + 1e-9)).all()
    assert PowerSeries(bessel, radius=inf, n_terms=40).truncation_error(X) < 1e-16
    assert PowerSeries("exp").truncation_error(X) == 0.0
    assert PowerSeries([1.0, 2.0]).truncation_error(X) == 0.0
    assert PowerSeries(lambda n: 1.0, radius=inf).truncation_error(X) == inf  # it diverges


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: PowerSeries("tanh"), ValueError, "unknown series 'tanh'"),
        (lambda: PowerSeries([]), ValueError, "at least one number"),
        (lambda: PowerSeries(3.0), ValueError, "sequence"),
        (lambda: PowerSeries(bessel), ValueError, "needs its radius of convergence"),
        (lambda: PowerSeries([1.0], radius=0.0), ValueError, "radius must be"),
        (lambda: PowerSeries([np.nan]), ValueError, "finite"),
        (lambda: PowerSeries([1.0], kernel=len), TypeError, "must be a kernel"),
        (lambda: SumOfPowers(-1), ValueError, "degree"),
        (lambda: SumOfPowers(2, -1.0), ValueError, "gamma"),
        (lambda: ExponentialDot(-1.0), ValueError, "gamma"),
        (lambda: Bilinear([[1.0, 0.0]]), ValueError, "must be square"),
        (
            lambda: Bilinear([[1.0, 2.0], [0.0, 1.0]]),
            ValueError,
            "is 2 but",
        ),
        (lambda: Bilinear([[np.inf]]), ValueError, "finite"),
        (lambda: Bilinear(np.eye(2))(X), ValueError, "X has 3 features, but the matrix"),
    ],
)
def test_bad_parameters_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


# -- the kernels of the book -------------------------------------------------------------------


@pytest.mark.spec("CS-3.09")
def test_the_linear_kernel_has_the_vectors_as_features():
    np.testing.assert_allclose(Linear()(X), X @ X.T, rtol=1e-14)
    np.testing.assert_array_equal(Linear().feature_map(X), X)


@pytest.mark.spec("CS-3.10", "HO-07")
def test_a_matrix_and_its_factor_give_one_kernel():
    A = rng.normal(size=(2, 3))
    kernel = Bilinear.from_factor(A)
    np.testing.assert_allclose(kernel(X), (X @ A.T) @ (X @ A.T).T, rtol=1e-12, atol=1e-13)
    recovered = kernel.factor
    assert recovered.shape == (2, 3)  # the rank
    np.testing.assert_allclose(recovered.T @ recovered, A.T @ A, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        kernel.feature_map(X) @ kernel.feature_map(X).T, kernel(X), rtol=1e-12, atol=1e-13
    )
    np.testing.assert_array_equal(Bilinear(np.zeros((3, 3)))(X), np.zeros((9, 9)))


@pytest.mark.spec("CS-3.10", "HO-07")
def test_an_indefinite_matrix_is_refused_with_a_witness():
    B = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"v'Bv = -1 for v = \[0.707107, -0.707107\]") as refused:
        Bilinear(B)
    v = np.array([1.0, -1.0]) / np.sqrt(2)
    assert v @ B @ v == pytest.approx(-1.0)
    assert "without negative eigenvalues" in str(refused.value)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        Bilinear(np.eye(2)).set_params(matrix=-np.eye(2)).bind(np.eye(2))


@pytest.mark.spec("CS-3.11")
def test_homogeneous_quadratic():
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    kernel = Polynomial(2, 1.0)
    assert kernel(x, z)[0, 0] == pytest.approx(1.0)
    np.testing.assert_allclose(kernel.feature_map(x), [[1.0, 2 * np.sqrt(2), 4.0]])
    assert (kernel.feature_map(x) @ kernel.feature_map(z).T)[0, 0] == pytest.approx(1.0)


@pytest.mark.spec("CS-3.12")
def test_inhomogeneous_polynomials_and_their_number_of_features():
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    for degree, c, value, n_features in [(2, 1.0, 4.0, 6), (3, 2.0, 27.0, 10)]:
        kernel = Polynomial(degree, 1.0, c)
        features = kernel.feature_map(np.vstack([x, z]))
        assert kernel(x, z)[0, 0] == pytest.approx(value)
        assert features.shape[1] == n_features == comb(2 + degree, degree)
        assert features[0] @ features[1] == pytest.approx(value)
    A = np.array([[-0.5], [0.5], [0.0]])
    for degree, smallest in [(2, -1.0), (3, -3.26)]:
        kernel = Polynomial(degree, 1.0, -1.0)
        assert kernel.definiteness == "indefinite"
        assert smallest_eigenvalue(kernel(A)) == pytest.approx(smallest, abs=0.01)


@pytest.mark.spec("CS-3.13")
def test_gaussian_with_the_width_of_the_book():
    x, z, square = np.array([[1.0, 2.0]]), np.array([[0.0, -1.0]]), 4.0  # sigma^2, not 2 sigma^2
    kernel = RBF(1 / square)
    factorised = np.exp(-5 / square) * np.exp(-1 / square) * np.exp(2 * -2 / square)
    assert kernel(x, z)[0, 0] == pytest.approx(0.0820850, abs=1e-7)
    assert factorised == pytest.approx(0.0820850, abs=1e-7)
    A = rng.normal(size=(6, 2))
    K = RBF(1.0)(A)
    for labels in product([-1.0, 1.0], repeat=6):  # any labelling of distinct points
        np.testing.assert_allclose(K @ np.linalg.solve(K, labels), labels, atol=1e-9)


@pytest.mark.spec("CS-3.14")
def test_polynomials_of_a_kernel():
    A = np.array([[-0.5], [0.5], [0.0]])
    assert smallest_eigenvalue(1 - A @ A.T) == pytest.approx(-0.5)
    with pytest.raises(ValueError, match="got -1 for power 1"):
        PolynomialOf(Linear(), [1, -1])
    assert smallest_eigenvalue(PolynomialOf(Linear(), [1, 2, 0, 3])(A)) > -1e-12


@pytest.mark.spec("CS-3.15")
def test_the_exponential_is_the_limit_of_polynomials():
    K = Linear()(X)
    series = sum(K**n / factorial(n) for n in range(60))
    np.testing.assert_allclose(exp(Linear())(X), series, rtol=1e-9)  # entry by entry
    coefficients = [1 / factorial(n) for n in range(60)]
    np.testing.assert_allclose(PowerSeries(coefficients)(X), exp(Linear())(X), rtol=1e-9)
    np.testing.assert_allclose(ExponentialDot(1.0)(X), exp(Linear())(X), rtol=1e-13)
    np.testing.assert_allclose(normalize(ExponentialDot(1.4))(X), RBF(0.7)(X), rtol=1e-10)


@pytest.mark.spec("LFD-44")
def test_sum_of_powers_is_the_dot_product_of_ordered_products():
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])
    kernel = SumOfPowers(2)
    assert kernel(x, z)[0, 0] == 133.0
    features = kernel.feature_map(np.vstack([x, z]), ordered=True)
    assert features.shape[1] == 1 + 2 + 4
    assert features[0] @ features[1] == pytest.approx(133.0)
    assert kernel.feature_map(x).shape[1] == 6
    assert SumOfPowers(0)(X).tolist() == np.ones((9, 9)).tolist()


@pytest.mark.spec("LFD-46")
def test_polynomial_of_degree_three_with_multinomial_weights():
    kernel = Polynomial(3, 0.7, 1.3)
    features = kernel.feature_map(X[:, :2])
    assert features.shape[1] == 10
    np.testing.assert_allclose(features @ features.T, kernel(X[:, :2]), rtol=1e-11)
