"""Draws from the spectra of kernels: frequencies for random Fourier features.

Every function returns frequencies w with k(x - z) / k(0) = E cos(w . (x - z)). All but
`from_radial_density` and `from_series` are exact: mixtures of known distributions, and rejection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gamma, lgamma, log, pi, sqrt
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaincinv

from .bessel import bessel_ratio

_PER_OCTAVE = 256  # nodes of a tabulated density
_ON_A_BAND = 1 << 15  # nodes of a density that ends
_LAST_OCTAVE = 60  # of a density without an end, after which its tail is given up
_NEGLIGIBLE = 1e-10  # of the mass, in the last octave


def mixed_normals(
    shape: float, scale: float, n: int, d: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw from the spectrum of (1 + r^2 / scale^2)^(-shape), a gamma mixture of Gaussians."""
    s = rng.standard_gamma(shape, size=(n, 1))
    return np.sqrt(2.0 * s) / scale * rng.normal(size=(n, d))


def stable(p: float, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    r"""Draw from the spectrum of exp(-\|x\|_p) for 1 <= p <= 2.

    With S positive and stable of index 1/p, E exp(-u S) = exp(-u^(1/p)), so the kernel is the
    mean of exp(-S sum_i abs(x_i)^p), whose coordinates are symmetric and stable of index p, of
    scale S^(1/p). S by M. Kanter, Annals of Probability 3, 1975; the symmetric ones by
    J. Chambers, C. Mallows and B. Stuck, Journal of the American Statistical Association 71, 1976.
    """
    v = rng.uniform(-0.5 * pi, 0.5 * pi, size=(n, d))
    e = rng.standard_exponential((n, d))
    w = np.sin(p * v) / np.cos(v) ** (1.0 / p) * (np.cos((1.0 - p) * v) / e) ** ((1.0 - p) / p)
    if p == 1.0:
        return w  # S = 1
    a = 1.0 / p
    u, e = rng.uniform(0.0, pi, size=(n, 1)), rng.standard_exponential((n, 1))
    s = np.sin(a * u) / np.sin(u) ** p * (np.sin((1.0 - a) * u) / e) ** (p - 1.0)
    return s**a * w


def sine_quotients(power: int, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from the spectrum of a product of B-splines, (sin(w/2) / (w/2))^power, by rejection."""
    lengths = _rejected(1, power, 1.0, lambda u: np.sinc(u / pi), n * d, rng)
    return 2.0 * (lengths * rng.choice([-1.0, 1.0], n * d)).reshape(n, d)


def balls(power: int, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from the spectrum of a convolution of unit balls: a power of J_(d/2)(w) / w^(d/2).

    By rejection, below a Gaussian and a power of w. The bound of sqrt(w) J(w): A. Olenko, "Upper
    bound on sqrt(x) J_nu(x) and its applications", Integral Transforms and Special Functions 17,
    2006.
    """
    nu = 0.5 * d
    third = nu ** (1.0 / 3.0)
    root = 0.674886 * sqrt(third + 1.855758 / third + 0.3 * 1.855758**2 / nu)
    top = gamma(nu + 1.0) * 2.0**nu  # bessel_ratio at 0 is its inverse
    lengths = _rejected(d, power, root * top, lambda w: top * bessel_ratio(nu, w), n, rng)
    return lengths[:, None] * _directions(n, d, rng)


def from_series(
    coefficients: Sequence[float] | np.ndarray,
    period: float,
    n: int,
    d: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw from the spectrum of a product over the columns of series of cosines."""
    a = np.asarray(coefficients, dtype=np.float64)
    waves = rng.choice(len(a), size=(n, d), p=a / a.sum())
    return 2.0 * pi / period * waves * rng.choice([-1.0, 1.0], size=(n, d))


def from_radial_density(
    density: Callable[[np.ndarray], np.ndarray],
    unit: float,
    cutoff: float | None,
    n: int,
    d: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw from a density of the length of frequencies, by inverting its tabulated integral.

    Between nodes, 256 to an octave or 32768 on a band, the density of the length counts as
    linear. What lies beyond the last octave has less than 1e-10 of the mass of those before.

    `unit`: a typical length, from which the octaves are counted.
    """
    if cutoff is not None:
        w = np.linspace(0.0, cutoff, _ON_A_BAND)
        mass = density(w) * w ** (d - 1)
    else:
        last = 16
        while True:
            w = unit * 2.0 ** (np.arange(-30 * _PER_OCTAVE, last * _PER_OCTAVE + 1) / _PER_OCTAVE)
            w = np.concatenate([[0.0], w])
            mass = density(w) * w ** (d - 1)
            pieces = 0.5 * (mass[1:] + mass[:-1]) * np.diff(w)
            if pieces[-_PER_OCTAVE:].sum() <= _NEGLIGIBLE * pieces.sum() or last >= _LAST_OCTAVE:
                break
            last += 4
    pieces = 0.5 * (mass[1:] + mass[:-1]) * np.diff(w)
    i = rng.choice(len(pieces), size=n, p=pieces / pieces.sum())
    # On a piece the density is a line from a to b: t with a t + (b - a) t^2 / 2 = share * (a + b)/2
    a, b, share = mass[i], mass[i + 1], rng.random(n)
    t = share * (a + b) / (a + np.sqrt(a * a + share * (b - a) * (b + a)))
    return (w[i] + t * (w[i + 1] - w[i]))[:, None] * _directions(n, d, rng)


def _rejected(
    d: int,
    power: int,
    decay: float,
    function: Callable[[np.ndarray], np.ndarray],
    n: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw lengths w > 0 with a density proportional to w^(d-1) function(w)^power.

    The function is 2^v gamma(v + 1) J_v(w) / w^v with v = d/2, and at most decay / w^((d+1)/2).
    Below its first zero it is at most exp(-w^2 / (2 (d + 2))), as its product over all zeros j
    shows, in which sum 1 / j^2 = 1 / (2 (d + 2)). The first zero lies beyond v + 1.8557 v^(1/3)
    (C. Qu and R. Wong, Transactions of the American Mathematical Society 351, 1999).
    """
    variance = (d + 2.0) / power
    tail = 0.5 * power * (d + 1.0) - d  # beyond the edge the envelope is w^(-tail-1)
    zero = 0.5 * d + 1.8557 * (0.5 * d) ** (1.0 / 3.0)
    edges = np.linspace(0.05, 1.0, 96) * zero
    share = gammainc(0.5 * d, 0.5 * edges**2 / variance)
    log_inner = np.log(share) + 0.5 * d * log(2.0 * variance) + lgamma(0.5 * d) - log(2.0)
    log_outer = power * log(decay) - tail * np.log(edges) - log(tail)
    best = int(np.argmin(np.logaddexp(log_inner, log_outer)))
    edge, below = edges[best], share[best]
    p_inner = 1.0 / (1.0 + np.exp(log_outer[best] - log_inner[best]))
    found = np.empty(0)
    while len(found) < n:
        m = 2 * (n - len(found)) + 64
        inside = rng.random(m) < p_inner
        v = 1.0 - rng.random(m)
        w = np.sqrt(2.0 * variance * gammaincinv(0.5 * d, below * v))
        w = np.where(inside, w, edge * v ** (-1.0 / tail))
        bound = np.where(inside, np.exp(-0.5 * w**2 / (d + 2.0)), decay * w ** (-0.5 * (d + 1.0)))
        accepted = rng.random(m) < np.abs(function(w) / bound) ** power
        found = np.concatenate([found, w[accepted]])
    return found[:n]


def _directions(n: int, d: int, rng: np.random.Generator) -> Any:
    """Return points of the unit sphere."""
    points = rng.normal(size=(n, d))
    return points / np.linalg.norm(points, axis=1, keepdims=True)
