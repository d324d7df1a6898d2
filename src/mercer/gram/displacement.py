"""The derivative of a kernel of x - z along a displacement, by its own program.

The program that fills tiles (`mercer.gram.program`) is run on x - z + i h u with h = 1e-200. Every
instruction is an analytic function, so the imaginary part of the result is h times the derivative
along u, without a difference that cancels: h squared is below the smallest number (W. Squire and G.
Trapp, "Using complex variables to estimate derivatives of real functions", SIAM Review 40, 1998).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mercer.numerics.profile_table import Table

from .coordinates import combined, magnitude

if TYPE_CHECKING:
    from .coordinates import Coordinates
    from .interface import Kernel

_STEP = 1e-200


def slope_along(kernel: Kernel, rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the derivatives of k(0, r + t u) at t = 0, of a kernel of x - z with a program."""
    program = _Displaced(rows + 1j * _STEP * directions)
    kernel.compile(program)  # type: ignore[arg-type]
    return program.result().imag / _STEP


class _Displaced:
    """A program builder that evaluates at complex differences instead of recording."""

    def __init__(self, differences: np.ndarray) -> None:
        self._differences = differences
        self._columns = tuple(range(differences.shape[1]))
        self._stack: list[np.ndarray] = []

    def result(self) -> np.ndarray:
        (values,) = self._stack
        return values

    @contextmanager
    def columns(self, index: Sequence[int]) -> Iterator[None]:
        outer = self._columns
        self._columns = tuple(outer[int(c)] for c in index)
        try:
            yield
        finally:
            self._columns = outer

    def leaf(self, statistic: str) -> None:
        t = self._differences[:, list(self._columns)]
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
        factors = (function.values(self._differences[:, j], 0.0) for j in self._columns)
        values = combined(factors, combination, order)
        self._stack.append(np.broadcast_to(values, len(self._differences)))

    def const(self, value: float) -> None:
        self._stack.append(np.full(len(self._differences), complex(value)))

    def dup(self) -> None:
        self._stack.append(self._stack[-1])

    def swap(self) -> None:
        self._stack[-2:] = self._stack[:-3:-1]

    def affine(self, a: float, b: float) -> None:
        self._stack.append(a * self._stack.pop() + b)

    def exp(self) -> None:
        self._stack.append(np.exp(self._stack.pop()))

    def log(self) -> None:
        x = self._stack.pop()
        self._stack.append(np.log(np.where(x.real > 0, x, np.finfo(float).tiny)))

    def log1p(self) -> None:
        self._stack.append(np.log1p(self._stack.pop()))

    def at_least(self, bound: float) -> None:
        x = self._stack.pop()
        self._stack.append(np.where(x.real >= bound, x, bound))

    def sqrt(self) -> None:
        self._stack.append(np.sqrt(self._stack.pop()))

    def cos(self) -> None:
        self._stack.append(np.cos(self._stack.pop()))

    def tanh(self) -> None:
        self._stack.append(np.tanh(self._stack.pop()))

    def reciprocal(self) -> None:
        self._stack.append(1.0 / self._stack.pop())

    def power(self, exponent: float) -> None:
        self._stack.append(self._stack.pop() ** exponent)

    def powi(self, power: int) -> None:
        self._stack.append(self._stack.pop() ** int(power))

    def polynomial(self, coefficients: Sequence[float]) -> None:
        self._stack.append(np.polynomial.polynomial.polyval(self._stack.pop(), coefficients))

    def table(self, table: Table) -> None:
        x = self._stack.pop()
        self._stack.append(table(x.real) + 1j * x.imag * table.derivative(x.real))

    def add(self) -> None:
        self._stack.append(self._stack.pop() + self._stack.pop())

    def mul(self) -> None:
        self._stack.append(self._stack.pop() * self._stack.pop())

    def normalize(self, kernel: Kernel) -> None:
        diagonal = self._diagonal(kernel)
        self._stack.append(self._stack.pop() / diagonal if diagonal else 0 * self._stack.pop())

    def add_diagonal(self, kernel: Kernel) -> None:
        self._stack.append(self._stack.pop() + 2 * self._diagonal(kernel))

    def python(self, kernel: Kernel) -> NoReturn:
        self._refuse(repr(kernel))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse(f"the operation {name!r}")

    def _diagonal(self, kernel: Kernel) -> float:
        """Return k(x, x), which is one number for a kernel of x - z."""
        return float(kernel.diag(np.zeros((1, len(self._columns))))[0])

    def _refuse(self, what: str) -> NoReturn:
        raise NotImplementedError(
            f"the derivative of {what} by the difference x - z is not known, and with it that by "
            "the period; kernels that are computed by a program have it."
        )
