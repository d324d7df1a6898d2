"""Kernels worth trying on sets, counts, series and categories, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mercer.kernels import (
    RBF,
    Delayed,
    FromFunction,
    GlobalAlignment,
    Jaccard,
    Kernel,
    Linear,
    Multiset,
    OverFeatureSpace,
    SetIntersection,
    TfIdf,
    normalize,
)

from .bandwidth import bandwidth
from .candidate import Candidate
from .categories import agreement
from .kind import DataKind
from .object_kinds import band_of

# gamma of a Gaussian, in multiples of the rule that the median distance gives.
_WIDTHS = (0.25, 1.0, 4.0)
# Copies of an element beyond which their products are taken: the minimum stores every copy.
_MANY_COPIES = 1000
# Last values of series of different lengths that are compared.
_LAST = 10


def on_sets(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    """Yield kernels on sets."""
    yield Candidate(Jaccard(), "common elements, as a share of those of both sets")
    yield Candidate(SetIntersection(), "the number of common elements: large sets count for more")
    cosine = normalize(SetIntersection())
    yield Candidate(cosine, "common elements as a cosine: a small set may lie within a large one")
    yield from _gaussians_over(cosine, kind.X, seed)


def on_counts(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    """Yield kernels on Counters and other mappings to counts."""
    largest = max((number for x in kind.X for number in x.values()), default=0)
    if largest <= _MANY_COPIES:
        yield Candidate(Multiset(), "common elements with their copies")
        yield Candidate(
            Jaccard(multisets=True), "common copies, as a share of those of both multisets"
        )
    if any(number > 0 for x in kind.X for number in x.values()):
        yield Candidate(TfIdf(idf="none"), "the cosine of the counts")
        yield Candidate(TfIdf(), "the cosine of the counts, rare elements count for more")
        yield Candidate(TfIdf("log"), "the same with logarithms of the counts, against large ones")
    yield from _gaussians_over(normalize(Multiset("product")), kind.X, seed)


def on_series(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    """Yield kernels on series of numbers."""
    lengths = [len(x) for x in kind.X]
    whole = min(lengths) == max(lengths)
    dimension = lengths[0] if whole else min(min(lengths), _LAST)
    what = "values at the same times" if whole else f"the last {dimension} values"
    last = Delayed(Linear(), dimension)
    yield Candidate(last, f"the simplest: weights for {what}")
    vectors = last.features(kind.X)
    try:
        width = bandwidth(vectors, n_sample=1000, random_state=seed)
    except ValueError:  # all are equal
        width = None
    if width is not None:
        for factor in _WIDTHS:
            yield Candidate(
                Delayed(RBF(factor * width.gamma), dimension),
                f"smooth functions of {what}; {width.how}",
                "Delayed",
            )
    band = band_of(kind.X)
    near = "" if band is None else f", of points less than {band} steps apart"
    gamma = float(GlobalAlignment().bind(kind.X).gamma)
    for factor in _WIDTHS:
        yield Candidate(
            normalize(GlobalAlignment(factor * gamma, band)),
            f"shapes that may run at different speeds, summed over all alignments{near}",
            "GlobalAlignment",
        )


def on_categories(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    """Yield kernels on columns that hold names of categories."""
    same = FromFunction(agreement, "positive semidefinite")
    if kind.X.shape[1] == 1:
        yield Candidate(same, "1 for the same category, else 0")
        return
    yield Candidate(same, "the share of categories that agree")
    yield Candidate(same**2, "pairs of categories that agree")


def _gaussians_over(kernel: Kernel, X: Any, seed: Any) -> Iterator[Candidate]:
    """Yield Gaussians over the feature space of a kernel."""
    try:
        width = bandwidth(X, within=kernel, n_sample=400, random_state=seed)
    except ValueError:  # all are equal
        return
    for factor in _WIDTHS:
        yield Candidate(
            OverFeatureSpace(kernel, factor * width.gamma),
            f"smooth functions of the cosine; {width.how}",
            "OverFeatureSpace",
        )
