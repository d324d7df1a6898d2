r"""Features with weights: the same kernel in many coordinate systems.

A kernel :math:`k(x, z) = \sum_j \mu_j \phi_j(x) \phi_j(z)` is the inner product
:math:`\langle \psi, \tilde\psi \rangle = \sum_j \mu_j \psi_j \tilde\psi_j` of the features.
Rescaled features with correspondingly rescaled weights give the same kernel; they need be neither
orthogonal nor of unit length (Cristianini and Shawe-Taylor 2000, remark 3.8).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import FromFeatureMap


class WeightedFeatures:
    """Feature functions with non-negative weights.

    Parameters
    ----------
    phi : callable
        ``phi(X)`` returns an array of shape (n, n_features).
    weights : array of shape (n_features,)
        The weights mu_j >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import WeightedFeatures
    >>> waves = WeightedFeatures(lambda x: np.hstack([np.sin(x), np.cos(x)]), [0.5, 0.5])
    >>> waves.kernel()([[0.0]], [[np.pi]])
    array([[-0.5]])
    """

    def __init__(self, phi: Callable[[Any], np.ndarray], weights: Any) -> None:
        self.phi = phi
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.ndim != 1 or not np.isfinite(self.weights).all():
            raise ValueError("weights must be a vector of finite numbers.")
        if self.weights.min(initial=0.0) < 0:
            j = int(np.argmin(self.weights))
            raise ValueError(
                f"weight {j} is {self.weights[j]:.6g}; a negative weight gives no inner product."
            )

    def kernel(self) -> FromFeatureMap:
        """Return the kernel sum_j mu_j phi_j(x) phi_j(z)."""
        roots = np.sqrt(self.weights)
        return FromFeatureMap(lambda X: self._features(X) * roots)

    def inner(self, psi: Any, other: Any) -> float:
        """Return the inner product sum_j mu_j psi_j other_j of two points of feature space."""
        return float(np.sum(self.weights * np.asarray(psi) * np.asarray(other)))

    def rescale(self, b: Any) -> WeightedFeatures:
        """Return the features b_j phi_j with the weights mu_j / b_j^2: the same kernel.

        No factor b_j may be 0.
        """
        b = np.asarray(b, dtype=np.float64)
        if b.shape != self.weights.shape or not (np.isfinite(b).all() and (b != 0).all()):
            raise ValueError(
                f"b must hold {len(self.weights)} finite factors other than 0, one per feature."
            )
        return WeightedFeatures(lambda X: self._features(X) * b, self.weights / b**2)

    def primal(self, coefficients: Any, X: Any) -> np.ndarray:
        """Return the point psi = sum_i c_i phi(x_i) of an expansion in kernels.

        `coefficients`: the c_i, with the signs of the labels in classification.
        """
        return np.asarray(coefficients, dtype=np.float64) @ self._features(X)

    def evaluate(self, psi: Any, X: Any) -> np.ndarray:
        """Return sum_j mu_j psi_j phi_j(x) at objects x.

        For psi = primal(c) it is sum_i c_i k(x_i, x).
        """
        return self._features(X) @ (self.weights * np.asarray(psi))

    def function(self, psi: Any) -> Callable[[Any], np.ndarray]:
        """Return the function sum_j psi_j phi_j(x), the image of a point under the map T.

        T takes points of feature space to functions of the input and is linear; for finitely many
        features its image is exactly the class of functions a machine can represent (equation 3.1
        of the book). It has no weights: `evaluate` is T of the weighted point.
        """
        psi = np.asarray(psi, dtype=np.float64)
        return lambda X: self._features(X) @ psi

    def _features(self, X: Any) -> np.ndarray:
        features = np.asarray(self.phi(X), dtype=np.float64)
        if features.ndim != 2 or features.shape[1] != len(self.weights):
            raise ValueError(
                f"phi must return {len(self.weights)} columns, one per weight; got an array of "
                f"shape {features.shape}."
            )
        return features
