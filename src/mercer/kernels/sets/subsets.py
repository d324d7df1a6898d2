"""Features of products over elements: one for every way to choose among them.

A product over elements v of 1 + sum_c f_c(A) f_c(B), c running over the choices that v offers, is
the sum over all ways to take at most one choice of every element; each way is a feature, whose
value is the product of what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import prod
from typing import Any

import scipy.sparse as sp

from mercer.objects.hashables import distinct
from mercer.objects.vocabulary import Vocabulary

MOST_PARTS = 2**16  # of one object that are listed


def chosen_parts(
    objects: Sequence[Sequence[Sequence[tuple[Hashable, float]]]],
    vocabulary: Vocabulary,
    owner: str,
) -> sp.csr_array:
    """Return one feature for every way to take at most one choice of each element.

    `objects`: for every object its elements, and for every element its choices with their values.
    `vocabulary`: gives the ways their columns; filled by the first objects.
    """
    known = vocabulary.part("choices")
    register(((c for own in choices for c, _ in own) for choices in objects), known)
    rows: list[dict[frozenset[Hashable], float]] = []
    for i, choices in enumerate(objects):
        met = [[(c, f) for c, f in own if f > 0 and known.column(c) >= 0] for own in choices]
        total = prod(1 + len(own) for own in met)
        if total > MOST_PARTS:
            raise ValueError(
                f"{owner} has a feature for every part of an object; object {i} has {total:,} of "
                f"them, more than the {MOST_PARTS:,} that are listed. Use its values k(X, Z), or "
                "the features of Nystrom, which take any kernel."
            )
        ways: dict[frozenset[Hashable], float] = {frozenset(): 1.0}
        for own in sorted(filter(None, met), key=lambda own: known.column(own[0][0])):
            ways |= {way | {c}: value * f for way, value in ways.items() for c, f in own}
        rows.append(ways)
    features = vocabulary.counts(rows)
    vocabulary.fix()
    return features


def register(collections: Iterable[Iterable[Hashable]], vocabulary: Vocabulary) -> None:
    """Give what occurs its columns in sorted order: that of a Python set is not reproducible."""
    if not vocabulary.fixed:
        for item in distinct(collections):
            vocabulary.column(item)


def part_names(vocabulary: Vocabulary, name: Callable[[Any], str] = str) -> list[str]:
    """Return the names of the columns of `chosen_parts`, such as ``{a, b}``."""
    parts: list[Any] = list(vocabulary.features)
    return [f"{{{', '.join(sorted(map(name, part)))}}}" for part in parts]


def copies_name(copies: Any) -> str:
    """Return the name of a number of copies of an element, such as ``a x 2``."""
    element, number = copies
    return str(element) if number == 1 else f"{element} x {number}"
