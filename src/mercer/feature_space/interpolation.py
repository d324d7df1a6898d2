"""The smoothest function through given values: interpolation of least norm.

Among all functions of the space with f(x_i) = y_i the one of least norm is f = sum_i a_i k(x_i, .)
with Ka = y. If the values are those of a function t of the space, it is the projection of t on
the span of the k(x_i, .), so |f - t|^2 = |t|^2 - y'a (N. Cristianini and J. Shawe-Taylor, *An
Introduction to Support Vector Machines* (2000), example 3.11).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from mercer.kernels.base import Kernel
from mercer.kernels.objects import count

from .cholesky import pivoted_cholesky
from .functions import RKHSFunction


def interpolate(kernel: Kernel, X: Any, y: ArrayLike, tol: float = 1e-6) -> RKHSFunction:
    """Return the function of least norm that takes given values at given objects.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel, bound to `X` if it has to be.
    X : objects
        The objects x_i. Dependent ones are allowed where their values agree with the others.
    y : array-like of shape (n_X,)
        The values y_i.
    tol : float > 0, default=1e-6
        How far from its value the function may be, relative to the largest |y_i|. No function
        of the space may come that near (equal objects with different values, more values than
        features); that is an error.

    Returns
    -------
    RKHSFunction
        The function, an expansion over the independent ones among the objects.

    Examples
    --------
    >>> from mercer.feature_space import interpolate
    >>> from mercer.kernels import RBF
    >>> f = interpolate(RBF(gamma=1.0), [[0.0], [1.0], [2.0]], [1.0, 0.0, 1.0])
    >>> f([[0.0], [1.0], [2.0]]).round(9) + 0.0
    array([1., 0., 1.])
    """
    kernel, X = kernel._bound_to(X)
    y = np.asarray(y, dtype=np.float64)
    if y.shape != (count(X),):
        raise ValueError(
            f"y must have one value for each of the {count(X)} objects; got shape {y.shape}."
        )
    if not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity; values must be finite numbers.")
    found = pivoted_cholesky(kernel, X, tol=0.0)
    values = y[found.pivots]
    inner = scipy.linalg.solve_triangular(found.triangle, values, lower=True)
    coef = scipy.linalg.solve_triangular(found.triangle, inner, lower=True, trans="T")
    f = RKHSFunction(kernel, found.landmarks, coef)
    reached = f(X)
    missed = np.abs(reached - y)
    worst = int(missed.argmax())
    if missed[worst] > tol * np.abs(y).max():
        raise ValueError(
            f"no function of the space of {kernel!r} was found that takes these values: at object "
            f"{worst} the value is {y[worst]:.6g}, but the function has {reached[worst]:.6g}. "
            "Either the values contradict each other, or the kernel is so wide that rounding "
            "decides; remove contradictions, narrow the kernel or fit with regularisation."
        )
    return f
