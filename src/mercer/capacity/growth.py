"""Growth functions: how many labellings a class realises on m points.

Sauer's lemma bounds the growth function of a class of VC dimension d by the sum of binomials up
to d; for some classes the number is known exactly. Counts are Python integers, so nothing
overflows; logarithms are natural.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from mercer.objects.parameters import require_choice

__all__ = ["annealed_entropy", "growth_function", "sauer", "vc_entropy"]


def sauer(n_points: int, vc_dim: int, form: str = "sum", log: bool = False) -> float:
    r"""Return Sauer's bound on the number of labellings of `n_points` points.

    .. math:: \sum_{i \le d} \binom{m}{i} \le 2 m^d / d! \le (e m / d)^d

    Parameters
    ----------
    n_points : int
        Number of points m, at least 1.
    vc_dim : int
        VC dimension d.
    form : {"sum", "power", "exp"}, default="sum"
        Which member of the chain. The last two need ``1 <= vc_dim <= n_points``; the sum is
        2^m for m <= d.
    log : bool, default=False
        Whether to return the natural logarithm.

    Returns
    -------
    float
        Sauer's bound on the number of labellings of `n_points` points.

    Examples
    --------
    >>> from mercer.capacity import sauer
    >>> sauer(5, 3), sauer(3, 3)
    (26, 8)
    """
    if n_points < 1 or vc_dim < 0:
        raise ValueError(f"need n_points >= 1 and vc_dim >= 0; got {n_points} and {vc_dim}.")
    require_choice(form, "form", ("sum", "power", "exp"))
    if form == "sum":
        count = _binomials_up_to(n_points, vc_dim)
        return math.log(count) if log else count
    if not 1 <= vc_dim <= n_points:
        raise ValueError(
            f"form={form!r} needs 1 <= vc_dim <= n_points; got vc_dim={vc_dim}, "
            f"n_points={n_points}. Use form='sum'."
        )
    if form == "power":
        value = math.log(2) + vc_dim * math.log(n_points) - math.lgamma(vc_dim + 1)
    else:
        value = vc_dim * (1 + math.log(n_points / vc_dim))
    return value if log else math.exp(value)


def _binomials_up_to(n: int, d: int) -> int:
    if d >= n:
        return 2**n
    total = term = 1
    for i in range(d):
        term = term * (n - i) // (i + 1)
        total += term
    return total


def _halfspaces(m: int, d: int) -> int:
    return 2 * _binomials_up_to(m - 1, d)


EXACT: dict[str, Callable[[int, int], int]] = {
    "thresholds": lambda m, d: m + 1,  # x >= t
    "signed thresholds": lambda m, d: 2 * m,  # x >= t or x < t
    "intervals": lambda m, d: m * (m + 1) // 2 + 1,
    "halfspaces": _halfspaces,
    "homogeneous halfspaces": lambda m, d: _halfspaces(m, d - 1),
    "convex sets": lambda m, d: 2**m,  # points on a circle
}


def growth_function(cls: str | ArrayLike, n_points: int | None = None, n_features: int = 1) -> int:
    """Return the largest number of labellings of m points, where it is known exactly.

    Parameters
    ----------
    cls : str or array-like
        "thresholds" (x >= t), "signed thresholds", "intervals" on the line; "halfspaces",
        "homogeneous halfspaces" (without offset; Cover's count, attained by every set in general
        position) and "convex sets" in `n_features` dimensions. Or the numbers of labellings of
        sampled sets: the largest of them, which is a lower estimate unless all sets are among them.
    n_points : int
        Number of points m.
    n_features : int, default=1
        Dimension of the space.

    Returns
    -------
    int
        The growth function at m.

    Examples
    --------
    >>> from mercer.capacity import growth_function
    >>> [growth_function("halfspaces", m, 2) for m in (3, 4, 5, 6)]
    [8, 14, 22, 32]
    """
    if not isinstance(cls, str):
        _log_counts(cls)  # checks them
        return int(np.max(cls))
    require_choice(cls, "cls", EXACT)
    if n_points is None or n_points < 1 or n_features < 1:
        raise ValueError("n_points and n_features must be at least 1.")
    return EXACT[cls](n_points, n_features)


def vc_entropy(counts: ArrayLike) -> float:
    r"""Return the VC entropy E[ln N], from the numbers of labellings of sampled sets.

    .. math:: E[\ln N] \le \ln E[N] \le \ln \sup N

    The first inequality is Jensen's; a text that prints it the other way round is wrong. Uniform
    bounds need the annealed entropy or the growth function: the VC entropy is too small.

    Parameters
    ----------
    counts : array-like
        Numbers of labellings (or covering numbers), one per sampled set, equally likely.

    Returns
    -------
    float
        The mean of their natural logarithms.

    Examples
    --------
    >>> from mercer.capacity import annealed_entropy, vc_entropy
    >>> round(vc_entropy([1, 100]), 3), round(annealed_entropy([1, 100]), 3)
    (2.303, 3.922)
    """
    return float(_log_counts(counts).mean())


def annealed_entropy(counts: ArrayLike) -> float:
    """Return the annealed entropy ln E[N], from the numbers of labellings of sampled sets.

    It lies between `vc_entropy` and the logarithm of the growth function, and uniform bounds hold
    with it.

    Parameters
    ----------
    counts : array-like
        Numbers of labellings (or covering numbers), one per sampled set, equally likely.

    Returns
    -------
    float
        The natural logarithm of their mean.

    Examples
    --------
    >>> from mercer.capacity import annealed_entropy
    >>> round(annealed_entropy([1, 100]), 3)
    3.922
    """
    logs = _log_counts(counts)
    return float(logsumexp(logs)) - math.log(len(logs))


def _log_counts(counts: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(counts, dtype=float).ravel()
    if not values.size or not np.all(values >= 1):
        raise ValueError("counts must be a non-empty list of numbers of at least 1.")
    return np.log(values)
