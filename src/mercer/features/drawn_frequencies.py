"""Frequencies drawn from the spectrum of a translation-invariant kernel.

By Bochner's theorem k(x - z) = m E cos(w . (x - z)), with m = k(0) and w drawn from a probability
distribution, the normalised spectrum of k. A kernel states how to draw from it by a method
``sample_spectrum(n, d, rng)`` that returns n frequencies of d coordinates. Compositions need no
method of their own: for a product the frequencies add up, for a sum one of the terms is drawn in
proportion to its m, and power series of k, the exponential among them, are mixtures of powers of
k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels import (
    Bilinear,
    Constant,
    Exp,
    Kernel,
    Linear,
    Normalized,
    OnColumns,
    OverFeatureSpace,
    PolynomialOf,
    Power,
    PowerSeries,
    Product,
    Scaled,
    Sum,
)
from mercer.kernels.algebra.on_columns import positions
from mercer.objects.arrays import Array

_MOST_POWERS = 100_000  # terms of a closed form, which ends by itself where it converges


def draw_frequencies(
    kernel: Kernel, n: int, d: int, rng: np.random.Generator
) -> tuple[Array, float]:
    """Draw frequencies from the spectrum of a kernel.

    Parameters
    ----------
    kernel : Kernel
        A bound translation-invariant kernel on vectors of d numbers.
    n : int
        How many frequencies.
    d : int
        Number of columns of the data.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    frequencies : array of shape (n, d)
        The frequencies w, in radians per unit of x.
    mass : float
        k(0), so that k(x - z) = mass * E cos(w . (x - z)).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import draw_frequencies
    >>> from mercer.kernels import RBF
    >>> w, mass = draw_frequencies(2 * RBF(gamma=0.5), 10000, 1, np.random.default_rng(0))
    >>> k = 2 * RBF(gamma=0.5)([[0.7]], [[0.0]])[0, 0]
    >>> bool(abs(mass * np.cos(0.7 * w).mean() - k) < 0.03)
    True
    """
    if hasattr(kernel, "sample_spectrum"):
        frequencies = np.asarray(kernel.sample_spectrum(n, d, rng), dtype=np.float64)
        if frequencies.shape != (n, d):
            raise ValueError(
                f"{type(kernel).__name__}.sample_spectrum must return an array of shape "
                f"({n}, {d}); got {frequencies.shape}."
            )
        return frequencies, _mass(kernel, d)
    match kernel:
        case Constant():
            return np.zeros((n, d)), float(kernel.value)
        case Scaled():
            frequencies, mass = draw_frequencies(kernel.kernel, n, d, rng)
            return frequencies, float(kernel.scale) * mass
        case Normalized():
            frequencies, mass = draw_frequencies(kernel.kernel, n, d, rng)
            return frequencies, float(mass > 0.0)
        case Product():
            left, a = draw_frequencies(kernel.left, n, d, rng)
            right, b = draw_frequencies(kernel.right, n, d, rng)
            return left + right, a * b
        case Sum():
            left, a = draw_frequencies(kernel.left, n, d, rng)
            right, b = draw_frequencies(kernel.right, n, d, rng)
            return _mixed([left, right], [a, b], rng), a + b
        case OnColumns():
            columns = positions(kernel.columns, d, None)
            drawn, mass = draw_frequencies(kernel.kernel, n, len(columns), rng)
            return _at_columns(drawn, columns, d), mass
        case Power():
            exponent = int(kernel.exponent)
            powers = np.full(n, exponent)
            return _summed(kernel.kernel, powers, d, rng), _mass(kernel.kernel, d) ** exponent
        case PolynomialOf():
            mass = _mass(kernel.kernel, d)
            terms = np.array([a * mass**m for m, a in enumerate(kernel.coefficients)])
            total = float(terms.sum())
            if total == 0.0:
                return np.zeros((n, d)), 0.0
            powers = rng.choice(len(terms), n, p=terms / total)
            return _summed(kernel.kernel, powers, d, rng), total
        case Exp():
            mass = _mass(kernel.kernel, d)
            powers = rng.poisson(mass, n)
            return _summed(kernel.kernel, powers, d, rng), float(np.exp(mass))
        case PowerSeries():
            terms = _series(kernel, d)
            powers = rng.choice(len(terms), n, p=terms / terms.sum())
            return _summed(kernel.inner, powers, d, rng), _mass(kernel, d)
        case OverFeatureSpace():
            return _over_distances(kernel.kernel, float(kernel.gamma), n, d, rng), 1.0
    raise ValueError(
        f"{kernel!r} has no spectrum to draw from: random Fourier features exist for "
        "translation-invariant kernels with a sample_spectrum method, such as RBF and Matern, and "
        "for sums, products, powers and power series of them. Nystrom takes any kernel."
    )


def _series(kernel: PowerSeries, d: int) -> Array:
    """Return the terms a_m k(0)^m of a series, up to where the others are rounding."""
    mass, total = _mass(kernel.inner, d), _mass(kernel, d)
    terms, reached = [], 0.0
    highest = _MOST_POWERS if kernel.highest_power is None else kernel.highest_power
    for m in range(highest + 1):
        try:
            terms.append(kernel.series_coefficient(m) * mass**m)
        except OverflowError:  # of a factorial
            break
        reached += terms[-1]
        if total - reached <= 1e-15 * total:
            break
    if not abs(total - reached) <= 1e-9 * total:
        raise ValueError(
            f"{kernel!r} has no spectrum to draw from: at k(x, x) = {mass:.6g} its series has too "
            "many powers that count. Scale the kernel inside down."
        )
    return np.array(terms)


def _over_distances(
    kernel: Kernel, gamma: float, n: int, d: int, rng: np.random.Generator
) -> Array:
    """Draw from the spectrum of exp(-gamma [k(x, x) - 2 k(x, z) + k(z, z)]).

    Dot products give normal frequencies; those of a sum add up. Where k is a function of x - z,
    the kernel is exp(-2 gamma k(0)) exp(2 gamma k), a Poisson mixture of powers of k.
    """
    match kernel:
        case Linear():
            return rng.normal(scale=np.sqrt(2.0 * gamma), size=(n, d))
        case Bilinear():
            root = kernel.feature_map(np.eye(d))  # k(x, z) = (x root) . (z root)
            normal = rng.normal(scale=np.sqrt(2.0 * gamma), size=(n, root.shape[1]))
            return np.asarray(normal @ root.T)
        case Constant():
            return np.zeros((n, d))
        case Scaled():
            return _over_distances(kernel.kernel, gamma * float(kernel.scale), n, d, rng)
        case Sum():
            left = _over_distances(kernel.left, gamma, n, d, rng)
            return left + _over_distances(kernel.right, gamma, n, d, rng)
        case OnColumns():
            columns = positions(kernel.columns, d, None)
            drawn = _over_distances(kernel.kernel, gamma, n, len(columns), rng)
            return _at_columns(drawn, columns, d)
    powers = rng.poisson(2.0 * gamma * _mass(kernel, d), n)
    return _summed(kernel, powers, d, rng)


def _summed(kernel: Kernel, terms: Any, d: int, rng: np.random.Generator) -> Array:
    """Return sums of ``terms[i]`` independent frequencies."""
    if not terms.any():  # a kernel without a spectrum is refused, even where k(0) = 0 draws none
        draw_frequencies(kernel, 1, d, np.random.default_rng(0))
    total = np.zeros((len(terms), d))
    for m in range(int(terms.max(initial=0))):
        more = terms > m
        total[more] += draw_frequencies(kernel, int(more.sum()), d, rng)[0]
    return total


def _at_columns(drawn: Array, columns: list[int], d: int) -> Array:
    """Return frequencies of d columns, given those of some of them; a column may occur twice."""
    return drawn @ np.eye(d)[columns]


def _mass(kernel: Kernel, d: int) -> float:
    return float(kernel.diag(np.zeros((1, d)))[0])


def _mixed(parts: list[Array], masses: list[float], rng: np.random.Generator) -> Array:
    """Return, row by row, one of the parts, drawn in proportion to its mass."""
    total = sum(masses)
    share = masses[0] / total if total > 0 else 0.5
    first = rng.random(len(parts[0])) < share
    return np.where(first[:, None], parts[0], parts[1])
