"""What all quantisers share: the quantisation error and scikit-learn's conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from mercer.kernels import Linear
from mercer.machines.conventions import TransformerMixin
from mercer.machines.data import check_objects, check_training_objects
from mercer.machines.estimator import KernelEstimator
from mercer.machines.weights import check_sample_weight, positive_rows

Array = NDArray[np.float64]

_ROWS = Linear()  # the data are dense rows, whatever kernel there is on the latent coordinates


class Quantiser(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Base class of estimators that replace points by the nearest point of a set.

    A subclass supplies `_nearest`, which returns latent coordinates and squared distances.
    """

    _sparse_means_sparse = False

    def _enter_rows(self, X: Any, sample_weight: Any) -> tuple[Array, Array]:
        """Return the rows of positive weight in float64, and their weights."""
        X = self._dense(check_training_objects(self, X, _ROWS))
        self._trained_on_sparse = False
        weight = check_sample_weight(sample_weight, len(X))
        kept = positive_rows(weight)
        rows = np.asarray(X if kept is None else X[kept], dtype=np.float64)
        if weight is None:
            return rows, np.ones(len(rows))
        return rows, np.asarray(weight if kept is None else weight[kept])

    def _rows(self, X: Any) -> Any:
        """Return rows to transform."""
        self._require_fit()
        return self._dense(check_objects(self, X, _ROWS))

    def _dense(self, X: Any) -> Any:
        if not isinstance(X, np.ndarray):
            raise TypeError(
                f"Sparse rows are not supported by {type(self).__name__}, whose points are dense; "
                "pass X.toarray()."
            )
        return X

    def _nearest(self, X: Array) -> tuple[Array, Array]:
        raise NotImplementedError(f"{type(self).__name__} has no nearest points.")

    def quantization_error(self, X: Any, sample_weight: Any = None) -> float:
        """Return the mean squared distance of points to the nearest point of the set.

        Parameters
        ----------
        X : array-like of shape (n_X, n_features)
            Points.
        sample_weight : array-like of shape (n_X,), optional
            Weights of the mean.

        Returns
        -------
        float
            The error; of the training data, the empirical quantisation error.
        """
        rows = np.asarray(self._rows(X), dtype=np.float64)
        weight = check_sample_weight(sample_weight, len(rows))
        return float(np.average(self._nearest(rows)[1], weights=weight))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the quantisation error.

        Parameters
        ----------
        X : array-like of shape (n_X, n_features)
            Points.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_X,), optional
            Weights.

        Returns
        -------
        float
            The score, at most 0.
        """
        return -self.quantization_error(X, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.pairwise = False
        tags.input_tags.string = False
        tags.input_tags.one_d_array = False
        tags.input_tags.two_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
