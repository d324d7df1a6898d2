"""Missing values of tables: what fills them in before a search, and what it says about them."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer

from mercer.objects.tables import columns_of, holds_objects, is_frame
from mercer.objects.validation import column_names, is_missing

from .column_roles import category_role


def imputer_of(X: Any) -> tuple[Any, list[str]]:
    """Return what fills in the values that are missing, None where none are, and remarks.

    Numbers get the median of their column and one more column for each that lacks some; columns of
    categories stay, since kernels take missing values for a category; others get their most
    frequent value. Objects that are no frame and no rows of numbers stay as they are.
    """
    if is_frame(X) and holds_objects(X):
        return _of_frame(X)
    if not (is_frame(X) or isinstance(X, np.ndarray) or _are_rows(X)):
        return None, []
    try:
        numbers = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None, []
    if numbers.ndim != 2 or not np.isnan(numbers).any():
        return None, []
    missing = np.isnan(numbers)
    found = _median()
    if is_frame(X):
        found.set_output(transform=_kind_of_frame(X))
    return found, [_of_numbers(int(missing.any(axis=0).sum()), float(missing.mean()))]


def _are_rows(X: Any) -> bool:
    return isinstance(X, list) and bool(X) and isinstance(X[0], list | tuple | np.ndarray)


def _are_texts(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(value, str) for value in values)


def _median() -> SimpleImputer:
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def _kind_of_frame(X: Any) -> str:
    return "pandas" if hasattr(X, "iloc") else "polars"


def _of_numbers(n: int, share: float) -> str:
    columns = "1 column" if n == 1 else f"{n} columns"
    return (
        f"{share:.2g} of the numbers are missing, in {columns}: replaced by the "
        "median, with indicators"
    )


def _of_frame(X: Any) -> tuple[Any, list[str]]:
    names = column_names(X)
    if names is None or len(set(names)) < len(names):
        return None, []
    numbers, lacking, notes = [], [], []
    texts: dict[Any, list[Any]] = {None: [], np.nan: []}  # by what stands for a missing text
    for name, values, dtype in zip(names, columns_of(X), X.dtypes, strict=True):
        present = [value for value in values if not is_missing(value)]
        missing = len(values) - len(present)
        if present and all(isinstance(value, Number) for value in present):
            numbers.append(name)
            lacking.append(missing / len(values))
        elif missing and _are_texts(present) and not category_role(values, str(dtype).lower()):
            texts[None if None in values else np.nan].append(name)
            notes.append(f"{missing} values of {name!r} are missing: replaced by the most frequent")
    steps: list[tuple[str, Any, list[Any]]] = []
    if any(lacking):
        steps.append(("numbers", _median(), numbers))
        notes.append(_of_numbers(int(np.count_nonzero(lacking)), float(np.mean(lacking))))
    for mark, names_of_texts in texts.items():
        if names_of_texts:
            filled = SimpleImputer(missing_values=mark, strategy="most_frequent")
            steps.append((f"texts without {mark}", filled, names_of_texts))
    if not steps:
        return None, []
    found = ColumnTransformer(steps, remainder="passthrough", verbose_feature_names_out=False)
    return found.set_output(transform=_kind_of_frame(X)), notes
