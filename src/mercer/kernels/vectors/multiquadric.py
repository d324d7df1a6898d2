"""Multiquadrics: the root of a shifted squared distance, and its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.numerics import fourier_transforms
from mercer.numerics.random_frequencies import mixed_normals
from mercer.objects.parameters import parameter, positive_with_square, with_square

from ..definiteness import CPD, PD
from ..regularisation import INVERSE_MULTIQUADRIC, MULTIQUADRIC, NEGATIVE_DISTANCE, Regularisation
from ..stated_spectrum import DrawsFrequencies, stated_transform
from .pair_statistics import squared_distances
from .vector import RadialKernel


class Multiquadric(RadialKernel):
    r"""The negative root of a shifted squared distance.

    .. math:: k(x, z) = -\sqrt{\|x - z\|^2 + c^2}

    Conditionally positive definite: a Gram matrix of n distinct vectors has exactly one negative
    eigenvalue, and is positive definite on the coefficients of sum zero. Machines with a bias
    take it; others take ``Projected(Multiquadric())``.

    Parameters
    ----------
    c : float >= 0, default=1.0
        The shift; with 0 the negative Euclidean distance.

    Notes
    -----
    Use it to interpolate scattered measurements of a surface, with a machine that has a bias. Take
    c near the mean distance of neighbours; a larger one gives smoother functions and a matrix
    nearer to singular. Values grow with the distance, so scale the columns and adapt C. Avoid it
    with machines without a bias, and to extrapolate: far from the data functions level off.

    Examples
    --------
    >>> from mercer.kernels import Multiquadric
    >>> Multiquadric(c=3.0)([[0.0]], [[4.0]])
    array([[-5.]])
    """

    c: float = parameter(with_square, default=1.0)

    definiteness = CPD  # -sqrt is completely monotonic of order 1

    @property
    def regularisation(self) -> Regularisation:
        """The regularisation operator; see :func:`mercer.inspection.regularisation`."""
        return MULTIQUADRIC if self.c > 0 else NEGATIVE_DISTANCE

    def compile(self, builder: Builder) -> None:
        builder.leaf("sqdist")
        builder.affine(1.0, float(self.c) ** 2)
        builder.sqrt()
        builder.affine(-1.0, 0.0)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        roots = np.sqrt(squared_distances(X, Z) + float(self.c) ** 2)
        slope = np.divide(-float(self.c), roots, out=np.zeros_like(roots), where=roots > 0)
        return {"c": slope}


class InverseMultiquadric(DrawsFrequencies, RadialKernel):
    r"""The inverse root of a shifted squared distance.

    .. math:: k(x, z) = \frac{1}{\sqrt{\|x - z\|^2 + c^2}}

    Positive definite, with slower decay than any Gaussian. Its Fourier transform in d dimensions
    (unitary convention, :math:`\nu = (d - 1) / 2`) is
    :math:`\sqrt{2 / \pi} \, (c / w)^{\nu} K_\nu(c w)`, which falls off exponentially.

    Parameters
    ----------
    c : float > 0, default=1.0
        The shift; k(x, x) = 1 / c.

    Notes
    -----
    Use it to interpolate scattered measurements, and where far objects should keep some influence:
    it decays as 1 over the distance. Take c between the distance of neighbours and the median
    distance; k(x, x) = 1 / c, so scale C with c. Avoid it with a c much larger than the data, which
    makes the matrix nearly singular, and for local structure, since no pair has a value near 0.

    Examples
    --------
    >>> from mercer.kernels import InverseMultiquadric
    >>> InverseMultiquadric(c=3.0)([[0.0]], [[4.0]])
    array([[0.2]])
    """

    c: float = parameter(positive_with_square, default=1.0)

    spectral_density = stated_transform(fourier_transforms.inverse_multiquadric, c="c")
    regularisation = INVERSE_MULTIQUADRIC
    definiteness = PD  # (t + c^2)^(-1/2) is completely monotonic

    def compile(self, builder: Builder) -> None:
        builder.leaf("sqdist")
        builder.affine(1.0, float(self.c) ** 2)
        builder.sqrt()
        builder.reciprocal()

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        return {"c": -float(self.c) * (squared_distances(X, Z) + float(self.c) ** 2) ** -1.5}

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return mixed_normals(0.5, float(self.c), n, d, rng)
