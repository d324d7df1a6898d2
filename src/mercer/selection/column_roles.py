"""Columns of a table by what they hold: numbers, categories, or objects of their own.

Columns of numbers of similar spread are one group, columns of categories another; every column of
strings, texts, sets or other objects stands for itself.
"""

from __future__ import annotations

from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from mercer.objects.tables import columns_of, select
from mercer.objects.validation import VECTORS, column_names, is_missing, stands_for_number

# A column of strings is one of categories if it has at most so many, each in so many rows on
# average.
_MOST_CATEGORIES = 200
_LEAST_ROWS = 4
SCALES = 10.0  # columns of numbers whose spreads differ by more are unlike in scale
_SHOWN = 3  # names of columns in a label
_TIMES = ("datetime", "date", "time", "duration", "period")
_CATEGORIES = ("category", "categorical", "enum")


class Group(NamedTuple):
    """Columns of a table that get a kernel together."""

    role: str  # {"objects", "categories", "numbers"}
    columns: Any  # as :meth:`Kernel.on_columns` takes them
    values: Any  # a list of objects, a table of names, or rows of numbers

    @property
    def label(self) -> str:
        """The columns in words."""
        names = self.columns if isinstance(self.columns, list) else [self.columns]
        shown = [str(name) for name in names[:_SHOWN]]
        if len(names) > _SHOWN:
            shown.append(f"{len(names) - _SHOWN} more")
        text = ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]
        return text if isinstance(names[0], str) else f"column{'s' * (len(names) > 1)} {text}"


def column_groups(X: Any) -> tuple[list[Group], list[str]]:
    """Return the groups of columns of a table, and what was noticed."""
    names = column_names(X)
    named: list[Any] = list(range(X.shape[1]))
    if names is not None and len(set(names)) == len(names):
        named = list(names)
    roles: dict[str, list[int]] = {"numbers": [], "categories": [], "objects": [], "constant": []}
    columns = columns_of(X)
    for j, (values, dtype) in enumerate(zip(columns, _dtypes(X), strict=True)):
        roles[_role(values, dtype, named[j])].append(j)
    notes = [f"column {named[j]!r} is constant and left out" for j in roles["constant"]]
    groups = [Group("objects", named[j], columns[j]) for j in roles["objects"]]
    if roles["categories"]:
        table = np.empty((len(columns[0]), len(roles["categories"])), dtype=object)
        for place, j in enumerate(roles["categories"]):
            table[:, place] = [None if is_missing(value) else value for value in columns[j]]
        groups.append(Group("categories", _brief([named[j] for j in roles["categories"]]), table))
    alike = _by_spread(roles["numbers"], X) if roles["numbers"] else []
    for some in alike:
        rows = select(X, some, VECTORS)
        groups.append(Group("numbers", _brief([named[j] for j in some]), rows))
    if len(alike) > 1:
        notes.append("columns of numbers that differ in scale get kernels of their own")
    if not groups:
        raise ValueError("every column of X is constant; there is nothing to compare.")
    return groups, notes


def _by_spread(columns: list[int], X: Any) -> list[list[int]]:
    """Return groups of columns whose standard deviations differ by a factor of at most 10."""
    spread = select(X, columns, VECTORS).std(axis=0)
    groups: list[list[int]] = []
    smallest = 0.0
    for place in np.argsort(spread, kind="stable"):
        if not groups or spread[place] > SCALES * smallest > 0.0:
            groups.append([])
            smallest = float(spread[place])
        smallest = smallest or float(spread[place])  # constant columns go with the first others
        groups[-1].append(columns[place])
    return [sorted(group) for group in groups]


def _brief(names: list[Any]) -> Any:
    return names if len(names) > 1 else names[0]


def _dtypes(X: Any) -> list[str]:
    """Return the types of the columns in words, in small letters."""
    if isinstance(X, np.ndarray):
        return ["object"] * X.shape[1]
    return [str(dtype).lower() for dtype in X.dtypes]


def _role(values: list[Any], dtype: str, name: Any) -> str:
    """Return the role of a column: numbers, categories, other objects, or constant."""
    if dtype.startswith(_TIMES):
        raise ValueError(
            f"column {name!r} holds times; turn them into numbers first, such as days since a "
            "date, the hour or the weekday."
        )
    if all(isinstance(value, Number) and not isinstance(value, complex) for value in values):
        return "numbers"  # a missing one is refused with the others, as NaN
    found = category_role(values, dtype)
    if found is not None:
        return found
    present = [value for value in values if not is_missing(value)]
    missing = len(values) - len(present)
    texts = all(isinstance(value, str) for value in present)
    if missing:
        by = ' with fillna("")' if texts else ""
        raise ValueError(
            f"column {name!r} lacks {missing} of {len(values)} values; fill them in{by}, or leave "
            "the rows out. Only in columns of categories missing values are a separate category."
        )
    numbers = texts and all(stands_for_number(value) for value in present)
    return "numbers" if numbers else "objects"


def category_role(values: list[Any], dtype: str) -> str | None:
    """Return "categories" or "constant" for a column of categories, None for any other."""
    present = [value for value in values if not is_missing(value)]
    texts = all(isinstance(value, str) for value in present)
    numbers = texts and all(stands_for_number(value) for value in present)
    if not dtype.startswith(_CATEGORIES) and (numbers or not texts):
        return None
    # Missing values are one of the categories.
    n_different = len(set(present)) + (len(present) < len(values))
    if n_different == 1:
        return "constant"
    few = min(_MOST_CATEGORIES, len(values) // _LEAST_ROWS)
    return "categories" if dtype.startswith(_CATEGORIES) or n_different <= few else None
