"""Kernels side by side: by how much each of them damps each frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any, NamedTuple

import numpy as np

from mercer.kernels import Kernel
from mercer.numerics.frequencies import as_frequencies

from .fourier_spectra import fourier_transform
from .periodic_spectra import stated_coefficients

_SAME = 1e-9  # of a frequency: differences below are rounding
_MOST = 1 << 16  # waves among which the lowest is looked for


class Waves(NamedTuple):
    """The spectrum of a periodic kernel, which is concentrated on the waves of its period."""

    # shape (n,): the frequencies 2 pi n / T of the waves that it has, rising from 0
    frequencies: np.ndarray
    # shape (n,): their weights, relative to that of the first, which is the constant unless the
    # kernel has none
    attenuation: np.ndarray


def waves(kernel: Kernel, highest: float) -> Waves | None:
    """Return the waves of a periodic kernel on the line, the lowest among them, or None."""
    series = stated_coefficients(kernel)
    if series is None:
        return None
    kernel.require_bound("in the frequency domain")
    count = 2 + int(highest * series.period / (2 * pi) * (1 + _SAME))
    weights = _halved(series.coefficients(count))
    while not weights.any():  # the lowest wave may be above all that is asked for
        if count > _MOST:
            raise ValueError(f"{kernel!r} has none of its first {count} waves.")
        count *= 2
        weights = _halved(series.coefficients(count))
    n = np.flatnonzero(weights)
    frequencies, attenuation = 2 * pi / series.period * n, weights[n] / weights[n[0]]
    kept = frequencies <= max(highest, frequencies[0]) * (1 + _SAME)
    return Waves(frequencies[kept], attenuation[kept])


def by_name(kernels: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Return kernels by name: those that are given, or the kernels printed."""
    if isinstance(kernels, Kernel) or not isinstance(kernels, Mapping | Sequence):
        raise TypeError(
            "the kernels come first, as a list or a dictionary of names to kernels; got "
            f"{type(kernels).__name__}."
        )
    if not isinstance(kernels, Mapping):
        kernels = {repr(kernel): kernel for kernel in kernels}
    if not kernels:
        raise ValueError("there is no kernel to compare.")
    for name, kernel in kernels.items():
        if not isinstance(kernel, Kernel) and not callable(kernel):
            raise TypeError(f"{name!r} is neither a kernel nor a function: {kernel!r}.")
    return {str(name): kernel for name, kernel in kernels.items()}


def compare_spectra(
    kernels: Mapping[str, Any] | Sequence[Kernel], omega: Any, dimension: int | None = None
) -> dict[str, np.ndarray]:
    """Return the damping of each frequency by each kernel, relative to frequency zero.

    Parameters
    ----------
    kernels : sequence of Kernel, or mapping of names to Kernel or callables
        Kernels to compare. A callable ``f(omega)`` is a Fourier transform itself.
    omega : float or array of shape (n,) or (n, d)
        Frequencies.
    dimension : int, optional
        The dimension d, where `omega` holds numbers.

    Returns
    -------
    dict of str to ndarray of shape (n,)
        F[k](omega) / F[k](0) by name. A periodic kernel, on the line only, has the weight of its
        wave at a multiple of 2 pi / period, relative to its constant (to its lowest wave where it
        has no constant), and 0 at all other frequencies, which its functions do not have.
        :func:`mercer.plots.filters` draws them.

    Examples
    --------
    >>> from mercer.inspection import compare_spectra
    >>> from mercer.kernels import RBF, Dirichlet, Laplacian
    >>> some = [RBF(gamma=0.5), Laplacian(gamma=1.0), Dirichlet(order=1)]
    >>> for name, attenuation in compare_spectra(some, [0.0, 0.5, 1.0, 2.0]).items():
    ...     print(name, attenuation.round(6))
    RBF(gamma=0.5) [1.       0.882497 0.606531 0.135335]
    Laplacian(gamma=1.0) [1.  0.8 0.5 0.2]
    Dirichlet(order=1) [1. 0. 1. 0.]
    """
    named = by_name(kernels)
    w = as_frequencies(omega, dimension)
    table = {}
    for name, kernel in named.items():
        of_waves = _of_waves(kernel, w) if isinstance(kernel, Kernel) else None
        table[name] = _of_density(name, kernel, w) if of_waves is None else of_waves
    return table


def _of_density(name: str, kernel: Any, w: np.ndarray) -> np.ndarray:
    """Return a transform relative to frequency zero."""
    zero = np.zeros((1, w.shape[1]))
    if isinstance(kernel, Kernel):
        values, at_zero = fourier_transform(kernel, w), fourier_transform(kernel, zero)
    else:
        values, at_zero = np.asarray(kernel(w)), np.asarray(kernel(zero))
    if not np.isfinite(at_zero).all():
        raise ValueError(
            f"{name} is not integrable in {w.shape[1]} dimensions, so its transform is "
            "infinite at frequency zero and has no scale to compare with."
        )
    return values / at_zero


def _of_waves(kernel: Kernel, w: np.ndarray) -> np.ndarray | None:
    """Return the weights of waves at frequencies, 0 in between; None for other kernels."""
    found = waves(kernel, float(np.abs(w).max(initial=0.0)))
    if found is None:
        return None
    if w.shape[1] > 1:
        raise ValueError(
            f"{kernel!r} is periodic, and its waves are compared on the line; use dimension=1."
        )
    at = np.abs(w[:, 0])
    nearest = np.abs(at[:, None] - found.frequencies).argmin(axis=1)
    gap = np.abs(at - found.frequencies[nearest])
    hit = gap <= _SAME * np.maximum(at, found.frequencies[-1])
    return np.where(hit, found.attenuation[nearest], 0.0)


def _halved(coefficients: np.ndarray) -> np.ndarray:
    """Return the weights of single exponentials: a cosine is two of them, the constant one."""
    return np.where(np.arange(len(coefficients)) == 0, 1.0, 0.5) * coefficients
