"""Columns that matter for a target, by the weights of a linear model in standard units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from mercer import sklearn_internals
from mercer.machines.conventions import TransformerMixin
from mercer.machines.estimator import Estimator
from mercer.objects.arrays import Array
from mercer.objects.parameters import (
    declared,
    parameter,
    positive,
    share,
)
from mercer.objects.validation import validated


@declared
class RelevantColumns(SelectorMixin, TransformerMixin, Estimator):
    """Keep the columns that a ridge regression of the target gives weight to.

    Columns and target are brought to mean 0 and standard deviation 1, so that weights compare;
    the weights minimise |y - Xw|^2 / n + alpha |w|^2. A column whose |weight| is less than
    ``threshold`` times the largest one is dropped. This finds columns without a linear part in
    the target, given the others; one that acts through squares or products only looks irrelevant.

    Attributes
    ----------
    relevance_ : array of shape (n_features_in_,)
        The largest |weight| of every column over the classes, or for the one target.
    ranking_ : array of int of shape (n_features_in_,)
        Columns by falling relevance.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import RelevantColumns
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> RelevantColumns().fit(X, 3 * X[:, 0] - X[:, 2]).get_support(indices=True).tolist()
    [0, 2]
    """

    if TYPE_CHECKING:  # the types of scikit-learn's methods, which it does not state

        def get_support(self, indices: bool = False) -> NDArray[Any]:
            """Return a mask of the columns, or their positions."""

        def inverse_transform(self, X: Any) -> NDArray[Any]:
            """Return the chosen columns in their places, with zeros in the others."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
            """Return the names of the chosen columns."""

    threshold: float = parameter(share, default=0.1)
    """Share of the largest |weight| below which a column is dropped."""
    alpha: float = parameter(positive, default=1e-3)
    """Weight of the regulariser, which shares the weight among columns that are copies."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the weights to training rows and their labels or real targets."""
        self._check_parameters()
        X, y = validated(self, X, y, dtype=np.float64)
        A = _standardised(X)
        T = _standardised(_targets(y))
        gram = A.T @ A / len(A)
        gram[np.diag_indices(len(gram))] += self.alpha
        weights = np.linalg.solve(gram, A.T @ T / len(A))
        self.relevance_: NDArray[np.float64] = np.abs(weights).max(axis=1)
        self.ranking_ = np.argsort(-self.relevance_, kind="stable")
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the chosen columns."""
        check_is_fitted(self)
        rows = validated(self, X, reset=False, dtype=None, accept_sparse="csr")
        output = sklearn_internals.get_output_config("transform", self)["dense"]
        frames = output != "default" and hasattr(X, "iloc")
        chosen: NDArray[Any] = self._transform(X if frames else rows)  # frames keep their types
        return chosen

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.relevance_ >= self.threshold * self.relevance_.max()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _targets(y: NDArray[Any]) -> Array:
    """Return the target as columns: itself, or one indicator per class."""
    if type_of_target(y).startswith("continuous"):
        return np.asarray(y, dtype=np.float64)[:, None]
    check_classification_targets(y)
    return (y[:, None] == np.unique(y)).astype(np.float64)


def _standardised(A: Array) -> Array:
    deviation = A.std(axis=0)
    return (A - A.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
