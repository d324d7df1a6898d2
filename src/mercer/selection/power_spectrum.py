"""Kernels that match the frequencies of a target on the real line.

The power spectrum of a function is the squared size of its Fourier transform. Two rules lead from
the power spectrum of the functions to be learned to that of the kernel, k(x - z) with spectrum k~:

- the functions are drawn from a Gaussian process: its covariance is the inverse transform of the
  power spectrum, so k~ = Pow (Wiener and Khinchin);
- the functions are expansions sum_j a_j k(x - x_j) with uncorrelated coefficients: their power
  spectrum is k~^2 times a constant, so k~ = sqrt(Pow) (A. Smola, *Learning with Kernels*, thesis,
  1998, equations 3.35 to 3.38).

The thesis states the one rule in words and the other in formulas; both are here, under their
names. A spectrum given at frequencies w_j makes the kernel sum_j p_j cos(w_j (x - z)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import lombscargle

from mercer.kernels import FromFeatureMap
from mercer.kernels.vectors.from_spectrum import MODES
from mercer.objects.parameters import integer, require_choice
from mercer.objects.validation import as_vectors

Array = NDArray[np.float64]

_UNEVEN = 1e-6  # share of a step by which an even grid may be off


@dataclass(frozen=True)
class PowerSpectrum:
    """How the variance of a function is distributed over frequencies.

    Attributes
    ----------
    frequencies : ndarray of shape (n_frequencies,)
        Positive frequencies w, in radians per unit of x.
    power : ndarray of shape (n_frequencies,)
        The variance at each of them; a wave a cos(w x + b) has a^2 / 2.
    variance : float
        The variance of the function.
    how : str
        How it was estimated.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection import estimate_power_spectrum
    >>> x = np.linspace(0, 20, 200)
    >>> spectrum = estimate_power_spectrum(x, np.sin(3 * x))
    >>> round(float(spectrum.frequencies[np.argmax(spectrum.power)]), 1)
    3.1
    """

    frequencies: Array
    power: Array
    variance: float
    how: str

    @property
    def peak(self) -> float:
        """The frequency of largest power."""
        return float(self.frequencies[self.power.argmax()])

    @property
    def concentration(self) -> float:
        """The share of the variance that one wave, of the frequency of largest power, has."""
        return float(self.power.max()) / self.variance if self.variance > 0.0 else 0.0

    def kernel(self, mode: str = "covariance") -> FromFeatureMap:
        """Return the kernel that matches the spectrum.

        Parameters
        ----------
        mode : {"covariance", "coefficients"}, default="covariance"
            The rule; see :func:`kernel_from_power_spectrum`.

        Returns
        -------
        FromFeatureMap
            The kernel.
        """
        return kernel_from_power_spectrum(self.frequencies, self.power, mode)


def estimate_power_spectrum(
    x: ArrayLike, y: ArrayLike, n_frequencies: int | None = None, oversampling: int = 1
) -> PowerSpectrum:
    """Return the power spectrum of samples of a function of a number.

    On an even grid it is the periodogram, by the fast Fourier transform; otherwise that of N.
    Lomb and J. Scargle, the least-squares fit of a wave at every frequency. The mean of y is
    removed first.

    Parameters
    ----------
    x : array-like of shape (n,) or (n, 1)
        Where the function was sampled.
    y : array-like of shape (n,)
        Its values.
    n_frequencies : int, optional
        How many frequencies; default: as many as reach the highest one that samples on an even
        grid can tell from lower ones.
    oversampling : int >= 1, default=1
        The frequencies are multiples of 2 pi over the length of the record and this number.
        With 1 the powers add up to the variance on an even grid; with more, a wave between two
        frequencies is not missed.

    Returns
    -------
    PowerSpectrum
        Frequencies and power.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection import estimate_power_spectrum
    >>> x = np.arange(64) * 0.1
    >>> wave = estimate_power_spectrum(x, 3 * np.cos(2 * np.pi * 5 * x / 6.4))
    >>> bool(np.isclose(wave.peak, 2 * np.pi * 5 / 6.4)), round(float(wave.power.max()), 9)
    (True, 4.5)
    """
    at, values = _series(x, y)
    n = len(at)
    steps = np.diff(at)
    step = float(at[-1] - at[0]) / (n - 1)
    if step == 0.0:
        raise ValueError("all x are equal; a spectrum needs samples at different places.")
    finer = integer(oversampling, "oversampling", minimum=1)
    highest = finer * (n // 2)
    m = highest if n_frequencies is None else integer(n_frequencies, "n_frequencies", minimum=1)
    frequencies = np.arange(1, m + 1, dtype=np.float64) * (2.0 * np.pi / (finer * n * step))
    variance = float(np.mean(values**2))
    if finer == 1 and m <= highest and np.abs(steps - step).max() <= _UNEVEN * step:
        power = 2.0 * np.abs(np.fft.rfft(values)[1 : m + 1]) ** 2 / n**2
        if n % 2 == 0 and m == highest:
            power[-1] *= 0.5  # the highest frequency stands for itself and its mirror image
        how = f"periodogram of {n} samples on an even grid"
        return PowerSpectrum(frequencies, power, variance, how)

    power = 2.0 * np.atleast_1d(lombscargle(at - at[0], values, frequencies)) / n
    how = f"Lomb-Scargle periodogram of {n} samples"
    return PowerSpectrum(frequencies, power, variance, how)


class Cosines:
    """The features sqrt(p_j) cos(w_j . x) and sqrt(p_j) sin(w_j . x)."""

    def __init__(self, frequencies: Array, weights: Array) -> None:
        self.frequencies, self.weights = frequencies, weights

    def __call__(self, X: Any) -> Array:
        """Return the features of rows."""
        X = as_vectors(np.asarray(X), "a kernel from a power spectrum")
        if X.shape[1] != self.frequencies.shape[1]:
            raise ValueError(
                f"the spectrum has frequencies of {self.frequencies.shape[1]} coordinates; got "
                f"rows of {X.shape[1]}."
            )
        angles = X @ self.frequencies.T
        return np.hstack([np.cos(angles), np.sin(angles)]) * np.sqrt(np.tile(self.weights, 2))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cosines):
            return NotImplemented
        return np.array_equal(self.frequencies, other.frequencies) and np.array_equal(
            self.weights, other.weights
        )

    def __hash__(self) -> int:
        return hash((self.frequencies.tobytes(), self.weights.tobytes()))

    def __repr__(self) -> str:
        return f"<{len(self.weights)} cosines>"


def kernel_from_power_spectrum(
    frequencies: ArrayLike, power: ArrayLike, mode: str = "covariance"
) -> FromFeatureMap:
    """Return the kernel whose functions have a given power spectrum.

    Parameters
    ----------
    frequencies : array-like of shape (m,) or (m, d)
        The frequencies w_j of the spectrum, in radians per unit of x.
    power : array-like of shape (m,)
        The power at each, not negative.
    mode : {"covariance", "coefficients"}, default="covariance"
        Whether the power spectrum is to be that of a Gaussian process with the kernel as its
        covariance (k~ = Pow), or that of expansions over the kernel with uncorrelated
        coefficients (k~ = sqrt(Pow)).

    Returns
    -------
    FromFeatureMap
        The positive semidefinite kernel sum_j p_j cos(w_j . (x - z)), scaled to k(x, x) = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection import kernel_from_power_spectrum
    >>> kernel = kernel_from_power_spectrum([1.0, 2.0], [3.0, 1.0])
    >>> value = 0.75 * np.cos(0.5) + 0.25 * np.cos(1.0)
    >>> bool(np.isclose(kernel([[0.2]], [[0.7]])[0, 0], value))
    True
    """
    require_choice(mode, "mode", MODES)
    w, p = np.asarray(frequencies, dtype=np.float64), np.asarray(power, dtype=np.float64)
    w = w[:, None] if w.ndim == 1 else w
    if w.ndim != 2 or p.shape != (len(w),) or not p.size:
        raise ValueError(
            f"one number of power is needed for each frequency; got shapes {w.shape} and {p.shape}."
        )
    if not (np.isfinite(w).all() and np.isfinite(p).all()):
        raise ValueError("the spectrum contains NaN or infinity.")
    if p.min() < 0.0:
        j = int(p.argmin())
        raise ValueError(
            f"power must not be negative, or the kernel is not positive semidefinite (Bochner); "
            f"got {p[j]:.6g} at frequency {j}."
        )
    weights = p if mode == "covariance" else np.sqrt(p)
    if weights.sum() == 0.0:
        raise ValueError("all power is 0; a spectrum needs some.")
    used = weights > 0.0
    return FromFeatureMap(Cosines(w[used], weights[used] / weights.sum()))


def _series(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return samples in order, with the mean of the values removed."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim == 2 and x.shape[1] == 1:
        x = x[:, 0]
    if x.ndim != 1 or y.shape != x.shape:
        raise ValueError(
            f"x and y must be sequences of equally many numbers; got {x.shape} and {y.shape}."
        )
    if len(x) < 4:
        raise ValueError(f"a spectrum needs at least four samples; got {len(x)}.")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("x or y contains NaN or infinity.")
    order = np.argsort(x, kind="stable")
    return x[order], y[order] - y.mean()
