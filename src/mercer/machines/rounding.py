"""What the rounding of kernel values makes of the values of a model.

f(x) = sum_j v_j k(x_j, x) with kernel values that are wrong by e max|k| each, in either direction,
is wrong by about e max|k| (sum_j v_j^2)^1/2: independent errors add up like the root of the sum
of squares. No tolerance on f can be much smaller.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ERROR = {"float32": 1e-6, "float64": float(np.finfo(np.float64).eps)}
"""Error of a kernel value relative to the largest one: that of float64 is its rounding alone, that
of float32 half of what `mercer.gram.precision` allows at most."""


def rounding_of_values(coef: Array, largest: float, precision: str) -> float:
    """Return by how much values of a model may be wrong.

    Parameters
    ----------
    coef : array of shape (..., n)
        Its coefficients, or those of several models in rows.
    largest : float
        The size of the kernel values.
    precision : {"float32", "float64"}
        Their precision.

    Examples
    --------
    >>> from mercer.machines.rounding import rounding_of_values
    >>> rounding_of_values([3e9, -4e9], 1e3, "float64") > 1e-3
    True
    """
    squares = np.square(np.asarray(coef, dtype=np.float64)).sum(axis=-1)
    return ERROR[precision] * largest * math.sqrt(float(squares.max(initial=0.0)))
