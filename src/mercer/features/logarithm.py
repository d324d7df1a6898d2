"""Logarithms of columns, which turn laws of powers into linear ones."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from mercer import sklearn_internals
from mercer.machines.conventions import TransformerMixin
from mercer.machines.estimator import Estimator
from mercer.objects.parameters import declared, parameter, real_from
from mercer.objects.validation import validated

from .base import as_precise


@declared
class LogFeatures(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """The natural logarithm of every column.

    A product of powers, such as the law of gravitation C m1 m2 / r^2, is linear in the
    logarithms: ln C + ln m1 + ln m2 - 2 ln r.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> from mercer.features import LogFeatures
    >>> LogFeatures().fit_transform([[1.0, 2.718281828459045]])
    array([[0., 1.]])
    """

    shift: float = parameter(real_from(0.0), default=0.0)
    """Added before the logarithm is taken; 1 admits zeros, as in counts."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that all entries of the training rows are positive after the shift."""
        self._positive(X, reset=True)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of rows of numbers that are positive after the shift."""
        check_is_fitted(self)
        X = self._positive(X, reset=False)
        return as_precise(np.log(X.astype(np.float64, copy=False) + self.shift), X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns, by default as in the fit, each in ``log(...)``."""
        check_is_fitted(self)
        columns = sklearn_internals.check_feature_names_in(self, input_features)
        return np.array([f"log({column})" for column in columns], dtype=object)

    def _positive(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        self._check_parameters()
        X = validated(self, X, reset=reset, dtype=[np.float64, np.float32])
        if X.min() + self.shift <= 0.0:
            row, column = np.unravel_index(int(X.argmin()), X.shape)
            raise ValueError(
                f"Negative values in data passed to LogFeatures, or zeros: row {row} has "
                f"{X[row, column]:.6g} in column {column}, and only positive numbers have a "
                "logarithm. Set shift, or drop the column."
            )
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
