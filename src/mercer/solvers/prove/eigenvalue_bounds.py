r"""Intervals for the largest eigenvalues of a positive semidefinite matrix from Ritz pairs.

Let Q hold r orthonormal Ritz vectors with values theta, residuals E = AQ - Q diag(theta), and let t
be a bound on the norm of A on the orthogonal complement. In the basis of Q and its complement

    A = [[diag(theta), E'], [E, A2]] <= [[diag(theta) + E'E / s, 0], [0, A2 + s]]   for any s > 0,

so lambda_j <= max(theta_j + e^2 / s, t + s) with e = |E|. The best s makes both sides equal:

    theta_j <= lambda_j <= t + (d + sqrt(d^2 + 4 e^2)) / 2,   d = theta_j - t.

For a positive semidefinite A the trace gives t: trace(A) minus the sum of all Ritz values. The
bound is quadratic in the residuals where the spectrum has a gap, and wide where the trace leaves
room for eigenvalues that the iteration never met.
"""

from __future__ import annotations

import numpy as np

from mercer.numerics.block_krylov import RitzPairs
from mercer.objects.arrays import Array


def eigenvalues_at_most(found: RitzPairs, k: int, trace: float) -> Array:
    """Return upper bounds on the k largest eigenvalues; those of a direct method are the values."""
    if found.n_products == 0 or k == 0:
        return found.values[:k]
    return upper_bounds(found.values, found.residual_norms, k, trace)


def upper_bounds(values: Array, residual_norms: Array, k: int, trace: float) -> Array:
    """Return upper bounds on the k largest eigenvalues of a positive semidefinite matrix.

    `values`, `residual_norms`: Ritz values, falling, and the lengths of their residuals, which are
    orthogonal to all Ritz vectors. `trace`: of the matrix.
    """
    rest = max(trace - float(values.sum()), 0.0)  # bounds the norm on the complement of all vectors
    squares = np.cumsum(residual_norms**2)
    best = np.full(k, np.inf)
    for r in range(k, len(values) + 1):
        inside = float(values[r]) if r < len(values) else 0.0
        coupling = float(np.sqrt(squares[-1] - squares[r - 1])) if r < len(values) else 0.0
        outside = min(max(inside, rest) + coupling, max(trace - float(values[:r].sum()), 0.0))
        d = values[:k] - outside
        e2 = float(squares[r - 1])
        # (d + sqrt(d^2 + 4 e^2)) / 2, without cancellation where d > 0.
        root = np.sqrt(d * d + 4.0 * e2)
        above = outside + 0.5 * (d + root)
        inner = d > 0.0
        above[inner] = values[:k][inner] + 2.0 * e2 / (d + root)[inner]
        best = np.minimum(best, above)
    # j eigenvalues of at least lambda_j have a sum of at most the trace.
    return np.minimum(best, trace / np.arange(1, k + 1))
