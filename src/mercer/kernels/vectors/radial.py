"""Kernels of the Euclidean distance of two vectors."""

from __future__ import annotations

from .vector import VectorKernel


class RadialKernel(VectorKernel):
    """Base class of the kernels k(x, z) = h(||x - z||^2).

    They are invariant under translations and rotations of the data. A subclass supplies
    `compile`: the profile h over the squared distance.
    """

    @property
    def translation_invariant(self) -> bool:
        """Whether k(x + a, z + a) = k(x, z): yes, a function of the distance."""
        return True
