"""Features from an incomplete Cholesky factorisation, as many as the tolerance requires."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.geometry import PivotedCholesky, pivoted_cholesky
from mercer.geometry.cholesky import span_coordinates
from mercer.kernels import Kernel
from mercer.kernels.resolve import KernelLike
from mercer.machines.kernel_estimator import NamedKernelEstimator
from mercer.objects.parameters import (
    declared,
    integer_from,
    one_of,
    optional,
    parameter,
    real_from,
    seed,
)

from .base import KernelFeatures, as_precise
from .seeds import generator


@declared
class IncompleteCholeskyFeatures(KernelFeatures, NamedKernelEstimator):
    """Features of a kernel from the span of a few objects, with a proof of the error.

    The features are the coordinates of an object's projection onto the span of the pivots in
    feature space, in the orthonormal basis of Gram-Schmidt. Pivots are added until the trace of
    what is left falls below the tolerance; that trace bounds the nuclear, Frobenius and spectral
    norm of the error of the training matrix, and the largest residual bounds every entry of it.
    See :func:`mercer.geometry.pivoted_cholesky`.

    Attributes
    ----------
    pivots_ : array of int
        Positions of the pivots among the training objects, in the order of choice.
    landmarks_ : objects
        The pivots; for a precomputed kernel their positions.
    trace_residual_ : float
        Trace of the residual on the training objects.
    largest_residual_ : float
        Largest entry of the residual on the training objects.
    relative_error_ : float
        The trace of the residual over the trace of the kernel matrix.
    status_ : {"tolerance", "rank", "exhausted"}
        Why no more features were made.
    n_components_ : int
        Number of features.
    kernel_ : Kernel
        The kernel with all parameters resolved.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import IncompleteCholeskyFeatures
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> features = IncompleteCholeskyFeatures(gamma=0.1, tol=1e-6).fit(X)
    >>> bool(features.approximation_error(X).max <= features.largest_residual_ + 1e-12)
    True
    """

    kernel: KernelLike = parameter(default="rbf", kind="str, Kernel or callable")
    """A kernel, as for the machines; it must be positive semidefinite."""
    _: KW_ONLY
    n_components: int | None = parameter(optional(integer_from(1)), default=None)
    """Most features to make; default: as many as the tolerance needs."""
    tol: float = parameter(real_from(0.0), default=1e-3)
    """Stop when the trace of the residual is at most this share of the trace of the kernel
    matrix."""
    pivoting: str = parameter(one_of("largest", "random"), default="largest")
    """How pivots are chosen."""
    random_state: Any = parameter(seed, default=None, kind="int, Generator, RandomState or None")
    """Seed of random pivots."""

    def fit_transform(  # type: ignore[override]
        self, X: Any, y: Any = None
    ) -> NDArray[np.float64]:
        """Choose pivots as `fit`, and return the features of the training objects.

        They are the factor itself, so that no kernel value is computed twice.
        """
        self._check_parameters()
        self.kernel_, X = self._training_objects(X)
        return as_precise(self._choose(self.kernel_, X).factor, X)

    def _features(self, X: Any) -> np.ndarray:
        return span_coordinates(self.kernel_, self.landmarks_, self._triangle, X)

    def _choose(self, kernel: Kernel, X: Any) -> PivotedCholesky:
        found = pivoted_cholesky(
            kernel,
            X,
            tol=self.tol,
            max_rank=self.n_components,
            pivoting=self.pivoting,
            random_state=generator(self.random_state),
        )
        if found.rank == 0:
            raise ValueError("all objects have length 0 in feature space; there are no features.")
        self.pivots_ = found.pivots
        self.landmarks_ = found.landmarks
        self._triangle = found.triangle
        self.trace_residual_ = found.trace_residual
        self.largest_residual_ = found.largest_residual
        self.relative_error_ = found.relative_error
        self.status_ = found.status
        self.n_components_ = found.rank
        return found
