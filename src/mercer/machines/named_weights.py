"""Weight vectors of machines whose kernel is a dot product of features with names.

f(x) = sum_i v_i <phi(x_i), phi(x)> + b = <w, phi(x)> + b with w = sum_i v_i phi(x_i): one weight
for each term of TfIdf, each substring of Spectrum, each category of Categorical, each column of
Linear, and sums of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.expansion import weight_vectors
from mercer.kernels import (
    BlendedSpectrum,
    Categorical,
    Constant,
    Kernel,
    Linear,
    Mismatch,
    Normalized,
    OnColumns,
    Scaled,
    Spectrum,
    Sum,
    TfIdf,
    WeightedDegree,
)
from mercer.objects.arrays import Array
from mercer.objects.parameters import integer
from mercer.objects.vocabulary import Vocabulary

_LISTED = (
    BlendedSpectrum,
    Categorical,
    Constant,
    Linear,
    Mismatch,
    Spectrum,
    TfIdf,
    WeightedDegree,
)


class NamedWeights:
    """`coef_` and `top_features` of a machine, from the terms of its expansion."""

    def _terms(self) -> tuple[Kernel, Any, Array]:
        """Return kernel, training objects and their coefficients, a column for each output.

        Raises AttributeError before `fit`.
        """
        raise NotImplementedError

    @property
    def coef_(self) -> Array | sp.csr_matrix:
        """The weight vectors of a linear kernel, one row per binary problem or target; read-only.

        Of a kernel that is a dot product of named features (TfIdf, Spectrum, Categorical, sums of
        these) the weights of the features, which `top_features` names.
        """
        kernel, vectors, coef = self._terms()
        if type(kernel) is Linear:
            w = weight_vectors(vectors, coef)
        elif _is_dot_product(kernel):
            w = weight_vectors(kernel.map_features(vectors, Vocabulary()), coef)
        else:
            raise AttributeError("coef_ is only available when using a linear kernel")
        if sp.issparse(w):
            w.sort_indices()  # which nothing can do later
            w.data.flags.writeable = False
        else:
            w.flags.writeable = False
        return w

    def top_features(self, n: int = 10) -> list[tuple[str, float]] | list[list[tuple[str, float]]]:
        """Return the `n` features of the largest absolute weights, as a list of (name, weight).

        For kernels that are dot products of named features: Linear, TfIdf, Spectrum, Categorical
        and sums of these. f(x) is the sum of the features of x times these weights, plus the
        intercept. For several binary problems or targets there is a list for each.
        """
        n = integer(n, "n", minimum=1)
        kernel, vectors, coef = self._terms()
        if not _is_dot_product(kernel):
            raise ValueError(
                "top_features needs a kernel that is a dot product of named features (Linear, "
                f"TfIdf, Spectrum, Categorical, sums of these); got {kernel!r}."
            )
        vocabulary = Vocabulary()
        features = kernel.map_features(vectors, vocabulary)
        names = self._feature_names(kernel, features.shape[1], vocabulary)
        found = []
        for row in weight_vectors(features, coef):
            place, weight = (row.indices, row.data) if sp.issparse(row) else (range(len(row)), row)
            order = np.argsort(-np.abs(weight), kind="stable")[:n]
            found.append([(names(place[i]), float(weight[i])) for i in order])
        return found[0] if len(found) == 1 else found

    def _feature_names(self, kernel: Kernel, n: int, of: Vocabulary) -> Callable[[int], str]:
        """Return the names of `n` features by their place; sparse rows may have 10^8 of them."""
        columns = getattr(self, "feature_names_in_", None)
        if columns is None and type(kernel) is Linear:
            return "x{}".format
        if columns is None and hasattr(self, "n_features_in_"):
            columns = [f"x{j}" for j in range(self.n_features_in_)]
        names = kernel.feature_names(None if columns is None else list(map(str, columns)), of)
        return "feature {}".format if names is None or len(names) != n else names.__getitem__


def _is_dot_product(kernel: Kernel) -> bool:
    """Return whether a kernel is a dot product of features that are listed and few."""
    if isinstance(kernel, Sum):
        return _is_dot_product(kernel.left) and _is_dot_product(kernel.right)
    if isinstance(kernel, Scaled | OnColumns | Normalized):
        return _is_dot_product(kernel.kernel)
    return type(kernel) in _LISTED
