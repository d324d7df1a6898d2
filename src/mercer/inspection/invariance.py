"""Invariance of kernels on vectors under translation and rotation, tested on random points.

A kernel is a black box here: it is compared with itself on displaced, rotated and split points. A
failure disproves a symmetry; agreement on the points tried is taken for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.kernels import Kernel

_POINTS = 24  # random pairs on which an invariance is tested
_AGREE = 1e-9  # relative to the largest value


class Symmetries(NamedTuple):
    """Whether a kernel depends on the difference alone, and how."""

    translation: bool  # k(x, z) is a function of x - z
    radial: bool  # it is a function of the distance
    separable: bool  # it is a product of functions of the coordinates of x - z


def symmetries(kernel: Kernel, dimension: int) -> Symmetries:
    """Return the symmetries that a kernel shows on random points."""
    rng = np.random.default_rng(0)
    # Several scales, since the width of the kernel is unknown.
    scales = 10.0 ** rng.uniform(-2, 2, size=(_POINTS, 1))
    u = rng.standard_normal((_POINTS, dimension)) * scales
    t = rng.standard_normal((_POINTS, dimension)) * scales
    origin = np.zeros((1, dimension))
    direct = kernel(u, origin)[:, 0]
    zero = float(kernel(origin, origin)[0, 0])
    moved = np.array([kernel(a[None], b[None])[0, 0] for a, b in zip(u + t, t, strict=True)])
    largest = max(abs(zero), float(np.abs(direct).max()), float(np.abs(moved).max()))

    def agree(values: np.ndarray) -> bool:
        return bool(np.abs(values - direct).max() <= _AGREE * largest)

    if not agree(moved) or not agree(kernel(-u, origin)[:, 0]):
        return Symmetries(False, False, False)
    lengths = np.zeros_like(u)
    lengths[:, 0] = np.linalg.norm(u, axis=1)
    radial = agree(kernel(lengths, origin)[:, 0])
    if dimension == 1:
        return Symmetries(True, radial, True)
    product = np.full(_POINTS, zero)
    if zero != 0:
        for a in range(dimension):
            single = np.zeros_like(u)
            single[:, a] = u[:, a]
            product *= kernel(single, origin)[:, 0] / zero
    return Symmetries(True, radial, agree(product))
