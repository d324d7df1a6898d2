"""Choosing the period of a kernel's extension: large enough for the data, small for the bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.optimize

from mercer.kernels import Kernel
from mercer.objects.parameters import integer, positive

from .inputs import Array
from .lattice import lattice_shells
from .transforms import translation_invariant

__all__ = ["choose_period", "exact_period", "wrap_error"]


_MOST_IMAGES = 4096


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
