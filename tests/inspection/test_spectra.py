"""Spectra of kernels: closed and numerical, as densities, as filters, as series."""

from functools import partial

import numpy as np
import pytest

from mercer.inspection import (
    bochner_density,
    compare_spectra,
    fourier_coefficients,
    fourier_transform,
    radial_fourier,
    regularisation,
    spectrum_sign,
)
from mercer.inspection.invariance import symmetries
from mercer.kernels import (
    RBF,
    Constant,
    FromFunction,
    Laplacian,
    Linear,
    Polynomial,
    SetPower,
    Sigmoid,
    Spectrum,
    normalize,
)
from mercer.kernels.regularisation import GENERIC, PERIODIC, Regularisation
from mercer.kernels.stated_spectrum import stated_series
from mercer.numerics import fourier_transforms
from tests.inspection.splines import spline_kernel

FREQUENCIES = np.array([0.0, 0.4, 1.0, 3.0])


@pytest.mark.spec("SM-0.04", "SM-3.15")
@pytest.mark.parametrize(
    ("kernel", "dimension"),
    [
        *((kernel, d) for kernel in (RBF(0.7), Laplacian(1.3), 2 * RBF(0.7)) for d in (1, 2, 3)),
        (RBF(0.5) + 3 * Laplacian(2.0), 1),
        (RBF(0.5) + 3 * RBF(2.0), 2),
    ],
    ids=repr,
)
def test_closed_forms_of_kernels_equal_numerical_transforms(kernel, dimension):
    exact = fourier_transform(kernel, FREQUENCIES, dimension, method="closed")
    numeric = fourier_transform(kernel, FREQUENCIES, dimension, method="numeric")
    assert numeric == pytest.approx(exact, abs=1e-9 * exact[0])


@pytest.mark.parametrize("kernel", [RBF(0.7), Laplacian(1.3)], ids=repr)
def test_transforms_at_frequency_vectors(kernel):
    w = np.random.default_rng(0).normal(size=(6, 3))
    exact = fourier_transform(kernel, w)
    assert fourier_transform(kernel, w, method="numeric") == pytest.approx(exact, abs=1e-9)


def test_compositions_without_a_closed_form():
    w = FREQUENCIES
    squared = fourier_transform(RBF(0.7) ** 2, w)
    assert squared == pytest.approx(fourier_transform(RBF(1.4), w), abs=1e-10)
    product = fourier_transform(Laplacian(1.0) * Laplacian(0.5), w)
    assert product == pytest.approx(fourier_transform(Laplacian(1.5), w), abs=1e-10)
    unit = fourier_transform(normalize(3 * RBF(0.7)), w)
    assert unit == pytest.approx(fourier_transform(RBF(0.7), w), abs=1e-10)
    with pytest.raises(ValueError, match="states no closed form"):
        fourier_transform(RBF(0.7) ** 2, w, method="closed")


@pytest.mark.spec("SM-3.15")
def test_the_density_is_one_and_gives_the_kernel_back():
    for kernel in (RBF(0.8), 5 * Laplacian(1.2)):
        angles, weights = np.polynomial.legendre.leggauss(200)
        w = np.tan(np.pi / 2 * angles)  # all frequencies
        jacobian = np.pi / 2 / np.cos(np.pi / 2 * angles) ** 2
        assert weights @ (jacobian * bochner_density(kernel, w)) == pytest.approx(1, abs=1e-9)
        back = np.sqrt(2 * np.pi) * radial_fourier(lambda v, k=kernel: bochner_density(k, v), 0.6)
        value = kernel([[0.0]], [[0.6]])[0, 0] / kernel([[0.0]])[0, 0]
        assert back[0] == pytest.approx(value, abs=1e-9)
    # In the plane by a sum over a grid, which converges fast for a Gaussian.
    grid = np.linspace(-12, 12, 81)
    w = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    assert bochner_density(RBF(0.8), w).sum() * 0.3**2 == pytest.approx(1)


@pytest.mark.spec("SM-3.06", "SM-3.15")
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_sign_of_the_spectrum_tells_kernels_from_impostors(order):
    found = spectrum_sign(FromFunction(spline_kernel(order)), omega=np.linspace(0.05, 20, 160))
    assert found.non_negative == (order % 2 == 1)
    if order == 2:  # the lowest point of sinc^3
        assert found.smallest * np.sqrt(2 * np.pi) == pytest.approx(-0.01025, abs=5e-5)
        assert found.frequency == pytest.approx(8.7, abs=0.3)


def test_the_sign_of_the_spectrum_by_default_frequencies():
    assert spectrum_sign(RBF(3.0)).non_negative
    assert spectrum_sign(Laplacian(0.01), 2).non_negative
    box = FromFunction(lambda A, B: np.abs(A - B.T) <= 20.0)
    found = spectrum_sign(box, omega=np.linspace(0.01, 1.0, 40))
    assert not found.non_negative
    assert found.smallest < -100 * found.tolerance


@pytest.mark.spec("SM-3.27")
def test_a_cubic_spline_filters_like_a_gaussian():
    w = np.linspace(0, 20, 2001)
    table = compare_spectra(
        {
            "spline": partial(fourier_transforms.b_spline, order=3),
            "gauss": RBF.from_sigma(1 / np.sqrt(3)),
        },
        w,
    )
    assert table["gauss"] == pytest.approx(np.exp(-(w**2) / 6))
    difference = np.abs(table["spline"] - table["gauss"])
    assert difference.max() < 0.03
    assert difference.max() > 0.005
    # The printed width, sigma^2 = 20 in these units, is another filter altogether.
    wide = compare_spectra([RBF.from_sigma(np.sqrt(20))], w)
    assert np.abs(table["spline"] - next(iter(wide.values()))).max() > 0.5


def test_comparison_of_kernels():
    table = compare_spectra([RBF(0.5), Laplacian(1.0)], [0.0, 1.0], 2)
    assert list(table) == ["RBF(gamma=0.5)", "Laplacian(gamma=1.0)"]
    assert all(values[0] == 1 for values in table.values())
    with pytest.raises(ValueError, match="no kernel"):
        compare_spectra([], [1.0])
    with pytest.raises(ValueError, match="infinite at frequency zero"):
        compare_spectra(
            {"heavy": partial(fourier_transforms.damped_oscillator, gamma=1.0)}, [1.0], 2
        )
    with pytest.raises(TypeError, match="neither a kernel nor a function"):
        compare_spectra({"x": 3}, [1.0])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Linear(), "not a function of x - z"),
        (Polynomial(2, 1.0), "not a function of x - z"),
        (Sigmoid(1.0), "not a function of x - z"),
        (RBF(1.0) + 1, "all its spectrum at frequency zero"),
        (Constant(2.0), "all its spectrum at frequency zero"),
        (RBF(1.0).on_columns([0]), "spectrum lies in a plane"),
        (RBF("scale"), "bind it first"),
        (RBF(0.0), "with gamma = 0"),
        (FromFunction(lambda A, B: np.cos(A - B.T)), "Fourier coefficients"),
    ],
    ids=repr,
)
def test_kernels_without_a_density_say_why(kernel, message):
    with pytest.raises(ValueError, match=message):
        fourier_transform(kernel, 1.0)


def test_other_requests_that_make_no_sense():
    with pytest.raises(ValueError, match="method must be one of"):
        fourier_transform(RBF(1.0), 1.0, method="fft")
    with pytest.raises(TypeError, match="radial_fourier"):
        fourier_transform(lambda r: r, 1.0)
    mixed = RBF(1.0) * Laplacian(1.0)
    with pytest.raises(ValueError, match="neither radial nor a product"):
        fourier_transform(FromFunction(lambda A, B: 1 / (1 + np.abs(A[:, None] - B).sum(-1))), 1, 2)
    assert symmetries(mixed, 2).separable


def test_symmetries_are_found_by_trying():
    assert symmetries(RBF(1.0), 2) == (True, True, True)
    assert symmetries(Laplacian(1.0), 2) == (True, False, True)
    assert symmetries(RBF(0.5) + RBF(2.0), 2) == (True, True, False)
    assert not symmetries(Linear(), 1).translation
    odd = FromFunction(lambda A, B: np.exp(-((A - B.T) ** 2)) * (1 + (A - B.T)))
    assert not symmetries(odd, 1).translation  # not even, hence not symmetric


# -- series ---------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [2 * np.pi, 3.0])
def test_coefficients_of_a_geometric_series(period):
    q = 0.5

    def kernel(A, B):
        u = 2 * np.pi * (A - B.T) / period
        return (1 - q * np.cos(u)) / (1 - 2 * q * np.cos(u) + q**2)

    a = fourier_coefficients(FromFunction(kernel), 12, period=period)
    assert a == pytest.approx(q ** np.arange(12), abs=1e-13)


def test_coefficients_of_a_kernel_with_a_kink():
    period, gamma = 4.0, 1.5

    def wrapped(A, B):
        u = np.abs(A - B.T) % period
        return np.cosh(gamma * (u - period / 2)) / np.sinh(gamma * period / 2)

    a = fourier_coefficients(FromFunction(wrapped), 6, period=period)
    w = 2 * np.pi * np.arange(6) / period
    exact = 4 * gamma / (gamma**2 + w**2) / period
    exact[0] /= 2
    assert a == pytest.approx(exact, abs=1e-8)


class Wave(FromFunction):
    """A Dirichlet kernel of order 2 with the period 5."""

    period = 5.0
    fourier_coefficients = stated_series(lambda kernel: [1, 2, 2])


def dirichlet_wave():
    def values(A, B):
        u = 2 * np.pi / 5 * (A - B.T)
        return 1 + 2 * np.cos(u) + 2 * np.cos(2 * u)

    return Wave(values)


def test_a_period_and_a_closed_form_are_taken_from_the_kernel():
    wave = dirichlet_wave()
    closed = fourier_coefficients(wave, 5, method="closed")
    assert closed.tolist() == [1, 2, 2, 0, 0]
    assert fourier_coefficients(wave, 5, method="numeric") == pytest.approx(closed, abs=1e-13)
    # Twice the period is a period too, with every other coefficient.
    double = fourier_coefficients(wave, 5, period=10.0)
    assert double == pytest.approx([1, 0, 2, 0, 2], abs=1e-13)
    with pytest.raises(ValueError, match="no closed form"):
        fourier_coefficients(wave, 5, period=10.0, method="closed")
    with pytest.raises(ValueError, match="method must be one of"):
        fourier_coefficients(wave, 5, method="fft")
    assert fourier_coefficients(wave, 2).tolist() == [1, 2]
    assert regularisation(wave) is PERIODIC
    with pytest.raises(ValueError, match="given by fourier_coefficients"):
        fourier_transform(wave, 1.0)


def test_functions_that_are_not_periodic_are_refused():
    with pytest.raises(ValueError, match=r"does not have the period 6\.28319"):
        fourier_coefficients(RBF(1.0))
    with pytest.raises(ValueError, match="not a function of x - z"):
        fourier_coefficients(FromFunction(lambda A, B: np.cos(A) * np.cos(B.T)))
    with pytest.raises(ValueError, match="period must be a number > 0"):
        fourier_coefficients(FromFunction(lambda A, B: np.cos(A - B.T)), period=0.0)


# -- operators in words ---------------------------------------------------------------------


@pytest.mark.spec("SM-3.07")
@pytest.mark.parametrize("kernel", [RBF(), Laplacian(), Polynomial()], ids=repr)
def test_kernels_state_their_operator(kernel):
    found = regularisation(kernel)
    assert isinstance(found, Regularisation)
    assert found.words.endswith(".")
    assert "||Pf||^2 = " in str(found)
    assert ("P(omega)" in str(found)) == (found.filter != "")


@pytest.mark.spec("SM-3.07")
def test_other_kernels_have_the_general_operator_or_none():
    assert regularisation(2 * RBF(1.0) + Laplacian(1.0)) is GENERIC
    with pytest.raises(ValueError, match="does not state its regularisation operator"):
        regularisation(Sigmoid(1.0))
    with pytest.raises(TypeError, match="takes a kernel first"):
        regularisation("rbf")


@pytest.mark.spec("SM-3.07")
def test_the_stated_operator_of_the_gaussian_is_its_filter():
    sigma, w = 0.8, np.linspace(0, 3, 7)
    n = np.arange(60)
    terms = np.cumprod(np.concatenate([[1.0], sigma**2 / (2 * n[1:])]))  # sigma^2n / (n! 2^n)
    penalty = (terms * w[:, None] ** (2 * n)).sum(axis=1)
    kernel = RBF.from_sigma(sigma)
    relative = fourier_transform(kernel, w) / fourier_transform(kernel, 0.0)
    assert penalty * relative == pytest.approx(np.ones(7))


@pytest.mark.spec("SM-3.07")
def test_the_stated_norm_of_the_laplacian_reproduces_it():
    gamma, h = 1.3, 2e-4
    x = np.arange(-14, 14, h)
    f, g = np.exp(-gamma * np.abs(x - 0.3)), np.exp(-gamma * np.abs(x + 0.5))
    inner = (gamma**2 * f * g + np.gradient(f, h) * np.gradient(g, h)).sum() * h / (2 * gamma)
    assert inner == pytest.approx(np.exp(-gamma * 0.8), abs=1e-4)


@pytest.mark.parametrize("kernel", [Spectrum(3), SetPower()], ids=str)
@pytest.mark.parametrize("transform", [fourier_transform, bochner_density])
def test_kernels_on_other_objects_than_vectors_have_no_fourier_transform(kernel, transform):
    with pytest.raises(TypeError, match=r"translation-invariant kernel on vectors.* is defined on"):
        transform(kernel, [0.0, 1.0])
