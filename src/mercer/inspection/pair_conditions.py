"""Conditions on pairs of objects: symmetry and the inequality of Cauchy and Schwarz.

Both are necessary for a kernel and together not sufficient (Cristianini and Shawe-Taylor 2000,
section 3.3). Their failure names two objects to look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from .entry_errors import EntryErrors
from .matrix_source import KernelValues
from .readable import Readable


@dataclass(frozen=True)
class Asymmetry(Readable):
    """Two objects whose values depend on their order.

    Attributes
    ----------
    i, j : int
        The objects.
    value, mirrored : float
        k(x_i, x_j) and k(x_j, x_i).

    Examples
    --------
    >>> from mercer.inspection import Asymmetry, check
    >>> verdict = check([[1.0, 0.5], [0.2, 1.0]])
    >>> verdict.asymmetry
    Asymmetry(i=0, j=1, value=0.5, mirrored=0.2)
    """

    i: int
    j: int
    value: float
    mirrored: float


@dataclass(frozen=True)
class NegativeMinor(Readable):
    """Two objects whose 2x2 matrix is no Gram matrix.

    Attributes
    ----------
    i, j : int
        The objects; equal where k(x_i, x_i) itself is negative.
    value : float
        k(x_i, x_j).
    limit : float
        sqrt(k(x_i, x_i) k(x_j, x_j)), which the absolute value must not exceed; 0 where one of
        them is negative.
    minor : float
        The determinant k(x_i, x_i) k(x_j, x_j) - k(x_i, x_j)^2, or k(x_i, x_i) where i = j.

    Examples
    --------
    >>> from mercer.inspection import check
    >>> verdict = check([[1.0, 2.0], [2.0, 1.0]])
    >>> verdict.worst_pair.value, verdict.worst_pair.limit, verdict.worst_pair.minor
    (2.0, 1.0, -3.0)
    """

    i: int
    j: int
    value: float
    limit: float
    minor: float


@dataclass
class PairScan:
    """Result of one pass over all pairs.

    `largest_error`, `error_norm`: largest error of an entry, and largest sum of those of a row,
    which no eigenvalue of a symmetric matrix of such errors exceeds. `asymmetry`: the pair whose
    values differ most, None if no pair differs. `symmetric`: whether no pair differs by more than
    twice its errors. `ratio`: largest |k(x_i, x_j)| over its limit, 1 at most for a kernel.
    `worst`: the pair with the largest ratio, None if the limits are kept.
    """

    largest_error: float
    error_norm: float
    asymmetry: Asymmetry | None
    symmetric: bool
    ratio: float
    worst: NegativeMinor | None


def scan_pairs(values: KernelValues, errors: EntryErrors) -> PairScan:
    """Look at every pair once; violations smaller than the errors are taken as rounding."""
    diagonal = values.diagonal()
    spread = np.zeros(values.n)
    largest_error = error_norm = 0.0
    for start, block in errors.blocks():
        at = np.arange(len(block))
        spread[start + at] = block[at, start + at]
        largest_error = max(largest_error, float(block.max()))
        error_norm = max(error_norm, float(block.sum(axis=1).max()))
    negative = int(np.argmin(diagonal + spread))
    if diagonal[negative] + spread[negative] < 0:
        low = float(diagonal[negative])
        worst: NegativeMinor | None = NegativeMinor(negative, negative, low, 0.0, low)
    else:
        worst = None
    roots = np.sqrt(np.maximum(diagonal + spread, 0.0))
    asymmetry: Asymmetry | None = None
    difference, ratio, symmetric = 0.0, 0.0, True
    for start, block in values.blocks():
        stop = start + len(block)
        error = errors.rows(np.arange(start, stop))
        # Values above an allowed error, relative to the limit with the same allowance.
        excess = np.maximum(np.abs(block) - error, 0.0)
        limits = roots[start:stop, None] * roots
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = np.where(excess > 0, excess / limits, 0.0)
        share[np.arange(stop - start), np.arange(start, stop)] = 0.0
        i, j = np.unravel_index(np.argmax(share), share.shape)
        if share[i, j] > max(ratio, 1.0) and (worst is None or worst.i != worst.j):
            a, b, value = float(diagonal[start + i]), float(diagonal[j]), float(block[i, j])
            limit = sqrt(max(a, 0.0) * max(b, 0.0))
            worst = NegativeMinor(int(i) + start, int(j), value, limit, a * b - value * value)
        ratio = max(ratio, float(share[i, j]))
        mirrored = _columns(values, start, stop, block)
        gap = np.abs(block - mirrored)
        symmetric = symmetric and not bool((gap > 2 * error).any())
        i, j = np.unravel_index(np.argmax(gap), gap.shape)
        if gap[i, j] > difference:
            difference = float(gap[i, j])
            pair = int(i) + start, int(j)
            asymmetry = Asymmetry(*pair, float(block[i, j]), float(mirrored[i, j]))
    return PairScan(largest_error, error_norm, asymmetry, symmetric, ratio, worst)


def _columns(values: KernelValues, start: int, stop: int, block: np.ndarray) -> np.ndarray:
    """Return the transpose of the columns `start` to `stop`."""
    if stop - start == values.n:
        return block.T
    return values.columns(np.arange(start, stop)).T
