"""Monomials: the features of kernels of the dot product, and the norm these kernels give them.

A kernel k(x, z) = sum_n a_n (x . z)^n has, for every multi-index m = (m_1, ..., m_d) of degree
n = m_1 + ... + m_d, the feature sqrt(w_m) x^m with the weight w_m = a_n n! / (m_1! ... m_d!).
Its Hilbert space consists of the functions f(x) = sum_m f_m x^m with the inner product

    <f, g> = sum_m f_m g_m / w_m,

which makes k reproducing: k(x, .) has the coefficients w_m x^m, so <k(x, .), f> = f(x). In terms
of operators, the components of P f are w_m^(-1/2) times the Taylor coefficients of f at 0, and
<P f, P g> is this inner product. (Smola, "Learning with Kernels", 1998, equations 3.61 to 3.68,
prints the exponent +1/2, for which the kernel does not reproduce.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement, product
from math import factorial, inf, prod, sqrt
from typing import Any

import numpy as np

from .linear import Linear


def taylor_inner_product(
    kernel: Any, f: Mapping[tuple[int, ...], float], g: Mapping[tuple[int, ...], float]
) -> float:
    """Return the inner product of two polynomials in the Hilbert space of a dot-product kernel.

    Parameters
    ----------
    kernel : Kernel
        A bound kernel of the dot product: it has the method ``series_coefficient``.
    f, g : dict of tuple of int to float
        Coefficients of the polynomials by exponents: ``{(2, 0): 1.0, (0, 1): 3.0}`` is
        x_1^2 + 3 x_2.

    Returns
    -------
    float
        sum_m f_m g_m / w_m. With f = g the squared norm, infinite if f contains a monomial that
        is not among the features.

    Examples
    --------
    >>> from mercer.kernels import Polynomial, taylor_inner_product
    >>> square = {(2,): 1.0}
    >>> taylor_inner_product(Polynomial(degree=2, gamma=2.0, coef0=1.0), square, square)
    0.25
    """
    inner = getattr(kernel, "inner", Linear())
    if not (hasattr(kernel, "series_coefficient") and isinstance(inner, Linear)):
        raise TypeError(f"{kernel!r} is not a power series in the dot product.")
    total = 0.0
    for exponents, value in f.items():
        other = g.get(exponents, 0.0)
        if value == 0.0 or other == 0.0:
            continue
        weight = monomial_weight(kernel, exponents)
        total += value * other / weight if weight > 0 else inf * value * other
    return total


def monomial_weight(kernel: Any, exponents: tuple[int, ...]) -> float:
    """Return the weight w_m of a monomial in a bound kernel with `series_coefficient`."""
    return kernel.series_coefficient(sum(exponents)) * orders(Counter(_factors(exponents)))


def monomials(X: np.ndarray, degree: int, ordered: bool) -> np.ndarray:
    """Return all products of `degree` entries of a row, `ordered` or weighted by sqrt(orders)."""
    columns = range(X.shape[1])
    if ordered:
        factors = list(product(columns, repeat=degree))
    else:
        factors = list(combinations_with_replacement(columns, degree))
    values = np.ones((X.shape[0], len(factors)))
    for position in np.array(factors, dtype=np.intp).reshape(len(factors), degree).T:
        values *= X[:, position]
    if not ordered:
        values *= [sqrt(orders(Counter(f))) for f in factors]
    return values


def monomial_names(columns: Sequence[str], degrees: Iterable[int]) -> list[str]:
    """Return the names of the distinct monomials of `monomials`, degree by degree."""
    index = range(len(columns))
    return [
        monomial_name(columns, factors)
        for k in degrees
        for factors in combinations_with_replacement(index, k)
    ]


def monomial_name(columns: Any, factors: tuple[int, ...]) -> str:
    """Return the name of a product of columns, such as ``x0 x1^2``, or ``1``."""
    parts = []
    for column in dict.fromkeys(factors):
        power = factors.count(column)
        parts.append(f"{columns[column]}^{power}" if power > 1 else str(columns[column]))
    return " ".join(parts) or "1"


def orders(multiplicities: Counter[int]) -> int:
    """Return in how many orders factors with these multiplicities can be written."""
    return factorial(multiplicities.total()) // prod(map(factorial, multiplicities.values()))


def _factors(exponents: tuple[int, ...]) -> list[int]:
    return [i for i, m in enumerate(exponents) for _ in range(m)]
