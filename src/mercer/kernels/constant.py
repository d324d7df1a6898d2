"""The constant kernel, which `k + c` adds."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import real, show
from mercer.objects.validation import count
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from .base import Kernel
from .definiteness import PSD


class Constant(Kernel):
    r"""The same value for every pair of objects.

    .. math:: k(x, z) = c

    Positive semidefinite; its one feature is :math:`\sqrt{c}`. Adding it to a kernel appends a
    constant feature.

    Parameters
    ----------
    value : float >= 0, default=1.0
        The constant c.

    Notes
    -----
    Use it as ``k + c`` to give a machine without a bias a regularised one; a larger c penalises it
    less. It costs nothing. Avoid it with a machine that has a bias, whose solution does not change.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() + 1)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[12.]])
    """

    value: float = 1.0

    definiteness = PSD  # of rank one
    translation_invariant = True  # always

    def _check(self) -> None:
        if real(self.value, "the constant of a constant kernel") < 0:
            raise ValueError(
                f"adding a constant keeps a kernel positive semidefinite only if it is >= 0; got "
                f"{show(self.value)}. Choose a non-negative constant."
            )

    def validate(self, X: Any, against: Any = None) -> Any:
        return X if hasattr(X, "shape") else super().validate(X, against)

    def compile(self, builder: Builder) -> None:
        builder.const(float(self.value))

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        return {"value": np.ones((count(X), count(Z)))}

    def diagonal_gradient(self, X: Any) -> dict[str, np.ndarray]:
        return {"value": np.ones(count(X))}

    def contract_rows(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray:
        return np.zeros(X.shape)

    def feature_map(self, X: Any) -> np.ndarray:
        """Return one constant column; see :meth:`Kernel.feature_map`."""
        return np.full((count(X), 1), sqrt(self.value))

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return ["1"]
