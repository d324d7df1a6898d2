"""The whole regularisation path of a machine: all solutions over C, or over nu, exactly.

The dual solution of a support vector machine is a piecewise linear function of C (T. Hastie, S.
Rosset, R. Tibshirani, J. Zhu, "The entire regularization path for the support vector machine", JMLR
5, 2004), and that of the nu machines of nu. Between two breakpoints nothing changes but the slope
of a straight line, so that a few times n linear systems give the machines for every value. In the
signed coefficients b_i of f = sum_i b_i k(x_i, .) + b the problems are

    SVC          minimise 1/2 b'Kb - y'b    0 <= y_i b_i <= C s_i,   sum b_i = 0
    NuSVC        minimise 1/2 b'Kb          0 <= y_i b_i <= s_i,     sum over each class = +- nu W/2
    OneClassSVM  minimise 1/2 b'Kb          0 <= b_i <= s_i,         sum b_i = nu W

with weights s_i and their sum W. The kernel matrix is held whole; the method is for up to a few
thousand rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.expansion import Expansion
from mercer.machines import SVC, NuSVC, OneClassSVM
from mercer.objects.validation import take
from mercer.run import stopwatch
from mercer.solvers import Certificate, Solution, certificate
from mercer.solvers.centring import Centring, centring

from .path_following import Program, Segment, follow, interval, largest_sum, middle
from .path_qp import FREE, LOWER, UPPER, StalledError, minimise

Array = NDArray[np.float64]

_LARGEST = 3000
"""Rows up to which a path is followed: every event costs a product with the kernel matrix."""


_PROVED = 20
"""Breakpoints whose solutions are proved before a path is said to be complete."""

_NO_BEGINNING = "the path cannot begin: the kernel matrix is too ill-conditioned."


class PathPoint(NamedTuple):
    """A solution of the path.

    Attributes
    ----------
    value : float
        The value of C or nu.
    coef : array of shape (n_samples,)
        Signed coefficients of all training rows.
    intercept : float
        The intercept b; minus the threshold rho for one class. The midpoint where an interval of
        them is optimal.
    rho : float
        Margin of NuSVC, threshold of OneClassSVM; 1 for SVC.

    Examples
    --------
    >>> from mercer.selection import PathPoint
    >>> PathPoint(1.0, None, 0.5, 1.0).intercept
    0.5
    """

    value: float
    coef: Array
    intercept: float
    rho: float


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """All solutions of a machine over one constant; made by :func:`regularization_path`.

    Attributes
    ----------
    parameter : {"C", "nu"}
        The constant.
    breakpoints : array of shape (n_breaks,)
        Values at which the sets of free and bounded coefficients change, in the order of the path:
        ascending for C, descending for nu. The last one is where the path ends, infinite where
        nothing changes any more.
    status : {"complete", "limit", "precision_limit"}
        Whether the path reached its end, the limit on breakpoints, or a kernel matrix too
        ill-conditioned for float64.
    seconds : float
        Time spent.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.data import lfd_toy
    >>> from mercer.selection import regularization_path
    >>> X, y = lfd_toy()
    >>> path = regularization_path(SVC(kernel="linear"), X, y)
    >>> path.breakpoints
    array([0.        , 0.22222222, 0.33333333, 0.66666667, 1.        ,
                  inf])
    >>> path.at(10.0).coef, path.at(10.0).intercept
    (array([-0.5, -0.5,  1. ,  0. ]), -1.0)
    """

    parameter: str
    breakpoints: Array
    status: str
    seconds: float
    _estimator: Any = field(repr=False)
    _problem: _PathProblem = field(repr=False)
    _segments: list[Segment] = field(repr=False)
    _data: tuple[Any, Any, Any] = field(repr=False)

    @property
    def coef(self) -> Array:
        """Signed coefficients at all finite breakpoints, (n_breaks, n_samples)."""
        values = [v for v in self.breakpoints if np.isfinite(v)]
        return np.array([self.at(v).coef for v in values])

    def at(self, value: float) -> PathPoint:
        """Return the solution at a value of the constant.

        Parameters
        ----------
        value : float
            Between the ends of the path.

        Returns
        -------
        PathPoint
            Coefficients, intercept and rho.
        """
        point, moved = self._solved(value), self._problem.moved
        if moved is None:
            return point
        shift = float(moved.shifts(point.coef[None])[0])
        return point._replace(intercept=point.intercept - shift)

    def _solved(self, value: float) -> PathPoint:
        """Return the solution on the rows that the problem is solved on."""
        segment, t = self._segment(value)
        coef = segment.x if t == segment.begin else segment.at(t)
        return self._problem.point(float(value), t, coef, segment)

    def _segment(self, value: float) -> tuple[Segment, float]:
        low, high = sorted((self.breakpoints[0], self.breakpoints[-1]))
        if not (low <= value <= high and np.isfinite(value)):
            raise ValueError(
                f"{self.parameter}={value!r} is not on the path, which runs from {low:.6g} to "
                f"{high:.6g}."
            )
        ends = np.array([segment.end for segment in self._segments])
        t = min(max(self._problem.time(float(value)), self._segments[0].begin), float(ends[-1]))
        return self._segments[int(np.searchsorted(ends[:-1], t))], t

    def _is_proved(self) -> bool:
        """Return whether points of the path, its end among them, are proved to be optimal."""
        finite = [float(v) for v in self.breakpoints if 0.0 < v < np.inf]
        some = finite[:: max(1, len(finite) // _PROVED)]
        if not np.isfinite(self.breakpoints[-1]):
            some.append(2.0 * max(finite, default=1.0))
        return all(self.certificate(value).status == "optimal" for value in some)

    def decision_function(self, X: Any, value: float) -> Array:
        """Return the values of the machine at a value of the constant.

        Parameters
        ----------
        X : objects
            Objects.
        value : float
            The value of the constant.

        Returns
        -------
        array of shape (n_X,)
            f(x) of SVC and of NuSVC, which is divided by its margin rho, and 0 where rho is;
            f(x) - rho of OneClassSVM.
        """
        point, gram = self.at(value), self._problem.gram
        scale = (point.rho or np.inf) if isinstance(self._problem, _NuPath) else 1.0
        rows = np.flatnonzero(point.coef)
        if gram.kernel.pairwise:
            raise ValueError(
                "a path of a precomputed matrix has no objects; use at(value).coef with the rows "
                "of the matrix."
            )
        objects = take(self._problem.objects, rows)
        expansion = Expansion(
            gram.kernel, objects, point.coef[rows] / scale, point.intercept / scale
        )
        return expansion.evaluate(X)

    def certificate(self, value: float) -> Certificate:
        """Return the duality gap of the solution at a value of the constant.

        Parameters
        ----------
        value : float
            The value of the constant.

        Returns
        -------
        Certificate
            Primal and dual value, computed from coefficients and intercept alone.
        """
        return self._problem.certificate(self._solved(value))

    def machine(self, value: float) -> Any:
        """Return the estimator fitted with a value of the constant, with its own certificate.

        Parameters
        ----------
        value : float
            The value of the constant.

        Returns
        -------
        estimator
            A fitted copy.
        """
        X, y, weight = self._data
        model = clone(self._estimator).set_params(**{self.parameter: float(value)})
        return model.fit(X, y, sample_weight=weight)


class _PathProblem:
    """A machine as a quadratic program with a parameter: what the three machines differ in."""

    program: Program
    begin: float  # of the path, in its own time
    start: tuple[Array, Any]
    machine: Any  # a copy, for its problems at points of the path
    objects: Any  # training objects as given
    moved: Centring | None = None  # by what those behind the kernel matrix are translated

    def __init__(self, gram: Any, y: Array, s: Array) -> None:
        self.gram, self.y, self.s = gram, y, s
        self.K = np.asarray(gram.tile(), dtype=np.float64)

    def time(self, value: float) -> float:
        """Return the time of the path at which the constant has a value."""
        raise NotImplementedError

    def value(self, t: float) -> float:
        """Return the constant at a time of the path."""
        raise NotImplementedError

    def point(self, value: float, t: float, coef: Array, segment: Segment) -> PathPoint:
        raise NotImplementedError

    def certificate(self, point: PathPoint) -> Certificate:
        """Return the proof of a point, as that of any solution of the machine's problem."""
        machine, groups = self.machine, self.program.n_groups
        if isinstance(machine, SVC):
            machine.C_ = point.value
        else:
            machine.nu = point.value
        sides = point.rho * np.array([1.0, -1.0]) if groups == 2 else np.zeros(groups)
        m = sides - point.intercept
        solution = Solution(point.coef, self.K @ point.coef, m, np.stack([m, m], axis=1), "optimal")
        problem = machine._problem(self.y, self.s)
        proof = certificate(problem, self.gram.in_precision("float64"), solution)
        # The objective of a nu machine may be 0, and the gap is then rounding.
        rounded = proof.gap <= 10.0 * proof.rounding
        known = proof.converged or not isinstance(machine, SVC)
        proved = proof.relative_gap <= 1e-6 or (rounded and known)
        return replace(proof, status="optimal" if proved else "precision_limit")

    def multipliers(self, t: float, coef: Array, segment: Segment) -> Array:
        """Return the multiplier of each group, the midpoint of an interval."""
        values = self.K @ coef + self.program.p
        low, high = self.program.bounds(t)
        near = 1e-12 * float(np.abs(coef).max(initial=0.0))
        # At a breakpoint a free variable may be at its bound, and pins the multiplier no more.
        state = segment.state.copy()
        state[(state == FREE) & (coef <= low + near)] = LOWER
        state[(state == FREE) & (coef >= high - near)] = UPPER
        found = np.zeros(self.program.n_groups)
        for g in range(len(found)):
            members = self.program.group == g
            free = members & (state == FREE)
            if free.any():
                found[g] = -float(values[free].mean())
            else:
                found[g] = middle(*interval(values, state, members))
        return found


class _CostPath(_PathProblem):
    """SVC over C; time is C."""

    def __init__(self, gram: Any, y: Array, s: Array, fit_intercept: bool) -> None:
        super().__init__(gram, y, s)
        n, zero = len(y), np.zeros(len(y))
        groups = 1 if fit_intercept else 0
        self.program = Program(
            self.K,
            -y,
            zero,
            np.where(y > 0, 0.0, -s),
            zero,
            np.where(y > 0, s, 0.0),
            np.full(n, groups - 1),
            np.zeros(groups),
            np.zeros(groups),
        )
        self.begin = 0.0
        self.start = zero, np.where(y > 0, UPPER, LOWER).astype(np.int8)

    def time(self, value: float) -> float:
        return value

    def value(self, t: float) -> float:
        return t

    def point(self, value: float, t: float, coef: Array, segment: Segment) -> PathPoint:
        found = self.multipliers(t, coef, segment)
        return PathPoint(value, coef, float(found[0]) if len(found) else 0.0, 1.0)


class _NuPath(_PathProblem):
    """NuSVC over nu, from the largest feasible one down; time is that value minus nu."""

    def __init__(self, gram: Any, y: Array, s: Array) -> None:
        super().__init__(gram, y, s)
        zero, positive = np.zeros(len(y)), y > 0
        self.half = 0.5 * float(s.sum())
        sums = np.array([s[positive].sum(), s[~positive].sum()])
        self.largest = float(sums.min() / self.half)
        signs = np.array([1.0, -1.0])
        self.program = Program(
            self.K,
            zero,
            np.where(positive, 0.0, -s),
            zero,
            np.where(positive, s, 0.0),
            zero,
            np.where(positive, 0, 1),
            signs * sums.min(),
            -signs * self.half,
        )
        self.begin = 0.0
        x = y * s * np.where(positive, sums.min() / sums[0], sums.min() / sums[1])
        full = np.where(positive, sums[0], sums[1]) <= sums.min()
        state = np.where(full, np.where(positive, UPPER, LOWER), FREE).astype(np.int8)
        low, high = self.program.bounds(0.0)
        tol = 1e-10 * largest_sum(self.K, x)
        found = minimise(self.K, zero, low, high, self.program.group, 2, (x, state), tol)
        self.start = found.x, found.state

    def time(self, value: float) -> float:
        return self.largest - value

    def value(self, t: float) -> float:
        return self.largest - t

    def point(self, value: float, t: float, coef: Array, segment: Segment) -> PathPoint:
        plus, minus = self.multipliers(t, coef, segment)
        return PathPoint(value, coef, 0.5 * float(plus + minus), 0.5 * float(minus - plus))


class _OneClassPath(_PathProblem):
    """OneClassSVM over nu, from 1 down; time is 1 - nu."""

    def __init__(self, gram: Any, y: Array, s: Array) -> None:
        super().__init__(gram, y, s)
        zero, n = np.zeros(len(s)), len(s)
        self.total = float(s.sum())
        self.program = Program(
            self.K,
            zero,
            zero,
            zero,
            s.copy(),
            zero,
            np.zeros(n, dtype=np.intp),
            np.array([self.total]),
            np.array([-self.total]),
        )
        self.begin = 0.0
        self.start = s.copy(), np.full(n, UPPER)

    def time(self, value: float) -> float:
        return 1.0 - value

    def value(self, t: float) -> float:
        return 1.0 - t

    def point(self, value: float, t: float, coef: Array, segment: Segment) -> PathPoint:
        found = float(self.multipliers(t, coef, segment)[0])
        return PathPoint(value, coef, found, -found)


def regularization_path(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    stop: float | None = None,
    max_breaks: int = 100_000,
) -> RegularizationPath:
    """Return all solutions of a machine over C, or over nu, exactly.

    Parameters
    ----------
    estimator : SVC, NuSVC or OneClassSVM
        The machine, for two classes and with any positive semidefinite kernel. Its own C or nu has
        no effect; ``SVC`` with ``penalty_norm=1`` only.
    X : objects
        Training objects.
    y : array-like of shape (n_samples,)
        Labels of two classes; ignored by OneClassSVM.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.
    stop : float, default=None
        Where the path ends: the largest C (None: infinity, beyond the last breakpoint), or the
        smallest nu (None: 0). The path over C begins at 0, that over nu at the largest feasible
        value.
    max_breaks : int, default=100000
        Limit on the number of breakpoints.

    Returns
    -------
    RegularizationPath
        Breakpoints, and the solution with its certificate at every value.

    Notes
    -----
    Simultaneous events, repeated rows, singular kernel matrices and values at which no coefficient
    is free are handled: at each breakpoint a small quadratic program finds the slopes of what
    follows. There are usually two to four times as many breakpoints as rows, each for the price of
    a linear system in the free coefficients and a product with the kernel matrix.

    Examples
    --------
    >>> from mercer import OneClassSVM
    >>> from mercer.selection import regularization_path
    >>> path = regularization_path(OneClassSVM(kernel="linear"), [[1.0], [2.0], [4.0]])
    >>> path.breakpoints.round(6).tolist()
    [1.0, 0.666667, 0.333333, 0.0]
    >>> path.at(0.5).coef
    array([1. , 0.5, 0. ])
    """
    elapsed = stopwatch()
    try:
        problem, data = _posed(estimator, X, y, sample_weight)
    except StalledError as error:
        raise ValueError(_NO_BEGINNING) from error
    parameter = "C" if isinstance(problem, _CostPath) else "nu"
    last = (np.inf if parameter == "C" else 0.0) if stop is None else float(stop)
    end = problem.time(last)
    if not end > problem.begin:
        raise ValueError(
            f"stop={stop!r} leaves no path, which begins at {parameter}="
            f"{problem.value(problem.begin):.6g}."
        )
    segments: list[Segment] = []
    status = "complete"
    x, state = problem.start
    try:
        for segment in follow(problem.program, problem.begin, x, state, end, max_breaks):
            if segment.end > segment.begin:
                segments.append(segment)  # noqa: PERF401 - kept if the path breaks off
    except StalledError:
        status = "precision_limit"
    if not segments:
        raise ValueError(_NO_BEGINNING)
    if status == "complete" and segments[-1].end < end - 1e-9 * max(1.0, segments[-1].end):
        status = "limit"
    times = np.array([segment.begin for segment in segments] + [segments[-1].end])
    values = np.array([problem.value(float(t)) for t in times])
    if status == "complete":
        values[-1] = last
    known = clone(estimator), problem, segments, data
    path = RegularizationPath(parameter, values, status, elapsed(), *known)
    if status == "complete" and not path._is_proved():
        status = "precision_limit"
    return replace(path, status=status, seconds=elapsed())


def _posed(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[_PathProblem, Any]:
    """Return the problem of a machine on data, after its own checks of both."""
    if not isinstance(estimator, SVC | NuSVC | OneClassSVM):
        raise TypeError(
            "paths are followed for SVC, NuSVC and OneClassSVM; got "
            f"{type(estimator).__name__}. For other machines use GridSearchCV or warm_path."
        )
    machine = clone(estimator)
    if isinstance(machine, SVC):
        if machine.penalty_norm != 1 or machine.C2 is not None:
            raise ValueError("a path over C needs a linear price: penalty_norm=1, without C2.")
        machine.set_params(C=1.0, lam=None)
    machine._check_parameters()
    data, kernel = machine._enter(X, y, sample_weight)
    if not kernel.definiteness.is_psd:
        raise ValueError(
            f"{kernel!r} is not known to be positive semidefinite; a path needs a convex problem."
        )
    if data.n > _LARGEST:
        raise ValueError(
            f"the path of {data.n} rows is too long; it is followed for up to {_LARGEST}. Use "
            "warm_path or GridSearchCV."
        )
    _, s = machine._pose(data.y, data.weight, data.n, fitting=True)
    moved = centring(kernel, data.X, machine._sums_to_zero)
    gram = machine._gram(data, kernel, objects=None if moved is None else moved.rows)
    problem = _problem(machine, data, gram, np.array(s, dtype=np.float64))
    problem.machine, problem.objects, problem.moved = machine, data.X, moved
    return problem, (X, y, sample_weight)


def _problem(machine: Any, data: Any, gram: Any, weights: Array) -> _PathProblem:
    if isinstance(machine, OneClassSVM):
        return _OneClassPath(gram, np.ones(data.n), weights)
    if len(machine.classes_) != 2:
        raise ValueError(f"paths are for two classes; got {len(machine.classes_)}.")
    signs = np.where(np.asarray(data.y) == machine.classes_[1], 1.0, -1.0)
    if isinstance(machine, SVC):
        return _CostPath(gram, signs, weights, bool(machine.fit_intercept))
    if not machine.fit_intercept:
        raise ValueError("the path of NuSVC needs its intercept; use fit_intercept=True.")
    return _NuPath(gram, signs, weights)
