r"""Fourier transforms of radial functions, by numerical integration.

In the unitary convention (see :mod:`mercer.inspection.densities`), a function f(\|x\|) on R^d has
the transform

.. math:: F[f](\omega) = \omega^{-\nu} \int_0^\infty r^{\nu + 1} f(r) J_\nu(\omega r) \, dr ,
          \quad \nu = d/2 - 1 ,

which is again radial and its own inverse (Smola 1998, (3.47) to (3.49)). For d = 1 it is the cosine
transform.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import gamma, pi, sqrt
from typing import Any

import numpy as np
from scipy import special

from mercer.kernels.parameters import integer

from .oscillating import accelerate, integrate_panels

Function = Callable[[np.ndarray], np.ndarray]

PRECISION = 1e-13  # of the integrals, relative to the scale of the integrand
MOST_PANELS = 4096


def radial_fourier(
    f: Function, omega: Any, dimension: int = 1, *, length: float | None = None
) -> np.ndarray:
    """Return the Fourier transform of a radial function at some frequencies.

    Parameters
    ----------
    f : callable
        ``f(r)`` for an array of distances r >= 0; need not be integrable absolutely.
    omega : float or array of shape (n,)
        Lengths of frequencies, >= 0.
    dimension : int >= 1, default=1
        The dimension d.
    length : float > 0, optional
        A distance over which `f` changes; by default the one at which it has fallen to half.

    Returns
    -------
    ndarray of shape (n,)
        The transform, accurate to about 1e-10 of its largest value; infinity at 0 where the
        integral diverges. A warning is issued where the integral did not settle.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import radial_fourier
    >>> radial_fourier(lambda r: 1 / (1 + r**2), [0.5, 1.0]).round(6)
    array([0.760173, 0.461069])
    >>> (np.sqrt(np.pi / 2) * np.exp([-0.5, -1.0])).round(6)
    array([0.760173, 0.461069])
    """
    d = integer(dimension, "dimension", minimum=1)
    frequencies = np.atleast_1d(np.asarray(omega, dtype=np.float64)).reshape(-1)
    if not (np.isfinite(frequencies).all() and (frequencies >= 0).all()):
        raise ValueError("omega must be finite lengths of frequencies, >= 0.")
    scale = half_length(f) if length is None else float(length)
    transform = _Transform(f, d, scale)
    return np.array([transform(w) for w in frequencies])


def half_length(f: Function) -> float:
    """Return a distance at which the size of a function has fallen to half of that at 0.

    Parameters
    ----------
    f : callable
        ``f(r)`` for an array of distances.

    Returns
    -------
    float
        The smallest such power of sqrt(2).
    """
    distances = 2.0 ** (np.arange(-80, 81) / 2)
    sizes = np.abs(f(distances))
    top = abs(float(f(np.zeros(1))[0]))
    fallen = sizes <= 0.5 * top
    if not fallen.any() or sizes[-24:].max() > 0.05 * top:
        raise ValueError(
            "the function does not fall off with distance, so it has no Fourier transform that is "
            "a function; a periodic kernel has Fourier coefficients instead."
        )
    return float(distances[np.argmax(fallen)])


class _Transform:
    """The transform of one function, at one frequency at a time."""

    def __init__(self, f: Function, dimension: int, length: float) -> None:
        self.f, self.d, self.length = f, dimension, length
        self.nu = dimension / 2 - 1
        # Scale of the transform: the integral of the function up to its length.
        near = np.array([0.0, length])
        zero = 2 ** (-self.nu) / gamma(self.nu + 1)
        size = integrate_panels(lambda r: np.abs(f(r)) * r ** (dimension - 1), near, 0.0)
        self.scale = float(size[0]) * zero
        self.at_zero = zero

    def __call__(self, omega: float) -> float:
        if omega * self.length < 1e-40:  # so many lengths to a wave cannot be told from none
            return self._at_zero()
        # The sign changes of the Bessel function, asymptotically.
        first = (self.nu / 2 + 0.75) * pi / omega
        head = self._panels(_dyadic(self.length / 8, first), omega).sum()
        panels = 24 + int(8 * omega * self.length / pi)
        edges = first + pi / omega * np.arange(panels + 1)
        sums = head + np.cumsum(self._panels(edges, omega))
        value, error = accelerate(sums[-40:])
        while error > 1e-10 * self.scale and panels < MOST_PANELS:
            edges = edges[-1] + pi / omega * np.arange(panels + 1)
            sums = np.append(sums, sums[-1] + np.cumsum(self._panels(edges, omega)))
            panels *= 2
            value, error = min(
                (value, error), accelerate(sums[-40:]), key=lambda estimate: estimate[1]
            )
        if error > 1e-6 * self.scale:
            warnings.warn(
                f"the Fourier integral at frequency {omega:.6g} did not settle; its error is about "
                f"{error:.2g}.",
                RuntimeWarning,
                stacklevel=3,
            )
        return float(value)

    def _panels(self, edges: np.ndarray, omega: float) -> np.ndarray:
        # A phase z is known to eps z only.
        noise = float(np.finfo(np.float64).eps) * (32 + omega * edges[-1])
        return integrate_panels(
            lambda r: self._integrand(r, omega), edges, PRECISION * self.scale, noise
        )

    def _integrand(self, r: np.ndarray, omega: float) -> np.ndarray:
        z = omega * r
        if self.d == 1:
            return sqrt(2 / pi) * self.f(r) * np.cos(z)
        if self.d == 3:
            return sqrt(2 / pi) * self.f(r) * r * np.sin(z) / omega
        return self.f(r) * r ** (self.nu + 1) * special.jv(self.nu, z) * omega**-self.nu

    def _at_zero(self) -> float:
        edges = _dyadic(self.length / 8, self.length * 2.0**40)
        parts = integrate_panels(
            lambda r: self.f(r) * r ** (self.d - 1), edges, PRECISION * self.scale
        )
        late = np.abs(parts[-12:])
        if late[-1] > PRECISION * self.scale and late[-1] > 0.99 * late[0]:
            return float("inf")
        # A tail that decays like a power gives a geometric series.
        return self.at_zero * accelerate(np.cumsum(parts))[0]


def _dyadic(start: float, stop: float) -> np.ndarray:
    """Return 0, start, 2 start, 4 start, ..., stop."""
    if stop <= start:
        return np.array([0.0, stop])
    doublings = int(np.ceil(np.log2(stop / start)))
    return np.concatenate([[0.0], start * 2.0 ** np.arange(doublings), [stop]])
