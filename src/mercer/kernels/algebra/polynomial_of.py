"""A polynomial in a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import sqrt
from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import nonnegative_coefficients, printed
from mercer.objects.validation import count
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel
from ..definiteness import PSD, UNKNOWN, Definiteness
from .operands import concatenated, nested, outer, product_names, require_kernel


class PolynomialOf(Kernel):
    r"""A polynomial in a kernel with non-negative coefficients, made by :func:`polynomial`.

    .. math:: k'(x, z) = \sum_m a_m \, k(x, z)^m, \quad a_m \ge 0

    Positive semidefinite if the kernel is.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    coefficients : sequence of float >= 0
        The coefficients a_0, a_1, ... by rising power.

    Notes
    -----
    Use it to weigh the degrees of interaction of any kernel's features, ``polynomial(k, [0, 1,
    0.5])``: the kernel plus half of its square. It costs a step per coefficient. Normalise k first,
    which makes the coefficients comparable. Avoid it with many coefficients of your own choice;
    cross-validation cannot tell them apart.

    Examples
    --------
    >>> from mercer.kernels import Linear, polynomial
    >>> polynomial(Linear(), [1, 1, 1])([[1.0, 2.0]], [[3.0, 4.0]])
    array([[133.]])
    """

    kernel: Kernel
    coefficients: Sequence[float]

    def _check(self) -> None:
        require_kernel(self.kernel, "kernel", "PolynomialOf")
        nonnegative_coefficients(self.coefficients, "a polynomial of a kernel", "power")

    @property
    def definiteness(self) -> Definiteness:
        """That of the kernel if it is positive (semi)definite and occurs at all."""
        claim = self.kernel.definiteness
        powers = [m for m, a in enumerate(self.coefficients) if a > 0 and m > 0]
        if not powers:
            return PSD
        if claim.is_psd:
            return claim
        return claim if claim.order is not None and powers == [1] else UNKNOWN

    def compile(self, builder: Builder) -> None:
        if len(self.coefficients) == 1:
            builder.const(self.coefficients[0])
            return
        self.kernel.compile(builder)
        builder.polynomial(self.coefficients)

    def map_features(self, X: Any, vocabulary: Vocabulary) -> Any:
        """Return ordered products of features by rising power; see :meth:`Kernel.map_features`."""
        features = self.kernel.map_features(X, vocabulary)
        one = np.ones((count(features), 1))
        return concatenated(
            [
                sqrt(a) * reduce(outer, [features] * m, one)
                for m, a in enumerate(self.coefficients)
                if a > 0
            ]
        )

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        names = self.kernel.feature_names(columns, vocabulary)
        powers = [m for m, a in enumerate(self.coefficients) if a > 0]
        if names is None:
            return None
        return [name for m in powers for name in product_names([names] * m) or []]

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        values = self.kernel._values(X, Z)
        powers = np.stack([values**m for m in range(len(self.coefficients))])
        slope = sum(m * float(a) * powers[m - 1] for m, a in enumerate(self.coefficients) if m > 0)
        return {"coefficients": powers} | nested("kernel", self.kernel._gradient(X, Z), slope)

    def __repr__(self) -> str:
        return f"polynomial({self.kernel!r}, {printed(self.coefficients)})"


def polynomial(kernel: Kernel, coefficients: Sequence[float]) -> PolynomialOf:
    """Return a polynomial in a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    coefficients : sequence of float >= 0
        The coefficients a_0, a_1, ... by rising power.

    Returns
    -------
    PolynomialOf
        The kernel sum_m a_m k(x, z)^m.

    Examples
    --------
    >>> from mercer.kernels import Linear, polynomial
    >>> polynomial(Linear(), [1.0, 2.0, 1.0])([[1.0]], [[2.0]])
    array([[9.]])
    """
    return PolynomialOf(kernel, coefficients)
