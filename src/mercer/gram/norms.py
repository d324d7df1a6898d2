"""Numbers that belong to single objects: k(x, x), norms, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Leaf, Scalars
from .views import Views

# Logarithms of numbers beyond this overflow, or lose digits as they go to zero.
LARGEST_LOG = 700.0


def numbers(scalars: Scalars, views: Views) -> np.ndarray:
    """Return u(x) for every object.

    Parameters
    ----------
    scalars : Scalars
        What u is.
    views : Views
        Of validated objects.
    """
    from mercer.kernels.diagonal import diagonal  # which uses this package

    own = diagonal(scalars.kernel, views, scalars.columns, scalars.mapping)
    return own if scalars.kind == "diagonal" else _inverse_norms(scalars.kernel, own)


def logarithms_of_norms(leaf: Leaf, sequences: Any) -> np.ndarray | None:
    """Return half the logarithms of k(x, x) of sequences whose values are to be normalised.

    Without normalisation, refuse values that no number can hold; those of pairs are between them,
    |k(x, z)|^2 being at most k(x, x) k(z, z).

    Parameters
    ----------
    leaf : Leaf
        A leaf of sequences.
    sequences : Tokens or Points
        The sequences as numbers.
    """
    kernel: Any = leaf.kernel
    if not kernel.logarithmic and not kernel._may_overflow:
        return None
    own = sequences.diagonal(kernel.native_form())
    if not kernel.logarithmic:
        if not np.isfinite(own).all():
            i = int(np.argmin(np.isfinite(own)))
            raise OverflowError(
                f"k(x, x) of object {i} under {kernel!r} is too large for a number; use a smaller "
                "decay, or shorter sequences."
            )
        return None
    logs = own
    if leaf.normalized:
        return 0.5 * logs
    finite = logs[np.isfinite(logs)]
    if finite.size and np.abs(finite).max() > LARGEST_LOG:
        i = int(np.argmax(np.where(np.isfinite(logs), np.abs(logs), 0.0)))
        raise OverflowError(
            f"k(x, x) = exp({logs[i]:.0f}) of object {i} under {kernel!r} is no number that the "
            "computer holds; use normalize(kernel), which needs no such number."
        )
    return None


def _inverse_norms(kernel: Any, diagonal: np.ndarray) -> np.ndarray:
    from mercer.kernels.diagonal import check_nonnegative  # which uses this package

    check_nonnegative(diagonal, kernel)
    if not np.isfinite(diagonal).all():
        i = int(np.argmin(np.isfinite(diagonal)))
        raise OverflowError(
            f"k(x, x) of object {i} under {kernel!r} is too large for a number, so it cannot be "
            "normalised; use a smaller decay, degree or gamma, or scale the data."
        )
    scale = np.zeros_like(diagonal)
    np.divide(1.0, np.sqrt(diagonal), out=scale, where=diagonal > 0)
    return scale
