r"""Points of the integer lattice on spheres, counted exactly by powers of the theta series.

.. math:: \theta(x)^d = \Bigl(1 + 2 \sum_{j \ge 1} x^{j^2}\Bigr)^d
          = \sum_{r^2 \ge 0} n(r, d) \, x^{r^2}

The thesis prints the last sum from 1; the centre, r = 0, is one point of the lattice. Sums of
eigenvalues over the lattice beyond those that are listed are bounded by integrals.
"""

from __future__ import annotations

import math
from math import isqrt, log2
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate
from numpy.typing import NDArray

from mercer.kernels import Kernel, resolve
from mercer.objects.parameters import integer

from .inputs import Array

__all__ = ["Shells", "lattice_points", "lattice_shells"]


class Shells(NamedTuple):
    """The shells of the lattice Z^d up to a radius.

    Attributes
    ----------
    r2 : ndarray of int
        Squared radii 0, 1, ..., r2_max.
    count : ndarray of int
        How many points of the lattice have each of them.
    cumulative : ndarray of int
        How many points lie within each radius.

    Examples
    --------
    >>> from mercer.capacity import lattice_shells
    >>> shells = lattice_shells(2, 4)
    >>> shells.count.tolist(), shells.cumulative.tolist()
    ([1, 4, 4, 0, 4], [1, 5, 9, 9, 13])
    """

    r2: NDArray[np.int64]
    count: NDArray[np.int64]  # type: ignore[assignment]  # hides tuple.count, which has no use here
    cumulative: NDArray[np.int64]


def lattice_shells(d: int, r2_max: int) -> Shells:
    """Return how many points of Z^d lie on each sphere around the origin.

    Parameters
    ----------
    d : int >= 1
        The dimension.
    r2_max : int >= 0
        The largest squared radius.

    Returns
    -------
    Shells
        Squared radii, numbers of points, cumulative numbers; exact, of Python's integers where 64
        bits do not suffice.

    Notes
    -----
    Each multiplication by the theta series has about sqrt(r2_max) terms, so the cost is
    d r2_max^(3/2) additions: 0.1 s for d = 3 and r2_max = 10^5.

    References
    ----------
    Smola 1998, (8.60) and theorem 8.14.

    Examples
    --------
    >>> from mercer.capacity.entropy import lattice_shells
    >>> lattice_shells(2, 10).count
    array([1, 4, 4, 0, 4, 8, 0, 0, 4, 4, 8])
    >>> int(lattice_shells(3, 10).cumulative[-1])
    147
    """
    integer(d, "d", minimum=1)
    integer(r2_max, "r2_max", minimum=0)
    # All points lie in a cube of (2 r + 1)^d points.
    fits = d * log2(2 * isqrt(r2_max) + 1) < 62
    squares = [j * j for j in range(1, isqrt(r2_max) + 1)]
    count = np.zeros(r2_max + 1, dtype=np.int64 if fits else object)
    count[0] = 1
    for _ in range(d):
        product = count.copy()
        for square in squares:
            product[square:] += 2 * count[: len(count) - square]
        count = product
    return Shells(np.arange(r2_max + 1), count, np.cumsum(count))


def lattice_points(d: int, r2_max: int) -> NDArray[np.int64]:
    """Return the points of Z^d within a radius, by squared length, then by coordinates.

    Parameters
    ----------
    d : int >= 1
        The dimension.
    r2_max : int >= 0
        The largest squared radius.

    Returns
    -------
    ndarray of int of shape (n_points, d)
        The points.

    Examples
    --------
    >>> from mercer.capacity.entropy import lattice_points
    >>> lattice_points(2, 1).tolist()
    [[0, 0], [-1, 0], [0, -1], [0, 1], [1, 0]]
    """
    side = np.arange(-isqrt(r2_max), isqrt(r2_max) + 1)
    grid = np.stack(np.meshgrid(*[side] * d, indexing="ij"), axis=-1).reshape(-1, d)
    squares = (grid**2).sum(axis=1)
    kept = grid[squares <= r2_max]
    return kept[np.argsort(squares[squares <= r2_max], kind="stable")]


MOST_POINTS = 1_000_000  # of the lattice, where the transform is not radial


def radial_tail(profile: Any, d: int, radius: float, values: Array) -> float:
    r"""Return a bound on the sum of a nonincreasing radial function over the lattice from a radius.

    A point j of the lattice has a unit cube, whose points x satisfy |x| <= |j| + sqrt(d)/2, hence
    f(|j|) <= f(|x| - sqrt(d)/2); the sum is at most the integral of the latter. In one dimension
    the interval (j - 1, j) does, which is lemma 8.17 of the thesis.
    """
    if len(values) < 2 or values[-1] == 0.0:
        return 0.0
    surface = 2.0 * math.pi ** (d / 2) / math.gamma(d / 2)
    shift = 0.0 if d == 1 else math.sqrt(d) / 2.0
    start = radius - 1.0 if d == 1 else radius - 2.0 * shift
    if start <= 0.0:
        raise ValueError("n_shells is too small to bound the eigenvalues that are left out.")

    def integrand(t: float) -> float:  # s = start / t maps (0, 1] to [start, infinity)
        s = start / t
        return float(profile(np.array([s]))[0]) * (s + shift) ** (d - 1) * start / t**2

    value, error = scipy.integrate.quad(integrand, 0.0, 1.0, limit=200)
    return surface * max(0.0, value + error)


def trace_of(kernel: Any, period: float, d: int) -> float:
    """Return v^d k_v(0), the sum of all eigenvalues, from values of the kernel."""
    if not isinstance(kernel, Kernel | str):
        raise ValueError(
            "the eigenvalues that are left out can be bounded only for a transform that does not "
            "increase, or for a kernel; pass the kernel instead of its transform."
        )
    side = next(s for s in (24, 12, 8, 4, 3, 2, 1) if (2 * s + 1) ** d <= 3 * MOST_POINTS)
    axis = np.arange(-side, side + 1)
    grid = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)
    values = resolve(kernel)(period * grid.astype(np.float64), np.zeros((1, d)))[:, 0]
    edge = np.abs(values[np.abs(grid).max(axis=1) == side]).sum()
    if not edge <= 1e-9 * np.abs(values).sum():
        raise ValueError(
            f"{kernel!r} is not small at {side} periods, so the sum of its periodic extension "
            "cannot be bounded; use a larger period or a kernel that decays faster."
        )
    return float(period**d * values.sum())
