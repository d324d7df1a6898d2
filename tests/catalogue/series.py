"""Kernels on time series and on tables of several kinds of objects, by example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import (
    RBF,
    Convolution,
    Delayed,
    DelayEmbedding,
    GlobalAlignment,
    Jaccard,
    Linear,
    Spectrum,
    Subsequence,
    normalize,
)
from tests.catalogue.example import Example
from tests.catalogue.sequences import strings


def series(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    """Return series of up to four numbers, an empty one among them."""
    lengths = rng.integers(0, 5, size=n)
    lengths[rng.integers(n)] = 0 if n > 1 else lengths[0]
    return [np.round(8 * rng.normal(size=k)) / 8 for k in lengths]


def paths(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    """Return series of one to four points of the plane."""
    return [np.round(8 * rng.normal(size=(k, 2))) / 8 for k in rng.integers(1, 5, size=n)]


def histories(rng: np.random.Generator, n: int) -> list[list[float]]:
    """Return lists of one to six numbers."""
    return [(np.round(8 * rng.normal(size=k)) / 8).tolist() for k in rng.integers(1, 7, size=n)]


def tables(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return rows of a text, two numbers and a set."""
    table = np.empty((n, 4), dtype=object)
    table[:, 0] = strings(rng, n)
    table[:, 1:3] = np.round(8 * rng.normal(size=(n, 2))) / 8
    for i in range(n):
        table[i, 3] = frozenset(np.flatnonzero(rng.random(4) < 0.5).tolist())
    return table


SAMPLERS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "series": series,
    "paths": paths,
    "histories": histories,
    "tables": tables,
}


def steps(x: np.ndarray) -> np.ndarray:
    """Return the pairs of neighbouring values of a series."""
    return DelayEmbedding(dimension=2).windows(x)


EXAMPLES = [
    Example(GlobalAlignment(0.5), "series"),
    Example(GlobalAlignment(0.2, band=2), "series"),
    Example(GlobalAlignment(1.0), "paths"),
    Example(normalize(GlobalAlignment(0.3)), "paths"),
    Example(Delayed(Linear(), dimension=2), "histories"),
    Example(Delayed(RBF(0.5), dimension=3, delay=2), "histories"),
    Example(Delayed(normalize(Linear() + 1.0), dimension=2), "paths"),
    Example(Convolution(steps, RBF(0.5)), "series"),
    Example(Spectrum(2).on_columns([0]) + RBF(0.5).on_columns([1, 2]), "tables"),
    Example(
        normalize(Subsequence(2, 0.5)).on_columns([0]) * Linear().on_columns([2])
        + Jaccard().on_columns([3]),
        "tables",
    ),
]
