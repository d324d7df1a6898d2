"""What kind of data a set of objects is, as far as it matters for the choice of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.signal import lombscargle

from mercer.objects.tables import holds_objects, is_table
from mercer.objects.validation import as_vectors, column_names, count

from .kind import DataKind, some
from .object_kinds import kind_of_categories, kind_of_objects, kind_of_series
from .power_spectrum import estimate_power_spectrum
from .tables import SCALES, table_parts

_BINS = 4  # fewer columns of non-negative numbers are hardly a histogram
_CONCENTRATED = 0.5  # share of the variance at one frequency that makes a target periodic
_PERIODS = 3.0  # and how many periods the data must span
_OVERSAMPLING = 6
_SERIES = 500  # samples in which a period is looked for


def data_kind(X: Any, y: Any = None) -> DataKind:
    """Return what kind of data the objects are.

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
    strings = _as_strings(X)
    if strings is not None:
        lengths = [len(s) for s in strings]
        words = sum(isinstance(s, str) and len(s.split()) > 1 for s in strings)
        name, what = ("documents", "text") if words > len(strings) / 2 else ("strings", "string")
        note = f"{some(len(strings), what)} of length {min(lengths)} to {max(lengths)}"
        return DataKind(name, strings, [note])
    if is_table(X) and holds_objects(X):
        return _table(X, y)
    other = kind_of_objects(X)
    if other is not None:
        return other
    X = as_vectors(X, "suggest")
    n, d = X.shape
    if sp.issparse(X):
        share = X.nnz / (n * d)
        return DataKind(
            "sparse", X, [f"{n} sparse rows of {some(d, 'column')}, {100 * share:.2g} % filled"]
        )
    notes = [f"{some(n, 'row')} of {some(d, 'column')}"]
    if d >= _BINS and X.min() >= 0.0:
        sums = X.sum(axis=1)
        if np.ptp(sums) <= 1e-6 * sums.max() and sums.max() > 0.0:
            return DataKind(
                "histograms", X, [*notes, f"non-negative, every row sums to {sums[0]:g}"]
            )
        if np.array_equal(X, np.round(X)):
            return DataKind("histograms", X, [*notes, "counts: non-negative whole numbers"])
    period = _period(X, y)
    if period is not None:
        note = f"the target repeats with period {period:.6g}"
        return DataKind("periodic", X, [*notes, note], period)
    notes += _about_scales(X)
    return DataKind("dense", X, notes)


def _as_strings(X: Any) -> list[str] | list[bytes] | None:
    """Return a collection of strings as a list, None if it is something else."""
    if isinstance(X, str | bytes):
        raise TypeError("X is one string; a collection of strings is needed: put it into a list.")
    if isinstance(X, np.ndarray):
        if X.ndim != 1 or X.dtype.kind not in "OUS":
            return None
        items = X.tolist()
    elif hasattr(X, "to_numpy") and column_names(X) is None:  # a series of a data frame
        return _as_strings(X.to_numpy())
    elif isinstance(X, Sequence):
        items = list(X)
    else:
        return None
    same = bool(items) and (
        all(isinstance(s, str) for s in items) or all(isinstance(s, bytes) for s in items)
    )
    return items if same else None


def _table(X: Any, y: Any) -> DataKind:
    parts, notes = table_parts(
        X, lambda rows: data_kind(rows, y), _kind_of_column, kind_of_categories
    )
    about = [f"{part.label}: {'; '.join(part.kind.notes)}" for part in parts]
    steps = max(part.kind.steps for part in parts)
    return DataKind("table", X, [*about, *notes], parts=parts, steps=steps)


def _kind_of_column(items: list[Any]) -> DataKind:
    """Return the kind of the objects in one column; equally long arrays there are no rows."""
    if _as_strings(items) is not None:
        return data_kind(items)
    return kind_of_objects(items) or kind_of_series(items)


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


def _about_scales(X: NDArray[Any]) -> list[str]:
    spread = X.std(axis=0)
    spread = spread[spread > 0.0]
    if len(spread) < 2 or spread.max() <= SCALES * spread.min():
        return []
    return [
        "the standard deviations of the columns differ by a factor of "
        f"{spread.max() / spread.min():.3g}: standardise them, or the largest decide every distance"
    ]
