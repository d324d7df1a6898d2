"""The chi-square kernels of histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import parameter, real_from

from ..definiteness import PD, PSD, Definiteness
from .histogram import HistogramKernel


class ChiSquare(HistogramKernel):
    r"""The exponential of the chi-square distance of two histograms.

    .. math:: k(x, z) = \exp\Bigl(-\gamma \sum_i \frac{(x_i - z_i)^2}{x_i + z_i}\Bigr),
              \quad x, z \ge 0

    A bin that is empty in both counts 0. Positive definite for :math:`\gamma > 0`: the distance
    is :math:`\sum_i (x_i + z_i) - 4 \sum_i x_i z_i / (x_i + z_i)`, and the second sum is the
    inner product of the functions :math:`x_i e^{-t x_i}` of t > 0, which differ for different
    numbers.

    Parameters
    ----------
    gamma : float >= 0, default=1.0
        The inverse width.

    Notes
    -----
    Use it for histograms of mass 1, such as colours, textures and visual words, where differences
    in rare bins should count more than in common ones. Take gamma near 1 over the mean chi-square
    distance of the data. A value costs a division per bin, more than RBF. Avoid it for columns in
    different units: they are compared as counts of one kind.

    Examples
    --------
    >>> from mercer.kernels import ChiSquare
    >>> ChiSquare(gamma=1.0)([[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]).round(6)
    array([[0.135335]])
    """

    gamma: float = parameter(default=1.0, check=real_from(0))

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite; with gamma = 0 the constant 1, which is semidefinite."""
        return PD if self.gamma > 0 else PSD

    def compile(self, builder: Builder) -> None:
        builder.leaf("chi")
        builder.affine(-float(self.gamma), 0.0)
        builder.exp()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        distances = _ChiSquareDistance()._values(X, Z)
        return {"gamma": -distances * np.exp(-float(self.gamma) * distances)}


class _ChiSquareDistance(HistogramKernel):
    """The distance alone."""

    def compile(self, builder: Builder) -> None:
        builder.leaf("chi")


class AdditiveChiSquare(HistogramKernel):
    r"""The additive chi-square kernel of two histograms, a sum of harmonic means.

    .. math:: k(x, z) = \sum_i \frac{2 x_i z_i}{x_i + z_i}, \quad x, z \ge 0

    A bin that is empty in both counts 0. Positive semidefinite:
    :math:`x z / (x + z) = \int_0^\infty x e^{-t x} \, z e^{-t z} \, dt`. It is half the total
    mass of both histograms minus half their chi-square distance, so for histograms of mass 1 it
    is 1 - distance / 2.

    Notes
    -----
    Use it for histograms as a kernel without parameters, in place of HistogramIntersection where
    functions should be smooth in the counts. They are sums of functions of single bins. A histogram
    times a factor has that factor in its values, so divide by the mass first, or use ``normalize``.
    A value costs a division per bin. Avoid it where bins act together; ChiSquare, an exponential of
    it for histograms of one mass, sees that.

    Examples
    --------
    >>> from mercer.kernels import AdditiveChiSquare
    >>> AdditiveChiSquare()([[1.0, 3.0, 0.0]], [[1.0, 1.0, 0.0]])
    array([[2.5]])
    """

    definiteness = PSD  # an inner product of functions

    def compile(self, builder: Builder) -> None:
        builder.leaf("harmonic")
        builder.affine(2.0, 0.0)
