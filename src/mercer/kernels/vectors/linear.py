"""The linear kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.numerics.blas import product
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..definiteness import PSD
from .vector import VectorKernel


class Linear(VectorKernel):
    r"""The dot product of two vectors.

    .. math:: k(x, z) = x \cdot z

    Positive semidefinite; its feature map is the identity.

    Notes
    -----
    Use it for many columns, sparse rows or word counts, and where the weights of the columns are of
    interest. It is the cheapest kernel: a value costs the entries that both rows have. Give dense
    columns a common scale. Avoid it where a plane cannot separate the classes; compare with RBF
    once before settling.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    definiteness = PSD  # a dot product

    def compile(self, builder: Builder) -> None:
        builder.leaf("dot")

    def contract_rows(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray:
        return product(W, np.asarray(Z, dtype=np.float64))

    def series_coefficient(self, degree: int) -> float:
        """Return the coefficient of the power `degree` of the dot product: 1 for the first."""
        return 1.0 if degree == 1 else 0.0

    def feature_map(self, X: Any) -> Any:
        """Return the vectors themselves."""
        return self.validate(X)

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return None if columns is None else list(columns)
