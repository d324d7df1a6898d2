r"""Weight decay: why :math:`\sum |\alpha_j|^p \le 1` with p > 1 does not bound capacity.

If k(x_j, x) >= kappa > 0 for many centres x_j and all x of some set, the function
:math:`\sum_{j \le n} n^{-1/p} k(x_j, \cdot)` satisfies the constraint and is at least
:math:`\kappa n^{1 - 1/p}` there: unbounded for p > 1 as the number of basis functions grows, so
that the class has no finite covering number. A bounded number M of functions, centres that are kept
apart, or p = 1 make it finite: :math:`F_p \subset M^{1 - 1/p} F_1`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.capacity.bound import Bound, Condition, bound, state
from mercer.objects.parameters import integer, positive

from .classes import LPClass
from .scaling import as_spectrum

__all__ = ["LpExpansionClass", "WeightDecayReport", "expansion_lower_bound", "weight_decay_report"]


class LpExpansionClass:
    r"""Kernel expansions with :math:`\sum_j |\alpha_j|^p \le \Lambda^p`.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel.
    p : float >= 1
        The norm of the coefficients: 1 for linear programming machines and boosting, 2 for weight
        decay.
    w_norm : float > 0, default=1.0
        The bound Lambda on the norm of the coefficients.
    max_terms : int >= 1, optional
        The largest number of basis functions; unlimited by default.
    **more
        Further parameters of `LPClass`.

    References
    ----------
    Smola 1998, (9.5) and section 9.2.3.

    Examples
    --------
    >>> from mercer.capacity.entropy import LpExpansionClass, Spectrum
    >>> from mercer.kernels import RBF
    >>> spectrum = Spectrum.from_translation_invariant(RBF(gamma=1.0), period=10.0)
    >>> LpExpansionClass(spectrum, p=2).log_covering(0.1).value
    inf
    >>> round(LpExpansionClass(spectrum, p=2, max_terms=100).log_covering(0.1).value, 1)
    102.0
    """

    def __init__(
        self,
        spectrum: Any,
        p: float,
        w_norm: float = 1.0,
        *,
        max_terms: int | None = None,
        **more: Any,
    ) -> None:
        self.p = positive(p, "p")
        if self.p < 1.0:
            raise ValueError(
                f"p must be at least 1; got {p!r}. For p < 1 use p = 1, which is larger."
            )
        self.w_norm = positive(w_norm, "w_norm")
        self.max_terms = None if max_terms is None else integer(max_terms, "max_terms", minimum=1)
        self.spectrum = as_spectrum(spectrum)
        factor = self._factor
        self.hull = (
            LPClass(self.spectrum, self.w_norm * factor, **more) if math.isfinite(factor) else None
        )

    @property
    def _factor(self) -> float:
        """By how much the l1 norm of M coefficients can exceed their l_p norm."""
        if self.p == 1.0:
            return 1.0
        return math.inf if self.max_terms is None else self.max_terms ** (1.0 - 1.0 / self.p)

    @property
    def rkhs_radius(self) -> float:
        """Radius of a ball of the RKHS that contains the class; infinite without a limit."""
        return self.w_norm * self._factor * self.spectrum.radius

    @bound("ln covering number", "Smola 1998, (9.17) to (9.20)", trivial=None)
    def log_covering(self, eps: float, n_samples: int | None = None) -> Bound:
        """Return the bound on the logarithm of a covering number; infinite without a limit.

        Parameters
        ----------
        eps : float > 0
            The radius.
        n_samples : int >= 1, optional
            The number of points.
        """
        if self.hull is not None:
            found = self.hull.log_covering(eps, n_samples)
            return state(found.terms, *found.conditions, reference=found.reference)
        unlimited = Condition.that(
            "the class is bounded", False, f"p = {self.p:g} > 1 and any number of terms"
        )
        return state({"entropy": math.inf}, unlimited)


@bound("largest value in the class", "Smola 1998, (9.19)", trivial=None, side="lower")
def expansion_lower_bound(n_terms: int, p: float, kappa: float, w_norm: float = 1.0) -> Bound:
    r"""Return :math:`\Lambda \kappa n^{1 - 1/p}`, a value that a function of the class attains.

    Parameters
    ----------
    n_terms : int >= 1
        The number n of basis functions.
    p : float >= 1
        The norm of the coefficients.
    kappa : float > 0
        A number that k(x_j, x) does not fall below, for all centres and all x of a set.
    w_norm : float > 0, default=1.0
        The bound Lambda on the norm of the coefficients.

    Returns
    -------
    Bound
        The bound, with its terms, its conditions and the arguments it was computed from.

    Examples
    --------
    >>> from math import exp
    >>> from mercer.capacity.entropy import expansion_lower_bound
    >>> [round(expansion_lower_bound(n, 2.0, exp(-1.0)).value, 3) for n in (1, 10, 100, 1000)]
    [0.368, 1.163, 3.679, 11.633]
    """
    n = integer(n_terms, "n_terms", minimum=1)
    if not p >= 1.0:
        raise ValueError(f"p must be at least 1; got {p!r}.")
    return state({"value": positive(kappa, "kappa") * w_norm * n ** (1.0 - 1.0 / p)})


@dataclass(frozen=True)
class WeightDecayReport:
    """How close weight decay is to the RKHS norm, for given centres.

    Attributes
    ----------
    distance : float
        Spectral norm of K - I, for a kernel matrix scaled to a unit diagonal.
    condition_number : float
        Of K.
    safe : bool
        Whether the distance is below 1/2: then alpha'alpha and alpha'K alpha differ by less than
        half, and weight decay bounds the capacity much like the RKHS norm.

    Examples
    --------
    >>> from mercer.capacity import weight_decay_report
    >>> report = weight_decay_report([[1.0, 0.1], [0.1, 1.0]])
    >>> round(report.distance, 4), report.safe
    (0.1, True)
    """

    distance: float
    condition_number: float
    safe: bool

    def __str__(self) -> str:
        verdict = (
            "weight decay is close to the RKHS norm"
            if self.safe
            else "centres overlap: weight decay does not bound the capacity as their number grows"
        )
        return f"|K - I| = {self.distance:.3g}, cond(K) = {self.condition_number:.3g}: {verdict}"


def weight_decay_report(K: Any) -> WeightDecayReport:
    """Return whether basis functions are so far apart that weight decay is harmless.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix of the centres.

    Returns
    -------
    WeightDecayReport
        Prints as one line.

    References
    ----------
    Smola 1998, section 9.2.3.

    Examples
    --------
    >>> from mercer.capacity.entropy import weight_decay_report
    >>> print(weight_decay_report([[1.0, 0.1], [0.1, 1.0]]))
    |K - I| = 0.1, cond(K) = 1.22: weight decay is close to the RKHS norm
    """
    matrix = np.asarray(K, dtype=np.float64)
    own = np.sqrt(np.diagonal(matrix))
    if matrix.ndim != 2 or not (own > 0).all():
        raise ValueError("K must be a kernel matrix with a positive diagonal.")
    values = np.linalg.eigvalsh(matrix / own[:, None] / own)
    smallest = max(float(values[0]), 0.0)
    distance = float(np.abs(values - 1.0).max())
    cond = float(values[-1]) / smallest if smallest > 0 else math.inf
    return WeightDecayReport(distance, cond, distance < 0.5)
