"""Documents as bags of terms: analysed once, then counted and weighted in any way."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.objects.hashables import distinct, is_hashable
from mercer.objects.parameters import is_number
from mercer.objects.validation import Objects

DOCUMENTS = Objects(
    "documents: strings, lists of tokens, mappings to counts, or rows of counts",
    accepts_sparse=True,
)

_WORD = re.compile(r"\w\w+")


class Bags:
    """How often every term, in the order of the columns, occurs in each of several documents."""

    def __init__(self, counts: sp.csr_array, terms: list[Any]) -> None:
        self.counts, self.terms = counts, terms

    @property
    def shape(self) -> tuple[int]:
        """The number of documents, as arrays tell theirs."""
        return (self.counts.shape[0],)

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __getitem__(self, index: Any) -> Bags:
        """Return some of the documents, at a slice or an array of indices."""
        return Bags(self.counts[index], self.terms)

    def met(self) -> list[Any]:
        """Return the terms that occur, sorted where they can be compared."""
        return distinct([[self.terms[c] for c in np.unique(self.counts.indices).tolist()]])

    def over(self, columns: Mapping[Any, int]) -> sp.csr_array:
        """Return the counts of some terms, given the column of each; others are left out."""
        place = np.array([columns.get(term, -1) for term in self.terms], dtype=np.int64)
        return _moved(self.counts, place, len(columns))


def _moved(counts: sp.csr_array, place: np.ndarray, n_columns: int) -> sp.csr_array:
    """Return counts with other columns; those that move to the same one are added up."""
    indices = place[counts.indices]
    known = indices >= 0
    start = np.concatenate([[0], np.cumsum(known)])[counts.indptr]
    shape = counts.shape[0], max(n_columns, 1)
    found = sp.csr_array((counts.data[known], indices[known], start), shape=shape)
    found.sum_duplicates()
    return found


@dataclass(frozen=True)
class TermsOf:
    """The analysis of documents, as the map of a program."""

    analyzer: Any  # lists the terms of one document; see `TfIdf`
    stop_words: Any  # terms that are left out
    stemmer: Any  # replaces terms
    takes = DOCUMENTS

    def __call__(self, X: Any) -> Any:
        """Return the bags of documents; rows of counts stay what they are."""
        return X if hasattr(X, "shape") else self._refined(_counted(X, self._split))

    def counts(self, X: Iterable[Any]) -> list[Mapping[Any, Any]]:
        """Return how often each document has its terms, stop words and unstemmed ones as well."""
        split = self._split
        X = list(X)
        for i, x in enumerate(X):
            if is_number(x):
                raise TypeError(
                    f"a kernel on documents was given a column of numbers: row {i} is {x!r}. Use "
                    "RBF or Linear for numbers."
                )
        return [x if isinstance(x, Mapping) else Counter(split(x)) for x in X]

    @property
    def _split(self) -> Any:
        if hasattr(self.analyzer, "build_analyzer"):
            return self.analyzer.build_analyzer()
        return _words if self.analyzer is None else self.analyzer

    def _refined(self, bags: Bags) -> Bags:
        """Return the bags without stop words, with stems for terms: one call for each term."""
        stop_words = _stop_words(self.stop_words)
        if not stop_words and self.stemmer is None:
            return bags
        stems: defaultdict[Any, int] = _numbering()
        place = np.full(max(len(bags.terms), 1), -1, dtype=np.int64)
        for c, term in enumerate(bags.terms):
            if term not in stop_words:
                place[c] = stems[term if self.stemmer is None else self.stemmer(term)]
        return Bags(_moved(bags.counts, place, len(stems)), list(stems))


def _numbering() -> defaultdict[Any, int]:
    """Return a dictionary that numbers its keys in the order in which they are asked for."""
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def _checked_counts(document: Mapping[Any, Any], i: int) -> Counter[Any]:
    """Return the counts of a mapping that are not 0."""
    for term, number in document.items():
        if isinstance(number, bool) or not is_number(number) or not 0 <= number < math.inf:
            raise ValueError(
                f"document {i} has the term {term!r} {number!r} times; counts are numbers of at "
                "least 0."
            )
    return Counter({term: number for term, number in document.items() if number > 0})


def _counted(X: Iterable[Any], split: Any) -> Bags:
    """Return how often every term occurs in each document."""
    columns = _numbering()
    indices: list[int] = []
    values: list[float] = []
    start = [0]
    for i, document in enumerate(X):
        if isinstance(document, Mapping):
            counts = _checked_counts(document, i)
            indices.extend(map(columns.__getitem__, counts))
            values.extend(counts.values())
        else:
            tokens = list(split(document))
            try:
                indices.extend(map(columns.__getitem__, tokens))
            except TypeError:
                token = next(token for token in tokens if not is_hashable(token))
                raise TypeError(
                    f"document {i} has the token {token!r}, which is not hashable; tokens are str."
                ) from None
            values.extend([1.0] * len(tokens))
        start.append(len(indices))
    found = sp.csr_array(
        (np.array(values, dtype=np.float64), np.array(indices, dtype=np.int64), start),
        shape=(len(start) - 1, max(len(columns), 1)),
    )
    found.sum_duplicates()
    return Bags(found, list(columns))


def _words(document: Any) -> Iterable[str]:
    return _WORD.findall(document.lower()) if isinstance(document, str) else document


def _stop_words(stop_words: Any) -> Collection[str]:
    if stop_words is None:
        return ()
    if stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return ENGLISH_STOP_WORDS
    return stop_words if isinstance(stop_words, set | frozenset) else frozenset(stop_words)
