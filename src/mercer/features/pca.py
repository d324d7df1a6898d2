"""Principal components: the directions of largest variance as features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.kernels.parameters import integer

from .base import as_precise

Array = NDArray[np.float64]


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Coordinates along the directions in which the data vary most.

    The directions are the eigenvectors of the covariance matrix, with divisor n, by falling
    eigenvalue. Nothing but the variance decides: a direction of small variance may carry all
    there is to know about a target.

    Parameters
    ----------
    n_components : int >= 1, optional
        How many directions to keep; default: all that have a variance.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features_in_)
        Orthonormal directions, each with its largest entry positive.
    explained_variance_ : array of shape (n_components_,)
        Variances along them, the eigenvalues of the covariance matrix.
    mean_ : array of shape (n_features_in_,)
        The mean of the training rows.
    n_components_ : int
        Number of directions.

    Examples
    --------
    >>> from mercer.features import PCA
    >>> pca = PCA(n_components=1).fit([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]])
    >>> pca.explained_variance_.round(6), pca.transform([[3.0, 3.0]]).round(6)
    (array([5.333333]), array([[1.414214]]))
    """

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training rows.
        y : ignored
            Present for consistency.

        Returns
        -------
        self : PCA
            The fitted transformer.
        """
        if self.n_components is not None:
            integer(self.n_components, "n_components", minimum=1)
        X = validate_data(self, X, dtype=np.float64)
        self.mean_ = X.mean(axis=0)
        _, singular, directions = np.linalg.svd(X - self.mean_, full_matrices=False)
        rounding = max(X.shape) * np.finfo(float).eps * float(singular.max(initial=0.0))
        rank = max(1, int(np.count_nonzero(singular > rounding)))
        kept = rank if self.n_components is None else min(rank, int(self.n_components))
        directions = directions[:kept]
        largest = np.abs(directions).argmax(axis=1)
        signs = np.sign(directions[np.arange(kept), largest])
        self.components_ = directions * np.where(signs == 0.0, 1.0, signs)[:, None]
        self.explained_variance_ = singular[:kept] ** 2 / len(X)
        self.n_components_ = kept
        return self

    def transform(self, X: Any) -> Array:
        """Return the coordinates of rows.

        Parameters
        ----------
        X : array of shape (n_X, n_features)
            Rows.

        Returns
        -------
        array of shape (n_X, n_components_)
            Coordinates along the directions, of the rows less the mean.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return as_precise((X - self.mean_) @ self.components_.T, X)

    def inverse_transform(self, Z: Any) -> Array:
        """Return the rows that have given coordinates, in the span of the directions.

        Parameters
        ----------
        Z : array of shape (n_Z, n_components_)
            Coordinates.

        Returns
        -------
        array of shape (n_Z, n_features_in_)
            The rows.
        """
        check_is_fitted(self)
        return np.asarray(Z, dtype=np.float64) @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
