"""Principal curves by smoothing: T. Hastie, W. Stuetzle, "Principal curves", JASA 84, 1989.

A curve is principal if every point of it is the mean of the data that project onto it. Starting
from the first principal component, the data are projected onto the curve, and the curve becomes a
local linear regression of the data on their arc length, in turn. Without smoothing the regression
passes through every point: the quantisation error alone has no well-defined minimiser among curves.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY

import numpy as np

from mercer.kernels import RBF
from mercer.objects.arrays import Array
from mercer.objects.parameters import (
    declared,
    integer_from,
    optional,
    parameter,
    positive,
    real_from,
    verbosity,
)
from mercer.run import Run
from mercer.solvers.prove import local

from .polyline import PolygonalLine, even, lengths, project
from .starts import principal_axes

_RIDGE = 1e-9  # of the local regressions, where all neighbours have one position


@declared
class PrincipalCurve(PolygonalLine):
    """A principal curve by local linear smoothing.

    The classical algorithm, as a comparison: it has no objective, and ends where the curve does not
    change any more. :class:`RegularizedPrincipalManifold` minimises a regularised objective.

    Attributes
    ----------
    knots_ : array of shape (n_knots, n_features)
        Points of the curve, at equal steps of arc length.
    length_ : float
        The length of the curve.
    objective_ : float
        The weighted sum of squared distances to the curve.
    n_iter_ : int
        Iterations.
    certificate_ : Certificate
        Status "stationary" where the curve came to rest; ``kkt_violation`` is its last movement.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import PrincipalCurve
    >>> t = np.linspace(0.0, np.pi, 60)
    >>> X = np.stack([np.cos(t), np.sin(t)], axis=1)
    >>> bool(PrincipalCurve(0.03).fit(X).quantization_error(X) < 1e-3)
    True
    """

    bandwidth: float = parameter(positive, default=0.1)
    """Width of the Gaussian weights, relative to the length of the curve."""
    _: KW_ONLY
    n_knots: int = parameter(integer_from(2), default=100)
    """Points at which the curve is kept."""
    tol: float = parameter(real_from(0.0), default=1e-3)
    """Largest movement of a knot, relative to the length of the curve, at which it stops."""
    max_iter: int = parameter(integer_from(1), default=50)
    """Largest number of iterations."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds after which the iterations end with the curve found so far."""
    verbose: bool | int = parameter(verbosity, default=False)
    """Whether to show progress; 2 prints lines."""

    def _fit(self, X: Array, weight: Array, run: Run) -> None:
        axes = principal_axes(X, weight)
        scores = (X - axes.mean) @ axes.directions[:, 0]
        ends = np.array([scores.min(), scores.max()])[:, None] * axes.directions[:, 0]
        knots = even(axes.mean + ends, int(self.n_knots))
        run, movement, n_iter = run.branch(steps=int(self.max_iter)), math.inf, 0
        with run.until_stopped():
            while True:
                new = self._smoothed(X, weight, knots)
                length = max(float(lengths(new).sum()), 1e-300)
                movement = float(np.linalg.norm(new - knots, axis=1).max()) / length
                knots, n_iter = new, n_iter + 1
                if movement <= float(self.tol) or run.stop(n_iter, movement) is not None:
                    break
        self.knots_, self.n_iter_ = knots, n_iter
        self.objective_ = float(weight @ project(X, knots).squares)
        status = run.status or "stationary"
        self.certificate_ = local(
            status, self.objective_, movement, n_iter=n_iter, seconds=run.seconds
        )

    def _smoothed(self, X: Array, weight: Array, knots: Array) -> Array:
        """Return the local linear regression of the points on their positions, at the knots."""
        sides = lengths(knots)
        begin = np.concatenate([[0.0], np.cumsum(sides)])
        found = project(X, knots)
        position = begin[found.segment] + found.share * sides[found.segment]
        if begin[-1] == 0.0:
            return knots
        width = float(self.bandwidth) * begin[-1]
        kernel = RBF(0.5 / width**2)
        W = kernel(begin[:, None], position[:, None]) * weight
        # The regression at a knot is a mean, moved along its slope.
        total = W.sum(axis=1)
        empty = total <= 1e-200 * weight.sum()  # no point near: the knot stays
        total = np.where(empty, 1.0, total)
        centre = W @ position / total
        moment = W @ position**2 / total - centre**2
        means = W @ X / total[:, None]
        products = (W * position) @ X / total[:, None] - centre[:, None] * means
        slope = products / (moment + _RIDGE * width**2)[:, None]
        moved = np.where(empty[:, None], knots, means + slope * (begin - centre)[:, None])
        return even(moved, len(knots))
