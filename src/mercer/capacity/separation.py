"""Exact separability of small point sets: by a linear programme, or with the largest margin.

The largest margin is a least-distance programme,

    minimise ||w||  subject to  <w, a_j> >= 1 for all j,

whose solution is v / ||v||^2 for the shortest vector v of the convex hull of the a_j, found in a
finite number of steps by the method of Wolfe (1976). Without an offset the a_j are y_i x_i; with
one they are the differences of a positive and a negative point, so that ||v|| is the distance of
the two convex hulls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Separation:
    """A hyperplane that realises labels: w, b of unit norm, and its geometric margin."""

    w: Array
    b: float
    margin: float


def features_of(gram: ArrayLike) -> Array:
    """Return points whose inner products are the given positive semidefinite matrix."""
    K = np.asarray(gram, dtype=float)
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    if values[0] < -1e-8 * max(1.0, values[-1]):
        raise ValueError(
            f"the kernel matrix has the eigenvalue {values[0]:.3g}: it is not positive "
            "semidefinite, so its points have no feature space."
        )
    # Eigenvalues at the level of rounding are 0: kept, they would make any points independent.
    kept = values > 4 * len(K) * np.finfo(float).eps * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def shortest_in_hull(A: Array) -> Array:
    """Return the shortest vector of the convex hull of the rows (Wolfe, 1976)."""
    scale = float(np.einsum("ij,ij->i", A, A).max())
    corral = [int(np.argmin(np.einsum("ij,ij->i", A, A)))]
    weights = np.ones(1)
    v = A[corral[0]]
    for _ in range(50 * len(A) + 100):
        j = int(np.argmin(A @ v))
        if A[j] @ v >= v @ v - 1e-14 * scale or j in corral:
            break
        corral.append(j)
        weights = np.append(weights, 0.0)
        while True:
            aim = _affine_weights(A[corral])
            if np.all(aim > 1e-13):
                weights = aim
                break
            # Go towards the shortest vector of the affine hull until a weight vanishes.
            leaving = aim <= 1e-13
            steps = weights[leaving] / np.maximum(weights[leaving] - aim[leaving], 1e-300)
            weights = weights + min(1.0, float(steps.min())) * (aim - weights)
            kept = weights > 1e-13
            kept[np.flatnonzero(leaving)[np.argmin(steps)]] = False
            corral = [i for i, keep in zip(corral, kept, strict=True) if keep]
            weights = weights[kept] / weights[kept].sum()
        v = weights @ A[corral]
    return v


def _affine_weights(P: Array) -> Array:
    """Return weights of sum 1 that make the sum of the rows shortest."""
    system = np.ones((len(P) + 1, len(P) + 1))
    system[0, 0] = 0.0
    system[1:, 1:] = P @ P.T
    right = np.zeros(len(P) + 1)
    right[0] = 1.0
    return np.asarray(np.linalg.lstsq(system, right, rcond=None)[0][1:], dtype=np.float64)


def least_norm(A: Array) -> Array | None:
    """Return the shortest w with A w >= 1; None if there is none, the origin being in the hull."""
    v = shortest_in_hull(A)
    square = float(v @ v)
    return None if square <= 1e-20 * float(np.einsum("ij,ij->i", A, A).max()) else v / square


def largest_margin(X: Array, y: NDArray[np.int64], bias: bool = True) -> Separation | None:
    """Return the hard-margin hyperplane; None if the labels cannot be separated.

    Labels that are all equal are separated, by a hyperplane at any distance, if there is an
    offset.
    """
    scale = float(np.abs(X).max()) or 1.0
    points = X / scale
    if not bias:
        w = least_norm(y[:, None] * points)
        if w is None:
            return None
        norm = float(np.linalg.norm(w))
        return Separation(w / norm, 0.0, scale / norm)
    plus, minus = points[y > 0], points[y < 0]
    if not len(plus) or not len(minus):
        return Separation(np.zeros(X.shape[1]), float(y[0]), math.inf)
    w = least_norm((plus[:, None] - minus[None]).reshape(-1, X.shape[1]))
    if w is None:
        return None
    norm = float(np.linalg.norm(w))
    w = w / norm
    b = -((plus @ w).min() + (minus @ w).max()) / 2
    return Separation(w, scale * float(b), scale / (2 * norm))


def solve_sign_programme(A: Array, free: int) -> Array | None:
    """Return v with A v >= 1, its entries from `free` on being non-negative; None if none is."""
    bounds = [(None, None)] * free + [(0, None)] * (A.shape[1] - free)
    result = linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=bounds)
    return result.x if result.status == 0 else None


def halfspace(X: Array, y: NDArray[np.int64], bias: bool = True) -> Array | None:
    """Return the coefficients of a hyperplane with y_i (<w, x_i> + b) >= 1, by linear programme."""
    columns = np.column_stack([X, np.ones(len(X))]) if bias else X
    return solve_sign_programme(y[:, None] * columns, columns.shape[1])


def ball(X: Array, y: NDArray[np.int64]) -> Array | None:
    """Return (w, b, s) with y_i (<w, x_i> + b - s |x_i|^2) >= 1, s >= 0: positive inside a ball.

    With s = 0 a halfspace separates strictly, and so does a large ball.
    """
    lifted = np.column_stack([X, np.ones(len(X)), -np.einsum("ij,ij->i", X, X)])
    return solve_sign_programme(y[:, None] * lifted, X.shape[1] + 1)


def rectangle(X: Array, y: NDArray[np.int64]) -> Array | None:
    """Return the sides of the smallest rectangle of the positive points, if no other is inside."""
    plus = X[y > 0]
    if not len(plus):
        return np.array([np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)])
    sides = np.array([plus.min(axis=0), plus.max(axis=0)])
    inside = np.all((sides[0] <= X) & (sides[1] >= X), axis=1)
    return sides if not np.any(inside & (y < 0)) else None
