r"""The container of a model file: a line of text, a checksum, a JSON document and arrays.

    mercer model 4\n | SHA-256 of the rest | two lengths | document | arrays

The lengths are those of the document as it is stored and of its text; where they differ it is
compressed (formats 1 and 2: one length, never compressed), with a preset dictionary that format 4
extended. The document refers to the arrays by
their position. An array is stored as it lies in memory, or compressed where that makes it smaller,
with its bytes sorted by their place in a number since format 2. What is compressed may be at most
`MOST_INFLATION` times as large as what is stored, so that reading a file takes memory in proportion
to its size.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mercer.objects.compression import USUAL, USUAL_3, compressed, deflated, inflated, unshuffled
from mercer.storage import DamagedFileError

MAGIC = b"mercer model "
FORMAT = 4
MOST_INFLATION = 50
_NUMBERS = "biuf"  # kinds of entries that are stored as they lie in memory
_DIGEST = 32
_LENGTH = 8


class Blobs:
    """The arrays of a file that is written, one after the other; equal ones are stored once."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._end = 0
        self._places: dict[bytes, tuple[int, int, int]] = {}

    def add(self, array: np.ndarray) -> list[Any]:
        """Keep an array of numbers; return what the document says about it."""
        order: Literal["C", "F"]
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        raw = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes(order)
        dtype = array.dtype.newbyteorder("<").str
        known = hashlib.sha256(raw).digest()
        if known not in self._places:
            self._places[known] = self._append(raw, array.itemsize)
        return [dtype, list(array.shape), order, *self._places[known]]

    def _append(self, raw: bytes, size: int) -> tuple[int, int, int]:
        """Store bytes, compressed where that makes them smaller.

        Returns where, and by which number of bytes they are sorted; 1: they are not. Zeros after
        what zlib wrote, which readers ignore, keep to `MOST_INFLATION`.
        """
        stored, size = compressed(raw, size, 6)
        if len(stored) >= len(raw):
            stored, size = raw, 1
        stored = stored.ljust(-(-len(raw) // MOST_INFLATION), b"\0")
        self.parts.append(stored)
        begin, self._end = self._end, self._end + len(stored)
        return begin, self._end, size


class Arrays:
    """The arrays of a file that is read."""

    def __init__(self, content: memoryview) -> None:
        self._content = content

    def get(self, description: Any) -> np.ndarray:
        """Return an array, from what the document says about it."""
        code, shape, order, begin, end, *sorted_by = description
        dtype, native = _number_types(code)
        if order not in ("C", "F"):
            raise ValueError(f"an array in the order {order!r}")
        for n in (*shape, begin, end):
            if type(n) is not int or n < 0:
                raise ValueError("a shape that is none")
        if not begin <= end <= len(self._content):
            raise ValueError("an array beyond the end of the file")
        stored = self._content[begin:end]
        size = math.prod(shape) * dtype.itemsize
        if size != len(stored):
            stored = memoryview(_whole(stored, size, _plainly))
            if sorted_by and sorted_by[0] != 1:
                stored = memoryview(unshuffled(stored, int(sorted_by[0])))
        # A copy, of the native byte order, that belongs to nobody else.
        array = np.frombuffer(stored, dtype=dtype).astype(native)
        return array if len(shape) == 1 else array.reshape(shape, order=order)


@lru_cache(64)
def _number_types(code: str) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return a type of numbers as it is stored and in the native byte order."""
    dtype = np.dtype(str(code))
    if dtype.kind not in _NUMBERS:
        raise ValueError(f"an array of type {code!r}")
    return dtype, dtype.newbyteorder("=")


def packed(document: Any, blobs: Blobs) -> bytes:
    """Return the content of a file."""
    text = json.dumps(document, separators=(",", ":")).encode()
    stored = deflated(text)
    if not len(stored) < len(text) <= MOST_INFLATION * len(stored):
        stored = text
    lengths = [len(part).to_bytes(_LENGTH, "little") for part in (stored, text)]
    payload = b"".join([*lengths, stored, *blobs.parts])
    return MAGIC + str(FORMAT).encode() + b"\n" + hashlib.sha256(payload).digest() + payload


def unpacked(content: bytes, path: str | Path) -> tuple[Any, Arrays]:
    """Return the document of a file and its arrays; refuse a file that is not whole."""
    first, newline, _ = content[:40].partition(b"\n")
    number = first[len(MAGIC) :]
    if not (newline and first.startswith(MAGIC) and number.isdigit()):
        raise DamagedFileError(f"{path} is not a file that mercer.save wrote.")
    if int(number) > FORMAT:
        raise DamagedFileError(
            f"{path} was written by a newer version of mercer (format {int(number)}, this version "
            f"reads formats up to {FORMAT}); install that version to read it."
        )
    start = len(first) + 1 + _DIGEST
    payload = memoryview(content)[start:]
    if hashlib.sha256(payload).digest() != content[start - _DIGEST : start]:
        raise DamagedFileError(
            f"{path} is damaged or truncated: its content does not match its checksum. Restore it "
            "from a copy or save the model again."
        )
    start = 2 * _LENGTH if int(number) > 2 else _LENGTH
    end = start + int.from_bytes(payload[:_LENGTH], "little")
    if end > len(payload):
        raise DamagedFileError(f"{path} is damaged: its document is longer than the file.")
    text = bytes(payload[start:end])
    if start > _LENGTH:
        size = int.from_bytes(payload[_LENGTH:start], "little")
        usual = USUAL_3 if int(number) == 3 else USUAL
        text = text if size == len(text) else _whole(text, size, partial(inflated, usual=usual))
    return json.loads(text.decode()), Arrays(payload[end:])


def _whole(stored: Any, size: int, inflate: Callable[[Any, int], bytes]) -> bytes:
    """Return a compressed part of a given size."""
    if size > MOST_INFLATION * len(stored):
        raise ValueError("a part that is too large for the file")
    found = inflate(stored, max(size, 1))
    if len(found) != size:
        raise ValueError("a part of another size")
    return found


def _plainly(stored: Any, most: int) -> bytes:
    return zlib.decompressobj().decompress(stored, most)
