r"""The functions of a manifold, in coordinates where its regulariser is a sum of squares.

.. math:: \gamma(b) = \sum_q c_q t_q(b) + \sum_i \alpha_i k(b_i, b)

with unpenalised functions t: the constant, or the constant and the coordinates. With
:math:`K_b = (k(b_i, b_j))_{ij} = U S U'` the coefficients :math:`\alpha = U S^{-1/2} \theta` have
:math:`\alpha' K_b \alpha = |\theta|^2`, so the features are :math:`f(b) = S^{-1/2} U' k(b)`. For a
conditionally positive definite kernel K_b is projected onto the coefficients that annihilate the
functions t at the nodes, on which it is definite. With the penalty :math:`\sum_i |\alpha_i|^2` of
the generative topographic map the features are the kernel values themselves.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mercer.gram import Prepared
from mercer.kernels import Kernel
from mercer.kernels.conditional import polynomial_basis, project_gram
from mercer.objects.arrays import Array

REGULARIZERS = ("kernel", "l2")

_ZERO = 1e-12  # eigenvalues of the kernel at the nodes that are rounding, relative to the largest


class LatentFeatures:
    """Features f and functions t of latent coordinates.

    `kernel`: bound. `nodes` (M, D). `order`: 1 for the constant, 2 for the constant and the
    coordinates. `regularizer`: "kernel" or "l2".
    """

    def __init__(self, kernel: Kernel, nodes: Array, order: int, regularizer: str) -> None:
        self.nodes, self._degree = nodes, order
        self._prepared = Prepared(kernel, nodes)
        if regularizer == "l2":
            self.map = np.eye(len(nodes))
            return
        K = self._prepared.tile(nodes)
        if kernel.definiteness.order:
            K = project_gram(K, polynomial_basis(nodes, kernel.definiteness.order))
        values, vectors = scipy.linalg.eigh(0.5 * (K + K.T))
        largest = float(np.abs(values).max())
        if values[0] < -1e-8 * largest:
            raise ValueError(
                f"{kernel!r} is not positive semidefinite at the nodes (its smallest eigenvalue is "
                f"{values[0]:.6g}), so the regulariser is no square; use another kernel."
            )
        kept = values > _ZERO * largest
        self.map = vectors[:, kept] / np.sqrt(values[kept])

    @property
    def n_functions(self) -> int:
        """Number of functions t."""
        return int(self.functions(self.nodes[:1]).shape[1])

    @property
    def n_features(self) -> int:
        """Number of features f."""
        return int(self.map.shape[1])

    def functions(self, B: Array) -> Array:
        """Return the functions t at coordinates."""
        return polynomial_basis(B, self._degree)

    def design(self, B: Array) -> Array:
        """Return the functions and the features at coordinates, side by side."""
        return np.hstack([self.functions(B), self._prepared.tile(B) @ self.map])

    def values(self, B: Array, functions_coef: Array, coef: Array) -> Array:
        """Return the points of the manifold at coordinates, from c and alpha."""
        points = self._prepared.matmul(B, coef)
        # Not functions @ coef: a value must not depend on how many others come with it.
        for column, row in zip(self.functions(B).T, functions_coef, strict=True):
            points += column[:, None] * row
        return points
