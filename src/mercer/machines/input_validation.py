"""Input validation: objects, targets and labels, checked once at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mercer.kernels import Kernel
from mercer.objects.arrays import Array, is_finite
from mercer.objects.callers import warn_caller
from mercer.objects.tables import are_vectors, is_frame, is_table
from mercer.objects.validation import refuse_masked, refuse_other_objects, validated

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def check_training_objects(machine: Any, X: Any, kernel: Kernel) -> Any:
    """Return validated training objects; sets the names and the number of columns."""
    kernel.check_changes()
    takes = kernel.takes
    if takes.pairwise:
        if sp.issparse(X):
            raise TypeError(
                "Sparse precomputed kernels are not supported; pass the matrix as X.toarray()."
            )
        X = check_rows(machine, X, reset=True, sparse=False)
        return kernel.validate(X)
    if are_vectors(takes, X):
        return check_rows(machine, X, reset=True, sparse=takes.accepts_sparse)
    X = kernel.validate(X)
    forget_columns(machine)
    if takes.columns:
        validated(machine, X, skip_check_array=True)
    elif getattr(X, "ndim", 0) == 2:
        machine.n_features_in_ = X.shape[1]
    return X


def check_objects(machine: Any, X: Any, kernel: Kernel) -> Any:
    """Return objects to predict, in the form in which the training objects were."""
    takes = kernel.takes
    if not takes.pairwise and not are_vectors(takes, X):
        if takes.columns and is_table(X):
            validated(machine, X, reset=False, skip_check_array=True)
        X = kernel.validate(X)
        _check_columns(machine, X)
        return X
    trained_on_sparse = machine._trained_on_sparse
    if sp.issparse(X) and not trained_on_sparse and machine._sparse_means_sparse:
        name = type(machine).__name__
        raise ValueError(
            f"cannot use sparse input in {name!r} trained on dense data. Train on a sparse matrix, "
            "or pass X.toarray()."
        )
    sparse = trained_on_sparse or (takes.accepts_sparse and not machine._sparse_means_sparse)
    X = check_rows(machine, X, reset=False, sparse=sparse)
    if trained_on_sparse and not sp.issparse(X):
        X = sp.csr_matrix(X)
    kernel.check_domain(X)
    return X


def check_labels(machine: Any, y: Any, n_samples: int) -> NDArray[Any]:
    """Return class labels as a one-dimensional array."""
    _require(machine, y)
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU" and len(y)):
        y = _in_one_dimension(y)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        check_classification_targets(y)
    _check_length(y, n_samples)
    return y


def check_targets(machine: Any, y: Any, n_samples: int) -> Array:
    """Return real targets as a one-dimensional float64 array."""
    _require(machine, y)
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype == np.float64 and is_finite(y)):
        y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y", estimator=machine)
        y = _in_one_dimension(y).astype(np.float64, copy=False)
    _check_length(y, n_samples)
    return y


def _in_one_dimension(y: Any) -> NDArray[Any]:
    """Return a column as an array of one dimension, with scikit-learn's warning."""
    flat: NDArray[Any] = column_or_1d(y)
    if np.asarray(y).ndim == 2:
        warn_caller(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples, ), for example using ravel().",
            DataConversionWarning,
        )
    return flat


def check_several_targets(machine: Any, y: Any, n_samples: int) -> Array:
    """Return real targets as a float64 array of one or two dimensions."""
    _require(machine, y)
    if type(y) is np.ndarray and y.ndim == 1:
        return check_targets(machine, y, n_samples)
    y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y", estimator=machine)
    if y.ndim != 2:
        return check_targets(machine, y, n_samples)
    _check_length(y, n_samples)
    return y.astype(np.float64, copy=False)


def check_rows(machine: Any, X: Any, *, reset: bool, sparse: bool) -> Any:
    """Return `X` as a finite float array or CSR; plain rows skip scikit-learn's validation."""
    if sparse and not reset and _is_known_sparse(machine, X):
        return X
    plain = plain_rows(machine, X, reset=reset)
    if plain is not None:
        return plain
    name = type(machine).__name__
    refuse_other_objects(X, f"the kernel of {name}" if hasattr(machine, "kernel") else name)
    try:
        X = validated(
            machine,
            X,
            reset=reset,
            accept_sparse="csr" if sparse else False,
            dtype=[np.float64, np.float32],
            accept_large_sparse=True,
        )
    except ValueError as error:
        if not reset and "features as input" in str(error):
            raise ValueError(f"{error}{_needed_columns(machine)}") from None
        raise
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def plain_rows(machine: Any, X: Any, *, reset: bool) -> Array | None:
    """Return plain finite rows, or a frame of the fit; None where scikit-learn must validate."""
    rows, names = X, None
    if type(X) is list:
        try:
            rows = np.asarray(X)
        except ValueError:  # ragged
            return None
    elif type(X) is not np.ndarray:
        sparse = getattr(machine, "_trained_on_sparse", False)
        if reset or sparse or not (is_frame(X) and hasattr(X, "to_numpy")):
            return None
        rows, names = X.to_numpy(), list(X.columns)
    if rows.ndim != 2 or not rows.size or rows.dtype.kind not in "fiu":
        return None
    rows = rows if rows.dtype in _FLOATS else rows.astype(np.float64)
    if not is_finite(rows):
        return None
    if reset:
        forget_columns(machine)
        machine.n_features_in_ = rows.shape[1]
        return rows
    expected = machine.__dict__.get("feature_names_in_")
    known = names is None if expected is None else names == expected.tolist()
    return rows if known and rows.shape[1] == getattr(machine, "n_features_in_", -1) else None


def _is_known_sparse(machine: Any, X: Any) -> bool:
    """Return whether `X` is what scikit-learn's validation would return as it is."""
    return (
        type(X) in (sp.csr_matrix, sp.csr_array)
        and X.dtype in _FLOATS
        and X.shape[0] > 0
        and X.shape[1] == machine.n_features_in_
        and not hasattr(machine, "feature_names_in_")
        and is_finite(X.data)
        and bool(X.has_canonical_format)
    )


def forget_columns(machine: Any) -> None:
    """Remove the names and the number of the columns of an earlier fit."""
    for name in ("feature_names_in_", "n_features_in_"):
        if hasattr(machine, name):
            delattr(machine, name)


def _needed_columns(machine: Any) -> str:
    """Return the sentence on the columns of a precomputed kernel, nothing for other kernels."""
    if not isinstance(getattr(machine, "kernel", None), str) or machine.kernel != "precomputed":
        return ""
    return (
        " A precomputed kernel needs one column for each training object: the matrix of kernel "
        "values between the new objects (rows) and all training objects (columns)."
    )


def _check_columns(machine: Any, X: Any) -> None:
    expected = getattr(machine, "n_features_in_", None)
    if expected is not None and getattr(X, "ndim", 0) == 2 and X.shape[1] != expected:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(machine).__name__} is expecting {expected} "
            f"features as input.{_needed_columns(machine)}"
        )


def _check_length(y: NDArray[Any], n_samples: int) -> None:
    if len(y) != n_samples:
        raise ValueError(
            f"X and y have inconsistent numbers of samples: {n_samples} objects, {len(y)} targets."
        )


def _require(machine: Any, y: Any) -> None:
    refuse_masked(y, "y")
    if y is None:
        raise ValueError(
            f"This {type(machine).__name__} estimator requires y to be passed, but the target y is "
            "None."
        )
