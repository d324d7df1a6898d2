r"""Principal curves of bounded length: polygonal lines.

Problem: minimise over the knots :math:`v_1, \ldots, v_K`, with weights s,

.. math:: \sum_i s_i \min_b |x_i - v(b)|^2 \quad \text{subject to} \quad
          \sum_k |v_{k+1} - v_k| \le L ,

where v(b) runs along the line through the knots. B. Kegl, A. Krzyzak, T. Linder, K. Zeger,
"Learning and design of principal curves", IEEE Trans. PAMI 22, 2000, prove uniform bounds for this
class; in practice they penalise angles, whereas here the length is bounded.

Method: projection of the points onto the segments, and knots from least squares, in turn. For
shares u_k with sum 1, Cauchy's inequality gives
:math:`(\sum_k |v_{k+1} - v_k|)^2 \le \sum_k |v_{k+1} - v_k|^2 / u_k`, with equality for shares in
proportion to the segments. Bounding the right side by L^2, with the shares of the current line,
leaves least squares under one quadratic constraint: an equation in its multiplier, solved in the
common eigenvectors of both forms. The result is feasible, and no worse than the current line. Knots
are inserted into the longest segments, from two up to K.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp

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

from .descent import Descent, descend
from .polyline import OnLine, PolygonalLine, lengths, project
from .starts import principal_axes

_RIDGE = 1e-5  # holds knots without points, relative to the mean weight of a knot
_SMALLEST = 1e-6  # share of a segment, relative to 1 / K


@declared
class PolygonalPrincipalCurve(PolygonalLine):
    r"""A polygonal line of bounded length through the middle of data.

    It minimises the sum of squared distances of the points to the line, subject to the bound on its
    length. The comparison for :class:`RegularizedPrincipalManifold` with the kernel
    ``0.5 * NegativeDistance()``, whose regulariser bounds the same length.

    Attributes
    ----------
    knots_ : array of shape (n_knots, n_features)
        The knots, in order.
    length_ : float
        The length of the line.
    objective_ : float
        The weighted sum of squared distances.
    n_iter_ : int
        Iterations, of all numbers of knots.
    certificate_ : Certificate
        Status "stationary" at a local minimum; the objective is the primal value.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PolygonalPrincipalCurve
    >>> t = np.linspace(0.0, np.pi, 60)
    >>> X = np.stack([np.cos(t), np.sin(t)], axis=1)
    >>> curve = PolygonalPrincipalCurve(n_knots=8, length=2.5).fit(X)
    >>> len(curve.knots_), bool(curve.length_ <= 2.5)
    (8, True)
    """

    n_knots: int = parameter(integer_from(2), default=20)
    """Number of knots."""
    length: float | None = parameter(optional(positive), default=None)
    """Largest length; None for no bound."""
    _: KW_ONLY
    tol: float = parameter(real_from(0.0), default=1e-5)
    """Relative decrease of the objective in an iteration at which it stops."""
    max_iter: int = parameter(integer_from(1), default=200)
    """Largest number of iterations for one number of knots."""
    time_limit: float | None = parameter(optional(positive), default=None)
    """Seconds after which the iterations end with the line found so far."""
    verbose: bool | int = parameter(verbosity, default=False)
    """Whether to show progress; 2 prints lines."""

    def _fit(self, X: Array, weight: Array, run: Run) -> None:
        bound = math.inf if self.length is None else float(self.length)
        found, n_iter = _grown(
            X, weight, int(self.n_knots), bound, float(self.tol), int(self.max_iter), run
        )
        self.knots_ = found.state.knots
        self.objective_, self.n_iter_ = float(found.state.objective), n_iter
        self.certificate_ = local(found.status, self.objective_, n_iter=n_iter, seconds=run.seconds)


class _State(NamedTuple):
    knots: Array
    projection: OnLine
    objective: float


def _grown(
    X: Array,
    weight: Array,
    n_knots: int,
    bound: float,
    tol: float,
    max_iter: int,
    run: Run,
) -> tuple[Descent, int]:
    """Return the line after descents with 2, 4, 8, ... knots, and the number of iterations."""
    mean = weight @ X / weight.sum()
    centred = X - mean
    axes = principal_axes(centred, weight)
    scores = centred @ axes.directions[:, 0]
    ends = np.array([scores.min(), scores.max()])
    if ends[1] - ends[0] > bound:
        ends = ends.mean() + 0.5 * bound * np.array([-1.0, 1.0])
    knots, n_iter = ends[:, None] * axes.directions[:, 0], 0
    while True:
        start = _state(centred, weight, knots)
        found = descend(
            start,
            lambda state: _step(centred, weight, state, bound),
            tol,
            run.branch(steps=max_iter),
        )
        n_iter += len(found.path) - 1
        if len(knots) == n_knots or found.ended:
            state = found.state._replace(knots=_split(found.state.knots, n_knots) + mean)
            return found._replace(state=state), n_iter
        knots = _split(found.state.knots, min(2 * len(knots), n_knots))


def _split(knots: Array, n: int) -> Array:
    """Return a line of n knots, by halving the longest segments."""
    while len(knots) < n:
        k = int(np.argmax(lengths(knots)))
        knots = np.insert(knots, k + 1, 0.5 * (knots[k] + knots[k + 1]), axis=0)
    return knots


def _state(X: Array, weight: Array, knots: Array) -> _State:
    found = project(X, knots)
    return _State(knots, found, float(weight @ found.squares))


def _step(X: Array, weight: Array, state: _State, bound: float) -> _State:
    n, K = len(X), len(state.knots)
    rows = np.arange(n)
    segment, share = state.projection.segment, state.projection.share
    design = sp.csr_matrix(
        (
            np.concatenate([1.0 - share, share]),
            (np.concatenate([rows, rows]), np.concatenate([segment, segment + 1])),
        ),
        shape=(n, K),
    )
    weighted = design.multiply(weight[:, None]).tocsr()
    A = np.asarray((weighted.T @ design).todense())
    difference = np.diff(np.eye(K), axis=0)
    # The ridge holds segments where they are, so that a line at rest stays at rest.
    ridge = _RIDGE * (weight.sum() / K) * difference.T @ difference
    rhs = np.asarray(weighted.T @ X) + ridge @ state.knots
    A += ridge
    sides = np.maximum(lengths(state.knots), 0.0)
    total = float(sides.sum())
    shares = np.full(K - 1, 1.0 / (K - 1)) if total == 0.0 else sides / total
    shares = np.maximum(shares, _SMALLEST / (K - 1))
    shares /= shares.sum()
    B = (difference / shares[:, None]).T @ difference
    knots = _bounded(A, B, rhs, bound)
    length = float(lengths(knots).sum())
    if length > bound:  # by rounding, or by the ridge
        centre = knots.mean(axis=0)
        knots = centre + (knots - centre) * (bound / length * (1.0 - 1e-15))
    return _state(X, weight, knots)


def _bounded(A: Array, B: Array, rhs: Array, bound: float) -> Array:
    """Return the V that minimises tr V'AV - 2 tr V'rhs subject to tr V'BV <= bound^2."""
    values, U = scipy.linalg.eigh(B, A)
    values = np.maximum(values, 0.0)
    C = U.T @ rhs
    energy = np.einsum("ij,ij->i", C, C)

    def excess(mu: float) -> float:
        return float((values * energy / (1.0 + mu * values) ** 2).sum()) - bound**2

    mu = 0.0
    if math.isfinite(bound) and excess(0.0) > 0.0:
        upper = 1.0 / values[values > 0.0].max()
        while excess(upper) > 0.0:
            upper *= 10.0
        mu = float(scipy.optimize.brentq(excess, 0.0, upper, xtol=1e-14 * upper, rtol=1e-13))
    return np.asarray(U @ (C / (1.0 + mu * values)[:, None]))
