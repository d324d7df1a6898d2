"""Kernels worth trying for each kind of data, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import kernels
from mercer.features.seeds import generator
from mercer.kernels import RBF, Kernel, Laplacian, Linear, Polynomial, normalize
from mercer.kernels.rows import squared_norms
from mercer.kernels.vectors.scale import polynomial_scale

from .bandwidth import Bandwidth, bandwidth
from .kinds import DataKind

# gamma of a Gaussian, in multiples of the rule that the median distance gives.
_WIDTHS = (0.25, 1.0, 4.0, 16.0, 64.0)


@dataclass(frozen=True)
class Candidate:
    """A kernel to be tried.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    reason : str
        Why it is worth a try.
    family : str
        Kernels of one family differ in a width or a degree; the best of them is suggested.
    """

    kernel: Kernel
    reason: str
    family: str = ""


def candidates(kind: DataKind, y: Any, classification: bool, random_state: Any) -> list[Candidate]:
    """Return kernels for the data, the simplest first.

    Parameters
    ----------
    kind : DataKind
        The data.
    y : array of shape (n,)
        Labels or targets.
    classification : bool
        Which of the two.
    random_state : int, Generator, RandomState or None
        Seed of the draws behind the widths.
    """
    makers = {
        "dense": _dense,
        "sparse": _sparse,
        "histograms": _histograms,
        "periodic": _periodic,
        "strings": _strings,
        "documents": _documents,
    }
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
        if hasattr(kernels, "Matern"):
            euclid = _width(X, None, "median", seed)
            if euclid is not None:
                yield Candidate(
                    kernels.Matern(1.5, euclid.sigma),
                    f"between Gaussian and Laplacian: once differentiable; {euclid.how}",
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
        kernels.FromFeatureMap(np.sqrt), "Bhattacharyya: dot product of square roots of the bins"
    )
    if hasattr(kernels, "HistogramIntersection"):
        yield Candidate(kernels.HistogramIntersection(), "what two histograms have in common")
    if hasattr(kernels, "ChiSquare"):
        typical = _typical_chi_square(kind.X, seed)
        yield Candidate(
            kernels.ChiSquare(1.0 / typical),
            f"bins weighted by their counts; the mean chi-square distance is {typical:.3g}",
        )
    yield from _gaussians(kind.X, labels, seed)


def _periodic(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    if hasattr(kernels, "PeriodicGaussian") and kind.period is not None:
        for share in (0.05, 0.15, 0.4):
            yield Candidate(
                kernels.PeriodicGaussian(share * kind.period, kind.period),
                f"repeats with the period {kind.period:.6g} of the target",
                "PeriodicGaussian",
            )
    yield from _by_spectrum(kind)
    yield from _gaussians(kind.X, labels, seed)


def _by_spectrum(kind: DataKind) -> Iterator[Candidate]:
    """Yield the kernel of the waves with the target's period and its first overtones."""
    from .power_spectrum import kernel_from_power_spectrum

    assert kind.period is not None
    orders = np.arange(0, 6)
    yield Candidate(
        kernel_from_power_spectrum(2.0 * np.pi * orders / kind.period, 0.5**orders),
        f"waves with the period {kind.period:.6g} of the target and its overtones",
    )


def _strings(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    shortest = min(len(s) for s in kind.X)
    if hasattr(kernels, "Spectrum"):
        for p in (2, 3, 4, 6):
            if p <= max(shortest, 2):
                yield Candidate(
                    normalize(kernels.Spectrum(p)),
                    f"shared substrings of length {p}, as a cosine",
                    "Spectrum",
                )
    if hasattr(kernels, "BlendedSpectrum"):
        yield Candidate(
            normalize(kernels.BlendedSpectrum(4)), "shared substrings of length 1 to 4, as a cosine"
        )
    if hasattr(kernels, "Subsequence"):
        yield Candidate(
            normalize(kernels.Subsequence(3, 0.5)), "shared subsequences of length 3 with gaps"
        )
    yield Candidate(
        normalize(kernels.FromFeatureMap(_Counts(kind.X, list))),
        "shared letters, whatever their order",
    )


def _documents(kind: DataKind, labels: Any, seed: Any) -> Iterator[Candidate]:
    if hasattr(kernels, "TfIdf"):
        yield Candidate(kernels.TfIdf(), "shared words, the rarer the more they count, as a cosine")
    yield Candidate(
        normalize(kernels.FromFeatureMap(_Counts(kind.X, _words))),
        "shared words, whatever their order, as a cosine",
    )
    if hasattr(kernels, "Spectrum"):
        yield Candidate(
            normalize(kernels.Spectrum(4)), "shared pieces of four letters, also within words"
        )


def _words(document: Any) -> list[Any]:
    return document.lower().split()


class _Counts:
    """Counts of the letters or words of strings, those that occur in given strings."""

    def __init__(self, strings: Any, parts: Callable[[Any], list[Any]]) -> None:
        self.parts = parts
        self.columns = {c: i for i, c in enumerate(sorted({c for s in strings for c in parts(s)}))}

    def __call__(self, strings: Any) -> Any:
        rows, columns = [], []
        for row, string in enumerate(strings):
            found = [self.columns[c] for c in self.parts(string) if c in self.columns]
            rows += [row] * len(found)
            columns += found
        shape = (len(strings), max(len(self.columns), 1))
        return sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()

    def __repr__(self) -> str:
        what = "letters" if self.parts is list else "words"
        return f"<counts of {len(self.columns)} {what}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Counts):
            return NotImplemented
        return self.parts == other.parts and self.columns == other.columns

    def __hash__(self) -> int:
        return hash(tuple(self.columns))


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
    return max(float(terms.sum(axis=1).mean()), math.ulp(1.0))


def _times(factor: float) -> str:
    return f"{factor:g} times as large" if factor > 1.0 else f"{1.0 / factor:g} times as small"
