"""A map from latent coordinates to points, and the projection of points onto it.

Problem: for each point x minimise |x - gamma(b)|^2 over the index set.

Method: the nearest point of a fine grid, or a given start where that is nearer, then damped Newton
steps, freezing coordinates that press against a bound, for all points at once. A step is taken only
where it comes nearer, so refinement is never worse than its start. The problem has local minima;
the grid decides among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from mercer.objects.arrays import Array

from .domain import Domain
from .latent_features import LatentFeatures

_TREE_COLUMNS = 8  # up to which a tree finds neighbours faster than all distances do
_VALUES = 2**22  # distances that are held at once
_DIFFERENCE = np.finfo(float).eps ** 0.25  # step of second differences
_CONVERGED = 1e-8  # a step, relative to the length of an axis, after which a point is left alone
_STEPS = 30


class Projection(NamedTuple):
    """Coordinates of points, and their squared distances to the manifold."""

    latent: Array
    squares: Array


@dataclass(frozen=True)
class Surface:
    """The manifold with given coefficients.

    `domain`: the index set. `features`: its functions. `functions_coef`, `coef`: the coefficients c
    (n_functions, d) and alpha (n_nodes, d).
    """

    domain: Domain
    features: LatentFeatures
    functions_coef: Array
    coef: Array

    def __call__(self, B: Array) -> Array:
        """Return the points at coordinates."""
        return self.features.values(B, self.functions_coef, self.coef)

    def slope_and_curvature(self, X: Array, B: Array) -> tuple[Array, Array]:
        """Return minus the gradient (n, D) and the Hessian (n, D, D) of |x - gamma(b)|^2 / 2.

        By differences, at coordinates that are moved into a box by their step.
        """
        h, D = _DIFFERENCE * self.domain.length, self.domain.n_axes
        if self.domain.kind == "box":
            B = np.clip(B, h, 1.0 - h)
        shifts = h * np.eye(D)
        centre = self(B)
        right = [self(B + shift) for shift in shifts]
        left = [self(B - shift) for shift in shifts]
        J = np.stack([(r - m) / (2.0 * h) for r, m in zip(right, left, strict=True)], axis=1)
        residual = X - centre
        H = np.einsum("nij,nkj->nik", J, J)
        for i in range(D):
            bend = (right[i] + left[i] - 2.0 * centre) / h**2
            H[:, i, i] -= np.einsum("nj,nj->n", residual, bend)
            for k in range(i):
                corner = self(B + shifts[i] + shifts[k])
                bend = (corner - right[i] - right[k] + centre) / h**2
                twist = np.einsum("nj,nj->n", residual, bend)
                H[:, i, k] -= twist
                H[:, k, i] -= twist
        return np.einsum("nij,nj->ni", J, residual), H

    def project(
        self, X: Array, finer: int, start: Array | None = None, steps: int = _STEPS
    ) -> Projection:
        """Return the coordinates of the nearest points of the manifold.

        `finer`: points of the grid per node and axis. `start` (n, D): further starts. `steps`: of
        the refinement.
        """
        grid = self.domain.search_grid(finer)
        index = nearest(X, self(grid))
        found = self._at(X, grid[index])
        if start is not None:
            other = self._at(X, start)
            # A tie keeps the former coordinates, so that the iteration can come to rest.
            nearer = other.squares <= found.squares
            found = Projection(
                np.where(nearer[:, None], other.latent, found.latent),
                np.where(nearer, other.squares, found.squares),
            )
        return found if self.domain.kind == "grid" else self._refined(X, found, steps)

    def _at(self, X: Array, B: Array) -> Projection:
        return Projection(B, squared_lengths(X - self(B)))

    def _refined(self, X: Array, found: Projection, steps: int) -> Projection:
        B, squares = found.latent.copy(), found.squares.copy()
        damping = np.full(len(X), 1e-4)
        active = np.flatnonzero(squares > 0.0)
        for _ in range(steps):
            if not len(active):
                break
            step = self._step(X[active], B[active], damping[active])
            trial = self.domain.inside(B[active] + step)
            value = squared_lengths(X[active] - self(trial))
            better = value < squares[active]
            moved = active[better]
            B[moved], squares[moved] = trial[better], value[better]
            damping[active] = np.where(better, 0.1 * damping[active], 10.0 * damping[active])
            size = np.abs(step).max(axis=1)
            active = active[size > _CONVERGED * self.domain.length]
        return Projection(B, squares)

    def _step(self, X: Array, B: Array, damping: Array) -> Array:
        """Return damped Newton steps; coordinates that press against a bound stay."""
        slope, H = self.slope_and_curvature(X, B)
        D = self.domain.n_axes
        if self.domain.kind == "box":
            held = ((B <= 0.0) & (slope < 0.0)) | ((B >= 1.0) & (slope > 0.0))
            slope[held] = 0.0
            H[held[:, :, None] | held[:, None, :]] = 0.0
            H[:, range(D), range(D)] += held
        # Negative curvature is taken by its size, so that every step goes downhill.
        values, vectors = np.linalg.eigh(H)
        size = np.abs(values)
        largest = size.max(axis=1, keepdims=True)
        size = np.maximum(size, 1e-10 * largest) + damping[:, None] * largest + 1e-300
        along = np.einsum("nij,ni->nj", vectors, slope) / size
        return np.einsum("nij,nj->ni", vectors, along)


def squared_lengths(R: Array) -> Array:
    """Return the squared lengths of rows."""
    return np.einsum("ij,ij->i", R, R)


def nearest(X: Array, Z: Array) -> NDArray[np.intp]:
    """Return the position of the nearest row of Z for every row of X."""
    if X.shape[1] <= _TREE_COLUMNS:
        return np.asarray(cKDTree(Z).query(X)[1], dtype=np.intp)
    found = np.empty(len(X), dtype=np.intp)
    half = 0.5 * squared_lengths(Z)
    step = max(1, _VALUES // len(Z))
    for first in range(0, len(X), step):
        rows = slice(first, first + step)
        found[rows] = np.argmin(half - X[rows] @ Z.T, axis=1)
    return found
