"""Functions with several outputs over one kernel.

f = sum_i a_i k(x_i, .) with vectors a_i in R^p has p outputs, each of them a function of the
Hilbert space, and with A the matrix of rows a_i (A. Smola, *Learning with Kernels*, thesis, 1998,
corollary 3.9)

    <f, g> = sum_ij <a_i, b_j> k(x_i, z_j) = trace(A' K B),      |f|^2 = trace(A' K A),

the sum of the inner products of the outputs. It is the same for U f and U g where U is a rotation
of the outputs; regularisers that all rotations leave alone treat the outputs in this way, alike and
without coupling (see `mercer.geometry.symmetry`). So where the loss is a sum over the outputs,
as the squared one is, a regularised problem falls apart into one for each output.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mercer.expansion import Expansion

from .functions import Combination, RKHSFunction


class VectorFunction(Combination):
    """A function f = sum_i a_i k(x_i, .) whose coefficients a_i and values are vectors.

    Functions with the same kernel and number of outputs are added, subtracted and multiplied by
    numbers.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel, bound to data if it depends on them.
    X : objects
        The centres x_i.
    coef : array-like of shape (n_X, n_outputs)
        The coefficients a_i, one row for each centre.

    Examples
    --------
    Turning the outputs by a right angle changes the values but not the norm:

    >>> from mercer.geometry import VectorFunction
    >>> from mercer.kernels import Linear
    >>> f = VectorFunction(Linear(), [[1.0], [2.0]], [[1.0, 0.0], [1.0, 2.0]])
    >>> f([[1.0]]), f.norm()
    (array([[3., 4.]]), 5.0)
    >>> g = f.transformed([[0.0, -1.0], [1.0, 0.0]])
    >>> g([[1.0]]), g.norm()
    (array([[-4.,  3.]]), 5.0)
    """

    _ndim = 2
    _one = "one row of numbers"

    @classmethod
    def from_expansion(cls, expansion: Expansion) -> VectorFunction:
        """Return the part of an expansion, of any number of outputs, that lies in the space.

        Intercepts, and linear functions beside it, are left out: they need not belong to the space.
        """
        coef = expansion.coef if expansion.coef.ndim == 2 else expansion.coef[:, None]
        return cls(expansion.kernel, expansion.vectors, coef)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.coef.shape[1]

    def __getitem__(self, output: int) -> RKHSFunction:
        """Return one output, a function of the space."""
        if not -self.n_outputs <= output < self.n_outputs:  # also ends a loop over the outputs
            raise IndexError(f"there are {self.n_outputs} outputs; got the index {output}.")
        return RKHSFunction(self.kernel, self.centres, self.coef[:, output])

    def squared_norm(self) -> float:
        """Return |f|^2 = trace(A' K A), the sum of the squared norms of the outputs."""
        return self.norm() ** 2

    def transformed(self, matrix: ArrayLike) -> VectorFunction:
        """Return the function x -> M f(x), for a matrix M of shape (n_new, n_outputs).

        It has the same centres, and the same norm if M is orthogonal.
        """
        M = np.asarray(matrix, dtype=np.float64)
        if M.ndim != 2 or M.shape[1] != self.n_outputs:
            raise ValueError(
                f"matrix must have {self.n_outputs} columns, one for each output; got shape "
                f"{M.shape}."
            )
        return VectorFunction(self.kernel, self.centres, self.coef @ M.T)
