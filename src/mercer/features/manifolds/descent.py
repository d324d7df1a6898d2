"""Fixed point iterations that never raise an objective: acceleration, limits, reports, Ctrl-C.

Alternating minimisation is slow where the manifold moves along itself. Anderson acceleration
extrapolates from the last few iterates (D. Anderson, "Iterative procedures for nonlinear integral
equations", J. ACM 12, 1965; H. Walker, P. Ni, SIAM J. Numer. Anal. 49, 2011); a point whose
objective is not lower is dropped in favour of the plain step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from mercer.objects.arrays import Array
from mercer.objects.callers import warn_caller
from mercer.run import Run

_MEMORY = 6  # iterates from which the next one is extrapolated
_ROUNDING = 1e-14  # relative decrease of an objective that is none


class FixedPoint(Protocol):
    """An iteration: variables of a state, the map on them, and the state of given variables."""

    def vector(self, state: Any) -> Array: ...  # noqa: D102

    def adapted(self, state: Any, lam: float) -> Array: ...  # noqa: D102

    def at(self, vector: Array, before: Any, lam: float) -> Any: ...  # noqa: D102


class Accelerated:
    """Steps of a fixed point iteration with Anderson acceleration."""

    def __init__(self, iteration: FixedPoint, lam: float) -> None:
        self.iteration, self.lam = iteration, lam
        self._images: list[Array] = []
        self._residuals: list[Array] = []

    def __call__(self, state: Any) -> Any:
        """Return the next state, whose objective is not higher but for rounding."""
        image = self.iteration.adapted(state, self.lam)
        self._images.append(image)
        self._residuals.append(image - self.iteration.vector(state))
        if len(self._images) > _MEMORY:
            del self._images[0], self._residuals[0]
        if len(self._images) > 1:
            new = self.iteration.at(self._extrapolated(), state, self.lam)
            if new.objective <= state.objective:
                return new
            del self._images[:], self._residuals[:]
        return self.iteration.at(image, state, self.lam)

    def _extrapolated(self) -> Array:
        """Return the image of the combination of iterates with the smallest residual."""
        F, G = np.stack(self._residuals, axis=1), np.stack(self._images, axis=1)
        dF, dG = np.diff(F, axis=1), np.diff(G, axis=1)
        share = scipy.linalg.lstsq(dF, F[:, -1], cond=1e-10)[0]
        return np.asarray(G[:, -1] - dG @ share)


class Descent(NamedTuple):
    """The outcome: the last state, the objectives from the start on, and why it ended."""

    state: Any
    path: list[float]
    status: str

    @property
    def ended(self) -> bool:
        """Whether someone or something ended it before it came to rest."""
        return self.status in ("time_limit", "interrupted")


def descend(state: Any, step: Callable[[Any], Any], tol: float, run: Run) -> Descent:
    """Repeat a step until the objective falls by no more than tol, relative to its size.

    `state`: has the attribute objective. A step that lowers it by rounding alone is not taken:
    chance would decide, and differently for weighted and for repeated rows.
    """
    path = [state.objective]
    while True:
        with run.until_stopped():
            new = step(state)
            change = state.objective - new.objective
            size = max(abs(new.objective), abs(change), 1e-300)
            run.stop(len(path), change / size, objective=new.objective)
        if run.by_keyboard:
            return Descent(state, path, "interrupted")
        if change <= _ROUNDING * size:
            return Descent(state, path, "stationary")
        state = new
        path.append(new.objective)
        if change <= tol * size:
            return Descent(state, path, "stationary")
        if run.status is not None:
            return Descent(state, path, run.status)


def warn_of(status: str, name: str) -> None:
    """Warn where a limit ended the descent."""
    if status in ("iteration_limit", "time_limit"):
        warn_caller(
            f"{name} ended by its {status.replace('_', ' ')} while the objective still fell; "
            "increase max_iter or time_limit, or accept a larger tol.",
            ConvergenceWarning,
        )
