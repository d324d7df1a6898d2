"""A kernel as a constant plus multiples of kernels, through whatever algebra it was written in."""

from __future__ import annotations

from typing import NamedTuple

from mercer.kernels import Constant, Kernel, Product, Scaled, Sum


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
