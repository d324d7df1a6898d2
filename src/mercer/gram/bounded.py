"""Numbers together with bounds of their errors, and the instructions of programs on them.

A running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section
3.3): every instruction is applied to the computed number v and to the bound e of its distance from
the exact one. What the instruction makes of an interval [v - e, v + e] is bounded by its values at
the ends where it is monotone and by its Lipschitz constant otherwise; its own rounding is a small
multiple of the unit roundoff u, as its implementation in cpp/isa states it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

UNIT = 2.0**-53
TINY = float(np.finfo(np.float64).tiny)  # results below it lose digits, or stay at it
_ROUNDINGS = 4.0  # of an elementary function, in units of its result, with a margin
_COSINE = 1e5  # arguments up to which the cosine is accurate


def gamma(operations: float) -> float:
    """Return the relative error that so many roundings one after the other may have."""
    return operations * UNIT / (1.0 - operations * UNIT)


class Bounded(NamedTuple):
    """Computed numbers and bounds of their errors.

    Attributes
    ----------
    value, error : ndarray
        The numbers, and how far from the exact ones they may be.
    """

    value: np.ndarray
    error: np.ndarray

    @property
    def size(self) -> np.ndarray:
        """Bounds of the absolute values of the exact numbers."""
        return np.abs(self.value) + self.error


def exact(value: Any) -> Bounded:
    """Return numbers without error."""
    value = np.asarray(value, dtype=np.float64)
    return Bounded(value, np.zeros_like(value))


def rounded(value: np.ndarray, error: np.ndarray, roundings: float = 1.0) -> Bounded:
    """Return a result whose arguments contribute `error` and which is rounded itself."""
    return Bounded(value, error + gamma(roundings) * np.abs(value) + TINY * UNIT)


def add(x: Bounded, y: Bounded) -> Bounded:
    """Return the sum."""
    return rounded(x.value + y.value, x.error + y.error)


def multiply(x: Bounded, y: Bounded) -> Bounded:
    """Return the product."""
    error = np.abs(x.value) * y.error + np.abs(y.value) * x.error + x.error * y.error
    return rounded(x.value * y.value, error)


def transform(x: Bounded, name: str, arguments: tuple[Any, ...]) -> Bounded:
    """Return what an instruction of a program makes of single numbers.

    Parameters
    ----------
    x : Bounded
        The numbers.
    name : str
        The instruction; see `mercer.gram.program.Builder`.
    arguments : tuple
        Its parameters.
    """
    found = _INSTRUCTIONS[name](x, *arguments)
    # Neither infinity nor NaN bounds anything.
    return Bounded(found.value, np.where(np.isnan(found.error), np.inf, found.error))


def _between(x: Bounded, f: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return f and by how much it changes within the errors, for a monotone function f."""
    value = f(x.value)
    moved = [np.abs(f(x.value + sign * x.error) - value) for sign in (-1.0, 1.0)]
    # The difference of two rounded values is a rounding of each off.
    return value, np.where(x.error > 0, np.maximum(*moved) + gamma(4) * np.abs(value), 0.0)


def _affine(x: Bounded, a: float, b: float) -> Bounded:
    return rounded(a * x.value + b, abs(a) * x.error)


def _exp(x: Bounded, a: float, b: float) -> Bounded:
    t = a * x.value + b
    value = np.exp(t)
    # The exponent is a x log2(e) + b log2(e) with rounded factors.
    spread = abs(a) * x.error + gamma(4) * (np.abs(a * x.value) + abs(b))
    return rounded(value, value * np.expm1(spread) + TINY, _ROUNDINGS)


def _log(x: Bounded) -> Bounded:
    return rounded(*_between(x, lambda t: np.log(np.maximum(t, TINY))), _ROUNDINGS)


def _log1p(x: Bounded) -> Bounded:
    return rounded(*_between(x, lambda t: np.log1p(np.maximum(t, -1.0 + UNIT))), 2 * _ROUNDINGS)


def _sqrt(x: Bounded) -> Bounded:
    return rounded(*_between(x, lambda t: np.sqrt(np.maximum(t, 0.0))))


def _at_least(x: Bounded, bound: float) -> Bounded:
    # Both the computed and the exact number are moved up to the bound, which brings them together.
    value = np.maximum(x.value, bound)
    return Bounded(
        value,
        np.maximum(x.value + x.error, bound)
        - np.minimum(value, np.maximum(x.value - x.error, bound)),
    )


def _cos(x: Bounded) -> Bounded:
    reduction = np.where(np.abs(x.value) <= _COSINE, _ROUNDINGS * UNIT, 2.0)
    return Bounded(np.cos(x.value), np.minimum(x.error + reduction, 2.0))


def _tanh(x: Bounded) -> Bounded:
    return rounded(*_between(x, np.tanh), 2 * _ROUNDINGS)


def _reciprocal(x: Bounded) -> Bounded:
    value = 1.0 / x.value
    room = np.abs(x.value) - x.error  # of the denominator from 0
    error = np.where(room > 0, np.abs(value) * x.error / np.where(room > 0, room, 1.0), np.inf)
    return rounded(value, error)


def _powi(x: Bounded, power: int) -> Bounded:
    size = np.abs(x.value)
    spread = (size + x.error) ** power - size**power
    spread = np.where(x.error > 0, spread + gamma(4) * size**power, 0.0)
    return rounded(x.value**power, spread, max(power, 1))


def _power(x: Bounded, exponent: float) -> Bounded:
    found = _between(x, lambda t: np.maximum(t, 0.0) ** exponent)
    return rounded(*found, 2 * _ROUNDINGS + 2 * abs(exponent))


def _polynomial(x: Bounded, falling: list[float]) -> Bounded:
    value = np.zeros_like(x.value)
    sizes, widened = np.zeros_like(x.value), np.zeros_like(x.value)
    for c in falling:
        value = value * x.value + c
        sizes = sizes * np.abs(x.value) + abs(c)
        widened = widened * x.size + abs(c)
    # The monomials change by no more than those of the absolute values do.
    spread = np.where(x.error > 0, widened - sizes + gamma(4) * widened, 0.0)
    return Bounded(value, spread + gamma(2 * len(falling) + 2) * sizes + TINY)


def _table(x: Bounded, table: Any) -> Bounded:
    value = table(x.value)
    shares = (-1.0, -0.5, 0.5, 1.0)
    moved = [np.abs(table(x.value + share * x.error) - value) for share in shares]
    return Bounded(value, 1.5 * np.max(moved, axis=0) + table.value_error)


_INSTRUCTIONS: dict[str, Callable[..., Bounded]] = {
    "affine": _affine,
    "exp": _exp,
    "log": _log,
    "log1p": _log1p,
    "sqrt": _sqrt,
    "at_least": _at_least,
    "cos": _cos,
    "tanh": _tanh,
    "reciprocal": _reciprocal,
    "powi": _powi,
    "power": _power,
    "polynomial": _polynomial,
    "table": _table,
}
