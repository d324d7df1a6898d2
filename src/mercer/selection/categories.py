"""Agreement of rows of categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.tables import is_table, select
from mercer.objects.validation import Objects

_ONE_COLUMN = Objects("one column", structured=True)


def agreement(A: Any, B: Any) -> NDArray[np.float64]:
    """Return the share of columns in which rows of categories agree.

    As a kernel on columns that hold names of categories, which are equal or not, it is positive
    semidefinite: the dot product of the indicators of all categories, over the number of columns.

    Parameters
    ----------
    A, B : list of hashable, table
        One category for each object, or a table with a column for each of them.

    Returns
    -------
    ndarray of shape (n_A, n_B)
        Numbers from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection import agreement
    >>> from mercer.kernels import FromFunction
    >>> agreement(["red", "blue"], ["blue", "green"])
    array([[0., 0.],
           [1., 0.]])
    >>> alike = FromFunction(agreement, "positive semidefinite").on_columns([0, 2])
    >>> alike(np.array([["red", 7.0, "a"], ["red", 8.0, "b"]], dtype=object))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    left, right = columns_of(A), columns_of(B)
    total = np.zeros((len(left[0]), len(right[0])))
    for a, b in zip(left, right, strict=True):
        codes: dict[Any, int] = {}
        first, second = (np.array([codes.setdefault(v, len(codes)) for v in x]) for x in (a, b))
        total += first[:, None] == second[None, :]
    return total / len(left)


def columns_of(X: Any) -> list[list[Any]]:
    """Return the columns of a table, or the one of a collection, as lists."""
    if is_table(X):
        return [select(X, [j], _ONE_COLUMN) for j in range(X.shape[1])]
    return [list(X)]
