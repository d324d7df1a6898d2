r"""The regularisation operator of polynomial kernels.

The kernel :math:`(\gamma x \cdot z + c)^q` is :math:`\sum_n w_n x^n z^n` over multi-indices n with
\|n\| <= q, with the weights

.. math:: w_n = \binom{q}{|n|} c^{q-|n|} \gamma^{|n|} \frac{|n|!}{\prod_i n_i!} .

Its operator takes the derivatives at the origin, D_n f = f^(n)(0) / prod n_i!, each divided by the
square root of its weight: \|Pf\|^2 = sum_n (D_n f)^2 / w_n. The thesis prints the square root as a
factor, (3.61), (3.63) and (3.66), which is not self-consistent (Smola 1998, section 3.5).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from mercer.kernels import Polynomial
from mercer.kernels.vectors.monomial_features import monomial_weight


class PolynomialOperator:
    """The operator whose Green's function is a polynomial kernel.

    A function is its Taylor coefficients at the origin: a mapping of exponents (n_1, ..., n_d) to
    numbers. Coefficients of monomials that the kernel does not contain are ignored: the operator
    leaves them free.

    Parameters
    ----------
    kernel : Polynomial
        A bound kernel with coef0 >= 0.
    dimension : int >= 1
        Columns of the vectors.

    Attributes
    ----------
    weights : dict of tuple of int to float
        The weight w_n of each monomial, those of weight 0 left out.

    Examples
    --------
    >>> from mercer.inspection import PolynomialOperator
    >>> from mercer.kernels import Polynomial
    >>> operator = PolynomialOperator(Polynomial(degree=2, gamma=1.0), dimension=2)
    >>> operator.weights
    {(2, 0): 1.0, (1, 1): 2.0, (0, 2): 1.0}
    >>> f, g = operator.taylor([0.3, -1.2]), operator.taylor([0.7, 0.4])
    >>> round(operator.inner(f, g), 10)  # k(x, z) again
    0.0729
    """

    def __init__(self, kernel: Polynomial, dimension: int) -> None:
        if not isinstance(kernel, Polynomial) or not kernel.is_bound or kernel.coef0 < 0:
            raise ValueError(
                f"a Polynomial kernel with numbers gamma and coef0 >= 0 is needed; got {kernel!r}."
            )
        self.dimension = dimension
        self.weights: dict[tuple[int, ...], float] = {
            n: monomial_weight(kernel, n)
            for k in range(int(kernel.degree) + 1)
            if kernel.series_coefficient(k) > 0
            for n in _exponents(k, dimension)
        }

    def taylor(self, x: Any) -> dict[tuple[int, ...], float]:
        """Return the Taylor coefficients w_n x^n of k(x, .) at the origin, for each monomial."""
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (self.dimension,):
            raise ValueError(f"x must have {self.dimension} entries; got shape {x.shape}.")
        return {n: w * float(np.prod(x ** np.array(n))) for n, w in self.weights.items()}

    def inner(self, f: dict[tuple[int, ...], float], g: dict[tuple[int, ...], float]) -> float:
        """Return <Pf, Pg> = sum_n f_n g_n / w_n from the Taylor coefficients of f and g.

        For f = g it is the squared seminorm.
        """
        return sum(f.get(n, 0.0) * g.get(n, 0.0) / w for n, w in self.weights.items())


def _exponents(degree: int, dimension: int) -> list[tuple[int, ...]]:
    """Return the exponents of all monomials of a degree."""
    factors = combinations_with_replacement(range(dimension), degree)
    return [tuple(Counter(f)[i] for i in range(dimension)) for f in factors]
