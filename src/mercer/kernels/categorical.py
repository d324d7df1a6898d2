"""Nominal categories: equal or not, column by column."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer.gram.program import Builder
from mercer.objects.tables import as_table, columns_of, is_frame
from mercer.objects.validation import Objects, is_missing, require_same_columns
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from .base import Kernel
from .definiteness import PSD


class Categorical(Kernel):
    r"""The share of columns in which two rows of categories agree.

    .. math:: k(x, z) = \frac{1}{d} \sum_{j=1}^{d} [x_j = z_j]

    Positive semidefinite: the dot product of the one-hot indicators of all categories, over the
    number d of columns. A missing value (None, NaN, NA) is a separate category, and a category that
    does not occur in the training objects agrees only with itself. The objects are rows of a table,
    whose values may be strings, numbers or anything hashable, or a list with one category each.

    Notes
    -----
    Use it for columns of names: colours, countries, codes of departments, with no encoder before
    it. A value costs the columns in which two rows agree. ``Categorical() ** 2`` counts pairs of
    columns that agree, and ``Categorical().on_columns(["city", "kind"]) + RBF().on_columns(["x"])``
    combines it with numbers. Avoid it for categories of an order or of a known similarity: encode
    the order as a number, or give the similarities to FiniteMatrix.

    Examples
    --------
    >>> from mercer.kernels import Categorical
    >>> Categorical()([["red", "S"], ["red", None], ["blue", None]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """

    _objects: ClassVar[Objects] = Objects(
        "rows of categories: a table, or a list of hashable values",
        structured=True,
        columns=True,
    )
    definiteness = PSD  # a dot product of indicators

    def __init__(self) -> None:
        pass

    def validate(self, X: Any, against: Any = None) -> Any:
        owner = type(self).__name__
        if sp.issparse(X):
            raise TypeError(f"{owner} needs a dense table of categories; got a sparse matrix.")
        table = as_table(_one_column(X), owner)
        require_same_columns(table, against, owner)
        return table

    def compile(self, builder: Builder) -> None:
        builder.mapped(self, "dot")

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> sp.csr_array:
        n, d = X.shape
        # A row has one category in every column; -1 stands for those without an indicator.
        index = np.stack([_encoded(j, v, vocabulary) for j, v in enumerate(columns_of(X))], axis=1)
        index.sort(axis=1)
        known = index >= 0
        start = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        values = np.full(int(start[-1]), 1.0 / np.sqrt(d))
        return sp.csr_array((values, index[known], start), shape=(n, max(len(vocabulary), 1)))

    def diag(self, X: Any) -> np.ndarray:
        return np.ones(len(self.validate(X)))

    @property
    def has_bounded_values(self) -> bool:
        return True

    def map_features(self, X: Any, vocabulary: Vocabulary) -> sp.csr_array:
        """Return the indicators over the root of d; see :meth:`Kernel.map_features`."""
        features = self.map_objects(self.validate(X), vocabulary)
        vocabulary.fix()
        return features

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        names = []
        features: list[Any] = vocabulary.features
        for j, *value in features:
            column = f"x{j}" if columns is None else columns[j]
            names.append(f"{column}={value[0]}" if value else f"{column} missing")
        return names


def _one_column(X: Any) -> Any:
    """Return a collection of single categories as a table of one column."""
    if is_frame(X) or getattr(X, "ndim", 1) != 1 or isinstance(X, str | bytes):
        return X
    if hasattr(X, "to_list") or isinstance(X, np.ndarray):  # a series, or an array
        X = X.tolist() if isinstance(X, np.ndarray) else X.to_list()
    if not isinstance(X, list | tuple) or any(isinstance(x, list | tuple | np.ndarray) for x in X):
        return X
    table = np.empty((len(X), 1), dtype=object)
    table[:, 0] = X
    return table


def _encoded(j: int, values: list[Any], vocabulary: Vocabulary) -> np.ndarray:
    """Return the position of every value of column `j` among the indicators."""
    try:
        distinct: dict[Hashable, int] = dict.fromkeys(values, -1)
    except TypeError:
        raise TypeError(
            f"Categorical compares categories, which are hashable; column {j} holds others, such "
            "as lists or sets. Choose the columns of categories: Categorical().on_columns([...])."
        ) from None
    for value in distinct:
        feature = (j,) if is_missing(value) else (j, value)
        distinct[value] = vocabulary.column(feature)
    return np.fromiter((distinct[value] for value in values), dtype=np.int64, count=len(values))
