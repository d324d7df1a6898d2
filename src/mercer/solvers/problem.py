"""Problems, the settings of a solver, and solutions: plain data.

A problem is stated in its primal form: minimise over w and m

    Omega(w) + sum_j c_j l(y_j, z_j) + d'm,        z = A w + B m,

with Omega(w) = 1/2 |w|^2 the norm of the function f = sum_i beta_i k(x_i, .) and A w its values at
the objects ``rows``, times their ``sign``; or with Omega = ``omega`` a penalty on the coefficients
w of f = sum_i w_i k(x_i, .), for which A, the kernel matrix, is a design and need not be definite.
B is the basis of unpenalised functions (a bias, one constant for each of two groups, linear
functions), d its right-hand side ``totals``: in nu machines the reward for a margin or the price of
a tube.

Its dual in signed variables beta (y_i alpha_i for classes, alpha_i - alpha_i* for regression) is

    minimise    1/2 beta' K beta + sum_i phi_i(beta_i)    subject to    B'beta = d,

phi_i the conjugate of c_i l(y_i, .) at -beta. Where phi_i is piecewise quadratic with one kink
inside bounds, and B are indicators of at most two groups, that is a :class:`DualProblem`: plain
arrays, which is what the native solver reads:

    phi_i'(b) = slope_left_i  + curv_left_i  (b - kink_i)    for b < kink_i
                slope_right_i + curv_right_i (b - kink_i)    for b > kink_i.

A point is optimal when there are multipliers m_g with (K beta)_i + phi_i'(beta_i + 0) >= m_g
where beta_i can rise and (K beta)_i + phi_i'(beta_i - 0) <= m_g where it can fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from mercer.losses import DualTerms, Loss, OneSided, Regulariser
from mercer.run import Target

from .margin import Margin


@dataclass
class DualProblem:
    """One dual problem; see the head of this module.

    Parameters
    ----------
    lower, upper : array of shape (m,)
        Bounds, possibly infinite.
    slope_left, slope_right : array of shape (m,)
        Slopes of phi at the kink, from the left and from the right (default: the same).
    curv_left, curv_right : array of shape (m,), optional
        Curvatures on both sides; default 0 on the left, the left one on the right.
    kink : array of shape (m,), optional
        Default 0.
    group : array of int of shape (m,), optional
        0 or 1: the equality a variable belongs to; None: no equality.
    totals : array of shape (n_groups,), optional
        The sums of the groups; default 0.
    rows : array of int of shape (m,), optional
        The object of the Gram that a variable stands for; default: variable i is object i.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.solvers import DualProblem, Settings, solve
    >>> lower, upper, slope = np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    >>> problem = DualProblem(lower, upper, slope, group=np.zeros(2, dtype=int))
    >>> solve(problem, Gram(Linear(), np.array([[-1.0], [1.0]])), Settings()).beta
    array([-0.5,  0.5])
    """

    lower: np.ndarray
    upper: np.ndarray
    slope_left: np.ndarray
    slope_right: np.ndarray | None = None
    curv_left: np.ndarray | None = None
    curv_right: np.ndarray | None = None
    kink: np.ndarray | None = None
    group: np.ndarray | None = None
    rows: np.ndarray | None = None
    totals: np.ndarray | None = None

    def slopes(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the left and the right derivative of every phi_i at beta_i."""
        return DualTerms.slopes(self, beta)  # type: ignore[arg-type]

    @property
    def dual(self) -> DualProblem:
        """The problem itself, which may stand wherever a :class:`Problem` does."""
        return self

    @property
    def n_groups(self) -> int:
        """Number of equalities."""
        return 0 if self.group is None else int(self.group.max(initial=0)) + 1

    @property
    def basis_kind(self) -> str:
        """Which unpenalised functions belong to the equalities: "none", "bias" or "groups"."""
        return _constants(self.group)

    def feasible(self, beta: np.ndarray | None = None) -> np.ndarray:
        """Return a feasible point near `beta`, by default near 0.

        Coefficients are moved into their bounds; then each group is brought to its total, by
        moving coefficients that are not zero first.
        """
        point = np.clip(np.zeros(len(self.lower)) if beta is None else beta, self.lower, self.upper)
        n_groups = self.n_groups
        for g in range(n_groups):
            members: Any = slice(None) if n_groups == 1 else np.flatnonzero(self.group == g)
            inside, lower, upper = point[members], self.lower[members], self.upper[members]
            total = 0.0 if self.totals is None else float(self.totals[g])
            # Twice: the second pass removes the rounding error of the first.
            for _ in range(2):
                missing = total - float(inside.sum())
                if missing == 0.0:
                    break
                order: Any = slice(None)
                if inside.any():
                    order = np.argsort(inside == 0.0, kind="stable")
                room = (upper - inside if missing > 0.0 else inside - lower)[order]
                before = np.zeros(len(room))
                np.cumsum(np.minimum(room, abs(missing))[:-1], out=before[1:])
                share = np.clip(abs(missing) - before, 0.0, room)
                inside[order] += np.copysign(share, missing)
                np.clip(inside, lower, upper, out=inside)
            point[members] = inside
        return point

    def part(self, rows: slice) -> DualProblem:
        """Return the problem of some consecutive variables, without totals."""
        slopes, curvatures = (self.slope_left, self.slope_right), (self.curv_left, self.curv_right)
        terms = (*slopes, *curvatures, self.kink, self.group, self.rows)
        parts: Any = (None if a is None else a[rows] for a in terms)
        return DualProblem(self.lower[rows], self.upper[rows], *parts)

    def native(self, start: np.ndarray | None) -> dict[str, Any]:
        """Return the arrays as the native solver takes them; it knows what None stands for."""
        return {
            "lower": _doubles(self.lower),
            "upper": _doubles(self.upper),
            "slope_left": _doubles(self.slope_left),
            "slope_right": _doubles(self.slope_right),
            "curv_left": _doubles(self.curv_left),
            "curv_right": _doubles(self.curv_right),
            "kink": _doubles(self.kink),
            "group": _indices(self.group),
            "rows": _indices(self.rows),
            "start": _doubles(start),
        }


@dataclass(eq=False)
class Problem:
    """A regularised sum of losses; see the head of this module.

    Parameters
    ----------
    loss : Loss
        The loss l; its per-sample parameters belong to these variables.
    y, c : array of shape (m,)
        Targets, and the weights c_j = C s_j of the losses.
    rows : array of int of shape (m,), optional
        The object of the Gram that a variable stands for; default: variable j is object j.
    basis : array of shape (m,) or (m, k), optional
        B: integers 0 or 1 are the group that a variable belongs to, with a constant for each
        group; real numbers are values of functions, one column each. None: no basis.
    totals : array of shape (n_groups,) or (k,), optional
        d; default 0. With targets that are all 0 it rewards a margin, d'm <= 0 at every optimum;
        otherwise it prices a tube, either side of which has variables, and d'm >= 0.
    name : object, optional
        What the problem is about, for messages: a pair of classes.
    sign : array of shape (m,), optional
        1 or -1: variable j stands for sign_j times its object in feature space; default 1. Then
        one total can be the sum of the sizes of coefficients of either sign.
    weight : array of shape (m,), optional
        How much rows count where B does not determine m; default c.
    margin : Margin, optional
        Says that the solution will be divided by its margin; see `mercer.solvers.margin`.
    omega : Regulariser, optional
        A penalty on coefficients, one for each object of the Gram; default: the norm of f.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import Problem, Settings, solve
    >>> problem = Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2), basis=np.zeros(2, dtype=int))
    >>> gram = Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> solve(problem, gram, Settings()).beta
    array([-0.5,  0.5])
    """

    loss: Loss
    y: np.ndarray
    c: np.ndarray
    rows: np.ndarray | None = None
    basis: np.ndarray | None = None
    totals: np.ndarray | None = None
    name: Any = None
    sign: np.ndarray | None = None
    weight: np.ndarray | None = None
    margin: Margin | None = None
    omega: Regulariser | None = None

    def __post_init__(self) -> None:
        """Reject arrays that state no problem; `parts` of a problem are not looked at again."""
        m = np.size(self.y)
        for name in ("y", "c", "rows", "sign", "weight"):
            if getattr(self, name) is not None:
                self.__dict__[name] = _entries(name, getattr(self, name), m)
        if not np.isfinite(self.y).all():
            raise ValueError("the targets y of a Problem must be finite.")
        if not (self.c >= 0.0).all():
            raise ValueError("the weights c of a Problem must be >= 0; inf is a hard constraint.")
        if self.sign is not None:
            if not (np.abs(self.sign) == 1.0).all():
                raise ValueError("sign must hold 1 or -1.")
            if self.omega is not None:
                raise ValueError("a problem with a penalty on coefficients takes no signs.")
        groups = 0 if self.basis is None else self._checked_basis(np.asarray(self.basis), m)
        if self.totals is not None and np.shape(self.totals) != (groups,):
            raise ValueError(
                f"totals must have an entry for each group or column of the basis, {groups}; "
                f"got shape {np.shape(self.totals)}."
            )

    def _checked_basis(self, basis: np.ndarray, m: int) -> int:
        """Set the basis of m variables; return how many groups or columns it has."""
        self.basis = basis
        intercept = f"An intercept is one group of all variables: basis=np.zeros({m}, dtype=int)."
        if basis.ndim not in (1, 2 - self.grouped) or len(basis) != m:
            raise ValueError(
                f"the basis must have shape ({m},), the number of the group of each variable, or "
                f"({m}, k), the values of k functions as floats; got {basis.dtype} of shape "
                f"{basis.shape}. {intercept}"
            )
        if not self.grouped:
            if not (np.isfinite(basis).all() and basis.any(axis=0).all()):
                raise ValueError(
                    f"columns of the basis must be finite, and none 0 everywhere. {intercept}"
                )
            return 1 if basis.ndim == 1 else basis.shape[1]
        if not basis.any():
            return 1
        counts = np.bincount(basis) if basis.min() >= 0 else np.zeros(1)
        if not counts.all():
            raise ValueError(
                f"groups of the basis are numbered 0, 1, ...; got {np.unique(basis).tolist()}. "
                f"{intercept}"
            )
        return len(counts)

    @property
    def unbounded(self) -> bool:
        """Whether losses are constraints, so that the dual problem has no bounds and no totals."""
        if self.totals is not None or (len(self.c) and self.c.item(0) < inf):
            return False
        return bool(np.isinf(self.c).all())

    @property
    def prices(self) -> str:
        """Which weights c there are: "finite", "mixed" (some infinite) or "infinite"."""
        if self.unbounded:
            return "infinite"
        return "mixed" if bool(np.isinf(self.c).any()) else "finite"

    @property
    def basis_kind(self) -> str:
        """Which functions are not penalised: "none", a "bias", "groups" or "functions"."""
        return _constants(self.basis) if self.grouped else "functions"

    @property
    def sums_to_zero(self) -> bool:
        """Whether all coefficients together do, as an intercept demands."""
        return self.basis is not None and (self.totals is None or float(self.totals.sum()) == 0.0)

    @property
    def rewarded(self) -> bool:
        """Whether the totals reward a margin; otherwise they price a tube."""
        return not self.y.any()

    @property
    def grouped(self) -> bool:
        """Whether the basis, if there is one, are the indicators of groups."""
        return self.basis is None or self.basis.dtype.kind in "iu"

    @property
    def columns(self) -> np.ndarray:
        """B as a matrix of shape (m, k)."""
        if self.basis is None:
            return np.zeros((len(self.y), 0))
        if self.grouped:
            groups = np.arange(int(self.basis.max(initial=0)) + 1)
            return (self.basis[:, None] == groups).astype(np.float64)
        return np.asarray(self.basis, dtype=np.float64).reshape(len(self.y), -1)

    @cached_property
    def dual(self) -> DualProblem:
        """The dual problem in arrays, of a loss that has pieces and a basis of groups."""
        terms: DualTerms = self.loss.pieces(self.y, self.c)  # type: ignore[attr-defined]
        group = self.basis if self.grouped else None
        return DualProblem(*terms, group, self.rows, self.totals)

    def parts(self, slices: Sequence[slice], names: Sequence[Any]) -> list[Problem]:
        """Return the problems of consecutive variables, whose dual terms are computed together.

        For problems of one loss without totals; all have the basis of groups, or none.
        """
        found = list[Problem]()
        for part, name in zip(slices, names, strict=True):
            rows, basis = (None if a is None else a[part] for a in (self.rows, self.basis))
            problem = copy(self)  # whose arrays have been checked
            problem.y, problem.c = self.y[part], self.c[part]
            problem.rows, problem.basis, problem.name = rows, basis, name
            problem.dual = self.dual.part(part)
            found.append(problem)
        return found


def one_sided(
    y: np.ndarray,
    side: np.ndarray,
    c: np.ndarray,
    total: float,
    rows: np.ndarray | None = None,
    name: Any = None,
    *,
    groups: bool = False,
    sign: np.ndarray | None = None,
    margin: Margin | None = None,
) -> Problem:
    """Return the problem of one-sided losses whose coefficients, or their sizes, have a total.

    With `groups` the positive and the negative ones have half of it each, as an intercept demands;
    without it there is one sum of all variables.
    """
    group, totals = np.zeros(len(y), dtype=np.int64), np.array([total])
    if groups:
        group, totals = np.where(side > 0.0, group, np.int64(1)), 0.5 * np.array([total, -total])
    return Problem(OneSided(side), y, c, rows, group, totals, name, sign, margin=margin)


def margin_problem(
    y: np.ndarray,
    c: np.ndarray,
    total: float,
    intercept: bool,
    margin: Margin,
    rows: np.ndarray | None = None,
    name: Any = None,
) -> Problem:
    """Return the problem of two classes whose coefficients have a total: nu-SVC, hard margin.

    Without an intercept the variables are y_i beta_i, and the signs belong to the objects.
    """
    zero = np.zeros(len(y))
    if intercept:
        return one_sided(zero, y, c, total, rows, name, groups=True, margin=margin)
    return one_sided(zero, np.ones(len(y)), c, total, rows, name, sign=y, margin=margin)


def without_signs(problem: Problem, gram: Any) -> tuple[Problem, Any]:
    """Return the problem without `sign`, and a float64 kernel matrix that has the signs instead.

    Raises ValueError for a matrix of other objects, and with signs for a conditionally definite
    kernel: its coefficients must sum to 0, and the sums that the basis fixes are other ones.
    """
    if problem.rows is None and len(problem.y) != gram.shape[0]:
        raise ValueError(
            f"the problem has {len(problem.y)} variables and the matrix {gram.shape[0]} objects; "
            "pass rows, the object of each variable."
        )
    if problem.sign is None:
        return problem, gram
    if gram.definiteness.order:
        raise ValueError(
            f"{gram.kernel!r} is {gram.definiteness}: it needs coefficients that sum to 0, "
            "which a problem with signs does not ensure. Use a positive definite kernel."
        )
    gram = gram if problem.rows is None else gram.take(problem.rows)
    gram = gram.in_precision("float64").signed(problem.sign)
    return replace(problem, rows=None, sign=None), gram


def _constants(group: np.ndarray | None) -> str:
    """Return which constants the indicators of groups stand for."""
    if group is None:
        return "none"
    return "groups" if group.any() else "bias"


class Job(NamedTuple):
    """A problem, the kernel matrix of its objects and a point to start from.

    Solvers take jobs in batches: pairs of classes, folds, the points of a grid. Jobs of one batch
    may have matrices, and kernels, of their own.

    Attributes
    ----------
    problem : Problem, DualProblem or PairsOfClasses
        The problem, or the problems of all pairs of classes as one.
    gram : Gram
        Kernel matrix of its objects.
    start : ndarray, optional
        A feasible point to start from.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import Job, Problem, Settings, solve_jobs
    >>> problem = Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2), basis=np.zeros(2, dtype=int))
    >>> job = Job(problem, Gram(Linear(), np.array([[-1.0], [1.0]])))
    >>> solve_jobs([job], Settings())[0].beta
    array([-0.5,  0.5])
    """

    problem: Any
    gram: Any
    start: np.ndarray | None = None


@dataclass
class Settings:
    """How accurate a solution shall be, and the resources of a solver; limits are those of a run.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop when the largest violation max(0, m(a) - M(a)) is at most this.
    gap_tol : float, optional
        Stop on the relative duality gap as well.
    largest_gap : float, default=0
        Go on with smaller tolerances while the relative duality gap exceeds this; 0: do not.
    shrinking : bool, default=True
        Leave settled variables out until the end.
    cache_size : float, default=200
        Megabytes for the kernel rows that a Gram keeps, for all problems on it and its views.
    n_jobs : int, optional
        Threads.
    working_set : int, default=0
        Variables optimised together; 0: chosen from the size of the problem.
    objective_floor : float, default=-inf
        A problem whose objective falls below this is declared infeasible.
    solver : str, default="auto"
        Which solver to begin with; see `mercer.solvers.ladder`.

    Examples
    --------
    >>> from mercer.solvers import Settings
    >>> Settings(tol=1e-6).target, Settings(gap_tol=1e-4).target
    (Target(violation=1e-06, gap=inf), Target(violation=inf, gap=0.0001))
    """

    tol: float = 1e-3
    gap_tol: float | None = None
    largest_gap: float = 0.0
    shrinking: bool = True
    cache_size: float = 200.0
    n_jobs: int | None = None
    working_set: int = 0
    objective_floor: float = -inf
    solver: str = "auto"

    @property
    def target(self) -> Target:
        """What makes a point good enough, for solvers that ask their run when to stop."""
        if self.gap_tol is not None:
            return Target(gap=self.gap_tol)
        return Target(self.tol, self.largest_gap if self.largest_gap > 0.0 else inf)


@dataclass
class Solution:
    """Result of a solver.

    Attributes
    ----------
    beta : ndarray of shape (m,)
        The variables.
    values : ndarray of shape (m,)
        K beta at the variables.
    multiplier : ndarray of shape (n_groups,)
        Mean over the free variables of a group, or the midpoint of `multiplier_range`.
    multiplier_range : ndarray of shape (n_groups, 2)
        The interval of optimal multipliers; an end may be infinite.
    status : str
        "optimal", "iteration_limit", "time_limit", "interrupted", "infeasible" or "stationary".
    kkt_violation, objective, relative_gap : float
        At the solution.
    n_iter, n_kernel_values, n_outer, cache_hits, cache_misses : int
        Work done.
    seconds : float
        Time.
    precision : str
        Of the kernel values.
    negative_curvature : bool
        Whether the kernel showed itself not to be positive semidefinite.
    fresh : bool
        Whether `values` were computed from the returned `beta` alone, after the last step.
    near_bound : bool
        Whether a variable may lie next to a bound or kink, within rounding, without being at it.
    coef : ndarray of shape (n,), optional
        The coefficients w of a problem with a penalty on them; then `beta` are its dual variables.
    linear : tuple of float and ndarray, optional
        b and a of an unpenalised linear function <a, x> + b, where the basis has one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Gram
    >>> from mercer.kernels import Linear
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import Problem, Settings, solve
    >>> problem = Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2), basis=np.zeros(2, dtype=int))
    >>> gram = Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> solution = solve(problem, gram, Settings())
    >>> solution.status, solution.beta, solution.multiplier
    ('optimal', array([-0.5,  0.5]), array([0.]))
    """

    beta: np.ndarray
    values: np.ndarray
    multiplier: np.ndarray
    multiplier_range: np.ndarray
    status: str
    kkt_violation: float = nan
    objective: float = nan
    relative_gap: float = nan
    n_iter: int = 0
    n_kernel_values: int = 0
    seconds: float = 0.0
    precision: str = "float64"
    n_outer: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    negative_curvature: bool = False
    fresh: bool = False
    near_bound: bool = True
    coef: np.ndarray | None = None
    linear: tuple[float, np.ndarray] | None = None

    def adding(self, other: Solution) -> Solution:
        """Return this solution with the work of another one, from which it started, added."""
        for name in ("n_iter", "n_kernel_values", "seconds", "n_outer", "cache_hits"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.cache_misses += other.cache_misses
        self.negative_curvature |= other.negative_curvature
        return self


def _entries(name: str, given: Any, m: int) -> np.ndarray:
    """Return an argument of a problem as an array, if it has one number for each variable."""
    array = np.asarray(given, dtype=None if name == "rows" else np.float64)
    if array.shape != (m,):
        raise ValueError(
            f"{name} must have one entry for each of the {m} targets, shape ({m},); got "
            f"{f'shape {array.shape}' if array.shape else given}."
        )
    if name == "rows" and (array.dtype.kind not in "iu" or array.min(initial=0) < 0):
        raise ValueError("rows must hold the positions of objects, integers from 0 on.")
    return array


def _doubles(a: np.ndarray | None) -> np.ndarray | None:
    if a is None:
        return None
    a = np.ascontiguousarray(a, dtype=np.float64)
    if a.ndim != 1:
        raise ValueError(
            f"the arrays of a problem have one entry for each variable; got one of shape {a.shape}."
        )
    return a


def _indices(a: np.ndarray | None) -> np.ndarray | None:
    if a is None:
        return None
    if np.ndim(a) != 1:
        raise ValueError(f"group and rows have one entry for each variable; got {np.shape(a)}.")
    return np.ascontiguousarray(a, dtype=np.int64)
