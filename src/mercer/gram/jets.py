"""Second derivatives of a kernel where its two arguments meet, by its own program.

The program that fills tiles (`mercer.gram.program`) is run here on *jets*: the value of a term at
(x, x), its derivatives in the first and in the second argument, and the mixed second derivative.
The product and chain rules close on these, so no finite differences are needed:

    (uv)_xz = u v_xz + v u_xz + u_x v_z' + v_x u_z',      f(u)_xz = f'(u) u_xz + f''(u) u_x u_z'.

A term in r = |x - z|, such as the sqrt of a squared distance, has a kink at x = z and no
derivative. Its coefficient is carried along as well, because it may cancel, as in
(1 + r) exp(-r) = 1 - r^2/2 + ..., and because r times r is smooth again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .jet_leaves import KINK, Array, Jet, Key, NotSmoothError, constant, of_column, of_statistic

if TYPE_CHECKING:
    from . import Table
    from .coordinate_statistics import Coordinates

__all__ = ["Jets", "NotSmoothError"]

_TINY = 1e-15  # what rounding may leave of the cosine of a right angle


class Jets:
    """A program builder that differentiates at points X (n, d), in directions (n, d, p)."""

    def __init__(self, X: Array, directions: Array, shift: Array | None = None) -> None:
        self._X = X
        self._directions = directions
        self._shift = np.zeros(X.shape[1]) if shift is None else shift
        self._columns = tuple(range(X.shape[1]))
        self._spaces = [directions]  # of the points, and of their images under linear maps
        self._space = 0
        self._stack: list[Jet] = []

    def result(self) -> Array:
        """Return the mixed derivative of the one term left, or refuse a kink."""
        (jet,) = self._stack
        steep = np.abs(jet.mixed).reshape(len(jet.value), -1).max(axis=1, initial=0.0)
        rounding = 1e-8 * np.sqrt(np.abs(jet.value) * steep)
        for coefficient in jet.kinks.values():
            if np.any(np.abs(coefficient) > rounding):
                raise NotSmoothError(KINK)
        if jet.rough:
            raise NotSmoothError(
                "the kernel multiplies distances that have kinks where its two arguments meet, so "
                "it induces no metric."
            )
        return jet.mixed

    # -- leaves ------------------------------------------------------------------------------

    @contextmanager
    def columns(self, index: Sequence[int]) -> Iterator[None]:
        """Restrict the points to some columns, within those already chosen."""
        outer = self._columns
        self._columns = tuple(outer[int(c)] for c in index)
        try:
            yield
        finally:
            self._columns = outer

    @contextmanager
    def through(self, mapping: Any) -> Iterator[None]:
        """Let the leaves inside look at the images under a map, which must be linear."""
        kernel = getattr(mapping, "kernel", mapping)
        A = getattr(kernel, "factor", None)  # of a map x -> A x
        if A is None:
            self._refuse(f"the map of {kernel!r}")
        outer = self._X, self._directions, self._shift, self._columns, self._space
        chosen = list(self._columns)
        self._X = self._X[:, chosen] @ A.T
        self._directions = np.einsum("rj,ijp->irp", A, self._directions[:, chosen])
        self._shift = A @ self._shift[chosen]
        self._columns = tuple(range(len(A)))
        self._spaces.append(self._directions)
        self._space = len(self._spaces) - 1
        try:
            yield
        finally:
            self._X, self._directions, self._shift, self._columns, self._space = outer

    def leaf(self, statistic: str) -> None:
        """Push a pair statistic of (x, x)."""
        chosen = list(self._columns)
        X, U, shift = self._X[:, chosen], self._directions[:, chosen], self._shift[chosen]
        jet = of_statistic(statistic, X, U, shift, self._columns, self._space)
        if jet is None:
            self._refuse(f"the pair statistic {statistic!r}")
        self._stack.append(jet)

    def coordinates(
        self, function: Coordinates, combination: str = "product", order: int = 0
    ) -> None:
        """Push a product or an ANOVA sum of a function of single columns."""
        if combination == "maximum":
            raise NotSmoothError(KINK)
        if self._shift.any():
            self._refuse("a kernel on single columns, summed over periods,")
        factors = [
            of_column(function, self._X[:, c], self._directions[:, c], ("l1", (c,), self._space))
            for c in self._columns
        ]
        if combination == "product":
            self._stack.append(reduce(self._product, factors))
            return
        sums = [self._constant(1.0)] + [self._constant(0.0) for _ in range(order)]
        for factor in factors:
            for j in range(order, 0, -1):
                sums[j] = _sum(sums[j], self._product(factor, sums[j - 1]))
        self._stack.append(sums[order])

    def matrix(self) -> NoReturn:
        """Reject values that are given as a matrix."""
        self._refuse("a precomputed matrix")

    def mapped(self, kernel: Any, statistic: str) -> NoReturn:
        """Reject features that are met among objects."""
        self._refuse(f"{kernel!r}, which counts,")

    def python(self, kernel: Any) -> None:
        """Add up a kernel over all periods; refuse others that are written in Python."""
        if not hasattr(kernel, "shifts"):
            self._refuse(f"{kernel!r}, which is a Python function,")
        chosen = list(self._columns)
        total = self._constant(0.0)
        shifts = float(kernel.period) * kernel.shifts()
        for shift in np.concatenate([np.zeros((1, len(chosen))), shifts]):
            inner = Jets(self._X[:, chosen], self._directions[:, chosen], shift)
            kernel.kernel.compile(inner)  # type: ignore[arg-type]
            (one,) = inner._stack
            weight = 2.0 if shift.any() else 1.0  # opposite shifts have the same derivatives
            total.value = total.value + weight * one.value
            total.mixed = total.mixed + weight * one.mixed
            total.rough = total.rough or one.rough
            for (statistic, columns, _), c in one.kinks.items():
                key = (statistic, tuple(self._columns[j] for j in columns), self._space)
                total.kinks[key] = total.kinks.get(key, 0.0) + weight * c
        self._stack.append(total)

    def table(self, table: Table) -> None:
        """Replace the top by a profile whose derivatives are known where the arguments meet.

        That is at 0, of a squared distance, or at the end, of the distance from the end.
        Interpolation gives values and no derivatives, so any other profile is refused.
        """
        top = self._stack[-1]
        slope: float | None = None
        curvature: float | None = None
        if not (top.value.any() or any(c.any() for c in top.kinks.values())):
            stated, curvature = table.slope_at_zero, 0.0
            slope = stated() if callable(stated) else stated
            value = np.full(len(top.value), table.at_zero)
        elif (top.value == table.end).all() and table.curvature_at_end is not None:
            slope, curvature = 0.0, table.curvature_at_end()
            value = np.full(len(top.value), table.beyond)
        if slope is None or curvature is None:
            self._refuse("a profile that is given by interpolation")
        if not (np.isfinite(slope) and np.isfinite(curvature)):
            raise NotSmoothError(KINK)
        self._apply(value, np.full_like(value, slope), np.full_like(value, curvature))

    # -- operations --------------------------------------------------------------------------

    def const(self, value: float) -> None:
        self._stack.append(self._constant(value))

    def dup(self) -> None:
        self._stack.append(self._stack[-1])

    def swap(self) -> None:
        self._stack[-2:] = self._stack[:-3:-1]

    def affine(self, factor: float, shift: float) -> None:
        t = self._stack.pop()
        kept = None
        if t.multiple_of is not None and shift == 0.0:
            kept = (t.multiple_of[0], factor * t.multiple_of[1])
        self._stack.append(
            Jet(
                factor * t.value + shift,
                factor * t.first,
                factor * t.second,
                factor * t.mixed,
                {key: factor * c for key, c in t.kinks.items()},
                kept,
                t.rough,
            )
        )

    def add(self) -> None:
        v, u = self._stack.pop(), self._stack.pop()
        self._stack.append(_sum(u, v))

    def mul(self) -> None:
        v, u = self._stack.pop(), self._stack.pop()
        self._stack.append(self._product(u, v))

    def exp(self) -> None:
        e = np.exp(self._stack[-1].value)
        self._apply(e, e, e)

    def log(self) -> None:
        x = self._positive("the logarithm")
        self._apply(np.log(x), 1.0 / x, -1.0 / x**2)

    def log1p(self) -> None:
        """Replace the top t by log(1 + t)."""
        t = self._stack[-1].value
        if np.any(t <= -1.0):
            raise NotSmoothError("the kernel takes the logarithm of 0 where its arguments meet.")
        self._apply(np.log1p(t), 1.0 / (1.0 + t), -1.0 / (1.0 + t) ** 2)

    def at_least(self, bound: float) -> None:
        """Leave the top as it is: where arguments meet it is below the bound by rounding only."""

    def cos(self) -> None:
        c, s = np.cos(self._stack[-1].value), np.sin(self._stack[-1].value)
        c = np.where(np.abs(c) < _TINY, 0.0, c)
        self._apply(c, -s, -c)

    def tanh(self) -> None:
        t = np.tanh(self._stack[-1].value)
        slope = 1.0 - t * t
        self._apply(t, slope, -2.0 * t * slope)

    def reciprocal(self) -> None:
        x = self._stack[-1].value
        if np.any(x == 0.0):
            raise NotSmoothError("the kernel divides by 0 where its two arguments meet.")
        self._apply(1.0 / x, -1.0 / x**2, 2.0 / x**3)

    def sqrt(self) -> None:
        top = self._stack[-1]
        if top.multiple_of is not None:
            key, factor = top.multiple_of
            root = self._constant(0.0)
            root.kinks[key] = np.full(len(root.value), np.sqrt(factor))
            self._stack[-1] = root
            return
        self.power(0.5)

    def powi(self, exponent: int) -> None:
        x, n = self._stack[-1].value, int(exponent)
        slope = n * x ** (n - 1) if n > 0 else np.zeros_like(x)
        curvature = n * (n - 1) * x ** (n - 2) if n > 1 else np.zeros_like(x)
        self._apply(x**n, slope, curvature)

    def power(self, exponent: float) -> None:
        if self._stack[-1].multiple_of is not None and exponent > 1.0:
            self._stack[-1] = self._constant(0.0)  # a power of r above 2
            return
        x = self._positive(f"the power {exponent:g}")
        self._apply(
            x**exponent,
            exponent * x ** (exponent - 1),
            exponent * (exponent - 1) * x ** (exponent - 2),
        )

    def polynomial(self, coefficients: Sequence[float]) -> None:
        p = np.polynomial.Polynomial(np.asarray(coefficients, dtype=np.float64))
        x = self._stack[-1].value
        self._apply(p(x), p.deriv(1)(x), p.deriv(2)(x))

    def add_diagonal(self, kernel: Any) -> None:
        """Add k(x, x) + k(z, z) of a kernel to the top."""
        self._require_meeting()
        chosen = list(self._columns)
        inner = Jets(self._X[:, chosen], self._directions[:, chosen])
        if not hasattr(kernel, "compile"):
            self._refuse(repr(kernel))
        kernel.compile(inner)
        (own,) = inner._stack
        both = self._constant(0.0)
        both.value = 2.0 * own.value
        both.first = both.second = own.first + own.second
        self._stack.append(both)
        self.add()

    def normalize(self, kernel: Any) -> None:
        """Replace the top k(x, z) by k(x, z) / sqrt(k(x, x) k(z, z)), 0 where k(x, x) = 0."""
        self._require_meeting()
        top = self._stack.pop()
        if np.any(top.value < 0.0):
            raise ValueError(f"k(x, x) is negative under {kernel!r}, so x has no norm.")
        scale = np.zeros_like(top.value)
        np.divide(1.0, np.sqrt(top.value), out=scale, where=top.value > 0.0)
        slope = -0.5 * scale[:, None] ** 3 * (top.first + top.second)  # of 1 / sqrt(k(x, x))
        left, right = self._constant(0.0), self._constant(0.0)
        left.value = right.value = scale
        left.first = right.second = slope
        self._stack.append(self._product(self._product(top, left), right))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse(f"the operation {name!r}")

    # -- machinery ---------------------------------------------------------------------------

    def _constant(self, value: float) -> Jet:
        return constant(value, len(self._X), self._directions.shape[2])

    def _apply(self, value: Array, slope: Array, curvature: Array) -> None:
        """Replace the top by a function of it, from its first two derivatives."""
        u = self._stack.pop()
        rows = slope[:, None]
        mixed = slope[:, None, None] * u.mixed
        mixed += curvature[:, None, None] * (u.first[:, :, None] * u.second[:, None, :])
        smooth, rough = self._squares(u, u)
        mixed += 0.5 * curvature[:, None, None] * smooth
        kinks = {key: slope * c for key, c in u.kinks.items()}
        rough = u.rough or (rough and bool(np.any(curvature)))
        self._stack.append(Jet(value, rows * u.first, rows * u.second, mixed, kinks, rough=rough))

    def _product(self, u: Jet, v: Jet) -> Jet:
        x, z = u.value[:, None], v.value[:, None]
        mixed = x[:, :, None] * v.mixed + z[:, :, None] * u.mixed
        mixed += u.first[:, :, None] * v.second[:, None, :]
        mixed += v.first[:, :, None] * u.second[:, None, :]
        smooth, rough = self._squares(u, v)
        kinks = {
            key: u.value * _kink(v, key) + v.value * _kink(u, key) for key in {**u.kinks, **v.kinks}
        }
        return Jet(
            u.value * v.value,
            x * v.first + z * u.first,
            x * v.second + z * u.second,
            mixed + smooth,
            kinks,
            rough=rough or u.rough or v.rough,
        )

    def _squares(self, u: Jet, v: Jet) -> tuple[Array, bool]:
        """Return the mixed derivative of the products of terms in r, and whether it lacks some.

        r times r is smooth; products of different distances, or of l1 distances in several
        columns, are not.
        """
        total, rough = np.zeros_like(u.mixed), False
        for left, a in u.kinks.items():
            for right, b in v.kinks.items():
                if left == right and (left[0] == "sqdist" or len(left[1]) == 1):
                    U = self._spaces[left[2]][:, list(left[1])]
                    total -= 2.0 * (a * b)[:, None, None] * np.einsum("ijp,ijq->ipq", U, U)
                else:
                    rough = rough or bool(np.any(a * b))
        return total, rough

    def _positive(self, function: str) -> Array:
        x = self._stack[-1].value
        if np.any(x <= 0.0):
            raise NotSmoothError(
                f"the kernel takes {function} of 0 where its two arguments meet and is not smooth "
                "there, so it induces no metric."
            )
        return x

    def _require_meeting(self) -> None:
        if self._shift.any():
            self._refuse("a normalised kernel, summed over periods,")

    def _refuse(self, what: str) -> NoReturn:
        raise NotImplementedError(
            f"the derivatives of {what} are not known, so there is no metric; kernels that are "
            "smooth functions of dot products, of distances and of single columns have one."
        )


def _sum(u: Jet, v: Jet) -> Jet:
    return Jet(
        u.value + v.value,
        u.first + v.first,
        u.second + v.second,
        u.mixed + v.mixed,
        {key: _kink(u, key) + _kink(v, key) for key in {**u.kinks, **v.kinks}},
        rough=u.rough or v.rough,
    )


def _kink(jet: Jet, key: Key) -> Array:
    return jet.kinks[key] if key in jet.kinks else np.zeros_like(jet.value)
