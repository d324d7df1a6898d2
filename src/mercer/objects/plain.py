"""Objects as plain data: what JSON can hold, and back without running code.

Numbers, strings, lists, None and truth values stay what they are. Everything else becomes an
object with one entry, whose name says what it was: a tuple, a set, a mapping, bytes or an array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_ARRAYS = "biufUO"  # kinds of entries


def as_plain(value: Any) -> Any:
    """Return a value, of numbers, texts, bytes, None and collections of these, as JSON holds it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [as_plain(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [as_plain(item) for item in value]}
    if isinstance(value, set | frozenset):
        kind = "set" if isinstance(value, set) else "frozenset"
        return {kind: [as_plain(item) for item in value]}
    if isinstance(value, Mapping):
        return {"mapping": [[as_plain(k), as_plain(v)] for k, v in value.items()]}
    if isinstance(value, bytes | bytearray):
        return {"bytes": value.hex()}
    if isinstance(value, np.ndarray) and value.dtype.kind in _ARRAYS:
        entries = [as_plain(item) for item in value.ravel().tolist()]
        return {"array": [value.dtype.str, list(value.shape), entries]}
    raise ValueError(
        f"an object of type {type(value).__name__} has no form in a file that runs no code; "
        "pickle the whole instead."
    )


def from_plain(value: Any) -> Any:
    """Return the value whose plain form is given; a mapping comes back as a dict."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if isinstance(value, dict):
        if len(value) != 1:
            raise KeyError(f"{len(value)} entries where one is expected")
        ((kind, content),) = value.items()
        return _MAKERS[kind](content)
    return value


def _array(content: list) -> np.ndarray:
    dtype, shape, entries = content
    array = np.empty(shape, dtype=np.dtype(dtype))
    flat = array.reshape(-1)
    for i, entry in enumerate(entries):
        flat[i] = from_plain(entry)
    return array


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda items: tuple(map(from_plain, items)),
    "set": lambda items: set(map(from_plain, items)),
    "frozenset": lambda items: frozenset(map(from_plain, items)),
    "mapping": lambda pairs: {from_plain(k): from_plain(v) for k, v in pairs},
    "bytes": bytes.fromhex,
    "array": _array,
}
