"""The explicit features of a kernel that has finitely many, as a transformer."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer import sklearn_internals
from mercer.kernels import Kernel, Vocabulary
from mercer.kernels.resolve import KernelLike
from mercer.machines.kernel_estimator import NamedKernelEstimator
from mercer.objects.parameters import declared, parameter
from mercer.objects.validation import column_names, take

from .base import KernelFeatures


@declared
class ExplicitFeatures(KernelFeatures, NamedKernelEstimator):
    """The features phi(x) of a kernel with k(x, z) = phi(x) . phi(z), listed.

    A linear machine on these features is the kernel machine: f(x) = sum_j w_j phi_j(x) + b in
    place of sum_i a_i k(x_i, x) + b. They exist for the linear and the polynomial kernel, for
    kernels that count substrings or compare sets, for kernels from a feature map, and for sums,
    products and powers of such; `approximation_error` on the training objects is rounding.

    The features of strings, sets and multisets are those of the training objects, such as their
    substrings. Features that occur only in other objects get no column: dot products with
    training objects, and linear machines fitted to the features, are exact, but dot products of
    two new objects lack the features that no training object has. Where all words
    over the letters of the training strings are few (10,000), all have a column.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved.
    n_components_ : int
        Number of features.
    vocabulary_ : Vocabulary
        The columns of features that were met among the training objects.

    Examples
    --------
    >>> from mercer.features import ExplicitFeatures
    >>> from mercer.kernels import Polynomial
    >>> features = ExplicitFeatures(Polynomial(degree=2, gamma=1.0)).fit([[1.0, 2.0]])
    >>> left, right = features.transform([[1.0, 2.0], [3.0, 4.0]])
    >>> round(float(left @ right), 9)
    121.0
    >>> features.get_feature_names_out().tolist()
    ['x0^2', 'x0 x1', 'x1^2']
    """

    kernel: KernelLike = parameter(default="poly", kind="str or Kernel")
    """A kernel with a `feature_map`."""

    def _choose(self, kernel: Kernel, X: Any) -> None:
        self.vocabulary_ = Vocabulary()
        self._columns = column_names(X)
        if not kernel.requires_vectors:  # the columns of vectors are known beforehand
            kernel.map_features(X, self.vocabulary_)
        first = take(X, slice(0, 1))
        self.n_components_ = kernel.map_features(first, self.vocabulary_).shape[1]

    def _features(self, X: Any) -> Any:
        features = self.kernel_.map_features(X, self.vocabulary_)
        if features.shape[1] != self.n_components_:
            raise ValueError(
                f"the feature map of {self.kernel_!r} returned {features.shape[1]} features, but "
                f"{self.n_components_} at the fit; a map must not depend on the other objects."
            )
        return features.astype(np.float64, copy=False)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features, such as ``x0 x1^2`` or ``ACG``.

        These are monomials, substrings or elements; a number follows where a name occurs again.
        Columns are called `input_features`, by default as in the fit, or x0, x1, ... Features of a
        kernel that does not name them are ``explicitfeatures0``, ...
        """
        check_is_fitted(self)
        columns = self._columns
        if hasattr(self, "n_features_in_"):
            columns = sklearn_internals.check_feature_names_in(self, input_features)
        names = self.kernel_.feature_names(columns, self.vocabulary_)
        if names is None or len(names) != self.n_components_:
            return super().get_feature_names_out(input_features)
        return np.array(_distinct(names), dtype=object)


def _distinct(names: list[str]) -> list[str]:
    """Return names in which the second of a kind carries the number 2, and so on."""
    met: Counter[str] = Counter()
    numbered = []
    for name in names:
        met[name] += 1
        numbered.append(name if met[name] == 1 else f"{name} ({met[name]})")
    return numbered
