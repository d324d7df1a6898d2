"""Kernels as filters: how strongly each frequency can appear in a function of the RKHS.

A translation-invariant kernel regularises by dividing the power of a function at each frequency by
the kernel's Fourier transform there: where that is large a function is cheap, where it is small it
is expensive, and where it is zero it is impossible (Smola 1998, section 3.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from mercer.kernels import Constant, Kernel, OnColumns, Product, Scaled, Sum
from mercer.numerics.frequencies import as_frequencies
from mercer.numerics.hankel import half_length, radial_fourier
from mercer.objects.parameters import require_choice

from .invariance import symmetries

METHODS = ("auto", "closed", "numeric")


@runtime_checkable
class Spectral(Protocol):
    """A kernel whose Fourier transform is known in closed form."""

    def spectral_density(self, omega: Any, dimension: int | None = None) -> np.ndarray:
        """Return the unitary Fourier transform at frequencies; see `mercer.inspection`."""


def fourier_transform(
    kernel: Kernel, omega: Any, dimension: int | None = None, *, method: str = "auto"
) -> np.ndarray:
    r"""Return the Fourier transform of a translation-invariant kernel.

    .. math:: F[k](\omega) = (2\pi)^{-d/2} \int e^{-i\omega \cdot x} k(x, 0) \, dx

    Parameters
    ----------
    kernel : Kernel
        A bound kernel of x - z that decays with the distance. Sums and multiples of kernels with
        a closed form have one.
    omega : float or array of shape (n,) or (n, d)
        Frequencies; a number w means (w, 0, ..., 0).
    dimension : int, optional
        The dimension d, where `omega` holds numbers; 1 by default.
    method : {"auto", "closed", "numeric"}, default="auto"
        "closed" insists on the closed form, "numeric" on numerical integration, which serves
        radial kernels and products over the coordinates.

    Returns
    -------
    ndarray of shape (n,)
        The transform; nowhere negative if and only if the kernel is positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import fourier_transform
    >>> from mercer.kernels import RBF
    >>> fourier_transform(RBF(gamma=0.5), [0.0, 1.0]).round(6)
    array([1.      , 0.606531])
    >>> fourier_transform(RBF(gamma=0.5), [0.0, 1.0], method="numeric").round(6)
    array([1.      , 0.606531])
    """
    require_choice(method, "method", METHODS)
    _require_vectors(kernel, "fourier_transform(kernel, omega)")
    kernel.require_bound("in the frequency domain")
    w = as_frequencies(omega, dimension)
    concentrated = point_masses(kernel)
    if concentrated is not None:
        raise ValueError(concentrated)
    if method != "numeric":
        stated = closed_form(kernel)
        if stated is not None:
            return stated(w)
        if method == "closed":
            raise ValueError(
                f"{kernel!r} states no closed form of its Fourier transform; use method='numeric'."
            )
    return _numeric(kernel, w)


def bochner_density(kernel: Kernel, omega: Any, dimension: int | None = None) -> np.ndarray:
    r"""Return the probability density of frequencies whose characteristic function is the kernel.

    .. math:: k(x, z) = k(0, 0) \int e^{i\omega \cdot (x - z)} p(\omega) \, d\omega , \quad
              p = (2\pi)^{-d/2} F[k] / k(0, 0)

    (Bochner's theorem.) Random Fourier features draw their frequencies from it.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel of x - z that decays with the distance.
    omega : float or array of shape (n,) or (n, d)
        Frequencies.
    dimension : int, optional
        The dimension d, where `omega` holds numbers.

    Returns
    -------
    ndarray of shape (n,)
        The density, which integrates to 1 over R^d.

    Examples
    --------
    >>> from mercer.inspection import bochner_density
    >>> from mercer.kernels import RBF
    >>> bochner_density(RBF(gamma=0.5), 0.0).round(6)  # that of the normal distribution
    array([0.398942])
    """
    _require_vectors(kernel, "bochner_density(kernel, omega)")
    w = as_frequencies(omega, dimension)
    d = w.shape[1]
    at_zero = float(kernel.diag(np.zeros((1, d)))[0])
    return fourier_transform(kernel, w) * (2 * pi) ** (-d / 2) / at_zero


@dataclass(frozen=True)
class SpectrumSign:
    """Whether a Fourier transform is nowhere negative.

    Attributes
    ----------
    non_negative : bool
        Whether no value below -`tolerance` was found.
    smallest : float
        The smallest value.
    frequency : float
        Where it lies, along the first axis.
    tolerance : float
        Accuracy of the values.

    Examples
    --------
    >>> from mercer.inspection import spectrum_sign
    >>> from mercer.kernels import RBF
    >>> spectrum_sign(RBF(1.0)).non_negative
    True
    """

    non_negative: bool
    smallest: float
    frequency: float
    tolerance: float


def spectrum_sign(
    kernel: Kernel, dimension: int = 1, *, omega: Any = None, method: str = "auto"
) -> SpectrumSign:
    """Return whether the Fourier transform of a kernel is non-negative, as Bochner demands.

    A negative value disproves positive semidefiniteness on R^d: a wave of that frequency on many
    points has a negative quadratic form. The test looks along the first axis only, which is
    everywhere for a radial kernel.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel of x - z that decays with the distance.
    dimension : int >= 1, default=1
        The dimension d.
    omega : array of shape (n,), optional
        Frequencies to look at; by default 200 up to forty times the inverse width of the kernel.
    method : {"auto", "closed", "numeric"}, default="auto"
        See :func:`fourier_transform`.

    Returns
    -------
    SpectrumSign
        The smallest value and where it lies.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import spectrum_sign
    >>> from mercer.kernels import FromFunction, RBF
    >>> spectrum_sign(RBF(gamma=1.0)).non_negative
    True
    >>> box = FromFunction(lambda A, B: np.abs(A - B.T) <= 0.5)
    >>> spectrum_sign(box).non_negative
    False
    """
    _require_vectors(kernel, "spectrum_sign(kernel, dimension)")
    if omega is None:
        width = half_length(lambda r: _profile(kernel, dimension)(r))
        omega = np.linspace(0.0, 40.0 / width, 201)[1:]
    w = np.asarray(omega, dtype=np.float64).reshape(-1)
    values = fourier_transform(kernel, w, dimension, method=method)
    lowest = int(np.argmin(values))
    finite = values[np.isfinite(values)]
    tolerance = 1e-9 * float(np.abs(finite).max())
    return SpectrumSign(
        non_negative=bool(values[lowest] >= -tolerance),
        smallest=float(values[lowest]),
        frequency=float(w[lowest]),
        tolerance=tolerance,
    )


def closed_form(kernel: Kernel) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the transform that a kernel, or all terms of a sum, state; None where one does not."""
    constant, others = terms(kernel)
    forms = [(scale, form) for scale, term in others if (form := _own_form(term)) is not None]
    if constant > 0 or not forms or len(forms) < len(others):
        return None
    return lambda w: np.sum([scale * form(w) for scale, form in forms], axis=0)


def _own_form(kernel: Kernel) -> Callable[[np.ndarray], np.ndarray] | None:
    if isinstance(kernel, Spectral):
        return kernel.spectral_density
    twin: Any = getattr(kernel, "same_as", None)
    return None if twin is None else twin.spectral_density


def point_masses(kernel: Kernel) -> str | None:
    """Return in words which part of a spectrum is no density: points or planes; None if unknown."""
    constant, others = terms(kernel)
    if constant > 0 or not others:
        return "a constant has all its spectrum at frequency zero and no density; leave it out."
    reasons = (_concentrated(term) for _, term in others)
    return next((reason for reason in reasons if reason is not None), None)


def _concentrated(kernel: Kernel) -> str | None:
    if getattr(kernel, "period", None) is not None:
        return f"{kernel!r} is periodic: its spectrum is a series, given by fourier_coefficients."
    if isinstance(kernel, OnColumns):
        return (
            f"{kernel!r} does not depend on the other columns, so its spectrum lies in a plane and "
            "has no density; ask about the kernel on its own columns."
        )
    reasons = [point_masses(part) for part in kernel.inner_kernels()]
    if isinstance(kernel, Product) and None in reasons:
        return None  # the convolution with a density is one
    return next((reason for reason in reasons if reason is not None), None)


def _profile(kernel: Kernel, dimension: int, axis: int = 0) -> Callable[[np.ndarray], np.ndarray]:
    """Return the kernel as a function of the distance along an axis."""
    origin = np.zeros((1, dimension))

    def profile(r: np.ndarray) -> np.ndarray:
        points = np.zeros((len(r), dimension))
        points[:, axis] = r
        return kernel(points, origin)[:, 0]

    return profile


def _require_vectors(kernel: Kernel, usage: str) -> None:
    require_kernel(kernel, usage)
    if kernel.takes.structured:
        raise TypeError(
            "a Fourier transform is that of a translation-invariant kernel on vectors, a function "
            f"of x - z; {kernel!r} is defined on {kernel.domain}."
        )


def _numeric(kernel: Kernel, omega: np.ndarray) -> np.ndarray:
    d = omega.shape[1]
    found = symmetries(kernel, d)
    if not found.translation:
        raise ValueError(
            f"{kernel!r} is not a function of x - z, so it has no Fourier transform of one "
            "frequency; see mercer_decomposition for its eigenfunctions on a domain."
        )
    if found.radial:
        lengths = np.linalg.norm(omega, axis=1)
        unique, place = np.unique(lengths, return_inverse=True)
        return radial_fourier(_profile(kernel, d), unique, d)[place.reshape(-1)]
    if not found.separable:
        raise ValueError(
            f"{kernel!r} is neither radial nor a product over the coordinates; numerical "
            f"transforms in {d} dimensions are offered for these. Ask along single axes."
        )
    at_zero = float(kernel.diag(np.zeros((1, d)))[0])
    result = np.full(len(omega), at_zero)
    for axis in range(d):
        unique, place = np.unique(np.abs(omega[:, axis]), return_inverse=True)
        values = radial_fourier(_profile(kernel, d, axis), unique, 1)
        result *= values[place.reshape(-1)] / at_zero
    return result


class Terms(NamedTuple):
    """The kernel c + sum_i s_i k_i."""

    constant: float  # the constant c
    # the factors s_i > 0 and the kernels k_i, which are neither sums nor multiples
    others: list[tuple[float, Kernel]]

    def times(self, factor: float) -> Terms:
        """Return the terms of a multiple; with factor 0 there are none."""
        if factor == 0:
            return Terms(0.0, [])
        return Terms(factor * self.constant, [(factor * s, k) for s, k in self.others])


def terms(kernel: Kernel) -> Terms:
    """Return the terms of a kernel: sums are taken apart, products with constants are multiples."""
    if isinstance(kernel, Constant):
        return Terms(float(kernel.value), [])
    if isinstance(kernel, Scaled):
        return terms(kernel.kernel).times(float(kernel.scale))
    if isinstance(kernel, Sum):
        left, right = terms(kernel.left), terms(kernel.right)
        return Terms(left.constant + right.constant, left.others + right.others)
    if isinstance(kernel, Product):
        left, right = terms(kernel.left), terms(kernel.right)
        if not left.others:
            return right.times(left.constant)
        if not right.others:
            return left.times(right.constant)
    return Terms(0.0, [(1.0, kernel)])


def require_kernel(kernel: Any, usage: str) -> None:
    """Raise TypeError unless the first argument of the call `usage` is a kernel."""
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"{usage} takes a kernel first; got {type(kernel).__name__}. Wrap a function in a "
            "kernel, FromFunction(f); for a function of the distance use radial_fourier."
        )
