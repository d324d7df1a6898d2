r"""Pre-images: points whose images are near a given point of feature space.

A point of feature space is given by its coefficients, :math:`P = \sum_i g_i \phi(x_i)`. Its
approximate pre-image minimises :math:`|\phi(z) - P|^2 = k(z, z) - 2 \sum_i g_i k(x_i, z) + |P|^2`.

- "fixed_point", for Gaussian kernels: a stationary z is the mean of the x_i with the weights
  :math:`g_i k(x_i, z)`, which is iterated (S. Mika, B. Schoelkopf, A. Smola, K.-R. Mueller,
  M. Scholz, G. Raetsch, "Kernel PCA and de-noising in feature spaces", NIPS 1999).
- "gradient", for every kernel on rows of numbers: a quasi-Newton descent (L-BFGS).

Both are local: they start at the training object whose image is nearest, and never return a point
that is farther from P.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from mercer.gram import Prepared
from mercer.kernels import RBF, Kernel
from mercer.objects.arrays import Array

_STEPS = 500
_AGREE = 1e-10  # change of a point, relative to its size, at which the fixed point is reached
_DIFFERENCE = np.finfo(float).eps ** (1.0 / 3.0)  # step of central differences


def preimages(kernel: Kernel, X: Array, coefficients: Array, method: str) -> Array:
    """Return approximate pre-images of points of feature space, a row of coefficients each."""
    if method == "fixed_point" and not isinstance(kernel, RBF):
        raise ValueError(
            f"preimage='fixed_point' is defined for the Gaussian kernel RBF; got {kernel!r}. Use "
            "preimage='gradient' or preimage='learned'."
        )
    objective = _Distance(kernel, X)
    starts = objective.nearest(coefficients)
    search = objective.fixed_point if method == "fixed_point" else objective.descend
    return np.array([search(X[i], g) for i, g in zip(starts, coefficients, strict=True)])


class _Distance:
    """The squared distance in feature space to a point, up to its constant."""

    def __init__(self, kernel: Kernel, X: Array) -> None:
        self.kernel, self.X = kernel, np.asarray(X, dtype=np.float64)
        self.prepared = Prepared(kernel, self.X)

    def __call__(self, Z: Array, g: Array) -> Array:
        return self.kernel.diag(Z) - 2.0 * self.prepared.matmul(Z, g)

    def nearest(self, coefficients: Array) -> NDArray[np.intp]:
        """Return which training objects have the images nearest to the points."""
        values = self.prepared.matmul(self.X, np.ascontiguousarray(coefficients.T))
        return np.argmin(self.kernel.diag(self.X)[:, None] - 2.0 * values, axis=0)

    def fixed_point(self, z: Array, g: Array) -> Array:
        start = z
        size = float(np.abs(self.X).max()) or 1.0
        for _ in range(_STEPS):
            weights = g * self.prepared.tile(z[None])[0]
            total = float(weights.sum())
            if total <= 1e-12 * float(np.abs(weights).sum()):
                return self.descend(z, g)  # the mean does not exist: no fixed point nearby
            moved = (weights @ self.X) / total
            if float(np.abs(moved - z).max()) <= _AGREE * size:
                z = moved
                break
            z = moved
        before, after = self(np.array([start, z]), g)
        return z if after <= before else self.descend(start, g)

    def descend(self, z: Array, g: Array) -> Array:
        step = _DIFFERENCE * np.maximum(np.abs(self.X).max(axis=0), 1e-3)
        offsets = np.diag(step)

        def value_and_slope(point: Array) -> tuple[float, Array]:
            values = self(np.vstack([point, point + offsets, point - offsets]), g)
            d = len(point)
            return float(values[0]), (values[1 : d + 1] - values[d + 1 :]) / (2.0 * step)

        found = scipy.optimize.minimize(
            value_and_slope, z, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}
        )
        before, after = self(np.array([z, found.x]), g)
        return np.asarray(found.x) if after <= before else z


def refuse_without_rows(kernel: Kernel, X: Any) -> None:
    """Raise ValueError unless the objects are dense rows of numbers."""
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"):
        raise ValueError(
            "pre-images are points of input space, which must be dense rows of numbers, neither "
            f"sparse ones nor objects; {kernel!r} was fitted on {type(X).__name__}. Set "
            "fit_inverse_transform=False."
        )
