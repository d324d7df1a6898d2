"""The rational quadratic kernel."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from mercer.gram.program import Builder
from mercer.numerics import fourier_transforms
from mercer.numerics.random_frequencies import mixed_normals
from mercer.objects.parameters import parameter, positive

from ..definiteness import PD
from ..regularisation import RATIONAL_QUADRATIC
from ..stated_spectrum import stated_transform
from .column_widths import ColumnWidths, check_width
from .vector import RadialKernel

# Up to this exponent a power loses two digits at most, since it multiplies the rounding of 1 + t.
_LARGE = 64.0
_TERMS = 10  # of the series of the logarithm, enough for t where the power is not negligible
_SMALL_EXCESS = [0.0, 0.0, *((-1) ** (k + 1) * (k - 1) / k for k in range(2, 11))]


class RationalQuadratic(ColumnWidths, RadialKernel):
    r"""A power of a rational function of the squared distance.

    .. math:: k(x, z) = \left(1 + \frac{\|x - z\|^2}{2 \alpha l^2}\right)^{-\alpha}

    Positive definite: a mixture of Gaussian kernels whose inverse squared widths follow a gamma
    distribution. It tends to the Gaussian of width l as :math:`\alpha` grows. With
    :math:`\alpha = (d + 1) / 2` its spectrum in d dimensions falls off exponentially.

    Parameters
    ----------
    alpha : float > 0, default=1.0
        The exponent; small values mix widths of very different size.
    length_scale : float > 0 or sequence of float > 0, default=1.0
        The width l. A sequence has one for each column, by which the columns are divided.

    Notes
    -----
    Use it where a target varies on several length scales at once, a slow trend with faster detail:
    one kernel combines Gaussians of all widths. Try `alpha` from 0.1 to 10; above, it is RBF. It
    falls off slowly, so far objects stay similar and no entry of the matrix can be dropped. Avoid
    it where the scales have a meaning: a sum of two RBF is easier to interpret.

    Examples
    --------
    >>> from mercer.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=1.0, length_scale=2.0)([[0.0]], [[4.0]]).round(6)
    array([[0.333333]])
    """

    alpha: float = parameter(positive, default=1.0)
    length_scale: float | Sequence[float] = parameter(check_width, default=1.0)

    spectral_density = stated_transform(
        fourier_transforms.rational_quadratic, alpha="alpha", length_scale="length_scale"
    )
    regularisation = RATIONAL_QUADRATIC
    definiteness = PD  # a mixture of Gaussians

    _width_name = "length_scale"
    _width_power = -2.0

    def compile(self, builder: Builder) -> None:
        alpha = float(self.alpha)
        with self._on_scaled_columns(builder):
            builder.leaf("sqdist")
        rate = 0.5 / (alpha * self._common_width**2)
        if alpha > _LARGE:
            _push_large_power(builder, rate, alpha)
            return
        builder.affine(rate, 1.0)
        if alpha == 1:
            builder.reciprocal()
        else:
            builder.power(-alpha)

    def _other_slopes(self, squares: np.ndarray) -> dict[str, np.ndarray]:
        alpha = float(self.alpha)
        excess = squares * (0.5 / alpha)
        logarithm = np.log1p(excess)
        slope = excess / (1.0 + excess) - logarithm
        # The terms cancel where the excess is small: -e^2/2 + 2 e^3/3 - 3 e^4/4 + ...
        small = excess < 0.01
        slope[small] = np.polynomial.polynomial.polyval(excess[small], _SMALL_EXCESS)
        return {"alpha": np.exp(-alpha * logarithm) * slope}

    def _slope(self, squares: np.ndarray) -> np.ndarray:
        alpha = float(self.alpha)
        return -0.5 * np.exp(-(alpha + 1.0) * np.log1p(squares * (0.5 / alpha)))

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        alpha = float(self.alpha)
        return mixed_normals(alpha, sqrt(2.0 * alpha) * self._common_width, n, d, rng)


def _push_large_power(builder: Builder, rate: float, alpha: float) -> None:
    """Replace the top s by (1 + rate s) ** -alpha, without rounding 1 + rate s.

    With t = rate s and y = t / (2 + t), log(1 + t) = 2 atanh(y) = 2 y (1 + y^2/3 + y^4/5 + ...).
    """
    builder.affine(rate, 0.0)
    builder.dup()
    builder.affine(1.0, 2.0)
    builder.reciprocal()
    builder.mul()
    builder.dup()
    builder.powi(2)
    builder.polynomial([1.0 / (2 * k + 1) for k in range(_TERMS)])
    builder.mul()
    builder.affine(-2.0 * alpha, 0.0)
    builder.exp()
