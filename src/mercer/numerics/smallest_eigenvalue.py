"""The smallest eigenvalue of a symmetric matrix, on all vectors or on a subspace.

Up to a few thousand objects the matrix is decomposed. Beyond that Lanczos' method sees it through
products only: its smallest Ritz value is attained by a vector, so it is an upper bound of the
smallest eigenvalue, a negative one is a proof and a positive one is evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg


class Extreme(NamedTuple):
    """Smallest and largest eigenvalue, and how to get a unit vector that attains the smallest."""

    smallest: float
    largest: float
    attained: Callable[[], np.ndarray]


def dense_extreme(K: np.ndarray, basis: np.ndarray | None = None) -> Extreme:
    """Return the extreme eigenvalues of basis' K basis, and a vector in R^n; by default of K."""
    inner = K if basis is None else basis.T @ K @ basis
    # The eigenvalues alone cost a sixth of the decomposition; one vector as much again.
    values = scipy.linalg.eigvalsh(inner)

    def attained() -> np.ndarray:
        vector = scipy.linalg.eigh(inner, subset_by_index=[0, 0])[1][:, 0]
        return vector if basis is None else basis @ vector

    return Extreme(float(values[0]), float(values[-1]), attained)


def lanczos_extreme(
    product: Callable[[np.ndarray], np.ndarray],
    n: int,
    null_space: np.ndarray | None = None,
    n_steps: int = 64,
    seed: int = 0,
) -> Extreme:
    """Return extreme Ritz values of a symmetric matrix that is known by its products.

    Lanczos' method with full reorthogonalisation (Parlett, The Symmetric Eigenvalue Problem,
    1998, chapter 13). It ends early when a negative Ritz value has settled to two digits.

    `null_space` (n, m): orthonormal columns that the vectors are kept orthogonal to.
    """

    def project(v: np.ndarray) -> np.ndarray:
        return v if null_space is None else v - null_space @ (null_space.T @ v)

    q = project(np.random.default_rng(seed).standard_normal(n))
    q /= np.linalg.norm(q)
    basis = np.empty((min(n_steps, n), n))
    alpha: list[float] = []
    beta: list[float] = []
    before = 0.0
    for step in range(len(basis)):
        basis[step] = q
        v = project(product(q))
        alpha.append(float(q @ v))
        for _ in range(2):  # twice is enough
            v = v - basis[: step + 1].T @ (basis[: step + 1] @ v)
        norm = float(np.linalg.norm(v))
        if norm <= 1e-14 * max(map(abs, alpha)):
            break
        if step % 8 == 7:
            smallest = float(_ritz(alpha, beta)[0][0])
            if smallest < 0 and abs(smallest - before) <= 0.01 * abs(smallest):
                break
            before = smallest
        beta.append(norm)
        q = v / norm
    values, vectors = _ritz(alpha, beta)
    vector = basis[: len(alpha)].T @ vectors[:, 0]
    vector /= np.linalg.norm(vector)
    return Extreme(float(values[0]), float(values[-1]), lambda: vector)


def _ritz(alpha: list[float], beta: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues and vectors of the tridiagonal matrix of Lanczos' method."""
    return scipy.linalg.eigh_tridiagonal(np.array(alpha), np.array(beta[: len(alpha) - 1]))


def orthonormal_polynomials(n: int, X: np.ndarray | None = None) -> np.ndarray:
    """Return an orthonormal basis of the constant and, with `X`, of linear functions on data."""
    columns = np.ones((n, 1))
    if X is not None:
        # Centred and scaled columns span the same functions together with the constant.
        centred = X - X.mean(axis=0)
        scale = np.abs(centred).max(axis=0)
        columns = np.hstack([columns, centred[:, scale > 0] / scale[scale > 0]])
    return scipy.linalg.orth(columns)


def complement(columns: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the vectors that are orthogonal to orthonormal columns."""
    q = scipy.linalg.qr(columns)[0]
    return q[:, columns.shape[1] :]
