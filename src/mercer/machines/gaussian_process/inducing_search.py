"""The search for hyper-parameters and inducing points that maximise Titsias' bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mercer.gram.shifted import NotDefiniteError
from mercer.objects.parameters import ParameterError
from mercer.objects.validation import count, take
from mercer.run import Run

from .covariance import Covariance
from .inducing_bound import BoundValue, Reduced, bound_gradient, lower_bound
from .inducing_points import choose_inducing
from .search import NOWHERE, Found, Point, Stop, maximise, projected_gradient

Array = NDArray[np.float64]

_FIRST = 4000  # rows of the first search, or 10 for each inducing point, if there are many more
_ROUNDS = 3  # choices of inducing points, at the start and for the hyper-parameters found
_BETTER = 1e-4  # of the bound: what a new choice of points has to gain for a further search


class Samples:
    """Training objects, targets (n, t) and the part of the noise that is not optimised."""

    def __init__(self, X: Any, Y: Array, alpha: Array) -> None:
        self.X, self.Y, self.alpha = X, Y, alpha

    def take(self, rows: NDArray[np.intp]) -> Samples:
        """Return some of the samples."""
        return Samples(take(self.X, rows), self.Y[rows], self.alpha[rows])

    def bound(self, covariance: Covariance, Z: Any) -> BoundValue:
        """Return Titsias' bound."""
        noise = self.alpha + covariance.white(self.X) + (covariance.noise or 0.0)
        if not noise.min() > 0.0:
            raise ParameterError("inducing points need noise: give alpha > 0 or noise.")
        return lower_bound(Reduced(covariance, self.X, Z, noise), self.Y)


class InducingSearch:
    """The search for hyper-parameters and inducing points.

    With many samples, a subset is searched first, which leads close to the optimum at a fraction of
    the cost; the inducing points are chosen again for the hyper-parameters found.

    `covariance`, `samples`: the best hyper-parameters so far, and all samples. `at`: the bound
    there. `positions`: of the inducing points among the samples. `found`: the last search; None
    where nothing is optimised.
    """

    def __init__(self, model: Any, covariance: Covariance, samples: Samples, run: Run) -> None:
        self.model, self.covariance, self.samples, self._run = model, covariance, samples, run
        self.rng = check_random_state(model.random_state)
        self.found: Found | None = None
        self.n_iter = 0
        self.positions: NDArray[np.intp] | None = None
        self.Z: Any = None
        self.at: Any = None
        self._slope: Array | None = None

    @property
    def ended(self) -> bool:
        """Whether the last search was stopped, so that there is to be no other one."""
        return self.found is not None and self.found.status != "stationary"

    def run(self) -> None:
        """Search, and evaluate the bound of all samples where the search ends."""
        self.choose()
        n, first = count(self.samples.X), max(_FIRST, 10 * count(self.Z))
        searched = self.model.optimizer is not None and len(self.covariance.bounds) > 0
        restarts = True
        if searched and n > 4 * first:
            rows = np.sort(self.rng.choice(n, first, replace=False))
            self.search(self.samples.take(rows), restarts)
            restarts = False
            self.choose()
        for k in range(_ROUNDS):
            if not searched or self.ended:
                break
            self.search(self.samples, restarts)
            restarts = False
            if self.ended or k == _ROUNDS - 1 or not self.choose_better():
                break
        if self.model.optimize_inducing and self.model.optimizer is not None and not self.ended:
            self.move()
        if self.at is None:
            self.at = self.samples.bound(self.covariance, self.Z)

    def choose(self) -> None:
        """Choose inducing points for the present hyper-parameters."""
        m = self.model.n_inducing
        self.positions = choose_inducing(self.covariance, self.samples.X, m, self.rng)
        self.Z, self.at = take(self.samples.X, self.positions), None

    def choose_better(self) -> bool:
        """Choose inducing points again; return whether that gains enough for another search."""
        before = self.positions, self.Z, self.at
        value = self.found.value if self.found is not None else -np.inf
        self.choose()
        self.at = self.samples.bound(self.covariance, self.Z)
        gain = self.at.value + self.prior(self.covariance)[0] - value
        if gain <= 0.0:
            self.positions, self.Z, self.at = before
        return bool(gain > _BETTER * abs(value))

    def prior(self, covariance: Covariance) -> tuple[float, Any]:
        """Return the log density of the hyper-parameters and its gradient."""
        if self.model.log_prior is None:
            return 0.0, 0.0
        density, slope = self.model.log_prior(covariance.theta)
        return float(density), np.asarray(slope)

    def search(self, samples: Samples, restarts: bool) -> None:
        """Maximise the bound of some samples by the hyper-parameters."""

        def point(covariance: Covariance, stop: Stop) -> Point:
            try:
                at = samples.bound(covariance, self.Z)
            except (NotDefiniteError, FloatingPointError):
                return NOWHERE
            density, prior_slope = self.prior(covariance)
            return (
                at.value + density,
                lambda: bound_gradient(at, samples.Y)[0] + prior_slope,
                at if samples is self.samples else None,
            )

        found = self.model._search(self.covariance, point, self._run, self.rng, restarts)
        self._take(found)
        self.covariance, self.at = self.covariance.with_theta(found.theta), found.at
        self._slope = found.gradient if samples is self.samples else None

    def move(self) -> None:
        """Maximise the bound by the hyper-parameters and the inducing points."""
        p, shape = len(self.covariance.theta), self.Z.shape
        samples = self.samples

        def objective(point: Array, stop: Stop) -> Point:
            covariance, Z = self.covariance.with_theta(point[:p]), point[p:].reshape(shape)
            try:
                at = samples.bound(covariance, Z)
            except (NotDefiniteError, FloatingPointError):
                return NOWHERE
            density, prior_slope = self.prior(covariance)

            def gradient() -> Array:
                theta, moved = bound_gradient(at, samples.Y, positions=True)
                assert moved is not None
                return np.concatenate([theta + prior_slope, moved.ravel()])

            return at.value + density, gradient, at

        start = np.concatenate(
            [self.covariance.theta, np.asarray(self.Z, dtype=np.float64).ravel()]
        )
        free = np.full((len(start) - p, 2), np.inf) * [-1.0, 1.0]
        bounds = np.concatenate([self.covariance.bounds, free])
        found = maximise(objective, [start], bounds, "fmin_l_bfgs_b", self._run.branch())
        self._take(found)
        self.covariance = self.covariance.with_theta(found.theta[:p])
        self.Z, self.positions, self.at = found.theta[p:].reshape(shape), None, found.at
        if found.gradient is None:
            self._slope = None
        else:
            self._slope = projected_gradient(found.theta, found.gradient, bounds)

    def _take(self, found: Found) -> None:
        self.found = found
        self.n_iter += found.n_iter

    def outcome(self) -> tuple[str, float, int]:
        """Return status, projected gradient and number of evaluations for the certificate."""
        if self.found is None:
            return "optimal", 0.0, 0
        slope = self._slope
        if slope is None and self.ended:
            return self.found.status, np.nan, self.n_iter
        if slope is None:
            slope = bound_gradient(self.at, self.samples.Y)[0] + self.prior(self.covariance)[1]
        p = len(self.covariance.bounds)
        steep = projected_gradient(self.covariance.theta, slope[:p], self.covariance.bounds)
        moved = np.abs(slope[p:]).max(initial=0.0)
        return self.found.status, float(max(np.abs(steep).max(initial=0.0), moved)), self.n_iter
