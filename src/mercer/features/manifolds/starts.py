"""Starting points of a manifold: nodes in the span of the first principal directions.

A box is laid over the range of the principal components (Smola 1998, 5.3.2, after C. Bishop,
M. Svensen, C. Williams, "GTM: the generative topographic mapping", Neural Computation 10, 1998); a
circle or a torus has the principal components as half axes. Outliers must not choose the start of
a robust loss, whose local minima they would decide: points far from the spatial median then count
less in the principal components (N. Locantore et al., "Robust principal component analysis for
functional data", Test 8, 1999), and the box leaves out the extremes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from mercer.objects.arrays import Array

from .domain import Domain

_WEISZFELD = 20  # iterations for the spatial median, which needs no precision
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


def without_leverage(X: Array, weight: Array) -> Array:
    """Return weights under which no point pulls at the axes more than one at the median distance.

    Distances r are those from the spatial median, which minimises their sum; the weights fall with
    1 / r^2 beyond their median.
    """
    centre = weight @ X / weight.sum()
    for _ in range(_WEISZFELD):
        r = np.linalg.norm(X - centre, axis=1)
        pull = weight / np.maximum(r, 1e-9 * max(float(r.max()), 1e-300))
        centre = pull @ X / pull.sum()
    r = np.linalg.norm(X - centre, axis=1)
    middle = float(_quantiles(r[:, None], weight, 0.5)[0])
    return weight * np.minimum(1.0, middle / np.maximum(r, 1e-300)) ** 2


def n_directions(domain: Domain) -> int:
    """Return how many principal directions a start needs."""
    return domain.n_axes + (domain.kind == "periodic")


def node_points(
    domain: Domain, X: Array, weight: Array, axes: PrincipalAxes, left_out: float = 0.0
) -> Array:
    """Return the positions (n_nodes, d) at which the nodes begin.

    `left_out`: share of the points that the box leaves out at either side.
    """
    B = domain.nodes()
    E = axes.directions[:, : n_directions(domain)]
    if domain.kind == "periodic":
        return axes.mean + (_torus(B) * np.sqrt(2.0 * axes.variances[: E.shape[1]])) @ E.T
    scores = (X - axes.mean) @ E
    low, high = (_quantiles(scores, weight, q) for q in (left_out, 1.0 - left_out))
    return axes.mean + (low + B * (high - low)) @ E.T


def _quantiles(scores: Array, weight: Array, q: float) -> Array:
    """Return weighted quantiles of columns: the least value that a share of at least q reaches."""
    order = np.argsort(scores, axis=0, kind="stable")
    reached = np.cumsum(weight[order], axis=0) >= q * weight.sum() * (1.0 - 1e-12)
    rows = np.argmax(reached, axis=0)
    columns = np.arange(scores.shape[1])
    return np.asarray(scores[order[rows, columns], columns])


def _torus(B: Array) -> Array:
    """Return a torus of any dimension D in D + 1 coordinates: a circle of circles of circles."""
    points = np.stack([np.cos(B[:, 0]), np.sin(B[:, 0])], axis=1)
    for j in range(1, B.shape[1]):
        tube = 1.0 + _TUBE * np.cos(B[:, j])
        points = np.hstack([points * tube[:, None], _TUBE * np.sin(B[:, j])[:, None]])
    return points
