"""Documents as bags of terms: analysed once, then counted and weighted in any way."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from mercer.objects.hashables import is_hashable
from mercer.objects.parameters import is_number
from mercer.objects.validation import Objects, take
from mercer.objects.vocabulary import Vocabulary

DOCUMENTS = Objects(
    "documents: strings, lists of tokens, mappings to counts, or rows of counts",
    accepts_sparse=True,
)

_WORD = re.compile(r"\w\w+")


class Bags:
    """How often every term occurs in each of several documents."""

    def __init__(self, bags: list[Counter[Any]]) -> None:
        self._bags = bags

    @property
    def shape(self) -> tuple[int]:
        """The number of documents, as arrays tell theirs."""
        return (len(self._bags),)

    def __len__(self) -> int:
        return len(self._bags)

    def __iter__(self) -> Iterator[Counter[Any]]:
        return iter(self._bags)

    def __getitem__(self, index: Any) -> Bags:
        """Return some of the documents, at a slice or an array of indices."""
        return Bags(take(self._bags, index))


@dataclass(frozen=True)
class TermsOf:
    """The analysis of documents, as the map of a program."""

    analyzer: Any  # lists the terms of one document; see `TfIdf`
    stop_words: Any  # terms that are left out
    stemmer: Any  # replaces terms
    takes = DOCUMENTS

    def __call__(self, X: Any) -> Any:
        """Return the bags of documents; rows of counts stay what they are."""
        if hasattr(X, "shape"):
            return X
        split = _words
        if hasattr(self.analyzer, "build_analyzer"):
            split = self.analyzer.build_analyzer()
        elif self.analyzer is not None:
            split = self.analyzer
        stop_words = _stop_words(self.stop_words)
        return Bags([self._bag(x, i, split, stop_words) for i, x in enumerate(X)])

    def _bag(self, document: Any, i: int, split: Any, stop_words: Any) -> Counter[Any]:
        """Return how often every term occurs in one document."""
        if isinstance(document, Mapping):
            bag = _checked_counts(document, i)
        else:
            bag = _counted(split(document), i)
        if stop_words:
            bag = Counter({term: n for term, n in bag.items() if term not in stop_words})
        if self.stemmer is None:
            return bag
        stems: Counter[Any] = Counter()
        for term, n in bag.items():
            stems[self.stemmer(term)] += n
        return stems


def _checked_counts(document: Mapping[Any, Any], i: int) -> Counter[Any]:
    """Return the counts of a mapping that are not 0."""
    for term, number in document.items():
        if isinstance(number, bool) or not is_number(number) or not 0 <= number < math.inf:
            raise ValueError(
                f"document {i} has the term {term!r} {number!r} times; counts are numbers of at "
                "least 0."
            )
    return Counter({term: number for term, number in document.items() if number > 0})


def _counted(tokens: Iterable[Any], i: int) -> Counter[Any]:
    tokens = list(tokens)
    try:
        return Counter(tokens)
    except TypeError:
        token = next(token for token in tokens if not is_hashable(token))
        raise TypeError(
            f"document {i} has the token {token!r}, which is not hashable; tokens are str."
        ) from None


def _words(document: Any) -> Iterable[str]:
    return _WORD.findall(document.lower()) if isinstance(document, str) else document


def _stop_words(stop_words: Any) -> Collection[str]:
    if stop_words is None:
        return ()
    if stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return ENGLISH_STOP_WORDS
    return stop_words if isinstance(stop_words, set | frozenset) else frozenset(stop_words)


def count_terms(bags: Iterable[Mapping[str, float]], terms: Sequence[str]) -> sp.csr_array:
    """Return bags of terms as rows of counts; other terms are left out."""
    vocabulary = Vocabulary()
    for term in terms:
        vocabulary.column(term)
    vocabulary.fix()
    return vocabulary.counts(bags)
