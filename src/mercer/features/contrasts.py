r"""Contrasts: how interesting a set of projections is.

All but the variance are measured on standardised projections z, so they do not depend on scale:

- variance: the mean square of the projections;
- kurtosis: :math:`|E z^4 - 3|`;
- negentropy: :math:`k_1 (E z e^{-z^2/2})^2 + k_2 (E e^{-z^2/2} - 2^{-1/2})^2` with
  :math:`k_1 = 36 / (8 \sqrt 3 - 9)`, :math:`k_2 = 24 / (16 \sqrt 3 - 27)` (A. Hyvarinen, "New
  approximations of differential entropy", NIPS 1997);
- Friedman-Tukey: :math:`\int p^2` minus its smallest value 3 / (5 sqrt 5) at unit variance
  (J. Friedman, J. Tukey, 1974; P. Huber, "Projection pursuit", Annals of Statistics 13, 1985);
- Fisher: the Fisher information of location, :math:`\int p'^2 / p`, times the variance, minus 1,
  which is 0 for the Gaussian and positive otherwise.

The last two use a kernel density estimate of Silverman's width on a grid; its variance is
:math:`1 + h^2`, for which the values are corrected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.objects.arrays import Array

Contrast = Callable[[Array, Array | None], Array]  # of projections in rows, and weights of columns

_K1 = 36.0 / (8.0 * math.sqrt(3.0) - 9.0)
_K2 = 24.0 / (16.0 * math.sqrt(3.0) - 27.0)
_GRID = np.linspace(-6.0, 6.0, 193)


def mean(P: Array, weight: Array | None) -> Array:
    """Return the weighted means of rows."""
    return np.asarray(P.mean(axis=1) if weight is None else P @ weight / weight.sum())


def standardised(P: Array, weight: Array | None = None) -> Array:
    """Return rows with mean 0 and variance 1; constant rows as zeros."""
    Z = P - mean(P, weight)[:, None]
    size = np.sqrt(mean(Z * Z, weight))[:, None]
    floor = 1e-12 * np.abs(P).max(axis=1, keepdims=True)
    return np.divide(Z, size, out=np.zeros_like(Z), where=size > floor)


def variance(P: Array, weight: Array | None = None) -> Array:
    """Return the mean squares of rows."""
    return mean(P * P, weight)


def kurtosis(P: Array, weight: Array | None = None) -> Array:
    """Return the absolute excess kurtosis of rows."""
    Z = standardised(P, weight)
    return np.where(Z.any(axis=1), np.abs(mean(Z**4, weight) - 3.0), 0.0)


def negentropy(P: Array, weight: Array | None = None) -> Array:
    """Return an approximation of the negative entropy of rows, relative to the Gaussian."""
    Z = standardised(P, weight)
    bell = np.exp(-0.5 * Z * Z)
    odd, even = mean(Z * bell, weight), mean(bell, weight)
    value = _K1 * odd**2 + _K2 * (even - math.sqrt(0.5)) ** 2
    return np.where(Z.any(axis=1), value, 0.0)


def friedman_tukey(P: Array, weight: Array | None = None) -> Array:
    """Return the integral of the squared density of rows, minus its minimum."""
    Z = standardised(P, weight)
    p, _, h = _densities(Z, weight)
    value = (p * p).sum(axis=1) * _step() * math.sqrt(1.0 + h * h) - 3.0 / (5.0 * math.sqrt(5.0))
    return np.where(Z.any(axis=1), value, 0.0)


def fisher(P: Array, weight: Array | None = None) -> Array:
    """Return the Fisher information of location of rows, times the variance, minus 1."""
    Z = standardised(P, weight)
    p, slope, h = _densities(Z, weight)
    ratio = np.divide(slope * slope, p, out=np.zeros_like(p), where=p > 1e-12)
    return np.where(Z.any(axis=1), ratio.sum(axis=1) * _step() * (1.0 + h * h) - 1.0, 0.0)


CONTRASTS: dict[str, Contrast] = {
    "variance": variance,
    "kurtosis": kurtosis,
    "negentropy": negentropy,
    "friedman_tukey": friedman_tukey,
    "fisher": fisher,
}


def of_rows(function: Callable[..., Any]) -> Contrast:
    """Return a user's function of one set of projections, and of weights, as a function of rows."""

    def contrast(P: Array, weight: Array | None = None) -> Array:
        weights = () if weight is None else (weight,)
        values = np.array([float(function(row, *weights)) for row in P])
        if not np.isfinite(values).all():
            raise ValueError("the contrast must return a finite number for every projection.")
        return values

    return contrast


def _step() -> float:
    return float(_GRID[1] - _GRID[0])


def _densities(Z: Array, weight: Array | None) -> tuple[Array, Array, float]:
    """Return densities of standardised rows and their slopes on the grid, and the width."""
    m, total = len(Z), float(Z.shape[1] if weight is None else weight.sum())
    h = 1.06 * total ** (-0.2)
    # Linear binning: a value is shared by its two neighbours on the grid.
    position = np.clip((Z - _GRID[0]) / _step(), 0.0, len(_GRID) - 1.001)
    left = position.astype(np.intp)
    share = position - left
    flat = left + len(_GRID) * np.arange(m)[:, None]
    mass = np.ones(Z.shape[1]) if weight is None else weight
    counts = np.bincount(flat.ravel(), ((1.0 - share) * mass).ravel(), m * len(_GRID))
    counts += np.bincount(flat.ravel() + 1, (share * mass).ravel(), m * len(_GRID))
    difference = (_GRID[:, None] - _GRID) / h
    bell = np.exp(-0.5 * difference**2) / (h * math.sqrt(2.0 * math.pi))
    masses = counts.reshape(m, -1) / total
    return masses @ bell, masses @ (difference / h * bell), h
