"""What a solver is: it declares what it needs and what it can do, and solves batches of problems.

Whether a solver takes a problem, and the sentence that refuses it, follow from the declarations
(`Solver.takes`); no solver words a refusal. What is not declared is not taken: the defaults are
those of a plain solver, for the norm of a function, no basis, no totals, finite weights and smooth
dual costs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.losses import Regulariser
from mercer.objects.arrays import Array
from mercer.run import Run

from .problem import DualProblem, Job, Problem, Settings

_METHODS = {
    "pieces": "whose conjugate is piecewise quadratic",
    "margin": "of the margin y f",
    "slope": "with a subgradient",
    "curvature": "with a second derivative",
    "prox": "with a proximal operator",
}
"""What a method says of a loss that has it."""

_ACCESS = {
    "native": "kernel values computed by the native core",
    "rows": "rows of the matrix",
    "dot": "products with the matrix",
    "t_dot": "products with the transposed matrix",
    "csr": "the rows of a linear machine's design",
}
"""What a method of an operator gives to a solver."""

_BASES = {
    "none": "no basis",
    "bias": "one constant",
    "groups": "a constant for each of two groups",
    "functions": "a basis of functions",
}

_PRICES = {
    "finite": "finite weights c",
    "mixed": "some infinite weights c",
    "infinite": "infinite weights c (hard constraints)",
}


class Solver(ABC):
    """An optimiser: its declarations, and :meth:`solve`.

    A solver must solve every problem that its declarations admit.

    Attributes
    ----------
    name : str
        What users call it: ``solver="name"``. Solvers of one name share it by what they take.
    kinds : tuple of types
        Problems of other types are for other solvers.
    requires : tuple of str
        The attributes of the operator (`mercer.solvers.operator`) that it uses.
    needs_loss : tuple of str
        The methods of the loss that it calls, besides value and conjugate.
    omegas : tuple
        The regularisers it takes, as classes; None is the norm of a function.
    bases : tuple of str
        The bases of unpenalised functions it takes: "none", "bias" (a constant), "groups" (several
        constants, one for each group), "functions".
    totals : tuple of str
        The bases whose equations may have other right-hand sides than 0.
    prices : tuple of str
        The weights c it takes: "finite", "mixed" (some are infinite) and "infinite" (hard
        constraints alone).
    kinks : bool
        Whether dual costs may have kinks, as those of a tube do.
    at_most : mapping of str to int
        Largest values of attributes of a problem.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import L1, Hinge
    >>> from mercer.solvers import Problem, choose
    >>> problem = Problem(Hinge(), np.array([-1.0, 1.0]), np.ones(2))
    >>> solver = choose(problem)
    >>> solver.name, solver.requires, solver.takes(problem)
    ('decomposition', ('native',), None)
    """

    name: str
    kinds: ClassVar[tuple[type, ...]] = (Problem,)
    requires: ClassVar[tuple[str, ...]] = ()
    needs_loss: ClassVar[tuple[str, ...]] = ()
    omegas: ClassVar[tuple[type[Regulariser] | None, ...]] = (None,)
    bases: ClassVar[tuple[str, ...]] = ("none",)
    totals: ClassVar[tuple[str, ...]] = ()
    prices: ClassVar[tuple[str, ...]] = ("finite",)
    kinks: ClassVar[bool] = False
    at_most: ClassVar[Mapping[str, int]] = {}

    @abstractmethod
    def solve(self, job: Job, settings: Settings, run: Run) -> Any:
        """Return the solution of one problem, with an honest status.

        `run` says when to stop: ``run.stop(n_iter, violation, gap)`` returns the status, None to go
        on.
        """

    def solve_batch(self, jobs: Sequence[Job], settings: Settings, run: Run) -> list[Any]:
        """Return the solutions of several problems, in their order."""
        return in_turn(lambda job, left: [self.solve(job, settings, left)], jobs, run)

    def takes(self, problem: Any, operator: Any = None) -> str | None:
        """Return None, or the sentence that refuses a problem (and its operator, if given).

        The sentence is empty where the solver is for problems of another kind.
        """
        if not isinstance(problem, self.kinds):
            return ""
        for name, largest in self.at_most.items():
            value = getattr(problem, name)
            if value > largest:
                what = name.replace("_", " ")
                return f"{self.name} takes up to {largest:,} {what}; this problem has {value:,}."
        for name in self.requires if operator is not None else ():
            if not hasattr(kind := type(operator), name):
                needed = _ACCESS.get(name, name)
                return f"{self.name} needs {needed}, which {kind.__name__} does not have."
        if isinstance(problem, Problem):
            if "finite" not in self.prices and not problem.unbounded:
                return ""  # solvers of hard constraints are for nothing else
            refusal = next(self._lacking_in_primal(problem), None)
            return refusal or next(self._lacking_in_dual(problem), None)
        if isinstance(problem, DualProblem):
            return next(self._lacking_in_dual(problem), None)
        return None

    def _lacking_in_primal(self, problem: Problem) -> Iterator[str]:
        """Yield a sentence for a regulariser, loss or weights that the solver does not take."""
        omega = None if problem.omega is None else type(problem.omega)
        classes = tuple(filter(None, self.omegas))
        if None not in self.omegas if omega is None else not issubclass(omega, classes):
            yield self._not_taken(_regulariser(omega), map(_regulariser, self.omegas))
        for method in self.needs_loss:
            if not hasattr(problem.loss, method):
                yield (
                    f"{self.name} needs a loss {_METHODS.get(method, '')}; "
                    f"{type(problem.loss).__name__} has no method {method}."
                )
        if len(self.prices) < len(_PRICES) and problem.prices not in self.prices:
            yield self._not_taken(_PRICES[problem.prices], map(_PRICES.get, self.prices))

    def _lacking_in_dual(self, problem: Problem | DualProblem) -> Iterator[str]:
        """Yield a sentence for a basis, totals or kinks that the solver does not take."""
        if len(self.bases) < len(_BASES) and problem.basis_kind not in self.bases:
            yield self._not_taken(_BASES[problem.basis_kind], map(_BASES.get, self.bases))
        totals = problem.totals is not None and bool(np.any(problem.totals))
        if totals and problem.basis_kind not in self.totals:
            yield f"{self.name} takes no totals of {_BASES[problem.basis_kind]}."
        if "pieces" in self.needs_loss and not self.kinks and problem.dual.slope_right is not None:
            yield f"{self.name} takes dual costs without a kink, not those of a tube."

    def _not_taken(self, given: str, allowed: Iterable[str | None]) -> str:
        return f"{self.name} takes {' or '.join(map(str, allowed))}, not {given}."


def relative_gap(
    problem: Problem, penalty: float, conjugate: float, values: Array, beta: Array
) -> float:
    """Return the duality gap relative to the primal value, as a solver measures its progress.

    `penalty`, `conjugate`: the regulariser at the model, and its conjugate at the dual point (for
    the norm of a function both are half its square). `values`: of the model, `beta`: the dual
    point. What is proved of a solution is computed by `certificate`.
    """
    y, c, loss = problem.y, problem.c, problem.loss
    primal = penalty + float(loss.cost(y, values, c).sum())
    gap = primal + conjugate + float(loss.conjugate(y, beta, c).sum())
    return gap / primal if primal > 0.0 else abs(gap)


def in_turn(solve: Callable[[Any, Run], list[Any]], parts: Iterable[Any], run: Run) -> list[Any]:
    """Return the solutions of parts of a batch; after an interrupt the others take no step."""
    solutions: list[Any] = []
    for part in parts:
        if not solutions:
            solutions += solve(part, run.branch())
            continue
        found: list[Any] = []
        left = run.branch(steps=0 if solutions[-1].status == "interrupted" else None)
        with left.until_stopped():
            found += solve(part, left)
        if not found:
            solutions[-1].status = "interrupted"
            found = solve(part, run.branch(steps=0))
        solutions += found
    return solutions


def _regulariser(kind: type[Regulariser] | None) -> str:
    """Return what a regulariser is called, in the sentence of a refusal."""
    if kind is None:
        return "the norm of a function"
    return f"a penalty on coefficients ({kind.__name__})"
