"""Lossless compression of arrays of numbers, for files and pickles.

The bytes of the numbers are transposed before they go to zlib: first all first bytes, then all
second ones, and so on. Signs and exponents of neighbours are alike and compress, the last digits
are not and do not.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np


def shuffled(raw: bytes, size: int) -> bytes:
    """Return the bytes of numbers of `size` bytes each, sorted by their place in the number."""
    return np.frombuffer(raw, dtype=np.uint8).reshape(-1, size).T.tobytes()


def unshuffled(raw: Any, size: int) -> bytes:
    """Undo `shuffled`."""
    return np.frombuffer(raw, dtype=np.uint8).reshape(size, -1).T.tobytes()


_OVERHEAD = 40  # bytes that a packed array takes in a pickle beyond an array


class PackedArray:
    """An array of numbers, compressed.

    Parameters
    ----------
    array : array of numbers
        What `unpacked` returns.
    level : int, default=1
        Effort of zlib.
    """

    def __init__(self, array: np.ndarray, level: int = 1) -> None:
        self.dtype, self.shape = array.dtype.str, array.shape
        self.content = zlib.compress(shuffled(array.tobytes(), array.itemsize), level)

    def unpacked(self) -> np.ndarray:
        """Return the array."""
        dtype = np.dtype(self.dtype)
        raw = unshuffled(zlib.decompress(self.content), dtype.itemsize)
        return np.frombuffer(bytearray(raw), dtype=dtype).reshape(self.shape)


_LARGE = 2**23  # bytes beyond which time counts for more than size


def packed_if_smaller(value: Any) -> Any:
    """Return an array of numbers in packed form if that saves a twentieth; others as they are."""
    if not (isinstance(value, np.ndarray) and value.dtype.kind in "biuf"):
        return value
    if not 0 < value.nbytes <= _LARGE:
        return value
    packed = PackedArray(value)
    return packed if len(packed.content) + _OVERHEAD < 0.95 * value.nbytes else value


def unpacked(value: Any) -> Any:
    """Return what `packed_if_smaller` was given."""
    return value.unpacked() if isinstance(value, PackedArray) else value
