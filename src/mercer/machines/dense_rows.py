"""Validation for estimators on dense rows of numbers, with any kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Linear
from mercer.objects.arrays import Array

from .input_validation import check_objects, check_training_objects
from .weights import check_sample_weight, positive_rows

_ROWS = Linear()  # takes any rows


def training_rows(machine: Any, X: Any, sample_weight: Any) -> tuple[Array, Array]:
    """Return the rows of positive weight in float64, and their weights."""
    X = _dense(machine, check_training_objects(machine, X, _ROWS))
    machine._trained_on_sparse = False
    weight = check_sample_weight(sample_weight, len(X))
    kept = positive_rows(weight)
    rows = np.asarray(X if kept is None else X[kept], dtype=np.float64)
    if weight is None:
        return rows, np.ones(len(rows))
    return rows, np.asarray(weight if kept is None else weight[kept], dtype=np.float64)


def checked_rows(machine: Any, X: Any) -> NDArray[Any]:
    """Return rows that a fitted estimator is applied to, in their own precision."""
    return _dense(machine, check_objects(machine, X, _ROWS))


def _dense(machine: Any, X: Any) -> NDArray[Any]:
    if not isinstance(X, np.ndarray):
        raise TypeError(
            f"Sparse rows are not supported by {type(machine).__name__}, which works on dense "
            "points; pass X.toarray()."
        )
    return X
