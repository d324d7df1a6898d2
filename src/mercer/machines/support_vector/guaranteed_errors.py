"""Guaranteed bounds on the errors of the values K beta, from those of the kernel values.

With e_ij a bound on the error of k(x_i, x_j) and u = 2^-53, a sum of m products is wrong by at most

    sum_j e_ij |beta_j| + (m + few) u sum_j |k(x_i, x_j)| |beta_j|

(N. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, 2002, section 3.1). The
e_ij are those of `mercer.gram.running_error`, which follows the program of the kernel on the
training rows. A sum of dot products is not computed value by value but from a weight vector, of d
columns; its values are wrong by (m + d + few) u sum_j r_i r_j |beta_j| at most, with r_i^2 =
k(x_i, x_i), whatever cancels.

A matrix or a function that the user supplies is taken as it is: its numbers are the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.gram.bounded import Bounded
from mercer.gram.running_error import ErrorBounds, diagonal_bounds
from mercer.objects.arrays import Array
from mercer.solvers.rounding import UNIT, ValueErrors, guaranteed

_FEW = 16  # roundings of a short expression, with a margin for those of the bounds themselves
_BLOCK = 1 << 21  # kernel values whose errors are held at one time


@dataclass(frozen=True)
class FollowedErrors(ValueErrors):
    """Guaranteed errors of the values K beta, from the error of every kernel value."""

    bounds: ErrorBounds = field(kw_only=True)

    def of(self, beta: Array, rows: NDArray[np.integer] | None, starts: NDArray[np.intp]) -> Array:
        """Return bounds on the errors of K beta; see the base class."""
        n, ends = len(self.size), np.append(starts[1:], len(beta))
        objects = np.arange(len(beta)) if rows is None else np.asarray(rows)
        support = [a + np.flatnonzero(beta[a:b]) for a, b in zip(starts, ends, strict=True)]
        roundings = (max(map(len, support)) + _FEW) * UNIT
        model = np.repeat(np.arange(len(starts)), ends - starts)
        order = np.lexsort((model, objects))
        error = np.zeros(len(beta))
        for first, values in _blocks(self.bounds, n):
            weight = values.error + roundings * values.size
            low, high = np.searchsorted(objects, (first, first + len(weight)), sorter=order)
            here = order[low:high]
            here = here[np.argsort(model[here], kind="stable")]
            for part in np.split(here, np.flatnonzero(np.diff(model[here])) + 1):
                if len(part):
                    terms = support[model[part[0]]]
                    found = weight[np.ix_(objects[part] - first, objects[terms])]
                    error[part] = found @ np.abs(beta[terms])
        return error * (1.0 + _FEW * len(beta) * UNIT)


def _blocks(bounds: ErrorBounds, n: int) -> Iterator[tuple[int, Bounded]]:
    """Yield values with bounds of their errors in blocks of rows, each with its first row."""
    step = max(1, _BLOCK // max(n, 1))
    for first in range(0, n, step):
        yield first, bounds.values(np.arange(first, min(first + step, n)))


def guaranteed_errors(gram: Gram) -> tuple[ValueErrors, tuple[str, ...]]:
    """Return error bounds of products with a float64 Gram, and which steps are estimated."""
    kernel = gram.kernel
    bounds = ErrorBounds(kernel, gram.X if kernel.pairwise else gram.views, given=True)
    if gram.definiteness.order:
        # No norm bounds the values of a conditionally definite kernel; the values do.
        largest = max(float(v.size.max(initial=0.0)) for _, v in _blocks(bounds, gram.n))
        size = np.full(gram.n, np.sqrt(largest))
    else:
        own = diagonal_bounds(kernel, gram.views, given=True)
        size = np.sqrt(np.abs(gram.diag()) + own.error)
    size = size * (1.0 + _FEW * UNIT)
    if gram.linear and gram.definiteness.is_psd:
        return guaranteed(size, bounds.width, (bounds.width + _FEW) * UNIT), bounds.doubts
    return FollowedErrors(size, bounds=bounds), bounds.doubts


def rounding_basis(doubts: tuple[str, ...], own: str) -> str:
    """Return what a certificate says of its rounding, given the steps without a proven bound."""
    found = [*doubts, own] if own else list(doubts)
    return f"estimate: {'; '.join(found)}" if found else "guaranteed"
