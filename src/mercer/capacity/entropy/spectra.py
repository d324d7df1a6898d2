r"""Eigenvalues of the integral operator of a kernel, as the bounds of this package need them.

By Mercer's theorem :math:`k(x, y) = \sum_j \lambda_j \psi_j(x) \psi_j(y)` with eigenfunctions of
unit length in L2(mu), so the features :math:`\Phi(x) = (\sqrt{\lambda_j} \psi_j(x))_j` lie in a box
with half sides :math:`C_k \sqrt{\lambda_j}`, where C_k bounds all eigenfunctions. That some such
C_k exists does not follow from the continuity of the kernel, contrary to what is often stated: it
is a condition, known for trigonometric systems and to be verified elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.capacity.bound import Condition
from mercer.objects.parameters import integer, positive

from .diagonal import LogBlocks
from .inputs import multiplicities_of

Array = NDArray[np.float64]

_ASSUMED = Condition("no eigenfunction exceeds C_k anywhere")


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues with their multiplicities, and a bound on the eigenfunctions.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Positive eigenvalues, sorted at construction, largest first. Values of zero are dropped.
    multiplicities : ndarray of shape (n_values,)
        How often each occurs; once by default.
    C_k : float
        A bound on all eigenfunctions.
    tail : float
        An upper bound on the sum of the eigenvalues that are not listed; 0 for a complete list.
    conditions : tuple of Condition
        Conditions of the eigenvalues, which every bound computed from them inherits.

    Examples
    --------
    >>> from mercer.capacity.entropy import Spectrum
    >>> s = Spectrum([0.25, 1.0, 0.5], C_k=1.0)
    >>> s.values, s.trace
    (array([1.  , 0.5 , 0.25]), 1.75)
    """

    values: Array
    multiplicities: Any = None
    C_k: float = 1.0
    tail: float = 0.0
    conditions: tuple[Condition, ...] = field(default=(_ASSUMED,))

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim != 1 or not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError(
                "a spectrum is a list of finite eigenvalues >= 0. For a kernel with negative "
                "eigenvalues, in linear programming machines only, use SignedSpectrum."
            )
        counts = multiplicities_of(self.multiplicities, len(values))
        order = np.argsort(-values, kind="stable")
        order = order[values[order] > 0]
        if len(order) == 0:
            raise ValueError("a spectrum needs at least one eigenvalue above 0.")
        if not 0.0 <= self.tail < math.inf:
            raise ValueError(f"tail must be a finite sum of eigenvalues >= 0; got {self.tail!r}.")
        positive(self.C_k, "C_k")
        object.__setattr__(self, "values", values[order])
        object.__setattr__(self, "multiplicities", counts[order])

    @property
    def trace(self) -> float:
        """The sum of all eigenvalues, with the tail."""
        return float(self.values @ self.multiplicities) + self.tail

    @property
    def radius(self) -> float:
        """A bound on the length of all features, C_k sqrt(trace)."""
        return self.C_k * math.sqrt(self.trace)

    @cached_property
    def blocks(self) -> LogBlocks:
        """Logarithms of the eigenvalues and their cumulative sums."""
        return LogBlocks.of(np.log(self.values), self.multiplicities)

    @cached_property
    def remainders(self) -> Array:
        """Sums of the eigenvalues beyond each block."""
        # From the small end, so that the sums keep their digits.
        weighted = (self.values * self.multiplicities)[::-1]
        return np.cumsum(np.append(self.tail, weighted[:-1]))[::-1]

    def leading(self, n_terms: int) -> Array:
        """Return the first eigenvalues, repeated by multiplicity."""
        reached = int(np.searchsorted(np.cumsum(self.multiplicities), n_terms)) + 1
        return np.repeat(self.values[:reached], self.multiplicities[:reached].astype(int))[:n_terms]

    def repeat(self, times: int) -> Spectrum:
        """Return the spectrum with every eigenvalue that many times, as for several outputs."""
        integer(times, "times", minimum=1)
        return Spectrum(
            self.values,
            self.multiplicities * times,
            self.C_k,
            self.tail * times,
            self.conditions,
        )


def feature_box(spectrum: Spectrum, n_terms: int) -> Array:
    """Return the half sides C_k sqrt(lambda_j) of the box that contains all features.

    Parameters
    ----------
    spectrum : Spectrum
        The spectrum of the kernel.
    n_terms : int >= 1
        How many sides.

    Returns
    -------
    ndarray of shape (n_terms,)
        The half sides, largest first.

    References
    ----------
    Smola 1998, (8.6).

    Examples
    --------
    >>> from mercer.capacity.entropy import Spectrum, feature_box
    >>> feature_box(Spectrum([4.0, 1.0], [1, 2], C_k=1.5), 3)
    array([3. , 1.5, 1.5])
    """
    return spectrum.C_k * np.sqrt(spectrum.leading(integer(n_terms, "n_terms", minimum=1)))


def diagonal_radius(spectrum: Spectrum, scaling: Any) -> float:
    r"""Return the radius of a ball that contains the features after a diagonal map.

    .. math:: R_S = C_k \bigl\| (s_j \sqrt{\lambda_j})_j \bigr\|_2

    Parameters
    ----------
    spectrum : Spectrum
        The spectrum of the kernel.
    scaling : array-like of shape (n_terms,)
        The factors s_j of the eigenvalues, repeated by multiplicity; the last serves all others.

    Returns
    -------
    float
        The radius; infinite if a factor is.

    References
    ----------
    Smola 1998, proposition 8.1.

    Examples
    --------
    >>> from mercer.capacity.entropy import Spectrum, diagonal_radius
    >>> round(diagonal_radius(Spectrum([4.0, 1.0]), [1.0, 3.0]) ** 2, 9)
    13.0
    """
    factors = np.asarray(scaling, dtype=np.float64)
    if factors.ndim != 1 or len(factors) == 0 or np.isnan(factors).any():
        raise ValueError("scaling must be a list of factors, one per eigenvalue.")
    listed = int(spectrum.multiplicities.sum())
    head = spectrum.leading(min(len(factors), listed))
    rest = max(0.0, spectrum.trace - float(head.sum())) if len(head) < listed else spectrum.tail
    total = float((factors[: len(head)] ** 2) @ head)
    return spectrum.C_k * math.sqrt(total + (factors[-1] ** 2 * rest if rest > 0 else 0.0))
