"""Products of B-splines."""

from __future__ import annotations

import numpy as np

from mercer.gram.coordinate_statistics import Coordinates, bspline
from mercer.numerics import fourier_transforms
from mercer.numerics.random_frequencies import sine_quotients
from mercer.objects.parameters import integer, positive, show

from ..definiteness import PD
from ..regularisation import B_SPLINE
from ..stated_spectrum import DrawsFrequencies, stated_transform
from .compact import CompactKernel
from .vector import CoordinateKernel

_HIGHEST = 25  # beyond, the alternating sum of the closed form loses the digits of float64


class BSpline(DrawsFrequencies, CoordinateKernel, CompactKernel):
    r"""A B-spline of the difference, multiplied over the columns.

    .. math:: k(x, z) = \prod_i B_n\bigl((x_i - z_i) / s\bigr), \quad
              B_n = 1_{[-1/2, 1/2]} \otimes \cdots \otimes 1_{[-1/2, 1/2]}
              \; (n + 1 \text{ factors})

    :math:`B_n` is a piecewise polynomial of degree n, 0 outside of :math:`(n + 1) / 2`, so most
    entries of a Gram matrix vanish (`sparse_gram`). Its Fourier transform is the power n + 1 of
    :math:`\sin(w/2) / (w/2)`: positive definite for odd n, while an even n has negative parts and
    raises ValueError. The frequencies at the zeros of the sine are missing from the functions of a
    machine. With growing n the spline approaches a Gaussian of variance (n + 1) / 12.

    Parameters
    ----------
    order : odd int >= 1, default=3
        The order n, at most 25.
    scale : float > 0, default=1.0
        The distance s of the knots.

    Notes
    -----
    Use it for one to three columns on which the width of detail is known, such as signals and
    images: beyond (n + 1) / 2 knots the value is 0, and `sparse_gram` stores the rest only. Order 3
    gives functions with two continuous derivatives. Avoid it for many columns, where two objects
    rarely lie near each other in all of them and the matrix becomes diagonal, and where the
    frequencies that it cannot represent, the multiples of 2 pi / s, matter.

    Examples
    --------
    >>> from mercer.kernels import BSpline
    >>> BSpline(order=3)([[0.0]], [[0.0], [0.5], [1.0], [2.0]]).round(6)
    array([[0.666667, 0.479167, 0.166667, 0.      ]])
    """

    order: int = 3
    scale: float = 1.0

    spectral_density = stated_transform(fourier_transforms.b_spline, order="order", scale="scale")
    regularisation = B_SPLINE
    definiteness = PD  # an even power of sin(w/2) / (w/2), which vanishes at points only
    translation_invariant = True  # a function of x - z

    def _check(self) -> None:
        order = integer(self.order, "order", minimum=0)
        if order % 2 == 0:
            raise ValueError(
                "a B-spline of even order is not positive definite: its Fourier transform, an odd "
                f"power of sin(w/2) / (w/2), has negative values; got order {show(self.order)}. "
                "Use an odd order."
            )
        if order > _HIGHEST:
            raise ValueError(
                f"order must be at most {_HIGHEST}; got {show(self.order)}. Such a spline is a "
                "Gaussian for all purposes: use RBF.from_sigma(scale * sqrt((order + 1) / 12))."
            )
        positive(self.scale, "scale")

    @property
    def support_radius(self) -> float:
        """The difference in any column from which on the kernel is 0."""
        return 0.5 * (self.order + 1) * float(self.scale)

    def coordinate_function(self) -> Coordinates:
        """Return the spline."""
        return bspline(int(self.order), float(self.scale))

    def _slopes(self, x: np.ndarray, z: np.ndarray) -> dict[str, np.ndarray]:
        scale = float(self.scale)
        t = (x - z) / scale
        return {"scale": -t / scale * bspline_slope(int(self.order), t)}

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return sine_quotients(int(self.order) + 1, n, d, rng) / float(self.scale)


def bspline_slope(order: int, t: np.ndarray) -> np.ndarray:
    """Return the derivative of B_n: B_(n-1) of t + 1/2 minus that of t - 1/2."""
    from scipy.interpolate import BSpline as Splines  # slow to import, and only derivatives need it

    knots = np.arange(order + 1) - order / 2
    lower = Splines.basis_element(knots, extrapolate=False)
    return np.nan_to_num(lower(t + 0.5)) - np.nan_to_num(lower(t - 0.5))
