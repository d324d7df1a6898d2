"""Kernels on strings and sequences of tokens, by example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import (
    RBF,
    BlendedSpectrum,
    Convolution,
    Fisher,
    Grammar,
    HiddenMarkov,
    Laplacian,
    Linear,
    Marginalized,
    Mismatch,
    OverFeatureSpace,
    PairHMM,
    Polynomial,
    SetIntersection,
    Spectrum,
    Subsequence,
    Substring,
    WeightedDegree,
    exp,
    normalize,
)
from tests.catalogue.example import Example


def _lengths(rng: np.random.Generator, n: int, longest: int) -> np.ndarray:
    """Return lengths, 0 among them."""
    lengths = rng.integers(0, longest + 1, size=n)
    lengths[rng.integers(n)] = 0 if n > 1 else lengths[0]
    return lengths


def strings(rng: np.random.Generator, n: int) -> list[str]:
    """Return strings of up to six of three letters, an empty one among them."""
    return ["".join(rng.choice(list("abc"), size=k)) for k in _lengths(rng, n, 6)]


def short_strings(rng: np.random.Generator, n: int) -> list[str]:
    """Return strings of up to three of three letters, an empty one among them."""
    return ["".join(rng.choice(list("abc"), size=k)) for k in _lengths(rng, n, 3)]


def byte_strings(rng: np.random.Generator, n: int) -> list[bytes]:
    """Return strings of bytes."""
    return [x.encode() for x in strings(rng, n)]


def words(rng: np.random.Generator, n: int) -> list[list[str]]:
    """Return lists of words."""
    known = ["to", "be", "or", "not"]
    return [[known[i] for i in rng.integers(0, 4, size=k)] for k in _lengths(rng, n, 6)]


def tokens(rng: np.random.Generator, n: int) -> list[tuple[Any, ...]]:
    """Return tuples of tokens of several types."""
    known = [1, "one", ("a", 1)]
    return [tuple(known[i] for i in rng.integers(0, 3, size=k)) for k in _lengths(rng, n, 5)]


SAMPLERS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "strings": strings,
    "short strings": short_strings,
    "bytes": byte_strings,
    "words": words,
    "tokens": tokens,
}


def windows(x: Any) -> list[Any]:
    """Return the neighbouring pairs of a sequence."""
    return [tuple(x[i : i + 2]) for i in range(len(x) - 1)]


def splits(x: str) -> list[tuple[str, frozenset[str]]]:
    """Return all ways to cut a string into a head and the letters of a tail."""
    return [(x[:i], frozenset(x[i:])) for i in range(len(x) + 1)]


def letters(x: str) -> list[list[float]]:
    """Return the letters of a string as points of a line."""
    return [[ord(c) - 97.0] for c in x]


def moves(x: str) -> list[tuple[tuple[float], tuple[float], str]]:
    """Return where the letters of a string stand, the step from the one before, and the letter."""
    codes = [0.0, *(ord(c) - 97.0 for c in x)]
    return [((0.5 * i,), (codes[i + 1] - codes[i],), c) for i, c in enumerate(x)]


def weighted_letters(x: str) -> dict[str, float]:
    """Return the letters of a string with weights that fall along it."""
    weights: dict[str, float] = {}
    for i, c in enumerate(x):
        weights[c] = weights.get(c, 0.0) + 0.5**i
    return weights


MODEL = HiddenMarkov.from_probabilities(
    [0.6, 0.4], [[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], "abc"
)
METRIC = [0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4]

RULES = {
    "S": {("S", "S"): 0.1, ("A", "S"): 0.2, "a": 0.4, "c": 0.3},
    "A": {("A", "A"): 0.25, "a": 0.25, "b": 0.5},
}

EXAMPLES = [
    # substrings
    Example(Spectrum(1), "strings"),
    Example(Spectrum(3), "strings"),
    Example(Spectrum(2), "bytes"),
    Example(Spectrum(2), "words"),
    Example(Spectrum(2), "tokens"),
    Example(Spectrum(20), "strings"),
    Example(normalize(Spectrum(2)), "strings"),
    Example(BlendedSpectrum(3), "strings"),
    Example(BlendedSpectrum(2, [0.5, 2.0]), "words"),
    Example(Substring(), "strings"),
    Example(Substring(0.7, 2, 4), "strings"),
    Example(normalize(Substring(0.5)), "words"),
    Example(Mismatch(2, 0, "ab"), "strings"),
    Example(Mismatch(3, 1, "abc"), "strings"),
    Example(normalize(Mismatch(2, 1, "abcd")), "strings"),
    Example(Mismatch(2, 1, ["to", "be", "or"]), "words"),
    Example(WeightedDegree(3), "strings"),
    Example(WeightedDegree(2, 2, [1.0, 0.5]), "strings"),
    Example(WeightedDegree(2, 1), "tokens"),
    # subsequences
    Example(Subsequence(1, 1.0), "strings"),
    Example(Subsequence(2, 0.5), "strings"),
    Example(Subsequence(3, 0.8, [0.5, 0.0, 1.5]), "strings"),
    Example(normalize(Subsequence(2, 0.6)), "words"),
    # alignments
    Example(PairHMM("abc"), "short strings"),
    Example(PairHMM("abc", mutation=0.4, gap=0.3, end=0.2), "short strings"),
    Example(
        PairHMM(
            "abc",
            emission=[[0.3, 0.1, 0.0], [0.1, 0.2, 0.1], [0.0, 0.1, 0.1]],
            background=[0.5, 0.25, 0.25],
            gap=0.5,
            end=0.5,
        ),
        "short strings",
    ),
    Example(normalize(PairHMM("abc", gap=0.4)), "short strings"),
    Example(PairHMM("abc", mutation=0.0, gap=0.0, end=0.5), "short strings"),
    Example(Grammar(RULES), "short strings"),
    Example(Grammar(RULES, "A", 0.5, 0.3), "short strings"),
    Example(Grammar(RULES, independence=0.0, mutation=0.0), "short strings"),
    Example(normalize(Grammar(RULES, independence=0.6)) + Spectrum(1), "short strings"),
    # parts
    Example(Convolution(windows), "strings"),
    Example(Convolution(weighted_letters, average=True), "strings"),
    Example(Convolution(letters, RBF(0.3)), "strings"),
    Example(Convolution(letters, RBF(0.3), average=True), "short strings"),
    Example(Convolution(splits, (None, SetIntersection() + 1.0)), "short strings"),
    Example(Convolution(moves, (RBF(0.3), Polynomial(2, 0.5, 1.0), None)), "strings"),
    Example(normalize(Convolution(moves, (RBF(0.3), Laplacian(0.4), None), True)), "strings"),
    Example(normalize(Convolution(windows)), "words"),
    # generative models
    Example(Fisher(MODEL), "short strings"),
    Example(Fisher(MODEL, metric=METRIC), "short strings"),
    Example(Fisher(MODEL, metric=METRIC, kernel=RBF(0.1)), "short strings"),
    Example(normalize(Fisher(MODEL, kernel=Linear() + 1.0)), "short strings"),
    Example(Marginalized(MODEL), "strings"),
    Example(Marginalized(MODEL, order=2, average=False), "short strings"),
    Example(Marginalized(MODEL, kernel=RBF(2.0)), "short strings"),
    # compositions
    Example(2.0 * Spectrum(2) * Subsequence(2, 0.5) + 1.0, "strings"),
    Example(Spectrum(1) + (normalize(Spectrum(2)) + WeightedDegree(2)) ** 2, "words"),
    Example(exp(0.5 * normalize(BlendedSpectrum(2))), "strings"),
    Example(OverFeatureSpace(Spectrum(2), gamma=0.2), "strings"),
    Example(OverFeatureSpace(Subsequence(2, 0.7), gamma=0.5), "strings"),
]
