"""Eigenvalues that decay like a power, and bounds with explicit constants for them.

The numerical optimum, `entropy_A`, is sharper and the way to compute a bound; these formulas show
how it scales. They follow the appendix of chapter 8 of Smola's thesis, with its errors corrected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.special

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.objects.parameters import integer, positive

from .decay import best_exponent
from .diagonal import FACTOR
from .spectra import Spectrum

_EULER = 0.5772156649015329


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
        return polynomial_upper(self, ln_n, tau)

    def entropy_lower(self, ln_n: float) -> Bound:
        r"""Return the rate from below for the same family of scalings.

        .. math:: C_k \beta (2e)^{-\alpha/2} (1/\alpha + \gamma)^{1/2}
                  (2 \ln n / \alpha)^{-\alpha/2}

        with Euler's constant; in print tau stands outside of its infimum, and one factor reads
        (2e) 2^{-tau/2}. No operator with :math:`a_j = j^{-\tau/2}` has smaller entropy numbers.
        """
        return polynomial_lower(self, ln_n)

    def rule_of_thumb(self, ln_n: float) -> float:
        """Return the approximate minimiser, 1 / (alpha - tau) = ln(2 ln n)."""
        inner = math.log(2.0 * ln_n) if ln_n > 0.5 else 0.0
        return self.alpha - 1.0 / inner if inner * self.alpha > 1.0 else self.alpha / 2.0

    def best_tau(self, ln_n: float) -> float:
        """Return the minimiser of `entropy_upper`."""
        return best_exponent(lambda tau: _polynomial(self, ln_n, tau), self.alpha)


def _polynomial(s: PolynomialSpectrum, ln_n: float, tau: float) -> float:
    """Return ln of (1 / (alpha - tau) + 1)^(1/2) sup_j n^(-1/j) e^(tau/2) j^(-tau/2)."""
    # The supremum over j >= 1 is at j = 2 ln n / tau, or at the end j = 1.
    j = max(1.0, 2.0 * ln_n / tau)
    return 0.5 * math.log1p(1.0 / (s.alpha - tau)) + tau / 2 - ln_n / j - tau / 2 * math.log(j)


@bound("entropy number of the scaling operator", "Smola 1998, (8.72)", trivial=None)
def polynomial_upper(spectrum: PolynomialSpectrum, ln_n: float, tau: float | None = None) -> Bound:
    """Return `PolynomialSpectrum.entropy_upper`."""
    tau = spectrum.best_tau(ln_n) if tau is None else tau
    if not 0.0 < tau < spectrum.alpha:
        raise ValueError(f"tau must lie in (0, alpha) = (0, {spectrum.alpha:g}); got {tau!r}.")
    logarithm = _polynomial(spectrum, ln_n, tau)
    return state({"entropy": FACTOR * spectrum.C_k * spectrum.beta * math.exp(logarithm)})


@bound("entropy number of the scaling operator", "Smola 1998, (8.71)", trivial=None, side="lower")
def polynomial_lower(spectrum: PolynomialSpectrum, ln_n: float) -> Bound:
    """Return `PolynomialSpectrum.entropy_lower`."""
    a = spectrum.alpha
    rate = (2.0 * math.e) ** (-a / 2) * math.sqrt(1.0 / a + _EULER)
    scale = spectrum.C_k * spectrum.beta * rate
    return state(
        {"entropy": scale * (2.0 * max(ln_n, 1e-300) / a) ** (-a / 2)},
        Condition.that("ln_n >= alpha / 4", ln_n >= a / 4, f"{ln_n:g} >= {a / 4:g}"),
        Condition("the eigenvalues equal beta^2 j^-(alpha + 1)"),
    )
