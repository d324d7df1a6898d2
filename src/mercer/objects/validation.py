"""The objects a kernel is evaluated on: what kind they are, and how input becomes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mercer import sklearn_internals

from .arrays import is_finite
from .callers import warn_caller
from .rows import canonical_rows


class Objects(NamedTuple):
    """The kind of objects that a kernel takes."""

    domain: str  # the objects in words
    requires_vectors: bool = False  # whether they must be rows of numbers
    accepts_sparse: bool = False  # whether they may be rows of a CSR matrix
    pairwise: bool = False  # whether the input is a kernel matrix instead of objects
    structured: bool = False  # whether they are no rows of numbers: strings, sets, sequences
    # whether the kernel chooses columns of a table itself, and needs nothing of the others
    columns: bool = False

    def join(self, other: Objects) -> Objects:
        """Return the objects that two kernels both take."""
        if self == other or other == ANY:
            return self
        if self == ANY:
            return other
        if self.columns and other.columns:
            return Objects(
                self._both(other),
                self.requires_vectors and other.requires_vectors,
                self.accepts_sparse and other.accepts_sparse,
                structured=self.structured or other.structured,
                columns=True,
            )
        if self.pairwise != other.pairwise:
            raise ValueError(
                "a precomputed kernel matrix cannot be combined with a kernel on other objects; "
                "evaluate both and pass the combined matrix to Precomputed()."
            )
        if (self.structured and other._plain()) or (other.structured and self._plain()):
            raise ValueError(
                f"the kernels of a sum or product look at the same objects, which cannot be "
                f"{self.domain} and {other.domain} at once; choose the columns of a table for "
                "each: a.on_columns('text') + b.on_columns(['x', 'y'])."
            )
        return Objects(
            self._both(other),
            self.requires_vectors or other.requires_vectors,
            self.accepts_sparse and other.accepts_sparse,
            self.pairwise,
            self.structured or other.structured,
        )

    def _plain(self) -> bool:
        """Whether the objects are whole rows, of a table or of numbers."""
        return self.requires_vectors or self.columns

    def _both(self, other: Objects) -> str:
        return self.domain if self.domain == other.domain else f"{self.domain}; {other.domain}"


_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

ANY = Objects("any objects", accepts_sparse=True)
VECTORS = Objects(
    "real vectors: rows of a numeric array, data frame or sparse matrix",
    requires_vectors=True,
    accepts_sparse=True,
)
MATRIX = Objects("rows of a precomputed kernel matrix", pairwise=True)

_NO_NUMBERS = "OUST"  # types of arrays that hold texts or other objects
_TIMES = ("date", "time", "duration", "period")  # how the types of dates and durations begin
_SHOWN_COLUMNS = 5  # in an error
_OTHERS = (
    (str | bytes, "texts", "Spectrum, Subsequence or TfIdf"),
    (set | frozenset, "sets", "Jaccard or SetIntersection"),
    (dict, "counts", "Multiset"),
)


def taken_by(kernel: Any) -> Objects:
    """Return the objects that a kernel takes; any, if its parameters do not fit together.

    For scikit-learn's tags, which are read before a fit can refuse the parameters.
    """
    try:
        taken: Objects = kernel.takes
    except (AttributeError, TypeError, ValueError):
        return ANY
    return taken


def as_vectors(X: Any, owner: str) -> Any:
    """Return `X` as a finite 2-d float array, itself where it is one, or as canonical CSR."""
    if _is_ready(X):
        return X
    refuse_other_objects(X, owner)
    names = column_names(X)
    if names is not None and len(set(names)) < len(names):
        X = X.to_numpy()  # vectors need no names, and scikit-learn refuses repeated ones
    from sklearn.utils import check_array

    try:
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    except ValueError as error:
        raise with_columns(error, X, owner) from None
    return canonical_rows(X) if sp.issparse(X) else X


def as_matrix(X: Any) -> np.ndarray:
    """Return `X` as a finite 2-d array of float32 or float64 that holds kernel values."""
    from sklearn.utils import check_array

    if sp.issparse(X):
        raise TypeError(
            "a precomputed kernel matrix must be dense; got a sparse matrix. Use X.toarray()."
        )
    refuse_masked(X, "X")
    return X if _is_ready(X) else check_array(X, dtype=[np.float64, np.float32], input_name="X")


def as_objects(X: Any, owner: str) -> Any:
    """Return `X` as something with a length whose items can be taken by index.

    Arrays stay arrays, sparse matrices become CSR, frames become arrays, and a list of equally
    long lists of numbers is read as the array it stands for. Every other list is kept as it is.
    """
    if isinstance(X, np.ndarray):
        refuse_masked(X, "X")
        if X.ndim == 0:
            raise ValueError(f"{owner} needs a collection of objects; got a single value.")
        objects: Any = X
    elif sp.issparse(X):
        objects = canonical_rows(X)
    elif hasattr(X, "to_numpy"):
        objects = X.to_numpy()
    elif isinstance(X, str | bytes) or not isinstance(X, Sequence):
        raise TypeError(
            f"{owner} needs a list or an array of objects; got {type(X).__name__}. "
            "Put the objects into a list."
        )
    elif isinstance(X, list) and X and all(isinstance(item, list) for item in X):
        objects = _as_numbers(X)
    else:
        objects = X
    if count(objects) == 0:
        raise ValueError(f"{owner} got no objects; at least one is needed.")
    return objects


def as_items(X: Any, owner: str, what: str) -> list:
    """Return a collection of structured objects as a list.

    `X`: the objects. A two-dimensional array holds one in each row; one of texts or objects that
    has a single column is the column of a table, and no collection of objects.
    """
    if isinstance(X, list):
        items = X
    elif isinstance(X, tuple):
        items = list(X)
    elif isinstance(X, np.ndarray) and X.ndim:
        refuse_masked(X, "X")
        if X.ndim == 2 and X.shape[1] == 1 and X.dtype.kind in _NO_NUMBERS:
            raise TypeError(
                f"{owner} is defined on {what}; got a table of one column (an array of shape "
                f"{X.shape}). Choose the column: {owner}(...).on_columns(0), or pass X[:, 0]."
            )
        items = X.tolist() if X.dtype.kind in _NO_NUMBERS and X.ndim == 1 else list(X)
    elif hasattr(X, "columns") or sp.issparse(X):
        raise TypeError(
            f"{owner} is defined on {what}; got a table ({type(X).__name__}). Choose the column "
            f"that holds them: {owner}(...).on_columns('name')."
        )
    elif hasattr(X, "to_list"):  # a series of pandas or polars
        items = X.to_list()
    else:
        raise TypeError(
            f"{owner} needs a collection of {what}; got {type(X).__name__}. Put the objects into "
            "a list."
        )
    if not items:
        raise ValueError(f"{owner} got no objects; at least one is needed.")
    return items


def require_same_columns(X: Any, against: Any, owner: str) -> None:
    """Reject rows that have not as many columns as those that they are compared with, if any."""
    if against is not None and X.shape[1] != against.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features, but {owner} compares it with rows of "
            f"{against.shape[1]} features; both sets must have the same columns."
        )


def count(X: Any) -> int:
    """Return the number of objects."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def take(X: Any, index: Any) -> Any:
    """Return the objects at a slice or at an array of indices."""
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if type(X) is np.ndarray and getattr(index, "dtype", np.bool_) == np.intp:
        return X.take(index, axis=0)  # faster than X[index]
    if hasattr(X, "shape") or isinstance(index, slice):
        return X[index]
    return [X[i] for i in index]


def stored_alike(X: Any, Z: Any) -> tuple[Any, Any]:
    """Return both sets as CSR if one of them is; documents stay what they are."""
    if sp.issparse(X) == sp.issparse(Z) or not (hasattr(X, "shape") and hasattr(Z, "shape")):
        return X, Z
    return (X, sp.csr_array(Z)) if sp.issparse(X) else (sp.csr_array(X), Z)


def column_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame, None for anything without string names."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    return names if all(isinstance(name, str) for name in names) else None


def _is_ready(X: Any) -> bool:
    """Return whether `X` is a finite floating-point matrix."""
    plain = type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in _FLOATS
    return plain and is_finite(X)


def _as_numbers(X: list) -> Any:
    try:
        array = np.asarray(X)
    except ValueError:  # ragged: sequences of different lengths
        return X
    return array.astype(float) if array.ndim >= 2 and array.dtype.kind in "biuf" else X


def refuse_other_objects(X: Any, owner: str) -> None:
    """Reject texts, sets, counts and times instead of real vectors, and say what takes them."""
    refuse_masked(X, "X")
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for i, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
            if str(dtype).lower().startswith(_TIMES):
                raise _times(owner, f"the column {name!r} holds")
            if not str(dtype).lower().startswith("object"):
                continue
            column = X.iloc[:, i] if hasattr(X, "iloc") else X[name]
            first = next((value for value in column if not is_missing(value)), None)
            if isinstance(first, date | timedelta):
                raise _times(owner, f"the column {name!r} holds")
        return
    if isinstance(X, np.ndarray) and (X.dtype.kind in "mM" or _begins_with_times(X)):
        raise _times(owner, "the array holds")
    if isinstance(X, str | bytes):
        first = X
    elif isinstance(X, Sequence) or getattr(X, "ndim", 0) == 1:
        first = next(iter(X), None)
    else:
        return
    for kinds, what, kernels in _OTHERS:
        if isinstance(first, kinds):
            raise ValueError(
                f"{owner} is defined on real vectors; got {what} such as {_shown(first)}. For "
                f"{what} use {kernels}, or FromFunction, which takes any objects."
            )


def refuse_masked(values: Any, name: str) -> None:
    """Reject masked entries of a masked array: they are missing values, whatever lies below."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        n = int(np.ma.count_masked(values))
        raise ValueError(
            f"Input {name} contains NaN or missing values: {n} of its {values.size} entries are "
            f"masked. Leave them out, or fill them in: {name}.filled(np.nan) makes NaN of them, "
            "which SimpleImputer takes, and np.asarray the numbers below the mask."
        )


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, NaN, NaT or NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return True
    except ValueError:  # an array
        return False


def validated(estimator: Any, X: Any, *args: Any, reset: bool = True, **settings: Any) -> Any:
    """Return what `validate_data` of scikit-learn does; errors name the columns.

    Warnings on missing and unexpected feature names point at the line of the caller.
    """
    from sklearn.utils.validation import check_array, validate_data

    refuse_masked(X, "X")
    try:
        if reset or not _warned_of_names(estimator, X):
            return validate_data(estimator, X, *args, reset=reset, **settings)
        # What is left of `validate_data`, which would warn again, at a line of its own.
        if not settings.pop("skip_check_array", False):
            rows = check_array(X, input_name="X", estimator=estimator, **settings)
        else:
            rows = X
        if settings.get("ensure_2d", True):
            sklearn_internals.check_n_features(estimator, X, reset=False)
        return rows
    except ValueError as error:
        owner = f"the kernel of {type(estimator).__name__}" if hasattr(estimator, "kernel") else ""
        raise with_columns(error, X, owner) from None


def _warned_of_names(estimator: Any, X: Any) -> bool:
    """Warn where only one of the fit and `X` has feature names; return whether that is so."""
    named = sklearn_internals.get_feature_names(X) is not None
    fitted = hasattr(estimator, "feature_names_in_")
    name = type(estimator).__name__
    if named and not fitted:
        warn_caller(f"X has feature names, but {name} was fitted without feature names")
    if fitted and not named:
        warn_caller(
            f"X does not have valid feature names, but {name} was fitted with feature names"
        )
    return named != fitted


def with_columns(error: ValueError, X: Any, owner: str) -> ValueError:
    """Return scikit-learn's error for values that are no numbers, with the columns they are in.

    `error`: any error of its validation; one about something else is returned as it is. `owner`:
    the kernel that takes rows of numbers; "" where there is none to replace.
    """
    first = str(error).split("\n", 1)[0]
    of_texts = "string" in first and owner
    if not (of_texts or "NaN" in first or "infinity" in first):
        return error
    if isinstance(X, list | tuple):
        X = np.array(X, dtype=object)
    if len(getattr(X, "shape", ())) != 2:
        return error
    names = list(getattr(X, "columns", range(X.shape[1])))
    if of_texts:
        rows = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
        for name, column in zip(names, rows.T, strict=True):
            for value in column.tolist():
                if isinstance(value, str | bytes) and not stands_for_number(value):
                    return _texts(owner, name, value)
        return error
    found = {name: n for name, n in zip(names, _not_finite_rows(X), strict=True) if n}
    if not found:
        return error
    shown = ", ".join(
        f"{name!r} ({n} row{'s' * (n > 1)})" for name, n in list(found.items())[:_SHOWN_COLUMNS]
    )
    more = f" and {len(found) - _SHOWN_COLUMNS} more" if len(found) > _SHOWN_COLUMNS else ""
    remedy = (
        "Leave these rows out, or replace the values; imputers do not fill in infinity."
        if "NaN" not in first
        else "Leave these rows out, or fill them in, for instance with SimpleImputer in a "
        "pipeline; in columns of categories Categorical() takes missing values as a category of "
        "their own."
    )
    return ValueError(f"{first} Column{'s' * (len(found) > 1)} {shown}{more}. {remedy}")


def _texts(owner: str, column: Any, value: str | bytes) -> ValueError:
    """Return the error for a column of texts or of names of categories."""
    return ValueError(
        f"{owner} is defined on real vectors, and the column {column!r} holds texts such as "
        f"{_shown(value)}. Give it a kernel of its own and combine the two, as in "
        f"Categorical().on_columns({column!r}) + RBF().on_columns([...]): Categorical for names "
        "of categories, TfIdf or Spectrum for other strings."
    )


def all_finite(X: Any) -> bool:
    """Return whether a numeric array or frame is finite; True for objects checked elsewhere."""
    if _is_ready(X) or sp.issparse(X) or len(getattr(X, "shape", ())) != 2:
        return True
    return not any(_not_finite_rows(X))


def _not_finite_rows(X: Any) -> list[int]:
    """Return the number of values in each column that are missing or infinite."""
    if sp.issparse(X):
        X = sp.csc_matrix(X)
        wrong = np.concatenate([[0], np.cumsum(~np.isfinite(X.data))])
        return (wrong[X.indptr[1:]] - wrong[X.indptr[:-1]]).tolist()
    rows = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    if rows.dtype.kind in "biuf":
        return (~np.isfinite(rows)).sum(axis=0).tolist()
    return [sum(is_missing(v) or v in (np.inf, -np.inf) for v in c.tolist()) for c in rows.T]


def _begins_with_times(X: np.ndarray) -> bool:
    """Return whether an array of objects has a date or a duration in its first row."""
    kinds = date | timedelta | np.datetime64 | np.timedelta64
    return X.dtype.kind == "O" and any(isinstance(value, kinds) for value in np.ravel(X[:1]))


def _times(owner: str, where: str) -> ValueError:
    """Return the error for dates and durations, whose numbers depend on a unit nobody chose."""
    return ValueError(
        f"{owner} is defined on real vectors, and {where} dates or times. Turn them into numbers "
        "of a unit that suits the kernel, such as days: (x - x.min()) / np.timedelta64(1, 'D')."
    )


def stands_for_number(text: str | bytes) -> bool:
    """Return whether a text is the printed form of a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _shown(x: Any) -> str:
    text = repr(x.item() if isinstance(x, np.generic) else x)
    return text if len(text) <= 40 else f"{text[:37]}..."
