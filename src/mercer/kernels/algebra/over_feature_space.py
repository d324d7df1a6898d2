"""The Gaussian kernel over the feature space of another kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import real

from ..base import Kernel
from ..definiteness import CPD, PD, PSD, UNKNOWN, Definiteness
from .operands import diagonal_gradients, nested, require_kernel


class OverFeatureSpace(Kernel):
    r"""The Gaussian of the distance that another kernel measures.

    .. math:: k'(x, z) = \exp(-\gamma \, [k(x, x) - 2 k(x, z) + k(z, z)])

    The bracket is the squared distance of the feature vectors of k; with the linear kernel this
    is :class:`RBF`. Positive semidefinite if k is, or if k is conditionally positive definite
    (Schoenberg); positive definite if k is, since distinct objects then have distinct features.

    Parameters
    ----------
    kernel : Kernel
        The kernel k, on any objects.
    gamma : float >= 0, default=1.0
        The inverse squared width, in units of the feature space.

    Notes
    -----
    Use it to get a Gaussian on objects that are not vectors: on strings, sets, documents or graphs,
    through a kernel on them. Normalise that kernel first, so that squared distances lie between 0
    and 2 if its values are not negative, and try gamma from 0.1 to 10. It costs an exponential.
    Avoid it on top of RBF, which has a width already, and with a gamma so large that all values
    between different objects vanish.

    Examples
    --------
    >>> from mercer.kernels import OverFeatureSpace, Polynomial
    >>> k = OverFeatureSpace(Polynomial(degree=2, gamma=1.0), gamma=0.01)
    >>> k([[1.0, 2.0]], [[3.0, -1.0]]).round(6)
    array([[0.292293]])
    """

    kernel: Kernel
    gamma: float = 1.0

    def _check(self) -> None:
        require_kernel(self.kernel, "kernel", "OverFeatureSpace")
        real(self.gamma, "gamma", minimum=0)
        if self.kernel.pairwise:
            raise ValueError(
                "a precomputed matrix does not hold k(x, x) of new objects; compute the distances "
                "first and pass exp(-gamma * D) as the matrix."
            )

    @property
    def definiteness(self) -> Definiteness:
        """That of the kernel, improved to positive semidefinite from the conditional case."""
        claim = self.kernel.definiteness
        if self.gamma == 0 or claim in (PSD, CPD):
            return PSD
        return PD if claim is PD else UNKNOWN

    def compile(self, builder: Builder) -> None:
        self.kernel.compile(builder)
        builder.affine(-2.0, 0.0)
        builder.add_diagonal(self.kernel)
        builder.at_least(0.0)  # less is rounding
        builder.affine(-float(self.gamma), 0.0)
        builder.exp()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        gamma, inner = float(self.gamma), self.kernel._gradient(X, Z)
        squares = (
            self.kernel.diag(X)[:, None] - 2.0 * self.kernel._values(X, Z) + self.kernel.diag(Z)
        )
        squares = np.maximum(squares, 0.0)
        values = np.exp(-gamma * squares)
        gradient = {"gamma": -squares * values}
        if inner:
            own, other = diagonal_gradients(self.kernel, X, Z, inner)
            slopes = {
                name: own[name][..., :, None] - 2.0 * matrix + other[name][..., None, :]
                for name, matrix in inner.items()
            }
            gradient |= nested("kernel", slopes, -gamma * values)
        return gradient
