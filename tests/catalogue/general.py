"""Kernels on objects of any kind, by example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import (
    RBF,
    Categorical,
    Constant,
    Covariance,
    FiniteMatrix,
    FromFeatureMap,
    FromFunction,
    Precomputed,
)
from tests.catalogue.example import Example


def sets(rng: np.random.Generator, n: int) -> list[frozenset[int]]:
    """Return subsets of eight items, the empty one among them."""
    return [frozenset(np.flatnonzero(rng.random(8) < p).tolist()) for p in rng.random(n)]


def items(rng: np.random.Generator, n: int) -> list[str]:
    """Return colours."""
    return rng.choice(["red", "green", "blue"], size=n).tolist()


def matrix(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a kernel matrix of n objects."""
    rows = rng.normal(size=(n, 4))
    return (rows[:, None] * rows).sum(axis=-1)


def categories(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return rows of a colour, a size that may be missing, and a number."""
    sizes = np.array(["S", "L", None], dtype=object)
    columns = (items(rng, n), rng.choice(sizes, size=n), rng.integers(0, 4, size=n))
    return np.array(list(zip(*columns, strict=True)), dtype=object)


SAMPLERS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "sets": sets,
    "items": items,
    "matrix": matrix,
    "categories": categories,
}


def overlap(A: list[frozenset[int]], B: list[frozenset[int]]) -> list[list[int]]:
    """Return how many items two sets have in common."""
    return [[len(a & b) for b in B] for a in A]


def squares(A: np.ndarray) -> np.ndarray:
    """Return the entries and their squares."""
    return np.hstack([A, A * A])


def indicators(A: list[frozenset[int]]) -> np.ndarray:
    """Return which of eight items a set contains."""
    return np.array([[float(i in a) for i in range(8)] for a in A])


def wave(A: np.ndarray) -> np.ndarray:
    """Return sin(x_1)."""
    return np.sin(A[:, 0])


def first(A: np.ndarray) -> np.ndarray:
    """Return x_1."""
    return A[:, 0]


EXAMPLES = [
    Example(Constant(1.5)),
    Example(FromFunction(overlap, definiteness="positive semidefinite"), "sets"),
    Example(FromFeatureMap(squares)),
    Example(FromFeatureMap(squares, kernel=RBF(0.2))),
    Example(FromFeatureMap(indicators), "sets"),
    Example(Covariance([wave, first])),
    Example(Covariance(squares, centered=True)),
    Example(
        FiniteMatrix(
            [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]], items=["red", "green", "blue"]
        ),
        "items",
    ),
    Example(Categorical(), "categories"),
    Example(Precomputed(), "matrix"),
]
