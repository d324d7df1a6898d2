r"""Fourier transforms of radial functions, by numerical integration.

In the unitary convention (see :func:`mercer.inspection.fourier_transform`), a function f(\|x\|) on
R^d has the transform

.. math:: F[f](\omega) = \omega^{-\nu} \int_0^\infty r^{\nu + 1} f(r) J_\nu(\omega r) \, dr ,
          \quad \nu = d/2 - 1 ,

which is again radial and its own inverse (Smola 1998, (3.47) to (3.49)). For d = 1 it is the cosine
transform.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np

from mercer.objects.callers import warn_caller
from mercer.objects.parameters import integer

from .bessel import bessel_ratio
from .oscillating import accelerate, integrate_each, integrate_panels

Function = Callable[[np.ndarray], np.ndarray]

PRECISION = 1e-13  # of the integrals, relative to the scale of the integrand
MOST_PANELS = 4096  # half waves at one frequency
SLOWEST = 1e-40  # lengths to a wave; fewer cannot be told from none
TERMS = 32  # partial sums from which a limit is taken
TOGETHER = 1 << 14  # panels that are integrated at a time


def radial_fourier(
    f: Function, omega: Any, dimension: int = 1, *, length: float | None = None
) -> np.ndarray:
    """Return the Fourier transform of a radial function at some frequencies.

    Parameters
    ----------
    f : callable
        ``f(r)`` for an array of distances r > 0; need not be integrable absolutely.
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
        integral diverges. A warning is issued where the integral did not settle. At frequencies
        beyond 250 waves to a length, `f` has to be smooth: kinks are not looked for.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import radial_fourier
    >>> radial_fourier(lambda r: 1 / (1 + r**2), [0.5, 1.0]).round(6)
    array([0.760173, 0.461069])
    >>> (np.sqrt(np.pi / 2) * np.exp([-0.5, -1.0])).round(6)
    array([0.760173, 0.461069])
    """
    if not callable(f):
        raise TypeError(
            "radial_fourier(f, omega) takes a function of the distance first; got "
            f"{type(f).__name__}."
        )
    d = integer(dimension, "dimension", minimum=1)
    frequencies = np.atleast_1d(np.asarray(omega, dtype=np.float64)).reshape(-1)
    if not (np.isfinite(frequencies).all() and (frequencies >= 0).all()):
        raise ValueError("omega must be finite lengths of frequencies, >= 0.")
    scale = half_length(f) if length is None else float(length)
    transform = _Transform(f, d, scale)
    # So many at a time that memory does not matter.
    cumulated = np.cumsum([len(transform.edges(w)) for w in frequencies])
    cuts = np.flatnonzero(np.diff(cumulated // TOGETHER)) + 1
    return np.concatenate([transform(chunk) for chunk in np.split(frequencies, cuts)])


def half_length(f: Function) -> float:
    """Return a distance at which the size of a function has fallen to half of that near 0."""
    distances = 2.0 ** (np.arange(-80, 81) / 2)
    sizes = np.abs(f(distances))
    top = sizes[0]
    fallen = sizes <= 0.5 * top
    if not fallen.any() or sizes[-24:].max() > 0.05 * top:
        raise ValueError(
            "the function does not fall off with distance, so it has no Fourier transform that is "
            "a function; a periodic kernel has Fourier coefficients instead."
        )
    return float(distances[np.argmax(fallen)])


class _Transform:
    """The transform of one function, at some frequencies at a time."""

    def __init__(self, f: Function, dimension: int, length: float) -> None:
        self.f, self.d, self.length = f, dimension, length
        self.nu = dimension / 2 - 1
        # Scale of the transform: the integral of the function up to its length.
        near = np.array([0.0, length])  # whose ends are no nodes
        self.at_zero = float(bessel_ratio(self.nu, np.zeros(1))[0])
        size = integrate_panels(lambda r: np.abs(f(r)) * r ** (dimension - 1), near, 0.0)
        self.scale = float(size[0]) * self.at_zero

    def __call__(self, omega: np.ndarray) -> np.ndarray:
        waves = omega * self.length >= SLOWEST
        result = np.empty(len(omega))
        if not waves.all():
            result[~waves] = self._at_zero()
        if waves.any():
            result[waves] = self._of_waves(omega[waves])
        return result

    def _of_waves(self, omega: np.ndarray) -> np.ndarray:
        edges = [self.edges(w) for w in omega]
        pieces = [len(e) - 1 for e in edges]
        parts, doubts = self._integrals(
            np.concatenate([e[:-1] for e in edges]),
            np.concatenate([e[1:] for e in edges]),
            np.repeat(omega, pieces),
        )
        starts = np.cumsum(pieces)[:-1]
        sums = [np.cumsum(p) for p in np.split(parts, starts)]
        value, error = accelerate(np.stack([s[-TERMS:] for s in sums]))
        doubt = np.array([d.sum() for d in np.split(doubts, starts)])  # of noise
        enough = 1e-10 * self.scale
        for i in np.flatnonzero((error > enough) & (doubt <= enough)):
            value[i], error[i] = self._continued(omega[i], edges[i], sums[i], value[i], error[i])
        error = error + doubt
        worst = int(np.argmax(error))
        if error[worst] > 1e-6 * self.scale:
            warn_caller(
                f"the Fourier integral at frequency {omega[worst]:.6g} did not settle; its error "
                f"is about {error[worst]:.2g}.",
                RuntimeWarning,
            )
        return value

    def edges(self, omega: float) -> np.ndarray:
        """Return panels that double up to the first sign change, then half waves past 8 lengths."""
        if omega * self.length < SLOWEST:
            return np.zeros(1)
        first = (self.nu / 2 + 0.75) * pi / omega  # asymptotically
        halves = min(TERMS + int(8 * omega * self.length / pi), MOST_PANELS)
        return np.append(
            _dyadic(self.length / 8, first), first + pi / omega * np.arange(1, halves + 1)
        )

    def _continued(
        self, omega: float, edges: np.ndarray, sums: np.ndarray, value: float, error: float
    ) -> tuple[float, float]:
        """Return a better limit and its error, from more half waves."""
        last, panels = edges[-1], TERMS
        while error > 1e-10 * self.scale and panels < MOST_PANELS:
            more = last + pi / omega * np.arange(panels + 1)
            parts, _ = self._integrals(more[:-1], more[1:], np.full(panels, omega))
            sums, last = np.append(sums[-TERMS:], sums[-1] + np.cumsum(parts)), more[-1]
            panels *= 2
            limit, spread = accelerate(sums[-TERMS:])
            if spread < error:
                value, error = float(limit), float(spread)
        return value, error

    def _integrals(
        self, left: np.ndarray, right: np.ndarray, omega: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        def integrand(r: np.ndarray, panel: np.ndarray) -> np.ndarray:
            values = np.asarray(self.f(r.ravel())).reshape(r.shape)
            return values * r ** (self.d - 1) * bessel_ratio(self.nu, omega[panel] * r)

        # A phase z is known to eps z only.
        noise = float(np.finfo(np.float64).eps) * (32 + omega * right)
        return integrate_each(integrand, left, right, PRECISION * self.scale, noise)

    def _at_zero(self) -> float:
        edges = _dyadic(self.length / 8, self.length * 2.0**40)
        parts = integrate_panels(
            lambda r: self.f(r) * r ** (self.d - 1), edges, PRECISION * self.scale
        )
        late = np.abs(parts[-12:])
        if late[-1] > PRECISION * self.scale and late[-1] > 0.99 * late[0]:
            return float("inf")
        # A tail that decays like a power gives a geometric series.
        return self.at_zero * float(accelerate(np.cumsum(parts))[0])


def _dyadic(start: float, stop: float) -> np.ndarray:
    """Return 0, start, 2 start, 4 start, ..., stop."""
    if stop <= start:
        return np.array([0.0, stop])
    doublings = int(np.ceil(np.log2(stop / start)))
    return np.concatenate([[0.0], start * 2.0 ** np.arange(doublings), [stop]])
