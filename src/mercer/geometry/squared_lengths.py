"""Squared lengths: which kernels have them, and what a negative one proves.

Lengths and angles need a positive semidefinite kernel. Distances need less: they are quadratic
forms with coefficients that sum to zero, which a conditionally positive definite kernel does not
make negative; one of order 2 does. A square that rounding cannot have made negative proves that
the kernel is neither, and there is no feature space to speak of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram import compile_kernel
from mercer.gram.symmetry_check import ASYMMETRY
from mercer.kernels.base import Kernel
from mercer.objects.arrays import Array

# Relative to its terms, what native values, good to a few units of 2^-53, may miss a square by.
_NATIVE_ERROR = 1e-8


def require_lengths(kernel: Kernel, what: str) -> None:
    """Reject kernels of which only a condition on the coefficients makes a square of a length."""
    if kernel.definiteness.order:
        raise ValueError(
            f"{kernel!r} is {kernel.definiteness}, so k(x, x) is no squared length in feature "
            f"space and there is no {what}; use Projected(kernel), which is positive semidefinite."
        )


def require_distances(kernel: Kernel) -> None:
    """Reject kernels that have no distances in feature space by what is known of them."""
    if (kernel.definiteness.order or 0) > 1:
        raise ValueError(
            f"{kernel!r} is {kernel.definiteness}, so k(x, x) - 2 k(x, z) + k(z, z) is no squared "
            "distance in feature space; use Projected(kernel), which is positive semidefinite."
        )


def rounding_of(kernel: Kernel) -> float:
    """Return the relative error of values: that of float32 where others computed them."""
    leaves = compile_kernel(kernel).leaves
    return ASYMMETRY if any(leaf.kind in ("matrix", "python") for leaf in leaves) else _NATIVE_ERROR


def squared_distances(own: Any, products: Any, other: Any, kernel: Kernel, what: str) -> Array:
    """Return |x|^2 - 2 <x, z> + |z|^2, refused where it is clearly negative; see `nonnegative`."""
    size = np.abs(own) + 2.0 * np.abs(products) + np.abs(other)
    return nonnegative(own - 2.0 * products + other, size, kernel, what)


def nonnegative(squares: Any, size: Any, kernel: Kernel, what: str, rounding: float = 0.0) -> Array:
    """Return squares with rounding below 0 taken as 0; refuse those that are clearly negative.

    `what`: what the squares are, for the error message; ``{0}`` is the position, ``{1}`` the
    second. `rounding`: a relative error beyond that of the values, where more is computed from
    them.
    """
    squares = np.asarray(squares, dtype=np.float64)
    low = squares < 0.0
    if low.any():
        excess = np.where(low, -squares, 0.0) - max(rounding, rounding_of(kernel)) * np.abs(size)
        worst = np.unravel_index(int(excess.argmax()), squares.shape)
        if excess[worst] > 0.0:
            where = what.format(*(int(i) for i in worst))
            raise ValueError(
                f"{where} is {squares[worst]:.6g}: {kernel!r} is not positive semidefinite on "
                "these objects, so they have no such geometry in feature space."
            )
        squares = np.maximum(squares, 0.0)
    return squares
