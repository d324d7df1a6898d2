"""Where the nodes of a manifold begin: in the span of the first principal directions.

A box is laid over the range of the principal components (Smola 1998, 5.3.2, after C. Bishop,
M. Svensen, C. Williams, "GTM: the generative topographic mapping", Neural Computation 10, 1998); a
circle or a torus has the principal components as half axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from .domain import Domain

Array = NDArray[np.float64]

_TUBE = 0.5  # radius of each further circle of a torus, relative to the one before


class PrincipalAxes(NamedTuple):
    """Weighted mean, directions in columns, and variances, falling."""

    mean: Array
    directions: Array
    variances: Array


def principal_axes(X: Array, weight: Array) -> PrincipalAxes:
    """Return the principal axes; the largest entry of a direction is positive."""
    mean = weight @ X / weight.sum()
    centred = X - mean
    values, vectors = scipy.linalg.eigh((centred * weight[:, None]).T @ centred / weight.sum())
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(len(values))] < 0.0, -1.0, 1.0)
    return PrincipalAxes(mean, vectors * signs, values)


def n_directions(domain: Domain) -> int:
    """Return how many principal directions a start needs."""
    return domain.n_axes + (domain.kind == "periodic")


def node_points(domain: Domain, X: Array, axes: PrincipalAxes) -> Array:
    """Return the positions (n_nodes, d) at which the nodes begin."""
    B = domain.nodes()
    E = axes.directions[:, : n_directions(domain)]
    if domain.kind == "periodic":
        return axes.mean + (_torus(B) * np.sqrt(2.0 * axes.variances[: E.shape[1]])) @ E.T
    scores = (X - axes.mean) @ E
    low, high = scores.min(axis=0), scores.max(axis=0)
    return axes.mean + (low + B * (high - low)) @ E.T


def _torus(B: Array) -> Array:
    """Return a torus of any dimension D in D + 1 coordinates: a circle of circles of circles."""
    points = np.stack([np.cos(B[:, 0]), np.sin(B[:, 0])], axis=1)
    for j in range(1, B.shape[1]):
        tube = 1.0 + _TUBE * np.cos(B[:, j])
        points = np.hstack([points * tube[:, None], _TUBE * np.sin(B[:, j])[:, None]])
    return points
