"""The width gamma of a kernel: a number, or a rule that takes it from the data.

With d columns and var(X) the variance of all entries of X together (rows weighted by
`sample_weight`):

- ``"scale"``: 1 / (d var(X)), and 1 when X is constant;
- ``"auto"``: 1 / d.

These are scikit-learn's rules, computed in blocks of rows so that no copy of X is made, and in
float64 whatever the type of X.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.objects.parameters import ParameterError, real, show

RULES = ("scale", "auto")

_BLOCK = 1 << 16  # entries a block: half a megabyte of float64, which stays in cache
_TINY = 5e-324  # the variance of entries that differ, but whose squares underflow


def check_gamma(gamma: float | str) -> None:
    """Reject a `gamma` that is neither a rule nor a finite number >= 0."""
    if isinstance(gamma, str):
        if gamma not in RULES:
            raise ParameterError(
                f"gamma must be 'scale', 'auto' or a number >= 0; got {show(gamma)}."
            )
    else:
        real(gamma, "gamma", minimum=0)


def resolve_gamma(gamma: float | str, X: Any, sample_weight: np.ndarray | None = None) -> float:
    """Return `gamma` as a number for the rows `X`; a row of weight k counts as k copies."""
    if not isinstance(gamma, str):
        return float(gamma)
    n_features = X.shape[1]
    if gamma == "auto":
        return 1.0 / n_features
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = float(X.shape[0] if weight is None else weight.sum())
    if not total > 0.0:
        raise ValueError("gamma='scale' needs a positive sum of sample weights.")
    variance = (_sparse_variance if sp.issparse(X) else _dense_variance)(X, weight, total)
    if not math.isfinite(variance):
        raise ValueError(
            "gamma='scale' needs the variance of X, which is not finite: X contains NaN, infinity "
            "or entries too large to square. Remove or scale them, or give gamma as a number."
        )
    if variance == 0.0:
        return 1.0
    width = n_features * variance
    if width < 1e-300:
        raise ValueError(
            "gamma='scale' needs 1 / (n_features * variance of X), which overflows: the entries of "
            f"X differ by no more than {_spread(X):.3g}. Scale the columns of X, or give gamma as "
            "a number."
        )
    return 1.0 / width


def _spread(X: Any) -> float:
    values = X.data if sp.issparse(X) else X
    low, high = float(values.min()), float(values.max())
    return max(high, 0.0) - min(low, 0.0) if sp.issparse(X) else high - low


def _dense_variance(X: np.ndarray, weight: np.ndarray | None, total: float) -> float:
    """Return the variance of all entries by two passes: the mean, then squared deviations."""
    n_samples, n_features = X.shape
    step = max(1, _BLOCK // n_features)
    blocks = [slice(i, i + step) for i in range(0, n_samples, step)]

    def summed(rows: np.ndarray, block: slice) -> float:
        if weight is None:
            return float(np.add.reduce(rows, axis=None, dtype=np.float64))
        return float(np.add.reduce(rows, axis=1, dtype=np.float64) @ weight[block])

    mean = variance = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for block in blocks:
            mean += summed(X[block], block)
        mean /= total * n_features
        for block in blocks:
            deviation = np.subtract(X[block], mean, dtype=np.float64)
            variance += summed(np.multiply(deviation, deviation, out=deviation), block)
    variance /= total * n_features
    if variance <= 1e-24 * mean * mean:
        # As small as the rounding of the mean: is X constant? Exactly then the variance is 0.
        kept = X if weight is None else X[weight > 0]
        if kept.min() == kept.max():
            return 0.0
    return max(variance, _TINY)


def _sparse_variance(X: Any, weight: np.ndarray | None, total: float) -> float:
    """Return the variance of all entries of a CSR matrix, the absent ones being zeros."""
    n_samples, n_features = X.shape
    values, size = X.data.astype(np.float64, copy=False), total * n_features
    per_value = None if weight is None else np.repeat(weight, np.diff(X.indptr))
    stored = float(values.size if per_value is None else per_value.sum())

    def summed(v: np.ndarray) -> float:
        return float(v.sum() if per_value is None else v @ per_value)

    with np.errstate(over="ignore", invalid="ignore"):
        mean = summed(values) / size
        variance = (summed((values - mean) ** 2) + max(0.0, size - stored) * mean * mean) / size
    full = values.size == n_samples * n_features
    if full and variance <= 1e-24 * mean * mean and values.min() == values.max():
        return 0.0
    if not (values if per_value is None else values[per_value > 0]).any():
        return 0.0
    return max(variance, _TINY)
