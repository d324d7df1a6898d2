r"""Points of the integer lattice on spheres, counted exactly by powers of the theta series.

.. math:: \theta(x)^d = \Bigl(1 + 2 \sum_{j \ge 1} x^{j^2}\Bigr)^d
          = \sum_{r^2 \ge 0} n(r, d) \, x^{r^2}

The thesis prints the last sum from 1; the centre, r = 0, is one point of the lattice.
"""

from __future__ import annotations

from math import isqrt, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.objects.parameters import integer


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
