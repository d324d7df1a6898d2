"""Arguments of this package, checked in one place: counts, spectra, radii, confidence levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def number(values: Any) -> Any:
    """Return an array without dimensions as a Python number, and any other array as it is."""
    return values.item() if np.ndim(values) == 0 else values


def log_counts(ln_n: Any) -> Array:
    """Return natural logarithms of counts n >= 1 as an array."""
    values = np.asarray(ln_n, dtype=np.float64)
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError(
            f"ln_n must be natural logarithms of counts n >= 1, finite and >= 0; got {ln_n!r}."
        )
    return values


def nonincreasing(values: Any, name: str) -> Array:
    """Return numbers >= 0 that do not increase."""
    sequence = np.asarray(values, dtype=np.float64)
    if sequence.ndim != 1 or len(sequence) == 0:
        raise ValueError(f"{name} must be a list of numbers; got shape {sequence.shape}.")
    if not (np.isfinite(sequence).all() and (sequence >= 0).all()):
        raise ValueError(f"{name} must be finite and >= 0.")
    if (np.diff(sequence) > 0).any():
        raise ValueError(
            f"{name} must be sorted, largest first: geometric means of an unsorted list come out "
            "too small. Sort it: np.sort(values)[::-1]."
        )
    return sequence


def multiplicities_of(counts: Any, n: int) -> Array:
    """Return how often each of n values occurs, 1 by default."""
    if counts is None:
        return np.ones(n)
    result = np.asarray([float(c) for c in counts])
    if result.shape != (n,) or (result < 1).any() or (result != np.floor(result)).any():
        raise ValueError(f"multiplicities must be {n} integers >= 1, one per value.")
    return result


def positive_number(value: Any, name: str) -> float:
    """Return a finite number > 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    if not 0.0 < value < np.inf:
        raise ValueError(f"{name} must be a finite number > 0; got {value!r}.")
    return float(value)


def sample_size(n_samples: Any) -> float:
    """Return a number of points, >= 1."""
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | float | np.number):
        raise TypeError(f"n_samples must be a number of points; got {n_samples!r}.")
    if not 1 <= n_samples < np.inf:
        raise ValueError(f"n_samples must be at least one point; got {n_samples!r}.")
    return float(n_samples)


def confidence(delta: Any) -> float:
    """Return the probability with which a bound may fail, inside (0, 1)."""
    value = positive_number(delta, "delta")
    if value >= 1.0:
        raise ValueError(f"delta must lie between 0 and 1; got {delta!r}.")
    return value
