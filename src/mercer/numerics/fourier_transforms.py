r"""Closed forms: the Fourier transforms of translation-invariant kernels.

For a kernel k(x - z) on R^d, in the unitary convention,

.. math:: F[k](\omega) = (2\pi)^{-d/2} \int e^{-i \omega \cdot x} k(x) \, dx ,

so that the inverse has the same factor. By Bochner's theorem k is positive semidefinite exactly if
F[k] is a non-negative measure; :math:`(2\pi)^{-d/2} F[k] / k(0)` then is a probability density. The
regularisation operator of the kernel divides by F[k] in the frequency domain (Smola, Learning with
Kernels, 1998, sections 3.3 and 3.4, whose misprints are corrected here and named where they are).

Every function takes frequencies as :func:`~mercer.numerics.frequencies.as_frequencies` does,
``(omega, dimension=None)``, and the parameters of the kernel by name. A kernel offers its transform
to the rest of the package by a method ``spectral_density(omega, dimension=None)``, made by
`mercer.kernels.stated_spectrum`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import exp, inf, lgamma, log, pi, sqrt
from typing import Any

import numpy as np

from mercer.objects.parameters import real

from .bessel import bessel_ratio, log_bessel_k
from .frequencies import as_frequencies

Transform = Callable[..., np.ndarray]


def closed_form(*positive: str) -> Callable[[Transform], Transform]:
    """Return a decorator: frequencies of any form become rows, and these parameters must be > 0."""

    def decorate(form: Transform) -> Transform:
        @wraps(form)
        def transform(omega: Any, dimension: int | None = None, **parameters: Any) -> np.ndarray:
            for name in positive:
                if name in parameters:
                    _require_positive(name, parameters[name])
            return form(as_frequencies(omega, dimension), **parameters)

        return transform

    return decorate


def _require_positive(name: str, value: float) -> None:
    """Reject a parameter at which the kernel is constant or not defined."""
    if real(value, name, minimum=0) == 0:
        raise ValueError(f"with {name} = 0 the kernel has no Fourier transform; use more.")


@closed_form("gamma")
def gaussian(w: np.ndarray, *, gamma: float) -> np.ndarray:
    r"""Return the transform of exp(-gamma \|x\|^2), which is Gaussian again.

    .. math:: F[k](\omega) = (2\gamma)^{-d/2} \exp(-\|\omega\|^2 / (4\gamma))
    """
    return (2.0 * gamma) ** (-w.shape[1] / 2) * np.exp(-(w**2).sum(axis=1) / (4.0 * gamma))


@closed_form("gamma")
def laplacian(w: np.ndarray, *, gamma: float) -> np.ndarray:
    r"""Return the transform of exp(-gamma \|x\|_1), a product over the coordinates.

    .. math:: F[k](\omega) = \prod_i \sqrt{2/\pi} \, \gamma / (\gamma^2 + \omega_i^2)
    """
    return np.prod(sqrt(2 / pi) * gamma / (gamma**2 + w**2), axis=1)


@closed_form("gamma")
def exponential(w: np.ndarray, *, gamma: float) -> np.ndarray:
    r"""Return the transform of exp(-gamma \|x\|_2).

    .. math:: F[k](\omega) = 2^{d/2} \pi^{-1/2} \, \Gamma\!\left(\tfrac{d+1}{2}\right)
              \gamma \, (\gamma^2 + \|\omega\|^2)^{-(d+1)/2}

    The thesis prints Gamma(d/2 + 1) in the last line of (3.51); the line before gives (d + 1)/2,
    which is right.
    """
    return matern(w, nu=0.5, length_scale=1.0 / gamma)


@closed_form("length_scale")
def matern(w: np.ndarray, *, nu: float, length_scale: float = 1.0) -> np.ndarray:
    r"""Return the transform of the Matern kernel with k(0) = 1.

    .. math:: F[k](\omega) = 2^{d/2} \frac{\Gamma(\nu + d/2)}{\Gamma(\nu)}
              \lambda^{2\nu} (\lambda^2 + \|\omega\|^2)^{-(\nu + d/2)}, \quad
              \lambda = \sqrt{2\nu} / \ell

    (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, (4.15), in the unitary
    convention.) nu = 1/2 is the exponential kernel, nu = infinity the Gaussian one.
    """
    if nu == inf:
        return gaussian(w, gamma=0.5 / length_scale**2)
    _require_positive("nu", nu)
    d = w.shape[1]
    rate = 2.0 * nu / length_scale**2
    logarithm = (
        d / 2 * log(2.0)
        + lgamma(nu + d / 2)
        - lgamma(nu)
        + nu * log(rate)
        - (nu + d / 2) * np.log(rate + (w**2).sum(axis=1))
    )
    return np.exp(logarithm)


@closed_form("alpha", "length_scale")
def rational_quadratic(w: np.ndarray, *, alpha: float, length_scale: float = 1.0) -> np.ndarray:
    r"""Return the transform of (1 + \|x\|^2 / (2 alpha l^2))^(-alpha).

    .. math:: F[k](\omega) = \frac{2^{1-\alpha} b^d}{\Gamma(\alpha)}
              (b \|\omega\|)^{\alpha - d/2} K_{\alpha - d/2}(b \|\omega\|), \quad
              b = \ell \sqrt{2 \alpha}

    With alpha = (d + 1)/2 it is the exponential function: this kernel and the exponential one are
    transforms of each other (Smola 1998, after (3.51)). At 0 it is finite only for alpha > d/2.

    Returns the values; infinity at frequency 0 where the kernel is not integrable.
    """
    d = w.shape[1]
    b = length_scale * sqrt(2.0 * alpha)
    order = alpha - d / 2
    factor = d * log(b) - lgamma(alpha)
    r = b * np.sqrt((w**2).sum(axis=1))
    at_zero = exp(factor - d / 2 * log(2.0) + lgamma(order)) if order > 0 else inf
    safe = np.where(r > 0, r, 1.0)
    logarithm = factor + (1 - alpha) * log(2.0) + order * np.log(safe) + log_bessel_k(order, safe)
    with np.errstate(over="ignore"):
        values = np.exp(logarithm)
    return np.where((r > 0) & np.isfinite(values), values, at_zero)


@closed_form("gamma", "factor")
def damped_oscillator(w: np.ndarray, *, gamma: float = 1.0, factor: float = 1.0) -> np.ndarray:
    r"""Return the transform of the damped harmonic oscillator 1 / (gamma^2 + (factor \|x\|)^2).

    .. math:: F[k](\omega) = \frac{1}{c^2} \left(\frac{a}{\|\omega\|}\right)^{\nu}
              K_\nu(a \|\omega\|), \quad a = \gamma / c, \quad \nu = d/2 - 1

    with c the factor of the distance. It decays like exp(-a \|omega\|) in every dimension (Smola
    1998, (3.52)).
    """
    width = gamma / (factor * sqrt(2.0))
    return rational_quadratic(w, alpha=1.0, length_scale=width) / gamma**2


@closed_form("c")
def inverse_multiquadric(w: np.ndarray, *, c: float) -> np.ndarray:
    r"""Return the transform of the inverse multiquadric 1 / sqrt(\|x\|^2 + c^2).

    .. math:: F[k](\omega) = \sqrt{2/\pi} \left(\frac{c}{\|\omega\|}\right)^{\nu}
              K_\nu(c \|\omega\|), \quad \nu = (d - 1)/2

    Returns the values; infinity at frequency 0, since the kernel is not integrable.
    """
    return rational_quadratic(w, alpha=0.5, length_scale=c) / c


@closed_form("scale")
def b_spline(w: np.ndarray, *, order: int, scale: float = 1.0) -> np.ndarray:
    r"""Return the transform of the product of B-splines B_n(x_i / s).

    B_n is the convolution of n + 1 indicators of [-1/2, 1/2], hence

    .. math:: F[k](\omega) = \prod_i \frac{s}{\sqrt{2\pi}}
              \left(\frac{\sin(s\omega_i/2)}{s\omega_i/2}\right)^{n+1} .

    It is non-negative for odd n only, which is why even orders are no kernels; its zeros are
    frequencies that no function of the space contains (Smola 1998, (3.28)).
    """
    # numpy.sinc is sin(pi x) / (pi x).
    return np.prod(scale / sqrt(2 * pi) * np.sinc(scale * w / (2 * pi)) ** (order + 1), axis=1)


@closed_form("scale")
def radial_b_spline(w: np.ndarray, *, order: int, scale: float = 1.0) -> np.ndarray:
    r"""Return the transform of the radial spline B_n(\|x\| / s).

    B_n is the convolution of n + 1 indicators of the unit ball of R^d, hence

    .. math:: F[k](\omega) = s^d (2\pi)^{nd/2}
              \left(\frac{J_{d/2}(s\|\omega\|)}{(s\|\omega\|)^{d/2}}\right)^{n+1}

    (Smola 1998, (3.57), which leaves out the factors). Non-negative for odd n only.
    """
    d = w.shape[1]
    ball = bessel_ratio(d / 2, scale * np.sqrt((w**2).sum(axis=1)))
    return scale**d * (2 * pi) ** (order * d / 2) * ball ** (order + 1)


@closed_form()
def radial(w: np.ndarray, *, profile: Callable[[np.ndarray], Any]) -> np.ndarray:
    """Return a transform that is known as a function of the length of a frequency."""
    return np.asarray(profile(np.sqrt((w**2).sum(axis=1))), dtype=np.float64)
