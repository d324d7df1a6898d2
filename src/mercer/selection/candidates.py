"""Kernels worth trying for each kind of data, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.features.seeds import generator
from mercer.kernels import (
    RBF,
    BlendedSpectrum,
    ChiSquare,
    FourierSeries,
    FromFeatureMap,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    PeriodicGaussian,
    Polynomial,
    Spectrum,
    Subsequence,
    TfIdf,
    normalize,
)
from mercer.kernels.vectors.scale import polynomial_scale
from mercer.objects.rows import squared_norms

from .bandwidth import Bandwidth, bandwidth
from .candidate import Candidate
from .combining import on_table
from .kind import DataKind
from .object_candidates import on_categories, on_counts, on_series, on_sets

# gamma of a Gaussian, in multiples of the rule that the median distance gives.
_WIDTHS = (0.25, 1.0, 4.0, 16.0, 64.0)
# Letters of a string up to which subsequences are counted: a value costs the product of lengths.
_SHORT = 100


def candidates(kind: DataKind, y: Any, classification: bool, random_state: Any) -> list[Candidate]:
    """Return kernels for the data, the simplest first."""
    makers = {
        "dense": _dense,
        "sparse": _sparse,
        "histograms": _histograms,
        "periodic": _periodic,
        "strings": _strings,
        "documents": _documents,
        "sets": on_sets,
        "counts": on_counts,
        "series": on_series,
        "categories": on_categories,
    }
    if kind.name == "table":
        found = list(on_table(kind, y, classification, random_state, candidates))
    else:
        labels = y if classification else None
        found = list(makers[kind.name](kind, labels, random_state))
    return list({c.kernel: c for c in reversed(found)}.values())[::-1]


def _dense(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    X = kind.X
    yield Candidate(Linear(), "the simplest: its weights can be read")
    yield from _polynomials(X)
    yield from _gaussians(X, labels, seed)
    width = _width(X, None, "median", seed, "laplacian")
    if width is not None:
        yield Candidate(
            Laplacian(width.gamma), f"rough functions, which outliers disturb less; {width.how}"
        )
    width = _width(X, None, "median", seed)
    if width is not None:
        yield Candidate(
            Matern(1.5, width.sigma),
            f"between Gaussian and Laplacian: once differentiable; {width.how}",
        )


def _sparse(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    yield Candidate(Linear(), "the usual choice for many sparse columns")
    yield Candidate(normalize(Linear()), "cosine: rows of different length count alike")
    yield Candidate(
        Polynomial(2, 1.0, 1.0)
        if float(squared_norms(kind.X).max()) <= 10.0
        else normalize(Linear() + 1.0) ** 2,
        "pairs of columns that occur together",
    )
    yield from _gaussians(kind.X, labels, seed)


def _histograms(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    yield Candidate(Linear(), "the simplest: its weights can be read")
    yield Candidate(
        FromFeatureMap(np.sqrt), "Bhattacharyya: dot product of square roots of the bins"
    )
    yield Candidate(HistogramIntersection(), "what two histograms have in common")
    typical = _typical_chi_square(kind.X, seed)
    if typical > 0.0:
        yield Candidate(
            ChiSquare(1.0 / typical),
            f"bins weighted by their counts; the mean chi-square distance is {typical:.3g}",
        )
    yield from _gaussians(kind.X, labels, seed)


def _periodic(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    assert kind.period is not None
    for share in (0.05, 0.15, 0.4):
        yield Candidate(
            PeriodicGaussian(share * kind.period, kind.period),
            f"repeats with the period {kind.period:.6g} of the target",
            "PeriodicGaussian",
        )
    yield Candidate(
        FourierSeries(tuple(0.5**n for n in range(6)), kind.period),
        f"waves with the period {kind.period:.6g} of the target and its overtones",
    )
    yield from _gaussians(kind.X, labels, seed)


def _strings(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    lengths = [len(s) for s in kind.X]
    yield Candidate(normalize(Spectrum(1)), "shared letters, whatever their order", "Spectrum")
    for p in (2, 3, 4, 6):
        if p <= max(min(lengths), 2):
            yield Candidate(
                normalize(Spectrum(p)), f"shared substrings of length {p}, as a cosine", "Spectrum"
            )
    yield Candidate(
        normalize(BlendedSpectrum(4)), "shared substrings of length 1 to 4, as a cosine"
    )
    if np.mean(lengths) <= _SHORT:
        yield Candidate(normalize(Subsequence(3, 0.5)), "shared subsequences of length 3 with gaps")


def _documents(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    # The words of TfIdf have two letters or more; texts of single letters are split at spaces.
    with_words = sum(any(len(word) > 1 for word in text.split()) for text in kind.X)
    split = None if with_words > len(kind.X) / 2 else str.split
    yield Candidate(
        TfIdf(idf="none", analyzer=split), "shared words, whatever their order, as a cosine"
    )
    yield Candidate(
        TfIdf(analyzer=split), "shared words, the rarer the more they count, as a cosine"
    )
    yield Candidate(normalize(Spectrum(4)), "shared pieces of four letters, also within words")


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


def _polynomials(X: Any) -> Iterator[Candidate]:
    """Yield low degrees with gamma x . z + 1 of moderate size on most rows."""
    typical = float(np.median(squared_norms(X)))
    if typical <= 0.0:
        return
    gamma = 1.0 / typical
    for degree, what in ((2, "pairs"), (3, "triples")):
        if not polynomial_scale(degree, gamma, 1.0, X)[1]:
            yield Candidate(
                Polynomial(degree, gamma, 1.0),
                f"products of {what} of columns; gamma is one over the median squared length",
                "Polynomial",
            )


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
