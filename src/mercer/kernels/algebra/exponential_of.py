"""The exponential of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.program import Builder

from ..base import Kernel
from ..definiteness import Definiteness, of_exponential
from .operands import nested, require_kernel
from .over_feature_space import OverFeatureSpace


class Exp(Kernel):
    r"""The exponential of a kernel, made by :func:`exp`.

    .. math:: k'(x, z) = \exp(k(x, z))

    Positive semidefinite if the kernel is, as a power series with positive coefficients, and
    also if the kernel is conditionally positive definite (Schoenberg).

    Parameters
    ----------
    kernel : Kernel
        The kernel k.

    Notes
    -----
    Use it to make a kernel of infinitely many features out of one of few, and to make a
    conditionally positive definite kernel positive semidefinite: ``exp(-distance)`` by Schoenberg's
    theorem. Scale k so that its values stay below 10 or so. Avoid it on unbounded kernels without
    normalisation: ``normalize(exp(k))`` is OverFeatureSpace with gamma = 1/2, which does not
    overflow.

    Examples
    --------
    >>> from mercer.kernels import Linear, exp
    >>> exp(0.1 * Linear())([[1.0, 2.0]], [[3.0, 4.0]]).round(6)
    array([[3.004166]])
    """

    kernel: Kernel

    def _check(self) -> None:
        require_kernel(self.kernel, "kernel", "Exp")

    @property
    def definiteness(self) -> Definiteness:
        """That of the kernel, improved to positive semidefinite from the conditional case."""
        return of_exponential(self.kernel.definiteness)

    def compile(self, builder: Builder) -> None:
        self.kernel.compile(builder)
        builder.exp()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        inner = self.kernel._gradient(X, Z)
        return nested("kernel", inner, self._values(X, Z)) if inner else {}

    def _normalized_form(self) -> Kernel:
        # k(x, z) - k(x, x) / 2 - k(z, z) / 2 is minus half a squared distance.
        return OverFeatureSpace(self.kernel, 0.5)

    def _by_own_parameters(self, slopes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: slope for name, slope in slopes.items() if name != "gamma"}

    def __repr__(self) -> str:
        return f"exp({self.kernel!r})"


def exp(kernel: Kernel) -> Exp:
    """Return the exponential of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.

    Returns
    -------
    Exp
        The kernel exp(k(x, z)).

    Examples
    --------
    >>> from mercer.kernels import Linear, exp
    >>> exp(Linear())([[1.0]], [[2.0]]).round(4)
    array([[7.3891]])
    """
    return Exp(kernel)
