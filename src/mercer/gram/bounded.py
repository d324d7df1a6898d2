"""Numbers together with bounds of their errors, and the instructions of programs on them.

A running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section
3.3): every instruction is applied to the computed number v and to the bound e of its distance from
the exact one. Its own rounding is a small multiple of the unit roundoff u, as its implementation in
cpp/isa states it.

Three numbers take part: the exact one t, the one n that the native core computed, and the v that is
computed here, perhaps with other roundings. Throughout |n - t| <= e and |v - t| <= e, so that t is
within e and n within 2 e of v: monotone functions, whose slope grows or falls, are followed to the
ends of [v - 2 e, v + 2 e], others by their Lipschitz constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

UNIT = 2.0**-53  # unit roundoff of float64
TINY = float(np.finfo(np.float64).tiny)  # results below it lose digits, or stay at it
_ROUNDINGS = 4.0  # of an elementary function, in units of its result, with a margin
_COSINE = 1e5  # arguments up to which the cosine is accurate


def gamma(operations: float) -> float:
    """Return the relative error that so many roundings one after the other may have."""
    return operations * UNIT / (1.0 - operations * UNIT)


class Bounded(NamedTuple):
    """Computed numbers and bounds of their errors."""

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
    size = np.abs(value) + 2.0 * error
    return Bounded(value, error + gamma(roundings) * size + TINY * UNIT)


def add(x: Bounded, y: Bounded) -> Bounded:
    """Return the sum."""
    return rounded(x.value + y.value, x.error + y.error)


def multiply(x: Bounded, y: Bounded) -> Bounded:
    """Return the product."""
    error = np.abs(x.value) * y.error + np.abs(y.value) * x.error + 3.0 * x.error * y.error
    return rounded(x.value * y.value, error)


def transform(x: Bounded, name: str, arguments: Sequence[Any]) -> Bounded:
    """Apply an instruction of a program to numbers with error bounds."""
    found = _INSTRUCTIONS[name](x, *arguments)
    # Neither infinity nor NaN bounds anything.
    return Bounded(found.value, np.where(np.isnan(found.error), np.inf, found.error))


def _between(x: Bounded, f: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return a monotone, convex or concave f, and by how much it changes within the errors."""
    value = f(x.value)
    moved = [np.abs(f(x.value + sign * x.error) - value) for sign in (-2.0, 2.0)]
    # The difference of two rounded values is a rounding of each off.
    return value, np.where(x.error > 0, np.maximum(*moved) + gamma(4) * np.abs(value), 0.0)


def _affine(x: Bounded, a: float, b: float) -> Bounded:
    product, error = a * x.value, abs(a) * x.error
    if b != 0.0 and abs(np.frexp(a)[0]) != 0.5:
        # Without a fused instruction the product is rounded too, unless by a power of two.
        error = error + gamma(1) * (np.abs(product) + 2.0 * error)
    return rounded(product + b, error)


def _exp(x: Bounded, a: float, b: float) -> Bounded:
    t = a * x.value + b
    value = np.exp(t)
    # The exponent is a x log2(e) + b log2(e) with rounded factors.
    spread = abs(a) * x.error + gamma(4) * (np.abs(a * x.value) + abs(b))
    return rounded(value, value * np.expm1(2.0 * spread) + TINY, _ROUNDINGS)


def _log(x: Bounded) -> Bounded:
    return rounded(*_between(x, lambda t: np.log(np.maximum(t, TINY))), _ROUNDINGS)


def _log1p(x: Bounded) -> Bounded:
    return rounded(*_between(x, lambda t: np.log1p(np.maximum(t, -1.0 + UNIT))), 2 * _ROUNDINGS)


def _sqrt(x: Bounded) -> Bounded:
    return rounded(*_between(x, lambda t: np.sqrt(np.maximum(t, 0.0))))


def _at_least(x: Bounded, bound: float) -> Bounded:
    # Both the computed and the exact number are moved up to the bound, which brings them together.
    spread = np.maximum(x.value + 2.0 * x.error, bound) - np.maximum(x.value - x.error, bound)
    return Bounded(np.maximum(x.value, bound), np.minimum(x.error, spread))


def _cos(x: Bounded) -> Bounded:
    reduction = np.where(np.abs(x.value) <= _COSINE, _ROUNDINGS * UNIT, 2.0)
    return Bounded(np.cos(x.value), np.minimum(x.error + reduction, 2.0))


def _tanh(x: Bounded) -> Bounded:
    return rounded(np.tanh(x.value), np.minimum(x.error, 2.0), 2 * _ROUNDINGS)


def _reciprocal(x: Bounded) -> Bounded:
    value = 1.0 / x.value
    room = np.abs(x.value) - 2.0 * x.error  # of the denominator from 0
    error = np.where(room > 0, x.error / np.square(np.where(room > 0, room, 1.0)), np.inf)
    return rounded(value, error)


def _powi(x: Bounded, power: int) -> Bounded:
    size = np.abs(x.value)
    widened = (size + 2.0 * x.error) ** power
    spread = np.where(x.error > 0, widened - size**power + gamma(power + 4) * widened, 0.0)
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
        widened = widened * (np.abs(x.value) + 2.0 * x.error) + abs(c)
    # The monomials change by no more than those of the absolute values do.
    steps = gamma(2 * len(falling) + 2)
    spread = np.where(x.error > 0, widened - sizes + 2.0 * steps * widened, 0.0)
    return Bounded(value, spread + steps * widened + TINY)


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
