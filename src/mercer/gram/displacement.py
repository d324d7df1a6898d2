"""The derivative of a kernel of x - z along a displacement, by its own program.

The program that fills tiles (`mercer.gram.program`) is run on x - z + i h u with h = 1e-200. Every
instruction is an analytic function, so the imaginary part of the result is h times the derivative
along u, without a difference that cancels: h squared is below the smallest number (W. Squire and G.
Trapp, "Using complex variables to estimate derivatives of real functions", SIAM Review 40, 1998).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np

from .bounded import TINY
from .coordinate_statistics import combined, magnitude
from .interpreter import FUNCTIONS, Numbers
from .program import Columns, Mapping, Program, part_program

if TYPE_CHECKING:
    from .interface import Kernel

_STEP = 1e-200  # whose square is below the smallest number


def slope_along(kernel: Kernel, rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the derivatives of k(0, r + t u) at t = 0, of a kernel of x - z with a program."""
    program = part_program(kernel)
    return _Displaced(program, rows + 1j * _STEP * directions).run().imag / _STEP


def _at_least(x: np.ndarray, bound: float) -> np.ndarray:
    """Return x, or the bound where the real part of x is smaller."""
    return np.where(x.real >= bound, x, bound)


class _Displaced(Numbers):
    """Runs a program at complex differences x - z."""

    functions: ClassVar[dict[str, Callable[..., np.ndarray]]] = {
        **FUNCTIONS,
        "log": lambda x: np.log(np.where(x.real > 0, x, TINY)),
        "at_least": _at_least,
        "sqrt": np.sqrt,
        "power": lambda x, exponent: x**exponent,
        "table": lambda x, table: table(x.real) + 1j * x.imag * table.derivative(x.real),
    }

    def __init__(self, program: Program, differences: np.ndarray) -> None:
        super().__init__(program, len(differences))
        self._differences = differences

    def leaf(self, k: int) -> np.ndarray:
        leaf = self.program.leaves[k]
        if leaf.kind == "python":
            self._refuse(repr(leaf.kernel))
        t = self._used(leaf.columns, leaf.mapping)
        if leaf.kind in ("matrix", "sequence") or leaf.mapped:
            self._refuse(f"the operation {'mapped' if leaf.mapped else leaf.kind!r}")
        if leaf.coordinates is not None:
            f = leaf.coordinates
            if not f.of_difference:
                self._refuse(f"the function {f.function!r} of two coordinates")
            values = combined((f.values(x, 0.0) for x in t.T), leaf.combination, leaf.order)
            return np.broadcast_to(values, self.n)
        if leaf.kind not in ("sqdist", "l1"):
            self._refuse(f"the pair statistic {leaf.kind!r}")
        return (t * t if leaf.kind == "sqdist" else magnitude(t)).sum(axis=1)

    def scaled(self, x: np.ndarray, k: int) -> np.ndarray:
        diagonal = self._diagonal(k)
        return x / diagonal if diagonal else 0 * x

    def raised(self, x: np.ndarray, k: int) -> np.ndarray:
        return x + 2 * self._diagonal(k)

    def _diagonal(self, k: int) -> float:
        """Return k(x, x), which is one number for a kernel of x - z."""
        part = self.program.scalars[k]
        used = self._used(part.columns, part.mapping)
        return float(part.kernel.diag(np.zeros((1, used.shape[1])))[0])

    def _used(self, columns: Columns, mapping: Mapping | None) -> np.ndarray:
        """Return the differences in some columns."""
        if mapping is not None:
            self._refuse("a map of the vectors")
        return self._differences if columns is None else self._differences[:, list(columns)]

    def _refuse(self, what: str) -> NoReturn:
        raise NotImplementedError(
            f"the derivative of {what} by the difference x - z is not known, and with it that by "
            "the period; kernels that are computed by a program have it."
        )
