"""Coordinate-wise statistics: a function of single coordinates, combined over the columns.

A function f(x_i, z_i) of one coordinate, taken for every column, is combined by the product over
all columns, by their maximum, or by the ANOVA sum of order D, the sum of all products of D
different columns. The native core computes them (cpp/isa/coordinates.hpp); `values` and `combined`
are the same in NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import comb, exp, factorial, log, pi, sqrt
from typing import Any

import numpy as np

MAX_ORDER = 64  # of ANOVA in the native core
_LARGEST_HALF_POWER = 8  # powers up to here are products
NEGLIGIBLE = 1e-17  # terms of a series below this share of the first are left out
# A wrapped Gaussian is summed over periods while it is narrower than this share of the period,
# and as a series of cosines when it is wider: whichever takes fewer operations.
WRAPPED = 0.15


@dataclass(frozen=True)
class Coordinates:
    """A function of one coordinate of two rows.

    "product", "minimum" and "spline" (linear splines with knots everywhere on x >= 0) have no
    parameters, "gaussian" and "laplacian" the width `a`; the others are made by the functions of
    this module. Functions of the difference x - z are held divided by their value at 0, `peak`,
    and are 1 there to the last bit.
    """

    function: str  # its name in the native core
    a: float = 0.0  # its parameters
    b: float = 0.0
    coefficients: tuple[float, ...] = ()  # its coefficients
    count: int = 0  # its number of terms, or twice an exponent
    peak: float = 1.0  # what every coordinate is multiplied by

    @property
    def of_difference(self) -> bool:
        """Whether f is a function of x - z."""
        return self.function not in ("product", "minimum", "spline")

    @property
    def oscillates(self) -> bool:
        """Whether f has a period, so that its argument is rounded before it is reduced."""
        return self.function in ("cosines", "wrapped")

    @property
    def roundings(self) -> float:
        """Roundings of the largest value that a value of f may be wrong by, with a margin.

        A few for the functions with an elementary formula. The alternating sum of a spline adds
        up terms that are larger than the result, Clenshaw's rule as many terms as the series has.
        """
        sums = 0.0
        if self.function == "bspline":
            n, half = 2 * self.count - 1, self.count
            terms = [abs(c) * (half - k) ** n for k, c in enumerate(self.coefficients)]
            sums = sum(terms)
        elif self.function == "cosines":
            sums = 2.0 * sum((1 + k) * abs(c) for k, c in enumerate(self.coefficients))
        return 3.0 + sums

    def source(self, combination: str, order: int) -> dict[str, Any]:
        """Return the description that the native core takes."""
        return {
            "function": self.function,
            "combination": combination,
            "order": int(order),
            "a": float(self.a),
            "b": float(self.b),
            "coefficients": [float(c) for c in self.coefficients],
            "count": int(self.count),
            "peak": float(self.peak),
        }

    def values(self, x: Any, z: Any) -> np.ndarray:
        """Return f(x, z) for arrays of numbers, for f(x - z) also complex, by the definition."""
        difference = t = magnitude(x - z)
        if self.function == "product":
            values = x * z
        elif self.function == "minimum":
            values = np.minimum(x, z)
        elif self.function == "power":
            values = t**self.a
        elif self.function == "half_power":
            values = t ** (self.count / 2)
        elif self.function == "gaussian":
            values = np.exp(-self.a * t * t)
        elif self.function == "laplacian":
            values = np.exp(-self.a * t)
        elif self.function == "spline":
            m = np.minimum(x, z)
            values = 1 + x * z + x * z * m - (x + z) * m**2 / 2 + m**3 / 3
        elif self.function == "bspline":
            n = 2 * len(self.coefficients) - 1
            u = len(self.coefficients) - self.a * t
            values = sum(c * np.maximum(u - k, 0.0) ** n for k, c in enumerate(self.coefficients))
        elif self.function == "cosines":
            values = sum(c * np.cos(pi * k * self.a * t) for k, c in enumerate(self.coefficients))
        else:
            t = magnitude(t - self.b * np.round(t / self.b))
            shifts = [self.b * (-(k + 1) // 2 if k % 2 else k // 2) for k in range(self.count)]
            bumps = sum(np.exp(-self.a * (t + shift) ** 2) for shift in shifts)
            values = self.coefficients[0] * bumps + self.coefficients[1]
        values = self.peak * np.asarray(values)
        if self.function in ("bspline", "cosines", "wrapped"):
            values = np.where(difference == 0, self.peak, values)
        return values


def magnitude(t: Any) -> Any:
    """Return abs(t), and for complex numbers the analytic function that is abs(t) on the line."""
    return t * np.sign(t.real) if np.iscomplexobj(t) else np.abs(t)


def combined(factors: Any, combination: str, order: int = 0) -> np.ndarray:
    """Return the product, the maximum or the ANOVA sum of numbers."""
    if combination == "product":
        return reduce(np.multiply, factors, np.ones(()))
    if combination == "maximum":
        return reduce(np.maximum, factors, np.zeros(()))
    sums = [np.ones(())] + [np.zeros(())] * order
    for f in factors:
        for j in range(order, 0, -1):
            sums[j] = sums[j] + f * sums[j - 1]
    return sums[order]


def power(exponent: float) -> Coordinates:
    """Return abs(x - z) to a power > 0."""
    if (2 * exponent).is_integer() and exponent <= _LARGEST_HALF_POWER:
        return Coordinates("half_power", count=int(2 * exponent))
    return Coordinates("power", a=exponent)


def bspline(order: int, scale: float) -> Coordinates:
    """Return B_n((x - z) / scale) of odd order n.

    B_n(t) = 1/n! sum_k (-1)^k C(n + 1, k) (t + (n + 1)/2 - k)_+^n. At -abs(t), where B_n has the
    same value, only the terms k < (n + 1)/2 are not 0.
    """
    half = (order + 1) // 2
    # In fractions: the terms of the sum are much larger than the sum.
    terms = [(-1) ** k * comb(order + 1, k) for k in range(half)]
    total = sum(c * (half - k) ** order for k, c in enumerate(terms))
    coefficients = tuple(float(Fraction(c, total)) for c in terms)
    peak = float(Fraction(total, factorial(order)))
    return Coordinates("bspline", a=1.0 / scale, coefficients=coefficients, count=half, peak=peak)


def cosines(coefficients: Any, period: float) -> Coordinates:
    """Return sum_k c_k cos(2 pi k (x - z) / period); the sum of the c_k must not be 0."""
    peak = float(sum(coefficients))
    scaled = tuple(float(c) / peak for c in coefficients)
    return Coordinates("cosines", a=2.0 / period, coefficients=scaled, count=len(scaled), peak=peak)


def theta(sigma: float, period: float, first: float, constant: float) -> Coordinates:
    """Return constant + first * sum_n exp(-(n^2 - 1) s^2 / 2) cos(n u) over n >= 1.

    s and u are the width and the difference x - z in units of period / (2 pi). By Poisson's
    formula 1 + 2 sum_n exp(-n^2 s^2 / 2) cos(n u) is sqrt(2 pi) / s times the Gaussian of width
    sigma, summed over all periods; that sum takes fewer terms when the Gaussian is narrow.
    """
    s = 2 * pi * sigma / period
    reach = sqrt(-2 * log(NEGLIGIBLE))
    if sigma > WRAPPED * period:
        waves = [first * exp(-0.5 * (n * n - 1) * s * s) for n in range(1, 2 + int(reach / s))]
        return cosines([constant, *waves], period)
    total = first * exp(0.5 * s * s)
    factor, shift = total * sqrt(pi / 2) / s, constant - 0.5 * total
    # Of a difference within half a period the Gaussians to the left are nearer than those to the
    # right.
    left, right = int(reach * sigma / period + 0.5), int(reach * sigma / period)
    shifts = np.arange(-left, right + 1) * period
    peak = factor * float(np.exp(-(shifts**2) / (2 * sigma**2)).sum()) + shift
    return Coordinates(
        "wrapped",
        a=1.0 / (2 * sigma**2),
        b=period,
        coefficients=(factor / peak, shift / peak),
        count=left + right + 1,
        peak=peak,
    )
