"""Sequences of numbers and logarithms of counts, checked in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
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


def whole_counts(ln_n: Array) -> Array:
    """Return the logarithms of the largest integers that do not exceed n."""
    small = ln_n < 34.0  # beyond which rounding to an integer does not change the logarithm
    whole = np.floor(np.exp(np.where(small, ln_n, 0.0)) * (1.0 + 1e-12))
    return np.where(small, np.log(whole), ln_n)


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


def decreasing_radii(values: Any) -> Array:
    """Return radii > 0 that do not increase."""
    radii = nonincreasing(values, "radii")
    if not radii[-1] > 0:
        raise ValueError("radii must be > 0; leave out directions without extent.")
    return radii


def square(K: Any) -> Array:
    """Return a Gram matrix as an array."""
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"a Gram matrix is square; got shape {matrix.shape}.")
    return matrix


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of a symmetric matrix, rising, and the eigenvectors as columns."""
    return scipy.linalg.eigh((matrix + matrix.T) / 2)


def multiplicities_of(counts: Any, n: int) -> Array:
    """Return how often each of n values occurs, 1 by default."""
    if counts is None:
        return np.ones(n)
    result = np.asarray(counts, dtype=np.float64)
    if result.shape != (n,) or (result < 1).any() or (result != np.floor(result)).any():
        raise ValueError(f"multiplicities must be {n} integers >= 1, one per value.")
    return result
