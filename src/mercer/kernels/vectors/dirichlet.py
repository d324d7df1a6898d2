"""The Dirichlet kernel."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from mercer.gram.coordinate_statistics import Coordinates, cosines
from mercer.numerics.random_frequencies import from_series
from mercer.objects.parameters import integer_from, parameter

from ..definiteness import PSD
from ..regularisation import DIRICHLET
from ..stated_spectrum import DrawsFrequencies, stated_series
from .fourier_series import FourierSeries
from .vector import CoordinateKernel


class Dirichlet(DrawsFrequencies, CoordinateKernel):
    r"""The sum of all waves up to an order, multiplied over the columns.

    .. math:: k(x, z) = \prod_i \Bigl(1 + 2 \sum_{j=1}^n \cos j (x_i - z_i)\Bigr)
              = \prod_i \frac{\sin((2 n + 1) (x_i - z_i) / 2)}{\sin((x_i - z_i) / 2)}

    The quotient is 2 n + 1 where both sines vanish. (Printed elsewhere as
    :math:`2 \sum_{j=0}^n \cos j u`, which is larger by 1 and not equal to the quotient.) Positive
    semidefinite, with the period :math:`2 \pi` in every column. It keeps 2 n + 1 functions of a
    column, weights all of them equally and removes every higher frequency, so its machines
    oscillate between the data; PeriodicGaussian damps the waves instead.

    Parameters
    ----------
    order : int >= 0, default=3
        The highest frequency n.

    Notes
    -----
    Use it for periodic signals that are known to hold no frequency above n: it interpolates by
    trigonometric polynomials, exactly. The columns are angles in radians, and 2 n + 1 features per
    column make a linear machine possible. Avoid it for noisy data with n near half the number of
    objects: all waves are equally cheap and functions swing between the data; take
    PeriodicGaussian.

    Examples
    --------
    >>> from mercer.kernels import Dirichlet
    >>> Dirichlet(order=10)([[0.0]], [[0.0], [0.3]]).round(6)
    array([[21.      , -0.056259]])
    """

    order: int = parameter(integer_from(0), default=3)

    fourier_coefficients = stated_series(lambda kernel: kernel._coefficients())
    regularisation = DIRICHLET
    definiteness = PSD  # of rank (2 n + 1)^d
    translation_invariant = True  # a function of x - z

    @property
    def period(self) -> float:
        """The period, which is that of the sine."""
        return 2 * pi

    def _coefficients(self) -> list[float]:
        return [1.0] + [2.0] * int(self.order)

    def coordinate_function(self) -> Coordinates:
        """Return the sum of waves."""
        return cosines(self._coefficients(), self.period)

    def feature_map(self, X: Any) -> np.ndarray:
        """Return the waves of all orders; see :meth:`FourierSeries.feature_map`."""
        return FourierSeries(self._coefficients(), self.period).feature_map(X)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return from_series(self._coefficients(), self.period, n, d, rng)
