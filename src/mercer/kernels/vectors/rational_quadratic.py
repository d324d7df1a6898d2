"""The rational quadratic kernel."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..definiteness import PD, Definiteness
from ..drawing import mixed_normals
from ..parameters import positive
from ..spectrum import DrawsFrequencies, stated_operator, stated_transform
from .radial import RadialKernel
from .statistics import squared_distances

if TYPE_CHECKING:
    from mercer.gram.program import Builder


class RationalQuadratic(DrawsFrequencies, RadialKernel):
    r"""A power of a rational function of the squared distance.

    .. math:: k(x, z) = \left(1 + \frac{\|x - z\|^2}{2 \alpha l^2}\right)^{-\alpha}

    Positive definite: a mixture of Gaussian kernels whose inverse squared widths follow a gamma
    distribution. It tends to the Gaussian of width l as :math:`\alpha` grows. With
    :math:`\alpha = (d + 1) / 2` its spectrum in d dimensions falls off exponentially.

    Parameters
    ----------
    alpha : float > 0, default=1.0
        The exponent; small values mix widths of very different size.
    length_scale : float > 0, default=1.0
        The width l.

    Notes
    -----
    Use it where a target varies on several length scales at once, a slow trend with faster detail:
    one kernel stands for Gaussians of all widths. Try `alpha` from 0.1 to 10; above, it is RBF. It
    falls off slowly, so far objects stay similar and no entry of the matrix can be dropped. Not
    where the scales have a meaning of their own: a sum of two RBF can be read.

    Examples
    --------
    >>> from mercer.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=1.0, length_scale=2.0)([[0.0]], [[4.0]]).round(6)
    array([[0.333333]])
    """

    spectral_density = stated_transform(
        "rational_quadratic", alpha="alpha", length_scale="length_scale"
    )
    regularisation = stated_operator("RATIONAL_QUADRATIC")

    def __init__(self, alpha: float = 1.0, length_scale: float = 1.0) -> None:
        self.alpha = alpha
        self.length_scale = length_scale
        self._check()

    def _check(self) -> None:
        positive(self.alpha, "alpha")
        positive(self.length_scale, "length_scale")

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite: a mixture of Gaussians."""
        return PD

    def compile(self, builder: Builder) -> None:
        """Push (1 + distance^2 / (2 alpha l^2)) ** -alpha; see :meth:`Kernel.compile`."""
        builder.leaf("sqdist")
        builder.affine(0.5 / (float(self.alpha) * float(self.length_scale) ** 2), 1.0)
        if self.alpha == 1:
            builder.reciprocal()
        else:
            builder.power(-float(self.alpha))

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        alpha, scale = float(self.alpha), float(self.length_scale)
        excess = squared_distances(X, Z) * (0.5 / (alpha * scale**2))
        values, ratio = (1.0 + excess) ** -alpha, excess / (1.0 + excess)
        return {
            "alpha": values * (ratio - np.log1p(excess)),
            "length_scale": values * ratio * (2.0 * alpha / scale),
        }

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        alpha = float(self.alpha)
        return mixed_normals(alpha, sqrt(2.0 * alpha) * float(self.length_scale), n, d, rng)
