r"""The container of every file that mercer writes: a checksum, a JSON header and arrays.

    mercer file 5\n | SHA-256 of the rest | length of the header | header | arrays

The length is an integer of 8 bytes, little-endian. The header is JSON, with NaN and Infinity as
Python's json module writes them, and is not compressed. It describes an array by
[type, shape, order, begin, end]: its type as NumPy names it, little-endian, the order "C" or "F" of
its entries, and where its bytes stand among those of the arrays. They are compressed by zlib where
there are fewer of them than the entries take, and otherwise the entries as they lie in memory.

Reading takes memory in proportion to the size of the file: the arrays that the header refers to,
counted as often as it does, take at most `MOST_INFLATION` bytes for each byte of the file. A file
that would be smaller ends with zeros.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

FORMAT = 5
MOST_INFLATION = 50
_FIRST_LINE = re.compile(rb"mercer (?:file|model|expansion) (\d{1,9})\n")
_NUMBERS = "biuf"  # kinds of entries that are stored as they lie in memory
_DIGEST = 32
_LENGTH = 8
_WORTH_IT = 0.75  # of its size: an array that zlib shortens less is read faster as it is


class DamagedFileError(ValueError):
    """A file is not what it claims to be: truncated, altered or of another kind.

    Examples
    --------
    >>> import mercer
    >>> from pathlib import Path
    >>> from mercer.persistence import DamagedFileError
    >>> size = Path("model.mercer").write_bytes(b"not a model")
    >>> try:
    ...     mercer.load("model.mercer")
    ... except DamagedFileError as error:
    ...     print(type(error).__name__)
    ...
    DamagedFileError
    """


class ArrayWriter:
    """The arrays of a file that is written, one after the other; equal ones are stored once."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.needed = 0  # bytes that reading takes, see `ArrayReader.take`
        self._end = 0
        self._places: dict[bytes, tuple[int, int]] = {}

    def add(self, array: np.ndarray) -> list[Any]:
        """Keep an array of numbers; return its description for the header."""
        order: Literal["C", "F"]
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        raw = little.tobytes(order)
        self.needed += len(raw)
        digest = hashlib.sha256(raw).digest()
        if digest not in self._places:
            packed = zlib.compress(raw, 1)
            stored = packed if len(packed) < _WORTH_IT * len(raw) else raw
            self.parts.append(stored)
            self._places[digest] = self._end, self._end + len(stored)
            self._end += len(stored)
        return [little.dtype.str, list(array.shape), order, *self._places[digest]]


class ArrayReader:
    """The arrays of a file that is read, and the bytes that reading it may still take."""

    def __init__(self, content: Any, most: int) -> None:
        self._content, self._left = content, most

    def take(self, n_bytes: int) -> None:
        """Count bytes that something read from the file takes; raise where they are too many."""
        self._left -= n_bytes
        if self._left < 0:
            raise ValueError(f"it would take more than {MOST_INFLATION} times its size in memory")

    def get(self, description: Any) -> np.ndarray:
        """Return an array, from its description in the header."""
        code, shape, order, begin, end = description
        dtype, native = _number_types(code)
        if order not in ("C", "F"):
            raise ValueError(f"an array in the order {order!r}")
        for n in (*shape, begin, end):
            if type(n) is not int or n < 0:
                raise ValueError("an array of an invalid shape")
        if not begin <= end <= len(self._content):
            raise ValueError("an array beyond the end of the file")
        stored, size = self._content[begin:end], math.prod(shape) * dtype.itemsize
        self.take(size)
        if size != len(stored):
            stored = zlib.decompressobj().decompress(stored, max(size, 1))
        # A copy, of the native byte order, that belongs to nobody else.
        array = np.frombuffer(stored, dtype=dtype).astype(native)
        return array.reshape(shape, order=order)


@lru_cache(64)
def _number_types(code: str) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return a type of numbers as it is stored and in the native byte order."""
    dtype = np.dtype(str(code))
    if dtype.kind not in _NUMBERS:
        raise ValueError(f"an array of type {code!r}")
    return dtype, dtype.newbyteorder("=")


def packed(header: Any, arrays: ArrayWriter) -> bytes:
    """Return the content of a file."""
    text = json.dumps(header, separators=(",", ":")).encode()
    payload = b"".join([len(text).to_bytes(_LENGTH, "little"), text, *arrays.parts])
    payload = payload.ljust(-(-arrays.needed // MOST_INFLATION), b"\0")
    return b"mercer file %d\n" % FORMAT + hashlib.sha256(payload).digest() + payload


def unpacked(content: bytes, path: str | Path) -> tuple[Any, ArrayReader]:
    """Return the header of a file and its arrays; refuse a file that is not whole."""
    first = _FIRST_LINE.match(content)
    if first is None:
        raise DamagedFileError(f"{path} is not a file that mercer wrote.")
    number = int(first[1])
    if number < FORMAT:
        raise DamagedFileError(
            f"{path} was written before mercer's first release (format {number}), and is no longer "
            f"read (this version reads format {FORMAT}). Fit the model again and save it."
        )
    if number > FORMAT:
        raise DamagedFileError(
            f"{path} was written by a newer version of mercer (format {number}, this version "
            f"reads format {FORMAT}); install that version to read it."
        )
    start = first.end() + _DIGEST
    payload = memoryview(content)[start:]
    if hashlib.sha256(payload).digest() != content[start - _DIGEST : start]:
        raise DamagedFileError(
            f"{path} is damaged or truncated: its content does not match its checksum. Restore it "
            "from a copy or save the model again."
        )
    end = _LENGTH + int.from_bytes(payload[:_LENGTH], "little")
    if end > len(payload):
        raise DamagedFileError(f"{path} is damaged: its header is longer than the file.")
    header = json.loads(bytes(payload[_LENGTH:end]).decode())
    return header, ArrayReader(payload[end:], MOST_INFLATION * len(payload))
