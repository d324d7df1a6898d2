"""Search for the hyper-parameters of largest evidence: L-BFGS-B from several starting points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer.objects.callers import warn_caller
from mercer.run import Run

Array = NDArray[np.float64]
Objective = Callable[..., Any]

Stop = Callable[[], bool]
"""To be called between the steps of an evaluation. After the time limit it ends the search; in the
first evaluation, whose result is needed, it returns True instead."""

Point = tuple[float, Callable[[], Array | None], Any]
"""The objective, a function that computes its gradient (None: there is none, and the point is of
no use), and what both were computed from."""


# L-BFGS-B creeps along the flat directions of irrelevant columns and then gains again: one small
# gain is a reason to stop only where the slope has vanished too, or at the objective's rounding.
_PRECISION = 2.2e-9  # gain of the last iterations, relative to the objective: SciPy's, for one
_STEPS = 3
_FLAT = 1e-4  # projected slope at which one small gain suffices
_ROUNDING = 1e-11  # gain of one iteration, on any slope
_NOISE = 1e-10  # difference of two values that says nothing: the smaller slope is the better point
_EVALUATIONS = 5  # without a change of the value, which is all that a line search may spend on it


class _NoGainError(Exception):
    """Ends one run of the optimiser on a plateau, where line searches see rounding alone."""


class _Gains:
    """Values along one run of L-BFGS-B, which stop it where the last iterations gained little."""

    def __init__(self, precision: float = _PRECISION) -> None:
        self.values: list[float] = []
        self.slope = np.inf
        self.level, self.still, self.precision = -np.inf, 0, precision

    def note(self, value: float, slope: float) -> None:
        """Keep the value of the start and the slope of the latest point; end on a plateau."""
        self.slope = slope
        if not self.values:
            self.values.append(value)
        self.still += 1
        if not abs(value - self.level) <= self.precision * max(abs(value), 1.0):
            self.level, self.still = max(value, self.level), 0
        if self.still >= _EVALUATIONS:
            raise _NoGainError

    def __call__(self, intermediate_result: scipy.optimize.OptimizeResult) -> None:
        value = -float(intermediate_result.fun)
        self.values.append(value)
        earlier = self.values[: -1 if self.slope <= _FLAT else -_STEPS]
        if earlier and value - earlier[-1] <= _PRECISION * max(abs(value), 1.0):
            raise StopIteration


@dataclass
class Found:
    """The best hyper-parameters and how they were found.

    `theta`: the hyper-parameters. `value`: the objective there. `gradient`: its gradient. `slope`:
    the largest entry of the projected gradient. `n_iter`: evaluations. `status`: "stationary",
    "iteration_limit", "time_limit" or "interrupted". `at`: what the objective returned with the
    value, from which the model is made without another search for it; None where nothing was.
    """

    theta: Array
    value: float = -np.inf
    gradient: Array | None = None
    slope: float = np.inf
    n_iter: int = 0
    status: str = "stationary"
    at: Any = None

    def violation(self, bounds: Array, gradient: Callable[[], Array]) -> float:
        """Return the largest entry of the projected gradient, NaN where a stop left it unknown.

        `gradient`: computes it where the optimiser did not ask for it.
        """
        slope = self.gradient
        if slope is None:
            if self.status in ("time_limit", "interrupted"):
                return np.nan
            slope = gradient()
        return float(np.abs(projected_gradient(self.theta, slope, bounds)).max(initial=0.0))


def projected_gradient(theta: Array, gradient: Array, bounds: Array) -> Array:
    """Return the gradient of a maximisation, without what points out of the bounds."""
    inside = np.where(gradient < 0, theta > bounds[:, 0], theta < bounds[:, 1])
    return np.where(inside, gradient, 0.0)


NOWHERE: Point = (-np.inf, lambda: None, None)
"""Where the objective has no value."""


def evaluated(point: Point, size: int, gradient: bool) -> tuple[float, Array]:
    """Return the value of a point and its gradient, which is 0 where there is or is asked none."""
    value, slope = point[0], point[1]() if gradient else None
    if slope is None:
        return (-np.inf if gradient else value), np.zeros(size)
    return value, slope


def unhurried() -> bool:
    """Return that there is no reason to stop."""
    return False


def maximise(
    objective: Callable[[Array, Stop], Point],
    starts: list[Array],
    bounds: Array,
    optimizer: Any,
    run: Run,
    plain: Objective | None = None,
    precision: float | None = None,
    units: Array | None = None,
) -> Found:
    """Return the best point that is reached from any of the starting points.

    `objective`: (theta, stop) -> point, to be maximised. `starts`: starting points. `bounds`:
    bounds on theta. `optimizer`: A callable has scikit-learn's signature and minimises: (obj_func,
    initial_theta, bounds) -> (theta, value). `run`: its steps are evaluations, of which one takes
    place in any case. `plain`: minus the objective, for a callable optimizer.
    `precision`: relative gain of one iteration at which L-BFGS-B stops; default: 2.2e-9 on flat
    ground, else in three iterations together.
    `units`: L-BFGS-B moves in units * theta; default: 1 for each entry.
    """
    units = np.ones(len(bounds)) if units is None else units
    low, high = bounds.T
    best = Found(starts[0])
    gains = _Gains()

    def stop() -> bool:
        if best.n_iter:
            run.check()
        return run.over

    def negative(point: Array) -> tuple[float, Array]:
        nonlocal best
        stop()
        theta = np.minimum(np.maximum(point / units, low), high)
        value, slope_there, at = objective(theta, stop)
        best.n_iter += 1
        before = best
        noise = _NOISE * max(abs(best.value), 1.0) if np.isfinite(best.value) else 0.0
        if value > best.value + noise:
            best = replace(best, theta=theta, value=value, gradient=None, slope=np.inf, at=at)
        stop()
        gradient = slope_there()
        if gradient is None:
            best, value, gradient = before, -np.inf, np.zeros(len(theta))
        slope = float(np.abs(projected_gradient(theta, gradient, bounds)).max(initial=0.0))
        if np.isfinite(value) and value >= best.value - noise and slope < best.slope:
            best = replace(best, theta=theta, value=value, gradient=gradient, slope=slope, at=at)
        gains.note(value, slope)
        run.report(best.n_iter, slope, value, active=len(theta))
        run.check()
        return -value, -gradient / units

    with run.until_stopped():
        for start in starts:
            if callable(optimizer):
                theta, value = optimizer(plain, start, bounds=bounds)
                if -value > best.value:
                    best = replace(best, theta=np.array(theta), value=-value)
                continue
            gains = _Gains(_PRECISION if precision is None else precision)
            try:
                result = scipy.optimize.minimize(
                    negative,
                    units * start,
                    method="L-BFGS-B",
                    jac=True,
                    bounds=units[:, None] * bounds,
                    callback=gains if precision is None else None,
                    options={"ftol": _ROUNDING if precision is None else precision},
                )
            except _NoGainError:
                continue
            if result.status == 1:  # of SciPy: too many evaluations
                best.status = "iteration_limit"
                warn_caller(
                    f"the evidence search stopped at its limit of iterations: {result.message}",
                    ConvergenceWarning,
                )
    return replace(best, status=run.status or best.status)


def warn_of_bounds(labels: list[tuple[str, int | None]], theta: Array, bounds: Array) -> None:
    """Warn of every parameter at a bound, with an explanation."""
    close = np.isclose(theta[:, None], bounds, atol=1e-5) & (bounds[:, :1] < bounds[:, 1:])
    for (name, i), at, ends in zip(labels, close, bounds, strict=True):
        for reached, bound, side, change in zip(at, ends, *_SIDES, strict=True):
            if reached:
                meaning = _MEANINGS.get((name.rpartition("__")[2], side))
                warn_caller(
                    f"The optimal value found for dimension {i or 0} of parameter {name} is close "
                    f"to the specified {side} bound {float(f'{np.exp(bound):.12g}')}. {change} the "
                    "bound and calling fit again may find a better value."
                    + ("" if meaning is None else f" {meaning}"),
                    ConvergenceWarning,
                )


_SIDES = (("lower", "upper"), ("Decreasing", "Increasing"))
_MEANINGS = {
    ("gamma", "lower"): "Or the targets hardly depend on these columns, or are linear in them: "
    "leave the columns out, or use a Linear kernel.",
    ("gamma", "upper"): "Or every sample is uncorrelated with the others: the kernel explains "
    "nothing but noise.",
    ("noise", "lower"): "Or the targets have no noise.",
    ("noise", "upper"): "Or the targets are noise only.",
    ("scale", "lower"): "Or this part of the kernel is not needed.",
}
