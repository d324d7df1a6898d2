"""Training documents without their texts: what models and their pickles keep of them.

`TfIdf` compares counts of terms. A model whose documents no other kernel reads keeps these counts:
its file cannot reveal a text, and its first prediction analyses the new document alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.gram.mapped_objects import Views
from mercer.objects.tables import columns_of

from .algebra import (
    Exp,
    Normalized,
    OverFeatureSpace,
    PolynomialOf,
    Power,
    PowerSeries,
    Product,
    Scaled,
    Sum,
)
from .algebra.on_columns import OnColumns
from .base import Kernel
from .constant import Constant
from .documents import TfIdf

# Compositions whose parts see the objects that they see.
_COMPOSED = (
    Exp,
    Normalized,
    OverFeatureSpace,
    PolynomialOf,
    Power,
    PowerSeries,
    Product,
    Scaled,
    Sum,
)


def without_texts(kernel: Kernel, views: Views) -> Views:
    """Return objects of equal kernel values in which documents are counts of their terms.

    Documents that one `TfIdf` reads become rows of counts of its vocabulary; a column of documents
    in a table becomes a column of mappings from terms to counts. Where another kernel needs the
    texts they stay.

    `kernel`: bound to the objects. `views`: the objects, with images that stay known.
    """
    if isinstance(views.X, np.ndarray) and views.X.dtype.kind == "f":
        return views  # rows of numbers
    readers: dict[Any, list[Kernel]] = {}
    for column, part in _readers(kernel, None):
        readers.setdefault(column, []).append(part)
    whole = readers.pop(None, None)
    if whole is not None:
        first = whole[0]
        alone = not readers and all(kernel == first for kernel in whole)
        if isinstance(first, TfIdf) and alone and not hasattr(views.X, "shape"):
            return Views(first.counts(views))
        return views
    for column, parts in readers.items():
        analysis = parts[0]._map if isinstance(parts[0], TfIdf) else None
        if analysis and all(isinstance(k, TfIdf) and k._map == analysis for k in parts):
            views = views.replaced(_with_column(views.X, int(column), analysis.counts))
    return views


def _readers(kernel: Kernel, columns: list[int] | None) -> Iterator[tuple[int | None, Kernel]]:
    """Yield the kernels that read the objects, with the column of a table that each looks at."""
    if isinstance(kernel, OnColumns):
        own = [int(c) for c in np.atleast_1d(kernel.columns)]
        yield from _readers(kernel.kernel, own if columns is None else [columns[c] for c in own])
    elif isinstance(kernel, _COMPOSED):
        for part in kernel.inner_kernels():
            yield from _readers(part, columns)
    elif not isinstance(kernel, Constant):
        for column in [None] if columns is None else columns:
            yield column, kernel


def _with_column(X: Any, column: int, change: Any) -> Any:
    """Return a table with a column of other objects."""
    values = np.empty(X.shape[0], dtype=object)
    values[:] = change(columns_of(X)[column])
    if hasattr(X, "isetitem"):  # pandas
        X = X.copy(deep=False)
        X.isetitem(column, values)
        return X
    X = (X if isinstance(X, np.ndarray) else X.to_numpy()).astype(object)
    X[:, column] = values
    return X
