"""The Gaussian kernel of points on a circle."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any, ClassVar

import numpy as np
from scipy.special import ive

from mercer.gram.coordinate_statistics import NEGLIGIBLE
from mercer.gram.program import Builder
from mercer.numerics.blas import product
from mercer.numerics.random_frequencies import from_series
from mercer.objects.parameters import parameter, positive, positive_with_square
from mercer.objects.rows import dense_column
from mercer.objects.validation import VECTORS, count

from ..base import Wanted
from ..definiteness import PSD
from ..stated_spectrum import DrawsFrequencies, stated_series
from .pair_statistics import squared_distances
from .vector import VectorKernel


@dataclass(frozen=True)
class OnCircles:
    """The map of every column to a circle of radius 1: its cosine, then its sine."""

    period: float

    takes = VECTORS

    def __call__(self, X: Any) -> np.ndarray:
        """Return the points, of shape (n, 2 d)."""
        columns = [dense_column(X, j) for j in range(X.shape[1])]
        # The remainder is exact, so that data far from 0 lose no digits.
        angle = 2 * pi / self.period * np.remainder(np.stack(columns, axis=1), self.period)
        return np.hstack([np.cos(angle), np.sin(angle)])


class ExpSineSquared(DrawsFrequencies, VectorKernel):
    r"""The periodic kernel of Gaussian processes, multiplied over the columns.

    .. math:: k(x, z) = \exp\Big(-\frac{2}{\ell^2} \sum_i \sin^2 \frac{\pi (x_i - z_i)}{T}\Big)

    It is the Gaussian kernel of width :math:`\ell` between points on circles, to which the columns
    are wound up; hence positive semidefinite. On one column it equals scikit-learn's kernel of this
    name, which takes the sine of the distance of several columns and need not be definite there.
    With :math:`\kappa = 1 / \ell^2` its Fourier coefficients are :math:`e^{-\kappa} I_0(\kappa)`
    and :math:`2 e^{-\kappa} I_n(\kappa)`, with the modified Bessel functions :math:`I_n`.

    Parameters
    ----------
    length_scale : float > 0, default=1.0
        The width, on a circle of radius 1: below 1 for patterns with details, above it for waves
        that are nearly sines.
    period : float > 0, default=1.0
        The period T, in the units of the data.

    Notes
    -----
    Use it for seasons in Gaussian processes and ridge regression: give the period, start from
    ``length_scale=1`` and let the evidence choose. Multiply by an RBF of the same column where the
    pattern drifts, and add one for the trend. A value costs a squared distance and an exponential.
    Avoid it where the period is known only roughly, unless `bounds` keep it near a good guess:
    after many periods the phase is lost.

    Examples
    --------
    >>> from mercer.kernels import ExpSineSquared
    >>> ExpSineSquared(length_scale=1.0, period=24.0)([[1.0]], [[25.0], [13.0]]).round(6)
    array([[1.      , 0.135335]])
    """

    length_scale: float = parameter(positive_with_square, default=1.0)
    period: float = parameter(positive, default=1.0)

    fourier_coefficients = stated_series(lambda kernel: kernel.coefficients())
    definiteness = PSD  # a Gaussian kernel of images
    translation_invariant = True  # a function of x - z
    _foreign_names: ClassVar[dict[str, str]] = {
        "periodicity": "ExpSineSquared takes period, the same number.",
        "sigma": "ExpSineSquared takes length_scale, a width on a circle of radius 1.",
    }

    def coefficients(self) -> np.ndarray:
        """Return the Fourier coefficients of a factor, by rising frequency from 0.

        Returns
        -------
        ndarray of shape (n_frequencies,)
            The coefficients a_0, a_1, ... of sum_n a_n cos(2 pi n (x - z) / period), as far as
            they count in float64.
        """
        kappa, n = float(self.length_scale) ** -2, 16
        while ive(n, kappa) > NEGLIGIBLE:
            n *= 2
        a = ive(np.arange(n), kappa)
        a[1:] *= 2.0
        return a[: np.flatnonzero(a > NEGLIGIBLE)[-1] + 1]

    def compile(self, builder: Builder) -> None:
        with builder.through(self._circles):
            builder.leaf("sqdist")
        builder.affine(-0.5 / float(self.length_scale) ** 2, 0.0)
        builder.exp()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        width, period, circles = float(self.length_scale), float(self.period), self._circles
        values = self._values(X, Z)
        turned = np.zeros_like(values)
        for j in range(X.shape[1]):
            difference = dense_column(X, j)[:, None] - dense_column(Z, j)
            turned += difference * np.sin(2 * pi / period * np.remainder(difference, period))
        return {
            "length_scale": values * squared_distances(circles(X), circles(Z)) / width**3,
            "period": values * turned * (2 * pi / (width * period) ** 2),
        }

    @property
    def _circles(self) -> OnCircles:
        return OnCircles(float(self.period))

    def diagonal_gradient(self, X: Any) -> dict[str, np.ndarray]:
        return {name: np.zeros(count(X)) for name in self.parameter_names}  # k(x, x) = 1

    def contract(self, X: Any, Z: Any, W: np.ndarray, wanted: Wanted = None) -> dict[str, Any]:
        if wanted is None:
            wanted = frozenset(self.parameter_names)
        if not wanted:
            return {}
        width, period, d = float(self.length_scale), float(self.period), X.shape[1]
        H = self._values(X, Z)
        H *= W
        if X is Z:
            np.fill_diagonal(H, 0.0)  # the difference is 0, and its terms would leave rounding
        U = self._circles(X)
        V = U if X is Z else self._circles(Z)
        HV = product(H, V)
        found: dict[str, Any] = {}
        if "length_scale" in wanted:
            # |u - v|^2 = 2 d - 2 u.v
            found["length_scale"] = 2.0 * (d * H.sum() - np.vdot(U, HV)) / width**3
        if "period" in wanted:
            # (x - z) sin(a - b), where sin(a - b) = sin a cos b - cos a sin b
            x, z = (np.stack([dense_column(A, j) for j in range(d)], axis=1) for A in (X, Z))
            middle = x.mean(axis=0)  # the difference does not change, and fewer digits cancel
            x, z = x - middle, z - middle
            Hz = product(H, np.hstack([z, z]) * V)
            cosine, sine = U[:, :d], U[:, d:]
            total = np.vdot(sine, x * HV[:, :d] - Hz[:, :d])
            total -= np.vdot(cosine, x * HV[:, d:] - Hz[:, d:])
            found["period"] = total * (2 * pi / (width * period) ** 2)
        return found

    def contract_rows(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray:
        d, H, U = X.shape[1], W * self._values(X, Z), self._circles(X)
        HV = product(H, self._circles(Z))
        turned = U[:, d:] * HV[:, :d] - U[:, :d] * HV[:, d:]
        return turned * (-2 * pi / (float(self.period) * float(self.length_scale) ** 2))

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return from_series(self.coefficients(), float(self.period), n, d, rng)
