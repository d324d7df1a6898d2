"""The bilinear form of a positive semidefinite matrix."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.gram.program import Builder
from mercer.numerics.symmetric_matrices import refuse_negative_direction, symmetric_matrix
from mercer.objects.parameters import printed
from mercer.objects.validation import stored_alike

from ..definiteness import PSD
from ..mapping import FeaturesOf
from .linear import Linear
from .vector import VectorKernel, require_columns


class Bilinear(VectorKernel):
    r"""A dot product with respect to a matrix.

    .. math:: k(x, z) = x^\top B z = (A x) \cdot (A z), \quad B = A^\top A

    Positive semidefinite, for which B must be symmetric and positive semidefinite; otherwise it is
    refused, with a vector v for which v'Bv < 0. A diagonal B weighs the columns, a full one also
    correlates them.

    Parameters
    ----------
    matrix : array of shape (n_features, n_features)
        The matrix B.

    Notes
    -----
    Use it where it is known how much each column counts and which columns mean the same: a metric
    learned elsewhere, a prior covariance of the weights, similarities of terms. The rows are
    multiplied by a root of B once, after which a value costs a dot product of as many numbers as B
    has rank. Avoid it to find the weights of columns: B is not learned.

    Examples
    --------
    >>> from mercer.kernels import Bilinear
    >>> Bilinear([[2.0, 0.0], [0.0, 1.0]])([[1.0, 2.0]], [[3.0, 4.0]])
    array([[14.]])
    """

    matrix: Any

    definiteness = PSD  # a dot product

    @classmethod
    def from_factor(cls, factor: Any) -> Self:
        """Return the kernel (A x) . (A z), B = A'A, for a matrix A with a column per feature."""
        A = np.atleast_2d(np.asarray(factor, dtype=np.float64))
        return cls(A.T @ A)

    def _check(self) -> None:
        B = symmetric_matrix(self.matrix, "the matrix of Bilinear")
        refuse_negative_direction(B, "the matrix of Bilinear", "v'Bv")

    @property
    def factor(self) -> np.ndarray:
        """A matrix A with B = A'A, without rows for eigenvalues that are 0."""
        values, vectors = np.linalg.eigh(np.asarray(self.matrix, dtype=np.float64))
        kept = values > len(values) * np.finfo(float).eps * max(values[-1], 0.0)
        return np.ascontiguousarray((vectors[:, kept] * np.sqrt(values[kept])).T)

    _is_restricted = True

    def check_domain(self, X: Any) -> None:
        """Reject vectors without as many columns as the matrix has; see the base class."""
        require_columns(X, len(self.matrix), "the matrix of Bilinear")

    def features(self, X: Any) -> np.ndarray:
        """Return the vectors A x of validated vectors x."""
        # The native dot product, not a matrix product: the bits of a row must not depend on others.
        A = self.factor
        if len(A) == 0:
            return np.zeros((X.shape[0], 1))
        return Linear()._values(*stored_alike(X, A))

    def feature_map(self, X: Any) -> np.ndarray:
        """Return the vectors A x; see :meth:`Kernel.feature_map`."""
        return self.features(self.validate(X))

    def compile(self, builder: Builder) -> None:
        with builder.through(FeaturesOf(self)):
            builder.leaf("dot")

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        return {}

    def __repr__(self) -> str:
        return f"Bilinear(matrix={printed(self.matrix)})"
