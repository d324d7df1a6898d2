"""Sums over paths through the table of two sequences, with their derivatives.

Kernels that sum products over all alignments of two sequences satisfy

    F(i, j) = u(i, j) F(i - 1, j) + v(i, j) F(i, j - 1) + w(i, j) F(i - 1, j - 1),  F(0, 0) = 1,

and their value is F at the two lengths. The native core computes values; here the derivatives by
the parameters are carried along, for all pairs of two sets at once, one cell after the other.

A number with its derivatives by P parameters is an array of P + 1 entries along the first axis,
the number itself first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# The factors u, v, w at a cell, each with its derivatives: shape (P + 1, n_X, n_Z).
Steps = Callable[[int, int], tuple[Any, Any, Any]]


def path_sums(rows: np.ndarray, columns: np.ndarray, steps: Steps, n_parameters: int) -> np.ndarray:
    """Return F at the lengths of all pairs, with its derivatives.

    Parameters
    ----------
    rows, columns : ndarray of int
        The lengths of the sequences.
    steps : callable
        ``steps(i, j)`` returns u, v and w at the cell (i, j); what lies outside the table, with
        i = 0 or j = 0, is not asked for.
    n_parameters : int
        The number P.

    Returns
    -------
    ndarray of shape (P + 1, n_rows, n_columns)
        Values and derivatives.
    """
    shape = (n_parameters + 1, len(rows), len(columns))
    result = np.zeros(shape)
    above: list[np.ndarray] = []
    for i in range(int(rows.max()) + 1):
        line: list[np.ndarray] = []
        for j in range(int(columns.max()) + 1):
            cell = np.zeros(shape)
            if i == j == 0:
                cell[0] = 1.0
            else:
                u, v, w = steps(i, j)
                if i:
                    cell += times(u, above[j])
                if j:
                    cell += times(v, line[j - 1])
                if i and j:
                    cell += times(w, above[j - 1])
            line.append(cell)
            ends = (rows == i)[:, None] & (columns == j)
            result[:, ends] = cell[:, ends]
        above = line
    return result


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
