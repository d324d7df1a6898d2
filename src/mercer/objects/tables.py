"""Tables: rows with several columns, of which some may hold strings or other objects.

A table is a data frame (pandas, polars) or a two-dimensional NumPy array of objects or strings. A
kernel sees a table only through ``on_columns``: numeric columns as vectors, a column of objects as
the collection it holds.
"""

from __future__ import annotations

import sys
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp

from .validation import Objects, all_finite, as_vectors, count


def is_frame(X: Any) -> bool:
    """Return whether `X` is a data frame: something two-dimensional with named columns."""
    if isinstance(X, np.ndarray) or sp.issparse(X):
        return False
    return hasattr(X, "columns") and len(getattr(X, "shape", ())) == 2


def is_table(X: Any) -> bool:
    """Return whether `X` is a data frame or a two-dimensional array of objects."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype.kind in "OUS"
    return is_frame(X)


def holds_objects(X: Any) -> bool:
    """Return whether some column of `X` certainly is no column of numbers."""
    if not is_table(X):
        return False
    if isinstance(X, np.ndarray):
        return X.dtype.kind != "O" or any(not isinstance(v, Number) for v in X[:1].ravel())
    return not all(_is_numeric(dtype) for dtype in X.dtypes)


def are_vectors(takes: Objects, X: Any) -> bool:
    """Return whether objects are to be read as rows of numbers as a whole.

    A kernel that chooses its columns needs nothing of the others, which may hold anything: texts,
    or values that are missing.
    """
    if not takes.requires_vectors or not takes.columns:
        return takes.requires_vectors
    return not holds_objects(X) and all_finite(X)


def as_table(X: Any, owner: str) -> Any:
    """Return `X` as a table or as a numeric matrix; a list of rows becomes an array of objects."""
    if is_table(X) or sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
        table = X
    else:
        if hasattr(X, "shape") or not isinstance(X, list | tuple):
            raise _not_a_table(X, owner)
        if not all(isinstance(row, list | tuple | np.ndarray) for row in X):
            raise _not_a_table(X, owner)
        if len({len(row) for row in X}) > 1:
            raise ValueError(f"{owner} needs rows with the same number of columns.")
        table = np.empty((len(X), len(X[0]) if X else 0), dtype=object)
        for i, row in enumerate(X):
            for j, value in enumerate(row):
                table[i, j] = value
    if 0 in table.shape:
        raise ValueError(f"{owner} got a table of shape {table.shape}; it must not be empty.")
    return table


def select(X: Any, columns: Any, takes: Objects) -> Any:
    """Return some columns in the form of the objects that a kernel takes.

    `takes`: what the kernel takes: parts that look at columns themselves get a table, kernels on
    vectors get numbers, and kernels on other objects get the one column that holds them.
    """
    if columns is None:
        return X
    columns = list(columns)
    if takes.structured and not takes.columns:
        return _column(X, columns)
    if not is_table(X):
        return X[:, columns]
    part = X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns]
    if takes.columns:
        return part
    if takes.requires_vectors or not holds_objects(part):
        return as_vectors(part, "a kernel on columns")
    return _column(X, columns) if len(columns) == 1 else part


def stacked(X: Any, Y: Any) -> Any:
    """Return the objects of two collections of one kind, one after the other."""
    if sp.issparse(X) or sp.issparse(Y):
        return sp.vstack([X, Y], format="csr")
    if not hasattr(X, "shape") and not hasattr(Y, "shape"):
        return [*X, *Y]
    library = _library(X)
    if library is None or library is not _library(Y):
        return np.concatenate([np.asarray(X), np.asarray(Y)])
    how = {"ignore_index": True} if hasattr(X, "iloc") else {"how": "vertical_relaxed"}
    return library.concat([X, Y], **how)


def columns_of(X: Any) -> list[list[Any]]:
    """Return the columns of a table or of an array, or the one of a collection, as lists."""
    if is_table(X) or getattr(X, "ndim", 1) == 2:
        return [_column(X, [j]) for j in range(X.shape[1])]
    return [list(X)]


def first_of_equal(X: Any, columns: list[int] | None = None) -> np.ndarray:
    """Return for each object the first one that is equal to it, in some columns or as a whole."""
    n = count(X)
    if columns is not None and not hasattr(X, "iloc"):
        X = X[:, columns]
    elif columns is not None:
        X = X.iloc[:, columns]
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        _, first, same = np.unique(X, axis=0, return_index=True, return_inverse=True)
        return first[same.reshape(-1)]
    if sp.issparse(X):
        X = sp.csr_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        keys: Any = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in ends]
    elif hasattr(X, "itertuples"):
        keys = list(X.itertuples(index=False, name=None))
    elif hasattr(X, "rows"):  # polars
        keys = X.rows()
    else:
        keys = [tuple(row) if isinstance(row, list | np.ndarray) else row for row in X]
    seen: dict[Any, int] = {}
    try:
        return np.array([seen.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp)
    except TypeError:  # objects that cannot be looked up count as different ones
        return np.arange(n)


def _column(X: Any, columns: list[int]) -> list:
    """Return the objects of one column."""
    if len(columns) != 1:
        raise ValueError(
            f"a kernel on structured objects looks at one column; got {len(columns)} columns. "
            "Use one on_columns(...) for each and add or multiply the kernels."
        )
    if hasattr(X, "iloc"):
        return X.iloc[:, columns[0]].tolist()
    if is_frame(X):
        return X[:, columns[0]].to_list()
    return X[:, columns[0]].tolist()


def _library(X: Any) -> Any:
    """Return pandas or polars for their frames and columns, also of subclasses, else None."""
    roots = (kind.__module__.partition(".")[0] for kind in type(X).__mro__)
    return next((sys.modules[root] for root in roots if root in ("pandas", "polars")), None)


def _is_numeric(dtype: Any) -> bool:
    numeric = getattr(dtype, "is_numeric", None)
    if numeric is not None:  # polars
        return bool(numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "biuf"


def _not_a_table(X: Any, owner: str) -> TypeError:
    return TypeError(
        f"{owner} needs rows with columns: a data frame, a two-dimensional array or a list of "
        f"rows; got {type(X).__name__}."
    )
