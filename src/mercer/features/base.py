"""Base class of the transformers that replace a kernel by features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.kernels import Kernel
from mercer.machines.conventions import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from mercer.machines.kernel_estimator import KernelEstimator
from mercer.objects.rows import narrowed

from .approximation import ApproximationError, approximation_error


class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Base class of transformers whose features approximate a kernel.

    A subclass supplies `_choose`, which sets ``n_components_``, and `_features`.
    """

    n_components_: int

    _sparse_means_sparse = False

    def fit(self, X: Any, y: Any = None) -> Self:
        """Bind the kernel to the objects and choose the features.

        Parameters
        ----------
        X : objects
            Training objects; for ``kernel="precomputed"`` their square kernel matrix.
        y : ignored
            Present for consistency.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._check_parameters()
        kernel, X = self._training_objects(X)
        self._choose(kernel, X)
        self.kernel_ = kernel
        return self

    def _choose(self, kernel: Kernel, X: Any) -> Any:
        """Choose the features from checked objects, and set their number."""
        raise NotImplementedError(f"{type(self).__name__} chooses no features.")

    def approximation_error(
        self, X: Any, *, n_sample: int | None = 2000, random_state: Any = 0
    ) -> ApproximationError:
        """Return how far dot products of the features are from the kernel on objects.

        See :func:`mercer.features.approximation_error` for the parameters: the error is measured on
        `n_sample` objects drawn at random; on all of them, None, it takes time with the square of
        their number, but no matrix.
        """
        self._require_fit()
        if self.kernel_.pairwise:
            raise ValueError(
                "a precomputed matrix of new objects does not hold the values between them, so "
                "there is nothing to compare the features with; give the kernel."
            )
        X = self._objects(X)
        return approximation_error(
            self.kernel_,
            X,
            lambda objects: as_precise(self._features(objects), objects),
            n_sample=n_sample,
            random_state=random_state,
        )

    def transform(self, X: Any) -> NDArray[Any] | sp.csr_array:
        """Return the features of objects, an array or CSR matrix of shape (n_X, n_components_).

        A precomputed kernel takes their values against all training objects. Features of rows in
        single precision are in single precision.
        """
        X = self._objects(X)
        return as_precise(self._features(X), X)

    def _features(self, X: Any) -> Any:
        """Return the features of checked objects, in double precision."""
        raise NotImplementedError(f"{type(self).__name__} defines no features.")

    def _training_objects(self, X: Any) -> tuple[Kernel, Any]:
        """Return the bound kernel and the objects of a fit."""
        data, kernel = self._enter(X)
        return kernel, data.X

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def is_single(X: Any) -> bool:
    """Return whether objects are rows in single precision, as features of them are then too."""
    return getattr(X, "dtype", None) == np.float32


def as_precise(features: Any, X: Any) -> Any:
    """Return features in the precision of the rows, with 32-bit indices where these suffice."""
    return narrowed(features.astype(np.float32) if is_single(X) else features)
