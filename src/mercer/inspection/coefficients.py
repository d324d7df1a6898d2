"""Closed forms: the Fourier coefficients of periodic kernels.

A periodic kernel is a series k(u) = a_0 + a_1 cos(u) + a_2 cos(2u) + ... of u = 2 pi (x - z) / T,
positive semidefinite exactly if no coefficient is negative. Where a_n is zero, frequency n is
missing from the functions of the space; where it is small, it is damped.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt

import numpy as np


def dirichlet(n_terms: int, *, order: int) -> np.ndarray:
    """Return the coefficients of sin((n + 1/2) u) / sin(u/2): 1, 2, ..., 2, 0, ...

    The thesis prints the kernel (3.31) as 2 sum_{j=0}^n cos(ju), which counts the constant twice.

    Parameters
    ----------
    n_terms : int >= 1
        How many coefficients to return.
    order : int >= 0
        The order n.

    Returns
    -------
    ndarray of shape (n_terms,)
        a_0, a_1, ...
    """
    a = np.zeros(n_terms)
    a[: order + 1] = 2.0
    a[0] = 1.0
    return a


def periodic_gaussian(
    n_terms: int, *, sigma: float, constant: bool = False, unit_range: bool = False
) -> np.ndarray:
    r"""Return the coefficients exp(-n^2 sigma^2 / 2) of the periodic Gaussian kernel.

    Scaled to the range from 0 to 1, the kernel is multiplied by

    .. math:: 1 / \left(2 \sum_{n \ge 1} e^{-(2n-1)^2\sigma^2/2}\right)

    after adding :math:`\sum_{n \ge 1} (-1)^{n-1} e^{-n^2\sigma^2/2}`. The thesis prints the factor
    without the reciprocal, and with 1/2 in place of 2.

    Parameters
    ----------
    n_terms : int >= 1
        How many coefficients to return.
    sigma : float > 0
        Width, for the period 2 pi.
    constant : bool, default=False
        Whether the kernel contains the constant 1, which (3.33) of the thesis leaves out.
    unit_range : bool, default=False
        Whether it is scaled to the range from 0 to 1, whatever the constant.

    Returns
    -------
    ndarray of shape (n_terms,)
        a_0, a_1, ...
    """
    a = np.exp(-(np.arange(n_terms) ** 2) * sigma**2 / 2)
    a[0] = float(constant)
    if unit_range:
        n = np.arange(1, 3 + int(9 / sigma))  # beyond, exp(-n^2 sigma^2 / 2) is below 1e-17
        terms = np.exp(-(n**2) * sigma**2 / 2)
        a[0] = (terms * (-1.0) ** (n - 1)).sum()
        a /= 2 * terms[::2].sum()
    return a


def wrapped(
    n_terms: int, *, transform: Callable[[np.ndarray], np.ndarray], period: float
) -> np.ndarray:
    r"""Return the coefficients of the periodised kernel sum_n k(u + n T).

    By Poisson's formula they are values of the transform on the line,

    .. math:: a_0 = \frac{\sqrt{2\pi}}{T} F[k](0), \quad
              a_n = \frac{2\sqrt{2\pi}}{T} F[k]\!\left(\frac{2\pi n}{T}\right) .

    Parameters
    ----------
    n_terms : int >= 1
        How many coefficients to return.
    transform : callable
        ``transform(omega)`` returns F[k] on the real line.
    period : float > 0
        The period T.

    Returns
    -------
    ndarray of shape (n_terms,)
        a_0, a_1, ..., for the frequencies 2 pi n / T.
    """
    a = 2 * sqrt(2 * pi) / period * np.asarray(transform(2 * pi / period * np.arange(n_terms)))
    a[0] /= 2
    return a
