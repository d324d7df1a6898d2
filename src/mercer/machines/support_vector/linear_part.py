"""Machines on kernels of order 2: an unpenalised linear term beside the expansion.

A kernel that is conditionally positive definite of order 2, such as the thin plate spline, has
c'Kc >= 0 for coefficients with sum_i c_i = 0 and sum_i c_i x_i = 0. Both hold for the dual of

    minimise  1/2 beta' K beta + C sum_i s_i l(y_i, f(x_i))
    over      f = sum_j beta_j k(x_j, .) + <a, x> + b,

whose equations belong to the a and b that the norm does not see; the usual dual has the one of b
(A. Smola, *Learning with Kernels*, thesis, 1998, section 3.7.2, equations 3.86 to 3.89). So where
a linear function fits the data, beta is 0, and adding one to the targets adds it to f.

A kernel of order 2 on some of the columns needs the linear functions of these columns, and a sum
those of all columns that any of its terms of order 2 looks at.

The data determine a up to directions orthogonal to all differences of points: where there are
fewer than d + 1 points, or all lie on a plane, a is the shortest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.kernels import Kernel
from mercer.kernels.columns_used import columns_seen, linear_columns
from mercer.objects.tables import select
from mercer.objects.validation import VECTORS, count
from mercer.solvers import DualProblem, Solution
from mercer.solvers.dense_interior_point import require_memory
from mercer.solvers.equations import FeasiblePoint, near_equations
from mercer.solvers.feasibility import Costs
from mercer.solvers.rounding import UNIT, ValueErrors

from ..errors import ParameterError
from .formulation import Formulation, LossFormulation, Measure, Outcome, Task, joined

Array = NDArray[np.float64]

_RANK = 1e-12
"""Extent of the data in a direction, relative to their size, that is none."""

_COPIES = 4
"""Arrays of the size of the rows that exist at one time."""

_BALANCED = 1e-9
"""Residual of the equations, relative to the size of their terms, allowed in a dual value."""

_NEARLY = "the equations of nearly dependent columns hold up to rounding only"

_CANCELLED = 1e-10
"""Losses this small relative to those of values as large as the targets are rounding."""


def with_linear_part(formulation: Formulation, kernel: Kernel, X: Any) -> Formulation:
    """Return the formulation that a kernel needs: itself, or one with a linear term.

    `formulation`: of the machine. `kernel`: the bound kernel. `X`: the training rows.
    """
    if kernel.definiteness.order != 2:
        return formulation
    if not isinstance(formulation, LossFormulation):
        raise ParameterError(
            f"{kernel!r} is {kernel.definiteness}, with which there is no hard margin (C=inf): use "
            "a finite C."
        )
    return WithLinearPart(formulation, kernel, X)


class LinearPart:
    """The linear functions on some points, in an orthonormal basis.

    `X`: the points.

    Attributes
    ----------
    equations : array of shape (n, rank + 1)
        Orthonormal columns that span the constants and the coordinates.
    """

    def __init__(self, X: Array) -> None:
        self.mean = X.mean(axis=0)
        centred = X - self.mean
        centred -= centred.mean(axis=0)  # rounding, of data far from the origin
        U, extent, Vt = scipy.linalg.svd(centred, full_matrices=False, check_finite=False)
        rounding = np.finfo(float).eps * max(X.shape) * extent.max(initial=0.0)
        smallest = max(rounding, _RANK * float(np.linalg.norm(X)))
        rank = int(np.count_nonzero(extent > smallest))
        constant = np.full((len(X), 1), 1.0 / np.sqrt(len(X)))
        self.equations = np.hstack([constant, U[:, :rank]])
        self._map = Vt[:rank].T / extent[:rank]
        self.known: Any = None  # the last coefficients whose feasible point was looked for

    def coefficients(self, multipliers: Array) -> tuple[float, Array]:
        """Return b and a of the function <a, x> + b = -equations @ multipliers on the points.

        Parameters
        ----------
        multipliers : array of shape (rank + 1,)
            One for each equation.
        """
        a = -(self._map @ multipliers[1:])
        level = -float(multipliers[0]) / np.sqrt(len(self.equations))
        return level - float(a @ self.mean), a

    def unbalanced(self, beta: Array) -> float:
        """Return by how much coefficients miss the equations, relative to their largest terms.

        The terms of the coefficients there are may all be rounding: those of points in the middle.

        Parameters
        ----------
        beta : array of shape (n,)
            The coefficients.
        """
        missing = np.abs(self.equations.T @ beta)
        terms = np.abs(self.equations).max(axis=0) * float(np.abs(beta).sum())
        return float((missing / np.maximum(terms, 1e-300)).max())

    def cost_of_imbalance(self, beta: Array, values: Array) -> float:
        """Return an estimate of how much a dual value is too large where the equations are missed.

        The Lagrangian at coefficients with Q'beta = r is larger than the dual value by m'r, where
        m are the optimal multipliers; those of the model stand for them, with a factor 2.

        Parameters
        ----------
        beta : array of shape (n,)
            The coefficients.
        values : array of shape (n,)
            Values of the linear function, -Q m.
        """
        terms = np.abs(self.equations.T) @ np.abs(beta)
        missing = np.abs(self.equations.T @ beta) + 8.0 * UNIT * terms
        return 2.0 * float(np.abs(self.equations.T @ values) @ missing)


class WithLinearPart(LossFormulation):
    """A machine with an unpenalised linear term.

    `inner`: the machine without it. `kernel`: its kernel, for messages. `X`: the training rows.

    Attributes
    ----------
    columns : list of int or None
        The columns of the linear functions; None means all.
    """

    double = True

    def __init__(self, inner: LossFormulation, kernel: Kernel, X: Any) -> None:
        super().__init__(inner.loss, inner.C, True)
        self._kernel = kernel
        self.columns = linear_columns(kernel)
        self._X = _numbers(X, kernel, self.columns)
        self._first = _first_of_equal(X, columns_seen(kernel))

    def task(self, y: Array, weight: Array, rows: Any = None, name: Any = None) -> Task:
        """Return the problem, with the linear functions on its rows.

        Rows that repeat stand for the same object: the first of them.
        """
        task = super().task(y, weight, rows, name)
        task.linear = LinearPart(self._rows(rows))
        there = np.arange(len(self._X)) if rows is None else rows
        _, first, same = np.unique(self._first[there], return_index=True, return_inverse=True)
        objects = there[first[same]] if len(first) < len(there) else rows
        basis = task.linear.equations
        task.problem = replace(task.problem, rows=objects, basis=basis, weight=weight)
        return task

    def outcome(self, task: Task, solution: Solution, gram: Any) -> Outcome:
        """Return the coefficients of the expansion and of the linear function."""
        if solution.negative_curvature:
            kernel = self._kernel
            raise ParameterError(
                f"{kernel!r} claims to be {kernel.definiteness}, but on these samples its "
                "quadratic form is negative for coefficients that are orthogonal to all linear "
                "functions. Correct the claim, or use another kernel."
            )
        b, a = task.linear.coefficients(solution.multiplier)
        return Outcome(solution.beta, b, linear=a)

    def multipliers(self, outcome: Outcome) -> list[float] | None:
        """Return None: the data determine them, up to functions that vanish on all rows."""
        return None

    def offset(self, outcome: Outcome, rows: Any) -> Array:
        """Return <a, x> + b on some of the training rows."""
        return self._rows(rows) @ outcome.linear + outcome.intercept

    def _linear_values(self, tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> Array:
        pairs = zip(tasks, outcomes, strict=True)
        return joined([self._rows(task.rows) @ outcome.linear for task, outcome in pairs])

    def _linear_errors(self, tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> Array | float:
        pairs = zip(tasks, outcomes, strict=True)
        sizes = [
            np.abs(self._rows(task.rows)) @ np.abs(outcome.linear) + abs(outcome.intercept)
            for task, outcome in pairs
        ]
        return (self._X.shape[1] + 8.0) * UNIT * joined(sizes)

    def measures(
        self,
        tasks: Sequence[Task],
        outcomes: Sequence[Outcome],
        values: Sequence[Array],
        errors: ValueErrors,
    ) -> list[Measure]:
        """Return the proofs; coefficients that do not meet the equations have no dual value.

        The dual point satisfies all equations exactly (`mercer.solvers.equations`). Where columns
        depend on each other up to rounding only, there may be none: then what the equations miss
        is estimated, and the proof says so.
        """
        measures = super().measures(tasks, outcomes, values, errors)
        found = []
        for task, outcome, f0, measure in zip(tasks, outcomes, values, measures, strict=True):
            proof = measure.values
            if task.linear.unbalanced(outcome.beta) > _BALANCED:
                proof = proof._replace(dual=-np.inf)
            elif self._feasible(task, outcome.beta) is None:
                offset = self.offset(outcome, task.rows)
                missed = task.linear.cost_of_imbalance(outcome.beta, offset)
                rounding = proof.rounding + missed
                proof = proof._replace(dual=proof.dual - missed, rounding=rounding, doubt=_NEARLY)
            if not self.hard:
                # Where the linear function fits everything, all terms are rounding of this.
                f = f0 + self.offset(outcome, task.rows)
                size = self.C * float(task.weight @ np.maximum(np.abs(task.y), np.abs(f)))
                proof = proof._replace(terms=max(proof.terms, _CANCELLED * size))
            found.append(measure._replace(values=proof))
        return found

    def _dual_point(
        self,
        tasks: Sequence[Task],
        problem: DualProblem,
        beta: Array,
        starts: NDArray[np.intp],
        costs: Costs,
    ) -> tuple[Array, Array | None]:
        """Return coefficients near which all equations hold, and how near."""
        parts = np.split(beta, starts[1:])
        pairs = zip(tasks, parts, strict=True)
        found = [one for task, part in pairs if (one := self._feasible(task, part)) is not None]
        if len(found) < len(parts):
            return super()._dual_point(tasks, problem, beta, starts, costs)
        return joined([one.point for one in found]), joined([one.distance for one in found])

    def _feasible(self, task: Task, beta: Array) -> FeasiblePoint | None:
        """Return the point near coefficients that satisfies the equations, made once."""
        key = beta.tobytes()
        known = task.linear.known
        if known is None or known[0] != key:
            lower, upper = task.problem.dual.lower, task.problem.dual.upper
            point = near_equations(beta, lower, upper, self._rows(task.rows))
            task.linear.known = key, point
        found: FeasiblePoint | None = task.linear.known[1]
        return found

    def _rows(self, rows: Any) -> Array:
        return self._X if rows is None else self._X[rows]


def _numbers(X: Any, kernel: Kernel, columns: list[int] | None) -> Array:
    """Return the columns of the linear functions as dense numbers."""
    shape = getattr(X, "shape", (count(X), 0))
    d = shape[-1] if columns is None else len(columns)
    require_memory(
        8.0 * _COPIES * shape[0] * d,
        f"takes the rows as dense numbers: {shape[0]} rows of {d} columns",
        "Use fewer columns, by on_columns or TruncatedSVD, or a positive definite kernel.",
    )
    try:
        X = select(X, columns, VECTORS)
        X = X.toarray() if sp.issparse(X) else X
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        X = np.empty(0)
    if X.ndim != 2:
        raise ParameterError(
            f"{kernel!r} is {kernel.definiteness}: it needs an unpenalised linear term, which "
            "exists for rows of numbers only."
        )
    return X


def _first_of_equal(X: Any, columns: list[int] | None) -> NDArray[np.intp]:
    """Return for each object the first one that a kernel on some columns cannot tell from it."""
    n = count(X)
    if columns is not None and not hasattr(X, "iloc"):
        X = X[:, columns]
    elif columns is not None:
        X = X.iloc[:, columns]
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        _, first, same = np.unique(X, axis=0, return_index=True, return_inverse=True)
        return first[same.reshape(-1)]
    if sp.issparse(X):
        ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        keys: Any = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in ends]
    elif hasattr(X, "itertuples"):
        keys = list(X.itertuples(index=False, name=None))
    elif hasattr(X, "rows"):  # polars
        keys = X.rows()
    else:
        keys = [tuple(row) if isinstance(row, np.ndarray) else row for row in X]
    seen: dict[Any, int] = {}
    try:
        return np.array([seen.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp)
    except TypeError:  # objects that cannot be looked up count as different ones
        return np.arange(n)
