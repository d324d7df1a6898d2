"""The exponential kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.numerics import fourier_transforms

from ..regularisation import EXPONENTIAL
from ..stated_spectrum import stated_transform
from .column_widths import ColumnWidths
from .pair_statistics import squared_distances
from .vector import GammaKernel


class Exponential(ColumnWidths, GammaKernel):
    r"""The exponential of the Euclidean distance.

    .. math:: k(x, z) = \exp(-\gamma \, \|x - z\|_2)

    Positive definite for :math:`\gamma > 0`. Its Fourier transform in d dimensions (unitary
    convention) is :math:`2^{d/2} \pi^{-1/2} \, \Gamma(\tfrac{d+1}{2}) \, \gamma \,
    (\gamma^2 + \omega^2)^{-(d+1)/2}` (Smola, "Learning with Kernels", 1998, equation 3.51, prints
    :math:`\Gamma(\tfrac{d}{2} + 1)`), so high frequencies are damped by a power only: functions
    are continuous and rough. On the real line it is the Green's function of the first-order
    Sobolev norm, up to the factor 1/2; in more dimensions that norm has no bounded kernel. The
    Matern kernel with nu = 1/2 is the same function.

    Parameters
    ----------
    gamma : {"scale", "auto"}, float >= 0 or sequence of float > 0, default="scale"
        The inverse width; a rule is resolved by `bind`. A sequence has one for each column, by
        which the columns are multiplied.

    Notes
    -----
    Use it for rough but continuous targets without preferred axes, such as heights or ore grades on
    a map. Take gamma near 1 over the distance beyond which target values are no longer correlated.
    It is the roughest Matern kernel in common use; a value costs a root more than one of RBF. Avoid
    it for smooth targets, which it follows with a kink at every support vector.

    Examples
    --------
    >>> from mercer.kernels import Exponential
    >>> Exponential(gamma=1.0)([[0.0, 0.0]], [[3.0, 4.0]]).round(6)
    array([[0.006738]])
    """

    gamma: float | str | Sequence[float] = "scale"

    spectral_density = stated_transform(fourier_transforms.exponential, gamma="gamma")
    regularisation = EXPONENTIAL
    translation_invariant = True  # a function of the distance

    _width_name = "gamma"
    _width_power = 2.0

    def compile(self, builder: Builder) -> None:
        with self._on_scaled_columns(builder):
            builder.leaf("sqdist")
        builder.sqrt()
        builder.affine(-self._common_width, 0.0)
        builder.exp()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        widths = self._widths
        if widths is not None:
            return {"gamma": self._by_widths(X, Z, widths)}
        return {"gamma": -np.sqrt(squared_distances(X, Z)) * self._values(X, Z)}

    def _slope(self, squares: np.ndarray) -> np.ndarray:
        u = np.sqrt(squares)
        return np.divide(-0.5 * np.exp(-u), u, out=np.zeros_like(u), where=u > 0)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # Cauchy in d dimensions.
        stretch = 1.0 / np.abs(rng.normal(size=(n, 1)))
        return stretch * rng.normal(scale=self._width(), size=(n, d))
