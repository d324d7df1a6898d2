"""Weight vectors of machines whose kernel is a dot product of features with names.

f(x) = sum_i v_i <phi(x_i), phi(x)> + b = <w, phi(x)> + b with w = sum_i v_i phi(x_i): one weight
for each term of TfIdf, each substring of Spectrum, each column of Linear, and sums of these.
"""

from __future__ import annotations

from typing import Any

from mercer.expansion import weight_vectors
from mercer.kernels import (
    BlendedSpectrum,
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
from mercer.objects.vocabulary import Vocabulary

_LISTED = (BlendedSpectrum, Constant, Linear, Mismatch, Spectrum, TfIdf, WeightedDegree)


def is_dot_product(kernel: Kernel) -> bool:
    """Return whether a kernel is a dot product of features that are listed and few."""
    if isinstance(kernel, Sum):
        return is_dot_product(kernel.left) and is_dot_product(kernel.right)
    if isinstance(kernel, Scaled | OnColumns | Normalized):
        return is_dot_product(kernel.kernel)
    return type(kernel) in _LISTED


def named_weights(
    kernel: Kernel, vectors: Any, coef: Array, columns: list[str] | None
) -> tuple[Any, list[str]]:
    """Return the weight vectors, one row for each output, and the names of the features."""
    vocabulary = Vocabulary()
    features = kernel.map_features(vectors, vocabulary)
    names = kernel.feature_names(columns, vocabulary)
    if names is None or len(names) != features.shape[1]:
        names = [f"feature {j}" for j in range(features.shape[1])]
    return weight_vectors(features, coef), names
