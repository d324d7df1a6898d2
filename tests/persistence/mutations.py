"""Mutations of model files whose checksum is put right, as a forger would."""

from __future__ import annotations

import hashlib
import json
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from mercer.objects.compression import USUAL, USUAL_3, inflated
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
        mutated = _bytes(content, rng) if rng.random() < 0.5 else _document(content, rng)
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


def _sealed(head: bytes, payload: bytes) -> bytes:
    return head + b"\n" + hashlib.sha256(payload).digest() + payload


def _opened(content: bytes) -> tuple[bytes, bytes]:
    head, _, rest = content.partition(b"\n")
    return head, rest[32:]


def _bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Change, cut or repeat some bytes."""
    head, payload = _opened(content)
    text = bytearray(payload)
    for _ in range(int(rng.integers(1, 4))):
        at, size = int(rng.integers(len(text))), int(rng.integers(1, 9))
        way = rng.integers(3)
        if way == 0:
            text[at : at + size] = rng.bytes(size)
        elif way == 1:
            del text[at : at + size]
        else:
            text[at:at] = text[at : at + size]
    return _sealed(head, bytes(text))


def _document(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace a part of the document by something else, or by another part."""
    head, payload = _opened(content)
    start = 8 if head.endswith((b"1", b"2")) else 16
    end = start + int.from_bytes(payload[:8], "little")
    text = payload[start:end]
    if start == 16 and int.from_bytes(payload[8:16], "little") != len(text):
        text = inflated(text, usual=USUAL_3 if head.endswith(b"3") else USUAL)
    document = json.loads(text)
    places: list[tuple[Any, Any]] = []
    _collect(document, places)
    owner, key = places[int(rng.integers(len(places)))]
    if rng.random() < 0.7:
        owner[key] = _WORDS[int(rng.integers(len(_WORDS)))]
    else:
        other, where = places[int(rng.integers(len(places)))]
        owner[key] = json.loads(json.dumps(other[where]))
    text = json.dumps(document).encode()
    length = len(text).to_bytes(8, "little")
    return _sealed(head, length * (start // 8) + text + payload[end:])


def _collect(part: Any, places: list[tuple[Any, Any]]) -> None:
    pairs = part.items() if isinstance(part, dict) else enumerate(part)
    for key, inner in pairs:
        places.append((part, key))
        if isinstance(inner, dict | list):
            _collect(inner, places)
