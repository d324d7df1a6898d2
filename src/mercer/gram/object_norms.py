"""Norms of single objects, from k(x, x), for programs that normalise."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.objects.vocabulary import Vocabulary

from .kernel_diagonal import check_nonnegative, diagonal
from .mapped_objects import Views
from .overflow import advice
from .program import Leaf, Scalars

# Logarithms of numbers beyond this overflow, or lose digits as they go to zero.
LARGEST_LOG = 700.0


def numbers(scalars: Scalars, views: Views) -> np.ndarray:
    """Return u(x) for every object."""
    own = diagonal(scalars.kernel, views, scalars.columns, scalars.mapping)
    return own if scalars.kind == "diagonal" else _inverse_norms(scalars.kernel, own)


def sequence_norms(leaf: Leaf, sequences: Any, views: Views) -> np.ndarray | None:
    """Return half the logarithms of k(x, x) of sequences whose values are to be normalised.

    Without normalisation, refuse values that no number can hold; those of pairs are between them,
    |k(x, z)|^2 being at most k(x, x) k(z, z). Tokens that are unknown, because no sequence that
    stays has them, agree with none here, yet do so in k(x, x).
    """
    kernel: Any = leaf.kernel
    if not (kernel.normalized_by_logarithms or kernel.may_overflow):
        return None
    if sequences.has_unknown:
        sequences = kernel.encode(views.of(leaf, kernel.takes), Vocabulary())
    own = sequences.diagonal(kernel.native_form(logarithms=True))
    if leaf.normalized:
        return 0.5 * own
    if kernel.normalized_by_logarithms:
        refuse_out_of_range(own, kernel)
    elif not np.isfinite(own).all():
        i = int(np.argmin(np.isfinite(own)))
        raise OverflowError(
            f"k(x, x) of object {i} under {kernel!r} is too large for a number; use smaller "
            "weights, or shorter sequences."
        )
    return None


def refuse_out_of_range(logs: np.ndarray, kernel: Any) -> None:
    """Reject k(x, x) beyond the range of float64, given their logarithms."""
    finite = logs[np.isfinite(logs)]
    if finite.size == 0 or np.abs(finite).max() <= LARGEST_LOG:
        return
    i = int(np.argmax(np.where(np.isfinite(logs), np.abs(logs), 0.0)))
    advice = "use normalize(kernel), which needs no such number"
    if hasattr(kernel, "decay"):
        advice += f", or a {'smaller' if logs[i] > 0 else 'larger'} decay"
    raise OverflowError(
        f"k(x, x) = exp({logs[i]:.0f}) of object {i} under {kernel!r} is no number that the "
        f"computer holds; {advice}."
    )


def _inverse_norms(kernel: Any, diagonal: np.ndarray) -> np.ndarray:
    check_nonnegative(diagonal, kernel)
    if not np.isfinite(diagonal).all():
        i = int(np.argmin(np.isfinite(diagonal)))
        raise OverflowError(
            f"k(x, x) of object {i} under {kernel!r} is too large for a number, so it cannot be "
            f"normalised; {advice(kernel)}."
        )
    scale = np.zeros_like(diagonal)
    np.divide(1.0, np.sqrt(diagonal), out=scale, where=diagonal > 0)
    return scale
