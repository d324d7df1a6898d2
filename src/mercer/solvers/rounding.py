"""Error bounds on the values K beta of a model, and on the sums behind a certificate.

With r_i = sqrt(k(x_i, x_i)), a positive semidefinite kernel has |k(x_i, x_j)| <= r_i r_j, so that

    |(K beta)_i|  <=  r_i sum_j |beta_j| r_j,

and an error of e r_i r_j in each kernel value, or roundings of the sum, contribute to (K beta)_i at
most a multiple of the same bound. No product with the kernel matrix is needed.

There are two measures of the error. The *estimate* treats the errors of kernel values as
independent, which is a good approximation: they add up like the root of the sum of squares,
e r_i (sum_j beta_j^2 r_j^2)^1/2; those of double precision are treated alike, with a small
systematic part for long sums. The *guarantee* assumes that every rounding error is as large as it
can be and that all of them add up: (m + d + c) roundings for sums over m coefficients and d columns
(N. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, 2002, section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.arrays import Array

Starts = NDArray[np.intp]

UNIT = 2.0**-53
"""Unit roundoff of float64."""

_FEW = 8.0  # roundings of a short expression, such as a loss or its conjugate
# Roundings of double precision in the estimate: of kernel values, and of sums. Measured for linear,
# polynomial and Gaussian kernels of 2 to 200 columns and models of 8 to 1,000 rows: K beta was
# wrong by at most 6.0 roundings of the root of the sum of squares.
_INDEPENDENT, _SYSTEMATIC = 8.0, 0.5

DRIFT = 64
"""Roundings of the largest coefficients that a solver may leave in a sum of few."""

_PREDICTED = 1.5
"""Roundings of <w, x> + b in the estimate, relative to |w| (|x| + |p|) with b near -<w, p>: one of
each, w, the product and b."""


def segment_sizes(starts: Starts, end: int) -> NDArray[np.intp]:
    """Return the lengths of segments that begin at `starts`, the last one ending at `end`."""
    ends = np.empty_like(starts)
    ends[:-1], ends[-1] = starts[1:], end
    return ends - starts


@dataclass(frozen=True)
class ValueErrors:
    """Errors of the values K beta on the objects of a kernel matrix.

    `size`: numbers r_i with |k(x_i, x_j)| <= r_i r_j. Errors of a kernel value: `independent`,
    relative to r_i r_j, adds up like a random one; `systematic` adds up with its absolute value;
    `per_term` is a further systematic one for each coefficient that is not 0: that of long sums.
    `product`: takes coefficients, an array for each model, and returns the values K beta of each.
    `conditional`: whether functions have a norm only where the sums of their coefficients vanish.
    `reach`: |x_i| + |p| of linear rows where K is that of rows x_i - p. `per_reach`: error of a
    prediction, relative to it and to the length of w.
    """

    size: Array
    independent: float = 0.0
    systematic: float = _SYSTEMATIC * UNIT
    per_term: float = 0.0
    product: Callable[[list[Array]], list[Array]] | None = None
    conditional: bool = False
    reach: Array | None = None
    per_reach: float = _PREDICTED * UNIT

    def of_predictions(
        self, beta: Array, f0: Array, rows: NDArray[np.integer] | None, starts: Starts
    ) -> Array | float:
        """Return bounds on what predictions <w, x> + b of rows as given add to these errors."""
        if self.reach is None:
            return 0.0
        rows = np.arange(len(beta)) if rows is None else rows
        sizes = segment_sizes(starts, len(beta))
        norms = np.sqrt(np.maximum(np.add.reduceat(beta * f0, starts), 0.0))
        sums = [math.fsum(part) for part in np.split(beta, starts[1:])]
        terms = norms, sums, np.add.reduceat(np.abs(beta), starts)
        return self.of_far_rows(rows, *(np.repeat(term, sizes) for term in terms))

    def of_far_rows(
        self, rows: NDArray[np.integer], norm: Array, total: Array, size: Array
    ) -> Array:
        """Return these bounds from the lengths of w and the sums of coefficients and their sizes.

        A sum t that is not 0 adds t <q, x - p> to a prediction: with q = p, or with q in the middle
        of the rows x_i - p where t is rounding (see `mercer.solvers.centring`).
        """
        assert self.reach is not None
        rounding = self.per_reach * norm * self.reach[rows]
        largest = self.size.max(initial=0.0)
        balanced = np.abs(total) <= DRIFT * 2.0 * UNIT * size
        far = np.where(balanced, largest, np.maximum(self.reach[rows], largest))
        return rounding + np.abs(total) * self.size[rows] * far

    def of(self, beta: Array, rows: NDArray[np.integer] | None, starts: Starts) -> Array:
        """Return bounds on the errors of K beta, for several models that begin at `starts`."""
        size = self.size if rows is None else self.size[rows]
        terms = np.abs(beta) * size
        factor = self.systematic * np.add.reduceat(terms, starts)
        if self.per_term > 0.0:
            count = np.add.reduceat((beta != 0.0).astype(np.float64), starts)
            factor *= 1.0 + self.per_term * count / self.systematic
        if self.independent > 0.0:
            factor += self.independent * np.sqrt(np.add.reduceat(terms * terms, starts))
        return size * np.repeat(factor, segment_sizes(starts, len(beta)))


def estimated(size: Array, single: float = 0.0, **more: Any) -> ValueErrors:
    """Return the estimate of the errors; `single`: of kernel values in single precision, else 0."""
    return ValueErrors(size, single + _INDEPENDENT * UNIT, **more)


def guaranteed(size: Array, columns: int, kernel_error: float) -> ValueErrors:
    """Return a bound on the errors of values in double precision.

    `columns`: terms of the sums behind a kernel value that products share: those of a weight
    vector. `kernel_error`: error of a kernel value, relative to r_i r_j.
    """
    roundings = columns + _FEW
    error = roundings * UNIT * (1.0 + 1e-6)
    per_term = UNIT * (1.0 + 1e-6)
    return ValueErrors(size, 0.0, kernel_error + error, per_term, per_reach=error)


def of_sum(terms: Array, starts: Starts) -> Array:
    """Return bounds on the rounding of sums, and of their terms by a few roundings each."""
    sizes = segment_sizes(starts, len(terms))
    totals: Array = np.add.reduceat(terms, starts)
    return (sizes.astype(np.float64) + _FEW) * UNIT * totals


def largest_square(gram: Any) -> float:
    """Return the largest squared norm of an object in feature space: the largest k(x, x).

    A conditionally positive definite kernel has no norms but distances; for it the largest squared
    distance from the first object, of which one of order 2 has the size only.
    """
    squares = gram.diag()
    if gram.definiteness.order and gram.n:
        first = gram.tile(np.zeros(1, dtype=np.int64))[0].astype(np.float64)
        squares = np.abs(squares - 2.0 * first + squares[0])
    return float(squares.max(initial=0.0))


def value_sizes(gram: Any) -> Array:
    """Return numbers r_i with |k(x_i, x_j)| <= r_i r_j, one for each training object.

    These are the roots of k(x_i, x_i). A conditionally positive definite kernel k has a positive
    semidefinite q(x, z) = k(x, z) - k(x, p) - k(p, z) + k(p, p) for the first object p; for it one
    number that serves all pairs, from the largest q(x, x) and the largest |k(x, p)|.
    """
    squares = np.asarray(gram.diag(), dtype=np.float64)
    if gram.definiteness.order and gram.n:
        first = gram.tile(np.zeros(1, dtype=np.int64))[0].astype(np.float64)
        largest = float(np.abs(squares - 2.0 * first + squares[0]).max())
        squares = np.full(gram.n, largest + 3.0 * float(np.abs(first).max()))
    return np.sqrt(np.abs(squares))


def product_errors(operator: Any) -> tuple[Callable[..., Array], Callable[..., Array]]:
    """Return functions with the arguments of ``dot`` and of ``t_dot`` that bound their errors.

    Of a design, the operator of the absolute entries (`mercer.solvers.operator`) bounds every sum
    that has been rounded; of a kernel matrix, the bounds of its entries give the estimate.
    """
    if hasattr(operator, "absolute"):
        n, d = operator.shape
        entries = operator.absolute

        def of_dot(w: Array, rows: Any = None) -> Array:
            return (d + _FEW) * UNIT * entries.dot(np.abs(w), rows)

        def of_t_dot(u: Array, rows: Any = None) -> Array:
            return (max(n, len(u)) + _FEW) * UNIT * entries.t_dot(np.abs(u), rows)

        return of_dot, of_t_dot
    errors, start = estimated(value_sizes(operator)), np.zeros(1, dtype=np.intp)

    def of_values(w: Array, rows: Any = None) -> Array:
        bounds = errors.of(w, None, start)
        return bounds if rows is None else bounds[rows]

    def of_coefficients(u: Array, rows: Any = None) -> Array:
        spread: Any = u if rows is None else np.bincount(rows, u, operator.n)
        return errors.of(spread, None, start)

    return of_values, of_coefficients
