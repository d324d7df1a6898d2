"""What kind objects are that are neither rows of numbers nor strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer.kernels.series.global_alignment import as_series

from .kind import DataKind, some

_NARROW = 30  # longer series are compared within a band of a tenth of their length


def kind_of_objects(X: Any) -> DataKind | None:
    """Return the kind of sets, counts or series; None for rows of numbers."""
    if isinstance(X, np.ndarray) and X.ndim == 3:
        return kind_of_series(X)
    items = _items(X)
    if not items:
        return None
    if all(isinstance(x, set | frozenset) for x in items):
        sizes = [len(x) for x in items]
        note = f"{some(len(items), 'set')} of {min(sizes)} to {some(max(sizes), 'element')}"
        return DataKind("sets", items, [note])
    if all(isinstance(x, Mapping) for x in items):
        return _counts(items)
    if all(isinstance(x, list | tuple) and x and isinstance(x[0], str) for x in items):
        raise ValueError(
            "X holds lists of strings, which may be sequences, bags of words or rows of a table; "
            "name kernels: suggest(X, y, candidates=[normalize(Spectrum(2)), TfIdf()]), or pass a "
            "data frame."
        )
    for x in items:
        if not (np.isscalar(x) or isinstance(x, Sequence | np.ndarray)):
            raise ValueError(
                f"no kernels are suggested for objects of type {type(x).__name__}; name them: "
                "suggest(X, y, candidates=[...])."
            )
    shapes = {_shape(x) for x in items}
    if len(shapes) > 1 or len(next(iter(shapes))) > 1:
        return kind_of_series(items)
    return None


def kind_of_categories(table: np.ndarray) -> DataKind:
    """Return the kind of columns that hold names of categories.

    `table` (n, n_columns): the names.
    """
    numbers = [len(set(column)) for column in table.T]
    about = " and ".join(map(str, numbers)) if len(numbers) < 4 else f"up to {max(numbers)}"
    return DataKind("categories", table, [f"{about} categories"])


def _items(X: Any) -> list[Any] | None:
    """Return a collection of objects as a list; None for rows that are stored together."""
    if isinstance(X, list | tuple):
        return list(X)
    if isinstance(X, np.ndarray):
        return X.tolist() if X.ndim == 1 and X.dtype.kind == "O" else None
    one_column = hasattr(X, "to_list") and not hasattr(X, "columns")  # of a data frame
    return X.to_list() if one_column else None


def _shape(x: Any) -> tuple[int, ...]:
    try:
        return np.shape(x)
    except ValueError:  # rows of different lengths
        raise ValueError(
            "the points of a series must have the same number of values; got rows of different "
            "lengths."
        ) from None


def _counts(items: list[Any]) -> DataKind:
    for i, x in enumerate(items):
        for element, number in x.items():
            if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
                raise ValueError(
                    f"object {i} maps {element!r} to {number!r}, which is no count; make rows of "
                    "numbers of the mappings, with DictVectorizer().fit_transform(X)."
                )
    sizes = [sum(1 for number in x.values() if number) for x in items]
    largest = max((int(number) for x in items for number in x.values()), default=0)
    note = (
        f"{some(len(items), 'multiset')} of {min(sizes)} to {some(max(sizes), 'element')}, "
        f"counted up to {some(largest, 'time')}"
    )
    return DataKind("counts", items, [note])


def kind_of_series(X: Any) -> DataKind:
    """Return the kind of series of numbers."""
    series = as_series(X, "suggest")
    lengths = [len(x) for x in series]
    if min(lengths) == 0:
        raise ValueError(f"series {int(np.argmin(lengths))} is empty; leave it out.")
    channels = series[0].shape[1]
    length = (
        f"{lengths[0]}" if min(lengths) == max(lengths) else f"{min(lengths)} to {max(lengths)}"
    )
    notes = [f"{len(series)} series of length {length}, {some(channels, 'channel')}"]
    if all(np.array_equal(x, np.round(x)) for x in series):
        notes.append(
            "whole numbers are read as values; if they are symbols, name kernels on sequences: "
            "candidates=[normalize(Spectrum(2))]"
        )
    band = band_of(series)
    width = float(np.mean(lengths)) if band is None else 2.0 * band - 1.0
    return DataKind("series", series, notes, steps=max(1, int(np.mean(lengths) * width)))


def band_of(series: list[np.ndarray]) -> int | None:
    """Return how far apart in time points are compared: a tenth of the length of long series.

    `series`: the series. Where their lengths differ by more than the band, all points are compared:
    the ends of such series would never meet.
    """
    lengths = np.array([len(x) for x in series])
    band = int(np.ceil(lengths.max() / 10))
    return band if lengths.max() > _NARROW and np.ptp(lengths) < band else None
