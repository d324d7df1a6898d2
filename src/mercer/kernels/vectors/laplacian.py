"""The Laplacian kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..definiteness import PD, PSD, Definiteness
from .statistics import l1_distances
from .vector import GammaKernel

if TYPE_CHECKING:
    from mercer.gram.program import Builder


class Laplacian(GammaKernel):
    r"""The exponential of the L1 distance.

    .. math:: k(x, z) = \exp(-\gamma \, \|x - z\|_1)

    Positive definite for :math:`\gamma > 0`. It falls off slower than the Gaussian and has a
    kink at x = z, so outliers matter less and functions are rougher.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float >= 0, default="scale"
        The inverse width; a rule is resolved by `bind`.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> Laplacian(gamma=1.0)([[0.0, 0.0]], [[1.0, -1.0]]).round(6)
    array([[0.135335]])
    """

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma
        self._check()

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite; with gamma = 0 the constant 1, which is semidefinite."""
        return PD if self._has_positive_gamma() else PSD

    def compile(self, builder: Builder) -> None:
        """Push exp(-gamma * L1 distance); see :meth:`Kernel.compile`."""
        builder.leaf("l1")
        builder.affine(-self._width(), 0.0)
        builder.exp()

    @property
    def translation_invariant(self) -> bool:
        """Whether k(x + a, z + a) = k(x, z): yes, a function of the distance."""
        return True

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        return {"gamma": -l1_distances(X, Z) * self._values(X, Z)}
