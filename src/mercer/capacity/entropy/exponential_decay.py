"""Eigenvalues that decay exponentially, and bounds with explicit constants for them.

They follow the appendix of chapter 8 of Smola's thesis. Its formulas (8.76), (8.79) and (8.80) are
wrong as printed; the docstrings say for which values, and the corrected ones are computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.objects.parameters import integer, positive

from .decay import best_exponent, tail_bounds
from .diagonal import FACTOR
from .spectra import Spectrum


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
        return exponential_upper(self, ln_n, n_outputs, printed)

    def entropy_lower(self, ln_n: float, *, printed: bool = False) -> Bound:
        r"""Return a lower bound on the best bound of this kind, by volume.

        Up to the factor 6, no scaling operator does better than
        :math:`C_k \sqrt{j^* w}` with :math:`w = (\lambda_1 \cdots \lambda_{j*} / n^2)^{1/j*}`, for
        eigenvalues *equal* to :math:`\beta^2 e^{-\alpha j^p}`; the supremum over j is evaluated.
        The printed formula (8.79), :math:`C_k \beta \sqrt{G(0)} \exp(-(\alpha/2)^{1/(p+1)} ...)`,
        is a rate and no lower bound: for p = 2, alpha = 1, ln n = 10 it is
        :math:`e^{-4.888}`, above the true infimum :math:`e^{-5.116}`.
        """
        return exponential_lower(self, ln_n, printed)


def _geometric(ln_n: float, tau: float, p: float) -> float:
    """Return ln sup_{j >= 1} n^(-1/j) exp(-tau j^p / (2 (p + 1)))."""
    j = max(1.0, (2.0 * (p + 1.0) * ln_n / (tau * p)) ** (1.0 / (p + 1.0)))
    return -ln_n / j - tau * j**p / (2.0 * (p + 1.0))


def _norm2(s: ExponentialSpectrum, tau: float) -> float:
    """Return Gamma(1/p) / (p (alpha - tau)^(1/p)), the integral of exp(-(alpha - tau) x^p)."""
    return math.gamma(1.0 / s.p) / (s.p * (s.alpha - tau) ** (1.0 / s.p))


@bound("entropy number of the scaling operator", "Smola 1998, (8.80)", trivial=None)
def exponential_upper(
    spectrum: ExponentialSpectrum, ln_n: float, n_outputs: int = 1, printed: bool = False
) -> Bound:
    """Return `ExponentialSpectrum.entropy_upper`."""
    if printed and spectrum.start == 0:
        raise ValueError(
            "(8.80) as printed is not an upper bound for spectra that start at 0: for p = 2, "
            "alpha = 1, ln n = 10 it is exp(-2.053), below the true infimum exp(-1.747)."
        )
    s = spectrum.from_one()
    share = ln_n / integer(n_outputs, "n_outputs", minimum=1)

    def logarithm(tau: float) -> float:
        size, extra = _norm2(s, tau), 0.0
        if printed:
            size, extra = 1.0 + size, tau / (2.0 * (s.p + 1.0))
        return 0.5 * math.log(size) + _geometric(share, tau, s.p) + extra

    tau = best_exponent(logarithm, s.alpha)
    scale = FACTOR * s.C_k * s.beta * math.sqrt(n_outputs)
    return state({"entropy": scale * math.exp(logarithm(tau))})


@bound("entropy number of the scaling operator", "Smola 1998, (8.79)", trivial=None, side="lower")
def exponential_lower(spectrum: ExponentialSpectrum, ln_n: float, printed: bool = False) -> Bound:
    """Return `ExponentialSpectrum.entropy_lower`."""
    s = spectrum
    if printed:
        value = math.sqrt(_norm2(s, 0.0)) * math.exp(_geometric(ln_n, s.alpha, s.p))
        wrong = Condition(
            "(8.79) is a lower bound", "violated", "e^-4.888 > e^-5.116 at p = 2, ln n = 10"
        )
        return state({"rate": s.C_k * s.beta * value}, wrong)
    exact = s.spectrum()
    j = np.arange(1, len(exact.values) + 1)
    w = (exact.blocks.sums - 2.0 * ln_n) / j
    # inf_a |sqrt(lambda)/a| sup_j ... >= its first j terms, which by the arithmetic-geometric
    # inequality are at least sqrt(j w_j), for every j.
    best = float((0.5 * (np.log(j) + w)).max())
    return state({"entropy": s.C_k * math.exp(best)})
