"""Kernels of splines: products of B-splines, their sparse Gram matrices, knots everywhere."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.kernels import RBF, BSpline, Spline
from tests.kernels.coordinate_definitions import cardinal_spline


@pytest.mark.spec("SM-3.16")
def test_values_of_the_cubic_spline():
    values = BSpline(3)([[0.0]], [[0.0], [1.0], [0.5], [2.0], [-1.0], [7.0]])[0]
    np.testing.assert_allclose(values, [2 / 3, 1 / 6, 0.4791667, 0, 1 / 6, 0], atol=5e-8)


@pytest.mark.spec("SM-3.16")
@pytest.mark.parametrize("order", [1, 3, 5, 9, 15, 25])
def test_a_spline_is_the_convolution_of_intervals(order):
    t = np.linspace(-0.6 * (order + 1), 0.6 * (order + 1), 201)
    values = BSpline(order)([[0.0]], t[:, None])[0]
    error = 1e-14 if order < 10 else 1e-9  # an alternating sum of growing terms
    np.testing.assert_allclose(values, cardinal_spline(order, t), atol=error)
    step = t[1] - t[0]
    assert values.sum() * step == pytest.approx(1.0, abs=1e-3)
    assert (values * t**2).sum() * step == pytest.approx((order + 1) / 12, rel=1e-2)
    assert (values >= 0).all()


@pytest.mark.spec("SM-3.16")
@pytest.mark.parametrize("order", [1, 3, 5])
def test_the_spectrum_is_a_power_of_sin_over_w(order):
    n, step = 4096, 1 / 64
    t = step * (np.arange(n) - n // 2)
    values = BSpline(order)([[0.0]], t[:, None])[0]
    spectrum = step * np.fft.fft(np.fft.ifftshift(values)).real
    w = 2 * np.pi * np.fft.fftfreq(n, step)
    low = np.abs(w) < 40
    np.testing.assert_allclose(
        spectrum[low], np.sinc(w[low] / (2 * np.pi)) ** (order + 1), atol=2e-4
    )


@pytest.mark.spec("SM-3.16")
def test_even_orders_are_not_positive_definite_and_refused():
    w = np.linspace(0.1, 20, 20_000)
    assert (np.sin(w / 2) / (w / 2)).min() ** 3 == pytest.approx(-0.01025, abs=5e-5)
    x = np.linspace(0, 12, 60)
    even = cardinal_spline(2, x[:, None] - x)
    assert np.linalg.eigvalsh(even)[0] == pytest.approx(-0.0524, abs=1e-4)
    assert np.linalg.eigvalsh(BSpline(3)(x[:, None]))[0] == pytest.approx(1.1e-5, rel=0.05)
    for order in (0, 2, 4):
        with pytest.raises(ValueError, match=r"even order is not positive definite.*odd order"):
            BSpline(order)


@pytest.mark.spec("SM-3.16")
def test_splines_of_high_order_are_gaussian():
    t = np.linspace(-4, 4, 81)[:, None]
    for order in (3, 9, 25):  # the fourth moment is off by 6 / (5 (n + 1)) of a Gaussian
        spline = BSpline(order, scale=np.sqrt(12 / (order + 1)))
        shape = spline([[0.0]], t) / spline([[0.0]], [[0.0]])
        assert np.abs(shape - RBF.from_sigma(1.0)([[0.0]], t)).max() < 0.2 / (order + 1)


def test_a_product_over_the_columns():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(8, 3)), rng.normal(size=(6, 3))
    one = [BSpline(3, 1.4)(X[:, [j]], Z[:, [j]]) for j in range(3)]
    np.testing.assert_allclose(BSpline(3, 1.4)(X, Z), one[0] * one[1] * one[2], rtol=1e-12)


@pytest.mark.spec("SM-3.17")
@pytest.mark.parametrize(("d", "order"), [(1, 3), (2, 1), (3, 5)])
def test_the_sparse_gram_matrix_has_the_dense_values(d, order):
    rng = np.random.default_rng(d)
    X = rng.uniform(0, 40, size=(700, d))
    kernel = BSpline(order, 1.5)
    S, K = kernel.sparse_gram(X), kernel(X)
    assert isinstance(S, sp.csr_array)
    np.testing.assert_array_equal(S.toarray(), K)
    assert S.nnz == np.count_nonzero(K)
    near = np.abs(X[:, None] - X).max(axis=2) < kernel.support_radius
    assert S.nnz <= near.sum() < 0.3 * K.size
    coefficients = rng.normal(size=700)
    np.testing.assert_allclose(S @ coefficients, K @ coefficients, rtol=1e-10, atol=1e-12)
    Z = rng.uniform(10, 20, size=(90, d))
    np.testing.assert_array_equal(kernel.sparse_gram(X, Z).toarray(), kernel(X, Z))
    np.testing.assert_array_equal(
        kernel.sparse_gram(sp.csr_array(X), sp.csr_array(Z)).toarray(),
        kernel(sp.csr_array(X), sp.csr_array(Z)),
    )


@pytest.mark.spec("SM-3.17")
def test_the_share_of_entries_is_that_of_the_support():
    # On a circle of circumference L a point sees a share of 2 radius / L of the others.
    x = np.random.default_rng(1).uniform(0, 100, size=(3000, 1))
    kernel = BSpline(1, 2.0)
    share = kernel.sparse_gram(x).nnz / 3000**2
    assert kernel.support_radius == 2.0
    assert share == pytest.approx(2 * 2.0 / 100, rel=0.05)


def test_sets_that_do_not_touch():
    S = BSpline(1).sparse_gram(np.zeros((3, 2)), np.full((4, 2), 9.0))
    assert S.shape == (3, 4)
    assert S.nnz == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BSpline(3, 0.0), "scale must be a number > 0"),
        (lambda: BSpline(3.5), "order must be an integer"),
        (lambda: BSpline(-1), "order must be an integer"),
        (lambda: BSpline(27), "order must be at most 25"),
        (lambda: BSpline(3).sparse_gram([[np.nan]]), "NaN"),
        (lambda: BSpline(3).sparse_gram([[1.0]], [[1.0, 2.0]]), "features"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_the_spline_kernel_is_the_integral_over_all_knots():
    s = (np.arange(200_000) + 0.5) / 50_000  # knots up to 4
    for x, z in ((1.0, 2.0), (0.3, 0.3), (3.5, 0.1), (0.0, 2.0)):
        integral = (np.maximum(x - s, 0) * np.maximum(z - s, 0)).sum() / 50_000
        assert Spline()([[x]], [[z]]).item() == pytest.approx(1 + x * z + integral, abs=1e-7)


def test_the_spline_kernel_interpolates_with_a_natural_cubic_spline_plus_a_line():
    # Between its knots every function of the kernel is a cubic polynomial, with two continuous
    # derivatives at the knots.
    x = np.array([0.2, 1.0, 1.7, 2.9])
    a = np.array([1.0, -2.0, 0.5, 1.5])

    def f(t):
        return Spline()(np.reshape(t, (-1, 1)), x[:, None]) @ a

    inside = np.linspace(1.05, 1.65, 9)
    fourth = np.diff(f(inside), 4)
    assert np.abs(fourth).max() < 1e-12
    h = 1e-3
    for knot in x[1:3]:
        left = f([knot - 2 * h, knot - h, knot])
        right = f([knot, knot + h, knot + 2 * h])
        jump = (np.diff(right, 2) - np.diff(left, 2)) / h**2
        assert abs(jump.item()) < 20 * h  # third derivatives jump, second ones do not
