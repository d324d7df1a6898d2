"""Targets: class labels or numbers, and the codes of which the target matrix is made.

The target matrix is YY' with one row of codes per object: -1 and 1 for two classes, the corners of
a regular simplex for several, the numbers themselves for regression. Centred, the codes of classes
are a multiple of the centred indicators of the classes, so a centred alignment is the same for
both.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from mercer.objects.parameters import require_choice

TASKS = ("auto", "classification", "regression")
MANY_CLASSES = 20  # different integers up to which they are labels rather than numbers
FEW_CLASSES = 3  # different whole floats up to which they are labels, whatever they are


def is_classification(y: np.ndarray, task: str = "auto") -> bool:
    """Return whether a target holds labels of classes.

    `task`: what the caller says. With "auto" a target that is no number is a label, and one of
    several columns is none. Numbers are labels if all are whole and they are codes of classes:
    0, ..., k - 1 or 1, ..., k without a gap, for k up to 20 or a fifth of the objects; other
    integers are labels up to 20 different ones, other floats up to three.
    """
    from sklearn.utils.multiclass import type_of_target

    require_choice(task, "task", TASKS)
    if task != "auto":
        return task == "classification"
    if y.ndim == 2 and y.dtype.kind in "fiub":
        return False
    if y.dtype.kind not in "iuf":
        return not type_of_target(y).startswith("continuous")
    levels = np.unique(y)
    k = len(levels)
    if (levels != np.round(levels)).any():
        return False
    if levels[0] in (0, 1) and levels[-1] - levels[0] == k - 1:
        return k <= max(MANY_CLASSES, len(y) / 5)
    return k <= (FEW_CLASSES if y.dtype.kind == "f" else MANY_CLASSES)


def target_codes(y: Any, n: int, task: str = "auto") -> np.ndarray:
    """Return one row of codes per object, whose dot products make the target matrix."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2) or len(y) != n:
        raise ValueError(f"y must have one label per object, {n} in all; got shape {y.shape}.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity.")
    if not is_classification(y, task):
        if y.dtype.kind not in "fiub":
            raise ValueError("y must be numbers for regression; got labels of another type.")
        return y.reshape(n, -1).astype(np.float64)
    if y.ndim == 2:
        raise ValueError(f"y must hold one label per object; got shape {y.shape}.")
    classes, index = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has the one class {classes[0]!r}; at least two are needed.")
    if len(classes) == 2:
        return np.where(index == 1, 1.0, -1.0)[:, None]
    corners = np.eye(len(classes)) - 1.0 / len(classes)
    return corners[index] * sqrt(len(classes) / (len(classes) - 1))
