"""Kernels of the Euclidean distance of two vectors."""

from __future__ import annotations

from .vector import VectorKernel


class RadialKernel(VectorKernel):
    """Base class of the kernels k(x, z) = h(||x - z||^2).

    They are invariant under translations and rotations of the data. A subclass supplies
    `compile`: the profile h over the squared distance.

    Examples
    --------
    >>> from mercer.kernels import InverseMultiquadric, Matern, RadialKernel
    >>> issubclass(Matern, RadialKernel), issubclass(InverseMultiquadric, RadialKernel)
    (True, True)
    """

    translation_invariant = True  # a function of the distance
