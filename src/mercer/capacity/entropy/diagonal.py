r"""Entropy numbers of diagonal operators, in closed form up to a factor of 6.

For D = diag(sigma_1 >= sigma_2 >= ...) on l_p, 1 <= p <= infinity,

.. math:: g(n) \le \epsilon_n(D) \le 6\, g(n), \qquad
          g(n) = \sup_j n^{-1/j} (\sigma_1 \cdots \sigma_j)^{1/j}

(Gordon, Koenig and Schuett 1987; Carl and Stephani 1990, p. 17). The supremum is at the first j at
which the next value no longer exceeds the mean,
:math:`\ln n \le c_j = \sum_{s \le j} \ln (\sigma_s / \sigma_{j+1})`. The critical indices c_j are
nondecreasing, so one cumulative sum serves all n: a query is a binary search. Values that repeat
enter by their multiplicity, and only the ends of their blocks are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .inputs import Array, log_counts, multiplicities_of, nonincreasing, number

__all__ = ["DiagonalEntropy", "diagonal_entropy", "ellipsoid_volume_bound"]


FACTOR = 6.0  # of the theorem, 3/4 times 8: see `ellipsoid_volume_bound`


class DiagonalEntropy(NamedTuple):
    """Bounds on the entropy numbers of a diagonal operator.

    Attributes
    ----------
    lower, upper : float or ndarray
        The supremum g(n) and 6 g(n).
    index : int or ndarray of int
        The number j of values in the geometric mean at which the supremum is attained.

    Examples
    --------
    >>> from mercer.capacity import diagonal_entropy
    >>> made = diagonal_entropy([1.0, 0.5, 0.25], 4)
    >>> round(float(made.lower), 4), round(float(made.upper), 4), int(made.index)
    (0.1318, 0.7908, 3)
    """

    lower: Any
    upper: Any
    index: Any


@dataclass(frozen=True, eq=False)
class LogBlocks:
    """A nonincreasing sequence as logarithms of its distinct values, with cumulative sums.

    Attributes
    ----------
    logs : ndarray of shape (n_blocks,)
        Logarithms, largest first.
    ends : ndarray of shape (n_blocks,)
        How many values there are up to the end of each block.
    sums : ndarray of shape (n_blocks,)
        Sums of the logarithms of these values.
    """

    logs: Array
    ends: Array
    sums: Array

    @classmethod
    def of(cls, logs: Array, counts: Array) -> LogBlocks:
        """Return the blocks of sorted logarithms and their multiplicities."""
        return cls(logs, np.cumsum(counts), np.cumsum(logs * counts))

    @cached_property
    def critical(self) -> Array:
        """The logarithms of n from which on the mean reaches beyond each block but the last."""
        # Rounding must not make the sequence decrease, or a binary search would go astray.
        return np.maximum.accumulate(self.sums[:-1] - self.ends[:-1] * self.logs[1:])

    def locate(self, ln_n: Array) -> NDArray[np.intp]:
        """Return the block at whose end the supremum is attained, for each ln n."""
        return np.searchsorted(self.critical, ln_n, side="left")

    def log_means(self, ln_n: Array, block: NDArray[np.intp]) -> Array:
        """Return the logarithm of n^(-1/j) (sigma_1 ... sigma_j)^(1/j) at the ends of blocks."""
        return (self.sums[block] - ln_n) / self.ends[block]


def diagonal_entropy(values: Any, ln_n: Any, multiplicities: Any = None) -> DiagonalEntropy:
    r"""Return bounds on the entropy numbers of a diagonal operator on any l_p.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        The diagonal, nonincreasing and >= 0. Values beyond the list count as 0.
    ln_n : float or array-like
        Natural logarithms of n >= 1.
    multiplicities : array-like of shape (n_values,), optional
        How often each value occurs; once by default. The bound is the same as for the list with
        the repetitions written out; looking at the ends of blocks only saves time.

    Returns
    -------
    DiagonalEntropy
        Lower and upper bound, a factor of 6 apart, and the index of the supremum.

    Notes
    -----
    The thesis numbers the blocks from s_0 = 1, so that the first value drops out of the supremum;
    with (100, 1, 1, 1, 1) and n = 1 that gives 15.07 < 100. They start at s_0 = 0 here.

    References
    ----------
    Smola 1998, theorems 8.2 and 8.12.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import diagonal_entropy
    >>> diagonal_entropy([1.0, 0.5, 0.25, 0.125], np.log(8)).lower
    0.25
    >>> diagonal_entropy([1.0, 0.5], np.log(8), multiplicities=[1, 3]).index
    4
    """
    sigma = nonincreasing(values, "values")
    counts = multiplicities_of(multiplicities, len(sigma))
    exponent = log_counts(ln_n)
    kept = sigma > 0.0
    if not kept.any():
        zero = np.zeros(exponent.shape)
        return DiagonalEntropy(number(zero), number(zero), number(zero.astype(int)))
    blocks = LogBlocks.of(np.log(sigma[kept]), counts[kept])
    block = blocks.locate(exponent)
    lower = np.exp(blocks.log_means(exponent, block))
    index = blocks.ends[block].astype(int)
    return DiagonalEntropy(number(lower), number(FACTOR * lower), number(index))


def ellipsoid_volume_bound(values: Any, eps: float, keep: int | None = None) -> float:
    r"""Return the volume bound on ln N(eps) of an ellipsoid, as in the proof of the theorem.

    Cut after s axes, the rest of the ellipsoid has radius sigma_{s+1}. A maximal eta-separated set
    of the section covers it with balls of radius eta; balls of half the radius are disjoint and lie
    in twice the section while eta / 2 <= sigma_s, so that

    .. math:: N(\sigma_{s+1} + \eta) \le (4 / \eta)^s \, \sigma_1 \cdots \sigma_s .

    With sigma_{s+1} <= delta/4 < sigma_s, eta = delta / 2 and delta = 8 g(n) this is at most n, at
    the radius 3/4 delta = 6 g(n): the factor of the theorem.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        The half axes, nonincreasing and >= 0.
    eps : float > 0
        Radius of the balls.
    keep : int >= 0, optional
        The number s of axes that are kept; the best by default.

    Returns
    -------
    float
        A bound on the logarithm of the number of balls; infinite where `keep` does not allow one.

    Examples
    --------
    >>> from mercer.capacity.entropy import ellipsoid_volume_bound
    >>> round(ellipsoid_volume_bound([1.0, 0.5, 0.25, 0.125], 0.3), 3)
    6.931
    >>> ellipsoid_volume_bound([1.0, 0.5], 1.0)
    0.0
    """
    sigma = nonincreasing(values, "values")
    if not eps > 0:
        raise ValueError(f"eps must be a radius > 0; got {eps!r}.")
    rest = np.append(sigma, 0.0)  # sigma_{s+1} for s = 0, 1, ...
    eta = eps - rest
    smallest = np.append(np.inf, sigma)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where eta exceeds 2 sigma_s, a separated set at the distance 2 sigma_s is finer still.
        usable = np.minimum(eta, 2.0 * smallest)
        logs = np.append(0.0, np.cumsum(np.log(sigma)))
        cover = logs + np.arange(len(rest)) * np.log(4.0 / usable)
    cover[0] = 0.0
    cover[~((eta >= 0.0) & ((usable > 0.0) | (np.arange(len(rest)) == 0)))] = np.inf
    best = cover.min() if keep is None else cover[min(keep, len(sigma))]
    return float(max(best, 0.0))
