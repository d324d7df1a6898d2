"""Conditionally positive definite kernels of a power of the distance."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import parameter, positive, show

from ..definiteness import CPD
from ..regularisation import (
    CONDITIONAL,
    LOG_DISTANCE,
    NEGATIVE_DISTANCE,
    SQUARED_DISTANCE,
    Regularisation,
)
from .pair_statistics import squared_distances
from .vector import RadialKernel


def check_power(power: float, name: str) -> None:
    """Reject a power of the distance that is not in (0, 2]."""
    if positive(power, name) > 2:
        raise ValueError(
            f"{name} must lie in (0, 2]; got {show(power)}. The negative of a higher power of the "
            "distance is not conditionally positive definite of order 1."
        )


class NegativeDistance(RadialKernel):
    r"""The negative of a power of the distance.

    .. math:: k(x, z) = -\|x - z\|^p, \quad 0 < p \le 2

    Conditionally positive definite, and free of any scale: multiplying the data by a factor
    multiplies the kernel. With p = 2 a machine with a bias is the linear one.

    Parameters
    ----------
    power : float in (0, 2], default=1.0
        The power p.

    Notes
    -----
    Use it where no width can be chosen: there is none. If you rescale the data, only C
    needs adjusting. In one dimension p = 1 gives piecewise linear functions with bends at the data;
    a smaller p gives rougher ones. It needs a machine with a bias, or
    ``Projected(NegativeDistance())``. Avoid it for smooth targets: with p = 1 a function has a kink
    at every support vector.

    Examples
    --------
    >>> from mercer.kernels import NegativeDistance
    >>> NegativeDistance()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[-5.]])
    """

    power: float = parameter(check_power, default=1.0)

    grows_with = ("power",)
    definiteness = CPD  # -t^(p/2) is completely monotonic of order 1

    @property
    def regularisation(self) -> Regularisation:
        """The regularisation operator; see :func:`mercer.inspection.regularisation`."""
        return NEGATIVE_DISTANCE if self.power < 2 else SQUARED_DISTANCE

    def compile(self, builder: Builder) -> None:
        push_power(builder, float(self.power))
        builder.affine(-1.0, 0.0)

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        _, slope = power_and_slope(X, Z, float(self.power))
        return {"power": -slope}


class LogDistance(RadialKernel):
    r"""The negative logarithm of a shifted power of the distance.

    .. math:: k(x, z) = -\ln(\|x - z\|^p + c), \quad 0 < p \le 2, \; c > 0

    Conditionally positive definite; it grows slower than every power of the distance, so far
    objects hardly matter.

    Parameters
    ----------
    power : float in (0, 2], default=2.0
        The power p.
    c : float > 0, default=1.0
        The shift.

    Notes
    -----
    Use it where distances range over orders of magnitude, so that no single width fits; it has been
    proposed for images (S. Boughorbel, J.-P. Tarel and N. Boujemaa, 2005). Take c near the power p
    of a small distance, below which objects count as the same. It needs a machine with a bias, or
    ``Projected(LogDistance())``. Avoid it where distances are similar: then it is NegativeDistance
    on another scale.

    Examples
    --------
    >>> from mercer.kernels import LogDistance
    >>> LogDistance()([[0.0]], [[2.0]]).round(6)
    array([[-1.609438]])
    """

    power: float = parameter(check_power, default=2.0)
    c: float = parameter(positive, default=1.0)

    definiteness = CPD  # the logarithm of a Bernstein function is one

    @property
    def regularisation(self) -> Regularisation:
        """The regularisation operator; see :func:`mercer.inspection.regularisation`."""
        return LOG_DISTANCE if self.power == 2 else CONDITIONAL

    def compile(self, builder: Builder) -> None:
        # -log(c) - log(1 + r^p / c), which keeps the digits of small distances
        push_power(builder, float(self.power))
        builder.affine(1.0 / float(self.c), 0.0)
        builder.log1p()
        builder.affine(-1.0, -log(float(self.c)))

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        values, slope = power_and_slope(X, Z, float(self.power))
        inverse = -1.0 / (values + float(self.c))
        return {"power": slope * inverse, "c": inverse}


def push_power(builder: Builder, power: float) -> None:
    """Push a power of the distance."""
    builder.leaf("sqdist")
    if power == 1.0:
        builder.sqrt()
    elif power != 2.0:
        builder.power(0.5 * power)


def power_and_slope(X: Any, Z: Any, power: float) -> tuple[np.ndarray, np.ndarray]:
    """Return r^p and its derivative r^p ln(r) with respect to p, 0 where r = 0."""
    squares = squared_distances(X, Z)
    values = squares ** (0.5 * power)
    logarithms = np.log(squares, out=np.zeros_like(squares), where=squares > 0)
    return values, 0.5 * values * logarithms
