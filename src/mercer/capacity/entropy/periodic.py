r"""Discrete spectra of translation-invariant kernels, by periodic extension.

On the whole line the operator of k(x - y) is not compact and has a continuous spectrum. Data are
bounded, so k may be replaced by its v-periodic extension :math:`k_v(x) = \sum_j k(x - j v)`, whose
eigenfunctions are waves and whose eigenvalues are values of the Fourier transform of k,

.. math:: \lambda_j = (2\pi)^{d/2} F[k](2\pi j / v), \quad j \in \mathbb{Z}^d, \qquad
          \sum_j \lambda_j = v^d \, k_v(0) ,

in the unitary convention. For radial kernels all j of one length share an eigenvalue, so that the
shells of the lattice are the blocks of the spectrum (Smola 1998, lemma 8.8 and remark 8.9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize

from mercer.capacity.bound import Condition
from mercer.kernels import Kernel
from mercer.objects.parameters import integer, positive, require_choice

from .inputs import Array
from .lattice import MOST_POINTS, lattice_points, lattice_shells, radial_tail, trace_of
from .spectra import Spectrum
from .transforms import Transform, is_radial, transform_of, translation_invariant

__all__ = ["MercerMap", "PeriodicSpectrum", "choose_period", "exact_period", "wrap_error"]


SMALLEST = 1e-300  # of the largest eigenvalue: below it numbers lose their digits
NUMERIC_FLOOR = 1e-9  # of the largest eigenvalue, for transforms by numerical integration
MOST_SHELLS = {1: 200_000, 2: 60_000}
MOST_SHELLS_ELSE = 20_000
_SUM_ERROR = {True: 1e-13, False: 1e-8}  # of sums of eigenvalues, by closed form or numerically


@dataclass(frozen=True, eq=False)
class PeriodicSpectrum(Spectrum):
    """The spectrum of a periodic extension, with its eigenfunctions.

    Made by `Spectrum.from_translation_invariant`.

    Attributes
    ----------
    period : float
        The period v in every coordinate.
    dimension : int
        The number of coordinates d.
    falling : bool
        Whether the eigenvalues fall with the length of the wave vector, so that waves by length are
        eigenfunctions by eigenvalue.
    values : ndarray
        Distinct eigenvalues, largest first.
    multiplicities : array-like of int, optional
        How often each of them occurs; by default once.
    C_k : float, default=1
        Bound on the absolute value of all eigenfunctions.
    tail : float, default=0
        Bound on the sum of the eigenvalues that are not listed.
    conditions : tuple of Condition
        Conditions under which this is the spectrum.

    Examples
    --------
    >>> from mercer.capacity import Spectrum
    >>> from mercer.kernels import RBF
    >>> spectrum = Spectrum.from_translation_invariant(RBF(1.0), period=10.0)
    >>> spectrum.period, spectrum.values[:2].round(4)
    (10.0, array([1.7725, 1.6059]))
    """

    period: float = 1.0
    dimension: int = 1
    falling: bool = True

    @property
    def radius(self) -> float:
        """The length of all features: k_v(x, x) = trace / v^d everywhere."""
        return math.sqrt(self.trace / self.period**self.dimension)

    def eigenfunctions(self, X: Any, n_terms: int) -> Array:
        """Return the leading eigenfunctions, waves of unit length in L2 of a period.

        A constant, then cosine and sine of each wave vector of one half of the lattice, by length:
        the order of the eigenvalues if these are `falling`.

        Parameters
        ----------
        X : array-like of shape (n, d) or, in one dimension, (n,)
            Where to evaluate.
        n_terms : int >= 1
            How many functions.

        Returns
        -------
        ndarray of shape (n, n_terms)
            One column per eigenfunction.
        """
        integer(n_terms, "n_terms", minimum=1)
        points = np.asarray(X, dtype=np.float64)
        points = points[:, None] if points.ndim == 1 else points
        r2_max = 1
        while lattice_shells(self.dimension, r2_max).cumulative[-1] < n_terms:
            r2_max *= 2
        waves = lattice_points(self.dimension, r2_max)[1:]
        first = waves[np.arange(len(waves)), np.argmax(waves != 0, axis=1)]
        waves = waves[first > 0][: (n_terms + 1) // 2]
        phases = 2.0 * math.pi / self.period * points @ waves.T
        pairs = np.stack([np.cos(phases), np.sin(phases)], axis=-1).reshape(len(points), -1)
        volume = self.period**self.dimension
        constant = np.full((len(points), 1), volume**-0.5)
        return np.hstack([constant, math.sqrt(2.0 / volume) * pairs])[:, :n_terms]


def by_periodic_extension(
    kernel: Any, period: float, dimension: int, n_shells: int | None, constant: str
) -> PeriodicSpectrum:
    """Return the spectrum of a periodic extension: `Spectrum.from_translation_invariant`."""
    v = positive(period, "period")
    d = integer(dimension, "dimension", minimum=1)
    require_choice(constant, "constant", ("eigenfunctions", "shells"))
    if n_shells is not None:
        integer(n_shells, "n_shells", minimum=1)
    transform, closed = transform_of(kernel, d)
    spacing, scale = 2.0 * math.pi / v, (2.0 * math.pi) ** (d / 2)
    floor = SMALLEST if closed else NUMERIC_FLOOR
    radial = is_radial(transform, d, spacing)
    if radial:

        def profile(r: Array) -> Array:
            w = np.zeros((len(r), d))
            w[:, 0] = spacing * r
            return scale * transform(w)

        values, counts, left_out = _by_shells(profile, d, n_shells, floor)
        falling = closed and bool((np.diff(values) <= 0).all())
    else:
        values, counts = _by_points(lambda j: scale * transform(spacing * j), d, n_shells, floor)
        falling = False
    if falling:
        tail = radial_tail(profile, d, left_out, values)
    else:
        total = trace_of(kernel, v, d)
        tail = max(0.0, total - float(values @ counts)) + _SUM_ERROR[closed] * total
    return PeriodicSpectrum(
        values,
        counts,
        C_k=((2.0 if constant == "eigenfunctions" else 1.0) / v) ** (d / 2),
        tail=tail,
        conditions=_conditions(closed, constant, len(values) if falling else 0),
        period=v,
        dimension=d,
        falling=radial and bool((np.diff(values) <= 0).all()),
    )


def _by_shells(
    profile: Any, d: int, n_shells: int | None, floor: float
) -> tuple[Array, Array, float]:
    """Return eigenvalues by shells, multiplicities, and the first radius that is left out."""
    most = n_shells or MOST_SHELLS.get(d, MOST_SHELLS_ELSE)
    radii = _until_negligible(profile, np.arange if d == 1 else _roots, most, floor, 4 * d + 4)
    if d == 1:
        counts = np.where(np.arange(len(radii)) == 0, 1.0, 2.0)
    else:
        shells = lattice_shells(d, len(radii) - 1)
        counts = shells.count.astype(np.float64)
    occupied = counts > 0
    left_out = float(len(radii)) if d == 1 else math.sqrt(len(radii))
    return _checked(profile(radii[occupied]), floor), counts[occupied], left_out


def _roots(n: int) -> Array:
    return np.sqrt(np.arange(n))


def _until_negligible(profile: Any, grid: Any, most: int, floor: float, least: int) -> Array:
    """Return radii of shells up to where the function is negligible, and some in any case."""
    n = 64
    while True:
        n = min(n, most + 1)
        radii = np.asarray(grid(n), dtype=np.float64)
        values = profile(radii)
        small = np.abs(values) <= floor * abs(values[0])
        # A function that oscillates has zeros; only a long run of small values ends the list.
        last = np.flatnonzero(~small)[-1] + 1 if (~small).any() else 1
        if last + 16 < n:
            return radii[: max(last, least)]
        if n == most + 1:
            return radii
        n *= 4


def _checked(values: Array, floor: float) -> Array:
    top = np.abs(values).max()
    if not np.isfinite(values).all():
        raise ValueError(
            "the kernel's Fourier transform is infinite: its periodic extension does not exist, "
            "because the kernel does not decay faster than 1 / |x|^d."
        )
    if values.min() < -max(floor, 1e-12) * top:
        raise ValueError(
            f"the kernel has the negative eigenvalue {values.min():.3g}, so it is not positive "
            "semidefinite; for linear programming machines pass its Fourier coefficients to "
            "SignedSpectrum."
        )
    return np.maximum(values, 0.0)


def _by_points(
    values_at: Transform, d: int, n_shells: int | None, floor: float
) -> tuple[Array, Array]:
    """Return eigenvalues of a function that is not radial, from the points of a cube."""
    side = int(min((MOST_POINTS ** (1 / d) - 1) / 2, n_shells or 1000))
    axis = np.arange(-side, side + 1)
    grid = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)
    values = _checked(values_at(grid.astype(np.float64)), floor)
    blocks, counts = np.unique(values[values > floor * values.max()], return_counts=True)
    return blocks, counts.astype(np.float64)


def _conditions(closed: bool, constant: str, n_falling: int) -> tuple[Condition, ...]:
    waves = "waves have this bound" if constant == "eigenfunctions" else "cos^2 + sin^2 = 1"
    formula = "closed form" if closed else "numerical integration to 1e-9 of the largest"
    rest = f"integral of a function that falls on all {n_falling} shells listed"
    return (
        Condition("no eigenfunction exceeds C_k anywhere", "satisfied", waves),
        Condition(
            "the eigenvalues are those of the periodic kernel",
            "satisfied" if closed else "unknown",
            f"{formula}; those not listed: {rest if n_falling else 'v^d k_v(0) less the listed'}",
        ),
        Condition("all data lie within one period of the kernel, less its range"),
    )


class MercerMap:
    r"""The features :math:`\Phi(x) = (\sqrt{\lambda_j} \psi_j(x))_j` of a periodic extension.

    Parameters
    ----------
    spectrum : PeriodicSpectrum
        The spectrum, of a radial kernel whose eigenvalues fall with the frequency.
    n_terms : int >= 1
        How many features.

    Attributes
    ----------
    left_out : float
        Bound on the error of every kernel value, C_k^2 times the sum of the other eigenvalues.

    References
    ----------
    Smola 1998, (8.6) and (8.52).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import MercerMap, Spectrum
    >>> from mercer.kernels import RBF
    >>> phi = MercerMap(Spectrum.from_translation_invariant(RBF(gamma=1.0), 8.0), n_terms=25)
    >>> features = phi.transform([[0.0], [1.0]])
    >>> round(float(features[0] @ features[1]), 6), round(float(np.exp(-1.0)), 6)
    (0.367879, 0.367879)
    """

    def __init__(self, spectrum: PeriodicSpectrum, n_terms: int) -> None:
        if not isinstance(spectrum, PeriodicSpectrum):
            raise TypeError(
                "eigenfunctions are known for periodic extensions: pass a spectrum made by "
                "Spectrum.from_translation_invariant."
            )
        if not spectrum.falling:
            raise ValueError(
                "the eigenvalues of this kernel do not fall with the frequency, so its leading "
                "eigenfunctions are not the waves of lowest frequency; use Spectrum.from_kernel."
            )
        self.spectrum = spectrum
        self.n_terms = integer(n_terms, "n_terms", minimum=1)
        self.roots = np.sqrt(spectrum.leading(n_terms))
        if len(self.roots) < n_terms:
            raise ValueError(f"the spectrum lists {len(self.roots)} eigenvalues; got {n_terms=}.")
        rest = spectrum.trace - float((self.roots**2).sum())
        self.left_out = spectrum.C_k**2 * max(rest, spectrum.tail)

    def transform(self, X: Any) -> Array:
        """Return the features of points, one row each.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n,)
            The points.
        """
        return self.spectrum.eigenfunctions(X, self.n_terms) * self.roots


_MOST_IMAGES = 4096  # beyond which a slowly falling sum is taken for a geometric series


def exact_period(support: float, radius: float, *, smallest: bool = False) -> float:
    """Return a period that leaves all hypotheses of a compactly supported kernel unchanged.

    Parameters
    ----------
    support : float > 0
        The kernel is zero beyond this distance.
    radius : float > 0
        The data lie in [-radius, radius].
    smallest : bool, default=False
        Whether to return support + 2 radius, which suffices, instead of the 2 (support + radius) of
        the literature.

    Returns
    -------
    float
        A period that leaves all hypotheses of a compactly supported kernel unchanged.

    References
    ----------
    Smola 1998, (8.47).

    Examples
    --------
    >>> from mercer.capacity.entropy import exact_period
    >>> exact_period(1.0, 3.0), exact_period(1.0, 3.0, smallest=True)
    (8.0, 7.0)
    """
    a, b = positive(support, "support"), positive(radius, "radius")
    return a + 2.0 * b if smallest else 2.0 * (a + b)


def wrap_error(kernel: Any, period: float, distance: float, dimension: int = 1) -> float:
    r"""Return how much a periodic extension changes the kernel up to a distance.

    In one dimension the sum of the images at that distance; in d dimensions, for radial kernels
    that decrease, the bound :math:`\sum_{n \ne 0} k(v \|n\| - D)` over the lattice.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A bound kernel of x - z.
    period : float > 0
        The period v, larger than the distance.
    distance : float >= 0
        The largest distance D of two data points.
    dimension : int >= 1, default=1
        The dimension d.

    Returns
    -------
    float
        How much a periodic extension changes the kernel up to a distance.

    Examples
    --------
    >>> from mercer.capacity.entropy import wrap_error
    >>> from mercer.kernels import RBF
    >>> round(wrap_error(RBF(gamma=1.0), 4.0, 2.0), 4)
    0.0183
    """
    v = positive(period, "period")
    d = integer(dimension, "dimension", minimum=1)
    k = translation_invariant(kernel)
    if not v > distance:
        return math.inf
    n = 16
    while True:
        terms = _images(k, v, float(distance), d, n)
        total, late = float(terms.sum()), float(terms[n // 2 :].sum())
        before = float(terms[n // 4 : n // 2].sum())
        if late <= 1e-16 * total:
            return total
        if n >= _MOST_IMAGES:
            # Sums over doubling ranges of a power fall by a constant ratio: a geometric series.
            ratio = late / before
            if ratio > 0.9:
                raise ValueError(
                    f"{k!r} does not decay fast enough for a periodic extension: it has to fall "
                    "faster than 1 / |x|^d."
                )
            return total + late * ratio / (1.0 - ratio)
        n *= 4


def _images(k: Kernel, v: float, distance: float, d: int, n: int) -> Array:
    """Return what the first n shells of images add to the kernel at a distance, in size."""
    if d == 1:
        r = np.stack(
            [np.abs(distance - v * np.arange(1, n + 1)), distance + v * np.arange(1, n + 1)]
        )
        counts = np.ones((2, n))
    else:
        shells = lattice_shells(d, n)
        r = v * np.sqrt(shells.r2[1:])[None] - distance
        counts = shells.count[1:].astype(np.float64)[None]
    points = np.zeros((r.size, d))
    points[:, 0] = r.reshape(-1)
    values = np.abs(k(points, np.zeros((1, d)))[:, 0]).reshape(r.shape)
    return (values * counts).sum(axis=0)


def choose_period(
    kernel: Any, radius: float, dimension: int = 1, *, wrap_tol: float = 1e-6
) -> float:
    """Return the smallest period at which the extension agrees with the kernel on the data.

    A small period gives few large eigenvalues and small entropy numbers, but wraps the kernel
    around: the smallest period that does not is the choice.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A bound kernel of x - z.
    radius : float > 0
        The data lie in a ball of this radius in input space.
    dimension : int >= 1, default=1
        The dimension d.
    wrap_tol : float > 0, default=1e-6
        The largest change of a kernel value, relative to k(x, x).

    Returns
    -------
    float
        The period, larger than the diameter of the data.

    References
    ----------
    Smola 1998, section 8.5.

    Examples
    --------
    >>> from mercer.capacity.entropy import choose_period
    >>> from mercer.kernels import RBF
    >>> round(choose_period(RBF(gamma=1.0), 1.0), 3)
    5.717
    """
    b = positive(radius, "radius")
    tol = positive(wrap_tol, "wrap_tol")
    k = translation_invariant(kernel)
    tol *= float(k.diag(np.zeros((1, dimension)))[0])

    def excess(v: float) -> float:
        error = wrap_error(k, v, 2.0 * b, dimension)
        return math.log(error / tol) if error > 0.0 else -1.0

    low = high = 2.0 * b
    step = 2.0 * b
    while high == low or excess(high) > 0.0:
        low, high, step = high, high + step, 2.0 * step
        if high > 1e9 * b:
            raise ValueError(
                f"no period brings the wrap of {k!r} below {wrap_tol:g}; allow a larger wrap_tol."
            )
    if low == 2.0 * b:
        low = 2.0 * b * (1.0 + 1e-9)
    if excess(low) <= 0.0:
        return low
    return float(scipy.optimize.brentq(excess, low, high, xtol=1e-9 * high))
