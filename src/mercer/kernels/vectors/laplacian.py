"""The Laplacian kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..definiteness import PD, PSD, Definiteness
from .vector import GammaKernel

if TYPE_CHECKING:
    from mercer.gram.program import Builder
    from mercer.inspection import Regularisation


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

    def spectral_density(self, omega: Any, dimension: int | None = None) -> np.ndarray:
        """Return the Fourier transform, prod_i sqrt(2/pi) gamma / (gamma^2 + omega_i^2).

        Parameters
        ----------
        omega : float or array of shape (n,) or (n, d)
            Frequencies; numbers stand for (omega, 0, ..., 0).
        dimension : int, optional
            The dimension d, where `omega` holds numbers; 1 by default.

        Returns
        -------
        ndarray of shape (n,)
            The transform, in the convention of :func:`mercer.inspection.fourier_transform`.
        """
        from mercer.inspection.densities import laplacian

        return laplacian(omega, dimension, gamma=self._positive_width("a Fourier transform"))

    @property
    def regularisation(self) -> Regularisation:
        """The regularisation operator; see :func:`mercer.inspection.regularisation`."""
        from mercer.inspection.wording import LAPLACIAN

        return LAPLACIAN
