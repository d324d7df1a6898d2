"""Kernels of scikit-learn's Gaussian processes as kernels of mercer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .algebra import Power, Product, Scaled, Sum
from .base import Kernel
from .constant import Constant
from .vectors import RBF, ExpSineSquared, Linear, Matern, RationalQuadratic
from .white import White


@dataclass
class Converted:
    """A kernel of mercer that is the same function as one of scikit-learn.

    `kernel`: the kernel. `names`: for the name of each hyper-parameter there the name here, and the
    power: the value here is proportional to that power of the value there.
    """

    kernel: Kernel
    names: dict[str, tuple[str, float]] = field(default_factory=dict)

    def inside(self, theirs: str, ours: str) -> dict[str, tuple[str, float]]:
        """Return the names, as a kernel that has this one as a part says them."""
        return {
            f"{theirs}__{key}": (f"{ours}__{name}", power)
            for key, (name, power) in self.names.items()
        }


def from_sklearn(kernel: Any, n_features: int | None = None) -> Kernel:
    """Return a kernel of scikit-learn's Gaussian processes as a kernel of mercer.

    The two have the same values; bounds are not taken over.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        Sums, products and natural powers of ConstantKernel, WhiteKernel, RBF, Matern,
        RationalQuadratic and DotProduct, with one length scale or one for each column, and of
        ExpSineSquared on one column.
    n_features : int, optional
        The number of columns that the kernel is for: ExpSineSquared, a function of the distance in
        scikit-learn and of single columns here, is the same function on one column only.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    >>> from mercer.kernels import from_sklearn
    >>> from_sklearn(2.0 * RBF(length_scale=0.5) + WhiteKernel(0.1))
    2.0 * RBF(gamma=2.0) + White(level=0.1)
    """
    found = converted(kernel, n_features)
    if found is None:
        raise ValueError(
            f"{kernel!r} has no counterpart in mercer; sums, products and natural powers of "
            "ConstantKernel, WhiteKernel, RBF, Matern, RationalQuadratic and DotProduct have one, "
            "and ExpSineSquared with n_features=1."
        )
    return found.kernel


def converted(kernel: Any, n_features: int | None = None) -> Converted | None:
    """Return the counterpart of a kernel of scikit-learn with its parameters; None without one."""
    name = _name(kernel)
    if name in _COMPOSED:
        return _COMPOSED[name](kernel, n_features)
    if name not in _COUNTERPARTS or (name == "ExpSineSquared" and n_features != 1):
        return None
    return _COUNTERPARTS[name](kernel)


def _name(kernel: Any) -> str:
    """Return the name of the class if it is scikit-learn's own; subclasses may differ."""
    cls = type(kernel)
    return cls.__name__ if cls.__module__ == "sklearn.gaussian_process.kernels" else ""


def _numbers(value: Any) -> Any:
    """Return a length scale as a number, or as a list where there is one for each column."""
    array = np.asarray(value, dtype=np.float64)
    return float(array.reshape(-1)[0]) if array.size == 1 else array.tolist()


def _rbf(k: Any) -> Converted:
    gamma = _numbers(0.5 / np.square(np.asarray(k.length_scale, dtype=np.float64)))
    return Converted(RBF(gamma), {"length_scale": ("gamma", -2.0)})


def _matern(k: Any) -> Converted | None:
    try:
        kernel = Matern(float(k.nu), _numbers(k.length_scale))
    except ValueError:  # a smoothness beyond what is tabulated here
        return None
    return Converted(kernel, {"length_scale": ("length_scale", 1.0)})


def _rational_quadratic(k: Any) -> Converted:
    kernel = RationalQuadratic(float(k.alpha), _numbers(k.length_scale))
    return Converted(kernel, {"alpha": ("alpha", 1.0), "length_scale": ("length_scale", 1.0)})


def _exp_sine_squared(k: Any) -> Converted:
    kernel = ExpSineSquared(float(k.length_scale), float(k.periodicity))
    return Converted(
        kernel, {"length_scale": ("length_scale", 1.0), "periodicity": ("period", 1.0)}
    )


def _dot_product(k: Any) -> Converted:
    kernel = Sum(Linear(), Constant(float(k.sigma_0) ** 2))
    return Converted(kernel, {"sigma_0": ("right__value", 2.0)})


def _constant(k: Any) -> Converted:
    return Converted(Constant(float(k.constant_value)), {"constant_value": ("value", 1.0)})


def _white(k: Any) -> Converted:
    return Converted(White(float(k.noise_level)), {"noise_level": ("level", 1.0)})


def _of_both(k: Any, n: int | None, made: type[Sum | Product]) -> Converted | None:
    left, right = converted(k.k1, n), converted(k.k2, n)
    if left is None or right is None:
        return None
    names = left.inside("k1", "left") | right.inside("k2", "right")
    return Converted(made(left.kernel, right.kernel), names)


def _sum(k: Any, n: int | None) -> Converted | None:
    return _of_both(k, n, Sum)


def _product(k: Any, n: int | None) -> Converted | None:
    for constant, other, ours in (("k1", "k2", k.k2), ("k2", "k1", k.k1)):
        factor = getattr(k, constant)
        if _name(factor) == "ConstantKernel" and (inner := converted(ours, n)) is not None:
            names = {f"{constant}__constant_value": ("scale", 1.0)}
            scaled = Scaled(inner.kernel, float(factor.constant_value))
            return Converted(scaled, names | inner.inside(other, "kernel"))
    return _of_both(k, n, Product)


def _power(k: Any, n: int | None) -> Converted | None:
    inner = converted(k.kernel, n)
    if inner is None or k.exponent != int(k.exponent) or k.exponent < 1:
        return None
    return Converted(Power(inner.kernel, int(k.exponent)), inner.inside("kernel", "kernel"))


_COUNTERPARTS: dict[str, Any] = {
    "RBF": _rbf,
    "Matern": _matern,
    "RationalQuadratic": _rational_quadratic,
    "ExpSineSquared": _exp_sine_squared,
    "DotProduct": _dot_product,
    "ConstantKernel": _constant,
    "WhiteKernel": _white,
}
_COMPOSED: dict[str, Any] = {"Sum": _sum, "Product": _product, "Exponentiation": _power}
