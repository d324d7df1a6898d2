"""Feature coordinates with weights: the space of a kernel in terms of its eigenfunctions.

A kernel k(x, z) = sum_j mu_j phi_j(x) phi_j(z) with mu_j > 0 has the coordinates
psi_j(x) = mu_j phi_j(x) and the inner product <psi, psi'>_mu = sum_j psi_j psi'_j / mu_j. Then
|psi(x)|_mu^2 = k(x, x), and psi -> sum_j psi_j phi_j is an isometry onto the functions of the
space that takes psi(z) to k(z, .).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.kernels import FromFeatureMap, Kernel
from mercer.objects.arrays import Array
from mercer.objects.parameters import show

from .functions import RKHSFunction


@dataclass(frozen=True, repr=False)
class _Scaled:
    """The features sqrt(mu_j) phi_j(x), whose dot product is the kernel."""

    functions: Callable[[Any], Any]
    roots: tuple[float, ...]

    def __call__(self, X: Any) -> Array:
        return _values(self.functions, X, len(self.roots)) * np.array(self.roots)

    def __repr__(self) -> str:
        return show(self.functions)


class WeightedCoordinates:
    """Coordinates of objects and functions with respect to weighted functions phi_j.

    Parameters
    ----------
    functions : callable
        ``functions(X)`` returns the array of phi_j(x), of shape (n_X, n_functions).
    weights : array-like of shape (n_functions,)
        The positive numbers mu_j, eigenvalues when the functions are orthonormal.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.geometry import WeightedCoordinates
    >>> space = WeightedCoordinates(lambda X: np.hstack([np.cos(X), np.sin(X)]), [2.0, 2.0])
    >>> psi = space.coordinates(np.array([[0.3], [0.8]]))
    >>> bool(np.isclose(space.inner(psi[0], psi[1]), 2 * np.cos(0.5)))
    True
    """

    def __init__(self, functions: Callable[[Any], Any], weights: ArrayLike) -> None:
        if not callable(functions):
            raise TypeError(f"functions must be callable; got {functions!r}.")
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.ndim != 1 or not self.weights.size:
            raise ValueError(f"weights must be a list of numbers; got shape {self.weights.shape}.")
        if not (np.isfinite(self.weights).all() and self.weights.min() > 0.0):
            raise ValueError("weights must be positive and finite: functions of weight 0 are none.")
        self.functions = functions

    @property
    def kernel(self) -> Kernel:
        """The kernel sum_j mu_j phi_j(x) phi_j(z)."""
        return FromFeatureMap(_Scaled(self.functions, tuple(np.sqrt(self.weights))))

    def coordinates(self, X: Any) -> Array:
        """Return the coordinates mu_j phi_j(x) of objects, (n_X, n_functions), or of a function.

        Those of an RKHSFunction sum_i a_i k(x_i, .) are sum_i a_i psi(x_i), of shape
        (n_functions,).
        """
        if isinstance(X, RKHSFunction):
            return X.coef @ self.coordinates(X.centres)
        return _values(self.functions, X, len(self.weights)) * self.weights

    def inner(self, psi: ArrayLike, other: ArrayLike) -> Array | float:
        """Return the inner products sum_j psi_j psi'_j / mu_j along the last axis."""
        return np.sum(np.asarray(psi) * np.asarray(other) / self.weights, axis=-1)

    def evaluate(self, psi: ArrayLike, X: Any) -> Array:
        """Return sum_j psi_j phi_j(x), the values of the function with coordinates psi at objects.

        They are the inner products <psi, psi(x)>_mu.
        """
        return _values(self.functions, X, len(self.weights)) @ np.asarray(psi, dtype=np.float64)


def _values(functions: Callable[[Any], Any], X: Any, n: int) -> Array:
    values = np.asarray(functions(X), dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != n:
        raise ValueError(
            f"functions must return one column for each of the {n} weights; got shape "
            f"{values.shape}."
        )
    return values
