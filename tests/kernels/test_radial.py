"""Kernels of the distance: closed forms, limits, and what the tables of their profiles keep."""

from math import inf

import numpy as np
import pytest
from scipy.special import gamma, kv
from sklearn.gaussian_process import kernels as peers

from mercer.gram import Gram
from mercer.kernels import (
    RBF,
    BSpline,
    DampedOscillator,
    Exponential,
    Gaussian,
    InverseMultiquadric,
    Laplacian,
    Matern,
    Multiquadric,
    NegativeDistance,
    RadialBSpline,
    RationalQuadratic,
    ThinPlate,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
RADIAL = [
    RBF(0.5),
    Exponential(0.5),
    Matern(1.3),
    RationalQuadratic(0.7, 1.5),
    DampedOscillator(),
    InverseMultiquadric(),
    Multiquadric(),
    NegativeDistance(1.5),
    ThinPlate(),
    RadialBSpline(3, 1.0, 3),
]


def test_gaussian_is_another_name():
    assert Gaussian is RBF


@pytest.mark.spec("SM-3.32")
@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_radial_kernels_are_invariant_under_rotations_and_translations(kernel):
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    np.testing.assert_allclose(kernel(X @ R + 1.5), kernel(X), rtol=1e-8, atol=1e-8)
    assert kernel.translation_invariant


@pytest.mark.spec("SM-3.32")
def test_products_over_columns_have_preferred_directions_except_the_gaussian():
    angle = 0.6
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    A = rng.normal(size=(12, 2))
    one = RBF(0.4).on_columns([0]) * RBF(0.4).on_columns([1])
    np.testing.assert_allclose(one(A @ R), one(A), rtol=1e-10)
    for product in (BSpline(3), Laplacian(1.0)):
        assert np.abs(product(A @ R) - product(A)).max() > 0.005


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 3.5, inf, 0.3, 0.8, 1.0, 2.0, 7.3, 25.0])
@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0])
def test_matern_agrees_with_another_implementation(nu, scale):
    expected = peers.Matern(length_scale=scale, nu=nu)(X)
    np.testing.assert_allclose(Matern(nu, scale)(X), expected, rtol=1e-10, atol=2e-13)


def test_matern_between_closed_forms_is_continuous():
    for nu in (0.5, 1.5, 2.5, 3.5):
        for beside in (nu - 1e-7, nu + 1e-7):
            assert np.abs(Matern(beside)(X) - Matern(nu)(X)).max() < 1e-6
    assert np.abs(Matern(30.0)(X) - Matern(inf)(X)).max() < 0.01
    np.testing.assert_allclose(Matern(0.5, 2.0)(X), Exponential(0.5)(X), rtol=1e-13)
    np.testing.assert_allclose(Matern(inf, 2.0)(X), RBF(0.125)(X), rtol=1e-13)


def test_tables_keep_their_error_at_every_distance():
    distances = np.concatenate([[0.0], np.geomspace(1e-12, 300.0, 3000)])[:, None]
    for nu in (0.1, 0.25, 0.49, 0.75, 1.9, 10.0, 30.0):
        u = np.sqrt(2 * nu) * distances[1:, 0]
        with np.errstate(invalid="ignore", over="ignore"):
            exact = 2 ** (1 - nu) / gamma(nu) * u**nu * kv(nu, u)
        near = ~np.isfinite(exact) | (u < 1e-3 * np.sqrt(nu))  # K_nu overflows or loses digits
        values = Matern(nu)(np.zeros((1, 1)), distances)[0]
        assert values[0] == 1.0
        assert np.abs(values[1:] - exact)[~near].max() < 1e-13
        assert (np.diff(values) < 1e-13).all()
        assert values.min() > -1e-15


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 3.5, 1.0])
def test_matern_is_zero_far_away(nu):
    far = np.array([[1e3], [1e10], [1e150], [1e200], [1e300]])
    assert not Matern(nu)(np.zeros((1, 1)), far).any()
    near = np.array([[600.0 / np.sqrt(2.0 * nu)]])  # values of 1e-260, not cut off
    expected = peers.Matern(nu=nu)(np.zeros((1, 1)), near)
    if nu != 1.0:  # a table, which ends earlier
        np.testing.assert_allclose(Matern(nu)(np.zeros((1, 1)), near), expected, rtol=1e-12)


def test_rational_quadratic_agrees_with_another_implementation_and_tends_to_the_gaussian():
    for alpha, scale in [(0.5, 1.0), (1.0, 2.0), (3.3, 0.7)]:
        expected = peers.RationalQuadratic(length_scale=scale, alpha=alpha)(X)
        np.testing.assert_allclose(RationalQuadratic(alpha, scale)(X), expected, rtol=1e-11)
    wide = RationalQuadratic(1e7, 1.0)(X)
    np.testing.assert_allclose(wide, RBF(0.5)(X), rtol=1e-4, atol=1e-7)


@pytest.mark.spec("SM-3.37")
def test_damped_oscillator_is_the_same_function_in_every_dimension():
    a = 1.3
    for d in (1, 2, 3, 8):
        A = rng.normal(size=(12, d))
        r2 = ((A[:, None] - A) ** 2).sum(axis=-1)
        K = DampedOscillator(gamma=a)(A)
        np.testing.assert_allclose(K, 1 / (a * a + r2), rtol=1e-13)
        assert np.linalg.eigvalsh(K)[0] > 0
        scaled = DampedOscillator(gamma=a, omega=2.0)(A)
        np.testing.assert_allclose(scaled, DampedOscillator(gamma=a / 2)(A) / 4, rtol=1e-13)


@pytest.mark.spec("SM-3.39")
def test_radial_splines_of_order_one_are_what_two_balls_have_in_common():
    r = np.linspace(0.0, 2.0, 41)
    closed = {
        1: 2 - r,
        2: 2 * np.arccos(r / 2) - r / 2 * np.sqrt(4 - r * r),
        3: np.pi / 12 * (2 - r) ** 2 * (r + 4),
    }
    for d, values in closed.items():
        A = np.zeros((41, d))
        A[:, 0] = r
        K = RadialBSpline(1, 1.0, d)(np.zeros((1, d)), A)[0]
        np.testing.assert_allclose(K, values, rtol=1e-12, atol=1e-13)
        assert (RadialBSpline(1, 1.0, d)(np.zeros((1, d)), A + 2.0) == 0).all()


@pytest.mark.spec("SM-3.39")
def test_radial_splines_on_the_line_are_the_splines_of_twice_the_width():
    A = np.linspace(-3.0, 3.0, 25)[:, None]
    for order in (1, 3, 5):
        spline = RadialBSpline(order, 1.0).bind(A)
        np.testing.assert_allclose(
            spline(A), 2.0**order * BSpline(order, 2.0)(A), rtol=1e-11, atol=1e-12
        )


@pytest.mark.spec("SM-3.39")
def test_even_radial_splines_are_refused():
    for order in (2, 4):
        with pytest.raises(ValueError, match=f"got order {order}. Use an odd order"):
            RadialBSpline(order)
    with pytest.raises(ValueError, match="X has 3 features, but the dimension of RadialBSpline"):
        RadialBSpline(3, 1.0, dimension=2)(X)
    with pytest.raises(ValueError, match="bind it first"):
        RadialBSpline(3)(X, X)


@pytest.mark.spec("SM-3.17")
def test_the_gram_matrix_of_a_radial_spline_is_sparse():
    A = np.random.default_rng(3).uniform(0, 30, size=(200, 2))
    kernel = RadialBSpline(3, 0.5).bind(A)
    S = kernel.sparse_gram(A)
    np.testing.assert_array_equal(S.toarray(), kernel(A))
    near = np.linalg.norm(A[:, None] - A, axis=-1) < kernel.support_radius
    assert kernel.support_radius == 2.0
    assert 0.99 * near.sum() <= S.nnz <= near.sum() < 0.05 * S.shape[0] ** 2


def test_single_precision_is_used_only_where_it_is_accurate():
    A = np.random.default_rng(0).normal(size=(1100, 4)) * 3 + 50
    for kernel in (RBF(0.3), Exponential(0.3), Matern(1.2), InverseMultiquadric(0.5)):
        rows = np.arange(0, 1100, 37)
        exact = kernel(A[rows], A)
        assert np.abs(Gram(kernel, A).tile(rows) - exact).max() < 2e-6


@pytest.mark.spec("SM-3.26")
def test_narrow_kernels_memorise_and_wide_ones_are_constant():
    y = rng.normal(size=30)
    for make in (lambda s: RBF.from_sigma(s), lambda s: Matern(1.5, s)):
        narrow, wide = make(1e-3)(X), make(1e5)(X)
        np.testing.assert_allclose(narrow, np.eye(30), atol=1e-12)
        np.testing.assert_allclose(narrow @ np.linalg.solve(narrow, y), y)
        np.testing.assert_allclose(wide, np.ones((30, 30)), atol=1e-7)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Matern(0.0), "nu must be a number > 0"),
        (lambda: Matern(0.05), r"nu must lie in \[0.1, 30\] or be inf"),
        (lambda: Matern(31.0), "nu=inf"),
        (lambda: Matern(-inf), "nu"),
        (lambda: Matern(1.5, 0.0), "length_scale must be a number > 0"),
        (lambda: RationalQuadratic(0.0), "alpha"),
        (lambda: RationalQuadratic(1.0, -1.0), "length_scale"),
        (lambda: DampedOscillator(0.0), "gamma"),
        (lambda: DampedOscillator(1.0, 0.0), "omega"),
        (lambda: InverseMultiquadric(0.0), "c must be"),
        (lambda: Multiquadric(-1.0), "c must be"),
        (lambda: NegativeDistance(2.1), r"power must lie in \(0, 2\]; got 2.1"),
        (lambda: NegativeDistance(0.0), "power"),
        (lambda: RadialBSpline(3, 0.0), "scale"),
        (lambda: RadialBSpline(0), "order"),
        (lambda: Exponential(-1.0), "gamma"),
    ],
)
def test_parameters_out_of_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("alpha", [0.3, 20.0, 63.0, 65.0, 1e3, 1e6, 1e10, 1e15])
def test_a_rational_quadratic_keeps_its_digits_for_every_exponent(alpha):
    x = np.append(0.0, np.geomspace(1e-6, 1e3, 500))[:, None]
    kernel = RationalQuadratic(alpha, 0.9)
    squares = np.longdouble(x[:, 0]) ** 2 / (2 * np.longdouble(alpha) * np.longdouble(0.9) ** 2)
    exact = np.exp(-np.longdouble(alpha) * np.log1p(squares)).astype(float)
    values = kernel(x, [[0.0]])[:, 0]
    assert np.abs(values - exact).max() < (2e-14 if alpha < 64 else 1e-15)
    assert values[0] == 1
    assert (np.diff(values) <= 0).all()
    slope = kernel.gradient(x, [[0.0]])["alpha"][:, 0]
    if alpha > 1e3:  # -exp(-s) s^2 / (2 alpha^2), up to terms of one order more
        s = alpha * squares.astype(float)
        assert slope == pytest.approx(
            -np.exp(-s) * (s / alpha) ** 2 / 2, rel=0.1, abs=1e-6 / alpha**2
        )
        assert np.abs(slope).max() > 0.1 / alpha**2


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e160, 1e200])
def test_constants_whose_squares_overflow_or_underflow_are_refused(size):
    """They gave wrong values, or an arithmetic error without a sentence."""
    for kernel, name in (
        (Multiquadric, "c"),
        (InverseMultiquadric, "c"),
        (DampedOscillator, "gamma"),
        (DampedOscillator, "omega"),
        (Matern, "length_scale"),
        (RationalQuadratic, "length_scale"),
    ):
        with pytest.raises(ValueError, match=f"square of {name} must neither overflow"):
            kernel(**{name: size})


@pytest.mark.parametrize("size", [1e-149, 1e149])
def test_the_largest_and_smallest_constants_give_all_digits(size):
    pair = [[0.0]], [[0.75 * size]]
    np.testing.assert_allclose(Multiquadric(size)(*pair) / size, -1.25, rtol=1e-14)
    np.testing.assert_allclose(InverseMultiquadric(size)(*pair) * size, 0.8, rtol=1e-14)
    np.testing.assert_allclose(RationalQuadratic(1.0, size)(*pair), 1 / 1.28125, rtol=1e-14)
