"""normalize of compositions of kernels whose values are beyond the range of numbers."""

import numpy as np
import pytest

from mercer.kernels import GlobalAlignment, PairHMM, Spectrum, Subsequence, normalize

LONG = ["ACGTAC" * 100, "ACGGT" * 120, "TTACG" * 90]
SHORT = ["ACGT", "ACG", "TTACG"]
HMM = PairHMM(alphabet="ACGT")


def test_a_factor_is_no_matter():
    np.testing.assert_allclose(normalize(2.0 * HMM)(LONG), normalize(HMM)(LONG), rtol=1e-12)


@pytest.mark.parametrize("other", [HMM, Subsequence(3, 2.5), Spectrum(2), 3.0 * HMM], ids=str)
def test_a_product_is_one_of_normalised_factors(other):
    expected = normalize(HMM)(LONG) * normalize(other)(LONG)
    np.testing.assert_allclose(normalize(HMM * other)(LONG), expected, rtol=1e-12)
    np.testing.assert_allclose(np.diag(normalize(other * HMM)(LONG)), 1.0, rtol=1e-12)


def test_columns_of_a_table():
    table = np.array([[s, "x"] for s in LONG], dtype=object)
    expected = normalize(HMM)(LONG)
    for kernel in (HMM.on_columns(0), 2.0 * HMM.on_columns(0), (2.0 * HMM).on_columns([0])):
        np.testing.assert_allclose(normalize(kernel)(table), expected, rtol=1e-12)


def test_series():
    series = [np.linspace(0, 1, n)[:, None] for n in (700, 800)]
    narrow, wide = GlobalAlignment(5.0), GlobalAlignment(1.0)
    with pytest.raises(OverflowError, match="normalize"):
        narrow(series)
    expected = normalize(narrow)(series) * normalize(wide)(series)
    np.testing.assert_allclose(normalize(narrow * wide)(series), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [2.0 * HMM, HMM * Spectrum(1), HMM * (2.0 * HMM), HMM**2], ids=str
)
def test_derivatives_against_differences(kernel):
    kernel = normalize(kernel)
    gradient, h = kernel.gradient(SHORT), 1e-6
    assert any(name.endswith("mutation") for name in gradient)
    for name, slope in gradient.items():
        value = kernel.get_params()[name]
        above, below = (_with(kernel, name, value + s)(SHORT) for s in (h, -h))
        np.testing.assert_allclose(slope, (above - below) / (2 * h), atol=1e-8)


def _with(kernel, name, value):
    from sklearn.base import clone

    return clone(kernel).set_params(**{name: value})
