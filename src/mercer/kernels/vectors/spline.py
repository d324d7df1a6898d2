"""The spline kernel with infinitely many knots."""

from __future__ import annotations

from mercer.gram.coordinate_statistics import Coordinates

from ..definiteness import PD
from ..regularisation import SPLINE
from .histogram import HistogramKernel
from .vector import CoordinateKernel


class Spline(CoordinateKernel, HistogramKernel):
    r"""The kernel of linear splines with infinitely many knots, multiplied over the columns.

    .. math:: k(x, z) = \prod_i \Bigl(1 + x_i z_i + x_i z_i m_i - \frac{x_i + z_i}{2} m_i^2
              + \frac{m_i^3}{3}\Bigr), \quad m_i = \min(x_i, z_i), \; x, z \ge 0

    In one dimension it is the inner product of the features 1, x and :math:`(x - s)_+` for all
    knots s > 0, the last as :math:`\int_0^\infty (x - s)_+ (z - s)_+ \, ds`, so a machine fits a
    cubic spline with knots at the data. Positive definite.

    Notes
    -----
    Use it for regression on one to three non-negative columns, without a width to choose: functions
    are cubic between the data and straight beyond the largest. Scale the columns to [0, 1], since
    values grow as the third power of the entries. Negative entries raise ValueError (shift them).
    Avoid it for many columns, where the product is stiff: take ``ANOVA(1, Spline())``, a sum of
    curves.

    Examples
    --------
    >>> from mercer.kernels import Spline
    >>> Spline()([[1.0]], [[2.0]]).round(6)
    array([[3.833333]])
    """

    regularisation = SPLINE
    definiteness = PD  # the functions 1, x and (x - s)_+ tell all x >= 0 apart

    def coordinate_function(self) -> Coordinates:
        """Return the kernel on single numbers."""
        return Coordinates("spline")
