"""The polynomial kernel and its explicit monomials."""

from __future__ import annotations

from math import comb, sqrt
from typing import Any, Self

import numpy as np

from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.objects.parameters import integer, real
from mercer.objects.rows import dense
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel
from ..definiteness import CPD, INDEFINITE, PSD, Definiteness
from ..regularisation import POLYNOMIAL
from .monomial_features import monomial_names, monomials
from .pair_statistics import dots
from .scale import warn_of_scale
from .vector import GammaKernel


class Polynomial(GammaKernel):
    r"""A power of an affine function of the dot product.

    .. math:: k(x, z) = (\gamma \, x \cdot z + c)^q

    Positive semidefinite for :math:`c \ge 0`. With :math:`c < 0` it is indefinite (for q = 1
    conditionally positive definite), which is stated and not refused.

    Parameters
    ----------
    degree : int >= 0, default=3
        The exponent q.
    gamma : {"scale", "auto"} or float >= 0, default="scale"
        The factor of the dot product; a rule is resolved by `bind`.
    coef0 : float, default=0.0
        The constant c. With c = 0 the kernel is homogeneous: monomials of degree q only.

    Notes
    -----
    Use it where a few columns act together: words in pairs, neighbouring pixels, genes. Take degree
    2 or 3 with ``coef0=1``, which keeps the lower orders, on columns scaled to [-1, 1] or rows of
    length 1. Values grow as the power q of the lengths, so with a degree above 5 or so the longest
    rows dominate. With few columns, `mercer.features.MonomialFeatures` and a linear machine are
    cheaper. Avoid it for extrapolation: outside of the data the highest power takes over.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=2.0, coef0=3.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[625.]])
    """

    grows_with = ("degree", "gamma")

    regularisation = POLYNOMIAL

    def __init__(self, degree: int = 3, gamma: float | str = "scale", coef0: float = 0.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self._check_all()

    def _check(self) -> None:
        super()._check()
        integer(self.degree, "degree", minimum=0)
        real(self.coef0, "coef0")

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        kernel = super()._bound(views, weight, names)
        warn_of_scale(kernel, views.X)
        return kernel

    @property
    def definiteness(self) -> Definiteness:
        """Positive semidefinite unless `coef0` is negative.

        The expansion in powers of the dot product must have no negative coefficient: monomials
        of different degree are independent features.
        """
        if self.degree == 0 or self.coef0 >= 0:
            return PSD
        if not self._has_positive_gamma():  # the constant coef0 ** degree
            return PSD if self.degree % 2 == 0 else CPD
        return CPD if self.degree == 1 else INDEFINITE

    def compile(self, builder: Builder) -> None:
        if self.degree == 0:
            builder.const(1.0)
            return
        builder.leaf("dot")
        builder.affine(self._width(), float(self.coef0))
        if self.degree > 1:
            builder.powi(int(self.degree))

    def series_coefficient(self, degree: int) -> float:
        """Return the coefficient of the power `degree` of the dot product."""
        if degree > self.degree:
            return 0.0
        rest = self.degree - degree
        return comb(self.degree, degree) * float(self.coef0) ** rest * self._width() ** degree

    def _gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray]:
        degree, products = int(self.degree), dots(X, Z)
        inner = self._width() * products + float(self.coef0)
        slope = degree * inner ** (degree - 1) if degree > 0 else np.zeros_like(inner)
        return {"gamma": products * slope, "coef0": slope}

    def _normalized_form(self) -> Kernel | None:
        """Return the power of the normalised affine function, which is at most 1."""
        if self.degree < 2 or self.coef0 < 0:
            return None
        return self._normalized_base() ** int(self.degree)

    def _normalized_gradient(self, X: Any, Z: Any) -> dict[str, np.ndarray] | None:
        if self.degree < 2 or self.coef0 < 0:
            return None
        base, degree = self._normalized_base(), int(self.degree)
        slopes = base._gradient(X, Z)
        factor = degree * base._values(X, Z) ** (degree - 1)
        return {name: factor * slopes[f"kernel__{name}"] for name in ("gamma", "coef0")}

    def _normalized_base(self) -> Kernel:
        from ..algebra.normalized import Normalized  # which is made of kernels on vectors too

        return Normalized(self.replace(degree=1))

    def feature_map(self, X: Any, ordered: bool = False) -> np.ndarray:
        """Return the monomials whose dot product is the kernel, by rising degree.

        With K(k) the number of orders in which the factors of a monomial of degree k can be
        written, the monomial carries the weight sqrt(C(q, k) c^(q-k) gamma^k K(k)); with `coef0` 0
        only those of degree q are left. `ordered`: list every ordered product x_i x_j ... (d^k of
        degree k, as they arise from multiplying out) instead of each distinct monomial once with
        its multinomial weight.
        """
        self.check_changes()
        self.require_bound("as explicit features")
        if self.coef0 < 0:
            raise ValueError(
                "a polynomial kernel with coef0 < 0 is no dot product of real features; use "
                "coef0 >= 0."
            )
        X = dense(self.validate(X))
        gamma, coef0, degree = float(self.gamma), float(self.coef0), int(self.degree)
        lowest = 0 if coef0 > 0 else degree
        return np.hstack(
            [
                sqrt(comb(degree, k) * coef0 ** (degree - k) * gamma**k) * monomials(X, k, ordered)
                for k in range(lowest, degree + 1)
            ]
        )

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        if columns is None:
            return None
        lowest = 0 if self.coef0 > 0 else int(self.degree)
        return monomial_names(columns, range(lowest, int(self.degree) + 1))
