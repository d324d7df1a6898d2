"""Kernels worth trying for each kind of data, and why; the simplest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mercer.features.seeds import generator
from mercer.kernels import (
    RBF,
    BlendedSpectrum,
    Categorical,
    ChiSquare,
    Delayed,
    FourierSeries,
    FromFeatureMap,
    GlobalAlignment,
    HistogramIntersection,
    Jaccard,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Multiset,
    OverFeatureSpace,
    PeriodicGaussian,
    Polynomial,
    SetIntersection,
    Spectrum,
    Subsequence,
    TfIdf,
    WeightedDegree,
    normalize,
)
from mercer.kernels.vectors.scale import polynomial_scale
from mercer.objects.rows import squared_norms

from .bandwidth import Bandwidth, bandwidth
from .data_kind import DataKind, alignment_band

# gamma of a Gaussian, in multiples of the rule that the median distance gives.
_WIDTHS = (0.25, 1.0, 4.0, 16.0, 64.0)
_FEW_WIDTHS = (0.25, 1.0, 4.0)  # of kernels whose values are expensive
# Letters of a string up to which subsequences are counted: a value costs the product of lengths.
_SHORT = 100
# Copies of an element beyond which their products are taken: the minimum stores every copy.
_MANY_COPIES = 1000
_LAST = 10  # values of series of different lengths that are compared


_ALIGNED = 6
"""Strings of one length, at least this, may be aligned."""


class Candidate(NamedTuple):
    """A kernel that is worth a try."""

    kernel: Kernel
    reason: str
    family: str = ""  # kernels of one family differ in a width or a degree; the best is suggested


def candidates(kind: DataKind, y: Any, classification: bool, seed: Any) -> list[Candidate]:
    """Return kernels for data that are not a table, the simplest first."""
    return distinct(_MAKERS[kind.name](kind, y if classification else None, seed))


def distinct(found: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates without repetitions of a kernel, the first reason for each."""
    return list({c.kernel: c for c in reversed(list(found))}.values())[::-1]


def _dense(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    X = kind.X
    yield Candidate(Linear(), "the simplest: its weights can be read")
    yield from _polynomials(X)
    yield from _gaussians(X, labels, seed)
    if width := _width(X, None, "median", seed, "laplacian"):
        reason = f"rough functions, which outliers disturb less; {width.how}"
        yield Candidate(Laplacian(width.gamma), reason)
    if width := _width(X, None, "median", seed):
        reason = f"between Gaussian and Laplacian: once differentiable; {width.how}"
        yield Candidate(Matern(1.5, width.sigma), reason)


def _sparse(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    yield Candidate(Linear(), "the usual choice for many sparse columns")
    yield Candidate(normalize(Linear()), "cosine: rows of different length count alike")
    small = float(squared_norms(kind.X).max()) <= 10.0
    pairs = Polynomial(2, 1.0, 1.0) if small else normalize(Linear() + 1.0) ** 2
    yield Candidate(pairs, "pairs of columns that occur together")
    yield from _gaussians(kind.X, labels, seed)


def _histograms(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    yield Candidate(Linear(), "the simplest: its weights can be read")
    roots = FromFeatureMap(np.sqrt)
    yield Candidate(roots, "Bhattacharyya: dot product of square roots of the bins")
    yield Candidate(HistogramIntersection(), "what two histograms have in common")
    typical = _typical_chi_square(kind.X, seed)
    if typical > 0.0:
        reason = f"bins weighted by their counts; the mean chi-square distance is {typical:.3g}"
        yield Candidate(ChiSquare(1.0 / typical), reason)
    yield from _gaussians(kind.X, labels, seed)


def _periodic(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    period = kind.period
    assert period is not None
    for share in (0.05, 0.15, 0.4):
        reason = f"repeats with the period {period:.6g} of the target"
        yield Candidate(PeriodicGaussian(share * period, period), reason, "PeriodicGaussian")
    waves = FourierSeries(tuple(0.5**n for n in range(6)), period)
    yield Candidate(waves, f"waves with the period {period:.6g} of the target and its overtones")
    yield from _gaussians(kind.X, labels, seed)


def _strings(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    lengths = [len(s) for s in kind.X]
    yield Candidate(normalize(Spectrum(1)), "shared letters, whatever their order", "Spectrum")
    for p in (2, 3, 4, 6):
        if p <= max(min(lengths), 2):
            reason = f"shared substrings of length {p}, as a cosine"
            yield Candidate(normalize(Spectrum(p)), reason, "Spectrum")
    blended = normalize(BlendedSpectrum(4))
    yield Candidate(blended, "shared substrings of length 1 to 4, as a cosine")
    if len(set(lengths)) == 1 and lengths[0] >= _ALIGNED:
        for degree in (3, 6):
            reason = f"equal substrings of length 1 to {degree} at equal positions: all aligned"
            yield Candidate(normalize(WeightedDegree(degree)), reason, "WeightedDegree")
    if np.mean(lengths) <= _SHORT:
        yield Candidate(normalize(Subsequence(3, 0.5)), "shared subsequences of length 3 with gaps")


def _documents(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    # The words of TfIdf have two letters or more; texts of single letters are split at spaces.
    with_words = sum(any(len(word) > 1 for word in text.split()) for text in kind.X)
    split = None if with_words > len(kind.X) / 2 else str.split
    plain, weighted = TfIdf(idf="none", analyzer=split), TfIdf(analyzer=split)
    yield Candidate(plain, "shared words, whatever their order, as a cosine")
    yield Candidate(weighted, "shared words, the rarer the more they count, as a cosine")
    damped = TfIdf("log", "smooth", analyzer=split)
    yield Candidate(damped, "the same with logarithms of the counts, against repeated words")
    yield Candidate(normalize(Spectrum(4)), "shared pieces of four letters, also within words")


def _sets(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    yield Candidate(Jaccard(), "common elements, as a share of those of both sets")
    yield Candidate(SetIntersection(), "the number of common elements: large sets count for more")
    cosine = normalize(SetIntersection())
    yield Candidate(cosine, "common elements as a cosine: a small set may lie within a large one")
    yield from _gaussians_over(cosine, kind.X, seed)


def _counts(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    numbers = [number for x in kind.X for number in x.values()]
    if max(numbers, default=0) <= _MANY_COPIES:
        yield Candidate(Multiset(), "common elements with their copies")
        shares = Jaccard(multisets=True)
        yield Candidate(shares, "common copies, as a share of those of both multisets")
    if any(number > 0 for number in numbers):
        yield Candidate(TfIdf(idf="none"), "the cosine of the counts")
        yield Candidate(TfIdf(), "the cosine of the counts, rare elements count for more")
        yield Candidate(TfIdf("log"), "the same with logarithms of the counts, against large ones")
    yield from _gaussians_over(normalize(Multiset("product")), kind.X, seed)


def _series(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    lengths = [len(x) for x in kind.X]
    whole = min(lengths) == max(lengths)
    dimension = lengths[0] if whole else min(min(lengths), _LAST)
    what = "values at the same times" if whole else f"the last {dimension} values"
    last = Delayed(Linear(), dimension)
    yield Candidate(last, f"the simplest: weights for {what}")
    if width := _width(last.features(kind.X), None, "median", seed):
        reason = f"smooth functions of {what}; {width.how}"
        for factor in _FEW_WIDTHS:
            yield Candidate(Delayed(RBF(factor * width.gamma), dimension), reason, "Delayed")
    band = alignment_band(kind.X)
    near = "" if band is None else f", of points less than {band} steps apart"
    reason = f"shapes that may run at different speeds, summed over all alignments{near}"
    gamma = float(GlobalAlignment().bind(kind.X).gamma)
    for factor in _FEW_WIDTHS:
        aligned = normalize(GlobalAlignment(factor * gamma, band))
        yield Candidate(aligned, reason, "GlobalAlignment")


def _categories(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    same = Categorical()
    if kind.X.shape[1] == 1:
        yield Candidate(same, "1 for the same category, else 0")
    else:
        yield Candidate(same, "the share of categories that agree")
        yield Candidate(same**2, "pairs of categories that agree")
        yield from _gaussians_over(same, kind.X, seed)


_MAKERS: dict[str, Callable[[DataKind, Any, Any], Iterator[Candidate]]] = {
    "dense": _dense,
    "sparse": _sparse,
    "histograms": _histograms,
    "periodic": _periodic,
    "strings": _strings,
    "documents": _documents,
    "sets": _sets,
    "counts": _counts,
    "series": _series,
    "categories": _categories,
}


def _gaussians(X: Any, labels: Any, seed: Any) -> Iterator[Candidate]:
    width = _width(X, None, "median", seed)
    if width is None:
        return
    for factor in _WIDTHS:
        scaled = "" if factor == 1.0 else f", gamma {_times(factor)}"
        yield Candidate(RBF(factor * width.gamma), f"smooth functions; {width.how}{scaled}", "RBF")
    if labels is not None:
        close = _width(X, labels, "closest_opposite_pair", seed)
        # A pair much closer than the rest gives a kernel that tells every object from every other.
        if close is not None and close.gamma <= 100.0 * width.gamma:
            yield Candidate(RBF(close.gamma), f"smooth functions; {close.how}", "RBF")


def _gaussians_over(kernel: Kernel, X: Any, seed: Any) -> Iterator[Candidate]:
    """Yield Gaussians over the feature space of a kernel."""
    try:
        width = bandwidth(X, within=kernel, n_sample=400, random_state=seed)
    except ValueError:  # all are equal
        return
    reason = f"smooth functions of this similarity; {width.how}"
    for factor in _FEW_WIDTHS:
        over = OverFeatureSpace(kernel, factor * width.gamma)
        yield Candidate(over, reason, "OverFeatureSpace")


def _polynomials(X: Any) -> Iterator[Candidate]:
    """Yield low degrees with gamma x . z + 1 of moderate size on most rows."""
    typical = float(np.median(squared_norms(X)))
    if typical <= 0.0:
        return
    for degree, what in ((2, "pairs"), (3, "triples")):
        if not polynomial_scale(degree, 1.0 / typical, 1.0, X)[1]:
            reason = f"products of {what} of columns; gamma is one over the median squared length"
            yield Candidate(Polynomial(degree, 1.0 / typical, 1.0), reason, "Polynomial")


def _width(X: Any, labels: Any, rule: str, seed: Any, form: str = "rbf") -> Bandwidth | None:
    try:
        return bandwidth(X, labels, rule, form=form, n_sample=1000, random_state=seed)
    except ValueError:  # equal objects, contradictions: the rule has no answer
        return None


def _typical_chi_square(X: Any, seed: Any) -> float:
    """Return the mean of sum_i (x_i - z_i)^2 / (x_i + z_i) over pairs of rows."""
    rng = generator(seed)
    i, j = rng.integers(0, len(X), size=(2, min(2000, 10 * len(X))))
    difference, total = X[i] - X[j], X[i] + X[j]
    terms = np.divide(difference**2, total, out=np.zeros_like(total), where=total > 0.0)
    return float(terms.sum(axis=1).mean())


def _times(factor: float) -> str:
    return f"{factor:g} times as large" if factor > 1.0 else f"{1.0 / factor:g} times as small"
