r"""Rates of entropy numbers, from the decay of eigenvalues.

Two kinds. Algebraic, :math:`\epsilon_n = O(\ln^{-a} n)`, from eigenvalues that decay like a power;
and exponential, :math:`\ln (1/\epsilon_n)` of order :math:`\ln^b n`, from eigenvalues that decay
like :math:`e^{-\alpha j^p}`. Rates hide constants: use them to understand, `entropy_A` to bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.objects.parameters import integer, positive, require_choice

__all__ = ["KEGL_RATE", "Rate", "exponential", "polynomial", "principal_manifold"]


@dataclass(frozen=True)
class Rate:
    """A rate of decay of entropy numbers.

    Attributes
    ----------
    kind : {"algebraic", "exponential"}
        eps_n = O(ln^-exponent n), or ln(1 / eps_n) of order ln^exponent n.
    exponent : float
        The exponent.

    Examples
    --------
    >>> from mercer.capacity.rates import Rate
    >>> print(Rate("algebraic", 0.5))
    eps_n = O((ln n)^-0.5)
    """

    kind: str
    exponent: float

    def __post_init__(self) -> None:
        require_choice(self.kind, "kind", ("algebraic", "exponential"))
        positive(self.exponent, "exponent")

    def slope(self, eps: Callable[[float], float], ln_n: float, factor: float = 10.0) -> float:
        """Return the exponent measured between ln n and factor ln n.

        Parameters
        ----------
        eps : callable
            ``eps(ln_n)``, entropy numbers or bounds on them.
        ln_n : float > 0
            The first point.
        factor : float > 1, default=10
            The second point over the first.
        """
        ends = [math.log(eps(x)) for x in (ln_n, factor * ln_n)]
        if self.kind == "exponential":
            if max(ends) >= 0.0:
                raise ValueError("the entropy numbers are not below 1 yet; take a larger ln_n.")
            ends = [-math.log(-e) for e in ends]
        return (ends[0] - ends[1]) / math.log(factor)

    def __str__(self) -> str:
        if self.kind == "algebraic":
            return f"eps_n = O((ln n)^-{self.exponent:g})"
        return f"ln(1 / eps_n) of order (ln n)^{self.exponent:g}"


def polynomial(alpha: float, *, dimension: int | None = None, lp: bool = False) -> Rate:
    r"""Return the rate for eigenvalues :math:`\lambda_j = O(j^{-(\alpha+1)})`.

    The exponent is alpha / 2 for :math:`\epsilon_n(A)`, up to logarithmic factors, and alpha for
    :math:`\epsilon_n(A^2)`, which governs linear programming machines. (Proposition 9.7 of the
    thesis prints the condition as :math:`j^{-(\alpha+1/2)}`; squaring the operator of proposition
    8.10 gives the rate for :math:`j^{-(\alpha+1)}`.)

    Parameters
    ----------
    alpha : float > 0
        Rate of the eigenvalues less 1. For a Fourier transform that decays like
        :math:`|\omega|^{-(d+\alpha')}` in d dimensions, pass alpha' and the dimension: sorted, the
        eigenvalues decay like :math:`j^{-(1 + \alpha'/d)}`.
    dimension : int >= 1, optional
        Converts a decay in frequency to one in the sorted index.
    lp : bool, default=False
        Whether the rate is that of A^2.

    Returns
    -------
    Rate
        The exponent of ln n, or of ln n in ln(1 / eps_n).

    References
    ----------
    Smola 1998, propositions 8.10 and 9.7.

    Examples
    --------
    >>> from mercer.capacity import rates
    >>> rates.polynomial(1.0).exponent, rates.polynomial(1.0, lp=True).exponent
    (0.5, 1.0)
    >>> rates.polynomial(1.0, dimension=4).exponent  # exp(-|x|) in four dimensions
    0.125
    """
    rate = positive(alpha, "alpha")
    if dimension is not None:
        rate /= integer(dimension, "dimension", minimum=1)
    return Rate("algebraic", rate if lp else rate / 2.0)


def exponential(p: float, dimension: int = 1, *, lp: bool = False) -> Rate:
    r"""Return the rate for eigenvalues :math:`O(e^{-\alpha \|\omega\|^p})` in d dimensions.

    ln(1 / eps_n) is of order :math:`\ln^{p/(p+d)} n`; the same for linear programming machines,
    with better constants.

    Parameters
    ----------
    p : float > 0
        The power: 2 for Gaussian kernels, 1 for 1 / (1 + x^2).
    dimension : int >= 1, default=1
        The dimension d.
    lp : bool, default=False
        Makes no difference to the rate.

    Returns
    -------
    Rate
        The exponent of ln n, or of ln n in ln(1 / eps_n).

    References
    ----------
    Smola 1998, propositions 8.11, 8.16, 9.8 and 9.13.

    Examples
    --------
    >>> from mercer.capacity import rates
    >>> round(rates.exponential(2.0).exponent, 3), rates.exponential(2.0, dimension=2).exponent
    (0.667, 0.5)
    """
    del lp
    power = positive(p, "p")
    return Rate("exponential", power / (power + integer(dimension, "dimension", minimum=1)))


def rate_T(rate: Rate) -> Rate:  # noqa: N802
    """Return the rate of the class on m points, from that of the scaling operator.

    Maurey's theorem gains 1/2 in the exponent of an algebraic rate and nothing in an exponential
    one. (The thesis prints a gain of 2, but its proof gives the factor
    tau^(-1/2) (1 - tau)^(-alpha) and the exponent alpha + 1/2; and log^-beta where it means
    -log^beta.) The split of ln n that serves an algebraic rate best is tau = 1 / (1 + 2 alpha).

    Parameters
    ----------
    rate : Rate
        That of eps_n(A).

    Returns
    -------
    Rate
        The rate of the class on m points, from that of the scaling operator.

    References
    ----------
    Smola 1998, lemma 8.7.

    Examples
    --------
    >>> from mercer.capacity import rate_T, rates
    >>> rate_T(rates.Rate("algebraic", 0.5)).exponent
    1.0
    """
    if rate.kind == "exponential":
        return rate
    return Rate("algebraic", rate.exponent + 0.5)


def principal_manifold(*, alpha: float | None = None, p: float | None = None) -> float:
    r"""Return the exponent of m at which the excess quantisation error of manifolds falls.

    Polynomial decay of eigenvalues, :math:`j^{-(\alpha+1)}`, gives
    :math:`m^{-\alpha / (2 (\alpha + 1))}`; exponential decay gives
    :math:`\sqrt{\ln^{(p+1)/p} m \,/\, m}`, that is -1/2 up to logarithms. The length constraint of
    Kegl et al. gives -1/3, which polynomial decay beats for alpha > 2 only. These are *upper*
    bounds on the error; the thesis says lower, and (9.54) lacks the minus sign.

    Parameters
    ----------
    alpha : float > 0, optional
        Polynomial decay.
    p : float > 0, optional
        Exponential decay of power p.

    Returns
    -------
    float
        The exponent of m at which the excess quantisation error of manifolds falls.

    References
    ----------
    Smola 1998, proposition 9.14.

    Examples
    --------
    >>> from mercer.capacity import rates
    >>> rates.principal_manifold(alpha=1.0), rates.principal_manifold(p=2.0)
    (-0.25, -0.5)
    """
    if (alpha is None) == (p is None):
        raise ValueError("give either alpha (polynomial decay) or p (exponential decay).")
    if p is not None:
        positive(p, "p")
        return -0.5
    rate = positive(alpha, "alpha")
    return -rate / (2.0 * (rate + 1.0))


KEGL_RATE = -1.0 / 3.0


def measured_rates(values: Any, sizes: Any) -> np.ndarray:
    """Return the slopes of ln values over ln sizes between neighbouring points.

    Parameters
    ----------
    values, sizes : array-like of shape (n,)
        Positive numbers.

    Returns
    -------
    ndarray of shape (n - 1,)
        The slopes.
    """
    logs, steps = (np.log(np.asarray(a, dtype=np.float64)) for a in (values, sizes))
    return np.diff(logs) / np.diff(steps)
