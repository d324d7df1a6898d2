"""Kernels for tables: one for every group of columns, on its columns, and their sums.

Every group gets the kernels that suit it. On a sample those best aligned with the target are
chosen, one for each of the two best families, and put on their columns; what is tried are the best
of every group alone, Gaussians of the whole row, the sums over the best aligned groups and over all
of them, and the product. The Gaussians have standardised numbers, encoded categories and word
weights side by side, as a pipeline of encoders has them: the effect of a column may depend on any
other. They have one width, and are simpler than sums with one for every group.
A kernel is divided by the mean of its k(x, x), so that all groups have equal weight in a sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from operator import add, mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.features.seeds import generator
from mercer.gram import Gram
from mercer.inspection.alignments import cosine
from mercer.kernels import RBF, Categorical, Kernel, OverFeatureSpace, TfIdf
from mercer.objects.validation import count, take

from .candidates import Candidate, candidates, distinct
from .data_kind import DataKind, Part

_SAMPLE = 200  # objects on which kernels of one group are compared
_MOST_STEPS = 50_000_000  # and what may be spent on one matrix of them
_MOST_ALONE = 5  # groups whose kernels are also tried alone, and without the others
_MOST_SUMS = 8
_WIDTHS = (0.003, 0.03, 0.3)  # gamma of a Gaussian of the whole row
_NUMBERS = ("dense", "histograms", "periodic")
_SIMILAR = 2.0  # a mean of k(x, x) between one over this and this is left as it is


class _Choice(NamedTuple):
    """A kernel on its columns, with its weight in a sum."""

    kernel: Kernel
    label: str
    reason: str
    alignment: float


def usual_candidates(kind: DataKind, y: Any, classification: bool, seed: Any) -> list[Candidate]:
    """Return kernels for data of any kind, the simplest first."""
    if kind.name != "table":
        return candidates(kind, y, classification, seed)
    return distinct(_on_table(kind, y, classification, seed))


def _on_table(kind: DataKind, y: Any, classification: bool, seed: Any) -> Iterator[Candidate]:
    if len(kind.parts) == 1:
        part = kind.parts[0]
        for found in candidates(part.kind, y, classification, seed):
            yield found._replace(kernel=found.kernel.on_columns(part.columns))
        return
    n = count(kind.X)
    most = min(n, _SAMPLE, max(20, int((2 * _MOST_STEPS / kind.steps) ** 0.5)))
    chosen = np.sort(generator(seed).choice(n, most, replace=False))
    parts = []
    for part in kind.parts:
        tried = candidates(part.kind, y, classification, seed)
        best = _best_two(tried, take(part.kind.X, chosen), y[chosen], classification)
        parts.append(
            [
                c._replace(kernel=_scaled(c.kernel, part.columns, size), label=part.label)
                for c, size in best
            ]
        )
    first = sorted((choices[0] for choices in parts), key=lambda c: -c.alignment)
    for choice in first[:_MOST_ALONE]:
        yield Candidate(choice.kernel, f"{choice.label} alone: {choice.reason}")
    for gamma in _WIDTHS:
        factors = (_gaussian(p, c[0].kernel, gamma) for p, c in zip(kind.parts, parts, strict=True))
        reason = "a Gaussian of the row: standardised numbers, encoded categories and word weights"
        yield Candidate(reduce(mul, factors), reason, "side by side")
    for some in range(2, min(len(first), _MOST_ALONE)):
        yield _sum(first[:some])
    # Of all groups the sum of the best, then those with one second choice, and so on.
    orders = sorted(product(*(range(len(choices)) for choices in parts)), key=sum)
    for order in orders[:_MOST_SUMS]:
        yield _sum([choices[i] for choices, i in zip(parts, order, strict=True)])
    yield Candidate(
        reduce(mul, (choice.kernel for choice in first)),
        f"alike in all of these at once; {_reasons(first)}",
    )


def _gaussian(part: Part, best: Kernel, gamma: float) -> Kernel:
    """Return a Gaussian of the columns of a part, encoded as for a linear model.

    `best`: the kernel for objects that have no such encoding.
    """
    if part.kind.name == "documents":
        return OverFeatureSpace(TfIdf("log", "smooth"), gamma).on_columns(part.columns)
    if part.kind.name == "categories":  # a category that differs adds 2 to the squared distance
        over = OverFeatureSpace(Categorical(), gamma * part.kind.X.shape[1])
        return over.on_columns(part.columns)
    if part.kind.name not in _NUMBERS:
        return OverFeatureSpace(best, gamma)
    widths = [gamma / (float(v) or 1.0) for v in np.var(part.kind.X, axis=0)]
    return RBF(widths if len(widths) > 1 else widths[0]).on_columns(part.columns)


def _sum(terms: list[_Choice]) -> Candidate:
    return Candidate(reduce(add, (term.kernel for term in terms)), _reasons(terms))


def _reasons(terms: list[_Choice]) -> str:
    return "; ".join(f"{term.label}: {term.reason}" for term in terms)


def _best_two(
    tried: list[Candidate], X: Any, y: NDArray[Any], classification: bool
) -> list[tuple[_Choice, float]]:
    """Return the best aligned kernels of the two best families, with their mean k(x, x)."""
    task = "classification" if classification else "regression"
    best: dict[str, tuple[_Choice, float]] = {}
    for candidate in tried:
        K = Gram(candidate.kernel.bind(X), X, "float64").tile()
        alignment = cosine(K, y=y, task=task, centred=True) or 0.0
        choice = _Choice(candidate.kernel, "", candidate.reason, alignment)
        family = candidate.family or repr(candidate.kernel)
        if family not in best or alignment > best[family][0].alignment:
            best[family] = choice, float(np.diagonal(K).mean())
    return sorted(best.values(), key=lambda entry: -entry[0].alignment)[:2]


def _scaled(kernel: Kernel, columns: Any, size: float) -> Kernel:
    """Return a kernel on its columns, divided by its mean k(x, x) where that is far from 1."""
    placed = kernel.on_columns(columns)
    if size <= 0.0 or 1.0 / _SIMILAR <= size <= _SIMILAR:
        return placed
    return float(f"{1.0 / size:.3g}") * placed
