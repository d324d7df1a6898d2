"""The sum of two kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import show
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel, Wanted, inside
from ..constant import Constant
from ..definiteness import Definiteness, of_sum
from .operands import OfTwoKernels, concatenated, nested, wanted_inside


class Sum(OfTwoKernels):
    """The sum of two kernels, written ``left + right``.

    .. math:: k(x, z) = k_1(x, z) + k_2(x, z)

    Its features are those of both, side by side. Positive semidefinite if both are.

    Parameters
    ----------
    left, right : Kernel
        The terms.

    Notes
    -----
    Use it where two views of an object add evidence, such as a trend and a season, or a text and
    some columns (``a.on_columns(...) + b.on_columns(...)``): one of them suffices to make two
    objects similar. A value costs both. Bring the parts to one scale first, ``normalize(a) +
    normalize(b)``, or the one with the larger values decides alone. Avoid it where both must agree;
    that is a product.

    Examples
    --------
    >>> from mercer.kernels import Linear, Polynomial
    >>> (Linear() + Polynomial(degree=2, gamma=1.0))([[1.0, 2.0]], [[3.0, 4.0]])
    array([[132.]])
    """

    _binds_tighter_than = 0

    @property
    def definiteness(self) -> Definiteness:
        """The definiteness that both terms have."""
        return of_sum(self.left.definiteness, self.right.definiteness)

    def compile(self, builder: Builder) -> None:
        self.left.compile(builder)
        if isinstance(self.right, Constant):
            builder.affine(1.0, float(self.right.value))
            return
        self.right.compile(builder)
        builder.add()

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return the features of both terms side by side; see :meth:`Kernel.map_features`."""
        return concatenated(self._features_of_both(X, vocabulary))

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        left, right = self._names_of_both(columns, vocabulary)
        return None if left is None or right is None else left + right

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        return nested("left", self.left._gradient(X, Z)) | nested(
            "right", self.right._gradient(X, Z)
        )

    def contract(self, X: Any, Z: Any, W: np.ndarray, wanted: Wanted = None) -> dict[str, Any]:
        left = self.left.contract(X, Z, W, wanted_inside(wanted, "left"))
        right = self.right.contract(X, Z, W, wanted_inside(wanted, "right"))
        return nested("left", left) | nested("right", right)

    def diagonal_gradient(self, X: Any) -> dict[str, np.ndarray]:
        left, right = self.left.diagonal_gradient(X), self.right.diagonal_gradient(X)
        return nested("left", left) | nested("right", right)

    def contract_rows(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray:
        return self.left.contract_rows(X, Z, W) + self.right.contract_rows(X, Z, W)

    def __repr__(self) -> str:
        # A sum on the right keeps its parentheses, and with them its names left and right.
        left = inside(self.left, 0) if isinstance(self.right, Constant) else _term(self.left, 0)
        return f"{left} + {_term(self.right, 1)}"


def _term(kernel: Kernel, level: int) -> str:
    """Return the printed form of a term: a constant is its number, unless adding it is nothing."""
    if isinstance(kernel, Constant) and kernel.value != 0:
        return show(kernel.value)
    return inside(kernel, level)
