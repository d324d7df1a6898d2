"""Overflow of kernel values: errors that name the objects and the parameter to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .interface import Kernel


def refuse_overflow(values: np.ndarray, kernel: Kernel) -> np.ndarray:
    """Return a matrix of kernel values, or refuse one that holds infinity or NaN."""
    if kernel.has_bounded_values:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()  # one pass without a copy; finite in all but extreme cases
    if np.isfinite(total) or np.isfinite(values).all():
        return values
    i, j = np.argwhere(~np.isfinite(values))[0]
    raise OverflowError(
        f"k(x, z) = {values[i, j]} for object {i} and object {j} under {kernel!r}: it is too large "
        f"for a number; {advice(kernel)}."
    )


def refuse_infinite(values: np.ndarray, kernel: Kernel) -> np.ndarray:
    """Return values of a function, or refuse those of objects whose kernel values overflow."""
    if np.isfinite(values).all():
        return values
    i = int(np.argwhere(~np.isfinite(values))[0][0])
    raise OverflowError(
        f"kernel values of object {i} under {kernel!r} are too large for a number; "
        f"{advice(kernel)}."
    )


def advice(kernel: Kernel) -> str:
    """Return advice against values that are too large: parameters by which they grow, and data."""
    names = list(dict.fromkeys(_growing(kernel)))
    parameters = f"use a smaller {' or '.join(names)}" if names else ""
    data = "scale the data" if kernel.requires_vectors else "use normalize(kernel)"
    return f"{parameters}, or {data}" if parameters else data


def _growing(kernel: Kernel) -> list[str]:
    own = list(kernel.grows_with)
    return own + [name for part in kernel.inner_kernels() for name in _growing(part)]
