r"""Eigenvalues that decay by a law, exponentially or like a power: bounds with explicit constants.

The numerical optimum, `entropy_A`, is sharper and the way to compute a bound; these formulas show
how it scales. They follow the appendix of chapter 8 of Smola's thesis, with its errors corrected:
(8.76), (8.79) and (8.80) are wrong as printed; the docstrings say for which values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.special

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.objects.parameters import integer, positive

from .diagonal import FACTOR
from .spectra import Spectrum

__all__ = ["ExponentialSpectrum", "PolynomialSpectrum", "continuum_entropy", "tail_bounds"]


def tail_bounds(f: Callable[[float], float], start: int) -> tuple[float, float]:
    r"""Return bounds on a sum by integrals of a nonincreasing function.

    .. math:: \int_a^\infty f \le \sum_{n \ge a} f(n) \le \int_{a-1}^\infty f

    Parameters
    ----------
    f : callable
        A nonincreasing, integrable function of a number.
    start : int
        Where the sum begins.

    Returns
    -------
    lower, upper : float
        The integrals.

    References
    ----------
    Smola 1998, lemma 8.17.

    Examples
    --------
    >>> from mercer.capacity.entropy import tail_bounds
    >>> [round(b, 6) for b in tail_bounds(lambda x: x ** -2.0, 2)]  # the sum is 0.644934
    [0.5, 1.0]
    """
    upper = scipy.integrate.quad(f, start - 1, start, limit=200)[0]
    lower = scipy.integrate.quad(f, start, math.inf, limit=200)[0]
    return lower, lower + upper


def best_exponent(function: Callable[[float], float], alpha: float) -> float:
    """Return the minimiser on (0, alpha), from a grid and a search around its best point."""
    grid = alpha * (1.0 - np.append(np.geomspace(1e-12, 0.5, 80), np.linspace(0.5, 0.999, 40)[1:]))
    grid.sort()
    values = [function(float(t)) for t in grid]
    i = int(np.argmin(values))
    low, high = grid[max(0, i - 1)], grid[min(len(grid) - 1, i + 1)]
    found = scipy.optimize.minimize_scalar(
        function, bounds=(low, high), method="bounded", options={"xatol": 1e-12 * alpha}
    )
    return float(found.x) if found.fun <= values[i] else float(grid[i])


OPERATOR = "entropy number of the scaling operator"
EQUAL = Condition("the eigenvalues equal beta^2 j^-(alpha + 1)")


@dataclass(frozen=True)
class PolynomialSpectrum:
    r"""Eigenvalues :math:`\lambda_j \le \beta^2 j^{-(\alpha + 1)}`, j = 1, 2, ...

    Attributes
    ----------
    beta, alpha : float > 0
        Size and rate.
    C_k : float > 0
        Bound on the eigenfunctions.

    Examples
    --------
    >>> from mercer.capacity.entropy import PolynomialSpectrum
    >>> s = PolynomialSpectrum(beta=1.0, alpha=1.0)
    >>> round(s.entropy_lower(100.0).value, 4), round(s.entropy_upper(100.0).value, 3)
    (0.0381, 1.613)
    """

    beta: float
    alpha: float
    C_k: float = 1.0

    def __post_init__(self) -> None:
        for name in ("beta", "alpha", "C_k"):
            positive(getattr(self, name), name)

    def spectrum(self, n_terms: int = 100_000) -> Spectrum:
        """Return the list of eigenvalues, with the rest of the zeta series as its tail."""
        j = np.arange(1.0, integer(n_terms, "n_terms", minimum=1) + 1)
        rest = float(scipy.special.zeta(self.alpha + 1.0, n_terms + 1.0))
        return Spectrum(
            self.beta**2 * j ** -(self.alpha + 1.0), None, self.C_k, self.beta**2 * rest
        )

    @bound(OPERATOR, "Smola 1998, (8.72)", trivial=None)
    def entropy_upper(self, ln_n: float, *, tau: float | None = None) -> Bound:
        r"""Return the bound from the scaling :math:`a_j = j^{-\tau/2}`.

        .. math:: \epsilon_n(A) \le 6\, C_k \beta \inf_{0 < \tau < \alpha}
                  \bigl(\tfrac{1}{\alpha - \tau} + 1\bigr)^{1/2} (2 \ln n / \tau)^{-\tau/2}

        Parameters
        ----------
        ln_n : float >= 0
            Natural logarithm of n.
        tau : float in (0, alpha), optional
            By default the best one; see `rule_of_thumb`.
        """
        tau = self.best_tau(ln_n) if tau is None else tau
        if not 0.0 < tau < self.alpha:
            raise ValueError(f"tau must lie in (0, alpha) = (0, {self.alpha:g}); got {tau!r}.")
        scale = FACTOR * self.C_k * self.beta
        return state({"entropy": scale * math.exp(self._logarithm(ln_n, tau))})

    @bound(OPERATOR, "Smola 1998, (8.71)", [EQUAL], trivial=None, side="lower")
    def entropy_lower(self, ln_n: float) -> Bound:
        r"""Return the rate from below for the same family of scalings.

        .. math:: C_k \beta (2e)^{-\alpha/2} (1/\alpha + \gamma)^{1/2}
                  (2 \ln n / \alpha)^{-\alpha/2}

        with Euler's constant; in print tau stands outside of its infimum, and one factor reads
        (2e) 2^{-tau/2}. No operator with :math:`a_j = j^{-\tau/2}` has smaller entropy numbers.
        """
        a = self.alpha
        rate = (2.0 * math.e) ** (-a / 2) * math.sqrt(1.0 / a + np.euler_gamma)
        return state(
            {"entropy": self.C_k * self.beta * rate * (2.0 * max(ln_n, 1e-300) / a) ** (-a / 2)},
            Condition.that("ln_n >= alpha / 4", ln_n >= a / 4, f"{ln_n:g} >= {a / 4:g}"),
        )

    def rule_of_thumb(self, ln_n: float) -> float:
        """Return the approximate minimiser, 1 / (alpha - tau) = ln(2 ln n)."""
        inner = math.log(2.0 * ln_n) if ln_n > 0.5 else 0.0
        return self.alpha - 1.0 / inner if inner * self.alpha > 1.0 else self.alpha / 2.0

    def best_tau(self, ln_n: float) -> float:
        """Return the minimiser of `entropy_upper`."""
        return best_exponent(lambda tau: self._logarithm(ln_n, tau), self.alpha)

    def _logarithm(self, ln_n: float, tau: float) -> float:
        """Return ln of (1 / (alpha - tau) + 1)^(1/2) sup_j n^(-1/j) e^(tau/2) j^(-tau/2)."""
        # The supremum over j >= 1 is at j = 2 ln n / tau, or at the end j = 1.
        j = max(1.0, 2.0 * ln_n / tau)
        size = 0.5 * math.log1p(1.0 / (self.alpha - tau))
        return size + tau / 2 - ln_n / j - tau / 2 * math.log(j)


@dataclass(frozen=True)
class ExponentialSpectrum:
    r"""Eigenvalues :math:`\lambda_j \le \beta^2 e^{-\alpha j^p}`, j = start, start + 1, ...

    Attributes
    ----------
    beta, alpha, p : float > 0
        Size, rate and power: p = 2 for Gaussian kernels, 1 for 1 / (1 + x^2).
    start : {0, 1}
        First index. The formulas hold for spectra that start at 1; those that start at 0 are
        shifted: j^p >= (j + 1)^p / 2^p for j >= 1, so they are bounded by
        :math:`\beta^2 e^{\alpha/2^p} e^{-\alpha 2^{-p} i^p}`, i = j + 1.
    C_k : float > 0
        Bound on the eigenfunctions.

    Notes
    -----
    Doubly degenerate spectra, such as those of periodic extensions, are brought into this form by
    their sorted index i ~ 2 j: alpha is divided by 2^p.

    Examples
    --------
    >>> from mercer.capacity.entropy import ExponentialSpectrum
    >>> s = ExponentialSpectrum(beta=1.0, alpha=1.0, p=1.0)
    >>> from math import log
    >>> round(log(s.entropy_upper(100.0).value), 2)
    -6.54
    """

    beta: float
    alpha: float
    p: float
    start: int = 1
    C_k: float = 1.0

    def __post_init__(self) -> None:
        for name in ("beta", "alpha", "p", "C_k"):
            positive(getattr(self, name), name)
        if self.start not in (0, 1):
            raise ValueError(f"start must be 0 or 1; got {self.start!r}.")

    def from_one(self) -> ExponentialSpectrum:
        """Return a spectrum that starts at 1 and is nowhere smaller."""
        if self.start == 1:
            return self
        shrunk = self.alpha / 2.0**self.p
        return ExponentialSpectrum(self.beta * math.exp(shrunk / 2.0), shrunk, self.p, 1, self.C_k)

    def spectrum(self) -> Spectrum:
        """Return the list of eigenvalues as far as numbers reach, with a bound on the rest."""
        last = int((650.0 / self.alpha) ** (1.0 / self.p))
        if last > 5_000_000:
            raise ValueError("the eigenvalues decay too slowly to be listed; take a larger alpha.")
        j = np.arange(self.start, max(last, 2) + 1, dtype=np.float64)
        scale = self.beta**2
        rest = tail_bounds(lambda x: math.exp(-self.alpha * x**self.p), int(j[-1]) + 1)[1]
        return Spectrum(scale * np.exp(-self.alpha * j**self.p), None, self.C_k, scale * rest)

    @bound(OPERATOR, "Smola 1998, (8.80)", trivial=None)
    def entropy_upper(self, ln_n: float, *, n_outputs: int = 1, printed: bool = False) -> Bound:
        r"""Return the bound from the scaling :math:`a_j = e^{-\tau j^p / 2}`.

        .. math:: \epsilon_n(A) \le 6\, C_k \beta \inf_{\tau} \sqrt{G(\tau)} \,
                  \exp\bigl(-(\tau/2)^{1/(p+1)} (\tfrac{p+1}{p} \ln n)^{p/(p+1)}\bigr),
                  \quad G(\tau) = \frac{\Gamma(1/p)}{p (\alpha - \tau)^{1/p}} .

        Parameters
        ----------
        ln_n : float >= 0
            Natural logarithm of n.
        n_outputs : int >= 1, default=1
            Number of outputs d: a factor sqrt(d), and (ln n) / d in place of ln n. (In (9.52) the
            thesis prints ln dn.)
        printed : bool, default=False
            Whether to evaluate (8.80) as printed, with 1 + G for G and the factor
            :math:`e^{\tau / (2 (p+1))}`. Neither is needed when the spectrum starts at 1; for one
            that starts at 0 the printed formula is not an upper bound, and ValueError is raised.
        """
        if printed and self.start == 0:
            raise ValueError(
                "(8.80) as printed is not an upper bound for spectra that start at 0: for p = 2, "
                "alpha = 1, ln n = 10 it is exp(-2.053), below the true infimum exp(-1.747)."
            )
        s = self.from_one()
        share = ln_n / integer(n_outputs, "n_outputs", minimum=1)

        def logarithm(tau: float) -> float:
            size, extra = _norm2(s, tau), 0.0
            if printed:
                size, extra = 1.0 + size, tau / (2.0 * (s.p + 1.0))
            return 0.5 * math.log(size) + _geometric(share, tau, s.p) + extra

        tau = best_exponent(logarithm, s.alpha)
        scale = FACTOR * s.C_k * s.beta * math.sqrt(n_outputs)
        return state({"entropy": scale * math.exp(logarithm(tau))})

    @bound(OPERATOR, "Smola 1998, (8.79)", trivial=None, side="lower")
    def entropy_lower(self, ln_n: float, *, printed: bool = False) -> Bound:
        r"""Return a lower bound on the best bound of this kind, by volume.

        Up to the factor 6, no scaling operator does better than
        :math:`C_k \sqrt{j^* w}` with :math:`w = (\lambda_1 \cdots \lambda_{j*} / n^2)^{1/j*}`, for
        eigenvalues *equal* to :math:`\beta^2 e^{-\alpha j^p}`; the supremum over j is evaluated.
        The printed formula (8.79), :math:`C_k \beta \sqrt{G(0)} \exp(-(\alpha/2)^{1/(p+1)} ...)`,
        is a rate and no lower bound: for p = 2, alpha = 1, ln n = 10 it is
        :math:`e^{-4.888}`, above the true infimum :math:`e^{-5.116}`.
        """
        if printed:
            value = math.sqrt(_norm2(self, 0.0)) * math.exp(_geometric(ln_n, self.alpha, self.p))
            wrong = Condition(
                "(8.79) is a lower bound", "violated", "e^-4.888 > e^-5.116 at p = 2, ln n = 10"
            )
            return state({"rate": self.C_k * self.beta * value}, wrong)
        exact = self.spectrum()
        j = np.arange(1, len(exact.values) + 1)
        w = (exact.blocks.sums - 2.0 * ln_n) / j
        # inf_a |sqrt(lambda)/a| sup_j ... >= its first j terms, which by the arithmetic-geometric
        # inequality are at least sqrt(j w_j), for every j.
        best = float((0.5 * (np.log(j) + w)).max())
        return state({"entropy": self.C_k * math.exp(best)})


def _geometric(ln_n: float, tau: float, p: float) -> float:
    """Return ln sup_{j >= 1} n^(-1/j) exp(-tau j^p / (2 (p + 1)))."""
    j = max(1.0, (2.0 * (p + 1.0) * ln_n / (tau * p)) ** (1.0 / (p + 1.0)))
    return -ln_n / j - tau * j**p / (2.0 * (p + 1.0))


def _norm2(s: ExponentialSpectrum, tau: float) -> float:
    """Return Gamma(1/p) / (p (alpha - tau)^(1/p)), the integral of exp(-(alpha - tau) x^p)."""
    return math.gamma(1.0 / s.p) / (s.p * (s.alpha - tau) ** (1.0 / s.p))


@bound(
    OPERATOR, "Smola 1998, (8.91) to (8.99)", trivial=None,
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
