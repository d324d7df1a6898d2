"""Descent of the smallest eigenvalue of a kernel matrix by moving its objects.

The matrix is scaled to unit diagonal, B_ij = k(x_i, x_j) / sqrt(k(x_i, x_i) k(x_j, x_j)), which is
positive semidefinite exactly if K is and does not reward mere size. With v the unit eigenvector
of its smallest eigenvalue, moving x_i changes that eigenvalue at the rate

    d lambda = 2 v_i sum_{j != i} v_j dB_ij,

so that one call of the kernel on all displaced points gives the whole gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize

from mercer.kernels import Kernel
from mercer.objects.tables import stacked
from mercer.objects.validation import count, take

from .samplers import Sampler

STEP = 1e-5  # of central differences, relative to 1 + |x|
ITERATIONS = 40  # of a descent, each of which evaluates a matrix


def scaled_extreme(K: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the smallest eigenvalue at unit diagonal and its vector; -inf where k(x, x) < 0."""
    diagonal = np.diagonal(K)
    if diagonal.min() < 0:
        return -np.inf, np.eye(len(K))[int(np.argmin(diagonal))]
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    B = scale[:, None] * ((K + K.T) / 2) * scale
    values, vectors = scipy.linalg.eigh(B, subset_by_index=[0, 0])
    return float(values[0]), vectors[:, 0]


def descend(kernel: Kernel, X: np.ndarray, bounds: tuple[np.ndarray, np.ndarray] | None) -> Any:
    """Return vectors with a smaller smallest eigenvalue, found by a quasi-Newton method."""
    shape = X.shape

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = _value_and_gradient(kernel, flat.reshape(shape))
        return value, gradient.ravel()

    limits = None
    if bounds is not None:
        low, high = (np.broadcast_to(end, shape).ravel() for end in bounds)
        limits = scipy.optimize.Bounds(low, high)
    result = scipy.optimize.minimize(
        objective,
        X.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=limits,
        options={"maxiter": ITERATIONS},
    )
    return result.x.reshape(shape)


def swap(kernel: Kernel, X: Any, sampler: Sampler, rng: np.random.Generator) -> Any:
    """Return objects with a smaller smallest eigenvalue, found by exchanging single ones."""
    best, vector = scaled_extreme(kernel(X))
    for _ in range(ITERATIONS):
        fresh = sampler(rng, 1)
        out = int(np.argmin(np.abs(vector)))  # the object that matters least
        kept = take(X, np.delete(np.arange(count(X)), out))
        candidate = stacked(kept, fresh)
        value, candidate_vector = scaled_extreme(kernel(candidate))
        if value < best:
            best, vector, X = value, candidate_vector, candidate
    return X


def _value_and_gradient(kernel: Kernel, X: np.ndarray) -> tuple[float, np.ndarray]:
    n, d = X.shape
    K = kernel(X)
    value, v = scaled_extreme(K)
    if value == -np.inf:
        return -1e300, np.zeros_like(X)
    step = STEP * (1.0 + np.abs(X))
    displaced = np.empty((2, n, d, d))
    for a in range(d):
        displaced[:, :, a] = X
        displaced[0, :, a, a] += step[:, a]
        displaced[1, :, a, a] -= step[:, a]
    flat = displaced.reshape(-1, d)
    entries = kernel(flat, X) * _inverse_root(kernel.diag(flat))[:, None]
    entries *= _inverse_root(np.diagonal(K))
    rates = (entries[: n * d] - entries[n * d :]).reshape(n, d, n) / (2.0 * step[:, :, None])
    rates[np.arange(n), :, np.arange(n)] = 0.0  # the diagonal stays 1
    return value, 2.0 * v[:, None] * (rates @ v)


def _inverse_root(diagonal: np.ndarray) -> np.ndarray:
    positive = diagonal > 0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)
