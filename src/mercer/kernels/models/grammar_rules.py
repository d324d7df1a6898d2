"""Rules of a stochastic context-free grammar: checked, and as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mercer.objects.hashables import is_hashable
from mercer.objects.parameters import real, show

Symbol = Hashable


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
