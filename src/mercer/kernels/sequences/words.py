"""Words over an alphabet as columns: the explicit features of kernels that count substrings.

The words are kept length by length, each as its prefix and its last letter: the word of length l
with the number n is the key prefix * q + letter, with q letters, and the keys of a length are
sorted. So words are in the order of their letters, and a substring finds its number by one binary
search for each of its letters, whatever its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from mercer.objects.vocabulary import Vocabulary

from .sequence_kernel import Tokens

if TYPE_CHECKING:
    from .sequence_kernel import SequenceKernel

ALL_WORDS = 10_000  # up to so many, all words over the letters have a column, met or not
MOST_WORDS = 2**20  # columns of a kernel that needs all words
_DIRECT = 16  # a table may have so many places for each number that is looked up


class Words:
    """The words up to a length that have a column: all (`complete`) or those `learn` meets."""

    def __init__(self, letters: np.ndarray, longest: int, complete: bool) -> None:
        self.letters = letters
        self.spelling: list[str] = []
        self.separator = ""
        q = len(letters)
        n = [q**length if complete or length == 1 else 0 for length in range(1, longest + 1)]
        self._keys = [np.arange(count, dtype=np.int64) for count in n]

    def learn(self, tokens: Tokens) -> None:
        """Take the substrings of sequences as words."""
        self._at(tokens, len(self._keys), learn=True)

    def counts(self, tokens: Tokens, length: int) -> sp.csr_array:
        """Return how often sequences hold every word of a length."""
        word = self._at(tokens, length)
        found = np.flatnonzero(word >= 0)
        shape = (len(tokens.start) - 1, max(len(self._keys[length - 1]), 1))
        entries = (np.ones(len(found)), (_sequence(tokens)[found], word[found]))
        return sp.csr_array(entries, shape=shape)

    def at_positions(
        self, tokens: Tokens, length: int, factor: np.ndarray, vocabulary: Vocabulary
    ) -> sp.csr_array:
        """Return, for words at positions i, the entries `factor[i, r]` in the columns of i - r."""
        word, row = self._at(tokens, length), _sequence(tokens)
        found = np.flatnonzero(word >= 0)
        word, row, place = word[found], row[found], found - tokens.start[row[found]]
        rows, keys, values = [], [], []
        for r in range(factor.shape[1]):
            some = place >= r
            rows.append(row[some])
            keys.append((place[some] - r) * len(self._keys[length - 1]) + word[some])
            values.append(factor[place[some], r])
        key = np.concatenate(keys)
        known = vocabulary.memory.setdefault(f"places {length}", _distinct(key))
        column = _number(known, key)
        met = column >= 0
        entries = (np.concatenate(values)[met], (np.concatenate(rows)[met], column[met]))
        return sp.csr_array(entries, shape=(len(tokens.start) - 1, max(len(known), 1)))

    def names(self, length: int) -> list[str]:
        """Return the words of a length."""
        return [self.separator.join(word) for word in self._spelled(length)] or ["nothing"]

    def placed_names(self, length: int, vocabulary: Vocabulary) -> list[str]:
        """Return the columns of `at_positions`, as ``position:word``."""
        names, known = self.names(length), vocabulary.memory[f"places {length}"]
        places, words = np.divmod(known, max(len(self._keys[length - 1]), 1))
        return [f"{i}:{names[w]}" for i, w in zip(places, words, strict=True)] or ["nothing"]

    def _spelled(self, length: int) -> list[tuple[str, ...]]:
        if length == 0:
            return [()]
        shorter, q = self._spelled(length - 1), max(len(self.letters), 1)
        return [(*shorter[key // q], self.spelling[key % q]) for key in self._keys[length - 1]]

    def _at(self, tokens: Tokens, length: int, learn: bool = False) -> np.ndarray:
        """Return the word of a length that begins at every token, -1 for none.

        `learn`: take all substrings up to this length as words.
        """
        letter, left = self._letters(tokens)
        word = letter
        for step in range(2, length + 1):
            keys, begin = self._extended(letter, left, word, step)
            if learn:
                self._keys[step - 1] = _distinct(keys)
            word = np.full(len(letter), -1, dtype=np.int64)
            word[begin] = _number(self._keys[step - 1], keys)
        return word

    def _letters(self, tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
        """Return the letter at every place, -1 for none, and how many tokens are left there."""
        left = np.repeat(tokens.start[1:], np.diff(tokens.start)) - np.arange(len(tokens.token))
        return _number(self.letters, tokens.token), left

    def _extended(
        self, letter: np.ndarray, left: np.ndarray, shorter: np.ndarray, length: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the keys of the substrings of a length, and where they begin."""
        begin = np.flatnonzero((left >= length) & (shorter >= 0))
        last = letter[begin + length - 1]
        begin, last = begin[last >= 0], last[last >= 0]
        return shorter[begin] * len(self.letters) + last, begin


def words_of(
    kernel: SequenceKernel, X: Any, longest: int, vocabulary: Vocabulary, complete: bool = True
) -> tuple[Tokens, Words]:
    """Return sequences as tokens, and words: of the first sequences, or all where they are few."""
    X = kernel.validate(X)
    letters = vocabulary.part("letters")
    tokens = kernel.encode(X, letters)
    words = vocabulary.memory.get("words")
    if words is None:
        known = np.unique(tokens.token[tokens.token >= 0]).astype(np.int64)
        few = complete and len(known) ** longest <= ALL_WORDS
        words = vocabulary.memory["words"] = Words(known, longest, few)
        if isinstance(X[0], str | bytes | bytearray):
            words.spelling = [chr(token) for token in known]
        else:
            words.spelling, words.separator = [str(letters.features[t]) for t in known], " "
        if not few:
            words.learn(tokens)
    letters.fix()
    return tokens, words


def spelled(alphabet: Sequence[Any], length: int) -> list[str]:
    """Return all words over an alphabet, in its order."""
    if isinstance(alphabet, bytes):
        alphabet = [chr(letter) for letter in alphabet]
    single = all(isinstance(letter, str) and len(letter) == 1 for letter in alphabet)
    words = product(map(str, alphabet), repeat=length)
    return [("" if single else " ").join(word) for word in words]


def with_neighbours(counts: sp.csr_array, k: int, q: int, m: int) -> sp.csr_array:
    """Return counts (n, q^k) in which a word counts for all that differ in up to m places."""
    words = np.unique(counts.indices)
    met = sp.csr_array(counts[:, words])
    neighbours = [np.asarray(c) for c in _neighbours(words.astype(np.int64), k, q, m)]
    column = np.stack(neighbours, axis=1) if neighbours else np.empty((0, 0), dtype=np.int64)
    start = np.arange(len(words) + 1) * column.shape[1]
    shape = (len(words), q**k)
    return sp.csr_array(met @ sp.csr_array((np.ones(column.size), column.ravel(), start), shape))


def _neighbours(words: np.ndarray, k: int, q: int, m: int) -> Iterator[np.ndarray]:
    """Yield the numbers of words with other letters in up to m places, one choice at a time."""
    for changed in range(m + 1):
        for places in combinations(range(k), changed):
            for steps in product(range(1, q), repeat=changed):
                other = words.copy()
                for place, step in zip(places, steps, strict=True):
                    unit = q ** (k - 1 - place)
                    letter = words // unit % q
                    other += ((letter + step) % q - letter) * unit
                yield other


def shift_factor(n: int, shift: int) -> np.ndarray:
    """Return the triangular factor of the weights between positions.

    The weights are 1 for equal positions and 1 / (2 (r + 1)) at distance r <= shift. The first
    rows of the factor do not depend on how many follow.

    Returns an array of shape (n, S + 1): entry [i, r] is that of row i and column i - r of L, where
    LL' are the weights.
    """
    distance = np.arange(shift + 1)
    weights = np.where(distance == 0, 1.0, 0.5 / (distance + 1.0))
    bands = np.repeat(weights[:, None], max(n, 1), axis=1)
    lower = scipy.linalg.cholesky_banded(bands, lower=True)  # [r, j] is row j + r, column j
    factor = np.zeros((max(n, 1), shift + 1))
    for r in range(min(shift + 1, max(n, 1))):
        factor[r:, r] = lower[r, : max(n, 1) - r]
    return factor


def _sequence(tokens: Tokens) -> np.ndarray:
    """Return the sequence in which every token stands."""
    return np.repeat(np.arange(len(tokens.start) - 1), np.diff(tokens.start))


def _distinct(keys: np.ndarray) -> np.ndarray:
    """Return the different numbers, rising."""
    if len(keys) and int(keys.max()) < _DIRECT * len(keys):
        return np.flatnonzero(np.bincount(keys))
    return np.unique(keys)


def _number(known: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the position of numbers in a rising array, -1 for those that are not in it."""
    if len(known) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    last = int(known[-1])
    if last + 1 == len(known):  # all numbers from 0 on
        return np.where((wanted >= 0) & (wanted <= last), wanted, -1).astype(np.int64)
    if last < _DIRECT * len(wanted):  # a table of all of them costs less than a search for each
        place = np.full(last + 2, -1, dtype=np.int64)
        place[known] = np.arange(len(known))
        inside = (wanted >= 0) & (wanted <= last)
        return place[np.where(inside, wanted, last + 1)]
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, at, -1)
