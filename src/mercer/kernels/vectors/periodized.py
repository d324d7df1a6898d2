"""A kernel wrapped around a circle or a torus."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from itertools import product
from math import pi, sqrt
from typing import Any, Self

import numpy as np

from mercer.gram.coordinate_statistics import NEGLIGIBLE
from mercer.gram.displacement import slope_along
from mercer.gram.jets import mixed_derivatives
from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.numerics.hankel import radial_fourier
from mercer.numerics.profile_table import Table
from mercer.numerics.random_frequencies import from_series
from mercer.objects.parameters import integer, integer_from, optional, parameter, positive
from mercer.objects.rows import dense
from mercer.objects.validation import VECTORS

from ..algebra.operands import nested, require_kernel
from ..base import Kernel
from ..definiteness import PSD, UNKNOWN, Definiteness
from ..stated_spectrum import DrawsFrequencies
from .vector import VectorKernel, require_columns

_FARTHEST = 1000  # periods, after which a kernel has to be negligible
_MOST_SHIFTS = 20_000  # terms of the sum for every pair
_LEFT_OUT = 1e-6  # of the spectrum, when frequencies are drawn from it
_MOST_WAVES = 1 << 16  # coefficients that are computed for a draw
_PAIRS = 1 << 14  # differences that are wrapped at a time


class Periodized(DrawsFrequencies, VectorKernel):
    r"""A translation-invariant kernel, summed over all periods.

    .. math:: k'(x, z) = \sum_{n \in \mathbb{Z}^d} k(x - z + T n)

    Translation invariance has no meaning on a bounded interval, but it has on a circle: k' has
    the period T in every column. Its Fourier coefficients are values of the Fourier transform of
    k (Poisson), so it is positive semidefinite if k is. The sum stops where k is below 1e-17 of
    its largest value; a kernel that does not decay so far raises ValueError.

    Parameters
    ----------
    kernel : Kernel
        The kernel k, a function of x - z that falls off fast.
    period : float > 0, default=2 pi
        The period T.
    dimension : int >= 1, optional
        The number of columns d, by default that of the data at `bind`. In one dimension the sum
        is evaluated natively from a table; in more it has (2 N + 1)^d terms, where N periods
        count on either side.

    Notes
    -----
    Use it to put a kernel of your choice on a circle, such as Matern or Exponential for rough
    periodic targets; for the Gaussian, PeriodicGaussian is exact in any number of columns. In one
    column the sum is a table; in d columns every value costs (2 N + 1)^d values of the kernel, so
    take a product of kernels on single columns instead. Avoid it for kernels with heavy tails, such
    as RationalQuadratic, whose sum over all periods does not settle.

    Examples
    --------
    >>> from mercer.kernels import RBF, Periodized
    >>> k = Periodized(RBF(gamma=1.0), period=1.0, dimension=1)
    >>> k([[0.2]], [[0.9], [1.9]]).round(6)
    array([[1.772397, 1.772397]])
    """

    kernel: Kernel
    period: float = parameter(positive, default=2 * pi)
    dimension: int | None = parameter(optional(integer_from(1)), default=None)

    takes = VECTORS

    def _check(self) -> None:
        require_kernel(self.kernel, "kernel", "Periodized")
        if not self.kernel.translation_invariant:
            raise ValueError(
                f"Periodized takes a kernel of the difference x - z; {self.kernel!r} depends on "
                "more than that."
            )

    @property
    def definiteness(self) -> Definiteness:
        """Positive semidefinite if the kernel is, by Bochner's theorem; else unknown."""
        return PSD if self.kernel.definiteness.is_psd else UNKNOWN

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        kernel = self.kernel._bound(views, weight, names)
        bound = self.replace(kernel=kernel, dimension=self.dimension or views.X.shape[1])
        bound.shifts()  # refuses a kernel that does not fall off
        return bound

    _is_restricted = True
    _from_data = ("dimension",)

    def check_domain(self, X: Any) -> None:
        """Reject vectors of another dimension; see the base class."""
        if self.dimension is not None:
            require_columns(X, self.dimension, "the torus of Periodized")

    def fourier_coefficients(self, n_terms: int) -> np.ndarray:
        r"""Return the coefficients of the kernel on the line as a series of cosines.

        By Poisson's formula they are values of the Fourier transform of k,

        .. math:: a_0 = \frac{\sqrt{2\pi}}{T} F[k](0), \quad
                  a_n = \frac{2\sqrt{2\pi}}{T} F[k]\!\left(\frac{2\pi n}{T}\right) ,

        in closed form where k states its transform, by numerical integration where it does not.

        Parameters
        ----------
        n_terms : int >= 1
            How many to return.

        Returns
        -------
        ndarray of shape (n_terms,)
            a_0, a_1, ...; see :func:`mercer.inspection.fourier_coefficients`.
        """
        integer(n_terms, "n_terms", minimum=1)
        self.require_bound("in the frequency domain")
        if self.dimension != 1:
            raise ValueError(
                f"{self!r} is a kernel on {self.dimension} columns, and its series is one of waves "
                "in all of them; ask about the kernel on one column, dimension=1."
            )
        period = float(self.period)
        a = _transform(self.kernel, 2 * pi / period * np.arange(n_terms))
        return np.where(np.arange(n_terms) == 0, 1.0, 2.0) * sqrt(2 * pi) / period * a

    def compile(self, builder: Builder) -> None:
        self.require_bound("on pairs of vectors")
        # The cached table is that of a copy, which stays as it is when parameters are set.
        table = _profile(deepcopy(self)) if self.dimension == 1 else None
        if table is None:
            builder.python(self)
            return
        # The sine of half the angle tells small differences apart, as the cosine does not.
        builder.leaf("l1")
        builder.affine(pi / float(self.period), -0.5 * pi)
        builder.cos()
        builder.powi(2)
        builder.table(table)

    def tile(self, A: Any, B: Any) -> np.ndarray:
        def values(rows: np.ndarray, _: np.ndarray) -> dict[str, np.ndarray]:
            return {"": self.kernel._values(self._origin, rows)}

        return self._wrapped(A, B, values)[""]

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        def slopes(rows: np.ndarray, periods: np.ndarray) -> dict[str, np.ndarray]:
            inner = self.kernel._gradient(self._origin, rows)
            # The n-th term moves by n when the period grows.
            along = slope_along(self.kernel, rows, periods)
            return {"period": along[None]} | nested("kernel", inner)

        return self._wrapped(X, Z, slopes)

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        if d != 1:
            raise ValueError(
                f"{self!r} has no spectrum to draw from in {d} columns; use a product of kernels "
                "on single columns: Periodized(k).on_columns([0]) * ..."
            )
        # More and more waves, until what is left out is small beside the noise of the draw.
        total, terms = float(self.diag(self._origin)[0]), 64
        a = self.fourier_coefficients(terms)
        while total - a.sum() > _LEFT_OUT * total and terms < _MOST_WAVES:
            terms *= 4
            a = self.fourier_coefficients(terms)
        left_out = 1.0 - a.sum() / total
        if left_out > 100 * _LEFT_OUT:
            raise ValueError(
                f"{self!r} has no spectrum to draw from: {left_out:.2g} of it lies beyond {terms} "
                "waves. Use a wider or a smoother kernel."
            )
        return from_series(np.maximum(a, 0.0), float(self.period), n, d, rng)

    @property
    def _origin(self) -> np.ndarray:
        return np.zeros((1, int(self.dimension or 1)))

    def _wrapped(self, A: Any, B: Any, function: Any) -> dict[str, np.ndarray]:
        """Return functions of x - z + T n and the period n, summed over n for all pairs."""
        A, B = dense(A), dense(B)
        period, shifts = float(self.period), self.shifts()
        sums: dict[str, list[np.ndarray]] = {}
        rows = max(1, _PAIRS // len(B))
        for i in range(0, len(A), rows):
            # Differences, and pairs of opposite shifts, so that k(x, z) = k(z, x) to the last bit.
            difference = (A[i : i + rows, None] - B).reshape(-1, A.shape[1])
            away = np.round(difference / period)
            difference -= period * away
            total = function(difference, -away)
            for steps in shifts:
                right = function(difference + period * steps, steps - away)
                left = function(difference - period * steps, -steps - away)
                total = {name: total[name] + (right[name] + left[name]) for name in total}
            for name, values in total.items():
                shape = (*values.shape[:-2], len(A[i : i + rows]), len(B))
                sums.setdefault(name, []).append(values.reshape(shape))
        return {name: np.concatenate(parts, axis=-2) for name, parts in sums.items()}

    def shifts(self) -> np.ndarray:
        """Return one of every pair of opposite shifts that counts, in periods, nearest first."""
        d, n = int(self.dimension or 1), self._periods()
        if (2 * n + 1) ** d > _MOST_SHIFTS:
            raise ValueError(
                f"{self!r} would sum {2 * n + 1}^{d} terms for every pair; use a narrower kernel, "
                "or a product of kernels on single columns: Periodized(k).on_columns([0]) * ..."
            )
        steps = np.array(list(product(range(-n, n + 1), repeat=d)), dtype=float)
        half = steps[: len(steps) // 2]  # the second half are their opposites
        return half[np.argsort((half**2).sum(axis=1), kind="stable")]

    def _periods(self) -> int:
        """Return after how many periods the kernel is negligible."""
        d, period = int(self.dimension or 1), float(self.period)
        places = np.zeros((_FARTHEST + 1, d))
        places[:, 0] = period * (np.arange(_FARTHEST + 1) - 0.5)
        places[0, 0] = 0.0
        values = np.abs(self.kernel._values(np.zeros((1, d)), places)[0])
        largest = values.max()
        above = np.flatnonzero(values > NEGLIGIBLE * largest)
        if above[-1] == _FARTHEST:
            raise ValueError(
                f"{self.kernel!r} is still {values[-1] / largest:.3g} of its largest value after "
                f"{_FARTHEST} periods of {period:g}, so the sum over all periods does not settle; "
                "use a kernel that falls off faster, or FourierSeries."
            )
        return int(above[-1])


@lru_cache(maxsize=32)
def _profile(kernel: Periodized) -> Table | None:
    """Return the sum as a table in sin^2(pi (x - z) / T), None if it is not smooth enough.

    It is smooth in this variable up to 1, half a period away, about which the sum is symmetric.
    """
    period = float(kernel.period)

    def value(squares: np.ndarray) -> np.ndarray:
        apart = period / pi * np.arcsin(np.sqrt(np.minimum(squares, 1.0)))
        return kernel.tile(np.zeros((1, 1)), apart[:, None])[0]

    try:
        beyond = float(value(np.ones(1))[0])
        return Table.fit(
            value, 1.0, beyond=beyond, slope_at_zero=lambda: _slope(kernel), accuracy=1e-13
        )
    except ValueError:
        return None


def _transform(kernel: Kernel, omega: np.ndarray) -> np.ndarray:
    """Return the Fourier transform of a kernel of x - z on the line."""
    stated: Any = getattr(kernel, "same_as", None) or kernel
    if hasattr(stated, "spectral_density"):
        return stated.spectral_density(omega, 1)
    origin = np.zeros((1, 1))
    return radial_fourier(lambda r: kernel._values(r[:, None], origin)[:, 0], omega, 1)


def _slope(kernel: Periodized) -> float:
    """Return the derivative by sin^2(pi (x - z) / T) at 0, from the metric of the kernel."""
    builder = Builder()
    builder.python(kernel)
    found = mixed_derivatives(builder.program, np.zeros((1, 1)), np.ones((1, 1, 1)))
    return -0.5 * float(found[0, 0, 0]) * (float(kernel.period) / pi) ** 2
