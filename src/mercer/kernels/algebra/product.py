"""The product of two kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.kernel_diagonal import diagonal
from mercer.gram.mapped_objects import views_of
from mercer.gram.program import Builder
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel, Wanted, inside
from ..definiteness import Definiteness, of_product
from .operands import OfTwoKernels, nested, outer, product_names, wanted_inside


class Product(OfTwoKernels):
    r"""The product of two kernels, written ``left * right``.

    .. math:: k(x, z) = k_1(x, z) \, k_2(x, z)

    Its features are all products of a left with a right feature. Positive semidefinite if both
    factors are.

    Parameters
    ----------
    left, right : Kernel
        The factors.

    Notes
    -----
    Use it where two objects are similar only if both kernels agree: same place and same season. A
    value costs both. Gaussian kernels of single columns multiply to one of all columns with a width
    each. Avoid it for many factors, whose product is near 0 for all but equal objects, so that
    nothing is learned.

    Examples
    --------
    >>> from mercer.kernels import Linear, Polynomial
    >>> (Linear() * Polynomial(degree=2, gamma=1.0))([[1.0, 2.0]], [[3.0, 4.0]])
    array([[1331.]])
    """

    _binds_tighter_than = 1

    @property
    def definiteness(self) -> Definiteness:
        """Positive semidefinite if both factors are, by Schur's product theorem."""
        return of_product(self.left.definiteness, self.right.definiteness)

    def compile(self, builder: Builder) -> None:
        self.left.compile(builder)
        self.right.compile(builder)
        builder.mul()

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return all products of two features, one of each; see :meth:`Kernel.map_features`."""
        return outer(*self._features_of_both(X, vocabulary))

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return product_names(self._names_of_both(columns, vocabulary))

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        left, right = self.left._gradient(X, Z), self.right._gradient(X, Z)
        gradient = nested("left", left, self.right._values(X, Z)) if left else {}
        return gradient | (nested("right", right, self.left._values(X, Z)) if right else {})

    def _factors(self) -> tuple[tuple[str, Kernel, Kernel], ...]:
        """Return the name of each factor, the factor, and the other one."""
        return ("left", self.left, self.right), ("right", self.right, self.left)

    def contract(self, X: Any, Z: Any, W: np.ndarray, wanted: Wanted = None) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, part, other in self._factors():
            inside = wanted_inside(wanted, name)
            if inside is None or inside:
                weights = W * other._values(X, Z)
                found |= nested(name, part.contract(X, Z, weights, inside))
        return found

    def diagonal_gradient(self, X: Any) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for name, part, other in self._factors():
            inner = part.diagonal_gradient(X)
            if inner:
                found |= nested(name, inner, diagonal(other, views_of(X)))
        return found

    def contract_rows(self, X: Any, Z: Any, W: np.ndarray) -> np.ndarray:
        left = self.left.contract_rows(X, Z, W * self.right._values(X, Z))
        return left + self.right.contract_rows(X, Z, W * self.left._values(X, Z))

    def _normalized_form(self) -> Kernel | None:
        from .normalized import Normalized  # which may hold a product

        parts = (self.left, self.right)
        if not all(part._has_norms for part in parts):
            return None
        if not any(part._normalizes_without_norms for part in parts):
            return None  # one norm for both factors costs less
        return Product(Normalized(self.left), Normalized(self.right))

    def _by_own_parameters(self, slopes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        # Its factors are one level of names deeper.
        return {name.replace("__kernel", "", 1): slope for name, slope in slopes.items()}

    def __repr__(self) -> str:
        return f"{inside(self.left, 1)} * {inside(self.right, 2)}"
