"""Mutations of files whose checksum is put right, as a forger would."""

from __future__ import annotations

import hashlib
import json
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from mercer.persistence import DamagedFileError
from mercer.persistence.model_files import read

_PLACE = Path("mutation")
_WORDS = [None, -1, 0, 10**18, 1e300, float("nan"), "", "kernel", [], {}, {"array": []}, True]


def survives(content: bytes, objects: Any, n: int, rng: np.random.Generator) -> int:
    """Read `n` mutations of a file, and let those that can be read predict.

    Returns how many were refused. Raises whatever reading raises that is no `DamagedFileError`.
    """
    refused = 0
    for _ in range(n):
        mutated = _bytes(content, rng) if rng.random() < 0.5 else _header(content, rng)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = read(mutated, _PLACE)
        except DamagedFileError:
            refused += 1
            continue
        with suppress(Exception):  # a forged model may fail, but only in Python
            model.predict(objects)
    return refused


def opened(content: bytes) -> tuple[Any, bytes]:
    """Return the header of a file and the bytes of its arrays."""
    payload = content.partition(b"\n")[2][32:]
    end = 8 + int.from_bytes(payload[:8], "little")
    return json.loads(payload[8:end]), payload[end:]


def forged(header: Any, arrays: bytes) -> bytes:
    """Return a file with a header and the bytes of arrays."""
    text = json.dumps(header).encode()
    return _sealed(len(text).to_bytes(8, "little") + text + arrays)


def _sealed(payload: bytes) -> bytes:
    return b"mercer file 5\n" + hashlib.sha256(payload).digest() + payload


def _bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Change, cut or repeat some bytes."""
    text = bytearray(content.partition(b"\n")[2][32:])
    for _ in range(int(rng.integers(1, 4))):
        at, size = int(rng.integers(len(text))), int(rng.integers(1, 9))
        way = rng.integers(3)
        if way == 0:
            text[at : at + size] = rng.bytes(size)
        elif way == 1:
            del text[at : at + size]
        else:
            text[at:at] = text[at : at + size]
    return _sealed(bytes(text))


def _header(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace a part of the header by something else, or by another part."""
    document, arrays = opened(content)
    places: list[tuple[Any, Any]] = []
    _collect(document, places)
    owner, key = places[int(rng.integers(len(places)))]
    if rng.random() < 0.7:
        owner[key] = _WORDS[int(rng.integers(len(_WORDS)))]
    else:
        other, where = places[int(rng.integers(len(places)))]
        owner[key] = json.loads(json.dumps(other[where]))
    return forged(document, arrays)


def _collect(part: Any, places: list[tuple[Any, Any]]) -> None:
    pairs = part.items() if isinstance(part, dict) else enumerate(part)
    for key, inner in pairs:
        places.append((part, key))
        if isinstance(inner, dict | list):
            _collect(inner, places)
