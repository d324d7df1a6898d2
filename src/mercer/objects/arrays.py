"""Types of arrays, and whether numbers are finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import _native

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
"""Positions of objects."""


def is_finite(X: NDArray[Any]) -> bool:
    """Return whether an array of float32 or float64 holds neither NaN nor infinity."""
    return _native.all_finite(X.ravel(order="K"))
