"""Machines on kernels of order 2: an unpenalised linear term beside the expansion.

A kernel that is conditionally positive definite of order 2, such as the thin plate spline, has
c'Kc >= 0 for coefficients with sum_i c_i = 0 and sum_i c_i x_i = 0. Both hold for the dual of

    minimise  1/2 beta' K beta + C sum_i s_i l(y_i, f(x_i))
    over      f = sum_j beta_j k(x_j, .) + <a, x> + b,

whose equality constraints belong to a and b, which are not penalised; the usual dual has that of b
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

from mercer.kernels import Kernel
from mercer.kernels.columns_used import columns_seen, linear_columns
from mercer.objects.arrays import Array
from mercer.objects.parameters import ParameterError
from mercer.objects.rows import dense
from mercer.objects.tables import first_of_equal, select
from mercer.objects.validation import VECTORS, count
from mercer.solvers import Solution
from mercer.solvers.dense_interior_point import require_memory
from mercer.solvers.equations import FeasiblePoint, near_equations
from mercer.solvers.prove.primal_dual import Values
from mercer.solvers.rounding import UNIT
from mercer.solvers.task import Task

_NO_EXTENT = 1e-12  # relative extent of the data in a direction that counts as zero
_COPIES = 4  # arrays of the size of the rows that exist at one time
# Residual of the equations, relative to the size of their terms, allowed in a dual value.
_BALANCED = 1e-9
_NEARLY = "the equations of nearly dependent columns hold up to rounding only"
# Losses this small relative to those of values as large as the targets are rounding.
_CANCELLED = 1e-10


def with_linear_part(tasks: Sequence[Task], kernel: Kernel, X: Any) -> None:
    """Give every task the linear functions of a kernel of order 2; equal rows are one object."""
    if hasattr(tasks[0].problem.loss, "margin") and tasks[0].problem.unbounded:
        raise ParameterError(
            f"{kernel!r} is {kernel.definiteness}, with which there is no hard margin (C=inf): use "
            "a finite C."
        )
    numbers = dense_columns(X, kernel, linear_columns(kernel))
    every = first_of_equal(X, columns_seen(kernel))
    for task in tasks:
        there = np.arange(len(numbers)) if task.rows is None else task.rows
        task.linear = LinearPart(numbers[there])
        _, first, same = np.unique(every[there], return_index=True, return_inverse=True)
        objects = there[first[same]] if len(first) < len(there) else task.rows
        basis = task.linear.equations
        task.problem = replace(task.problem, rows=objects, basis=basis, weight=task.weight)


class LinearPart:
    """The linear functions on some points `X`: `equations` are an orthonormal basis of them."""

    def __init__(self, X: Array) -> None:
        self.X, self.mean = X, X.mean(axis=0)
        centred = X - self.mean
        centred -= centred.mean(axis=0)  # rounding, of data far from the origin
        U, extent, Vt = scipy.linalg.svd(centred, full_matrices=False, check_finite=False)
        rounding = np.finfo(float).eps * max(X.shape) * extent.max(initial=0.0)
        smallest = max(rounding, _NO_EXTENT * float(np.linalg.norm(X)))
        rank = int(np.count_nonzero(extent > smallest))
        constant = np.full((len(X), 1), 1.0 / np.sqrt(len(X)))
        self.equations = np.hstack([constant, U[:, :rank]])
        self._map = Vt[:rank].T / extent[:rank]
        self._known: Any = None  # the last coefficients whose feasible point was looked for

    def read(self, solution: Solution, kernel: Kernel) -> tuple[float, Array]:
        """Return b and a of a solution, unless it shows that the kernel is not what it claims."""
        if solution.negative_curvature:
            raise ParameterError(
                f"{kernel!r} claims to be {kernel.definiteness}, but on these samples its "
                "quadratic form is negative for coefficients that are orthogonal to all linear "
                "functions. Correct the claim, or use another kernel."
            )
        return self.coefficients(solution.multiplier)

    def coefficients(self, multipliers: Array) -> tuple[float, Array]:
        """Return b and a of the function <a, x> + b = -equations @ multipliers on the points."""
        a = -(self._map @ multipliers[1:])
        level = -float(multipliers[0]) / np.sqrt(len(self.equations))
        return level - float(a @ self.mean), a

    def values(self, solution: Solution) -> Array:
        """Return <a, x> at the points."""
        assert solution.linear is not None
        return self.X @ solution.linear[1]

    def errors(self, solution: Solution) -> Array:
        """Return bounds on the errors of <a, x> + b."""
        assert solution.linear is not None
        b, a = solution.linear
        return (self.X.shape[1] + 8.0) * UNIT * (np.abs(self.X) @ np.abs(a) + abs(b))

    def unbalanced(self, beta: Array) -> float:
        """Return the residual of the equations, relative to their largest terms.

        The terms of the coefficients there are may all be rounding: those of points in the middle.
        """
        missing = np.abs(self.equations.T @ beta)
        terms = np.abs(self.equations).max(axis=0) * float(np.abs(beta).sum())
        return float((missing / np.maximum(terms, 1e-300)).max())

    def cost_of_imbalance(self, beta: Array, values: Array) -> float:
        """Return an estimate of how much a dual value is too large where the equations are missed.

        The Lagrangian at coefficients with Q'beta = r is larger than the dual value by m'r, where
        m are the optimal multipliers; those of the model, with values -Q m, stand for them, with a
        factor 2.
        """
        terms = np.abs(self.equations.T) @ np.abs(beta)
        missing = np.abs(self.equations.T @ beta) + 8.0 * UNIT * terms
        return 2.0 * float(np.abs(self.equations.T @ values) @ missing)

    def feasible(self, task: Task, beta: Array) -> FeasiblePoint | None:
        """Return the point near coefficients that satisfies the equations, made once."""
        key = beta.tobytes()
        if self._known is None or self._known[0] != key:
            dual = task.problem.dual
            self._known = key, near_equations(beta, dual.lower, dual.upper, self.X)
        found: FeasiblePoint | None = self._known[1]
        return found

    def checked(self, task: Task, solution: Solution, f0: Array, proof: Values) -> Values:
        """Return the values of a proof; coefficients that miss the equations have no dual value.

        The dual point satisfies all equations exactly (`mercer.solvers.equations`). Where columns
        depend on each other up to rounding only, there may be none: then what the equations miss
        is estimated, and the proof says so.
        """
        assert solution.linear is not None
        beta, offset = solution.beta, self.values(solution) + solution.linear[0]
        if self.unbalanced(beta) > _BALANCED:
            proof = proof._replace(dual=-np.inf)
        elif self.feasible(task, beta) is None:
            missed = self.cost_of_imbalance(beta, offset)
            rounding = proof.rounding + missed
            proof = proof._replace(dual=proof.dual - missed, rounding=rounding, doubt=_NEARLY)
        if task.problem.unbounded:
            return proof
        # Where the linear function fits everything, all terms are rounding of this.
        size = float(task.problem.c @ np.maximum(np.abs(task.y), np.abs(f0 + offset)))
        return proof._replace(terms=max(proof.terms, _CANCELLED * size))


def dense_columns(X: Any, kernel: Kernel, columns: list[int] | None) -> Array:
    """Return the columns of the linear functions as dense numbers."""
    shape = getattr(X, "shape", (count(X), 0))
    d = shape[-1] if columns is None else len(columns)
    require_memory(
        8.0 * _COPIES * shape[0] * d,
        f"takes the rows as dense numbers: {shape[0]} rows of {d} columns",
        "Use fewer columns, by on_columns or TruncatedSVD, or a positive definite kernel.",
    )
    try:
        X = dense(select(X, columns, VECTORS))
    except (TypeError, ValueError):
        X = np.empty(0)
    if X.ndim != 2:
        raise ParameterError(
            f"{kernel!r} is {kernel.definiteness}: it needs an unpenalised linear term, which "
            "exists for rows of numbers only."
        )
    return X
