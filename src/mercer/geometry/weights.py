"""Weights of objects in means and sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.objects.arrays import Array


def shares(sample_weight: Any, n: int) -> Array:
    """Return weights as shares that sum to 1, equal ones by default.

    `sample_weight`: non-negative weights; weight k counts as k copies, weight 0 as none.
    """
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n} objects; got shape "
            f"{weight.shape}."
        )
    if not np.isfinite(weight).all() or weight.min() < 0.0:
        raise ValueError("sample_weight must be finite and not negative.")
    total = float(weight.sum())
    if total == 0.0:
        raise ValueError("sample_weight is zero for every object; at least one must count.")
    return weight / total
