"""Collections of hashable elements, the objects of kernels on sets and multisets.

Input is checked here and handed on as it is, so that several kernels can look at the same objects,
each in its own way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from .validation import as_items

LARGEST_COUNT = 1_000_000  # a multiset is stored as one entry per copy of an element


def as_collections(X: Any, owner: str) -> list:
    """Return `X` if it is a list or an array of sets, Counters or lists of hashable elements.

    `X`: sets, frozensets, Counters and other mappings to counts, lists, tuples or one-dimensional
    arrays; a two-dimensional array is a list of its rows. Returns the collections; arrays become
    lists of Python numbers.
    """
    X = _listed(X, owner, "sets, Counters or lists")
    for i, x in enumerate(X):
        if isinstance(x, str | bytes):
            raise TypeError(
                f"{owner} is defined on sets, Counters and lists; object {i} is {_name(x)}. "
                "Say what its elements are: set(x) for characters, set(x.split()) for words."
            )
        if isinstance(x, Mapping):
            _check_counts(x, i, owner)
        elif isinstance(x, Set | Sequence):
            _require_hashable(x, i, owner)
            if isinstance(x, Sequence):
                _refuse_real_numbers(x, i, owner)
        else:
            raise TypeError(
                f"{owner} is defined on sets, Counters and lists; object {i} is {_name(x)}."
            )
    return X


def elements(x: Any) -> Set[Hashable]:
    """Return the elements of a checked collection, without their counts."""
    if isinstance(x, Mapping):
        return {element for element, number in x.items() if number > 0}
    return x if isinstance(x, Set) else frozenset(x)


def counts(x: Any) -> Mapping[Hashable, int]:
    """Return the elements of a checked collection with their positive counts."""
    if isinstance(x, Mapping):
        return {element: int(number) for element, number in x.items() if number > 0}
    return dict.fromkeys(x, 1) if isinstance(x, Set) else Counter(x)


def distinct(X: Iterable[Iterable[Hashable]]) -> list[Any]:
    """Return the elements of all collections, sorted; by type and printed form where need be."""
    seen: list[Any] = list(dict.fromkeys(item for x in X for item in x))
    try:
        return sorted(seen)
    except TypeError:
        return sorted(seen, key=lambda item: (type(item).__name__, repr(item)))


def is_hashable(thing: Any) -> bool:
    """Return whether a thing, and everything in a tuple, can be found again by its hash."""
    try:
        hash(thing)
    except TypeError:
        return False
    return True


def _listed(X: Any, owner: str, what: str) -> list:
    """Return a collection of objects as a list, with arrays among them as lists of numbers."""
    if isinstance(X, np.ndarray) and X.ndim > 2:
        raise ValueError(f"{owner} needs a list of {what}; got an array of shape {X.shape}.")
    items = as_items(X, owner, what)
    if any(isinstance(x, np.ndarray) for x in items):
        items = [x.tolist() if isinstance(x, np.ndarray) and x.ndim == 1 else x for x in items]
    return items


def _require_hashable(x: Any, i: int, owner: str) -> None:
    if not is_hashable(tuple(x)):
        raise TypeError(
            f"object {i} given to {owner} has an unhashable element; use str, numbers or tuples, "
            "not lists, dicts or sets."
        )


def _refuse_real_numbers(x: Sequence[Any], i: int, owner: str) -> None:
    for element in x:
        if isinstance(element, float | np.floating):
            raise TypeError(
                f"{owner} compares elements, which are equal or not; object {i} is a list of real "
                f"numbers such as {element!r}. For vectors use a kernel such as RBF; if the "
                "numbers are elements, pass set(x)."
            )


def _check_counts(x: Mapping[Any, Any], i: int, owner: str) -> None:
    for element, number in x.items():
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
            raise ValueError(
                f"object {i} given to {owner} counts {element!r} {number!r} times; counts are "
                "integers of at least 0. For real numbers use a vector kernel."
            )
        if number > LARGEST_COUNT:
            raise ValueError(
                f"object {i} given to {owner} counts {element!r} {number} times; at most "
                f"{LARGEST_COUNT} are supported. For large counts use a vector kernel."
            )


def _name(x: Any) -> str:
    return "None" if x is None else f"of type {type(x).__name__}"
