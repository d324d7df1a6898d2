"""Sums whose terms cancel: coefficients that add up to 0, far from the origin.

The sum of m terms and what rounding took from it, term by term (A. Neumaier, *Rundungsfehleranalyse
einiger Verfahren zur Summation endlicher Summen*, ZAMM 54, 1974): together they are wrong by about
m u^2 sum_i |x_i| instead of m u sum_i |x_i|, with u the rounding of a number.

Matrix products with terms that cancel: both factors are split into parts of so few digits that
products of the leading parts are exact in any order of summation (K. Ozaki, T. Ogita, S. Oishi and
S. Rump, *Error-free transformations of matrix multiplication by using fast routines of matrix
multiplication and its applications*, Numerical Algorithms 59, 2012).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.objects.arrays import Array

_ROWS = 4096  # rows of a product that are split at once


def exact_sum(x: Array) -> float:
    """Return the sum of numbers >= 0, rounded once.

    Sums of whole numbers up to 2^53 are exact in any order.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.numerics.sums import exact_sum
    >>> exact_sum(np.ones(7)), exact_sum(np.full(10, 0.1))
    (7.0, 1.0)
    """
    total = float(x.sum())
    return total if total <= 2.0**53 and (np.rint(x) == x).all() else math.fsum(x.tolist())


def compensated_sums(terms: Array) -> tuple[Array, Array]:
    """Return column sums and their corrections; of sums that cancel, add the corrections last."""
    total, lost = np.zeros(terms.shape[1]), np.zeros(terms.shape[1])
    for x in terms:
        following = total + x
        small = np.abs(total) < np.abs(x)
        larger, smaller = np.where(small, x, total), np.where(small, total, x)
        lost += (larger - following) + smaller
        total = following
    return total, lost


def compensated_product(left: Array, right: Any) -> tuple[Array, Array]:
    """Return the matrix product left @ right and its correction, as `compensated_sums` does."""
    left, size = _scaled(np.asarray(left, dtype=np.float64))
    entries, scale = _scaled(right.data if sp.issparse(right) else right)
    right = _with_entries(right, entries)
    terms = [np.zeros(left.shape[0] * right.shape[1])]
    for start in range(0, right.shape[0], _ROWS):
        A, B = left[:, start : start + _ROWS], right[start : start + _ROWS]
        digits = (53 - int(np.ceil(np.log2(max(A.shape[1], 2))))) // 2
        A1, A2, A3 = _parts(A, digits)
        entries = B.data if sp.issparse(B) else B
        B1, B2, B3 = (_with_entries(B, part) for part in _parts(entries, digits))
        products = A1 @ B1, A1 @ B2, A2 @ B1, A1 @ B3 + A2 @ (B2 + B3) + A3 @ B
        terms += [np.asarray(product, dtype=np.float64).ravel() for product in products]
    sums, lost = compensated_sums(np.array(terms))
    sums, lost = (np.ldexp(a, size + scale).reshape(len(left), -1) for a in (sums, lost))
    return sums, lost


def _scaled(values: NDArray[Any]) -> tuple[Array, int]:
    """Return numbers divided by a power of two so that the largest is about 1, and its exponent."""
    values = np.asarray(values, dtype=np.float64)
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return np.ldexp(values, -exponent), exponent


def _parts(values: NDArray[Any], digits: int) -> tuple[Array, Array, Array]:
    """Return two parts of so many binary digits below the largest value, and the exact rest."""
    rest, parts = np.asarray(values, dtype=np.float64), []
    for _ in range(2):
        unit = int(np.frexp(np.abs(rest).max(initial=0.0))[1]) - digits
        # Numbers are rounded to multiples of 2^unit where they are added to 1.5 * 2^(unit + 52).
        far = math.ldexp(1.5, unit + 52)
        parts.append((rest + far) - far)
        rest = rest - parts[-1]
    return parts[0], parts[1], rest


def _with_entries(matrix: Any, entries: Array) -> Any:
    """Return a matrix with other entries in the same places."""
    if not sp.issparse(matrix):
        return entries
    return sp.csr_matrix((entries, matrix.indices, matrix.indptr), shape=matrix.shape)
