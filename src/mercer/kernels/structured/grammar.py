"""Probabilities of pairs of sequences under a stochastic context-free grammar."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ..definiteness import PSD, Definiteness
from ..parameters import real, show
from .grammar_rules import Symbol, Tables, check_rules, named, numbered_rules
from .path_sums import times
from .sequences import SequenceKernel, Tokens, known_letters

_FEW = 8  # sequences that are compared with themselves at a time
_CELLS = 1 << 20  # numbers a table may hold when several sequences are compared at a time


class Grammar(SequenceKernel):
    r"""The probability that a stochastic grammar derives two sequences together.

    The rules are in Chomsky normal form, :math:`A \to B C` or :math:`A \to a`, each with a
    probability. A joint derivation begins with the start symbol and shares its rules between the
    two sequences. At every nonterminal A

    - with probability :math:`\iota`, `independence`, the two go their own ways: each derives what
      follows from A by itself, with the rules of the grammar;
    - otherwise a rule is drawn for both. A letter that it emits is copied to both sequences, and
      each copy is replaced, with probability `mutation`, by another letter drawn from A.

    Given the shared part c, the sequences are independent and alike,

    .. math:: k(s, t) = \sum_c p(c) \, p(s | c) \, p(t | c),

    so the kernel is positive semidefinite (C. Watkins calls such a pair conditionally
    symmetrically independent). Summed over all t it is the probability p(s) of the grammar alone,
    if the grammar ends with probability 1. A sequence that the grammar does not derive, such as
    the empty one, has value 0 with all.

    With :math:`\beta_s(A, i, j)` the probability that A derives the letters i to j of s, a value is
    :math:`J(S; s, t)` of the whole sequences, where

    .. math::

        J(A; s, t) = \iota \beta_s(A) \beta_t(A) + (1 - \iota) \Big( \pi_A(s, t) +
        \sum_{A \to B C} p(A \to B C) \sum_{s = s' s''} \sum_{t = t' t''}
        J(B; s', t') \, J(C; s'', t'') \Big)

    and :math:`\pi_A` is the probability of a copied letter, 0 unless both are one letter. That is
    the inside recursion over pairs of substrings, and costs :math:`O(|s|^3 |t|^3)` for each pair
    of nonterminals on a right side: it is for short sequences. Values fall quickly with the
    length; ``normalize(Grammar(...))`` compares sequences of different lengths.

    Parameters
    ----------
    rules : mapping
        For every nonterminal a mapping from right sides to probabilities, which add up to 1. A
        pair of nonterminals stands for :math:`A \to B C`, everything else for a letter.
    start : hashable, optional
        The start symbol, by default the first nonterminal of `rules`.
    independence : float between 0 and 1, default=0.1
        The probability :math:`\iota`. With 0 the kernel compares sequences of equal length only,
        with 1 it is p(s) p(t).
    mutation : float between 0 and 1, default=0.1
        The probability of a replaced letter.

    Notes
    -----
    Use it for short sequences with a nested structure that a grammar describes: brackets,
    expressions, RNA that folds back on itself. Take `independence` from 0.1 to 0.5, so that
    sequences of different shape meet at all, and always ``normalize``. A value costs the cube of
    both lengths: the matrix of a hundred sequences of ten letters takes seconds, of twenty letters
    many minutes. Not where neighbours say enough, for which PairHMM and Mismatch do with far longer
    sequences, and not without a grammar at hand: its rules and probabilities are given, not
    learned.

    References
    ----------
    C. Watkins. "Dynamic alignment kernels." In: Advances in Large Margin Classifiers, MIT Press,
    2000. The recursion for one sequence: K. Lari, S. J. Young. "The estimation of stochastic
    context-free grammars using the inside-outside algorithm." Computer Speech and Language 4, 1990.

    Examples
    --------
    Brackets that match: S is a pair of brackets, empty or around S, or two S in a row.

    >>> from mercer.kernels import Grammar, normalize
    >>> brackets = Grammar(
    ...     {
    ...         "S": {("L", "R"): 0.5, ("L", "T"): 0.25, ("S", "S"): 0.25},
    ...         "T": {("S", "R"): 1.0},
    ...         "L": {"(": 1.0},
    ...         "R": {")": 1.0},
    ...     }
    ... )
    >>> normalize(brackets)(["(())", "()()", "()", ")("]).round(3)
    array([[1.   , 0.011, 0.028, 0.   ],
           [0.011, 1.   , 0.02 , 0.   ],
           [0.028, 0.02 , 1.   , 0.   ],
           [0.   , 0.   , 0.   , 0.   ]])
    """

    def __init__(
        self,
        rules: Mapping[Any, Mapping[Any, float]],
        start: Symbol = None,
        independence: float = 0.1,
        mutation: float = 0.1,
    ) -> None:
        self.rules = rules
        self.start = start
        self.independence = independence
        self.mutation = mutation
        self._check()

    def _check(self) -> None:
        check_rules(self.rules)
        if self.start is not None and self.start not in self.rules:
            raise ValueError(
                f"start must be a nonterminal, one of {named(self.rules)}; got {self.start!r}."
            )
        for name in ("independence", "mutation"):
            if real(getattr(self, name), name, minimum=0.0) > 1:
                raise ValueError(f"{name} must be a probability; got {show(getattr(self, name))}.")

    @property
    def definiteness(self) -> Definiteness:
        """Positive semidefinite: given what they share, the sequences are independent and alike."""
        return PSD

    def validate(self, X: Any, against: Any = None) -> list:
        """Return `X` as a list of sequences of the grammar's letters."""
        X = super().validate(X, against)
        self._letters(X)
        return X

    def probabilities(self, X: Any) -> np.ndarray:
        """Return the probabilities that the grammar derives sequences.

        Parameters
        ----------
        X : list of sequences
            Strings, bytes or lists of tokens.

        Returns
        -------
        ndarray of shape (n_X,)
            The probabilities, 0 for a sequence that the grammar does not derive.

        Examples
        --------
        >>> from mercer.kernels import Grammar
        >>> Grammar({"S": {("S", "S"): 0.25, "a": 0.5, "b": 0.25}}).probabilities(["a", "ab", ""])
        array([0.5    , 0.03125, 0.     ])
        """
        tables = self._tables()
        return np.array(
            [
                _inside(tables, x[None])[len(x)][tables.start, 0, 0] if len(x) else 0.0
                for x in self._split(self.validate(X))
            ]
        )

    def compile(self, builder: Any) -> None:
        """Push the kernel itself; see :meth:`Kernel.compile`."""
        builder.python(self)

    def tile(self, A: Any, B: Any) -> np.ndarray:
        """Return the probabilities of pairs; see :meth:`Kernel.tile`."""
        return self._joint(A, B, 0)[0]

    def tile_diagonal(self, A: Any) -> np.ndarray:
        """Return the probabilities of sequences with themselves; see the base class."""
        tables, values = self._tables(), np.zeros(len(A))
        for index, x in _by_length(self._split(A)):
            for first in range(0, len(index), _FEW):
                part = slice(first, first + _FEW)
                pairs = self._pairs(tables, x[part], x[part], 0)[0]
                values[index[part]] = np.diagonal(pairs)
        return values

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        slopes = self._joint(X, Z, 2)[1:]
        return {"independence": slopes[0], "mutation": slopes[1]}

    def _joint(self, X: Any, Z: Any, n_slopes: int) -> np.ndarray:
        """Return the values of all pairs, with the derivatives by the two parameters."""
        tables = self._tables()
        result = np.zeros((n_slopes + 1, len(X), len(Z)))
        for rows, x in _by_length(self._split(X)):
            for columns, z in _by_length(self._split(Z)):
                # Pairs of substrings of one pair of sequences, and how many sequences fit.
                cells = len(tables.emission) * (x.shape[1] * z.shape[1]) ** 2 // 4 + 1
                some = max(1, _CELLS // (cells * len(columns)))
                for first in range(0, len(rows), some):
                    part = slice(first, first + some)
                    values = self._pairs(tables, x[part], z, n_slopes)
                    result[:, rows[part, None], columns] = values
        return result

    def _pairs(self, tables: Tables, x: np.ndarray, z: np.ndarray, n_slopes: int) -> np.ndarray:
        """Return the values of sequences x of one length with sequences z of another."""
        iota = _parameter(self.independence, 0, n_slopes)
        shared = _parameter(1.0 - float(self.independence), 0, n_slopes, slope=-1.0)
        own, other = _inside(tables, x), _inside(tables, z)
        # By nonterminal and the lengths of two substrings; without those that are all 0.
        joint: dict[tuple[int, int, int], np.ndarray] = {}
        whole = np.zeros((n_slopes + 1, len(x), 1, len(z), 1))
        for p in range(1, x.shape[1] + 1):
            for q in range(1, z.shape[1] + 1):
                apart = own[p][:, :, :, None, None] * other[q][:, None, None]
                cell = np.zeros((n_slopes + 1, *apart.shape))
                if p == q == 1:
                    cell += self._copied(tables, x, z, apart, n_slopes)
                for (b, c), heads in tables.binary.items():
                    splits = _sum_of_splits(joint, p, q, b, c, cell[:, 0])
                    for a, weight in heads:
                        cell[:, a] += weight * splits
                cell = times(shared, cell) + times(iota, _constant(apart, n_slopes))
                joint |= {(a, p, q): cell[:, a] for a in range(len(apart)) if cell[:, a].any()}
        return joint.get((tables.start, x.shape[1], z.shape[1]), whole)[:, :, 0, :, 0]

    def _copied(
        self, tables: Tables, x: np.ndarray, z: np.ndarray, apart: np.ndarray, n_slopes: int
    ) -> np.ndarray:
        """Return the probabilities of letters that both sequences have from one rule."""
        total = tables.emission.sum(axis=1)[:, None, None, None, None]
        drawn = np.divide(apart, total, out=np.zeros_like(apart), where=total > 0)
        equal = x[:, :, None, None] == z[None, None]
        kept = tables.emission[:, x][..., None, None] * equal
        left = 1.0 - float(self.mutation)
        keep = _parameter(left * left, 1, n_slopes, slope=-2.0 * left)
        return times(keep, _constant(kept - drawn, n_slopes)) + _constant(drawn, n_slopes)

    def _letters(self, X: list) -> Tokens:
        return known_letters(X, self._tables().alphabet, "Grammar", "add rules that emit it")

    def _split(self, X: list) -> list[np.ndarray]:
        tokens = self._letters(X)
        return np.split(tokens.token, tokens.start[1:-1])

    def _tables(self) -> Tables:
        """Return the rules as numbers, computed once."""
        known = self.__dict__.get("_numbers")
        if known is None or known[0] is not self.rules or known[1] != self.start:
            known = (self.rules, self.start, numbered_rules(self.rules, self.start))
            self.__dict__["_numbers"] = known
        return known[2]


def _inside(tables: Tables, x: np.ndarray) -> list[np.ndarray]:
    """Return the probabilities that nonterminals derive substrings, by their length.

    Entry p has the shape (nonterminals, sequences, first positions); entry 0 is empty.
    """
    n, length = x.shape
    found = [np.zeros((len(tables.emission), n, 0)), tables.emission[:, x]]
    for p in range(2, length + 1):
        places = length - p + 1
        cell = np.zeros((len(tables.emission), n, places))
        for (b, c), heads in tables.binary.items():
            splits = sum(
                found[m][b, :, :places] * found[p - m][c, :, m : m + places] for m in range(1, p)
            )
            for a, weight in heads:
                cell[a] += weight * splits
        found.append(cell)
    return found


def _sum_of_splits(
    joint: dict[tuple[int, int, int], np.ndarray], p: int, q: int, b: int, c: int, like: np.ndarray
) -> np.ndarray:
    """Return, for all pairs of substrings of lengths p and q, the sum over their splits in two.

    A split (m, n) and its mirror image (n, m) are added first, so that the sum has the same bits
    when the two sequences change places.
    """
    total = np.zeros_like(like)
    rows, columns = like.shape[2], like.shape[4]
    for m, n in combinations_with_replacement(range(1, max(p, q)), 2):
        both = [
            times(
                joint[b, i, j][:, :, :rows, :, :columns],
                joint[c, p - i, q - j][:, :, i : i + rows, :, j : j + columns],
            )
            for i, j in dict.fromkeys([(m, n), (n, m)])
            if (b, i, j) in joint and (c, p - i, q - j) in joint
        ]
        if both:
            total += both[0] + both[1] if len(both) == 2 else both[0]
    return total


def _by_length(sequences: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the sequences that are not empty, those of one length in one array, with indices."""
    lengths = np.array([len(x) for x in sequences])
    groups = [np.flatnonzero(lengths == n) for n in np.unique(lengths[lengths > 0])]
    return [(index, np.stack([sequences[i] for i in index])) for index in groups]


def _parameter(value: float, position: int, n_slopes: int, slope: float = 1.0) -> np.ndarray:
    """Return a function of one of the parameters, with its derivatives."""
    number = np.zeros(n_slopes + 1)
    number[0] = value
    number[1:][position : position + 1] = slope
    return number[:, None, None, None, None, None]


def _constant(values: np.ndarray, n_slopes: int) -> np.ndarray:
    """Return numbers that do not depend on the parameters, with their derivatives."""
    return np.concatenate([values[None], np.zeros((n_slopes, *values.shape))])
