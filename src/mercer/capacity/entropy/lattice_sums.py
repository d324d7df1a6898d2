"""Sums over the lattice: what a list of eigenvalues leaves out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.integrate
from numpy.typing import NDArray

from mercer.kernels import Kernel, resolve

Array = NDArray[np.float64]

MOST_POINTS = 1_000_000  # of the lattice, where the transform is not radial


def radial_tail(profile: Any, d: int, radius: float, values: Array) -> float:
    r"""Return a bound on the sum of a nonincreasing radial function over the lattice from a radius.

    A point j of the lattice has a unit cube, whose points x satisfy |x| <= |j| + sqrt(d)/2, hence
    f(|j|) <= f(|x| - sqrt(d)/2); the sum is at most the integral of the latter. In one dimension
    the interval (j - 1, j) does, which is lemma 8.17 of the thesis.
    """
    if len(values) < 2 or values[-1] == 0.0:
        return 0.0
    surface = 2.0 * math.pi ** (d / 2) / math.gamma(d / 2)
    shift = 0.0 if d == 1 else math.sqrt(d) / 2.0
    start = radius - 1.0 if d == 1 else radius - 2.0 * shift
    if start <= 0.0:
        raise ValueError("n_shells is too small to bound the eigenvalues that are left out.")

    def integrand(t: float) -> float:  # s = start / t maps (0, 1] to [start, infinity)
        s = start / t
        return float(profile(np.array([s]))[0]) * (s + shift) ** (d - 1) * start / t**2

    value, error = scipy.integrate.quad(integrand, 0.0, 1.0, limit=200)
    return surface * max(0.0, value + error)


def trace_of(kernel: Any, period: float, d: int) -> float:
    """Return v^d k_v(0), the sum of all eigenvalues, from values of the kernel."""
    if not isinstance(kernel, Kernel | str):
        raise ValueError(
            "the eigenvalues that are left out can be bounded only for a transform that does not "
            "increase, or for a kernel; pass the kernel instead of its transform."
        )
    side = next(s for s in (24, 12, 8, 4, 3, 2, 1) if (2 * s + 1) ** d <= 3 * MOST_POINTS)
    axis = np.arange(-side, side + 1)
    grid = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)
    values = resolve(kernel)(period * grid.astype(np.float64), np.zeros((1, d)))[:, 0]
    edge = np.abs(values[np.abs(grid).max(axis=1) == side]).sum()
    if not edge <= 1e-9 * np.abs(values).sum():
        raise ValueError(
            f"{kernel!r} is not small at {side} periods, so the sum of its periodic extension "
            "cannot be bounded; use a larger period or a kernel that decays faster."
        )
    return float(period**d * values.sum())
