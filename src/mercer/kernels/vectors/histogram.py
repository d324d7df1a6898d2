"""Kernels of histograms: their intersection and their chi-square distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram.program import Builder
from mercer.objects.parameters import parameter, real_from

from ..definiteness import PD, PSD, Definiteness
from .vector import VectorKernel


class HistogramKernel(VectorKernel):
    """Base class of the kernels on vectors without negative entries, such as histograms."""

    _is_restricted = True

    def check_domain(self, X: Any) -> None:
        """Reject negative entries; see :meth:`Kernel.check_domain`."""
        require_nonnegative(X, type(self).__name__)


def require_nonnegative(X: Any, owner: str) -> None:
    """Reject vectors with negative entries."""
    values = X.data if sp.issparse(X) else X
    if values.size and (least := values.min()) < 0:
        where = ""
        if not sp.issparse(X):
            row, column = np.unravel_index(int(np.argmin(values)), values.shape)
            where = f" (row {row}, column {column})"
        raise ValueError(
            f"{owner} is defined on vectors without negative entries, such as histograms; got "
            f"{least:.6g}{where}. Shift or rescale the columns, or use a kernel on all vectors."
        )


class HistogramIntersection(HistogramKernel):
    r"""The mass that two histograms have in common.

    .. math:: k(x, z) = \sum_i \min(x_i, z_i), \quad x, z \ge 0

    Positive semidefinite: the minimum of two numbers is the integral of the product of the
    indicators of [0, x] and [0, z].

    Notes
    -----
    Use it for histograms of images or of words, as a first kernel without parameters: a bin that is
    huge in one histogram only does no harm. Divide by the mass if the sizes of objects should not
    count. Its functions are sums of functions of single bins. Avoid it where neighbouring bins mean
    nearly the same: a shift by one bin is a complete mismatch; blur the histograms first.

    Examples
    --------
    >>> from mercer.kernels import HistogramIntersection
    >>> HistogramIntersection()([[1.0, 2.0, 0.0]], [[2.0, 1.0, 5.0]])
    array([[2.]])
    """

    definiteness = PSD  # an inner product of indicator functions

    def compile(self, builder: Builder) -> None:
        builder.leaf("minimum")


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

    gamma: float = parameter(real_from(0), default=1.0)

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
