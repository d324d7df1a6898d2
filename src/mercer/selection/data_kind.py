"""The kind of a set of objects, as far as it matters for the choice of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.signal import lombscargle

from mercer.kernels.series.series_input import as_series
from mercer.objects.tables import holds_objects, is_table
from mercer.objects.validation import as_vectors, count

from .column_roles import SCALES, Group, column_groups
from .power_spectrum import estimate_power_spectrum

_BINS = 4  # fewer columns of non-negative numbers are hardly a histogram
_CONCENTRATED = 0.5  # share of the variance at one frequency that makes a target periodic
_PERIODS = 3.0  # and how many periods the data must span
_OVERSAMPLING = 6
_SERIES = 500  # samples in which a period is looked for
_NARROW = 30  # longer series are compared within a band of a tenth of their length


class Part(NamedTuple):
    """Columns of a table that get a kernel together."""

    columns: Any  # as :meth:`Kernel.on_columns` takes them
    kind: DataKind  # what they hold
    label: str  # the columns in words


@dataclass(frozen=True)
class DataKind:
    """The kind of a set of objects.

    Attributes
    ----------
    name : str
        "dense", "sparse", "histograms", "periodic", "strings", "documents", "sets", "counts",
        "series", "categories" or "table".
    X : objects
        The objects, in the form in which kernels take them.
    notes : list of str
        Remarks on the data.
    period : float or None
        The period of a periodic target.
    parts : list of Part
        The groups of columns of a table, with the kind of each.
    steps : int
        Cost of a value of the most expensive kernel on them, in steps; 1 if it is cheap.

    Examples
    --------
    >>> from mercer.selection import data_kind
    >>> data_kind(["abc", "abd", "xyz"]).name
    'strings'
    """

    name: str
    X: Any
    notes: list[str] = field(default_factory=list)
    period: float | None = None
    parts: list[Part] = field(default_factory=list)
    steps: int = 1


def data_kind(X: Any, y: Any = None) -> DataKind:
    """Return the kind of data of a set of objects.

    Parameters
    ----------
    X : objects
        Rows of numbers, dense or sparse, strings, sets, Counters, series of numbers, or a table
        whose columns hold any of these.
    y : array-like of shape (n_X,), optional
        Real targets, in which a period is looked for where `X` is one column.

    Returns
    -------
    DataKind
        The kind, and what was noticed.

    Examples
    --------
    >>> from mercer.selection import data_kind
    >>> data_kind([[0.2, 0.3, 0.5, 0.0], [0.6, 0.1, 0.1, 0.2]]).name
    'histograms'
    >>> data_kind(["GATTACA", "CATTAG"]).name
    'strings'
    >>> data_kind([{"bread", "milk"}, {"milk"}]).name
    'sets'
    """
    if isinstance(X, str | bytes):
        raise TypeError("X is one string; a collection of strings is needed: put it into a list.")
    if is_table(X) and holds_objects(X):
        return _of_table(X, y)
    items = _items(X)
    if items:
        found = _of_strings(items) or _of_objects(items)
        if found is not None:
            return found
    if isinstance(X, np.ndarray) and X.ndim == 3:
        return _of_series(X)
    return _of_rows(as_vectors(X, "suggest"), y)


def _items(X: Any) -> list[Any] | None:
    """Return a collection of objects as a list; None for rows that are stored together."""
    if isinstance(X, np.ndarray):
        return X.tolist() if X.ndim == 1 and X.dtype.kind in "OUS" else None
    if isinstance(X, Sequence):
        return list(X)
    one_column = hasattr(X, "to_list") and not hasattr(X, "columns")  # of a data frame
    return X.to_list() if one_column else None


def _of_table(X: Any, y: Any) -> DataKind:
    groups, notes = column_groups(X)
    parts = [Part(group.columns, _of_group(group, y), group.label) for group in groups]
    about = [f"{part.label}: {'; '.join(part.kind.notes)}" for part in parts]
    steps = max(part.kind.steps for part in parts)
    return DataKind("table", X, [*about, *notes], parts=parts, steps=steps)


def _of_group(group: Group, y: Any) -> DataKind:
    if group.role == "numbers":
        return _of_rows(as_vectors(group.values, "suggest"), y)
    if group.role == "categories":
        numbers = [len(set(column)) for column in group.values.T]
        about = " and ".join(map(str, numbers)) if len(numbers) < 4 else f"up to {max(numbers)}"
        return DataKind("categories", group.values, [f"{about} categories"])
    items = group.values  # equally long arrays in a column are series, and no rows
    try:
        return _of_strings(items) or _of_objects(items) or _of_series(items)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {group.columns!r}: {error} Or leave the column out of X."
        ) from error


def _of_strings(items: list[Any]) -> DataKind | None:
    if not any(all(isinstance(s, kind) for s in items) for kind in (str, bytes)):
        return None
    lengths = [len(s) for s in items]
    words = sum(isinstance(s, str) and len(s.split()) > 1 for s in items)
    name, what = ("documents", "text") if words > len(items) / 2 else ("strings", "string")
    note = f"{_some(len(items), what)} of length {min(lengths)} to {max(lengths)}"
    return DataKind(name, items, [note])


def _of_objects(items: list[Any]) -> DataKind | None:
    """Return the kind of sets, counts or series; None for rows of numbers."""
    if all(isinstance(x, set | frozenset) for x in items):
        sizes = [len(x) for x in items]
        note = f"{_some(len(items), 'set')} of {min(sizes)} to {_some(max(sizes), 'element')}"
        return DataKind("sets", items, [note])
    if all(isinstance(x, Mapping) for x in items):
        return _of_counts(items)
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
    try:
        shapes = {np.shape(x) for x in items}
    except ValueError:  # rows of different lengths
        raise ValueError(
            "the points of a series must have the same number of values; got rows of different "
            "lengths."
        ) from None
    return _of_series(items) if len(shapes) > 1 or len(next(iter(shapes))) > 1 else None


def _of_counts(items: list[Any]) -> DataKind:
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
        f"{_some(len(items), 'multiset')} of {min(sizes)} to {_some(max(sizes), 'element')}, "
        f"counted up to {_some(largest, 'time')}"
    )
    return DataKind("counts", items, [note])


def _of_series(X: Any) -> DataKind:
    series = as_series(X, "suggest")
    lengths = [len(x) for x in series]
    if min(lengths) == 0:
        raise ValueError(f"series {int(np.argmin(lengths))} is empty; leave it out.")
    span = f"{lengths[0]}" if min(lengths) == max(lengths) else f"{min(lengths)} to {max(lengths)}"
    channels = _some(series[0].shape[1], "channel")
    notes = [f"{len(series)} series of length {span}, {channels}"]
    if all(np.array_equal(x, np.round(x)) for x in series):
        notes.append(
            "whole numbers are read as values; if they are symbols, name kernels on sequences: "
            "candidates=[normalize(Spectrum(2))]"
        )
    band = alignment_band(series)
    width = float(np.mean(lengths)) if band is None else 2.0 * band - 1.0
    return DataKind("series", series, notes, steps=max(1, int(np.mean(lengths) * width)))


def alignment_band(series: list[np.ndarray]) -> int | None:
    """Return how far apart in time points are compared: a tenth of the length of long series.

    Where lengths differ by more than the band all points are compared: the ends of such series
    would never meet.
    """
    lengths = np.array([len(x) for x in series])
    band = int(np.ceil(lengths.max() / 10))
    return band if lengths.max() > _NARROW and np.ptp(lengths) < band else None


def _of_rows(X: Any, y: Any) -> DataKind:
    n, d = X.shape
    if sp.issparse(X):
        share = 100 * X.nnz / (n * d)
        return DataKind(
            "sparse", X, [f"{n} sparse rows of {_some(d, 'column')}, {share:.2g} % filled"]
        )
    notes = [f"{_some(n, 'row')} of {_some(d, 'column')}"]
    if d >= _BINS and X.min() >= 0.0:
        sums = X.sum(axis=1)
        if np.ptp(sums) <= 1e-6 * sums.max() and sums.max() > 0.0:
            note = f"non-negative, every row sums to {sums[0]:g}"
            return DataKind("histograms", X, [*notes, note])
        if np.array_equal(X, np.round(X)):
            return DataKind("histograms", X, [*notes, "counts: non-negative whole numbers"])
    period = _period(X, y)
    if period is not None:
        note = f"the target repeats with period {period:.6g}"
        return DataKind("periodic", X, [*notes, note], period)
    spread = X.std(axis=0)
    spread = spread[spread > 0.0]
    if len(spread) > 1 and spread.max() > SCALES * spread.min():
        notes.append(
            "the standard deviations of the columns differ by a factor of "
            f"{spread.max() / spread.min():.3g}: standardise them, or the largest decide every "
            "distance"
        )
    return DataKind("dense", X, notes)


def _period(X: NDArray[Any], y: Any) -> float | None:
    """Return the period of a real target over one column, if most of its variance has one."""
    if y is None or X.shape[1] != 1 or len(X) < 16:
        return None
    y = np.asarray(y)
    if y.dtype.kind not in "fiu" or y.shape != (count(X),) or not np.isfinite(y).all():
        return None
    span = float(np.ptp(X))
    if span == 0.0 or np.ptp(y) == 0:
        return None
    x = X[:, 0].astype(np.float64)
    if len(x) > _SERIES:  # an even choice would fold high frequencies onto low ones
        chosen = np.random.default_rng(0).choice(len(x), _SERIES, replace=False)
        x, y = x[chosen], y[chosen]
    spectrum = estimate_power_spectrum(x, y, oversampling=_OVERSAMPLING)
    periods = spectrum.peak * span / (2.0 * np.pi)
    if spectrum.concentration < _CONCENTRATED or periods < _PERIODS:
        return None
    return 2.0 * np.pi / _refined(x - x.min(), y - y.mean(), spectrum.frequencies, spectrum.peak)


def _refined(x: NDArray[Any], y: NDArray[Any], grid: NDArray[Any], peak: float) -> float:
    """Return the frequency of largest power near a peak of the grid."""
    step = float(grid[0])
    found = minimize_scalar(
        lambda w: -float(np.squeeze(lombscargle(x, y, np.array([w])))),
        bounds=(max(peak - step, 0.5 * step), peak + step),
        method="bounded",
        options={"xatol": 1e-6 * step},
    )
    return float(found.x)


def _some(n: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
