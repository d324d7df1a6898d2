"""Spectrum kernels with mismatches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram.program import Builder
from mercer.objects.parameters import integer_from, parameter
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..definiteness import PSD
from .sequence_kernel import AlphabetKernel, SequenceKernel, Tokens, in_alphabet
from .spectrum import counts, push_dots
from .words import MOST_WORDS, Words, spelled, with_neighbours

_MOST_PATTERNS = 100_000  # of positions that are looked at in every substring


class Mismatch(AlphabetKernel):
    r"""Counts of substrings of length k, with up to m mismatches.

    .. math::

        k(s, t) = \sum_{w \in \Sigma^k} \phi_w(s) \, \phi_w(t), \qquad
        \phi_w(s) = |\{i : s_{i:i+k} \text{ differs from } w \text{ in at most } m \text{ places}\}|

    Positive semidefinite, a dot product of counts. Substrings with a letter outside the alphabet
    do not count.

    The features, of which there may be millions, are not written down. Two substrings that differ
    in d places have a number :math:`I_d` of neighbours w in common that depends on d alone, and
    the pairs that differ in d places are found, by inclusion and exclusion, from the pairs that
    agree outside every set of i places: dot products of spectra with i gaps. The effort therefore
    does not depend on the size of the alphabet.

    Parameters
    ----------
    k : int >= 1, default=3
        The length of the substrings.
    m : int >= 0 and < k, default=1
        The number of mismatches.
    alphabet : str, bytes or sequence, optional
        The letters :math:`\Sigma`; by default those of the training sequences, set by `bind`.

    Notes
    -----
    Use it for proteins and DNA where mutations replace letters: substrings of length k match if
    they differ in at most m places. Take k from 5 to 8 and m = 1 or 2, with ``normalize``. It costs
    one sparse count for every choice of up to 2 m places of k, for any alphabet. Avoid it for
    insertions and deletions; Subsequence and PairHMM have those.

    References
    ----------
    C. Leslie, E. Eskin, A. Cohen, J. Weston, W. S. Noble. "Mismatch string kernels for
    discriminative protein classification." Bioinformatics 20, 2004. The counting by distances:
    P. Kuksa, P.-H. Huang, V. Pavlovic. "Scalable algorithms for string kernels with inexact
    matching." NIPS 21, 2008.

    Examples
    --------
    >>> from mercer.kernels import Mismatch
    >>> Mismatch(k=2, m=1, alphabet="AB")(["AAB"], ["BB"])
    array([[4.]])
    """

    k: int = parameter(integer_from(1), default=3)
    m: int = parameter(integer_from(0), default=1)
    alphabet: Sequence[Any] | None = None

    definiteness = PSD  # a dot product of counts

    def _check(self) -> None:
        super()._check()
        if self.m >= self.k:
            raise ValueError(f"m must be smaller than k={self.k}; got {self.m}.")
        # With more than 60 gaps there are more patterns than 2^60; all need not be counted.
        patterns = sum(comb(self.k, gaps) for gaps in range(min(2 * self.m, self.k, 60) + 1))
        if patterns > _MOST_PATTERNS:
            raise ValueError(
                f"k={self.k} and m={self.m} need {patterns:,} patterns of positions for every "
                f"substring, more than the {_MOST_PATTERNS:,} that end in time; use smaller ones."
            )

    def compile(self, builder: Builder) -> None:
        self.require_bound("on pairs of sequences")
        alphabet: Any = self.alphabet
        weights = enumerate(self.gap_weights())
        push_dots(builder, ((GappedSpectrum(self.k, gaps, alphabet), w) for gaps, w in weights))

    def map_features(self, X: Any, vocabulary: Vocabulary) -> sp.csr_array:
        """Return the counts of all words of the alphabet; see :meth:`Kernel.map_features`.

        There are q^k words over q letters; more than a million raise ValueError.
        """
        self.require_bound("as explicit features")
        alphabet, k = self.alphabet or (), int(self.k)
        if len(alphabet) ** k > MOST_WORDS:
            raise ValueError(
                f"{type(self).__name__} has a feature for each of the {len(alphabet)}^{k} words "
                f"over its alphabet, more than the {MOST_WORDS:,} that are listed; use its values "
                "k(X, Z), or the features of Nystrom, which take any kernel."
            )
        words = Words(np.arange(len(alphabet)), k, complete=True)
        met = words.counts(in_alphabet(self.validate(X), alphabet), k)
        return with_neighbours(met, k, len(alphabet), int(self.m))

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return spelled(self.alphabet or (), int(self.k))

    def common_neighbours(self) -> list[int]:
        """Return the number of words within m mismatches of two words that differ in d places.

        One number for each d = 0, 1, ..., min(2 m, k).
        """
        self.require_bound("as numbers of neighbours")
        k, m, q = int(self.k), int(self.m), len(self.alphabet or ())
        numbers = []
        for d in range(min(2 * m, k) + 1):
            total = 0
            for other in range(d + 1):  # places where w agrees with neither of the two
                for first in range(d - other + 1):  # places where it agrees with the first
                    second = d - other - first
                    ways = comb(d, other) * comb(d - other, first) * max(q - 2, 0) ** other
                    left = m - other - max(first, second)
                    total += ways * sum(
                        comb(k - d, e) * (q - 1) ** e for e in range(min(left, k - d) + 1)
                    )
            numbers.append(total)
        return numbers

    def gap_weights(self) -> list[int]:
        """Return the weights of the spectra with 0, 1, 2, ... gaps whose sum is the kernel.

        If P_i counts the pairs of substrings that agree outside i places, summed over the choices
        of the places, and C_d the pairs that differ in d places, then P_i = sum_d binom(k-d, i-d)
        C_d, hence C_d = sum_i (-1)^(d-i) binom(k-i, d-i) P_i.
        """
        k, neighbours = int(self.k), self.common_neighbours()
        return [
            sum(
                (-1) ** (d - i) * comb(k - i, d - i) * neighbours[d]
                for d in range(i, len(neighbours))
            )
            for i in range(len(neighbours))
        ]


class GappedSpectrum(SequenceKernel):
    """Counts of substrings of length k, summed over the choices of places not looked at."""

    k: int
    gaps: int
    alphabet: Sequence[Any]

    definiteness = PSD  # a dot product of counts

    def compile(self, builder: Builder) -> None:
        builder.mapped(self, "dot")

    def map_objects(self, X: list, vocabulary: Vocabulary) -> Any:
        tokens = in_alphabet(X, self.alphabet)
        seen = self.k - self.gaps
        if seen == 0:
            return _windows(tokens, self.k)
        patterns = list(combinations(range(self.k), seen))
        return counts(tokens, patterns, seen, self.k, vocabulary)


def _windows(tokens: Tokens, k: int) -> sp.csr_array:
    """Return, as the one column of a matrix, how many substrings of known letters there are."""
    unknown = np.concatenate([[0], np.cumsum(tokens.token < 0)])
    at = np.arange(len(tokens.token) - k + 1)
    good = np.concatenate([[0], np.cumsum(unknown[at + k] == unknown[at])])
    begin = np.minimum(tokens.start[:-1], len(good) - 1)
    end = np.clip(tokens.start[1:] - k + 1, begin, len(good) - 1)
    return sp.csr_array((good[end] - good[begin]).astype(np.float64)[:, None])
