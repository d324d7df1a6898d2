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


def require_computed(values: NDArray[Any], what: str) -> None:
    """Raise FloatingPointError where values that the library computed are NaN or infinite.

    Called before such values pass the validation of another estimator, which would report them as
    missing values of the user's data.
    """
    if not np.isfinite(values).all():
        raise FloatingPointError(
            f"{what} became NaN or infinite in the course of the fit, although the data are "
            "finite. This is a fault of mercer's arithmetic, not a missing value: please report it."
        )
