"""Probabilities of pairs of sequences under a stochastic context-free grammar."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mercer import _native
from mercer.objects.hashables import is_hashable
from mercer.objects.parameters import parameter, probability, real, show
from mercer.objects.vocabulary import Vocabulary

from ..definiteness import PSD
from ..sequences.sequence_kernel import SequenceKernel, Tokens, known_letters

Symbol = Hashable


class Grammar(SequenceKernel):
    r"""The probability that a stochastic grammar derives two sequences together.

    The rules are in Chomsky normal form, :math:`A \to B C` or :math:`A \to a`, each with a
    probability. A joint derivation begins with the start symbol and shares its rules between the
    two sequences. At every nonterminal A

    - with probability :math:`\iota`, `independence`, the two go their own ways: each derives what
      follows from A by itself, with the rules of the grammar;
    - otherwise a rule is drawn for both. A letter that it emits is copied to both sequences, and
      each copy is replaced, with probability `mutation`, by another letter drawn from A.

    Given the shared part c, the sequences are independent and identically distributed,

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

    and :math:`\pi_A` is the probability of a copied letter, 0 unless both are one letter. J is 0
    unless A derives both substrings. So each sequence is prepared once, as the chart of the
    substrings that a nonterminal derives within a derivation of the whole, with the splits by which
    it does; that costs :math:`O(r n^3)` for n letters and r right sides. A pair then costs, for
    each right side, the product of the numbers of its splits in the two charts: at most
    :math:`O(r |s|^3 |t|^3)`, which a grammar reaches under which every nonterminal derives every
    substring, and far less where the grammar determines the structure. Values fall quickly with
    the length; ``normalize(Grammar(...))`` compares sequences of different lengths.

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
    expressions, RNA that folds back on itself. Take `independence` from 0.1 to 0.5, or sequences of
    different shape have a value of 0, and always ``normalize``. The cost of a value depends on the
    grammar: it takes microseconds for brackets of twenty letters, and milliseconds where every part
    of twenty letters can be derived in every way, in which case forty letters take 64 times as
    long. Avoid it where local matches suffice: PairHMM and Mismatch handle far longer sequences.
    The rules and probabilities are given, not learned.

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

    rules: Mapping[Any, Mapping[Any, float]]
    start: Symbol = None
    independence: float = parameter(probability, default=0.1)
    mutation: float = parameter(probability, default=0.1)

    may_overflow: ClassVar[bool] = False  # values are probabilities
    definiteness = PSD  # given what they share, the sequences are independent and alike

    def _check(self) -> None:
        check_rules(self.rules)
        if self.start is not None and self.start not in self.rules:
            raise ValueError(
                f"start must be a nonterminal, one of {named(self.rules)}; got {self.start!r}."
            )

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
        tokens = self._letters(self.validate(X))
        return _native.grammar_probabilities(self.native_form(), tokens.token, tokens.start)

    def encode(self, X: list, vocabulary: Vocabulary) -> Tokens:
        return self._letters(X)

    def native_form(self, logarithms: bool = False) -> tuple[Any, ...]:
        tables = self._tables()
        rules = [(b, c, a, p) for (b, c), heads in tables.binary.items() for a, p in heads if p > 0]
        left, right, heads = (np.array([r[k] for r in rules], dtype=np.int32) for k in range(3))
        return (
            "grammar",
            len(tables.emission),
            tables.start,
            np.ascontiguousarray(tables.emission.ravel()),
            left,
            right,
            heads,
            np.array([r[3] for r in rules], dtype=np.float64),
            float(self.independence),
            float(self.mutation),
        )

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        x = self._letters(X)
        z = x if X is Z else self._letters(Z)
        slopes = _native.sequence_slopes(self.native_form(), x.token, x.start, z.token, z.start)
        return {"independence": slopes[0], "mutation": slopes[1]}

    def _letters(self, X: list) -> Tokens:
        return known_letters(X, self._tables().alphabet, "Grammar", "add rules that emit it")

    def _tables(self) -> Tables:
        """Return the rules as numbers, computed once."""
        known = self.__dict__.get("_numbers")
        if known is None or known[0] is not self.rules or known[1] != self.start:
            known = (self.rules, self.start, numbered_rules(self.rules, self.start))
            self.__dict__["_numbers"] = known
        return known[2]


class Tables(NamedTuple):
    """The rules of a grammar with nonterminals and letters as numbers."""

    alphabet: list[Symbol]
    start: int
    emission: np.ndarray  # by nonterminal and letter
    binary: dict[tuple[int, int], list[tuple[int, float]]]  # heads of a pair, with probabilities


def check_rules(rules: Any) -> None:
    """Reject what is no stochastic grammar in Chomsky normal form, naming the rule."""
    if not isinstance(rules, Mapping) or not rules:
        raise TypeError(
            "rules must be a mapping from nonterminals to their right sides with probabilities, "
            f"such as {{'S': {{('S', 'S'): 0.4, 'a': 0.6}}}}; got {show(rules)}."
        )
    letters = 0
    for symbol, sides in rules.items():
        if not isinstance(sides, Mapping) or not sides:
            raise TypeError(
                f"the rules of {symbol!r} must be a mapping from right sides to probabilities; "
                f"got {show(sides)}."
            )
        total = 0.0
        for side, weight in sides.items():
            letters += not _check_side(symbol, side, rules)
            total += real(weight, f"the probability of {_written(symbol, side)}", minimum=0.0)
        if abs(total - 1.0) > 1e-6:
            raise ValueError(
                f"the probabilities of the rules of {symbol!r} must add up to 1; they add up to "
                f"{total:.6g}."
            )
    if not letters:
        raise ValueError("no rule emits a letter, so the grammar derives nothing.")


def _check_side(symbol: Symbol, side: Any, rules: Mapping[Symbol, Any]) -> bool:
    """Return whether a right side is a pair of nonterminals; refuse what is neither."""
    form = "in Chomsky normal form a right side is a pair of nonterminals or one letter"
    if isinstance(side, tuple):
        for part in side:
            if not is_hashable(part) or part not in rules:
                raise ValueError(
                    f"{_written(symbol, side)}: {part!r} has no rules of its own; the "
                    f"nonterminals are {named(rules)}. For a letter inside a longer right side "
                    "add a nonterminal that emits it."
                )
        if len(side) != 2:
            raise ValueError(
                f"{_written(symbol, side)} has {len(side)} nonterminals; {form}. Write A -> B C D "
                "as A -> B E and E -> C D."
            )
        return True
    if side in rules:
        raise ValueError(
            f"{_written(symbol, side)} has one nonterminal; {form}. Replace it by the rules of "
            f"{side!r}, or rename the nonterminal if a letter is meant."
        )
    if side is None or side == "" or side == b"":
        raise ValueError(f"{_written(symbol, side)} derives nothing; {form}.")
    return False


def numbered_rules(rules: Mapping[Any, Mapping[Any, float]], start: Symbol) -> Tables:
    """Return checked rules as numbers; a start of None is the first nonterminal."""
    number = {symbol: i for i, symbol in enumerate(rules)}
    emitted = [(a, side, w) for a, sides in rules.items() for side, w in sides.items()]
    letters = [side for _, side, _ in emitted if not isinstance(side, tuple)]
    alphabet = list(dict.fromkeys(_letter(side) for side in letters))
    emission = np.zeros((len(number), len(alphabet)))
    binary: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for a, side, weight in emitted:
        if isinstance(side, tuple):
            pair = (number[side[0]], number[side[1]])
            binary.setdefault(pair, []).append((number[a], float(weight)))
        else:
            emission[number[a], alphabet.index(_letter(side))] = float(weight)
    return Tables(alphabet, 0 if start is None else number[start], emission, binary)


def _letter(side: Any) -> Any:
    """Return the letter of a right side; one byte is the number by which sequences hold it."""
    return side[0] if isinstance(side, bytes) and len(side) == 1 else side


def _written(symbol: Symbol, side: Any) -> str:
    right = " ".join(map(str, side)) if isinstance(side, tuple) else repr(side)
    return f"the rule {symbol} -> {right}"


def named(rules: Mapping[Symbol, Any]) -> str:
    """Return the nonterminals in words."""
    return ", ".join(map(str, rules))
