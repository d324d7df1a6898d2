"""The sum of the powers of the dot product."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from mercer.gram.program import Builder
from mercer.objects.parameters import integer
from mercer.objects.rows import dense
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..definiteness import PSD
from .monomial_features import monomial_names, monomials
from .pair_statistics import dots
from .vector import GammaKernel


class SumOfPowers(GammaKernel):
    r"""The sum of the powers of the dot product up to a degree.

    .. math:: k(x, z) = \sum_{m=0}^{q} (\gamma \, x \cdot z)^m

    Positive semidefinite. Every ordered product of at most q entries is a feature of weight
    :math:`\gamma^{m/2}`, where :class:`Polynomial` weighs the degrees by binomial coefficients.

    Parameters
    ----------
    degree : int >= 0, default=2
        The highest power q.
    gamma : {"scale", "auto"} or float >= 0, default=1.0
        The factor of the dot product; a rule is resolved by `bind`.

    Notes
    -----
    Use it in place of Polynomial where all degrees up to q should weigh the same; the binomial
    formula favours the middle ones. Keep gamma times the squared length of a row near 1, or the
    highest degree drowns the others. Avoid it as a first choice: Polynomial differs from it only in
    the weights of the degrees, and is better known.

    Examples
    --------
    >>> from mercer.kernels import SumOfPowers
    >>> SumOfPowers(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[133.]])
    """

    grows_with = ("degree", "gamma")
    definiteness = PSD  # no coefficient is negative

    def __init__(self, degree: int = 2, gamma: float | str = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self._check_all()

    def _check(self) -> None:
        super()._check()
        integer(self.degree, "degree", minimum=0)

    def compile(self, builder: Builder) -> None:
        builder.leaf("dot")
        builder.affine(self._width(), 0.0)
        builder.polynomial([1.0] * (self.degree + 1))

    def series_coefficient(self, degree: int) -> float:
        """Return the coefficient of the power `degree` of the dot product."""
        return self._width() ** degree if degree <= self.degree else 0.0

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        products, gamma = dots(X, Z), self._width()
        slope = np.zeros_like(products)
        for m in range(int(self.degree), 0, -1):
            slope = slope * (gamma * products) + m
        return {"gamma": slope * products}

    def feature_map(self, X: Any, ordered: bool = False) -> np.ndarray:
        """Return the monomials whose dot product is the kernel, by rising degree.

        `ordered`: list every ordered product x_i x_j ... instead of each distinct monomial once
        with its multinomial weight.
        """
        self.require_bound("as explicit features")
        X = dense(self.validate(X))
        root = sqrt(self._width())
        return np.hstack([root**m * monomials(X, m, ordered) for m in range(self.degree + 1)])

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        if columns is None:
            return None
        return monomial_names(columns, range(int(self.degree) + 1))
