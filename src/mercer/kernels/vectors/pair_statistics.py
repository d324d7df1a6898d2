"""Pair statistics as matrices, for what is computed outside kernel programs: derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from mercer.gram.program import Builder

from .vector import VectorKernel

_FEW = 1 << 14  # pairs for which it would cost more to prepare a Gram matrix


class _Statistic(VectorKernel):
    """A pair statistic by itself, as a program of one leaf."""

    name: str

    def compile(self, builder: Builder) -> None:
        builder.leaf(self.name)


def dots(X: Any, Z: Any) -> np.ndarray:
    """Return the dot products of the rows of `X` with those of `Z`."""
    return _Statistic("dot")._values(X, Z)


def squared_distances(X: Any, Z: Any) -> np.ndarray:
    """Return the squared Euclidean distances between the rows of `X` and those of `Z`."""
    if isinstance(X, np.ndarray) and isinstance(Z, np.ndarray) and len(X) * len(Z) <= _FEW:
        return cdist(X, Z, "sqeuclidean")
    return _Statistic("sqdist")._values(X, Z)


def l1_distances(X: Any, Z: Any) -> np.ndarray:
    """Return the L1 distances between the rows of `X` and those of `Z`."""
    return _Statistic("l1")._values(X, Z)
