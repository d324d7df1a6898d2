"""A radial kernel from its power spectrum."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from math import ceil, inf, pi
from typing import Any, Self

import numpy as np
from numpy.polynomial import chebyshev
from numpy.polynomial.legendre import leggauss

from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.numerics import fourier_transforms
from mercer.numerics.bessel import bessel_ratio
from mercer.numerics.hankel import half_length, radial_fourier
from mercer.numerics.profile_table import Table
from mercer.numerics.random_frequencies import from_radial_density
from mercer.objects.parameters import integer_from, one_of, optional, parameter, positive, show
from mercer.objects.rows import dense

from ..definiteness import PD
from ..stated_spectrum import DrawsFrequencies, stated_transform
from .vector import RadialKernel, require_columns

MODES = ("covariance", "coefficients")
_OCTAVES = 26  # below the largest distance, down to where the kernel is linear
_STEP = 1e-3  # of the largest value of a spectrum, which a continuous one does not take at once
_END = 1e-4  # of it, which a spectrum that ends smoothly does not have just before its end
_ERRORS = {"float32": 1e-7, "float64": 1e-10}  # of the table, relative to k(x, x)
_ACCURACY = 2e-10  # of the integrals it is made from


class FromSpectrum(DrawsFrequencies, RadialKernel):
    r"""The radial kernel with a given spectrum.

    .. math:: k(x, z) = (2 \pi)^{-d/2} \int P(\|w\|) \, e^{i w \cdot (x - z)} \, dw

    Positive definite: the Fourier transform of a positive density (Bochner). A frequency with a
    small P is damped in the functions of a machine, one with P = 0 cannot occur. P need not be
    normalised, but it must be integrable in d dimensions, or there is no bounded kernel: the
    first-order Sobolev spectrum 1 / (1 + w^2) has one on the real line only.

    To match the kernel to functions whose power spectrum is known there are two rules. As the
    covariance of a random function the kernel has the function's power spectrum as its own;
    as the kernel of expansions with uncorrelated coefficients it has the root of it.

    Parameters
    ----------
    density : callable
        P, a function of the frequencies w >= 0, vectorised, finite and without negative values.
    mode : {"covariance", "coefficients"}, default="covariance"
        Whether the spectrum of the kernel is `density` or its root.
    dimension : int >= 1, optional
        The number of columns d, by default that of the data at `bind`.
    reach : float > 0, optional
        The largest distance; beyond it the kernel counts as 0. By default twice the diagonal of
        the box that holds the data at `bind`.
    cutoff : float > 0, optional
        A frequency beyond which the density is 0. Without it the density must be smooth.

    Notes
    -----
    Use it where the power spectrum of the targets is known, from physics or from
    :func:`mercer.selection.estimate_power_spectrum`. The transform is computed once, at `bind`;
    after that a value costs as much as that of any radial kernel from a table. Without such
    knowledge take Matern, whose spectrum has two parameters, which cross-validation finds. Avoid it
    also for targets that vary differently along different columns, since the kernel is radial.

    Examples
    --------
    >>> from mercer.kernels import FromSpectrum
    >>> k = FromSpectrum(lambda w: 1 / (1 + w**2), dimension=1, reach=40.0)
    >>> k([[0.0]], [[0.0], [1.0]]).round(6)  # sqrt(pi / 2) exp(-r)
    array([[1.253314, 0.461069]])
    """

    density: Callable[[np.ndarray], Any]
    mode: str = parameter(one_of(*MODES), default="covariance")
    dimension: int | None = parameter(optional(integer_from(1)), default=None)
    reach: float | None = None
    cutoff: float | None = None

    _fixed = ("reach", "cutoff")

    spectral_density = stated_transform(fourier_transforms.radial, profile="_spectrum")
    definiteness = PD  # Positive definite on sets whose distances do not exceed `reach`

    def _check(self) -> None:
        if not callable(self.density):
            raise TypeError(f"density must be callable; got {self.density!r}.")
        for name in ("reach", "cutoff"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        dimension = views.X.shape[1] if self.dimension is None else int(self.dimension)
        sides = _sides(views.X)
        reach = 2.0 * float(np.linalg.norm(sides)) if self.reach is None else float(self.reach)
        if self.reach is not None and reach < sides.max():
            raise ValueError(
                f"reach={reach:g} is smaller than the distance of some vectors, of which a column "
                f"alone is {sides.max():g}; beyond it the kernel is cut off and not positive "
                "definite. Use a larger reach, or None."
            )
        bound = self.replace(dimension=dimension, reach=reach or 1.0)
        bound._table()  # refuses a density that is not integrable or not positive
        return bound

    _is_restricted = True
    _from_data = ("dimension", "reach")

    def check_domain(self, X: Any) -> None:
        """Reject vectors of another dimension; see the base class."""
        if self.dimension is not None:
            require_columns(X, self.dimension, "the spectrum of FromSpectrum")

    def compile(self, builder: Builder) -> None:
        self.require_bound("on pairs of vectors")
        builder.leaf("sqdist")
        builder.table(self._table())

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        return {}

    def _frequencies(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        self.require_bound("in the frequency domain")
        cutoff = None if self.cutoff is None else float(self.cutoff)
        return from_radial_density(
            self._spectrum, 1.0 / float(self.reach or 1.0), cutoff, n, d, rng
        )

    @property
    def _spectrum(self) -> Callable[[np.ndarray], np.ndarray]:
        """The Fourier transform of the kernel, as a function of the length of a frequency."""
        return _spectrum(self.density, self.mode, self.cutoff)

    def _table(self) -> Table:
        cutoff = None if self.cutoff is None else float(self.cutoff)
        dimension, reach = int(self.dimension or 1), float(self.reach or 1.0)
        return _profile(self.density, self.mode, dimension, reach, cutoff)


def _spectrum(
    density: Callable[[np.ndarray], Any], mode: str, cutoff: float | None
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the spectrum of the kernel: the density or its root, 0 beyond the cutoff."""

    def spectrum(w: np.ndarray) -> np.ndarray:
        inside = w if cutoff is None else np.minimum(w, cutoff)
        values = np.asarray(density(inside), dtype=np.float64)
        bad = np.flatnonzero(~((values >= 0) & (values < np.inf)))
        if values.shape != w.shape or len(bad):
            what = f"P({w[bad[0]]:.6g}) = {values[bad[0]]:.6g}" if len(bad) else "another shape"
            raise ValueError(
                f"a spectrum is a function of frequencies without negative values; {show(density)} "
                f"gave {what}."
            )
        values = np.sqrt(values) if mode == "coefficients" else values
        return values if cutoff is None else np.where(w <= cutoff, values, 0.0)

    return spectrum


@lru_cache(maxsize=32)
def _profile(
    density: Callable, mode: str, dimension: int, reach: float, cutoff: float | None
) -> Table:
    """Return the kernel as a table in the squared distance."""
    spectrum = _spectrum(density, mode, cutoff)
    if cutoff is None:
        top = float(radial_fourier(spectrum, 0.0, dimension)[0])
        if not (np.isfinite(top) and top > 0):
            raise ValueError(
                f"the density {show(density)} has the integral {top} in {dimension} dimensions, so "
                "there is no bounded kernel. It must fall off faster than w^(-d), or be cut off."
            )
        _refuse_jumps(spectrum, reach, density)
        value = _interpolated(lambda r: radial_fourier(spectrum, r, dimension), top, reach)
    else:
        nodes = _Band(spectrum, dimension, cutoff, reach)
        top = float(nodes(np.zeros(1))[0])
        value = _interpolated(nodes, top, reach)
    last = None
    for grid in ("octaves", "root"):
        try:
            return Table.fit(
                lambda squares: value(np.sqrt(squares)),
                reach**2,
                grid=grid,
                errors=_ERRORS,
                slope_at_zero=lambda: _slope(spectrum, dimension, reach, cutoff),
                accuracy=_ACCURACY,
            )
        except ValueError as error:
            last = error
    raise ValueError(
        f"the kernel of {show(density)} oscillates too often within {reach:g} to be tabulated; "
        "choose a smaller reach or a lower cutoff."
    ) from last


def _slope(
    spectrum: Callable[[np.ndarray], np.ndarray], d: int, reach: float, cutoff: float | None
) -> float:
    """Return dk / d(r^2) at 0: -1 / (2 d) times the integral of w^2 P(w), perhaps -infinity."""
    if cutoff is not None:
        moment = float(_Band(lambda w: w**2 * spectrum(w), d, cutoff, reach)(np.zeros(1))[0])
    else:
        length = half_length(spectrum)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an integral that does not settle
            moments = radial_fourier(lambda w: w**2 * spectrum(w), 0.0, d, length=length)
        moment = float(moments[0])
    return -0.5 * moment / d if np.isfinite(moment) else -inf


def _refuse_jumps(spectrum: Any, reach: float, density: Callable) -> None:
    """Reject a spectrum with a jump or a sharp end, whose transform decays too slowly.

    A step between two neighbours of a fine grid is followed by bisection down to neighbouring
    floating-point numbers, where a continuous function has none left.
    """
    w = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 4000) / reach])
    with np.errstate(all="ignore"):
        P = spectrum(w)
        top = P.max()
        steep = np.flatnonzero(np.abs(np.diff(P)) > _STEP * top)
        low, high, below, above = w[steep], w[steep + 1], P[steep], P[steep + 1]
        for _ in range(100):
            if not len(low):
                _refuse_sharp_end(spectrum, w, density)
                return
            middle = 0.5 * (low + high)
            P = spectrum(middle)
            left = np.abs(P - below) > np.abs(above - P)
            low, below = np.where(left, low, middle), np.where(left, below, P)
            high, above = np.where(left, middle, high), np.where(left, P, above)
            kept = np.abs(above - below) > _STEP * top
            low, high, below, above = low[kept], high[kept], below[kept], above[kept]
    raise ValueError(
        f"the density {show(density)} jumps at the frequency {high[0]:.6g}, from {below[0]:.6g} to "
        f"{above[0]:.6g}; without a cutoff it must be continuous. If it ends there, pass "
        f"cutoff={high[0]:.6g}; otherwise smooth it."
    )


def _refuse_sharp_end(spectrum: Any, w: np.ndarray, density: Callable) -> None:
    """Reject a continuous spectrum that goes to 0 at an angle and stays there."""
    P = spectrum(w)
    last = int(np.flatnonzero(P)[-1]) if P.any() else len(P) - 1
    if last == len(P) - 1 or P[last] < _END * P.max():
        return
    low, high = w[last], w[last + 1]
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spectrum(np.array([middle]))[0] > 0 else (low, middle)
    raise ValueError(
        f"the density {show(density)} ends at the frequency {high:.6g}, and not smoothly; pass "
        f"cutoff={high:.6g}."
    )


class _Band:
    """The transform of a density on [0, cutoff] by a quadrature with positive weights."""

    def __init__(self, spectrum: Any, dimension: int, cutoff: float, reach: float) -> None:
        x, weight = leggauss(20)
        panels = 16 + ceil(cutoff * reach / (4 * pi))
        half = 0.5 * cutoff / panels
        self.nodes = (half * (2 * np.arange(panels)[:, None] + 1 + x)).reshape(-1)
        self.nu = 0.5 * dimension - 1.0
        measure = np.tile(half * weight, panels) * self.nodes ** (dimension - 1)
        self.weights = measure * spectrum(self.nodes)

    def __call__(self, r: np.ndarray) -> np.ndarray:
        return bessel_ratio(self.nu, np.outer(r, self.nodes)) @ self.weights


def _interpolated(function: Any, top: float, reach: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a cheap form of a costly function: Chebyshev series on octaves, and `top` at 0."""
    edges = reach * 2.0 ** -np.arange(_OCTAVES + 1.0)
    series = []
    for low, high in zip(edges[1:], edges[:-1], strict=True):
        for degree in (16, 32, 64, 128, 256, 512):
            x = chebyshev.chebpts1(degree + 1)
            values = function(0.5 * (low + high) + 0.5 * (high - low) * x)
            c = chebyshev.chebfit(x, values, degree)
            if np.abs(c[-4:]).max() < 1e-13 * top:
                break
        series.append(c)
    first = float(chebyshev.chebval(-1.0, series[-1]))

    def value(r: np.ndarray) -> np.ndarray:
        r = np.asarray(r, dtype=np.float64)
        octave = np.floor(np.log2(reach / np.maximum(r, 1e-300)))
        octave = np.clip(octave, 0, _OCTAVES).astype(int)
        result = top + (first - top) * r / edges[-1]
        for i in range(_OCTAVES):
            here = octave == i
            x = (2.0 * r[here] - edges[i] - edges[i + 1]) / (edges[i] - edges[i + 1])
            result[here] = chebyshev.chebval(x, series[i])
        return result

    return value


def _sides(X: Any) -> np.ndarray:
    """Return the sides of the box that holds the rows."""
    return (dense(X.max(axis=0)) - dense(X.min(axis=0))).ravel()
