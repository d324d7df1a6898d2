"""Series of numbers or of points: validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.objects.validation import as_items

WHAT = "series: arrays of shape (length,) or (length, n_variables)"


def as_series(X: Any, owner: str) -> list[np.ndarray]:
    """Return a collection of series as a list of float64 arrays of shape (length, n_variables).

    `X`: series of numbers or of points. A two-dimensional array is one series of numbers in each
    row, a three-dimensional one a series of points in each entry.
    """
    if isinstance(X, list) and all(
        type(x) is np.ndarray and x.ndim == 2 and x.dtype == np.float64 for x in X
    ):
        series = X
    else:
        series = [one_series(x, i, owner) for i, x in enumerate(as_items(X, owner, WHAT))]
    if not series:
        raise ValueError(f"{owner} got no objects; at least one is needed.")
    width = series[0].shape[1]
    for i, x in enumerate(series):
        if x.shape[1] != width:
            raise ValueError(
                f"{owner} needs series of the same variables; object 0 has {width}, object {i} "
                f"has {x.shape[1]}."
            )
        require_finite(x, i, owner)
    return series


def one_series(x: Any, i: int, owner: str) -> np.ndarray:
    """Return object `i` as a series of points."""
    try:
        if isinstance(x, str | bytes):
            raise ValueError
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"{owner} is defined on {WHAT}; object {i} is of type {type(x).__name__}."
        ) from None
    if array.ndim not in (1, 2):
        raise TypeError(
            f"{owner} is defined on {WHAT}; object {i}, of type {type(x).__name__}, has "
            f"{array.ndim} dimensions."
        )
    return array[:, None] if array.ndim == 1 else array


def require_finite(x: np.ndarray, i: int, owner: str) -> None:
    """Reject series `i` if an entry is not finite."""
    if not np.isfinite(x).all():
        raise ValueError(f"{owner}: object {i} contains NaN or infinity.")
