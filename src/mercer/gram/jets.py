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

import copy
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .interpreter import Interpreter
from .jet_leaves import KINK, Array, Jet, Key, NotSmoothError, constant, of_column, of_statistic
from .program import Columns, Composed, Leaf, Program, part_program

if TYPE_CHECKING:
    from . import Table

__all__ = ["NotSmoothError", "mixed_derivatives"]

_TINY = 1e-15  # what rounding may leave of the cosine of a right angle


def mixed_derivatives(program: Program, X: Array, directions: Array) -> Array:
    """Return d^2 k(x, z) / dx dz at z = x of a program, or refuse a kernel with a kink there.

    `X`: points (n, d). `directions`: of shape (n, d, p), in which the derivatives (n, p, p) are.
    """
    jet = _Jets(program, X, directions, np.zeros(X.shape[1])).run()
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


class _Jets(Interpreter[Jet]):
    """Runs a program at the pairs (x, x + shift)."""

    def __init__(self, program: Program, X: Array, directions: Array, shift: Array) -> None:
        super().__init__(program)
        # The points, their directions and the shift; then their images under linear maps.
        self._spaces = [(X, directions, shift)]
        self._images: dict[Any, int] = {}  # the numbers of these spaces
        self._n, _, self._p = directions.shape

    # -- leaves ------------------------------------------------------------------------------

    def leaf(self, k: int) -> Jet:
        leaf = self.program.leaves[k]
        if leaf.kind == "matrix":
            self._refuse("a precomputed matrix")
        if leaf.mapped:
            self._refuse(f"{leaf.kernel!r}, which counts,")
        if leaf.kind == "sequence":
            self._refuse("the operation 'sequence'")
        space, columns = self._seen(leaf.columns, leaf.mapping)
        if leaf.kind == "python":
            return self._periodized(leaf.kernel, space, columns)
        if leaf.coordinates is not None:
            return self._of_columns(leaf, space, columns)
        jet = of_statistic(leaf.kind, *self._rows(space, columns), columns, space)
        if jet is None:
            self._refuse(f"the pair statistic {leaf.kind!r}")
        return jet

    def _seen(self, columns: Columns, mapping: Any) -> tuple[int, tuple[int, ...]]:
        """Return the space and those of its columns that a leaf looks at; maps must be linear."""
        if mapping is None:
            d = self._spaces[0][0].shape[1]
            return 0, tuple(range(d)) if columns is None else columns
        composed = isinstance(mapping, Composed)
        space, inside = self._seen(columns, mapping.first if composed else None)
        last = mapping.then if composed else mapping
        if isinstance(last, tuple):
            return space, tuple(inside[c] for c in last)
        kernel = getattr(last, "kernel", last)
        A = getattr(kernel, "factor", None)  # of a map x -> A x
        if A is None:
            self._refuse(f"the map of {kernel!r}")
        key = space, inside, last
        if key not in self._images:
            X, U, shift = self._rows(space, inside)
            self._images[key] = len(self._spaces)
            self._spaces.append((X @ A.T, np.einsum("rj,ijp->irp", A, U), A @ shift))
        return self._images[key], tuple(range(len(A)))

    def _rows(self, space: int, columns: tuple[int, ...]) -> tuple[Array, Array, Array]:
        """Return points, directions and shift in some columns of a space."""
        X, U, shift = self._spaces[space]
        chosen = list(columns)
        return X[:, chosen], U[:, chosen], shift[chosen]

    def _of_columns(self, leaf: Leaf, space: int, columns: tuple[int, ...]) -> Jet:
        """Return a product or an ANOVA sum of a function of single columns."""
        if leaf.combination == "maximum":
            raise NotSmoothError(KINK)
        X, U, shift = self._spaces[space]
        if shift.any():
            self._refuse("a kernel on single columns, summed over periods,")
        f: Any = leaf.coordinates
        factors = [of_column(f, X[:, c], U[:, c], ("l1", (c,), space)) for c in columns]
        if leaf.combination == "product":
            return reduce(self.multiply, factors)
        sums = [self.constant(1.0)] + [self.constant(0.0) for _ in range(leaf.order)]
        for factor in factors:
            for j in range(leaf.order, 0, -1):
                sums[j] = self.add(sums[j], self.multiply(factor, sums[j - 1]))
        return sums[leaf.order]

    def _periodized(self, kernel: Any, space: int, columns: tuple[int, ...]) -> Jet:
        """Add up a kernel over all periods; refuse others that are written in Python."""
        if not hasattr(kernel, "shifts"):
            self._refuse(f"{kernel!r}, which is a Python function,")
        X, U, _ = self._rows(space, columns)
        program = part_program(kernel.kernel)
        total = self.constant(0.0)
        shifts = float(kernel.period) * kernel.shifts()
        for shift in np.concatenate([np.zeros((1, len(columns))), shifts]):
            one = _Jets(program, X, U, shift).run()
            weight = 2.0 if shift.any() else 1.0  # opposite shifts have the same derivatives
            total.value = total.value + weight * one.value
            total.mixed = total.mixed + weight * one.mixed
            total.rough = total.rough or one.rough
            for (statistic, inside, _), c in one.kinks.items():
                key = (statistic, tuple(columns[j] for j in inside), space)
                total.kinks[key] = total.kinks.get(key, 0.0) + weight * c
        return total

    # -- operations --------------------------------------------------------------------------

    def constant(self, value: float) -> Jet:
        return constant(value, self._n, self._p)

    def add(self, a: Jet, b: Jet) -> Jet:
        return Jet(
            a.value + b.value,
            a.first + b.first,
            a.second + b.second,
            a.mixed + b.mixed,
            {key: _kink(a, key) + _kink(b, key) for key in {**a.kinks, **b.kinks}},
            rough=a.rough or b.rough,
        )

    def multiply(self, a: Jet, b: Jet) -> Jet:
        x, z = a.value[:, None], b.value[:, None]
        mixed = x[:, :, None] * b.mixed + z[:, :, None] * a.mixed
        mixed += a.first[:, :, None] * b.second[:, None, :]
        mixed += b.first[:, :, None] * a.second[:, None, :]
        smooth, rough = self._squares(a, b)
        kinks = {
            key: a.value * _kink(b, key) + b.value * _kink(a, key) for key in {**a.kinks, **b.kinks}
        }
        return Jet(
            a.value * b.value,
            x * b.first + z * a.first,
            x * b.second + z * a.second,
            mixed + smooth,
            kinks,
            rough=rough or a.rough or b.rough,
        )

    def scaled(self, x: Jet, k: int) -> Jet:
        """Return k(x, z) / sqrt(k(x, x) k(z, z)), 0 where k(x, x) = 0."""
        self._require_meeting()
        if np.any(x.value < 0.0):
            kernel = self.program.scalars[k].kernel
            raise ValueError(f"k(x, x) is negative under {kernel!r}, so x has no norm.")
        scale = np.zeros_like(x.value)
        np.divide(1.0, np.sqrt(x.value), out=scale, where=x.value > 0.0)
        slope = -0.5 * scale[:, None] ** 3 * (x.first + x.second)  # of 1 / sqrt(k(x, x))
        left, right = self.constant(0.0), self.constant(0.0)
        left.value = right.value = scale
        left.first = right.second = slope
        return self.multiply(self.multiply(x, left), right)

    def raised(self, x: Jet, k: int) -> Jet:
        """Return x + k(x, x) + k(z, z) of a part of the kernel, at the same points."""
        self._require_meeting()
        scalars, part = self.program.scalars[k], copy.copy(self)
        if not hasattr(scalars.kernel, "compile"):
            self._refuse(repr(scalars.kernel))
        part.program = part_program(scalars.kernel, scalars.columns, scalars.mapping)
        own, both = part.run(), self.constant(0.0)
        both.value = 2.0 * own.value
        both.first = both.second = own.first + own.second
        return self.add(x, both)

    def function(self, x: Jet, name: str, arguments: list[Any]) -> Jet:
        method: Callable[..., Jet] | None = getattr(self, f"_{name}", None)
        if method is None:
            self._refuse(f"the operation {name!r}")
        return method(x, *arguments)

    def _affine(self, x: Jet, factor: float, shift: float) -> Jet:
        kept = None
        if x.multiple_of is not None and shift == 0.0:
            kept = (x.multiple_of[0], factor * x.multiple_of[1])
        return Jet(
            factor * x.value + shift,
            factor * x.first,
            factor * x.second,
            factor * x.mixed,
            {key: factor * c for key, c in x.kinks.items()},
            kept,
            x.rough,
        )

    def _exp(self, x: Jet, factor: float, shift: float) -> Jet:
        x = self._affine(x, factor, shift)
        e = np.exp(x.value)
        return self._apply(x, e, e, e)

    def _log(self, x: Jet) -> Jet:
        t = _positive(x, "the logarithm")
        return self._apply(x, np.log(t), 1.0 / t, -1.0 / t**2)

    def _log1p(self, x: Jet) -> Jet:
        t = x.value
        if np.any(t <= -1.0):
            raise NotSmoothError("the kernel takes the logarithm of 0 where its arguments meet.")
        return self._apply(x, np.log1p(t), 1.0 / (1.0 + t), -1.0 / (1.0 + t) ** 2)

    def _at_least(self, x: Jet, bound: float) -> Jet:
        return x  # where the arguments meet it is below the bound by rounding only

    def _cos(self, x: Jet) -> Jet:
        c, s = np.cos(x.value), np.sin(x.value)
        c = np.where(np.abs(c) < _TINY, 0.0, c)
        return self._apply(x, c, -s, -c)

    def _tanh(self, x: Jet) -> Jet:
        t = np.tanh(x.value)
        slope = 1.0 - t * t
        return self._apply(x, t, slope, -2.0 * t * slope)

    def _reciprocal(self, x: Jet) -> Jet:
        t = x.value
        if np.any(t == 0.0):
            raise NotSmoothError("the kernel divides by 0 where its two arguments meet.")
        return self._apply(x, 1.0 / t, -1.0 / t**2, 2.0 / t**3)

    def _sqrt(self, x: Jet) -> Jet:
        if x.multiple_of is None:
            return self._power(x, 0.5)
        key, factor = x.multiple_of
        root = self.constant(0.0)
        root.kinks[key] = np.full(self._n, np.sqrt(factor))
        return root

    def _powi(self, x: Jet, n: int) -> Jet:
        t = x.value
        slope = n * t ** (n - 1) if n > 0 else np.zeros_like(t)
        curvature = n * (n - 1) * t ** (n - 2) if n > 1 else np.zeros_like(t)
        return self._apply(x, t**n, slope, curvature)

    def _power(self, x: Jet, p: float) -> Jet:
        if x.multiple_of is not None and p > 1.0:
            return self.constant(0.0)  # a power of r above 2
        t = _positive(x, f"the power {p:g}")
        return self._apply(x, t**p, p * t ** (p - 1), p * (p - 1) * t ** (p - 2))

    def _polynomial(self, x: Jet, falling: list[float]) -> Jet:
        p = np.polynomial.Polynomial(falling[::-1])
        return self._apply(x, p(x.value), p.deriv(1)(x.value), p.deriv(2)(x.value))

    def _table(self, x: Jet, table: Table) -> Jet:
        """Return a profile whose derivatives are known where the arguments meet.

        That is at 0, of a squared distance, or at the end, of the distance from the end.
        Interpolation gives values and no derivatives, so any other profile is refused.
        """
        slope: float | None = None
        curvature: float | None = None
        if not (x.value.any() or any(c.any() for c in x.kinks.values())):
            stated, curvature = table.slope_at_zero, 0.0
            slope = stated() if callable(stated) else stated
            value = np.full(self._n, table.at_zero)
        elif (x.value == table.end).all() and table.curvature_at_end is not None:
            slope, curvature = 0.0, table.curvature_at_end()
            value = np.full(self._n, table.beyond)
        if slope is None or curvature is None:
            self._refuse("a profile that is given by interpolation")
        if not (np.isfinite(slope) and np.isfinite(curvature)):
            raise NotSmoothError(KINK)
        return self._apply(x, value, np.full_like(value, slope), np.full_like(value, curvature))

    # -- machinery ---------------------------------------------------------------------------

    def _apply(self, x: Jet, value: Array, slope: Array, curvature: Array) -> Jet:
        """Return a function of x, from its value and first two derivatives."""
        rows = slope[:, None]
        mixed = slope[:, None, None] * x.mixed
        mixed += curvature[:, None, None] * (x.first[:, :, None] * x.second[:, None, :])
        smooth, rough = self._squares(x, x)
        mixed += 0.5 * curvature[:, None, None] * smooth
        kinks = {key: slope * c for key, c in x.kinks.items()}
        rough = x.rough or (rough and bool(np.any(curvature)))
        return Jet(value, rows * x.first, rows * x.second, mixed, kinks, rough=rough)

    def _squares(self, u: Jet, v: Jet) -> tuple[Array, bool]:
        """Return the mixed derivative of the products of terms in r, and whether it lacks some.

        r times r is smooth; products of different distances, or of l1 distances in several
        columns, are not.
        """
        total, rough = np.zeros_like(u.mixed), False
        for left, a in u.kinks.items():
            for right, b in v.kinks.items():
                if left == right and (left[0] == "sqdist" or len(left[1]) == 1):
                    U = self._spaces[left[2]][1][:, list(left[1])]
                    total -= 2.0 * (a * b)[:, None, None] * np.einsum("ijp,ijq->ipq", U, U)
                else:
                    rough = rough or bool(np.any(a * b))
        return total, rough

    def _require_meeting(self) -> None:
        if self._spaces[0][2].any():
            self._refuse("a normalised kernel, summed over periods,")

    def _refuse(self, what: str) -> NoReturn:
        raise NotImplementedError(
            f"the derivatives of {what} are not known, so there is no metric; kernels that are "
            "smooth functions of dot products, of distances and of single columns have one."
        )


def _positive(x: Jet, function: str) -> Array:
    """Return the value of a jet, or refuse one that is not positive."""
    if np.any(x.value <= 0.0):
        raise NotSmoothError(
            f"the kernel takes {function} of 0 where its two arguments meet and is not smooth "
            "there, so it induces no metric."
        )
    return x.value


def _kink(jet: Jet, key: Key) -> Array:
    return jet.kinks[key] if key in jet.kinks else np.zeros_like(jet.value)
