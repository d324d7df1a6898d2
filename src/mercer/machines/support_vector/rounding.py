"""Rounding errors of the values of a model, from those of kernel values.

f(x) = sum_j v_j k(x_j, x), of kernel values that are wrong by a factor 1 + e or 1 - e, is wrong by
about

    e (sum_j v_j^2 k(x_j, x)^2)^1/2,

since independent errors add up like the root of the sum of squares. No tolerance on f can be much
smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.objects.arrays import Array

ERROR = {"float32": 5e-7, "float64": float(np.finfo(np.float64).eps)}
"""Error e of a kernel value. In float64 it is rounding alone. In float32 it was measured: over
twenty kernels, six machines and several sets of data the violations of one model in float32 and in
float64 differed by up to 4.2e-7 in the units above; and values are kept in float32 only where they
are wrong by 2e-6 of the largest one at most (`mercer.gram.precision`)."""

REACHED = 1.01
"""A violation this many times the tolerance still counts as within it."""

SEEN = 0.1
"""Rounding errors, relative to the tolerance, that keep a solver from it."""

# Rows at which errors are estimated: those of the largest k(x, x), and others.
_LARGEST, _SPREAD = 8, 24


def error_sample(gram: Gram, *more: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows at which errors are estimated, and more."""
    chosen, size = np.zeros(gram.n, dtype=bool), np.abs(gram.diag())
    if size.max(initial=0.0) > size.min(initial=np.inf):  # otherwise all rows are as large
        more = largest_of(size, _LARGEST), *more
    chosen[np.arange(_SPREAD) * (gram.n - 1) // (_SPREAD - 1)] = True
    for rows in more:
        chosen[rows] = True
    return chosen.nonzero()[0]


def largest_of(size: Array, count: int) -> NDArray[np.int64]:
    """Return the positions of some of the largest numbers."""
    equal = np.flatnonzero(size == size.max(initial=0.0))
    if len(equal) >= count:
        return equal[:count]
    return np.argpartition(size, max(len(size) - count, 0))[-count:]


def rounding_of_values(
    gram: Gram,
    tasks: Sequence[Any],
    betas: Sequence[Array],
    precision: str,
    n_jobs: int | None = None,
) -> list[float]:
    """Return, for each task, the rounding error of the values of its model at training rows."""
    sample, found = error_sample(gram), []
    with np.errstate(over="ignore", invalid="ignore"):  # overflow gives infinity or NaN
        squares = np.square(gram.tile(sample, n_jobs=n_jobs).astype(np.float64))
        for task, beta in zip(tasks, betas, strict=True):
            part = squares if task.rows is None else squares[:, task.rows]
            size = (part @ np.square(beta)).max(initial=0.0)
            found.append(ERROR[precision] * float(np.sqrt(size)))
    return found
