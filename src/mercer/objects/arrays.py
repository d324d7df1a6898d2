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


class PlainState:
    """Base of classes whose copies and pickles have the `joblib.hash` of the original.

    That counts the strides of arrays. Those of reversed, broadcast and empty arrays, and of axes of
    length 1, are not those of their copies: what is hashed, copied and pickled has the strides that
    follow from shape and order.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, as pickles and files hold them."""
        return {
            name: _in_one_layout(value) if type(value) is np.ndarray else value
            for name, value in self.__dict__.items()
        }


def _in_one_layout(array: NDArray[Any]) -> NDArray[Any]:
    if not array.size:
        return np.zeros(array.shape, array.dtype)
    order: Any = "F" if array.flags.fnc else "C"
    plain = np.empty(array.shape, array.dtype, order)
    return array if array.strides == plain.strides else np.array(array, order=order)
