"""Radial B-splines: convolutions of balls."""

from __future__ import annotations

from functools import lru_cache
from math import comb, factorial, gamma, inf, pi
from typing import Any, Self

import numpy as np
from numpy.polynomial import chebyshev
from numpy.polynomial.legendre import leggauss
from scipy.special import betainc

from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.numerics import fourier_transforms
from mercer.numerics.bessel import bessel_ratio
from mercer.numerics.profile_table import Table
from mercer.numerics.random_frequencies import balls
from mercer.objects.parameters import integer, integer_from, optional, parameter, positive, show

from ..definiteness import PD
from ..regularisation import RADIAL_B_SPLINE
from ..stated_spectrum import DrawsFrequencies, stated_transform
from .compact import CompactKernel
from .pair_statistics import squared_distances
from .vector import RadialKernel, require_columns

_DEGREE = 48  # of the series between two knots


class RadialBSpline(DrawsFrequencies, RadialKernel, CompactKernel):
    r"""The convolution of n + 1 balls, as a function of the distance.

    .. math:: k(x, z) = B_n^d(\|x - z\| / s), \quad
              B_n^d = 1_{U_d} \otimes \cdots \otimes 1_{U_d} \; (n + 1 \text{ factors})

    with :math:`U_d` the unit ball. Its Fourier transform is proportional to the power n + 1 of
    :math:`w^{-d/2} J_{d/2}(w)`, so it is positive definite for odd n and indefinite for even n,
    which raises ValueError. The value is 0 beyond the distance (n + 1) s. For n = 1 it is the
    volume that two balls have in common. Values are taken from a table, with an error of 1e-10 of
    the largest value in even dimensions and of 1e-14 in odd ones.

    Parameters
    ----------
    order : odd int >= 1, default=3
        The order n.
    scale : float > 0, default=1.0
        The radius s of the balls.
    dimension : int >= 1, optional
        The number of columns d, by default that of the data at `bind`.

    Notes
    -----
    Use it like BSpline, in two or three dimensions, where no axis should be preferred and most
    entries of the matrix should vanish (`sparse_gram`). Take `scale` so that a ball of radius (n +
    1) s holds some tens of neighbours. Values come from a table that is made once for every
    dimension. Avoid it for many columns, where few objects have neighbours, and where the last
    digits count.

    Examples
    --------
    >>> from mercer.kernels import RadialBSpline
    >>> RadialBSpline(order=1, dimension=1)([[0.0]], [[0.5], [1.0], [3.0]])
    array([[1.5, 1. , 0. ]])
    """

    order: int = 3
    scale: float = parameter(positive, default=1.0)
    dimension: int | None = parameter(optional(integer_from(1)), default=None)

    spectral_density = stated_transform(
        fourier_transforms.radial_b_spline, order="order", scale="scale"
    )
    regularisation = RADIAL_B_SPLINE
    # Positive definite in `dimension` dimensions: an even power of a Fourier transform
    definiteness = PD

    def _check(self) -> None:
        if integer(self.order, "order", minimum=1) % 2 == 0:
            raise ValueError(
                f"a radial B-spline of even order is not positive definite, its Fourier transform "
                f"has negative values; got order {show(self.order)}. Use an odd order."
            )

    @property
    def support_radius(self) -> float:
        """The distance from which on the kernel is 0."""
        return (self.order + 1) * float(self.scale)

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        return self.replace(dimension=self.dimension or views.X.shape[1])

    _is_restricted = True
    _from_data = ("dimension",)

    def check_domain(self, X: Any) -> None:
        """Reject vectors of another dimension; see the base class."""
        if self.dimension is not None:
            require_columns(X, self.dimension, "the dimension of RadialBSpline")

    def compile(self, builder: Builder) -> None:
        self.require_bound("on pairs of vectors")
        builder.leaf("sqdist")
        builder.sqrt()
        builder.affine(-1.0 / float(self.scale), self.order + 1.0)
        builder.table(_table(int(self.order), int(self.dimension or 1)))

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        scale = float(self.scale)
        r = np.sqrt(squared_distances(X, Z)) / scale
        slope = _spline(int(self.order), int(self.dimension or 1), 1)(r)
        return {"scale": -r / scale * slope}

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return balls(int(self.order) + 1, n, d, rng) / float(self.scale)


@lru_cache(maxsize=32)
def _table(order: int, dimension: int) -> Table:
    """Return the spline as a table in order + 1 - r, the distance from the edge of the support.

    Near the edge, and at the knots r = 2, 4, ..., it is as smooth as a power of the distance from
    them; pieces that halve towards the edge have edges of their own at the knots. In even
    dimensions there is a logarithm at r = 0, which costs a few digits.
    """
    spline = _spline(order, dimension, 0)
    top = float(spline(np.zeros(1))[0])
    errors = {"float32": 1e-7, "float64": 1e-10} if order > 1 and dimension % 2 == 0 else None
    return Table.fit(
        lambda y: spline(order + 1.0 - y),
        order + 1.0,
        beyond=top,
        errors=errors,
        curvature_at_end=lambda: _curvature(order, dimension),
        accuracy=_accuracy(order, dimension),
    )


def _accuracy(order: int, dimension: int) -> float:
    """Return the error of the spline, relative to its largest value.

    On the line the terms of an alternating sum are larger than the sum. In other dimensions it is
    an integral, which converges slowly in even ones.
    """
    if dimension > 1:
        return 1e-12 if dimension % 2 else 1e-10
    half = 0.5 * (order + 1.0)
    terms = [comb(order + 1, k) * (half - k) ** order for k in range((order + 1) // 2 + 1)]
    total = abs(sum((-1) ** k * term for k, term in enumerate(terms)))
    return float((order + 4.0) * np.finfo(np.float64).eps * sum(terms) / total)


def _curvature(order: int, d: int) -> float:
    """Return the second derivative of the spline at r = 0, minus infinity for order 1.

    B_n is the convolution of f = B_1 and g = B_(n-2), so its Laplacian at 0 is minus the integral
    of grad f . grad g, over the ball of radius 2 outside of which f is 0.
    """
    if order == 1:
        return -inf
    x, weight = leggauss(64)
    angle = 0.25 * pi * (x + 1.0)
    r, step = 2.0 * np.sin(angle), 0.5 * pi * np.cos(angle) * weight
    product = _spline(1, d, 1)(r) * _spline(order - 2, d, 1)(r)
    return -_volume(d) * float((step * r ** (d - 1)) @ product)


@lru_cache(maxsize=64)
def _spline(order: int, dimension: int, derivative: int) -> Any:
    """Return the spline, or its derivative, as a function of r >= 0."""
    if dimension == 1:
        return lambda r: _on_the_line(order, derivative, r)
    if order == 1:
        return lambda r: _two_balls(dimension, derivative, r)
    return _Series(order, dimension, derivative)


def _on_the_line(order: int, derivative: int, r: np.ndarray) -> np.ndarray:
    """Return 2^n B_n(r / 2) of the cardinal spline B_n: the intervals have length 2."""
    r = np.asarray(r, dtype=np.float64)
    u, power = 0.5 * (order + 1.0 - r), order - derivative
    values = np.zeros_like(r)
    for k in range((order + 1) // 2 + 1):
        term = np.where(u > k, np.maximum(u - k, 0.0) ** power, 0.0)
        values += (-1) ** k * comb(order + 1, k) * term
    return values * (2.0**order / factorial(power) * (-0.5) ** derivative)


def _two_balls(d: int, derivative: int, r: np.ndarray) -> np.ndarray:
    """Return the volume that two unit balls at the distance r have in common."""
    r = np.minimum(np.asarray(r, dtype=np.float64), 2.0)
    square = 0.25 * (2.0 - r) * (2.0 + r)  # of the radius of the sphere in which they meet
    if derivative:
        return -_volume(d - 1) * square ** (0.5 * (d - 1))
    near = 1.0 - betainc(0.5, 0.5 * (d + 1), 0.25 * r * r)
    return _volume(d) * np.where(r < 1.0, near, betainc(0.5 * (d + 1), 0.5, square))


def _volume(d: int) -> float:
    """Return the volume of the unit ball."""
    return pi ** (0.5 * d) / gamma(0.5 * d + 1.0)


class _Series:
    """The spline between its knots 0, 2, 4, ... by Chebyshev series.

    At a knot p the spline is as smooth as abs(r - p) to a power that may be a half-integer; as a
    function of t, r = p + 2 sin(t / 2)^2, it is smooth up to the knots.
    """

    def __init__(self, order: int, dimension: int, derivative: int) -> None:
        x = np.cos(pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
        self.series = []
        for knot in range(0, order + 1, 2):
            r = knot + 2.0 * np.sin(0.25 * pi * (x + 1.0)) ** 2
            values = _convolved(order, dimension, derivative, r)
            self.series.append(chebyshev.chebfit(x, values, _DEGREE))

    def __call__(self, r: np.ndarray) -> np.ndarray:
        r = np.asarray(r, dtype=np.float64)
        values = np.zeros_like(r)
        for i, c in enumerate(self.series):
            here = (r >= 2 * i) & (r < 2 * i + 2)
            t = 2.0 * np.arcsin(np.sqrt(0.5 * (r[here] - 2 * i)))
            values[here] = chebyshev.chebval(2.0 * t / pi - 1.0, c)
        return values


def _convolved(n: int, d: int, derivative: int, r: np.ndarray) -> np.ndarray:
    """Return (2 pi)^(n d / 2) integral of w^(d-1) F(w)^(n+1) J_nu(w r) / (w r)^nu over w > 0.

    F(w) = w^(-d/2) J_(d/2)(w) is the transform of the unit ball. The integrand falls off as a
    power of w, and is integrated to where it is negligible.
    """
    decay = 0.5 * (d + 1) * (n + 1) - d - derivative
    last = 20.0 + d + (1e15 if d % 2 and not derivative else 1e13) ** (1.0 / decay)
    x, weight = leggauss(24)
    panels = int(np.ceil(0.5 * last))
    w = (2.0 * np.arange(panels)[:, None] + 1.0 + x).reshape(-1)
    ball = (2.0 * pi) ** (0.5 * d) * bessel_ratio(0.5 * d, w)
    measure = np.tile(weight, panels) * w ** (d - 1 + derivative) * ball ** (n + 1)
    nu = 0.5 * d - 1.0
    argument = np.outer(r, w)
    waves = (-argument) ** derivative * bessel_ratio(nu + derivative, argument)
    return (waves @ measure) * (2.0 * pi) ** (-0.5 * d)
