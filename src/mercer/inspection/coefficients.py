"""Closed forms: the Fourier coefficients of periodic kernels.

A periodic kernel is a series k(u) = a_0 + a_1 cos(u) + a_2 cos(2u) + ... of u = 2 pi (x - z) / T,
positive semidefinite exactly if no coefficient is negative. Where a_n is zero, frequency n is
missing from the functions of the space; where it is small, it is damped.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np


def dirichlet_coefficients(order: int, n_terms: int) -> np.ndarray:
    """Return the Fourier coefficients of sin((n + 1/2) u) / sin(u/2): 1, 2, ..., 2, 0, ...

    The thesis prints the kernel (3.31) as 2 sum_{j=0}^n cos(ju), which counts the constant twice.

    Parameters
    ----------
    order : int >= 0
        The order n.
    n_terms : int >= 1
        How many coefficients to return.

    Returns
    -------
    ndarray of shape (n_terms,)
        a_0, a_1, ...
    """
    a = np.zeros(n_terms)
    a[: order + 1] = 2.0
    a[0] = 1.0
    return a


def periodic_gaussian_coefficients(
    sigma: float, n_terms: int, *, constant: bool = False
) -> np.ndarray:
    """Return the Fourier coefficients exp(-n^2 sigma^2 / 2) of the periodic Gaussian kernel.

    Parameters
    ----------
    sigma : float > 0
        Width, for the period 2 pi.
    n_terms : int >= 1
        How many coefficients to return.
    constant : bool, default=False
        Whether the kernel contains the constant, which (3.33) of the thesis leaves out.

    Returns
    -------
    ndarray of shape (n_terms,)
        a_0, a_1, ...
    """
    n = np.arange(n_terms)
    a = np.exp(-(n**2) * sigma**2 / 2)
    a[0] = float(constant)
    return a


def unit_range_of_periodic_gaussian(sigma: float) -> tuple[float, float]:
    r"""Return the offset and the factor that map sum_{n>=1} exp(-n^2 sigma^2/2) cos(nu) to [0, 1].

    The kernel times the factor after adding the offset is 1 at u = 0 and 0 at u = pi:

    .. math:: \text{offset} = \sum_{n \ge 1} (-1)^{n-1} e^{-n^2\sigma^2/2}, \quad
              \text{factor} = 1 / \left(2 \sum_{n \ge 1} e^{-(2n-1)^2\sigma^2/2}\right) .

    The thesis prints the factor without the reciprocal and with 1/2 in place of 2.

    Parameters
    ----------
    sigma : float > 0
        Width, for the period 2 pi.

    Returns
    -------
    offset, factor : float
        Both positive, so that the rescaled kernel stays positive semidefinite.
    """
    n = np.arange(1, 2 + int(np.ceil(sqrt(2 * 40.0) / sigma)) * 2)
    terms = np.exp(-(n**2) * sigma**2 / 2)
    return float((terms * (-1.0) ** (n - 1)).sum()), float(1 / (2 * terms[::2].sum()))


def wrapped_coefficients(transform: Any, period: float, n_terms: int) -> np.ndarray:
    r"""Return the Fourier coefficients of the periodised kernel sum_n k(u + n T).

    By Poisson's formula they are values of the transform on the line,

    .. math:: a_0 = \frac{\sqrt{2\pi}}{T} F[k](0), \quad
              a_n = \frac{2\sqrt{2\pi}}{T} F[k]\!\left(\frac{2\pi n}{T}\right) .

    Parameters
    ----------
    transform : callable
        ``transform(omega)`` returns F[k] on the real line.
    period : float > 0
        The period T.
    n_terms : int >= 1
        How many coefficients to return.

    Returns
    -------
    ndarray of shape (n_terms,)
        a_0, a_1, ..., for the frequencies 2 pi n / T.
    """
    a = 2 * sqrt(2 * pi) / period * np.asarray(transform(2 * pi / period * np.arange(n_terms)))
    a[0] /= 2
    return a
