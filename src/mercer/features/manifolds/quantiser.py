"""Base class of quantisers: the quantisation error and scikit-learn's conventions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.machines.conventions import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from mercer.machines.estimator import Estimator
from mercer.machines.progress import running
from mercer.machines.weights import check_sample_weight
from mercer.objects.arrays import Array
from mercer.run import Run
from mercer.solvers import Certificate

from .descent import warn_of


class Quantiser(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Base class of estimators that replace points by the nearest point of a set.

    A subclass supplies `_fit`, which fits to checked rows, sets ``certificate_`` and returns
    whether Ctrl-C ended it; and `_nearest`, which returns latent coordinates and squared distances.
    """

    tol: float
    max_iter: int
    time_limit: float | None
    certificate_: Certificate

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the curve or manifold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; weight k counts as k copies, weight 0 as none.

        Returns
        -------
        self : object
            The fitted estimator. After Ctrl-C what was found so far is kept, with the status
            "interrupted", and KeyboardInterrupt is raised.
        """
        self._check_parameters()
        with self._transaction(), running(self) as run:
            data = self._enter_rows(X, None, sample_weight)
            self._fit(np.asarray(data.X, dtype=np.float64), data.weights, run)
        warn_of(self.certificate_.status, type(self).__name__)
        run.raise_interrupt()
        return self

    def _fit(self, X: Array, weight: Array, run: Run) -> None:
        raise NotImplementedError(f"{type(self).__name__} cannot be fitted.")

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
