"""Frequencies as every spectrum takes them: vectors, or numbers along the first axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.objects.parameters import integer


def as_frequencies(omega: Any, dimension: int | None = None) -> np.ndarray:
    """Return frequencies as rows of an array (n, d).

    `omega`: vectors (n, d), or numbers, which stand for (omega, 0, ..., 0); for a radial kernel
    that is every vector of that length. `dimension`: by default that of the vectors, and 1 for
    numbers.
    """
    omega = np.asarray(omega, dtype=np.float64)
    if not np.isfinite(omega).all():
        raise ValueError("frequencies must be finite numbers.")
    if dimension is not None:
        integer(dimension, "dimension", minimum=1)
    if omega.ndim == 2:
        if dimension is not None and omega.shape[1] != dimension:
            raise ValueError(
                f"omega has {omega.shape[1]} columns, but dimension is {dimension}; leave it out."
            )
        return omega
    if omega.ndim > 2:
        raise ValueError(f"omega must be numbers or rows of numbers; got shape {omega.shape}.")
    rows = np.zeros((omega.size, dimension or 1))
    rows[:, 0] = omega.reshape(-1)
    return rows
