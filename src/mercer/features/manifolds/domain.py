"""Index sets of a manifold: a box, a torus, or a grid of points."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mercer.objects.arrays import Array

DOMAINS = ("box", "periodic", "grid")


@dataclass(frozen=True)
class Domain:
    """The set of latent coordinates b.

    `kind`: [0, 1]^D; [0, 2 pi)^D with opposite ends identified (a circle, a torus); or the points
    of a grid in [0, 1]^D alone. `counts`: number of nodes along every axis.
    """

    kind: str
    counts: tuple[int, ...]

    @property
    def n_axes(self) -> int:
        """The dimension D."""
        return len(self.counts)

    @property
    def length(self) -> float:
        """The length of an axis."""
        return 2.0 * math.pi if self.kind == "periodic" else 1.0

    def nodes(self) -> Array:
        """Return the nodes (n_nodes, D)."""
        return self._grid(self.counts)

    def search_grid(self, finer: int) -> Array:
        """Return the points at which a search starts: all of a grid, more for a continuous set."""
        if self.kind == "grid":
            return self.nodes()
        return self._grid(tuple(finer * n for n in self.counts))

    def inside(self, B: Array) -> Array:
        """Return the nearest coordinates of the domain."""
        if self.kind == "periodic":
            return np.mod(B, self.length)
        return np.clip(B, 0.0, 1.0)

    def mean(self, B: Array, shares: Array) -> Array:
        """Return weighted means of coordinates, (n, D) of shares (n, n_points).

        Angles on a circle are averaged by their directions.
        """
        if self.kind != "periodic":
            return shares @ B
        return np.mod(np.arctan2(shares @ np.sin(B), shares @ np.cos(B)), self.length)

    def _grid(self, counts: tuple[int, ...]) -> Array:
        axes = [self._axis(n) for n in counts]
        return np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)

    def _axis(self, n: int) -> Array:
        if self.kind == "periodic":
            return np.arange(n, dtype=np.float64) * (self.length / n)
        return np.linspace(0.0, 1.0, n) if n > 1 else np.array([0.5])
