"""Small problems of all pairs of classes, solved and proved by one native call.

Problem: for every pair (i, j), i < j, of classes, with y = +1 on class i and -1 on class j,

    minimise  1/2 |f|^2 + sum_r c_r l(y_r, f(x_r) + b)  over the rows r of the two classes.

Method: second-order SMO on the whole pair, then one linear system on the free variables
(``cpp/class_pairs.hpp``). With 1,000 classes there are 499,500 problems of a few rows each, and
creating a Python object for each takes longer than solving it, as it does for the few problems of a
small data set. All pairs are therefore one job: the problem is `PairsOfClasses`, the solution
`PairSolutions`, arrays over all pairs; `problems[k]` and `solutions[k]` are made when they are
read. Returned: coefficients and margins in the layout of LIBSVM's sv_coef, and for every pair the
intercept with its interval and primal and dual value. Of two classes, the second is the positive
one.

The ladder solves pairs on which these steps stall again, one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.losses import PiecewiseQuadratic
from mercer.objects.arrays import Array, Rows
from mercer.run import Run

from .base import Solver
from .certificate import STATUSES
from .decomposition import blame_overflow, native_settings
from .problem import Job, Problem, Settings, Solution


def pair_position(position: int, n_classes: int) -> tuple[int, int]:
    """Return the pair (i, j) at a position of the order (0, 1), (0, 2), ..., (1, 2), ..."""
    last = n_classes * (n_classes - 1) // 2 - 1 - position
    # Counted from the end, pairs come in groups of 1, 2, 3, ... with the same first class.
    group = (isqrt(8 * last + 1) - 1) // 2
    i = n_classes - 2 - group
    return i, n_classes - 1 - (last - group * (group + 1) // 2)


class PairsOfClasses:
    """The problems of all pairs of classes as one problem.

    `codes` are the classes of all rows, and `c` the weights C s_i of all rows. The loss is the same
    function for all rows of a label.
    """

    margin = totals = sign = None

    def __init__(
        self,
        loss: PiecewiseQuadratic,
        codes: Rows,
        n_classes: int,
        c: Array,
        fit_intercept: bool = True,
    ) -> None:
        self.loss, self.c, self.fit_intercept = loss, c, fit_intercept
        self.order = np.argsort(codes, kind="stable")
        """The rows sorted by class."""
        self.sizes = np.bincount(codes, minlength=n_classes)
        self.ends = np.cumsum(self.sizes)
        """Where each class ends in `order`."""
        sizes = self.sizes.tolist()
        self.rows_of_a_pair = sum(sorted(sizes)[-2:])
        """Rows of the largest pair."""
        self.values_within_classes = sum(size * size for size in sizes)
        """Kernel values between rows of one class."""

    def __len__(self) -> int:
        k = len(self.ends)
        return k * (k - 1) // 2

    def __getitem__(self, position: int) -> Problem:
        """Return the problem of one pair, the rows of its first class first."""
        first, second = (members for _, members in self.places(range(len(self))[position]))
        rows = np.concatenate([first, second])
        y = np.repeat([1.0, -1.0] if len(self) > 1 else [-1.0, 1.0], [len(first), len(second)])
        basis = np.zeros(len(y), dtype=np.int64) if self.fit_intercept else None
        return Problem(self.loss, y, self.c[rows], rows, basis)

    def places(self, position: int) -> list[tuple[int, Rows]]:
        """Return the line and the columns of the rows of both classes of a pair, in a table."""
        i, j = pair_position(position, len(self.ends))
        members = [self.order[self.ends[c] - self.sizes[c] : self.ends[c]] for c in (i, j)]
        return [(j - 1, members[0]), (i, members[1])]

    def native(self) -> dict[str, Any]:
        """Return the arrays as the native solver takes them."""
        c, ones = self.c[self.order], np.ones(len(self.order))
        dual = self.loss.pieces(np.concatenate((ones, -ones)), np.concatenate((c, c)))
        zero = np.zeros(len(dual.lower))
        curv_left = zero if dual.curv_left is None else dual.curv_left
        return {
            "order": self.order,
            "ends": self.ends,
            "equality": self.fit_intercept,
            "lower": dual.lower,
            "upper": dual.upper,
            "slope_left": dual.slope_left,
            "slope_right": dual.slope_left if dual.slope_right is None else dual.slope_right,
            "curv_left": curv_left,
            "curv_right": curv_left if dual.curv_right is None else dual.curv_right,
            "kink": zero if dual.kink is None else dual.kink,
        }


@dataclass
class PairSolutions:
    """The solutions of all pairs, as arrays.

    Tables have a column for every row and a line less than there are classes: a row of class i has
    its entry of the pair (i, j) in line j - 1, one of class j in line i. `excess` is 1 - y f,
    `mark` 0 for a coefficient 0, 1 for a free one, 2 for one at its bound. All other arrays have an
    entry per pair: primal and dual value include what rounding can contribute, `ended` are
    positions in `names`, the statuses.
    """

    problems: PairsOfClasses
    coef: Array
    excess: Array
    mark: NDArray[np.int8]
    intercept: Array
    lowest: Array
    highest: Array
    primal: Array
    dual: Array
    terms: Array
    norm2: Array
    violation: Array
    rounding: Array
    n_iter: NDArray[np.int32]
    ended: NDArray[np.int8]
    names: list[str]
    n_kernel_values: int
    seconds: float = 0.0
    unproved: dict[int, Solution] = field(default_factory=dict)
    """Pairs that were solved again, whose excess, mark and proof are still to be made."""

    def __len__(self) -> int:
        return len(self.intercept)

    def __getitem__(self, position: int) -> Solution:
        """Return the solution of a pair, whose values K beta are to be computed again."""
        p = range(len(self))[position]
        beta, multiplier = self.part(self.coef, p), -self.intercept[p : p + 1]
        interval = np.array([[-self.highest[p], -self.lowest[p]]])
        return Solution(beta, np.zeros(len(beta)), multiplier, interval, self.names[self.ended[p]])

    def part(self, table: NDArray[Any], position: int) -> NDArray[Any]:
        """Return the entries of a pair in a table."""
        return np.concatenate([table[place] for place in self.problems.places(position)])

    def put(self, table: NDArray[Any], position: int, values: NDArray[Any]) -> None:
        """Write the entries of a pair into a table."""
        first, second = self.problems.places(position)
        table[first], table[second] = np.split(values, [len(first[1])])

    @property
    def stalled(self) -> list[int]:
        """The pairs on which pair steps make no progress."""
        return (self.ended == self.names.index("stalled")).nonzero()[0].tolist()

    @property
    def statuses(self) -> set[str]:
        """How the pairs ended."""
        return {self.names[code] for code in set(self.ended.tolist())}

    @property
    def status(self) -> str:
        """How the worst pair ended; one that stalled is still to be solved."""
        return max(self.statuses, key=("stalled", *STATUSES).index)

    @status.setter
    def status(self, name: str) -> None:
        self.set_status(slice(None), name)

    def set_status(self, position: Any, name: str) -> None:
        """Say how a pair, or several, ended."""
        if name not in self.names:
            self.names.append(name)
        self.ended[position] = self.names.index(name)

    def replace(self, position: int, solution: Solution) -> None:
        """Put another solution of a pair in the place of the one that was found."""
        self.put(self.coef, position, solution.beta)
        if len(solution.multiplier):
            self.intercept[position] = -solution.multiplier.item()
        self.n_iter[position] += solution.n_iter
        self.n_kernel_values += solution.n_kernel_values
        self.set_status(position, solution.status)
        self.unproved[position] = solution


class ClassPairs(Solver):
    """One native call for all pairs of classes."""

    name = "class_pairs"
    kinds = (PairsOfClasses,)
    requires = ("native",)
    at_most: ClassVar = {"rows_of_a_pair": 1024, "values_within_classes": 2**25}  # see the core

    def solve(self, job: Job, settings: Settings, run: Run) -> PairSolutions:
        """Return the solutions of all pairs."""
        problem: Any = job.problem
        evaluator, objects = job.gram.native
        options, callback = native_settings(settings, run)
        try:
            found = evaluator.solve_class_pairs(objects, problem.native(), options, callback)
        except ValueError as error:
            blame_overflow(job.gram, error)
            raise
        if len(problem.ends) == 2:  # the second class is the positive one
            found["coef"], found["intercept"] = -found["coef"], -found["intercept"]
            found["lowest"], found["highest"] = -found["highest"], -found["lowest"]
        found |= {"ended": found.pop("status"), "names": found.pop("statuses")}
        return PairSolutions(problem, **found)
