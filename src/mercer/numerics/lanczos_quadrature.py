"""Stochastic Lanczos quadrature: the log-determinant of a matrix that is known by its products.

For C = K + N of n rows, a preconditioner P = FF' and random vectors z = F g with E gg' = I,

    log det C = log det P + E g' log(F^-1 C F^-T) g.

Conjugate gradients on C x = z with the preconditioner P build the Lanczos matrix T of F^-1 C F^-T
started at g, and g' log(.) g is |g|^2 e_1' log(T) e_1 to a precision that grows geometrically with
the steps (S. Ubaru, J. Chen, Y. Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos
quadrature", SIAM J. Matrix Anal. Appl. 38, 2017; J. Gardner et al., NeurIPS 2018). What is left is
the scatter of the random vectors, whose standard error is returned with the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal

from mercer.objects.arrays import Array

from .conjugate_gradients import Iterate


@dataclass(frozen=True)
class Estimate:
    """A number that was estimated from random vectors.

    `value`: the estimate, moved into the interval. `error`: its standard error, no more than the
    length of the interval. `lower`, `upper`: bounds that hold whatever the random vectors were.
    """

    value: float
    error: float
    lower: float
    upper: float

    @classmethod
    def of(cls, values: Array, lower: float, upper: float) -> Estimate:
        """Return the mean of independent values as an estimate."""
        spread = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf
        mean = float(np.clip(np.mean(values), lower, upper))
        return cls(mean, min(spread, upper - lower), lower, upper)


def quadratic_logs(state: Iterate, lengths: Array, first: int) -> Array:
    """Return g' log(F^-1 C F^-T) g for the columns from `first` on, which were z = F g.

    `state`: conjugate gradients without restart. `lengths` (s,): |g|^2 = z'P^-1 z.
    """
    return np.array(
        [size * _logarithm(*_lanczos(state, first + k)) for k, size in enumerate(lengths)]
    )


def _lanczos(state: Iterate, column: int) -> tuple[Array, Array]:
    """Return diagonal and off-diagonal of the Lanczos matrix of one column."""
    steps, ratios = [], []
    for active, step, ratio in state.coefficients:
        at = np.flatnonzero(active == column)
        if not len(at) or not step[at[0]] > 0.0:
            break
        steps.append(float(step[at[0]]))
        ratios.append(float(ratio[at[0]]))
    inverse, r = 1.0 / np.array(steps), np.array(ratios)
    diagonal = inverse.copy()
    diagonal[1:] += r[:-1] * inverse[:-1]
    return diagonal, np.sqrt(r[:-1]) * inverse[:-1]


def _logarithm(diagonal: Array, beside: Array) -> float:
    """Return e_1' log(T) e_1."""
    if not len(diagonal):
        return 0.0
    values, vectors = eigh_tridiagonal(diagonal, beside)
    return float(vectors[0] ** 2 @ np.log(np.maximum(values, np.finfo(float).tiny)))
