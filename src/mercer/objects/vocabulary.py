"""Columns for features that are met among objects: words, substrings, elements of sets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

Columns = Sequence[str] | None  # names of the columns of vectors or tables
Names = list[str] | None  # of features; None: they have none


class Vocabulary:
    """Gives every feature a column, in the order in which they are met.

    It grows while the objects that stay (training objects, support vectors) are mapped and is then
    fixed: features that only other objects have get no column. They meet a zero of every object
    that stays, so a dot product is exact without them.

    Attributes
    ----------
    fixed : bool
        Whether new features are dropped.
    memory : dict
        What a kernel's own way of mapping needs to find its columns again.

    Examples
    --------
    >>> from mercer.objects.vocabulary import Vocabulary
    >>> words = Vocabulary()
    >>> words.counts([["to", "be", "to"], ["be"]]).toarray()
    array([[2., 1.],
           [0., 1.]])
    >>> words.fix()
    >>> words.counts([["to", "see"]]).toarray()
    array([[1., 0.]])
    """

    def __init__(self) -> None:
        self.fixed = False
        self.memory: dict[str, Any] = {}
        self._columns: dict[Hashable, int] = {}
        self._parts: dict[str, Vocabulary] = {}

    def __len__(self) -> int:
        return len(self._columns)

    def fix(self) -> None:
        """Give no more columns."""
        self.fixed = True
        for part in self._parts.values():
            part.fix()

    def part(self, name: str) -> Vocabulary:
        """Return the vocabulary of a part, such as a term of a sum, with columns of its own."""
        if name not in self._parts:
            self._parts[name] = Vocabulary()
            self._parts[name].fixed = self.fixed
        return self._parts[name]

    @property
    def features(self) -> list[Hashable]:
        """The features that have a column, in the order of the columns."""
        return list(self._columns)

    def column(self, feature: Hashable) -> int:
        """Return the column of a feature, -1 for one without."""
        if self.fixed:
            return self._columns.get(feature, -1)
        return self._columns.setdefault(feature, len(self._columns))

    def counts(self, bags: Iterable[Any]) -> sp.csr_array:
        """Return how often each object has each feature, as a CSR array of float64.

        `bags`: the features of each object; repeated ones are counted, a mapping gives their
        values. There is at least one column, so that objects without features have a row.
        """
        columns: list[int] = []
        values: list[float] = []
        start = [0]
        for bag in bags:
            row: dict[int, float] = {}
            pairs = bag.items() if isinstance(bag, Mapping) else ((f, 1.0) for f in bag)
            for feature, value in pairs:
                c = self.column(feature)
                if c >= 0:
                    row[c] = row.get(c, 0.0) + value
            columns.extend(sorted(row))
            values.extend(row[c] for c in sorted(row))
            start.append(len(columns))
        return sp.csr_array(
            (np.array(values, dtype=np.float64), np.array(columns, dtype=np.int64), start),
            shape=(len(start) - 1, max(len(self._columns), 1)),
        )
