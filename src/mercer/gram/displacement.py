"""The derivative of a kernel of x - z along a displacement, by its own program.

The program that fills tiles (`mercer.gram.program`) is run on x - z + i h u with h = 1e-200. Every
instruction is an analytic function, so the imaginary part of the result is h times the derivative
along u, without a difference that cancels: h squared is below the smallest number (W. Squire and G.
Trapp, "Using complex variables to estimate derivatives of real functions", SIAM Review 40, 1998).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mercer.numerics.profile_table import Table

from .coordinate_statistics import combined, magnitude
from .kernel_diagonal import Stack

if TYPE_CHECKING:
    from .coordinate_statistics import Coordinates
    from .interface import Kernel

_STEP = 1e-200


def slope_along(kernel: Kernel, rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the derivatives of k(0, r + t u) at t = 0, of a kernel of x - z with a program."""
    program = _Displaced(rows + 1j * _STEP * directions)
    kernel.compile(program)  # type: ignore[arg-type]
    return program.result().imag / _STEP


class _Displaced(Stack):
    """A program builder that evaluates at complex differences instead of recording."""

    def __init__(self, differences: np.ndarray) -> None:
        super().__init__(len(differences))
        self._differences = differences

    def _used(self) -> np.ndarray:
        """Return the differences of the columns that are looked at."""
        d = self._differences
        return d if self._columns is None else d[:, list(self._columns)]

    def leaf(self, statistic: str) -> None:
        t = self._used()
        if statistic == "sqdist":
            self._stack.append((t * t).sum(axis=1))
        elif statistic == "l1":
            self._stack.append(magnitude(t).sum(axis=1))
        else:
            self._refuse(f"the pair statistic {statistic!r}")

    def coordinates(
        self, function: Coordinates, combination: str = "product", order: int = 0
    ) -> None:
        if not function.of_difference:
            self._refuse(f"the function {function.function!r} of two coordinates")
        factors = (function.values(t, 0.0) for t in self._used().T)
        values = combined(factors, combination, order)
        self._stack.append(np.broadcast_to(values, len(self._differences)))

    def log(self) -> None:
        x = self._stack.pop()
        self._stack.append(np.log(np.where(x.real > 0, x, np.finfo(float).tiny)))

    def at_least(self, bound: float) -> None:
        x = self._stack.pop()
        self._stack.append(np.where(x.real >= bound, x, bound))

    def sqrt(self) -> None:
        self._stack.append(np.sqrt(self._stack.pop()))

    def power(self, exponent: float) -> None:
        self._stack.append(self._stack.pop() ** exponent)

    def table(self, table: Table) -> None:
        x = self._stack.pop()
        self._stack.append(table(x.real) + 1j * x.imag * table.derivative(x.real))

    def normalize(self, kernel: Kernel) -> None:
        diagonal = self._diagonal(kernel)
        self._stack.append(self._stack.pop() / diagonal if diagonal else 0 * self._stack.pop())

    def add_diagonal(self, kernel: Kernel) -> None:
        self._stack.append(self._stack.pop() + 2 * self._diagonal(kernel))

    def through(self, mapping: Any) -> NoReturn:
        self._refuse("a map of the vectors")

    def python(self, kernel: Kernel) -> NoReturn:
        self._refuse(repr(kernel))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse(f"the operation {name!r}")

    def _diagonal(self, kernel: Kernel) -> float:
        """Return k(x, x), which is one number for a kernel of x - z."""
        return float(kernel.diag(np.zeros((1, self._used().shape[1])))[0])

    def _refuse(self, what: str) -> NoReturn:
        raise NotImplementedError(
            f"the derivative of {what} by the difference x - z is not known, and with it that by "
            "the period; kernels that are computed by a program have it."
        )
