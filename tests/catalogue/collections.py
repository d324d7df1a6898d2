"""Kernels on sets, multisets, documents, truth values and nodes of a graph, by example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import (
    Boolean,
    Diffusion,
    Jaccard,
    Multiset,
    OverFeatureSpace,
    SetIntersection,
    SetPower,
    TfIdf,
    normalize,
)
from tests.catalogue.example import Example


def multisets(rng: np.random.Generator, n: int) -> list[Any]:
    """Return Counters and lists of up to three copies of four letters, some of them empty."""
    numbers = rng.integers(0, 4, size=(n, 4)).tolist()
    counted = [Counter(dict(zip("abcd", row, strict=True))) for row in numbers]
    for bag in counted[::3]:
        bag.clear()
    return [bag if i % 2 else list(bag.elements()) for i, bag in enumerate(counted)]


def documents(rng: np.random.Generator, n: int) -> list[str]:
    """Return texts of up to eight words, an empty one among them."""
    known = ["Wheat", "corn", "the", "ship,", "harbour", "prices."]
    lengths = rng.integers(0, 9, size=n)
    lengths[rng.integers(n)] = 0 if n > 1 else lengths[0]
    return [" ".join(rng.choice(known, size=k)) for k in lengths]


def term_counts(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return how often documents contain each of four terms."""
    return rng.integers(0, 4, size=(n, 4)).astype(float)


def truth_values(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return rows of four truth values."""
    return rng.integers(0, 2, size=(n, 4)).astype(float)


def nodes(rng: np.random.Generator, n: int) -> list[str]:
    """Return nodes of a graph."""
    return rng.choice(list(NODES), size=n).tolist()


SAMPLERS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "multisets": multisets,
    "documents": documents,
    "term counts": term_counts,
    "truth values": truth_values,
    "nodes": nodes,
}

NODES = "uvwxyz"
EDGES = [
    [0.0, 1.0, 0.0, 0.0, 0.0, 0.5],
    [1.0, 0.0, 2.0, 0.0, 0.0, 0.0],
    [0.0, 2.0, 0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
]

EXAMPLES = [
    Example(SetIntersection(), "sets"),
    Example(SetIntersection({0: 0.3, 1: 2.5, 5: 0.0}), "sets"),
    Example(normalize(SetIntersection()), "sets"),
    Example(SetPower(), "sets"),
    Example(SetPower(1.5, {"a": 0.25, "b": 2.0}), "multisets"),
    Example(SetPower(1.0), "sets"),
    Example(Jaccard(), "sets"),
    Example(Jaccard({0: 0.3, 1: 2.5, 5: 0.0}), "sets"),
    Example(Jaccard(multisets=True), "multisets"),
    Example(Jaccard({"a": 0.7, "c": 3.0}, multisets=True), "multisets"),
    Example(Multiset("minimum"), "multisets"),
    Example(Multiset("product"), "multisets"),
    Example(Multiset("multisets"), "multisets"),
    Example(Multiset("subsets"), "multisets"),
    Example(normalize(Multiset("multisets")), "multisets"),
    Example(Jaccard() * SetPower(1.2) + 2.0 * SetIntersection(), "sets"),
    Example(OverFeatureSpace(SetIntersection(), gamma=0.3), "sets"),
    Example(TfIdf(idf=[1.5, 0.5, 1.0], vocabulary=["corn", "ship", "wheat"]), "documents"),
    Example(TfIdf("log", [1.5, 0.5, 0.0], False, vocabulary=["corn", "ship", "the"]), "documents"),
    Example(
        TfIdf("binary", [1.0, 2.0], stop_words=["the"], vocabulary=["prices", "the"]), "documents"
    ),
    Example(TfIdf(idf=[1.0, 0.5, 0.25, 2.0]), "term counts"),
    Example(TfIdf(idf=[1.0, 2.0], vocabulary=["corn", "ship"]) ** 2 + 1.0, "documents"),
    Example(Boolean(), "truth values"),
    Example(Boolean(monotone=False), "truth values"),
    Example(normalize(Boolean(monotone=False)), "truth values"),
    Example(Diffusion(EDGES, beta=0.7, nodes=NODES), "nodes"),
    Example(Diffusion(EDGES, beta=0.0, nodes=NODES), "nodes"),
    Example(normalize(Diffusion(EDGES, beta=2.0, nodes=list(NODES))), "nodes"),
]
