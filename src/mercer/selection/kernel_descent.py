"""Many kernel parameters at once, by gradient descent on a criterion without validation data.

With a parameter for each column (``RBF(gamma=[...])``, ``bind`` makes one of a single gamma) the
search selects features: the width of a column without information grows until the column has no
influence. The criteria are in `mercer.selection.kernel_criteria`; the search is quasi-Newton
(L-BFGS-B) on the logarithms of the parameters and, for the margin criteria, of C.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from mercer.gram.contraction import contracted
from mercer.kernels import Kernel
from mercer.kernels.first_argument import kernel_first
from mercer.kernels.hyperparameters import Hyperparameter, hyperparameters, with_theta
from mercer.objects.parameters import show
from mercer.run import Run

from .kernel_criteria import CRITERIA, Criterion

Array = NDArray[np.float64]

_COST_BOUNDS = (1e-4, 1e6)


@dataclass(frozen=True)
class KernelOptimum:
    """What :func:`optimise_kernel` found.

    Attributes
    ----------
    kernel : Kernel
        The kernel with its parameters.
    C : float or None
        The price of squared slack that goes with it (``SVC(penalty_norm=2)``); None for alignment.
    value, start_value : float
        The criterion there and where the search began.
    parameters : dict of str to float
        The values found, by name; entries of a sequence have their position in brackets.
    gradient : array
        Derivatives of the criterion by the logarithms of the parameters (and of C).
    history : list of float
        The criterion after each iteration.
    status : {"stationary", "iteration_limit", "time_limit"}
        Why the search ended. The criteria are not convex: it is a stationary point.
    seconds : float
        Time spent.

    Examples
    --------
    >>> from mercer.data import rings
    >>> from mercer.kernels import RBF
    >>> from mercer.selection import optimise_kernel
    >>> X, y = rings(40, random_state=0)
    >>> found = optimise_kernel(RBF(0.01), X, y, "alignment")
    >>> found.value < found.start_value, found.status
    (True, 'stationary')
    """

    kernel: Kernel
    C: float | None
    value: float
    start_value: float
    parameters: dict[str, float]
    gradient: Array
    history: list[float]
    status: str
    seconds: float

    def relevance(self, name: str = "gamma") -> Array:
        """Return a parameter with one entry for each column, relative to its largest entry.

        Parameters
        ----------
        name : str, default="gamma"
            The parameter, of which large values mean that a column matters.

        Returns
        -------
        array of shape (n_columns,)
            Numbers between 0 and 1.
        """
        values = np.array([v for k, v in self.parameters.items() if k.startswith(f"{name}[")])
        if not len(values):
            raise ValueError(f"{name!r} has no entry for each column; start from {name}=[...].")
        return np.asarray(values / values.max())


@kernel_first
def optimise_kernel(
    kernel: Kernel,
    X: Any,
    y: Any,
    criterion: str = "radius_margin",
    *,
    C: float | None = None,
    bounds: Any = None,
    max_iter: int = 100,
    tol: float = 1e-5,
    time_limit: float | None = None,
) -> KernelOptimum:
    """Minimise a criterion over all continuous parameters of a kernel, without validation data.

    Parameters
    ----------
    kernel : Kernel
        Where the search begins. Its continuous positive parameters with derivatives are changed,
        sequences entry by entry: ``RBF(gamma=[0.1] * d)`` has a width for each of d columns.
    X : objects
        Training objects.
    y : array-like of shape (n_X,)
        Labels of two classes; any labels or targets for "alignment".
    criterion : {"radius_margin", "span", "alignment"}, default="radius_margin"
        Squared radius over squared margin of the 2-norm soft margin; a smooth count of the
        leave-one-out errors by the span rule; 1 minus the centred kernel-target alignment.
    C : float, default=None
        Price of squared slack, held fixed. None starts at 1 and searches it together with the
        parameters. No part of "alignment".
    bounds : None, "fixed" or dict, default=None
        Bounds of parameters by name, as for a Gaussian process.
    max_iter : int, default=100
        Limit on the iterations.
    tol : float, default=1e-5
        Largest entry of the gradient of the logarithm of the criterion at which the search ends.
    time_limit : float, default=None
        Seconds after which the best point so far is returned.

    Returns
    -------
    KernelOptimum
        Kernel, C, value and history.

    Examples
    --------
    The second column is noise:

    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> from mercer.selection import optimise_kernel
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = optimise_kernel(RBF(gamma=[0.5, 0.5]), X, X[:, 0] > 0, "radius_margin", C=10.0)
    >>> found.relevance().round(2).tolist()
    [1.0, 0.0]
    """
    run = Run(time_limit)
    if criterion not in CRITERIA:
        names = ", ".join(map(repr, CRITERIA))
        raise ValueError(f"criterion must be one of {names}; got {show(criterion)}.")
    if C is not None and not 0.0 < C < math.inf:
        raise ValueError(f"C must be positive and finite; got {C!r}.")
    kernel, X = kernel.bound_to(X)
    y = np.asarray(y)
    entries, _ = hyperparameters(kernel, bounds)
    measure = CRITERIA[criterion]
    search = _Objective(kernel, X, y, measure, entries, C, run)
    if not search.start.size:
        raise ValueError(f"{kernel!r} has no continuous parameter with a derivative to search.")
    best, status = search.minimise(max_iter, tol)
    theta, value, gradient = best
    found = with_theta(kernel, entries, theta[: len(entries)]) if entries else kernel
    price: float | None = None
    if measure.needs_cost:
        price = C if C is not None else float(np.exp(theta[-1]))
    values = dict(zip([e.label for e in entries], np.exp(theta[: len(entries)]), strict=True))
    return KernelOptimum(
        found,
        price,
        value,
        search.history[0],
        {name: float(v) for name, v in values.items()},
        gradient,
        search.history,
        status,
        run.seconds,
    )


class _Objective:
    """The logarithm of a criterion as a function of the logarithms of the parameters."""

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        y: Any,
        measure: Criterion,
        entries: list[Hyperparameter],
        C: float | None,
        run: Run,
    ) -> None:
        self.kernel, self.X, self.y, self.measure = kernel, X, y, measure
        self.entries, self.C = entries, C
        self.searches_cost = measure.needs_cost and C is None
        self.run = run
        self.wanted = frozenset(entry.name for entry in entries)
        start = [entry.value for entry in entries] + [1.0] * self.searches_cost
        limits = [(entry.low, entry.high) for entry in entries]
        limits += [_COST_BOUNDS] * self.searches_cost
        self.start = np.log(np.array(start, dtype=np.float64))
        self.limits = np.log(np.reshape(limits, (-1, 2)))
        self.history: list[float] = []
        self.best: tuple[Array, float, Array] | None = None

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Return the criterion's logarithm and its gradient."""
        if self.best is not None:
            self.run.check()
        n = len(self.entries)
        kernel = with_theta(self.kernel, self.entries, theta[:n]) if n else self.kernel
        C = float(np.exp(theta[-1])) if self.searches_cost else (self.C or 1.0)
        found = self.measure(kernel, self.X, self.y, C)
        sums = contracted(kernel, self.X, found.weights, self.wanted) if n else {}
        slope = np.array(
            [
                float(sums[e.name] if e.position is None else sums[e.name][e.position])
                for e in self.entries
            ]
        )
        slope = slope * np.exp(theta[:n])
        if self.searches_cost:
            slope = np.append(slope, -0.5 / C * found.by_ridge)
        if not self.history:
            self.history.append(found.value)
        if self.best is None or found.value < self.best[1]:
            self.best = theta.copy(), found.value, slope
        size = max(found.value, 1e-300)
        return math.log(size), slope / size

    def minimise(self, max_iter: int, tol: float) -> tuple[tuple[Array, float, Array], str]:
        """Return the best point with its value and gradient, and why the search ended."""

        def note(_: Array) -> None:
            assert self.best is not None
            self.history.append(self.best[1])

        status = "stationary"
        minimise: Callable[..., Any] = scipy.optimize.minimize
        with self.run.until_stopped():
            result = minimise(
                self,
                self.start,
                jac=True,
                method="L-BFGS-B",
                bounds=self.limits,
                callback=note,
                options={"maxiter": max_iter, "gtol": tol, "ftol": 1e-12},
            )
            if result.status == 1:
                status = "iteration_limit"
        self.run.raise_interrupt()
        assert self.best is not None
        return self.best, self.run.status or status
