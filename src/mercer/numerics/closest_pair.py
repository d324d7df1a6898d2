"""The closest pair of objects with different labels, whose distance is a width for a Gaussian.

T. Jaakkola, M. Diekhans, D. Haussler, "Using the Fisher kernel method to detect remote protein
homologies", 1999.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from mercer.objects.validation import count, take

Distances = Callable[[Any, Any], np.ndarray]

_FEW_COLUMNS = 20  # up to so many a search tree finds nearest neighbours faster than all pairs do
_ROWS = 256  # objects that are compared with all others at a time


def class_numbers(y: Any, n: int) -> np.ndarray:
    """Return labels of at least two classes as numbers from 0 on."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one label per object; got shape {labels.shape}.")
    if len(labels) != n:
        raise ValueError(f"y must have one label for each of the {n} objects; got {len(labels)}.")
    if labels.dtype.kind == "f" and np.any(labels != np.round(labels)):
        raise ValueError("the closest opposite pair needs class labels; got real targets.")
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError("the closest opposite pair needs objects of at least two classes.")
    return numbers


def closest_opposite_distance(
    X: Any, labels: np.ndarray, *, p: int = 2, distances: Distances | None = None
) -> float:
    """Return the smallest distance between objects with different labels.

    `X` (n, n_features): vectors; any objects together with `distances`. `p`: whether the distance
    of vectors is the sum of absolute differences or Euclidean. `distances`: ``distances(A, B)``
    returns the distances between two collections of objects.
    """
    best, pair = inf, (0, 0)
    for label in range(labels.max() + 1):
        own, others = np.flatnonzero(labels == label), np.flatnonzero(labels > label)
        if not (len(own) and len(others)):
            continue  # the last class, or a class that a sample has missed
        apart, i, j = _nearest(take(X, own), take(X, others), p, distances)
        if apart < best:
            best, pair = apart, (int(own[i]), int(others[j]))
    if best == 0.0:
        raise ValueError(
            f"objects {pair[0]} and {pair[1]} are equal but have different labels, so the closest "
            "opposite pair gives no width; remove contradictions, or choose the width otherwise."
        )
    return best


def fits_a_tree(X: Any) -> bool:
    """Return whether the closest pair of vectors is found without comparing all."""
    return not sp.issparse(X) and X.shape[1] <= _FEW_COLUMNS


def vector_distances(A: Any, B: Any, p: int) -> np.ndarray:
    """Return the distances between rows of two arrays or sparse matrices; see above for `p`."""
    if sp.issparse(A):
        from sklearn.metrics import pairwise_distances

        return pairwise_distances(A, B, metric="manhattan" if p == 1 else "euclidean")
    return cdist(A, B, "cityblock" if p == 1 else "euclidean")


def _nearest(A: Any, B: Any, p: int, distances: Distances | None) -> tuple[float, int, int]:
    """Return the smallest distance between two sets and where it is."""
    if distances is None and fits_a_tree(A):
        apart, j = cKDTree(B).query(A, p=p)
        i = int(apart.argmin())
        return float(apart[i]), i, int(j[i])
    best, pair = inf, (0, 0)
    for first in range(0, count(A), _ROWS):
        block = take(A, slice(first, first + _ROWS))
        tile = vector_distances(block, B, p) if distances is None else distances(block, B)
        at = int(tile.argmin())
        if tile.flat[at] < best:
            row, column = divmod(at, tile.shape[1])
            best, pair = float(tile.flat[at]), (first + row, column)
    return best, *pair
