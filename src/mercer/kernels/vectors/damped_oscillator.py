"""The kernel of the damped harmonic oscillator."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.numerics import fourier_transforms
from mercer.numerics.random_frequencies import mixed_normals
from mercer.objects.parameters import parameter, positive_with_square

from ..definiteness import PD
from ..regularisation import DAMPED_OSCILLATOR
from ..stated_spectrum import DrawsFrequencies, stated_transform
from .pair_statistics import squared_distances
from .vector import RadialKernel


class DampedOscillator(DrawsFrequencies, RadialKernel):
    r"""The damped harmonic oscillator as a function of the distance.

    .. math:: k(x, z) = \frac{1}{\gamma^2 + \omega^2 \|x - z\|^2}

    Positive definite in every dimension: 1 / (a + t) is completely monotonic in t. With
    :math:`\omega = 1` and :math:`\gamma = a` its Fourier transform in d dimensions (unitary
    convention, :math:`\nu = d/2 - 1`) is :math:`(a / w)^{\nu} K_\nu(a w)`, which falls off
    exponentially: functions are smooth.

    Parameters
    ----------
    gamma : float > 0, default=1.0
        The damping; k(x, x) is its inverse square, and gamma / omega the width.
    omega : float > 0, default=1.0
        The factor of the distance.

    Notes
    -----
    Use it as a kernel with heavy tails whose filter falls off exponentially, in the parameters of
    an oscillator. It is RationalQuadratic with alpha = 1 and length_scale = gamma / (omega
    sqrt(2)), divided by gamma^2, so scale C with gamma^2, or ``normalize``. Avoid it as a first
    choice: RationalQuadratic is the same function with a width.

    Examples
    --------
    >>> from mercer.kernels import DampedOscillator
    >>> DampedOscillator(gamma=2.0)([[0.0]], [[1.0]])
    array([[0.2]])
    """

    gamma: float = parameter(positive_with_square, default=1.0)
    omega: float = parameter(positive_with_square, default=1.0)

    spectral_density = stated_transform(
        fourier_transforms.damped_oscillator, gamma="gamma", factor="omega"
    )
    regularisation = DAMPED_OSCILLATOR
    definiteness = PD  # a mixture of Gaussians

    def compile(self, builder: Builder) -> None:
        builder.leaf("sqdist")
        builder.affine(float(self.omega) ** 2, float(self.gamma) ** 2)
        builder.reciprocal()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        squares = squared_distances(X, Z)
        gamma, omega = float(self.gamma), float(self.omega)
        values = 1.0 / (gamma**2 + omega**2 * squares)
        return {"gamma": -2.0 * gamma * values**2, "omega": -2.0 * omega * squares * values**2}

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        width = float(self.gamma) / float(self.omega)
        return mixed_normals(1.0, width, n, d, rng)
