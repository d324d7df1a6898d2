r"""Alternating minimisation of the regularised quantisation error.

Problem: with weights s minimise over the coefficients and the coordinates

.. math:: J = \sum_i s_i \rho(|x_i - \gamma(\beta_i)|) + \frac{\lambda}{2} \|P\gamma\|^2 .

Method (A. Smola, "Learning with kernels", 1998, 5.3.2): a projection step minimises over the
coordinates (`surface.py`), an adaptation step over the coefficients, which is ridge regression in
the features of `latent_features.py`:
:math:`(\lambda/2 + F'WF) \theta = F'W X`. Neither raises J.

The soft variant gives every point to all points b_g of a grid, with shares in proportion to
:math:`\exp(-|x_i - \gamma(b_g)|^2 / 2\sigma^2)`. For a fixed :math:`\sigma^2` it minimises

.. math:: J_\sigma = -2\sigma^2 \sum_i s_i \log
          \frac1G \sum_g e^{-|x_i - \gamma(b_g)|^2 / 2\sigma^2} + \frac{\lambda}{2} \|P\gamma\|^2,

which tends to J on the grid as :math:`\sigma \to 0`. Otherwise :math:`\sigma^2` is estimated too,
by expectation maximisation of :math:`-J_\sigma / 2\sigma^2 - \frac{Wd}{2} \log 2\pi\sigma^2`: the
penalised likelihood of a mixture of Gaussians with centres on the manifold, which with the penalty
"l2" is the generative topographic map (Bishop et al. 1998, their alpha = lambda / 2 sigma^2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from mercer.objects.arrays import Array

from .domain import Domain
from .latent_features import LatentFeatures
from .residual_losses import ResidualLoss
from .surface import Projection, Surface, squared_lengths

_STEPS = 3  # of the refinement within an iteration; the next one goes on from there
_VALUES = 2**22  # shares that are held at once


class State(NamedTuple):
    """Where the iteration stands."""

    surface: Surface
    theta: Array
    projection: Projection | None
    noise: float  # variance, of the soft variant
    objective: float


class Shares(NamedTuple):
    """What the soft variant accumulates over all points."""

    mass: Array  # of each grid point
    sums: Array  # of the points given to it
    squares: float  # weighted squared distances
    log_mean: float  # sum of s_i log of the mean of exp(-distance^2 / 2 noise)


@dataclass(frozen=True)
class Alternation:
    """Common parts of the hard and the soft variant.

    `offset`: the constant part where it is fixed, None where it is fitted. `finer`: points of the
    search grid per node and axis.
    """

    X: Array
    weight: Array
    domain: Domain
    features: LatentFeatures
    offset: Array | None
    finer: int

    def regression(
        self, design: Array, weight: Array, weighted_targets: Array, lam: float
    ) -> tuple[Array, Array]:
        """Return functions_coef and theta of the ridge regression on a design.

        `weighted_targets`: sums of weight times target for every row of the design.
        """
        q = self.features.n_functions
        if self.offset is not None:
            weighted_targets = weighted_targets - weight[:, None] * self.offset
            design, q = design[:, q:], 0
        A = (design * weight[:, None]).T @ design
        A[range(q, len(A)), range(q, len(A))] += 0.5 * lam
        rhs = design.T @ weighted_targets
        try:
            solution = scipy.linalg.solve(A, rhs, assume_a="pos")
        except scipy.linalg.LinAlgError:  # singular: of all minimisers the shortest
            solution = scipy.linalg.lstsq(A, rhs, cond=1e-13)[0]
        if self.offset is not None:
            return self.offset[None, :], solution
        return solution[:q], solution[q:]

    def surface(self, functions_coef: Array, theta: Array) -> Surface:
        """Return the manifold of given coefficients."""
        return Surface(self.domain, self.features, functions_coef, self.features.map @ theta)

    def vector(self, state: State) -> Array:
        """Return the variables of a state, for acceleration."""
        parts = [state.surface.functions_coef.ravel(), state.theta.ravel()]
        return np.concatenate([*parts, [math.log(state.noise)]] if state.noise > 0.0 else parts)

    def split(self, vector: Array) -> tuple[Array, Array, float]:
        """Return functions_coef, theta and noise of the variables of a state."""
        q, d = self.features.n_functions, self.X.shape[1]
        middle = (q + self.features.n_features) * d
        noise = math.exp(vector[middle]) if len(vector) > middle else math.nan
        theta = vector[q * d : middle].reshape(-1, d)
        return vector[: q * d].reshape(q, d), theta, noise

    def at_nodes(self, points: Array, lam: float) -> tuple[Array, Array]:
        """Return the coefficients of a manifold that passes near given points at the nodes."""
        design = self.features.design(self.features.nodes)
        return self.regression(design, np.ones(len(points)), points, lam)


@dataclass(frozen=True)
class HardAlternation(Alternation):
    """Every point belongs to its nearest point of the manifold."""

    loss: ResidualLoss

    def start(self, functions_coef: Array, theta: Array, lam: float) -> State:
        """Return the state of given coefficients."""
        surface = self.surface(functions_coef, theta)
        return self._projected(surface, theta, lam, None, _STEPS)

    def adapted(self, state: State, lam: float) -> Array:
        """Return the variables after an adaptation step."""
        assert state.projection is not None
        weight, targets = self._majorised(state)
        design = self.features.design(state.projection.latent)
        functions_coef, theta = self.regression(design, weight, targets * weight[:, None], lam)
        return np.concatenate([functions_coef.ravel(), theta.ravel()])

    def at(self, vector: Array, before: State, lam: float) -> State:
        """Return the state of given variables, by a projection step from those before."""
        assert before.projection is not None
        functions_coef, theta, _ = self.split(vector)
        surface = self.surface(functions_coef, theta)
        return self._projected(surface, theta, lam, before.projection.latent, _STEPS)

    def finished(self, state: State, lam: float) -> State:
        """Return the state with projections refined to the end."""
        assert state.projection is not None
        return self._projected(state.surface, state.theta, lam, state.projection.latent, 30)

    def slope(self, state: State, lam: float) -> float:
        """Return the gradient of J by the coefficients, relative to the size of its terms."""
        assert state.projection is not None
        design = self.features.design(state.projection.latent)
        weight, targets = self._majorised(state)
        fit = design @ np.vstack([state.surface.functions_coef, state.theta])
        return self._relative(design, weight, targets, fit, state, lam)

    def _relative(
        self, design: Array, weight: Array, targets: Array, fit: Array, state: State, lam: float
    ) -> float:
        q = self.features.n_functions
        penalty = np.vstack([np.zeros_like(state.surface.functions_coef), lam * state.theta])
        pull = 2.0 * (design * weight[:, None]).T @ (targets - fit)
        whole = 2.0 * (design * weight[:, None]).T @ (targets - targets.mean(axis=0))
        rows = slice(0 if self.offset is None else q, None)
        size = float(np.linalg.norm(whole[rows]) + np.linalg.norm(penalty[rows]))
        return float(np.linalg.norm((pull - penalty)[rows])) / size if size > 0.0 else 0.0

    def _majorised(self, state: State) -> tuple[Array, Array]:
        assert state.projection is not None
        weight, free = self.loss.majoriser(state.projection.squares)
        if not free.any():
            return self.weight * weight, self.X
        residual = self.X - state.surface(state.projection.latent)
        return self.weight * weight, self.X - free[:, None] * residual

    def _projected(
        self, surface: Surface, theta: Array, lam: float, start: Array | None, steps: int
    ) -> State:
        found = surface.project(self.X, self.finer, start, steps)
        loss = float(self.weight @ self.loss.value(found.squares))
        objective = loss + 0.5 * lam * float(np.einsum("ij,ij->", theta, theta))
        return State(surface, theta, found, math.nan, objective)


@dataclass(frozen=True)
class SoftAlternation(Alternation):
    """Every point is shared by all points of a grid. `noise`: the variance, None to estimate it."""

    noise: float | None

    def start(self, functions_coef: Array, theta: Array, lam: float) -> State:
        """Return the state of given coefficients."""
        surface = self.surface(functions_coef, theta)
        noise = self.noise
        if noise is None:  # what the start leaves, at least half the spacing of its points
            points = surface(self.grid)
            gaps = squared_lengths(points - np.roll(points, 1, axis=0))
            squares = surface.project(self.X, 1).squares
            left = float(self.weight @ squares) / (self.weight.sum() * self.X.shape[1])
            noise = max(left, 0.25 * float(np.median(gaps)), 1e-300)
        return self._measured(surface, theta, noise, lam)

    @property
    def grid(self) -> Array:
        """The points b_g."""
        return self.domain.search_grid(self.finer)

    def adapted(self, state: State, lam: float) -> Array:
        """Return the variables after one step of expectation maximisation."""
        shares = self.shares(state.surface, state.noise)
        design = self.features.design(self.grid)
        functions_coef, theta = self.regression(design, shares.mass, shares.sums, lam)
        surface = self.surface(functions_coef, theta)
        noise = state.noise
        if self.noise is None:
            # Squared distances to the new centres, from the moments of the old shares.
            points = surface(self.grid)
            squares = (
                float(self.weight @ squared_lengths(self.X))
                - 2.0 * float(np.einsum("ij,ij->", points, shares.sums))
                + float(shares.mass @ squared_lengths(points))
            )
            left = squares + 0.5 * lam * float(np.einsum("ij,ij->", theta, theta))
            smallest = 1e-12 * float(np.abs(self.X).max()) ** 2
            noise = max(left / (self.weight.sum() * self.X.shape[1]), smallest, 1e-300)
        parts = [functions_coef.ravel(), theta.ravel(), np.array([math.log(noise)])]
        return np.concatenate(parts)

    def at(self, vector: Array, before: State, lam: float) -> State:
        """Return the state of given variables."""
        functions_coef, theta, noise = self.split(vector)
        if self.noise is not None:
            noise = self.noise
        return self._measured(self.surface(functions_coef, theta), theta, noise, lam)

    def finished(self, state: State, lam: float) -> State:
        """Return the state as it is."""
        return state

    def slope(self, state: State, lam: float) -> float:
        """Return the gradient of the objective by theta, relative to the size of its terms."""
        shares = self.shares(state.surface, state.noise)
        q = self.features.n_functions
        design = self.features.design(self.grid)[:, q:]
        pull = 2.0 * design.T @ (shares.sums - shares.mass[:, None] * state.surface(self.grid))
        mean = self.weight @ self.X / self.weight.sum()
        whole = 2.0 * design.T @ (shares.sums - shares.mass[:, None] * mean)
        penalty = lam * state.theta
        size = float(np.linalg.norm(whole) + np.linalg.norm(penalty))
        return float(np.linalg.norm(pull - penalty)) / size if size > 0.0 else 0.0

    def shares(self, surface: Surface, noise: float) -> Shares:
        """Return what the shares of all points add up to."""
        points = surface(self.grid)
        mass, sums = np.zeros(len(points)), np.zeros_like(points)
        squares = log_mean = 0.0
        step = max(1, _VALUES // len(points))
        for first in range(0, len(self.X), step):
            rows = slice(first, first + step)
            R, distances, logs = responsibilities(self.X[rows], points, noise)
            R *= self.weight[rows][:, None]
            mass += R.sum(axis=0)
            sums += R.T @ self.X[rows]
            squares += float(np.einsum("ij,ij->", R, distances))
            log_mean += float(self.weight[rows] @ logs)
        return Shares(mass, sums, squares, log_mean)

    def _measured(self, surface: Surface, theta: Array, noise: float, lam: float) -> State:
        shares = self.shares(surface, noise)
        penalty = 0.5 * lam * float(np.einsum("ij,ij->", theta, theta))
        objective = penalty - 2.0 * noise * shares.log_mean
        if self.noise is None:
            freedom = float(self.weight.sum()) * self.X.shape[1]
            objective = objective / (2.0 * noise) + 0.5 * freedom * math.log(2 * math.pi * noise)
        return State(surface, theta, None, noise, objective)


def responsibilities(X: Array, points: Array, noise: float) -> tuple[Array, Array, Array]:
    """Return shares (n, G) of points, squared distances, and log-means of the exponentials."""
    distances = squared_lengths(X)[:, None] - 2.0 * X @ points.T + squared_lengths(points)
    np.maximum(distances, 0.0, out=distances)
    exponents = -distances / (2.0 * noise)
    largest = exponents.max(axis=1, keepdims=True)
    R = np.exp(exponents - largest)
    totals = R.sum(axis=1, keepdims=True)
    logs = largest[:, 0] + np.log(totals[:, 0] / len(points))
    return R / totals, distances, logs
