"""Entropy numbers of sets: samples, boxes, balls."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.objects.parameters import integer, positive

from .inputs import Array, log_counts, number
from .operators import invert

__all__ = ["SetEntropy", "box_entropy", "compact_entropy", "entropy_number", "log_covering"]


class SetEntropy(NamedTuple):
    """A bracket of the entropy number of a finite set.

    Attributes
    ----------
    lower, upper : float
        No n balls of a radius below `lower` cover the set; n balls of radius `upper` do.
    centres : ndarray of int
        Points whose balls of radius `upper` cover the set.

    Examples
    --------
    >>> from mercer.capacity import entropy_number
    >>> made = entropy_number([[0.0], [0.1], [1.0], [1.2]], 2)
    >>> round(made.lower, 3), round(made.upper, 3), made.centres.tolist()
    (0.1, 0.2, [0, 3])
    """

    lower: float
    upper: float
    centres: NDArray[np.intp]


def entropy_number(points: Any, n: int, *, distances: bool = False) -> SetEntropy:
    """Return a bracket of the smallest radius at which n balls cover a finite set.

    Farthest-point traversal (Gonzalez 1985): the next centre is the point farthest from all
    centres. When n are chosen, the farthest point is at the distance r, so n balls of radius r
    suffice; and n + 1 points are at least r apart, so that two of them share a ball, whose radius
    is r / 2 or more.

    Parameters
    ----------
    points : array-like of shape (m, d) or (m,)
        The set; with ``distances=True`` its matrix of distances, in any metric.
    n : int >= 1
        The number of balls.
    distances : bool, default=False
        Whether `points` is a matrix of distances.

    Returns
    -------
    SetEntropy
        Lower and upper bound, a factor of 2 apart, and the centres.

    References
    ----------
    Smola 1998, (8.2).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import entropy_number
    >>> bracket = entropy_number(np.linspace(0.0, 1.0, 1001), 4)  # exactly 1/8
    >>> bracket.lower <= 1 / 8 <= bracket.upper
    True
    """
    integer(n, "n", minimum=1)
    X = np.asarray(points, dtype=np.float64)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or len(X) == 0 or not np.isfinite(X).all():
        raise ValueError(f"points must be a table of finite numbers; got shape {X.shape}.")
    if distances and X.shape[0] != X.shape[1]:
        raise ValueError(f"a matrix of distances is square; got shape {X.shape}.")

    def from_point(i: int) -> Array:
        return X[i] if distances else np.sqrt(((X - X[i]) ** 2).sum(axis=1))

    centres = [0]
    nearest = from_point(0).copy()
    while len(centres) < min(n, len(X)):
        centres.append(int(np.argmax(nearest)))
        np.minimum(nearest, from_point(centres[-1]), out=nearest)
    upper = float(nearest.max())
    return SetEntropy(upper / 2.0, upper, np.array(centres))


def box_entropy(half_sides: Any, ln_n: Any) -> Any:
    r"""Return the entropy numbers of a box in l_infinity, exactly.

    A ball of l_infinity is a cube, and :math:`N(\epsilon) = \prod_i \lceil s_i / \epsilon \rceil`
    cubes are necessary and sufficient for half sides s_i. The box is the image of the unit ball of
    l_infinity under diag(s), which makes these the exact entropy numbers of that operator.

    Parameters
    ----------
    half_sides : array-like of shape (d,)
        Half the lengths of the sides, > 0.
    ln_n : float or array-like
        Natural logarithms of n.

    Returns
    -------
    float or ndarray
        The entropy numbers, to a relative accuracy of 1e-12.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import box_entropy
    >>> round(box_entropy([1.0, 0.5, 0.25, 0.125], np.log(8)), 9)
    0.25
    """
    sides = np.asarray(half_sides, dtype=np.float64)
    if sides.ndim != 1 or len(sides) == 0 or not (sides > 0).all():
        raise ValueError("half_sides must be a list of lengths > 0.")
    exponents = log_counts(ln_n)

    def log_cover(eps: Array) -> Array:
        counts = np.ceil(sides[:, None] / eps * (1.0 - 1e-13))
        return np.log(np.maximum(counts, 1.0)).sum(axis=0)

    flat = exponents.reshape(-1) + 1e-12
    low, high = np.full(len(flat), 0.0), np.full(len(flat), float(sides.max()))
    for _ in range(200):
        middle = 0.5 * (low + high)
        fits = log_cover(middle) <= flat
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    return number(high.reshape(exponents.shape))


def compact_entropy(
    ln_n: Any, *, half_sides: Any = None, radius: float | None = None, dimension: int | None = None
) -> Any:
    r"""Return upper bounds on the entropy numbers of a compact set in finite dimension.

    Parameters
    ----------
    ln_n : float or array-like
        Natural logarithms of n.
    half_sides : array-like, optional
        A box, in the metric of l_infinity: exact, see `box_entropy`.
    radius, dimension : float and int, optional
        A ball of a norm on R^d, in that norm: :math:`N(\epsilon) \le (1 + 2 R / \epsilon)^d`, so
        that :math:`\epsilon_n \le 2 R / (n^{1/d} - 1)`, and never more than R.

    Returns
    -------
    float or ndarray
        The bounds, which fall like n^(-1/d).

    References
    ----------
    Smola 1998, proposition 9.3, whose constant is made explicit here.

    Examples
    --------
    >>> import math
    >>> from mercer.capacity.entropy import compact_entropy
    >>> round(compact_entropy(math.log(100), half_sides=[0.5, 0.5]), 9)
    0.05
    >>> round(compact_entropy(math.log(9), radius=1.0, dimension=1), 3)
    0.25
    """
    if (half_sides is None) == (radius is None):
        raise ValueError("give either half_sides, for a box, or radius and dimension, for a ball.")
    if half_sides is not None:
        return box_entropy(half_sides, ln_n)
    d = integer(dimension, "dimension", minimum=1)
    R = positive(radius, "radius")
    exponents = log_counts(ln_n)
    with np.errstate(divide="ignore", over="ignore"):
        return number(np.minimum(R, 2.0 * R / np.expm1(exponents / d)))


def log_covering(entropy: Any, eps: Any) -> Any:
    """Return logarithms of covering numbers from entropy numbers, the functional inverse.

    Parameters
    ----------
    entropy : callable
        ``entropy(ln_n)``, nonincreasing, for arrays.
    eps : float or array-like
        Radii > 0.

    Returns
    -------
    float or ndarray
        The smallest ln n with entropy(ln n) <= eps; infinite where there is none.

    References
    ----------
    Smola 1998, (8.30).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import log_covering
    >>> round(float(np.exp(log_covering(lambda ln_n: 0.5 * np.exp(-ln_n), 0.05))), 6)
    10.0
    """
    return number(invert(entropy, eps))


def dyadic(entropy: Any, n: int) -> float:
    """Return the dyadic entropy number e_n = eps_{2^(n-1)} of a set.

    Parameters
    ----------
    entropy : callable
        ``entropy(ln_n)``.
    n : int >= 1
        The index.
    """
    return float(entropy((integer(n, "n", minimum=1) - 1) * math.log(2.0)))
