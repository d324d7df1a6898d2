"""The exponential of the dot product."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from mercer.gram.program import Builder

from .pair_statistics import dots
from .rbf import RBF
from .vector import GammaKernel


class ExponentialDot(GammaKernel):
    r"""The exponential of the dot product.

    .. math:: k(x, z) = \exp(\gamma \, x \cdot z)

    Positive definite for :math:`\gamma > 0`: a power series with the coefficients
    :math:`\gamma^n / n!`, hence with the monomials of all degrees as features. Normalised it is
    the Gaussian kernel of half the :math:`\gamma`.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float >= 0, default="scale"
        The factor of the dot product; a rule is resolved by `bind`.

    Notes
    -----
    Use it on rows of similar length, such as normalised counts, where products of any number of
    columns may matter: degree n weighs 1 / n!. Values grow exponentially with the lengths, so keep
    gamma times the squared length of a row below 10. Avoid it for rows of very different length,
    where the longest one dominates; the normalised kernel is RBF, which is the safer choice.

    Examples
    --------
    >>> from mercer.kernels import ExponentialDot
    >>> ExponentialDot(gamma=0.1)([[1.0, 2.0]], [[3.0, 4.0]]).round(6)
    array([[3.004166]])
    """

    gamma: float | str = "scale"

    grows_with = ("gamma",)

    def compile(self, builder: Builder) -> None:
        builder.leaf("dot")
        builder.affine(self._width(), 0.0)
        builder.exp()

    def series_coefficient(self, degree: int) -> float:
        """Return the coefficient gamma^n / n! of the power n = `degree` of the dot product."""
        return self._width() ** degree / factorial(degree)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        return {"gamma": dots(X, Z) * self._values(X, Z)}

    def _normalized_form(self) -> RBF:
        # g x.z - g |x|^2 / 2 - g |z|^2 / 2 = -(g / 2) |x - z|^2
        return RBF(0.5 * self._width())

    def _by_own_parameters(self, slopes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"gamma": 0.5 * slopes["gamma"]}
