"""Kernels that are a product of a function of single coordinates."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from mercer.gram.coordinates import Coordinates
from mercer.gram.program import Builder
from mercer.objects.rows import dense_column

from .vector import VectorKernel


class CoordinateKernel(VectorKernel):
    """Base class of the kernels k(x, z) = prod_i f(x_i, z_i).

    A subclass supplies `coordinate_function`, the native form of f, and `_slopes`, the
    derivatives of f with respect to the parameters.
    """

    @abstractmethod
    def coordinate_function(self) -> Coordinates:
        """Return the function f of one coordinate."""

    def compile(self, builder: Builder) -> None:
        builder.coordinates(self.coordinate_function())

    def _slopes(self, x: np.ndarray, z: np.ndarray) -> dict[str, np.ndarray]:
        """Return the derivatives of f(x, z) with respect to the parameters."""
        return {}

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        """Return the derivatives of the product, column by column."""
        f = self.coordinate_function()
        value = np.ones((X.shape[0], Z.shape[0]))
        slopes = {name: np.zeros_like(value) for name in self._slopes(np.zeros(1), np.zeros(1))}
        for j in range(X.shape[1]):
            x, z = dense_column(X, j)[:, None], dense_column(Z, j)[None]
            factor, own = f.values(x, z), self._slopes(x, z)
            for name, slope in slopes.items():
                slopes[name] = slope * factor + value * own[name]
            value = value * factor
        return slopes
