"""The smallest ball in feature space that holds all objects.

DualProblem: minimise R^2 subject to |phi(x_i) - c|^2 <= R^2. With the centre c = sum_i a_i phi(x_i)
its dual is

    maximise  sum_i a_i k(x_i, x_i) - a'Ka   subject to  a_i >= 0,  sum_i a_i = 1

(B. Schoelkopf, C. Burges, V. Vapnik, "Extracting support data for a given task", KDD 1995). The
library's decomposition solver takes it as minimise 1/2 a'Ka - 1/2 sum_i k(x_i, x_i) a_i with one
group. Any a of the simplex gives a ball that holds all objects, whose squared radius
P(a) = a'Ka + max_i (k(x_i, x_i) - 2 (Ka)_i) is at least the optimum, and a dual value D(a) that is
at most the optimum, so sqrt(D) <= smallest radius <= sqrt(P) is proved by the numbers themselves.

All of this needs a'Ka >= 0 for all a that sum to 0. Matrices and functions of the user are searched
for negative curvature (`mercer.solvers.curvature`); where it is found there is no ball and no gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mercer.gram import Gram, refuse_asymmetric_sample
from mercer.kernels.base import Kernel
from mercer.kernels.first_argument import kernel_first
from mercer.objects.arrays import Array
from mercer.objects.callers import warn_caller
from mercer.objects.parameters import positive, real
from mercer.objects.validation import take
from mercer.run import Run
from mercer.solvers import Certificate, DualProblem, Settings, Solution, solve
from mercer.solvers.centring import centring
from mercer.solvers.curvature import Curvature, look_for_negative_curvature
from mercer.solvers.prove import bounded
from mercer.solvers.rounding import UNIT, estimated, value_sizes

from .functions import RKHSFunction, cross_gram_product
from .squared_lengths import require_distances, squared_distances

_SEEN = 0.1  # rounding, relative to the accepted gap, that keeps the solver from it
_NOTHING = 256.0 * UNIT  # a squared radius this small beside k(x, x) is none
_FIFTH, _NATIVE_VALUE = 0.2, 1e-8  # of the time of a fit, for curvature; seconds for a value
_TO_CENTRE = "the squared distance of x_{0} to the centre"
_ATTEMPTS = 4  # each with a tolerance a hundred times finer than the one before


@dataclass(frozen=True)
class Ball:
    """A ball that holds all objects, made by :func:`smallest_enclosing_ball`.

    Attributes
    ----------
    kernel : Kernel
        The kernel, bound.
    coef : ndarray of shape (n,)
        The coefficients of the centre, non-negative with sum 1.
    support : ndarray of int
        Positions of the objects with a coefficient, which lie on the sphere.
    support_objects : objects
        These objects; for a precomputed kernel their positions.
    radius : float
        The radius: all objects are inside, up to rounding.
    lower_bound : float
        No ball with a smaller radius than this holds all objects; 0 where the kernel matrix is not
        positive semidefinite.
    centre_norm2 : float
        The squared length of the centre.
    certificate : Certificate
        Primal value (the squared radius), dual value and their gap.

    Examples
    --------
    >>> from mercer.geometry import smallest_enclosing_ball
    >>> from mercer.kernels import Linear
    >>> ball = smallest_enclosing_ball(Linear(), [[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> round(ball.radius, 6), ball.support.tolist()
    (1.0, [0, 1])
    """

    kernel: Kernel
    coef: Array
    support: NDArray[np.intp]
    support_objects: Any
    radius: float
    lower_bound: float
    centre_norm2: float
    certificate: Certificate

    @property
    def centre(self) -> RKHSFunction:
        """The centre, a point of feature space."""
        return RKHSFunction(self.kernel, self.support_objects, self.coef[self.support])

    def distance(self, X: Any) -> Array:
        """Return the distances of objects to the centre; at most `radius` for those of the ball.

        The values k(x, x) of new objects are needed, which a precomputed matrix does not hold.
        """
        if self.kernel.pairwise:
            raise ValueError(
                "a precomputed matrix of new objects does not hold k(x, x), so there is no "
                "distance to the centre; use a kernel on objects."
            )
        X = self.kernel.validate(X)
        weight = self.coef[self.support]
        values = cross_gram_product(self.kernel, X, self.support_objects, weight)
        squares = self.kernel.diag(X), values, self.centre_norm2
        return np.sqrt(squared_distances(*squares, self.kernel, _TO_CENTRE))


@kernel_first
def smallest_enclosing_ball(
    kernel: Kernel, X: Any, *, tol: float = 1e-6, n_jobs: int | None = None
) -> Ball:
    """Return the smallest ball in feature space that holds all objects.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel, or one that is conditionally so; bound to `X` if it has
        to be.
    X : objects
        The objects; for a precomputed kernel its matrix.
    tol : float > 0, default=1e-6
        Largest duality gap, relative to the squared radius.
    n_jobs : int, optional
        Threads; None for all cores that the process may use.

    Returns
    -------
    Ball
        Centre and radius with their proof.

    Examples
    --------
    >>> from mercer.geometry import smallest_enclosing_ball
    >>> from mercer.kernels import Linear
    >>> ball = smallest_enclosing_ball(Linear(), [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.5]])
    >>> round(ball.radius, 6), ball.coef.round(6).tolist(), ball.certificate.status
    (1.0, [0.5, 0.5, 0.0], 'optimal')
    """
    kernel, X = kernel.bound_to(X)
    found = solve_ball(kernel, X, 0.0, tol, n_jobs)
    support = np.flatnonzero(found.coef)
    return Ball(
        kernel,
        found.coef,
        support,
        support.astype(np.int64) if kernel.pairwise else take(X, support),
        math.sqrt(max(found.primal, 0.0)),
        0.0 if found.refuted else math.sqrt(max(found.dual, 0.0)),
        found.centre,
        certificate_of(found, tol),
    )


@kernel_first
def squared_radius(kernel: Kernel, X: Any, *, shift: float = 0.0, tol: float = 1e-6) -> float:
    """Return the squared radius of the smallest ball, with a coordinate more for every object.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel, bound to `X` if it has to be.
    X : objects
        The objects; for a precomputed kernel its matrix.
    shift : float >= 0, default=0.0
        The length of the coordinate that every object gets for itself; see
        :func:`mercer.geometry.shifted_gram`, whose matrix is not built here.
    tol : float > 0, default=1e-6
        Largest duality gap, relative to the squared radius.

    Returns
    -------
    float
        The squared radius, too large by at most the gap.

    Examples
    --------
    >>> from mercer.geometry import squared_radius
    >>> from mercer.kernels import Linear
    >>> round(squared_radius(Linear(), [[-1.0], [1.0]], shift=2.0), 6)
    3.0
    """
    kernel, X = kernel.bound_to(X)
    shift = real(shift, "shift", minimum=0)
    found = solve_ball(kernel, X, shift * shift, tol, None)
    status = certificate_of(found, tol).status
    if status not in ("optimal", "stationary"):
        warn_caller(
            f"the smallest ball was not found to tol={tol:g} ({status}): its squared radius lies "
            f"between {max(found.dual, 0.0):.6g} and {max(found.primal, 0.0):.6g}. Rows far from "
            "the origin, or nearly equal in feature space, leave no more digits; use a larger tol, "
            "or scale the columns.",
            ConvergenceWarning,
        )
    return max(found.primal, 0.0)


class Found(NamedTuple):
    """The centre of a ball with primal and dual value, before it is called a ball."""

    coef: Array
    primal: float
    dual: float
    centre: float
    solution: Solution
    rounding: float
    largest: float  # k(x, x)
    curvature: Curvature | None = None  # of a user's kernel; None: definiteness is a theorem

    @property
    def refuted(self) -> bool:
        """Whether the kernel matrix is not positive semidefinite."""
        return self.curvature is not None and self.curvature.negative is not None


def solve_ball(
    kernel: Kernel,
    X: Any,
    ridge: float,
    tol: float,
    n_jobs: int | None,
    price: Array | None = None,
    run: Run | None = None,
) -> Found:
    """Solve the dual for the kernel matrix with ``ridge`` added to its diagonal.

    With a `price`, objects may lie outside: minimise R^2 + sum_i price_i max(0, d_i^2 - R^2), whose
    dual has the bounds a_i <= price_i. The prices must sum to at least 1.

    The coefficients sum to 1, so that a translation changes nothing but the centre: dot products
    are taken of centred rows. `run`: its limits hold for all attempts, and the best ball so far is
    returned after Ctrl-C; without one KeyboardInterrupt is raised. Primal and dual value include
    what rounding can contribute.
    """
    positive(tol, "tol")
    require_distances(kernel)
    moved = centring(kernel, X, True)
    rows = X if moved is None else moved.rows
    gram = Gram(kernel, rows)
    refuse_asymmetric_sample(gram)
    exact = gram if gram.dtype == "float64" else Gram(kernel, rows, "float64")
    sizes = value_sizes(exact)
    plain = exact.diag()
    diagonal = plain + ridge
    problem = DualProblem(
        lower=np.zeros(gram.n),
        upper=np.ones(gram.n) if price is None else np.minimum(price, 1.0),
        slope_left=-0.5 * diagonal,
        curv_left=np.full(gram.n, ridge),
        group=np.zeros(gram.n, dtype=np.int64),
    )
    if price is None:
        start = np.zeros(gram.n)
        start[int(diagonal.argmax())] = 1.0
    else:
        start = price / price.sum()
    # A violation of v in the optimality conditions leaves a gap of at most 2 v.
    accepted = 0.5 * tol * max(_spread(exact, plain), ridge / 4.0, np.finfo(float).tiny)
    watch = Run() if run is None else run
    for attempt in range(_ATTEMPTS):
        settings = Settings(tol=accepted / 100.0**attempt, n_jobs=n_jobs)
        solution = solve(problem, gram, settings, start, run=watch.branch())
        if run is None:
            watch.raise_interrupt()
        coef = np.maximum(solution.beta, 0.0)
        coef /= coef.sum()
        values = exact.matmul(coef, n_jobs) + ridge * coef
        centre = float(coef @ values)
        error = estimated(sizes).of(coef, None, np.zeros(1, dtype=np.intp))
        error += 8.0 * UNIT * (np.abs(diagonal) + np.abs(values))
        of_centre = float(coef @ error)
        above, below = of_centre + 2.0 * float(error.max()), 2.0 * of_centre
        squares = diagonal - 2.0 * values + centre
        primal = penalised_radius(squares, price)[0] + above
        dual = float(coef @ diagonal) - centre - below
        ended = solution.status in ("time_limit", "interrupted")
        if ended or primal - dual <= tol * max(primal, 0.0):
            break
        gram, start = exact, np.minimum(coef, problem.upper)  # sums of 1 may round beyond it
    centre2 = centre - ridge * float(coef @ coef)
    squared_distances(plain, values - ridge * coef, centre2, kernel, _TO_CENTRE)
    if moved is not None:
        centre = float(coef @ Gram(kernel, X, "float64").matmul(coef, n_jobs))
    largest = float(np.abs(diagonal).max())
    curvature = _look_at_curvature(exact, coef, ridge, solution)
    return Found(coef, primal, dual, centre, solution, above + below, largest, curvature)


def _look_at_curvature(
    gram: Gram, coef: Array, ridge: float, solution: Solution
) -> Curvature | None:
    """Look for negative curvature of a user's kernel, None where definiteness is a theorem."""
    if gram.kernel.definiteness.order is not None and not gram.in_python:
        return None
    per_value = solution.seconds / max(solution.n_kernel_values, 1)
    found = look_for_negative_curvature(
        gram,
        np.flatnonzero(coef),
        sum_zero=True,
        seconds=_FIFTH * solution.seconds,
        value_seconds=per_value if gram.in_python else _NATIVE_VALUE,
    )
    if found.negative is None:
        return found
    if found.negative.eigenvalue >= -ridge:
        return Curvature(None, False)
    warn_caller(
        f"The kernel matrix is not positive semidefinite: it has an eigenvalue of at most "
        f"{found.negative.eigenvalue:.3g}, so that there is no feature space with a smallest ball. "
        "Use a positive semidefinite kernel, or add a constant larger than "
        f"{-found.negative.eigenvalue:.3g} to the diagonal of the matrix.",
        ConvergenceWarning,
    )
    return found


def penalised_radius(squares: Array, price: Array | None) -> tuple[float, float]:
    """Return the least value of R^2 + sum_i price_i max(0, d_i^2 - R^2), and its R^2.

    `squares`: the d_i^2. Without prices all objects are inside. Where an interval of R^2 is
    optimal, its middle is returned; with prices that sum to 1 it has no lower end, and the
    smallest d_i^2 is.
    """
    if price is None:
        largest = float(squares.max())
        return largest, largest
    order = np.argsort(-squares, kind="stable")
    falling, outside = squares[order], np.cumsum(price[order])
    # With R^2 = falling[j], at most outside[j - 1] is paid for; the slope changes sign there.
    j = int(np.searchsorted(outside, 1.0 - 1e-9))
    radius2 = float(falling[min(j, len(falling) - 1)])
    if j + 1 < len(falling) and outside[j] <= 1.0 + 1e-9:
        radius2 = 0.5 * (radius2 + float(falling[j + 1]))
    return radius2 + float(price @ np.maximum(squares - radius2, 0.0)), radius2


def _spread(gram: Gram, diagonal: Array) -> float:
    """Return a quarter of the largest squared distance to x_0: the squared radius is not less."""
    row = gram.tile([0])[0]
    what = "the squared distance of x_{0} to x_0"
    return 0.25 * float(squared_distances(diagonal[0], row, diagonal, gram.kernel, what).max())


def _status(found: Found, tol: float) -> str:
    """Return how the search for the ball ended."""
    status, gap = found.solution.status, found.primal - found.dual
    point = found.primal <= _NOTHING * found.largest  # all objects are one, up to rounding
    if point or gap <= tol * max(found.primal, 0.0):
        return "optimal" if status in ("iteration_limit", "time_limit") else status
    if status not in ("optimal", "iteration_limit"):
        return status
    limited = found.rounding > _SEEN * tol * max(found.primal, 0.0)
    return "precision_limit" if limited else "iteration_limit"


def certificate_of(found: Found, tol: float) -> Certificate:
    """Return the proof of a ball."""
    solution, looked = found.solution, found.curvature
    convexity, eigenvalue = "theorem", None
    if looked is not None:
        convexity = "checked" if looked.complete else "not ruled out"
        if looked.negative is not None:
            convexity, eigenvalue = "refuted", looked.negative.eigenvalue
    return bounded(
        _status(found, tol),
        found.primal,
        found.dual,
        violation=solution.kkt_violation,
        rounding=found.rounding,
        convexity=convexity,
        assumes=None if convexity == "theorem" else "psd",
        eigenvalue=eigenvalue,
        n_iter=solution.n_iter,
        n_kernel_values=solution.n_kernel_values,
        seconds=solution.seconds,
        precision="float64",
    )
