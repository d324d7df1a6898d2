"""Sample weights and class weights.

A weight multiplies the loss of its sample: weight k is the same as k copies, weight 0 the same as
removing the sample. Samples without positive weight are therefore removed during validation, before
anything (a kernel width, a class, a bound on nu) is computed from the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array
from mercer.objects.parameters import real, show
from mercer.objects.validation import refuse_masked


def check_sample_weight(sample_weight: Any, n_samples: int) -> Array | None:
    """Return the weights as float64, or None when all are 1; one number applies to every sample."""
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "sample_weight")
    weight = np.asarray(sample_weight)
    try:
        weight = weight.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"sample_weight must be numbers; got an array of type {weight.dtype}."
        ) from None
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; got shape {weight.shape}.")
    if len(weight) != n_samples:
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected {(n_samples,)}: one weight for each "
            "sample."
        )
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight contains NaN or infinity; weights must be finite.")
    return weight


def positive_rows(weight: Array | None) -> NDArray[np.intp] | None:
    """Return the positions of the positive weights, or None when all are positive."""
    if weight is None:
        return None
    positive = weight > 0.0
    if positive.all():
        return None
    rows = np.flatnonzero(positive)
    if len(rows) == 0:
        raise ValueError(
            "Invalid input - all samples have zero or negative weights. At least one sample must "
            "have a positive weight."
        )
    return rows


def class_weights(
    class_weight: Any, classes: np.ndarray, codes: np.ndarray, weight: Array | None
) -> Array:
    """Return the weight of each class, given by label (1 where not listed) or as "balanced".

    "balanced" makes the weighted sum of every class the same: W / (n_classes W_c).
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        sums = np.bincount(codes, weights=weight, minlength=len(classes))
        return sums.sum() / (len(classes) * sums)
    if not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight must be a dict, 'balanced' or None; got {show(class_weight)}."
        )
    given = {
        label.item() if isinstance(label, np.generic) else label: real(
            value, f"class_weight[{label!r}]"
        )
        for label, value in class_weight.items()
    }
    labels = classes.tolist()
    missing = [label for label in labels if label not in given]
    unknown = [label for label in given if label not in labels]
    if missing and unknown:
        # With a weight for every class that occurs, others are allowed: a fold may lack a class.
        raise ValueError(
            f"The classes, {missing}, are not in class_weight, and its labels {unknown} do not "
            f"occur in y, whose classes are {labels}. Name the labels as they are in y."
        )
    values = np.array([given.get(label, 1.0) for label in labels])
    if not (values > 0.0).all():
        raise ValueError("class weights must be positive finite numbers.")
    return values
