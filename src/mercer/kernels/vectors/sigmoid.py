"""The sigmoid kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import parameter, real

from ..definiteness import CPD, INDEFINITE, PSD, Definiteness
from .pair_statistics import dots
from .vector import GammaKernel


class Sigmoid(GammaKernel):
    r"""The hyperbolic tangent of an affine function of the dot product.

    .. math:: k(x, z) = \tanh(\gamma \, x \cdot z + c)

    Indefinite: for every :math:`\gamma > 0` some of its Gram matrices have negative eigenvalues,
    so a machine that uses it finds a stationary point and no proof of optimality.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float >= 0, default="scale"
        The factor of the dot product; a rule is resolved by `bind`.
    coef0 : float, default=0.0
        The constant c.

    Notes
    -----
    Use it to reproduce machines that others trained with it. Avoid it for anything new: it is
    indefinite, so optimality cannot be proved and other solvers may find another solution, and with
    a small gamma and a negative constant it acts like a Gaussian (H.-T. Lin and C.-J. Lin, 2003).
    Take RBF.

    Examples
    --------
    >>> from mercer.kernels import Sigmoid
    >>> Sigmoid(gamma=1.0)([[0.5]], [[1.0]]).round(6)
    array([[0.462117]])
    """

    gamma: float | str = "scale"
    coef0: float = parameter(real, default=0.0)

    @property
    def definiteness(self) -> Definiteness:
        """Indefinite: the power series of tanh has negative coefficients.

        For gamma = 0 it is the constant tanh(coef0).
        """
        if self.gamma == 0:
            return PSD if self.coef0 >= 0 else CPD
        return INDEFINITE

    def compile(self, builder: Builder) -> None:
        builder.leaf("dot")
        builder.affine(self._width(), float(self.coef0))
        builder.tanh()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        slope = 1.0 - self._values(X, Z) ** 2
        return {"gamma": dots(X, Z) * slope, "coef0": slope}
