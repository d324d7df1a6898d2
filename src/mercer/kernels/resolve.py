"""Resolution of an estimator's ``kernel`` parameter to a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.objects.parameters import integer, real, show

from .base import Kernel
from .function import FromFunction
from .precomputed import Precomputed
from .vectors import RBF, Laplacian, Linear, Polynomial, Sigmoid
from .vectors.gamma import check_gamma

GAMMA = "scale"
DEGREE = 3
COEF0 = 0.0

_NAMED: dict[str, Callable[[float | str, int, float], Kernel]] = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "poly": lambda gamma, degree, coef0: Polynomial(degree, gamma, coef0),
    "polynomial": lambda gamma, degree, coef0: Polynomial(degree, gamma, coef0),
    "rbf": lambda gamma, degree, coef0: RBF(gamma),
    "gaussian": lambda gamma, degree, coef0: RBF(gamma),
    "laplacian": lambda gamma, degree, coef0: Laplacian(gamma),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma, coef0),
    "precomputed": lambda gamma, degree, coef0: Precomputed(),
}

NAMES = tuple(_NAMED)


KernelLike = str | Kernel | Callable[..., Any]
"""What estimators take as their kernel: a name, a kernel, or a function of two sets of objects."""


def resolve(
    kernel: KernelLike,
    gamma: float | str = GAMMA,
    degree: int = DEGREE,
    coef0: float = COEF0,
) -> Kernel:
    """Return the kernel that an estimator's parameters describe.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name ("linear", "poly", "rbf" or "gaussian", "laplacian", "sigmoid", "precomputed"),
        which takes its parameters from the others; a kernel, which has its own; or a function of
        two collections that returns the matrix of values.
    gamma : {"scale", "auto"} or float >= 0, default="scale"
        Width of a named kernel.
    degree : int >= 0, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".

    Returns
    -------
    Kernel
        The kernel, not bound to data. A kernel that was given is returned itself.

    Examples
    --------
    >>> from mercer.kernels import resolve
    >>> resolve("poly", gamma=0.5, degree=2)
    Polynomial(degree=2, gamma=0.5)
    """
    if isinstance(kernel, Kernel):
        given = {"gamma": (gamma, GAMMA), "degree": (degree, DEGREE), "coef0": (coef0, COEF0)}
        ignored = [name for name, (value, default) in given.items() if value != default]
        if ignored:
            raise ValueError(
                f"{', '.join(ignored)} would have no effect, because kernel={kernel!r} has "
                "parameters of its own; set them there."
            )
        return kernel
    check_gamma(gamma)
    integer(degree, "degree", minimum=0)
    real(coef0, "coef0")
    if isinstance(kernel, str):
        if kernel not in _NAMED:
            raise ValueError(
                f"unknown kernel {show(kernel)}; the names are {', '.join(map(repr, NAMES))}, and "
                "any Kernel or function of two collections will do."
            )
        return _NAMED[kernel](gamma, degree, coef0)
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"kernel is the class {kernel.__name__}; pass {kernel.__name__}().")
    if not callable(kernel):
        raise TypeError(
            "kernel must be a name, a Kernel or a callable; got "
            f"{type(kernel).__name__ if hasattr(kernel, 'shape') else show(kernel)}. The names are "
            f"{', '.join(map(repr, NAMES))}."
        )
    return FromFunction(kernel)
