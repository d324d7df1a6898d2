"""Jets of the leaves of a kernel's program: pair statistics and functions of single columns.

At z = x every statistic is a sum of a smooth part and, where it has a kink, of a multiple of a
distance; both parts are stated here for each statistic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from mercer.objects.arrays import Array

if TYPE_CHECKING:
    from .coordinate_statistics import Coordinates

Key = tuple[str, tuple[int, ...], int]  # a distance: statistic, columns, space

KINK = (
    "the kernel has a kink where its two arguments meet, so distances in feature space grow like "
    "the root of distances in the input space and there is no metric; a Gaussian or polynomial "
    "kernel has one."
)


class NotSmoothError(ValueError):
    """A kernel has no second derivative where its arguments meet, so it induces no metric.

    Examples
    --------
    >>> from mercer.geometry import NotSmoothError, metric_tensor
    >>> from mercer.kernels import Laplacian
    >>> try:
    ...     metric_tensor(Laplacian(1.0), [[0.0]])
    ... except NotSmoothError as error:
    ...     print(type(error).__name__)
    ...
    NotSmoothError
    """


@dataclass
class Jet:
    """A term of the program at pairs (x, x), along p directions."""

    value: Array  # the value, shape (n,)
    first: Array  # shape (n, p): derivatives in the first and in the second argument
    second: Array
    mixed: Array  # shape (n, p, p): derivative in the first and then in the second argument
    # coefficients, of shape (n,), of the distances r that the term is not smooth in
    kinks: dict[Key, Array] = field(default_factory=dict)
    # set if the term is a multiple of one squared distance, whose square root is known
    multiple_of: tuple[Key, float] | None = None
    rough: bool = False  # whether the term contains products of distances that are not smooth


def of_statistic(
    statistic: str, X: Array, U: Array, shift: Array, columns: tuple[int, ...], space: int
) -> Jet | None:
    """Return the jet of a statistic at (x, x + shift) in directions U, None for an unknown one."""
    jet = constant(0.0, len(X), U.shape[2])
    if statistic == "dot":
        Z = X + shift
        jet.value = np.einsum("ij,ij->i", X, Z)
        jet.first = np.einsum("ij,ijp->ip", Z, U)
        jet.second = np.einsum("ij,ijp->ip", X, U)
        jet.mixed = np.einsum("ijp,ijq->ipq", U, U)
    elif statistic == "sqdist":
        jet.value += shift @ shift
        jet.first = -2.0 * np.einsum("j,ijp->ip", shift, U)
        jet.second = -jet.first
        jet.mixed = -2.0 * np.einsum("ijp,ijq->ipq", U, U)
        if not shift.any():
            jet.multiple_of = (("sqdist", columns, space), 1.0)
    elif statistic == "l1":
        jet.value += np.abs(shift).sum()
        jet.first = -np.einsum("j,ijp->ip", np.sign(shift), U)
        jet.second = -jet.first
        here = tuple(c for c, s in zip(columns, shift, strict=True) if s == 0.0)
        if here:
            jet.kinks["l1", here, space] = np.ones(len(X))
    elif statistic in ("minimum", "harmonic", "chi") and not shift.any():
        _of_masses(statistic, jet, X, U, ("l1", columns, space))
    else:
        return None
    return jet


def _of_masses(statistic: str, jet: Jet, X: Array, U: Array, key: Key) -> None:
    """Fill in the jet of a statistic of vectors without negative entries."""
    if statistic == "minimum":  # (x + z - abs(x - z)) / 2
        jet.value = X.sum(axis=1)
        jet.first = jet.second = 0.5 * U.sum(axis=1)
        jet.kinks[key] = np.full(len(X), -0.5)
        return
    if not (X > 0.0).all():
        raise NotSmoothError(
            "the kernel divides by the sum of two entries, which is 0 where both are, so it "
            "induces no metric there; use points without zeros."
        )
    # x z / (x + z) has the slopes 1/4 and the mixed derivative 1 / (4 x) at z = x, and
    # (x - z)^2 / (x + z) = x + z - 4 x z / (x + z).
    mixed = np.einsum("ij,ijp,ijq->ipq", 0.25 / X, U, U)
    if statistic == "harmonic":
        jet.value = 0.5 * X.sum(axis=1)
        jet.first = jet.second = 0.25 * U.sum(axis=1)
        jet.mixed = mixed
    else:
        jet.mixed = -4.0 * mixed


def of_column(function: Coordinates, x: Array, U: Array, key: Key) -> Jet:
    """Return the jet of a function of one coordinate at the pairs (x, x)."""
    slope, mixed, kink, rough = np.zeros_like(x), np.zeros_like(x), 0.0, False
    c = np.asarray(function.coefficients)
    a = function.a
    match function.function:
        case "product":
            slope, mixed = x.copy(), np.ones_like(x)
        case "minimum":
            slope, kink = np.full_like(x, 0.5), -0.5
        case "spline":
            slope, mixed = x + 0.5 * x**2, 1.0 + x
        case "gaussian":
            mixed += 2.0 * a
        case "laplacian":
            kink = -a
        case "power" | "half_power":
            exponent = a if function.function == "power" else 0.5 * function.count
            mixed -= 2.0 * (exponent == 2.0)
            kink = float(exponent == 1.0)
            rough = exponent < 2.0 and exponent != 1.0
        case "bspline":
            n, reach = 2 * len(c) - 1, len(c) - np.arange(len(c), dtype=float)
            if n == 1:
                kink = -a * float(c.sum())
            else:
                mixed -= a**2 * n * (n - 1) * float(c @ reach ** (n - 2))
        case "cosines":
            mixed += float(c @ (pi * a * np.arange(len(c))) ** 2)
        case "wrapped":
            shifts = function.b * np.arange(-function.count, function.count + 1)
            bumps = np.exp(-a * shifts**2) * (2.0 * a - (2.0 * a * shifts) ** 2)
            mixed += float(c[0] * bumps.sum())
    first = function.peak * slope[:, None] * U
    square = function.peak * mixed[:, None, None] * (U[:, :, None] * U[:, None, :])
    kinks = {key: np.full(len(x), function.peak * kink)} if kink else {}
    return Jet(function.values(x, x), first, first, square, kinks, rough=rough)


def constant(value: float, n: int, p: int) -> Jet:
    """Return the jet of a constant at n points along p directions."""
    return Jet(np.full(n, float(value)), np.zeros((n, p)), np.zeros((n, p)), np.zeros((n, p, p)))
