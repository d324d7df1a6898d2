"""Expansions of a strictly definite kernel shatter any distinct points; only the margin is limited.

The VC dimension of Gaussian expansions is infinite, so no VC bound says anything about them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from .dimensions import signs_of

__all__ = ["shatter_with_margin", "worst_margin"]


def shatter_with_margin(
    K: ArrayLike, y: ArrayLike, constraint: str = "rkhs"
) -> tuple[NDArray[np.float64], float]:
    """Return coefficients that realise any labels on distinct points, and their margin.

    Solves K a = y and scales a to the constraint, so f = sum a_i k(x_i, .) has the values
    margin * y_i. With a strictly definite kernel (the Gaussian one) every set is shattered: the
    VC dimension is infinite, and only the margin limits the class.

    Parameters
    ----------
    K : array-like of shape (m, m)
        Kernel matrix of the points, strictly positive definite.
    y : array-like of shape (m,)
        Labels, 1 or -1.
    constraint : {"rkhs", "l1", "l2"}, default="rkhs"
        a'Ka = 1, sum |a_i| = 1 or sum a_i^2 = 1.

    Returns
    -------
    tuple[ndarray, float]
        Coefficients that realise any labels on distinct points, and their margin.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import shatter_with_margin
    >>> a, margin = shatter_with_margin(np.eye(4), [1, -1, 1, 1])
    >>> margin
    0.5
    """
    gram, labels = np.asarray(K, dtype=float), signs_of(y)
    a = cho_solve(_factor(gram), labels)
    sizes = {
        "rkhs": lambda: math.sqrt(float(a @ gram @ a)),
        "l1": lambda: float(np.abs(a).sum()),
        "l2": lambda: float(np.linalg.norm(a)),
    }
    if constraint not in sizes:
        raise ValueError(f"constraint must be 'rkhs', 'l1' or 'l2'; got {constraint!r}.")
    size = sizes[constraint]()
    return a / size, 1 / size


def worst_margin(K: ArrayLike) -> float:
    """Return the margin with which the unit ball of the RKHS shatters the points.

    (max over labels of y'K^-1 y)^(-1/2), over all labellings: at most 20 points. It satisfies
    1 / margin^2 >= m for kernels with k(x, x) <= 1.

    Parameters
    ----------
    K : array-like of shape (m, m)
        Kernel matrix of the points.

    Returns
    -------
    float
        The margin with which the unit ball of the RKHS shatters the points.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity import worst_margin
    >>> worst_margin(np.eye(9))
    0.3333333333333333
    """
    gram = np.asarray(K, dtype=float)
    m = len(gram)
    if m > 20:
        raise ValueError(f"{m} points have too many labellings; at most 20.")
    inverse = cho_solve(_factor(gram), np.eye(m))
    worst = 0.0
    for block in _label_blocks(m):
        worst = max(worst, float(np.einsum("ij,jk,ik->i", block, inverse, block).max()))
    return worst**-0.5


def _label_blocks(m: int, size: int = 4096) -> list[NDArray[np.float64]]:
    """Return all labellings with y_1 = 1, in blocks."""
    codes = np.arange(2 ** (m - 1))
    bits = ((codes[:, None] >> np.arange(m - 1)) & 1) * 2.0 - 1
    labels = np.column_stack([np.ones(len(codes)), bits])
    return [labels[i : i + size] for i in range(0, len(labels), size)]


def _factor(gram: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    try:
        return cho_factor(gram)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "the kernel matrix is not strictly positive definite in double precision: equal "
            "points, or a kernel too wide for points so close."
        ) from error
