r"""Losses of the distance r of a point to a manifold, with quadratic majorisers.

- squared: :math:`r^2`;
- Huber with threshold t: :math:`r^2` up to t, :math:`2 t r - t^2` beyond;
- epsilon-insensitive with threshold t: :math:`\max(0, r - t)`, with the kink rounded off by a
  parabola over the small length h: :math:`u^2 / 2h` for :math:`u = r - t` in [0, h],
  :math:`u - h/2` beyond.

All grow with r, so the nearest point of the manifold stays the best one. At a residual vector
:math:`\rho` of length r each is majorised by :math:`w |\rho' - e|^2` plus a constant, which touches
it there: :math:`e = \rho \min(1, t / r)` is the part that costs nothing (0 but for the last loss),
and the weight w = slope(u) / 2u falls with u (P. Huber, E. Ronchetti, "Robust Statistics", 7.8). So
an adaptation step is weighted least squares with the targets x - e, and never raises the objective.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.objects.arrays import Array

LOSSES = ("squared", "huber", "epsilon_insensitive")

_ROUNDED = 1e-2  # the length h relative to the root mean square distance from the mean


@dataclass(frozen=True)
class ResidualLoss:
    """A loss of distances.

    `kind`: one of `LOSSES`. `threshold`: the threshold t. `rounded`: the length h over which the
    kink of the epsilon-insensitive loss is rounded off.
    """

    kind: str
    threshold: float = 0.0
    rounded: float = 0.0

    @classmethod
    def of(cls, kind: str, threshold: float | None, scale: float) -> ResidualLoss:
        """Return the loss for data whose root mean square distance from the mean is `scale`."""
        t = 0.1 * scale if threshold is None else float(threshold)
        return cls(kind, t, max(_ROUNDED * scale, np.finfo(float).tiny))

    def value(self, squares: Array) -> Array:
        """Return the losses at squared distances."""
        if self.kind == "squared":
            return squares
        r, t = np.sqrt(squares), self.threshold
        if self.kind == "huber":
            return np.where(r <= t, squares, 2.0 * t * r - t * t)
        u, h = np.maximum(r - t, 0.0), self.rounded
        return np.where(u <= h, u * u / (2.0 * h), u - 0.5 * h)

    def majoriser(self, squares: Array) -> tuple[Array, Array]:
        """Return the weights w and the shares of the residuals that cost nothing."""
        if self.kind == "squared":
            return np.ones_like(squares), np.zeros_like(squares)
        r, t = np.sqrt(squares), self.threshold
        safe = np.maximum(r, np.finfo(float).tiny)
        if self.kind == "huber":
            return np.minimum(1.0, t / safe), np.zeros_like(squares)
        u, h = np.maximum(r - t, 0.0), self.rounded
        return 0.5 / np.maximum(u, h), np.minimum(1.0, t / safe)
