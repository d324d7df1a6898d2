"""Spectra side by side: densities, waves of periodic kernels, and products."""

import numpy as np
import pytest

from mercer.inspection import compare_spectra, fourier_transform
from mercer.inspection.spectrum_comparison import waves
from mercer.kernels import (
    RBF,
    Constant,
    Dirichlet,
    Exponential,
    FourierSeries,
    FromFunction,
    Laplacian,
    Matern,
    PeriodicGaussian,
    Periodized,
)
from mercer.kernels.stated_spectrum import stated_series


@pytest.mark.spec("SM-3.24")
def test_the_dirichlet_kernel_next_to_the_gaussian():
    w = np.array([0.0, 1.0, 2.5, 10.0, 11.0, -3.0])
    table = compare_spectra([RBF(0.5), Dirichlet(10)], w)
    gauss, dirichlet = table.values()
    assert gauss == pytest.approx(np.exp(-(w**2) / 2))
    # All waves alike, and nothing in between and above.
    assert dirichlet.tolist() == [1, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("period", [24.0, 0.7, 2 * np.pi])
@pytest.mark.parametrize("kernel", [RBF(0.8), Matern(1.5, 0.9)], ids=repr)
def test_wrapping_keeps_the_attenuation_of_the_waves(kernel, period):
    w = 2 * np.pi / period * np.arange(6)
    line, circle = compare_spectra(
        [kernel, 3 * Periodized(kernel, period, dimension=1)], w
    ).values()
    assert circle == pytest.approx(line)
    between = compare_spectra([Periodized(kernel, period, dimension=1)], w + 0.4 / period)
    assert next(iter(between.values())).tolist() == [0] * 6


def test_a_kernel_without_a_constant_is_relative_to_its_lowest_wave():
    s = 2 * np.pi / 24
    kernel, n = PeriodicGaussian(1.0, 24.0), np.arange(5)
    values = compare_spectra({"k": kernel}, s * n)["k"]
    assert values == pytest.approx(np.where(n == 0, 0, np.exp(-(n**2 - 1) * s**2 / 2)))
    high = FourierSeries([0.0] * 40 + [2.0, 1.0])
    assert compare_spectra({"k": high}, [0.0, 1.0])["k"].tolist() == [0, 0]
    assert waves(high, 3.0).frequencies.tolist() == [40]
    assert waves(high, 41.0).attenuation.tolist() == [1, 0.5]
    assert waves(RBF(1.0), 3.0) is None


def test_what_cannot_be_compared():
    with pytest.raises(ValueError, match="compared on the line; use dimension=1"):
        compare_spectra([Dirichlet(2)], [1.0], 2)
    with pytest.raises(ValueError, match="periodic: its spectrum is a series"):
        compare_spectra([Dirichlet(2) + RBF(1.0)], [1.0])

    class Silent(FromFunction):
        """A kernel that states a series of zeros."""

        period = 1.0
        fourier_coefficients = stated_series(lambda kernel: [0.0])

    with pytest.raises(ValueError, match="none of its first"):
        compare_spectra({"k": Silent(lambda A, B: 0 * (A - B.T))}, [1.0])


# -- products ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [Constant(2.0) * RBF(1.0), RBF(1.0) * Constant(2.0), 4 * (RBF(1.0) * Constant(0.5))],
    ids=repr,
)
def test_a_product_with_a_constant_is_a_multiple(kernel):
    w = [0.0, 1.0, 2.0]
    exact = 2 * fourier_transform(RBF(1.0), w, 2)
    assert fourier_transform(kernel, w, 2, method="closed") == pytest.approx(exact, rel=1e-14)
    assert fourier_transform(kernel, w, 2, method="numeric") == pytest.approx(exact, abs=1e-9)
    assert compare_spectra({"k": kernel}, w)["k"] == pytest.approx(np.exp(-np.square(w) / 4))


def test_a_product_with_a_density_has_one():
    # By the convolution theorem the wave shifts the density to both sides.
    w, T = np.array([0.0, 0.5, 2.0]), 3.0
    kernel = FourierSeries([0.5, 1.0], T) * RBF(0.7)
    shift = 2 * np.pi / T

    def gauss(v):
        return fourier_transform(RBF(0.7), v)

    exact = 0.5 * gauss(w) + 0.5 * (gauss(w - shift) + gauss(w + shift))
    assert fourier_transform(kernel, w) == pytest.approx(exact, abs=1e-9)
    lifted = fourier_transform(Laplacian(1.0) * (Exponential(2.0) + 1), w)
    parts = fourier_transform(Laplacian(3.0), w) + fourier_transform(Laplacian(1.0), w)
    assert lifted == pytest.approx(parts, abs=1e-9)
    for without in (Constant(2.0) * Constant(3.0), (RBF(1.0) + 1) * (RBF(2.0) + 1)):
        with pytest.raises(ValueError, match="a constant has all its spectrum at frequency zero"):
            fourier_transform(without, w)
