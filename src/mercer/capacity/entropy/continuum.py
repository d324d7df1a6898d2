"""The rate in d dimensions with constants, by integrals in place of lattice sums: a sketch."""

from __future__ import annotations

import math

import scipy.optimize

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.objects.parameters import integer, positive

from .diagonal import FACTOR


@bound(
    "entropy number of the scaling operator", "Smola 1998, (8.91) to (8.99)", trivial=None,
    relative=True,
)  # fmt: skip
def continuum_entropy(
    ln_n: float,
    alpha: float,
    p: float,
    dimension: int,
    period: float,
    beta: float = 1.0,
    printed: bool = False,
) -> Bound:
    r"""Return the approximation of eps_n(A) in d dimensions by integrals over the lattice.

    For eigenvalues :math:`\beta^2 e^{-\alpha \|\omega\|^p}` on the lattice of spacing 2 pi / v,
    sums are replaced by integrals with the density :math:`\varrho = (v / 2\pi)^d` of its points.
    It is an approximation and no certified bound: `entropy_A` of a spectrum by
    `Spectrum.from_translation_invariant` is one.

    Parameters
    ----------
    ln_n : float > 0
        Natural logarithm of n.
    alpha, p : float > 0
        Rate and power of the decay.
    dimension : int >= 1
        The dimension d.
    period : float > 0
        The period v.
    beta : float > 0, default=1.0
        Size of the eigenvalues.
    printed : bool, default=False
        Whether to use the density :math:`(v / 2\pi)^{d/2}` as printed. It is wrong: the result
        falls below the exact value (d = 1, v = 10, alpha = 1/2, p = 2, ln n = 100: -7.14
        against -5.76).

    Returns
    -------
    Bound
        Marked as relative: up to an error of some tenths in the logarithm.

    Examples
    --------
    >>> from math import log
    >>> from mercer.capacity.entropy import continuum_entropy
    >>> round(log(continuum_entropy(100.0, alpha=0.5, p=2.0, dimension=1, period=10.0)), 3)
    -5.684
    """
    d = integer(dimension, "dimension", minimum=1)
    v = positive(period, "period")
    ln_n, alpha, p = positive(ln_n, "ln_n"), positive(alpha, "alpha"), positive(p, "p")
    beta = positive(beta, "beta")
    surface = 2.0 * math.pi ** (d / 2) / math.gamma(d / 2)
    density = (v / (2.0 * math.pi)) ** (d / 2 if printed else d)
    T_n = ((d + p) * d / p * ln_n / (density * surface)) ** (p / (d + p))
    tau = continuum_tau(alpha, p, d, T_n)
    logarithm = (
        0.5 * math.log(surface * density * math.gamma(d / p) / p)
        - d / (2.0 * p) * math.log(alpha - tau)
        - (tau / 2.0) ** (d / (d + p)) * T_n
    )
    value = FACTOR * (2.0 / v) ** (d / 2) * beta * math.exp(logarithm)
    wrong = (Condition("density (v / 2 pi)^(d/2) of the lattice", "violated", "it is (v/2 pi)^d"),)
    return state({"entropy": value}, *(wrong if printed else ()))


def continuum_tau(alpha: float, p: float, d: int, T_n: float) -> float:
    """Return the root of (alpha - tau) tau^(-p/(d+p)) = (d + p) / (2 T_n p) 2^(d/(d+p)).

    The left-hand side falls from infinity to 0 on (0, alpha), so the root is unique.
    """
    right = (d + p) / (2.0 * T_n * p) * 2.0 ** (d / (d + p))

    def gap(tau: float) -> float:
        return (alpha - tau) * tau ** (-p / (d + p)) - right

    return float(scipy.optimize.brentq(gap, 1e-300, alpha, xtol=1e-15 * alpha, rtol=1e-14))
