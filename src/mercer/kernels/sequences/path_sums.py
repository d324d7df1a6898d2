"""Sums over paths through the table of two sequences, with their derivatives.

Kernels that sum products over all alignments of two sequences satisfy

    F(i, j) = u(i, j) F(i - 1, j) + v(i, j) F(i, j - 1) + w(i, j) F(i - 1, j - 1),  F(0, 0) = 1,

and their value is F at the two lengths. The native core computes values; here the derivatives by
the parameters are carried along, for all pairs of two sets at once, one antidiagonal of the table
after the other. These are divided by their largest value, whose logarithms are added up, so that
the numbers of long sequences stay within their range.

A number with its derivatives by P parameters is an array of P + 1 entries along the first axis,
the number itself first. `ScaledGradient` is the base of the kernels with such derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mercer.objects.validation import count, take

from ..base import Kernel

# The factors u, v, w at cells (i, j) of some pairs, each with its derivatives: an array of shape
# (P + 1, n_X, n_Z, n_cells). What would come from outside of the table counts as 0.
Steps = Callable[[np.ndarray, np.ndarray], tuple[Any, Any, Any]]
_CELLS = 1 << 20  # numbers of an antidiagonal of all pairs that are compared at a time
_BLOCK = 8  # objects a side whose derivatives of k(x, x) are taken at a time


class Scaled(NamedTuple):
    """Numbers with their derivatives, divided by the exponential of a logarithm."""

    log_scale: np.ndarray  # (n_X, n_Z)
    numbers: np.ndarray  # (P + 1, n_X, n_Z)

    def divided(self, log_norms: Any = 0.0) -> np.ndarray:
        """Return the numbers with their derivatives, divided by the exponentials of `log_norms`."""
        with np.errstate(over="ignore"):  # the caller refuses values that no number holds
            return self.numbers * np.exp(self.log_scale - log_norms)

    def logarithms(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the logarithms of the numbers and their derivatives, 0 for those of 0."""
        value = self.numbers[0]
        positive = value > 0
        log = np.log(np.where(positive, value, 1.0)) + np.where(positive, self.log_scale, 0.0)
        slopes = self.numbers[1:]
        return log, np.divide(slopes, value, out=np.zeros_like(slopes), where=positive)


class ScaledGradient(Kernel):
    """Base of the kernels whose values and derivatives may be beyond the range of numbers."""

    def _scaled(self, X: Any, Z: Any) -> Scaled:
        """Return values and derivatives, which need not be within the range of numbers."""
        raise NotImplementedError

    def _named(self, slopes: np.ndarray) -> dict[str, np.ndarray]:
        """Return the derivatives of `_scaled` by the names of the parameters."""
        raise NotImplementedError

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        self._values(X, Z)  # refuses values that no number holds
        return self._named(self._scaled(X, Z).divided()[1:])

    def _normalized_gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        scaled = self._scaled(X, Z)
        log_u, own = _diagonals(scaled) if X is Z else self._own_logarithms(X)
        log_v, other = (log_u, own) if X is Z else self._own_logarithms(Z)
        divided = scaled.divided(0.5 * (log_u[:, None] + log_v))
        norms = 0.5 * (own[:, :, None] + other[:, None, :])
        return self._named(divided[1:] - divided[0] * norms)

    def _own_logarithms(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return log k(x, x) and its derivatives, from small tiles on the diagonal."""
        blocks = [take(X, slice(i, i + _BLOCK)) for i in range(0, count(X), _BLOCK)]
        logs, slopes = zip(*(_diagonals(self._scaled(b, b)) for b in blocks), strict=True)
        return np.concatenate(logs), np.concatenate(slopes, axis=1)


def _diagonals(scaled: Scaled) -> tuple[np.ndarray, np.ndarray]:
    """Return log k(x, x) and its derivatives, from the values of one set of objects."""
    log, slopes = scaled.logarithms()
    return np.diagonal(log), np.diagonal(slopes, axis1=1, axis2=2)


def path_sums(rows: np.ndarray, columns: np.ndarray, steps: Steps, n_parameters: int) -> Scaled:
    """Return F and its derivatives at the lengths of all pairs; `steps(i, j)` gives u, v, w."""
    m, n = int(rows.max()), int(columns.max())
    shape = (n_parameters + 1, len(rows), len(columns))
    result, log_scale = np.zeros(shape), np.zeros(shape[1:])
    so_far = np.zeros(shape[1:])
    # F on three antidiagonals i + j = d, by i + 1; the first place is outside of the table.
    here, before, earlier = (np.zeros((*shape, m + 2)) for _ in range(3))
    for d in range(m + n + 1):
        i = np.arange(max(0, d - n), min(d, m) + 1)
        here[:] = 0.0
        if d == 0:
            here[0, ..., 1] = 1.0
        else:
            u, v, w = steps(i, d - i)
            here[..., i + 1] = times(u, before[..., i])
            here[..., i + 1] += times(v, before[..., i + 1])
            here[..., i + 1] += times(w, earlier[..., i])
        a, b = np.nonzero(rows[:, None] + columns == d)
        result[:, a, b] = here[:, a, b, rows[a] + 1]
        log_scale[a, b] = so_far[a, b]
        largest = np.abs(here).max(axis=(0, 3))
        largest = np.where(largest > 0, largest, 1.0)
        here /= largest[..., None]
        before /= largest[..., None]
        so_far += np.log(largest)
        here, before, earlier = earlier, here, before
    return Scaled(log_scale, result)


def in_blocks(blocks: Callable[[slice], Scaled], n_rows: int, cells: int) -> Scaled:
    """Return the numbers of all pairs from blocks of rows that fit into memory."""
    some = max(1, _CELLS // cells)
    found = [blocks(slice(i, i + some)) for i in range(0, n_rows, some)]
    return Scaled(
        np.concatenate([block.log_scale for block in found]),
        np.concatenate([block.numbers for block in found], axis=1),
    )


def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product of two numbers with their derivatives."""
    product = a[:1] * b
    product[1:] += a[1:] * b[:1]
    return product


def padded(sequences: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return sequences of equal width filled up with zeros to the longest, and their lengths."""
    lengths = np.array([len(x) for x in sequences])
    whole = np.zeros((len(sequences), max(int(lengths.max()), 1), *sequences[0].shape[1:]))
    for i, x in enumerate(sequences):
        whole[i, : len(x)] = x
    return whole, lengths
